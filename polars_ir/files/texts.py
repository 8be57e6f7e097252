"""Text files of one call as one table: which plan reads each file, and when to raise what.

Conventions: grades are Int64 if all that are looked at are written as integers, else Float64. A scan looks at each
file's first lines, a read at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError, called
from polars_ir.files.checked import Checked
from polars_ir.files.folders import check_folders
from polars_ir.files.locations import File, is_remote
from polars_ir.files.record import Role, Rows
from polars_ir.files.sources import names
from polars_ir.files.unreadable import FAILURES, because

#: The types of scores and grades to try, narrowest first.
_DTYPES: dict[Role, tuple[type[pl.DataType], ...]] = {"run": (pl.Float64,), "qrels": (pl.Int64, pl.Float64)}


def read(files: list[File], role: Role, reader: Rows) -> pl.DataFrame:
    """The files in memory; a failure is told with the first offending line of all of them."""
    if role == "run" and len(files) == 1 and (frame := _quick(files[0], reader)) is not None:
        return frame
    for dtype in _DTYPES[role]:
        parts = [reader.rows[role](path, dtype) for path in files]
        together = _together(parts, [_eager(part, role, reader) for part in parts], role, reader)
        try:
            frame = together.collect(engine="streaming")
        except FAILURES as error:
            if isinstance(error, OSError) and is_remote(files[0]):
                # Each try of a store that does not answer can take a minute.
                raise because(files[0], error) from None
            failed = error
            continue
        if frame.is_empty() and parts[0].dialect is None:
            raise FileError.empty(files[0])
        return frame
    raise _first_failure(parts) or because(files[0], failed)


def scan(files: list[File], role: Role, reader: Rows) -> pl.LazyFrame:
    """The files as a plan, after a look at the first lines of each."""
    failures = []
    for dtype in _DTYPES[role]:
        parts = [reader.rows[role](path, dtype) for path in files]
        failure = _first_failure([part.first_lines() for part in parts])
        if failure is None:
            return _together(parts, [part.scan() for part in parts], role, reader)
        failures.append(failure)
    raise failures[-1]


def _first_failure(parts: Sequence[Checked]) -> FileError | None:
    return next((failure for part in parts if (failure := part.failure()) is not None), None)


def _eager(part: Checked, role: Role, reader: Rows) -> pl.LazyFrame:
    frame = _quick(part.path, reader) if role == "run" else None
    return part.scan() if frame is None else frame.lazy()


def _quick(file: File, reader: Rows) -> pl.DataFrame | None:
    """A run that can be read the short way."""
    return reader.quick(file) if isinstance(file, Path) else None


def _together(parts: list[Checked], scans: list[pl.LazyFrame], role: Role, reader: Rows) -> pl.LazyFrame:
    first, *others = parts
    if not others:
        return scans[0]
    for part in others:
        if part.columns != first.columns:
            had, wanted = ", ".join(part.columns), ", ".join(first.columns)
            problem = f"its columns are {had:.200}; those of {called(first.path)} are {wanted:.200}. Read them apart."
            raise FileError.of_file(part.path, problem)
    if first.dialect is not None:
        check_folders([part.path for part in parts], first.columns)
    heads = [part.first_lines() for part in parts]
    if role == "run" and first.dialect is None:
        systems = zip(_systems(heads, reader), scans, strict=True)
        scans = [scan.select(pl.lit(name).alias("run"), pl.all()) for name, scan in systems]
    return pl.concat(scans)


def _systems(heads: list[Checked], reader: Rows) -> list[str]:
    """A name for every file: its tag, or the file's own where tags repeat, change within a file or are not there."""
    tags = [reader.tags(head) for head in heads]
    one_of_each = {of_file[0] for of_file in tags if len(of_file) == 1}
    return [tag for (tag,) in tags] if len(one_of_each) == len(heads) else names([head.path for head in heads])
