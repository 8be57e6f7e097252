"""Seeded collections of any shape, made by NumPy and Polars without a loop over rows.

The scores of a ranking are whole numbers, each once: they are exact in Float32, which the peers of the trec_eval 9
family keep scores in, and leave no tie to break, which ranx breaks in another way. The tied shape gives up the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import polars_ir as ir

#: Document numbers are a walk modulo this prime, so that the documents of a query are scattered and distinct.
CORPUS = 8_841_823

#: Rows of a part of the large Parquet run, and of its row groups.
PART_ROWS, GROUP_ROWS = 7_000_000, 250_000

IDS = ("query_id", "doc_id")

Integers = np.ndarray[Any, np.dtype[np.int64]]

ROBUST = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"


@dataclass(frozen=True)
class Shape:
    """How large and how deep a collection is; the last three per query."""

    queries: int
    depth: int  # retrieved documents
    judged: float  # judged documents, on average
    found: float  # those of them that are retrieved, on average
    systems: int = 1
    grades: int = 1  # the highest grade; with 1 every judged document is relevant
    tied: int = 1  # how many documents share a score
    prefix: str = "D"  # of document ids; Polars keeps up to 12 bytes of a string in place


@dataclass(frozen=True)
class Topics:
    """What the run and the judgments of a collection share, an entry for each query."""

    ids: Integers
    judged: Integers
    found: Integers
    walks: Integers  # two rows: where the walk of a query through the corpus begins, and its stride


@dataclass
class Collection:
    """A run, with a column `run` where it has several systems, and its judgments."""

    run: pl.DataFrame
    qrels: pl.DataFrame

    @property
    def rows(self) -> int:
        """The rows that any tool has to read."""
        return self.run.height + self.qrels.height

    @property
    def runs(self) -> dict[str, pl.DataFrame]:
        """The run of each system."""
        if "run" not in self.run.columns:
            return {"": self.run}
        parts = self.run.partition_by("run", include_key=False, as_dict=True)
        return {str(key): part for (key,), part in parts.items()}

    @cached_property
    def pandas(self) -> tuple[Any, Any]:
        """The same tables in pandas, ids as objects: its own strings slow the peers by more than half."""
        run, qrels = (table.to_pandas().astype(dict.fromkeys(IDS, object)) for table in (self.run, self.qrels))
        return run, qrels


def collection(shape: Shape, *, seed: int = 7, first_query: int = 0) -> Collection:
    """A collection of a shape, its rows shuffled."""
    random = np.random.default_rng([seed, first_query])
    topics = _topics(shape, first_query, random)
    runs = [_ranking(shape, system, topics, random) for system in range(shape.systems)]
    if shape.systems > 1:
        runs = [run.with_columns(run=pl.lit(f"system {number}")) for number, run in enumerate(runs)]
    tables = pl.concat(runs, rechunk=True), _judgments(shape, topics, random)
    return Collection(*(table.sample(fraction=1, shuffle=True, seed=seed) for table in tables))


def shallow(rows: int, **changes: Any) -> Shape:
    """The shape of a web collection: many queries, a thousand documents each, one or two of them judged."""
    return Shape(**({"queries": max(rows // 1000, 1), "depth": 1000, "judged": 10 / 7, "found": 1.2} | changes))


def robust(systems: int) -> Collection:
    """The TREC 2003 Robust track where its files lie beside the project, else a collection of its shape."""
    if not ROBUST.exists():
        deep = Shape(100, 1000, judged=1288, found=300, systems=systems, grades=2, prefix="LA0101-")
        return collection(deep)
    files = [ROBUST / f"{name}.run.gz" for name in ("pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc")[:systems]]
    run = ir.read_run(files[0] if systems == 1 else files).drop("rank")
    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz").select("query_id", "doc_id", "relevance")
    return Collection(run.with_columns(pl.col("score").cast(pl.Float32).cast(pl.Float64)), qrels)


def parquet_parts(folder: Path, rows: int) -> None:
    """Write a shallow run of many rows to `folder`, in query order, and its judgments; once."""
    done = folder / "done.txt"
    if done.exists() and done.read_text() == str(rows):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.parquet"):
        old.unlink()
    qrels = []
    for start in range(0, rows, PART_ROWS):
        shape = shallow(min(PART_ROWS, rows - start))
        part = collection(shape, first_query=start // shape.depth)
        ordered = part.run.sort("query_id", "score", descending=[False, True])
        ordered.write_parquet(folder / f"run-{start:012}.parquet", row_group_size=GROUP_ROWS)
        qrels.append(part.qrels)
    pl.concat(qrels).write_parquet(folder / "qrels.parquet")
    done.write_text(str(rows))


def _topics(shape: Shape, first: int, random: np.random.Generator) -> Topics:
    judged = _counts(shape.judged, shape.queries)
    found = np.minimum(_counts(shape.found, shape.queries), judged)
    walks = random.integers(1, CORPUS, size=(2, shape.queries))
    return Topics(np.arange(first, first + shape.queries), judged, found, walks)


def _counts(mean: float, queries: int) -> Integers:
    """A whole number for each query, with a given mean."""
    return np.diff(np.floor(np.arange(queries + 1) * mean + 1e-9)).astype(np.int64)


def _ranking(shape: Shape, system: int, topics: Topics, random: np.random.Generator) -> pl.DataFrame:
    """The run of a system: judged documents, which tend to stand higher, and unjudged ones of its own."""
    place, found, judged = np.arange(shape.depth), topics.found[:, None], topics.judged[:, None]
    is_judged = place < found
    own = int(judged.max()) + system * shape.depth + place
    steps = np.where(is_judged, (system * found + place) % np.maximum(judged, 1), own)
    noise = random.random(steps.shape) + is_judged * random.random(steps.shape)
    scores = noise.argsort(axis=1).argsort(axis=1) // shape.tied
    rows = _rows(shape, topics.ids.repeat(shape.depth), _documents(steps, topics.walks))
    return rows.with_columns(score=pl.Series(scores.ravel().astype(np.float64)))


def _judgments(shape: Shape, topics: Topics, random: np.random.Generator) -> pl.DataFrame:
    """The first documents of each query's walk; of a graded pool most are not relevant."""
    steps = np.arange(int(topics.judged.max()))
    documents = _documents(np.broadcast_to(steps, (shape.queries, steps.size)), topics.walks)
    documents = documents[(steps < topics.judged[:, None]).ravel()]
    lowest = 1 if shape.grades == 1 else -2 * shape.grades
    grades = random.integers(lowest, shape.grades + 1, documents.size).clip(0)
    return _rows(shape, topics.ids.repeat(topics.judged), documents).with_columns(relevance=pl.Series(grades))


def _documents(steps: Integers, walks: Integers) -> Integers:
    """The document numbers at some steps of each query's walk through the corpus, in one row."""
    start, stride = walks
    return ((start[:, None] + steps * stride[:, None]) % CORPUS).ravel()


def _rows(shape: Shape, queries: Integers, documents: Integers) -> pl.DataFrame:
    """Query and document numbers as the strings that real ids are."""
    numbers = pl.DataFrame({"query_id": queries, "doc_id": documents})
    return numbers.select(
        query_id=pl.col("query_id").cast(pl.String).str.zfill(6),
        doc_id=pl.lit(shape.prefix) + pl.col("doc_id").cast(pl.String).str.zfill(7),
    )
