"""The files of a source, and their format.

Conventions: a path that exists is that file, whatever characters are in its name; another with `*`, `?` or `[` is a
glob, whose files come in the order of their names, and each of which must be a file that can be read. A URL is left to
Polars. Of a lake, whose folders hold columns (Hive's `run=bm25/part.parquet`), all files are read. All files of a call
have one format, and none is there twice. The extension tells the format, or the first line that is neither blank nor a
comment (`#`); what fits no format is an error, never a guess.
"""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias, TypedDict
from urllib.parse import urlsplit

from polars_ir.errors import Code, FileError, Fix, InputTypeError, called, nearest, option
from polars_ir.files.finding.file import (
    COMPRESSED,
    MAX_RATIO,
    SCHEMES,
    File,
    beginning,
    check_readable,
    check_unpacked,
    is_pattern,
    is_text,
    pure,
    scheme,
)
from polars_ir.files.formats import BY_EXTENSION, BY_NAME, FORMATS, READABLE
from polars_ir.files.formats.msmarco import MSMARCO
from polars_ir.files.formats.record import Format, Role, Typed
from polars_ir.files.rows.blanks import Words, fields, first_line, hint_of_words
from polars_ir.language.options import Option, or_none, positive, truth

Source: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

#: Extensions that are not part of a system's name, which often has dots itself (`bm25.k1=0.9.run.gz`).
_PLAIN = {*(ending for format in FORMATS for ending in format.extensions), *COMPRESSED, ".txt", ".out", ".dat"}


Remote: TypeAlias = Annotated[
    bool,
    Option(
        True,
        truth(),
        "True allows a file at a URL. Choose False for names from untrusted sources, such as a web form: a URL "
        "makes this machine send requests. Redirects are followed to `http` and `https` only.",
    ),
]
MaxRatio: TypeAlias = Annotated[
    float | None,
    Option(
        MAX_RATIO,
        or_none(positive(), "for no limit"),
        "The largest ratio of the unpacked size of a text to its size, beyond the 64 MB that any may have; None: any. "
        "The size is found before the text is read, which takes a pass over gzip; Zstandard tells it at each block. A "
        "line of a gzip file may have at most 16 MB, except in JSON. Parquet and Arrow IPC are unpacked by Polars, "
        "column by column, and declare only their number of rows: eight bytes are assumed for each value, so that "
        "long texts in them have no limit. Texts that Polars fetches, those of `s3://` and the like, or scanned, have "
        "none either.",
    ),
]


class Limits(TypedDict, total=False):
    """Limits of input files."""

    remote: Remote
    max_ratio: MaxRatio


def resolve(source: Source, *, remote: bool = True, max_ratio: float | None = MAX_RATIO) -> list[File]:
    """The files of a call: local ones can be read, and unpack to no more than `max_ratio` times their size."""
    named = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(named, Sequence) or isinstance(named, bytes) or not all(map(_is_path, named)):
        fix = Fix("An open file is read now", Code("ir.read_run(file)")) if hasattr(source, "read") else None
        problem = f"must be a path, a glob or a list of them; got {type(source).__name__}: {source!r:.80}."
        raise InputTypeError(problem, about="source", fix=fix)
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
    """File names without extensions, or whole paths where those repeat."""
    stems = list(map(stem, files))
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
        from urllib.request import url2pathname  # it brings a client of the web

        return _local_files(url2pathname(urlsplit(name).path))
    if kind in SCHEMES:
        try:
            urlsplit(name)
        except ValueError as error:
            raise FileError.of_file(name, f"this URL cannot be read: {error}.") from None
        if name.endswith("/"):
            raise FileError.of_file(name, f"this is a folder; name its files, for instance {name + '*.parquet'!r}.")
        return [name]
    if kind is not None and not os.path.exists(name):
        raise FileError.of_file(name, f"a URL begins with {', '.join(SCHEMES)} or file; download this one first.")
    return _local_files(name)


def _local_files(name: str) -> list[File]:
    path = Path(os.path.expanduser(name))
    if not glob.has_magic(name) or os.path.lexists(path):
        return _files_of_lake(path) or [_local_file(path)]
    matches = sorted(glob.glob(str(path), recursive=True))
    if not matches:
        raise FileError.of_file(f"{name:.200}", "no file matches this glob.")
    # A match that is not a regular file is an error, not skipped.
    return [file for match in map(Path, matches) for file in _files_of_lake(match) or [_local_file(match)]]


def _files_of_lake(path: Path) -> list[File]:
    """The files below a folder whose name, or whose folders' names, hold columns; none of another."""
    if not os.path.isdir(path) or not ("=" in path.name or any(path.glob("*=*"))):
        return []
    # Marks such as `_SUCCESS` and `.part.crc` are no data.
    return [_local_file(file) for file in sorted(path.rglob("[!_.]*")) if file.is_file()]


def _local_file(path: Path) -> Path:
    """The path of a file that can be read."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(path) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FileError.of_file(path, f"this path cannot be read: {reason}.") from None
    if stat.S_ISDIR(mode):
        raise FileError.of_file(path, f"this is a directory; name its files, for instance {str(path / '*')!r}.")
    if not stat.S_ISREG(mode):
        raise FileError.of_file(path, "this is a pipe or a device, which cannot be read twice; write it to a file.")
    if not is_text(path):
        raise FileError.of_file(path, "the name of this file is not UTF-8; rename it.")
    begin = beginning(path)
    check_readable(path, begin)
    if magic := COMPRESSED.get(path.suffix.lower()):
        if begin == b"":
            raise FileError.empty(path)
        if not begin.startswith(magic):
            kind = path.suffix[1:]
            raise FileError.of_file(path, f"the name ends in .{kind}, but the file is not compressed; rename it.")
    return path


def _missing(path: Path) -> FileError:
    if os.path.islink(path):
        return FileError.of_file(path, f"this is a link to {os.readlink(path)!r:.200}, where there is no file.")
    beside = os.listdir(path.parent) if os.access(path.parent, os.R_OK) and os.path.isdir(path.parent) else []
    return FileError.of_file(path, "there is no such file.", near=nearest(path.name, beside))


def one_format(files: list[File], role: Role, format: Format | None, words: Words | None = None) -> Format:
    """The given format, or else the common one of all files."""
    for file in filter(is_pattern, files):
        known = format or by_extension(file)
        if not (known and isinstance(known.reader, Typed)):
            typed = ", ".join(sorted(format.name for format in FORMATS if isinstance(format.reader, Typed)))
            raise FileError.of_file(file, f"a pattern at a URL is followed for {typed} only; list these files.")
    if format:
        return format
    first = format_of(files[0], role, words)
    for file in files[1:]:
        if (other := format_of(file, role, words)) is not first:
            had, wanted = other.name, first.name
            problem = f"this file is {had}, but {called(files[0])} is {wanted}; read files of one format at a time."
            raise FileError.of_file(file, problem)
    return first


def by_extension(file: File) -> Format | None:
    """The format of a file's extension."""
    path = pure(file)
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return BY_EXTENSION.get(plain.suffix.lower())


def format_of(file: File, role: Role, words: Words | None = None) -> Format:
    """The format of a file, by its extension, its first bytes or its first line, whose grade may be a word."""
    named = by_extension(file)
    if named is not None and named.has_own_extension:
        return named
    begin = beginning(file) if isinstance(file, Path) else b""
    for format in FORMATS:
        if format.signature and begin.startswith(format.signature):
            return format
    number, line = first_line(file)
    for format in FORMATS[::-1]:
        if format.separator in line and role in format.is_first_line and format.is_first_line[role](line):
            return format
    third = fields(line)[2:]
    if words is not None and third in ([word] for word in words.words):
        return BY_NAME["trec"]
    hint = hint_of_words(*third) if role == "qrels" and len(third) == 1 else ""
    raise FileError.at_line(file, number, line, _unknown(role) + hint)


def _unknown(role: Role) -> str:
    """Advice for a line of no known format."""
    tried = ", ".join(format.name for format in FORMATS if role in format.is_first_line)
    # Its two or three fields could as well be grades, scores or texts.
    msmarco = f"{option('format', 'msmarco')} for lines of {MSMARCO.holds[role]}"
    choices = ", ".join(map(repr, READABLE[role]))
    unknown = f"neither the name nor the first line tells the format; tried {tried}"
    return f"{unknown}. Give it: {msmarco}; all are {choices}."
