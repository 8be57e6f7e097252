"""The picture of a measure: how its value moves with the rank and the grade of a document."""

from pathlib import Path

import altair as alt

from building.charts import draw_both
from building.rankings import course, shown
from polars_ir.language.catalog import MeasureInfo

#: Can be told apart by the colour-blind (Okabe and Ito), and each line has a mark of its own.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"]


def draw(info: MeasureInfo, path: Path) -> str:
    """Write the picture of a measure, and return the Markdown that shows it."""
    values = course(info)
    named = shown(info).meta.output_name()
    lines = values["document"].unique(maintain_order=True).to_list()
    chart = (
        alt.Chart(values)
        .mark_line(point=alt.OverlayMarkDef(size=45))
        .encode(
            x=alt.X(
                "rank:Q", title="rank of the moving document", axis=alt.Axis(values=[1, 5, 10, 15, 20], grid=False)
            ),
            y=alt.Y("value:Q", title=named.replace("_", " "), axis=alt.Axis(tickCount=5)),
            color=alt.Color("document:N", scale=alt.Scale(domain=lines, range=COLOURS), title=None),
            shape=alt.Shape("document:N", scale=alt.Scale(domain=lines), title=None),
        )
        .properties(width=430, height=220)
        .configure_view(stroke=None)
        # Fonts of browsers are wider than the one that columns are measured with.
        .configure_legend(orient="top", columns=3, columnPadding=30, labelLimit=300)
    )
    return draw_both(chart, path, f"{info.name} by the rank and the grade of a document")
