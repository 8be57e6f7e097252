"""Names that come from somebody else: URLs are forbidden where asked, and servers lead nowhere but to the web."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from serving import Parts, serving

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_qrels, scan_run, tag_of

RUN = b"q1 Q0 a 1 0.5 bm25\n"
QRELS = b"q1 0 a 1\n"

URLS = [
    "https://example.org/a.run",
    "HTTP://example.org/a.run",
    "s3://runs/a.parquet",
    "s3://runs/*.parquet",
    "gs://runs/a.csv",
    "az://runs/a.ndjson",
    "hf://datasets/somebody/runs/a.json",
    "https://user:pw1@example.org/a.run?token=abc1&x=1",
]


class Hostile(Parts):
    """Answers `/to/URL` by leading there, `/endless` with lines and no length, and all else with a run."""

    def answer(self) -> None:
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path.startswith("/late.run"):
            self.send_content(b"q1 Q0 a 1 0.5 bm25\n" * 1000 + b"q1 Q0 b 2 x bm25\n")
            return
        endless = self.path == "/endless.run"
        self.send_content(RUN, has_length=not endless)
        with suppress(OSError):  # the reader has gone
            while endless:
                self.wfile.write(RUN)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a web server that means no good."""
    with serving(Hostile) as address:
        yield address


@pytest.mark.parametrize("reader", [read_run, scan_run, read_qrels, scan_qrels, tag_of, ir.read_trec_eval])
@pytest.mark.parametrize("url", URLS)
@pytest.mark.whole("many cases", quick=12)
def test_a_url_is_refused_where_only_local_files_are_allowed(url: str, reader: Any) -> None:
    with pytest.raises(FileError) as error:
        reader(url, remote=False)
    assert str(error.value).endswith(": this is a URL, and only local files are allowed. Allow it: remote=True.")
    assert not any(secret in str(error.value) for secret in ("pw1", "abc1"))


def test_a_scan_that_fails_late_tells_no_secret_of_a_url(server: str) -> None:
    lazy = scan_run(f"{server.replace('://', '://user:pw1@')}/late.run?token=abc1")
    with pytest.raises(pl.exceptions.InvalidOperationError) as error:
        lazy.collect()
    assert "late.run?token=***, line 1001: wanted query_id Q0" in str(error.value)
    assert not any(secret in str(error.value) for secret in ("pw1", "abc1"))


def test_a_url_among_local_files_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(RUN)
    with pytest.raises(FileError, match="only local files are allowed"):
        read_run([path, "https://example.org/b.run"], remote=False)


def test_local_files_are_read_nevertheless(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(RUN)
    for name in (path, str(path), path.as_uri(), f"{tmp_path}/*.run"):
        assert read_run(name, remote=False).rows() == [("q1", "a", 1, 0.5)]


def test_the_shell_reads_no_url_where_it_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], server: str
) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(QRELS)
    assert main(["evaluate", "-m", "AP", str(qrels), f"{server}/a.run"]) == 0
    assert main(["evaluate", "-m", "AP", str(qrels), f"{server}/a.run?token=abc1", "--local-only"]) == 2
    assert capsys.readouterr().err == (
        f"polars-ir: {server}/a.run?token=***: this is a URL, and only local files are allowed. Download it, or leave "
        "out --local-only.\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "-m", "AP", "URL", "URL"],
        ["compare", "-m", "AP", "URL", "URL2"],
        ["compare", "-m", "AP", "--qrels", "URL", "URL2", "URL3"],
        ["gate", "-m", "AP", "URL", "URL2"],
        ["fuse", "URL", "URL2"],
        ["validate", "URL", "URL2"],
        ["convert", "URL", "-"],
        ["convert", "--qrels", "URL", "-"],
    ],
)
def test_every_command_can_be_told_to_read_local_files_only(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    named = [argument.replace("URL", "https://example.org/a.run?part=") for argument in arguments]
    assert main([*named, "--local-only"]) == 2
    assert "this is a URL, and only local files are allowed" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.org/a.run", "s3://runs/a.run"])
@pytest.mark.parametrize("reader", [read_run, scan_run])
def test_a_server_does_not_lead_away_from_the_web(server: str, reader: Any, target: str) -> None:
    with pytest.raises(FileError, match="the file cannot be read: ") as error:
        reader(f"{server}/to/{target}", format="csv")
    assert "root" not in str(error.value)


def test_a_server_may_lead_to_another_address_of_the_web(server: str) -> None:
    assert read_run(f"{server}/to/{server}/a.run", format="trec").height == 1


@pytest.mark.parametrize("reader", [read_run, scan_run])
def test_an_answer_without_a_length_is_not_read_to_its_end(server: str, reader: Any) -> None:
    with pytest.raises(FileError, match="Content-Length"):
        reader(f"{server}/endless.run")
