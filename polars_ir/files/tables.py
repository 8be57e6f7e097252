"""Tables in files: of per-query values, of query attributes, or of records with lists and objects."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from polars_ir.errors import FileError, called
from polars_ir.files.finding.copies import downloaded
from polars_ir.files.finding.file import MAX_RATIO, File
from polars_ir.files.finding.sources import Source, by_extension, resolve
from polars_ir.files.formats import TABLES
from polars_ir.files.formats.json import JSON
from polars_ir.files.formats.json_tree import text_of
from polars_ir.files.formats.ndjson import NDJSON
from polars_ir.files.formats.record import Format, Typed
from polars_ir.files.formats.separated import read_table
from polars_ir.files.reading import read_typed
from polars_ir.files.rows.unreadable import FAILURES, because


def read_one_table(source: Source, *, remote: bool = True, max_ratio: float | None = MAX_RATIO) -> pl.DataFrame:
    """A table with a query column, whose ids stay as written: 007 is not 7."""
    file, format = _one_file(source, remote=remote, max_ratio=max_ratio)
    if format is None or not format.writer.table:
        raise FileError.of_file(file, f"unknown ending; tables are read from {', '.join(TABLES)}.")
    return _read(file, format, max_ratio)


def read_records(
    source: Source, *, remote: bool = True, max_ratio: float | None = MAX_RATIO, texts: bool = False
) -> pl.DataFrame:
    """Records with lists and objects: any table, JSON, and JSON lines whose lists are of several types.

    With `texts`, columns of a format without types are text, so that the id 007 is not 7.
    """
    file, format = _one_file(source, remote=remote, max_ratio=max_ratio)
    if format is None and isinstance(file, Path) and not file.suffix:
        format = JSON  # standard input, or a pipe
    if format is None or not (format.writer.table or format is JSON):
        known = ", ".join((*TABLES, *JSON.extensions))
        raise FileError.of_file(file, f"unknown ending; logs are read from {known}.")
    if format is JSON:
        return _of_json(file, text_of(file))
    try:
        return _read(file, format, max_ratio, texts=texts)
    except FileError:
        # Of a text beside a list, as HotpotQA has them, the reader of JSON makes lists, and that of lines an error.
        if format is not NDJSON or not isinstance(file, Path):
            raise
        lines = filter(str.strip, text_of(file).split("\n"))
        try:
            return pl.read_json(f"[{','.join(lines)}]".encode(), infer_schema_length=None)
        except FAILURES:
            pass
        raise


def _one_file(source: Source, *, remote: bool, max_ratio: float | None) -> tuple[File, Format | None]:
    file, *others = resolve(source, remote=remote, max_ratio=max_ratio)
    if others:
        raise FileError(f"{called(source)}: a table is in one file here; this stands for {len(others) + 1}.")
    return file, by_extension(file)


def _read(file: File, format: Format, max_ratio: float | None, *, texts: bool = False) -> pl.DataFrame:
    reader = format.reader
    with downloaded([file], format, max_ratio) as (local,):
        if isinstance(reader, Typed):
            table = read_typed([local], reader, max_ratio)
        else:
            table = read_table(local, format.separator, texts=texts)
    if table.is_empty():
        raise FileError.empty(file)
    return table


def _of_json(file: File, text: str) -> pl.DataFrame:
    """The records of JSON: a list of them, one that holds all, or one a line."""
    if not text.lstrip().startswith(("[", "{")):
        raise FileError.of_file(file, "it holds no list of objects and no object.")
    try:
        return pl.read_json(text.encode(), infer_schema_length=None)
    except FAILURES as error:
        try:
            return pl.read_ndjson(text.encode(), infer_schema_length=None)
        except FAILURES:
            raise because(file, error) from None
