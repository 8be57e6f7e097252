"""`evaluate` on Spark: both tables to partitions by query, and the core on each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from polars_ir.errors import ColumnError, MeasureError, OptionError, entered_by, explain_options, option
from polars_ir.frames.columns import ROLES, find
from polars_ir.frames.ids import same_types
from polars_ir.frames.table import labelled_table, qrels_table, run_table
from polars_ir.language.identity import Measured
from polars_ir.language.names import Measures, resolve
from polars_ir.options import takes
from polars_ir.runs.evaluation import evaluate as evaluate_locally
from polars_ir.runs.options import Evaluating
from polars_ir.spark.planning import Pair, rows_of
from polars_ir.spark.stand_ins import Names
from polars_ir.spark.tables import SPARK, arrow_schema, by_bytes, check_spark, empty, in_tasks, to_spark
from polars_ir.spark.tasks import QUERY, Evaluation
from polars_ir.values import check, whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The roles of qrels, of whatever kind of judgments.
OF_QRELS = ("query_id", "doc_id", "relevance")


@explain_options
@entered_by(SPARK)
@takes(Evaluating)
def evaluate(
    run: DataFrame,
    qrels: Any,
    measures: Measures,
    *,
    partitions: int | None = None,
    broadcast: bool | None = None,
    **options: Unpack[Evaluating],
) -> DataFrame:
    """Measure a run against its judgments on Spark: one row per judged query, one column per measure.

    The figures are those of `polars_ir.evaluate`, to the last bit, and a retried task gives the same again. Columns
    are recognised by the same names, and the options are the same, but for `ties="input"`: the rows of a Spark frame
    have no order.

    Parameters
    ----------
    run
        A Spark frame; with a `run` column every system is evaluated in the same pass.
    qrels
        The judgments: a Spark frame, or any table that `polars_ir.evaluate` takes; None where the run has a relevance
        column of its own.
    measures
        Names in any dialect, expressions, or both. They are sent as expressions, so that a measure registered here
        need not be on the executors.
    partitions
        Into how many parts the queries go. Each must fit the memory of a task. None leaves it to Spark.
    broadcast
        True: the ids of the judged queries are sent to all executors first, so that of the run only the rows of those
        queries travel. False: they are not. None: they are where Spark takes them for small enough
        (`spark.sql.autoBroadcastJoinThreshold`), which it can not say over Spark Connect.

    Returns
    -------
    A Spark frame, of which nothing has run
        `run` (if the run has several), the query column under its name in the run, and a column per measure (double;
        counts are bigint), in no order.

    Raises
    ------
    IRError
        For tables, measures, options or settings of the session that can not be used, before any job. What is wrong
        with rows fails the job with our message inside Spark's `PythonException`.

    Examples
    --------
    >>> from polars_ir import spark
    >>> run.transform(spark.evaluate, qrels, ["nDCG@10", "RR"]).show()  # doctest: +SKIP
    """
    check_spark("run", run)
    if options["ties"] == "input":
        raise OptionError(
            "needs rows in an order, which those of a Spark frame have not. Use another.", about=option("ties", "input")
        )
    if partitions is not None:
        check("partitions", partitions, whole(1))
    if broadcast not in (None, True, False):
        raise OptionError.value("broadcast", broadcast, (None, True, False))
    if qrels is not None:
        qrels = by_bytes(to_spark("qrels", qrels, column="relevance", like=run))
    measured = resolve(measures)
    run = by_bytes(run)
    pair = Pair(run, qrels, _names(run, qrels))
    schema = arrow_schema(_empty_result(run, qrels, pair.names, measured, options))
    sent = tuple(map(_serialized, measured))
    read = {name for measure in measured for name in measure.expression.meta.root_names()}
    rows = rows_of(pair, read, bounds=options["bounds"], broadcast=broadcast)
    rows = rows.repartition(QUERY) if partitions is None else rows.repartition(partitions, QUERY)
    return in_tasks(rows, Evaluation(sent, options, pair.names, schema))


def _serialized(measure: Measured) -> bytes:
    """A measure, ready to be sent to executors."""
    try:
        return bytes(measure.expression.meta.serialize())
    except pl.exceptions.ComputeError:
        raise MeasureError(
            f"measure {measure.name!r} holds a Python function, which can not be sent to executors; write it in Polars "
            "expressions."
        ) from None


def _empty_result(
    run: DataFrame,
    qrels: DataFrame | None,
    names: Names,
    measures: Sequence[Measured],
    options: Evaluating,
) -> pl.DataFrame:
    """What the local evaluation of no rows gives; what is wrong with the call is wrong with it, too."""
    no_rows, no_judgments = empty("run", run).lazy(), None if qrels is None else empty("qrels", qrels)
    if no_judgments is not None and names.qrels.keys() == set(OF_QRELS):
        # An empty table in memory may have ids of any type, a plan may not.
        same_types(run_table(no_rows), qrels_table(no_judgments.lazy()))
    result = evaluate_locally(no_rows, no_judgments, [measure.expression for measure in measures], **options)
    return pl.DataFrame(schema=result.collect_schema())


def _names(run: DataFrame, qrels: DataFrame | None) -> Names:
    """The columns of both tables, by their roles."""
    if qrels is not None:
        columns = {role: find("qrels", role, qrels.columns) for role in OF_QRELS}
        columns["relevance"] = columns["relevance"] or find("qrels", "score", qrels.columns)
        return Names(run_table(empty("run", run)).names, {role: name for role, name in columns.items() if name})
    if find("run", "doc_id", run.columns) is None:
        # Locally equal scores would keep the order of the rows, and here these have none.
        raise ColumnError.missing("run", "doc_id", ROLES["doc_id"], run.columns)
    return Names(labelled_table(empty("run", run)).names, {})
