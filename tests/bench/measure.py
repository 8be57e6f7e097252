"""Time and memory: the best of several runs, in turn with others or in a process of its own, and the peak of that."""

from __future__ import annotations

import gc
import json
import math
import os
import platform
import resource
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

#: The result of a contestant: the mean of every measure over the queries of all systems.
Figures = Mapping[str, float]

#: A contestant stops after this many runs, or once it has taken so many seconds of the processor.
RUNS, SECONDS = 7, 1.5

#: The largest difference between the figures of two contestants.
TOLERANCE = 1e-6

#: The interval between looks at memory, in seconds, and the bytes that a process must leave to the machine.
EVERY, RESERVE = 0.005, 1_500_000_000

#: The line of a script, with its memory, once it has loaded what it needs.
READY = "ready"


class Taken(NamedTuple):
    """The processor's time, of the process and of those that it has run, and the clock's, in seconds."""

    cpu: float
    seconds: float


def turns(contestants: Mapping[str, Callable[[], object]]) -> dict[str, Taken]:
    """The best of several runs of each by both clocks, after one to warm up and to see that the figures agree.

    They take turns, so that a noise of some seconds slows all of them. What is not a mapping is not compared. A first
    run that takes longer than all are given is the only one.
    """
    known: dict[str, Figures] = {}
    times: dict[str, list[Taken]] = {}
    for name, run in contestants.items():
        first, found = taken(run)
        times[name] = [first] * (first.cpu > SECONDS)
        if isinstance(found, Mapping):
            known[name] = found
            if told := difference(found, next(iter(known.values()))):
                raise ValueError(f"{name}: {told}")
    for _ in range(RUNS):
        for name, run in contestants.items():
            if sum(each.cpu for each in times[name]) < SECONDS:
                times[name].append(taken(run)[0])
    return {name: Taken(*map(min, zip(*each, strict=True))) for name, each in times.items()}


def taken(run: Callable[[], object]) -> tuple[Taken, object]:
    """The times of one run, without garbage collection, as `timeit` measures them, and what it returned."""
    gc.collect()
    gc.disable()
    try:
        cpu, start = _cpu(), time.perf_counter()
        found = run()
        return Taken(_cpu() - cpu, time.perf_counter() - start), found
    finally:
        gc.enable()


def _cpu() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def race(contestants: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The best time of each by the clock."""
    return {name: taken.seconds for name, taken in turns(contestants).items()}


def difference(figures: Figures, expected: Figures) -> str | None:
    """The first figure that is not as expected; None where all that both have are."""
    for name in figures.keys() & expected.keys():
        if not math.isclose(figures[name], expected[name], rel_tol=0, abs_tol=TOLERANCE):
            return f"mean {name} is {figures[name]}, not {expected[name]}"
    return None


def best(run: Callable[[], object]) -> float:
    """The best time of a function, warm."""
    return race({"": run})[""]


def say_ready() -> None:
    """Tell `fresh`, from within its process, that memory counts from here on."""
    sys.stdout.write(f"{READY} {anonymous_memory()}\n")
    sys.stdout.flush()


def fresh(script: Path, *arguments: str) -> dict[str, Any]:
    """The JSON that a script prints in a process of its own, and `peak`: the bytes that it took after `say_ready`.

    MemoryError when the machine has little left, which ends it; RuntimeError if the script ends in an error.
    """
    command, line, last = [sys.executable, str(script), *arguments], " ", ""
    held = peak = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8") as process:  # noqa: S603  # our own script
            printed: Any = process.stdout
            try:
                while line:
                    # The process may be busy in C and hold Python's lock, so it is looked at from here.
                    if select.select([printed], [], [], EVERY)[0]:
                        last, line = line, printed.readline()
                        if line.startswith(READY):
                            held = peak = int(line.removeprefix(READY))
                    peak = max(peak, anonymous_memory(process.pid))
                    if free_memory() < RESERVE:
                        raise MemoryError(f"more than {peak / 1e9:.0f} GB")
            finally:
                process.kill()
        if process.returncode:
            errors.seek(0)
            raise RuntimeError((errors.read().strip().splitlines() or [f"status {process.returncode}"])[-1])
    result: dict[str, Any] = json.loads(last)
    return {**result, "peak": peak - held}


@contextmanager
def peak_memory() -> Iterator[list[int]]:
    """A list that holds, in the end, the most anonymous memory this process had meanwhile, in bytes (Linux)."""
    peak, stop = [0], threading.Event()

    def sample() -> None:
        while not stop.wait(EVERY):
            peak[0] = max(peak[0], anonymous_memory())

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        stop.set()
        sampler.join()


def anonymous_memory(process: int | str = "self") -> int:
    """The memory of a process that is no file's, in bytes; 0 once it has ended."""
    return _kilobytes(f"/proc/{process}/status", "RssAnon") * 1024


def free_memory() -> int:
    """The memory that the machine has left, in bytes."""
    return _kilobytes("/proc/meminfo", "MemAvailable") * 1024


def _kilobytes(file: str, name: str) -> int:
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def machine() -> str:
    """The machine of the figures."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "processor")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores of {model}, {memory:.0f} GB, Python {platform.python_version()}"


def shown_time(taken: float) -> str:
    """A time in the unit that suits it."""
    return f"{taken:.3g} s" if taken >= 1 else f"{taken * 1e3:.3g} ms"


def shown_memory(size: float) -> str:
    """A size in the unit that suits it."""
    return f"{size / 1e9:.2g} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def shown_rows(number: float) -> str:
    """A number of rows in the unit that suits it."""
    return f"{number / 1e6:g} M" if number >= 1_000_000 else f"{number / 1e3:g} k"


def shown_ratio(ratio: float) -> str:
    """A ratio with two digits, or all that stand before the point."""
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"
