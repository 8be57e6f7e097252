"""MS MARCO's files: rankings without scores, and relevant passages without grades.

Conventions: a line of a run is `query_id doc_id rank`, or has a score as its fourth field; a line of judgments is
`query_id doc_id`, which means grade 1, or TREC's. Which of them it is, the first line says for all.
"""

from __future__ import annotations

import polars as pl

from polars_ir.files import trec
from polars_ir.files.checked import Checked
from polars_ir.files.formats import fields, first_line
from polars_ir.files.locations import File
from polars_ir.files.trec import COUNT, field, rows_of

_RUN_FIELDS = {"query_id": 0, "doc_id": 1, "rank": 2, "score": 3}
_DTYPES: dict[str, type[pl.DataType]] = {"rank": pl.Int64, "score": pl.Float64}


def run(file: File) -> Checked:
    """A ranking, with scores or without."""
    count = 4 if _fields(file) == 4 else 3
    places = {name: place for name, place in _RUN_FIELDS.items() if place < count}
    layout = " ".join(places)
    not_a_number = pl.col("rank").is_null()
    if count == 4:
        not_a_number |= trec.not_a_score(pl.col("score"))
    problem = (
        pl.when(pl.col(COUNT) != count)
        .then(pl.format(f"a line of this run has {count} fields ({layout}); this one has {{}}.", COUNT))
        .when(pl.col("rank").is_null())
        .then(pl.format("the rank (field 3) must be an integer; got '{}'.", field(2).str.head(80)))
        .otherwise(pl.format("the score (field 4) must be a number; got '{}'.", field(3).str.head(80)))
    )
    rows = rows_of(file, places, _DTYPES, (pl.col(COUNT) != count) | not_a_number, problem)
    return Checked(file, rows, list(places), layout)


def qrels(file: File, grade: type[pl.DataType]) -> Checked:
    """The relevant passages, each of grade 1; or judgments as TREC has them."""
    if _fields(file) == 4:
        return trec.qrels(file, grade)
    layout = "query_id doc_id"
    bad = pl.col(COUNT) != 2
    problem = pl.format(
        f"a line of these qrels has 2 fields ({layout}), or 4 in all lines (TREC's); this one has {{}}.", COUNT
    )
    rows = rows_of(file, {"query_id": 0, "doc_id": 1}, {}, bad, problem).with_columns(relevance=pl.lit(1, grade))
    return Checked(file, rows, ["query_id", "doc_id", "relevance"], layout)


def _fields(file: File) -> int:
    _, line = first_line(file)
    return len(fields(line))
