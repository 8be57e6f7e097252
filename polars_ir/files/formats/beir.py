"""BEIR's judgments: a tab-separated table of query, document and grade, with a header."""

from __future__ import annotations

from functools import partial

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.checked import Checked
from polars_ir.files.delimited import broken_id, checked, number, table
from polars_ir.files.lines import not_a_grade, whole_grades
from polars_ir.files.locations import File
from polars_ir.files.quotes import dialect_of
from polars_ir.files.record import Format, Role, Rows, Writer
from polars_ir.files.writing import check_judged_once, raise_if_any
from polars_ir.frames.table import Table

#: The columns of the header, and what they are read as.
_HEADER = {"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"}


def qrels(path: File, grade: type[pl.DataType]) -> Checked:
    """Judgments of BEIR; each row must have both ids and a grade."""
    dialect = dialect_of(path, "\t")
    rows, header = table(path, dialect, *_HEADER)
    if not _is_header("\t".join(header), "qrels"):
        raise FileError.at_line(path, 1, "\t".join(header), "BEIR qrels begin with query-id, corpus-id, score.")
    columns = list(_HEADER.values())
    rows = rows.rename(dict(zip(header, columns, strict=True)))
    wrong = {name: pl.col(name).is_null() | broken_id(name) for name in columns[:2]}
    wrong["relevance"] = not_a_grade(number("relevance", grade), grade)
    wanted = "query-id, corpus-id, score" + whole_grades(grade)
    return checked(path, dialect, rows, {"relevance": grade}, wrong, columns, wanted)


def _is_header(line: str, role: Role) -> bool:
    names = [field.casefold().replace("_", "-") for field in line.split("\t")]
    return role == "qrels" and names == list(_HEADER)


def _columns(table: Table, _tag: str) -> list[pl.LazyFrame]:
    rows = table.all_columns()
    check_judged_once(rows, ["query_id", "doc_id"])
    nothing = rows.select("query_id", "doc_id").filter(pl.col("doc_id").is_null())
    raise_if_any("qrels", nothing, "without a document", "Leave them out, or write a table (.parquet).", {})
    return [rows.select(pl.col(ours).alias(name) for name, ours in _HEADER.items())]


BEIR = Format(
    "beir",
    {"qrels": "a tab-separated table of query-id, corpus-id and score"},
    Rows({"qrels": qrels}),
    Writer({"qrels": _columns}, partial(pl.LazyFrame.sink_csv, separator="\t")),
    {"qrels": "query-id\tcorpus-id\tscore\nq1\td1\t2\n"},
    told_by_line=_is_header,
)
