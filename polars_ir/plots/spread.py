"""How the queries of systems spread: strips of points under boxes."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from polars_ir.errors import explain_options
from polars_ir.per_query.columns import Measures
from polars_ir.plots.markup import without_markup
from polars_ir.plots.style import (
    LONGEST_LABEL,
    Chart,
    colour,
    drawn,
    in_memory,
    shape,
    side_by_side,
    systems_of,
    titled,
    with_direction,
    with_run,
)

#: How many points a strip has at most, and all strips of a panel.
MOST_OF_STRIP, MOST_OF_PANEL = 1_000, 4_000

#: Multiples of this, less the whole part, fill a strip evenly: the golden ratio.
EVENLY = 0.618034


@explain_options
@without_markup
def distribution(per_query: Any, measures: Measures = None) -> Chart:
    """How the queries of each system spread: a strip of points under a box, a panel per measure.

    The box goes from the lower to the upper quartile, with a line at the median and whiskers to the last value within
    1.5 times its length; a white diamond is the mean. Of more queries than can be told apart (1,000, or less with many
    systems) the strip has one of several neighbours by value, and the subtitle says of how many; boxes are of all.

    Parameters
    ----------
    per_query
        What `evaluate` returned, of one system or of several.
    measures
        The measures to show; by default all.

    Returns
    -------
    alt.LayerChart
        Points (`run`, `query`, `value`), and boxes (`run`, `lower`, `q1`, `median`, `q3`, `upper`, `mean`,
        `n_queries`); of several measures an `alt.ConcatChart` of such panels.

    Raises
    ------
    IRError
        For a measure that is not there, NaN values, a LazyFrame, and so many systems that a chart can not hold them.

    References
    ----------
    Tukey 1977, Exploratory Data Analysis (box and whiskers)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.distribution(ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10"))
    >>> chart.layer[1].data.select("run", "n_queries", median=pl.col("median").round(3)).rows()
    [('bm25', 96, 0.268), ('chargrams', 96, 0.203), ('tfidf', 96, 0.178)]
    """
    frame, names = in_memory(per_query, measures, "distribution")
    rows = with_run(frame)
    query = next(name for name in frame.columns if name != "run")
    systems = systems_of(rows)
    panels, steps = [], []
    for name in names:
        values = rows.select("run", query=pl.col(query).cast(pl.String), value=pl.col(name).cast(pl.Float64))
        panel, step = _strips_and_boxes(values.drop_nulls("value"), systems, name)
        panels.append(panel)
        steps.append(step)
    sampled = f"A point is one of up to {max(steps)} queries next to each other by value; boxes are of all queries."
    what = "Box: quartiles and median; whiskers: within 1.5 times its length; diamond: mean."
    title = titled(
        f"{names[0]} of each query" if len(names) == 1 else "Measures of each query",
        what,
        sampled if max(steps) > 1 else "",
    )
    return side_by_side(panels, title, columns=2)


def _strips_and_boxes(values: pl.DataFrame, systems: list[str], measure: str) -> tuple[alt.LayerChart, int]:
    """A panel of a measure, and how many queries a point stands for."""
    points, step = _sampled(values, max(1, min(MOST_OF_STRIP, MOST_OF_PANEL // len(systems))))
    boxes = drawn(_boxes(values, systems), "Show fewer systems.")
    y = alt.Y("run:N", sort=systems, title=None, axis=alt.Axis(labelLimit=LONGEST_LABEL))
    x = alt.X("value:Q", title=with_direction(measure), scale=alt.Scale(zero=False))
    strips = (
        alt.Chart(drawn(points, "Show fewer systems."))
        .mark_point(filled=True, size=14, opacity=0.45)
        .encode(
            x=x,
            y=y,
            yOffset=alt.YOffset("jitter:Q", scale=alt.Scale(domain=[-0.1, 1.1])),
            color=colour(systems).legend(None),
            shape=shape(systems).legend(None),
            tooltip=["run:N", "query:N", alt.Tooltip("value:Q", format=".4f")],
        )
    )
    step_height = 46 if len(systems) < 9 else 26
    base = alt.Chart(boxes).encode(y=y)
    figures = ["lower", "q1", "median", "q3", "upper", "mean"]
    tooltip = ["run:N", *(alt.Tooltip(f"{figure}:Q", format=".4f") for figure in figures), "n_queries:Q"]
    whiskers = base.mark_rule(color="#000000").encode(x=alt.X("lower:Q"), x2="upper:Q")
    box = base.mark_bar(size=step_height * 0.4, fill="#FFFFFF", fillOpacity=0.3, stroke="#000000", strokeWidth=1)
    median = base.mark_tick(color="#000000", thickness=2, size=step_height * 0.4).encode(x="median:Q")
    diamond = base.mark_point(shape="diamond", fill="#FFFFFF", stroke="#000000", size=45, opacity=1, fillOpacity=1)
    layers = [
        strips,
        whiskers,
        box.encode(x="q1:Q", x2="q3:Q", tooltip=tooltip),
        median,
        diamond.encode(x="mean:Q", tooltip=tooltip),
    ]
    panel = alt.LayerChart(layer=layers)
    return panel.properties(width=420, height=alt.Step(step_height), title=titled(measure)), step


def _sampled(values: pl.DataFrame, most: int) -> tuple[pl.DataFrame, int]:
    """Up to so many values of each system, evenly by size, with a place in its strip; and of how many each is one."""
    place, step = pl.int_range(pl.len()).over("run"), ((pl.len() + most - 1) // most).over("run")
    ordered = values.sort("value", "query").with_columns(step=step)
    # From the middle of the first neighbours, so that neither end of the values is favoured.
    points = ordered.filter(place % pl.col("step") == pl.col("step") // 2)
    return points.select("run", "query", "value", jitter=(place * EVENLY) % 1), max(ordered["step"], default=1)


def _boxes(values: pl.DataFrame, systems: list[str]) -> pl.DataFrame:
    """What a box plot shows of each system, in their order."""
    value = pl.col("value")
    quartiles = {f"q{i}": value.quantile(i / 4, "linear") for i in (1, 3)}
    reach = 1.5 * (quartiles["q3"] - quartiles["q1"])
    boxes = values.group_by("run").agg(
        lower=value.filter(value >= quartiles["q1"] - reach).min(),
        q1=quartiles["q1"],
        median=value.median(),
        q3=quartiles["q3"],
        upper=value.filter(value <= quartiles["q3"] + reach).max(),
        mean=value.sort().mean(),
        n_queries=value.count(),
    )
    return pl.DataFrame({"run": systems}).join(boxes, on="run", how="inner", maintain_order="left")
