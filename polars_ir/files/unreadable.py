"""Files that Polars can not read at all: what is wrong with them, and where."""

from __future__ import annotations

import csv
import gzip
import itertools
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.locations import File

#: What Polars raises for a file it can not read; damaged Arrow files can make it panic.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def unreadable(path: File, error: BaseException, separator: str | None = None) -> FileError:
    """A failure of Polars to read a text file as a `FileError`, with the line where one is to blame."""
    if isinstance(path, str) or path.suffix.lower() == ".zst":
        return because(path, error)
    try:
        found = _undecodable_line(path)
        if found is None and separator is not None:
            found = _broken_row(path, separator)
    except (OSError, EOFError, zlib.error, csv.Error):
        found = None
    return found or because(path, error)


def because(path: File, error: BaseException) -> FileError:
    """A failure of Polars as a `FileError` about the whole file."""
    reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
    return FileError.of_file(path, f"the file can not be read: {reason[0]}.")


def _undecodable_line(path: Path) -> FileError | None:
    """The first line that is no UTF-8 text."""
    with _opener(path)(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                text = line.rstrip(b"\r\n").decode(errors="backslashreplace")
                problem = "this is no UTF-8 text; a binary file, or another encoding?"
                return FileError.at_line(path, number, text, problem)
    return None


def _broken_row(path: Path, separator: str) -> FileError | None:
    """The first row of a table with more fields than its header, or with a quote that does not end."""
    with _opener(path)(path, "rt", encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(lines, delimiter=separator, strict=True)
        header, begin = next(rows, []), rows.line_num
        try:
            for row in rows:
                if len(row) > len(header):
                    problem = f"the header names {len(header)} columns; this row has {len(row)} fields."
                    return FileError.at_line(path, begin + 1, separator.join(row), problem)
                begin = rows.line_num
        except csv.Error:
            lines.seek(0)
            text = next(itertools.islice(lines, begin, None)).rstrip("\r\n")
            return FileError.at_line(path, begin + 1, text, "a quote is opened here and does not end.")
    return None


def _opener(path: Path) -> Callable[..., Any]:
    return gzip.open if path.suffix.lower() == ".gz" else open
