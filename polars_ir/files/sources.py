"""From what a caller names to the files that are read.

Conventions: a path that exists is that file, whatever characters are in its name; another with `*`, `?` or `[` is a
glob, whose files come in the order of their names. A URL is left to Polars. All files of a call have one format.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit
from urllib.request import url2pathname

from polars_ir.errors import FileError, InputTypeError, OptionError
from polars_ir.files.formats import COMPRESSED, EXTENSIONS, Format, Role, choices, format_of
from polars_ir.files.locations import SCHEMES, File, pure, scheme
from polars_ir.files.unreadable import unreadable

Source: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: Extensions that are no part of a system's name, which is often full of dots itself (`bm25.k1=0.9.run.gz`).
_PLAIN = {*EXTENSIONS, *COMPRESSED, ".txt", ".out", ".dat"}


def resolve(source: Source) -> list[File]:
    """The files a caller means, each of them there and readable unless it is remote."""
    named = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(named, Sequence) or isinstance(named, bytes) or not all(map(_is_path, named)):
        raise InputTypeError(
            f"source must be a path, a glob or a list of them; got {type(source).__name__}: {source!r:.80}."
        )
    if not named:
        raise FileError("source is an empty list; name at least one file.")
    return [file for name in named for file in _files(os.fspath(name))]


def one_format(files: list[File], role: Role, format: Format | None) -> Format:
    """The format that was asked for, or the one all files have."""
    if format is not None:
        if format not in choices(role):
            raise OptionError.value("format", format, choices(role))
        return format
    formats = {file: format_of(file, role) for file in files}
    first = files[0]
    for file, other in formats.items():
        if other != formats[first]:
            problem = f"this file is {other}, but {first} is {formats[first]}; read files of one format at a time."
            raise FileError.of_file(file, problem)
    return formats[first]


def stem(file: File) -> str:
    """The name of a file without its extensions."""
    path = pure(file)
    while path.suffix.lower() in _PLAIN:
        path = path.with_suffix("")
    return path.name


def names(files: Sequence[File]) -> list[str]:
    """A name for every file: without its extensions, or its whole path where those names repeat."""
    stems = [stem(file) for file in files]
    return stems if len(set(stems)) == len(stems) else [str(file) for file in files]


def _is_path(name: object) -> bool:
    return isinstance(name, str | os.PathLike) and isinstance(os.fspath(name), str)


def _files(name: str) -> list[File]:
    kind = scheme(name)
    if kind == "file":
        return _local_files(url2pathname(urlsplit(name).path))
    if kind in SCHEMES:
        return [name]
    if kind is not None and not os.path.exists(name):
        raise FileError.of_file(name, f"a URL begins with {', '.join(SCHEMES)} or file; download this one first.")
    return _local_files(name)


def _local_files(name: str) -> list[File]:
    files: list[File] = []
    for path in _paths(name):
        _check_compression(path)
        files.append(path)
    return files


def _paths(name: str) -> list[Path]:
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
