"""The words of measures of lists: columns of items, by the history of users and the catalogue.

Conventions
    * The columns are made where a measure names them, of the tables that a call gives. Their names are written like
      calls, which no column of a user's is.
    * `place` is the place in the list, and 0 where no cutoff of the call shortens a list: none need be ranked.
    * An item is *cold* where nobody had it: its number of users is 0. A user counts once for an item.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_ir.language.parametrised import ParametrisedColumns

#: The place of an item in its list; what only measures of lists read.
PLACE = "list(place)"

#: The users of an item, and all users; the pairs of users and more popular items, and all pairs; the place of an item
#: by its number of users, which equal ones share; true where this user had it; the number of items in the catalogue.
USERS, ALL_USERS = "history(users_of_item)", "history(users)"
PAIRS_ABOVE, ALL_PAIRS = "history(pairs_above)", "history(pairs)"
POPULARITY = "history(popularity_rank)"
SEEN = "history(seen)"
SIZE = "catalogue(items)"

#: The columns that are made of the history.
OF_HISTORY = frozenset({USERS, ALL_USERS, PAIRS_ABOVE, ALL_PAIRS, POPULARITY, SEEN, SIZE})


class Likeness(NamedTuple):
    """The column of items that their similarity is of, and the cutoff."""

    of: str
    k: int | None


#: Columns of the mean similarity of the items of a list.
LIKENESS = ParametrisedColumns("likeness", Likeness)


def likeness(of: str, k: int | None) -> pl.Expr:
    """The mean cosine of pairs of items among the first k; null where there is no pair.

    >>> likeness("genre", 10).meta.root_names()
    ["likeness(of='genre', k=10)"]
    """
    return LIKENESS.column(Likeness(of, k)).max()


#: The number of an item's users.
users = pl.col(USERS)

#: The place of an item in its list.
place = pl.col(PLACE)


def added_up(values: pl.Expr) -> pl.Expr:
    """The sum of values of 0 or more, with the same bits in whatever order they come; nulls left out.

    They are added up as whole numbers of 2^-20, and the rest of each as one of 2^-52. A sum of sorted lists takes twice
    the memory.

    >>> pl.DataFrame({"v": [4.0, None, 0.1, 0.2]}).select(added_up(pl.col("v"))).item()
    4.3
    """
    scaled = values * 2.0**20
    whole = scaled.floor()
    rest = ((scaled - whole) * 2.0**32).round()
    return whole.cast(pl.Int64).sum() / 2.0**20 + rest.cast(pl.Int64).sum() / 2.0**52
