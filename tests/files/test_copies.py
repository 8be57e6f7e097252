"""Bodies from a server: read within the limits of local files, or refused with the address in the message."""

from __future__ import annotations

import gzip
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from messages import message_of
from serving import Quiet, serving

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_run, tag_of
from polars_ir.files.finding import copies, web
from polars_ir.files.finding.file import SMALL

RUN = b"q1 Q0 a 1 0.5 bm25\n"
ZEROS = gzip.compress(b"0" * (SMALL + (1 << 20)))
BODIES = {
    "/a.run": RUN,
    "/b/a.run": RUN,
    "/a%20%C3%A4.run": RUN,
    "/zeros.run.gz": ZEROS,
    "/zeros.csv.gz": ZEROS,
    "/zeros.ndjson.gz": ZEROS,
    "/zeros.json.gz": ZEROS,
    "/zeros": ZEROS,
    "/wide.csv": b"query_id,doc_id,score\nq1,a,0.5\n",
    "/other.csv": b"query_id,doc_id,score,note\nq1,a,0.5,x\n",
    "/note.json": b'{"q1": {"a": 0.5}}',
    "/empty.run": b"",
    "/": RUN,
}
NAMES_OF_ZEROS = [path for path, body in BODIES.items() if body is ZEROS]


class Hostile(Quiet, BaseHTTPRequestHandler):
    """Answers with `BODIES`, and some paths otherwise than servers should."""

    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.asked.append((path, self.headers.get("Authorization")))
        if path.startswith("/to/"):
            self.answer(302, {"Location": path.removeprefix("/to/")})
            self.pour(RUN)
        elif path == "/chunked.run":
            self.protocol_version = "HTTP/1.1"  # 1.0 has no parts of unknown number
            self.answer(200, {"Transfer-Encoding": "chunked"})
            self.pour(b"%x\r\n%s\r\n" % (len(RUN), RUN))
        elif path == "/vast.run":
            self.answer(200, {"Content-Length": str(10**15)})
            self.pour(RUN)
        elif path == "/short.run":
            self.answer(200, {"Content-Length": "1000"})
            self.wfile.write(RUN)
        elif path == "/long.run":
            self.answer(200, {"Content-Length": str(len(RUN))})
            self.pour(RUN)
        else:
            self.answer(200, {"Content-Length": str(len(BODIES[path]))})
            self.wfile.write(BODIES[path])

    def do_HEAD(self) -> None:
        self.do_GET()

    def answer(self, code: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def pour(self, part: bytes) -> None:
        with suppress(OSError):  # the reader has gone
            while True:
                self.wfile.write(part)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving(Hostile) as address:
        yield address


@pytest.fixture
def asked() -> list[tuple[str, str | None]]:
    """The paths that the server is asked for, and what authorizes it."""
    Hostile.asked.clear()
    return Hostile.asked


@pytest.fixture(autouse=True)
def no_copy_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Copies are made here, and none is left."""
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


def collected(url: str, **options: Any) -> pl.DataFrame:
    return scan_run(url, **options).collect()


@pytest.mark.parametrize("reader", [read_run, read_qrels, tag_of, ir.read_trec_eval])
@pytest.mark.parametrize("name", NAMES_OF_ZEROS)
@pytest.mark.whole("many cases", quick=5)
def test_a_body_that_unpacks_to_far_more_is_refused(server: str, reader: Any, name: str) -> None:
    with pytest.raises(FileError) as error:
        reader(f"{server}{name}?token=abc1")
    what = f"{server}{name}?token=***"
    in_one_line = f"{what}, line 1: the line has more than 16 MB; lines end in \\n.\n    '{'0' * 120}'"
    assert str(error.value) == in_one_line


@pytest.mark.whole("a large file")
def test_a_body_of_many_lines_that_unpacks_to_far_more_is_refused(
    server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = gzip.compress(RUN * (SMALL // len(RUN) + 1))
    monkeypatch.setitem(BODIES, "/lines.run.gz", body)
    problem = f"{server}/lines.run.gz: it would unpack to more than 100 times its {len(body)} bytes. "
    with pytest.raises(FileError) as error:
        read_run(f"{server}/lines.run.gz")
    assert str(error.value) == problem + "If you trust where it comes from, allow more: max_ratio=1000."
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 a 1\n", encoding="utf-8")
    assert main(["evaluate", "-m", "AP", str(qrels), f"{server}/lines.run.gz"]) == 2
    assert problem in capsys.readouterr().err
    assert read_run(f"{server}/lines.run.gz", max_ratio=1000).height == SMALL // len(RUN) + 1


@pytest.mark.parametrize("reader", [read_run, collected, tag_of])
def test_a_body_without_a_length_is_refused(server: str, reader: Any) -> None:
    with pytest.raises(FileError, match=f"^{server}/chunked.run: .*Content-Length"):
        reader(f"{server}/chunked.run")


def test_the_shell_refuses_a_body_without_a_length(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 a 1\n", encoding="utf-8")
    assert main(["evaluate", "-m", "AP", str(qrels), f"{server}/chunked.run"]) == 2
    assert capsys.readouterr().err == (
        f"polars-ir: {server}/chunked.run: the server does not say how long the file is (Content-Length); download "
        "it.\n"
    )


def test_a_body_larger_than_the_disk_is_refused(server: str) -> None:
    with pytest.raises(FileError, match=rf"vast\.run: it has {10**15} bytes, and \d+ are free for a copy"):
        read_run(f"{server}/vast.run")


def test_a_body_that_ends_early_is_refused(server: str) -> None:
    with pytest.raises(FileError) as error:
        read_run(f"{server}/short.run")
    assert str(error.value) == f"{server}/short.run: the server sent {len(RUN)} of 1000 bytes."


def test_nothing_is_read_behind_the_end_of_a_body(server: str) -> None:
    assert read_run(f"{server}/long.run").height == 1


def test_an_empty_body_is_refused_as_any_file(server: str) -> None:
    with pytest.raises(FileError) as error:
        read_run(f"{server}/empty.run")
    assert str(error.value) == f"{server}/empty.run: the file is empty: no line holds data."


def test_what_comes_with_a_redirection_is_not_read(server: str) -> None:
    assert read_run(f"{server}/to/{server}/a.run").height == 1


def test_a_redirection_away_from_the_web_is_refused_with_its_reason(server: str) -> None:
    with pytest.raises(FileError, match=r"the server redirects to ftp://example\.org/a\.run, not on the web"):
        read_run(f"{server}/to/ftp://example.org/a.run")


def test_a_user_is_told_to_the_host_that_was_named_and_to_no_other(
    server: str, asked: list[tuple[str, str | None]]
) -> None:
    with_user = server.replace("://", "://me%40home:pw@")
    assert read_run(f"{with_user}/to/{server}/a.run").height == 1
    told = f"Basic {b64encode(b'me@home:pw').decode()}"
    assert asked == [(f"/to/{server}/a.run", told), ("/a.run", None)]


def test_addresses_are_sent_as_ascii_and_once(server: str, asked: list[tuple[str, str | None]]) -> None:
    for path in ("/a ä.run", "/a%20%C3%A4.run#top"):
        assert read_run(f"{server}{path}").height == 1
    assert [path for path, _ in asked] == ["/a%20%C3%A4.run"] * 2


def test_an_address_without_a_path_or_with_a_long_one_is_read(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_run(server, format="trec").height == 1
    monkeypatch.setitem(BODIES, f"/{'x' * 300}.run", RUN)
    assert read_run(f"{server}/{'x' * 300}.run").height == 1


@pytest.mark.parametrize("address", ["http://127.0.0.1:x/a.run", "http://[::1/a.run", "https:///a.run", "http://a\0/b"])
def test_an_address_that_is_none_is_an_error(address: str) -> None:
    with pytest.raises(FileError, match=r"can(not)? be read"):
        read_run(address)


def test_messages_about_two_files_name_both_addresses(server: str) -> None:
    assert message_of(lambda: read_run([f"{server}/wide.csv", f"{server}/other.csv?token=abc1"]), FileError) == (
        f"{server}/other.csv?token=***: its columns are query_id, doc_id, score, note; those of {server}/wide.csv are "
        "query_id, doc_id, score. Read each by itself, and put them together: "
        "pl.concat([...], how='diagonal_relaxed')."
    )
    with pytest.raises(FileError, match=rf"this file is json, but {server}/wide\.csv is csv"):
        read_run([f"{server}/wide.csv", f"{server}/note.json"])


def test_runs_of_one_name_are_called_by_their_addresses(server: str) -> None:
    runs = read_run([f"{server}/a.run", f"{server}/b/a.run"])
    assert runs["run"].to_list() == [f"{server}/a.run", f"{server}/b/a.run"]


def test_a_server_need_not_send_parts(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(RUN)

    class Plain(Quiet, SimpleHTTPRequestHandler):
        """A server of files."""

    with serving(partial(Plain, directory=str(tmp_path))) as address:
        assert read_run(f"{address}/a.run").rows() == [("q1", "a", 1, 0.5)]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a?format=parquet"])
def test_tables_that_know_their_types_are_left_to_polars(
    server: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "download", lambda *_: pytest.fail("it was downloaded"))
    monkeypatch.setitem(BODIES, "/a.parquet", b"")
    monkeypatch.setitem(BODIES, "/a.arrow", b"")
    monkeypatch.setitem(BODIES, "/a", b"")
    with pytest.raises(FileError):
        read_run(f"{server}/{name}", format="parquet" if "?" in name else None)


def test_reading_local_files_makes_no_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.run").write_bytes(RUN)
    monkeypatch.setattr(copies, "TemporaryDirectory", lambda: pytest.fail("a folder was made"))
    assert read_run(tmp_path / "a.run").height == 1
