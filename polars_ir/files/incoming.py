"""What comes in on standard input, as a file that can be read more than once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory

#: How standard input is called where a file is wanted.
STDIN = "-"


@contextmanager
def as_file(name: str) -> Iterator[str]:
    """A file's own name; for `-` that of a file with what comes in, which goes when it was read."""
    if name != STDIN:
        yield name
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        yield str(path)
