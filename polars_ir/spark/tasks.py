"""Tasks of the executors: the core, on the rows of one partition.

Conventions
    * A row of a partition is a row of the run, a judgment, or what a judged query needs of other partitions; each is a
      struct in a column of its own, null in the other rows, so that their columns never meet.
    * A figure depends on three things beside its own query: the systems there are (each has a row for every judged
      query), the highest grade that occurs (`bounds`), and the documents judged for any query (`judged_elsewhere`), all
      of them by the keys that distinguish rankings. A stand-in for all other queries brings them to the core. It has an
      id that no query of the partition has, and its row is left out of the result.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from polars_ir.errors import DataError, IRError, IRWarning
from polars_ir.frames.kinds import collected
from polars_ir.per_query.shared.queries import queries_of
from polars_ir.runs.evaluate import evaluate
from polars_ir.runs.validate import validate
from polars_ir.spark.tables import plain

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from polars_ir.per_query.shared.sums import Query, WideSchema

#: The columns of a partition's rows. The last is true for a retrieved document that is judged for any query.
QUERY, RUN, JUDGMENT, SHARED, POOLED = (
    f"polars_ir_{name}" for name in ("query", "run", "judgment", "shared", "pooled")
)

#: Columns of the row that partitions share, and that every judged query brings along.
SYSTEMS, HIGHEST = "systems", "highest"

#: Packages of which driver and executors need the same version, for serialised expressions and equal results.
VERSIONS = {name: version(name) for name in ("polars", "polars_ir")}

#: The note of errors on rows.
OF_FILES = (
    "On Spark `row` counts in a partition. Which files such rows are in: "
    "frame.where('...').select('_metadata.file_path').distinct(), on the frame as it was read."
)


@dataclass(frozen=True)
class Names:
    """The columns of both tables by their roles, under the names their user gave; `qrels` is empty without qrels.

    `systems` are the columns of the run for systems and keys, `judged_by` the keys that judgments have.
    """

    run: Mapping[str, str]
    qrels: Mapping[str, str]
    systems: tuple[str, ...] = ()
    judged_by: tuple[str, ...] = ()


#: The rows of a partition by the column that they are in, with their own columns; `POOLED` are rows of the run, too.
Parts = Mapping[str, pl.DataFrame]


def evaluation(parts: Parts, measures: tuple[bytes, ...], options: Mapping[str, Any], names: Names) -> pl.DataFrame:
    """`evaluate` for the queries of a partition."""
    run, qrels, stand_in = with_stand_in(parts[RUN], parts.get(JUDGMENT), names, parts.get(SHARED), parts.get(POOLED))
    with warnings.catch_warnings():
        # Ids that never meet are a matter of all queries, and a partition has few.
        warnings.simplefilter("ignore", IRWarning)
        try:
            result: pl.DataFrame = evaluate(run, qrels, map(pl.Expr.deserialize, measures), **options)
        except DataError as error:
            error.add_note(OF_FILES)
            raise
    return result if stand_in is None else result.filter(pl.col(names.run["query_id"]) != stand_in)


def summary(parts: Parts, function: Callable[..., pl.DataFrame], options: Mapping[str, Any]) -> pl.DataFrame:
    """`mean` or `summarize` for all queries of some systems."""
    return function(parts[RUN], **options)


def sums(
    parts: Parts, query: Query, schema: WideSchema | None, measures: tuple[str, ...], by: tuple[str, ...]
) -> pl.DataFrame:
    """A query of sums over the rows of a partition or, with a schema, over a row for each of its queries."""
    plan = queries_of(parts[RUN].lazy(), list(measures), by=list(by) or None, repeated=True).rows
    return collected(query(plan if schema is None else schema.wide(plan)), "streaming")


def findings(parts: Parts, only: list[str]) -> pl.DataFrame:
    """Some findings of `validate` on the queries of a partition."""
    found: pl.DataFrame = validate(parts[RUN], parts[JUDGMENT], only=only)
    return found.drop("share")


def in_tasks(rows: DataFrame, task: Callable[[Parts], pl.DataFrame], schema: pa.Schema) -> DataFrame:
    """The rows, of a schema, that a task makes of each partition."""
    from pyspark.sql.pandas.types import from_arrow_schema

    sent = pickle.dumps(partial(on_executor, task, schema, VERSIONS))

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Polars counts its threads when it is imported, here by what is received. Spark runs a task for each of its
        # cores; as many threads in each would be too many. This function is sent whole, and so imports nothing before.
        from pyspark import TaskContext

        context = TaskContext.get()
        os.environ.setdefault("POLARS_MAX_THREADS", str(context.cpus() if context else 1))
        try:
            received = pickle.loads(sent)  # noqa: S301  # what the driver has sent
        except (ImportError, AttributeError) as error:
            raise ImportError(
                f"executors need the packages of the driver: {error} for {sys.executable}. Install them there, or send "
                "them: spark-submit --archives env.tar.gz#env --conf spark.pyspark.python=./env/bin/python "
                "--conf spark.pyspark.driver.python=python"
            ) from None
        return received(batches)  # type: ignore[no-any-return]

    # As `empty` has them: a time without a zone has none.
    return rows.mapInArrow(run, from_arrow_schema(schema, prefer_timestamp_ntz=True))


def on_executor(
    task: Callable[[Parts], pl.DataFrame],
    schema: pa.Schema,
    versions: Mapping[str, str],
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The result of a task for a partition, none for an empty one; an error where a package is not the driver's."""
    for name, driver in versions.items():
        if driver != VERSIONS[name]:
            raise IRError(
                f"executors need the {name} of the driver; this one has {VERSIONS[name]}, the driver {driver}. Install "
                f"{name}=={driver} on the executors."
            )
    frames = [pl.DataFrame(batch) for batch in batches if batch.num_rows]
    if frames:
        result = plain(task(_parts(frames))).to_arrow(compat_level=pl.CompatLevel.oldest())
        yield from result.cast(schema).to_batches()


def _parts(frames: list[pl.DataFrame]) -> Parts:
    """The rows of some batches by table; the list is emptied, since the tables are copies."""
    rows = pl.concat(frames, rechunk=False)
    frames.clear()
    structs = [name for name in rows.columns if name in (RUN, JUDGMENT, SHARED)]
    parts = {name: rows.select(name).filter(pl.col(name).is_not_null()).unnest(name) for name in structs}
    return parts | {name: rows.filter(name).select(RUN).unnest(RUN) for name in rows.columns if name == POOLED}


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
    """The first number that is not among the ids, as text if these are text."""
    used = pl.concat(ids).unique()
    numbers = pl.int_range(len(used) + 1, eager=True).cast(used.dtype)
    return numbers.filter(~numbers.is_in(used.implode()))[0]
