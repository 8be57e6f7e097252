"""The words an expectation is written in: the mean of a measure over all orders that tied documents could stand in.

Conventions
    * The n documents of one score, below a documents of higher scores, share the places a + 1 to a + n, and each order
      of them is as likely as any other. Of these places m = min(n, k - a) are among the first k.
    * The mean over all orders is found exactly, not by drawing some, from counts: McSherry and Najork 2008, "Computing
      information retrieval performance measures efficiently in the presence of tied scores",
      https://doi.org/10.1007/978-3-540-78646-7_38. `rank` is not read. Without ties it is the measure itself.
    * An expectation is registered with its measure, `@measure(..., expected=...)`: a function of the same parameters,
      which stands beside it as `..._under_ties` if it is more than a line.
    * Fractions are added up sorted by their size, as equal ones may come in any order.
    * What a discount adds up to over the places of a document, and the relevant documents above and beside it, are
      columns of the relation whose *name* says what they are: `weights`, `above` and `beside` name them, `with_weights`
      and `with_counts` add them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import polars as pl

from polars_ir.language.parametrised import ParametrisedColumns
from polars_ir.language.words import Discount, discounted, n_higher, n_tied, relevant, top


class Places(NamedTuple):
    """The cutoff and the discount that the weight of a document is of."""

    k: int | None
    discount: Discount


class Counted(NamedTuple):
    """The relevant documents that are counted: those of a higher score than a document's, or of the same."""

    score: Literal["higher", "same"]
    rel: float


WEIGHTS, COUNTS = ParametrisedColumns("tie_weights", Places), ParametrisedColumns("tie_counts", Counted)

#: The a and the n of a document; signed, since places are subtracted from them.
higher, tied = n_higher.cast(pl.Int64), n_tied.cast(pl.Int64)

#: The probability of each of a document's places. Multiply by this instead of dividing by n: where few rows have one n,
#: the streaming engine of Polars 2.1 takes it for a constant and multiplies by its reciprocal, which other engines do
#: not.
chance = 1.0 / tied


def within(k: int | pl.Expr | None) -> pl.Expr:
    """True for a document that can be among the first `k`.

    >>> pl.DataFrame({"n_higher": [0, 2, 5, None]}).select(within(5)).to_series().to_list()
    [True, True, False, None]
    """
    return higher.is_not_null() if k is None else higher < k


def places(k: int | pl.Expr | None) -> pl.Expr:
    """The m of a document that can be among the first `k`: the number of its possible places that are.

    >>> pl.DataFrame({"n_higher": [0, 2], "n_tied": [2, 9]}).select(places(5)).to_series().to_list()
    [2, 3]
    """
    return tied if k is None else pl.min_horizontal(tied, k - higher)


def certain(k: int | pl.Expr | None) -> pl.Expr:
    """True for a document that is among the first `k` in every order."""
    return top() if k is None else higher + tied <= k


def parted(k: int | pl.Expr | None) -> pl.Expr:
    """True for a document among the first `k` in some orders only; all of them have one score."""
    return pl.lit(False) if k is None else within(k) & ~certain(k)


def count(documents: pl.Expr, k: int | pl.Expr | None = None) -> pl.Expr:
    """Expected number of some documents among the first `k`: each is, with probability m / n.

    >>> tied = pl.DataFrame({"n_higher": [0, 1, 1], "n_tied": [1, 4, 4], "rank": [1, 2, 3], "relevance": [1, 1, 0]})
    >>> tied.select(count(pl.col("relevance") >= 1, 3)).item()
    1.5
    """
    if k is None:
        return (documents & top()).sum()
    # One division for all of them, so that the probabilities of documents that fill a score's places add up to m.
    some = documents & parted(k)
    expected = some.sum() * places(k).filter(some).first() / tied.filter(some).first()
    return (documents & certain(k)).sum() + expected.fill_null(0.0)


def hits(k: int | pl.Expr | None, rel: float) -> pl.Expr:
    """Expected number of relevant documents among the first `k`."""
    return count(relevant(rel), k)


def weights(k: int | None, discount: Discount) -> pl.Expr:
    """The column of 1 / discount added up over the m places of each document, which `with_weights` makes.

    >>> weights(10, "log2").meta.output_name()
    "tie_weights(k=10, discount='log2')"
    """
    return WEIGHTS.column(Places(k, discount))


def with_weights(relation: pl.LazyFrame, *columns: str, **_: object) -> pl.LazyFrame:
    """The judged relation with columns that `weights` names.

    Made for the whole relation and not by a measure's expression: the sums of a query, made again for each of its
    terms, took longer than all the rest.

    >>> tied = pl.LazyFrame({"n_higher": [0, 1, None], "n_tied": [1, 4, None]})
    >>> with_weights(tied, "tie_weights(k=3, discount='rank')").collect().to_series(2).to_list()
    [1.0, 0.8333333333333333, None]
    """
    # As windows, of all rows: without, the streaming engine of Polars 2.1 fails on an empty run.
    return relation.with_columns(
        _over_places(*WEIGHTS.parameters(column)).over(pl.lit(1)).alias(column) for column in columns
    )


def _over_places(k: int | None, discount: Discount) -> pl.Expr:
    """1 / discount added up over the m places of each document that can be among the first `k`."""
    m = tied if k is None else pl.when(within(k)).then(places(k)).otherwise(0)
    if discount == "none":
        return m.cast(pl.Float64)
    # One table of sums for all queries, down to the last place of any.
    last = (higher + tied).max().fill_null(0)
    sums = (1.0 / discounted(pl.int_range(1, last + 2), discount)).cum_sum().shift(1, fill_value=0.0)
    alone = 1.0 / discounted(higher + 1, discount)
    return pl.when(m > 1).then(sums.gather(higher + m) - sums.gather(higher)).otherwise(alone * m)


def above(rel: float) -> pl.Expr:
    """The column of the number of relevant documents with a higher score, which `with_counts` makes."""
    return COUNTS.column(Counted("higher", rel))


def beside(rel: float) -> pl.Expr:
    """The column of the number of relevant documents with the score of a relevant one, itself included."""
    return COUNTS.column(Counted("same", rel))


def with_counts(relation: pl.LazyFrame, *columns: str, keys: Sequence[str]) -> pl.LazyFrame:
    """The judged relation with columns that `above` and `beside` name, null for documents that are not relevant.

    All documents are ranked at once: ranking them query by query took longer than all the rest.

    >>> tied = pl.LazyFrame({"query_id": "q", "n_higher": [0, 1, 1, 1], "relevance": [1, 2, 0, 1]})
    >>> names = ["tie_counts(score='higher', rel=1)", "tie_counts(score='same', rel=1)"]
    >>> with_counts(tied, *names, keys=["query_id"]).collect().rows()
    [('q', 0, 1, 0, 1), ('q', 1, 2, 1, 2), ('q', 1, 0, None, None), ('q', 1, 1, 1, 2)]
    """
    place = pl.col("polars_ir: place")
    for rel in sorted({COUNTS.parameters(column).rel for column in columns}):
        found = relevant(float(rel)) & n_higher.is_not_null()
        order = pl.when(found).then(pl.struct(*keys, n_higher))
        relation = relation.with_columns(order.rank("min").cast(pl.Int64).alias("polars_ir: place"))
        # A separate step: within `over` the rank would be found again, in each query.
        relation = relation.with_columns(
            (place - place.min().over(keys)).alias(above(rel).meta.output_name()),
            pl.when(place.is_not_null())
            .then(pl.len().over(place))
            .cast(pl.Int64)
            .alias(beside(rel).meta.output_name()),
        ).drop("polars_ir: place")
    return relation
