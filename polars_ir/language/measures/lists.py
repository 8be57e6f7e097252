"""Measures of a recommender's lists: how new, how popular, how varied what it recommends is, whoever likes it.

Conventions
    * They read the history of users and the items there are, which `evaluate` takes as `history=` and `items=`, and no
      judgments but for `Serendipity`. Without judgments every list of the run has a row.
    * n is the length of the list after the cutoff. Without a list, or for `ILD` a pair, a value is null whatever
      `undefined` is, so that means skip it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language import ties
from polars_ir.language.catalog import Measure
from polars_ir.language.lists import (
    ALL_PAIRS,
    ALL_USERS,
    PAIRS_ABOVE,
    POPULARITY,
    SEEN,
    SIZE,
    added_up,
    likeness,
    place,
    users,
)
from polars_ir.language.measure import measure
from polars_ir.language.options import Option, Value, chance, one_of
from polars_ir.language.words import rank, ratio, relevant, shown, top

#: True for the row of an item of a list.
listed = place.is_not_null()

#: True for an item that somebody had.
warm = users > 0

#: The information of an item in bits, a cold one as of one user.
BITS = (pl.col(ALL_USERS).clip(1) / users.clip(1)).log(2)


def _cold(default: str, other: str, meaning: str) -> dict[str, Option]:
    """The record of what becomes of cold items."""
    return {"cold": Option(default, one_of(default, other), f"Items that nobody had: {meaning}.")}


def _quotient(total: pl.Expr, n: pl.Expr) -> pl.Expr:
    """A sum divided by the number of its terms, null for none; `ratio` keeps the rows of groups in memory."""
    return (total / n).fill_nan(None)


def _mean(values: pl.Expr, k: int | None, of: pl.Expr, total: Measure = pl.Expr.sum, n: int | None = None) -> pl.Expr:
    """The mean of values of some of the first k items; with `n`, their sum divided by it."""
    kept = top(k, of=place) & of
    return _quotient(total(pl.when(kept).then(values)), kept.sum() if n is None else pl.len().clip(n, n))


def _expected(values: pl.Expr, k: int | None, total: Measure = pl.Expr.sum, n: int | None = None) -> pl.Expr:
    """As `_mean` of all items, the mean over all orders of tied ones: a tie adds its mean, times its places."""
    if k is None:
        return _mean(values, k, listed, total, n)
    some = ties.parted(k)
    of_tie = total(pl.when(some).then(values)) * ties.places(k).filter(some).first() / ties.tied.filter(some).first()
    expected = total(pl.when(ties.certain(k)).then(values)) + of_tie.fill_null(0.0)
    return _quotient(expected, ties.count(listed, k) if n is None else pl.len().clip(n, n))


def _in_units(value: pl.Expr, base: object) -> pl.Expr:
    """A novelty in bits in units of the largest; null where there are no users or, for these units, one."""
    of_all = pl.col(ALL_USERS).max()
    return pl.when(of_all > 0).then(ratio(value, of_all.log(2)) if base == "users" else value)


def _novelty(k: int | None, cold: str, base: object, denominator: str) -> pl.Expr:
    n = k if denominator == "k" else None
    return _in_units(_mean(BITS, k, listed if cold == "one" else warm, added_up, n), base)


def _novelty_under_ties(k: int | None, cold: str, base: object, denominator: str) -> pl.Expr:
    if cold == "skip":
        _refuse_skipping("Novelty", k)
        return _novelty(k, cold, base, denominator)
    return _in_units(_expected(BITS, k, added_up, k if denominator == "k" else None), base)


def _refuse_skipping(name: str, k: int | None) -> None:
    """Raise a `MeasureError` where the number of cold items among the first k depends on the order of ties."""
    if k is not None:
        raise MeasureError(
            f"the mean of '{name}(cold='skip')' over all orders of tied items is not known. Leave cold out, or choose "
            "another order of ties."
        )


@measure(
    "Novelty",
    bounds=(0, math.inf),
    source="Castells et al. 2015, https://doi.org/10.1007/978-1-4899-7637-6_26; RecTools, "
    "https://github.com/MobileTeleSystems/RecTools",
    also={"RecTools": "MeanInvUserFreq"},
    parameters={
        **_cold("one", "skip", "'one' takes them for those of one user, 'skip' leaves them out of the list"),
        "base": Option(
            2,
            Value("2 or 'users'", lambda base: isinstance(base, int | str) and base in (2, "users")),
            "The base of the logarithm: 2 for bits, or 'users', their number, so that 1 is the most.",
        ),
        "denominator": Option(
            "min(k,n)",
            one_of("min(k,n)", "k"),
            "The divisor: the length of the list after the cutoff, or the cutoff however short the list is.",
        ),
    },
    expected=_novelty_under_ties,
)
def novelty(*, k: int | None = None, cold: str = "one", base: int | str = 2, denominator: str = "min(k,n)") -> pl.Expr:
    """Novelty: the mean information of the items of a list, of which fewer users had the more novel.

    ::

        Novelty@k = sum(-log2(users of the item / users of the history)) / n, over the first k items

    It needs `history=`. n is the number of these items; null without a list. Without judgments the rows are all users
    of the run, with judgments theirs, so that means differ: on one log 2.438 for all, 2.458 for those with test items.

    Examples
    --------
    >>> run, history = {"u1": ["d", "b"]}, {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
    >>> ir.evaluate(run, "Novelty@2", history=history).row(0)
    ('u1', 1.5)
    """
    return _novelty(k, cold, base, denominator)


def _popularity_under_ties(k: int | None, cold: str) -> pl.Expr:
    if cold == "skip":
        _refuse_skipping("Popularity", k)
        return _mean(users, k, warm)
    return _expected(users, k)


@measure(
    "Popularity",
    bounds=(0, math.inf),
    best=0,
    source="RecTools, https://github.com/MobileTeleSystems/RecTools",
    parameters=_cold("zero", "skip", "'zero' counts them with no users, 'skip' leaves them out of the list"),
    expected=_popularity_under_ties,
)
def popularity(*, k: int | None = None, cold: str = "zero") -> pl.Expr:
    """Popularity: the mean number of users of the items of a list.

    ::

        Popularity@k = sum(users of the item) / n, over the first k items

    It needs `history=`, of which a pair of user and item counts once. n is the number of these items; null without a
    list. 0 is called the best value, as popularity is a bias; a list of popular items may well be liked.

    Examples
    --------
    >>> run, history = {"u1": ["d", "b"]}, {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
    >>> ir.evaluate(run, "Popularity@2", history=history).row(0)
    ('u1', 1.5)
    """
    return _mean(users, k, listed if cold == "zero" else warm)


@measure(
    "Seen",
    best=0,
    source="RePlay (Novelty, its complement), https://github.com/sb-ai-lab/RePlay",
    expected=lambda k: _expected(pl.col(SEEN), k),
)
def seen(*, k: int | None = None) -> pl.Expr:
    """Seen: the share of the items of a list that this very user had before.

    ::

        Seen@k = (items among the first k that are in the history of this user) / n

    It needs `history=`. n is the number of these items; null without a list. 0 is called the best value: where items
    are consumed again, a high one may be right.

    Examples
    --------
    >>> run, history = {"u1": ["d", "b"]}, {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
    >>> ir.evaluate(run, "Seen@2", history=history).row(0)
    ('u1', 0.5)
    """
    return _mean(pl.col(SEEN), k, listed)


def _is_tail(head: float, cold: str) -> pl.Expr:
    """True for an item of the tail, compared in whole numbers: 0.8 of 10 pairs are 8."""
    share = Fraction(repr(float(head))).limit_denominator(10**6)
    in_tail = pl.col(PAIRS_ABOVE) * share.denominator >= pl.col(ALL_PAIRS) * share.numerator
    return pl.when(warm).then(in_tail).otherwise(cold == "tail")


@measure(
    "Tail",
    source="Abdollahpouri et al. 2019 (APLT), https://arxiv.org/abs/1901.07555",
    parameters={
        "head": Option(0.8, chance(), "The share of the history's pairs that the most popular items, the head, have."),
        **_cold("tail", "neither", "'tail' counts them, 'neither' only in the length of the list"),
    },
    expected=lambda k, head, cold: _expected(_is_tail(head, cold), k),
)
def tail(*, k: int | None = None, head: float = 0.8, cold: str = "tail") -> pl.Expr:
    """Tail: the share of the items of a list that are outside the head, the most popular items.

    ::

        Tail@k = (items among the first k that are not in the head) / n

    The head are the items with the most users down to the one with which they have `head` of the pairs of user and item
    in the history; of equally popular ones the first by id, compared as text. It needs `history=`. n is the number of
    these items; null without a list.

    Examples
    --------
    >>> run, history = {"u1": ["d", "b"]}, {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
    >>> ir.evaluate(run, "Tail@2", history=history).row(0)
    ('u1', 0.5)
    """
    return _mean(_is_tail(head, cold), k, listed)


@measure(
    "ILD",
    bounds=(0, 2),
    source="Ziegler et al. 2005, https://doi.org/10.1145/1060745.1060754",
    parameters={
        "of": Option(
            "category",
            Value("the name of a column of items", lambda of: isinstance(of, str) and of != ""),
            "The column of the items that they are compared by: a category, a list of categories, or a vector.",
        )
    },
)
def intra_list_diversity(*, of: str = "category", k: int | None = None) -> pl.Expr:
    """Intra-list diversity: 1 less the mean similarity of two items of a list.

    ::

        ILD@k = 1 - mean(cosine(i, j)), over all pairs i, j of the first k items

    It needs `items=`, a frame with a row per item. `of` names a column of it: a category (cosine 1 for the same, else
    0), a list of categories (shared ones / root of the product of their numbers), or a vector: a list of floats, or an
    Array of numbers, of any length but 0. Items without it are left out, with a warning. Null where fewer than two
    items are left.

    Examples
    --------
    >>> items = pl.DataFrame({"item_id": ["a", "b", "c"], "genre": [["x"], ["x"], ["x", "y"]]})
    >>> run = pl.DataFrame({"user_id": "u1", "item_id": ["a", "b", "c"], "rank": [1, 2, 3]})
    >>> round(run.ir.evaluate("ILD(of='genre')@3", items=items)["ILD(of='genre')@3"].item(), 4)
    0.1953
    """
    return pl.when(listed.any()).then(1.0 - likeness(of, k))


@measure(
    "Serendipity",
    source="RecTools, https://github.com/MobileTeleSystems/RecTools",
    reads_nonrelevant=False,
    also={"RecTools": "Serendipity"},
)
def serendipity(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Serendipity: how much higher relevant items stand in a list than their popularity would place them.

    ::

        Serendipity@k = sum(max(P_list - P_popular, 0), over the relevant of the first k items) / n
        P_list = (m + 1 - rank) / m,  P_popular = (m + 1 - place by number of users) / m

    m is the number of items of the catalogue, those of `items=` or else of the history; equally popular items share a
    place, without gaps, and P_popular of an item that nobody had is 0. It needs `history=`, and judgments. n is the
    length of the list after the cutoff; null without a list.

    Examples
    --------
    >>> run, history = {"u1": ["d", "b"]}, {"u1": ["a", "b"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
    >>> round(ir.evaluate(run, {"u1": ["d"]}, "Serendipity@2", history=history)["Serendipity@2"].item(), 4)
    0.3333
    """
    higher = (pl.col(POPULARITY) - rank.cast(pl.Int64)).clip(0)
    found = pl.when(relevant(rel) & top(k)).then(higher).sum()
    return ratio(found, shown(k) * pl.col(SIZE).max())
