"""Run by itself in a fresh process: evaluate, or only join, a folder of Parquet, and print time and peak memory."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import polars as pl
from measure import peak_memory
from peers import MEASURES

import polars_ir as ir


def main(what: str, folder: Path) -> None:
    """Print `seconds`, `peak` in bytes and, of an evaluation, the number of `queries`."""
    run = pl.scan_parquet(folder / "run-*.parquet")
    qrels = pl.read_parquet(folder / "qrels.parquet")
    start = time.perf_counter()
    with peak_memory() as peak:
        if what == "evaluate":
            plan = ir.evaluate(run, qrels, MEASURES)
        else:
            plan = run.join(qrels.lazy(), on=["query_id", "doc_id"]).group_by("query_id").len()
        queries = plan.collect(engine="streaming").height
    result = {"seconds": time.perf_counter() - start, "peak": peak[0], "queries": queries}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
