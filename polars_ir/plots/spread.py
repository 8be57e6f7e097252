"""`distribution`: the values of systems as quantile dots, histograms or strips, over the interval of the mean."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt
import polars as pl

from polars_ir.frames.roles import PROVENANCE
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.per_query.means import summarize
from polars_ir.per_query.shared.measures import Measures
from polars_ir.plots import style

#: Quantile dots per system; above this many queries a histogram replaces the dots.
DOTS, HISTOGRAM = 20, 1_000

#: Smallest legible dot, in pixels.
SMALLEST = 5

#: The bins of an axis, for stacks of dots and for the bars of a histogram.
BINS = 40

#: The share of a system's row that dots or bars fill, and the place of the mean's interval below them.
FILLED, MEAN = 0.7, 0.12

#: Panel width, row height with few and with many systems, and the most that count as few.
WIDTH, HEIGHTS, FEW = 420, (64, 40), 8

#: What the marks of each kind are.
MARKS = {
    "dots": f"Each dot is one of {DOTS} equal parts of the queries.",
    "bars": "Bars: the share of queries, the highest of each system as high as that of any other.",
    "strips": "Shades: the share of queries, the stronger the more.",
}


@public(then=style.without_markup)
def distribution(per_query: Any, measures: Measures = None, *, by: str | Sequence[str] | None = None) -> style.Chart:
    """The distribution of the queries' values for each system, over the mean with its interval: a panel per measure.

    Each system has 20 dots, quantiles of its values: a dot is a twentieth of the queries (of fewer than 20, a query),
    and dots of nearly equal values stand on each other. So counts can be read off: nine of 20 dots at 1 are 45 % of the
    queries. With 1,000 queries or more, and where too many values are equal for stacked dots to be visible, it has a
    histogram of 40 bars, each system with a scale of its own; of more than eight systems, a strip of 40 cells whose
    shade is the share. Below is a tick at the mean, with the interval of `summarize`. The best system of the first
    measure stands first. A click on a system shows it alone.

    Returns
    -------
    alt.LayerChart
        Dots (`run`, `value`) or bars (`run`, `low`, `high`, `share`, `n_queries`), and means (`run`, `mean`, `low`,
        `high`, `n_queries`); of several measures, or values of `by`, an `alt.ConcatChart` of such panels.

    References
    ----------
    Kay, Kola, Hullman & Munson 2016, https://doi.org/10.1145/2858036.2858558 (quantile dots)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.distribution(ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10"))
    >>> chart.layer[0].data.filter(pl.col("run") == "bm25")["value"].round(2).to_list()[8:12]
    [0.24, 0.26, 0.28, 0.33]
    >>> chart.layer[1].data.select("run", "n_queries", pl.col("mean").round(3)).rows()
    [('bm25', 96, 0.323), ('chargrams', 96, 0.279), ('tfidf', 96, 0.264)]
    """
    frame, names, parts = style.in_parts(per_query, measures, "distribution", by)
    headings = parts.headings(len(names))
    query = next(column for column in frame.columns if column != "run")
    known = [column for column in ("run", query, PROVENANCE, *parts.columns) if column in frame.columns]
    rows = style.with_run(frame)
    means = style.with_run(summarize(frame.select(*known, *names), by=parts.columns or None))
    first = means.filter(measure=names[0]).group_by("run", maintain_order=True).agg(pl.col("mean").mean())
    systems = style.systems_of(first.sort("mean", descending=not is_cost(names[0]), nulls_last=True))
    shown: dict[str, dict[str, _Shown]] = {}
    for name in names:
        of_measure = means.filter(pl.col("mean").is_not_null(), measure=name)
        values = rows[name].cast(pl.Float64).drop_nulls().to_list() or [0.0, 1.0]
        intervals = of_measure.select("low", "high").unpivot()["value"].drop_nulls().to_list()
        ends = style.ends_of_axis(name, values, intervals)
        ends = ends if ends[0] < ends[1] else [ends[0] - 0.5, ends[0] + 0.5]
        of_parts = style.by_part(of_measure, headings)
        shown[name] = {
            heading: _shown(of_part, of_parts[heading], systems, name, ends)
            for heading, of_part in style.by_part(rows, headings).items()
        }
    # Dots of one size in all panels.
    all_shown = [each for of_parts in shown.values() for each in of_parts.values()]
    sizes = [each.size for each in all_shown if each.size is not None]
    panels = [
        style.of_parts({heading: _panel(each, systems, min(sizes, default=0)) for heading, each in of_parts.items()})
        for of_parts in shown.values()
    ]
    histogram = "bars" if len(systems) <= FEW else "strips"
    kinds = {histogram if each.size is None else "dots" for each in all_shown}
    title = f"{names[0]}: distribution over queries" if len(names) == 1 else "Distribution over queries"
    most_queries = rows.group_by("run", *parts.columns).len()["len"].max()
    of_few = {"dots": "Each dot is a query."} if isinstance(most_queries, int) and most_queries < DOTS else {}
    marks = " ".join(text for kind, text in (MARKS | of_few).items() if kind in kinds)
    below = "Below: the mean and its 95% interval (Wilson's)."
    return style.side_by_side(panels, style.titled(title, marks, below), columns=1 if parts.keys else 2)


class _Shown(NamedTuple):
    """The content of a panel: the values and the mean of each system, and the size of dots, if there are any."""

    measure: str
    values: pl.DataFrame
    means: pl.DataFrame
    ends: list[float]
    row_height: int
    size: float | None


def _shown(rows: pl.DataFrame, means: pl.DataFrame, systems: list[str], measure: str, ends: list[float]) -> _Shown:
    row_height = HEIGHTS[len(systems) > FEW]
    floors = pl.DataFrame({"run": systems}).with_row_index("row").select("run", floor=-1.0 - pl.col("row") + 0.2)
    of_measure = rows.select("run", value=pl.col(measure).cast(pl.Float64)).drop_nulls()
    values = floors.join(of_measure, on="run", maintain_order="left_right")
    size = None
    if of_measure.height < HISTOGRAM * max(1, of_measure["run"].n_unique()):
        values, size = _stacked(values, ends, row_height)
    return _Shown(measure, values, means.join(floors, on="run"), ends, row_height, size)


def _panel(shown: _Shown, systems: list[str], size: float) -> alt.LayerChart:
    x = alt.X(
        title=style.with_direction(shown.measure),
        scale=alt.Scale(domain=shown.ends, nice=False, padding=6),
        axis=style.axis(),
    )
    marks = _dots(shown, x, size) if shown.size is not None else _bars(shown, x, strips=len(systems) > FEW)
    # The names stand in the middle of rows whose places are numbers.
    names = f"{json.dumps([style.shortened(system) for system in systems])}[round(-datum.value - 0.5)]"
    middles = [-place - 0.5 for place in range(len(systems))]
    of_systems = style.axis(values=middles, grid=False, ticks=False, domain=False)
    of_systems.labelExpr = names
    scale = alt.Scale(domain=[-len(systems), 0], nice=False)
    base = alt.Chart(shown.means.with_columns(floor=pl.col("floor") - MEAN)).encode(
        y=alt.Y("floor:Q", scale=scale, axis=of_systems, title="system"),
        color=alt.value(style.FOREGROUND),
        opacity=style.seen(),
    )
    interval = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=3, clip=True)
    mean = base.mark_tick(size=10, thickness=2).encode(
        x="mean:Q", tooltip=["run:N", *style.of_figures("mean", "low", "high"), "n_queries:Q"]
    )
    layers = [marks, interval.encode(x=alt.X("low:Q"), x2="high:Q"), mean]
    return alt.LayerChart(layer=layers).properties(width=WIDTH, height=shown.row_height * len(systems))


def _stacked(values: pl.DataFrame, ends: list[float], row_height: int) -> tuple[pl.DataFrame, float | None]:
    """Quantiles of each system, those of a bin on each other, and the size of their dots; None if it is too small."""
    width = (ends[1] - ends[0]) / BINS
    count = pl.len().over("run")
    quantile = pl.int_range(pl.len()).over("run") * pl.min_horizontal(count, DOTS) // count
    quantiles = (
        values.sort("floor", "value", descending=[True, False])
        .with_columns(quantile=quantile)
        # The middle one of the queries that a dot stands for.
        .filter(pl.int_range(pl.len()).over("run", "quantile") == (pl.len() // 2).over("run", "quantile"))
        .with_columns(bin=((pl.col("value") - ends[0]) / width).round())
        .with_columns(level=pl.int_range(pl.len()).over("run", "bin"))
    )
    size = min(WIDTH / BINS, FILLED * row_height / (max(quantiles["level"], default=0) + 1))
    return (values, None) if size < SMALLEST else (quantiles, size)


def _dots(shown: _Shown, x: alt.X, size: float) -> alt.Chart:
    stacked_at = shown.ends[0] + pl.col("bin") * (shown.ends[1] - shown.ends[0]) / BINS
    height = pl.col("floor") + (pl.col("level") + 0.5) * size / shown.row_height
    dots = style.drawn(shown.values.select("run", "value", stacked_at=stacked_at, height=height), "Show fewer systems.")
    chart = alt.Chart(dots).mark_circle(size=math.pi / 4 * (0.92 * size) ** 2).add_params(style.click())
    place, blue = x.field("stacked_at").type("quantitative"), alt.value(style.PALETTE[0])
    dotted: alt.Chart = chart.encode(
        x=place, y="height:Q", tooltip=["run:N", *style.of_figures("value")], color=blue, opacity=style.seen()
    )
    return dotted


def _bars(shown: _Shown, x: alt.X, *, strips: bool) -> alt.Chart:
    """A system's share of queries per bin: as bars, or as shades of a strip."""
    low, width = shown.ends[0], (shown.ends[1] - shown.ends[0]) / BINS
    bin = ((pl.col("value") - low) / width).floor().clip(0, BINS - 1)
    counts = shown.values.group_by("run", "floor", bin=bin, maintain_order=True).agg(n_queries=pl.len())
    share = pl.col("n_queries") / pl.col("n_queries").sum().over("run")
    shares = counts.with_columns(share=share, low=low + pl.col("bin") * width)
    filled = pl.lit(FILLED) if strips else FILLED * pl.col("share") / pl.col("share").max().over("run")
    shares = shares.with_columns(high=pl.col("low") + width, top=pl.col("floor") + filled)
    tooltip = ["run:N", *style.of_figures("low", "high", "share"), "n_queries:Q"]
    chart = alt.Chart(style.drawn(shares.sort("run", "low").drop("bin"), "Show fewer systems."))
    place, blue = x.field("low").type("quantitative"), alt.value(style.PALETTE[0])
    bars: alt.Chart = chart.mark_rect().encode(
        x=place, x2="high:Q", y="floor:Q", y2="top:Q", tooltip=tooltip, color=blue, opacity=style.seen()
    )
    if strips:
        # By its root a share of one query of a hundred is still seen.
        shades = alt.Scale(type="sqrt", domain=[0, shares.select(pl.col("share").max()).item()], range=[0.1, 1])
        bars = bars.encode(fillOpacity=alt.FillOpacity("share:Q", scale=shades, legend=None))
    return bars.add_params(style.click())
