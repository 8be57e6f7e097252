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
    #: Reads a clean run quickly; None where that could be wrong.
    quick: Callable[[Path], pl.DataFrame | None] = lambda _: None
    #: The field of a line of a run that names its system.
    tag: int | None = None
    #: The reason why the first lines of a file without a given format are not judgments.
    doubt: Callable[[Checked], str | None] = lambda _: None
    #: The reason why the first lines are probably of another format than was given.
    suspicion: Callable[[Checked], str | None] | None = None


class Typed(NamedTuple):
    """Reader of typed tables; several files make one table."""

    scan: Callable[[list[File]], pl.LazyFrame]
    #: Raises a `FileError` for invalid columns that Polars accepts.
    check: Callable[[File, pl.Schema], None] = lambda _file, _schema: None
    #: The error of a file that Polars cannot read.
    failure: Callable[[File, BaseException], FileError] = because
    #: True if the columns are only known from all rows, so that a scan reads them all.
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
    #: True if the format holds any table, also a run of several systems.
    table: bool = False


class Format(NamedTuple):
    """A format of files."""

    name: str
    #: The content of a file, in words, for each role that it can have.
    holds: Mapping[Role, str]
    reader: Rows | Typed | Whole
    writer: Writer = Writer()
    #: A small example of each role; empty for binary formats.
    examples: Mapping[Role, str] = {}
    #: Extensions; the first is used in writing.
    extensions: tuple[str, ...] = ()
    #: True if the extension alone determines the format.
    has_own_extension: bool = True
    #: Column separator of a text with a header, without which a line is not of this format.
    separator: str = ""
    #: First bytes of a binary file, whatever its name.
    signature: bytes = b""
    #: The test of the first line that holds data, for each role whose files it recognises.
    is_first_line: Mapping[Role, Callable[[str], object]] = {}
    #: The column that distinguishes several judgments of a document.
    per: str | None = None

    @property
    def is_text(self) -> bool:
        """True if a file may be compressed as a whole."""
        return not self.signature
