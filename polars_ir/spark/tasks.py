"""Tasks of the executors: the core, on the rows of one partition.

Conventions
    * A row of a partition is a row of the run, a judgment, or what a judged query needs of other partitions; each is a
      struct in a column of its own, null in the other rows, so that their columns never meet.
    * A figure depends on three things beside its own query: the systems there are (each has a row for every judged
      query), the highest grade that occurs (`bounds`), and the documents judged for any query (`judged_elsewhere`), all
      of them by the keys that tell rankings apart. A stand-in for all other queries brings them to the core. It has an
      id that no query of the partition has, and its row is left out of the result.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from polars_ir.errors import DataError, IRError, IRWarning
from polars_ir.frames.kinds import collected
from polars_ir.per_query.shared.aligned import aligned
from polars_ir.runs.evaluate import evaluate
from polars_ir.runs.validate import validate
from polars_ir.spark.tables import plain

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from polars_ir.per_query.shared.sums import RowPerQuery, Step

#: The columns of a partition's rows. The last is true for a retrieved document that is judged for any query.
QUERY, RUN, JUDGMENT, SHARED, POOLED = (
    f"polars_ir_{name}" for name in ("query", "run", "judgment", "shared", "pooled")
)

#: Columns of the row that partitions share, and that every judged query brings along.
SYSTEMS, HIGHEST = "systems", "highest"

#: Versions that driver and executors must share: expressions are sent, and figures are to be the same.
VERSIONS = {name: version(name) for name in ("polars", "polars_ir")}

#: The note of errors on rows.
OF_FILES = (
    "On Spark `row` counts in a partition. Which files such rows are in: "
    "frame.where('...').select('_metadata.file_path').distinct(), on the frame as it was read."
)


@dataclass(frozen=True)
class Names:
    """The columns of both tables by their roles, under the names their user gave; `qrels` is empty without qrels.

    `systems` are those of the run that tell systems and keys apart, `judged_by` the keys that judgments have.
    """

    run: Mapping[str, str]
    qrels: Mapping[str, str]
    systems: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()


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
        with warnings.catch_warnings():
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
            result = self.function(_unpacked(rows, RUN), **self.options)
            yield from _sent(result, self.schema)


@dataclass(frozen=True)
class Adding:
    """A step of sums over the rows of a partition or, with a layout, over a row for each of its queries."""

    step: Step
    layout: RowPerQuery | None
    measures: tuple[str, ...]
    by: tuple[str, ...]
    schema: pa.Schema | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: VERSIONS)

    def announced(self, schema: pa.Schema) -> Adding:
        """With the schema that the driver announces."""
        return replace(self, schema=schema)

    def of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The sums of some rows."""
        plan = aligned(rows.lazy(), list(self.measures), by=list(self.by) or None, repeated=True).rows
        return collected(self.step(plan if self.layout is None else self.layout.wide(plan)), "streaming")

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The sums of a partition."""
        rows = _received(batches, self.versions)
        if rows is not None:
            yield from _sent(self.of(_unpacked(rows, RUN)), self.schema)


@dataclass(frozen=True)
class Validation:
    """A call of `validate` for some findings, on the queries of a partition."""

    only: tuple[str, ...]
    schema: pa.Schema
    versions: Mapping[str, str] = field(default_factory=lambda: VERSIONS)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The findings of a partition."""
        rows = _received(batches, self.versions)
        if rows is not None:
            found = validate(_unpacked(rows, RUN), _unpacked(rows, JUDGMENT), only=list(self.only))
            yield from _sent(found.drop("share"), self.schema)


def in_tasks(rows: DataFrame, task: Evaluation | Summary | Adding | Validation) -> DataFrame:
    """The rows that a task makes of each partition."""
    from pyspark.sql.pandas.types import from_arrow_schema

    sent = pickle.dumps(task)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Polars counts its threads when it is imported, here by what is received. Spark runs a task for each of its
        # cores; as many threads in each would be too many. This function is sent whole, and so imports nothing before.
        from pyspark import TaskContext

        context = TaskContext.get()
        os.environ.setdefault("POLARS_MAX_THREADS", str(context.cpus() if context else 1))
        try:
            received = pickle.loads(sent)  # noqa: S301  # what the driver has sent
        except ImportError as error:
            raise ImportError(
                f"executors need the packages of the driver: {error} for {sys.executable}. Install them there, or send "
                "them: spark-submit --archives env.tar.gz#env --conf spark.pyspark.python=./env/bin/python "
                "--conf spark.pyspark.driver.python=python"
            ) from None
        return received(batches)  # type: ignore[no-any-return]

    # As `empty` has them: a time without a zone has none.
    return rows.mapInArrow(run, from_arrow_schema(task.schema, prefer_timestamp_ntz=True))


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


def with_stand_in(
    run: pl.DataFrame,
    qrels: pl.DataFrame | None,
    names: Names,
    shared: pl.DataFrame | None,
    pooled: pl.DataFrame | None,
) -> tuple[pl.DataFrame, pl.DataFrame | None, Any]:
    """Both tables with the rows of a stand-in, and its id; None, and the tables as they are, where none is needed.

    `shared` has what partitions share, in one row or, where no query is judged, none; `pooled` are those rows of the
    run whose documents are judged for any query.
    """
    if (shared is None or not shared.height) and (pooled is None or not pooled.height):
        return run, qrels, None
    facts = shared.row(0, named=True) if shared is not None and shared.height else {}
    run, qrels = _wide(run, names.run), None if qrels is None else _wide(qrels, names.qrels)
    judged, of_judged = (run, names.run) if qrels is None else (qrels, names.qrels)
    query = _unused(run[names.run["query_id"]], judged[of_judged["query_id"]])
    if SYSTEMS in facts:
        systems = pl.DataFrame(facts[SYSTEMS], schema={name: run.schema[name] for name in names.systems})
        run = _followed_by(run, {names.run["query_id"]: [query] * systems.height, **systems.to_dict()})
    if HIGHEST in facts or pooled is not None:
        # A document that nobody retrieved for the grade of each key, so that there is a row of it also without a pool.
        doc, keys, unused = names.run["doc_id"], names.judged_by, _unused(run[names.run["doc_id"]])
        of_grades = [((*(each[key] for key in keys), unused), each[HIGHEST] or 0) for each in facts.get(HIGHEST, ())]
        of_pool = [] if pooled is None else [(ids, 0) for ids in pooled.select(*keys, doc).unique().iter_rows()]
        rows = {name: [ids[place] for ids, _ in (*of_grades, *of_pool)] for place, name in enumerate((*keys, doc))}
        rows[of_judged["doc_id"]] = rows.pop(doc)
        rows |= {of_judged["relevance"]: [grade for _, grade in (*of_grades, *of_pool)]}
        rows |= {of_judged["query_id"]: [query] * len(rows[of_judged["relevance"]])}
        judged = _followed_by(run if qrels is None else judged, rows)
    return (judged, None, query) if qrels is None else (run, judged, query)


def _wide(frame: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """The frame with integer ids as Int64, as the core has them: a short one may have no number left to add."""
    ids = [names[role] for role in ("query_id", "doc_id") if role in names]
    return frame.with_columns((cs.integer() & cs.by_name(ids)).cast(pl.Int64))


def _followed_by(frame: pl.DataFrame, columns: Mapping[str, Sequence[Any] | pl.Series]) -> pl.DataFrame:
    """The frame and some rows that have values in some columns, and 0 in the others, or null where there is no 0."""
    rows = pl.DataFrame(columns, strict=False)
    values = (
        pl.col(name).cast(dtype)
        if name in columns
        else pl.lit(0 if dtype.is_numeric() or dtype == pl.String else None).cast(dtype).alias(name)
        for name, dtype in frame.schema.items()
    )
    return pl.concat([frame, rows.select(values)])


def _unused(*ids: pl.Series) -> Any:
    """The first number that is not among some ids; as text where they are text."""
    used = pl.concat(ids).unique()
    numbers = pl.int_range(len(used) + 1, eager=True).cast(used.dtype)
    return numbers.filter(~numbers.is_in(used.implode()))[0]
