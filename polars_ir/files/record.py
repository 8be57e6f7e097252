"""What is known of a format: what tells it, how it is read, and how it is written.

Conventions: each format is one record beside its functions, in a file of `formats/`, and one line in `FORMATS`. All
that handles formats (readers, writers, the command line, documentation, tests) reads the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.checked import Checked
from polars_ir.files.locations import File
from polars_ir.files.unreadable import because
from polars_ir.frames.table import Table

Role: TypeAlias = Literal["run", "qrels"]


class Rows(NamedTuple):
    """How a text is read whose rows are checked one by one, so that it can be larger than memory."""

    #: Reads a file; scores and grades as the type that is given.
    rows: Mapping[Role, Callable[[File, type[pl.DataType]], Checked]]
    #: Reads a run the short way, or gives None where that could not be right.
    quick: Callable[[Path], pl.DataFrame | None] = lambda _: None
    #: The names that the rows of a run give their system.
    tags: Callable[[Checked], list[str]] = lambda _: []


class Typed(NamedTuple):
    """How a table is read that knows the types of its columns; several files are parts of one table."""

    scan: Callable[[list[File]], pl.LazyFrame]
    #: Raises a `FileError` for a file, of which Polars told these columns, that Polars reads without one.
    check: Callable[[File, pl.Schema], None] = lambda _file, _schema: None
    #: What is wrong with a file that Polars could not read.
    failure: Callable[[File, BaseException], FileError] = because
    #: Whether only all rows tell the columns, so that a scan reads them all.
    by_rows: bool = False


class Whole(NamedTuple):
    """How a text is read that tells nothing before its end."""

    read: Callable[[File, Role], pl.DataFrame]


class Writer(NamedTuple):
    """How a format is written: tables become frames, which are written one after the other."""

    #: Makes frames of a run and the name of its system, or of judgments in the order of their queries.
    frames: Mapping[Role, Callable[[Table, str], Iterable[pl.LazyFrame]]] = {}
    #: Writes a frame to a binary file; takes `compression` where the format is a text.
    sink: Callable[..., None] = pl.LazyFrame.sink_csv
    #: Whether any table can be written so, also a run of several systems.
    table: bool = False


class Format(NamedTuple):
    """A format of files."""

    name: str
    #: What a file holds, in words, for each role that it can have.
    holds: Mapping[Role, str]
    reader: Rows | Typed | Whole
    writer: Writer = Writer()
    #: A small file of each role; empty where the format is no text.
    examples: Mapping[Role, str] = {}
    #: The first one is what tables are written with.
    extensions: tuple[str, ...] = ()
    #: Whether the extension alone tells the format.
    told_by_extension: bool = True
    #: The first bytes of a file that is no text, whatever it is called.
    signature: bytes = b""
    #: Whether the first line that holds data is one of this format.
    told_by_line: Callable[[str, Role], bool] | None = None
    #: The column that tells apart several judgments of a document.
    per: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether a file may be compressed as a whole."""
        return not self.signature
