"""Fusion against a bare sum of the same rows, and against ranx where it is installed.

    python tests/bench/fusion.py [ROWS]

Five runs of ROWS rows each (300,000 by default), 1000 documents a query; the best of five repetitions, in seconds and
as a multiple of the sum. The sum is Polars' `group_by` of the stacked rows by query and document.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import polars as pl

import polars_ir as ir

DEPTH, SYSTEMS, REPETITIONS = 1000, 5, 5
KEYS = ["query_id", "doc_id"]


def runs_of(rows: int) -> dict[str, pl.DataFrame]:
    """Runs that share two thirds of their documents, in an order that differs from system to system."""
    place = pl.int_range(rows, dtype=pl.Int64).alias("place")
    base = pl.select(place).with_columns(query=pl.col("place") // DEPTH, number=pl.col("place") % DEPTH)
    frames = {}
    for system in range(SYSTEMS):
        document = pl.col("number") + 250 * system
        score = (document * 7919 + pl.col("query") * 104_729 + system * 1_299_709) % 100_003
        frames[f"system {system}"] = base.select(
            query_id=pl.format("q{}", "query"),
            doc_id=pl.format("document-{}-{}", pl.col("query") % 97, document),
            score=score.cast(pl.Float64) / 1000,
        )
    return frames


def best(call: Callable[[], object]) -> float:
    """The shortest time of some repetitions."""
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main(rows: int) -> None:
    """Print a line for each way."""
    runs = runs_of(rows)
    stacked = pl.concat(frame.with_columns(run=pl.lit(system)) for system, frame in runs.items())
    summed = stacked.lazy().group_by(KEYS).agg(pl.col("score").sum())
    calls: dict[str, Callable[[], object]] = {
        "group_by sum, in-memory": lambda: summed.collect(engine="in-memory"),
        "group_by sum, streaming": lambda: summed.collect(engine="streaming"),
        "RRF": lambda: ir.fuse(runs),
        "RRF, first 10": lambda: ir.fuse(runs, top=10),
        "min-max, sum": lambda: ir.fuse(runs, "sum", norm="min-max"),
        "z, sum, first 10": lambda: ir.fuse(runs, "sum", norm="z", top=10),
    }
    if find_spec("ranx"):
        import ranx

        lists = [
            ranx.Run.from_df(frame.to_pandas().astype(dict.fromkeys(KEYS, object)), *KEYS) for frame in runs.values()
        ]
        calls["ranx, RRF"] = lambda: ranx.fuse(lists, norm=None, method="rrf")
    times = {name: best(call) for name, call in calls.items()}
    for name, seconds in times.items():
        line = f"{name:28}{seconds:8.2f} s {seconds / times['group_by sum, in-memory']:8.1f}"
        print(line)  # noqa: T201  # it is the report


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000)
