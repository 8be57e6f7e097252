"""The picture of a call's way through the package: each function that it enters, in order, on the line of its file."""

import sys
from pathlib import Path

import altair as alt
import polars as pl

from building.charts import draw_both
from building.pictures import COLOURS

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

import ways

#: The call that is drawn.
CALL = "df.ir.ndcg(qrels, k=10)"


def draw(path: Path) -> str:
    """Write the picture of the way, and return the Markdown that shows it."""
    entries = next(entries for name, entries, _ in ways.ways() if name == CALL)
    steps = pl.DataFrame(
        {"step": range(1, len(entries) + 1), "file": [e.file for e in entries], "room": [e.room for e in entries]}
    )
    files = steps["file"].unique(maintain_order=True).to_list()
    rooms = steps["room"].unique(maintain_order=True).to_list()
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(rooms))]
    base = alt.Chart(steps).encode(
        x=alt.X("step:Q", title="functions entered, in order", axis=alt.Axis(grid=False)),
        y=alt.Y("file:N", title=None, sort=files, axis=alt.Axis(grid=True, labelLimit=300)),
    )
    line = base.mark_line(strokeWidth=0.6, color="#999999").encode(order="step:Q")
    dots = base.mark_point(filled=True, size=28, opacity=1).encode(
        color=alt.Color("room:N", sort=rooms, scale=alt.Scale(domain=rooms, range=colours), title="room"),
        shape=alt.Shape("room:N", sort=rooms, scale=alt.Scale(domain=rooms), title="room"),
    )
    chart = (line + dots).properties(width=560, height=alt.Step(18), title=CALL).configure_view(stroke=None)
    return draw_both(chart, path, f"The functions that {CALL} enters, in order, each on the line of its file")
