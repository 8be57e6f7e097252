"""Five systems of short lists, beside the ranks, join and groupings that one would write in plain Polars.

    python tests/bench/systems.py                     # 100,000 people; a table in Markdown, with machine and versions
    python tests/bench/systems.py --people 30000 300000
    POLARS_MAX_THREADS=1 python tests/bench/systems.py

Ratios are of the best of `RUNS` turns, of the processor's time and of the clock. Both sides must give the same figures.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl

import polars_ir as ir

MEASURES = ["nDCG@10", "R@10", "P@10", "RR@10", "Success@10"]

#: Each side takes so many turns.
RUNS = 3

#: Documents of a list, and systems.
DEPTH, SYSTEMS = 20, 5

KEYS = ["run", "query_id"]


def collection(people: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A list for each person, of which a tenth is relevant, and two relevant documents that it lacks."""
    source, rows = np.random.default_rng(1), people * DEPTH
    ids = {"query_id": np.arange(people).repeat(DEPTH), "doc_id": source.integers(0, 50_000, rows)}
    run = pl.DataFrame({**ids, "score": source.random(rows)}).unique(["query_id", "doc_id"], maintain_order=True)
    missed = {"query_id": np.arange(people).repeat(2), "doc_id": source.integers(0, 50_000, 2 * people)}
    qrels = pl.concat([run.sample(fraction=0.1, seed=1).drop("score"), pl.DataFrame(missed)]).unique()
    person, item = pl.format("u{}", "query_id").alias("query_id"), pl.format("i{}", "doc_id").alias("doc_id")
    return run.with_columns(person, item), qrels.with_columns(person, item).with_columns(relevance=1)


def shapes(run: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Runs of several systems, made of one of all lists."""
    few, whole = pl.int_range(pl.len()).hash(), pl.col("query_id").hash()
    for name, kept, shuffled in (
        ("4 documents a list, in order", few, False),
        ("4 documents a list, in no order", few, True),
        ("each a fifth of the people", whole, False),
        (f"{DEPTH} documents a list, in order", None, False),
    ):
        parts = []
        for number in range(SYSTEMS):
            rows = run if kept is None else run.filter(kept % SYSTEMS == number)
            rows = rows.sample(fraction=1, shuffle=True, seed=number) if shuffled else rows
            parts.append(rows.with_columns(run=pl.lit(f"s{number}")))
        yield f"{SYSTEMS} systems, {name}", pl.concat(parts)


def plain(run: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """The measures by a rank over each list, a join with the judgments and a grouping; grades are 1."""
    rank, gain = pl.col("score").rank("ordinal", descending=True).over(KEYS), 1 / (pl.col("rank") + 1).log(2)
    hits = run.with_columns(rank=rank).filter(pl.col("rank") <= 10).join(qrels, on=["query_id", "doc_id"])
    found = hits.group_by(KEYS).agg(dcg=gain.sum(), n=pl.len(), first=pl.col("rank").min())
    best = (1 / (pl.int_range(1, 11) + 1).log(2)).cum_sum().gather(pl.col("relevant").clip(1, 10) - 1)
    judged = qrels.group_by("query_id").agg(relevant=pl.len()).with_columns(best=best)
    every = run.select("run").unique().join(judged, how="cross").join(found, on=KEYS, how="left")
    dcg, n, relevant, first = map(pl.col, ("dcg", "n", "relevant", "first"))
    values = [dcg / pl.col("best"), n / relevant, n / 10, 1 / first, n.is_not_null().cast(pl.Float64)]
    return every.select(*KEYS, *(v.fill_null(0.0).alias(name) for v, name in zip(values, MEASURES, strict=True)))


def seconds(calls: list[Callable[[], object]], clock: Callable[[], float]) -> list[float]:
    """The best of some turns of each call, which take turns."""
    best = [float("inf")] * len(calls)
    for _ in range(RUNS):
        for place, call in enumerate(calls):
            start = clock()
            call()
            best[place] = min(best[place], clock() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=[100_000])
    warnings.simplefilter("ignore")
    machine = f"{platform.processor() or platform.machine()}, {pl.thread_pool_size()} threads, Polars {pl.__version__}"
    head = "| people | shape | rows | CPU s | times plain | by the clock |\n| ---: | --- | ---: | ---: | ---: | ---: |"
    sys.stdout.write(f"{machine}\n\n{head}\n")
    for people in parser.parse_args().people:
        run, qrels = collection(people)
        for name, rows in shapes(run):
            calls = [partial(ir.evaluate, rows, qrels, MEASURES), partial(plain, rows, qrels)]
            ours, theirs = (call().sort(KEYS).select(MEASURES).to_numpy() for call in calls)
            np.testing.assert_allclose(ours, theirs, atol=1e-9)
            cpu, clock = (seconds(calls, timer) for timer in (time.process_time, time.perf_counter))
            ratios = f"{cpu[0] / cpu[1]:.2f} | {clock[0] / clock[1]:.2f}"
            sys.stdout.write(f"| {people:,} | {name} | {rows.height:,} | {cpu[0]:.2f} | {ratios} |\n")


if __name__ == "__main__":
    main()
