"""Measures with a reader who goes down the list and stops: with chance, or when satisfied."""

from __future__ import annotations

import polars as pl

from polars_ir.registry import measure
from polars_ir.vocabulary import gain, if_relevant, rank, ranked, relevant, top, total


@measure(
    "ERR",
    source="Chapelle et al. 2009, https://doi.org/10.1145/1645953.1646033; gdeval 1.3",
    also={"gdeval": "err", "ir_measures": "ERR"},
    monotone=True,
)
def expected_reciprocal_rank(*, k: int | None = None, max_rel: int = 4) -> pl.Expr:
    """Expected reciprocal rank: the mean of 1 / the rank at which a reader is satisfied.

    sum over ranks of 1/rank * s(rank) * product of (1 - s) above it, where s = (2^grade - 1) / 2^max_rel is the chance
    that a document satisfies. gdeval, and ir_measures with it, fix the highest grade at 4. Undefined when no document
    has a grade above 0. A perfect ranking stays below 1, which only infinitely many documents of the
    highest grade reach.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 3, "d2": 4}}, ir.expected_reciprocal_rank(k=20)).row(0)
    ('q', 0.701171875)
    """
    gains = gain("exp-log2")
    among = top(k) & (gains > 0)
    satisfies = ranked(gains.clip(upper_bound=2.0**max_rel - 1) / 2.0**max_rel, among)
    still_reading = (1 - satisfies).cum_prod().shift(1, fill_value=1.0)
    return pl.when((gains > 0).any()).then(total(satisfies * still_reading / ranked(rank, among)))


@measure(
    "RBP",
    source="Moffat and Zobel 2008, https://doi.org/10.1145/1416950.1416952",
    also={"trec_eval": "rbp(p=0.9)", "ir_measures": "RBP"},
    monotone=True,
)
def rank_biased_precision(*, k: int | None = None, rel: float = 1, p: float = 0.8) -> pl.Expr:
    """Rank-biased precision: what a reader gains who goes on to the next document with probability p.

    (1 - p) * sum of p^(rank - 1) over the relevant documents. Grades count as relevant or not; trec_eval 10 takes them
    as gains, but scales them by values it never sets. Undefined when no document is relevant. A perfect ranking of R
    documents reaches 1 - p^R.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, ir.rank_biased_precision(p=0.5)).row(0)
    ('q', 0.25)
    """
    weights = ranked(p ** (rank.cast(pl.Float64) - 1), relevant(rel) & top(k))
    return if_relevant((1 - p) * total(weights), rel)
