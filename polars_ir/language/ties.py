"""The words an expectation is written in: the mean of a measure over all orders that tied documents could stand in.

Conventions
    * The n documents of one score, below a documents of higher scores, share the places a + 1 to a + n, and each order
      of them is as likely as any other. Of these places m = min(n, k - a) are among the first k.
    * The mean over all orders is found exactly, not by drawing some, from counts: McSherry and Najork 2008, "Computing
      information retrieval performance measures efficiently in the presence of tied scores",
      https://doi.org/10.1007/978-3-540-78646-7_38. `rank` is not read. Without ties it is the measure itself.
    * An expectation stands beside its measure as `..._under_ties`, with the same parameters, and is given with it:
      `@measure(..., expected=...)`.
    * Fractions are added up sorted by their size, as equal ones may come in any order.
"""

from __future__ import annotations

import polars as pl

from polars_ir.language.gains import Discount, discounted
from polars_ir.language.words import n_higher, n_tied, top

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
    # Not `min_horizontal`, which Polars 1.44 takes for one value where all are null.
    return tied if k is None else pl.when(tied <= k - higher).then(tied).otherwise(k - higher)


def certain(k: int | pl.Expr | None) -> pl.Expr:
    """Whether a document is among the first `k` in every order."""
    return top() if k is None else higher + tied <= k


def parted(k: int | pl.Expr | None) -> pl.Expr:
    """Whether a document is among the first `k` in some orders only: the documents of at most one score are."""
    return pl.lit(False) if k is None else within(k) & ~certain(k)


def count(documents: pl.Expr, k: int | pl.Expr | None = None) -> pl.Expr:
    """How many of some documents are among the first `k`: each with the chance m / n.

    >>> tied = pl.DataFrame({"n_higher": [0, 1, 1], "n_tied": [1, 4, 4], "rank": [1, 2, 3], "relevance": [1, 1, 0]})
    >>> tied.select(count(pl.col("relevance") >= 1, 3)).item()
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
