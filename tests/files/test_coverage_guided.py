"""Files that lead to new lines of the readers, and a search for more of them, for some seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import coverage_guided
import polars as pl
import pytest
from coverage_guided import FOUND, READERS, Coverage, Input, named, outcome, search

from polars_ir.errors import FileError
from polars_ir.files import read_run, scan_run

RUN = "q1 Q0 d1 1 0.5 bm25\n"

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_what_was_found_is_read_the_same_twice_or_refused(path: Path, tmp_path: Path) -> None:
    one = named(path)
    assert one.name == path.name
    copy = tmp_path / f"a{one.ending}"
    copy.write_bytes(one.content)
    _, wrong = outcome(copy, one.role, one.format)
    assert wrong is None


@pytest.mark.whole("a search of seconds")
def test_a_search_of_some_seconds_finds_nothing_wrong(tmp_path: Path) -> None:
    tried, n_new, failures = search(5, seed=0, save=tmp_path)
    assert failures == []
    assert tried > len(coverage_guided.beginnings())
    assert n_new > 0


def wrong_of(read: Callable[..., Any], scan: Callable[..., Any], path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The fault of a file by other readers."""
    path.write_text(RUN, encoding="utf-8")
    monkeypatch.setitem(READERS, "run", (read, scan))
    return outcome(path, "run", "trec")[1]


def test_what_readers_may_not_do_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(error: Exception) -> Callable[..., Any]:
        def read(*_: object, **__: object) -> Any:
            raise error

        return read

    def more(path: Path, **options: Any) -> pl.LazyFrame:
        return pl.concat([scan_run(path, **options)] * 2)

    path = tmp_path / "a.run"
    refused = raises(FileError.of_file(path, "no."))
    assert wrong_of(read_run, scan_run, path, monkeypatch) is None
    assert wrong_of(refused, refused, path, monkeypatch) is None
    assert wrong_of(raises(KeyError("a")), refused, path, monkeypatch) == "KeyError: 'a'"
    assert "without the file" in wrong_of(raises(FileError("no.")), refused, path, monkeypatch)
    assert "5000 characters" in wrong_of(raises(LongError(path)), refused, path, monkeypatch)
    assert wrong_of(refused, scan_run, path, monkeypatch) == "scanned, but not read"
    assert wrong_of(read_run, more, path, monkeypatch) == "scanned otherwise than read"
    assert wrong_of(read_run, raises(KeyError("a")), path, monkeypatch) == "read, but not scanned, KeyError: 'a'"


class LongError(FileError):
    """An error whose message is long."""

    def __init__(self, path: Path) -> None:
        super().__init__("")
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}".ljust(5000, "x")


def test_the_lines_of_the_readers_are_taken_down_and_no_others(tmp_path: Path) -> None:
    coverage = Coverage()
    path = tmp_path / "a.run"
    path.write_text(RUN, encoding="utf-8")
    with coverage.measured():
        read_run(path)
    first = set(coverage.lines)
    assert {Path(file).parent.name for file, _ in first} > {"files"}
    assert all(file.startswith(coverage_guided.PACKAGE) for file, _ in first)
    read_run(path)
    assert coverage.lines == first
    path.write_text(RUN + "q1 Q0 d2\n", encoding="utf-8")
    with coverage.measured(), pytest.raises(FileError):
        read_run(path)
    assert coverage.lines > first


def test_a_kept_file_tells_how_it_was_read(tmp_path: Path) -> None:
    for one in (Input(b"a", ".csv.gz", "run"), Input(b"", ".txt", "qrels", "subtopics")):
        path = tmp_path / one.name
        path.write_bytes(one.content)
        assert named(path) == one
