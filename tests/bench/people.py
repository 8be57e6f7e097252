"""Statistics of a frame with a row per person, beside what one would write in Polars and SciPy for each.

    python tests/bench/people.py                      # a million people, two systems, in no order
    python tests/bench/people.py --people 100000 1000000 --order sorted
    python tests/bench/people.py --scan --people 500000 5000000    # of Parquet, with the memory of each
    python tests/bench/people.py --scan --people 5000000 50000000 --order sorted    # 100 million rows
    POLARS_MAX_THREADS=1 python tests/bench/people.py

Times are of the CPU, the best of three runs, since other work on a machine makes no difference to these. Each statistic
stands beside the plain way to its main figures: a count of distinct people with means, a join with SciPy's t, or a
`group_by` of counts, means and variances, with which no interval and no correction come. With `--scan` they are of a
LazyFrame of Parquet, each in a process of its own, after a bare `group_by` of people.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from measure import fresh, say_ready
from scipy import stats

import polars_ir as ir

MEASURES = ["nDCG@10", "RR"]

#: So many people are in a file of sorted rows.
PART = 2_000_000

#: Each is run so often.
RUNS = 3


class Frames(NamedTuple):
    """The values of two systems, below each other and apart, and these with a slice and a day of each person."""

    both: pl.DataFrame
    new: pl.DataFrame
    old: pl.DataFrame
    sliced: pl.DataFrame
    days: pl.DataFrame


def frames(people: int, *, shuffled: bool, first: int = 0) -> Frames:
    """Two systems alike, one of which changes half of the rankings, of people from the `first` on."""
    source = np.random.default_rng(1 + first)
    ndcg = np.where(source.random(people) < 0.3, 0, source.beta(0.6, 1.2, people).round(4))
    changed = np.clip(ndcg + source.normal(0.002, 0.1, people), 0, 1).round(4)
    rr = 1 / source.integers(1, 11, people)
    values = {
        "old": (ndcg, rr),
        "new": (
            np.where(source.random(people) < 0.5, ndcg, changed),
            np.where(source.random(people) < 0.6, rr, 1 / source.integers(1, 11, people)),
        ),
    }
    number = pl.int_range(first, first + people, eager=True)
    rows = pl.concat(
        pl.select(pl.lit(run).alias("run"), pl.format("user-{}", number.cast(pl.String).str.zfill(8)).alias("query_id"))
        .with_columns(pl.Series(name, column) for name, column in zip(MEASURES, of_run, strict=True))
        .with_columns(day=number % 12, country=pl.format("c{}", number.hash(1) % 20))
        for run, of_run in values.items()
    )
    if shuffled:
        rows = rows.sample(fraction=1, shuffle=True, seed=1)
    both = rows.select("run", "query_id", *MEASURES)
    new, old = (both.filter(run=run).drop("run") for run in ("new", "old"))
    return Frames(both, new, old, rows.drop("day"), rows.drop("country"))


def distinct(data: Frames) -> pl.DataFrame:
    """The means of each system, over people who are counted once."""
    return data.both.group_by("run").agg(pl.col("query_id").n_unique(), pl.col(MEASURES).mean())


def moments(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Counts, means and variances."""
    spread = pl.col(MEASURES).var().name.suffix(" variance")
    return rows.group_by("run", *keys).agg(pl.len(), pl.col(MEASURES).mean(), spread)


def paired(data: Frames) -> list[tuple[float, ...]]:
    """The t, its interval, Cohen's d, wins and losses of each measure, of pairs that a join has found."""
    pairs = data.new.join(data.old, on="query_id", validate="1:1", suffix=" old")
    found = []
    for name in MEASURES:
        after, before = pairs[name].to_numpy(), pairs[f"{name} old"].to_numpy()
        test, d = stats.ttest_rel(after, before), after - before
        ends = test.confidence_interval()
        found.append((test.pvalue, ends.low, ends.high, d.mean() / d.std(ddof=1), (d > 0).sum(), (d < 0).sum()))
    return found


Job = Callable[[Frames], Any]

#: Each statistic with the plain way to its main figures.
JOBS: dict[str, tuple[Job, Job]] = {
    "mean": (lambda data: ir.mean(data.both), distinct),
    "summarize": (lambda data: ir.summarize(data.both), lambda data: (distinct(data), moments(data.both))),
    "compare": (lambda data: ir.compare(data.both, baseline="old"), paired),
    "gate": (lambda data: ir.gate(data.new, data.old, MEASURES, max_drop=0.01), paired),
    "ranks": (lambda data: ir.ranks(data.both), paired),
    "risk": (lambda data: ir.risk(data.both, "old"), paired),
    "power": (lambda data: ir.power(data.both, baseline="old", difference=0.01), paired),
    "worst_slices": (
        lambda data: ir.worst_slices(data.sliced, "country"),
        lambda data: moments(data.sliced, "country"),
    ),
    "drift": (lambda data: ir.drift(data.days, "day"), lambda data: moments(data.days, "day")),
}


#: The statistics that a plan has, from moments.
OF_PLANS: dict[str, Callable[[pl.LazyFrame], Any]] = {
    "group_by": lambda rows: rows.group_by("query_id").agg(pl.len(), pl.col(MEASURES).mean()).select(pl.len()),
    "mean": lambda rows: ir.mean(rows.drop("country", "day")),
    "summarize": lambda rows: ir.summarize(rows.drop("country", "day")),
    "compare": lambda rows: ir.compare(rows, MEASURES, baseline="old"),
    "compare auto": lambda rows: ir.compare(rows, MEASURES, baseline="old", test="auto", margin=0.01),
    "gate": lambda rows: ir.gate(rows.filter(run="new"), rows.filter(run="old"), MEASURES, max_drop=0.01),
    "power": lambda rows: ir.power(rows, MEASURES, baseline="old", difference=0.01),
    "worst_slices": lambda rows: ir.worst_slices(rows, "country", MEASURES),
    "drift": lambda rows: ir.drift(rows, "day", MEASURES),
}


def parquet(folder: Path, people: int, *, shuffled: bool) -> Path:
    """The rows of all people in a folder: in one file if they are shuffled, else in files that follow one another."""
    path = folder / f"statistics-{people}-{'shuffled' if shuffled else 'sorted'}"
    path.mkdir(parents=True, exist_ok=True)
    part = people if shuffled else PART
    for first in range(0, people, part):
        file = path / f"{first:09}.parquet"
        if not file.exists():
            data = frames(min(part, people - first), shuffled=shuffled, first=first)
            rows = data.sliced.with_columns(data.days["day"])
            (rows if shuffled else rows.sort("query_id", "run")).write_parquet(file)
    return path


def scanned(name: str, path: Path) -> None:
    """Print the CPU seconds of a statistic of a scan."""
    rows = pl.scan_parquet(path / "*.parquet")
    if path.name.endswith("sorted"):
        rows = rows.set_sorted("query_id", "run")
    OF_PLANS[name](rows.head(10_000)).collect()
    say_ready()
    start = time.process_time()
    OF_PLANS[name](rows).collect(engine="streaming")
    say(json.dumps({"cpu": time.process_time() - start}))


def cpu(job: Job, data: Frames) -> float:
    """The least CPU time of a job, in seconds, once it is warm."""
    job(data)
    least = math.inf
    for _ in range(RUNS):
        gc.collect()
        start = time.process_time()
        job(data)
        least = min(least, time.process_time() - start)
    return least


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # it is the report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--order", choices=["shuffled", "sorted"], default="shuffled")
    parser.add_argument("--only", nargs="+", choices=[*JOBS, *OF_PLANS])
    parser.add_argument("--scan", action="store_true", help="plans of Parquet")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "polars_ir_bench")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        scanned(options.measure[0], Path(options.measure[1]))
        return
    if options.scan:
        report_scans(options)
        return
    say(f"Polars with {pl.thread_pool_size()} threads, rows {options.order}; seconds of CPU")
    say(f"{'statistic':14}{'people':>12}{'ours':>9}{'plain':>9}{'times':>8}{'exponent':>10}")
    before: dict[str, tuple[int, float]] = {}
    for people in options.people:
        data = frames(people, shuffled=options.order == "shuffled")
        for name in options.only or JOBS:
            ours, plain = (cpu(job, data) for job in JOBS[name])
            exponent = ""
            if name in before:
                people_before, time_before = before[name]
                exponent = f"{math.log(ours / time_before) / math.log(people / people_before):.2f}"
            before[name] = people, ours
            say(f"{name:14}{people:12,}{ours:9.3f}{plain:9.3f}{ours / plain:8.1f}{exponent:>10}")


def report_scans(options: argparse.Namespace) -> None:
    """Measure the statistics of plans, and how time and memory grow."""
    say(f"Polars with {pl.thread_pool_size()} threads, Parquet {options.order}; seconds of CPU, bytes a person")
    say(f"{'statistic':14}{'people':>12}{'CPU':>9}{'bytes':>9}{'exponents':>14}")
    before: dict[str, tuple[int, float, float]] = {}
    for people in options.people:
        path = parquet(options.folder, people, shuffled=options.order == "shuffled")
        for name in options.only or OF_PLANS:
            turn = fresh(Path(__file__), "--measure", name, str(path))
            exponents = ""
            if name in before:
                fewer, cpu_before, peak_before = before[name]
                grown = math.log(people / fewer)
                powers = math.log(turn["cpu"] / cpu_before) / grown, math.log(turn["peak"] / peak_before) / grown
                exponents = "{:.2f} {:.2f}".format(*powers)
            before[name] = people, turn["cpu"], turn["peak"]
            say(f"{name:14}{people:12,}{turn['cpu']:9.3f}{turn['peak'] / people:9.0f}{exponents:>14}")


if __name__ == "__main__":
    main()
