"""Reciprocal rank: how soon the first relevant document comes."""

from __future__ import annotations

import polars as pl

from polars_ir.language import ties
from polars_ir.language.budget import BUDGET, cutoff
from polars_ir.language.measure import measure
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.words import discounted, if_relevant, or_zero, rank, relevant, top


def reciprocal_rank_under_ties(*, k: int | None = None, rel: float = 1, **_: object) -> pl.Expr:
    """Expected reciprocal rank: 1 / (a + j) times the probability that the first relevant document is at j, summed.

    Only the highest score of relevant documents matters. With r of them among its n documents the probability is r / n
    at j = 1, and below (n - r - j + 2) / (n - j + 1) times that of the place above.
    """
    is_first = relevant(rel) & ties.within(k) & (ties.above(rel) == 0)
    before, n, r = ties.higher, ties.tied, ties.beside(rel)
    # n - j + 1 at the j-th place. A document alone has the chance 1 at its place, and no list: each takes its time.
    left = pl.int_ranges(n, pl.when(is_first & (n > 1)).then(n - ties.places(k)), -1)
    # The first of the factors is (n - r + 1) / n; the term before the sum corrects that.
    chances = ((left - r + 1) / left).list.eval(pl.element().cum_prod())
    tied = r / (n - r + 1) * (chances / (before + n + 1 - left)).list.sum()
    value = pl.when(n > 1).then(tied).otherwise(1 / (before + 1)).filter(is_first).first()
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
        "Elasticsearch": "mean_reciprocal_rank",
        "torchmetrics": "RetrievalMRR retrieval_reciprocal_rank",
        "trectools": "get_reciprocal_rank(k=1000)",
    },
    parameters=BUDGET,
    monotone=True,
    discount=lambda **_: discounted(rank, "rank"),
    expected=reciprocal_rank_under_ties,
)
def reciprocal_rank(
    *, k: int | None = None, rel: float = 1, budget: float | None = None, cost: str = "tokens", over: str = "stop"
) -> pl.Expr:
    """Reciprocal rank of the first relevant document.

    ::

        RR@k = 1 / (rank of the first relevant document)

    0 when none is among the first k, undefined when no document is relevant. Its mean over queries is MRR.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d2", "d3"]}, ir.reciprocal_rank(k=10)).row(0)
    ('q', 0.5)
    """
    counted = top(cutoff(k, budget, cost, over))
    return if_relevant(or_zero(1 / rank.filter(relevant(rel) & counted).min()), rel)
