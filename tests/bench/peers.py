"""The contestants: the five measures of one collection by each tool, from the frames that all of them get.

Each returns the mean nDCG@10 of every system over the judged queries, which tells whether all compute the same.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import polars as pl
from generate import Collection
from measure import Figures

import polars_ir as ir

MEASURES = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]

#: The same for trec_eval, which has no cutoff for the reciprocal rank.
TREC_EVAL = {"ndcg_cut.10", "map", "recip_rank", "recall.100", "P.10"}

Tool = Callable[[Collection], Figures | None]


def ours(data: Collection, measures: list[str] = MEASURES) -> Figures:
    """`evaluate`, all systems in one pass."""
    result = ir.evaluate(data.run, data.qrels, measures)
    if "run" not in result.columns:
        return {"": result["nDCG@10"].mean()}  # type: ignore[dict-item]  # a mean of floats is one
    return dict(result.group_by("run").agg(pl.col("nDCG@10").mean()).iter_rows())


def pytrec_eval(data: Collection, *, reuse: bool = True) -> Figures:
    """Nested dicts, then trec_eval's C; one evaluator for all systems or one for each."""
    import pytrec_eval as tool

    qrels = nested(data.qrels, "relevance")
    make = partial(tool.RelevanceEvaluator, qrels, TREC_EVAL)
    shared = make() if reuse else None
    figures = {}
    for system, run in data.runs.items():
        values = (shared or make()).evaluate(nested(run, "score"))
        figures[system] = sum(value["ndcg_cut_10"] for value in values.values()) / len(qrels)
    return figures


def ir_measures(data: Collection) -> Figures:
    """From pandas frames, which it turns into dicts; making those frames is not timed."""
    import ir_measures as tool

    run, qrels = data.pandas
    means = tool.calc_aggregate([tool.parse_measure(name) for name in MEASURES], qrels, run)
    return {"": means[tool.nDCG @ 10]}


def ranx(data: Collection) -> Figures:
    """From nested dicts: ranx 0.3 refuses the string dtype of pandas 3, and its `from_df` makes dicts too."""
    import ranx as tool

    names = ["ndcg@10", "map", "mrr@10", "recall@100", "precision@10"]
    qrels, run = tool.Qrels(nested(data.qrels, "relevance")), tool.Run(nested(data.run, "score"))
    return {"": float(tool.evaluate(qrels, run, names)["ndcg@10"])}


def bare_join(data: Collection) -> None:
    """No measure at all: one Polars join, and a count for each query."""
    on = ["query_id", "doc_id"]
    data.run.lazy().join(data.qrels.lazy(), on=on).group_by("query_id").len().collect(engine="streaming")


#: By name: the module a tool needs, and the tool.
PEERS: dict[str, tuple[str, Tool]] = {
    "pytrec_eval": ("pytrec_eval", pytrec_eval),
    "pytrec_eval, an evaluator per run": ("pytrec_eval", partial(pytrec_eval, reuse=False)),
    "ir_measures": ("ir_measures", ir_measures),
    "ranx": ("ranx", ranx),
    "bare join": ("polars", bare_join),
}


def installed(name: str) -> bool:
    """Whether the module of a peer is there."""
    return importlib.util.find_spec(PEERS[name][0]) is not None


def nested(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """`{query: {document: value}}`, in the fastest way we know."""
    rows = frame.group_by("query_id").agg("doc_id", value).iter_rows()
    return {query: dict(zip(documents, values, strict=True)) for query, documents, values in rows}
