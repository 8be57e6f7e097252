"""Copies, on the disk of this machine, of what can be read once or only as a whole: web texts, pipes, standard input.

Conventions: Polars unpacks a compressed body in memory, whatever it unpacks to, and wants a server that sends parts. So
a text that is read now is copied to this disk first, no more of it than its server announced, to be read within the
limits of local files; one that is scanned is left to Polars, and so are Parquet and Arrow IPC, of which it fetches only
the parts that it needs.
"""

from __future__ import annotations

import shutil
import sys
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from polars_ir.errors import FileError, with_names
from polars_ir.files.finding.file import COMPRESSED, File, is_pattern, pure, scheme
from polars_ir.files.finding.sources import by_extension, resolve
from polars_ir.files.formats.record import Format
from polars_ir.files.rows.unreadable import because

#: The name of standard input where a file is wanted.
STDIN = "-"

_WEB = ("http", "https")

#: The seconds that a server may stay silent.
_PATIENCE = 60

#: The bytes that are copied at a time.
_PART = 1 << 20

#: Characters that an address may hold as they are.
_PLAIN = "%/:=&?~+!$,;'@()*[]"

#: The most bytes that a file system takes for a name, but for some that our own needs.
_LONGEST_NAME = 200


@contextmanager
def downloaded(files: Sequence[File], asked: Format | None, max_ratio: float | None) -> Iterator[list[File]]:
    """The files, texts at web addresses as copies that go when they were read and are called as they were named."""
    urls = [file for file in files if isinstance(file, str) and _is_text_of_the_web(file, asked)]
    if not urls:
        yield [*files]
        return
    with TemporaryDirectory() as folder:
        copies: dict[File, Path] = {url: Path(folder, str(number), _name(url)) for number, url in enumerate(urls)}
        with with_names(**{str(copy): str(url) for url, copy in copies.items()}):
            for url in urls:
                _download(url, copies[url])
            yield resolve([copies.get(file, file) for file in files], max_ratio=max_ratio)


def _is_text_of_the_web(url: str, asked: Format | None) -> bool:
    format = asked or by_extension(url)
    return scheme(url) in _WEB and not is_pattern(url) and (format is None or format.is_text)


def _name(url: str) -> str:
    return pure(url).name.encode(errors="replace")[-_LONGEST_NAME:].decode(errors="ignore") or "file"


def _download(url: str, copy: Path) -> None:
    copy.parent.mkdir()
    try:
        with build_opener(_WithinTheWeb).open(_request(url), timeout=_PATIENCE) as body, copy.open("wb") as file:
            _copy(url, body, file)
    except FileError:
        raise
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, HTTPError):
            error.close()
        reason = error.reason if type(error) is URLError and isinstance(error.reason, Exception) else error
        raise because(url, reason) from None


def _request(url: str) -> Request:
    """The request to a server: the path as ASCII, and the credentials for no host but the one they stand before."""
    parts = urlsplit(url)
    user, has_user, host = parts.netloc.rpartition("@")
    path, query = (quote(part, safe=_PLAIN) for part in (parts.path, parts.query))
    address = urlunsplit((parts.scheme, host.encode("idna").decode(), path, query, ""))
    request = Request(address, headers={"User-Agent": "polars_ir"})  # noqa: S310  # http and https only
    if has_user:
        request.add_unredirected_header("Authorization", f"Basic {b64encode(unquote(user).encode()).decode()}")
    return request


def _copy(url: str, body: HTTPResponse, file: IO[bytes]) -> None:
    """Copy a body, which ends where its server said beforehand."""
    if body.length is None:
        raise FileError.of_file(url, "the server does not say how long the file is (Content-Length); download it.")
    length, free = body.length, shutil.disk_usage(Path(file.name).parent).free
    if length > free:
        raise FileError.of_file(url, f"it has {length} bytes, and {free} are free for a copy; download it elsewhere.")
    shutil.copyfileobj(body, file, _PART)
    if file.tell() < length:
        raise FileError.of_file(url, f"the server sent {file.tell()} of {length} bytes.")


class _WithinTheWeb(HTTPRedirectHandler):
    """Follows a server to `http` and `https` only."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        fp.close()  # or else all that comes with the answer would be read into memory
        if scheme(newurl) not in _WEB:
            raise URLError(f"the server leads to {newurl}, out of the web")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def copied(file: IO[Any]) -> Iterator[str]:
    """The path of a temporary copy of an open file, which goes by its name."""
    name = getattr(file, "name", None)
    own = _name(Path(name).name.replace("\0", "")) if isinstance(name, str) else "file"
    with TemporaryDirectory() as folder:
        path = Path(folder, own)
        if path.suffix.lower() in COMPRESSED:
            # `gzip.open` unpacks what it reads, and keeps the name. What is compressed shows by its first bytes.
            path = path.with_suffix("")
        with path.open("wb") as copy:
            while part := file.read(_PART):
                copy.write(part.encode(errors="surrogateescape") if isinstance(part, str) else part)
        with with_names(**{str(path): own}):
            yield str(path)


@contextmanager
def as_file(name: str) -> Iterator[str]:
    """The name of a file; for `-` or a pipe, of a temporary copy of its content."""
    if name != STDIN and not _is_pipe(name):
        yield name
        return
    own = "stdin" if name == STDIN else Path(name).name
    with TemporaryDirectory() as folder:
        path = Path(folder, own)
        with path.open("wb") as file:
            _take_in(name, file)
        with with_names(**{str(path): shown_name(name)}):
            yield str(path)


def shown_name(name: str) -> str:
    """The name of a file of the shell in a message."""
    return "standard input" if name == STDIN else name


def _is_pipe(name: str) -> bool:
    try:
        return Path(name).is_fifo()
    except (OSError, ValueError):
        # The readers report an invalid name.
        return False


def _take_in(name: str, file: BinaryIO) -> None:
    if name != STDIN:
        with Path(name).open("rb") as pipe:
            shutil.copyfileobj(pipe, file)
    elif sys.stdin is None:
        raise FileError("standard input is closed; pipe the file into it, or name the file.")
    else:
        shutil.copyfileobj(sys.stdin.buffer, file)
