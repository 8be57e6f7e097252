"""CSV and TSV: tables with a header, of any columns.

Conventions: every column is text but those that must be numbers. In a run these are the columns with a name of a score
(Float64) and `rank` (Int64, null where it is no integer); in qrels those with a name of a grade, or of a score where
there is none (Int64, or Float64 where a grade is written as a fraction). Names are recognised as everywhere, see
`columns.ROLES`. A run without scores is ranked by `rank`, so there the ranks must be integers.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from polars_ir.files.checked import Checked
from polars_ir.files.delimited import checked, named, number, table
from polars_ir.files.lines import not_a_grade, not_a_score, whole_grades
from polars_ir.files.locations import File
from polars_ir.files.quotes import dialect_of
from polars_ir.files.record import Format, Role, Rows, Writer
from polars_ir.files.writing import AS_IT_IS

SEPARATORS = {"csv": ",", "tsv": "\t"}


def run(path: File, score: type[pl.DataType], separator: str) -> Checked:
    """A run as a table."""
    dialect = dialect_of(path, separator)
    rows, columns = table(path, dialect, "query_id", "doc_id", "score")
    scores, ranks = named(columns, "score"), named(columns, "rank")
    dtypes: dict[str, type[pl.DataType]] = dict.fromkeys(ranks, pl.Int64) | dict.fromkeys(scores, score)
    wrong = {name: not_a_score(number(name, dtypes[name])) for name in scores or ranks}
    return checked(path, dialect, rows, dtypes, wrong, columns, "scores that are numbers")


def qrels(path: File, grade: type[pl.DataType], separator: str) -> Checked:
    """Judgments as a table; an empty grade is null."""
    dialect = dialect_of(path, separator)
    rows, columns = table(path, dialect, "query_id", "doc_id", "relevance")
    grades = named(columns, "relevance") or named(columns, "score")
    wrong = {name: pl.col(name).is_not_null() & not_a_grade(number(name, grade), grade) for name in grades}
    return checked(path, dialect, rows, dict.fromkeys(grades, grade), wrong, columns, "grades" + whole_grades(grade))


def _is_header(line: str, _role: Role, separator: str) -> bool:
    """Whether the first line of a file names columns: one of queries and one of documents."""
    fields = line.split(separator)
    return bool(named(fields, "query_id") and named(fields, "doc_id"))


def _format(name: str, *, told_by_extension: bool) -> Format:
    separator = SEPARATORS[name]
    run_table, qrels_table = "query_id,doc_id,score\nq1,d3,14.5\n", "query_id,doc_id,relevance\nq1,d1,2\n"
    return Format(
        name,
        {"run": "a table with a header", "qrels": "a table with a header"},
        Rows({"run": partial(run, separator=separator), "qrels": partial(qrels, separator=separator)}),
        Writer(AS_IT_IS, partial(pl.LazyFrame.sink_csv, separator=separator), table=True),
        {"run": run_table.replace(",", separator), "qrels": qrels_table.replace(",", separator)},
        extensions=(f".{name}",),
        told_by_extension=told_by_extension,
        told_by_line=partial(_is_header, separator=separator),
    )


CSV = _format("csv", told_by_extension=True)
# TREC's files end in .tsv as well.
TSV = _format("tsv", told_by_extension=False)
