"""What can be wrong with an input, one exception a kind; each builds its own message.

Conventions: a message says what was wanted, what came and what to do, in that order, and shows the first offending
rows or names. Every kind is an `IRError`, and an `IRError` is a `ValueError`.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

import polars as pl

P = ParamSpec("P")
T = TypeVar("T")

#: How many offending rows or ids a message shows.
SHOWN = 5


class IRError(ValueError):
    """Something in the input or the call can not be evaluated; the message says what, where and what to do."""


class IRWarning(UserWarning):
    """The call has a result, but probably not the one that was meant."""


class InputTypeError(IRError):
    """A value is not a table of the kind a function takes."""

    @classmethod
    def not_a_table(cls, role: str, value: object) -> InputTypeError:
        return cls(
            f"{role} must be a table (Polars, pandas, Arrow) or nested dicts; "
            f"got {type(value).__name__}: {value!r:.80}."
        )

    @classmethod
    def path(cls, role: str, value: object) -> InputTypeError:
        readers = {"qrels": "ir.read_qrels", **dict.fromkeys(["per_query", "new", "old", "queries"], "pl.read_parquet")}
        read = f"{readers.get(role, 'ir.read_run')}({str(value)!r})"
        return cls(f"{role} must be a table; got the path {str(value)!r}. Read it first: {read}.")

    @classmethod
    def lazy(cls, what: str) -> InputTypeError:
        return cls(f"{what} reads the values of all queries; got a LazyFrame. Collect it first: per_query.collect().")

    @classmethod
    def several_tables(cls, role: str, names: Sequence[object]) -> InputTypeError:
        return cls(
            f"{role} must be one table here; got a dict of several: {_quoted(names)}. A run can be a dict of systems "
            "where qrels are given; put other tables together first: pl.concat([...])."
        )


class ColumnError(IRError):
    """A column that is needed is missing, or two columns could be it."""

    @classmethod
    def no_list(cls, name: str, columns: Sequence[str]) -> ColumnError:
        return cls(
            f"frame has no column {name!r}; it has {_quoted(columns)}. "
            "Say which they are: ir.from_lists(frame, query='...', retrieved='...', relevant='...')."
        )

    @classmethod
    def missing(cls, table: str, role: str, accepted: Sequence[str], columns: Sequence[str]) -> ColumnError:
        return cls(
            f"{table} has no {role!r} column (recognised names: {', '.join(accepted)}); "
            f"it has {_quoted(columns)}. Rename the one that is meant: {table}.rename({{'...': {role!r}}})."
        )

    @classmethod
    def no_per(cls, per: str, accepted: Sequence[str], columns: Sequence[str]) -> ColumnError:
        known = f" (recognised names: {', '.join(accepted)})" if accepted else ""
        return cls(
            f"qrels have no {per!r} column{known}, which tells apart the judgments of one document; they have "
            f"{_quoted(columns)}.{nearest(per, columns)}"
        )

    @classmethod
    def not_per(cls, per: object, taken: Iterable[str]) -> ColumnError:
        return cls(
            f"a column of the qrels must tell apart the judgments of one document, beside {', '.join(taken)}; "
            f"got {per!r}."
        )

    @classmethod
    def no_qrels_for(cls, per: str) -> ColumnError:
        return cls(f"judgments per {per!r} need qrels of their own: run.ir.evaluate(qrels, [...]); got none.")

    @classmethod
    def no_grades(cls, accepted: Sequence[str], columns: Sequence[str]) -> ColumnError:
        return cls(
            f"no qrels were given, and run has no column of grades (recognised names: {', '.join(accepted)}); it has "
            f"{_quoted(columns)}. Pass the qrels: run.ir.ndcg(qrels, k=10)."
        )

    @classmethod
    def ambiguous(cls, table: str, role: str, candidates: Sequence[str]) -> ColumnError:
        return cls(
            f"{table} has {len(candidates)} columns that could be {role!r}: {_quoted(candidates)}. "
            f"Keep one: {table}.drop({candidates[-1]!r}), or rename the other."
        )

    @classmethod
    def unknown(cls, measure: str, column: str, columns: Sequence[str]) -> ColumnError:
        return cls(
            f"measure {measure!r} reads the column {column!r}, which neither the judged relation nor the run has."
            f"{nearest(column, columns)} There are {_quoted(columns)}."
        )

    @classmethod
    def under_another_name(cls, measure: str, column: str, role: str) -> ColumnError:
        return cls(f"measure {measure!r} reads the column {column!r}; here it is called {role!r}: pl.col({role!r}).")

    @classmethod
    def on_both_sides(cls, measure: str, column: str) -> ColumnError:
        return cls(f"measure {measure!r} reads {column!r}, which run and qrels both have. Drop or rename one of them.")

    @classmethod
    def systems_in_a_system(cls, system: str, column: str) -> ColumnError:
        return cls(
            f"run {system!r} has a column {column!r}: it holds several systems itself. "
            f"Pass that frame alone, or drop the column: .drop({column!r})."
        )

    @classmethod
    def no_measure(cls, columns: Sequence[str]) -> ColumnError:
        return cls(f"per_query has no measure, which is a numeric or Boolean column; it has {_quoted(columns)}.")

    @classmethod
    def measure_not_there(cls, measure: object, measures: Sequence[str]) -> ColumnError:
        return cls(
            f"per_query has no measure {measure!r}.{nearest(str(measure), measures)} It has {_quoted(measures)}; "
            "evaluate makes others."
        )

    @classmethod
    def one_system(cls, what: str, columns: Sequence[str], systems: Sequence[str] = ()) -> ColumnError:
        there = f"per_query has only {systems[0]!r}" if systems else f"per_query has no 'run', but {_quoted(columns)}"
        return cls(
            f"{what} needs several systems; {there}. Evaluate them together, ir.evaluate({{'a': run, 'b': other}}, "
            "qrels, ...), or give a dict of per-query frames by system."
        )

    @classmethod
    def clash(cls, name: str) -> ColumnError:
        return cls(f"a measure is named {name!r}, like a key column of the result. Give it another: .alias('...').")


class DtypeError(IRError):
    """A column's type does not fit its role, or the two sides' ids have different types."""

    @classmethod
    def of_column(cls, table: str, column: str, wanted: str, got: pl.DataType, remedy: str) -> DtypeError:
        return cls(f"{table} column {column!r} must be {wanted}; it is {got}. {remedy}")

    @classmethod
    def different_ids(cls, run: str, run_dtype: pl.DataType, qrels: str, qrels_dtype: pl.DataType) -> DtypeError:
        table, column = ("run", run) if run_dtype.is_integer() else ("qrels", qrels)
        return cls(
            f"ids must have one type on both sides; run column {run!r} is {run_dtype} and qrels column {qrels!r} is "
            f"{qrels_dtype}. Cast one: {table}.with_columns(pl.col({column!r}).cast(pl.String))."
        )


class DataError(IRError):
    """Rows that can not be evaluated: duplicates, null ids, scores or grades that are not numbers."""

    @classmethod
    def rows(cls, table: str, problem: str, remedy: str, count: int, shown: pl.DataFrame) -> DataError:
        noun = "row" if count == 1 else "rows"
        return cls(f"{table} has {count} {noun} {problem}. {remedy} The first:\n{rows(shown)}")

    @classmethod
    def circular(cls, shown: pl.DataFrame) -> DataError:
        return cls(
            f"what a judge prefers must be an order; in qrels {shown.height} documents are preferred to themselves, by "
            f"way of others. Leave out what closes the circle, or give it to another judge. The first:\n{rows(shown)}"
        )


class MeasureError(IRError):
    """A measure's name or parameter is not one there is."""

    @classmethod
    def unknown(cls, text: str, name: str, names: Iterable[str]) -> MeasureError:
        return cls(f"no measure is called {text!r}.{nearest(name, names)} `ir.catalog()` lists them all.")

    @classmethod
    def syntax(cls, text: str, problem: str) -> MeasureError:
        return cls(
            f"{text!r:.120} is not a measure name: {problem}. Write NAME, NAME@k or NAME(parameter=value)@k, as in "
            "'nDCG@10' or 'P(rel=2)@5'."
        )

    @classmethod
    def several(cls, text: str, names: Sequence[str]) -> MeasureError:
        return cls(f"{text!r} stands for {len(names)} measures; name each: {_quoted(names)}.")

    @classmethod
    def mixed(cls, kinds: Mapping[Any, Sequence[str]]) -> MeasureError:
        each = "; ".join(f"{_quoted(names)} of {kind}" for kind, names in kinds.items())
        return cls(f"measures of one call must read one kind of judgments; got {each}. Evaluate each kind by itself.")

    @classmethod
    def unmapped(cls, name: str, lacking: Sequence[float], gains: object) -> MeasureError:
        return cls(
            f"measure {name!r} has no gain for the grades {', '.join(map(str, lacking))}, which the qrels hold; "
            f"its map is {gains!r}. Add them to it, 0 for a grade that is worth nothing."
        )

    @classmethod
    def no_weights(cls, name: str, weights: str, dtypes: Mapping[str, pl.DataType]) -> MeasureError:
        has = ", ".join(f"{column!r} ({dtype})" for column, dtype in dtypes.items()) or "no other column"
        return cls(
            f"measure {name!r}: weights must name a column of numbers in the qrels; got {weights!r}."
            f"{nearest(weights, dtypes)} Beside ids and grades they have {has}."
        )

    @classmethod
    def wrong_types(cls, name: str, columns: Mapping[str, pl.DataType], problem: str) -> MeasureError:
        read = ", ".join(f"{column} ({dtype})" for column, dtype in columns.items())
        return cls(f"measure {name!r} can not be computed from {read}: {problem.splitlines()[0]}")

    @classmethod
    def no_expectation(cls, name: str, known: Iterable[str]) -> MeasureError:
        return cls(
            f"the mean of {name!r} over all orders of tied documents is not known; ties='expected' goes with "
            f"{', '.join(known)}. For others that rise with the grades, ties='best' and ties='worst' enclose it."
        )

    @classmethod
    def not_a_measure(cls, value: object) -> MeasureError:
        hint = f" Call it: {getattr(value, '__name__', '...')}()." if callable(value) else ""
        return cls(f"a measure is a name such as 'nDCG@10' or a Polars expression; got {value!r:.80}.{hint}")

    @classmethod
    def nameless(cls, value: pl.Expr) -> MeasureError:
        return cls(f"the measure {value!s:.80} stands for several columns. Give it one name: .alias('...').")

    @classmethod
    def no_number(cls, name: str, option: str) -> MeasureError:
        return cls(f"the measure {name!r} is a text, and {option} makes means of numbers. Evaluate it in another call.")

    @classmethod
    def twice(cls, name: str) -> MeasureError:
        return cls(f"two measures are named {name!r}. Leave one out, or give it another name: .alias('...').")

    @classmethod
    def none_given(cls) -> MeasureError:
        return cls("measures must name at least one measure, as in ['nDCG@10', 'AP']; got none.")

    @classmethod
    def no_aggregation(cls, name: str) -> MeasureError:
        return cls(f"the measure {name!r} gives a list per query, not a value. Aggregate it: .min(), .sum(), .mean().")

    @classmethod
    def taken(cls, name: str, function: str) -> MeasureError:
        return cls(f"{name!r} ({function}) is part of this package. Give your measure another name.")

    @classmethod
    def parameter(cls, measure: str, name: str, wanted: str, got: object) -> MeasureError:
        if isinstance(got, pl.Expr):
            text = str(got)
            bare = got.meta.is_column()
            hint = f" A text stands in quotes: {name}={got.meta.output_name()!r}." if bare else ""
            return cls(f"{measure}: {name} must be {wanted}; got the expression {text:.80}.{hint}")
        return cls(f"{measure}: {name} must be {wanted}; got {got!r}.")


class OptionError(IRError, TypeError):
    """An argument that a function does not take, or a value that an option does not have."""

    @classmethod
    def misspelt(cls, function: str, problem: str, name: str, names: Sequence[str]) -> OptionError:
        hint = " Parameters are given by name." if "positional" in problem and "missing" not in problem else ""
        return cls(
            f"{function}(): {problem}.{hint}{nearest(name, names)} It takes {', '.join(names) or 'no argument'}."
        )

    @classmethod
    def not_for_kind(cls, option: str, kind: str) -> OptionError:
        return cls(f"{option} goes with measures of documents; these are of {kind}.")

    @classmethod
    def value(cls, option: str, got: object, choices: Sequence[object]) -> OptionError:
        near = nearest(got, [c for c in choices if isinstance(c, str)]) if isinstance(got, str) else ""
        return cls(f"{option} must be one of {', '.join(map(repr, choices))}; got {got!r}.{near}")


class FileError(IRError):
    """A file is not what it was said to be; the message names file, line and text."""

    @classmethod
    def at_line(cls, path: object, number: int, text: str, problem: str) -> FileError:
        shown = text if len(text) <= 120 else text[:117] + "..."
        return cls(f"{path}, line {number}: {problem}\n    {shown!r}")

    @classmethod
    def of_file(cls, path: object, problem: str) -> FileError:
        return cls(f"{path}: {problem}")

    @classmethod
    def empty(cls, path: object) -> FileError:
        return cls.of_file(path, "the file is empty: no line holds data.")

    @classmethod
    def missing(cls, path: object, name: str, names: Iterable[str]) -> FileError:
        return cls.of_file(path, f"there is no such file.{nearest(name, names)}")


class ExtraError(IRError, ImportError):
    """An optional dependency is not installed."""

    @classmethod
    def missing(cls, what: str, extra: str) -> ExtraError:
        return cls(f"{what} needs an optional dependency: pip install 'polars_ir[{extra}]'.")


def warn(message: str) -> None:
    """Issue an `IRWarning` that points at the line of the user's that called us."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "polars_ir":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, IRWarning, stacklevel=level)


def nearest(name: str, names: Iterable[str]) -> str:
    """` Did you mean ...?` with the names closest to `name`, or nothing."""
    by_fold = {n.casefold(): n for n in names}
    close = [by_fold[match] for match in difflib.get_close_matches(name.casefold(), by_fold, n=3, cutoff=0.6)]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def rows(frame: pl.DataFrame) -> str:
    """The first rows of a frame as plain text, for a message."""
    with pl.Config(
        tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_formatting="ASCII_FULL_CONDENSED"
    ):
        return str(frame.head(SHOWN))


def explain_options(function: Callable[P, T]) -> Callable[P, T]:
    """Turn a call with wrong arguments into an `OptionError` that names the nearest right ones."""
    signature = inspect.signature(function)
    names = list(signature.parameters)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            wrong = next((key for key in kwargs if key not in names), "")
            raise OptionError.misspelt(function.__name__, str(error), wrong, names) from None
        return function(*args, **kwargs)

    return call


def _quoted(names: Iterable[object]) -> str:
    return ", ".join(map(repr, names)) or "no columns"
