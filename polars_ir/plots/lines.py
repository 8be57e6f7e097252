"""Lines of systems, with bands and with names at their ends: over cutoffs, over recall and over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Unpack

import altair as alt
import polars as pl

from polars_ir.errors import MeasureError, OptionError, option
from polars_ir.frames.kinds import collected, to_polars
from polars_ir.language.columns import column_of, is_cost
from polars_ir.language.measures.interpolated_precision import interpolated_precision
from polars_ir.language.names import is_of_ir_measures, parse
from polars_ir.language.options import chance, check, keys_named, public
from polars_ir.per_query.compare import compare
from polars_ir.per_query.drift import drift
from polars_ir.per_query.means import summarize
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Grouping
from polars_ir.per_query.shared.sums import as_texts
from polars_ir.plots import style
from polars_ir.runs.evaluate import evaluate

#: The height of a label at the end of a line, in pixels.
LABEL = 13


def note_on_bands(systems: list[str], confidence: float, best: str = "at the end", method: str = "t") -> str:
    """A note on the bands, if they are drawn, and on grey systems, of which the `best` by something are not."""
    if len(systems) > style.MOST_COLOURED:
        return (
            f"Mean over queries; intervals of {len(systems)} systems are in the tooltips. "
            f"In colour: the {style.MOST_COLOURED} best {best}."
        )
    return f"Mean over queries with its {confidence:.0%} interval ({method})."


def best_at_the_end(rows: pl.DataFrame, x: str, *, cost: bool) -> list[str] | None:
    """The systems that are shown in colour in all panels, by their last values; None for all."""
    if rows["run"].n_unique() <= style.MOST_COLOURED:
        return None
    if style.PART in rows.columns:
        rows = rows.group_by("run", x, maintain_order=True).agg(pl.col("mean").mean())
    last = rows.drop_nulls("mean").sort(x, maintain_order=True).group_by("run", maintain_order=True).last()
    return last.sort("mean", descending=not cost, maintain_order=True)["run"].head(style.MOST_COLOURED).to_list()


def lines(
    rows: pl.DataFrame,
    x: alt.X,
    y: str,
    systems: list[str],
    coloured: list[str] | None,
    domain: Any = alt.Undefined,
) -> list[alt.Chart]:
    """The layers of a line with points per system, over bands from `low` to `high` where these do not hide each other.

    Names at their ends stand in the place of a legend, and a click on a point shows one system alone.
    """
    dashes = style.scale_of(systems, style.DASHES, coloured, [1, 0])
    shapes = style.scale_of(systems, style.SHAPES, coloured, "circle")
    figures = [column for column in ("mean", "low", "high") if column in rows.columns]
    tooltip = ["run:N", x.shorthand, *style.of_figures(*figures), "n_queries:Q"]
    if coloured is not None:
        # The last ones drawn lie on top.
        rows = rows.sort(pl.col("run").is_in(coloured), maintain_order=True)
    base = alt.Chart(rows).encode(x=x, color=style.colour(systems, coloured), opacity=style.seen())
    mean = alt.Y("mean:Q", title=y, scale=alt.Scale(zero=False, domain=domain), axis=style.axis())
    line = base.mark_line(strokeWidth=1.5).encode(y=mean, strokeDash=alt.StrokeDash("run:N", scale=dashes, legend=None))
    shape = alt.Shape("run:N", scale=shapes, legend=None, title=None)
    points = base.mark_point(filled=True, size=50).encode(y=mean, shape=shape, tooltip=tooltip)
    if coloured is not None:
        small = alt.condition(alt.FieldOneOfPredicate("run", coloured), alt.value(50), alt.value(12))
        points = points.encode(size=small)
    layers = [line, points.add_params(style.click())]
    if "low" in rows.columns and len(systems) <= style.MOST_COLOURED:
        band = base.transform_filter("isValid(datum.low)").mark_area(clip=True)
        layers = [band.encode(y=alt.Y("low:Q"), y2="high:Q", opacity=style.seen(0.15)), *layers]
    return layers


def names_at_the_end(
    rows: pl.DataFrame,
    x: alt.X,
    systems: list[str],
    coloured: list[str] | None,
    span: tuple[float, float],
    *,
    height: int,
) -> alt.Chart:
    """Names beside the last points, spread where they would overlap: of all systems if they fit, or of those in colour.

    A picture has no tooltips that tell which system a grey line is.
    """
    field = x.shorthand.split(":")[0]
    of_all, in_colour = len(systems) * LABEL <= height, systems if coloured is None else coloured
    named = rows.drop_nulls("mean").filter(pl.col("run").is_in(systems if of_all else in_colour))
    last = named.sort(field, maintain_order=True).group_by("run", maintain_order=True).last()
    ends = last.sort("mean", "run").select("run", field, "mean", bold=pl.col("run").is_in(in_colour))
    places = apart(ends["mean"].to_list(), (span[1] - span[0]) * LABEL / height, span[1])
    short = pl.Series([style.shortened(system) for system in ends["run"]], dtype=pl.String)
    base = alt.Chart(ends.with_columns(place=pl.Series(places, dtype=pl.Float64), name=short))
    bold = alt.ExprRef("datum.bold ? 'bold' : 'normal'")
    names: alt.Chart = base.mark_text(align="left", dx=8, fontWeight=bold).encode(
        x=x, y="place:Q", text="name:N", color=style.colour(systems, coloured), opacity=style.seen()
    )
    return names


def apart(values: list[float], gap: float, highest: float) -> list[float]:
    """Rising values spread to at least a gap with the least movement, below the highest if they fit.

    >>> apart([0.0, 0.1, 0.9], 0.5, 1.0)
    [0.0, 0.5, 1.0]
    """
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1] + gap) if places else value)
    for place in range(len(places) - 1, -1, -1):
        limit = places[place + 1] - gap if place + 1 < len(places) else highest
        places[place] = min(places[place], max(limit, values[place]) if place + 1 == len(places) else limit)
    return places


#: The height of a chart of cutoffs, and of a panel over time.
HEIGHT, PANEL = 300, 240

#: The levels of recall of the curve.
RECALLS = tuple(i / 10 for i in range(11))


@public(then=style.without_markup)
def cutoffs(
    run: Any,
    qrels: Any,
    measure: str | Callable[..., pl.Expr] = "nDCG",
    *,
    k: int | Iterable[int] = (1, 3, 5, 10, 20, 50, 100),
    baseline: str | None = None,
    by: str | Sequence[str] | None = None,
    alpha: float = 0.05,
    missing: Any = "zero",
) -> style.Chart:
    """The mean of a measure at several cutoffs, with its interval: a line per system, named at its end.

    The interval is that of t over queries, of each system by itself: overlapping bands do not tell whether two systems
    differ. With a `baseline` the chart shows differences from it, with the interval of `compare`. Of more than five
    systems the best five at the last cutoff are in colour, and bands are left out; tooltips have the intervals all the
    same. A click on a point shows one system alone.

    Parameters
    ----------
    measure
        A measure that has a cutoff: its name without one (`"nDCG"`, `"P(rel=2)"`), or a function that takes `k`.
    k
        The cutoffs, whole numbers from 1 on.
    baseline
        The system that the others are shown as differences from; by default means are shown.
    by
        Columns of the run that distinguish rankings, such as 'date', as in `evaluate`: a panel for each value.
    alpha
        The share of such intervals that miss: their confidence is 1 - alpha.
    missing
        As in `evaluate`.

    Returns
    -------
    alt.LayerChart
        `run`, `k`, and `mean`, `low`, `high`, `n_queries` as in `summarize(interval="t")`; with a baseline, `mean` is
        the difference, as in `compare`. Of several values of `by`, an `alt.ConcatChart` of such panels.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.cutoffs(pydocs.runs, pydocs.qrels, "nDCG", k=[1, 10])
    >>> chart.data.filter(pl.col("run") == "bm25").select("k", pl.col("mean").round(3)).rows()
    [(1, 0.323), (10, 0.323)]
    """
    ks, alpha = sorted(set(_checked(k))), check("alpha", alpha, chance())
    expressions = {at: _at(measure, at) for at in ks}
    names = {expression.meta.output_name(): at for at, expression in expressions.items()}
    keys = keys_named(by)
    per_query = in_polars(evaluate(run, qrels, list(expressions.values()), missing=missing, by=keys or None))
    per_query, parts = style.with_parts(per_query, keys)
    if baseline is None:
        points = style.with_run(summarize(per_query, by=parts.columns or None, alpha=alpha, interval="t"))
    else:
        options = {"correction": None, "alpha": alpha, "missing": missing, "by": parts.columns or None}
        points = style.with_run(compare(per_query, baseline=baseline, **options)).with_columns(mean="difference")
    rows = points.with_columns(k=pl.col("measure").replace_strict(names, return_dtype=pl.Int64))
    rows = rows.select("run", "k", "mean", "low", "high", "n_queries", *parts.columns)
    rows = style.drawn(rows, "Take fewer systems or cutoffs.")
    column, systems = next(iter(names)), style.systems_of(rows)
    best = "at the end, of all panels" if parts.keys else "at the end"
    coloured, note = best_at_the_end(rows, "k", cost=is_cost(column)), note_on_bands(systems, 1 - alpha, best)
    name = column.removesuffix(f"@{min(ks)}")
    title = f"{name} by cutoff" if baseline is None else f"{name} by cutoff: differences from {baseline}"
    note = note if baseline is None else note.replace("Mean over queries", "Mean difference over queries")
    of_parts = style.by_part(rows, parts.headings())
    panels = {heading: _curve(of_part, names, baseline, rows, coloured) for heading, of_part in of_parts.items()}
    return style.of_parts(panels, y="shared").properties(title=style.titled(title, note))


def _curve(
    rows: pl.DataFrame, names: Mapping[str, int], baseline: str | None, of_all: pl.DataFrame, coloured: list[str] | None
) -> alt.LayerChart:
    """The lines over cutoffs; of differences, also that of the baseline. All panels have ends and colours of all."""
    systems, column, ks = style.systems_of(of_all), next(iter(names)), list(names.values())
    x = alt.X("k:Q", title="cutoff k", scale=alt.Scale(type="log", nice=False), axis=style.axis(values=ks, grid=False))
    y = style.with_direction(column).replace(f"@{ks[0]}", "@k")
    layers = lines(rows, x, y if baseline is None else f"difference in {y}", systems, coloured)
    ends = ["mean"] if coloured else ["mean", "low", "high"]
    shown = [0.0, *of_all.select(ends).unpivot()["value"].drop_nulls()][baseline is None :] or [0.0, 1.0]
    if len(systems) > 1 or baseline is not None:
        layers.append(names_at_the_end(rows, x, systems, coloured, (min(shown), max(shown)), height=HEIGHT))
    if baseline is not None:
        zero = alt.Chart(pl.DataFrame({"zero": [0], "run": [baseline]}))
        layers.insert(0, zero.mark_rule(color=style.FOREGROUND).encode(y="zero:Q", tooltip="run:N"))
    return alt.LayerChart(data=rows, layer=layers).properties(width=500, height=HEIGHT)


def _checked(k: int | Iterable[int]) -> list[int]:
    cutoffs = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    wrong = [at for at in cutoffs if not isinstance(at, Integral) or isinstance(at, bool) or at < 1]
    if wrong or not cutoffs:
        says = f"must be whole numbers, 1 or more, as in [1, 10, 100]; got {(wrong or cutoffs)!r:.80}."
        raise OptionError(says, about="k")
    return [int(at) for at in cutoffs]


def _at(measure: str | Callable[..., pl.Expr], k: int) -> pl.Expr:
    if isinstance(measure, str) or is_of_ir_measures(measure):
        if "@" in str(measure):
            says = f"must be a name without a cutoff, which k= gives; got {str(measure)!r}."
            raise MeasureError(says, about="measure")
        return parse(f"{measure}@{k}")
    if not callable(measure):
        raise MeasureError.not_a_measure(measure)
    expression = measure(k=k)
    if not isinstance(expression, pl.Expr):
        says = f"must give a Polars expression for a cutoff; got {expression!r:.80} for k={k}."
        raise MeasureError(says, about="measure")
    return expression


@public(then=style.without_markup)
def precision_recall(
    run: Any, qrels: Any, *, rel: int = 1, by: str | Sequence[str] | None = None, missing: Any = "zero"
) -> style.Chart:
    """Precision over recall at the 11 standard levels, interpolated, with its interval: a line per system.

    A point is the mean over queries of `IPrec@r`, the highest precision from the rank on at which a share r of the
    relevant documents has been found; the measure says how it rounds their number. The interval is that of `summarize`,
    of each level by itself. Of more than five systems the best five by the mean of all levels are in colour, and bands
    are left out; tooltips have the intervals all the same.

    Parameters
    ----------
    rel
        The lowest grade that counts as relevant.
    by
        Columns of the run that distinguish rankings, such as 'date', as in `evaluate`: a panel for each value.
    missing
        As in `evaluate`.

    Returns
    -------
    alt.LayerChart
        `run`, `recall` (0, 0.1, ... 1), and `mean`, `low`, `high`, `n_queries` as in `summarize`; of several values of
        `by`, an `alt.ConcatChart` of such panels.

    References
    ----------
    Manning, Raghavan & Schütze 2008, Introduction to Information Retrieval, 8.4, https://nlp.stanford.edu/IR-book/

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.precision_recall(pydocs.runs, pydocs.qrels)
    >>> chart.data.filter(pl.col("run") == "bm25")["mean"].round(2).to_list()
    [0.58, 0.56, 0.5, 0.4, 0.33, 0.25, 0.21, 0.16, 0.14, 0.11, 0.07]
    """
    measures = {recall: interpolated_precision(recall=recall, rel=rel) for recall in RECALLS}
    names = {expression.meta.output_name(): recall for recall, expression in measures.items()}
    keys = keys_named(by)
    per_query = in_polars(evaluate(run, qrels, list(measures.values()), missing=missing, by=keys or None))
    per_query, parts = style.with_parts(per_query, keys)
    points = style.with_run(summarize(per_query, by=parts.columns or None))
    rows = points.with_columns(recall=pl.col("measure").replace_strict(names, return_dtype=pl.Float64))
    systems = style.systems_of(rows)
    x = alt.X("recall:Q", scale=alt.Scale(domain=[0, 1]), title="recall", axis=style.axis())
    relevant = "" if rel == 1 else f" Relevant is a grade of {rel} or more."
    rows = rows.select("run", "recall", "mean", "low", "high", "n_queries", *parts.columns)
    rows = style.drawn(rows, "Take fewer systems.")
    by_mean = rows.group_by("run", maintain_order=True).agg(pl.col("mean").mean(), recall=pl.lit(1.0))
    coloured = best_at_the_end(by_mean, "recall", cost=False)
    note = note_on_bands(systems, 0.95, "by the mean of all levels", "Wilson's")
    title = style.titled("Precision and recall", f"At 11 levels of recall.{relevant} {note}")
    panels = {}
    for heading, of_part in style.by_part(rows, parts.headings()).items():
        layers = lines(of_part, x, "interpolated precision", systems, coloured, [0, 1])
        if len(systems) > 1:
            layers.append(names_at_the_end(of_part, x, systems, coloured, (0, 1), height=400))
        panels[heading] = alt.LayerChart(data=of_part, layer=layers).properties(width=400, height=400)
    return style.of_parts(panels).properties(title=title)


def in_polars(per_query: Any) -> pl.DataFrame:
    """A result of `evaluate`, in memory and of Polars."""
    frame = to_polars("per_query", per_query, column="value")
    return collected(frame) if isinstance(frame, pl.LazyFrame) else frame


#: Query counts that fit side by side above a panel; with more stretches only some are labelled.
MOST_SIZES = 24


@public(Grouping, then=style.without_markup, keys=False)
def series(
    per_query: Any,
    by: Any,
    measures: Measures = None,
    *,
    every: str | None = None,
    reference: Any = None,
    **options: Unpack[Grouping],
) -> style.Chart:
    """The mean of a measure over time, with its interval, and a ring where it has drifted: a panel per measure.

    Figures are those of `drift`: a ring, in the colour of its system, marks a stretch of time whose mean differs from
    the reference (the first third, by default) by more than chance. Every stretch has a tick, and above it the number
    of its queries (of more than 24 stretches, above one of several); where systems have different ones, the fewest. Of
    more than five systems the best five at the end, by the first measure, are in colour, and bands are left out, which
    the subtitle says. A click on a point shows one system alone. A chart has up to 5,000 points.

    Parameters
    ----------
    by
        The time of a query, as in `drift`.
    every
        The length of a stretch: `"1d"`, `"1w"`, `"1mo"`; without it, one value of `by`.
    reference
        As in `drift`.

    Returns
    -------
    alt.LayerChart
        The rows of `drift`; of several measures an `alt.ConcatChart` of such panels.

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
    frame, names = style.in_memory(per_query, measures, "series", by=by)
    means = style.with_run(drift(frame, by, names, every=every, reference=reference, **options))
    alpha = options["alpha"]
    systems = style.systems_of(means)
    coloured = best_at_the_end(means.filter(measure=names[0]), "bucket", cost=is_cost(names[0]))
    best = "at the end" if len(names) == 1 else f"at the end by {names[0]}"
    rows, x = _timed(means, by if isinstance(by, str) else "time", every)
    rings = f"Rings: the mean differs from the reference (corrected p up to {alpha:g})."
    rings = f"{rings} Numbers above: queries."
    panels = [_marked(rows.filter(measure=name), x, name, systems, coloured) for name in names]
    subject = names[0] if len(names) == 1 else "Measures"
    title = style.titled(f"{subject} over time", note_on_bands(systems, 1 - alpha, best), rings)
    return style.side_by_side(panels, title, columns=1)


def _timed(rows: pl.DataFrame, name: str, every: str | None) -> tuple[pl.DataFrame, alt.X]:
    """The rows, and the axis of their buckets: of time for dates and times, of single values for others."""
    title = name if every is None else f"{name} (every {every})"
    dtype = rows.schema["bucket"]
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        if isinstance(dtype, pl.Datetime):  # the clock of its zone, whatever UTC says
            rows = rows.with_columns(pl.col("bucket").dt.replace_time_zone(None))
        times = rows["bucket"].drop_nulls()
        within_days = isinstance(dtype, pl.Datetime) and (times != times.dt.truncate("1d")).any()
        stamps = times.unique().sort().cast(pl.Datetime("ms")).dt.epoch("ms").to_list()
        # A format of text alone shows the times as they are, in no zone of a reader's.
        scale = alt.Scale(type="utc")
        form = "%Y-%m-%d %H:%M" if within_days else "%Y-%m-%d"
        axis_of_times = alt.Axis(format=form, labelOverlap=True, values=stamps, grid=False)
        return rows, alt.X("bucket:T", title=title, axis=axis_of_times, scale=scale)
    if not dtype.is_numeric():
        rows = rows.with_columns(as_texts(["bucket"]))
    order = rows["bucket"].unique(maintain_order=True).to_list()
    return rows, alt.X("bucket:O", sort=order, title=title, axis=style.axis(labelOverlap=True, labelAngle=0))


def _marked(
    rows: pl.DataFrame, x: alt.X, measure: str, systems: list[str], coloured: list[str] | None
) -> alt.LayerChart:
    """A panel of a measure, with a ring around each point that has drifted, and the size of each stretch."""
    means: list[float] = rows["mean"].drop_nulls().to_list()
    domain: Any = alt.Undefined
    if column_of(measure) is not None and means:
        # No value beyond these ends is possible, though the interval of a few queries may go there.
        intervals = rows.select("low", "high").unpivot()["value"].drop_nulls().to_list()
        domain = style.ends_of_axis(measure, means, intervals)
    rows = style.drawn(rows, f"Take longer stretches of time, such as {option('every', '1mo')}, or fewer systems")
    y, of_run = style.with_direction(measure), style.colour(systems, coloured)
    course = lines(rows, x, y, systems, coloured, domain)
    drifted = alt.Chart(rows).transform_filter("datum.drifted === true")
    rings = drifted.mark_point(size=170, strokeWidth=2, filled=False)
    rings = rings.encode(x=x, y="mean:Q", color=of_run, opacity=style.seen())
    sizes = rows.group_by("bucket", maintain_order=True).agg(pl.col("n_queries").min())
    step = -(-sizes.height // MOST_SIZES)
    texts = alt.Chart(sizes.gather_every(step)).mark_text(fontSize=9, color=style.FOREGROUND)
    layers = [*course, rings, texts.encode(x=x, y=alt.value(-6), text="n_queries:Q")]
    if len(systems) > 1:
        span = (min(means, default=0.0), max(means, default=1.0)) if domain is alt.Undefined else (domain[0], domain[1])
        layers.append(names_at_the_end(rows, x, systems, coloured, span, height=PANEL))
    return alt.LayerChart(data=rows, layer=layers).properties(width=600, height=PANEL)
