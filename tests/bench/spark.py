"""Evaluate a shallow run on Spark with two cores, and locally: `python tests/bench/spark.py [rows] [partitions]`.

Both start from the same Parquet files. The first evaluation on Spark starts its Python workers, so it is run twice.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from generate import parquet_parts, shallow
from pyspark.sql import SparkSession
from tools import MEASURES

import polars_ir as ir
from polars_ir import spark as irs


def main(rows: int, partitions: int | None) -> None:
    """Print the time of each, and how busy the machine was."""
    with tempfile.TemporaryDirectory() as folder:
        parquet_parts(Path(folder), shallow(rows))
        run, qrels = f"{folder}/run-*.parquet", f"{folder}/qrels-*.parquet"
        start = time.perf_counter()
        local = ir.evaluate(pl.scan_parquet(run), pl.read_parquet(qrels), MEASURES[5]).collect()
        show("local, lazy", start, rows)
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "4g")
            .config("spark.log.level", "ERROR")
            .getOrCreate()
        )
        for broadcast in (None, False):
            for attempt in ("first", "again"):
                start = time.perf_counter()
                read = session.read.parquet(run), session.read.parquet(qrels)
                result = irs.evaluate(*read, MEASURES[5], partitions=partitions, broadcast=broadcast)
                found = pl.DataFrame(result.toArrow()).sort("query_id")
                show(f"spark, broadcast={broadcast}, {attempt}", start, rows)
                if not found.equals(local):
                    sys.exit("the figures differ")
        session.stop()
        print(f"load {os.getloadavg()[0]:.1f}")  # noqa: T201


def show(what: str, start: float, rows: int) -> None:
    """Print how long something has taken."""
    seconds = time.perf_counter() - start
    print(f"{what}: {seconds:.2f} s, {rows / seconds / 1e6:.2f} M rows a second", flush=True)  # noqa: T201


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else None)
