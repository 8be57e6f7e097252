"""Gain relative to the possible gain, otherwise than by nDCG at one cutoff: trec_eval's experimental measures.

trec_eval's sort treats gains that differ by less than 1 as equal, so that with fractional gains its ideal ranking is
not always ideal; here it is.
"""

from __future__ import annotations

import polars as pl

from polars_ir.language.measure import measure
from polars_ir.language.measures.cumulated_gain import graded_gain
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.words import (
    Gains,
    discounted,
    gain,
    hits,
    n_relevant,
    n_retrieved,
    rank,
    ranked,
    ratio,
    relevant,
    top,
    total,
)


def found_gains(value: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Ranks of the retrieved documents that have a gain, in order, and their gains."""
    retrieved = top() & (value > 0)
    return ranked(rank, retrieved), ranked(value, retrieved)


def n_gains(value: pl.Expr) -> pl.Expr:
    """Number of documents with a gain, counted, since the length of a list would make it once more."""
    return (value > 0).sum().cast(pl.Int64)


def ideal_gains(value: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Places of the ideal ranking that hold a gain, and these gains, falling."""
    return pl.int_range(1, n_gains(value) + 1), value.filter(value > 0).sort(descending=True)


def at(places: pl.Expr, values: pl.Expr, n_values: pl.Expr) -> pl.Expr:
    """Value of a list at each place, and its last value at places beyond its end."""
    return values.gather(pl.min_horizontal(places, n_values).cast(pl.Int64) - 1)


@measure("G", source=f"{TREC_EVAL} (m_G.c)", also={"trec_eval": "G"}, gain=graded_gain, reads_nonrelevant=False)
def normalized_gain(*, gains: Gains | None = None) -> pl.Expr:
    """Normalised gain: the gain of each document, discounted by the gain that the ranking has missed so far.

    ::

        G = sum(gain(i) / log2(2 + missed(i))) / sum of all gains

    The first sum is over the ranks i. What is missed at a rank is the gain cumulated in the ideal ranking, less the one
    cumulated in the ranking itself; a place of the ideal ranking counts at least 1 in it, also beyond its end.
    Undefined when no document has a gain.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d3": 2}}, ir.normalized_gain()).row(0)
    ('q', 0.5)
    """
    value = gain(gains=gains)
    ranks, retrieved = found_gains(value)
    _, ideal = ideal_gains(value)
    beyond = (ranks.cast(pl.Int64) - n_gains(value)).clip(lower_bound=0)
    missed = at(ranks, ideal.clip(lower_bound=1).cum_sum(), n_gains(value)) + beyond - retrieved.cum_sum()
    return ratio(total(retrieved / (2 + missed).log(2)), total(ideal))


@measure("binG", source=f"{TREC_EVAL} (m_binG.c)", also={"trec_eval": "binG"}, reads_nonrelevant=False)
def binary_normalized_gain(*, rel: float = 1) -> pl.Expr:
    """Binary normalised gain: each relevant document discounted by the documents above it that are not relevant.

    ::

        binG = sum(1 / log2(2 + n), over the retrieved relevant documents) / R

    n documents above one are not relevant, judged or not; R is the number of relevant documents. Undefined when no
    document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d3"]}, ir.binary_normalized_gain()).row(0)
    ('q', 0.5)
    """
    ranks = rank.filter(relevant(rel) & top()).sort().cast(pl.Int64)
    above = ranks - pl.int_range(1, hits(None, rel).cast(pl.Int64) + 1)
    return ratio(total(1 / (2 + above).log(2)), n_relevant(rel))


@measure(
    "ndcg_rel",
    source=f"{TREC_EVAL} (m_ndcg_rel.c)",
    also={"trec_eval": "ndcg_rel"},
    gain=graded_gain,
    reads_nonrelevant=False,
)
def ndcg_rel(*, gains: Gains | None = None) -> pl.Expr:
    """Mean nDCG over the ranks of the documents that have a gain.

    ::

        ndcg_rel = mean(nDCG@rank, over the documents that have a gain)

    A retrieved document adds nDCG@rank; one that is not retrieved adds the nDCG of the whole ranking. Undefined when no
    document has a gain.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 3}}, ir.ndcg_rel())["ndcg_rel"].round(6).item()
    0.56502
    """
    value = gain(gains=gains)
    ranks, retrieved = found_gains(value)
    places, ideal = ideal_gains(value)
    cumulated, of_ideal = (retrieved / discounted(ranks)).cum_sum(), (ideal / discounted(places)).cum_sum()
    n, n_found = n_gains(value), (top() & (value > 0)).sum()
    not_retrieved = (n - n_found) * total(retrieved / discounted(ranks)) / of_ideal.last()
    return ratio(total(cumulated / at(ranks, of_ideal, n)) + not_retrieved, n)


@measure(
    "Rndcg", source=f"{TREC_EVAL} (m_Rndcg.c)", also={"trec_eval": "Rndcg"}, gain=graded_gain, reads_nonrelevant=False
)
def r_ndcg(*, gains: Gains | None = None) -> pl.Expr:
    """Mean nDCG at the ranks where the gain of the ideal ranking falls to a lower level, and at the end of the ranking.

    ::

        Rndcg = mean(nDCG@n, over the n at which the ideal gain falls to a lower level, and the end)

    With 5 documents of gain 3, 8 of gain 1 and 100 retrieved it is (nDCG@5 + nDCG@13 + nDCG) / 3. The end counts only
    for a ranking longer than there are documents with a gain; trec_eval leaves it out, too, where it is longer by just
    one. Undefined when no document has a gain.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 3}}, ir.r_ndcg())["Rndcg"].round(6).item()
    0.56502
    """
    return mean_ndcg_of_levels(gains)


def mean_ndcg_of_levels(gains: Gains | None, *, spare: int = 0) -> pl.Expr:
    """Rndcg, whose end counts for a ranking longer than the documents with a gain by more than `spare`."""
    value = gain(gains=gains)
    ranks, retrieved = found_gains(value)
    places, ideal = ideal_gains(value)
    falls = (ideal != ideal.shift(-1)).fill_null(True)
    of_ideal = (ideal / discounted(places)).cum_sum()
    n = n_gains(value)
    longer = n_retrieved > n + spare
    # Each document adds its share of DCG to the nDCG of every level that ends at its rank or below.
    levels = pl.when(falls).then(1 / of_ideal).otherwise(0.0).cum_sum(reverse=True)
    shares = pl.when(ranks <= n).then(at(ranks, levels, n)).otherwise(0.0)
    at_the_end = pl.when(longer).then(1 / of_ideal.last()).otherwise(0.0)
    n_points = falls.sum() + longer.cast(pl.UInt32)
    return pl.when(n > 0).then(total(retrieved / discounted(ranks) * (shares + at_the_end)) / n_points)
