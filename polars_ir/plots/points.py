"""Two systems against each other, a point per query."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.options import takes
from polars_ir.per_query.shared.aligned import scores_of
from polars_ir.per_query.shared.options import ROUNDED, Tying
from polars_ir.plots.markup import without_markup
from polars_ir.plots.pairwise import ranked_pairs
from polars_ir.plots.style import (
    GREY,
    OUTCOME_SCALE,
    OUTCOMES,
    axis,
    in_memory,
    of_figures,
    of_outcomes,
    only,
    shortened,
    titled,
    with_direction,
)

#: The number of queries from which on close ones are drawn as one, and the cells of an axis then.
BINNED, CELLS = 2_000, 40

#: The width and height of the chart.
SIDE = 400


@takes(Tying, then=without_markup)
def scatter(per_query: Any, measure: str | pl.Expr, x: str, y: str, **options: Unpack[Tying]) -> alt.LayerChart:
    """Two systems query by query: a point per pair of values, and the diagonal on which they are equal.

    Queries with the same two values are one point, the larger the more there are. From 2,000 queries on, those that are
    close, in cells of 1/40 of the axes, are drawn as one square at their mean; the subtitle says so.

    Parameters
    ----------
    per_query
        The result of `evaluate` for several systems, or a dict of such frames by system.
    measure
        The measure, in any spelling.
    x, y
        The systems on the axes; `y` wins above the diagonal, or below it if lower is better.

    Returns
    -------
    alt.LayerChart
        Points (`x_value`, `y_value`, `outcome` of `y`, `n_queries`, `query`, the first of them) and the diagonal.

    Raises
    ------
    IRError
        For an unknown system or measure, a single system, NaN values, a LazyFrame.

    Examples
    --------
    >>> import polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    >>> chart = plots.scatter(per_query, "nDCG@10", x="bm25", y="tfidf")
    >>> chart.title.subtitle
    ['12 wins of tfidf, 28 ties, 56 losses.']
    """
    frame, names = in_memory(per_query, measure, "scatter")
    name = only(names)
    scores = scores_of(frame, name, options, what="ir.plots.scatter")
    for name_of_axis, system in (("x", x), ("y", y)):
        scores.index(system, name_of_axis)
    if x == y:
        raise OptionError(f"x and y must be two systems; got {x!r} for both.")
    pairs = ranked_pairs(scores, name, y, x, options["tolerance"] * ROUNDED)
    pairs = pairs.rename({"run_value": "y_value", "baseline_value": "x_value"})
    counts = {kind: pairs.filter(pl.col("outcome") == kind).height for kind in OUTCOMES}
    coordinates = [*pairs["x_value"], *pairs["y_value"]]
    low, high = (min(0.0, *coordinates), max(coordinates)) if coordinates else (0.0, 1.0)
    cell = (high - low) / CELLS if pairs.height >= BINNED else None
    points, together = _points(pairs, cell)
    square = alt.Scale(domain=[low, high] if high > low else [low, low + 1], nice=True)
    marks = alt.Chart(points).encode(
        x=alt.X("x_value:Q", title=f"{shortened(x)}: {with_direction(name)}", scale=square, axis=axis()),
        y=alt.Y("y_value:Q", title=f"{shortened(y)}: {with_direction(name)}", scale=square, axis=axis()),
        size=_size(points, binned=cell is not None),
        color=of_outcomes(),
        tooltip=["query:N", "n_queries:Q", *of_figures("x_value", "y_value")],
    )
    if cell is None:
        shapes = alt.Scale(domain=list(OUTCOMES), range=["triangle-up", "circle", "triangle-down"])
        stroke = alt.Stroke("outcome:N", scale=OUTCOME_SCALE, title=None)
        marks = marks.mark_point(filled=True, fillOpacity=0.35, strokeOpacity=1, strokeWidth=1)
        marks = marks.encode(shape=alt.Shape("outcome:N", scale=shapes, title=None), stroke=stroke)
    else:
        marks = marks.mark_square(opacity=1)
    ends = pl.DataFrame({"x_value": square.domain, "y_value": square.domain})
    diagonal = alt.Chart(ends).mark_line(color=GREY, strokeDash=[4, 3]).encode(x="x_value:Q", y="y_value:Q")
    outcomes = f"{counts['win']} wins of {y}, {counts['tie']} ties, {counts['loss']} losses."
    title = titled(f"{name}: {y} against {x}", outcomes, together)
    return alt.LayerChart(layer=[diagonal, marks]).properties(width=SIDE, height=SIDE, title=title)


def _points(pairs: pl.DataFrame, cell: float | None) -> tuple[pl.DataFrame, str]:
    """A point per pair of values, or per cell of a size, and a word on that."""
    values, explanation = ["x_value", "y_value"], ""
    keys = [pl.col(value).alias(f"{value[0]}_cell") for value in values]
    if cell:
        keys = [(key / cell).floor() for key in keys]
        explanation = f"A square stands for the queries in a cell of {cell:.3g} x {cell:.3g}, at their mean."
    points = pairs.sort("query").group_by(*keys, "outcome", maintain_order=True)
    cells = points.agg(pl.col(values).mean(), query=pl.col("query").first(), n_queries=pl.len())
    # Large ones first, so that they hide no other.
    cells = cells.sort("n_queries", descending=True, maintain_order=True)
    return cells.select("query", *values, "outcome", "n_queries"), explanation


def _size(points: pl.DataFrame, *, binned: bool) -> alt.Size:
    """The size of a point by its queries, if any has several; the fullest cell is filled."""
    most = max(points["n_queries"], default=1)
    domain = [1, max(most, 2)]
    of_points = alt.Scale(type="sqrt", domain=domain, range=[40, 400])
    scale = alt.Scale(type="log", domain=domain, range=[9, (SIDE / CELLS) ** 2]) if binned else of_points
    values = list(range(1, most + 1)) if most < 5 else alt.Undefined
    legend = alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY, format="d", tickCount=4, values=values)
    return alt.Size("n_queries:Q", title="queries", scale=scale, legend=legend if most > 1 else None)
