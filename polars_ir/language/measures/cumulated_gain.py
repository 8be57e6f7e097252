"""Cumulated gain: graded documents, discounted by the logarithm of their rank."""

from __future__ import annotations

import polars as pl

from polars_ir.language import ties
from polars_ir.language.budget import BUDGET, cutoff
from polars_ir.language.measure import HIGHEST, measure
from polars_ir.language.measures.positions import over_places
from polars_ir.language.options import Option, not_negative, one_of
from polars_ir.language.words import (
    Discount,
    Discounted,
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

JARVELIN = "Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418"

#: Sums of 2 to higher grades may be infinite.
HIGHEST_EXPONENT = 1000

#: Denominators of nDCG.
IDEAL = Option(
    "min(k,R)",
    one_of("min(k,R)", "R", "k"),
    "The documents of the best ranking: 'min(k,R)' the best k judged documents, 'R' all of them, also beyond the "
    "cutoff, 'k' as many documents of the query's highest gain as the cutoff allows, however few the query has.",
)


def graded_gain(*, gains: Gains | None, dcg: Discounted = "log2", rel: float | None = None, **_: object) -> pl.Expr:
    """Gain of a document, by the parameters of measures of graded documents."""
    return gain(dcg, gains, rel)


def gain_out_of_best(dcg: Discounted, gains: Gains | None, rel: float | None) -> pl.Expr:
    """Gain of a document as a share of the ideal one: where 2 to a grade overflows, divided by 2 to the highest grade.

    The quotient of two sums of such gains is unchanged.
    """
    if dcg != "exp-log2":
        return gain(dcg, gains, rel)
    grade = gain("log2", gains, rel)
    less = pl.when(grade.max() > HIGHEST_EXPONENT).then(grade.max()).otherwise(0.0)
    # Without the dtype, Polars panics where there are no groups.
    two = pl.lit(2.0, dtype=pl.Float64)
    return two ** (grade - less) - two**-less


def graded_discount(*, discount: Discount, **_: object) -> pl.Expr:
    """Divisor of the gain at its rank."""
    return discounted(rank, discount)


def discounted_gain(k: int | pl.Expr | None, value: pl.Expr, discount: Discount) -> pl.Expr:
    """Sum of the discounted gains of the first `k` documents."""
    return total(ranked(value / discounted(rank, discount), top(k)))


def best_gain(k: int | None, value: pl.Expr, discount: Discount, denominator: str = "min(k,R)") -> pl.Expr:
    """Maximum discounted gain, by one of the denominators in use."""
    if denominator == "k" and k is not None:
        return value.max() * over_places(lambda place: place.clip(1, 1) / discounted(place, discount), k)
    if denominator == "k":
        # At least one place, so that an empty ranking is not divided by 0.
        places = pl.int_range(1, n_retrieved.clip(lower_bound=1) + 1)
        # Repeated for each place, also where the discount is a constant.
        return total(value.max() * places.clip(1, 1) / discounted(places, discount))
    # Sorted by gain, not by `ideal_rank`: that would be one more ranking of all judgments.
    best, places = value.sort(descending=True), pl.int_range(1, pl.len() + 1)
    if k is not None and denominator == "min(k,R)":
        best, places = best.head(k), places.head(k)
    return total(best / discounted(places, discount))


def discounted_gain_under_ties(k: int | None, value: pl.Expr, discount: Discount) -> pl.Expr:
    """Gains of the documents among the first `k`, each divided by the discounts of its places in turn."""
    gaining = (value > 0) & ties.within(k)
    return total((value * ties.weights(k, discount) * ties.chance).filter(gaining).sort())


@measure(
    "DCG",
    bounds=(0.0, float("inf")),
    source=f"{JARVELIN}; trec_eval 10 (m_ndcg.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "dcg", "ranx": "dcg dcg_burges(dcg='exp-log2')"},
    monotone=True,
    gain=graded_gain,
    discount=graded_discount,
    parameters=BUDGET,
    expected=lambda k, rel, dcg, discount, gains, **_: pl.when((gain(dcg, gains, rel) > 0).any()).then(
        discounted_gain_under_ties(k, gain(dcg, gains, rel), discount)
    ),
)
def dcg(
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: Discounted = "log2",
    discount: Discount = "log2",
    gains: Gains | None = None,
    budget: float | None = None,
    cost: str = "tokens",
    over: str = "stop",
) -> pl.Expr:
    """Discounted cumulated gain of the first k documents.

    ::

        DCG@k = sum(gain(i) / log2(1 + i), i = 1 .. k)

    gain(i) is that of the document at rank i, and `discount` puts another divisor. The gain of a document is its grade
    (`dcg="log2"`, trec_eval) or 2^grade - 1 (`dcg="exp-log2"`, Burges et al. 2005); negative grades gain 0. Undefined
    when no document has a gain.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 3, "d3": 2}}, ir.dcg(k=10)).row(0)
    ('q', 4.0)
    """
    value = gain(dcg, gains, rel)
    return pl.when((value > 0).any()).then(discounted_gain(cutoff(k, budget, cost, over), value, discount))


@measure(
    "IDCG",
    bounds=(0.0, float("inf")),
    source=f"{JARVELIN}; trec_eval 10 (m_ndcg.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "ideal_dcg"},
    monotone=True,
    expected="itself",
)
def ideal_dcg(
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: Discounted = "log2",
    discount: Discount = "log2",
    gains: Gains | None = None,
) -> pl.Expr:
    """Ideal discounted cumulated gain: the DCG of the ideal ranking.

    ::

        IDCG@k = sum(best(i) / log2(1 + i), i = 1 .. k)

    best(i) is the i-th highest gain of the judged documents, retrieved or not: it is the DCG of the ranking that has
    them in falling order. gain and `discount` as in DCG. Undefined when no document has a gain.

    Examples
    --------
    >>> ir.evaluate({"q": ["d2"]}, {"q": {"d1": 2, "d2": 1, "d3": 2}}, ir.ideal_dcg(k=1)).row(0)
    ('q', 2.0)
    """
    value = gain(dcg, gains, rel)
    return pl.when((value > 0).any()).then(best_gain(k, value, discount))


@measure(
    "nDCG",
    source=f"{JARVELIN}; trec_eval 10 (m_ndcg.c, m_ndcg_cut.c)",
    falls_beyond=True,
    reads_nonrelevant=False,
    also={
        "trec_eval": "ndcg ndcg_cut ndcg_p(discount='jarvelin')",
        "ir_measures": "nDCG NDCG",
        "ranx": "ndcg ndcg_burges(dcg='exp-log2')",
        "BEIR": "NDCG",
        "MTEB": "ndcg",
        "torchmetrics": "RetrievalNormalizedDCG retrieval_normalized_dcg",
        "recommenders": "ndcg_at_k(k=10,dcg='binary')",
        "trectools": "get_ndcg(k=1000,denominator='R')",
    },
    parameters={"denominator": IDEAL},
    gain=graded_gain,
    discount=graded_discount,
    # The ideal ranking is the same in every order.
    expected=lambda k, rel, dcg, discount, gains, denominator: ratio(
        discounted_gain_under_ties(k, gain_out_of_best(dcg, gains, rel), discount),
        best_gain(k, gain_out_of_best(dcg, gains, rel), discount, denominator),
    ),
)
def ndcg(
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: Discounted = "log2",
    discount: Discount = "log2",
    gains: Gains | None = None,
    denominator: str = "min(k,R)",
) -> pl.Expr:
    """Normalised discounted cumulated gain: DCG divided by the DCG of the ideal ranking.

    ::

        nDCG@k = sum(gain(i) / log2(1 + i), i = 1 .. k) / sum(best(i) / log2(1 + i), i = 1 .. k)

    gain(i) is the gain of the document at rank i, best(i) the i-th highest of all judged documents, retrieved or not.
    The gain is the grade (`dcg="log2"`), 2^grade - 1 (`dcg="exp-log2"`) or 1 for every grade above 0 (`dcg="binary"`).
    Undefined when no document has a gain. trec_eval's ndcg and ndcg_cut take the grade as the gain, as the default
    does; gdeval and ranx's ndcg_burges take 2^grade - 1 (`dcg="exp-log2"`). The base of the logarithm cancels out.
    RecTools divides by k perfect documents (`denominator="k"`).

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 3, "d3": 3}}, ir.ndcg(k=2))["nDCG@2"].round(6).item()
    0.613147
    """
    value = gain_out_of_best(dcg, gains, rel)
    return ratio(discounted_gain(k, value, discount), best_gain(k, value, discount, denominator))


@measure(
    "Q",
    source="Sakai 2006, https://doi.org/10.1145/1148170.1148261",
    falls_beyond=True,
    reads_nonrelevant=False,
    parameters={"beta": Option(1, not_negative(HIGHEST), "The weight of gains against counts; 0 gives AP.")},
    gain=graded_gain,
)
def q_measure(
    *, k: int | None = None, rel: float = 1, beta: float = 1, dcg: Discounted = "log2", gains: Gains | None = None
) -> pl.Expr:
    """Q-measure: average precision with grades, by the cumulated gain against that of the ideal ranking.

    ::

        Q@k = sum((hits(i) + beta cg(i)) / (i + beta ideal_cg(i)), over the ranks i of relevant documents) / R

    The ranks are those of the relevant documents among the first k; cg(i) is the gain cumulated down to rank i,
    ideal_cg that of the ideal ranking, and R is the number of relevant documents. With binary gains it stays close to
    AP; with beta = 0 it is AP. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d2": 1, "d3": 3}}, ir.q_measure())["Q"].round(6).item()
    0.595238
    """
    value = pl.when(relevant(rel)).then(gain(dcg, gains)).otherwise(0.0)
    is_hit = relevant(rel) & top(k)
    places, gained = ranked(rank, is_hit), ranked(value, is_hit).cum_sum()
    order = value.rank("ordinal", descending=True)
    ideal = ranked(value, relevant(rel), by=order).cum_sum()
    of_ideal = ideal.gather(pl.min_horizontal(places, n_relevant(rel)).cast(pl.Int64) - 1)
    blended = (pl.int_range(1, hits(k, rel).cast(pl.Int64) + 1) + beta * gained) / (places + beta * of_ideal)
    return ratio(total(blended), n_relevant(rel))
