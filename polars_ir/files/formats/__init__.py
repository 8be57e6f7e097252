"""The formats, one file each or one of its family."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

from polars_ir.files.formats.arrow import IPC
from polars_ir.files.formats.beir import BEIR
from polars_ir.files.formats.letor import LETOR
from polars_ir.files.formats.msmarco import MSMARCO
from polars_ir.files.formats.ndjson import NDJSON
from polars_ir.files.formats.nested import JSON
from polars_ir.files.formats.parquet import PARQUET
from polars_ir.files.formats.separated import CSV, TSV
from polars_ir.files.formats.trec import JUDGES, PREFERENCES, SUBTOPICS, TREC
from polars_ir.files.record import Format, Role

#: From the general to the specific: a line that several formats know as theirs is of the last one.
FORMATS: tuple[Format, ...] = (
    TREC, SUBTOPICS, JUDGES, PREFERENCES, MSMARCO, LETOR, PARQUET, IPC, CSV, TSV, BEIR, NDJSON, JSON
)  # fmt: skip

#: The names of `FORMATS`, for type checkers.
FormatName: TypeAlias = Literal[
    "trec", "subtopics", "judges", "preferences", "msmarco", "letor",
    "parquet", "ipc", "csv", "tsv", "beir", "ndjson", "json",
]  # fmt: skip

#: The formats that any table can be written in, by their extensions.
TABLES = {format.extensions[0]: format for format in FORMATS if format.writer.table}


def readable(role: Role) -> list[str]:
    """The names of the formats that runs, or judgments, are read in."""
    return [format.name for format in FORMATS if role in format.holds]


def writable(role: Role) -> list[str]:
    """The names of the formats that runs, or judgments, are written in."""
    return [format.name for format in FORMATS if role in format.writer.frames]


def by_name(name: str) -> Format:
    """The format of a name."""
    return next(format for format in FORMATS if format.name == name)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def tells_formats(role: Role) -> Callable[[_Function], _Function]:
    """Put the names of formats into a docstring, with what they hold for `{readable}`, bare for `{writable}`."""
    read = "; ".join(f'`"{format.name}"` ({format.holds[role]})' for format in FORMATS if role in format.holds)
    written = ", ".join(f'`"{name}"`' for name in writable(role))

    def told(function: _Function) -> _Function:
        for word, names in {"{readable}": read, "{writable}": written}.items():
            lines = textwrap.wrap(f"{names}.", 112, break_long_words=False, break_on_hyphens=False)
            text = ("\n" + 8 * " ").join(lines)
            function.__doc__ = function.__doc__ and function.__doc__.replace(word, text)
        return function

    return told
