"""From what a caller names to the files that are read, and from a file to its format.

Conventions: a path that exists is that file, whatever characters are in its name; another with `*`, `?` or `[` is a
glob, whose files come in the order of their names. All files of a call have one format.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import polars as pl

from polars_ir.errors import FileError, InputTypeError, OptionError
from polars_ir.files.delimited import is_beir, is_header
from polars_ir.files.unreadable import FAILURES, unreadable

Source: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Format: TypeAlias = Literal[
    "trec", "subtopics", "judges", "preferences", "beir", "parquet", "csv", "tsv", "ipc", "ndjson"
]
Role: TypeAlias = Literal["run", "qrels"]

FORMATS: tuple[Format, ...] = get_args(Format)
#: Formats that only judgments have.
OF_QRELS = ("subtopics", "judges", "preferences", "beir")

EXTENSIONS: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".arrow": "ipc",
    ".ipc": "ipc",
    ".feather": "ipc",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
#: The first bytes of a compressed file, by its extension.
COMPRESSED = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}

#: Extensions that are no part of a system's name, which is often full of dots itself (`bm25.k1=0.9.run.gz`).
_PLAIN = {*EXTENSIONS, *COMPRESSED, ".run", ".runs", ".trec", ".res", ".txt", ".out", ".dat"}


def resolve(source: Source) -> list[Path]:
    """The files a caller means, each of them there and readable."""
    named = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(named, Sequence) or isinstance(named, bytes) or not all(map(_is_path, named)):
        raise InputTypeError(
            f"source must be a path, a glob or a list of them; got {type(source).__name__}: {source!r:.80}."
        )
    if not named:
        raise FileError("source is an empty list; name at least one file.")
    files = [path for name in named for path in _files(os.fspath(name))]
    for path in files:
        _check_compression(path)
    return files


def one_format(files: list[Path], role: Role, format: Format | None) -> Format:
    """The format that was asked for, or the one all files have."""
    if format is not None:
        choices = [name for name in FORMATS if role == "qrels" or name not in OF_QRELS]
        if format not in choices:
            raise OptionError.value("format", format, choices)
        return format
    formats = {path: _format(path, role) for path in files}
    first = files[0]
    for path, other in formats.items():
        if other != formats[first]:
            problem = f"this file is {other}, but {first} is {formats[first]}; read files of one format at a time."
            raise FileError.of_file(path, problem)
    return formats[first]


def stem(path: Path) -> str:
    """The name of a file without its extensions."""
    while path.suffix.lower() in _PLAIN:
        path = path.with_suffix("")
    return path.name


def _is_path(name: object) -> bool:
    return isinstance(name, str | os.PathLike) and isinstance(os.fspath(name), str)


def _files(name: str) -> list[Path]:
    path = Path(name).expanduser()
    # The functions of os.path, unlike Path's methods, also take a name that is no possible path.
    if os.path.isdir(path):
        raise FileError.of_file(name, f"this is a directory; name its files, for instance {str(path / '*')!r}.")
    if os.path.isfile(path):
        return [path]
    if os.path.exists(path):
        raise FileError.of_file(name, "this is a pipe or a device, which can not be read twice; write it to a file.")
    if not glob.has_magic(name):
        beside = os.listdir(path.parent) if os.path.isdir(path.parent) else []
        raise FileError.missing(f"{name:.200}", path.name, beside)
    files = [Path(match) for match in sorted(glob.glob(str(path), recursive=True)) if os.path.isfile(match)]
    if not files:
        raise FileError.of_file(name, "no file matches this glob.")
    return files


def _check_compression(path: Path) -> None:
    magic = COMPRESSED.get(path.suffix.lower())
    if magic is None:
        return
    try:
        with path.open("rb") as file:
            begin = file.read(len(magic))
    except OSError as error:
        raise unreadable(path, error) from None
    if begin == b"":
        raise FileError.empty(path)
    if begin != magic:
        kind = path.suffix[1:]
        raise FileError.of_file(path, f"the name ends in .{kind}, but the file is not compressed so; rename it.")


def _format(path: Path, role: Role) -> Format:
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    format = EXTENSIONS.get(plain.suffix.lower(), "trec")
    if format != "tsv":
        return format
    fields = _first_line(path).split("\t")
    if role == "qrels" and is_beir(fields):
        return "beir"
    return "tsv" if is_header(fields) else "trec"


def _first_line(path: Path) -> str:
    lines = pl.scan_lines(path, name="line", glob=False).filter(pl.col("line").str.strip_chars() != "").head(1)
    try:
        first = lines.collect(engine="streaming").to_series().to_list()
    except FAILURES as error:
        raise unreadable(path, error) from None
    if not first:
        raise FileError.empty(path)
    return str(first[0]).removeprefix("\ufeff")
