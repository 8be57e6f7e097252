"""Tables that know their types, in one file or several."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_ir.errors import FileError, called
from polars_ir.files.folders import check_folders
from polars_ir.files.locations import File
from polars_ir.files.record import Typed
from polars_ir.files.unpacking import MAX_RATIO, check_size, most_bytes
from polars_ir.files.unreadable import FAILURES, because
from polars_ir.frames.columns import ROLES, fold

#: How many bytes a value takes in memory, where only the number of values is known.
_VALUE = 8


def read(files: list[File], reader: Typed, max_ratio: float | None = MAX_RATIO) -> pl.DataFrame:
    """The table in memory."""
    lazy = _together(files, reader, max_ratio)
    try:
        return lazy.collect(engine="streaming")
    except FAILURES as error:
        raise _first_unreadable(files, reader) or because(files[0], error) from None


def scan(files: list[File], reader: Typed, max_ratio: float | None = MAX_RATIO) -> pl.LazyFrame:
    """The table as a plan, after a look at every file's columns."""
    lazy = _together(files, reader, max_ratio)
    if reader.by_rows and (failure := _first_unreadable(files, reader)):
        raise failure
    return lazy


def check_ids(files: list[File], reader: Typed, frame: pl.DataFrame) -> None:
    """Raise a `FileError` that names the first of several parts of a run with ids that are null."""
    names_of_ids = {fold(name) for role in ("query_id", "doc_id") for name in ROLES[role]}
    ids = [name for name in frame.columns if fold(name) in names_of_ids]
    if len(files) == 1 or not any(frame[name].null_count() for name in ids):
        return
    for path in files:
        counts = reader.scan([path]).select(pl.col(ids).null_count()).collect(engine="streaming")
        for name, count in counts.row(0, named=True).items():
            if count:
                raise FileError.of_file(path, f"rows of this part without {name}: {count}. Leave them out.")


def _together(files: list[File], reader: Typed, max_ratio: float | None) -> pl.LazyFrame:
    first, *others = [_schema(path, reader, max_ratio) for path in files]
    for path, schema in zip(files[1:], others, strict=True):
        if schema != first:
            problem = (
                f"its columns are {_listed(schema)}; those of {called(files[0])} are {_listed(first)}. Read them apart."
            )
            raise FileError.of_file(path, problem)
    check_folders(files, first)
    return reader.scan(files)


def _schema(path: File, reader: Typed, max_ratio: float | None) -> pl.Schema:
    if not isinstance(path, str) and path.stat().st_size == 0:
        raise FileError.empty(path)
    try:
        schema = reader.scan([path]).collect_schema()
    except FAILURES as error:
        raise reader.failure(path, error) from None
    reader.check(path, schema)
    if isinstance(path, Path) and max_ratio is not None and not reader.by_rows:
        _check_rows(path, reader, len(schema), max_ratio)
    return schema


def _check_rows(path: Path, reader: Typed, width: int, max_ratio: float) -> None:
    """Raise a `FileError` for a file that tells of more rows than it could hold."""
    try:
        # Polars knows them without reading the columns.
        height = reader.scan([path]).select(pl.len()).collect(engine="streaming").item()
    except FAILURES as error:
        raise reader.failure(path, error) from None
    check_size(path, height * width * _VALUE, most_bytes(path, max_ratio), max_ratio)


def _first_unreadable(files: list[File], reader: Typed) -> FileError | None:
    for path in files:
        try:
            # Only what is asked for is read.
            reader.scan([path]).select(pl.all().null_count()).collect(engine="streaming")
        except FAILURES as error:
            return reader.failure(path, error)
    return None


def _listed(schema: pl.Schema) -> str:
    return f"{', '.join(f'{name} {dtype}' for name, dtype in schema.items()):.300}"
