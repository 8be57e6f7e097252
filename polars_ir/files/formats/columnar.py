"""Parquet and Arrow IPC, which is Feather: tables that know their types, read as they are."""

from __future__ import annotations

from functools import partial
from typing import Literal

import polars as pl

from polars_ir.files.finding.file import File, is_remote
from polars_ir.files.formats.record import Format, Role, Typed, Writer
from polars_ir.frames.canonical_frame import CanonicalFrame


def _scan(files: list[File], scan: str) -> pl.LazyFrame:
    # With globbing on, Polars would take a file named `x[1].parquet` for a pattern. Remote patterns are its to follow.
    table: pl.LazyFrame = getattr(pl, scan)(files, glob=any(map(is_remote, files)))
    return table


def _all_columns(table: CanonicalFrame, _tag: str) -> list[pl.LazyFrame]:
    return [table.all_columns()]


def _format(name: Literal["parquet", "ipc"], extensions: tuple[str, ...], signature: bytes) -> Format:
    holds: dict[Role, str] = {"run": "a table", "qrels": "a table"}
    writer = Writer({"run": _all_columns, "qrels": _all_columns}, getattr(pl.LazyFrame, f"sink_{name}"), table=True)
    reader = Typed(partial(_scan, scan=f"scan_{name}"))
    return Format(name, holds, reader, writer, extensions=extensions, signature=signature)


PARQUET = _format("parquet", (".parquet", ".pq", ".parq"), b"PAR1\x15")
IPC = _format("ipc", (".arrow", ".ipc", ".feather"), b"ARROW1\0\0")
