"""Favour of a judge: how much better a system looks by the judge than by the truth, compared with the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.per_query.shared.judges import Judged, judged_by_each
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Judging

#: Columns of the result.
SCHEMA = {
    **dict.fromkeys(["judge", "measure", "run"], pl.String),
    **dict.fromkeys(["mean", "judged", "favour", "low", "high", "p", "p_corrected"], pl.Float64),
    "n_queries": pl.UInt32,
    "note": pl.String,
}


@public(Judging)
def favour(
    per_query: Table[FrameT], measures: Measures = None, *, truth: str = "people", **options: Unpack[Judging]
) -> FrameT:
    """Favour that each judge shows a system: its value by the judge less that by the truth, against other systems.

    ::

        favour(A) = mean over queries of (judged(A) - mean(A)) - mean of the same over the other systems

    A judge who is lenient with all favours none. One who favours a system ranks it too high: mostly a system built on
    the same model, or tuned to please it. The interval and p are Student's, for n queries; p is corrected by Holm over
    the systems of a judge and measure. Of a measure whose best value is the lowest, a value below 0 is favour.

    Parameters
    ----------
    per_query
        What `evaluate(by="judge")` returned for several systems, a row per judge, system and query; or a dict of such
        frames by system. A LazyFrame is collected.
    truth
        The judge that the others are compared with.

    Returns
    -------
    The kind of per_query
        A row per other judge, measure and system: `judge`, `measure`, the column of systems (String); `mean` (by the
        truth), `judged` (by the judge), `favour`, `low`, `high`, `p`, `p_corrected` (Float64; the last four are null
        for fewer than two queries, or the same favour on all), `n_queries` (UInt32) and `note` (String: what only one
        judge has, or why something is null). Queries and systems are those that both judges have, with a value of
        every system. Rows go by judge, in the order of the measures and systems.

    Raises
    ------
    IRError
        For a truth that is not one of the judges, one judge alone, fewer than two systems, or nothing in common.

    References
    ----------
    Panickssery et al. 2024, LLM evaluators recognize and favor their own generations,
    https://arxiv.org/abs/2404.13076; Balog et al. 2025, https://arxiv.org/abs/2503.19092

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> strict = pydocs.qrels.with_columns(pl.col("relevance") - 1, judge=pl.lit("strict"))
    >>> qrels = pl.concat([pydocs.qrels.with_columns(judge=pl.lit("people")), strict])
    >>> per_query = ir.evaluate(pydocs.runs, qrels, "RR", by="judge")
    >>> per_query.ir.favour().select("run", pl.col("favour", "low", "high", "p_corrected").round(3)).rows()
    [('bm25', 0.025, -0.013, 0.063, 0.391), ('chargrams', -0.044, -0.087, -0.0, 0.149),
     ('tfidf', 0.019, -0.018, 0.055, 0.391)]
    """
    judged = list(judged_by_each(per_query, measures, truth, "ir.favour"))
    rows = [row for of in judged for row in _rows(of, options["alpha"])]
    return give_back(pl.DataFrame(rows, schema=SCHEMA).rename({"run": judged[0].system}), per_query)


def _rows(of: Judged, alpha: float) -> Iterator[dict[str, Any]]:
    """The rows of a judge and measure."""
    n_queries, n_systems = of.truth.shape
    above = of.values - of.truth
    others = (above.sum(axis=1, keepdims=True) - above) / (n_systems - 1)
    scale = float(np.abs(np.hstack([of.truth, of.values])).max(initial=0))
    # Rounded, so that a favour made by floats alone is none.
    favours = stats.rounded(above - others, scale)
    samples = stats.samples_of(favours)
    outcomes = stats.t_test(samples)
    corrected = stats.corrected([outcome.p for outcome in outcomes], "holm", alpha=alpha)
    found = stats.intervals.estimates([stats.Values(sample) for sample in samples], "t", 1 - alpha)
    for place, (system, outcome, p, estimate) in enumerate(zip(of.systems, outcomes, corrected, found, strict=True)):
        notes = [*of.notes]
        if n_queries < 2:
            notes.append("fewer than two queries: no interval")
        elif outcome.p is None:
            notes.append("the favour is the same on all queries: no test")
        yield {
            "judge": of.judge,
            "measure": of.measure,
            "run": system,
            "mean": float(of.truth[:, place].mean()) if n_queries else None,
            "judged": float(of.values[:, place].mean()) if n_queries else None,
            "favour": float(samples[place].mean()) if n_queries else None,
            "low": estimate.low if outcome.p is not None else None,
            "high": estimate.high if outcome.p is not None else None,
            "p": outcome.p,
            "p_corrected": p,
            "n_queries": n_queries,
            "note": "; ".join(notes) or None,
        }
