"""`distribution`: the values of systems as quantile dots or histograms, over the interval of the mean."""

from __future__ import annotations

import json
import math
from typing import Any

import altair as alt
import polars as pl

from polars_ir.language.names import column_of
from polars_ir.language.options import takes
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.summarize import summarize
from polars_ir.plots.markup import without_markup
from polars_ir.plots.style import (
    FOREGROUND,
    LONGEST_LABEL,
    PALETTE,
    Chart,
    click,
    drawn,
    in_memory,
    of_figures,
    seen,
    side_by_side,
    systems_of,
    titled,
    with_direction,
    with_run,
)

#: The dots of a system, and the number of queries from which on a histogram takes their place.
DOTS, HISTOGRAM = 20, 1_000

#: The smallest dots that are dots, in pixels across.
SMALLEST = 5

#: The bins of an axis, for stacks of dots and for the bars of a histogram.
BINS = 40

#: The share of a system's row that dots or bars fill, and the place of the mean's interval below them.
FILLED, MEAN = 0.7, 0.12

#: The width of a panel, the height of the row of a system among few and among many, and how many are few.
WIDTH, HEIGHTS, FEW = 420, (64, 40), 8


@takes(then=without_markup)
def distribution(per_query: Any, measures: Measures = None) -> Chart:
    """The distribution of the queries' values for each system, over the mean with its interval: a panel per measure.

    Each system has 20 dots, quantiles of its values: a dot is a twentieth of the queries (of fewer than 20, a query),
    and dots of nearly equal values stand on each other. So counts can be read off: nine of 20 dots at 1 are 45 % of the
    queries. From 1,000 queries on, and where so many values are the same that dots on each other would be too small, it
    has a histogram of 40 bars. Below is a tick at the mean, with the interval of
    `summarize`. A click on a system shows it alone.

    Parameters
    ----------
    per_query
        What `evaluate` returned, of one system or of several.
    measures
        The measures to show; by default all.

    Returns
    -------
    alt.LayerChart
        Dots (`run`, `value`) or bars (`run`, `low`, `high`, `share`, `n_queries`), and means (`run`, `mean`, `low`,
        `high`, `n_queries`); of several measures an `alt.ConcatChart` of such panels.

    Raises
    ------
    IRError
        For an unknown measure, NaN values, a LazyFrame, and so many systems that a chart can not hold them.

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
    frame, names = in_memory(per_query, measures, "distribution")
    query = next(column for column in frame.columns if column != "run")
    keys = [column for column in ("run", query) if column in frame.columns]
    rows, means = with_run(frame), with_run(summarize(frame.select(*keys, *names)))
    systems = systems_of(rows)
    panels, kinds = [], set()
    for name in names:
        values = rows.select("run", value=pl.col(name).cast(pl.Float64)).drop_nulls()
        of_measure = means.filter(pl.col("measure") == name, pl.col("mean").is_not_null())
        panel, kind = _panel(values, of_measure, systems, name)
        panels.append(panel)
        kinds.add(kind)
    title = f"{names[0]} of each query" if len(names) == 1 else "Measures of each query"
    most_queries = rows.group_by("run").len()["len"].max()
    legends = {
        "dots": f"A dot: 1 of {DOTS} equal parts of the queries, by value.",
        "bars": "Bars: the share of queries.",
    }
    if isinstance(most_queries, int) and most_queries < DOTS:
        legends["dots"] = "A dot: a query."
    shown = " ".join(legends[kind] for kind in sorted(kinds, reverse=True))
    below = "Below: the mean with its interval of 95 % (Wilson's)."
    return side_by_side(panels, titled(title, shown, below), columns=2)


def _panel(values: pl.DataFrame, means: pl.DataFrame, systems: list[str], measure: str) -> tuple[alt.LayerChart, str]:
    """A panel of a measure: a row per system; and whether it has dots or bars."""
    ends, row_height = _ends(values, means, measure), HEIGHTS[len(systems) > FEW]
    rows = pl.DataFrame({"run": systems}).with_row_index("row").select("run", floor=-1.0 - pl.col("row") + 0.2)
    x = alt.Scale(domain=ends, nice=False, padding=6)
    placed_values = rows.join(values, on="run", maintain_order="left_right")
    is_long = values.height >= HISTOGRAM * max(1, values["run"].n_unique())
    dots = None if is_long else _dots(placed_values, ends, x, row_height)
    shown = dots or _bars(placed_values, ends, x)
    # The names stand in the middle of rows whose places are numbers.
    names = f"{json.dumps([str(system) for system in systems])}[round(-datum.value - 0.5)]"
    middles = [-place - 0.5 for place in range(len(systems))]
    axis = alt.Axis(
        values=middles, labelExpr=names, labelLimit=LONGEST_LABEL, grid=False, ticks=False, domain=False, title=None
    )
    scale = alt.Scale(domain=[-len(systems), 0], nice=False)
    shown = shown.encode(color=alt.value(PALETTE[0]), opacity=seen())
    placed = means.join(rows, on="run").with_columns(floor=pl.col("floor") - MEAN)
    base = alt.Chart(placed).encode(
        y=alt.Y("floor:Q", scale=scale, axis=axis), color=alt.value(FOREGROUND), opacity=seen()
    )
    interval = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=3, clip=True)
    mean = base.mark_tick(size=10, thickness=2).encode(
        x="mean:Q", tooltip=["run:N", *of_figures("mean", "low", "high"), "n_queries:Q"]
    )
    layers = [shown.add_params(click(on_legend=False)), interval.encode(x=alt.X("low:Q"), x2="high:Q"), mean]
    height = row_height * len(systems)
    panel = alt.LayerChart(layer=layers).properties(width=WIDTH, height=height, title=titled(with_direction(measure)))
    return panel, "bars" if dots is None else "dots"


def _ends(values: pl.DataFrame, means: pl.DataFrame, measure: str) -> list[float]:
    """The ends of the axis: those of the values and of the means' intervals, within the bounds of the measure."""
    figures = [*values["value"], *means.select("mean", "low", "high").unpivot()["value"].drop_nulls()] or [0.0, 1.0]
    named = column_of(measure)
    lowest, highest = named.spec.bounds if named else (-math.inf, math.inf)
    ends = [max(lowest, min(figures)), min(highest, max(figures))]
    return ends if ends[0] < ends[1] else [ends[0] - 0.5, ends[0] + 0.5]


def _dots(values: pl.DataFrame, ends: list[float], x: alt.Scale, row_height: int) -> alt.Chart | None:
    """Quantiles of each system, those of a bin on each other; None where they would be too small."""
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
    if size < SMALLEST:
        return None
    height = pl.col("floor") + (pl.col("level") + 0.5) * size / row_height
    dots = quantiles.select("run", "value", stacked_at=ends[0] + pl.col("bin") * width, height=height)
    chart = alt.Chart(drawn(dots, "Show fewer systems.")).mark_circle(size=math.pi / 4 * (0.92 * size) ** 2)
    place = alt.X("stacked_at:Q", scale=x, title=None)
    dotted: alt.Chart = chart.encode(x=place, y="height:Q", tooltip=["run:N", *of_figures("value")])
    return dotted


def _bars(values: pl.DataFrame, ends: list[float], x: alt.Scale) -> alt.Chart:
    """The share of a system's queries in each bin, as bars on its floor."""
    width = (ends[1] - ends[0]) / BINS
    bin = ((pl.col("value") - ends[0]) / width).floor().clip(0, BINS - 1)
    counts = values.group_by("run", "floor", bin=bin, maintain_order=True).agg(n_queries=pl.len())
    share = pl.col("n_queries") / pl.col("n_queries").sum().over("run")
    shares = counts.with_columns(share=share, low=ends[0] + pl.col("bin") * width)
    shares = shares.with_columns(
        high=pl.col("low") + width, top=pl.col("floor") + FILLED * pl.col("share") / pl.col("share").max()
    )
    chart = alt.Chart(drawn(shares.sort("run", "low").drop("bin"), "Show fewer systems.")).mark_rect()
    tooltip = ["run:N", *of_figures("low", "high", "share"), "n_queries:Q"]
    low = alt.X("low:Q", scale=x, title=None)
    barred: alt.Chart = chart.encode(x=low, x2="high:Q", y="floor:Q", y2="top:Q", tooltip=tooltip)
    return barred
