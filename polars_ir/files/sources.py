"""From what a caller names to the files that are read.

Conventions: a path that exists is that file, whatever characters are in its name; another with `*`, `?` or `[` is a
glob, whose files come in the order of their names, and each of which must be a file that can be read. A URL is left to
Polars. All files of a call have one format, and none is there twice.
"""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit
from urllib.request import url2pathname

from polars_ir.errors import Code, FileError, Fix, InputTypeError, called, option
from polars_ir.files.folders import by_polars
from polars_ir.files.formats import FORMATS
from polars_ir.files.locations import SCHEMES, File, is_text, pure, scheme
from polars_ir.files.signatures import COMPRESSED, beginning, check_readable
from polars_ir.files.unpacking import MAX_RATIO, check_unpacked
from polars_ir.values import check, or_none, positive

Source: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: Extensions that are no part of a system's name, which is often full of dots itself (`bm25.k1=0.9.run.gz`).
_PLAIN = {*(ending for format in FORMATS for ending in format.extensions), *COMPRESSED, ".txt", ".out", ".dat"}


def resolve(source: Source, *, remote: bool = True, max_ratio: float | None = MAX_RATIO) -> list[File]:
    """The files a caller means, each of them there and readable unless it is remote, which not all calls allow.

    A compressed text unpacks to no more than `max_ratio` times its size.
    """
    max_ratio = check("max_ratio", max_ratio, or_none(positive(), "for no limit"))
    named = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(named, Sequence) or isinstance(named, bytes) or not all(map(_is_path, named)):
        raise InputTypeError(
            f"must be a path, a glob or a list of them; got {type(source).__name__}: {source!r:.80}.", about="source"
        )
    if not named:
        raise FileError("is an empty list; name at least one file.", about="source")
    files = [file for name in named for file in _files(os.fspath(name))]
    for file, count in Counter(files).items():
        if count > 1:
            raise FileError.of_file(file, "source names this file twice; each is read once.")
        if isinstance(file, Path):
            check_unpacked(file, max_ratio)
        elif not remote:
            fix = Fix("Allow it", Code("remote=True"), without_code=f"Download it, or leave out {option('remote')}")
            raise FileError.of_file(file, "this is a URL, and only local files are allowed.", fix=fix)
    return files


def stem(file: File) -> str:
    """The name of a file without its extensions."""
    path = pure(file)
    while path.suffix.lower() in _PLAIN:
        path = path.with_suffix("")
    return path.name


def names(files: Sequence[File]) -> list[str]:
    """A name for every file: without its extensions, or its whole path where those names repeat."""
    stems = [stem(file) for file in files]
    if len(set(stems)) == len(stems):
        return stems
    # URLs can differ in their secrets alone.
    paths = [called(file) for file in files]
    return paths if len(set(paths)) == len(paths) else [f"{path} {number}" for number, path in enumerate(paths, 1)]


def _is_path(name: object) -> bool:
    return isinstance(name, str | os.PathLike) and isinstance(os.fspath(name), str)


def _files(name: str) -> list[File]:
    if not name:
        raise FileError("is an empty text; name a file.", about="source")
    kind = scheme(name)
    if kind == "file":
        if urlsplit(name).netloc not in ("", "localhost"):
            raise FileError.of_file(name, "this file is on another machine; copy it here first.")
        return _local_files(url2pathname(urlsplit(name).path))
    if kind in SCHEMES:
        _check_address(name)
        if name.endswith("/"):
            raise FileError.of_file(name, f"this is a folder; name its files, for instance {name + '*.parquet'!r}.")
        return [name]
    if kind is not None and not os.path.exists(name):
        raise FileError.of_file(name, f"a URL begins with {', '.join(SCHEMES)} or file; download this one first.")
    return _local_files(name)


def _check_address(url: str) -> None:
    try:
        urlsplit(url)
    except ValueError as error:
        raise FileError.of_file(url, f"this is no URL that can be read: {error}.") from None


def _local_files(name: str) -> list[File]:
    path = Path(os.path.expanduser(name))
    if not glob.has_magic(name) or os.path.lexists(path):
        return [_local_file(path)]
    matches = sorted(glob.glob(str(path), recursive=True))
    if not matches:
        raise FileError.of_file(f"{name:.200}", "no file matches this glob.")
    # A part that is none is no part to leave out.
    return [_local_file(Path(match)) for match in matches]


def _local_file(path: Path) -> Path:
    """The path of a file, after a look that it can be read."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileError.of_file(path, f"this is no path that can be read: {reason}.") from None
    if stat.S_ISDIR(mode):
        raise _is_directory(path)
    if not stat.S_ISREG(mode):
        raise FileError.of_file(path, "this is a pipe or a device, which can not be read twice; write it to a file.")
    if not is_text(path):
        raise FileError.of_file(path, "the name of this file is no UTF-8 text; rename it.")
    _check_beginning(path)
    return path


def _missing(path: Path) -> FileError:
    if os.path.islink(path):
        return FileError.of_file(path, f"this is a link to {os.readlink(path)!r:.200}, where there is no file.")
    beside = os.listdir(path.parent) if os.access(path.parent, os.R_OK) and os.path.isdir(path.parent) else []
    return FileError.missing(path, path.name, beside)


def _check_beginning(path: Path) -> None:
    begin = beginning(path)
    check_readable(path, begin)
    magic = COMPRESSED.get(path.suffix.lower())
    if magic is None:
        return
    if begin == b"":
        raise FileError.empty(path)
    if not begin.startswith(magic):
        kind = path.suffix[1:]
        raise FileError.of_file(path, f"the name ends in .{kind}, but the file is not compressed so; rename it.")


def _is_directory(path: Path) -> FileError:
    """That this is no file, and how to read those in it; folders called `key=value` hold columns, for Polars."""
    if "=" in path.name or any(path.glob("*=*")):
        problem = "this is a directory with columns in the names of folders."
        return FileError.of_file(path, problem, fix=by_polars(path))
    return FileError.of_file(path, f"this is a directory; name its files, for instance {str(path / '*')!r}.")
