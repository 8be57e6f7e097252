"""`evaluate`: judge once, group once, one column per measure; and the means over queries.

Conventions
    * A judged query that the run missed scores 0 and counts (`missing="zero"`, as `trec_eval -c`); `"skip"` leaves it
      out, trec_eval's default.
    * A query without a relevant document scores 0 (`undefined=0.0`); None makes it null, which every mean skips.
    * The rows of the result are sorted by system and query. Its figures are the same to the last bit whatever the
      order of the input, the engine or the number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import Any, Literal, overload

import polars as pl
import polars.selectors as cs

from polars_ir.conversion import give_back
from polars_ir.errors import ColumnError, IRWarning, MeasureError, OptionError, explain_options
from polars_ir.judging import Pair, collect_checked, pair_up, relate
from polars_ir.naming import parse
from polars_ir.schema import Table, per_query_table
from polars_ir.vocabulary import ratio, total

Measures = str | pl.Expr | Iterable[str | pl.Expr]
Missing = Literal["zero", "skip"]

#: What the judged relation can always give a measure.
RELATION = ("run", "query_id", "doc_id", "relevance", "rank", "ideal_rank", "n_retrieved", "n_tied")

#: A column that tells whether a query has a retrieved judged document; it is made and dropped on the way.
HITS = "polars_ir: hits"

#: A key that all queries share, so that a mean over all of them is added up as one over a system's is.
ALL = "polars_ir: all"


@overload
def evaluate(
    run: pl.LazyFrame,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = ...,
    undefined: float | None = ...,
    judged_only: bool = ...,
) -> pl.LazyFrame: ...
@overload
def evaluate(
    run: pl.DataFrame,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = ...,
    undefined: float | None = ...,
    judged_only: bool = ...,
) -> pl.DataFrame: ...
@overload
def evaluate(
    run: Any,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = ...,
    undefined: float | None = ...,
    judged_only: bool = ...,
) -> Any: ...
@explain_options
def evaluate(
    run: Any,
    qrels: Any,
    measures: Measures,
    *,
    missing: Missing = "zero",
    undefined: float | None = 0.0,
    judged_only: bool = False,
) -> Any:
    """Measure a run against its judgments: one row per judged query, one column per measure.

    Parameters
    ----------
    run
        Polars DataFrame or LazyFrame, pandas, Arrow, nested dicts `{query: {doc: score}}` or `{query: [doc, ...]}`,
        or a dict of systems `{name: run}`. With a `run` column every system is evaluated in the same pass.
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own.
    measures
        Names in any dialect, expressions of this package, or any aggregation of the columns of `judge`; one or many.
        An aggregation that reads a column of the run sees the unjudged documents too, with null `relevance`.
    missing
        `"zero"`: a judged query that the run did not answer counts, with an empty ranking. `"skip"`: it is left out.
    undefined
        The value where no document is relevant; None for null.
    judged_only
        Take the unjudged documents out of the ranking first: condensed lists.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, nothing collected; pandas for pandas)
        `run` (String, if the run has several), the query column under its name in the run, and a column per measure
        (Float64; counts are Int64), sorted by system and query.

    Raises
    ------
    IRError
        For tables, measures or options that can not be used; the message says which and what to do. What only the data
        of a LazyFrame can tell raises a Polars error with our message when it is collected.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d7": 0.2}}
    >>> qrels = {"q1": {"d2": 1}, "q2": {"d7": 2}, "q3": {"d1": 1}}
    >>> ir.evaluate(run, qrels, ["nDCG@10", "RR", (1 / ir.rank).max().alias("mine")]).rows()
    [('q1', 0.6309297535714574, 0.5, 0.5), ('q2', 1.0, 1.0, 1.0), ('q3', 0.0, 0.0, 0.0)]
    """
    if missing not in ("zero", "skip"):
        raise OptionError.value("missing", missing, ["zero", "skip"])
    if judged_only not in (True, False):
        raise OptionError.value("judged_only", judged_only, [True, False])
    if undefined is not None and not isinstance(undefined, (int, float)):
        raise OptionError(f"undefined must be a number, or None for null; got {undefined!r}.")
    expressions = resolve(measures)
    pair = pair_up(run, qrels)
    columns = _columns_read(pair, expressions)
    relation = relate(
        pair,
        unjudged=not columns.isdisjoint(pair.extra_columns),
        judged_only=judged_only,
        counted="n_retrieved" in columns,
    )
    keys = pair.run.keys
    result = relation.group_by(keys).agg(
        *expressions.values(), (pl.col("rank").is_not_null() & pl.col("relevance").is_not_null()).any().alias(HITS)
    )
    if missing == "skip":
        # Whether a query was answered is asked of the run itself: a condensed list can be empty.
        result = result.join(pair.run.select(*keys).unique(), on=keys, how="semi")
    if undefined is not None:
        result = result.with_columns((cs.by_name(*expressions) & cs.float()).fill_null(undefined))
    result = result.sort(keys).rename({"query_id": pair.run.names["query_id"]})
    if not pair.run.eager:
        # Whoever collects a plan reads only the columns that are left: what guards its data must be among the reasons.
        return result.filter(pl.col(HITS).is_not_null()).drop(HITS)
    collected = collect_checked(pair, result)
    _warn_if_nothing_is_shared(pair, collected)
    return give_back(collected.drop(HITS), run)


@overload
def mean(per_query: pl.LazyFrame) -> pl.LazyFrame: ...
@overload
def mean(per_query: pl.DataFrame) -> pl.DataFrame: ...
@overload
def mean(per_query: Any) -> Any: ...
@explain_options
def mean(per_query: Any) -> Any:
    """The mean of every measure over the queries: one row per system.

    Null values, of queries for which a measure is undefined, are left out of its mean. Counts are averaged like
    everything else; trec_eval prints their sums.

    Parameters
    ----------
    per_query
        What `evaluate` returned: a query column, `run` where there are several, and measures in numeric columns.

    Returns
    -------
    The kind of the input
        `run` (if there is one) and a Float64 column per measure.

    Raises
    ------
    IRError
        For a frame without a query column or without a measure.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> ir.mean(ir.evaluate(run, qrels, ["RR", "P@1"])).rows()
    [(0.75, 0.5)]
    """
    table, measures = _measures_of(per_query)
    system, queries = _by_system(table)
    means = queries.agg(_mean(measure).alias(measure) for measure in measures)
    return give_back(means.select(*system, *measures), per_query)


@overload
def summarize(per_query: pl.LazyFrame, *, confidence: float = ...) -> pl.LazyFrame: ...
@overload
def summarize(per_query: pl.DataFrame, *, confidence: float = ...) -> pl.DataFrame: ...
@overload
def summarize(per_query: Any, *, confidence: float = ...) -> Any: ...
@explain_options
def summarize(per_query: Any, *, confidence: float = 0.95) -> Any:
    """Mean, spread and confidence interval of every measure over the queries: one row per system and measure.

    The interval is mean -/+ z * std / sqrt(n), z being the quantile of the normal distribution: queries are taken as a
    sample of all that could be asked, and enough of them (some 30) for their mean to be normal.

    Parameters
    ----------
    per_query
        What `evaluate` returned.
    confidence
        How sure the interval is to hold the mean of all queries; between 0 and 1.

    Returns
    -------
    The kind of the input
        `run` (if there is one), `measure` (String), `mean`, `std` (of the sample), `low`, `high` (Float64) and
        `n_queries` (UInt32), which counts the queries with a value. With a single query there is no spread and no
        interval, but null.

    Raises
    ------
    IRError
        For a frame without a query column or without a measure, or a confidence outside (0, 1).

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> ir.summarize(ir.evaluate(run, qrels, "RR")).select("measure", "mean", "n_queries").rows()
    [('RR', 0.75, 2)]
    """
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise OptionError(f"confidence must be between 0 and 1, both excluded; got {confidence!r}.")
    table, measures = _measures_of(per_query)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    system, queries = _by_system(table)
    rows = [
        queries.agg(
            pl.lit(measure).alias("measure"),
            mean=_mean(measure),
            std=_std(measure),
            n_queries=pl.col(measure).count(),
            half=z * (_std(measure) / pl.col(measure).count().sqrt()),
        )
        for measure in measures
    ]
    summary = pl.concat(rows).with_columns(low=pl.col("mean") - pl.col("half"), high=pl.col("mean") + pl.col("half"))
    columns = [*system, "measure", "mean", "std", "low", "high", "n_queries"]
    return give_back(summary.select(columns), per_query)


def resolve(measures: Measures) -> dict[str, pl.Expr]:
    """Measures by the names of their columns; names are parsed, expressions taken as they are."""
    if isinstance(measures, (str, pl.Expr)):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise MeasureError.not_a_measure(measures)
    expressions: dict[str, pl.Expr] = {}
    for measure in measures:
        expression = parse(measure) if isinstance(measure, str) else measure
        if not isinstance(expression, pl.Expr):
            raise MeasureError.not_a_measure(measure)
        try:
            name = expression.meta.output_name()
        except pl.exceptions.PolarsError:
            raise MeasureError.nameless(expression) from None
        if name in expressions:
            raise MeasureError.twice(name)
        expressions[name] = expression
    if not expressions:
        raise MeasureError.none_given()
    return expressions


def _columns_read(pair: Pair, expressions: Mapping[str, pl.Expr]) -> set[str]:
    """The columns that the measures read; an error for one that is nowhere."""
    there = [*RELATION, *(pair.qrels.columns if pair.qrels else ()), *pair.extra_columns]
    for name, expression in expressions.items():
        if name in ("run", "query_id", pair.run.names["query_id"]):
            raise ColumnError.clash(name)
        for column in expression.meta.root_names():
            if column not in there:
                raise ColumnError.unknown(name, column, list(dict.fromkeys(there)))
    return {column for expression in expressions.values() for column in expression.meta.root_names()}


def _warn_if_nothing_is_shared(pair: Pair, result: pl.DataFrame) -> None:
    """Warn of ids that probably differ in form: every figure would be 0, and look like a bad run."""
    if pair.qrels is None or result[HITS].any():
        return
    queries = pair.run.select("query_id").join(pair.qrels.select("query_id"), on="query_id", how="semi")
    shared = queries.head(1).collect().height > 0
    problem = "no retrieved document is judged for its query" if shared else "the run and the qrels share no query"
    role = "doc_id" if shared else "query_id"
    if pair.qrels.rows and pair.qrels.select("doc_id").drop_nulls().collect().is_empty():
        return  # the qrels say on purpose that nothing is relevant
    of_run, of_qrels = (_examples(table, role) for table in (pair.run, pair.qrels))
    warnings.warn(f"{problem}; ids of the run are {of_run}, of the qrels {of_qrels}.", IRWarning, stacklevel=5)


def _examples(table: Table, role: str) -> str:
    return (
        ", ".join(map(repr, table.select(role).drop_nulls().unique(maintain_order=True).head(3).collect()[role]))
        or "none at all"
    )


def _measures_of(per_query: Any) -> tuple[Table, list[str]]:
    """A per-query frame, and which of its columns are measures."""
    table = per_query_table(per_query)
    measures = [name for name, dtype in table.dtypes.items() if name not in table.keys and dtype.is_numeric()]
    if not measures:
        raise ColumnError.missing("per_query", "measure", ["any numeric column"], table.columns)
    return table, measures


def _by_system(table: Table) -> tuple[list[str], pl.lazyframe.group_by.LazyGroupBy]:
    """The key of the systems, if there are several, and the queries of each, always in the same order."""
    system = [key for key in table.keys if key == "run"]
    queries = table.all_columns().sort(table.keys).with_columns(pl.lit(True).alias(ALL))
    return system, queries.group_by(*system, ALL, maintain_order=True)


def _mean(measure: str) -> pl.Expr:
    """The mean of a measure over the queries it is defined for."""
    value = pl.col(measure)
    return ratio(total(value.filter(value.is_not_null())), value.count())


def _std(measure: str) -> pl.Expr:
    """The standard deviation of the sample."""
    value = pl.col(measure)
    squares = (value - _mean(measure)) ** 2
    return ratio(total(squares.filter(value.is_not_null())), value.count().cast(pl.Int64) - 1).sqrt()
