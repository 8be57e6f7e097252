"""Writers whose n-th system call or allocation fails, for every n: the old or the new file is there, and no part.

    python tests/files/failing_calls.py FOLDER
    python tests/files/failing_calls.py FOLDER run.parquet fuse.run --allocations 50

Calls fail by `strace`, which also meets those that Polars makes itself; allocations are Python's. What is written is
given by the name of its file, whose stem says by what; without any it is all that can be. Prints how writers ended, and
ends with an error where a file is neither the old one nor the new one, a part is left, or a writer hangs.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import polars as pl

import polars_ir as ir
from polars_ir.cli import main as command_line
from polars_ir.files.formats import FORMATS

OLD = b"what was there"
PATIENCE = 900  # seconds

#: So many allocations in a row are never such that a writer does without what it could not keep: it has made all.
SPARED = 1000

#: The system calls of a writer for its part and the folder, and their failures.
ERRORS = {
    "write": "ENOSPC",
    "fsync": "EIO",
    "rename": "EIO",
    "openat": "EMFILE",
    "close": "EIO",
    "fcntl": "EMFILE",
    "fchmod": "EPERM",
    "fchown": "EIO",
    "flock": "ENOLCK",
    "lseek": "EIO",
    "getdents64": "EIO",
}

#: With this the part has the one name that can be told to strace.
TOKEN = "0" * 16

#: The promised ends of a writer: success, or a promised error.
DONE, REFUSED = 0, 10

#: Where there is no memory, Python itself and Polars also raise a SystemError, a TypeError or a panic.
OTHERWISE = 11

RUN = {"q": {f"d{number:03}": number / 4 for number in range(200)}, "r": {"d001": 1.0}}
INPUTS = {"a.run": "q Q0 d001 1 2.5 a\nq Q0 d002 2 1.5 a\n", "b.run": "q Q0 d002 1 9 b\n", "qrels": "q 0 d001 1\n"}
QRELS = {"q": {"d001": 1, "d002": 0}, "r": {"d001": 2}}


def outputs() -> Iterator[str]:
    """The names of all files that can be written."""
    for role in ("run", "qrels"):
        endings = [format.extensions[0] for format in FORMATS if role in format.writer.frames and format.extensions]
        yield from (f"{role}{ending}" for ending in dict.fromkeys([*endings, ".tsv.gz", ".tsv.zst"]))
    yield from ("fuse.run", "fuse.parquet", "evaluate.csv", "evaluate.parquet")


def write(path: Path) -> int:
    """Write what the stem of a file says; how that ends."""
    try:
        kind = path.name.partition(".")[0]
        run, other, qrels = (str(path.parent.with_name(name)) for name in INPUTS)
        if kind in ("fuse", "evaluate"):
            files = [run, other] if kind == "fuse" else [qrels, run, "-m", "nDCG@10", "-q"]
            return REFUSED if command_line([kind, *files, "-o", str(path)]) else DONE
        if kind == "qrels":
            ir.write_qrels(QRELS, path)
        else:
            ir.write_run(RUN, path)
    except (ir.IRError, OSError, MemoryError):
        return REFUSED
    return DONE


class Writing:
    """The writing of one file, again and again; `new` is what it then holds."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / "output" / name
        self.path.parent.mkdir(exist_ok=True)
        self.ends: Counter[str] = Counter()
        self.clean()
        self.new = self.path.read_bytes()

    def clean(self) -> None:
        """Write the file without a fault."""
        for path in self.path.parent.iterdir():
            if not path.name.endswith(".part"):
                path.unlink()
        assert forked(lambda: write(self.path)) == DONE
        assert [path.name for path in self.path.parent.iterdir()] == [self.path.name], "a part is left"

    def with_fault(self, fault: str, act: Callable[[], int]) -> bool:
        """Write while something fails, and look at what is there; whether the writer ended by it."""
        self.path.write_bytes(OLD)
        status = act()
        content, names = self.path.read_bytes(), [file.name for file in self.path.parent.iterdir()]
        assert status != -signal.SIGALRM, f"{self.path.name}, {fault}: hangs"
        broken = f"{self.path.name}, {fault}: broken"
        assert content in (OLD, self.new), broken
        assert status != DONE or content == self.new, broken
        end = {DONE: "done all the same", REFUSED: "refused", OTHERWISE: "another error"}.get(
            status, "ended by a signal"
        )
        if status < 0 or (fault.startswith("allocation") and names != [self.path.name]):
            # Python itself may fail between the making of a part and taking note of it.
            end += ", with a part that the next one removed"
            self.clean()
        else:
            assert status in (DONE, REFUSED, OTHERWISE), f"{self.path.name}, {fault}: ends with {status}"
            assert names == [self.path.name], f"{self.path.name}, {fault}: {names}"
        self.ends[end] += 1
        return status != DONE


def forked(act: Callable[[], int]) -> int:
    """The end of a process that acts; Polars starts its threads there, where it is first used."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        try:
            os._exit(act())
        except BaseException:  # noqa: BLE001  # told by the status
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def traced(path: Path, *options: str) -> tuple[int, str]:
    """The end of a writer whose calls for its part and folder are traced, and the trace."""
    trace = path.parent.with_name("trace")
    files = (path.parent, path.parent / f".polars_ir-{TOKEN}.part")
    command = ["strace", "-f", "-qq", "-o", trace, *(word for file in files for word in ("-P", file)), *options]
    writer = [sys.executable, "-W", "ignore", __file__, "--write", path]
    done = subprocess.run([*command, *writer], stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False)  # noqa: S603
    return done.returncode, trace.read_text(encoding="utf-8")


def fail_calls(writing: Writing, every: int) -> None:
    """Fail the n-th of each kind of call, for every n that there is in one thread."""
    _, trace = traced(writing.path)
    made = Counter(re.findall(r"^(\d+) +(\w+)\(", trace, re.MULTILINE))
    for call, error in ERRORS.items():
        most = max((count for (_, name), count in made.items() if name == call), default=0)
        for n in range(1, most + 1, every):
            inject = ("-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={n}")
            writing.with_fault(f"{call} {n}", lambda inject=inject: traced(writing.path, *inject)[0])  # type: ignore[misc]


def fail_allocations(writing: Writing, every: int) -> None:
    """Fail the n-th allocation of Python, for every n up to where none is met any more."""
    from _testcapi import set_nomemory  # CPython's own, not everywhere

    def short_of_memory(n: int) -> int:
        set_nomemory(n, n + 1)
        try:
            return write(writing.path)
        except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  # also on the way to it, and back
            return OTHERWISE

    met, n = 0, 1
    while n <= met + SPARED:
        if writing.with_fault(f"allocation {n}", partial(forked, partial(short_of_memory, n))):
            met = n
        n += every


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", nargs="*", default=list(outputs()))
    parser.add_argument("--calls", type=int, default=1, help="every so manieth call fails, none with 0 (%(default)s)")
    parser.add_argument("--allocations", type=int, default=1, help="and so manieth allocation (%(default)s)")
    given = parser.parse_args(arguments)
    for name, lines in INPUTS.items():
        (given.folder / name).write_text(lines, encoding="utf-8")
    for name in given.output:
        writing = Writing(given.folder, name)
        if given.calls and shutil.which("strace"):
            fail_calls(writing, given.calls)
        if given.allocations:
            fail_allocations(writing, given.allocations)
        print(f"{name}: {dict(writing.ends)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        secrets.token_hex = lambda _=None: TOKEN
        sys.exit(write(Path(sys.argv[2])))
    main(sys.argv[1:])
