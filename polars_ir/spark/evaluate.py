"""`evaluate` and `validate` on Spark: both tables to partitions by query, and the core on each.

Conventions: one Spark frame of both tables travels, so that one shuffle by query brings together what belongs together.
A row is a row of the run, a judgment, or what a judged query needs of other partitions; each is a struct in a column of
its own (`tasks`). Nothing here runs a job. Findings are counted in the tasks, and Spark adds up the counts; what is of
all queries together, such as a mean that ties move, no partition sees.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from polars_ir.errors import SHOWN, DtypeError, MeasureError, OptionError, option
from polars_ir.frames.roles import find, required
from polars_ir.frames.table import labelled_table, qrels_table, run_table, same_types
from polars_ir.language.kinds import PROBABILITY, STRATUM
from polars_ir.language.names import Measures, ResolvedMeasure, resolve
from polars_ir.language.options import check, count, each_once, or_none, public, some_of
from polars_ir.runs.evaluate import columns_read
from polars_ir.runs.evaluate import evaluate as evaluate_locally
from polars_ir.runs.findings import EMPTY, FINDINGS, ITSELF, RANKS, ROWS, SCORES, UNJUDGED
from polars_ir.runs.options import Evaluating
from polars_ir.runs.selection import keys_of_judgments
from polars_ir.runs.validate import validate as validate_locally
from polars_ir.spark.tables import (
    arrow_schema,
    by_bytes,
    check_broadcast,
    check_spark,
    column,
    empty,
    is_small,
    packed,
    to_spark,
)
from polars_ir.spark.tasks import (
    HIGHEST,
    JUDGMENT,
    POOLED,
    QUERY,
    RUN,
    SHARED,
    SYSTEMS,
    Names,
    evaluation,
    findings,
    in_tasks,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: The roles of qrels, of whatever kind of judgments.
OF_QRELS = ("query_id", "doc_id", "relevance")

#: Per-query findings.
COUNTED = (
    *(*ROWS, *EMPTY, "queries without judgments", "queries without a relevant document", *ITSELF),
    *(*SCORES, *UNJUDGED, *RANKS),
)

#: Temporary columns.
JUDGED, DOCUMENT = "polars_ir_judged", "polars_ir_document"


@public(Evaluating)
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
        The number of parts of the queries. Each must fit the memory of a task. None leaves it to Spark.
    broadcast
        True: the ids of the judged queries are sent to all executors first, so that of the run only the rows of those
        queries travel. False: they are not. None: they are where Spark takes them for small enough
        (`spark.sql.autoBroadcastJoinThreshold`), which it cannot say over Spark Connect.

    Returns
    -------
    A Spark frame, of which nothing has run
        The keys of `by`, the columns of systems (if the run has several) and of queries under their names in the run,
        and a column per measure (double; counts are bigint), in no order.

    Raises
    ------
    IRError
        For tables, measures, options or settings of the session that cannot be used, before any job. What is wrong
        with rows fails the job with our message inside Spark's `PythonException`.

    Examples
    --------
    >>> from polars_ir import spark
    >>> run.transform(spark.evaluate, qrels, ["nDCG@10", "RR"]).show()  # doctest: +SKIP
    """
    check_spark("run", run)
    if options["ties"] == "input":
        says = "needs an order of rows, which a Spark frame does not have. Use another."
        raise OptionError(says, about=option("ties", "input"))
    if options["provenance"]:
        raise OptionError("needs all judgments, and no Spark task has them all.", about=option("provenance", True))
    for name in ("history", "items"):
        if options[name] is not None:
            counts = "history.groupBy('item_id').agg(F.count_distinct('user_id').alias('users'))"
            says = "needs all users, and no Spark task has them all. Join what you need of it to the run, as in "
            raise OptionError(f"{says}run.join({counts}, 'item_id', 'left'), and aggregate that.", about=name)
    if partitions is not None:
        check("partitions", partitions, count())
    if broadcast not in (None, True, False):
        raise OptionError.value("broadcast", broadcast, (None, True, False))
    if qrels is not None:
        qrels = by_bytes(to_spark("qrels", qrels, column="relevance", like=run))
    measured = resolve(measures)
    run, qrels = _without_excluded(_by_judge(by_bytes(run), qrels, each_once(options["by"])), qrels, options["exclude"])
    options["exclude"] = None
    pair = RunAndQrels(run, qrels, _names(run, qrels, each_once(options["by"])))
    schema = arrow_schema(_empty_result(run, qrels, pair.names, measured, options))
    sent = tuple(map(_serialized, measured))
    # A run with grades of its own has the sample that they are, too.
    read = columns_read(measured) | ({PROBABILITY, STRATUM} if qrels is None else set())
    rows = rows_of(pair, read, bounds=options["bounds"], broadcast=broadcast)
    rows = rows.repartition(QUERY) if partitions is None else rows.repartition(partitions, QUERY)
    return in_tasks(rows, partial(evaluation, measures=sent, options=options, names=pair.names), schema)


def _by_judge(run: DataFrame, qrels: DataFrame | None, by: Sequence[str]) -> DataFrame:
    """The run repeated for each value of those keys that only the judgments have."""
    if qrels is None or not by:
        return run
    from pyspark.sql import functions as F  # noqa: N812

    keys = keys_of_judgments(by, run.columns, empty("qrels", qrels).schema)
    return run.crossJoin(F.broadcast(qrels.select(*map(column, keys)).distinct().dropna())) if keys else run


def _serialized(measure: ResolvedMeasure) -> bytes:
    """A measure, ready to be sent to executors."""
    try:
        return bytes(measure.expression.meta.serialize())
    except pl.exceptions.ComputeError:
        raise MeasureError(
            f"measure {measure.name!r} holds a Python function, which cannot be sent to executors; write it in Polars "
            "expressions."
        ) from None


def _empty_result(
    run: DataFrame, qrels: DataFrame | None, names: Names, measures: Sequence[ResolvedMeasure], options: Evaluating
) -> pl.DataFrame:
    """The local evaluation of no rows, which raises the errors of the call."""
    no_rows, no_judgments = empty("run", run).lazy(), None if qrels is None else empty("qrels", qrels)
    if no_judgments is not None and names.qrels.keys() == set(OF_QRELS):
        # An empty table in memory may have ids of any type, a plan may not.
        by = each_once(options["by"])
        same_types(run_table(no_rows, by=by), qrels_table(no_judgments.lazy(), by=by))
    result = evaluate_locally(no_rows, no_judgments, [measure.expression for measure in measures], **options)
    return pl.DataFrame(schema=result.collect_schema())


def _names(run: DataFrame, qrels: DataFrame | None, by: Sequence[str]) -> Names:
    """Columns of both tables by role, and the keys of rankings."""
    if qrels is not None:
        columns = {role: find("qrels", role, qrels.columns) for role in OF_QRELS}
        columns["relevance"] = columns["relevance"] or find("qrels", "score", qrels.columns)
        table, judged_by = run_table(empty("run", run), by=by), tuple(filter(qrels.columns.__contains__, by))
        known = {role: name for role, name in columns.items() if name}
        return Names(table.names, known, tuple(map(table.names.__getitem__, table.keys[:-1])), judged_by)
    # Locally equal scores would keep the order of the rows, and here these have none.
    required("run", "doc_id", run.columns)
    return Names(labelled_table(empty("run", run), by=by).names, {}, judged_by=tuple(by))


@dataclass(frozen=True)
class RunAndQrels:
    """A run with its judgments; `qrels` is None where the run holds its grades itself."""

    run: DataFrame
    qrels: DataFrame | None
    names: Names

    def of_judgments(self, role: str, *keys: str) -> DataFrame:
        """Ids or grades of judged rows, with duplicates, and their keys."""
        frame, names = (self.run, self.names.run) if self.qrels is None else (self.qrels, self.names.qrels)
        judged = frame if self.qrels is not None else frame.filter(column(names["relevance"]).isNotNull())
        return judged.select(*map(column, keys), column(names[role]).alias(role))


def rows_of(pair: RunAndQrels, read: Collection[str], *, bounds: bool, broadcast: bool | None) -> DataFrame:
    """All shuffled rows, with the query as the shuffle key; `read` are the columns that measures name."""
    run = _run(pair, read)
    if pair.qrels is None:
        frames = [run]
    else:
        judgments = _by_query(pair.qrels, pair.names.qrels["query_id"], JUDGMENT, pair.qrels.columns)
        frames = [_of_judged_queries(run, pair, broadcast), judgments]
    shared = _shared(pair, bounds=bounds)
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), [*frames, *shared])


def _by_query(frame: DataFrame, query: str, struct: str, columns: Collection[str]) -> DataFrame:
    """Rows as structs of some of their columns."""
    return frame.select(column(query).alias(QUERY), packed(columns, struct))


def _run(pair: RunAndQrels, read: Collection[str]) -> DataFrame:
    """The rows of the run with the columns that are read; with a pool also whether the document is in it."""
    from pyspark.sql import functions as F  # noqa: N812

    names = pair.names.run
    columns = [name for name in pair.run.columns if name in names.values() or name in read]
    if "judged_elsewhere" not in read:
        return _by_query(pair.run, names["query_id"], RUN, columns)
    keys = list(map(column, pair.names.judged_by))
    pool = pair.of_judgments("doc_id", *pair.names.judged_by).distinct()
    pool = pool.select(F.struct(*keys, column("doc_id").alias(DOCUMENT)).alias(DOCUMENT), F.lit(True).alias(POOLED))
    document = F.struct(*keys, column(names["doc_id"]).alias(DOCUMENT))
    rows = pair.run.withColumn(DOCUMENT, document).join(pool, DOCUMENT, "left")
    return rows.select(column(names["query_id"]).alias(QUERY), packed(columns, RUN), POOLED)


def _of_judged_queries(run: DataFrame, pair: RunAndQrels, broadcast: bool | None) -> DataFrame:  # noqa: FBT001  # an option of ours
    """The run without unjudged queries, if the judged ones can be broadcast."""
    from pyspark.sql import functions as F  # noqa: N812

    judged = pair.of_judgments("query_id").distinct().select(column("query_id").alias(QUERY), F.lit(True).alias(JUDGED))
    if broadcast:
        check_broadcast(judged)
    elif broadcast is not None or not is_small(judged):
        return run
    # Rows that cannot be evaluated are kept, since they fail the evaluation whatever their query.
    marked = run.join(F.broadcast(judged), QUERY, "left")
    return marked.filter(column(JUDGED).isNotNull() | _is_wrong(pair)).drop(JUDGED)


def _is_wrong(pair: RunAndQrels) -> Column:
    """An expression that is true for a row of the run with a null id, or a score that is NaN or null."""
    from pyspark.sql import functions as F  # noqa: N812

    value = {role: column(RUN).getField(name) for role, name in pair.names.run.items()}
    is_nan = F.isnan(value["score"].cast("double"))
    return reduce(lambda left, right: left | right, (of_role.isNull() for of_role in value.values()), is_nan)


def _shared(pair: RunAndQrels, *, bounds: bool) -> list[DataFrame]:
    """Facts joined to every judged query: systems, highest grade; none if not needed."""
    from pyspark.sql import functions as F  # noqa: N812

    facts, names = {}, pair.names
    if pair.qrels is not None and names.systems:
        facts[SYSTEMS] = pair.run.agg(F.collect_set(F.struct(*map(column, names.systems))).alias(SYSTEMS))
    if bounds:
        # Spark takes NaN for more than infinity. Such grades fail the evaluation, and are not to appear twice.
        grade = F.col("relevance").cast("double")
        finite = F.when(grade < float("inf"), grade)
        keys = list(map(column, names.judged_by))
        highest = pair.of_judgments("relevance", *names.judged_by).groupBy(*keys).agg(F.max(finite).alias(HIGHEST))
        facts[HIGHEST] = highest.agg(F.collect_list(F.struct(*keys, HIGHEST)).alias(HIGHEST))
    if not facts:
        return []
    queries = pair.of_judgments("query_id").distinct()
    rows = reduce(lambda left, right: left.crossJoin(F.broadcast(right)), facts.values(), queries)
    return [_by_query(rows, "query_id", SHARED, list(facts))]


def _without_excluded(run: DataFrame, qrels: DataFrame | None, exclude: Any) -> tuple[DataFrame, DataFrame | None]:
    """The run and its judgments without some documents; runs no job."""
    if exclude is None:
        return run, qrels
    excluded = None
    if not isinstance(exclude, str):
        table = by_bytes(to_spark("exclude", exclude, column="score", like=run))
        ids = [required("exclude", role, table.columns) for role in ("query_id", "doc_id")]
        excluded = table.select(*map(column, ids)).distinct()
    return _without("run", run, excluded), None if qrels is None else _without("qrels", qrels, excluded)


def _without(name: str, frame: DataFrame, excluded: DataFrame | None) -> DataFrame:
    """The rows of a table without excluded documents, which of None are the queries themselves."""
    query, document = (find(name, role, frame.columns) for role in ("query_id", "doc_id"))
    documents = [column for column in ("preferred", "other", document) if column in frame.columns]
    if query is None:
        return frame
    for each in filter(None, documents):
        if excluded is None:
            if _is_text(frame, query) != _is_text(frame, each):
                says = f"compares columns of the {name} of two types, {query!r} and {each!r}. Cast one of them."
                raise OptionError(says, about=option("exclude", "self"))
            frame = frame.filter(~column(query).eqNullSafe(column(each)) | column(query).isNull())
            continue
        for ours, theirs in zip((query, each), excluded.columns, strict=True):
            if _is_text(frame, ours) != _is_text(excluded, theirs):
                says = f"has a column {theirs!r} of another type than {ours!r} of the {name}. Cast one of them."
                raise DtypeError(says, about="exclude")
        renamed = excluded.toDF("polars_ir_query", "polars_ir_document")
        same = [column(ours) == column(theirs) for ours, theirs in zip((query, each), renamed.columns, strict=True)]
        frame = frame.join(renamed, reduce(lambda left, right: left & right, same), "left_anti")
    return frame


def _is_text(frame: DataFrame, name: str) -> bool:
    return frame.schema[name].dataType.typeName() in ("string", "varchar", "char")


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
