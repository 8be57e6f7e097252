"""All systems at once: differences from a baseline, scores, and possible ranks; or the stages of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir import statistics as stats
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.per_query.compare import compare
from polars_ir.per_query.means import mean
from polars_ir.per_query.ranks import ranks as ranks_of
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import TESTS, Ranking, Testing
from polars_ir.plots import style
from polars_ir.plots.lines import in_polars
from polars_ir.runs.stages import stages as stages_of

#: The most panels side by side.
COLUMNS = 2

#: The verdicts of a comparison, with a colour and a shape.
VERDICTS = {
    "significantly better": (style.OUTCOMES["win"], "triangle-right"),
    "significantly worse": (style.OUTCOMES["loss"], "triangle-left"),
    "not significant": (style.GREY, "circle"),
    "not tested": (style.GREY, "cross"),
}


@public(Testing, then=style.without_markup)
def forest(
    per_query: Any,
    baseline: str,
    measures: Measures = None,
    *,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Testing],
) -> style.Chart:
    """The difference of every system from the baseline, with its interval: a panel per measure.

    Colour and shape tell what is significantly better, significantly worse, and neither. The best system of the first
    measure stands first. Thick lines are intervals of each comparison by itself, thin ones hold for all comparisons of
    a measure together.

    Returns
    -------
    alt.LayerChart
        The rows of `compare` with a `verdict`; of several measures, or values of `by`, an `alt.ConcatChart` of such
        panels.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.forest(ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10"), baseline="bm25")
    >>> chart.layer[1].data.select("run", "verdict", difference=pl.col("difference").round(3)).rows()
    [('chargrams', 'significantly worse', -0.044), ('tfidf', 'significantly worse', -0.06)]
    """
    frame, names, parts = style.in_parts(per_query, measures, "forest", by)
    headings = parts.headings(len(names))
    test, alpha = TESTS[options["test"]], options["alpha"]
    options["interval"] = options["interval"] or test.interval_of_mean
    comparison = compare(frame, names, baseline=baseline, by=parts.columns or None, **options)
    first = comparison.filter(measure=names[0]).group_by("run", maintain_order=True).agg(pl.col("difference").mean())
    systems = first.sort("difference", descending=not is_cost(names[0]), nulls_last=True, maintain_order=True)["run"]
    better, worse, neither, untested = map(pl.lit, VERDICTS)
    significant, panels = pl.col("significant"), []
    for name in names:
        is_better = (pl.col("difference") < 0) == is_cost(name)
        verdict = pl.when(significant & is_better).then(better).when(significant).then(worse).when(~significant)
        of_name = comparison.filter(measure=name).with_columns(verdict=verdict.then(neither).otherwise(untested))
        rows = style.by_part(of_name, headings)
        title = f"{style.with_direction(name)}: difference from {style.shortened(baseline)}"
        of_parts = {heading: _intervals(of_part, systems.to_list(), title) for heading, of_part in rows.items()}
        panels.append(style.of_parts(of_parts))
    method = test.corrected(options["correction"])
    lines = f"Lines are intervals of {1 - alpha:.0%}, thick of one alone, thin of all comparisons together"
    below = f"{lines}; significant is p up to {alpha:g} ({method})."
    title = f"{names[0]}: difference from {style.shortened(baseline)}"
    title = title if len(names) == 1 else f"Differences from {style.shortened(baseline)}"
    lacking = style.on_missing(comparison.select(pl.max("n_missing")).item(), options["missing"])
    return style.side_by_side(panels, style.titled(title, below, lacking), columns=1 if parts.keys else COLUMNS)


def _intervals(rows: pl.DataFrame, systems: list[str], title: str) -> alt.LayerChart:
    colour, shape = style.of_kinds("verdict", VERDICTS)
    means = ("mean", "baseline_mean", "difference")
    figures = style.of_figures(*means, "low", "high", "simultaneous_low", "simultaneous_high", "p", "p_corrected")
    base = alt.Chart(style.drawn(rows, "Show fewer systems.")).encode(
        y=style.one_below_the_other(systems, grid=True),
        color=colour,
        tooltip=["run:N", "verdict:N", *figures, "n_queries:Q", "n_missing:Q", "note:N"],
        opacity=style.seen(),
    )
    x = alt.X("difference:Q", title=title, axis=style.axis(grid=False, tickCount=5), scale=alt.Scale(padding=12))
    zero = (
        alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color=style.FOREGROUND, strokeDash=[3, 3]).encode(x="zero:Q")
    )
    lines = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=3).encode(x=alt.X("low:Q"), x2="high:Q")
    of_all = base.transform_filter("isValid(datum.simultaneous_low)").mark_rule(strokeWidth=1)
    of_all = of_all.encode(x=alt.X("simultaneous_low:Q"), x2="simultaneous_high:Q")
    points = base.mark_point(filled=True, size=90).encode(x=x, shape=shape).add_params(style.click())
    panel = alt.LayerChart(layer=[zero, points, lines, of_all])
    return panel.properties(width=320, height=alt.Step(22))


@public(then=style.without_markup)
def heatmap(per_query: Any, measures: Measures = None, *, by: str | Sequence[str] | None = None) -> style.Chart:
    """The mean of every measure for every system, as text on a colour: the darker the better in its column.

    Colours go from the worst to the best system of each measure, so that they cannot be compared from one measure to
    another: a column may be all but equal. The best system of the first measure stands first. A click on a cell shows
    its system alone. A chart has up to 5,000 cells.

    Parameters
    ----------
    by
        Columns that distinguish rows of a query, such as 'date', or slice queries: a column for each of their values,
        and a panel for each measure, whose colours go from the worst to the best mean of all.

    Returns
    -------
    alt.LayerChart
        `run`, `measure`, `mean` as in `ir.mean`, `shade` (from 0, the worst, to 1, the best; 0.5 where all are equal)
        and `text`; with `by` also `part`, the value, and of several measures an `alt.ConcatChart` of panels.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.heatmap(ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"]))
    >>> chart.data.filter(pl.col("measure") == "RR").select("run", "text", pl.col("shade").round(2)).rows()
    [('bm25', '0.551', 1.0), ('chargrams', '0.510', 0.59), ('tfidf', '0.449', 0.0)]
    """
    frame, names, parts = style.in_parts(per_query, measures, "heatmap", by)
    means = style.with_run(mean(frame, by=parts.columns or None))
    of_all = means.group_by("run", maintain_order=True).agg(pl.col(names[0]).mean())
    of_all = of_all.sort(names[0], descending=not is_cost(names[0]), nulls_last=True, maintain_order=True)
    means = of_all.select("run").join(means, on="run", maintain_order="left_right")
    if parts.keys:
        means = means.with_columns(part=pl.Series(parts.values).gather(means[style.PART]))
    index = ["run", "part"] if parts.keys else ["run"]
    remedy = "Keep some of the values." if parts.keys else "Show fewer measures."
    cells = style.drawn(_shaded(means, names, index), remedy)
    systems = of_all["run"].to_list()
    costs = ", ".join(name for name in names if is_cost(name))
    lower = f"Lower is better for {costs}." if costs else ""
    if not parts.keys:
        below = "Shades run from the worst to the best system of each measure."
        title = style.titled("Means by system and measure", below, lower)
        return _cells(cells, "measure", names, systems).properties(title=title)
    panels = [_cells(cells.filter(measure=name), "part", parts.values, systems) for name in names]
    named = ", ".join(parts.keys)
    title = style.titled(
        f"{names[0]} by system and {named}" if len(names) == 1 else f"Means by system and {named}",
        "Shades run from the worst to the best mean of each measure.",
        lower,
    )
    if len(names) > 1:
        panels = [panel.properties(title=style.titled(name)) for name, panel in zip(names, panels, strict=True)]
    return style.side_by_side(panels, title, columns=1)


def _cells(cells: pl.DataFrame, column: str, columns: list[str], systems: list[str]) -> alt.LayerChart:
    on_top = style.axis(orient="top", labelAngle=-40)
    base = alt.Chart(cells).encode(
        x=alt.X(f"{column}:N", sort=columns, title=column if column == "measure" else None, axis=on_top),
        y=style.one_below_the_other(systems),
        tooltip=["run:N", "measure:N", *([] if column == "measure" else [f"{column}:N"]), *style.of_figures("mean")],
        opacity=style.seen(),
    )
    shade = alt.Color(
        "shade:Q",
        scale=alt.Scale(scheme="blues", domain=[0, 1]),
        title="of each measure",
        legend=alt.Legend(values=[0, 1], labelExpr="datum.value ? 'best' : 'worst'"),
    )
    white, black, foreground = map(alt.value, ("#FFFFFF", "#000000", style.FOREGROUND))
    of_text = alt.when("!isValid(datum.shade)").then(foreground).when("datum.shade > 0.6").then(white)
    rectangles = base.transform_filter("isValid(datum.shade)").mark_rect().encode(color=shade)
    texts = base.mark_text().encode(text="text:N", color=of_text.otherwise(black))
    texts = texts.add_params(style.click())
    chart = alt.LayerChart(data=cells, layer=[rectangles, texts])
    return chart.properties(width=alt.Step(56), height=alt.Step(24))


def _shaded(means: pl.DataFrame, names: list[str], index: list[str]) -> pl.DataFrame:
    """A row per mean, with its place between the worst and the best of its measure, and its text."""
    cells = means.unpivot(names, index=index, variable_name="measure", value_name="mean")
    value, lowest, highest = pl.col("mean"), pl.col("mean").min().over("measure"), pl.col("mean").max().over("measure")
    if_equal = pl.when(value.is_not_null()).then(0.5)
    # What floats alone distinguish is equal.
    differs = highest - lowest > stats.ROUNDING * pl.max_horizontal(highest.abs(), lowest.abs())
    share = pl.when(differs).then((value - lowest) / (highest - lowest)).otherwise(if_equal)
    cost = pl.col("measure").is_in([name for name in names if is_cost(name)])
    cells = cells.with_columns(shade=pl.when(cost).then(1 - share).otherwise(share))
    return cells.with_columns(
        text=pl.Series([style.number(v) if v is not None else "\N{EN DASH}" for v in cells["mean"]])
    )


#: The group of a system, with a colour and a shape.
GROUPS = {"may be first": (style.PALETTE[0], "diamond"), "is not first": (style.GREY, "circle")}

#: The most ranks that an axis names.
MOST_TICKS = 15


@public(Ranking, then=style.without_markup)
def ranks(
    per_query: Any, measures: Measures = None, *, by: str | Sequence[str] | None = None, **options: Unpack[Ranking]
) -> style.Chart:
    """Rank intervals of every system: a panel per measure.

    Figures are those of `ranks`: lines go from the best to the worst rank that a system may have, all of them together
    with this confidence. Colour and shape tell the systems that may be first. Systems, up to 5,000, stand in the order
    of each panel's own measure.

    Returns
    -------
    alt.LayerChart
        The rows of `ranks` with a `group`; of several measures, or values of `by`, an `alt.ConcatChart` of such panels.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.ranks(ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10"))
    >>> chart.data.select("run", "best_rank", "worst_rank", "group").rows()
    [('bm25', 1, 1, 'may be first'), ('chargrams', 2, 3, 'is not first'), ('tfidf', 2, 3, 'is not first')]
    """
    frame, names, parts = style.in_parts(per_query, measures, "ranks", by)
    headings = parts.headings(len(names))
    places = ranks_of(frame, names, by=parts.columns or None, **options)
    may, not_first = GROUPS
    group = pl.when("tied_with_first").then(pl.lit(may)).otherwise(pl.lit(not_first))
    places = places.with_columns(group=group)
    panels = []
    for name in names:
        of_parts = style.by_part(places.filter(measure=name), headings)
        panels.append(style.of_parts({heading: _ranges(rows, name) for heading, rows in of_parts.items()}))
    lines = f"Lines: the ranks that all systems may have, together with a confidence of {1 - options['alpha']:.0%}."
    title = f"{style.with_direction(names[0])}: ranks of systems" if len(names) == 1 else "Ranks of systems"
    return style.side_by_side(panels, style.titled(title, lines), columns=1 if parts.keys else COLUMNS)


def _ranges(rows: pl.DataFrame, measure: str) -> alt.LayerChart:
    systems = rows["run"].to_list()
    colour, shape = style.of_kinds("group", GROUPS)
    columns = ("run:N", "rank:Q", "best_rank:Q", "worst_rank:Q", "group:N", "n_queries:Q", "note:N")
    scale = alt.Scale(domain=[1, max(2, len(systems))], nice=False, padding=8)
    ticks = list(range(1, len(systems) + 1, -(-len(systems) // MOST_TICKS)))
    title = f"rank by {style.with_direction(measure)}"
    x = alt.X("rank:Q", scale=scale, title=title, axis=style.axis(values=ticks, format="d", grid=False))
    base = alt.Chart(style.drawn(rows, "Show fewer systems.")).encode(
        y=style.one_below_the_other(systems, grid=True),
        color=colour,
        tooltip=[*columns, *style.of_figures("mean")],
        opacity=style.seen(),
    )
    known = base.transform_filter("isValid(datum.rank)")
    lines = known.mark_rule(strokeWidth=3).encode(x=alt.X("best_rank:Q"), x2="worst_rank:Q")
    points = known.mark_point(filled=True, size=80).encode(x=x, shape=shape).add_params(style.click())
    panel = alt.LayerChart(layer=[lines, points])
    return panel.properties(width=320, height=alt.Step(20))


#: What a stage does with relevant documents, with its colour.
KINDS = {"gained": style.OUTCOMES["win"], "kept": style.OUTCOMES["tie"], "lost": style.OUTCOMES["loss"]}


@public(then=style.without_markup)
def stages(run: Mapping[str, Any], qrels: Any, *, k: int = 10, rel: float = 1) -> style.Chart:
    """The relevant documents among the first `k` of each stage of a pipeline: kept and gained above, lost below 0.

    The numbers at the bars are the relevant documents of all queries that the stage has.

    Parameters
    ----------
    run
        The runs in the order of the stages, as `ir.stages` takes them.
    k
        The number of first documents.
    rel
        The lowest grade that is relevant.

    Returns
    -------
    alt.LayerChart
        `stage`, `kind` (kept, gained or lost) and `documents`: sums over the queries of `ir.stages`.

    Examples
    --------
    >>> from polars_ir import plots
    >>> chart = plots.stages({"retriever": {"q": ["a", "b"]}, "reranker": {"q": ["b", "x"]}}, {"q": ["a", "b"]}, k=2)
    >>> chart.layer[0].data.filter(stage="reranker").select("kind", "documents").rows()
    [('gained', 0), ('kept', 1), ('lost', -1)]
    """
    per_query = in_polars(stages_of(run, qrels, k=k, rel=rel))
    sums = per_query.group_by("stage", maintain_order=True).agg(pl.col("n_relevant", "gained", "lost").sum())
    parts = {"gained": pl.col("gained"), "kept": pl.col("n_relevant") - pl.col("gained"), "lost": -pl.col("lost")}
    bars = sums.select("stage", **parts).unpivot(index="stage", variable_name="kind", value_name="documents")
    order = sums["stage"].to_list()
    base = alt.Chart(style.drawn(bars, "Draw fewer stages."))
    x = alt.X("stage:N", sort=order, title=None, axis=style.axis(labelAngle=0))
    title = f"relevant documents among the first {k}"
    y = alt.Y("sum(documents):Q", title=title, axis=style.axis(tickMinStep=1), stack="zero")
    colours = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    drawn = base.mark_bar().encode(
        x=x,
        y=y,
        color=alt.Color("kind:N", scale=colours, title=None),
        order=alt.Order("kind:N", sort="descending"),
        tooltip=["stage:N", "kind:N", "documents:Q"],
    )
    labels = alt.Chart(sums).mark_text(dy=-8, color=style.FOREGROUND)
    labels = labels.encode(x=x, y=alt.Y("n_relevant:Q"), text="n_relevant:Q")
    zero = alt.Chart(pl.DataFrame({"zero": [0]})).mark_rule(color=style.FOREGROUND).encode(y="zero:Q")
    n_queries = per_query.height // max(len(order), 1)
    below = f"{n_queries:,} queries with a relevant document; lost: the stage before had them among its first {k}"
    panel = alt.LayerChart(layer=[drawn, labels, zero])
    return panel.properties(width=alt.Step(90), height=260, title=style.titled("Where documents are lost", below))
