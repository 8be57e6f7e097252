"""The doors a call comes in by, each with its own words for what is wrong: Polars, pandas, Spark, and the shell.

Conventions: an error holds data (which argument it is about, what is wrong with it, what to do, as code for each door).
The door that a call came by turns it into a sentence: a parameter is an option of the shell, a table is a file there,
and advice is code that the caller can paste, or words where no code can be typed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple

import polars as pl


class Code(NamedTuple):
    """Code to paste: for frames of Polars, and for those of pandas and Spark where that differs."""

    polars: str
    pandas: str | None = None
    spark: str | None = None


class Setting(NamedTuple):
    """An option with a value, as `ties='expected'`."""

    name: str
    value: object


class Fix(NamedTuple):
    """What to do: words, the code that does it, and what may be done instead.

    `without_code` has the words for where no code can be typed, if they are others.
    """

    words: str
    code: Code | Setting | None = None
    instead: str = ""
    without_code: str | None = None


class Door(NamedTuple):
    """A way into the package: what frames a caller there has, and what parameters and tables are called there."""

    kind: Literal["polars", "pandas", "spark", "shell"] = "polars"
    names: Mapping[str, str] = {}

    def name(self, argument: str) -> str:
        """What a parameter or a table is called."""
        return self.names.get(argument, argument)

    def setting(self, setting: Setting) -> str:
        """An option with its value, as it is typed."""
        if self.kind != "shell":
            return f"{setting.name}={setting.value!r}"
        option = self.name(setting.name)
        if setting.value is True:
            return option
        values = setting.value if isinstance(setting.value, list) else [setting.value]
        return " ".join(f"{option} {'none' if value is None else value}" for value in values)

    def advice(self, fix: Fix) -> str:
        """A sentence that says what to do."""
        if isinstance(fix.code, Setting) and (self.kind != "shell" or fix.code.name in self.names):
            return f"{fix.words}: {self.setting(fix.code)}{fix.instead}."
        if self.kind == "shell":
            words = fix.words if fix.without_code is None else fix.without_code
            return f"{words}." if words else ""
        code = self.code(fix)
        return f"{fix.words}{fix.instead}." if code is None else f"{fix.words}: {code}{fix.instead}."

    def code(self, fix: Fix) -> str | None:
        """The code of an advice, as it is typed here; None where there is none to type."""
        if not isinstance(fix.code, Code) or self.kind == "shell":
            return None
        of_frames = {"pandas": fix.code.pandas, "spark": fix.code.spark}.get(self.kind)
        return fix.code.polars if of_frames is None else of_frames


#: The door of the call that is under way.
_DOOR: ContextVar[Door] = ContextVar("polars_ir: door")


def door() -> Door:
    """The door that the call under way came by: of a program with Polars frames, unless something says otherwise."""
    return _DOOR.get(Door())


@contextmanager
def entered_by(entered: Door) -> Iterator[None]:
    """What goes wrong meanwhile is said in the words of a door."""
    token = _DOOR.set(entered)
    try:
        yield
    finally:
        _DOOR.reset(token)


@contextmanager
def known_as(**names: str) -> Iterator[None]:
    """Parameters and tables have other names meanwhile, at the same door."""
    known = door()
    with entered_by(known._replace(names={**known.names, **names})):
        yield


def option(name: str, *value: object) -> str:
    """A parameter as the caller types it, alone or with a value: `max_drop`, `--max-drop`, `bounds=True`."""
    return door().setting(Setting(name, *value)) if value else door().name(name)


def the(table: str) -> str:
    """A table in the middle of a sentence: `the run`, or the file that it is."""
    return door().names.get(table, f"the {table}")


def reading(role: Literal["run", "qrels"]) -> str:
    """What to do with a file that is of the other role than it was given as."""
    if door().kind == "shell":
        return {"run": "give it as a run", "qrels": "give it as judgments"}[role]
    return f"use read_{role}"


def renaming(table: str, columns: Mapping[str, str]) -> Code:
    """Code that renames columns."""
    return Code(
        f"{table}.rename({columns!r})",
        f"{table}.rename(columns={columns!r})",
        f"{table}.withColumnsRenamed({columns!r})",
    )


def dropping(table: str, columns: Sequence[str]) -> Code:
    """Code that leaves columns out."""
    listed = ", ".join(map(repr, columns))
    return Code(f"{table}.drop({listed})", f"{table}.drop(columns={list(columns)!r})")


def casting(table: str, column: str, dtype: type[pl.DataType]) -> Code:
    """Code that casts a column."""
    pandas, spark = {
        pl.String: ("str", "string"),
        pl.Int64: ("'Int64'", "bigint"),
        pl.Float64: ("'float64'", "double"),
    }[dtype]
    return Code(
        f"{table}.with_columns(pl.col({column!r}).cast(pl.{dtype.__name__}))",
        f"{table}.astype({{{column!r}: {pandas}}})",
        f"{table}.withColumn({column!r}, {table}[{column!r}].cast({spark!r}))",
    )


def deduplicating(table: str, columns: Sequence[str]) -> Code:
    """Code that keeps the first of the rows with the same values."""
    listed = list(columns)
    return Code(
        f"{table}.unique({listed!r}, keep='first')",
        f"{table}.drop_duplicates({listed!r})",
        f"{table}.dropDuplicates({listed!r})",
    )


def replacing(table: str, column: str, old: str, new: str) -> Code:
    """Code that replaces a part of texts."""
    return Code(
        f"{table}.with_columns(pl.col({column!r}).str.replace_all({old!r}, {new!r}, literal=True))",
        f"{table}.assign(**{{{column!r}: {table}[{column!r}].str.replace({old!r}, {new!r}, regex=False)}})",
    )


def only(table: str, column: str, value: object) -> Code:
    """Code that keeps the rows with one value of a column."""
    of_table = f"{table}[{column!r}] == {value!r}"
    return Code(
        f"{table}.filter(pl.col({column!r}) == {value!r})",
        f"{table}[{of_table}]",
        f"{table}.filter({of_table})",
    )


def without_nulls(table: str, column: str) -> Code:
    """Code that leaves out the rows in which a column is null."""
    pandas, spark = f"{table}[{column!r}].notna()", f"`{column}` IS NOT NULL"
    return keeping(table, f"pl.col({column!r}).is_not_null()", pandas, spark)


def collecting(table: str) -> Code:
    """Code that reads a LazyFrame into memory; only Polars has such."""
    return Code(f"{table}.collect()")


def keeping(table: str, polars: str, pandas: str, spark: str) -> Code:
    """Code that keeps the rows for which a condition holds, written for each library; for Spark in SQL."""
    return Code(f"{table}.filter({polars})", f"{table}[{pandas}]", f"{table}.filter({spark!r})")
