"""TREC runs and judgments, as they really are.

Conventions: a run line has six fields, `query_id Q0 doc_id rank score tag`, and anything after them belongs to the tag.
A qrels line has exactly four, `query_id iteration doc_id relevance`; what the second is depends on the track: a
subtopic (ndeval), a judge (trec_eval's qrels_jg), or nothing. Preferences have a fifth, the group, and so have samples
the stratum (sample_eval) or the probability with which a document was drawn (prels). NTCIR leaves out the second, and
grades in words. What a field is, see `lines`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, FileError, option, reading, warn
from polars_ir.files.finding.file import CHUNK, UNPACKED, File, beginning
from polars_ir.files.formats.record import Format, Role, Rows, Writer
from polars_ir.files.rows.blanks import (
    BLANKS,
    COUNT,
    FIELD,
    NUMERAL,
    Grade,
    Words,
    field,
    fields,
    first_line,
    hint_of_column,
    last_line,
    no_grade,
    not_a_grade,
    not_a_score,
    rows_of,
    shown,
    whole_grades,
)
from polars_ir.files.rows.tags import pooled_tags, warn_of_systems
from polars_ir.files.rows.unreadable import FAILURES
from polars_ir.files.rows.verdicts import BAD, KEEP, LEFT_OUT, PROBLEM, Checked
from polars_ir.files.writing.checks import check_any, check_fields, check_judged_once, ranked, sink_fields
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.language.kinds import PROBABILITY

#: The place in its line of each field that becomes a column, and the number of fields.
RUN_FIELDS = {"query_id": 0, "doc_id": 2, "rank": 3, "score": 4}
TAG = 5

_QRELS = {"query_id": 0, "doc_id": 2, "relevance": 3}
_NTCIR = {"query_id": 0, "doc_id": 1, "relevance": 2}
_SUBTOPICS = {"query_id": 0, "subtopic": 1, "doc_id": 2, "relevance": 3}
_JUDGES = {"query_id": 0, "judge": 1, "doc_id": 2, "relevance": 3}
_PREFERENCES = {"query_id": 0, "judge": 1, "group": 2, "doc_id": 3, "relevance": 4}
_STRATA = {"query_id": 0, "doc_id": 2, "stratum": 3, "relevance": 4}
_PRELS = {"query_id": 0, "doc_id": 1, "relevance": 2, PROBABILITY: 4}

#: Fields that are no columns, by their places, with what is written there.
_BETWEEN = {1: ("iteration", "0"), 3: ("method", "1")}

#: The methods of prels by which documents were drawn, and those without a probability; the grade of none.
_DRAWN, _CHOSEN, _NO_GRADE = "1", ("0", "2"), -999


#: Start of a line, up to the score or grade.
_NUMBER = f"(?ai:{NUMERAL.pattern})"
LINES: dict[Role, str] = {
    "run": f"(?:{FIELD}[{BLANKS}]+){{4}}{_NUMBER}[{BLANKS}]+{FIELD}",
    "qrels": f"(?:{FIELD}[{BLANKS}]+){{3}}{_NUMBER}(?:[{BLANKS}]|$)",
}
_FOUR_FIELDS = re.compile(f"(?:{FIELD}[{BLANKS}]+){{3}}{FIELD}")


def run(path: File, score: type[pl.DataType]) -> Checked:
    """A TREC run file."""
    problem = (
        pl.when(pl.col(COUNT) == 4, _begins_with(path, 4), field(3).cast(pl.Int64, strict=False).is_not_null())
        .then(pl.lit(f"4 fields; this looks like qrels; {reading('qrels')}, or {option('format', 'msmarco')}."))
        .when(pl.col(COUNT) < 6)
        .then(pl.format("a run line has 6 fields (query_id Q0 doc_id rank score tag); this one has {}.", COUNT))
        .when(_blank_in_id())
        .then(
            pl.format(
                "{} fields, of which the fifth and the sixth, '{}' and '{}', could be rank and score. No id can hold a "
                "blank here, nor a tag of several words begin with a number then; change them, or write a table.",
                COUNT,
                shown(4),
                shown(5),
            )
        )
        .otherwise(pl.format("the score (field 5) must be a number; got '{}'.", shown(4)))
    )
    bad = (pl.col(COUNT) < 6) | not_a_score(pl.col("score")) | _blank_in_id()
    rows = rows_of(path, RUN_FIELDS, {"rank": pl.Int64, "score": score}, bad, problem)
    return Checked(path, rows, list(RUN_FIELDS), "query_id Q0 doc_id rank score tag")


def _begins_with(file: File, count: int) -> bool:
    """True for a file whose first line has this many fields, or more than TREC's: a later one may be cut short."""
    if isinstance(file, str):
        return True  # at a URL, where a look at the line is a request
    try:
        n_fields = len(fields(first_line(file)[1]))
    except FileError:
        return False  # the rows tell it
    return n_fields == count or (count == 6 and n_fields > count)


def _blank_in_id() -> pl.Expr:
    """True for a line whose fifth and sixth fields could be rank and score, behind an id of two words."""
    rank, score, next_one = (field(place).cast(pl.Float64, strict=False).is_not_null() for place in (3, 4, 5))
    no_rank = ~rank & (field(3) != "-")
    return (pl.col(COUNT) > 6) & score & next_one & (no_rank | field(4).cast(pl.Int64, strict=False).is_not_null())


def qrels(path: File, grade: Grade, places: dict[str, int] = _QRELS) -> Checked:
    """A TREC qrels file, its grades read as `grade`."""
    if isinstance(grade, Words) and places is _QRELS and _begins_with(path, 3):
        places = _NTCIR
    layout = _layout(places)
    count = max(places.values()) + 1
    hint = pl.lit("") if isinstance(grade, Words) else hint_of_column(shown(2))
    problem = (
        pl.when(pl.col(COUNT) == count)
        .then(no_grade(places["relevance"], grade))
        .when(pl.col(COUNT) >= 6, _begins_with(path, 6))
        .then(pl.format(f"{{}} fields; this looks like a run; {reading('run')}.", COUNT))
        .when(pl.col(COUNT) == 5, _begins_with(path, 5))
        .then(
            pl.concat_str(
                pl.lit(f"5 fields, not {count} ({layout}); "),
                _of_five_fields(*(option("format", name) for name in _OF_FIVE)),
            )
        )
        .when(pl.col(COUNT) == 3, _begins_with(path, 3))
        .then(
            pl.when(hint != "", field(2).str.to_lowercase() != "score")
            .then(pl.concat_str(pl.lit(f"3 fields, not {count} ({layout})."), hint))
            .otherwise(pl.lit(f"3 fields, not {count} ({layout}); BEIR's are read with {option('format', 'beir')}."))
        )
        .otherwise(pl.format(f"a qrels line has {count} fields ({layout}); this one has {{}}.", COUNT))
    )
    bad = (pl.col(COUNT) != count) | not_a_grade(pl.col("relevance"), grade)
    rows = rows_of(path, places, {"relevance": grade, PROBABILITY: pl.Float64}, bad, problem)
    return Checked(path, rows, list(places), layout + whole_grades(grade))


#: The formats of lines with five fields.
_OF_FIVE = "preferences", "sample_eval", "prels"


@cache
def _of_five_fields(preferences: str, sample_eval: str, prels: str) -> pl.Expr:
    """The format of a line with five fields, as far as they tell it, by the option that reads each."""
    number, whole = (
        [field(place).cast(dtype, strict=False).is_not_null() for place in range(5)] for dtype in (pl.Float64, pl.Int64)
    )
    # A document's id may be a number, and so may a group or a judge: only what is no number tells.
    method = field(3).is_in([_DRAWN, *_CHOSEN])
    of_a_sample = whole[2] & method & ((number[4] & ~whole[4]) | (field(4) == "NA"))
    layouts = zip((preferences, sample_eval, prels), (_PREFERENCES, _STRATA, _PRELS), strict=True)
    several = "; ".join(f"{says} ({_layout(places)})" for says, places in layouts)
    return (
        pl.when(~number[3] & number[4])
        .then(pl.lit(f"preferences are read with {preferences}."))
        .when(~number[2] & whole[3] & whole[4])
        .then(pl.lit(f"a sample by strata is read with {sample_eval}."))
        .when(of_a_sample)
        .then(pl.lit(f"a sample with probabilities is read with {prels}."))
        .otherwise(pl.lit(f"say what they are: {several}."))
    )


def prels(path: File, grade: Grade) -> Checked:
    """A file of prels, without documents that were not drawn; one that was chosen has the probability 1."""
    checked, probability = qrels(path, grade, _PRELS), pl.col(PROBABILITY)
    five, unknown = pl.col(COUNT) == 5, field(4) == "NA"
    impossible = (probability < 0) | ((probability > 1) & probability.is_not_nan())
    left_out = (five & (unknown | impossible | (pl.col("relevance") == _NO_GRADE))).fill_null(False)
    no_probability = five & ~((probability > 0) & (probability <= 1)).fill_null(False)
    no_method = five & ~field(3).is_in([_DRAWN, *_CHOSEN])
    must = "the inclusion probability (field 5) must be above 0 and at most 1, or NA"
    rows = checked.rows.with_columns(
        (pl.col(BAD) | ((no_probability | no_method).fill_null(False) & ~left_out)).alias(BAD),
        pl.when(pl.col(BAD))
        .then(PROBLEM)
        .when(no_method)
        .then(pl.format("the method (field 4) must be 0, 1 or 2; got '{}'.", shown(3)))
        .otherwise(pl.format(f"{must}; got '{{}}'.", shown(4)))
        .alias(PROBLEM),
        (pl.col(KEEP) & ~left_out).alias(KEEP),
        (pl.col(KEEP) & left_out).alias(LEFT_OUT),
        pl.when(field(3).is_in(_CHOSEN)).then(1.0).otherwise(probability).alias(PROBABILITY),
    )
    return replace(checked, rows=rows, left_out="probability is NA, below 0 or above 1, or whose grade is -999")


def _layout(places: dict[str, int]) -> str:
    """The fields of a line of judgments, in words."""
    names = {place: name for name, place in places.items()}
    return " ".join(names.get(place, _BETWEEN.get(place, ("", ""))[0]) for place in range(max(names) + 1))


#: The separators that `scan_csv` can have. Where one separates the fields, it takes the other for part of an id.
_SEPARATORS = {b" ", b"\t"}

#: Bytes that `run` takes for blanks or refuses, and `scan_csv` for part of an id or of a line's end.
_UNCLEAN = {b"\v", b"\f", b"\r", b"\0"}

#: The beginnings of comments, and of lines with a byte-order mark, by their first bytes.
_NO_QUERY = {b"#": "#", b"\xef": "\ufeff"}

_LOOKED_FOR = (*_SEPARATORS, *_UNCLEAN, *_NO_QUERY)

#: A rank that is no integer is an error here and a null in `run`: to read text and cast it takes twice as long.
_NUMBERS = {"rank": pl.Int64, "score": pl.Float64}

_OTHER_TAG = "other tag"

#: The highest grade, and the most numbers of an iteration, of files that are judgments; as few documents as grades.
MOST_GRADE, MOST_ITERATIONS, FEW = 1000, 50, 10


def read_clean_run(path: Path) -> pl.DataFrame | None:
    """A clean run in memory: six fields, one blank between them, nothing else in the file; None if it is not clean.

    This is an optimisation of `run`, with the same result. `scan_csv` takes less than half the time but knows one
    separator, so the bytes of the file are searched first for everything that it would read otherwise; other deviations
    show as its errors, or as nulls.
    """
    if UNPACKED.match(beginning(path)) or (found := _found(path)) is None:
        return None
    names = {place: name for name, place in RUN_FIELDS.items()}
    schema = {names.get(place, f"field {place}"): pl.String for place in range(TAG + 1)} | _NUMBERS
    options: dict[str, Any] = {"separator": "\t" if b"\t" in found else " ", "quote_char": None, "has_header": False}
    lines = pl.scan_csv(path, **options, schema=schema, glob=False, raise_if_empty=False)
    with path.open(encoding="utf-8", errors="replace") as text:
        tag = fields(text.readline().rstrip())[TAG:]
    # A short line, a blank at either end and two blanks side by side all leave a field empty, which is a null. The two
    # fields that become no column are read while the file streams by, so that they take no memory: half the time.
    others = pl.when(pl.nth(1).is_not_null()).then(pl.nth(TAG) != (tag or [""])[0]).alias(_OTHER_TAG)
    try:
        frame = lines.select(*RUN_FIELDS, others).collect(engine="streaming")
    except FAILURES:
        return None
    no_query = any(frame["query_id"].str.starts_with(text).any() for byte, text in _NO_QUERY.items() if byte in found)
    if frame.is_empty() or any(map(pl.Series.has_nulls, frame)) or frame["score"].is_nan().any() or no_query:
        return None
    if frame[_OTHER_TAG].any() and (tags := pooled_tags(lines.select("query_id", tag=pl.nth(TAG)))):
        warn_of_systems(path, tags, options["separator"])
    return frame.drop(_OTHER_TAG)


def _found(path: Path) -> set[bytes] | None:
    """The bytes of `_LOOKED_FOR` in a file; None if `scan_csv` would read one of them otherwise."""
    found: set[bytes] = set()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                found.update(byte for byte in _LOOKED_FOR if byte in chunk)
                # A line longer than a chunk may be too long for `run`.
                if b"\n" not in chunk or found & _UNCLEAN or found >= _SEPARATORS:
                    return None
    except OSError:
        return None
    return found


def no_judgments(head: Checked) -> str | None:
    """The reason why the first lines are a table of numbers rather than judgments; None where they may be these."""
    of_lines = head.rows.filter(KEEP).select("query_id", "doc_id", "relevance", second=field(1)).collect()
    integers = of_lines.select(pl.col("second", "doc_id").cast(pl.Int64, strict=False))
    second = integers["second"]
    if integers["doc_id"].has_nulls() or second.has_nulls() or (second == 0).all():
        return None
    n_documents = of_lines["doc_id"].n_unique()
    highest = of_lines["relevance"].max()
    if isinstance(highest, (int, float)) and highest > MOST_GRADE:
        return f"its last column holds {highest:g}, which is no grade"
    if second.n_unique() > MOST_ITERATIONS:
        return f"its second column holds {second.n_unique()} numbers, where TREC has an iteration"
    if n_documents <= FEW < MOST_ITERATIONS < of_lines["query_id"].n_unique():
        return f"its third column holds {n_documents} values for {of_lines['query_id'].n_unique()} queries"
    return None


def no_preferences(head: Checked) -> str | None:
    """The reason why the first lines are a sample by strata rather than preferences; None where they may be these."""
    of_lines = head.rows.filter(KEEP).select("query_id", "judge", "group", "doc_id").collect()
    strata = of_lines["doc_id"].cast(pl.String).cast(pl.Int64, strict=False)
    groups = of_lines.select("query_id", "judge", "group")
    if of_lines.height < 2 or strata.has_nulls() or groups.is_duplicated().any():
        return None
    says = "no group has two documents to prefer one of, and documents are numbers, as strata are"
    return f"{says}. A sample ({_layout(_STRATA)}) is read with {option('format', 'sample_eval')}."


def last_tag(file: File) -> str:
    """The tag in the last line, which trec_eval takes."""
    number, line = last_line(file)
    parts = fields(line)
    if len(parts) <= TAG:
        raise FileError.at_line(file, number, line, f"a run line has 6 fields, the tag last; it has {len(parts)}.")
    return parts[TAG]


def _run_lines(table: CanonicalFrame, tag: str) -> list[pl.LazyFrame]:
    line = ["query_id", pl.lit("Q0"), "doc_id", "rank", "score", pl.lit(tag).alias("tag")]
    return [part.select(line) for part in ranked(table, tag)]


def qrels_lines(table: CanonicalFrame, _tag: str, places: dict[str, int] = _QRELS) -> list[pl.LazyFrame]:
    """Lines of judgments, by query."""
    rows = table.all_columns()
    for name in places:
        if name not in table.dtypes:
            raise ColumnError.no_per(name, (), list(table.dtypes))
    check_any("qrels", rows)
    for name, of in (("stratum", "sample_eval"), (PROBABILITY, "prels")):
        if name in table.dtypes and name not in places:
            says = f"{name!r} is not written, without which a sample is read as if it were the pool"
            warn(f"{says}; {option('format', of)} has it.", about="qrels")
    values = ("relevance", "stratum", PROBABILITY)
    check_judged_once(rows, [name for name in places if name not in values])
    names = {place: name for name, place in places.items()}
    line = [
        pl.col(names[place]) if place in names else pl.lit(_BETWEEN[place][1]).alias(_BETWEEN[place][0])
        for place in range(max(names) + 1)
    ]
    of_texts = [each for each in line if each.meta.output_name() not in ("relevance", PROBABILITY)]
    check_fields("qrels", rows.select(of_texts), table)
    return [rows.select(line)]


def _judged(
    name: str,
    holds: str,
    places: dict[str, int],
    example: str,
    *,
    per: str | None = None,
    read: Callable[[File, Any], Checked] | None = None,
    suspicion: Callable[[Checked], str | None] | None = None,
) -> Format:
    """A format of judgments with more than TREC's four columns."""
    return Format(
        name,
        {"qrels": f"{holds}: {_layout(places)}"},
        Rows({"qrels": read or partial(qrels, places=places)}, suspicion=suspicion),
        Writer({"qrels": partial(qrels_lines, places=places)}, sink_fields),
        {"qrels": example},
        per=per,
    )


TREC = Format(
    "trec",
    {"run": "query_id Q0 doc_id rank score tag", "qrels": _layout(_QRELS)},
    Rows({"run": run, "qrels": qrels}, read_clean_run, TAG, no_judgments),
    Writer({"run": _run_lines, "qrels": qrels_lines}, sink_fields),
    {"run": "q1 Q0 d3 1 14.5 bm25\nq1 Q0 d1 2 9.25 bm25\n", "qrels": "q1 0 d1 2\nq1 0 d2 0\n"},
    extensions=(".run", ".runs", ".trec", ".res", ".qrels", ".qrel"),
    is_first_line={"run": _FOUR_FIELDS.match, "qrels": _FOUR_FIELDS.match},
)
SUBTOPICS = _judged("subtopics", "the judgments of ndeval", _SUBTOPICS, "q1 1 d1 2\nq1 2 d1 0\n", per="subtopic")
JUDGES = _judged("judges", "trec_eval's qrels_jg", _JUDGES, "q1 ann d1 2\nq1 bob d1 0\n", per="judge")
SAMPLE_EVAL = _judged(
    "sample_eval", "the sampled judgments of NIST's sample_eval", _STRATA, "q1 0 d1 1 2\nq1 0 d2 1 -1\n"
)
PRELS = _judged(
    "prels", "the sampled judgments of NIST's statAP", _PRELS, "q1 d1 2 1 0.5\nq1 d2 0 1 0.25\n", read=prels
)
PREFERENCES = _judged(
    "preferences",
    "trec_eval's prefs",
    _PREFERENCES,
    "q1 ann 1 d1 2\nq1 ann 1 d2 1\n",
    per="judge",
    suspicion=no_preferences,
)
