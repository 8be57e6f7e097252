"""Cumulated gain: graded documents, discounted by the logarithm of their rank."""

from __future__ import annotations

import polars as pl

from polars_ir.registry import measure
from polars_ir.vocabulary import Discounted, gain, ideal_rank, rank, ranked, ratio, top, total

JARVELIN = "Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418; trec_eval 10 (m_ndcg.c, m_ndcg_cut.c)"


def discounted_gain(order: pl.Expr, k: int | None, value: pl.Expr) -> pl.Expr:
    """The gains of the first `k` documents of an order, each divided by log2(1 + its place), added up."""
    return total(ranked(value / (order + 1).log(2), top(k, of=order), by=order))


@measure("DCG", bounds=(0.0, float("inf")), source=JARVELIN, also={"dcg_burges": {"dcg": "exp-log2"}})
def dcg(*, k: int | None = None, dcg: Discounted = "log2", gains: dict[int, float] | None = None) -> pl.Expr:
    """Discounted cumulated gain of the first k documents.

    sum(gain / log2(1 + rank)). The gain of a document is its grade (`dcg="log2"`, trec_eval) or 2^grade - 1
    (`dcg="exp-log2"`, Burges et al. 2005); negative grades gain 0. Undefined when no document has a gain.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 3, "d3": 2}}, ir.dcg(k=10)).row(0)
    ('q', 4.0)
    """
    value = gain(dcg, gains)
    return pl.when((value > 0).any()).then(discounted_gain(rank, k, value))


@measure("nDCG", source=JARVELIN, also={"ndcg_cut": {}, "ndcg_burges": {"dcg": "exp-log2"}})
def ndcg(*, k: int | None = None, dcg: Discounted = "log2", gains: dict[int, float] | None = None) -> pl.Expr:
    """Normalised discounted cumulated gain: DCG out of the DCG of the ideal ranking.

    DCG@k / DCG@k of all judged documents in falling order of grade, retrieved or not. Undefined when no document has a
    gain. trec_eval's ndcg and ndcg_cut take the grade as the gain, as the default does; gdeval and ranx's ndcg_burges
    take 2^grade - 1 (`dcg="exp-log2"`).

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 3, "d3": 3}}, ir.ndcg(k=2))["nDCG@2"].round(6).item()
    0.613147
    """
    value = gain(dcg, gains)
    # A map of gains may put a lower grade above a higher one; only then does the ideal order have to be found anew.
    ideal = value.rank("ordinal", descending=True) if gains else ideal_rank
    return ratio(discounted_gain(rank, k, value), discounted_gain(ideal, k, value))
