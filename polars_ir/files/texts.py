"""Text files of one call as one table: which plan reads each file, and when to raise what.

Conventions: grades are Int64 if all that are looked at are written as integers, else Float64. A scan looks at each
file's first lines, a read at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files import clean, delimited, trec
from polars_ir.files.checked import Checked
from polars_ir.files.sources import Format, Role, stem
from polars_ir.files.unreadable import FAILURES, because

#: The types of grades to try, narrowest first.
GRADES: dict[Role, tuple[type[pl.DataType], ...]] = {"run": (pl.Float64,), "qrels": (pl.Int64, pl.Float64)}


def read(files: list[Path], role: Role, format: Format) -> pl.DataFrame:
    """The files in memory; a failure is told with the first offending line of all of them."""
    for grade in GRADES[role]:
        parts = [_open(path, role, format, grade) for path in files]
        together = _together(parts, [_eager(part, role, format) for part in parts], role, format)
        try:
            frame = together.collect(engine="streaming")
        except FAILURES as error:
            failed = error
            continue
        if frame.is_empty() and format in trec.LAYOUTS:
            raise FileError.empty(files[0])
        return frame
    raise _first_failure(parts) or because(files[0], failed)


def scan(files: list[Path], role: Role, format: Format) -> pl.LazyFrame:
    """The files as a plan, after a look at the first lines of each."""
    failures = []
    for grade in GRADES[role]:
        parts = [_open(path, role, format, grade) for path in files]
        failure = _first_failure([part.first_lines() for part in parts])
        if failure is None:
            return _together(parts, [part.scan() for part in parts], role, format)
        failures.append(failure)
    raise failures[-1]


def _open(path: Path, role: Role, format: Format, grade: type[pl.DataType]) -> Checked:
    if format in trec.LAYOUTS:
        return trec.run(path) if role == "run" else trec.qrels(path, grade, format)
    separator = delimited.SEPARATORS[format]
    if role == "run":
        return delimited.run(path, separator)
    return (delimited.beir if format == "beir" else delimited.qrels)(path, separator, grade)


def _first_failure(parts: Sequence[Checked]) -> FileError | None:
    return next((failure for part in parts if (failure := part.failure()) is not None), None)


def _eager(part: Checked, role: Role, format: Format) -> pl.LazyFrame:
    frame = clean.read_run(part.path) if (role, format) == ("run", "trec") else None
    return part.scan() if frame is None else frame.lazy()


def _together(parts: list[Checked], scans: list[pl.LazyFrame], role: Role, format: Format) -> pl.LazyFrame:
    first, *others = parts
    if not others:
        return scans[0]
    for part in others:
        if part.columns != first.columns:
            had, wanted = ", ".join(part.columns), ", ".join(first.columns)
            problem = f"its columns are {had}; those of {first.path} are {wanted}. Read them apart."
            raise FileError.of_file(part.path, problem)
    heads = [part.first_lines() for part in parts]
    if role == "run" and format == "trec":
        named = zip(_systems(heads), scans, strict=True)
        scans = [scan.select(pl.lit(name).alias("run"), pl.all()) for name, scan in named]
    return pl.concat(scans)


def _systems(heads: list[Checked]) -> list[str]:
    """A name for every file: its tag, or its file name where tags repeat, or its path where those repeat too."""
    tags = [trec.tag(head) for head in heads]
    names = [stem(head.path) for head in heads]
    paths = [str(head.path) for head in heads]
    return next((choice for choice in (tags, names) if len(set(choice)) == len(choice)), paths)
