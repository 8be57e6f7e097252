"""Provenance of the values in a text, in a file beside it: unlike Parquet, texts hold no metadata.

Conventions: what is said of `figures.csv` is in `figures.csv-metadata.json`, where CSV on the Web has it. It holds the
hash of the bytes it is about, so that of a text that was changed since it tells nothing.
"""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any, NamedTuple

from polars_ir.errors import called
from polars_ir.files.writing.replacing import replaced
from polars_ir.frames.roles import PROVENANCE

#: The suffix of metadata files.
METADATA = "-metadata.json"

#: Largest metadata file that is read, in bytes; usual ones have some hundred.
LARGEST = 1 << 20


def write_metadata(path: Path, made: str) -> None:
    """Write a file's provenance beside it."""
    about = {"@context": "http://www.w3.org/ns/csvw", "url": path.name, "sha256": _hash_of(path)}
    with replaced(_beside(path)) as file:
        file.write(json.dumps({**about, PROVENANCE: json.loads(made)}, indent=2, ensure_ascii=False).encode() + b"\n")


class Metadata(NamedTuple):
    """The provenance of a file as text; none, with the reason, for a file changed since."""

    made: str
    changed: str


def read_metadata(path: Path) -> Metadata | None:
    """The metadata beside a file; None without any of this package.

    Only a regular file of a usual size is read, since the name may be of anything: a pipe, or a link to a device.
    """
    beside = _beside(path)
    try:
        there = beside.stat()
        if not stat.S_ISREG(there.st_mode) or there.st_size > LARGEST:
            return None
        about: Any = json.loads(beside.read_bytes())
        made, wanted = about[PROVENANCE], about["sha256"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    if _hash_of(path) != wanted:
        return Metadata("", f"{called(path)} is another file than {beside.name} tells the making of")
    return Metadata(json.dumps(made), "")


def _beside(path: Path) -> Path:
    return path.with_name(path.name + METADATA)


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
