"""How frames, and the lines of a text, become a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.files.record import Format
from polars_ir.files.replacing import replaced
from polars_ir.files.writing import sink_fields

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def sink(frames: Iterable[pl.LazyFrame], path: Path, format: Format) -> None:
    """Write frames to a file, one after the other; a text is compressed as the file's last extension says."""
    with replaced(path) as file:
        for frame in frames:
            format.writer.sink(frame, file, **(_options(path) if format.is_text else {}))


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write the lines of a text to a file, compressed as its ending says."""
    with replaced(path) as file:
        sink_fields(pl.LazyFrame({"line": list(lines)}), file, **_options(path))


def _options(path: Path) -> dict[str, Any]:
    return {"compression": _COMPRESSIONS.get(path.suffix.lower(), "uncompressed"), "check_extension": False}
