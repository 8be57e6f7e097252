"""Texts whose fields stand between separators, under a header: CSV, TSV, and BEIR's judgments.

Conventions: every column is text, so that the id `007` stays what it is, until a format makes numbers of some. Quotes
(`"`) are those of CSV; blank lines, and rows of empty fields, are skipped.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.checked import BAD, KEEP, NUMBER, PROBLEM, SHOWN, TEXT, Checked
from polars_ir.files.lines import NUMERAL
from polars_ir.files.locations import File
from polars_ir.files.quotes import dialect_of
from polars_ir.files.unreadable import FAILURES, Dialect, unreadable
from polars_ir.frames.columns import find

#: What Polars calls a second column of a name.
_AGAIN = re.compile(r"(.*)_duplicated_\d+", re.DOTALL)

#: Names of columns that are expressions to Polars, or of what `Checked` adds.
_TAKEN = re.compile(r"\*|\^.*\$|polars_ir: .*", re.DOTALL)

#: What may separate columns where a file has another ending, or where commas are decimal points.
OTHERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}

_KINDS: dict[type[pl.DataType] | None, str] = {pl.Float64: "a number", pl.Int64: "an integer", None: "an id"}


def table(path: File, dialect: Dialect, *wanted: str) -> tuple[pl.LazyFrame, list[str]]:
    """Every column of the file as text, with number and text of the line, and the names in its header."""
    separator, quote = dialect
    fields: dict[str, Any] = {"separator": separator, "quote_char": quote}
    scan = pl.scan_csv(path, **fields, infer_schema=False, glob=False, raise_if_empty=False)
    try:
        # A header that is no UTF-8 Polars would read nevertheless, as other names.
        pl.scan_lines(path, glob=False).head(1).collect(engine="streaming")
        columns = scan.collect_schema().names()
    except FAILURES as error:
        raise unreadable(path, error, dialect) from None
    if not columns:
        raise FileError.empty(path)
    _check_header(path, separator, columns, separator.join(wanted))
    # So much of the text as is shown: every column adds a separator to it at least.
    text = pl.concat_str(pl.col(columns[:SHOWN]).fill_null(""), separator=separator)
    # A blank line is a row of nulls; the header is row 1.
    rows = scan.with_row_index(NUMBER, offset=2).with_columns(
        text.alias(TEXT), pl.any_horizontal(pl.col(columns).is_not_null()).alias(KEEP)
    )
    return rows, columns


def _check_header(path: File, separator: str, columns: list[str], wanted: str) -> None:
    """Raise a `FileError` for a header that is none, or that Polars reads in its own way."""
    problem = _problem_of_header(columns, wanted)
    if problem is not None:
        raise FileError.at_line(path, 1, separator.join(columns), problem)


def _problem_of_header(columns: list[str], wanted: str) -> str | None:
    for character, problem in {
        "\0": "a NUL byte; is this a binary file, or UTF-16?",
        "\r": "a carriage return inside the line; lines end in \\n or \\r\\n.",
    }.items():
        if any(character in name for name in columns):
            return problem
    if len(columns) == 1 and (others := [other for other in OTHERS if _names_ids(columns[0].split(other))]):
        return (
            f"this is one column; {OTHERS[others[0]]} seem to separate the names in it. Write the file with commas as "
            ".csv, or with tabs as .tsv."
        )
    # Names that nothing here knows can still be those of columns to rename.
    ids = _names_ids(columns)
    numbers = [name for name in columns if NUMERAL.fullmatch(name)]
    if numbers and not ids:
        return (
            f"this is no header: it names no ids, and {numbers[0]:.80} is a number. Put one first, such as {wanted!r}."
        )
    for name in columns:
        if _TAKEN.fullmatch(name):
            return f"no column can be called {name!r:.80} here; rename it."
        again = _AGAIN.fullmatch(name)
        if again and again[1] in columns:
            return f"two columns are called {again[1]!r:.80}; rename one of them."
    return None


def _names_ids(columns: list[str]) -> list[str]:
    """The names of a header that are those of ids."""
    return named(columns, "query_id") + named(columns, "doc_id")


def broken_id(name: str) -> pl.Expr:
    """Whether an id goes on into the next line, as behind a quote that opens and is not meant to."""
    return pl.col(name).str.contains("[\r\n\0]").fill_null(False)


def checked(
    path: File,
    dialect: Dialect,
    rows: pl.LazyFrame,
    dtypes: dict[str, type[pl.DataType]],
    wrong: dict[str, pl.Expr],
    columns: list[str],
    wanted: str,
) -> Checked:
    """The table with its number columns cast, wrong where any of the conditions on its columns is true."""
    ids = [name for role in ("query_id", "doc_id") for name in named(columns, role)]
    wrong = {**{name: broken_id(name) for name in ids if name not in wrong}, **wrong}
    problem = pl.lit(None, pl.String)
    for name, condition in wrong.items():
        message = pl.format(
            f"{{}} must be {_KINDS[dtypes.get(name)]}; got '{{}}'.",
            pl.lit(f"{name:.80}"),
            pl.col(name).fill_null("").str.head(80),
        )
        problem = pl.when(condition).then(message).otherwise(problem)
    judged = rows.with_columns(
        pl.any_horizontal(*wrong.values(), pl.lit(False)).alias(BAD), problem.alias(PROBLEM)
    ).with_columns(number(name, dtype) for name, dtype in dtypes.items())
    return Checked(path, judged, columns, wanted, dialect)


def read_table(file: File, separator: str) -> pl.DataFrame:
    """Any table in memory: ids of queries and systems as text, other columns as all of their values tell."""
    dialect = dialect_of(file, separator)
    read = partial(pl.read_csv, file, separator=separator, quote_char=dialect.quote)
    try:
        columns = read(n_rows=0).columns
        _check_header(file, separator, columns, separator.join(("query_id", "nDCG@10")))
        ids = [name for role in ("query_id", "run") if (name := find(str(file), role, columns))]
        return read(schema_overrides=dict.fromkeys(ids, pl.String), infer_schema_length=None)
    except pl.exceptions.NoDataError:
        raise FileError.empty(file) from None
    except FAILURES as error:
        raise unreadable(file, error, dialect) from None


def number(name: str, dtype: type[pl.DataType]) -> pl.Expr:
    """A column of text as numbers, null where it holds none."""
    return pl.col(name).cast(dtype, strict=False)


def named(columns: list[str], role: str) -> list[str]:
    """The columns whose name is one of a role's; of several it is the evaluation that asks which is meant."""
    return [column for column in columns if find("table", role, [column]) is not None]
