"""The formats, one file per format or family: to add one, write its file, and its name in `FORMATS`."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from polars_ir.files.formats.columnar import IPC, PARQUET
from polars_ir.files.formats.json import JSON
from polars_ir.files.formats.letor import LETOR
from polars_ir.files.formats.msmarco import MSMARCO
from polars_ir.files.formats.ndjson import NDJSON
from polars_ir.files.formats.record import Format, Role
from polars_ir.files.formats.separated import BEIR, CSV, TSV
from polars_ir.files.formats.trec import JUDGES, PREFERENCES, PRELS, SAMPLE_EVAL, SUBTOPICS, TREC

#: From general to specific: the last format that recognises a line is taken.
FORMATS: tuple[Format, ...] = (
    TREC, SUBTOPICS, JUDGES, PREFERENCES, SAMPLE_EVAL, PRELS, MSMARCO, LETOR, PARQUET, IPC, CSV, TSV, BEIR, NDJSON, JSON
)  # fmt: skip

#: The names of `FORMATS`; type checkers read them in the stub beside this file.
FormatName: TypeAlias = Literal[tuple(format.name for format in FORMATS)]  # type: ignore[valid-type]

BY_NAME = {format.name: format for format in FORMATS}
BY_EXTENSION = {extension: format for format in FORMATS for extension in format.extensions}

#: Formats of any table, by extension.
TABLES = {format.extensions[0]: format for format in FORMATS if format.writer.table}

#: Names of the formats read and written, of runs and of judgments.
READABLE = {role: tuple(format.name for format in FORMATS if role in format.holds) for role in get_args(Role)}
WRITABLE = {role: tuple(format.name for format in FORMATS if role in format.writer.frames) for role in get_args(Role)}
