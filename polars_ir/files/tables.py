"""Parquet, Arrow IPC and NDJSON: tables that know their types, read as they are.

Conventions: several files are parts of one table, so all have the columns and types of the first. Only all lines of
NDJSON tell its columns, so a scan of it reads the file once before it returns, and so finds every wrong line. Of a key
that is twice in a line the first one counts.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files import elasticsearch
from polars_ir.files.locations import File, is_remote, one_file
from polars_ir.files.signatures import beginning
from polars_ir.files.unreadable import FAILURES, because, unreadable_objects
from polars_ir.schema import find

#: Each is read by Polars' function of that name.
FORMATS = frozenset({"parquet", "ipc", "ndjson"})

#: How JSON writes a character in two halves, or one of them alone.
_HALF = r"(?i)\\ud[89a-f]"


def read(files: list[File], format: str) -> pl.DataFrame:
    """The table in memory."""
    lazy = _together(files, format)
    try:
        return lazy.collect(engine="streaming")
    except FAILURES as error:
        raise _first_unreadable(files, format) or because(files[0], error) from None


def check_ids(files: list[File], format: str, frame: pl.DataFrame) -> None:
    """Raise a `FileError` that names the first of several parts of a run with ids that are null."""
    ids = [name for role in ("query_id", "doc_id") if (name := find("run", role, frame.columns))]
    if len(files) == 1 or not any(frame[name].null_count() for name in ids):
        return
    for path in files:
        counts = _scan([path], format).select(pl.col(ids).null_count()).collect(engine="streaming")
        for name, count in counts.row(0, named=True).items():
            if count:
                raise FileError.of_file(path, f"rows of this part without {name}: {count}. Leave them out.")


def scan(files: list[File], format: str) -> pl.LazyFrame:
    """The table as a plan, after a look at every file's columns."""
    lazy = _together(files, format)
    if format == "ndjson" and (failure := _first_unreadable(files, format)):
        raise failure
    return lazy


def _together(files: list[File], format: str) -> pl.LazyFrame:
    first, *others = [_schema(path, format) for path in files]
    for path, schema in zip(files[1:], others, strict=True):
        if schema != first:
            problem = f"its columns are {_listed(schema)}; those of {files[0]} are {_listed(first)}. Read them apart."
            raise FileError.of_file(path, problem)
    if format == "ndjson":
        for path in files:
            # To fetch a remote file once more would take too long.
            if isinstance(path, Path):
                _check_characters(path)
    return _scan(files, format)


def _check_characters(path: Path) -> None:
    """Raise a `FileError` for half of a character, which JSON can write and Polars would read as NUL."""
    lines = pl.scan_lines(path, name="line", row_index_name="number", row_index_offset=1, glob=False)
    rest = pl.col("line")
    for whole in (r"\\\\", r"(?i)\\ud[89ab]..\\ud[c-f].."):
        rest = rest.str.replace_all(whole, "")
    # Few lines have such an escape at all.
    halves = lines.filter(pl.col("line").str.contains(_HALF)).filter(rest.str.contains(_HALF)).head(1)
    try:
        found = halves.select("number", "line").collect(engine="streaming").rows()
    except FAILURES as error:
        raise unreadable_objects(path, error) from None
    for number, line in found:
        raise FileError.at_line(path, number, line, "an escape from \\ud800 to \\udfff is half of a character.")


def _scan(files: list[File], format: str) -> pl.LazyFrame:
    if format == "ndjson":
        return _scan_objects(files)
    # With globbing on, Polars would take a file named `x[1].parquet` for a pattern. Remote patterns are its to follow.
    read: Callable[..., pl.LazyFrame] = getattr(pl, f"scan_{format}")
    return read(files, glob=any(map(is_remote, files)))


def _scan_objects(files: list[File]) -> pl.LazyFrame:
    """Files of a JSON object a line, whose columns all lines tell: one that first comes far down is a column too."""
    local = [file for file in files if isinstance(file, Path)]
    if len(local) == len(files) and any(beginning(file).startswith(BOM_UTF8) for file in local):
        # Polars takes a byte-order mark for no JSON.
        read = [file.read_bytes().removeprefix(BOM_UTF8) for file in local]
        return pl.scan_ndjson(read, infer_schema_length=None)  # type: ignore[arg-type]  # it takes these too
    return pl.scan_ndjson([one_file(file) for file in files], infer_schema_length=None)


def _schema(path: File, format: str) -> pl.Schema:
    if not isinstance(path, str) and path.stat().st_size == 0:
        raise FileError.empty(path)
    try:
        schema = _scan([path], format).collect_schema()
    except FAILURES as error:
        raise _unreadable(path, format, error) from None
    if format == "ndjson" and elasticsearch.is_response(schema):
        raise elasticsearch.nameless(path)
    return schema


def _first_unreadable(files: list[File], format: str) -> FileError | None:
    for path in files:
        try:
            # Only what is asked for is read.
            _scan([path], format).select(pl.all().null_count()).collect(engine="streaming")
        except FAILURES as error:
            return _unreadable(path, format, error)
    return None


def _unreadable(path: File, format: str, error: BaseException) -> FileError:
    return unreadable_objects(path, error) if format == "ndjson" else because(path, error)


def _listed(schema: pl.Schema) -> str:
    return f"{', '.join(f'{name} {dtype}' for name, dtype in schema.items()):.300}"
