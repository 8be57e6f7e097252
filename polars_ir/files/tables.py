"""Parquet, Arrow IPC and NDJSON: tables that know their types, read as they are.

Conventions: several files are parts of one table, so all have the columns and types of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.locations import File, is_remote
from polars_ir.files.unreadable import FAILURES, because

_SCANS: Mapping[str, Callable[..., pl.LazyFrame]] = {
    "parquet": pl.scan_parquet,
    "ipc": pl.scan_ipc,
    "ndjson": pl.scan_ndjson,
}

FORMATS = frozenset(_SCANS)


def read(files: list[File], format: str) -> pl.DataFrame:
    """The table in memory."""
    lazy = scan(files, format)
    try:
        return lazy.collect(engine="streaming")
    except FAILURES as error:
        raise because(_first_unreadable(files, format), error) from None


def scan(files: list[File], format: str) -> pl.LazyFrame:
    """The table as a plan, after a look at every file's columns."""
    first, *others = [_schema(path, format) for path in files]
    for path, schema in zip(files[1:], others, strict=True):
        if schema != first:
            problem = f"its columns are {_told(schema)}; those of {files[0]} are {_told(first)}. Read them apart."
            raise FileError.of_file(path, problem)
    return _scan(files, format)


def _scan(files: list[File], format: str) -> pl.LazyFrame:
    # With globbing on, Polars would take a file named `x[1].parquet` for a pattern. Remote patterns are its to follow.
    # All lines of an NDJSON file tell its columns: one that first comes far down would be left out without a word.
    of_lines: dict[str, Any] = {"infer_schema_length": None}
    options = of_lines if format == "ndjson" else {"glob": any(map(is_remote, files))}
    return _SCANS[format](files, **options)


def _schema(path: File, format: str) -> pl.Schema:
    if not isinstance(path, str) and path.stat().st_size == 0:
        raise FileError.empty(path)
    try:
        return _scan([path], format).collect_schema()
    except FAILURES as error:
        raise because(path, error) from None


def _first_unreadable(files: list[File], format: str) -> File:
    for path in files:
        try:
            _scan([path], format).select(pl.len()).collect(engine="streaming")
        except FAILURES:
            return path
    return files[0]


def _told(schema: pl.Schema) -> str:
    return ", ".join(f"{name} {dtype}" for name, dtype in schema.items())
