"""Web servers of tests."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Quiet:
    """The part of a handler by which it prints no requests."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Parts(Quiet, BaseHTTPRequestHandler):
    """A handler that sends the part of a content that is asked for, as object stores do."""

    def do_GET(self) -> None:
        self.answer()

    def do_HEAD(self) -> None:
        self.answer()

    def answer(self) -> None:
        """Send something."""
        raise NotImplementedError

    def send_content(self, content: bytes, *, has_length: bool = True) -> None:
        """Send the part, and for a HEAD what comes before it."""
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "bytes=0-"))
        assert found
        first, last = found.groups()
        start = int(first) if first else max(len(content) - int(last), 0)
        part = content[start : int(last) + 1] if first and last else content[start:]
        self.send_response(206 if "Range" in self.headers else 200)
        if has_length:
            self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(content)}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(part)


@contextmanager
def serving(handler: Callable[..., Any]) -> Iterator[str]:
    """The address of a web server."""
    web = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    web.daemon_threads = True
    threading.Thread(target=web.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{web.server_port}"
    finally:
        web.shutdown()
        web.server_close()
