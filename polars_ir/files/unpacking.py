"""How much a compressed text unpacks to, found out before Polars unpacks it: a few kilobytes can stand for gigabytes.

Conventions: gzip is unpacked here, a part at a time that is thrown away again, to count its bytes and to look at the
lengths of its lines. Zstandard, which Python can not unpack, says at each block how many bytes it stands for, or that
they are 128 kB at most, which they are in all blocks but the last as usual programs write them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from polars_ir.errors import FileError, Fix, Setting
from polars_ir.files.checked import SHOWN
from polars_ir.files.lines import LONGEST, TOO_LONG_TOLD
from polars_ir.files.signatures import GZIP, ZSTD, beginning

#: How many times its size a text unpacks to at most: runs and judgments to less than 30, zeros in gzip to 1,030.
MAX_RATIO = 100.0

#: So much may be unpacked of any file.
SMALL = 64 << 20

#: How much is read, and how much unpacked, at a time.
_PACKED, _PART = 16 << 10, 1 << 20

#: Files of fewer bytes hold no line that is too long, since no byte of gzip stands for more than 1,032.
_TINY = LONGEST // 1032

#: The compressed blocks of Zstandard stand for no more.
_BLOCK = 128 << 10

#: How many bytes of a frame's header hold the number of a dictionary, and the size of the content.
_DICTIONARY, _CONTENT = (0, 1, 2, 4), (0, 2, 4, 8)


def check_unpacked(path: Path, max_ratio: float | None) -> None:
    """Raise a `FileError` for a compressed text that unpacks to too much, or to a line that is too long."""
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
    """How much a file may unpack to."""
    return max(SMALL, path.stat().st_size * max_ratio)


def check_size(path: Path, count: int, most: float, max_ratio: float) -> None:
    """Raise a `FileError` for a file that unpacks to more bytes than it may."""
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
            raise FileError.at_line(path, number, line.decode(errors="backslashreplace"), TOO_LONG_TOLD)
        if last >= 0:
            number += part.count(b"\n")
            line, length = part[last + 1 :][:SHOWN], len(part) - last - 1


def _parts(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """What gzip unpacks to, in parts; the end of a file that is cut short is told by Polars."""
    unpacker = zlib.decompressobj(wbits=31)
    while packed := file.read(_PACKED):
        while packed:
            try:
                yield unpacker.decompress(packed, _PART)
            except zlib.error as error:
                reason = str(error).rpartition(": ")[2]
                raise FileError.of_file(path, f"the file can not be read: its gzip is damaged, {reason}.") from None
            packed = unpacker.unconsumed_tail
            if unpacker.eof:
                packed = unpacker.unused_data
                unpacker = zlib.decompressobj(wbits=31)


def _blocks(path: Path, file: BinaryIO) -> Iterator[int]:
    """How many bytes each block of Zstandard (RFC 8878) stands for at most."""
    while magic := file.read(len(ZSTD)):
        if magic == ZSTD:
            yield from _blocks_of_frame(file)
        elif magic[1:] == b"\x2a\x4d\x18":  # a frame to skip
            file.seek(int.from_bytes(file.read(4), "little"), 1)
        else:
            raise FileError.of_file(path, "the file can not be read: something else follows its Zstandard.")


def _blocks_of_frame(file: BinaryIO) -> Iterator[int]:
    descriptor = int.from_bytes(file.read(1), "little")
    single, has_checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    content = _CONTENT[descriptor >> 6] or single
    file.seek((not single) + _DICTIONARY[descriptor & 3] + content, 1)
    last = False
    # A file that is cut short ends here, and Polars tells it.
    while not last and len(header := file.read(3)) == 3:
        block = int.from_bytes(header, "little")
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        yield _BLOCK if kind == 2 else size
        # One byte stands for a block of repetitions.
        file.seek(1 if kind == 1 else size, 1)
    file.seek(4 * has_checksum, 1)
