"""`mean` and `summarize` on Spark: the core, once the queries of a system are together.

Conventions: a per-query frame is small, and means are the same to the last bit only if its queries are added up in one
order. So all queries of a system are rows of one partition.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

from polars_ir.frames.roles import find
from polars_ir.language.options import takes
from polars_ir.per_query.mean import mean as mean_locally
from polars_ir.per_query.shared.options import Summarizing, confidence_is_alpha
from polars_ir.per_query.summarize import summarize as summarize_locally
from polars_ir.spark.tables import arrow_schema, check_spark, column, columns_of, empty, packed
from polars_ir.spark.tasks import RUN, in_tasks, summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Names of columns, or one.
Columns = str | list[str] | tuple[str, ...] | None


@takes()
def mean(
    per_query: DataFrame,
    *,
    by: Columns = None,
    weights: str | None = None,
    average: Literal["macro", "micro"] = "macro",
) -> DataFrame:
    """The mean of every measure over the queries on Spark: one row per system.

    Parameters
    ----------
    per_query
        The result of `polars_ir.spark.evaluate`, a Spark frame. The queries of one system must fit the memory of a
        task.
    by, weights
        As in `polars_ir.mean`, but columns of `per_query` only; join others to it.
    average
        As in `polars_ir.mean`.

    Returns
    -------
    A Spark frame, of which nothing has run
        The result of `polars_ir.mean`, to the last bit, in no order.

    Raises
    ------
    IRError
        As `polars_ir.mean`, for errors that the schema shows; others fail the job with that message.

    Examples
    --------
    >>> from polars_ir import spark
    >>> per_query.transform(spark.mean).show()  # doctest: +SKIP
    """
    return _summed(mean_locally, per_query, {"by": by, "weights": weights, "average": average})


@confidence_is_alpha
@takes(Summarizing)
def summarize(
    per_query: DataFrame, *, by: Columns = None, weights: str | None = None, **options: Unpack[Summarizing]
) -> DataFrame:
    """Mean, spread and confidence interval of every measure on Spark: one row per system and measure.

    All intervals but `"auto"` and `"normal"` need SciPy on the executors and here.

    Parameters
    ----------
    per_query, by, weights
        As in `polars_ir.spark.mean`.

    Returns
    -------
    A Spark frame, of which nothing has run
        The result of `polars_ir.summarize`, to the last bit, in no order; `n_queries` is bigint.

    Raises
    ------
    IRError
        As `polars_ir.spark.mean`.

    Examples
    --------
    >>> from polars_ir import spark
    >>> per_query.transform(spark.summarize, interval="t").show()  # doctest: +SKIP
    """
    return _summed(summarize_locally, per_query, {"by": by, "weights": weights, **options})


def _summed(function: Callable[..., Any], per_query: DataFrame, options: dict[str, Any]) -> DataFrame:
    """A summary by the core, with all queries of a system in one partition."""
    check_spark("per_query", per_query)
    for option in ("by", "weights"):
        columns_of(option, options[option], per_query)
    schema = arrow_schema(function(empty("per_query", per_query), **options))
    system = find("per_query", "run", per_query.columns)
    rows = per_query.repartition(1) if system is None else per_query.repartition(column(system))
    rows = rows.select(packed(rows.columns, RUN))
    return in_tasks(rows, partial(summary, function=function, options=options), schema)
