"""CSV and TSV tables with a header, and BEIR's judgments.

Conventions: every column is text, so that the id `007` stays what it is, except those that must be numbers. In a run
these are the columns with a name of a score (Float64) and `rank` (Int64, null where it is no integer); in qrels
those with a name of a grade, or of a score where there is none (Int64, or Float64 where a grade is written as a
fraction). Names are recognised as everywhere, see `schema.ROLES`. A run without scores is ranked by `rank`, so there
the ranks must be integers. Quotes (`"`) are those of CSV; blank lines, and rows of empty fields, are skipped.
"""

from __future__ import annotations

import re

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.checked import BAD, KEEP, NUMBER, PROBLEM, SHOWN, TEXT, Checked
from polars_ir.files.locations import File
from polars_ir.files.trec import not_a_grade, not_a_score, whole_grades
from polars_ir.files.unreadable import FAILURES, unreadable
from polars_ir.schema import find

#: What Polars calls a second column of a name.
_AGAIN = re.compile(r"(.*)_duplicated_\d+", re.DOTALL)

#: A score or a grade.
NUMERAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|[-+]?inf(inity)?", re.IGNORECASE | re.ASCII)

#: Names of columns that are expressions to Polars, or of what `Checked` adds.
_TAKEN = re.compile(r"\*|\^.*\$|polars_ir: .*", re.DOTALL)

SEPARATORS = {"csv": ",", "tsv": "\t", "beir": "\t"}

#: BEIR's header, and the columns it is read as.
BEIR = {"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"}

_KINDS: dict[type[pl.DataType] | None, str] = {pl.Float64: "a number", pl.Int64: "an integer", None: "an id"}


def is_header(fields: list[str]) -> bool:
    """Whether the first line of a file names columns: one of queries and one of documents."""
    return bool(_named(fields, "query_id") and _named(fields, "doc_id"))


def is_beir(fields: list[str]) -> bool:
    """Whether the first line of a file is BEIR's header."""
    return [field.casefold().replace("_", "-") for field in fields] == list(BEIR)


def run(path: File, separator: str) -> Checked:
    """A run as a table."""
    rows, columns = _table(path, separator, "query_id", "doc_id", "score")
    scores, ranks = _named(columns, "score"), _named(columns, "rank")
    dtypes: dict[str, type[pl.DataType]] = dict.fromkeys(ranks, pl.Int64) | dict.fromkeys(scores, pl.Float64)
    wrong = {name: not_a_score(_number(name, dtypes[name])) for name in scores or ranks}
    return _checked(path, separator, rows, dtypes, wrong, columns, "scores that are numbers")


def qrels(path: File, separator: str, grade: type[pl.DataType]) -> Checked:
    """Judgments as a table; an empty grade is null."""
    rows, columns = _table(path, separator, "query_id", "doc_id", "relevance")
    grades = _named(columns, "relevance") or _named(columns, "score")
    wrong = {name: pl.col(name).is_not_null() & not_a_grade(_number(name, grade), grade) for name in grades}
    return _checked(path, separator, rows, dict.fromkeys(grades, grade), wrong, columns, "grades" + whole_grades(grade))


def beir(path: File, separator: str, grade: type[pl.DataType]) -> Checked:
    """BEIR's judgments: a tab-separated table of query, document and grade, with a header."""
    rows, header = _table(path, separator, *BEIR)
    if not is_beir(header):
        raise FileError.at_line(path, 1, separator.join(header), "BEIR qrels begin with query-id, corpus-id, score.")
    rows, columns = rows.rename(dict(zip(header, BEIR.values(), strict=True))), list(BEIR.values())
    wrong = {name: pl.col(name).is_null() | _broken_id(name) for name in columns[:2]}
    wrong["relevance"] = not_a_grade(_number("relevance", grade), grade)
    wanted = "query-id, corpus-id, score" + whole_grades(grade)
    return _checked(path, separator, rows, {"relevance": grade}, wrong, columns, wanted)


def _table(path: File, separator: str, *wanted: str) -> tuple[pl.LazyFrame, list[str]]:
    """Every column of the file as text, with number and text of the line, and the names in its header."""
    scan = pl.scan_csv(path, separator=separator, infer_schema=False, glob=False, raise_if_empty=False)
    try:
        columns = scan.collect_schema().names()
    except FAILURES as error:
        raise unreadable(path, error) from None
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
    # Names that nothing here knows can still be those of columns to rename.
    ids = _named(columns, "query_id") + _named(columns, "doc_id")
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


def _broken_id(name: str) -> pl.Expr:
    """Whether an id goes on into the next line, as behind a quote that opens and is not meant to."""
    return pl.col(name).str.contains("[\r\n\0]").fill_null(False)


def _checked(
    path: File,
    separator: str,
    rows: pl.LazyFrame,
    dtypes: dict[str, type[pl.DataType]],
    wrong: dict[str, pl.Expr],
    columns: list[str],
    wanted: str,
) -> Checked:
    """The table with its number columns cast, wrong where any of the conditions on its columns is true."""
    ids = [name for role in ("query_id", "doc_id") for name in _named(columns, role)]
    wrong = {**{name: _broken_id(name) for name in ids if name not in wrong}, **wrong}
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
    ).with_columns(_number(name, dtype) for name, dtype in dtypes.items())
    return Checked(path, judged, columns, wanted, separator)


def _number(name: str, dtype: type[pl.DataType]) -> pl.Expr:
    return pl.col(name).cast(dtype, strict=False)


def _named(columns: list[str], role: str) -> list[str]:
    """The columns whose name is one of a role's; of several it is the evaluation that asks which is meant."""
    return [column for column in columns if find("table", role, [column]) is not None]
