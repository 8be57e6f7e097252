"""Parquet: tables that know their types, read as they are."""

from __future__ import annotations

from typing import cast

import polars as pl

from polars_ir.files.locations import File, is_remote
from polars_ir.files.record import Format, Typed, Writer
from polars_ir.files.writing import AS_IT_IS


def scan(files: list[File]) -> pl.LazyFrame:
    """The files as one table."""
    # With globbing on, Polars would take a file named `x[1].parquet` for a pattern. Remote patterns are its to follow.
    return pl.scan_parquet(cast("list[str]", files), glob=any(map(is_remote, files)))


PARQUET = Format(
    "parquet",
    {"run": "a table", "qrels": "a table"},
    Typed(scan),
    Writer(AS_IT_IS, pl.LazyFrame.sink_parquet, table=True),
    extensions=(".parquet", ".pq", ".parq"),
    signature=b"PAR1\x15",
)
