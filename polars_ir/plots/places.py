"""The rank of each system, and the ranks that it may have."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir.language.options import takes
from polars_ir.per_query.ranks import ranks as ranks_of
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Ranking, confidence_is_alpha, draws_nothing
from polars_ir.plots.markup import without_markup
from polars_ir.plots.style import (
    GREY,
    PALETTE,
    Chart,
    axis,
    click,
    drawn,
    in_memory,
    of_figures,
    of_kinds,
    one_below_the_other,
    seen,
    side_by_side,
    titled,
    with_direction,
)

#: The group of a system, with a colour and a shape.
GROUPS = {"may be first": (PALETTE[0], "diamond"), "is not first": (GREY, "circle")}

#: The most ranks that an axis names.
MOST_TICKS = 15

#: The most panels side by side.
COLUMNS = 2


@confidence_is_alpha
@draws_nothing
@takes(Ranking, then=without_markup)
def ranks(per_query: Any, measures: Measures = None, **options: Unpack[Ranking]) -> Chart:
    """The rank of every system, with those it may have: a panel per measure.

    Figures are those of `ranks`: lines go from the best to the worst rank that a system may have, all of them together
    with this confidence. Colour and shape tell the systems that may be first. Systems stand in the order of each
    panel's own measure.

    Parameters
    ----------
    per_query
        The result of `evaluate` for several systems, or a dict of such frames by system.
    measures
        The measures to show; by default all.

    Returns
    -------
    alt.LayerChart
        The rows of `ranks` with a `group`; of several measures an `alt.ConcatChart` of such panels.

    Raises
    ------
    IRError
        As `ranks`, and for more than 5,000 systems.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.ranks(ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10"))
    >>> chart.data.select("run", "best_rank", "worst_rank", "group").rows()
    [('bm25', 1, 1, 'may be first'), ('chargrams', 2, 3, 'is not first'), ('tfidf', 2, 3, 'is not first')]
    """
    frame, names = in_memory(per_query, measures, "ranks")
    places = ranks_of(frame, names, **options)
    may, not_first = GROUPS
    group = pl.when("tied_with_first").then(pl.lit(may)).otherwise(pl.lit(not_first))
    places = places.with_columns(group=group)
    panels = [_ranges(places.filter(measure=name), name) for name in names]
    lines = f"Lines: the ranks that all systems may have, together with a confidence of {1 - options['alpha']:.0%}."
    title = f"{with_direction(names[0])}: ranks of systems" if len(names) == 1 else "Ranks of systems"
    return side_by_side(panels, titled(title, lines), columns=COLUMNS)


def _ranges(rows: pl.DataFrame, measure: str) -> alt.LayerChart:
    """A panel of a measure."""
    systems = rows["run"].to_list()
    colour, shape = of_kinds("group", GROUPS)
    columns = ("run:N", "rank:Q", "best_rank:Q", "worst_rank:Q", "group:N", "n_queries:Q", "note:N")
    scale = alt.Scale(domain=[1, max(2, len(systems))], nice=False, padding=8)
    ticks = list(range(1, len(systems) + 1, -(-len(systems) // MOST_TICKS)))
    title = f"rank by {with_direction(measure)}"
    x = alt.X("rank:Q", scale=scale, title=title, axis=axis(values=ticks, format="d", grid=False))
    base = alt.Chart(drawn(rows, "Show fewer systems.")).encode(
        y=one_below_the_other(systems, grid=True),
        color=colour,
        tooltip=[*columns, *of_figures("mean")],
        opacity=seen(),
    )
    known = base.transform_filter("isValid(datum.rank)")
    lines = known.mark_rule(strokeWidth=3).encode(x=alt.X("best_rank:Q"), x2="worst_rank:Q")
    points = known.mark_point(filled=True, size=80).encode(x=x, shape=shape).add_params(click(on_legend=False))
    panel = alt.LayerChart(layer=[lines, points])
    return panel.properties(width=320, height=alt.Step(20))
