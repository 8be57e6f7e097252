"""The short way to read a clean TREC run: six fields, one blank between them, and nothing else in the file.

Conventions: this is an optimisation of `trec.run` with the same result, or None. `scan_csv` takes less than half the
time but knows one separator, so the bytes of the file are searched first for everything that it would read otherwise
than `trec.run`; other deviations show as its errors, or as nulls.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_ir.files.finding.file import UNPACKED, beginning
from polars_ir.files.rows.unreadable import FAILURES

#: The separators that `scan_csv` can have. Where one separates the fields, it takes the other for part of an id.
_SEPARATORS = {b" ", b"\t"}

#: Bytes that `trec.run` takes for blanks or refuses, and `scan_csv` for part of an id or of a line's end.
_UNCLEAN = {b"\v", b"\f", b"\r", b"\0"}

#: The beginnings of comments, and of lines with a byte-order mark, by their first bytes.
_NO_QUERY = {b"#": "#", b"\xef": "\ufeff"}

_LOOKED_FOR = (*_SEPARATORS, *_UNCLEAN, *_NO_QUERY)

#: A rank that is no integer is an error here and a null in `trec.run`: to read text and cast it takes twice as long.
_NUMBERS = {"rank": pl.Int64, "score": pl.Float64}

_UNCLEAR = "unclear"

_CHUNK = 1 << 20


def read_run(path: Path, places: dict[str, int], count: int) -> pl.DataFrame | None:
    """A clean run in memory; None if the file is not clean, for whatever reason.

    A line has `count` fields, of which those at some places become columns.
    """
    if UNPACKED.match(beginning(path)) or (found := _found(path)) is None:
        return None
    names = {place: name for name, place in places.items()}
    schema = {names.get(place, f"field {place}"): pl.String for place in range(count)} | _NUMBERS
    lines = pl.scan_csv(
        path,
        separator="\t" if b"\t" in found else " ",
        quote_char=None,
        has_header=False,
        schema=schema,
        glob=False,
        raise_if_empty=False,
    )
    # A short line, a blank at either end and two blanks side by side all leave a field empty, which is a null. Found
    # while the file streams by, so that the two fields that become no column take no memory: half the time.
    no_query = (pl.nth(0).str.starts_with(text) for byte, text in _NO_QUERY.items() if byte in found)
    unclear = pl.any_horizontal(pl.all().is_null(), pl.col("score").is_nan(), *no_query)
    try:
        frame = lines.select(*places, unclear.alias(_UNCLEAR)).collect(engine="streaming")
    except FAILURES:
        return None
    if frame.is_empty() or frame[_UNCLEAR].any():
        return None
    return frame.drop(_UNCLEAR)


def _found(path: Path) -> set[bytes] | None:
    """The bytes of `_LOOKED_FOR` in a file; None if `scan_csv` would read one of them otherwise."""
    found: set[bytes] = set()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(byte for byte in _LOOKED_FOR if byte in chunk)
                # A line longer than a chunk may be too long for `trec.run`.
                if b"\n" not in chunk or found & _UNCLEAN or found >= _SEPARATORS:
                    return None
    except OSError:
        return None
    return found
