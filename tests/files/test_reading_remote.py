"""URLs: what Polars fetches is read, and what it cannot fetch is an error that says why."""

from __future__ import annotations

import gzip
import json
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from messages import message_of
from polars.testing import assert_frame_equal
from reading import Write, run_readers
from serving import Parts, serving

from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_run

FRAME = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["a", "b"], "score": [0.5, 1.5]})
RUN = b"q1 Q0 a 1 0.5 bm25\nq2 Q0 b 1 1.5 bm25\n"
CONTENTS: dict[str, bytes] = {
    "a.run": RUN,
    "a.run.gz": gzip.compress(RUN),
    "a": RUN,
    "b.run": RUN.replace(b"bm25", b"dense"),
    "a.csv": b"query_id,doc_id,score\nq1,a,0.5\nq2,b,1.5\n",
    "a.json": json.dumps({"q1": {"a": 0.5}, "q2": {"b": 1.5}}).encode(),
    "a.json.gz": gzip.compress(json.dumps({"q1": {"a": 0.5}, "q2": {"b": 1.5}}).encode()),
    "wrong.run": b"q1 Q0 a 1 0.5 bm25\nq1 Q0 b 1 x bm25\n",
    "qrels.txt": b"q1 0 a 1\n",
}
BINARY: dict[str, Callable[[Path], Any]] = {
    "a.parquet": FRAME.write_parquet,
    "a.arrow": FRAME.write_ipc,
    "a.ndjson": FRAME.write_ndjson,
}
NAMES = [name for name in (*CONTENTS, *BINARY) if name.startswith("a")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("remote")
    for name, content in CONTENTS.items():
        (place / name).write_bytes(content)
    for name, write in BINARY.items():
        write(place / name)
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """The address of a web server that gives parts of files, as object stores do."""

    class Handler(Parts):
        def answer(self) -> None:
            path = folder / self.path.partition("?")[0].removeprefix("/")
            if path.is_file():
                self.send_content(path.read_bytes())
            else:
                self.send_error(404)

    with serving(Handler) as address:
        yield address


@run_readers
@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_read_from_the_web(server: str, name: str, reader: Any) -> None:
    assert_frame_equal(reader(f"{server}/{name}").lazy().collect().select(FRAME.columns), FRAME)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_url_is_the_file(folder: Path, name: str) -> None:
    assert_frame_equal(read_run((folder / name).as_uri()).select(FRAME.columns), FRAME)


def test_a_file_url_may_be_a_glob_and_hold_escapes(write: Write, tmp_path: Path) -> None:
    write(RUN, "my run.txt")
    assert read_run(f"file://{tmp_path}/my%20r*.txt").height == 2


def test_what_follows_a_question_mark_is_no_extension(server: str) -> None:
    assert_frame_equal(read_run(f"{server}/a.csv?signature=x.y"), FRAME)


def test_judgments_are_read_from_the_web(server: str) -> None:
    assert read_qrels(f"{server}/qrels.txt").rows() == [("q1", "a", 1)]


def test_runs_of_the_web_are_named_by_their_tags_or_files(server: str) -> None:
    assert read_run([f"{server}/a.run", f"{server}/b.run"])["run"].unique().sort().to_list() == ["bm25", "dense"]
    assert read_run([f"{server}/a.json", f"{server}/a.json.gz"])["run"].unique().len() == 2


def test_a_wrong_line_of_a_remote_file_is_told_as_of_any(server: str) -> None:
    assert message_of(lambda: read_run(f"{server}/wrong.run"), FileError) == (
        f"{server}/wrong.run, line 2: the score (field 5) must be a number; got 'x'.\n    'q1 Q0 b 1 x bm25'"
    )


@pytest.mark.parametrize("name", ["no.run", "no.txt", "no.csv", "no.parquet", "no.arrow", "no.ndjson", "no.json"])
def test_a_missing_remote_file_is_an_error_with_the_reason(server: str, name: str) -> None:
    with pytest.raises(FileError, match=rf"^{server}/{name}: the file cannot be read: .*404"):
        read_run(f"{server}/{name}")


@pytest.mark.parametrize(
    "name", ["no.run", "no.txt", "no.csv", "no.parquet", "no.arrow", "no.ndjson", "no.json", "wrong.run"]
)
@run_readers
def test_no_message_has_a_secret_of_a_url(server: str, reader: Any, name: str) -> None:
    url = f"{server.replace('://', '://user:pw1@')}/{name}?token=abc1"
    with pytest.raises(FileError) as caught:
        reader(url)
    text = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    messages = [line for line in text.splitlines() if "Error" in line]
    assert messages
    assert not any(secret in line for line in messages for secret in ("pw1", "abc1"))


def test_a_url_that_polars_does_not_read_is_an_error() -> None:
    assert message_of(lambda: read_run("ftp://example.org/a.run"), FileError) == (
        "ftp://example.org/a.run: a URL begins with s3, s3a, gs, gcs, az, azure, abfs, abfss, adl, http, https, hf or "
        "file; download this one first."
    )


@pytest.mark.parametrize("url", ["s3://runs/*.run", "s3://runs/*", "gs://runs/x/*.json", "hf://datasets/a/b/*.csv"])
def test_a_pattern_at_a_url_is_followed_for_tables_only(url: str) -> None:
    with pytest.raises(FileError) as error:
        read_run(url)
    assert str(error.value) == f"{url}: a pattern at a URL is followed for ipc, ndjson, parquet only; list these files."


def test_a_folder_at_a_url_is_an_error_that_says_how_to_name_its_files() -> None:
    assert message_of(lambda: read_run("s3://runs/bm25/"), FileError) == (
        "s3://runs/bm25/: this is a folder; name its files, for instance 's3://runs/bm25/*.parquet'."
    )


@pytest.mark.parametrize("scheme", ["s3", "gs", "az", "hf", "abfss"])
@pytest.mark.parametrize(
    ("name", "function"),
    [("*.parquet", "scan_parquet"), ("a.ndjson", "scan_ndjson"), ("a.run.gz", "scan_lines"), ("a.csv", "scan_csv")],
)
def test_a_url_reaches_polars_as_it_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, name: str, function: str
) -> None:
    url = f"{scheme}://runs/x y/{name}?versionId=1"
    seen = []

    def of_folder(of_polars: Any, source: Any, **options: Any) -> pl.LazyFrame:
        seen.extend(source if isinstance(source, list) else [source])
        lazy: pl.LazyFrame = of_polars(folder / name.replace("*", "a"), **options)
        return lazy

    # The lines of a CSV are looked at, too.
    for each in {function, "scan_lines"}:
        monkeypatch.setattr(pl, each, partial(of_folder, getattr(pl, each)))
    assert_frame_equal(read_run(url).select(FRAME.columns), FRAME)
    assert_frame_equal(scan_run(url).collect().select(FRAME.columns), FRAME)
    assert set(seen) == {url}


def test_a_missing_file_of_a_file_url_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a\.run: there is no such file\.$"):
        read_run((tmp_path / "a.run").as_uri())
