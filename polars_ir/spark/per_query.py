"""Functions of a per-query frame on Spark.

Conventions: for `mean` and `summarize`, which are the same to the last bit only if queries are added up in one order,
all queries of a system are rows of one partition. For `compare`, `gate`, `worst_slices` and `drift` rows travel once,
by their query; a partition is then as a plan is there, and sends a row of sums for each slice, of which the driver
makes the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack

import polars as pl

from polars_ir.errors import Code, ColumnError, Fix, InputTypeError, check_systems, option
from polars_ir.frames.roles import PROVENANCE, find, required
from polars_ir.language.options import each_once, public
from polars_ir.per_query.compare import compared_systems
from polars_ir.per_query.drift import course_of
from polars_ir.per_query.gate import check_one_of, judged_change
from polars_ir.per_query.means import mean as mean_locally
from polars_ir.per_query.means import summarize as summarize_locally
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Comparing, Estimating, Gating, Grouping, Slicing
from polars_ir.per_query.shared.queries import Queries
from polars_ir.per_query.shared.sums import Executor, Query, WideSchema
from polars_ir.per_query.worst_slices import ranked_slices
from polars_ir.spark.tables import arrow_schema, check_spark, column, columns_of, empty, in_session, packed, plain
from polars_ir.spark.tasks import QUERY, RUN, in_tasks, summary, sums

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Names of columns, or one.
Columns = str | list[str] | tuple[str, ...] | None


@public()
def mean(
    per_query: DataFrame,
    *,
    by: Columns = None,
    weights: str | None = None,
    average: Literal["macro", "micro"] = "macro",
    reference: Any = None,
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
    reference
        Not of Spark frames: an error that names the local call.

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
    _check_no_reference("mean", reference)
    return _summed(mean_locally, per_query, {"by": by, "weights": weights, "average": average})


@public(Estimating)
def summarize(
    per_query: DataFrame, *, by: Columns = None, weights: str | None = None, **options: Unpack[Estimating]
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

    Examples
    --------
    >>> from polars_ir import spark
    >>> per_query.transform(spark.summarize, interval="t").show()  # doctest: +SKIP
    """
    _check_no_reference("summarize", options.pop("reference"))
    return _summed(summarize_locally, per_query, {"by": by, "weights": weights, **options})


def _check_no_reference(function: str, reference: Any) -> None:
    """Raise an `InputTypeError` for people's figures beside a Spark frame."""
    if reference is not None:
        call = f"polars_ir.{function}(per_query.toArrow(), reference=people.toArrow())"
        fix = Fix("Take both to this machine, a row per query", Code(call, spark=call))
        says = "does not go with a Spark frame."
        raise InputTypeError(says, about=option("reference"), fix=fix)


def _summed(function: Callable[..., Any], per_query: DataFrame, options: dict[str, Any]) -> DataFrame:
    """A summary by the core, with all queries of a system in one partition."""
    check_spark("per_query", per_query)
    for name in ("by", "weights"):
        columns_of(name, options[name], per_query)
    schema = arrow_schema(function(empty("per_query", per_query), **options))
    system = find("per_query", "run", per_query.columns)
    rows = per_query.repartition(1) if system is None else per_query.repartition(column(system))
    rows = rows.select(packed(rows.columns, RUN))
    return in_tasks(rows, partial(summary, function=function, options=options), schema)


@public(Comparing)
def compare(
    per_query: DataFrame, measures: Measures = None, *, baseline: str | None = None, **options: Unpack[Comparing]
) -> DataFrame:
    """Differences of systems with tests of them on Spark: one row per pair and measure.

    The tests and intervals that `polars_ir.compare` has for a LazyFrame, from moments and counts; what needs the values
    of queries is an error that says what does not. Rows travel once, by their query, and are kept on the executors'
    disks where a second look is needed (`test="auto"`, `interval="auto"`, a margin).

    Parameters
    ----------
    per_query
        The result of `polars_ir.spark.evaluate`, a Spark frame.
    baseline
        As in `polars_ir.compare`; `by` names columns of `per_query`.

    Returns
    -------
    A Spark frame of the result, whose jobs have run
        That of `polars_ir.compare` of the same rows as a LazyFrame, to within 1e-12; counts are bigint.

    Raises
    ------
    IRError
        As `polars_ir.compare` of a LazyFrame; what is wrong with rows fails the job with our message inside Spark's
        `PythonException`.

    Examples
    --------
    >>> from polars_ir import spark
    >>> per_query.transform(spark.compare, baseline="bm25").show()  # doctest: +SKIP
    """
    check_spark("per_query", per_query)
    _check_no_reference("compare", options["reference"])
    options["by"] = columns_of("by", options["by"], per_query)
    plan = empty("per_query", per_query).lazy()
    return _by_sums(per_query, partial(compared_systems, plan, measures, options, baseline, None))


@public(Gating)
def gate(
    new: DataFrame,
    old: DataFrame | None = None,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    **options: Unpack[Gating],
) -> DataFrame:
    """The verdict that a new system is no worse than an old one on Spark: one row per measure.

    As `polars_ir.gate` of two LazyFrames, from moments and counts. Rows travel once, by their query, and are kept on
    the executors' disks, as the median of differences takes several looks.

    Parameters
    ----------
    new, old
        Results of `polars_ir.spark.evaluate` of one system each, Spark frames of one session.
    baseline
        The system of `new` that is the old one, in place of `old`; there is one other.

    Returns
    -------
    A Spark frame of the result, whose jobs have run
        That of `polars_ir.gate` of the same rows as LazyFrames, to within 1e-12; counts are bigint.

    Examples
    --------
    >>> from polars_ir import spark
    >>> spark.gate(new, old, ["nDCG@10", "RR"], max_drop=0.01).show()  # doctest: +SKIP
    """
    options["by"] = each_once(options["by"]) or None
    check_one_of(old, baseline)
    sides: dict[str, Any] = {"new": new, "old": old} if baseline is None else _of_baseline(new, baseline)
    for role, frame in sides.items():
        check_spark(role, frame)
        _check_one_system(role, frame)
    plans = empty("new", sides["new"]).lazy(), empty("old", sides["old"]).lazy()
    return _by_sums(_together(sides), partial(judged_change, *plans, measures, options))


@public(Slicing)
def worst_slices(
    per_query: DataFrame, by: str | list[str], measures: Measures = None, **options: Unpack[Slicing]
) -> DataFrame:
    """Slices of the queries against all other queries on Spark: one row per value, system and measure.

    As `polars_ir.worst_slices` without a baseline, from the moments of slices. Rows travel once, by their query, so
    that one that is there twice is found.

    Parameters
    ----------
    per_query
        The result of `polars_ir.spark.evaluate`, a Spark frame.
    by
        The columns of it that queries are sliced by.

    Returns
    -------
    A Spark frame of the result, whose jobs have run
        That of `polars_ir.worst_slices`, to within 1e-12; counts are bigint.

    Examples
    --------
    >>> from polars_ir import spark
    >>> spark.worst_slices(per_query, "language").show()  # doctest: +SKIP
    """
    check_spark("per_query", per_query)
    plan = empty("per_query", per_query).lazy()
    return _by_sums(per_query, partial(ranked_slices, plan, columns_of("by", by, per_query), measures, None, options))


@public(Grouping)
def drift(
    per_query: DataFrame,
    by: str,
    measures: Measures = None,
    *,
    every: str | None = None,
    reference: Any = None,
    **options: Unpack[Grouping],
) -> DataFrame:
    """The course of every measure over time on Spark: a row per bucket.

    As `polars_ir.drift` of a LazyFrame, from the moments of buckets. Rows travel once, by their query, so that one that
    comes again is found: to compare it with its own values needs these.

    Parameters
    ----------
    per_query
        The result of `polars_ir.spark.evaluate`, a Spark frame.
    by
        The column of it that says when a query was asked.
    every, reference
        As in `polars_ir.drift`.

    Returns
    -------
    A Spark frame of the result, whose jobs have run
        That of `polars_ir.drift`, to within 1e-12; counts are bigint.

    Examples
    --------
    >>> from polars_ir import spark
    >>> spark.drift(per_query, "day", every="1w").show()  # doctest: +SKIP
    """
    check_spark("per_query", per_query)
    plan, name = empty("per_query", per_query).lazy(), columns_of("by", by, per_query)
    return _by_sums(per_query, partial(course_of, plan, name, measures, options, every=every, reference=reference))


def _of_baseline(per_query: DataFrame, baseline: str) -> dict[str, DataFrame]:
    """The rows of a baseline and of the one other system."""
    check_spark("new", per_query)
    run = find("new", "run", per_query.columns)
    if run is None:
        raise ColumnError.one_system(f"spark.gate with {option('baseline')}", per_query.columns)
    name = column(run).cast("string")
    systems = sorted(row[0] for row in per_query.select(name).distinct().collect())
    check_systems("baseline", [baseline], systems)
    if len(systems) != 2:
        others = ", ".join(repr(system) for system in systems if system != baseline) or "none"
        says = f"must have one system beside {baseline!r}; it has {others}."
        raise ColumnError(says, about="new", fix="Keep the rows of both")
    return {"new": per_query.filter(name != baseline), "old": per_query.filter(name == baseline)}


def _check_one_system(role: str, frame: DataFrame) -> None:
    run = find(role, "run", frame.columns)
    if run is None:
        return
    systems = [row[0] for row in frame.select(column(run)).distinct().limit(2).collect()]
    if len(systems) > 1:
        fix = Fix("Keep one", Code.only(role, run, systems[0]))
        says = f"must be of one system; it has {', '.join(map(repr, systems))}, and perhaps more."
        raise ColumnError(says, about=role, fix=fix)


def _together(sides: dict[str, DataFrame]) -> DataFrame:
    """Rows of both sides with their shared columns, and the side as the system."""
    from pyspark.sql import functions as F  # noqa: N812

    parts = []
    for role, frame in sides.items():
        query, run = required(role, "query_id", frame.columns), find(role, "run", frame.columns)
        others = [name for name in frame.columns if name not in (query, run)]
        columns = (column(name) for name in others)
        parts.append(frame.select(column(query).alias("query_id"), F.lit(role).alias("run"), *columns))
    return parts[0].unionByName(parts[1], allowMissingColumns=True)


def _by_sums(per_query: DataFrame, function: Callable[..., pl.DataFrame]) -> DataFrame:
    """The result of a function whose steps run in tasks; rows that it reads twice are cached meanwhile."""
    kept: list[DataFrame] = []

    def source(of: Queries) -> Executor:
        names = {find("per_query", role, per_query.columns) for role in ("query_id", "run")}
        read = {*filter(None, names), *of.measures, *of.slices, PROVENANCE}
        frame = per_query.select(*(column(name) for name in per_query.columns if name in read))
        row = packed(frame.columns, RUN)
        no_rows = {RUN: empty("per_query", frame)}

        def result(rows: DataFrame, query: Query, schema: WideSchema | None) -> pl.DataFrame:
            task = partial(sums, query=query, schema=schema, measures=tuple(of.measures), by=tuple(of.slices))
            expected = task(no_rows)
            found = in_tasks(rows, task, arrow_schema(expected)).toArrow()
            return pl.DataFrame(found).cast(expected.schema)

        def of_queries(schema: WideSchema, query: Query, keep: bool) -> pl.DataFrame:  # noqa: FBT001  # ours
            if not kept:
                query_id = column(required("per_query", "query_id", frame.columns)).alias(QUERY)
                rows = frame.select(query_id, row).repartition(QUERY).select(RUN)
                if not keep:
                    return result(rows, query, schema)
                kept.append(_on_disks(rows))
            return result(kept[0], query, schema)

        return Executor(lambda query: result(frame.select(row), query, None), of_queries)

    try:
        return in_session(per_query.sparkSession, plain(function(source=source)))
    finally:
        for rows in kept:
            rows.unpersist()


def _on_disks(rows: DataFrame) -> DataFrame:
    """The rows, which the executors keep on their disks, in partitions that Spark chooses as it does for others.

    It would leave kept rows in all of `spark.sql.shuffle.partitions`, of which every look then is that many tasks.
    """
    from pyspark import StorageLevel

    settings, name = rows.sparkSession.conf, "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before = settings.get(name, "false")
    settings.set(name, "true")
    try:
        return rows.persist(StorageLevel.DISK_ONLY)
    finally:
        settings.set(name, before)
