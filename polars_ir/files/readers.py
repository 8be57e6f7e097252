"""Readers of runs and judgments, eager and lazy, and of a run's name.

Conventions: a file is opened once to see that it is there and, for a scan, to look at its first lines; every problem
that shows is a `FileError` with file, line and text. A wrong line that a scan can only meet later fails inside Polars,
with file and line in the message; damage (a file cut short, bytes that are no UTF-8) fails with Polars' own message,
which names no file. Nothing is skipped or guessed. JSON cannot be read in parts, so that a scan of it reads now.
Grades are Int64 if all that are looked at are written as integers, else Float64: a scan looks at the first lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import IO, Annotated, Any, TypedDict, Unpack

import polars as pl

from polars_ir.files.finding.copies import copied, downloaded
from polars_ir.files.finding.file import is_remote
from polars_ir.files.finding.sources import MaxRatio, Remote, Source, one_format, resolve, stem
from polars_ir.files.formats import BY_NAME, READABLE, FormatName
from polars_ir.files.formats.record import Role, Rows, Typed
from polars_ir.files.formats.trec import TREC, last_tag
from polars_ir.files.reading import check_ids, in_numbers, read_rows, read_typed, read_whole, scan_rows, scan_typed
from polars_ir.files.rows.blanks import Words
from polars_ir.language.options import Option, Value, is_number, one_of, or_none, public


def _format(role: Role, by_default: str) -> Option:
    """The option of the format: each of a role with what it holds, and what it is by default."""
    held = "; ".join(f'`"{name}"` ({BY_NAME[name].holds[role]})' for name in READABLE[role])
    return Option(None, or_none(one_of(*READABLE[role])), f"{held}. By default {by_default}")


def _are_words(given: object) -> bool:
    """True for a map from words to numbers."""
    if not isinstance(given, Mapping) or not given:
        return False
    return all(isinstance(word, str) and is_number(number) for word, number in given.items())


class ReadingRun(TypedDict, total=False):
    """The options of the readers of runs."""

    format: Annotated[
        FormatName | None,
        _format(
            "run",
            "the extension tells (`.gz` and `.zst` may follow it). If it does not, the first line does; a `.tsv` is a "
            "table if that names a query and a document column, and else TREC. MS MARCO's format is never detected: "
            "give it.",
        ),
    ]
    remote: Remote
    max_ratio: MaxRatio


class ReadingQrels(TypedDict, total=False):
    """The options of the readers of judgments."""

    format: Annotated[
        FormatName | None,
        _format(
            "qrels",
            "the extension or the first line tells, as for `read_run`, and a table with BEIR's header is BEIR's.",
        ),
    ]
    remote: Remote
    max_ratio: MaxRatio
    grades: Annotated[
        Mapping[str, float] | None,
        Option(
            None,
            or_none(Value("a dict of the words that grades are written in, each with its number", _are_words)),
            'The numbers of grades in words, as NTCIR\'s `{"L2": 2, "L1": 1, "L0": 0}` or ESCI\'s '
            '`{"E": 3, "S": 2, "C": 1, "I": 0}`. Any other word is an error.',
        ),
    ]


@public(ReadingRun)
def read_run(source: Source | IO[Any], **options: Unpack[ReadingRun]) -> pl.DataFrame:
    r"""Read a run: the documents a system returned for each query, with their scores.

    Parameters
    ----------
    source
        A file, a glob (`"runs/*.run.gz"`), or a list of them, all of one format; or the URL of a file that Polars
        reads (`s3://`, `gs://`, `az://`, `hf://`, `https://`), with credentials from the environment as for Polars,
        which follows a `*` in it for Parquet, Arrow IPC and NDJSON. A text of a web server is copied to disk first, and
        so is what an open file holds (`io.BytesIO`, an upload), which goes by its `name`, if it has one.

    Returns
    -------
    pl.DataFrame
        For TREC `query_id` String, `doc_id` String, `rank` Int64 (null where it is no integer) and `score` Float64.
        MS MARCO has no `score` if the file has none, JSON no `rank`; MTEB has `subset` and `split` String before them,
        of each of which one is to be chosen where query ids repeat (`.filter(split="test")`).
        Of several files the first column is `run` String: each file's tag, or, if two files have the same tag or the
        first 1000 lines of one have several, every file's name without extensions. A single file has no such column,
        whatever its tags.
        Tables keep their columns, and several are parts of one table; in CSV and TSV every column is a String but
        scores (Float64) and `rank` (Int64), so that ids stay as they are written. What the names of their folders hold
        (`date=2026-11-18/part.parquet`) are columns before them: days as Date, and all else as String.

    Raises
    ------
    FileError
        A file is missing, empty, a directory, no text, not compressed as its name says, or named twice; it unpacks to
        more than `max_ratio` allows, or is a URL and `remote` is False; a line has too few fields, or more than 16 MB,
        or a score that is no number, or an id with a blank; a table has no header, names between other separators, or
        quotes that enclose some fields and stand inside others; JSON repeats a key, or holds what is no score, or the
        partial result of a search that failed on some shards; one of several parts of a table has other columns, or ids
        that are null; nothing tells the format. Blank lines and lines that begin with `#` are skipped; with a warning
        that shows the line where it has the fields of a row and could be of a query whose id begins so.
    InputTypeError
        `source` is no path.
    OptionError
        `format` is none of the above, or `max_ratio` is not a number above 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import read_run
    >>> file = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = file.write_text("q1 Q0 d3 1 14.5 bm25\nq1 Q0 d1 2 9.25 bm25\n", encoding="utf-8")
    >>> read_run(file)
    shape: (2, 4)
    ┌──────────┬────────┬──────┬───────┐
    │ query_id ┆ doc_id ┆ rank ┆ score │
    │ ---      ┆ ---    ┆ ---  ┆ ---   │
    │ str      ┆ str    ┆ i64  ┆ f64   │
    ╞══════════╪════════╪══════╪═══════╡
    │ q1       ┆ d3     ┆ 1    ┆ 14.5  │
    │ q1       ┆ d1     ┆ 2    ┆ 9.25  │
    └──────────┴────────┴──────┴───────┘
    """
    return _read("run", source, options)


@public(ReadingRun)
def scan_run(source: Source, **options: Unpack[ReadingRun]) -> pl.LazyFrame:
    r"""Scan a run lazily, for runs larger than memory; source, format and columns are those of `read_run`.

    The plan streams and holds no Python function. Only the first 1000 lines of each file are looked at now; but all of
    NDJSON, to know its columns, of CSV and TSV, to know what their quotes mean, and of gzip, to know that it may be
    unpacked (`max_ratio=None` spares that), and JSON is read whole, which takes about five times the size of the file
    in memory.

    An evaluation reads the run two or three times instead of keeping it in memory; of queries with many judgments it
    ranks every row.

    Returns
    -------
    pl.LazyFrame
        The columns of `read_run`.

    Raises
    ------
    FileError
        As `read_run`, for what shows in the first lines. A wrong line further on makes the collection fail
        with Polars' InvalidOperationError, whose message has file, number of the line (of a table, the row; the header
        is row 1) and text. Damage further on (gzip that is cut short, bytes that are no UTF-8, a broken page of
        Parquet) fails with Polars' own error, which names no file, and a null id fails in the evaluation: `read_run`
        names the file of each.
    InputTypeError, OptionError
        As `read_run`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import scan_run
    >>> file = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = file.write_text("q1 Q0 d3 1 14.5 bm25\nq1 Q0 d1 2 9.25 bm25\n", encoding="utf-8")
    >>> scan_run(file).select("doc_id", "score").collect().rows()
    [('d3', 14.5), ('d1', 9.25)]
    """
    return _scan("run", source, options)


@public(ReadingQrels)
def read_qrels(source: Source | IO[Any], **options: Unpack[ReadingQrels]) -> pl.DataFrame:
    r"""Read judgments: the grade of each judged document of a query.

    Parameters
    ----------
    source
        A file, a glob, a URL or a list of them, all of one format; several files are parts of one set of judgments. Or
        an open file, as for `read_run`.

    Returns
    -------
    pl.DataFrame
        For TREC and BEIR `query_id` String, `doc_id` String and `relevance`: Int64, or Float64 if a grade is written as
        a fraction (`0.5`, `1.0`). The iteration of TREC qrels is left out, unless the format says what it is: then
        there is a column `subtopic` or `judge` (and `group`), String too; of a sample, `stratum` (String) or
        `inclusion_probability` (Float64; prels that were chosen have 1, and those with NA, below 0 or above 1 are
        skipped, and counted in a warning). The other formats have those three columns; a query of JSON that has no
        documents is a row without document and grade, which says that it was judged; in LETOR files the comment names
        the document (`# docid = d`, `# d title`), and without comments a document's id is its number in its query, from
        1. Tables keep their columns; in CSV and TSV every column is a String but the grades. With `grades`, lines of
        three fields that end in one of the words are NTCIR's.

    Raises
    ------
    FileError
        A file is missing, empty, a directory, no text, not compressed as its name says, or named twice; it unpacks to
        more than `max_ratio` allows, or is a URL and `remote` is False; a line has another number of fields, or more
        than 16 MB, or a grade that is no number; comments of a LETOR file begin with one word twice in a query; a table
        has no header, or no grades where `grades` are given; JSON repeats a key, or holds what is no grade;
        four columns of numbers are ratings rather than TREC's (`format="trec"` reads them); nothing tells the format.
        Blank lines and those that begin with `#` are skipped.
    InputTypeError, OptionError
        As `read_run`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import read_qrels
    >>> file = pathlib.Path(tempfile.mkdtemp(), "qrels.txt")
    >>> _ = file.write_text("q1 0 d1 2\nq1 0 d2 0\n", encoding="utf-8")
    >>> read_qrels(file).rows()
    [('q1', 'd1', 2), ('q1', 'd2', 0)]
    """
    return _read("qrels", source, options)


@public(ReadingQrels)
def scan_qrels(source: Source, **options: Unpack[ReadingQrels]) -> pl.LazyFrame:
    r"""Scan judgments lazily; source, format and columns are those of `read_qrels`.

    The plan streams and holds no Python function. Only the first 1000 lines of each file are looked at now; they
    decide whether grades are Int64 or Float64. Of NDJSON, CSV, TSV and gzip all lines are; JSON is read whole.

    Returns
    -------
    pl.LazyFrame
        The columns of `read_qrels`.

    Raises
    ------
    FileError
        As `read_qrels`, for what shows in the first lines. A wrong line further on, or a fraction where the
        first lines had none, makes the collection fail with Polars' InvalidOperationError, whose message has file,
        line (or row) number and text. Damage fails as for `scan_run`.
    InputTypeError, OptionError
        As `read_run`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import scan_qrels
    >>> file = pathlib.Path(tempfile.mkdtemp(), "qrels.tsv")
    >>> _ = file.write_text("query-id\tcorpus-id\tscore\nq1\td1\t0.5\n", encoding="utf-8")
    >>> scan_qrels(file).collect().rows()
    [('q1', 'd1', 0.5)]
    """
    return _scan("qrels", source, options)


@public(ReadingRun)
def tag_of(run: Source, **options: Unpack[ReadingRun]) -> str:
    """The name a run gives itself: the tag in the last line of a TREC file, as in trec_eval, or its file's own name.

    Parameters
    ----------
    run
        A file, a glob or a URL.
    """
    asked, max_ratio = BY_NAME.get(options["format"] or ""), options["max_ratio"]
    files = resolve(run, remote=options["remote"], max_ratio=max_ratio)[:1]
    with downloaded(files, asked, max_ratio) as (file,):
        return last_tag(file) if one_format([file], "run", asked) is TREC else stem(file)


def _read(role: Role, source: Any, options: ReadingRun | ReadingQrels) -> pl.DataFrame:
    if hasattr(source, "read"):
        with copied(source) as path:
            return _read(role, path, options)
    words, asked, max_ratio = _words(options), BY_NAME.get(options["format"] or ""), options["max_ratio"]
    files = resolve(source, remote=options["remote"], max_ratio=max_ratio)
    with downloaded(files, asked, max_ratio) if any(map(is_remote, files)) else nullcontext(files) as local:
        reader = one_format(local, role, asked, words).reader
        if isinstance(reader, Rows):
            return read_rows(local, role, reader, words, format_given=asked is not None)
        if not isinstance(reader, Typed):
            return read_whole(local, role, reader, words)
        frame = read_typed(local, reader, max_ratio)
        if words is not None:
            return in_numbers(frame, words)
        if role == "run":
            check_ids(local, reader, frame)
        return frame


def _scan(role: Role, source: Source, options: ReadingRun | ReadingQrels) -> pl.LazyFrame:
    words, asked, max_ratio = _words(options), BY_NAME.get(options["format"] or ""), options["max_ratio"]
    files = resolve(source, remote=options["remote"], max_ratio=max_ratio)
    reader = one_format(files, role, asked, words).reader
    if isinstance(reader, Rows):
        return scan_rows(files, role, reader, words, format_given=asked is not None)
    if isinstance(reader, Typed):
        scan = scan_typed(files, reader, max_ratio)
        return scan if words is None else in_numbers(scan, words)
    return read_whole(files, role, reader, words).lazy()


def _words(options: ReadingRun | ReadingQrels) -> Words | None:
    """The words of grades, of a call that gives them numbers."""
    grades: Any = options.get("grades")
    return None if grades is None else Words(tuple(grades), tuple(grades.values()))
