"""What comes in on standard input or in a pipe, as a file that can be read more than once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import BinaryIO

from polars_ir.errors import FileError, known_as

#: How standard input is called where a file is wanted.
STDIN = "-"


@contextmanager
def as_file(name: str) -> Iterator[str]:
    """A file's own name; for `-` or a pipe that of a file with what comes in, which goes when it was read."""
    if name != STDIN and not _is_pipe(name):
        yield name
        return
    own = "stdin" if name == STDIN else Path(name).name
    with TemporaryDirectory() as folder:
        path = Path(folder, own)
        with path.open("wb") as file:
            _copy(name, file)
        with known_as(**{str(path): shown_name(name)}):
            yield str(path)


def shown_name(name: str) -> str:
    """What a message calls a file that was named in the shell."""
    return "standard input" if name == STDIN else name


def _is_pipe(name: str) -> bool:
    try:
        return Path(name).is_fifo()
    except (OSError, ValueError):
        # What is wrong with the name, the readers say.
        return False


def _copy(name: str, file: BinaryIO) -> None:
    if name != STDIN:
        with Path(name).open("rb") as pipe:
            copyfileobj(pipe, file)
    elif sys.stdin is None:
        raise FileError("standard input is closed; pipe the file into it, or name the file.")
    else:
        copyfileobj(sys.stdin.buffer, file)
