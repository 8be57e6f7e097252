"""Measures over time: a line per system, and where it is beyond chance another than before."""

from __future__ import annotations

from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir.errors import option
from polars_ir.language.names import column_of, is_cost
from polars_ir.language.options import takes
from polars_ir.per_query.drift import drift
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Grouping, compares_means
from polars_ir.plots.lines import best_at_the_end, lines, names_at_the_end, note_on_bands
from polars_ir.plots.markup import without_markup
from polars_ir.plots.style import (
    FOREGROUND,
    Chart,
    axis,
    colour,
    drawn,
    in_memory,
    seen,
    side_by_side,
    systems_of,
    titled,
    with_direction,
    with_run,
)

#: The numbers of queries that fit above a panel side by side; of more stretches, one of several has its number.
MOST_SIZES = 24

#: The height of a panel.
HEIGHT = 220


@compares_means
@takes(Grouping, then=without_markup)
def series(
    per_query: Any,
    by: Any,
    measures: Measures = None,
    *,
    every: str | None = None,
    reference: Any = None,
    **options: Unpack[Grouping],
) -> Chart:
    """The mean of a measure over time, with its interval, and a ring where it has drifted: a panel per measure.

    Figures are those of `drift`: a ring, in the colour of its system, marks a stretch of time whose mean differs from
    the reference (the first third, by default) by more than chance. Every stretch has a tick, and above it the number
    of its queries (of more than 24 stretches, above one of several); where systems have different ones, the fewest. Of
    more than five systems the best five at the end are in colour, and bands are left out, which the subtitle says. A
    click on a point shows one system alone.

    Parameters
    ----------
    per_query
        The result of `evaluate`, of one system or of several.
    by
        The time of a query, as in `drift`.
    every
        The length of a stretch: `"1d"`, `"1w"`, `"1mo"`; without it, one value of `by`.
    measures
        The measures to show; by default all.
    reference
        As in `drift`.

    Returns
    -------
    alt.LayerChart
        The rows of `drift`; of several measures an `alt.ConcatChart` of such panels.

    Raises
    ------
    IRError
        As `drift`, and for more than 5,000 points.

    Examples
    --------
    >>> import polars as pl
    >>> from polars_ir import plots
    >>> values = [0.8, 0.9, 0.8, 0.9, 0.9, 0.8, 0.3, 0.4, 0.3]
    >>> log = pl.DataFrame({"query_id": range(9), "day": [1, 1, 1, 2, 2, 2, 3, 3, 3], "RR": values})
    >>> chart = plots.series(log, "day", min_queries=3)
    >>> chart.data.select("bucket", "drifted").rows()
    [(1, None), (2, False), (3, False)]
    """
    frame, names = in_memory(per_query, measures, "series", by=by)
    means = with_run(drift(frame, by, names, every=every, reference=reference, **options))
    alpha = options["alpha"]
    systems = systems_of(means)
    rows, x = _timed(means, by if isinstance(by, str) else "time", every)
    rings = f"Rings: the mean differs from the reference (corrected p up to {alpha:g})."
    rings = f"{rings} Numbers above: queries."
    panels = [_marked(rows.filter(measure=name), x, name, systems) for name in names]
    subject = names[0] if len(names) == 1 else "Measures"
    title = titled(f"{subject} over time", note_on_bands(systems, 1 - alpha), rings)
    chart = side_by_side(panels, title, columns=1)
    # Each panel has its own best systems in colour.
    return (
        chart
        if len(panels) == 1
        else chart.resolve_scale(color="independent", shape="independent", strokeDash="independent")
    )


def _timed(rows: pl.DataFrame, name: str, every: str | None) -> tuple[pl.DataFrame, alt.X]:
    """The rows, and the axis of their buckets: of time for dates and times, of single values for others."""
    title = name if every is None else f"{name} (every {every})"
    dtype = rows.schema["bucket"]
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        times = rows["bucket"].drop_nulls()
        within_days = isinstance(dtype, pl.Datetime) and (times - times.dt.truncate("1d")).dt.total_seconds().any()
        stamps = times.unique().sort().cast(pl.Datetime("ms")).dt.epoch("ms").to_list()
        # A format of text alone shows the times as they are, in no zone of a reader's.
        scale = alt.Scale(type="utc")
        form = "%Y-%m-%d %H:%M" if within_days else "%Y-%m-%d"
        axis_of_times = alt.Axis(format=form, labelOverlap=True, values=stamps, grid=False)
        return rows, alt.X("bucket:T", title=title, axis=axis_of_times, scale=scale)
    if not dtype.is_numeric():
        rows = rows.with_columns(pl.col("bucket").cast(pl.String))
    order = rows["bucket"].unique(maintain_order=True).to_list()
    return rows, alt.X("bucket:O", sort=order, title=title, axis=axis(labelOverlap=True, labelAngle=0))


def _marked(rows: pl.DataFrame, x: alt.X, measure: str, systems: list[str]) -> alt.LayerChart:
    """A panel of a measure, with a ring around each point that has drifted, and the size of each stretch."""
    domain = _within_bounds(rows, measure)
    coloured = best_at_the_end(rows, "bucket", cost=is_cost(measure))
    rows = drawn(rows, f"Take longer stretches of time, such as {option('every', '1mo')}, or fewer systems")
    y, of_run = with_direction(measure), colour(systems, coloured).legend(None)
    course = lines(rows, x, y, systems, domain=domain, coloured=coloured, named=True)
    drifted = alt.Chart(rows).transform_filter("datum.drifted === true")
    rings = drifted.mark_point(size=170, strokeWidth=2, filled=False)
    rings = rings.encode(x=x, y="mean:Q", color=of_run, opacity=seen())
    sizes = rows.group_by("bucket", maintain_order=True).agg(pl.col("n_queries").min())
    step = -(-sizes.height // MOST_SIZES)
    texts = alt.Chart(sizes.gather_every(step)).mark_text(fontSize=9, color=FOREGROUND)
    layers = [*course, rings, texts.encode(x=x, y=alt.value(-6), text="n_queries:Q")]
    if len(systems) > 1:
        shown = rows["mean"].drop_nulls().to_list() or [0.0, 1.0]
        span = (min(shown), max(shown)) if domain is alt.Undefined else (domain[0], domain[1])
        layers.append(names_at_the_end(rows, x, systems, coloured, span, height=HEIGHT))
    return alt.LayerChart(data=rows, layer=layers).properties(width=600, height=HEIGHT)


def _within_bounds(rows: pl.DataFrame, measure: str) -> Any:
    """The ends of the axis: no value beyond them is possible, though the interval of a few queries may go there."""
    named = column_of(measure)
    if named is None:
        return alt.Undefined
    lowest, highest = named.spec.bounds
    ends = rows.select("mean", "low", "high").unpivot()["value"].drop_nulls().to_list()
    return [max(lowest, min(ends)), min(highest, max(ends))] if ends else alt.Undefined
