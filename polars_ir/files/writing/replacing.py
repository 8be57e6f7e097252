"""Atomic replacement of files: a write that fails, or is killed, leaves the old file.

Conventions: what is written goes to a part in the same folder, under a name that nothing has, is brought to the disk,
and renamed. Of two writers one wins, whole. Each locks its part, so that parts without a lock are of writers that were
killed, and the next writer in the folder removes them. The permissions of the old file stay; one that is read-only is
not replaced. A link stays one, and leads to what was written; a pipe or a device is written into.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import polars as pl

from polars_ir.errors import FileError, IRError
from polars_ir.files.finding.file import File

try:
    import fcntl
except ImportError:  # Windows has no such locks: parts of killed writers stay there
    fcntl = None  # type: ignore[assignment]

_PART = re.compile(r"\.polars_ir-[0-9a-f]{16}\.part")

#: Disk errors in writing.
_OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EPIPE)

#: Polars' words for a failure of a store.
OF_STORES = "object-store error"

#: The error number in a message of Polars.
_NUMBER = re.compile(r"\(os error (\d+)\)")


@contextmanager
def written(file: File) -> Iterator[IO[bytes] | str]:
    """The target that Polars writes to: a file that takes the place of another at the end, or the URL."""
    if isinstance(file, Path):
        with replaced(file) as part:
            yield part
        return
    try:
        yield file
    except (OSError, ValueError, pl.exceptions.ComputeError) as error:  # a ValueError is of an option of the store
        reason = str(error).strip().partition("<?xml")[0].partition("\n")[0].rstrip(": ")
        if isinstance(error, (IRError, pl.exceptions.ComputeError)) and OF_STORES not in reason:
            raise
        raise FileError.of_file(file, f"cannot be written: {reason}.") from None


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into, moved to its place at the end; a `FileError` where that fails."""
    # A link stays one: what it leads to is replaced. A device is opened here, and once: Polars may open a path again,
    # and then wait for ever for a reader of a pipe.
    with _of_file(path), path.open("wb") if _is_device(path) else _beside(Path(os.path.realpath(path))) as file:
        yield file


def check_writable(path: Path) -> None:
    """Raise a `FileError` for a file that cannot be written, before its content is made."""
    with _of_file(path):
        if not _is_device(path):
            place = Path(os.path.realpath(path))
            _status(place)
            part, file = _new_part(place.parent, 0o600)
            part.unlink()
            file.close()


def _is_device(path: Path) -> bool:
    """True of a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def _of_file(path: Path) -> Iterator[None]:
    """Disk errors become a `FileError` of the file."""
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise FileError.of_file(path, f"cannot be written: {reason}.") from None


@contextmanager
def _beside(place: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside the target, moved there at the end, and removed on failure."""
    status = _status(place)
    _remove_abandoned(place.parent)
    part, file = _new_part(place.parent, 0o666 if status is None else 0o600)
    try:
        with file:
            yield file
            file.flush()
            if status is not None and os.name != "nt":
                with suppress(PermissionError):  # only the superuser gives files away
                    os.fchown(file.fileno(), status.st_uid, status.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
            os.fsync(file.fileno())
            if fcntl:
                # While it is locked, so that nobody takes it for abandoned.
                part.replace(place)
        if not fcntl:
            part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _sync(place.parent)


def _status(place: Path) -> os.stat_result | None:
    """Owner and permissions of the file to be replaced; None for a new file."""
    try:
        status = place.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    # To rename takes no permission to write, and the superuser always has it.
    if not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "the file there is read-only")
    return status


def _new_part(folder: Path, mode: int) -> tuple[Path, IO[bytes]]:
    """A new locked file."""
    while True:
        part = folder / f".polars_ir-{secrets.token_hex(8)}.part"
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            continue
        try:
            # Before it was locked, another writer may have taken it for abandoned.
            if _lock(descriptor) is not False and part.exists():
                return part, os.fdopen(descriptor, "wb")
            os.close(descriptor)
        except BaseException:
            part.unlink(missing_ok=True)
            with suppress(OSError):
                os.close(descriptor)
            raise


def _lock(descriptor: int) -> bool | None:
    """True if a temporary file could be locked, which no living writer holds; None without locks."""
    try:
        if fcntl:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return None


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of killed writers, where permitted."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if fcntl and _PART.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_unlocked(Path(entry.path))


def _remove_unlocked(part: Path) -> None:
    # Parts are regular files: links and pipes of such a name are not followed.
    descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _lock(descriptor):
            part.unlink()
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    """Flush a folder's entries to disk, where supported."""
    if os.name == "nt":
        return
    with suppress(PermissionError):  # one may write into a folder that one may not read
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a file system that has no such thing
                raise
        finally:
            os.close(descriptor)


def _reason(error: BaseException) -> str | None:
    """The reason why a file could not be written; None after another failure."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.strerror
    number = _NUMBER.search(str(error))
    return os.strerror(int(number[1])) if number and int(number[1]) in _OF_DISK else None
