"""TREC runs and judgments, as they really are.

Conventions:

* Fields are separated by any number of blanks, which are C's: space, tab, vertical tab, form feed, and no others.
  Blanks at either end of a line, CRLF and a byte-order mark mean nothing. A blank line is skipped, and so is one that
  begins with `#`: a comment, as in trec_eval 10, so that no query id can begin with `#`.
* A run line has six fields, `query_id Q0 doc_id rank score tag`, and anything after them belongs to the tag.
  A qrels line has exactly four, `query_id iteration doc_id relevance`; what the second is depends on the track: a
  subtopic (ndeval), a judge (trec_eval's qrels_jg), or nothing. Preferences have a fifth, the group.
* One plan reads every layout, by splitting at blanks and leaving out the empty fields. `scan_csv` is faster, but takes
  a late tab-separated line for one long query id; `clean` uses it where that can not happen.
"""

from __future__ import annotations

import re

import polars as pl
from polars.expr.whenthen import ChainedThen

from polars_ir.files.checked import BAD, KEEP, NUMBER, PROBLEM, SHOWN, TEXT, Checked
from polars_ir.files.locations import File

#: The place in its line of each field that becomes a column.
RUN_FIELDS = {"query_id": 0, "doc_id": 2, "rank": 3, "score": 4}
QRELS_FIELDS = {
    "trec": {"query_id": 0, "doc_id": 2, "relevance": 3},
    "subtopics": {"query_id": 0, "subtopic": 1, "doc_id": 2, "relevance": 3},
    "judges": {"query_id": 0, "judge": 1, "doc_id": 2, "relevance": 3},
    "preferences": {"query_id": 0, "judge": 1, "group": 2, "doc_id": 3, "relevance": 4},
}
TAG = 5

#: What the lines of judgments hold, in words.
LAYOUTS = {format: " ".join(places) for format, places in QRELS_FIELDS.items()}
LAYOUTS["trec"] = "query_id iteration doc_id relevance"

#: What C's isspace takes for a blank, within a line.
BLANKS = " \t\v\f"
FIELD = re.compile(f"[^{BLANKS}]+")

#: A longer line, in bytes, is none of a run; to split it would take many times its size in memory.
LONGEST = 16 << 20
_LONG, _ANY = 64 << 10, 1 << 62

_FIELDS = "line fields"
COUNT = "line field count"
#: True where a line was too long to be split.
TOO_LONG = pl.col(COUNT).is_null()


def run(path: File) -> Checked:
    """A TREC run file."""
    problem = (
        pl.when(pl.col(COUNT) == 4, field(3).cast(pl.Int64, strict=False).is_not_null())
        .then(pl.lit("4 fields; this looks like qrels; use read_qrels, or format='msmarco'."))
        .when(pl.col(COUNT) < 6)
        .then(pl.format("a run line has 6 fields (query_id Q0 doc_id rank score tag); this one has {}.", COUNT))
        .otherwise(pl.format("the score (field 5) must be a number; got '{}'.", _shown(4)))
    )
    bad = (pl.col(COUNT) < 6) | not_a_score(pl.col("score"))
    rows = rows_of(path, RUN_FIELDS, {"rank": pl.Int64, "score": pl.Float64}, bad, problem)
    return Checked(path, rows, list(RUN_FIELDS), "query_id Q0 doc_id rank score tag")


def qrels(path: File, grade: type[pl.DataType], format: str = "trec") -> Checked:
    """A TREC qrels file, its grades read as `grade`."""
    places = QRELS_FIELDS[format]
    layout = LAYOUTS[format]
    count = places["relevance"] + 1
    problem = (
        pl.when(pl.col(COUNT) == count)
        .then(pl.format(f"the grade (field {count}) must be a number; got '{{}}'.", _shown(count - 1)))
        .when(pl.col(COUNT) >= 6)
        .then(pl.format("{} fields; this looks like a run; use read_run.", COUNT))
        .when(pl.col(COUNT) == 5)
        .then(pl.lit(f"5 fields, not {count} ({layout}); preferences are read with format='preferences'."))
        .when(pl.col(COUNT) == 3)
        .then(pl.lit(f"3 fields, not {count} ({layout}); BEIR's are read with format='beir'."))
        .otherwise(pl.format(f"a qrels line has {count} fields ({layout}); this one has {{}}.", COUNT))
    )
    bad = (pl.col(COUNT) != count) | not_a_grade(pl.col("relevance"), grade)
    rows = rows_of(path, places, {"relevance": grade}, bad, problem)
    return Checked(path, rows, list(places), layout + whole_grades(grade))


def tags(file: Checked) -> list[str]:
    """The tags in the lines of a run, each of them once."""
    of_lines: list[str] = file.rows.select(field(TAG)).unique().collect().to_series().to_list()
    return of_lines


def not_a_score(score: pl.Expr) -> pl.Expr:
    """True where a Float64 holds no score; the infinities are scores."""
    return score.is_null() | score.is_nan()


def not_a_grade(value: pl.Expr, grade: type[pl.DataType]) -> pl.Expr:
    """True where a value read as `grade` holds no grade."""
    return value.is_null() if grade is pl.Int64 else value.is_finite().not_().fill_null(True)


def whole_grades(grade: type[pl.DataType]) -> str:
    """What a lazy reader that saw no fraction in the first lines wants of the others."""
    return " with whole grades like the first lines (read_qrels takes fractions)" if grade is pl.Int64 else ""


def rows_of(
    path: File, places: dict[str, int], dtypes: dict[str, type[pl.DataType]], bad: pl.Expr, problem: pl.Expr
) -> pl.LazyFrame:
    """The file's lines as data columns, and what `Checked` wants beside them."""
    data = [field(place).cast(dtypes.get(name, pl.String), strict=False).alias(name) for name, place in places.items()]
    fields = _lines(path).select(*data, pl.col(_FIELDS).list.len().alias(COUNT), NUMBER, TEXT, _FIELDS)
    holds_data = (pl.col(COUNT) > 0) & pl.col("query_id").str.starts_with("#").not_()
    return fields.with_columns(
        (holds_data | TOO_LONG).alias(KEEP),
        (bad | TOO_LONG | pl.col(TEXT).str.contains("[\r\0]")).alias(BAD),
        _no_line_of_text().otherwise(problem).alias(PROBLEM),
    )


def _lines(path: File) -> pl.LazyFrame:
    """Number, text and list of fields of every line; of one that is too long the beginning, and no list."""
    # With globbing on, Polars would take a file named `x[1].run` for a pattern.
    lines = pl.scan_lines(path, name=TEXT, row_index_name=NUMBER, row_index_offset=1, glob=False)
    size = pl.col(TEXT).str.len_bytes()
    usual, long, too_long = (
        pl.when(size.is_between(low, high, closed="right")).then(pl.col(TEXT))
        for low, high in ((-1, _LONG), (_LONG, LONGEST), (LONGEST, _ANY))
    )
    # Megabytes of blanks are not to become millions of empty fields; to look for them in every line costs a fifth.
    text = pl.coalesce(usual, long.str.replace_all(f"[{BLANKS}]+", " ")).str.strip_prefix("\ufeff")
    pieces = text.str.replace_all("\t", " ", literal=True).str.replace_all("[\v\f]", " ").str.split(" ")
    return lines.with_columns(
        pl.coalesce(usual, long, too_long.str.head(SHOWN)),
        pieces.list.eval(pl.element().filter(pl.element() != "")).alias(_FIELDS),
    )


def field(place: int) -> pl.Expr:
    """The field at a place of the line; null where the line is shorter."""
    return pl.col(_FIELDS).list.get(place, null_on_oob=True)


def _shown(place: int) -> pl.Expr:
    """A field for a message, which no field of megabytes may fill."""
    return field(place).str.head(80)


def _no_line_of_text() -> ChainedThen:
    """The problem with what no line of text is; a lone carriage return would hide the lines after it."""
    return (
        pl.when(TOO_LONG)
        .then(pl.lit(f"the line has more than {LONGEST >> 20} MB; lines end in \\n."))
        .when(pl.col(TEXT).str.contains("\0", literal=True))
        .then(pl.lit("a NUL byte; is this a binary file?"))
        .when(pl.col(TEXT).str.contains("\r", literal=True))
        .then(pl.lit("a carriage return inside the line; lines end in \\n or \\r\\n."))
    )
