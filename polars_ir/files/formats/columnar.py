"""Parquet and Arrow IPC, which is Feather: tables that know their types, read as they are."""

from __future__ import annotations

from typing import cast

import polars as pl

from polars_ir.files.finding.file import File, is_remote
from polars_ir.files.formats.record import Format, Typed, Writer
from polars_ir.files.writing.checks import AS_IT_IS


def _scan_parquet(files: list[File]) -> pl.LazyFrame:
    """The files as one table."""
    # With globbing on, Polars would take a file named `x[1].parquet` for a pattern. Remote patterns are its to follow.
    return pl.scan_parquet(cast("list[str]", files), glob=any(map(is_remote, files)))


PARQUET = Format(
    "parquet",
    {"run": "a table", "qrels": "a table"},
    Typed(_scan_parquet),
    Writer(AS_IT_IS, pl.LazyFrame.sink_parquet, table=True),
    extensions=(".parquet", ".pq", ".parq"),
    signature=b"PAR1\x15",
)


def _scan_ipc(files: list[File]) -> pl.LazyFrame:
    """The files as one table."""
    # As for Parquet.
    return pl.scan_ipc(cast("list[str]", files), glob=any(map(is_remote, files)))


IPC = Format(
    "ipc",
    {"run": "a table", "qrels": "a table"},
    Typed(_scan_ipc),
    Writer(AS_IT_IS, pl.LazyFrame.sink_ipc, table=True),
    extensions=(".arrow", ".ipc", ".feather"),
    signature=b"ARROW1\0\0",
)
