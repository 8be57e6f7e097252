"""Measures of a run against a cutoff or against recall: a line per system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import altair as alt
import polars as pl

from polars_ir.errors import MeasureError, OptionError
from polars_ir.frames.kinds import collected, to_polars
from polars_ir.language.measures.interpolated_precision import interpolated_precision
from polars_ir.language.names import is_cost, is_of_ir_measures, parse
from polars_ir.language.options import chance, check, takes
from polars_ir.per_query.compare import compare
from polars_ir.per_query.shared.options import confidence_is_alpha
from polars_ir.per_query.summarize import summarize
from polars_ir.plots.lines import best_at_the_end, lines, names_at_the_end, note_on_bands
from polars_ir.plots.markup import without_markup
from polars_ir.plots.style import FOREGROUND, axis, drawn, systems_of, titled, with_direction, with_run
from polars_ir.runs.evaluate import evaluate

#: The height of a chart of cutoffs.
HEIGHT = 300

#: The levels of recall of the curve.
RECALLS = tuple(i / 10 for i in range(11))


@confidence_is_alpha
@takes(then=without_markup)
def cutoffs(
    run: Any,
    qrels: Any,
    measure: str | Callable[..., pl.Expr] = "nDCG",
    *,
    k: int | Iterable[int] = (1, 3, 5, 10, 20, 50, 100),
    baseline: str | None = None,
    alpha: float = 0.05,
    missing: Any = "zero",
) -> alt.LayerChart:
    """The mean of a measure at several cutoffs, with its interval: a line per system, named at its end.

    The interval is that of t over queries, of each system by itself: overlapping bands do not tell whether two systems
    differ. With a `baseline` the chart shows differences from it, with the interval of `compare`. Of more than five
    systems the best five at the last cutoff are in colour, and bands are left out; tooltips have the intervals all the
    same. A click on a point shows one system alone.

    Parameters
    ----------
    run, qrels
        As in `evaluate`; one system or several.
    measure
        A measure that has a cutoff: its name without one (`"nDCG"`, `"P(rel=2)"`), or a function that takes `k`.
    k
        The cutoffs, whole numbers from 1 on.
    baseline
        The system that the others are shown as differences from; by default means are shown.
    alpha
        The share of such intervals that miss: their confidence is 1 - alpha.
    missing
        As in `evaluate`.

    Returns
    -------
    alt.LayerChart
        `run`, `k`, and `mean`, `low`, `high`, `n_queries` as in `summarize(interval="t")`; with a baseline, `mean` is
        the difference, as in `compare`.

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
    ks, alpha = sorted(set(_checked(k))), check("alpha", alpha, chance())
    expressions = {at: _at(measure, at) for at in ks}
    names = {expression.meta.output_name(): at for at, expression in expressions.items()}
    per_query = in_polars(evaluate(run, qrels, list(expressions.values()), missing=missing))
    if baseline is None:
        points = with_run(summarize(per_query, alpha=alpha, interval="t"))
    else:
        options = {"correction": None, "alpha": alpha, "missing": missing}
        points = compare(per_query, baseline=baseline, **options).with_columns(mean=pl.col("difference"))
    rows = points.with_columns(k=pl.col("measure").replace_strict(names, return_dtype=pl.Int64))
    rows = drawn(rows.select("run", "k", "mean", "low", "high", "n_queries"), "Take fewer systems or cutoffs.")
    return _curve(rows, names, baseline, 1 - alpha).properties(width=500, height=HEIGHT)


def _curve(rows: pl.DataFrame, names: Mapping[str, int], baseline: str | None, confidence: float) -> alt.LayerChart:
    """The lines over cutoffs; of differences, also that of the baseline."""
    systems, column, ks = systems_of(rows), next(iter(names)), list(names.values())
    x = alt.X("k:Q", title="cutoff k", scale=alt.Scale(type="log", nice=False), axis=axis(values=ks, grid=False))
    y = with_direction(column).replace(f"@{ks[0]}", "@k")
    coloured = best_at_the_end(rows, "k", cost=is_cost(column))
    layers = lines(rows, x, y if baseline is None else f"difference in {y}", systems, coloured=coloured, named=True)
    ends = ["mean"] if coloured else ["mean", "low", "high"]
    shown = [0.0, *rows.select(ends).unpivot()["value"].drop_nulls()][baseline is None :] or [0.0, 1.0]
    if len(systems) > 1 or baseline is not None:
        layers.append(names_at_the_end(rows, x, systems, coloured, (min(shown), max(shown)), height=HEIGHT))
    if baseline is not None:
        zero = alt.Chart(pl.DataFrame({"zero": [0], "run": [baseline]}))
        layers.insert(0, zero.mark_rule(color=FOREGROUND).encode(y="zero:Q", tooltip="run:N"))
    name = column.removesuffix(f"@{ks[0]}")
    title = f"{name} by cutoff" if baseline is None else f"{name} by cutoff: differences from {baseline}"
    note = note_on_bands(systems, confidence)
    note = note if baseline is None else note.replace("Mean over queries", "Mean difference over queries")
    return alt.LayerChart(data=rows, layer=layers).properties(title=titled(title, note))


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
    expression = measure(k=k)
    if not isinstance(expression, pl.Expr):
        says = f"must give a Polars expression for a cutoff; got {expression!r:.80} for k={k}."
        raise MeasureError(says, about="measure")
    return expression


@takes(then=without_markup)
def precision_recall(run: Any, qrels: Any, *, rel: int = 1, missing: Any = "zero") -> alt.LayerChart:
    """Precision over recall at the 11 standard levels, interpolated, with its interval: a line per system.

    A point is the mean over queries of `IPrec@r`, the highest precision from the rank on at which a share r of the
    relevant documents has been found; the measure says how it rounds their number. The interval is that of `summarize`,
    of each level by itself. Of more than five systems the best five by the mean of all levels are in colour, and bands
    are left out; tooltips have the intervals all the same.

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
        `run`, `recall` (0, 0.1, ... 1), and `mean`, `low`, `high`, `n_queries` as in `summarize`.

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
    points = with_run(summarize(per_query))
    rows = points.with_columns(recall=pl.col("measure").replace_strict(names, return_dtype=pl.Float64))
    systems = systems_of(rows)
    x = alt.X("recall:Q", scale=alt.Scale(domain=[0, 1]), title="recall", axis=axis())
    relevant = "" if rel == 1 else f" Relevant is a grade of {rel} or more."
    rows = drawn(rows.select("run", "recall", "mean", "low", "high", "n_queries"), "Take fewer systems.")
    by_mean = rows.group_by("run", maintain_order=True).agg(pl.col("mean").mean(), recall=pl.lit(1.0))
    coloured = best_at_the_end(by_mean, "recall", cost=False)
    note = note_on_bands(systems, 0.95, "Wilson's").replace("at the end", "by the mean of all levels")
    title = titled("Precision and recall", f"At 11 levels of recall.{relevant} {note}")
    layers = lines(rows, x, "interpolated precision", systems, domain=[0, 1], coloured=coloured)
    return alt.LayerChart(data=rows, layer=layers).properties(width=400, height=400, title=title)


def in_polars(per_query: Any) -> pl.DataFrame:
    """A result of `evaluate`, in memory and of Polars."""
    frame = to_polars("per_query", per_query, column="value")
    return collected(frame) if isinstance(frame, pl.LazyFrame) else frame
