"""The rows that travel: one Spark frame of both tables, so that one shuffle by query brings together what belongs so.

Conventions: a row is a row of the run, a judgment, or what a judged query has to know of other partitions; each is a
struct in a column of its own (`tasks`). Nothing here runs a job.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from polars_ir.spark.stand_ins import HIGHEST, SYSTEMS, Names
from polars_ir.spark.tables import check_broadcast, column, is_small
from polars_ir.spark.tasks import JUDGMENT, POOLED, QUERY, RUN, SHARED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Columns that are there between two steps.
JUDGED, DOCUMENT = "polars_ir_judged", "polars_ir_document"


@dataclass(frozen=True)
class Pair:
    """A run with its judgments; `qrels` is None where the run holds its grades itself."""

    run: DataFrame
    qrels: DataFrame | None
    names: Names

    def of_judgments(self, role: str) -> DataFrame:
        """What the judged rows have for a role, as they come."""
        frame, names = (self.run, self.names.run) if self.qrels is None else (self.qrels, self.names.qrels)
        judged = frame if self.qrels is not None else frame.filter(column(names["relevance"]).isNotNull())
        return judged.select(column(names[role]).alias(role))


def rows_of(pair: Pair, read: Collection[str], *, bounds: bool, broadcast: bool | None) -> DataFrame:
    """All rows that travel, with the query that they travel by; `read` are the columns that the measures name."""
    run = _run(pair, read)
    if pair.qrels is None:
        frames = [run]
    else:
        judgments = _packed(pair.qrels, pair.names.qrels["query_id"], JUDGMENT, pair.qrels.columns)
        frames = [_of_judged_queries(run, pair, broadcast), judgments]
    shared = _shared(pair, bounds=bounds)
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), [*frames, *shared])


def _packed(frame: DataFrame, query: str, struct: str, columns: Collection[str]) -> DataFrame:
    """Rows as structs of some of their columns."""
    from pyspark.sql import functions as F  # noqa: N812

    return frame.select(column(query).alias(QUERY), F.struct(*map(column, columns)).alias(struct))


def _run(pair: Pair, read: Collection[str]) -> DataFrame:
    """The rows of the run with the columns that are read; with a pool also whether the document is in it."""
    from pyspark.sql import functions as F  # noqa: N812

    names = pair.names.run
    columns = [name for name in pair.run.columns if name in names.values() or name in read]
    if "judged_elsewhere" not in read:
        return _packed(pair.run, names["query_id"], RUN, columns)
    pool = pair.of_judgments("doc_id").distinct().select(column("doc_id").alias(DOCUMENT), F.lit(True).alias(POOLED))
    rows = pair.run.withColumn(DOCUMENT, column(names["doc_id"])).join(pool, DOCUMENT, "left")
    packed = F.struct(*map(column, columns)).alias(RUN)
    return rows.select(column(names["query_id"]).alias(QUERY), packed, POOLED)


def _of_judged_queries(run: DataFrame, pair: Pair, broadcast: bool | None) -> DataFrame:  # noqa: FBT001  # an option of ours
    """The run without the rows of unjudged queries, if the judged ones can be broadcast."""
    from pyspark.sql import functions as F  # noqa: N812

    judged = pair.of_judgments("query_id").distinct().select(column("query_id").alias(QUERY), F.lit(True).alias(JUDGED))
    if broadcast:
        check_broadcast(judged)
    elif broadcast is not None or not is_small(judged):
        return run
    # Rows that can not be evaluated are kept, since they fail the evaluation whatever their query.
    marked = run.join(F.broadcast(judged), QUERY, "left")
    return marked.filter(column(JUDGED).isNotNull() | _is_wrong(pair)).drop(JUDGED)


def _is_wrong(pair: Pair) -> Column:
    """Whether a row of the run has no id, or a score that is no number."""
    from pyspark.sql import functions as F  # noqa: N812

    value = {role: column(RUN).getField(name) for role, name in pair.names.run.items()}
    is_nan = F.isnan(value["score"].cast("double"))
    return reduce(lambda left, right: left | right, (of_role.isNull() for of_role in value.values()), is_nan)


def _shared(pair: Pair, *, bounds: bool) -> list[DataFrame]:
    """What every judged query brings along, if there is such: the systems, the highest grade."""
    from pyspark.sql import functions as F  # noqa: N812

    facts = {}
    if pair.qrels is not None and "run" in pair.names.run:
        facts[SYSTEMS] = pair.run.agg(F.collect_set(column(pair.names.run["run"])).alias(SYSTEMS))
    if bounds:
        # Spark takes NaN for more than infinity. Such grades fail the evaluation, and are not to appear twice.
        finite = F.when(F.col("relevance") < float("inf"), F.col("relevance"))
        facts[HIGHEST] = pair.of_judgments("relevance").agg(F.max(finite).cast("double").alias(HIGHEST))
    if not facts:
        return []
    queries = pair.of_judgments("query_id").distinct()
    rows = reduce(lambda left, right: left.crossJoin(F.broadcast(right)), facts.values(), queries)
    return [_packed(rows, "query_id", SHARED, list(facts))]
