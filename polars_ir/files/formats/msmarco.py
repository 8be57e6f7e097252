"""MS MARCO's files: rankings without scores, and relevant passages without grades.

Conventions: a line of a run is `query_id doc_id rank`, or has a score as its fourth field; a line of judgments is
`query_id doc_id`, which means grade 1, or TREC's. Which of them it is, the first line says for all.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from polars_ir.files.finding.file import File
from polars_ir.files.formats import trec
from polars_ir.files.formats.record import Format, Rows, Writer
from polars_ir.files.rows.blanks import COUNT, Grade, Words, field, fields, first_line, not_a_score, rows_of
from polars_ir.files.rows.verdicts import Checked
from polars_ir.files.writing.checks import ranked, sink_fields
from polars_ir.frames.canonical_frame import CanonicalFrame

_RUN_FIELDS = {"query_id": 0, "doc_id": 1, "rank": 2, "score": 3}


def run(file: File, score: type[pl.DataType]) -> Checked:
    """A ranking, with scores or without."""
    count = 4 if _fields(file) == 4 else 3
    places = {name: place for name, place in _RUN_FIELDS.items() if place < count}
    layout = " ".join(places)
    not_a_number = pl.col("rank").is_null()
    if count == 4:
        not_a_number |= not_a_score(pl.col("score"))
    problem = (
        pl.when(pl.col(COUNT) != count)
        .then(pl.format(f"a line of this run has {count} fields ({layout}); this one has {{}}.", COUNT))
        .when(pl.col("rank").is_null())
        .then(pl.format("the rank (field 3) must be an integer; got '{}'.", field(2).str.head(80)))
        .otherwise(pl.format("the score (field 4) must be a number; got '{}'.", field(3).str.head(80)))
    )
    rows = rows_of(file, places, {"rank": pl.Int64, "score": score}, (pl.col(COUNT) != count) | not_a_number, problem)
    return Checked(file, rows, list(places), layout)


def qrels(file: File, grade: Grade) -> Checked:
    """The relevant passages, each of grade 1; or judgments as TREC has them."""
    if _fields(file) == 4:
        return trec.qrels(file, grade)
    layout, dtype = "query_id doc_id", pl.Int64 if isinstance(grade, Words) else grade
    bad = pl.col(COUNT) != 2
    problem = pl.format(
        f"a line of these qrels has 2 fields ({layout}), or 4 in all lines (TREC's); this one has {{}}.", COUNT
    )
    rows = rows_of(file, {"query_id": 0, "doc_id": 1}, {}, bad, problem).with_columns(relevance=pl.lit(1, dtype))
    return Checked(file, rows, ["query_id", "doc_id", "relevance"], layout)


def _fields(file: File) -> int:
    _, line = first_line(file)
    return len(fields(line))


def _run_lines(table: CanonicalFrame, tag: str) -> list[pl.LazyFrame]:
    return [part.select(list(_RUN_FIELDS)) for part in ranked(table, tag)]


MSMARCO = Format(
    "msmarco",
    {"run": "query_id doc_id rank, and perhaps a score", "qrels": "query_id doc_id, of grade 1, or TREC's fields"},
    Rows({"run": run, "qrels": qrels}),
    Writer({"run": _run_lines, "qrels": trec.qrels_lines}, partial(sink_fields, separator="\t")),
    {"run": "q1\td3\t1\nq1\td1\t2\n", "qrels": "q1\td1\nq1\td2\n"},
)
