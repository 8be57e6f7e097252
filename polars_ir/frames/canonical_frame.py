"""Columns of a run, of qrels or of a per-query frame under canonical names. Inputs are never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import polars as pl

from polars_ir.errors import InputTypeError
from polars_ir.frames.kinds import Frame, collected, give_back
from polars_ir.frames.roles import KEYS
from polars_ir.frames.rules import (
    Rule,
    check_duplicates,
    checked,
    duplicates_of_a_plan,
    guard,
    wrong_row,
)
from polars_ir.frames.table_types import FrameT, Table


@dataclass(frozen=True)
class CanonicalFrame:
    """A run, qrels or a per-query frame (`about`), with the expressions that make its columns canonical.

    `sources` are frames that follow one another, each with its own expressions by canonical name. `select` builds a
    plan of just the columns that are needed: from one plan of all columns, shared by every pass over the run, the
    optimizer would keep the whole run in memory. `per` is the column that distinguishes several judgments of a
    document, if there are any. Without document ids (`numbered`) rows have numbers in their place, which are no order
    of documents.

    `by`: extra ranking keys, such as a date column. `keys`: all of them, the system where there are several and last
    the query; `document`: those of a row. `eager` is true of rows in memory, `rows` their number (0 for a LazyFrame),
    and `engine` collects a few of them: the rest of a LazyFrame must not be kept meanwhile. `columns` are the canonical
    ones, and the others under their own names. `source_names` has the names of system and query in results, by their
    roles, and `roles` is its inverse.
    """

    about: str
    sources: tuple[tuple[Frame, Mapping[str, pl.Expr]], ...]
    dtypes: Mapping[str, pl.DataType]
    names: Mapping[str, str]
    systems: tuple[str, ...] | None = None
    per: tuple[str, ...] = ()
    numbered: bool = False
    by: tuple[str, ...] = ()
    source_names: dict[str, str] = field(init=False)
    roles: dict[str, str] = field(init=False)
    eager: bool = field(init=False)
    engine: Literal["in-memory", "streaming"] = field(init=False)
    rows: int = field(init=False)
    keys: list[str] = field(init=False)
    document: list[str] = field(init=False)
    columns: list[str] = field(init=False)

    def __post_init__(self) -> None:
        eager, engine, rows = True, "in-memory", 0
        for frame, _ in self.sources:
            if not isinstance(frame, pl.DataFrame):
                eager, engine, rows = False, "streaming", 0
                break
            rows += frame.height
        roles = list(filter(self.dtypes.__contains__, KEYS))
        keys, own = [*self.by, *roles], list(map(self.names.get, roles, roles))
        vars(self).update(source_names=dict(zip(roles, own, strict=True)), roles=dict(zip(own, roles, strict=True)))
        vars(self).update(eager=eager, engine=engine, rows=rows)
        vars(self).update(keys=keys, document=[*keys, "doc_id"], columns=list(self.dtypes))

    @property
    def is_empty(self) -> bool:
        """True of a table in memory without rows."""
        return self.eager and not self.rows

    def select(self, *columns: str) -> pl.LazyFrame:
        """A plan for some of the columns, under their canonical names."""
        plans = []
        for frame, make in self.sources:
            plans.append(frame.lazy().select(*map(make.__getitem__, columns)))
        return plans[0] if len(plans) == 1 else pl.concat(plans)

    def column(self, name: str) -> pl.Series:
        """A column of a table in memory, under its canonical name."""
        frame, make = self.sources[0]
        if len(self.sources) == 1 and isinstance(frame, pl.DataFrame) and make[name].meta.is_column():
            return frame.get_column(make[name].meta.output_name())
        return self.select(name).collect(engine="in-memory").to_series()

    def first(self, name: str, count: int) -> pl.Series:
        """The first values of a column of a table in memory."""
        frame, make = self.sources[0]
        rows = frame.head(count)
        first = rows.select(make[name]) if isinstance(rows, pl.DataFrame) else rows.select(make[name]).collect()
        return first.to_series()

    def all_columns(self) -> pl.LazyFrame:
        """A plan for all of the columns."""
        return self.select(*self.columns)

    def with_frame(self, frame: Frame) -> CanonicalFrame:
        """The table with other rows, or other dtypes, of its canonical columns."""
        dtypes = frame.collect_schema()
        return replace(self, sources=((frame, {column: pl.col(column) for column in dtypes}),), dtypes=dtypes)

    def computed(self, plan: pl.LazyFrame, engine: Literal["in-memory", "streaming"] = "in-memory") -> Frame:
        """Rows made of the table: in memory where its own are, else their plan."""
        return plan.collect(engine=engine) if self.eager else plan

    def found(self, plan: pl.LazyFrame, engine: Literal["in-memory", "streaming"] = "in-memory") -> pl.DataFrame:
        """Rows made of the table, to check or to warn of at once: none of a LazyFrame, which is not read yet."""
        return plan.collect(engine=engine) if self.eager else pl.DataFrame(schema=plan.collect_schema())

    def check_in_memory(self, what: str) -> None:
        """Raise an `InputTypeError` for a plan, where `what`, a function, needs the rows."""
        if not self.eager:
            raise InputTypeError.lazy(what)

    def cast(self, role: str, dtype: pl.DataType) -> CanonicalFrame:
        """The table with a column of another dtype."""
        sources = tuple((frame, {**make, role: make[role].cast(dtype)}) for frame, make in self.sources)
        return replace(self, sources=sources, dtypes={**self.dtypes, role: dtype})

    def check_once(self, *keys: str, made: pl.DataFrame | None = None, hint: Callable[[], str] = str) -> None:
        """Raise a `DataError`, with a hint, for rows in memory, of the table or made of it, that have the same keys."""
        table = self if made is None else self.with_frame(made)
        if table.rows > 1 and may_repeat(table.select(*keys)):
            rows = table.all_columns().collect(engine="in-memory")
            check_duplicates(self.about, rows, keys, self.names, hint=hint())

    def may_hold(self, rows: pl.LazyFrame) -> bool:
        """True if there are such rows of the table, and always of a LazyFrame, which is not read yet."""
        return not self.eager or not rows.head(1).collect(engine="in-memory").is_empty()

    def may_repeat(self, *keys: str) -> bool:
        """True if rows, or their hashes, have the same keys, and always of a LazyFrame, which is not read yet."""
        return not self.eager or may_repeat(self.select(*keys))

    def holds_none(self, role: str) -> bool:
        """True of a table in memory without any id of a role."""
        return not self.may_hold(self.select(role).drop_nulls())

    @property
    def repeated(self) -> str:
        """Message of a plan that meets a document of a run twice."""
        return duplicates_of_a_plan(self.dtypes, [*self.names, *self.by])

    def guarded(self) -> CanonicalFrame:
        """A run or qrels whose rows, where they are a plan's, are searched for null ids, scores and grades."""
        return self.guarded_by(*wrong_row(self.about, self.by, *self.keys))

    def guarded_by(self, wrong: pl.Expr, says: str, key: str = "query_id") -> CanonicalFrame:
        """The table, whose plan fails where rows are wrong; those in memory were searched before."""
        return self if self.eager else self.with_frame(guard(self.all_columns(), wrong, says, key=key))

    def guarded_rows(
        self, rows: pl.LazyFrame, wrong: pl.Expr, says: str | Callable[[], str], key: str | None = "query_id"
    ) -> pl.LazyFrame:
        """Rows made of the table: a plan's fail where some are wrong; those in memory were searched before."""
        return rows if self.eager else guard(rows, wrong, says if isinstance(says, str) else says(), key=key)

    def checked(self, *rules: Rule, rows: pl.LazyFrame | None = None, names: Mapping[str, str] = {}) -> pl.LazyFrame:
        """Rows of the table, or made of it, none of which may be invalid by some rules.

        In memory a `DataError` shows those that are; a plan fails for one. `names` are the user's for columns of ours.
        """
        made = self.computed(self.all_columns() if rows is None else rows)
        # Items have no query.
        keys = self.keys or [*self.names]
        return checked(made, *rules, about=self.about, keys=keys, names={**self.names, **names}).lazy()

    def give_back(
        self, plan: pl.LazyFrame, like: Table[FrameT], engine: Literal["in-memory", "streaming"] = "in-memory"
    ) -> FrameT:
        """The result of a plan over the table in the kind of `like`; query and system have their names there."""
        plan = plan.rename(self.source_names, strict=False)
        return give_back(collected(plan, engine), like) if self.eager else cast("FrameT", plan)


def may_repeat(keys: pl.LazyFrame) -> bool:
    """True if some rows in memory are the same, or only their hashes are."""
    # Comparing hashes takes a third of the time of comparing keys.
    hashes = keys.collect(engine="in-memory").hash_rows()
    return hashes.n_unique() < len(hashes)
