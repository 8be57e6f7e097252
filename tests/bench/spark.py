"""What each function of Spark costs on two cores, beside the same of a LazyFrame: `python tests/bench/spark.py`.

    python tests/bench/spark.py --rows 1000000 10000000
    python tests/bench/spark.py --rows 7000000 --only evaluate --deep

Rows of `evaluate` and `validate` are those of a run, of lists of twenty or, with `--deep`, of a thousand
documents; rows of the others are two for each person (`people.py`). Both ways start from the same Parquet, end with the
result in memory, and must agree. The seconds of Spark are those of the CPU that its JVM and its Python workers take,
once these have run the function on the fewest rows. Where there are two sizes, a straight line through the largest ones
tells the cost of 10^8 rows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import people
import polars as pl
import polars.selectors as cs
from generate import lists, parquet_parts, shallow
from polars.testing import assert_frame_equal
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from tools import FIVE

import polars_ir as ir
from polars_ir import spark as irs
from polars_ir.spark.evaluate import COUNTED
from polars_ir.spark.tables import column, plain

#: The rows whose cost is told, and the ticks of a second in which Linux counts CPU time.
TOLD, TICKS = 10**8, os.sysconf("SC_CLK_TCK")


class Job(NamedTuple):
    """A function on Spark frames and the same on LazyFrames; of a row per person, or of a run and its judgments."""

    on_spark: Callable[..., DataFrame]
    locally: Callable[..., pl.LazyFrame]
    of_people: bool = True


def both(function: str, *arguments: Any, keep: tuple[str, ...] = (), **options: Any) -> Job:
    """A function of a frame with a row per person, of which some columns are read."""

    def on_spark(rows: DataFrame) -> DataFrame:
        result: DataFrame = getattr(irs, function)(rows.drop(*unread), *arguments, **options)
        return result

    def locally(rows: pl.LazyFrame) -> pl.LazyFrame:
        result: pl.LazyFrame = getattr(ir, function)(rows.drop(unread), *arguments, **options)
        return result

    unread = sorted({"country", "day"} - set(keep))
    return Job(on_spark, locally)


def bare_on_spark(rows: DataFrame) -> DataFrame:
    """The largest means of a person: a shuffle by person, and nothing else."""
    means = (F.mean(column(name)).alias(name) for name in people.MEASURES)
    return rows.groupBy("query_id").agg(*means).agg(*(F.max(column(name)).alias(name) for name in people.MEASURES))


JOBS = {
    "group_by": Job(
        bare_on_spark,
        lambda rows: rows.group_by("query_id").agg(cs.by_name(people.MEASURES).mean()).select(cs.float().max()),
    ),
    "evaluate": Job(
        lambda run, qrels: irs.evaluate(run, qrels, FIVE),
        lambda run, qrels: ir.evaluate(run, qrels, FIVE),
        of_people=False,
    ),
    "validate": Job(
        lambda run, qrels: irs.validate(run, qrels).drop("examples"),
        lambda run, qrels: ir.validate(run, qrels, only=COUNTED).drop("examples", "share"),
        of_people=False,
    ),
    "mean": both("mean"),
    "summarize": both("summarize"),
    "compare": both("compare", people.MEASURES, baseline="old"),
    "compare auto": both("compare", people.MEASURES, baseline="old", test="auto", margin=0.01),
    "gate": Job(
        lambda rows: irs.gate(rows.filter("run = 'new'"), rows.filter("run = 'old'"), people.MEASURES, max_drop=0.01),
        lambda rows: ir.gate(rows.filter(run="new"), rows.filter(run="old"), people.MEASURES, max_drop=0.01),
    ),
    "worst_slices": both("worst_slices", "country", people.MEASURES, keep=("country",)),
    "drift": both("drift", "day", people.MEASURES, keep=("day",)),
}


def files_of(job: Job, folder: Path, rows: int, *, deep: bool) -> list[str]:
    """The names of the Parquet files of a job's tables."""
    if job.of_people:
        return [str(people.parquet(folder, rows // 2, shuffled=True))]
    parts = folder / f"{'deep' if deep else 'lists'}-{rows}"
    parquet_parts(parts, shallow(rows) if deep else lists(rows // 20))
    return [f"{parts}/{name}-*.parquet" for name in ("run", "qrels")]


def cpu_of_children() -> float:
    """The CPU seconds that all processes below this one have taken, with those that have ended."""
    parents: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(stat.parent.name)] = int(told[1]), sum(map(int, told[11:15]))

    def below(parent: int) -> Iterator[int]:
        for process, (its, ticks) in parents.items():
            if its == parent:
                yield ticks
                yield from below(process)

    return sum(below(os.getpid())) / TICKS


def taken(run: Callable[[], pl.DataFrame], cpu: Callable[[], float]) -> tuple[pl.DataFrame, float, float]:
    """The result of a run, its CPU seconds, and its seconds."""
    cpu_before, start = cpu(), time.perf_counter()
    result = run()
    return result, cpu() - cpu_before, time.perf_counter() - start


def main() -> None:
    """Print the costs of each function."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--deep", action="store_true", help="runs of a thousand documents in place of twenty")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "polars_ir_bench")
    options = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "4g", "spark.log.level": "ERROR"}
    settings |= {"spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    say(f"{'function':14}{'rows':>12}{'CPU':>9}{'time':>9}{'plan CPU':>10}{'times':>7}{'CPU of 10^8':>14}{'plan':>9}")
    for name in options.only:
        job, costs = JOBS[name], []
        for rows in sorted(options.rows):
            files = files_of(job, options.folder, rows, deep=options.deep)

            def on_spark(job: Job = job, files: list[str] = files) -> pl.DataFrame:
                return pl.DataFrame(job.on_spark(*map(session.read.parquet, files)).toArrow())

            def locally(job: Job = job, files: list[str] = files) -> pl.DataFrame:
                return plain(job.locally(*map(pl.scan_parquet, files)).collect(engine="streaming"))

            if not costs:
                on_spark()
            found, cpu, seconds = taken(on_spark, cpu_of_children)
            expected, plan_cpu, _ = taken(locally, time.process_time)
            # Polars adds up the values of a group one after another: means of millions differ in their twelfth digit,
            # and a statistic of their differences earlier.
            assert_frame_equal(found, expected, check_row_order=False, rel_tol=1e-7, abs_tol=1e-9)
            costs.append((rows, cpu, plan_cpu))
            line = f"{name:14}{rows:12,}{cpu:9.2f}{seconds:9.2f}{plan_cpu:10.2f}{cpu / plan_cpu:7.1f}"
            if len(costs) > 1:
                line += f"{told(costs, 1):14.0f}{told(costs, 2):9.0f}"
            say(line)
    session.stop()
    say(f"load {os.getloadavg()[0]:.1f}")


def told(costs: list[tuple[int, float, float]], which: int) -> float:
    """The cost of 10^8 rows by a straight line through the last two."""
    (fewer, *before), (more, *after) = costs[-2:]
    slope = (after[which - 1] - before[which - 1]) / (more - fewer)
    return after[which - 1] + slope * (TOLD - more)


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # it is the report


if __name__ == "__main__":
    main()
