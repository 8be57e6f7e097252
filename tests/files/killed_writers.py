"""Writers that are killed at any time, or run out of memory; the old or a new file is always there.

    python tests/files/killed_writers.py FOLDER 200 .run.gz killed
    python tests/files/killed_writers.py FOLDER 100 .parquet memory

Prints how many of them did not end well, and how many left a part behind, which the next one removes.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars_ir as ir

PAUSE = 0.2  # seconds, in which a writer writes several times
PIECE = 4 << 20
PATIENCE = 10  # seconds: a Polars that could not start all its threads may wait for them for ever


def child(act: Callable[[], object]) -> int:
    """A process that acts; Polars starts its threads there, where it is first used."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001  # whatever is raised where memory is short
            os._exit(1)
        os._exit(0)
    return pid


def write(path: Path, queries: str) -> None:
    for query in queries:
        ir.write_run({query: {f"d{number}": float(number) for number in range(20_000)}}, path)


def write_for_ever(path: Path) -> None:
    while True:
        write(path, "ab")


def stop_in_a_part(pid: int, folder: Path) -> None:
    """Stop a writer where it has written a part and not put it in its place."""
    while True:
        while len(list(folder.iterdir())) == 1:
            pass
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
        if len(list(folder.iterdir())) > 1:
            return
        os.kill(pid, signal.SIGCONT)


def write_with_little_memory(path: Path, size: int) -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
    limit = pages * resource.getpagesize() + size
    signal.alarm(PATIENCE)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    write(path, "ab")


def main(folder: Path, count: int, ending: str, kind: str) -> tuple[int, int]:
    path, chance = folder / f"a{ending}", random.Random(1)
    contents = []
    for query in "ab":
        os.waitpid(child(lambda query=query: write(path, query)), 0)  # type: ignore[misc]
        contents.append(path.read_bytes())
    assert contents[0] != contents[1]
    failed = left = 0
    for number in range(count):
        if kind == "killed":
            pid = child(lambda: write_for_ever(path))
            if number % 2:
                time.sleep(chance.random() * PAUSE)
            else:
                stop_in_a_part(pid, folder)
            os.kill(pid, signal.SIGKILL)
        else:
            pid = child(lambda number=number: write_with_little_memory(path, number * PIECE))  # type: ignore[misc]
        _, status = os.waitpid(pid, 0)
        assert path.read_bytes() in contents, f"broken by writer {number}"
        failed += status != 0
        left += len(list(folder.iterdir())) > 1
    os.waitpid(child(lambda: write(path, "a")), 0)
    assert [file.name for file in folder.iterdir()] == [path.name]
    return failed, left


if __name__ == "__main__":
    print(*main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]))  # noqa: T201
