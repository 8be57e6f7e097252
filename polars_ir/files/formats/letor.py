"""Judgments in training files of rankers: LETOR, and SVM-light with query ids.

Conventions: a line is `grade qid:query_id feature:value ... # docid = doc_id`, or `# doc_id title` as search teams
write it. The features are left out. All lines name their documents as the first one does; a first word that recurs in
a query names none, which is an error. Where the first line has no comment no line has, and a document is known by its
number in its query, from 1: the order of the file is what joins it to the predictions of a ranker.
"""

from __future__ import annotations

import re

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.finding.file import File
from polars_ir.files.formats.record import Format, Rows
from polars_ir.files.rows.blanks import (
    BLANKS,
    FIELD,
    TOO_LONG,
    Grade,
    field,
    first_line,
    no_grade,
    not_a_grade,
    rows_of,
    whole_grades,
)
from polars_ir.files.rows.verdicts import BAD, KEEP, PROBLEM, TEXT, Checked

#: The document in a line's comment: `docid = d`, `id: d`, `docid d`, or `d` first.
DOCUMENTS = (
    r"(?i)#.*?\bdoc_?(?:id|no)\s*[=:]\s*(\S+)",
    r"(?i)#.*?\b(?:document|doc|id)\s*[=:]\s*(\S+)",
    r"(?i)#\s*doc_?(?:id|no)\s+(\S+)",
    r"#\s*([^\s=:]+)(?:\s*$|\s+[^\s=:])",
)

#: A line's comment, after its fields.
COMMENT = r"#\s*(\S)"

_RECURS = "document recurs"


def qrels(file: File, grade: Grade) -> Checked:
    """The grades of the documents, their features left out."""
    number, line = first_line(file)
    pattern = next((pattern for pattern in DOCUMENTS if re.search(pattern, line)), None)
    has_documents = pattern is not None
    if pattern is None and re.search(COMMENT, line):
        unnamed = "the comment names no document; write # docid = doc_id, or leave the comments out."
        raise FileError.at_line(file, number, line, unnamed)
    document = pl.col(TEXT).str.extract(pattern or COMMENT)
    in_words = "document" if pattern in DOCUMENTS[1:] else "docid"
    query = field(1).str.extract("^qid:([^#]+)")
    has_query = query.is_not_null()
    has_grade = not_a_grade(pl.col("relevance"), grade).not_()
    problem = (
        pl.when(has_query.not_())
        .then(pl.lit("a line begins with a grade and qid:query_id."))
        .when(has_grade.not_())
        .then(no_grade(0, grade))
        .otherwise(
            pl.lit(f"the first line has {'a' if has_documents else 'no'} {in_words} in its comment; this one differs.")
        )
    )
    bad = (has_query & has_grade).not_() | (document.is_not_null() != has_documents)
    rows = rows_of(file, {"relevance": 0, "query_id": 1}, {"relevance": grade}, bad, problem).with_columns(
        field(0).str.starts_with("#").not_().fill_null(TOO_LONG).alias(KEEP)
    )
    # A comment must not count as a document of the query it happens to name.
    place = pl.int_range(1, pl.len() + 1).over("query_id").cast(pl.String)
    rows = rows.with_columns(pl.when(KEEP).then(query).alias("query_id")).with_columns(
        (document if has_documents else place).alias("doc_id")
    )
    if pattern == DOCUMENTS[-1]:
        rows = rows.with_columns(pl.col(KEEP).and_(pl.len().over("query_id", "doc_id") > 1).alias(_RECURS))
        says = "several lines of this query have comments that begin with '{}', so it is no document; {}"
        problem = pl.format(says, pl.col("doc_id").str.head(80), pl.lit("write # docid = doc_id."))
        rows = rows.with_columns(
            pl.col(BAD).or_(_RECURS), pl.when(BAD).then(PROBLEM).when(_RECURS).then(problem).alias(PROBLEM)
        )
    line_wanted = (
        "grade qid:query_id" + (" # docid = doc_id" if has_documents else ", without docid") + whole_grades(grade)
    )
    return Checked(file, rows, ["query_id", "doc_id", "relevance"], line_wanted)


LETOR = Format(
    "letor",
    {"qrels": "grade qid:query_id feature:value ... # docid = doc_id"},
    Rows({"qrels": qrels}),
    examples={"qrels": "2 qid:q1 1:0.5 2:3 # docid = d1\n0 qid:q1 1:0.25 2:1 # docid = d2\n"},
    is_first_line={"qrels": re.compile(rf"{FIELD}[{BLANKS}]+qid:").match},
)
