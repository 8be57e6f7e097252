"""How a frame becomes a file: beside its place, and then moved there, so that a write that fails leaves the old one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl

from polars_ir.errors import FileError

#: How each kind is written. Texts can be compressed, by the file's last extension.
_SINKS: dict[str, Callable[..., None]] = {
    "parquet": pl.LazyFrame.sink_parquet,
    "ipc": pl.LazyFrame.sink_ipc,
    "ndjson": pl.LazyFrame.sink_ndjson,
    "csv": pl.LazyFrame.sink_csv,
    "tsv": lambda frame, file, **options: frame.sink_csv(file, separator="\t", **options),
    "trec": lambda frame, file, **options: _sink_fields(frame, file, " ", **options),
    "msmarco": lambda frame, file, **options: _sink_fields(frame, file, "\t", **options),
    "json": lambda frame, file, **options: _sink_fields(pl.LazyFrame({"": _nested(frame)}), file, " ", **options),
}
BINARY = ("parquet", "ipc")

_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


def sink(frames: Iterable[pl.LazyFrame], path: Path, kind: str) -> None:
    """Write frames to a file, one after the other."""
    with _replaced(path) as file:
        for frame in frames:
            _SINKS[kind](frame, file, **_options(kind, path))


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write the lines of a text to a file, compressed as its ending says."""
    sink([pl.LazyFrame({"line": list(lines)})], path, "trec")


def _sink_fields(frame: pl.LazyFrame, file: IO[bytes], separator: str, **options: Any) -> None:
    frame.sink_csv(file, separator=separator, include_header=False, quote_style="never", **options)


def _nested(frame: pl.LazyFrame) -> Iterator[str]:
    """The lines of `{query: {document: value}}`, of a frame with these columns; no document is an empty query."""
    queries = frame.group_by(pl.first(), maintain_order=True).agg(pl.all()).collect(engine="streaming")
    yield "{"
    for number, (query, documents, values) in enumerate(queries.iter_rows(), start=1):
        of_query = {
            str(document): value for document, value in zip(documents, values, strict=True) if document is not None
        }
        comma = "," if number < queries.height else ""
        yield f"{json.dumps(str(query), ensure_ascii=False)}: {json.dumps(of_query, ensure_ascii=False)}{comma}"
    yield "}"


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file beside a place, to be written and then moved there; a pipe or a device itself.

    It is opened here, and once: Polars may open a path again, and then wait for ever for a reader of a pipe.
    """
    at_once = path.exists() and not path.is_file() and not path.is_dir()
    # A link stays one: what it leads to is replaced.
    place = Path(os.path.realpath(path))
    written = path if at_once else place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with written.open("wb") as file:
            yield file
        if not at_once:
            written.replace(place)
    except OSError as error:
        # Polars tells the reason and the file; the file would be the one beside.
        reason = error.strerror or str(error).partition("\n")[0].replace(str(written), str(path))
        raise FileError.of_file(path, f"can not be written: {reason.removesuffix('.')}.") from None
    finally:
        if not at_once:
            written.unlink(missing_ok=True)


def _options(kind: str, path: Path) -> dict[str, Any]:
    """The compression that a file's ending says, for formats of text."""
    compression = _COMPRESSIONS.get(path.suffix.lower(), "uncompressed")
    return {} if kind in BINARY else {"compression": compression, "check_extension": False}
