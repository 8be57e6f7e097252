"""Two systems query by query: bars of their differences, and a point for each pair of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import OptionError
from polars_ir.extras import np
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.per_query.compare import compare
from polars_ir.per_query.shared.options import ROUNDED, TESTS, Testing, Tying
from polars_ir.per_query.shared.paired import Scores, scores_of
from polars_ir.per_query.shared.verdicts import p_beside
from polars_ir.plots import style

#: The figures of a query: both values, and their difference.
FIGURES = ("run_value", "baseline_value", "difference")


def ranked_pairs(
    scores: Scores, measure: str, run: str, baseline: str, tolerance: float, *, of_all: bool = False
) -> pl.DataFrame:
    """A row per query valued for both systems (`of_all`: for all), largest win of `run` first."""
    pair, values = (scores.index(run, "run"), scores.index(baseline)), scores.values[measure]
    values = stats.of_all(values) if of_all else values
    run_values, baseline_values = values[:, pair].T
    # Differences by the rounding of floats alone are 0, as in `compare`.
    differences = np.where(stats.differences([values], [pair])[:, 0] == 0, 0.0, run_values - baseline_values)
    columns = (run_values, baseline_values, differences)
    named = {name: pl.Series(column, nan_to_null=True) for name, column in zip(FIGURES, columns, strict=True)}
    pairs = pl.DataFrame({"query_id": scores.queries.collect().to_series().cast(pl.String), **named}).drop_nulls()
    ordered = pairs.sort("difference", "query_id", descending=[not is_cost(measure), False])
    better_by = -pl.col("difference") if is_cost(measure) else pl.col("difference")
    won, lost = better_by > tolerance, better_by < -tolerance
    outcome = pl.when(won).then(pl.lit("win")).when(lost).then(pl.lit("loss")).otherwise(pl.lit("tie"))
    return ordered.with_columns(outcome=outcome).with_row_index("place")


#: The most queries with a bar each: more are thinner than a pixel.
MOST_BARS = 500


@public(Testing, then=style.without_markup)
def differences(
    per_query: Any,
    measure: str | pl.Expr,
    baseline: str,
    *,
    run: str | None = None,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Testing],
) -> style.Chart:
    """The difference of a system from the baseline on each query: bars, the greatest win first.

    Bars are coloured by win, tie and loss, since a single query has no significance; ties, whose bars have no height,
    are a thick line at 0, which is in the middle. Another line is the mean difference, in a band that is its interval:
    solid if it is significant, dashed if it is not. A click on a bar shows its query in all panels. Figures are those
    of `compare` for all systems of the frame, p corrected for them, also if only one is shown. The best system has the
    first panel. Of more than 500 queries, neighbours in the order share a bar, their mean; the subtitle says how many.

    Parameters
    ----------
    measure
        The measure, in any spelling.
    run
        The system to show; None shows a panel of each.

    Returns
    -------
    alt.LayerChart
        Bars (`difference`, `outcome`, `query_id`, `n_queries`), the mean with its interval, and the lines of 0 and of
        ties; of several systems, or values of `by`, an `alt.ConcatChart` of such panels with the same axis.

    Examples
    --------
    >>> import polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    >>> chart = plots.differences(per_query, "nDCG@10", baseline="bm25", run="tfidf")
    >>> chart.title.text
    'nDCG@10: tfidf against bm25'
    >>> chart.title.subtitle[0]
    '12 wins, 28 ties, 56 losses; mean difference -0.060 [-0.085, -0.034], p < 0.001'
    >>> chart.layer[0].data["difference"].head(2).round(3).to_list()
    [0.2, 0.192]
    """
    frame, names, parts = style.in_parts(per_query, measure, "differences", by)
    name = style.only(names)
    headings = parts.headings(style.with_run(frame)["run"].n_unique() - 1 if run is None else 1)
    test, alpha = TESTS[options["test"]], options["alpha"]
    options["interval"] = options["interval"] or test.interval_of_mean
    comparison = compare(frame, name, baseline=baseline, by=parts.columns or None, **options)
    together = (test.of_all or options["correction"] is not None) and comparison.height > 1
    if together:
        # The interval beside a corrected p holds for all of them, too.
        comparison = comparison.with_columns(low="simultaneous_low", high="simultaneous_high")
    scores = scores_of(frame, name, options, by=parts.columns or None, what="ir.plots.differences")
    if run is not None:
        scores.index(run, "run")
        comparison = comparison.filter(pl.col("run") == run)
    if comparison.is_empty():
        raise OptionError(f"must be another system than the baseline; got {run!r} for both.", about="run")
    comparison = comparison.sort("difference", descending=not is_cost(name), nulls_last=True, maintain_order=True)
    rows, pairs = [], []
    compared = style.by_part(comparison, headings)
    for (heading, of_heading), (_, of_part) in zip(compared.items(), scores.each_slice(), strict=True):
        for row in of_heading.to_dicts():
            rows.append({**row, "alpha": alpha, "heading": ", ".join(filter(None, (heading, row["run"])))})
            # A test may compare all systems on the queries for which all of them have a value.
            tolerance = options["tolerance"] * ROUNDED
            pairs.append(ranked_pairs(of_part, name, row["run"], baseline, tolerance, of_all=test.complete))
    size = max(1, *(-(-of_run.height // MOST_BARS) for of_run in pairs))
    bars = [_bars(of_run, size) for of_run in pairs]
    ends = [*comparison.select("low", "high").unpivot()["value"].drop_nulls(), *pl.concat(bars)["difference"], 0.0]
    furthest = max(map(abs, ends)) or 1.0
    scale, columns = alt.Scale(domain=[-furthest, furthest]), 2 if len(rows) < 7 else 3
    y = alt.Y("difference:Q", title=f"difference in {style.with_direction(name)}", scale=scale, axis=style.axis())
    panels = [_bars_and_mean(of_run, row, y, single=len(rows) == 1) for of_run, row in zip(bars, rows, strict=True)]
    method = test.corrected(options["correction"])
    share = f"Each bar is the mean of up to {size} neighbouring queries." if size > 1 else ""
    of_all = " of all comparisons" if together else ""
    explanation = f"Line: mean difference with its interval of {1 - alpha:.0%}{of_all}; p by {method}"
    lacking = style.on_missing(comparison.select(pl.max("n_missing")).item(), options["missing"])
    title = _title(name, baseline, rows, explanation, share, lacking)
    return style.side_by_side(panels, title, columns=columns)


def _title(name: str, baseline: str, rows: list[dict[str, Any]], explanation: str, *others: str) -> alt.TitleParams:
    if len(rows) > 1:
        explanation = f"{explanation}; solid if significant, else dashed."
        return style.titled(f"{name}: differences from {baseline}", explanation, *others)
    (row,) = rows
    verdict = {True: "significant.", False: "not significant.", None: "not tested."}[row["significant"]]
    return style.titled(
        f"{name}: {row['run']} against {baseline}", _in_words(row), f"{explanation}; {verdict}", *others
    )


def _bars(pairs: pl.DataFrame, size: int) -> pl.DataFrame:
    """A bar per query, or per `size` neighbours; none of them holds both a win and a loss."""
    bars = pairs.group_by(pl.col("place") // size, "outcome", maintain_order=True).agg(
        start=pl.col("place").first(),
        end=pl.col("place").first() + pl.len(),
        difference=pl.col("difference").mean(),
        query_id=pl.when(pl.len() == 1).then(pl.col("query_id").first()).otherwise(None),
        n_queries=pl.len(),
    )
    return bars.select("query_id", "start", "end", "difference", "outcome", "n_queries")


def _bars_and_mean(bars: pl.DataFrame, row: Mapping[str, Any], y: alt.Y, *, single: bool) -> alt.LayerChart:
    width, height = (700, 300) if single else (300, 160)
    scale, ticks = alt.Scale(nice=False), style.axis(tickMinStep=1)
    x = alt.X("start:Q", title="queries, the greatest win first", scale=scale, axis=ticks)
    tooltip_of_bars = ["query_id:N", "difference:Q", "outcome:N", "n_queries:Q"]
    of_bars = alt.Chart(bars).encode(x=x, x2="end:Q", color=style.of_outcomes(), tooltip=tooltip_of_bars)
    chosen = [style.click("query")] if bars["query_id"].null_count() == 0 else []
    if chosen:
        of_bars = of_bars.encode(opacity=style.seen(of="query"))
    # Without a stroke there are seams between the bars.
    seamless = alt.Stroke("outcome:N", scale=style.OUTCOME_SCALE, title=None)
    heights = of_bars.mark_bar(strokeWidth=0.6).encode(y=y, y2=alt.datum(0), stroke=seamless).add_params(*chosen)
    ties = of_bars.transform_filter("datum.outcome === 'tie'").mark_rule(strokeWidth=4).encode(y=alt.datum(0))
    mean = pl.DataFrame([row]).select("run", "baseline", "difference", "low", "high", "p", "p_corrected", "note")
    of_mean = alt.Chart(mean.filter(pl.col("difference").is_not_null()))
    band = of_mean.transform_filter("isValid(datum.low)").mark_rect(
        fill=style.FOREGROUND, fillOpacity=0.3, stroke=style.FOREGROUND, strokeOpacity=0.6, strokeWidth=0.5
    )
    tooltip = ["run:N", "baseline:N", "note:N", *style.of_figures(*mean.columns[2:7])]
    rule = of_mean.mark_rule(strokeWidth=1, color=style.FOREGROUND, strokeDash=[1, 0] if row["significant"] else [5, 3])
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color=style.FOREGROUND, strokeWidth=0.5).encode(y="zero:Q")
    layers = [heights, band.encode(y="low:Q", y2="high:Q"), zero, rule.encode(y="difference:Q", tooltip=tooltip), ties]
    heading = style.titled(row["heading"], *_in_words(row).split("; "), limit=width)
    return alt.LayerChart(layer=layers).properties(width=width, height=height, title=heading)


def _in_words(row: Mapping[str, Any]) -> str:
    counts = f"{row['wins']} wins, {row['ties']} ties, {row['losses']} losses"
    if row["difference"] is None:
        return f"{counts}; {row['note']}"
    ends = "" if row["low"] is None else f" [{style.number(row['low'])}, {style.number(row['high'])}]"
    p = row["p_corrected"]
    sure = f"; p not defined ({row['note']})" if p is None else f", p {p_beside(p, row['alpha'])}"
    return f"{counts}; mean difference {style.number(row['difference'])}{ends}{sure}"


#: Above this many queries points are binned, in this many cells per axis.
BINNED, CELLS = 2_000, 40

#: The width and height of the chart.
SIDE = 400


@public(Tying, then=style.without_markup)
def scatter(
    per_query: Any,
    measure: str | pl.Expr,
    x: str,
    y: str,
    *,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Tying],
) -> style.Chart:
    """Two systems query by query: a point per pair of values, and the diagonal on which they are equal.

    Queries with the same two values are one point, the larger the more there are; a click shows one alone. From 2,000
    queries on, those that are close, in cells of 1/40 of the axes, are drawn as one square at their mean; the subtitle
    says so.

    Parameters
    ----------
    measure
        The measure, in any spelling.
    x, y
        The systems on the axes; `y` wins above the diagonal, or below it if lower is better.

    Returns
    -------
    alt.LayerChart
        Points (`x_value`, `y_value`, `outcome` of `y`, `n_queries`, `query_id`, the first of them) and the diagonal; of
        several values of `by` an `alt.ConcatChart` of such panels with the same axes.

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
    frame, names, parts = style.in_parts(per_query, measure, "scatter", by)
    name, headings = style.only(names), parts.headings()
    scores = scores_of(frame, name, options, by=parts.columns or None, what="ir.plots.scatter")
    for name_of_axis, system in (("x", x), ("y", y)):
        scores.index(system, name_of_axis)
    if x == y:
        raise OptionError(f"x and y must be two systems; got {x!r} for both.")
    named = {"run_value": "y_value", "baseline_value": "x_value"}
    tolerance = options["tolerance"] * ROUNDED
    each_slice = [of_part for _, of_part in scores.each_slice()]
    pairs = [ranked_pairs(each, name, y, x, tolerance).rename(named) for each in each_slice]
    coordinates = [value for each in pairs for column in named.values() for value in each[column]]
    low, high = (min(0.0, *coordinates), max(coordinates)) if coordinates else (0.0, 1.0)
    cell = (high - low) / CELLS if max(each.height for each in pairs) >= BINNED else None
    ends = [low, high] if high > low else [low, low + 1]
    panels = {heading: _scattered(each, name, x, y, ends, cell) for heading, each in zip(headings, pairs, strict=True)}
    counts = pl.concat(pairs)["outcome"].value_counts()
    wins, ties, losses = (counts.filter(outcome=kind)["count"].sum() for kind in style.OUTCOMES)
    together = f"A square stands for the queries in a cell of {cell:.3g} x {cell:.3g}, at their mean." if cell else ""
    n_missing = max(each.n_missing((scores.index(y, "y"), scores.index(x, "x"))) for each in each_slice)
    outcomes = f"{wins} wins of {y}, {ties} ties, {losses} losses."
    lacking = style.on_missing(n_missing, options["missing"])
    title = style.titled(f"{name}: {y} against {x}", outcomes, together, lacking)
    return style.side_by_side([style.of_parts(panels)], title, columns=1)


def _scattered(pairs: pl.DataFrame, name: str, x: str, y: str, ends: list[float], cell: float | None) -> alt.LayerChart:
    points, square, shown = _points(pairs, cell), alt.Scale(domain=ends, nice=True), style.with_direction(name)
    marks = alt.Chart(points).encode(
        x=alt.X("x_value:Q", title=f"{style.shortened(x)}: {shown}", scale=square, axis=style.axis()),
        y=alt.Y("y_value:Q", title=f"{style.shortened(y)}: {shown}", scale=square, axis=style.axis()),
        size=_size(points, binned=cell is not None),
        color=style.of_outcomes(),
        tooltip=["query_id:N", "n_queries:Q", *style.of_figures("x_value", "y_value")],
    )
    if cell is None:
        shapes = alt.Scale(domain=list(style.OUTCOMES), range=["triangle-up", "circle", "triangle-down"])
        stroke = alt.Stroke("outcome:N", scale=style.OUTCOME_SCALE, title=None)
        marks = marks.mark_point(filled=True, fillOpacity=0.35, strokeOpacity=1, strokeWidth=1)
        marks = marks.encode(shape=alt.Shape("outcome:N", scale=shapes, title=None), stroke=stroke)
    else:
        marks = marks.mark_square()
    marks = marks.encode(opacity=style.seen(of="query")).add_params(style.click("query"))
    diagonal = alt.Chart(pl.DataFrame({"x_value": ends, "y_value": ends})).encode(x="x_value:Q", y="y_value:Q")
    diagonal = diagonal.mark_line(color=style.GREY, strokeDash=[4, 3])
    return alt.LayerChart(layer=[diagonal, marks]).properties(width=SIDE, height=SIDE)


def _points(pairs: pl.DataFrame, cell: float | None) -> pl.DataFrame:
    """A point per pair of values, or per cell of a size."""
    values = ["x_value", "y_value"]
    keys = [pl.col(value).alias(f"{value[0]}_cell") for value in values]
    if cell:
        keys = [(key / cell).floor() for key in keys]
    points = pairs.sort("query_id").group_by(*keys, "outcome", maintain_order=True)
    cells = points.agg(pl.col(values).mean(), query_id=pl.col("query_id").first(), n_queries=pl.len())
    # Large ones first, so that they hide no other.
    cells = cells.sort("n_queries", descending=True, maintain_order=True)
    return cells.select("query_id", *values, "outcome", "n_queries")


def _size(points: pl.DataFrame, *, binned: bool) -> alt.Size:
    """The size of a point by its queries, if any has several; the fullest cell is filled."""
    most = max(points["n_queries"], default=1)
    domain = [1, max(most, 2)]
    of_points = alt.Scale(type="sqrt", domain=domain, range=[40, 400])
    scale = alt.Scale(type="log", domain=domain, range=[9, (SIDE / CELLS) ** 2]) if binned else of_points
    values = list(range(1, most + 1)) if most < 5 else alt.Undefined
    legend = alt.Legend(
        symbolFillColor=style.GREY, symbolStrokeColor=style.GREY, format="d", tickCount=4, values=values
    )
    return alt.Size("n_queries:Q", title="queries", scale=scale, legend=legend if most > 1 else None)
