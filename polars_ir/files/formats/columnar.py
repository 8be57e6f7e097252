"""Parquet and Arrow IPC, which is Feather: tables that know their types, read as they are."""

from __future__ import annotations

from functools import partial
from typing import Literal

import polars as pl

from polars_ir.files.finding.file import File, is_remote
from polars_ir.files.formats.record import Format, Typed, Writer
from polars_ir.files.writing.checks import AS_IT_IS


def _scan(files: list[File], scan: Literal["scan_parquet", "scan_ipc"]) -> pl.LazyFrame:
    """The files as one table."""
    # With globbing on, Polars would take a file named `x[1].parquet` for a pattern. Remote patterns are its to follow.
    table: pl.LazyFrame = getattr(pl, scan)(files, glob=any(map(is_remote, files)))
    return table


PARQUET = Format(
    "parquet",
    {"run": "a table", "qrels": "a table"},
    Typed(partial(_scan, scan="scan_parquet")),
    Writer(AS_IT_IS, pl.LazyFrame.sink_parquet, table=True),
    extensions=(".parquet", ".pq", ".parq"),
    signature=b"PAR1\x15",
)

IPC = Format(
    "ipc",
    {"run": "a table", "qrels": "a table"},
    Typed(partial(_scan, scan="scan_ipc")),
    Writer(AS_IT_IS, pl.LazyFrame.sink_ipc, table=True),
    extensions=(".arrow", ".ipc", ".feather"),
    signature=b"ARROW1\0\0",
)
