"""Arrow IPC, which is Feather: tables that know their types, read as they are."""

from __future__ import annotations

from typing import cast

import polars as pl

from polars_ir.files.locations import File, is_remote
from polars_ir.files.record import Format, Typed, Writer
from polars_ir.files.writing import AS_IT_IS


def scan(files: list[File]) -> pl.LazyFrame:
    """The files as one table."""
    # As for Parquet.
    return pl.scan_ipc(cast("list[str]", files), glob=any(map(is_remote, files)))


IPC = Format(
    "ipc",
    {"run": "a table", "qrels": "a table"},
    Typed(scan),
    Writer(AS_IT_IS, pl.LazyFrame.sink_ipc, table=True),
    extensions=(".arrow", ".ipc", ".feather"),
    signature=b"ARROW1\0\0",
)
