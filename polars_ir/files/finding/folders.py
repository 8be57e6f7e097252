"""Columns that the names of folders hold, as Hive writes them: `date=2026-11-18/run=bm25/part.parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path, PurePath
from typing import NamedTuple
from urllib.parse import unquote

import polars as pl

from polars_ir.errors import FileError, called, fold
from polars_ir.files.finding.file import File, pure
from polars_ir.frames.roles import ROLES
from polars_ir.frames.rules import guard

#: Hive's name of null.
NULL = "__HIVE_DEFAULT_PARTITION__"


class Folders(NamedTuple):
    """The columns in the names of a file's folders: those that the file `lacks`, and those that it has `again`.

    Each is a name and a value; that of a column of the file is its name there, with the text of the folder.
    """

    lacks: tuple[tuple[str, str | date | None], ...]
    again: tuple[tuple[str, str | None], ...]

    def with_columns(self, scan: pl.LazyFrame, file: File) -> pl.LazyFrame:
        """Rows of files with the columns of their folders, first.

        Where a file and its folder say two things of a column, as after a copy, an error names both: at once if the
        first row of a file on disk does, else the plan fails.
        """
        for name, text in self.again:
            says = f"{called(file)} lies in a folder {name}={NULL if text is None else text}, and has rows of another"
            fix = "move it, or leave out its column"
            is_other = _is_other(name, text, scan.collect_schema()[name])
            if isinstance(file, Path) and scan.head(1).select(is_other).collect().to_series().any():
                raise FileError(f"{says}; {fix}.")
            scan = guard(scan, is_other, f"{says}; {fix}", key=name)
        if not self.lacks:
            return scan
        dtypes = {name: pl.Date() if isinstance(value, date) else pl.String() for name, value in self.lacks}
        return scan.select(*(pl.lit(value, dtypes[name]).alias(name) for name, value in self.lacks), pl.all())


def folders_of(files: Sequence[File], columns: Iterable[str]) -> list[Folders]:
    """Columns of each file's folders that its own columns lack.

    Their values are days where all of them are written so, and else texts; ids are always texts, as everywhere in
    files.
    """
    present = {fold(name): name for name in columns}
    ids = {fold(name) for role in ROLES.values() for name in role.names}
    held = list(map(_columns_of, map(pure, files)))
    lacking: list[dict[str, str | date | None]] = [{} for _ in files]
    for key in dict.fromkeys(key for of_file in held for key in of_file if fold(key) not in present):
        texts = [of_file.get(key) for of_file in held]
        days = [] if fold(key) in ids else list(map(_day, texts))
        for of_file, value in zip(lacking, days if days and all(days) else texts, strict=True):
            of_file[key] = value
    again = ({present[fold(key)]: text for key, text in of.items() if fold(key) in present} for of in held)
    return [Folders(tuple(new.items()), tuple(old.items())) for new, old in zip(lacking, again, strict=True)]


def _columns_of(path: PurePath) -> dict[str, str | None]:
    """Columns and values of a file's folders, as Hive writes them."""
    pairs = (part.partition("=")[::2] for part in path.parts[:-1] if "=" in part)
    return {key: None if value == NULL else unquote(value) for key, value in pairs if key}


def _day(value: str | None) -> date | None:
    """The day that a text is, as 2026-11-18."""
    try:
        return date.fromisoformat(value) if value and len(value) == len("2026-11-18") else None
    except ValueError:
        return None


def _is_other(column: str, text: str | None, dtype: pl.DataType) -> pl.Expr:
    """True where a column has not the value that the text of a folder stands for."""
    value, wanted = pl.col(column), pl.lit(text, pl.String)
    if dtype.is_numeric():  # month=01
        return value.cast(pl.Float64).ne_missing(wanted.cast(pl.Float64, strict=False))
    if dtype == pl.Datetime and _day(text):
        value = value.cast(pl.Date)
    return value.cast(pl.String).ne_missing(wanted)
