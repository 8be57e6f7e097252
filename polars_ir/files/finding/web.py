"""Texts at web addresses, from untrusted servers."""

from __future__ import annotations

import shutil
from base64 import b64encode
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from polars_ir.errors import FileError
from polars_ir.files.finding.file import CHUNK, WEB, scheme
from polars_ir.files.rows.unreadable import because

#: Timeout of a server, in seconds.
_PATIENCE = 60

#: Characters left unquoted in an address.
_PLAIN = "%/:=&?~+!$,;'@()*[]"


def download(url: str, copy: Path) -> None:
    """Copy the text at an address to a file of a new folder."""
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
    """Copy a response body of the length announced by its server."""
    if body.length is None:
        raise FileError.of_file(url, "the server does not say how long the file is (Content-Length); download it.")
    length, free = body.length, shutil.disk_usage(Path(file.name).parent).free
    if length > free:
        raise FileError.of_file(url, f"it has {length} bytes, and {free} are free for a copy; download it elsewhere.")
    shutil.copyfileobj(body, file, CHUNK)
    if file.tell() < length:
        raise FileError.of_file(url, f"the server sent {file.tell()} of {length} bytes.")


class _WithinTheWeb(HTTPRedirectHandler):
    """Follows redirects to `http` and `https` only."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        fp.close()  # or else all that comes with the answer would be read into memory
        if scheme(newurl) not in WEB:
            raise URLError(f"the server redirects to {newurl}, not on the web")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
