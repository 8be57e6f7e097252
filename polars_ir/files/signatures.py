"""The first bytes of files: of those that Polars unpacks whatever their name, and of those that are not read."""

from __future__ import annotations

import re
from pathlib import Path

from polars_ir.errors import Code, FileError, Fix

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
#: Also text can begin so (`x^2`), and would be unpacked to anything.
ZLIB = rb"x[\x01^\x9c\xda]"

LZ4 = rb"\x04\x22M\x18"

#: The first bytes of a compressed file, by its extension.
COMPRESSED = {".gz": GZIP, ".zst": ZSTD}

#: What Polars unpacks.
UNPACKED = re.compile(b"|".join((re.escape(GZIP), re.escape(ZSTD), ZLIB)))

#: How files begin that must be made into others first, and what to say of them.
_NOT_READ = {
    ZLIB: "it begins as zlib does. Unpack it; before a text that merely begins so ('x^'), put an empty line.",
    rb"BZh[1-9]1AY&SY": "bzip2 is not read; unpack it with bunzip2.",
    rb"\xfd7zXZ\0": "xz is not read; unpack it with unxz.",
    rb"PK\x03\x04": "an archive (zip) or a workbook (Excel) is not read; unpack it, or save it as CSV.",
    LZ4: "LZ4 is not read.",
    rb"[\x50-\x5f]\x2a\x4d\x18": "zstd with a skippable frame first is not read; unpack it with unzstd.",
    rb"\xff\xfe|\xfe\xff": "this is text in UTF-16; save it as UTF-8.",
}

#: How many bytes tell what a file is.
_FIRST_BYTES = 16


def beginning(path: Path) -> bytes:
    """The first bytes of a file."""
    try:
        with path.open("rb") as file:
            return file.read(_FIRST_BYTES)
    except OSError as error:
        raise FileError.of_file(path, f"the file can not be read: {error.strerror}.") from None


def check_readable(path: Path, begin: bytes) -> None:
    """Raise a `FileError` for a file that begins as one that is not read."""
    for pattern, problem in _NOT_READ.items():
        if re.match(pattern, begin):
            raise FileError.of_file(path, problem, fix=_unpack_lz4(path) if pattern == LZ4 else None)


def _unpack_lz4(path: Path) -> Fix:
    """What to do with a text in LZ4, or with a run of ranx, whose files of that name are no text."""
    words = "Unpack it with unlz4; a run of ranx, save as JSON"
    code = f"ranx.Run.from_file({str(path)!r}).save({str(path.with_suffix('.json'))!r})"
    return Fix(words, Code(code), without_code=f"{words} with ranx")
