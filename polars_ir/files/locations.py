"""Where a file is: on this machine, or at a URL that Polars reads.

Conventions: a local file is a `Path`, a remote one its URL as text, which a `Path` would change.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path, PurePath, PurePosixPath
from typing import TypeAlias
from urllib.parse import urlsplit

File: TypeAlias = Path | str

#: What stands before `://` in the URLs that Polars reads.
SCHEMES = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "http", "https", "hf")

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


def scheme(name: str) -> str | None:
    """What stands before `://` in a URL; None for a path."""
    match = _URL.match(name)
    return match[1].lower() if match else None


def located(name: str) -> File:
    """A file by its path or its URL."""
    return name if scheme(name) in SCHEMES else Path(name)


def is_remote(file: File) -> bool:
    """Whether a file is at a URL."""
    return isinstance(file, str)


def is_pattern(file: File) -> bool:
    """Whether a URL is a pattern of several files; `?` begins its query, and `[` is part of a name."""
    return isinstance(file, str) and "*" in urlsplit(file).path


def is_text(path: str | Path) -> bool:
    """Whether a path is text that Polars can take: no bytes that are no UTF-8, nor halves of characters."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def one_file(file: File) -> str:
    """A file as a reader takes it that follows patterns: `x[1].jsonl` is the name of one file, not a pattern."""
    return file if isinstance(file, str) else glob.escape(str(file))


def pure(file: File) -> PurePath:
    """The path of a file, for its name and extensions; that of a URL without the query after `?`."""
    return PurePosixPath(urlsplit(file).path) if isinstance(file, str) else file
