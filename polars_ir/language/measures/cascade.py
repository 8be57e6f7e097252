"""Measures of a reader who goes down the list and stops: at random, or when satisfied."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polars_ir.language import ties
from polars_ir.language.measure import PARAMETERS, measure
from polars_ir.language.options import Option, Value
from polars_ir.language.words import (
    Gains,
    discounted,
    gain,
    if_relevant,
    power,
    rank,
    ranked,
    relevance,
    relevant,
    top,
    total,
)

#: Gains that are shares of a document's maximum worth.
SHARES = Option(
    None,
    Value(
        "a map from grades to numbers from 0 to 1, as in {1: 0.5, 2: 1}, or a Polars expression",
        lambda v: PARAMETERS["gains"].value.holds(v) and (isinstance(v, pl.Expr) or max(v.values()) <= 1),
    ),
    f"{PARAMETERS['gains'].meaning} They are meant to be shares, 0 to 1; relevant documents without one are worth 1.",
)


def chance_of_reading(p: float) -> pl.Expr:
    """Probability that a reader who goes on with probability `p` gets to a document."""
    return power(p, rank.cast(pl.Float64) - 1)


def share_of(gains: Gains | None) -> pl.Expr:
    """Gain of a relevant document in RBP: 1, except for the grades that a map names."""
    if isinstance(gains, Mapping):
        shares = {float(grade): float(share) for grade, share in gains.items()}
        return relevance.cast(pl.Float64).replace_strict(shares, default=1.0, return_dtype=pl.Float64)
    return pl.lit(1.0) if gains is None else gain(gains=gains)


def satisfaction(value: pl.Expr, max_rel: int) -> pl.Expr:
    """Probability that a document satisfies the reader, by its exponential gain."""
    return value.clip(upper_bound=2.0**max_rel - 1) / 2.0**max_rel


@measure(
    "ERR",
    source="Chapelle et al. 2009, https://doi.org/10.1145/1645953.1646033; gdeval 1.3",
    reads_nonrelevant=False,
    also={"gdeval": "err", "ir_measures": "ERR"},
    monotone=True,
    gain=lambda *, gains, max_rel, **_: satisfaction(gain("exp-log2", gains), max_rel),
    discount=lambda **_: discounted(rank, "rank"),
)
def expected_reciprocal_rank(*, k: int | None = None, max_rel: int = 4, gains: Gains | None = None) -> pl.Expr:
    """Expected reciprocal rank: the mean of 1 / the rank at which a reader is satisfied.

    ::

        ERR@k = sum(s(i) / i * (1 - s(1)) * ... * (1 - s(i - 1)), i = 1 .. k)
        s = (2^grade - 1) / 2^max_rel

    s(i) is the chance that the document at rank i satisfies; what `gains` gives takes the place of the grade. gdeval,
    and ir_measures with it, fix the highest grade at 4. Undefined when no document has a grade above 0. A perfect
    ranking stays below 1, which only infinitely many documents of the highest grade reach.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 3, "d2": 4}}, ir.expected_reciprocal_rank(k=20)).row(0)
    ('q', 0.701171875)
    """
    value = gain("exp-log2", gains)
    among = top(k) & (value > 0)
    satisfies = ranked(satisfaction(value, max_rel), among)
    still_reading = (1 - satisfies).cum_prod().shift(1, fill_value=1.0)
    return pl.when((value > 0).any()).then(total(satisfies * still_reading / ranked(rank, among)))


def chance_of_stopping(documents: pl.Expr, k: int | None, p: float, worth: pl.Expr) -> pl.Expr:
    """Worth of some documents, each times the probability that the reader stops there: p^a (1 - p^m) / n, added up."""
    reached, stops = power(p, ties.higher), 1 - power(p, ties.places(k))
    return total((worth * reached * stops * ties.chance).filter(documents & ties.within(k)).sort())


@measure(
    "RBP",
    source="Moffat and Zobel 2008, https://doi.org/10.1145/1416950.1416952",
    reads_nonrelevant=False,
    also={"trec_eval": "rbp(p=0.9)", "ir_measures": "RBP", "trectools": "get_rbp(k=1000)"},
    parameters={"gains": SHARES},
    monotone=True,
    gain=lambda *, rel, gains, **_: pl.when(relevant(rel)).then(share_of(gains)),
    discount=lambda *, p, **_: 1 / chance_of_reading(p),
    expected=lambda k, rel, p, gains: if_relevant(chance_of_stopping(relevant(rel), k, p, share_of(gains)), rel),
)
def rank_biased_precision(
    *, k: int | None = None, rel: float = 1, p: float = 0.8, gains: Gains | None = None
) -> pl.Expr:
    """Rank-biased precision: the expected gain per document of a reader who continues with probability p.

    ::

        RBP@k = (1 - p) sum(gain * p^(rank - 1), over the relevant documents among the first k)

    Relevant documents gain 1 each, or what `gains` gives them. trec_eval 10 takes grades as gains, but scales them by
    values it never sets; ranx takes them as they are, also above 1. Undefined when no document is relevant. A perfect
    ranking of R documents reaches 1 - p^R.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.rank_biased_precision(p=0.5)).row(0)
    ('q', 0.25)
    """
    worth = chance_of_reading(p) if gains is None else share_of(gains) * chance_of_reading(p)
    return if_relevant((1 - p) * total(ranked(worth, relevant(rel) & top(k))), rel)


@measure(
    "RBP_residual",
    best=0.0,
    source="Moffat and Zobel 2008, https://doi.org/10.1145/1416950.1416952",
    also={"trec_eval": "rbp_resid(p=0.9)"},
    expected=lambda k, p: 1 - chance_of_stopping(relevance >= 0, k, p, pl.lit(1.0)),
)
def rank_biased_precision_residual(*, k: int | None = None, p: float = 0.8) -> pl.Expr:
    """Residual of rank-biased precision: how much higher it would be if every unjudged document were relevant.

    ::

        RBP_residual@k = 1 - (1 - p) sum(p^(rank - 1), over the judged documents among the first k)

    The weight of the unjudged documents, of those whose grade is negative, and of all places beyond the list or the
    cutoff. RBP lies between its value and that plus the residual. 1 when nothing is retrieved; 0 is the best value.
    trec_eval 10 has 0, and not the weight beyond the list, when every retrieved document is judged.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.rank_biased_precision_residual(p=0.5)).row(0)
    ('q', 0.75)
    """
    return 1 - (1 - p) * total(ranked(chance_of_reading(p), (relevance >= 0) & top(k)))
