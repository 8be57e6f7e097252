"""The writers: what they write, the readers read back equal.

Conventions: a file is written beside its place and then moved there, so that a write that fails leaves the old one.
What a format can not hold (an id with a blank in a TREC file) is an error before anything is written. A LazyFrame of a
run is never held as a whole: tables stream, and for TREC files, where ranks rise, some queries are sorted at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from polars_ir.errors import SHOWN, DataError, FileError, InputTypeError, OptionError, explain_options
from polars_ir.files.formats import COMPRESSED, Format, by_extension
from polars_ir.schema import Table, qrels_table, run_table

#: How tables are written. Text formats can be compressed, by the file's last extension.
_SINKS: dict[str, Callable[..., None]] = {
    "parquet": pl.LazyFrame.sink_parquet,
    "ipc": pl.LazyFrame.sink_ipc,
    "ndjson": pl.LazyFrame.sink_ndjson,
    "csv": pl.LazyFrame.sink_csv,
    "tsv": lambda frame, file, **options: frame.sink_csv(file, separator="\t", **options),
    "trec": lambda frame, file, **options: frame.sink_csv(
        file, separator=" ", include_header=False, quote_style="never", **options
    ),
}
_BINARY = ("parquet", "ipc")

#: The endings of tables.
TABLES = {".parquet": "parquet", ".arrow": "ipc", ".csv": "csv", ".tsv": "tsv", ".ndjson": "ndjson"}

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}

#: So many rows of a TREC run are sorted at a time, and more only of a query that has more: about 1 GB of memory. Each
#: time is a pass over what is written, so that fewer would make it slow.
ROWS_AT_ONCE = 5_000_000


@explain_options
def write_run(run: Any, path: str | os.PathLike[str], *, format: Format | None = None, tag: str | None = None) -> None:
    """Write a run to a file, or the runs of several systems to a file each.

    `sink_run` is the same function, under the name that Polars gives to the writing of a LazyFrame.

    Parameters
    ----------
    run
        A run in any form that `evaluate` takes. A LazyFrame may be larger than memory; for a TREC file it is run
        several times, to check it and to write some of its queries at a time.
    path
        The file. Its extension tells the format (`.gz` and `.zst` may follow that of a text); whatever has none that is
        known is TREC. Several systems are written to a file each where the path holds `{run}`, as in
        `"runs/{run}.run.gz"`; a table holds them in a column.
    format
        `"trec"`, `"parquet"`, `"csv"`, `"tsv"`, `"ipc"` or `"ndjson"`, if the extension does not tell.
    tag
        The last field of a TREC file's lines; by default the system's name, or `polars_ir`.

    Raises
    ------
    IRError
        For a table that is no run, ids that a TREC file can not hold (blanks, nothing at all, `#` first), or a file
        that can not be written. The file that was there stays as it was. Documents that a query has twice, which can
        not be evaluated, are written as they are.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "mine.run")
    >>> ir.write_run({"q1": {"d1": 0.5, "d2": 2}}, file, tag="mine")
    >>> print(file.read_text(), end="")
    q1 Q0 d2 1 2.0 mine
    q1 Q0 d1 2 0.5 mine
    >>> folder.cleanup()
    """
    table = run_table(run)
    kind = _format(path, format, ("trec", "parquet", "csv", "tsv", "ipc", "ndjson"))
    if "{run}" in os.fspath(path):
        for system, file, of_system in each_system("run", table, path):
            _write_run(of_system, file, kind, tag or system)
    elif kind == "trec" and "run" in table.dtypes:
        raise OptionError("a TREC file holds one system; write each to its own: path='runs/{run}.run'.")
    else:
        _write_run(table, Path(path), kind, tag or "polars_ir")


sink_run = write_run


@explain_options
def write_qrels(qrels: Any, path: str | os.PathLike[str], *, format: Format | None = None) -> None:
    """Write judgments to a file; `sink_qrels` is the same function, as `sink_run` is `write_run`.

    Parameters
    ----------
    qrels
        Judgments in any form that `evaluate` takes.
    path
        The file; its extension tells the format, as for `write_run`.
    format
        `"trec"`, `"beir"`, `"parquet"`, `"csv"`, `"tsv"`, `"ipc"` or `"ndjson"`; also `"subtopics"` and `"judges"`,
        which are TREC files whose second field is the column of that name.

    Raises
    ------
    IRError
        For judgments that can not be evaluated; ids or grades that the format can not hold, or a document that is
        there twice in a text that is no table; a file that can not be written. The file that was there stays as it was.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars_ir as ir
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "qrels.txt")
    >>> ir.write_qrels({"q1": {"d1": 0, "d2": 2}}, file)
    >>> print(file.read_text(), end="")
    q1 0 d1 0
    q1 0 d2 2
    >>> folder.cleanup()
    """
    texts: tuple[Format, ...] = ("trec", "subtopics", "judges", "beir")
    kind = _format(path, format, (*texts, "parquet", "csv", "tsv", "ipc", "ndjson"))
    per = {"subtopics": "subtopic", "judges": "judge"}.get(kind)
    table = qrels_table(qrels, per=per)
    rows = table.all_columns().sort("query_id", maintain_order=True)
    if kind in texts:
        _check_once(rows, ["query_id", *table.per, "doc_id"])
    if kind in ("trec", "subtopics", "judges"):
        iteration = pl.col(per) if per else pl.lit("0")
        fields = {"query_id": pl.col("query_id"), "iteration": iteration, "doc_id": pl.col("doc_id")}
        _check_fields("qrels", rows.select(**fields), table)
        _sink(rows.select(**fields, relevance="relevance"), Path(path), "trec")
    elif kind == "beir":
        nothing = rows.select("query_id", "doc_id").filter(pl.col("doc_id").is_null())
        _raise_if_any("qrels", nothing, "without a document", "Leave them out, or write a table (.parquet).", {})
        names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
        _sink(rows.select(list(names)).rename(names), Path(path), "tsv")
    else:
        _sink(rows, Path(path), kind)


sink_qrels = write_qrels


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write any table to a file, in the format of its ending, which is one of `TABLES`."""
    _sink(frame.lazy(), path, TABLES[path.suffix])


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write the lines of a text to a file, compressed as its ending says."""
    _sink(pl.LazyFrame({"line": list(lines)}), path, "trec")


def each_system(name: str, table: Table, path: str | os.PathLike[str]) -> Iterator[tuple[str, Path, Table]]:
    """Every system with its file and its rows, for a path that holds `{run}`.

    A `DataError` for one whose name would be that of a file in another folder, before the first is given.
    """
    text = os.fspath(path)
    if "run" not in table.dtypes:
        raise OptionError(f"path holds {{run}}, and {name} has no column of systems; got {text!r}.")
    systems = table.select("run").unique().sort("run").collect(engine="streaming").to_series()
    names = systems.cast(pl.String).to_list()
    for system in names:
        if system is None or Path(system).name != system or system in ("", ".."):
            raise DataError(
                f"{name} has a system {system!r}, which is no part of a file's name. Rename it, as in "
                f"{name}.with_columns(pl.col('run').str.replace_all('/', '-'))."
            )
    for value, system in zip(systems, names, strict=True):
        rows = table.all_columns().filter(pl.col("run") == value).drop("run")
        yield system, Path(text.replace("{run}", system)), table.made_of(rows)


def _write_run(table: Table, path: Path, kind: str, tag: str) -> None:
    if kind == "ndjson":
        _check_scores(table, ~pl.col("score").is_finite(), "whose score is NaN or infinite, which JSON can not hold")
    if kind != "trec":
        _sink(table.all_columns(), path, kind)
        return
    rows = table.select("query_id", "doc_id", "score")
    _check_fields("run", rows.select("query_id", "doc_id", tag=pl.lit(tag)), table)
    _check_scores(table, pl.col("score").is_null() | pl.col("score").is_nan(), "whose score is null or NaN")
    parts = _some_queries_at_a_time(rows)
    if not parts:
        raise DataError("run has no row, and a TREC file without one can not be told from a broken one; write a table.")
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    with _replaced(path) as file:
        for part in parts:
            ranked = part.with_columns(rank=rank).sort("query_id", "rank")
            fields = ranked.select("query_id", pl.lit("Q0"), "doc_id", "rank", "score", tag=pl.lit(tag))
            _SINKS[kind](fields, file, **_options(kind, path))


def _some_queries_at_a_time(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """The rows in parts that can be sorted in memory, by rising ids of queries."""
    sizes = rows.group_by("query_id").len().sort("query_id").collect(engine="streaming")
    before = pl.col("len").cast(pl.Int64).cum_sum() - pl.col("len")
    query = pl.col("query_id")
    parts = sizes.group_by(before // ROWS_AT_ONCE, maintain_order=True).agg(first=query.first(), last=query.last())
    ends = parts.select("first", "last").rows()
    if len(ends) == 1:
        return [rows]
    return [rows.filter(query.is_between(pl.lit(first), pl.lit(last))) for first, last in ends]


def _check_scores(table: Table, wrong: pl.Expr, problem: str) -> None:
    """Raise a `DataError` for scores that a format can not hold."""
    bad = table.select(*table.keys, "doc_id", "score").filter(wrong)
    _raise_if_any("run", bad, problem, "Leave them out, or write Parquet.", {})


def _raise_if_any(name: str, bad: pl.LazyFrame, problem: str, remedy: str, names: dict[str, str]) -> None:
    shown = bad.head(SHOWN).collect(engine="streaming")
    if shown.height:
        count = bad.select(pl.len()).collect(engine="streaming").item()
        raise DataError.rows(name, problem, remedy, count, shown.rename(names))


def _check_fields(name: str, fields: pl.LazyFrame, table: Table) -> None:
    """Raise a `DataError` for what would not be one field of a line again."""
    first, *_ = columns = fields.collect_schema().names()
    text = [pl.col(column).cast(pl.String) for column in columns]
    broken = pl.any_horizontal(field.is_null() | (field == "") | field.str.contains(r"[\s\x00]") for field in text)
    bad = fields.filter(broken | text[0].str.starts_with("#") | text[0].str.starts_with("\ufeff"))
    names = {role: user for role, user in table.names.items() if role in columns and user not in columns}
    problem = f"that are no fields of a TREC file (empty, with a blank, or {first!r} begins with #)"
    _raise_if_any(name, bad, problem, "Write a table instead (.parquet, .tsv), or give them other ids.", names)


def _check_once(rows: pl.LazyFrame, keys: list[str]) -> None:
    """Raise a `DataError` for documents judged several times, in lines that would not tell why."""
    again = rows.filter(pl.len().over(keys) > 1).select(keys)
    problem = f"that repeat the ids of another ({', '.join(keys)})"
    remedy = "Keep one of each; of subtopics or judges, write that format or a table (.parquet, .csv)."
    _raise_if_any("qrels", again, problem, remedy, {})


def check_path(path: object) -> None:
    """Raise an `InputTypeError` for what is no path."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be the path of a file; got {type(path).__name__}: {path!r:.80}.")


def _format(path: str | os.PathLike[str], format: Format | None, choices: tuple[Format, ...]) -> str:
    check_path(path)
    if format is not None and format not in choices:
        raise OptionError.value("format", format, choices)
    kind = format or by_extension(Path(path)) or "trec"
    if kind not in choices:
        raise FileError.of_file(path, f"{kind} is read, but not written; write {', '.join(choices)}.")
    if kind in _BINARY and Path(path).suffix.lower() in COMPRESSED:
        raise FileError.of_file(path, f"{kind} compresses its columns itself; leave out {Path(path).suffix}.")
    return kind


def _sink(frame: pl.LazyFrame, path: Path, kind: str) -> None:
    with _replaced(path) as file:
        _SINKS[kind](frame, file, **_options(kind, path))


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file beside a place, to be written and then moved there; a pipe or a device itself.

    It is opened here, and once: Polars may open a path again, and then wait for ever for a reader of a pipe.
    """
    at_once = path.exists() and not path.is_file() and not path.is_dir()
    # A link stays one: what it leads to is replaced.
    place = Path(os.path.realpath(path))
    written = path if at_once else place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with written.open("wb") as file:
            yield file
        if not at_once:
            written.replace(place)
    except OSError as error:
        # Polars tells the reason and the file; the file would be the one beside.
        reason = error.strerror or str(error).partition("\n")[0].replace(str(written), str(path))
        raise FileError.of_file(path, f"can not be written: {reason.removesuffix('.')}.") from None
    finally:
        if not at_once:
            written.unlink(missing_ok=True)


def _options(kind: str, path: Path) -> dict[str, Any]:
    """The compression that a file's ending says, for formats of text."""
    compression = _COMPRESSIONS.get(path.suffix.lower(), "uncompressed")
    return {} if kind in _BINARY else {"compression": compression, "check_extension": False}
