"""Reciprocal rank: how soon the first relevant document comes."""

from __future__ import annotations

import polars as pl

from polars_ir.language import ties
from polars_ir.language.measure import measure
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.options import MOST_DOCUMENTS
from polars_ir.language.words import discounted, if_relevant, or_zero, rank, relevant, top


def reciprocal_rank_under_ties(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Expected reciprocal rank: 1 / (a + j) times the chance that the first relevant document is at j, added up.

    Only the highest score of relevant documents matters. With r of them among its n documents the chance is r / n at
    j = 1, and (n - r - j + 2) / (n - j + 1) times that of the place above at the others.
    """
    is_hit = relevant(rel) & ties.within(k)
    # The a and the n of a document in one number, so that the lowest has both.
    level = (ties.higher * MOST_DOCUMENTS + ties.tied).filter(is_hit)
    before, n = level.min() // MOST_DOCUMENTS, level.min() % MOST_DOCUMENTS
    r = level.sort().unique_counts().first().cast(pl.Int64)
    m = n if k is None else pl.min_horizontal(n, k - before)
    # n - j + 1 at the j-th place, in a list for each query: to make these for all at once is a third of the work.
    left = pl.int_ranges(n, n - m, -1)
    # The first of the factors is (n - r + 1) / n; what stands before the sum puts that right.
    chances = ((left - r + 1) / left).list.eval(pl.element().cum_prod())
    value = r / (n - r + 1) * (chances / (before + n + 1 - left)).list.sum()
    return if_relevant(or_zero(value), rel)


@measure(
    "RR",
    source=f"{TREC_EVAL} (m_recip_rank.c)",
    reads_nonrelevant=False,
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
    expected=reciprocal_rank_under_ties,
)
def reciprocal_rank(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Reciprocal rank of the first relevant document.

    ::

        RR@k = 1 / (rank of the first relevant document)

    0 when none is among the first k, undefined when no document is relevant. Its mean over queries is MRR.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2", "d3"]}, ir.reciprocal_rank(k=10)).row(0)
    ('q', 0.5)
    """
    return if_relevant(or_zero(1 / rank.filter(relevant(rel) & top(k)).min()), rel)
