"""A written file replaces the old one whole, or not at all: whatever fails, whoever is killed or faster."""

from __future__ import annotations

import os
import resource
import secrets
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.errors import FileError
from polars_ir.files.formats import FORMATS
from polars_ir.files.writing import replacing

RUN = pl.DataFrame({"query_id": "q", "doc_id": [f"d{i}" for i in range(500)], "score": [0.5 * i for i in range(500)]})
OLD = b"what was there"

ENDINGS = [*(format.extensions[0] for format in FORMATS if "run" in format.writer.frames and format.extensions)]
ENDINGS += [".run.gz", ".run.zst"]

#: The system calls of a write, in any order.
CALLS = ["open", "fchmod", "fchown", "fsync", "replace", "scandir", "close"]


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Whoever writes behind this many bytes of a file is told that it is too large, as if the disk were full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.whole("many cases", quick=4)
def test_a_disk_that_fills_up_leaves_the_old_file_and_no_part(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    ir.write_run(RUN, path)
    size = path.stat().st_size
    for limit in sorted({0, 1, 2, *range(3, size - 1, max(size // 20, 1)), size - 1}):
        path.write_bytes(OLD)
        with no_file_larger_than(limit), pytest.raises(FileError) as error:
            ir.write_run(RUN, path)
        assert str(error.value) == f"{path}: cannot be written: File too large."
        assert content_of(tmp_path) == {path.name: OLD}
    with no_file_larger_than(size):
        ir.write_run(RUN, path)
    assert ir.read_run(path).height == RUN.height


class Failing:
    """A call that fails when it is made for the n-th time."""

    def __init__(self, call: Callable[..., Any], at: int) -> None:
        self.call, self.at, self.count = call, at, 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.count += 1
        if self.count == self.at:
            raise OSError(5, "Input/output error")
        return self.call(*arguments, **options)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("lock", [True, False])
@pytest.mark.whole("many cases", quick=5)
def test_whichever_call_fails_the_file_is_the_old_or_the_new_one(
    name: str, lock: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.run"
    ir.write_run(RUN, path)
    new = path.read_bytes()
    if not lock:
        monkeypatch.setattr(replacing, "fcntl", None)
    for at in range(1, 20):
        path.write_bytes(OLD)
        failing = Failing(getattr(os, name), at)
        with monkeypatch.context() as patch:
            patch.setattr(os, name, failing)
            try:
                ir.write_run(RUN, path)
            except FileError as error:
                assert str(error) == f"{path}: cannot be written: Input/output error."  # noqa: PT017
                # Only when the new file is in its place, the folder is brought to the disk.
                late = (name, at) in {("open", 2), ("fsync", 2), ("close", 1)}
                assert content_of(tmp_path) == {path.name: new if late else OLD}, at
            else:
                assert content_of(tmp_path) == {path.name: new}
        if failing.count < at:
            break
    assert at > 1


def test_the_file_is_on_the_disk_before_it_is_in_its_place_and_then_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def noted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def act(first: Any, *others: Any) -> Any:
            kind = "folder" if isinstance(first, int) and stat.S_ISDIR(os.fstat(first).st_mode) else "file"
            calls.append(f"{name} {kind}")
            return call(first, *others)

        return act

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    ir.write_run(RUN, tmp_path / "a.run")
    assert calls == ["fsync file", "replace file", "fsync folder"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o200])
def test_the_permissions_of_the_old_file_stay(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(OLD)
    path.chmod(mode)
    ir.write_run(RUN, path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_permissions_of_any(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        ir.write_run(RUN, tmp_path / "a.run")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.run").stat().st_mode) == 0o666 & ~umask


def test_nobody_else_can_read_a_part_of_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(OLD)
    path.chmod(0o600)
    with replacing.replaced(path) as file:
        (part,) = set(tmp_path.iterdir()) - {path}
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        file.write(b"new")
    assert content_of(tmp_path) == {"a.run": b"new"}


def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(OLD)
    path.chmod(0o444)
    with pytest.raises(FileError) as error:
        ir.write_run(RUN, path)
    assert str(error.value) == f"{path}: cannot be written: the file there is read-only."
    assert content_of(tmp_path) == {"a.run": OLD}


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "precious").write_bytes(OLD)
    planted = [tmp_path / f".polars_ir-{number:016x}.part" for number in range(2)]
    planted[0].symlink_to(tmp_path / "precious")
    os.link(tmp_path / "precious", planted[1])
    tokens = iter([f"{number:016x}" for number in range(3)])
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(tokens))
    ir.write_run(RUN, tmp_path / "a.run")
    assert (tmp_path / "precious").read_bytes() == OLD
    assert planted[0].is_symlink()
    assert ir.read_run(tmp_path / "a.run").height == RUN.height


def test_parts_of_killed_writers_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / f".polars_ir-{'0' * 16}.part").write_bytes(b"abandoned")
    (tmp_path / ".polars_ir-mine.part").write_bytes(b"of that name by chance")
    with replacing.replaced(tmp_path / "b.run") as file:
        file.write(b"new")
        ir.write_run(RUN, tmp_path / "a.run")
    assert sorted(content_of(tmp_path)) == [".polars_ir-mine.part", "a.run", "b.run"]
    assert (tmp_path / "b.run").read_bytes() == b"new"


def test_of_several_writers_one_wins_whole(tmp_path: Path) -> None:
    runs = [RUN.with_columns(query_id=pl.lit(f"q{number}")).head(100 + 50 * number) for number in range(8)]
    for ending in (".run", ".parquet", ".csv.gz"):
        path = tmp_path / f"a{ending}"
        with ThreadPoolExecutor(8) as writers:
            list(writers.map(lambda run: ir.write_run(run, path), runs * 5))  # noqa: B023
        run = ir.read_run(path).select(RUN.columns)
        assert any(run.sort("doc_id").equals(other.sort("doc_id")) for other in runs)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks at /proc")
@pytest.mark.parametrize(("kind", "count"), [("killed", 40), ("memory", 20)])
@pytest.mark.parametrize("ending", [".run.gz", ".parquet"])
@pytest.mark.whole("processes that are killed")
def test_writers_that_are_killed_leave_a_whole_file(ending: str, kind: str, count: int, tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_writers.py")
    arguments = [sys.executable, "-W", "ignore", script, tmp_path, str(count), ending, kind]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=900, check=False, encoding="utf-8")  # noqa: S603
    assert done.returncode == 0, done.stderr
    failed, left = map(int, done.stdout.split())
    assert failed > 0
    assert left > 0 or kind == "memory"
