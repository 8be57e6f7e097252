"""Errors of files that Polars cannot read, with the offending line."""

from __future__ import annotations

import csv
import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.finding.file import GZIP, ZSTD, File, beginning
from polars_ir.frames.kinds import message_of

#: Polars' exceptions for unreadable files; damaged Arrow files can make it panic.
FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


class Dialect(NamedTuple):
    """The separator of the fields of a table of text, and their quote character."""

    separator: str
    #: None where quotes are text.
    quote: str | None


_Finder: TypeAlias = Callable[[Path], FileError | None]


def unreadable(path: File, error: BaseException, dialect: Dialect | None = None) -> FileError:
    """A failure of Polars to read a text file as a `FileError`, with the line where one is to blame."""
    finders: list[_Finder] = [_undecodable_line]
    if dialect is not None:
        finders.append(partial(_broken_row, dialect=dialect))
    return _found(path, finders) or because(path, error)


def unreadable_objects(path: File, error: BaseException) -> FileError:
    """A failure of Polars to read a file with a JSON object a line, with the line where one is to blame."""
    return _found(path, [_undecodable_line, _broken_object]) or because(path, error)


def because(path: File, error: BaseException) -> FileError:
    """A failure of Polars as a `FileError` about the whole file."""
    if message := message_of(error):
        return FileError(message)
    # Polars may name the file as well.
    reason = (str(error).strip().splitlines() or [""])[0].removesuffix(".").removesuffix(f": {path}")
    return FileError.of_file(path, f"the file cannot be read: {reason or type(error).__name__:.200}.")


def _found(path: File, finders: Iterable[_Finder]) -> FileError | None:
    """The first finder's error, for a file that Python can open."""
    try:
        if isinstance(path, str) or beginning(path).startswith(ZSTD):
            return None
        return next((problem for find in finders if (problem := find(path)) is not None), None)
    except (OSError, FileError, EOFError, zlib.error, csv.Error):
        return None


def _undecodable_line(path: Path) -> FileError | None:
    """The first line that is not UTF-8."""
    with _opener(path)(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                text = line.rstrip(b"\r\n").decode(errors="backslashreplace")
                problem = "this is not UTF-8 text; is it binary, or in another encoding?"
                return FileError.at_line(path, number, text, problem)
    return None


def _broken_row(path: Path, dialect: Dialect) -> FileError | None:
    """The first row of a table with more fields than its header, or with a carriage return inside."""
    taken: list[str] = []
    with _opener(path)(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
        rows = csv.reader(
            _noted(lines, taken),
            delimiter=dialect.separator,
            quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        )
        header, number = next(rows, []), rows.line_num + 1
        taken.clear()
        try:
            for row in rows:
                if len(row) > len(header):
                    problem = f"the header names {len(header)} columns; this row has {len(row)} fields."
                    return FileError.at_line(path, number, dialect.separator.join(row), problem)
                number = rows.line_num + 1
                taken.clear()
        except csv.Error as error:
            if "new-line" in str(error):
                problem = "a carriage return inside the line; lines end in \\n or \\r\\n."
                return FileError.at_line(path, number, taken[0].rstrip("\r\n"), problem)
    return None


def _noted(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    """The lines, each of them appended to `taken` as it is read."""
    for line in lines:
        taken.append(line)
        yield line


def _broken_object(path: Path) -> FileError | None:
    """The first line that is not a JSON object."""
    decoder = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
    empty = True
    with _opener(path)(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.strip(" \t\r\n")
            problem = _problem_of_object(text, decoder) if text else None
            if problem is not None:
                return FileError.at_line(path, number, text, problem)
            empty = empty and not text
    return FileError.empty(path) if empty else None


def _problem_of_object(text: str, decoder: json.JSONDecoder) -> str | None:
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        return f"this is not JSON at column {error.colno}: {error.msg}."
    except (ValueError, RecursionError) as error:
        return f"this is not JSON: {error}."
    return None if isinstance(value, dict) else "a line of NDJSON must be an object, {...}."


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text:.80} is a number that cannot be held")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _opener(path: Path) -> Callable[..., Any]:
    return gzip.open if beginning(path).startswith(GZIP) else open
