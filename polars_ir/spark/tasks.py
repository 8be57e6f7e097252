"""What runs on an executor: the core, on the rows of one partition.

Conventions: a row of a partition is a row of the run, a judgment, or what a judged query has to know of other
partitions; each is a struct in a column of its own, null in the other rows, so that their columns never meet.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.errors import DataError, IRError, IRWarning, entered_by
from polars_ir.runs.evaluation import evaluate
from polars_ir.spark.stand_ins import Names, with_stand_in
from polars_ir.spark.tables import SPARK, plain

if TYPE_CHECKING:
    import pyarrow as pa

#: The columns of a partition's rows. The last tells of a retrieved document whether it is judged for any query.
QUERY, RUN, JUDGMENT, SHARED, POOLED = (
    f"polars_ir_{name}" for name in ("query", "run", "judgment", "shared", "pooled")
)

#: What the driver and the executors must have in one version: expressions are sent, and figures are to be the same.
VERSIONS = {name: version(name) for name in ("polars", "polars_ir")}

#: What a message on rows says besides.
OF_FILES = (
    "On Spark `row` counts in a partition. Which files such rows are in: "
    "frame.where('...').select('_metadata.file_path').distinct(), on the frame as it was read."
)


@dataclass(frozen=True)
class Evaluation:
    """A call of `evaluate`, as a function of the batches of a partition."""

    measures: tuple[bytes, ...]
    options: Mapping[str, Any]
    names: Names
    schema: pa.Schema
    versions: Mapping[str, str] = field(default_factory=lambda: VERSIONS)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of the result for the queries of a partition."""
        rows = _received(batches, self.versions)
        if rows is None:
            return
        pooled = rows.filter(POOLED).select(RUN).unnest(RUN) if POOLED in rows.columns else None
        shared = _unpacked(rows, SHARED).head(1) if SHARED in rows.columns else None
        run = _unpacked(rows, RUN)
        qrels = _unpacked(rows, JUDGMENT) if JUDGMENT in rows.columns else None
        del rows  # both tables are copies of it
        run, qrels, stand_in = with_stand_in(run, qrels, self.names, shared, pooled)
        with entered_by(SPARK), warnings.catch_warnings():
            # Ids that never meet are a matter of all queries, and a partition has few.
            warnings.simplefilter("ignore", IRWarning)
            try:
                result = evaluate(run, qrels, map(pl.Expr.deserialize, self.measures), **self.options)
            except DataError as error:
                error.add_note(OF_FILES)
                raise
        if stand_in is not None:
            result = result.filter(pl.col(self.names.run["query_id"]) != stand_in)
        yield from _sent(result, self.schema)


@dataclass(frozen=True)
class Summary:
    """A call of `mean` or `summarize`, as a function of the batches of all queries of some systems."""

    function: Callable[..., pl.DataFrame]
    options: Mapping[str, Any]
    schema: pa.Schema
    versions: Mapping[str, str] = field(default_factory=lambda: VERSIONS)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of the result for some systems."""
        rows = _received(batches, self.versions)
        if rows is not None:
            with entered_by(SPARK):
                result = self.function(rows, **self.options)
            yield from _sent(result, self.schema)


def _received(batches: Iterable[pa.RecordBatch], versions: Mapping[str, str]) -> pl.DataFrame | None:
    """The rows of a partition, None where it has none; an error where a package is not that of the driver."""
    for name, driver in versions.items():
        if driver != VERSIONS[name]:
            raise IRError(
                f"executors need the {name} of the driver; this one has {VERSIONS[name]}, the driver {driver}. Install "
                f"{name}=={driver} on the executors."
            )
    frames = [pl.DataFrame(batch) for batch in batches if batch.num_rows]
    return pl.concat(frames, rechunk=False) if frames else None


def _unpacked(rows: pl.DataFrame, struct: str) -> pl.DataFrame:
    """The rows of one part, with its own columns."""
    return rows.select(struct).filter(pl.col(struct).is_not_null()).unnest(struct)


def _sent(result: pl.DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A result as Arrow batches of the schema that the driver announced."""
    table = plain(result).to_arrow(compat_level=pl.CompatLevel.oldest())
    yield from table.cast(schema).to_batches()
