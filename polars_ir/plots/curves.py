"""Measures of a run against a cutoff or against recall: a line per system."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import altair as alt
import polars as pl

from polars_ir.errors import MeasureError, OptionError, explain_options
from polars_ir.frames.kinds import to_polars
from polars_ir.language.dialects import is_of_ir_measures
from polars_ir.language.names import parse
from polars_ir.measures.interpolated_precision import interpolated_precision
from polars_ir.per_query.summary import summarize
from polars_ir.plots.markup import without_markup
from polars_ir.plots.style import colour, dash, drawn, shape, systems_of, titled, with_direction, with_run
from polars_ir.runs.evaluation import evaluate

#: Bands of more systems than this can not be told apart.
MOST_BANDS = 5

#: The levels of recall of the curve.
RECALLS = tuple(i / 10 for i in range(11))


@explain_options
@without_markup
def cutoffs(
    run: Any,
    qrels: Any,
    measure: str | Callable[..., pl.Expr] = "nDCG",
    *,
    k: int | Iterable[int] = (1, 3, 5, 10, 20, 50, 100),
    confidence: float = 0.95,
    missing: Any = "zero",
) -> alt.LayerChart:
    """The mean of a measure at several cutoffs, with its interval: a line per system.

    The interval is that of t over queries, of each system by itself: whether two differ is the affair of `compare`,
    and overlapping bands do not tell. Bands of more than five systems are left out, which the subtitle says; tooltips
    have the intervals all the same.

    Parameters
    ----------
    run, qrels
        As in `evaluate`; one system or several.
    measure
        A measure that has a cutoff: its name without one (`"nDCG"`, `"P(rel=2)"`), or a function that takes `k`.
    k
        The cutoffs, whole numbers from 1 on.
    confidence
        That of the intervals.
    missing
        As in `evaluate`.

    Returns
    -------
    alt.LayerChart
        `run`, `k`, and `mean`, `low`, `high`, `n_queries` as in `summarize(interval="t")`.

    Raises
    ------
    IRError
        For a measure without a cutoff, cutoffs that are no whole numbers above 0, and as `evaluate`.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> from polars_ir import plots
    >>> pydocs = ir.datasets.load("pydocs")
    >>> chart = plots.cutoffs(pydocs.runs, pydocs.qrels, "nDCG", k=[1, 10])
    >>> chart.data.filter(pl.col("run") == "bm25").select("k", pl.col("mean").round(3)).rows()
    [(1, 0.323), (10, 0.323)]
    """
    ks = sorted(set(_checked(k)))
    expressions = {at: _at(measure, at) for at in ks}
    names = {expression.meta.output_name(): at for at, expression in expressions.items()}
    per_query = in_polars(evaluate(run, qrels, list(expressions.values()), missing=missing))
    found = with_run(summarize(per_query, confidence=confidence, interval="t"))
    rows = found.with_columns(k=pl.col("measure").replace_strict(names, return_dtype=pl.Int64))
    systems = systems_of(rows)
    name = next(iter(names)).removesuffix(f"@{ks[0]}")
    x = alt.X("k:Q", title="cutoff k", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=ks, grid=False))
    rows = drawn(rows.select("run", "k", "mean", "low", "high", "n_queries"), "Take fewer systems or cutoffs.")
    title = titled(f"{name} by cutoff", told_of_bands(systems, confidence))
    curve = lines(rows, x, f"{with_direction(next(iter(names))).replace(f'@{ks[0]}', '@k')}", systems)
    return curve.properties(width=500, height=300, title=title)


def _checked(k: int | Iterable[int]) -> list[int]:
    cutoffs = list(k) if isinstance(k, Iterable) and not isinstance(k, str) else [k]
    wrong = [at for at in cutoffs if not isinstance(at, Integral) or isinstance(at, bool) or at < 1]
    if wrong or not cutoffs:
        raise OptionError(
            f"must be whole numbers from 1 on, as in [1, 10, 100]; got {(wrong or cutoffs)!r:.80}.", about="k"
        )
    return [int(at) for at in cutoffs]


def _at(measure: str | Callable[..., pl.Expr], k: int) -> pl.Expr:
    """The measure with a cutoff."""
    if isinstance(measure, str) or is_of_ir_measures(measure):
        if "@" in str(measure):
            raise MeasureError(
                f"must be a name without a cutoff, which k= gives; got {str(measure)!r}.", about="measure"
            )
        return parse(f"{measure}@{k}")
    if not callable(measure):
        raise MeasureError.not_a_measure(measure)
    made = measure(k=k)
    if not isinstance(made, pl.Expr):
        raise MeasureError.not_a_measure(made)
    return made


def told_of_bands(systems: list[str], confidence: float) -> str:
    """What the bands are, or that there are none."""
    if len(systems) > MOST_BANDS:
        return f"Mean over queries. Intervals of {len(systems)} systems would hide each other: see the tooltips."
    return f"Mean over queries, with its interval of {confidence:.0%} (t)."


def lines(rows: pl.DataFrame, x: alt.X, y: str, systems: list[str], *, domain: Any = alt.Undefined) -> alt.LayerChart:
    """A line with points per system, over bands from `low` to `high` where these can be told apart."""
    numbers = ("mean", "low", "high")
    tooltip = [
        "run:N",
        alt.Tooltip(x.shorthand),
        *(alt.Tooltip(f"{column}:Q", format=".4f") for column in numbers if column in rows.columns),
        "n_queries:Q",
    ]
    base = alt.Chart(rows).encode(x=x, color=colour(systems))
    mean = alt.Y("mean:Q", title=y, scale=alt.Scale(zero=False, domain=domain))
    line = base.mark_line().encode(y=mean, strokeDash=dash(systems))
    points = base.mark_point(filled=True, size=50, opacity=1).encode(y=mean, shape=shape(systems), tooltip=tooltip)
    layers = [line, points]
    if "low" in rows.columns and len(systems) <= MOST_BANDS:
        band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.15, clip=True)
        layers = [band.encode(y=alt.Y("low:Q"), y2="high:Q"), *layers]
    return alt.LayerChart(data=rows, layer=layers)


@explain_options
@without_markup
def precision_recall(run: Any, qrels: Any, *, rel: int = 1, missing: Any = "zero") -> alt.LayerChart:
    """Precision over recall at the 11 standard levels, interpolated: a line per system.

    A point is the mean over queries of `IPrec@r`, the highest precision from the rank on at which a share r of the
    relevant documents has been found; the measure says how it rounds their number.

    Parameters
    ----------
    run, qrels
        As in `evaluate`; one system or several.
    rel
        The lowest grade that counts as relevant.
    missing
        As in `evaluate`.

    Returns
    -------
    alt.LayerChart
        `run`, `recall` (0, 0.1, ... 1), `mean`, `n_queries`.

    Raises
    ------
    IRError
        As `evaluate`.

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
    per_query = in_polars(evaluate(run, qrels, list(measures.values()), missing=missing))
    found = with_run(summarize(per_query))
    rows = found.with_columns(recall=pl.col("measure").replace_strict(names, return_dtype=pl.Float64))
    systems = systems_of(rows)
    x = alt.X("recall:Q", scale=alt.Scale(domain=[0, 1]), title="recall")
    relevant = "" if rel == 1 else f" Relevant is a grade of {rel} or more."
    rows = drawn(rows.select("run", "recall", "mean", "n_queries"), "Take fewer systems.")
    title = titled("Precision and recall", f"Mean over queries at 11 levels of recall.{relevant}")
    curve = lines(rows, x, "interpolated precision", systems, domain=[0, 1])
    return curve.properties(width=400, height=400, title=title)


def in_polars(per_query: Any) -> pl.DataFrame:
    """What `evaluate` returned, in memory and of Polars."""
    frame = to_polars("per_query", per_query, column="value")
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame
