"""The catalogue of a recommender: what its users had before, and the items there are, beside a run.

Conventions: a pair of user and item counts once, however often the history has it. The catalogue is the items that are
given or, without these, those of the history. Ids have the types of the run's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from polars_ir.errors import DtypeError
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.table import history_table, items_table

#: The number of users who had an item.
USERS = "polars_ir: users"


@dataclass(frozen=True)
class Catalogue:
    """A history and the items, as far as they are given; plans where these are."""

    history: CanonicalFrame | None
    items: CanonicalFrame | None

    @classmethod
    def of(cls, run: CanonicalFrame, history: object, items: object) -> Catalogue:
        """The tables of a call, with ids of the types that the run has; a `DtypeError` for ids that can never match."""
        past = None if history is None else _as_in(run, history_table(history))
        return cls(past, None if items is None else _as_in(run, items_table(items)))

    @cached_property
    def pairs(self) -> pl.LazyFrame:
        """The users and items of the history, each pair once."""
        if self.history is None:
            return pl.LazyFrame(schema={"query_id": pl.Null, "doc_id": pl.Null})
        return self.history.computed(self.history.select("query_id", "doc_id").unique(), "streaming").lazy()

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The items of the history with the number of their users, `USERS`."""
        if self.history is None:
            return pl.LazyFrame(schema={"doc_id": pl.Null, USERS: pl.Int64})
        # Half the time of counting distinct pairs, and less memory.
        n = pl.col("query_id").n_unique().cast(pl.Int64).alias(USERS)
        return self.history.computed(
            self.history.select("doc_id", "query_id").group_by("doc_id").agg(n), "streaming"
        ).lazy()

    @cached_property
    def ids(self) -> pl.LazyFrame:
        """The items of the catalogue: those given, else those of the history; each once."""
        if self.items is not None:
            return self.items.select("doc_id")
        if self.history is None:
            return self.users.select("doc_id")
        return self.history.computed(self.history.select("doc_id").unique(), "streaming").lazy()


def _as_in(run: CanonicalFrame, table: CanonicalFrame) -> CanonicalFrame:
    """The table with ids of the types that the run has; integers that do not fit become null, and so match nothing."""
    for role, name in table.names.items():
        own, others = run.dtypes[role], table.dtypes[role]
        if own == others:
            continue
        if own.is_integer() != others.is_integer() and not (run.holds_none(role) or table.holds_none(role)):
            raise DtypeError.different_ids(run.names[role], own, name, others, of=table.about)
        rows = table.all_columns().with_columns(pl.col(role).cast(own, strict=False))
        table = table.with_frame(table.computed(rows))
    return table
