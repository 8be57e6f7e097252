"""What measures are expected to be where documents share a score: the mean over all orders they could stand in.

Conventions
    * The n documents of one score, below a documents of higher scores, share the places a + 1 to a + n, and each order
      of them is as likely as any other. Of these places m = min(n, k - a) are among the first k.
    * The mean over all orders is found exactly, not by drawing some, from counts: McSherry and Najork 2008, "Computing
      information retrieval performance measures efficiently in the presence of tied scores",
      https://doi.org/10.1007/978-3-540-78646-7_38. `rank` is not read. Without ties it is the measure itself.
    * Each function has the parameters of the measure of its name. What no order of ties can change stands for itself.
    * Fractions are added up sorted by their size, as equal ones may come in any order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import polars as pl

from polars_ir import measures
from polars_ir.measures.average_precision import average_out_of
from polars_ir.measures.cumulated_gain import best_gain
from polars_ir.measures.precision_recall import multiple_of_relevant
from polars_ir.vocabulary import (
    Discount,
    Discounted,
    Gains,
    discounted,
    gain,
    if_relevant,
    judged_elsewhere,
    length,
    n_higher,
    n_relevant,
    n_tied,
    or_zero,
    ratio,
    relevance,
    relevant,
    shown,
    top,
    total,
)

#: The a and the n of a document; signed, since places are subtracted from them.
higher, tied = n_higher.cast(pl.Int64), n_tied.cast(pl.Int64)


def within(k: int | pl.Expr | None) -> pl.Expr:
    """Whether a document can be among the first `k`.

    >>> pl.DataFrame({"n_higher": [0, 2, 5, None]}).select(within(5)).to_series().to_list()
    [True, True, False, None]
    """
    return higher.is_not_null() if k is None else higher < k


def places(k: int | pl.Expr | None) -> pl.Expr:
    """The m of a document that can be among the first `k`: how many of the places it may have are.

    >>> pl.DataFrame({"n_higher": [0, 2], "n_tied": [2, 9]}).select(places(5)).to_series().to_list()
    [2, 3]
    """
    return tied if k is None else pl.min_horizontal(tied, k - higher)


def certain(k: int | pl.Expr | None) -> pl.Expr:
    """Whether a document is among the first `k` in every order."""
    return top() if k is None else higher + tied <= k


def parted(k: int | pl.Expr | None) -> pl.Expr:
    """Whether a document is among the first `k` in some orders only: the documents of at most one score are."""
    return pl.lit(False) if k is None else within(k) & ~certain(k)


def count(documents: pl.Expr, k: int | pl.Expr | None = None) -> pl.Expr:
    """How many of some documents are among the first `k`: each with the chance m / n.

    >>> tied = pl.DataFrame({"n_higher": [0, 1, 1], "n_tied": [1, 4, 4], "rank": [1, 2, 3], "relevance": [1, 1, 0]})
    >>> tied.select(count(relevant(), 3)).item()
    1.5
    """
    if k is None:
        return (documents & top()).sum()
    # One division for all of them, so that the chances of documents that fill a score's places add up to m.
    some = documents & parted(k)
    expected = some.sum() * places(k).filter(some).first() / tied.filter(some).first()
    return (documents & certain(k)).sum() + expected.fill_null(0.0)


def weights(documents: pl.Expr, k: int | None, discount: Discount) -> pl.Expr:
    """For each of some documents, 1 / discount added up over its m places."""
    before, m = higher.filter(documents), places(k).filter(documents)
    if discount == "none":
        return m.cast(pl.Float64)
    # One table of sums for the query, no longer than down to the last shared place; it is made but once where both
    # ends of the places are looked up together.
    last = pl.when(m > 1).then(before + m).max().fill_null(0)
    sums = (1.0 / discounted(pl.int_range(1, last + 2), discount)).cum_sum().shift(1, fill_value=0.0)
    ends = before.append(before + m).clip(upper_bound=last)
    between = sums.gather(ends).diff(m.len()).tail(m.len())
    return pl.when(m > 1).then(between).otherwise(1 / discounted(before + 1, discount))


def discounted_gain(k: int | None, value: pl.Expr, discount: Discount) -> pl.Expr:
    """The gains of the documents among the first `k`, each divided by the discounts of its places in turn."""
    gaining = (value > 0) & within(k)
    return total((value.filter(gaining) * weights(gaining, k, discount) / tied.filter(gaining)).sort())


def precision(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Expected precision: the relevant documents expected among the first k, out of k."""
    return if_relevant(or_zero(ratio(count(relevant(rel), k), length(k))), rel)


def recall(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Expected recall: the relevant documents expected among the first k, out of those there are."""
    return ratio(count(relevant(rel), k), n_relevant(rel))


def recall_capped(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Expected capped recall: the relevant documents expected among the first k, out of the most there can be."""
    return if_relevant(or_zero(ratio(count(relevant(rel), k), pl.min_horizontal(length(k), n_relevant(rel)))), rel)


def f_measure(*, k: int | None = None, rel: float = 1, beta: float = 1) -> pl.Expr:
    """Expected F measure: linear in the hits, since neither R nor k depends on the order."""
    weight = beta**2
    return if_relevant((1 + weight) * count(relevant(rel), k) / (weight * n_relevant(rel) + length(k)), rel)


def r_precision(*, rel: float = 1, multiple: float = 1) -> pl.Expr:
    """Expected R-precision: the relevant documents expected among the first R, or a multiple of R, out of these."""
    cutoff = multiple_of_relevant(multiple, rel)
    return if_relevant(or_zero(ratio(count(relevant(rel), cutoff), cutoff)), rel)


def n_relevant_retrieved(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """The number of relevant documents expected among the first k; without k it is certain, and whole."""
    return count(relevant(rel), k).cast(pl.Int64 if k is None else pl.Float64)


def judged(*, k: int | None = None) -> pl.Expr:
    """The expected share of the first k documents that has a judgment."""
    return or_zero(ratio(count(relevance.is_not_null(), k), shown(k)))


def unjudged(*, k: int | None = None) -> pl.Expr:
    """The expected share of the first k places that holds a document without a judgment for this query."""
    return or_zero(ratio(shown(k).cast(pl.Int64) - count(relevance >= 0, k), length(k)))


def hole(*, k: int | None = None) -> pl.Expr:
    """The expected share of the first k places that holds a document without a judgment for any query."""
    pooled = relevance.is_not_null() | judged_elsewhere.is_not_null()
    return or_zero(ratio(shown(k).cast(pl.Int64) - count(pooled, k), length(k)))


def success(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Expected success: the chance that any relevant document is among the first k.

    1 where one is certain to be; else 1 - the product of (n - m - i) / (n - i), i = 0 .. r - 1: each of the r relevant
    documents in turn takes one of the places left below k, of those left at all.
    """
    some = relevant(rel) & parted(k)
    n, m = tied.filter(some).first(), places(k).filter(some).first()
    taken = pl.int_range(0, some.sum())
    missed = ((n - m - taken).clip(0) / (n - taken)).cum_prod().last().fill_null(1.0)
    found = pl.when((relevant(rel) & certain(k)).any()).then(1.0).otherwise(1 - missed)
    return if_relevant(found, rel)


def reciprocal_rank(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Expected reciprocal rank: 1 / (a + j) times the chance that the first relevant document is at j, added up.

    Only the highest score of relevant documents matters. With r of them among its n documents the chance is r / n at
    j = 1, and (n - r - j + 2) / (n - j + 1) times that of the place above at the others.
    """
    found = relevant(rel) & within(k)
    first = found & (higher == higher.filter(found).min())
    before, n, m = (column.filter(first).first().fill_null(0) for column in (higher, tied, places(k)))
    r = first.sum().cast(pl.Int64)
    others = n - r
    # From n falling: the documents of the score that do not stand above the place.
    left = pl.int_range(n, n - pl.min_horizontal(m, others + 1), -1)
    # The first of the ratios is (n - r + 1) / n; the factor before the sum puts that right.
    chances = ((left - r + 1) / left).cum_prod()
    value = r / (others + 1) * total(chances / (before + n + 1 - left))
    return if_relevant(value, rel)


def average_precision(*, k: int | None = None, rel: float = 1, denominator: str = "R") -> pl.Expr:
    """Expected average precision.

    A relevant document at the j-th place of its score has above it the c relevant ones of higher scores and, of the
    r - 1 others of its score, (r - 1)(j - 1)/(n - 1). With h = 1/(a + 1) + ... + 1/(a + m) the precisions at its
    places, each with the chance 1/n, add up to ((c + 1) h + (r - 1)/(n - 1) (m - (a + 1) h)) / n.
    """
    if denominator == "hits" and k is not None:
        return average_precision_of_hits(k, rel)
    return if_relevant(
        or_zero(ratio(precisions(relevant(rel) & within(k), k), average_out_of(k, rel, denominator))), rel
    )


def precisions(found: pl.Expr, k: int | None) -> pl.Expr:
    """The precisions expected at the places of some relevant documents that are among the first `k`, added up."""
    before, n, m = (column.filter(found) for column in (higher, tied, places(k)))
    # Counted from 1: so many relevant documents have no lower a, and no higher one.
    first, last = (before.rank(method).cast(pl.Int64) for method in ("min", "max"))
    return total((precision_over(first, last - first, before, n, m, weights(found, k, "rank")) / n).sort())


def precision_over(first: pl.Expr, others: pl.Expr, before: pl.Expr, n: pl.Expr, m: pl.Expr, h: pl.Expr) -> pl.Expr:
    """The precision at a place added up over m of n places, for the `first` relevant document with so many others."""
    # A document alone has no others: 0 / 1 in place of 0 / 0. The sums of 1 / place are costly and named but once.
    above = others / (n - 1).clip(1)
    return h * (first - above * (before + 1)) + above * m


def average_precision_of_hits(k: int, rel: float) -> pl.Expr:
    """Expected average precision where the precisions are divided by the hits, which the order changes too.

    Only the documents that the cutoff parts do that: t of their r relevant ones are above it, with the hypergeometric
    chance, and stand at any of its m places alike. For each t the mean of the precisions is known.
    """
    sure, some = relevant(rel) & certain(k), relevant(rel) & parted(k)
    above, r = sure.sum().cast(pl.Int64), some.sum().cast(pl.Int64)
    before, n, m = (column.filter(some).first().fill_null(0) for column in (higher, tied, places(k)))
    h = total(1 / pl.int_range(before + 1, before + m + 1))
    fewest = pl.max_horizontal(0, r - (n - m))
    t = pl.int_range(fewest, pl.min_horizontal(r, m) + 1)
    # Each chance from its ratio to the one before, in logarithms: that of the fewest may be too small for a float.
    ratios = (m - t + 1) * (r - t + 1) / (t * (n - m - r + t))
    logarithms = pl.when(t > fewest).then(ratios).otherwise(1.0).log().cum_sum()
    chances = (logarithms - logarithms.max()).exp()
    added = t * precision_over(above + 1, t - 1, before, m, m, h) / m.clip(1)
    means = ratio(precisions(sure, k) + added, above + t).fill_null(0.0)
    return if_relevant(total(chances * means) / total(chances), rel)


def dcg(
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: Discounted = "log2",
    discount: Discount = "log2",
    gains: Gains | None = None,
) -> pl.Expr:
    """Expected discounted cumulated gain: each gain at each of the document's places, with the chance 1 / n."""
    value = gain(dcg, gains, rel)
    return pl.when((value > 0).any()).then(discounted_gain(k, value, discount))


def ndcg(
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: Discounted = "log2",
    discount: Discount = "log2",
    gains: Gains | None = None,
    denominator: str = "min(k,R)",
) -> pl.Expr:
    """Expected normalised discounted cumulated gain: the ideal ranking is the same in every order."""
    value = gain(dcg, gains, rel)
    return ratio(discounted_gain(k, value, discount), best_gain(k, value, discount, denominator))


def rank_biased_precision(
    *, k: int | None = None, rel: float = 1, p: float = 0.8, gains: Gains | None = None
) -> pl.Expr:
    """Expected rank-biased precision: each gain at each of the document's places, with the chance 1 / n."""
    worth = pl.lit(1.0) if gains is None else gain(gains=gains)
    return if_relevant(chance_of_stopping(relevant(rel), k, p, worth), rel)


def rank_biased_precision_residual(*, k: int | None = None, p: float = 0.8) -> pl.Expr:
    """Expected residual of rank-biased precision: what the judged documents are expected to leave."""
    return 1 - chance_of_stopping(relevance >= 0, k, p, pl.lit(1.0))


def chance_of_stopping(documents: pl.Expr, k: int | None, p: float, worth: pl.Expr) -> pl.Expr:
    """The worth of some documents, each with the chance that the reader stops there: p^a (1 - p^m) / n, added up."""
    before, n, m = (column.cast(pl.Float64) for column in (higher, tied, places(k)))
    return total((worth * p**before * (1 - p**m) / n).filter(documents & within(k)).sort())


def same(measure: Callable[..., pl.Expr]) -> Callable[..., pl.Expr]:
    """The expectation of a measure that no order of tied documents can change."""

    @functools.wraps(measure)
    def unnamed(**parameters: object) -> pl.Expr:
        return measure(**parameters).meta.undo_aliases()

    return unnamed


#: The expectation of a measure by its canonical name.
EXPECTED: dict[str, Callable[..., pl.Expr]] = {
    "AP": average_precision,
    "DCG": dcg,
    "F": f_measure,
    "Hole": hole,
    "IDCG": same(measures.ideal_dcg),
    "Judged": judged,
    "NumNonRelJudgedRet": same(measures.n_nonrelevant_judged_retrieved),
    "NumQ": same(measures.n_queries),
    "NumRel": same(measures.n_relevant_documents),
    "NumRelRet": n_relevant_retrieved,
    "NumRet": same(measures.n_retrieved_documents),
    "P": precision,
    "R": recall,
    "RBP": rank_biased_precision,
    "RBP_residual": rank_biased_precision_residual,
    "RR": reciprocal_rank,
    "R_cap": recall_capped,
    "Rprec": r_precision,
    "SetAP": same(measures.set_average_precision),
    "SetF": same(measures.set_f_measure),
    "SetP": same(measures.set_precision),
    "SetR": same(measures.set_recall),
    "Success": success,
    "nDCG": ndcg,
    "unj": unjudged,
    "utility": same(measures.utility),
}
