"""A file: where it is, its first bytes, and the size that a compressed text unpacks to.

Conventions: a local file is a `Path`, a remote one its URL as text, which a `Path` would change. A few kilobytes can
stand for gigabytes, so the size is found before Polars unpacks the text. gzip is unpacked here, a part at a time that
is thrown away again, to count its bytes and to look at the lengths of its lines. Zstandard, which Python cannot
unpack, says at each block how many bytes it stands for, or that they are 128 kB at most, which they are in all blocks
but the last as usual programs write them.
"""

from __future__ import annotations

import glob
import re
import zlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO, TypeAlias
from urllib.parse import urlsplit

from polars_ir.errors import Code, FileError, Fix, Setting

File: TypeAlias = Path | str

#: Number of characters shown of a wrong line.
SHOWN = 120

#: The longest line accepted, in bytes; splitting a longer one would take many times its size in memory.
LONGEST = 16 << 20
TOO_LONG_PROBLEM = f"the line has more than {LONGEST >> 20} MB; lines end in \\n."

#: URL schemes that Polars writes to, and reads from.
STORES = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl")
WEB = ("http", "https")
SCHEMES = (*STORES, *WEB, "hf")

_URL = re.compile(r"([a-z][a-z0-9+.-]+)://", re.IGNORECASE)


def scheme(name: str) -> str | None:
    """The scheme of a URL; None for a path."""
    match = _URL.match(name)
    return match[1].lower() if match else None


def located(name: str) -> File:
    """A file, by path or URL."""
    return name if scheme(name) in SCHEMES else Path(name)


def is_remote(file: File) -> bool:
    """True for a file at a URL."""
    return isinstance(file, str)


def is_pattern(file: File) -> bool:
    """True for a URL that is a glob; `?` begins its query, and `[` is part of a name."""
    return isinstance(file, str) and "*" in urlsplit(file).path


def is_text(path: str | Path) -> bool:
    """True for a path that is valid text to Polars: UTF-8, without unpaired surrogates."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def one_file(file: File) -> str:
    """A path escaped for readers that expand globs: `x[1].jsonl` is one file."""
    return file if isinstance(file, str) else glob.escape(str(file))


def pure(file: File) -> PurePath:
    """The path of a file, or of a URL without its query."""
    return PurePosixPath(urlsplit(file).path) if isinstance(file, str) else file


GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
#: Text can begin so, too (`x^2`), and would unpack to garbage.
ZLIB = rb"x[\x01^\x9c\xda]"

LZ4 = rb"\x04\x22M\x18"

#: The first bytes of a compressed file, by its extension.
COMPRESSED = {".gz": GZIP, ".zst": ZSTD}

#: First bytes of files that Polars unpacks.
UNPACKED = re.compile(b"|".join((re.escape(GZIP), re.escape(ZSTD), ZLIB)))

#: First bytes of files that must be converted first, with the advice.
_NOT_READ = {
    ZLIB: "it begins as zlib does. Unpack it; before a text that merely begins so ('x^'), put an empty line.",
    rb"BZh[1-9]1AY&SY": "bzip2 is not read; unpack it with bunzip2.",
    rb"\xfd7zXZ\0": "xz is not read; unpack it with unxz.",
    rb"PK\x03\x04": "an archive (zip) or a workbook (Excel) is not read; unpack it, or save it as CSV.",
    LZ4: "LZ4 is not read.",
    rb"[\x50-\x5f]\x2a\x4d\x18": "zstd with a skippable frame first is not read; unpack it with unzstd.",
    rb"\xff\xfe|\xfe\xff": "this is text in UTF-16; save it as UTF-8.",
}

#: Number of bytes that determine a file's kind.
_FIRST_BYTES = 16

#: Chunk size of searches and copies, in bytes.
CHUNK = 1 << 20


def beginning(path: Path) -> bytes:
    """The first bytes of a file."""
    try:
        with path.open("rb") as file:
            return file.read(_FIRST_BYTES)
    except OSError as error:
        raise FileError.of_file(path, f"the file cannot be read: {error.strerror}.") from None


def holds(path: Path, byte: bytes) -> bool:
    """True if a file's raw bytes hold a byte."""
    with path.open("rb") as file:
        return any(byte in chunk for chunk in iter(lambda: file.read(CHUNK), b""))


def check_readable(path: Path, begin: bytes) -> None:
    """Raise a `FileError` for a file whose first bytes are of an unreadable format."""
    for pattern, problem in _NOT_READ.items():
        if re.match(pattern, begin):
            raise FileError.of_file(path, problem, fix=_unpack_lz4(path) if pattern == LZ4 else None)


def _unpack_lz4(path: Path) -> Fix:
    """The advice for a text in LZ4, or a run of ranx, whose files of that name are not text."""
    words = "Unpack it with unlz4; a run of ranx, save as JSON"
    code = f"ranx.Run.from_file({str(path)!r}).save({str(path.with_suffix('.json'))!r})"
    return Fix(words, Code(code), without_code=f"{words} with ranx")


#: The largest ratio of unpacked to packed size: runs and judgments have less than 30, zeros in gzip 1,030.
MAX_RATIO = 100.0

#: Unpacked size allowed for any file, in bytes.
SMALL = 64 << 20

#: Chunk size of packed bytes.
_PACKED = 16 << 10

#: Files of fewer bytes hold no line that is too long, since no byte of gzip stands for more than 1,032.
_TINY = LONGEST // 1032

#: The compressed blocks of Zstandard stand for no more.
_BLOCK = 128 << 10

#: The sizes in bytes of two fields of a frame's header: the number of a dictionary, and the size of the content.
_DICTIONARY, _CONTENT = (0, 1, 2, 4), (0, 2, 4, 8)


def check_unpacked(path: Path, max_ratio: float | None) -> None:
    """Raise a `FileError` for a compressed text that exceeds the limits of size or of line length."""
    begin = beginning(path)
    if max_ratio is None or not begin.startswith((GZIP, ZSTD)):
        return
    most = most_bytes(path, max_ratio)
    with path.open("rb") as file:
        if begin.startswith(ZSTD):
            for count in accumulate(_blocks(path, file)):
                check_size(path, count, most, max_ratio)
        elif path.stat().st_size >= _TINY:
            _check_gzip(path, file, most, max_ratio)


def most_bytes(path: Path, max_ratio: float) -> float:
    """Maximum unpacked size of a file, in bytes."""
    return max(SMALL, path.stat().st_size * max_ratio)


def check_size(path: Path, count: int, most: float, max_ratio: float) -> None:
    """Raise a `FileError` for a file above the limit of its unpacked size."""
    if count > most:
        words = "If you trust where it comes from"
        more = Setting("max_ratio", round(max(max_ratio, 1) * 10))
        fix = Fix(f"{words}, allow more", more, without_code=f"{words}, unpack it first")
        problem = f"it would unpack to more than {max_ratio:g} times its {path.stat().st_size} bytes."
        raise FileError.of_file(path, problem, fix=fix)


def _check_gzip(path: Path, file: BinaryIO, most: float, max_ratio: float) -> None:
    count, number, line = 0, 1, b""
    length, any_length = 0, False
    for part in _parts(path, file):
        if count == 0:
            # JSON may be a single line.
            any_length = part.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"["))
        count += len(part)
        check_size(path, count, most, max_ratio)
        first, last = part.find(b"\n"), part.rfind(b"\n")
        line += part[: SHOWN - len(line)]
        length += len(part) if first < 0 else first
        if length > LONGEST and not any_length:
            raise FileError.at_line(path, number, line.decode(errors="backslashreplace"), TOO_LONG_PROBLEM)
        if last >= 0:
            number += part.count(b"\n")
            line, length = part[last + 1 :][:SHOWN], len(part) - last - 1


def _parts(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """The unpacked bytes of gzip, in chunks; Polars reports truncated files."""
    unpacker = zlib.decompressobj(wbits=31)
    while packed := file.read(_PACKED):
        while packed:
            try:
                yield unpacker.decompress(packed, CHUNK)
            except zlib.error as error:
                reason = str(error).rpartition(": ")[2]
                raise FileError.of_file(path, f"the file cannot be read: its gzip is damaged, {reason}.") from None
            packed = unpacker.unconsumed_tail
            if unpacker.eof:
                packed = unpacker.unused_data
                unpacker = zlib.decompressobj(wbits=31)


def _blocks(path: Path, file: BinaryIO) -> Iterator[int]:
    """An upper bound of the unpacked bytes of each block of Zstandard (RFC 8878)."""
    while magic := file.read(len(ZSTD)):
        if magic == ZSTD:
            yield from _blocks_of_frame(file)
        elif magic[1:] == b"\x2a\x4d\x18":  # a frame to skip
            file.seek(int.from_bytes(file.read(4), "little"), 1)
        else:
            raise FileError.of_file(path, "the file cannot be read: other bytes follow its Zstandard data.")


def _blocks_of_frame(file: BinaryIO) -> Iterator[int]:
    descriptor = int.from_bytes(file.read(1), "little")
    single, has_checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    content = _CONTENT[descriptor >> 6] or single
    file.seek((not single) + _DICTIONARY[descriptor & 3] + content, 1)
    last = False
    # A file that is cut short ends here, and Polars reports it.
    while not last and len(header := file.read(3)) == 3:
        block = int.from_bytes(header, "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        yield _BLOCK if kind == 2 else size
        # One byte stands for a block of repetitions.
        file.seek(1 if kind == 1 else size, 1)
    file.seek(4 * has_checksum, 1)
