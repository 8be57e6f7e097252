"""The writers: what they write, the readers read back equal.

Conventions: a file is written beside its place and then moved there, so that a write that fails leaves the old one.
What a format can not hold (an id with a blank in a TREC file) is an error before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, DataError, FileError, InputTypeError, OptionError, explain_options
from polars_ir.files.formats import COMPRESSED, EXTENSIONS, Format
from polars_ir.schema import Table, qrels_table, run_table

#: How tables are written. Text formats can be compressed, by the file's last extension.
_SINKS: dict[str, Callable[..., None]] = {
    "parquet": pl.LazyFrame.sink_parquet,
    "ipc": pl.LazyFrame.sink_ipc,
    "ndjson": pl.LazyFrame.sink_ndjson,
    "csv": pl.LazyFrame.sink_csv,
    "tsv": lambda frame, path, **options: frame.sink_csv(path, separator="\t", **options),
    "trec": lambda frame, path, **options: _sink_fields(frame, path, " ", **options),
    "beir": lambda frame, path, **options: frame.sink_csv(path, separator="\t", **options),
}
_BINARY = ("parquet", "ipc")

#: The endings of tables.
TABLES = {".parquet": "parquet", ".arrow": "ipc", ".csv": "csv", ".tsv": "tsv", ".ndjson": "ndjson"}

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


@explain_options
def write_run(run: Any, path: str | os.PathLike[str], *, format: Format | None = None, tag: str | None = None) -> None:
    """Write a run to a file, or the runs of several systems to a file each.

    Parameters
    ----------
    run
        A run in any form that `evaluate` takes. A LazyFrame is written as it streams.
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
        For a run that can not be evaluated, ids that a TREC file can not hold (blanks, nothing at all, `#` first), or
        a file that can not be written. The file that was there stays as it was.

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
        if "run" not in table.dtypes:
            raise OptionError(f"path holds {{run}}, and the run has no column of systems; got {os.fspath(path)!r}.")
        for system in _names_of_files(table):
            rows = table.all_columns().filter(pl.col("run") == system).drop("run")
            _write_run(table.made_of(rows), Path(os.fspath(path).replace("{run}", system)), kind, tag or system)
    elif kind == "trec" and "run" in table.dtypes:
        raise OptionError("a TREC file holds one system; write each to its own: path='runs/{run}.run'.")
    else:
        _write_run(table, Path(path), kind, tag or "polars_ir")


@explain_options
def write_qrels(qrels: Any, path: str | os.PathLike[str], *, format: Format | None = None) -> None:
    """Write judgments to a file.

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
        For judgments that can not be evaluated, ids or grades that the format can not hold, or a file that can not be
        written. The file that was there stays as it was.

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
    choices: tuple[Format, ...] = (
        "trec", "subtopics", "judges", "beir", "parquet", "csv", "tsv", "ipc", "ndjson"
    )  # fmt: skip
    kind = _format(path, format, choices)
    per = {"subtopics": "subtopic", "judges": "judge"}.get(kind)
    table = qrels_table(qrels, per=per)
    rows = table.all_columns().sort("query_id", maintain_order=True)
    if kind in ("trec", "subtopics", "judges"):
        iteration = pl.col(per) if per else pl.lit("0")
        fields = {"query_id": pl.col("query_id"), "iteration": iteration, "doc_id": pl.col("doc_id")}
        _check_fields("qrels", rows.select(**fields), table)
        _sink(rows.select(**fields, relevance="relevance"), Path(path), "trec")
    elif kind == "beir":
        names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
        _sink(rows.select(list(names)).rename(names), Path(path), "beir")
    else:
        _sink(rows, Path(path), kind)


def _names_of_files(table: Table) -> list[str]:
    """The names of the systems; a `DataError` for one that would name a file in another folder."""
    systems = table.select("run").unique().sort("run").collect().to_series().to_list()
    for system in systems:
        if Path(system).name != system or system in ("", ".."):
            raise DataError(
                f"run has a system {system!r}, which is no part of a file's name. Rename it, as in "
                "run.with_columns(pl.col('run').str.replace_all('/', '-'))."
            )
    return systems


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write any table to a file, in the format of its ending."""
    if path.suffix not in TABLES:
        raise FileError(f"{path}: unknown ending; the result can be written as {', '.join(TABLES)}.")
    _sink(frame.lazy(), path, TABLES[path.suffix])


def _write_run(table: Table, path: Path, kind: str, tag: str) -> None:
    if kind == "ndjson":
        _check_finite(table)
    if kind != "trec":
        _sink(table.all_columns(), path, kind)
        return
    rows = table.select("query_id", "doc_id", "score")
    fields = rows.select("query_id", "doc_id", tag=pl.lit(tag))
    if rows.head(1).collect(engine="streaming").is_empty():
        raise DataError("run has no row, and a TREC file without one can not be told from a broken one; write a table.")
    _check_fields("run", fields, table)
    rank = pl.struct("score", "doc_id").rank("ordinal", descending=True).over("query_id")
    ranked = rows.with_columns(rank=rank).sort("query_id", "rank")
    _sink(ranked.select("query_id", pl.lit("Q0"), "doc_id", "rank", "score", pl.lit(tag).alias("tag")), path, "trec")


def _check_finite(table: Table) -> None:
    """Raise a `DataError` for scores that JSON has no number for."""
    bad = table.select(*table.keys, "doc_id", "score").filter(pl.col("score").is_infinite())
    shown = bad.head(SHOWN).collect(engine="streaming")
    if shown.height:
        count = bad.select(pl.len()).collect(engine="streaming").item()
        raise DataError.rows("run", "with infinite scores, which JSON can not hold", "Write Parquet.", count, shown)


def _check_fields(name: str, fields: pl.LazyFrame, table: Table) -> None:
    """Raise a `DataError` for what would not be one field of a line again."""
    first, *_ = columns = fields.collect_schema().names()
    text = [pl.col(column).cast(pl.String) for column in columns]
    broken = pl.any_horizontal(field.is_null() | (field == "") | field.str.contains(r"[\s\x00]") for field in text)
    bad = fields.filter(broken | text[0].str.starts_with("#") | text[0].str.starts_with("\ufeff"))
    shown = bad.head(SHOWN).collect(engine="streaming")
    if shown.height:
        count = bad.select(pl.len()).collect(engine="streaming").item()
        remedy = "Write a table instead (.parquet, .tsv), or give them other ids."
        names = {role: user for role, user in table.names.items() if role in columns and user not in columns}
        problem = f"that are no fields of a TREC file (empty, with a blank, or {first!r} begins with #)"
        raise DataError.rows(name, problem, remedy, count, shown.rename(names))


def _format(path: object, format: Format | None, choices: tuple[Format, ...]) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(f"path must be the path of a file; got {type(path).__name__}: {path!r:.80}.")
    if format is not None and format not in choices:
        raise OptionError.value("format", format, choices)
    plain = Path(path).with_suffix("") if Path(path).suffix.lower() in COMPRESSED else Path(path)
    kind = format or EXTENSIONS.get(plain.suffix.lower(), "trec")
    if kind not in choices:
        raise FileError.of_file(path, f"{kind} is read, but not written; write {', '.join(choices)}.")
    if kind in _BINARY and plain != Path(path):
        raise FileError.of_file(path, f"{kind} compresses its columns itself; leave out {Path(path).suffix}.")
    return kind


def _sink(frame: pl.LazyFrame, path: Path, kind: str) -> None:
    """Write a frame beside its place, and then move it there; into a pipe or a device at once."""
    at_once = path.exists() and not path.is_file() and not path.is_dir()
    # A link stays one: what it leads to is replaced.
    place = Path(os.path.realpath(path))
    written = path if at_once else place.with_name(f".{place.name}.{os.getpid()}.part")
    compression = _COMPRESSIONS.get(path.suffix.lower(), "uncompressed")
    options = {} if kind in _BINARY else {"compression": compression, "check_extension": False}
    try:
        _SINKS[kind](frame, written, **options)
        if not at_once:
            written.replace(place)
    except OSError as error:
        # Polars tells the reason and the file; the file would be the one beside.
        reason = error.strerror or str(error).partition("\n")[0].replace(str(written), str(path))
        raise FileError.of_file(path, f"can not be written: {reason.removesuffix('.')}.") from None
    finally:
        if not at_once:
            written.unlink(missing_ok=True)


def _sink_fields(frame: pl.LazyFrame, path: Path, separator: str, **options: Any) -> None:
    frame.sink_csv(path, separator=separator, include_header=False, quote_style="never", **options)
