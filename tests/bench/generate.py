"""Seeded collections of any shape, made by NumPy and Polars without a loop over rows, in memory or as files.

The scores of a ranking are whole numbers, each once: they are exact in Float32, which the peers of the trec_eval 9
family keep scores in, and leave no tie to break, which ranx breaks in another way. The tied shape gives up the second.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import polars_ir as ir

#: Document numbers are a walk modulo this prime, so that the documents of a query are scattered and distinct.
CORPUS = 8_841_823

#: Rows of a part of a large Parquet run, and of its row groups.
PART_ROWS, GROUP_ROWS = 7_000_000, 250_000

#: The first number, so that all have seven digits.
FIRST = 1_000_000

SEED = 7

Integers = np.ndarray[Any, np.dtype[np.int64]]

ROBUST = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"


@dataclass(frozen=True)
class Shape:
    """The size and depth of a collection; `depth`, `judged` and `found` per query."""

    queries: int
    depth: int  # retrieved documents
    judged: float  # judged documents, on average
    found: float  # those of them that are retrieved, on average
    systems: int = 1
    grades: int = 1  # the highest grade; with 1 every judged document is relevant
    tied: int = 1  # how many documents share a score
    prefix: str = "D"  # of document ids; Polars keeps up to 12 bytes of a string in place
    shuffled: bool = True  # the rows of the run, which are in rank order otherwise


@dataclass(frozen=True)
class Topics:
    """The common part of the run and the judgments of a collection, an entry for each query."""

    ids: Integers
    judged: Integers
    found: Integers
    walks: Integers  # two rows: where the walk of a query through the corpus begins, and its stride


@dataclass
class Collection:
    """A run, with a column `run` where it has several systems, and its judgments."""

    run: pl.DataFrame
    qrels: pl.DataFrame

    @cached_property
    def runs(self) -> dict[str, pl.DataFrame]:
        """The run of each system."""
        if "run" not in self.run.columns:
            return {"": self.run}
        parts = self.run.partition_by("run", include_key=False, as_dict=True)
        return {str(key): part for (key,), part in parts.items()}


def shallow(rows: int, **changes: Any) -> Shape:
    """The shape of a web collection: many queries, a thousand documents each, one or two of them judged."""
    return Shape(**({"queries": max(rows // 1000, 1), "depth": 1000, "judged": 10 / 7, "found": 1.2} | changes))


def deep(rows: int, **changes: Any) -> Shape:
    """The same with every retrieved document judged, most of them not relevant."""
    return shallow(rows, **({"judged": 1000, "found": 1000, "grades": 2} | changes))


def lists(people: int) -> Shape:
    """Twenty documents of each person, in rank order, of which five are judged and two of these retrieved."""
    return Shape(people, 20, judged=5, found=2, shuffled=False)


def collection(shape: Shape) -> Collection:
    """A collection of a shape."""
    tables = [part(shape, system, 0, shape.queries) for system in range(shape.systems)]
    run, qrels = pl.concat((run for run, _ in tables), rechunk=True), tables[0][1]
    if shape.shuffled:
        run, qrels = (table.sample(fraction=1, shuffle=True, seed=SEED) for table in (run, qrels))
    return Collection(run, qrels)


def part(shape: Shape, system: int, first: int, queries: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The documents of a system for some queries of a collection, in rank order, and the judgments of these."""
    topics = _topics(shape, first, queries)
    run = _ranking(shape, system, topics)
    if shape.systems > 1:
        run = run.select(pl.lit(f"system {system:02}").alias("run"), pl.all())
    return run, _judgments(shape, topics)


def robust(systems: int) -> Collection:
    """The TREC 2003 Robust track where its files lie beside the project, else a collection of its shape."""
    if not ROBUST.exists():
        return collection(Shape(100, 1000, judged=1288, found=300, systems=systems, grades=2, prefix="LA0101-"))
    files = [ROBUST / f"{name}.run.gz" for name in ("pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc")[:systems]]
    run = ir.read_run(files[0] if systems == 1 else files).drop("rank")
    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz").select("query_id", "doc_id", "relevance")
    return Collection(run.with_columns(pl.col("score").cast(pl.Float32).cast(pl.Float64)), qrels)


def robust_systems(systems: int) -> Collection:
    """Any number of systems on the judgments of the Robust track: its runs with noise, in rank order."""
    data, random = robust(4), np.random.default_rng(SEED)
    runs = [run for run in data.runs.values() if run.height > data.run.height / 8]  # one of the four is short
    rank = pl.col("score").rank("ordinal", descending=True).over("query_id")
    made = []
    for number in range(systems):
        run = runs[number % len(runs)]
        score = 1e4 / (60 + rank) * pl.Series(random.lognormal(0, 0.5, run.height))
        run = run.with_columns(score=score.cast(pl.Float32).cast(pl.Float64))
        run = run.sort("query_id", "score", descending=[False, True])
        made.append(run.select(pl.lit(f"system {number:03}").alias("run"), "query_id", "doc_id", "score"))
    return Collection(pl.concat(made, rechunk=True), data.qrels)


def write_text(folder: Path, data: Collection) -> None:
    """A collection as `run.txt` and `qrels.txt` in TREC's formats."""
    ir.write_run(data.run, folder / "run.txt", tag="system")
    ir.write_qrels(data.qrels, folder / "qrels.txt")


def parquet_parts(folder: Path, shape: Shape) -> None:
    """A collection of many rows, in rank order, as parts of its run and of its judgments; what is there is kept.

    The parts are made by as many processes as there are cores, each with a part in its memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cores = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(_write_part, folder, shape, *which) for which in _parts(shape)]:
            done.result()


def _parts(shape: Shape) -> Iterator[tuple[int, int]]:
    """The system and the first query of each part."""
    return product(range(shape.systems), range(0, shape.queries, PART_ROWS // shape.depth))


def _write_part(folder: Path, shape: Shape, system: int, first: int) -> None:
    """A part of a run and, with the first system's, of the judgments; whole or not at all."""
    queries = min(PART_ROWS // shape.depth, shape.queries - first)
    name = f"{system:03}-{first:09}.parquet"
    if (folder / f"run-{name}").exists():
        return
    run, qrels = part(shape, system, first, queries)
    if system == 0:
        _write(qrels, folder / f"qrels-{name}")
    _write(run, folder / f"run-{name}")


def _write(table: pl.DataFrame, path: Path) -> None:
    beside = path.with_suffix(".unfinished")
    table.write_parquet(beside, compression="lz4", row_group_size=GROUP_ROWS)
    beside.replace(path)


def _topics(shape: Shape, first: int, queries: int) -> Topics:
    judged = _counts(shape.judged, queries)
    found = np.minimum(_counts(shape.found, queries), judged)
    walks = np.random.default_rng([SEED, first]).integers(1, CORPUS, size=(2, queries))
    return Topics(np.arange(first, first + queries), judged, found, walks)


def _counts(mean: float, queries: int) -> Integers:
    """A whole number for each query, with a given mean."""
    counts: Integers = np.diff(np.floor(np.arange(queries + 1) * mean + 1e-9)).astype(np.int64)
    return counts


def _ranking(shape: Shape, system: int, topics: Topics) -> pl.DataFrame:
    """The run of a system: judged documents, which tend to stand higher, and unjudged ones of its own."""
    random = np.random.default_rng([SEED, topics.ids[0], 1 + system])
    place, found, judged = np.arange(shape.depth), topics.found[:, None], topics.judged[:, None]
    is_judged = place < found
    own = int(judged.max()) + system * shape.depth + place
    steps = np.where(is_judged, (system * found + place) % np.maximum(judged, 1), own)
    noise = random.random(steps.shape, dtype=np.float32)
    noise += is_judged * random.random(steps.shape, dtype=np.float32)
    steps = np.take_along_axis(steps, noise.argsort(axis=1)[:, ::-1], axis=1)
    scores = np.tile(place[::-1] // shape.tied, topics.ids.size).astype(np.float64)
    rows = _rows(shape, topics.ids.repeat(shape.depth), _documents(steps, topics.walks))
    return rows.with_columns(score=pl.Series(scores))


def _judgments(shape: Shape, topics: Topics) -> pl.DataFrame:
    """The first documents of each query's walk; of a graded pool most are not relevant."""
    random = np.random.default_rng([SEED, topics.ids[0], 0])
    steps = np.arange(int(topics.judged.max()))
    documents = _documents(np.broadcast_to(steps, (topics.ids.size, steps.size)), topics.walks)
    documents = documents[(steps < topics.judged[:, None]).ravel()]
    lowest = 1 if shape.grades == 1 else -2 * shape.grades
    grades = random.integers(lowest, shape.grades + 1, documents.size).clip(0)
    return _rows(shape, topics.ids.repeat(topics.judged), documents).with_columns(relevance=pl.Series(grades))


def _documents(steps: Integers, walks: Integers) -> Integers:
    """The document numbers at some steps of each query's walk through the corpus, in one row."""
    start, stride = walks
    documents: Integers = ((start[:, None] + steps * stride[:, None]) % CORPUS).ravel()
    return documents


def _rows(shape: Shape, queries: Integers, documents: Integers) -> pl.DataFrame:
    """Query and document numbers as the strings that real ids are."""
    numbers = pl.DataFrame({"query_id": FIRST + queries, "doc_id": FIRST + documents})
    return numbers.select(query_id=pl.format("{}", "query_id"), doc_id=pl.format(shape.prefix + "{}", "doc_id"))
