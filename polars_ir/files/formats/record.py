"""The record of a format: how it is recognised, read and written.

Conventions: each format is one record beside its functions, in a file of `formats/`, and one line in `FORMATS`. All
that handles formats (readers, writers, the command line, documentation, tests) reads the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.finding.file import File
from polars_ir.files.rows.blanks import Words
from polars_ir.files.rows.unreadable import because
from polars_ir.files.rows.verdicts import Checked
from polars_ir.frames.canonical_frame import CanonicalFrame

Role: TypeAlias = Literal["run", "qrels"]


class Rows(NamedTuple):
    """Reader of texts checked row by row, which may be larger than memory."""

    #: Reads a file, with scores and grades of a type.
    rows: Mapping[Role, Callable[[File, Any], Checked]]
    #: Reads a run the short way; None where that could be wrong.
    quick: Callable[[Path], pl.DataFrame | None] = lambda _: None
    #: The field of a line of a run that names its system.
    tag: int | None = None
    #: The reason why the first lines of a file that nobody said is judgments are none.
    doubt: Callable[[Checked], str | None] = lambda _: None


class Typed(NamedTuple):
    """Reader of typed tables; several files make one table."""

    scan: Callable[[list[File]], pl.LazyFrame]
    #: Raises a `FileError` for a file with these columns that Polars reads without an error.
    check: Callable[[File, pl.Schema], None] = lambda _file, _schema: None
    #: The error of a file that Polars could not read.
    failure: Callable[[File, BaseException], FileError] = because
    #: True if only all rows tell the columns, so that a scan reads them all.
    by_rows: bool = False


class Whole(NamedTuple):
    """Reader of texts that are read as a whole."""

    read: Callable[[File, Role, Words | None], pl.DataFrame]


class Writer(NamedTuple):
    """Writer of a format: frames of a table, written one after the other."""

    #: Makes frames of a run and the name of its system, or of judgments in the order of their queries.
    frames: Mapping[Role, Callable[[CanonicalFrame, str], Iterable[pl.LazyFrame]]] = {}
    #: Writes a frame to a binary file; takes `compression` where the format is a text.
    sink: Callable[..., None] = pl.LazyFrame.sink_csv
    #: True if any table can be written so, also a run of several systems.
    table: bool = False


class Format(NamedTuple):
    """A format of files."""

    name: str
    #: The content of a file, in words, for each role that it can have.
    holds: Mapping[Role, str]
    reader: Rows | Typed | Whole
    writer: Writer = Writer()
    #: A small file of each role; empty where the format is no text.
    examples: Mapping[Role, str] = {}
    #: The first one is what tables are written with.
    extensions: tuple[str, ...] = ()
    #: True if the extension alone determines the format.
    has_own_extension: bool = True
    #: The separator of the columns of a text with a header; without it a line is not one of this format.
    separator: str = ""
    #: The first bytes of a file that is no text, whatever it is called.
    signature: bytes = b""
    #: The test of the first line that holds data, for each role whose files it recognises.
    is_first_line: Mapping[Role, Callable[[str], object]] = {}
    #: The column that distinguishes several judgments of a document.
    per: str | None = None

    @property
    def is_text(self) -> bool:
        """True if a file may be compressed as a whole."""
        return not self.signature
