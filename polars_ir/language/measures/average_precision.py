"""Average precision, and values inferred from judgments that are a sample of the pool, in one stratum or several."""

from __future__ import annotations

import math

import polars as pl

from polars_ir.language import ties
from polars_ir.language.kinds import OF_POOL, STRATUM
from polars_ir.language.measure import measure
from polars_ir.language.measures.positions import DEPTH
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.options import Option, one_of
from polars_ir.language.words import (
    hits,
    if_relevant,
    length,
    n_relevant,
    or_zero,
    rank,
    ranked,
    ratio,
    relevance,
    relevant,
    top,
    total,
)

#: Smoothing of the precision among the judged documents.
EPSILON = 1e-5

SAMPLE_EVAL = (
    "Yilmaz, Kanoulas and Aslam 2008, https://doi.org/10.1145/1390334.1390437; sample_eval.pl of 2011, "
    "https://trec.nist.gov/data/clinical/sample_eval.pl"
)

#: True for a document of a stratum.
in_pool = pl.col(STRATUM).is_not_null()

DENOMINATOR = Option(
    "R",
    one_of("R", "min(k,R)", "k", "hits"),
    "The divisor of the sum of precisions: 'R' the number of relevant documents, 'min(k,R)' the most of them that "
    "the cutoff allows, 'k' the cutoff, 'hits' those found among the first k.",
)


def average_precision_under_ties(*, k: int | None = None, rel: float = 1, denominator: str = "R") -> pl.Expr:
    """Expected average precision.

    A relevant document at the j-th place of its score has above it the c relevant ones of higher scores and, of the
    r - 1 others of its score, (r - 1)(j - 1)/(n - 1). With h = 1/(a + 1) + ... + 1/(a + m) the precisions at its
    places, each with the chance 1/n, add up to ((c + 1) h + (r - 1)/(n - 1) (m - (a + 1) h)) / n.
    """
    if denominator == "hits" and k is not None:
        return average_precision_of_hits(k, rel)
    precision_sum = precisions_under_ties(relevant(rel) & ties.within(k), k, rel)
    return if_relevant(or_zero(ratio(precision_sum, average_out_of(k, rel, denominator))), rel)


def precisions_under_ties(found: pl.Expr, k: int | None, rel: float) -> pl.Expr:
    """Expected precisions at the places of some relevant documents that are among the first `k`, added up."""
    first, others = ties.above(rel) + 1, ties.beside(rel) - 1
    terms = precision_over(first, others, ties.higher, ties.tied, ties.places(k), ties.weights(k, "rank"))
    return total((terms * ties.chance).filter(found).sort())


def precision_over(first: pl.Expr, others: pl.Expr, before: pl.Expr, n: pl.Expr, m: pl.Expr, h: pl.Expr) -> pl.Expr:
    """Precision at a place, summed over m of n places, for the `first` relevant document with `others` tied to it."""
    # A document alone has no others: 0 / 1, not 0 / 0. Multiplied by, as `ties.chance` is.
    return h * first + others * ((m - h * (before + 1)) * (1.0 / (n - 1).clip(1)))


def average_precision_of_hits(k: int, rel: float) -> pl.Expr:
    """Expected average precision where the precisions are divided by the hits, which the order changes too.

    Only the documents that the cutoff parts do that: t of their r relevant ones are above it, with the hypergeometric
    chance, and stand at any of its m places alike. For each t the mean of the precisions is known.
    """
    sure, some = relevant(rel) & ties.certain(k), relevant(rel) & ties.parted(k)
    above, r = sure.sum().cast(pl.Int64), some.sum().cast(pl.Int64)
    before, n, m = (column.filter(some).first().fill_null(0) for column in (ties.higher, ties.tied, ties.places(k)))
    h = total(1 / pl.int_range(before + 1, before + m + 1))
    fewest = pl.max_horizontal(0, r - (n - m))
    t = pl.int_range(fewest, pl.min_horizontal(r, m) + 1)
    # Each probability from its ratio to the one before, in logarithms: that of the fewest may underflow.
    ratios = (m - t + 1) * (r - t + 1) / (t * (n - m - r + t))
    logarithms = pl.when(t > fewest).then(ratios).otherwise(1.0).log().cum_sum()
    chances = (logarithms - logarithms.max()).exp()
    added = t * precision_over(above + 1, t - 1, before, m, m, h) / m.clip(1)
    means = ratio(precisions_under_ties(sure, k, rel) + added, above + t).fill_null(0.0)
    return if_relevant(total(chances * means) / total(chances), rel)


@measure(
    "AP",
    source=f"{TREC_EVAL} (m_map.c, m_map_cut.c)",
    falls_beyond=True,
    reads_nonrelevant=False,
    also={
        "trec_eval": "map map_cut map_avgjg",
        "ir_measures": "AP MAP",
        "ranx": "map",
        "BEIR": "MAP",
        "MTEB": "map",
        "RecTools": "MAP",
        "Spark": "meanAveragePrecision",
        "torchmetrics": "RetrievalMAP(denominator='hits') retrieval_average_precision(denominator='hits')",
        "recommenders": "map map_at_k(k=10,denominator='min(k,R)')",
        "trectools": "get_map(k=1000)",
    },
    parameters={"denominator": DENOMINATOR},
    expected=average_precision_under_ties,
)
def average_precision(*, k: int | None = None, rel: float = 1, denominator: str = "R") -> pl.Expr:
    """Average precision: the mean, over all relevant documents, of the precision at their ranks.

    ::

        AP@k = sum(P@rank, over the relevant documents among the first k) / R

    R is the number of relevant documents; one that is not retrieved adds 0. With a cutoff, too, the sum is divided by
    R, as in trec_eval's map_cut, ranx, BEIR and MTEB. RePlay and Microsoft's recommenders divide by min(k, R), RecTools
    on request by k, torchmetrics and C/W/L by the hits. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d3"]}, ir.average_precision()).row(0)
    ('q', 0.8333333333333333)
    """
    value = ratio(total(precisions(rel, k)), average_out_of(k, rel, denominator))
    return value if denominator == "R" else if_relevant(or_zero(value), rel)


def precisions(rel: float = 1, k: int | None = None) -> pl.Expr:
    """Precision at the rank of each relevant document among the first `k`, in the order of the ranks."""
    # Counted, not by the length of the ranks, which would find and sort them once more.
    return pl.int_range(1, hits(k, rel).cast(pl.Int64) + 1) / rank.filter(relevant(rel) & top(k)).sort()


def average_out_of(k: int | None, rel: float, denominator: str) -> pl.Expr:
    """Number of precisions in an average, by one of the denominators in use."""
    return {
        "R": n_relevant(rel),
        "min(k,R)": pl.min_horizontal(length(k), n_relevant(rel)),
        "k": length(k),
        "hits": hits(k, rel),
    }[denominator]


@measure(
    "infAP",
    source="Yilmaz and Aslam 2006, https://doi.org/10.1145/1183614.1183633; trec_eval 10 (m_infap.c)",
    also={"trec_eval": "infAP", "ir_measures": "infAP"},
)
def inferred_average_precision(*, rel: float = 1) -> pl.Expr:
    """Inferred average precision: average precision estimated from judgments of a sample of the pool.

    ::

        infAP = sum(1 / i + (i - 1) / i * judged / (i - 1) * (relevant + e) / (relevant + nonrelevant + 2 e)) / R

    The sum is over the ranks i of the retrieved relevant documents; `judged`, `relevant` and `nonrelevant` are counted
    above i, e = 1e-5, and R is the number of relevant documents. `judged` includes documents of the pool left
    unjudged, whose grade is negative. With complete judgments it differs from AP by the smoothing only. Undefined when
    no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 1, "d2": 0, "d3": 1}}, ir.inferred_average_precision())[
    ...     "infAP"
    ... ].round(4).item()
    0.8333
    """
    in_pool = top() & relevance.is_not_null()
    ranks, grades = ranked(rank, in_pool), ranked(relevance, in_pool)
    is_relevant = grades >= rel
    relevant_above = is_relevant.cum_sum() - is_relevant
    assessed_above = (grades >= 0).cum_sum() - (grades >= 0)
    in_pool_above = pl.int_range(0, ranks.len())
    precision_above = (relevant_above + EPSILON) / (assessed_above + 2 * EPSILON)
    value = (1 + in_pool_above * precision_above) / ranks
    return ratio(total(value.filter(is_relevant)), n_relevant(rel))


@measure(
    "yaap",
    bounds=(-math.inf, math.inf),
    source="Robertson 2012, https://doi.org/10.1007/978-3-642-28997-2 (p. 158); trec_eval 10 (m_yaap.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "yaap"},
)
def yaap(*, rel: float = 1) -> pl.Expr:
    """Yet another average precision: average precision as the logarithm of odds, which spreads its extremes.

    ::

        yaap = ln((1 + S) / (1 + R - S))

    S is the sum of the precisions at the relevant documents, which AP divides by R. It orders the rankings of a query
    as AP does, but its mean over queries distinguishes low values. From -ln(1 + R), when nothing relevant is retrieved,
    to ln(1 + R). Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.yaap()).row(0)
    ('q', 0.0)
    """
    precision_sum = total(precisions(rel))
    return if_relevant(((1 + precision_sum) / (1 + n_relevant(rel) - precision_sum)).log(), rel)


@measure("xinfAP", source=SAMPLE_EVAL)
def extended_inferred_average_precision(*, rel: float = 1) -> pl.Expr:
    """Extended inferred average precision: average precision estimated from a sample drawn by strata of the pool.

    ::

        xinfAP = sum(N/n (1 + sum(pool (relevant + e) / (judged + 3 e), over the strata)) / i) / sum(N/n)

    The sums of N/n are over relevant documents, the first over the retrieved ones, at the ranks i; N documents of the
    stratum are in the pool, and n of them judged. `pool`, `judged` and `relevant` count the documents of a stratum
    above i, e = 1e-5. The judgments have a column `stratum`, and a negative grade where a document of the pool was not
    judged. The first 1000 documents count. As the infAP of NIST's sample_eval. Undefined when no document is relevant.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "doc_id": [*"abcd"], "stratum": 1, "relevance": [1, 0, -1, 1]})
    >>> ir.evaluate({"q": [*"abcd"]}, qrels, ir.extended_inferred_average_precision())["xinfAP"].round(4).item()
    0.8125
    """
    weight, above = pl.col(f"{OF_POOL}weight"), pl.col(f"{OF_POOL}above {rel}")
    counted = relevant(rel) & in_pool
    precisions = ranked(weight * (1 + above) / rank, counted & top(DEPTH))
    return ratio(total(precisions), total(weight.filter(counted).sort()))


@measure("infNDCG", source=SAMPLE_EVAL)
def inferred_ndcg() -> pl.Expr:
    """Inferred normalised discounted cumulated gain: nDCG estimated from a sample drawn by strata of the pool.

    ::

        infNDCG = sum(pool/judged grade(i) / log2(1 + i)) / sum(best(i) / log2(1 + i))

    `pool` and `judged` count the documents of the stratum that the run retrieved, best(i) is the i-th highest grade of
    a pool that has each grade as often as the sample lets expect: sum(N/n), rounded, where N documents of the
    stratum are in the pool, and n of them judged. Judgments are those of `extended_inferred_average_precision`. The
    first 1000 documents count; as in NIST's sample_eval grades are compared as texts, and beyond its first 1000
    documents the best ranking has one of each lower grade. Undefined when no document has a gain.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b", "c"], "stratum": 1, "relevance": [1, -1, 2]})
    >>> ir.evaluate({"q": ["a", "b", "c"]}, qrels, ir.inferred_ndcg())["infNDCG"].round(4).item()
    0.7156
    """
    share, best = pl.col(f"{OF_POOL}share"), pl.col(f"{OF_POOL}best")
    gained = ranked(share * relevance / (rank + 1).log(2), (relevance > 0) & in_pool & top(DEPTH))
    return ratio(total(gained), total(best.filter(best > 0).sort()))
