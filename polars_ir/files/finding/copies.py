"""Local copies of what can be read only once or as a whole: web texts, pipes, standard input.

Conventions: Polars unpacks a compressed body in memory, whatever it unpacks to, and wants a server that sends parts. So
a text that is read now is copied to this disk first, no more of it than its server announced, to be read within the
limits of local files; one that is scanned is left to Polars, and so are Parquet and Arrow IPC, of which it fetches only
the parts that it needs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from polars_ir.errors import FileError, with_names
from polars_ir.files.finding.file import CHUNK, COMPRESSED, WEB, File, is_pattern, pure, scheme
from polars_ir.files.finding.sources import by_extension, resolve
from polars_ir.files.formats.record import Format

#: Standard input as a file name.
STDIN = "-"

#: Longest file name in bytes, less what this package appends.
_LONGEST_NAME = 200


@contextmanager
def downloaded(files: Sequence[File], asked: Format | None, max_ratio: float | None) -> Iterator[list[File]]:
    """The files, with web texts as temporary copies that keep their names in messages."""
    urls = [file for file in files if isinstance(file, str) and _is_text_of_the_web(file, asked)]
    if not urls:
        yield [*files]
        return
    # It brings a client of the web, which few calls need.
    from polars_ir.files.finding.web import download

    with TemporaryDirectory() as folder:
        copies: dict[File, Path] = {url: Path(folder, str(number), _name(url)) for number, url in enumerate(urls)}
        with with_names(**{str(copy): str(url) for url, copy in copies.items()}):
            for url in urls:
                download(url, copies[url])
            yield resolve([copies.get(file, file) for file in files], max_ratio=max_ratio)


def _is_text_of_the_web(url: str, asked: Format | None) -> bool:
    format = asked or by_extension(url)
    return scheme(url) in WEB and not is_pattern(url) and (format is None or format.is_text)


def _name(url: str) -> str:
    return pure(url).name.encode(errors="replace")[-_LONGEST_NAME:].decode(errors="ignore") or "file"


@contextmanager
def copied(file: IO[Any]) -> Iterator[str]:
    """The path of a temporary copy of an open file, under its name in messages."""
    name = getattr(file, "name", None)
    own = _name(Path(name).name.replace("\0", "")) if isinstance(name, str) else "file"
    with TemporaryDirectory() as folder:
        path = Path(folder, own)
        if path.suffix.lower() in COMPRESSED:
            # `gzip.open` unpacks what it reads, and keeps the name. What is compressed shows by its first bytes.
            path = path.with_suffix("")
        with path.open("wb") as copy:
            while part := file.read(CHUNK):
                copy.write(part.encode(errors="surrogateescape") if isinstance(part, str) else part)
        with with_names(**{str(path): own}):
            yield str(path)


@contextmanager
def as_file(name: str) -> Iterator[str]:
    """The name of a file; for `-` or a pipe, of a temporary copy of its content."""
    if name != STDIN and not _is_pipe(name):
        yield name
        return
    if name == STDIN and sys.stdin is None:
        raise FileError("standard input is closed; pipe the file into it, or name the file.")
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdin" if name == STDIN else Path(name).name)
        with path.open("wb") as copy, nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb") as file:
            shutil.copyfileobj(file, copy)
        with with_names(**{str(path): shown_name(name)}):
            yield str(path)


def shown_name(name: str) -> str:
    """A file's name in messages of the command line."""
    return "standard input" if name == STDIN else name


def _is_pipe(name: str) -> bool:
    try:
        return Path(name).is_fifo()
    except (OSError, ValueError):
        # The readers report an invalid name.
        return False
