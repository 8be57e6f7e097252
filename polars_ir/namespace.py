"""`.ir` on frames: the public functions, bound to a frame. There is no logic here.

A type checker does not see a registered namespace; the functions of `polars_ir` do the same and are typed:
`run.ir.ndcg(qrels, k=10)` is `ir.evaluate(run, qrels, ir.ndcg(k=10))`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import polars as pl

from polars_ir.abstaining import abstention, confidence
from polars_ir.analysis.difference import diff
from polars_ir.analysis.difficulty import hardest, unanswered
from polars_ir.analysis.explanation import explain
from polars_ir.analysis.judging_next import judge_next
from polars_ir.binding import bound
from polars_ir.comparison.correlation import rank_correlation
from polars_ir.comparison.drifting import drift
from polars_ir.comparison.gate import gate
from polars_ir.comparison.power import power
from polars_ir.comparison.risk import geo_risk, risk
from polars_ir.comparison.slices import worst_slices
from polars_ir.comparison.systems import compare
from polars_ir.errors import explain_options, nearest
from polars_ir.evaluation import evaluate
from polars_ir.extras import require
from polars_ir.judging import judge
from polars_ir.registry import CATALOG, Measure
from polars_ir.summary import mean, summarize
from polars_ir.tables.table import table
from polars_ir.validation import validate
from polars_ir.variants import p_mrr, robustness

#: What every measure's method takes beside the measure's own parameters.
OPTIONS = [p for p in inspect.signature(evaluate).parameters.values() if p.kind is p.KEYWORD_ONLY]


class IRNamespace:
    """Information-retrieval evaluation of a run, or of the per-query frame that `evaluate` returned.

    Every measure of the catalogue is a method: `run.ir.ndcg(qrels, k=10)`, with the options of `evaluate`.
    """

    def __init__(self, frame: Any) -> None:
        # Polars keeps a namespace on its frame, so that holding the frame itself would be a cycle of references.
        self._frame = frame.clone() if isinstance(frame, (pl.DataFrame, pl.LazyFrame)) else frame

    # Of a run.
    judge = bound(judge)
    evaluate = bound(evaluate)
    validate = bound(validate)
    confidence = bound(confidence)
    p_mrr = bound(p_mrr)
    explain = bound(explain)
    diff = bound(diff)
    judge_next = bound(judge_next)

    # Of the per-query frame.
    mean = bound(mean)
    summarize = bound(summarize)
    compare = bound(compare)
    power = bound(power)
    risk = bound(risk)
    geo_risk = bound(geo_risk)
    gate = bound(gate)
    rank_correlation = bound(rank_correlation)
    worst_slices = bound(worst_slices)
    drift = bound(drift)
    hardest = bound(hardest)
    unanswered = bound(unanswered)
    abstention = bound(abstention)
    robustness = bound(robustness)
    table = bound(table)

    @property
    def plot(self) -> Any:
        """Charts of the frame: `per_query.ir.plot.forest(baseline="bm25")`; `polars_ir.plots` has them all."""
        require("plot", ".ir.plot")
        from polars_ir.plots import PlotNamespace

        return PlotNamespace(self._frame)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        measures = {spec.function.__name__: spec.function for spec in CATALOG.values()}
        if name not in measures:
            raise AttributeError(f".ir has no method {name!r}.{nearest(name, [*measures, *IRNamespace.__dict__])}")
        return _measuring(measures[name], self._frame)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(spec.function.__name__ for spec in CATALOG.values())]


def _measuring(measure: Measure, frame: Any) -> Callable[..., Any]:
    """A function of qrels, the measure's parameters and the options of `evaluate`."""
    options = {option.name for option in OPTIONS}

    def measuring(qrels: Any = None, **parameters: Any) -> Any:
        chosen = {name: parameters.pop(name) for name in options & parameters.keys()}
        return evaluate(frame, qrels, measure(**parameters), **chosen)

    qrels = inspect.signature(measuring).parameters["qrels"]
    own = inspect.signature(measure).parameters.values()
    functools.update_wrapper(measuring, measure)
    measuring.__signature__ = inspect.Signature([qrels, *own, *OPTIONS])  # type: ignore[attr-defined]  # read by help()
    return explain_options(measuring)


def register() -> None:
    """Put `.ir` on Polars frames; once, since Polars warns of a name that is taken."""
    for frame, registration in (
        (pl.DataFrame, pl.api.register_dataframe_namespace),
        (pl.LazyFrame, pl.api.register_lazyframe_namespace),
    ):
        if not hasattr(frame, "ir"):
            registration("ir")(IRNamespace)
