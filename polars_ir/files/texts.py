"""Text files of one call as one table: which plan reads each file, and when to raise what.

Conventions: grades are Int64 if all that are looked at are written as integers, else Float64. A scan looks at each
file's first lines, a read at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files import clean, delimited, letor, msmarco, trec
from polars_ir.files.checked import Checked
from polars_ir.files.formats import Format, Role
from polars_ir.files.locations import File, is_remote
from polars_ir.files.sources import names
from polars_ir.files.unreadable import FAILURES, because

#: The types of grades to try, narrowest first.
GRADES: dict[Role, tuple[type[pl.DataType], ...]] = {"run": (pl.Float64,), "qrels": (pl.Int64, pl.Float64)}


def read(files: list[File], role: Role, format: Format) -> pl.DataFrame:
    """The files in memory; a failure is told with the first offending line of all of them."""
    if (role, format, len(files)) == ("run", "trec", 1) and (frame := _clean(files[0])) is not None:
        return frame
    for grade in GRADES[role]:
        parts = [_open(path, role, format, grade) for path in files]
        together = _together(parts, [_eager(part, role, format) for part in parts], role, format)
        try:
            frame = together.collect(engine="streaming")
        except FAILURES as error:
            if isinstance(error, OSError) and is_remote(files[0]):
                # Each try of a store that does not answer can take a minute.
                raise because(files[0], error) from None
            failed = error
            continue
        if frame.is_empty() and parts[0].separator is None:
            raise FileError.empty(files[0])
        return frame
    raise _first_failure(parts) or because(files[0], failed)


def scan(files: list[File], role: Role, format: Format) -> pl.LazyFrame:
    """The files as a plan, after a look at the first lines of each."""
    failures = []
    for grade in GRADES[role]:
        parts = [_open(path, role, format, grade) for path in files]
        failure = _first_failure([part.first_lines() for part in parts])
        if failure is None:
            return _together(parts, [part.scan() for part in parts], role, format)
        failures.append(failure)
    raise failures[-1]


def _open(path: File, role: Role, format: Format, grade: type[pl.DataType]) -> Checked:
    return _open_run(path, format) if role == "run" else _open_qrels(path, format, grade)


def _open_run(path: File, format: Format) -> Checked:
    if format == "trec":
        return trec.run(path)
    return msmarco.run(path) if format == "msmarco" else delimited.run(path, delimited.SEPARATORS[format])


def _open_qrels(path: File, format: Format, grade: type[pl.DataType]) -> Checked:
    if format in trec.LAYOUTS:
        return trec.qrels(path, grade, format)
    if format in delimited.SEPARATORS:
        return (delimited.beir if format == "beir" else delimited.qrels)(path, delimited.SEPARATORS[format], grade)
    return msmarco.qrels(path, grade) if format == "msmarco" else letor.qrels(path, grade)


def _first_failure(parts: Sequence[Checked]) -> FileError | None:
    return next((failure for part in parts if (failure := part.failure()) is not None), None)


def _eager(part: Checked, role: Role, format: Format) -> pl.LazyFrame:
    frame = _clean(part.path) if (role, format) == ("run", "trec") else None
    return part.scan() if frame is None else frame.lazy()


def _clean(file: File) -> pl.DataFrame | None:
    """A TREC run that can be read the short way."""
    return clean.read_run(file) if isinstance(file, Path) else None


def _together(parts: list[Checked], scans: list[pl.LazyFrame], role: Role, format: Format) -> pl.LazyFrame:
    first, *others = parts
    if not others:
        return scans[0]
    for part in others:
        if part.columns != first.columns:
            had, wanted = ", ".join(part.columns), ", ".join(first.columns)
            problem = f"its columns are {had:.200}; those of {first.path} are {wanted:.200}. Read them apart."
            raise FileError.of_file(part.path, problem)
    heads = [part.first_lines() for part in parts]
    if role == "run" and first.separator is None:
        named = zip(_systems(heads, format), scans, strict=True)
        scans = [scan.select(pl.lit(name).alias("run"), pl.all()) for name, scan in named]
    return pl.concat(scans)


def _systems(heads: list[Checked], format: Format) -> list[str]:
    """A name for every file: its tag, or the file's own where tags repeat, change within a file or are not there."""
    tags = [trec.tags(head) for head in heads] if format == "trec" else []
    one_of_each = {tag for (tag, *others) in tags if not others}
    return [tag for (tag,) in tags] if len(one_of_each) == len(heads) else names([head.path for head in heads])
