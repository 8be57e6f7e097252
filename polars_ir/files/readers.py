"""The readers: runs and judgments, read now or scanned later, and the name of a run.

Conventions: a file is opened once to see that it is there and, for a scan, to look at its first lines; every problem
that shows is a `FileError` with file, line and text. A wrong line that a scan can only meet later fails inside Polars,
with file and line in the message; damage (a file cut short, bytes that are no UTF-8) fails with Polars' own message,
which names no file. Nothing is skipped or guessed. JSON can not be read in parts, so that a scan of it reads now.
"""

from __future__ import annotations

import polars as pl

from polars_ir.errors import explain_options
from polars_ir.files import tables, texts, wholes
from polars_ir.files.detection import asked_for, one_format
from polars_ir.files.downloads import downloaded
from polars_ir.files.formats import FormatName, tells_formats
from polars_ir.files.formats.trec import TREC, last_tag
from polars_ir.files.locations import File
from polars_ir.files.record import Role, Rows, Typed
from polars_ir.files.sources import Source, resolve, stem
from polars_ir.files.unpacking import MAX_RATIO


@explain_options
@tells_formats("run")
def read_run(
    source: Source, *, format: FormatName | None = None, remote: bool = True, max_ratio: float | None = MAX_RATIO
) -> pl.DataFrame:
    r"""Read a run: the documents a system returned for each query, with their scores.

    Parameters
    ----------
    source
        A file, a glob (`"runs/*.run.gz"`), or a list of them, all of one format; or the URL of a file that Polars
        reads (`s3://`, `gs://`, `az://`, `hf://`, `https://`), with credentials from the environment as for Polars,
        which follows a `*` in it for Parquet, Arrow IPC and NDJSON. A text of a web server is copied to disk first.
    format
        {readable}
        By default the extension tells (`.gz` and `.zst` may follow it). If it does not, the first line does; a `.tsv`
        is a table if that names a query and a document column, and else TREC. MS MARCO's format is never detected: give
        it.
    remote
        Whether `source` may be a URL. Choose False for names from untrusted sources, such as a web form: a URL makes
        this machine send requests. Redirects are followed to `http` and `https` only.
    max_ratio
        How many times its size a compressed text may unpack to, beyond the 64 MB that any may; None for no limit.
        It is looked at before the text is read, which takes a pass over gzip; Zstandard tells at each block. A line of
        a gzip file may have at most 16 MB, except in JSON. Parquet and Arrow IPC are unpacked by Polars, column by
        column, and declare only their number of rows: eight bytes are assumed for each value, so that long texts in
        them have no limit. Texts that Polars fetches, those of `s3://` and the like, or scanned, have none either.

    Returns
    -------
    pl.DataFrame
        For TREC `query_id` String, `doc_id` String, `rank` Int64 (null where it is no integer) and `score` Float64.
        MS MARCO has no `score` if the file has none, JSON no `rank`; MTEB has `subset` and `split` String before them,
        of which one of each is to be chosen where query ids repeat (`.filter(split="test")`).
        Of several files the first column is `run` String: each file's tag, or, if two files have the same tag or the
        first 1000 lines of one have several, every file's name without extensions. A single file has no such column,
        whatever its tags.
        Tables keep their columns, and several are parts of one table; in CSV and TSV every column is a String but
        scores (Float64) and `rank` (Int64), so that ids stay as they are written.

    Raises
    ------
    FileError
        A file is missing, empty, a directory, no text, not compressed as its name says, or named twice; it unpacks to
        more than `max_ratio` allows, or is a URL and `remote` is False; a line has too few fields, or more than 16 MB,
        or a score that is no number, or an id with a blank; a table has no header, names between other separators, or
        quotes that enclose some fields and stand inside others; JSON repeats a key, or holds what is no score, or the
        partial result of a search that failed on some shards; one of several parts of a table has other columns, or ids
        that are null; nothing tells the format. Blank lines and lines that begin with `#` are skipped.
    InputTypeError
        `source` is no path.
    OptionError
        `format` is none of the above, or `max_ratio` is not a number above 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import read_run
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "bm25.run")
    >>> _ = file.write_text("q1 Q0 d3 1 14.5 bm25\nq1 Q0 d1 2 9.25 bm25\n")
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
    >>> folder.cleanup()
    """
    return _read("run", resolve(source, remote=remote, max_ratio=max_ratio), format, max_ratio)


@explain_options
def scan_run(
    source: Source, *, format: FormatName | None = None, remote: bool = True, max_ratio: float | None = MAX_RATIO
) -> pl.LazyFrame:
    r"""Scan a run lazily, for runs larger than memory; source, format and columns are those of `read_run`.

    The plan streams and holds no Python function. Only the first 1000 lines of each file are looked at now; but all of
    NDJSON, to know its columns, of CSV and TSV, to know what their quotes mean, and of gzip, to know that it may be
    unpacked (`max_ratio=None` spares that), and JSON is read whole, which takes about five times the size of the file
    in memory.

    An evaluation reads the run two or three times instead of keeping it in memory; of queries with many judgments it
    ranks every row.

    Parameters
    ----------
    source
        A file, a glob, a URL or a list of them, all of one format.
    format
        As for `read_run`.
    remote
        Whether `source` may be a URL, as for `read_run`.
    max_ratio
        How many times its size a compressed text may unpack to, as for `read_run`.

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
    InputTypeError
        `source` is no path.
    OptionError
        `format` is unknown, or `max_ratio` is not a number above 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import scan_run
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "bm25.run")
    >>> _ = file.write_text("q1 Q0 d3 1 14.5 bm25\nq1 Q0 d1 2 9.25 bm25\n")
    >>> scan_run(file).select("doc_id", "score").collect().rows()
    [('d3', 14.5), ('d1', 9.25)]
    >>> folder.cleanup()
    """
    return _scan("run", resolve(source, remote=remote, max_ratio=max_ratio), format, max_ratio)


@explain_options
@tells_formats("qrels")
def read_qrels(
    source: Source, *, format: FormatName | None = None, remote: bool = True, max_ratio: float | None = MAX_RATIO
) -> pl.DataFrame:
    r"""Read judgments: the grade each judged document of a query was given.

    Parameters
    ----------
    source
        A file, a glob, a URL or a list of them, all of one format; several files are parts of one set of judgments.
    format
        {readable}
        By default the extension or the first line tells, as for `read_run`, and a table with BEIR's header is BEIR's.
    remote
        Whether `source` may be a URL, as for `read_run`.
    max_ratio
        How many times its size a compressed text may unpack to, as for `read_run`.

    Returns
    -------
    pl.DataFrame
        For TREC and BEIR `query_id` String, `doc_id` String and `relevance`: Int64, or Float64 if a grade is written as
        a fraction (`0.5`, `1.0`). The iteration of TREC qrels is left out, unless the format says what it is: then
        there is a column `subtopic` or `judge` (and `group`), String too. The other formats have those three columns;
        a query of JSON that has no documents is a row without document and grade, which says that it was judged; in
        LETOR files without `docid` a document's id is its number in its query, from 1. Tables keep their columns; in
        CSV and TSV every column is a String but the grades.

    Raises
    ------
    FileError
        A file is missing, empty, a directory, no text, not compressed as its name says, or named twice; it unpacks to
        more than `max_ratio` allows, or is a URL and `remote` is False; a line has another number of fields, or more
        than 16 MB, or a grade that is no number; a table has no header; JSON repeats a key, or holds what is no grade;
        nothing tells the format. Blank lines and those that begin with `#` are skipped.
    InputTypeError
        `source` is no path.
    OptionError
        `format` is none of the above, or `max_ratio` is not a number above 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import read_qrels
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "qrels.txt")
    >>> _ = file.write_text("q1 0 d1 2\nq1 0 d2 0\n")
    >>> read_qrels(file)
    shape: (2, 3)
    ┌──────────┬────────┬───────────┐
    │ query_id ┆ doc_id ┆ relevance │
    │ ---      ┆ ---    ┆ ---       │
    │ str      ┆ str    ┆ i64       │
    ╞══════════╪════════╪═══════════╡
    │ q1       ┆ d1     ┆ 2         │
    │ q1       ┆ d2     ┆ 0         │
    └──────────┴────────┴───────────┘
    >>> folder.cleanup()
    """
    return _read("qrels", resolve(source, remote=remote, max_ratio=max_ratio), format, max_ratio)


@explain_options
def scan_qrels(
    source: Source, *, format: FormatName | None = None, remote: bool = True, max_ratio: float | None = MAX_RATIO
) -> pl.LazyFrame:
    r"""Scan judgments lazily; source, format and columns are those of `read_qrels`.

    The plan streams and holds no Python function. Only the first 1000 lines of each file are looked at now; they
    decide whether grades are Int64 or Float64. Of NDJSON, CSV, TSV and gzip all lines are; JSON is read whole.

    Parameters
    ----------
    source
        A file, a glob, a URL or a list of them, all of one format.
    format
        As for `read_qrels`.
    remote
        Whether `source` may be a URL, as for `read_run`.
    max_ratio
        How many times its size a compressed text may unpack to, as for `read_run`.

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
    InputTypeError
        `source` is no path.
    OptionError
        `format` is unknown, or `max_ratio` is not a number above 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from polars_ir.files import scan_qrels
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "qrels.tsv")
    >>> _ = file.write_text("query-id\tcorpus-id\tscore\nq1\td1\t0.5\n")
    >>> scan_qrels(file).collect().rows()
    [('q1', 'd1', 0.5)]
    >>> folder.cleanup()
    """
    return _scan("qrels", resolve(source, remote=remote, max_ratio=max_ratio), format, max_ratio)


def tag_of(
    run: Source, *, format: FormatName | None = None, remote: bool = True, max_ratio: float | None = MAX_RATIO
) -> str:
    """The name a run gives itself: the tag in the last line of a TREC file, as in trec_eval, or its file's own name."""
    files = resolve(run, remote=remote, max_ratio=max_ratio)[:1]
    with downloaded(files, asked_for("run", format), max_ratio) as (file,):
        return last_tag(file) if one_format([file], "run", format) is TREC else stem(file)


def _read(role: Role, files: list[File], name: FormatName | None, max_ratio: float | None) -> pl.DataFrame:
    with downloaded(files, asked_for(role, name), max_ratio) as local:
        reader = one_format(local, role, name).reader
        if isinstance(reader, Rows):
            return texts.read(local, role, reader)
        if not isinstance(reader, Typed):
            return wholes.read(local, role, reader)
        frame = tables.read(local, reader, max_ratio)
        if role == "run":
            tables.check_ids(local, reader, frame)
        return frame


def _scan(role: Role, files: list[File], name: FormatName | None, max_ratio: float | None) -> pl.LazyFrame:
    reader = one_format(files, role, name).reader
    if isinstance(reader, Rows):
        return texts.scan(files, role, reader)
    if isinstance(reader, Typed):
        return tables.scan(files, reader, max_ratio)
    return wholes.read(files, role, reader).lazy()
