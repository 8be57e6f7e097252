"""Diversity: how many subtopics of a query the ranking covers, and how soon, when saying things twice is worth less.

Conventions
    * Judgments are of a document for a subtopic; the grade -1 or 0, or no judgment, means that it does not cover it. A
      subtopic that no document covers does not count. A measure is undefined where no subtopic is covered.
    * A document meets the share `alpha * gain` of what is left of the need for a subtopic; without `gains` every
      relevant document has the gain 1. So it adds weight * gain * product of (1 - alpha * gain) over the documents
      above it that cover the subtopic too: the *novelty* of the document. These are the cascade measures of Clarke et
      al. 2011, of which alpha-DCG, ERR-IA and NRBP are those with three discounts of the rank. With `alpha=1` and the
      gains (2^grade - 1) / 2^max, ERR-IA is the mean of the ERR by subtopic, the definition of Chapelle et al. 2011.
    * Without an n, the sum is divided by that of a ranking in which every document covers every subtopic, which may
      not exist; with an n, by that of the greedy ideal ranking (`greedy`).
    * ndeval knows cutoffs up to 20, binary judgments and equal weights. At the cutoff 1 it leaves the first of the two
      divisions out, so that its alpha-DCG@1 and ERR-IA@1 count subtopics; here they are divided at any cutoff.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import polars as pl

from polars_ir.language.cover import Cover, greedy_rank
from polars_ir.language.measure import measure
from polars_ir.language.measures.positions import over_places
from polars_ir.language.options import Option, Value, chance, is_map_of_numbers, is_number
from polars_ir.language.words import discounted, n_retrieved, power, rank, ratio, top, total

subtopic = pl.col("subtopic")


WEIGHTS = {
    "weights": Option(
        None,
        Value("the name of a column of the qrels", lambda value: isinstance(value, str) and value != ""),
        "The column of the qrels with the weights of subtopics, the same in all rows of one, as the probabilities of "
        "intents; None: all weigh the same. A weight that is null or negative makes the measure NaN.",
    )
}
NOVELTY = {
    "alpha": Option(
        0.5,
        Value("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1),
        "The share of the need for a subtopic that a document covering it meets: 0 counts subtopics again and again, 1 "
        "only the first time.",
    ),
    "gains": Option(
        None,
        Value(
            "a map from grades to numbers from 0 to 1, as in {1: 0.5, 2: 1}",
            lambda value: is_map_of_numbers(value) and all(0 <= gain <= 1 for gain in value.values()),
        ),
        "The gains of grades: a map to values from 0 to 1; a relevant document of another grade gains 1.",
    ),
    **WEIGHTS,
}
BETA = {"beta": Option(0.5, chance(), "Patience: how likely the reader goes on from one document to the next.")}

#: The weight of a gain at a place.
Discount = Callable[[pl.Expr], pl.Expr]


def by_log2(place: pl.Expr) -> pl.Expr:
    """A gain divided by the logarithm of its place."""
    return 1 / discounted(place, "log2")


def by_rank(place: pl.Expr) -> pl.Expr:
    """A gain divided by its place."""
    return 1 / discounted(place, "rank")


def by_patience(beta: float) -> Discount:
    """A gain that a reader meets who goes on to the next document with probability `beta`."""
    return lambda place: power(beta, place.cast(pl.Float64) - 1)


def covering(cover: Cover, order: pl.Expr, k: int | None, *columns: pl.Expr) -> pl.Expr:
    """Rows in which one of the first `k` documents of an order covers a subtopic, by subtopic and in that order."""
    gain = cover.gain
    rows = pl.struct(subtopic, order.alias("place"), gain.alias("gain"), (gain * cover.weight).alias("worth"), *columns)
    return rows.filter((gain > 0) & top(k, of=order)).sort()


def above(rows: pl.Expr, counted: pl.Expr) -> pl.Expr:
    """Number of counted rows above each row, in its subtopic."""
    before = counted.cum_sum().cast(pl.Int64).shift(1, fill_value=0)
    start = rows.struct.field("subtopic").rank("min").cast(pl.Int64) - 1
    return before - before.gather(start)


def novelty(cover: Cover, order: pl.Expr, k: int | None, discount: Discount) -> pl.Expr:
    """Sum of the discounted gains of the first `k` documents of an order over those above each."""
    rows = covering(cover, order, k)
    gain, left = rows.struct.field("gain"), pl.lit(1.0)
    for share in sorted({1.0, *(float(gain) for gain in (cover.gains or {}).values() if gain > 0)}):
        left = left * power(1 - cover.alpha * share, above(rows, gain == share))
    return total(rows.struct.field("worth") * left * discount(rows.struct.field("place")))


def weight_of(cover: Cover, where: pl.Expr | None = None) -> pl.Expr:
    """Weight of the subtopics that are covered at all, or by documents that meet a condition."""
    covered = cover.gain > 0 if where is None else (cover.gain > 0) & where
    if cover.weights is None:
        return subtopic.filter(covered).n_unique().cast(pl.Float64)
    rows = pl.struct(subtopic, cover.weight.alias("weight")).filter(covered).sort()
    return total(rows.struct.field("weight").filter(rows.struct.field("subtopic").is_first_distinct()))


def defined(value: pl.Expr, cover: Cover) -> pl.Expr:
    """`value` where a subtopic is covered, null (undefined) where none is."""
    return pl.when(weight_of(cover) > 0).then(value)


def out_of_all(cover: Cover, k: int | None, discount: Discount) -> pl.Expr:
    """Novelty of a ranking, relative to one in which every document covers every subtopic."""

    def new_at(place: pl.Expr) -> pl.Expr:
        return power(1 - cover.alpha, place.cast(pl.Float64) - 1) * discount(place)

    # At least one place, so that an empty ranking is not divided by 0.
    filled = pl.int_range(1, n_retrieved.clip(lower_bound=1) + 1)
    most = total(new_at(filled)) if k is None else over_places(new_at, k)
    return defined(novelty(cover, rank, k, discount) / (weight_of(cover) * most), cover)


def out_of_greedy(cover: Cover, k: int | None, discount: Discount, depth: int | None = None) -> pl.Expr:
    """Novelty of a ranking, relative to the greedy ideal ranking, cut off at `depth` documents."""
    ideal = novelty(cover, greedy_rank(cover, k or depth), k or depth, discount)
    return ratio(novelty(cover, rank, k, discount), ideal)


NDEVAL = "ndeval 4.5, https://github.com/trec-web/trec-web-2014"
CLARKE = "Clarke et al. 2008, https://doi.org/10.1145/1390334.1390446"
CHAPELLE = "Chapelle et al. 2011, https://doi.org/10.1007/s10791-011-9167-7"
NRBP = "Clarke et al. 2009, https://doi.org/10.1007/978-3-642-04417-5_17"

#: Maximum ratio of any ranking to the greedy one at every cutoff (Nemhauser et al. 1978).
OVER_GREEDY = math.e / (math.e - 1)


@measure(
    "alpha_DCG",
    source=f"{CLARKE}; {NDEVAL}",
    also={"ndeval": "alpha-DCG", "ir_measures": "alpha_DCG α_DCG"},  # noqa: RUF001  # the Greek letter is meant
    parameters=NOVELTY,
)
def alpha_dcg(
    *,
    k: int | None = None,
    rel: float = 1,
    alpha: float = 0.5,
    gains: Mapping[float, float] | None = None,
    weights: str | None = None,
) -> pl.Expr:
    """Novelty of the first k documents, discounted by log rank, divided by that of covering every subtopic.

    ::

        alpha_DCG@k = sum(novelty(i) / log2(1 + i), i = 1 .. k)
                    / (weights of the subtopics * sum((1 - alpha)^(i - 1) / log2(1 + i), i = 1 .. k))

    It is ndeval's "collection-independent" division; at k = 1 ndeval leaves it out. A document's novelty is the sum
    over its subtopics of weight * (1 - alpha)^(documents above that cover it too). Without k, as many places as
    documents were retrieved. Undefined when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b", "a"], "doc_id": ["d1", "d1", "d2"]})
    >>> ir.evaluate({"q": ["d1", "d2"]}, qrels.with_columns(relevance=1), ir.alpha_dcg(k=1)).row(0)
    ('q', 1.0)
    """
    return out_of_all(Cover(alpha, rel, gains, weights), k, by_log2)


@measure(
    "alpha_nDCG",
    bounds=(0.0, OVER_GREEDY),
    source=f"{CLARKE}; {NDEVAL}",
    also={"ndeval": "alpha-nDCG", "ir_measures": "alpha_nDCG α_nDCG"},  # noqa: RUF001  # the Greek letter is meant
    parameters=NOVELTY,
)
def alpha_ndcg(
    *,
    k: int | None = None,
    rel: float = 1,
    alpha: float = 0.5,
    gains: Mapping[float, float] | None = None,
    weights: str | None = None,
) -> pl.Expr:
    """Novelty of the first k documents, discounted by log rank, divided by that of the greedy ideal ranking.

    ::

        alpha_nDCG@k = sum(novelty(i) / log2(1 + i), i = 1 .. k) / the same of the greedy ideal ranking

    The greedy ideal ranking has the judged documents in greedy order: at every place the one that adds most, among
    equals the one with the larger id. A document's novelty is the sum over its subtopics of weight * (1 -
    alpha)^(documents above that cover it too). The greedy ranking has 1, and a better one more. Undefined when no
    subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b", "a"], "doc_id": ["d1", "d1", "d2"]})
    >>> ir.evaluate({"q": ["d2", "d1"]}, qrels.with_columns(relevance=1), ir.alpha_ndcg(k=1)).row(0)
    ('q', 0.5)
    """
    return out_of_greedy(Cover(alpha, rel, gains, weights), k, by_log2)


@measure(
    "ERR_IA", source=f"{CHAPELLE}; {NDEVAL}", also={"ndeval": "ERR-IA", "ir_measures": "ERR_IA"}, parameters=NOVELTY
)
def err_ia(
    *,
    k: int | None = None,
    rel: float = 1,
    alpha: float = 0.5,
    gains: Mapping[float, float] | None = None,
    weights: str | None = None,
) -> pl.Expr:
    """Intent-aware expected reciprocal rank: novelty of the first k documents, each divided by its rank.

    ::

        ERR_IA@k = sum(novelty(i) / i, i = 1 .. k)
                 / (weights of the subtopics * sum((1 - alpha)^(i - 1) / i, i = 1 .. k))

    novelty as in alpha_DCG; it is ndeval's "collection-independent" division; at k = 1 ndeval leaves it out. With
    `alpha=1` and gains (2^grade - 1) / 2^max it is the weighted mean, over the subtopics, of the ERR for each. Without
    k, as many places as documents were retrieved. Undefined when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    >>> ir.evaluate({"q": ["d1", "d2"]}, qrels, ir.err_ia(k=2)).row(0)
    ('q', 0.6)
    """
    return out_of_all(Cover(alpha, rel, gains, weights), k, by_rank)


@measure(
    "nERR_IA",
    bounds=(0.0, OVER_GREEDY),
    source=f"{CHAPELLE}; {NDEVAL}",
    also={"ndeval": "nERR-IA", "ir_measures": "nERR_IA"},
    parameters=NOVELTY,
)
def nerr_ia(
    *,
    k: int | None = None,
    rel: float = 1,
    alpha: float = 0.5,
    gains: Mapping[float, float] | None = None,
    weights: str | None = None,
) -> pl.Expr:
    """Intent-aware expected reciprocal rank, divided by that of the greedy ideal ranking.

    ::

        nERR_IA@k = sum(novelty(i) / i, i = 1 .. k) / the same of the greedy ideal ranking

    novelty and the greedy ideal ranking as in alpha_nDCG. The greedy ranking has 1, and a better one more. Undefined
    when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    >>> ir.evaluate({"q": ["d9", "d2"]}, qrels, ir.nerr_ia(k=1)).row(0)
    ('q', 0.0)
    """
    return out_of_greedy(Cover(alpha, rel, gains, weights), k, by_rank)


@measure(
    "NRBP", source=f"{NRBP}; {NDEVAL}", also={"ndeval": "NRBP", "ir_measures": "NRBP"}, parameters={**NOVELTY, **BETA}
)
def nrbp(
    *,
    rel: float = 1,
    alpha: float = 0.5,
    beta: float = 0.5,
    gains: Mapping[float, float] | None = None,
    weights: str | None = None,
) -> pl.Expr:
    """Novelty- and rank-biased precision: the novelty for a reader who continues with probability beta.

    ::

        NRBP = (1 - (1 - alpha) beta) / (weights of the subtopics) * sum(novelty(i) beta^(i - 1))

    novelty as in alpha_DCG, over all ranks i; 1 would be endlessly many documents that cover everything. Undefined when
    no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    >>> ir.evaluate({"q": ["d1", "d2"]}, qrels, ir.nrbp()).row(0)
    ('q', 0.5625)
    """
    cover = Cover(alpha, rel, gains, weights)
    novel = (1 - (1 - alpha) * beta) * novelty(cover, rank, None, by_patience(beta))
    return defined(novel / weight_of(cover), cover)


@measure(
    "nNRBP",
    bounds=(0.0, OVER_GREEDY),
    source=f"{NRBP}; {NDEVAL}",
    also={"ndeval": "nNRBP", "ir_measures": "nNRBP"},
    parameters={**NOVELTY, **BETA},
)
def nnrbp(
    *,
    rel: float = 1,
    alpha: float = 0.5,
    beta: float = 0.5,
    gains: Mapping[float, float] | None = None,
    weights: str | None = None,
) -> pl.Expr:
    """Novelty- and rank-biased precision, divided by that of the greedy ideal ranking.

    ::

        nNRBP = sum(novelty(i) beta^(i - 1)) / the same of the greedy ideal ranking

    novelty and the greedy ideal ranking as in alpha_nDCG, over all ranks i. The greedy ranking has 1, and a better one
    more. Undefined when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    >>> ir.evaluate({"q": ["d1", "d9"]}, qrels, ir.nnrbp(beta=0.25)).row(0)
    ('q', 0.8)
    """
    # Deeper documents of the greedy ranking add less than half the last bit: none adds more than the first.
    depth = math.ceil(math.log(2.0**-54 * (1 - beta)) / math.log(beta))
    return out_of_greedy(Cover(alpha, rel, gains, weights), None, by_patience(beta), depth)
