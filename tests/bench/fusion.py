"""Fusion against a bare sum of the same rows, against ranx where it is installed, and tuning of a grid.

    python tests/bench/fusion.py [ROWS] [--unordered] [--tune] [--parquet FOLDER [--parts N]]

Five runs of ROWS rows each (300,000 by default), 1000 documents a query, each list in the order of its ranks unless it
is to be `--unordered`. The ways take turns in one process, so that a busy machine is as slow for all; the best of five
repetitions, in seconds of the clock and of the processor, and as a multiple of the sum. The sum is Polars' `group_by`
of the stacked rows by query and document. `POLARS_MAX_THREADS=1` is for one thread.

`--tune` times a grid of 287 configurations of the four Robust runs beside the checkout. `--parquet` writes the runs to
a folder, unless they are there, fuses them lazily, N parts of the queries one after the other, and tells the most
memory that was held.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import polars as pl

import polars_ir as ir

DEPTH, SYSTEMS, REPETITIONS = 1000, 5, 5
KEYS = ["query_id", "doc_id"]
ROBUST = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"


def run_of(rows: int, system: int, *, ordered: bool) -> pl.DataFrame:
    """A run that shares two thirds of its documents with its neighbours, in an order of its own."""
    place = pl.int_range(rows, dtype=pl.Int64).alias("place")
    base = pl.select(place).with_columns(query=pl.col("place") // DEPTH, number=pl.col("place") % DEPTH)
    document = pl.col("number") + 250 * system
    score = (document * 7919 + pl.col("query") * 104_729 + system * 1_299_709) % 100_003
    run = base.select(
        query_id=pl.format("q{}", "query"),
        doc_id=pl.format("document-{}-{}", pl.col("query") % 97, document),
        score=score.cast(pl.Float64) / 1000,
    )
    return run.sort("query_id", "score", descending=[False, True], maintain_order=True) if ordered else run


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - clock, time.process_time() - processor


def report(line: str) -> None:
    """Print a line."""
    print(line, flush=True)  # noqa: T201  # it is the report


def ways(runs: dict[str, pl.DataFrame]) -> dict[str, Callable[[], object]]:
    """The timed function."""
    stacked = pl.concat(frame.with_columns(run=pl.lit(system)) for system, frame in runs.items())
    summed = stacked.lazy().group_by(KEYS).agg(pl.col("score").sum())
    calls: dict[str, Callable[[], object]] = {
        "group_by sum": lambda: summed.collect(engine="streaming"),
        "RRF": lambda: ir.fuse(runs),
        "RRF, first 10": lambda: ir.fuse(runs, top=10),
        "min-max, sum": lambda: ir.fuse(runs, "sum", norm="min-max"),
        "z, sum, first 10": lambda: ir.fuse(runs, "sum", norm="z", top=10),
    }
    if find_spec("ranx"):
        import ranx

        frames = [frame.to_pandas().astype(dict.fromkeys(KEYS, object)) for frame in runs.values()]
        lists = [ranx.Run.from_df(frame, *KEYS) for frame in frames]
        calls["ranx, RRF of its own runs"] = lambda: ranx.fuse(lists, norm=None, method="rrf")
        calls["ranx, RRF of pandas frames"] = lambda: ranx.fuse(
            [ranx.Run.from_df(frame, *KEYS) for frame in frames], norm=None, method="rrf"
        )
    return calls


def in_memory(rows: int, *, ordered: bool) -> None:
    """A line for each way, and for what the grid takes."""
    runs = {f"system {system}": run_of(rows, system, ordered=ordered) for system in range(SYSTEMS)}
    calls = ways(runs)
    times = {name: (float("inf"), float("inf")) for name in calls}
    for _ in range(REPETITIONS):
        for name, call in calls.items():
            clock, processor = timed(call)
            times[name] = (min(times[name][0], clock), min(times[name][1], processor))
    whole = times["group_by sum"]
    for name, (clock, processor) in times.items():
        shares = f"{clock / whole[0]:8.1f} {processor / whole[1]:8.1f}"
        report(f"{name:28}{clock:8.2f} s {processor:8.2f} s of the processor {shares}")


def tuning() -> None:
    """The grid of a tuning."""
    names = ("pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc")
    runs = {name: ir.read_run(ROBUST / f"{name}.run.gz") for name in names}
    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz")
    for measure in ("AP", "nDCG@10", "bpref"):
        # The first has to import what the comparison needs.
        taken = min(timed(lambda: ir.tune_fusion(runs, qrels, "rrf", measure))[::-1] for _ in range(2))  # noqa: B023
        report(f"tune_fusion, 287 configurations, {measure:8}{taken[1]:8.2f} s {taken[0]:8.2f} s of the processor")


def from_parquet(rows: int, folder: Path, parts: int) -> None:
    """Lazily, from files to files, the queries in parts."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"system {system}": folder / f"{system}-{rows}.parquet" for system in range(SYSTEMS)}
    if missing := [number for number, file in enumerate(files.values()) if not file.exists()]:
        for system in missing:
            run_of(rows, system, ordered=True).write_parquet(folder / f"{system}-{rows}.parquet")
        report("The runs are written; call again in a process that holds nothing.")
        return

    def fused() -> None:
        for part in range(parts):
            of_part = pl.col("query_id").hash() % parts == part
            lists = {name: pl.scan_parquet(file).filter(of_part) for name, file in files.items()}
            ir.fuse(lists).sink_parquet(folder / f"fused-{part}.parquet", engine="streaming")

    clock, processor = timed(fused)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    report(f"{SYSTEMS} x {rows} rows, {parts} parts{clock:8.1f} s {processor:8.1f} s of the processor {peak:6.2f} GB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="?", type=int, default=300_000)
    parser.add_argument("--unordered", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--parquet", type=Path)
    parser.add_argument("--parts", type=int, default=1)
    options = parser.parse_args()
    if options.tune:
        tuning()
    elif options.parquet:
        from_parquet(options.rows, options.parquet, options.parts)
    else:
        in_memory(options.rows, ordered=not options.unordered)
