"""`validate` on Spark: per-query findings, counted in the tasks.

Conventions: both tables travel to a partition by their query, in one shuffle; a partition is one call of
`polars_ir.validate`, and Spark adds up the counts. What is of all queries together, such as a mean that ties move, ids
that only look different, or the systems that lack a query, no partition sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from polars_ir.errors import SHOWN, OptionError, option
from polars_ir.frames.roles import required
from polars_ir.language.options import check, each_once, or_none, public, some_of
from polars_ir.runs.findings import EMPTY, FINDINGS, ITSELF, RANKS, ROWS, SCORES, UNJUDGED
from polars_ir.runs.validate import validate as validate_locally
from polars_ir.spark.tables import arrow_schema, by_bytes, check_spark, column, empty, packed, to_spark
from polars_ir.spark.tasks import JUDGMENT, QUERY, RUN, findings, in_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Per-query findings.
COUNTED = (
    *(*ROWS, *EMPTY, "queries without judgments", "queries without a relevant document", *ITSELF),
    *(*SCORES, *UNJUDGED, *RANKS),
)


@public()
def validate(run: DataFrame, qrels: Any, *, only: str | Sequence[str] | None = None) -> DataFrame:
    """The oddities of a run and its judgments on Spark, as counts: one row per finding, none where nothing is odd.

    They are those that are of one query each: null ids, scores and grades, duplicates, empty ids, queries without
    judgments or without a relevant document, queries that retrieve themselves, tied scores, unjudged documents in the
    top 10, and a rank column with gaps or against the scores. The others need all queries at once: run
    `polars_ir.validate` on a sample.

    Parameters
    ----------
    run
        A Spark frame, also one that `evaluate` refuses for its rows.
    qrels
        The judgments: a Spark frame, or any table that `polars_ir.validate` takes.
    only
        The findings to look for, by name; None looks for all of these.

    Returns
    -------
    A Spark frame, of which nothing has run
        `finding`, `severity` (string), `count` (bigint), `examples` (array of strings, some of them) and `meaning`
        (string), as of `polars_ir.validate`, the counts equal to it; in no order, and without `share`.

    Examples
    --------
    >>> from polars_ir import spark
    >>> spark.validate(run, qrels).show(truncate=False)  # doctest: +SKIP
    """
    check_spark("run", run)
    from pyspark.sql import functions as F  # noqa: N812

    names = each_once(check("only", only, or_none(some_of(*FINDINGS)))) or list(COUNTED)
    if others := [name for name in names if name not in COUNTED]:
        says = "needs all queries together, which no Spark task has. Look for it in a sample."
        raise OptionError(says, about=option("only", others[0]))
    run, qrels = by_bytes(run), by_bytes(to_spark("qrels", qrels, column="relevance", like=run))
    schema = arrow_schema(validate_locally(empty("run", run), empty("qrels", qrels), only=names).drop("share"))
    tables = []
    for table, frame, struct in (("run", run, RUN), ("qrels", qrels, JUDGMENT)):
        query = column(required(table, "query_id", frame.columns)).cast("string").alias(QUERY)
        tables.append(frame.select(query, packed(frame.columns, struct)))
    rows = tables[0].unionByName(tables[1], allowMissingColumns=True).repartition(QUERY)
    found = in_tasks(rows.select(RUN, JUDGMENT), partial(findings, only=names), schema)
    examples = F.slice(F.sort_array(F.array_distinct(F.flatten(F.collect_list("examples")))), 1, SHOWN)
    summed = found.groupBy("finding", "severity", "meaning").agg(
        F.sum("count").cast("bigint").alias("count"), examples.alias("examples")
    )
    return summed.select("finding", "severity", "count", "examples", "meaning")
