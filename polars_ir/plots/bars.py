"""`differences`: a system against a baseline on each query, as bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir.errors import OptionError
from polars_ir.language.names import is_cost
from polars_ir.language.options import takes
from polars_ir.per_query.compare import compare
from polars_ir.per_query.shared.aligned import scores_of
from polars_ir.per_query.shared.options import ROUNDED, Testing
from polars_ir.per_query.shared.tests import TESTS
from polars_ir.plots.markup import without_markup
from polars_ir.plots.pairwise import ranked_pairs
from polars_ir.plots.style import (
    FOREGROUND,
    OUTCOME_SCALE,
    Chart,
    axis,
    in_memory,
    number,
    of_figures,
    of_outcomes,
    only,
    side_by_side,
    titled,
    with_direction,
)

#: The most queries with a bar each: more are thinner than a pixel.
MOST_BARS = 500


@takes(Testing, then=without_markup)
def differences(
    per_query: Any,
    measure: str | pl.Expr,
    baseline: str,
    *,
    run: str | None = None,
    **options: Unpack[Testing],
) -> Chart:
    """The difference of a system from the baseline on each query: bars, the greatest win first.

    Bars are coloured by win, tie and loss, since a single query has no significance; ties, whose bars have no height,
    are a thick line at 0. Another line is the mean difference, in a band that is its interval: solid if it is
    significant, dashed if it is not. Figures are those of `compare` for all systems of the frame, p corrected for them,
    also if only one is shown. The best system has the first panel. Of more than 500 queries, neighbours in the order
    share a bar, their mean; the subtitle says how many.

    Parameters
    ----------
    per_query
        The result of `evaluate` for several systems, or a dict of such frames by system.
    measure
        The measure, in any spelling.
    baseline
        The system that the others are compared with.
    run
        The system to show; None shows a panel of each.

    Returns
    -------
    alt.LayerChart
        Bars (`difference`, `outcome`, `query`, `n_queries`), the mean with its interval, and the lines of 0 and of
        ties; of several systems an `alt.ConcatChart` of such panels with the same axis.

    Raises
    ------
    IRError
        As `compare`; for an unknown system, and several measures.

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
    '12 wins, 28 ties, 56 losses; mean difference -0.060 [-0.082, -0.038], p < 0.001'
    >>> chart.layer[0].data["difference"].head(2).round(3).to_list()
    [0.2, 0.192]
    """
    frame, names = in_memory(per_query, measure, "differences")
    name = only(names)
    test, alpha = TESTS[options["test"]], options["alpha"]
    options["interval"] = options["interval"] or test.interval_of_mean
    comparison = compare(frame, name, baseline=baseline, **options)
    scores = scores_of(frame, name, options, what="ir.plots.differences")
    if run is not None:
        scores.index(run, "run")
        comparison = comparison.filter(pl.col("run") == run)
    if comparison.is_empty():
        raise OptionError(f"must be another system than the baseline; got {run!r} for both.", about="run")
    rows = comparison.sort("difference", descending=not is_cost(name), nulls_last=True, maintain_order=True).to_dicts()
    # A test may compare all systems on the queries for which all of them have a value.
    pairs = [
        ranked_pairs(scores, name, row["run"], baseline, options["tolerance"] * ROUNDED, of_all=test.complete)
        for row in rows
    ]
    size = max(1, *(-(-of_run.height // MOST_BARS) for of_run in pairs))
    bars = [_bars(of_run, size) for of_run in pairs]
    ends = [*comparison.select("low", "high").unpivot()["value"].drop_nulls(), *pl.concat(bars)["difference"], 0.0]
    scale, columns = alt.Scale(domain=[min(ends), max(ends)]), 2 if len(rows) < 7 else 3
    y = alt.Y("difference:Q", title=f"difference in {with_direction(name)}", scale=scale, axis=axis())
    panels = [_bars_and_mean(of_run, row, y, single=len(rows) == 1) for of_run, row in zip(bars, rows, strict=True)]
    method = test.corrected(options["correction"])
    share = f"Each bar is the mean of up to {size} neighbouring queries." if size > 1 else ""
    explanation = f"Line: mean difference with its interval of {1 - alpha:.0%}; p by {method}"
    title = _title(name, baseline, rows, explanation, share)
    return side_by_side(panels, title, columns=columns)


def _title(name: str, baseline: str, rows: list[dict[str, Any]], explanation: str, share: str) -> alt.TitleParams:
    """The title of the chart of one system or of several."""
    if len(rows) > 1:
        explanation = f"{explanation}; solid if significant, else dashed."
        return titled(f"{name}: differences from {baseline}", explanation, share)
    (row,) = rows
    verdict = {True: "significant.", False: "not significant.", None: "not tested."}[row["significant"]]
    return titled(f"{name}: {row['run']} against {baseline}", _in_words(row), f"{explanation}; {verdict}", share)


def _bars(pairs: pl.DataFrame, size: int) -> pl.DataFrame:
    """A bar per query, or per `size` neighbours; none of them holds both a win and a loss."""
    bars = pairs.group_by(pl.col("place") // size, "outcome", maintain_order=True).agg(
        start=pl.col("place").first(),
        end=pl.col("place").first() + pl.len(),
        difference=pl.col("difference").mean(),
        query=pl.when(pl.len() == 1).then(pl.col("query").first()).otherwise(None),
        n_queries=pl.len(),
    )
    return bars.select("query", "start", "end", "difference", "outcome", "n_queries")


def _bars_and_mean(
    bars: pl.DataFrame,
    row: Mapping[str, Any],
    y: alt.Y,
    *,
    single: bool,
) -> alt.LayerChart:
    width, height = (700, 300) if single else (300, 120)
    scale, ticks = alt.Scale(nice=False), axis(tickMinStep=1)
    x = alt.X("start:Q", title="queries, the greatest win first", scale=scale, axis=ticks)
    tooltip_of_bars = ["query:N", "difference:Q", "outcome:N", "n_queries:Q"]
    of_bars = alt.Chart(bars).encode(x=x, x2="end:Q", color=of_outcomes(), tooltip=tooltip_of_bars)
    # Without a stroke there are seams between the bars.
    seamless = alt.Stroke("outcome:N", scale=OUTCOME_SCALE, title=None)
    heights = of_bars.mark_bar(strokeWidth=0.6).encode(y=y, y2=alt.datum(0), stroke=seamless)
    ties = of_bars.transform_filter("datum.outcome === 'tie'").mark_rule(strokeWidth=4).encode(y=alt.datum(0))
    mean = pl.DataFrame([row]).select("run", "baseline", "difference", "low", "high", "p", "p_corrected", "note")
    of_mean = alt.Chart(mean.filter(pl.col("difference").is_not_null()))
    band = of_mean.transform_filter("isValid(datum.low)").mark_rect(fill=FOREGROUND, opacity=0.2)
    tooltip = ["run:N", "baseline:N", "note:N", *of_figures(*mean.columns[2:7])]
    rule = of_mean.mark_rule(strokeWidth=1.5, color=FOREGROUND, strokeDash=[1, 0] if row["significant"] else [5, 3])
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color=FOREGROUND, strokeWidth=0.5).encode(y="zero:Q")
    layers = [heights, band.encode(y="low:Q", y2="high:Q"), zero, rule.encode(y="difference:Q", tooltip=tooltip), ties]
    heading = titled(row["run"], *_in_words(row).split("; "), limit=width)
    return alt.LayerChart(layer=layers).properties(width=width, height=height, title=heading)


def _in_words(row: Mapping[str, Any]) -> str:
    """The figures of a comparison in words."""
    counts = f"{row['wins']} wins, {row['ties']} ties, {row['losses']} losses"
    if row["difference"] is None:
        return f"{counts}; {row['note']}"
    ends = "" if row["low"] is None else f" [{number(row['low'])}, {number(row['high'])}]"
    p = row["p_corrected"]
    sure = f"; p not defined ({row['note']})" if p is None else ", p < 0.001" if p < 0.001 else f", p = {p:.3f}"
    return f"{counts}; mean difference {number(row['difference'])}{ends}{sure}"
