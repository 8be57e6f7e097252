"""The caller's interface, and the wording of a problem for it: Polars, pandas or Spark frames, or the command line.

Conventions: an error holds data (which argument it is about, what is wrong with it, what to do, as code for each
caller). The caller turns it into a sentence: a parameter is an option of the command line, a table is a file there, and
advice is code that the caller can paste, or words where no code can be typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Literal, NamedTuple

import polars as pl

#: Tables that advice has code for, which calls may know by other names.
TABLES = {"per_query", "qrels", "run"}


class Code(NamedTuple):
    """Code to paste: for frames of Polars, and for those of pandas and of Spark where that differs."""

    polars: str
    pandas: str | None = None
    spark: str | None = None

    @classmethod
    def renaming(cls, table: str, columns: Mapping[str, str]) -> Code:
        """Code that renames columns."""
        return cls(
            f"{table}.rename({columns!r})",
            f"{table}.rename(columns={columns!r})",
            f"{table}.withColumnsRenamed({columns!r})",
        )

    @classmethod
    def negating(cls, table: str, column: str, name: str, *, unsigned: bool = False) -> Code:
        """Code that gives the negative of a column a name; that of unsigned integers is none."""
        polars, pandas = (".cast(pl.Float64)", ".astype('float64')") if unsigned else ("", "")
        return cls(
            f"{table}.with_columns({name}=-pl.col({column!r}){polars})",
            f"{table}.assign({name}=-{table}[{column!r}]{pandas})",
            f"{table}.withColumn({name!r}, -{_of_spark(table, column)})",
        )

    def after_renaming(self, table: str, columns: Mapping[str, str]) -> Code:
        """The code for a table, followed by the renaming of other columns of it."""
        if not columns:
            return self
        renaming = (each.removeprefix(table) for each in Code.renaming(table, columns) if each)
        return Code(*(f"{code}{rename}" for code, rename in zip(self, renaming, strict=True) if code))

    @classmethod
    def dropping(cls, table: str, columns: Sequence[str]) -> Code:
        """Code that leaves columns out."""
        listed = ", ".join(map(repr, columns))
        return cls(f"{table}.drop({listed})", f"{table}.drop(columns={list(columns)!r})")

    @classmethod
    def casting(cls, table: str, column: str, dtype: type[pl.DataType], *, categorical: bool = False) -> Code:
        """Code that casts a column, which Polars does with categories by their texts alone."""
        pandas = {pl.String: "str", pl.Int64: "'Int64'", pl.Float64: "'float64'"}[dtype]
        spark = {pl.String: "string", pl.Int64: "bigint", pl.Float64: "double"}[dtype]
        texts = ".cast(pl.String)" if categorical else ""
        return cls(
            f"{table}.with_columns(pl.col({column!r}){texts}.cast(pl.{dtype.__name__}))",
            f"{table}.astype({{{column!r}: {pandas}}})",
            f"{table}.withColumn({column!r}, {_of_spark(table, column)}.cast({spark!r}))",
        )

    @classmethod
    def as_text(cls, table: str, column: str) -> Code:
        """Code that writes the objects of a column as text."""
        return cls(
            f"{table}.with_columns(pl.col({column!r}).map_elements(str, return_dtype=pl.String))",
            f"{table}.astype({{{column!r}: str}})",
        )

    @classmethod
    def deduplicating(cls, table: str, columns: list[str]) -> Code:
        """Code that keeps the first of the rows with the same values."""
        return cls(
            f"{table}.unique({columns!r}, keep='first')",
            f"{table}.drop_duplicates({columns!r})",
            f"{table}.dropDuplicates({columns!r})",
        )

    @classmethod
    def making(cls, table: str, column: str, polars: str, pandas: str) -> Code:
        """Code that makes another column of one by its methods."""
        return cls(
            f"{table}.with_columns(pl.col({column!r}).{polars})",
            f"{table}.assign(**{{{column!r}: {table}[{column!r}].{pandas}}})",
        )

    @classmethod
    def only(cls, table: str, column: str, value: object) -> Code:
        """Code that keeps the rows with one value of a column."""
        return cls(
            f"{table}.filter(pl.col({column!r}) == {value!r})",
            f"{table}[{table}[{column!r}] == {value!r}]",
            f"{table}.filter({_of_spark(table, column)} == {value!r})",
        )

    @classmethod
    def without_nulls(cls, table: str, column: str) -> Code:
        """Code that leaves out the rows in which a column is null."""
        return cls(
            f"{table}.filter(pl.col({column!r}).is_not_null())",
            f"{table}[{table}[{column!r}].notna()]",
            f"{table}.filter({_of_spark(table, column)}.isNotNull())",
        )

    @classmethod
    def collecting(cls, table: str) -> Code:
        """Code that reads a LazyFrame, or a frame of Spark, into memory."""
        return cls(f"{table}.collect()", spark=f"{table}.toArrow()")

    @classmethod
    def keeping(cls, table: str, polars: str, pandas: str) -> Code:
        """Code that keeps the rows for which a condition holds."""
        return cls(f"{table}.filter({polars})", f"{table}[{pandas}]")


def _of_spark(table: str, column: str) -> str:
    """A column of a Spark frame, in whose names a point is a field but in backquotes."""
    quoted = column if column.isidentifier() else f"`{column.replace('`', '``')}`"
    return f"{table}[{quoted!r}]"


class Setting(NamedTuple):
    """An option with a value, as `ties='expected'`."""

    name: str
    value: object


class Fix(NamedTuple):
    """An advice: words, and the code that does it; `without_code` has other words for where no code can be typed.

    `without_by` is the advice of a call that takes no `by`, the option that names keys of rankings.
    """

    words: str
    code: Code | Setting | None = None
    without_code: str | None = None
    without_by: Fix | None = None


class Caller(NamedTuple):
    """An interface: the kind of its frames, and its names of parameters and tables."""

    kind: Literal["polars", "pandas", "spark", "shell"] = "polars"
    names: Mapping[str, str] = {}

    def name(self, argument: str) -> str:
        """The name of a parameter or a table."""
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
            return f"{fix.words}: {self.setting(fix.code)}."
        if self.kind == "shell":
            words = fix.words if fix.without_code is None else fix.without_code
            return f"{words}." if words else ""
        code = self.code(fix)
        return f"{fix.words}." if code is None else f"{fix.words}: {code}."

    def code(self, fix: Fix) -> str | None:
        """The code of an advice, as typed here; None where no code can be typed."""
        if not isinstance(fix.code, Code) or self.kind == "shell":
            return None
        if fix.code.polars.startswith("frame.") and self.name("frame") != "frame":
            return None  # of a file
        own = {"pandas": fix.code.pandas, "spark": fix.code.spark}.get(self.kind)
        if own is None and self.kind == "spark" and re.search(r"\b(?:pl|ir)\.", fix.code.polars):
            return None  # a frame of Spark has none of these
        code = fix.code.polars if own is None else own
        if not code:
            return None
        for table in TABLES & self.names.keys():
            is_named = re.compile(rf"(?<![\w.'\"]){table}(?=[.\[)}}])")
            # Of `new or old` it is the code for one; the run of a system has no name.
            name, _, other = self.name(table).partition(" ")
            if other and not other.startswith("or ") and is_named.search(code):
                return None
            code = is_named.sub(name, code)
        return code


#: Interfaces with frames of other libraries, by the module of these.
FRAMES = {"pandas": Caller("pandas"), "pyspark": Caller("spark")}

#: The interface of the current call.
_CALLER: ContextVar[Caller] = ContextVar("polars_ir: caller")


def caller() -> Caller:
    """The interface of the current call: by default a program with Polars frames."""
    return _CALLER.get(Caller())


@contextmanager
def called_from(who: Caller) -> Iterator[None]:
    """Word errors and warnings for an interface meanwhile."""
    token = _CALLER.set(who)
    try:
        yield
    finally:
        _CALLER.reset(token)


def called_with(arguments: Iterable[object]) -> AbstractContextManager[None]:
    """Word errors for pandas or Spark where an argument holds such a frame."""
    found = FRAMES.keys() & set(map(_library, arguments))
    # Of a Spark frame with a pandas one it is that of Spark.
    return called_from(FRAMES[max(found)]) if found else nullcontext()


def _library(value: object) -> str:
    """The library of a frame, or of a dict of frames by system."""
    if isinstance(value, Mapping) and value:
        value = next(iter(value.values()))
    return type(value).__module__.partition(".")[0]


@contextmanager
def with_names(**names: str) -> Iterator[None]:
    """Call parameters and tables by other names meanwhile."""
    known = caller()
    with called_from(known._replace(names={**known.names, **names})):
        yield


def option(name: str, *value: object) -> str:
    """A parameter as the caller types it, alone or with a value: `max_drop`, `--max-drop`, `bounds=True`."""
    return caller().setting(Setting(name, *value)) if value else caller().name(name)


def table_name(table: str) -> str:
    """A table in the middle of a sentence: `the run`, or the file that it is."""
    return caller().names.get(table, f"the {table}")


def reading(role: Literal["run", "qrels"]) -> str:
    """The advice for a file that was passed in the role of the other table."""
    if caller().kind == "shell":
        as_run = "give it as a run; judgments come first, or by --qrels"
        return {"run": as_run, "qrels": "give it as judgments"}[role]
    return f"use read_{role}"
