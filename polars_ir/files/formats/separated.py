"""CSV, TSV and BEIR's judgments: texts whose fields stand between separators, under a header.

Conventions: quotes (`"`) are those of CSV; blank lines, and rows of empty fields, are skipped. Every column is text, so
that the id `007` stays what it is, but those that must be numbers: in a run the columns with a name of a score
(Float64) and `rank` (Int64, null where it is no integer); in qrels those with a name of a grade, or of a score where
there is none (Int64, or Float64 where a grade is written as a fraction). Names are recognised as everywhere, see
`roles.ROLES`. A run without scores is ranked by `rank`, so there the ranks must be integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from polars_ir.errors import TAKEN, Code, FileError, Fix, fold, quoted
from polars_ir.files.finding.file import SHOWN, File
from polars_ir.files.formats.record import Format, Role, Rows, Writer
from polars_ir.files.rows.blanks import (
    NUMERAL,
    Grade,
    Words,
    as_number,
    grade_wanted,
    hint_of_column,
    no_grades,
    not_a_grade,
    not_a_score,
    whole_grades,
)
from polars_ir.files.rows.quotes import dialect_of
from polars_ir.files.rows.unreadable import FAILURES, Dialect, unreadable
from polars_ir.files.rows.verdicts import BAD, KEEP, NUMBER, PROBLEM, TEXT, Checked
from polars_ir.files.writing.checks import BROKEN, check_judged_once, check_text, raise_if_any
from polars_ir.frames import guesses
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.roles import ROLE_OF, USER, find

#: Columns of BEIR's header, and their roles.
_BEIR = {"query-id": "query_id", "corpus-id": "doc_id", "score": "relevance"}
_BEIR_HEADER = re.compile("(?i)query[-_]id\tcorpus[-_]id\tscore")

#: Polars' name of a repeated column.
_AGAIN = re.compile(r"(.*)_duplicated_\d+", re.DOTALL)

#: Type suffix in RecBole's headers: `user_id:token`.
_TYPE = re.compile(r":(token|float)(_seq)?$")

#: Other separators, for files with a wrong extension or with decimal commas.
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
    _check_header(path, separator, columns, *wanted)
    plain = [_TYPE.sub("", name) for name in columns]
    if plain != columns and len(set(plain)) == len(plain):
        scan, columns = scan.rename(dict(zip(columns, plain, strict=True))), plain
    # So much of the text as is shown: every column adds a separator to it at least.
    text = pl.concat_str(pl.col(columns[:SHOWN]).fill_null(""), separator=separator)
    # A blank line is a row of nulls; the header is row 1.
    rows = scan.with_row_index(NUMBER, offset=2).with_columns(
        text.alias(TEXT), pl.any_horizontal(pl.col(columns).is_not_null()).alias(KEEP)
    )
    return rows, columns


def _check_header(path: File, separator: str, columns: list[str], *wanted: str) -> None:
    """Raise a `FileError` for a missing header, or one that Polars reads in its own way."""
    if problem := _problem_of_header(columns, separator.join(wanted)):
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
        return f"this is not a header: it names no ids, and {numbers[0]:.80} is a number. Add one, such as {wanted!r}."
    for name in columns:
        if TAKEN.fullmatch(name):
            return f"no column can be called {name!r:.80} here; rename it."
        again = _AGAIN.fullmatch(name)
        if again and again[1] in columns:
            return f"two columns are called {again[1]!r:.80}; rename one of them."
    return None


def _names_ids(columns: list[str]) -> list[str]:
    """The id columns of a header."""
    return named(columns, "query_id") + named(columns, "doc_id")


def broken_id(name: str) -> pl.Expr:
    """True for an id that spans lines, as after a stray quote."""
    return pl.col(name).str.contains(BROKEN).fill_null(False)


def checked(
    path: File,
    dialect: Dialect,
    rows: pl.LazyFrame,
    dtypes: Mapping[str, Grade],
    wrong: dict[str, pl.Expr],
    columns: list[str],
    wanted: str,
    hinted: Sequence[str] = (),
) -> Checked:
    """The table with its number columns cast, wrong where any of the conditions on its columns is true.

    Messages on columns that are `hinted` at say how words become grades.
    """
    ids = [name for role in ("query_id", "doc_id") for name in named(columns, role)]
    wrong = {**{name: broken_id(name) for name in ids if name not in wrong}, **wrong}
    problem = pl.lit(None, pl.String)
    for name, condition in wrong.items():
        message = pl.format(
            "{} must be {}; got '{}'.{}",
            pl.lit(f"{name:.80}"),
            pl.lit(grade_wanted(dtype) if isinstance(dtype := dtypes.get(name), Words) else _KINDS[dtype]),
            pl.col(name).fill_null("").str.head(80),
            hint_of_column(pl.col(name)) if name in hinted else pl.lit(""),
        )
        problem = pl.when(condition).then(message).otherwise(problem)
    judged = rows.with_columns(
        pl.any_horizontal(*wrong.values(), pl.lit(False)).alias(BAD), problem.alias(PROBLEM)
    ).with_columns(as_number(pl.col(name), dtype) for name, dtype in dtypes.items())
    return Checked(path, judged, columns, wanted, dialect)


def read_table(file: File, separator: str, *, texts: bool = False) -> pl.DataFrame:
    """Any table in memory: ids of queries and systems as text, other columns as all of their values tell, or text."""
    dialect = dialect_of(file, separator)
    read = partial(pl.read_csv, file, separator=separator, quote_char=dialect.quote)
    try:
        columns = read(n_rows=0).columns
        _check_header(file, separator, columns, "query_id", "nDCG@10")
        ids = [name for role in ("query_id", "run") if (name := find(str(file), role, columns))]
        return read(schema_overrides=dict.fromkeys(ids, pl.String), infer_schema=not texts, infer_schema_length=None)
    except pl.exceptions.NoDataError:
        raise FileError.empty(file) from None
    except FAILURES as error:
        raise unreadable(file, error, dialect) from None


def named(columns: list[str], role: str) -> list[str]:
    """The columns whose name is one of a role's; of several it is the evaluation that asks which is meant."""
    plain = [column for column in columns if ROLE_OF.get(fold(column)) == role]
    other = None if plain else find("table", role, columns)
    return plain if other is None else [other]


def run(path: File, score: type[pl.DataType], separator: str) -> Checked:
    """A run as a table."""
    dialect = dialect_of(path, separator)
    rows, columns = table(path, dialect, "query_id", "doc_id", "score")
    _check_no_lists(path, separator, rows, columns)
    scores, ranks = named(columns, "score"), named(columns, "rank")
    dtypes: dict[str, type[pl.DataType]] = dict.fromkeys(ranks, pl.Int64) | dict.fromkeys(scores, score)
    wrong = {name: not_a_score(as_number(pl.col(name), dtypes[name])) for name in scores or ranks}
    return checked(path, dialect, rows, dtypes, wrong, columns, "scores that are numbers")


def _check_no_lists(path: File, separator: str, rows: pl.LazyFrame, columns: list[str]) -> None:
    """Raise a `FileError` for a file with a row for each query and its documents in a text, as Kaggle's are."""
    may_hold = [name for name in columns if guesses.words(name) & (guesses.FOUND | guesses.GOLD)]
    if named(columns, "doc_id") or not may_hold:
        return
    try:
        texts = rows.select(may_hold).head(SHOWN).collect(engine="streaming")
    except FAILURES:
        return  # which line is to blame is found later
    query = guesses.lists_meant(columns, may_hold).query
    if query is None:
        return
    of_users = bool(guesses.words(query) & guesses.USERS)
    printed, at_blanks = r"^\s*\[", r"\S\s+\S"
    lists = [
        name for name in may_hold if texts[name].str.contains(f"{printed}|{at_blanks}" if of_users else printed).any()
    ]
    if not lists:
        return
    named_so, columns_of = {query: USER} if of_users and fold(query) != fold(USER) else {}, f"separator={separator!r}, "
    meant = guesses.lists_meant(columns, may_hold, {"query": named_so.get(query, query)})
    table = Code(
        f"pl.read_csv({str(path)!r}, {columns_of * (separator != ',')}infer_schema=False)",
        f"pd.read_csv({str(path)!r}, {columns_of.replace('separator', 'sep') * (separator != ',')}dtype=str)",
    ).after_renaming("", named_so)
    code = Code(*(f"run, qrels = ir.from_lists({read}, {meant.named()})" for read in table if read))
    words = "Read it as a table of lists, with the relevant ones in a column beside the retrieved"
    says = f"it has a row for each query, and lists in {quoted(lists)}, where a row for each document is wanted."
    fix = Fix(words, code, without_code="Give a file with a row for each document")
    raise FileError.of_file(path, says, fix=fix)


def qrels(path: File, grade: Grade, separator: str) -> Checked:
    """Judgments as a table; an empty grade is null."""
    dialect = dialect_of(path, separator)
    rows, columns = table(path, dialect, "query_id", "doc_id", "relevance")
    grades = named(columns, "relevance") or named(columns, "score")
    if isinstance(grade, Words) and not grades:
        raise FileError.at_line(path, 1, separator.join(columns), no_grades(columns))
    wrong = {name: pl.col(name).is_not_null() & _no_grade(name, grade) for name in grades}
    wanted, hinted = "grades" + whole_grades(grade), [] if isinstance(grade, Words) else grades
    return checked(path, dialect, rows, dict.fromkeys(grades, grade), wrong, columns, wanted, hinted)


def _no_grade(name: str, grade: Grade) -> pl.Expr:
    return not_a_grade(as_number(pl.col(name), grade), grade)


def _is_header(line: str, separator: str) -> bool:
    """True for a line that names columns: one of queries and one of documents."""
    fields = [_TYPE.sub("", name) for name in line.split(separator)]
    return bool(named(fields, "query_id") and named(fields, "doc_id"))


def _checked_columns(role: Role, table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    check_text(role, table)
    return [table.all_columns()]


def _format(name: str, separator: str, *, has_own_extension: bool) -> Format:
    run_table, qrels_table = "query_id,doc_id,score\nq1,d3,14.5\n", "query_id,doc_id,relevance\nq1,d1,2\n"
    return Format(
        name,
        {"run": "a table with a header", "qrels": "a table with a header"},
        Rows({"run": partial(run, separator=separator), "qrels": partial(qrels, separator=separator)}),
        Writer(
            {"run": partial(_checked_columns, "run"), "qrels": partial(_checked_columns, "qrels")},
            partial(pl.LazyFrame.sink_csv, separator=separator),
            table=True,
        ),
        {"run": run_table.replace(",", separator), "qrels": qrels_table.replace(",", separator)},
        extensions=(f".{name}",),
        has_own_extension=has_own_extension,
        separator=separator,
        is_first_line=dict.fromkeys(("run", "qrels"), partial(_is_header, separator=separator)),
    )


CSV = _format("csv", ",", has_own_extension=True)
# TREC's files end in .tsv as well.
TSV = _format("tsv", "\t", has_own_extension=False)


def beir_qrels(path: File, grade: Grade) -> Checked:
    """Judgments of BEIR; each row must have both ids and a grade."""
    dialect = dialect_of(path, "\t")
    rows, header = table(path, dialect, *_BEIR)
    if not _BEIR_HEADER.fullmatch("\t".join(header)):
        raise FileError.at_line(path, 1, "\t".join(header), "BEIR qrels begin with query-id, corpus-id, score.")
    columns = list(_BEIR.values())
    rows = rows.rename(dict(zip(header, columns, strict=True)))
    wrong = {name: pl.col(name).is_null() | broken_id(name) for name in columns[:2]}
    wrong["relevance"] = _no_grade("relevance", grade)
    wanted = "query-id, corpus-id, score" + whole_grades(grade)
    hinted = [] if isinstance(grade, Words) else ["relevance"]
    return checked(path, dialect, rows, {"relevance": grade}, wrong, columns, wanted, hinted)


def _beir_columns(table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    check_text("qrels", table)
    rows = table.all_columns()
    check_judged_once(rows, ["query_id", "doc_id"])
    nothing = rows.select("query_id", "doc_id").filter(pl.col("doc_id").is_null())
    raise_if_any("qrels", nothing, "without a document", "Leave them out, or write a table (.parquet).", {})
    return [rows.select(pl.col(ours).alias(name) for name, ours in _BEIR.items())]


BEIR = Format(
    "beir",
    {"qrels": "a tab-separated table of query-id, corpus-id and score"},
    Rows({"qrels": beir_qrels}),
    Writer({"qrels": _beir_columns}, partial(pl.LazyFrame.sink_csv, separator="\t")),
    {"qrels": "query-id\tcorpus-id\tscore\nq1\td1\t2\n"},
    separator="\t",
    is_first_line={"qrels": _BEIR_HEADER.fullmatch},
)
