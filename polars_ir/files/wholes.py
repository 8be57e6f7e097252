"""Texts that are read as a whole, in one file or several."""

from __future__ import annotations

import polars as pl

from polars_ir.errors import FileError, called
from polars_ir.files.locations import File
from polars_ir.files.record import Role, Whole
from polars_ir.files.sources import names


def read(files: list[File], role: Role, reader: Whole) -> pl.DataFrame:
    """The files as one table in memory."""
    frames = [reader.read(file, role) for file in files]
    if len(files) > 1 and role == "run":
        systems = zip(names(files), frames, strict=True)
        frames = [frame.select(pl.lit(name).alias("run"), pl.all()) for name, frame in systems]
    for file, frame in zip(files, frames, strict=True):
        if frame.columns != frames[0].columns:
            had, wanted = ", ".join(frame.columns), ", ".join(frames[0].columns)
            raise FileError.of_file(
                file, f"its columns are {had}; those of {called(files[0])} are {wanted}. Read them apart."
            )
    return pl.concat(frames, how="vertical_relaxed")
