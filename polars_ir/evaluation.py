"""`evaluate`: judge once, group once, one column per measure.

Conventions
    * A judged query that the run missed scores 0 and counts (`missing="zero"`, as `trec_eval -c`); `"skip"` leaves it
      out, trec_eval's default.
    * A query without a relevant document scores 0 (`undefined=0.0`); None makes it null, which every mean skips.
    * The rows of the result are sorted by system and query. Its figures are the same to the last bit whatever the
      order of the input, the engine or the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, overload

import polars as pl
import polars.selectors as cs

from polars_ir.conversion import give_back
from polars_ir.errors import ColumnError, MeasureError, OptionError, explain_options, warn
from polars_ir.judging import DOCUMENT, Pair, collect_checked, pair_up, relate
from polars_ir.naming import parse
from polars_ir.schema import MADE, Table

Measures = str | pl.Expr | Iterable[str | pl.Expr]
Missing = Literal["zero", "skip"]

#: What the judged relation can always give a measure.
RELATION = ("run", *DOCUMENT, "relevance", *MADE)

#: A column that tells whether a query has a retrieved judged document; it is made and dropped on the way.
HITS = "polars_ir: hits"


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
        What a measure of this package is where no document is relevant; None for null, which every mean skips. It
        takes the place of any null in a Float64 column, so also of those that an aggregation of your own leaves.
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
    for name, dtype in result.collect_schema().items():
        if dtype == pl.List:
            raise MeasureError.no_aggregation(name)
    if undefined is not None:
        result = result.with_columns((cs.by_name(*expressions) & cs.float()).fill_null(undefined))
    result = result.sort(keys).rename({"query_id": pair.run.names["query_id"]})
    if not pair.run.eager:
        # Whoever collects a plan reads only the columns that are left: what guards its data must be among the reasons.
        return result.filter(pl.col(HITS).is_not_null()).drop(HITS)
    collected = collect_checked(pair, result)
    _warn_if_nothing_is_shared(pair, collected)
    return give_back(collected.drop(HITS), run)


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
    of_qrels = pair.qrels.columns if pair.qrels else []
    there = [*RELATION, *of_qrels, *pair.extra_columns]
    names = {table.names[role]: role for table in (pair.run, pair.qrels) if table for role in table.names}
    for measure, expression in expressions.items():
        if measure in ("run", "query_id", pair.run.names["query_id"]):
            raise ColumnError.clash(measure)
        for column in expression.meta.root_names():
            if column not in there and column in names:
                raise ColumnError.under_another_name(measure, column, names[column])
            if column not in there:
                raise ColumnError.unknown(measure, column, list(dict.fromkeys(there)))
            if column not in RELATION and column in of_qrels and column in pair.run.columns:
                raise ColumnError.on_both_sides(measure, column)
    return {column for expression in expressions.values() for column in expression.meta.root_names()}


def _warn_if_nothing_is_shared(pair: Pair, result: pl.DataFrame) -> None:
    """Warn of ids that probably differ in form: every figure would be 0, and look like a bad run."""
    if pair.qrels is None or result[HITS].any():
        return
    if pair.qrels.rows and pair.qrels.select("doc_id").drop_nulls().collect().is_empty():
        return  # the qrels say on purpose that nothing is relevant
    queries = pair.run.select("query_id").join(pair.qrels.select("query_id"), on="query_id", how="semi")
    shared = queries.head(1).collect().height > 0
    problem = "no retrieved document is judged for its query" if shared else "the run and the qrels share no query"
    role = "doc_id" if shared else "query_id"
    of_run, of_qrels = (_examples(table, role) for table in (pair.run, pair.qrels))
    warn(f"{problem}; ids of the run are {of_run}, of the qrels {of_qrels}.")


def _examples(table: Table, role: str) -> str:
    return (
        ", ".join(map(repr, table.select(role).drop_nulls().unique(maintain_order=True).head(3).collect()[role]))
        or "none at all"
    )
