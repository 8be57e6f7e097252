"""The errors of the package, one exception for each kind of problem, and its warnings.

Conventions: a message says what was wanted, what came and what to do, in that order, and shows the first offending rows
or names. Every kind is an `IRError`, and an `IRError` is a `ValueError`. Messages of several callers are built here,
those of one where they are raised.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors.caller import Code, Fix, caller, option
from polars_ir.errors.names import LONGEST_PATH, closest, nearest, quoted, shown

#: Most offending rows or ids that a message shows.
SHOWN = 5


class Message(BaseException):
    """The message of an error or a warning, as data; its text is worded for the interface of the call."""

    def __init__(
        self,
        says: str,
        *,
        about: str = "",
        near: str = "",
        fix: Fix | str | None = None,
        examples: pl.DataFrame | str | None = None,
    ) -> None:
        self.says, self.about, self.near, self.examples = shown(says), about, near, examples
        super().__init__(self.says)
        self.fix = Fix(fix.removesuffix(".")) if isinstance(fix, str) else fix
        self.caller = caller()

    def fit(self, options: Collection[str], arguments: Mapping[str, object]) -> None:
        """Take the advice for a call with these options and arguments; dicts and lists have no methods of frames."""
        if self.fix and self.fix.without_by and "by" not in options:
            self.fix = self.fix.without_by
        if self.fix and isinstance(self.fix.code, Code):
            table = re.split(r"[.\[]", self.fix.code.polars, maxsplit=1)[0]
            of = arguments.get(self.caller.name(table))
            if isinstance(of, (Mapping, list, tuple)) and "." in self.fix.code.polars:
                self.fix = Fix(self.fix.words)

    def call(self, table: str, name: str) -> None:
        """Give a table another name."""
        self.caller = self.caller._replace(names={**self.caller.names, table: name})

    def __str__(self) -> str:
        """The message: the problem, the names that may have been meant, the advice, and the first rows."""
        parts = [f"{self.caller.name(self.about)} {self.says}" if self.about else self.says]
        if self.near:
            parts.append(self.near.strip())
        if self.fix and (advice := self.caller.advice(self.fix)):
            parts.append(advice)
        text = shown(" ".join(parts))
        if isinstance(self.examples, str):
            text = f"{text}\n    {self.examples!r}"
        elif self.examples is not None:
            text = f"{text} The first:\n{_drawn(self.examples)}"
        return shown(text)


class IRError(Message, ValueError):
    """Something in the input or the call cannot be evaluated; the message says what, where and what to do.

    Attributes
    ----------
    about
        The parameter or the table that it is about, if any.
    says
        The problem.
    near
        The names that may have been meant.
    fix
        The advice.
    examples
        The first offending rows, or the line of a file.
    """


class IRWarning(Message, UserWarning):
    """The call has a result, but probably an unintended one."""


class InputTypeError(IRError):
    """A value is not a table of the kind a function takes."""

    @classmethod
    def not_a_table(cls, role: str, value: object) -> InputTypeError:
        got = f"{type(value).__name__}: {value!r:.80}"
        fix = None
        if isinstance(value, str):
            fix = Fix("Write ids in a list", Code(f"[{value!r:.80}]"))
        elif role == "items" and isinstance(value, Collection) and not isinstance(value, Mapping):
            frames = (f"{library}.DataFrame({{'item_id': list(items)}})" for library in ("pl", "pd"))
            fix = Fix("Make them a column", Code(*frames))
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], (str, int)):
            fix = Fix("Name the query", Code(f"{{'q1': {role}}}"))
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
            fix = Fix("If it has a list for each query, number them", Code(f"dict(enumerate({role}))"))
        return cls(f"must be a table (Polars, pandas, Arrow) or nested dicts; got {got}.", about=role, fix=fix)

    @classmethod
    def mixed(cls, table: str, values: str, error: Exception) -> InputTypeError:
        return cls(f"mixes types of {values}: {str(error).splitlines()[0]}", about=table)

    @classmethod
    def no_text(cls, table: str, error: UnicodeEncodeError) -> InputTypeError:
        return cls(f"has a name that is not text, {error.object!r:.80}: it has an unpaired surrogate.", about=table)

    @classmethod
    def lazy(cls, what: str, instead: str | None = None) -> InputTypeError:
        """The error for a figure that reads the values of a LazyFrame; `instead` is one that does not."""
        words = f"Collect it first, or take {instead}" if instead else "Collect it first"
        fix, got = Fix(words, Code.collecting("per_query")), "Spark frame" if caller().kind == "spark" else "LazyFrame"
        return cls(f"{what} reads the values of all queries; got a {got}.", fix=fix)

    @classmethod
    def several_tables(cls, role: str, names: Sequence[object]) -> InputTypeError:
        words = "A run can be a dict of systems where qrels are given; put other tables together first"
        fix = Fix(words, Code("pl.concat([...])", "pd.concat([...])"))
        return cls(f"must be one table here; got a dict of several: {quoted(names)}.", about=role, fix=fix)


class ColumnError(IRError):
    """A required column is missing, or two columns could be it."""

    @classmethod
    def missing(
        cls, table: str, role: str, accepted: Sequence[str], columns: Sequence[str], meant: Sequence[str] | None = None
    ) -> ColumnError:
        """`meant` are the columns that could play the role, those that play no other."""
        name = closest(accepted, columns if meant is None else meant)
        fix = Fix("Rename the one that is meant", Code.renaming(table, {name: role})) if name else Fix("Give it one")
        known = f"(recognised names: {', '.join(accepted)})"
        return cls(f"has no {role!r} column {known}; it has {quoted(columns)}.", about=table, fix=fix)

    @classmethod
    def no_per(cls, per: str, accepted: Sequence[str], columns: Sequence[str]) -> ColumnError:
        known = f" (recognised names: {', '.join(accepted)})" if accepted else ""
        of_a_sample = per in ("stratum", "inclusion_probability")
        does = "say how they were sampled" if of_a_sample else "distinguish the judgments of one document"
        says = f"has no {per!r} column{known}, which would {does}; it has"
        fix = None
        if per == "subtopic":
            read = Code("ir.read_qrels('qrels.txt', format='subtopics')")
            without = f"If the file has it, read it like this: {option('qrels_format', 'subtopics')}"
            fix = Fix("If a file has it, read it like this", read, without_code=without)
        return cls(f"{says} {quoted(columns)}.", about="qrels", near=nearest(per, columns), fix=fix)

    @classmethod
    def not_per(cls, per: object, taken: Iterable[str]) -> ColumnError:
        return cls(
            f"a column of the qrels must distinguish the judgments of one document, beside {', '.join(taken)}; "
            f"got {per!r}."
        )

    @classmethod
    def ambiguous(cls, table: str, role: str, candidates: Sequence[str]) -> ColumnError:
        # The one with the intended name stays.
        dropped = next(name for name in reversed(candidates) if name != role)
        fix = Fix("Rename one, or drop it", Code.dropping(table, [dropped]), without_code="Keep one of them")
        return cls(f"has {len(candidates)} columns that could be {role!r}: {quoted(candidates)}.", about=table, fix=fix)

    @classmethod
    def one_system(cls, what: str, columns: Sequence[str], systems: Sequence[str] = ()) -> ColumnError:
        has = f"per_query has only {systems[0]!r}" if systems else f"per_query has no 'run', but {quoted(columns)}"
        fix = Fix(
            "Give a dict of per-query frames by system, or evaluate the runs together",
            Code("ir.evaluate({'a': run, 'b': other}, qrels, ['nDCG@10'])"),
            without_code="Give the files of several",
        )
        return cls(f"{what} needs several systems; {has}.", fix=fix)


class DtypeError(IRError):
    """A column's type does not fit its role, or the two sides' ids have different types."""

    @classmethod
    def of_column(cls, table: str, column: str, wanted: str, got: pl.DataType, fix: Fix | str) -> DtypeError:
        return cls(f"column {column!r} must be {wanted}; it is {got}.", about=table, fix=fix)

    @classmethod
    def different_ids(
        cls,
        one: str,
        dtype: pl.DataType,
        other: str,
        other_dtype: pl.DataType,
        *,
        table: str = "run",
        of: str = "qrels",
    ) -> DtypeError:
        """`one` is a column of a `table`, `other` that of another, `of` its name."""
        fix = Fix("Cast one", Code.casting(*((table, one) if dtype.is_integer() else (of, other)), pl.String))
        says = f"ids must have one type on both sides; {caller().name(table)} column {one!r} is {dtype} and "
        return cls(f"{says}{caller().name(of)} column {other!r} is {other_dtype}.", fix=fix)

    @classmethod
    def of_files(cls, column: str, got: str, first: str) -> DtypeError:
        """The error for a column of a scan that is of several types."""
        wanted = "String" if "String" in (got, first) else first
        cast = f"pl.scan_parquet(file).with_columns(pl.col({column!r}).cast(pl.{wanted}))"
        says = f"column {column!r} must be of one type in all files; it is {first} in the first and {got} in another."
        return cls(says, fix=Fix("Cast it in each", Code(f"pl.concat([{cast} for file in files])")))


class DataError(IRError):
    """Rows that cannot be evaluated: duplicates, null ids, scores or grades that are not numbers."""

    @classmethod
    def rows(cls, table: str, problem: str, fix: Fix | str, count: int, shown: pl.DataFrame) -> DataError:
        return cls(f"has {count} {'row' if count == 1 else 'rows'} {problem}.", about=table, fix=fix, examples=shown)


class MeasureError(IRError):
    """A measure's name or parameter is unknown, or its value impossible."""

    @classmethod
    def syntax(cls, text: str, problem: str) -> MeasureError:
        return cls(
            f"{text!r:.120} is not a measure name: {problem}. Write NAME, NAME@k or NAME(parameter=value)@k, as in "
            "'nDCG@10' or 'P(rel=2)@5'."
        )

    @classmethod
    def no_parameter(cls, measure: str, name: str, takes: Collection[str], text: str) -> MeasureError:
        fix = f"It takes {', '.join(takes) or 'none'}"
        return cls(f"{measure} has no parameter {name!r}; got {text!r}.", near=nearest(name, takes), fix=fix)

    @classmethod
    def not_a_measure(cls, value: object) -> MeasureError:
        name = getattr(value, "__name__", None)
        # Users have a function of ours below the name of the package, and one of their own as it is.
        path = f"ir.{name}" if str(getattr(value, "__module__", "")).startswith("polars_ir.") else name
        fix = Fix("Call it", Code(f"{path}()") if name else None) if callable(value) else None
        return cls(f"a measure is a name such as 'nDCG@10' or a Polars expression; got {value!r:.80}.", fix=fix)

    @classmethod
    def table(cls) -> MeasureError:
        return cls(
            "measures are names such as 'nDCG@10', Polars expressions, or names with cutoffs, {'nDCG': 10}; got a "
            "table. Give the qrels first, then the measures: evaluate(qrels, ['nDCG@10', 'AP'])."
        )

    @classmethod
    def twice(cls, name: str) -> MeasureError:
        fix = Fix(
            "Leave one out, or give it another name", Code(f".alias({f'my {name}'!r})"), without_code="Leave one out"
        )
        return cls(f"two measures are named {name!r}.", fix=fix)

    @classmethod
    def none_given(cls) -> MeasureError:
        return cls("must name at least one measure, as in ['nDCG@10', 'AP']; got none.", about="measures")

    @classmethod
    def parameter(cls, measure: str, name: str, wanted: str, got: object) -> MeasureError:
        if not isinstance(got, pl.Expr):
            return cls(f"{measure}: {name} must be {wanted}; got {got!r}.")
        fix = None
        if got.meta.is_column() and "number" not in wanted:
            fix = Fix("Write a text in quotes", Code(f"{name}={got.meta.output_name()!r}"))
        return cls(f"{measure}: {name} must be {wanted}; got the expression {got!s:.80}.", fix=fix)


class OptionError(IRError, TypeError):
    """An argument that a function does not take, or a value that an option does not have."""

    @classmethod
    def not_for_kind(cls, option: str, kind: str) -> OptionError:
        return cls(f"goes with measures of documents; these are of {kind}.", about=option)

    @classmethod
    def value(cls, option: str, got: object, choices: Sequence[object]) -> OptionError:
        near = nearest(got, [choice for choice in choices if isinstance(choice, str)]) if isinstance(got, str) else ""
        return cls(f"must be one of {', '.join(map(repr, choices))}; got {got!r}.", about=option, near=near)

    @classmethod
    def not_a_system(cls, about: str, name: str, systems: Sequence[str]) -> OptionError:
        says = f"names {name!r}, which is not one of the systems: {quoted(systems)}."
        return cls(says, about=about, near=nearest(name, systems))

    @classmethod
    def of_tables(cls, name: str) -> OptionError:
        return cls(f"{name}() makes an expression, and takes no tables: write run.ir.{name}(qrels).")


def check_systems(about: str, names: Iterable[object], systems: Sequence[str]) -> None:
    """Raise an `OptionError` for a name that an option has and that is not one of the systems."""
    for name in map(str, names):
        if name not in systems:
            raise OptionError.not_a_system(about, name, systems)


class FileError(IRError):
    """A file is wrong; the message names file, line and text."""

    @classmethod
    def at_line(cls, path: object, number: int, text: str, problem: str) -> FileError:
        line = text if len(text) <= 120 else text[:117] + "..."
        return cls(f"{called(path)}, line {number}: {problem}", examples=line)

    @classmethod
    def of_file(cls, path: object, problem: str, *, near: str = "", fix: Fix | None = None) -> FileError:
        return cls(f"{called(path)}: {problem}", near=near, fix=fix)

    @classmethod
    def empty(cls, path: object) -> FileError:
        return cls.of_file(path, "the file is empty: no line holds data.")


class ExtraError(IRError, ImportError):
    """An optional dependency is not installed."""

    @classmethod
    def missing(cls, what: str, extra: str) -> ExtraError:
        from polars_ir.version import requirement

        return cls(f"{what} needs an optional dependency: pip install {requirement(extra)}.")


def called(path: object) -> str:
    """The name of a file in a message."""
    return shown(caller().name(str(path)), LONGEST_PATH)


def warn(says: str, *, about: str = "", fix: Fix | None = None) -> None:
    """Issue an `IRWarning` that points at the line of the user's that called us."""
    frame, level = inspect.currentframe(), 1
    # Where an engine of Polars calls us in a thread of its own, no line of the user's does.
    while frame and frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == "polars_ir":
        frame, level = frame.f_back, level + 1
    warnings.warn(IRWarning(says, about=about, fix=fix), stacklevel=level)


def _drawn(frame: pl.DataFrame) -> str:
    """The first rows of a frame as plain text."""
    options: Mapping[str, Any] = {"tbl_hide_dataframe_shape": True, "tbl_hide_column_data_types": True}
    with pl.Config(tbl_formatting="ASCII_FULL_CONDENSED", **options):
        return str(frame.head(SHOWN))
