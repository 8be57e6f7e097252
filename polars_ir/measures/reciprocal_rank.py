"""Reciprocal rank: how soon the first relevant document comes."""

from __future__ import annotations

import polars as pl

from polars_ir.measures.precision_recall import TREC_EVAL
from polars_ir.registry import measure
from polars_ir.vocabulary import discounted, if_relevant, or_zero, rank, relevant, top


@measure(
    "RR",
    source=f"{TREC_EVAL} (m_recip_rank.c)",
    also={
        "trec_eval": "recip_rank recip_rank_cut",
        "ir_measures": "RR MRR",
        "ranx": "mrr",
        "BEIR": "MRR",
        "MTEB": "mrr",
        "RecTools": "MRR",
        "torchmetrics": "RetrievalMRR retrieval_reciprocal_rank",
        "trectools": "get_reciprocal_rank(k=1000)",
    },
    monotone=True,
    discount=lambda **_: discounted(rank, "rank"),
)
def reciprocal_rank(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Reciprocal rank of the first relevant document.

    1 / rank; 0 when none is among the first k, undefined when no document is relevant. Its mean over queries is MRR.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2", "d3"]}, ir.reciprocal_rank(k=10)).row(0)
    ('q', 0.5)
    """
    return if_relevant(or_zero(1 / rank.filter(relevant(rel) & top(k)).min()), rel)
