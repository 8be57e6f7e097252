"""Time and memory: the best of several runs taken in turn, and the peak of a process of its own."""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: What a contestant returns: the mean nDCG@10 of every system.
Figures = Mapping[str, float]

#: A contestant stops after this many runs, or once it has run for this long.
RUNS, SECONDS = 7, 8.0

#: How far the figures of two contestants may lie apart.
TOLERANCE = 1e-6


def race(contestants: Mapping[str, Callable[[], Figures | None]]) -> dict[str, float]:
    """The best time of each, in seconds, after one run each to warm up and to see that the figures agree.

    They take turns, so that a noise of some seconds slows all of them. None in place of figures is not compared.
    """
    if known := {name: figures for name, run in contestants.items() if (figures := run()) is not None}:
        agree(known)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(RUNS):
        for name, run in contestants.items():
            if sum(times[name]) < SECONDS:
                times[name].append(seconds(run))
    return {name: min(taken) for name, taken in times.items()}


def agree(figures: Mapping[str, Figures]) -> None:
    """Raise for contestants that did not compute the same."""
    first, *others = figures
    for other in others:
        for system, expected in figures[first].items():
            if not math.isclose(figures[other][system], expected, rel_tol=0, abs_tol=TOLERANCE):
                raise ValueError(f"mean nDCG@10 {system}: {first} {expected}, {other} {figures[other][system]}")


def seconds(run: Callable[[], object]) -> float:
    """How long one run takes, without garbage collection, as `timeit` does it."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
    finally:
        gc.enable()


def best(run: Callable[[], object]) -> float:
    """The best time of a function, warm."""
    run()
    return min(seconds(run) for _ in range(RUNS))


def fresh(script: Path, *arguments: str) -> dict[str, Any]:
    """What a script prints as JSON when it runs in a process of its own."""
    command = [sys.executable, str(script), *arguments]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603  # our own script
    result: dict[str, Any] = json.loads(printed)
    return result


@contextmanager
def peak_memory(every: float = 0.005) -> Iterator[list[int]]:
    """A list that holds, in the end, the most anonymous memory this process had meanwhile, in bytes (Linux)."""
    peak, stop = [0], threading.Event()

    def sample() -> None:
        while not stop.wait(every):
            peak[0] = max(peak[0], anonymous_memory())

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    try:
        yield peak
    finally:
        stop.set()
        sampler.join()


def anonymous_memory() -> int:
    """The memory of this process that is no file's, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024
