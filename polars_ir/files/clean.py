"""The short way to read a clean TREC run: six fields, one blank between them, and nothing else in the file.

Conventions: this is an optimisation of `trec.run` and gives what that gives, or None. `scan_csv` is half again as fast
but takes a tab for part of an id, so the file's bytes are searched first for everything it would read otherwise than
`trec.run`; what it can not tell by an error of its own it tells by a null.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_ir.files.signatures import UNPACKED, beginning
from polars_ir.files.unreadable import FAILURES

#: What is no blank to `scan_csv`, carriage return, NUL, `#` (a comment?), the first byte of a byte-order mark.
_UNCLEAN = (b"\t", b"\v", b"\f", b"\r", b"\0", b"#", b"\xef")

#: A rank that is no integer is an error here and a null in `trec.run`: to read text and cast it takes twice as long.
_NUMBERS = {"rank": pl.Int64, "score": pl.Float64}

_UNCLEAR = "unclear"

_CHUNK = 1 << 20


def read_run(path: Path, places: dict[str, int], count: int) -> pl.DataFrame | None:
    """A clean run in memory; None if the file is not clean, and then nothing is said of why.

    A line has `count` fields, of which those at some places become columns.
    """
    if UNPACKED.match(beginning(path)) or not _is_clean(path):
        return None
    names = {place: name for name, place in places.items()}
    schema = {names.get(place, f"field {place}"): pl.String for place in range(count)} | _NUMBERS
    lines = pl.scan_csv(
        path, separator=" ", quote_char=None, has_header=False, schema=schema, glob=False, raise_if_empty=False
    )
    # A short line, a blank at either end and two blanks side by side all leave a field empty, which is a null. Told
    # while the file streams by, so that the two fields that become no column take no memory: half the time.
    unclear = pl.any_horizontal(pl.all().is_null()) | pl.col("score").is_nan()
    try:
        frame = lines.select(*places, unclear.alias(_UNCLEAR)).collect(engine="streaming")
    except FAILURES:
        return None
    if frame.is_empty() or frame[_UNCLEAR].any():
        return None
    return frame.drop(_UNCLEAR)


def _is_clean(path: Path) -> bool:
    """Whether the file is plain text without any of the bytes that `scan_csv` would read otherwise."""
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                # A line longer than this may be too long for `trec.run`.
                if b"\n" not in chunk or any(byte in chunk for byte in _UNCLEAN):
                    return False
    except OSError:
        return False
    return True
