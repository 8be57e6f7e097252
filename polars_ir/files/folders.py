"""Columns in the names of folders (Hive's `run=bm25/part.parquet`), which are left to Polars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from polars_ir.errors import Code, FileError, Fix
from polars_ir.files.locations import File, pure
from polars_ir.frames.columns import ROLES, fold


def by_polars(folder: PurePath) -> Fix:
    """How to read the Parquet files of such a folder."""
    code = Code(f"pl.scan_parquet({str(folder)!r}, hive_partitioning=True)")
    return Fix("Read it by Polars", code, without_code="Put these columns into the files, and name the files")


def check_folders(files: Sequence[File], columns: Iterable[str]) -> None:
    """Raise a `FileError` for parts of a table that only a column in the names of their folders tells apart."""
    roles = {fold(name) for names in ROLES.values() for name in names} - {fold(name) for name in columns}
    folders = [_columns(pure(file)) for file in files]
    for key in folders[0]:
        if fold(key) in roles and len({of_file.get(key) for of_file in folders}) > 1:
            top = next(above for above in reversed(pure(files[0]).parents) if _key(above.name) == key).parent
            problem = f"the folders hold the column {key!r}, which their files lack."
            raise FileError.of_file(top, problem, fix=by_polars(Path(top)))


def _columns(path: PurePath) -> dict[str, str]:
    """The columns in the names of a file's folders, with their values."""
    return {_key(part): part for part in path.parts[:-1] if _key(part)}


def _key(folder: str) -> str:
    """The column that a folder's name holds; nothing where it holds none."""
    return folder.partition("=")[0] if "=" in folder else ""
