"""The relation that measures read: the columns that their expressions name choose it, and must be there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, DataError, MeasureError, OptionError
from polars_ir.greedy import is_greedy
from polars_ir.judging import Pair, pair_up, relate
from polars_ir.preferences import RELATION as OF_PREFERENCES
from polars_ir.preferences import preference_table, preferences_of, relate_pairs
from polars_ir.ranking import DOCUMENT, Ties, reordered
from polars_ir.registry import Kind, call_of, kind_of
from polars_ir.schema import MADE, Table

#: What the judged relation can always give a measure.
RELATION = ("run", *DOCUMENT, "relevance", *MADE)

#: A column that tells whether a query has a retrieved judged document; it is made and dropped on the way.
HITS = "polars_ir: hits"


def kind_of_all(expressions: Mapping[str, pl.Expr]) -> Kind:
    """The one kind of judgments that the measures of a call read."""
    kinds: dict[Kind, list[str]] = {}
    for name, expression in expressions.items():
        kinds.setdefault(kind_of(expression), []).append(name)
    if len(kinds) > 1:
        raise MeasureError.mixed(kinds)
    return next(iter(kinds))


def columns_read(
    pair: Pair, expressions: Mapping[str, pl.Expr], *, of_relation: Iterable[str] | None = None
) -> set[str]:
    """The columns that the measures read; an error for one that is nowhere: not even in a relation of its own."""
    of_qrels = pair.qrels.columns if pair.qrels else []
    there = [*RELATION, *of_qrels, *pair.extra_columns] if of_relation is None else [*pair.keys, *of_relation]
    names = {table.names[role]: role for table in (pair.run, pair.qrels) if table for role in table.names}
    for measure, expression in expressions.items():
        if measure in ("run", "query_id", pair.run.names["query_id"]):
            raise ColumnError.clash(measure)
        for column in expression.meta.root_names():
            if is_greedy(column):
                continue
            if column not in there and column in names:
                raise ColumnError.under_another_name(measure, column, names[column])
            if column not in there:
                raise ColumnError.unknown(measure, column, list(dict.fromkeys(there)))
            if column not in RELATION and column in of_qrels and column in pair.run.columns:
                raise ColumnError.on_both_sides(measure, column)
    return {column for expression in expressions.values() for column in expression.meta.root_names()}


def check_arguments(pair: Pair, expressions: Mapping[str, pl.Expr]) -> None:
    """Raise a `MeasureError` for a map of gains or a column of weights that the judgments do not go with."""
    judgments = pair.qrels or pair.run
    for name, expression in expressions.items():
        call = call_of(expression)
        gains, weights = (call.arguments.get(argument) if call else None for argument in ("gains", "weights"))
        if isinstance(gains, Mapping) and judgments.eager:
            graded = judgments.select("relevance").filter(pl.col("relevance") > 0)
            grades = graded.select(pl.col("relevance").unique().sort()).collect(engine="in-memory").to_series()
            if lacking := [grade for grade in grades if grade not in gains]:
                raise MeasureError.unmapped(name, lacking, gains)
        if isinstance(weights, str):
            check_weights(name, weights, judgments)


def check_weights(name: str, weights: str, judgments: Table) -> None:
    """Raise an error unless a column holds the weights of subtopics: numbers of 0 or more, one for each subtopic."""
    others = {column: dtype for column, dtype in judgments.dtypes.items() if column not in judgments.names}
    if weights not in others or not others[weights].is_numeric():
        raise MeasureError.no_weights(name, weights, others)
    if not judgments.eager:
        return
    subtopic = ["query_id", "subtopic"]
    rows = judgments.select(*subtopic, weights).drop_nulls("subtopic").collect(engine="in-memory")
    weight = pl.col(weights)
    sound = (weight.is_not_null() & weight.is_finite() & (weight >= 0)).fill_null(False)
    several = weight.n_unique().over(subtopic) > 1
    for problem, wrong in {
        f"whose {weights!r} is no number of 0 or more": ~sound,
        f"of subtopics with several {weights!r}": several,
    }.items():
        found = rows.filter(wrong).unique(maintain_order=True)
        if found.height:
            raise DataError.rows("qrels", problem, "Give each subtopic of a query one weight.", found.height, found)


def related(
    run: Any,
    qrels: Any,
    expressions: Mapping[str, pl.Expr],
    kind: Kind,
    ties: Ties,
    judges: str | None,
    *,
    unjudged: bool,
    judged_only: bool,
) -> tuple[Pair, pl.LazyFrame]:
    """The run with its judgments, and the relation that measures of a kind read."""
    if kind == "preferences":
        if judged_only:
            raise OptionError(
                "judged_only=True goes with judgments of documents; preferences already leave out others."
            )
        pair, relation = _of_preferences(run, qrels, ties)
        columns_read(pair, expressions, of_relation=OF_PREFERENCES)
        hits = pl.col("preferred_rank").is_not_null() | pl.col("other_rank").is_not_null()
        return pair, relation.with_columns(hits.alias(HITS))
    pair = pair_up(run, qrels, per="subtopic" if kind == "subtopics" else judges)
    check_arguments(pair, expressions)
    columns = columns_read(pair, expressions)
    elsewhere = "judged_elsewhere" in columns
    # At best and at worst the documents of a tie that nobody judged stand between those that were: all are needed.
    unjudged = unjudged or not columns.isdisjoint(pair.extra_columns) or (elsewhere and ties in ("best", "worst"))
    relation = relate(
        pair,
        ties=ties,
        unjudged=unjudged,
        judged_only=judged_only,
        counted="n_retrieved" in columns,
        elsewhere=elsewhere,
        greedy=[column for column in columns if is_greedy(column)],
    )
    return pair, relation.with_columns((pl.col("rank").is_not_null() & pl.col("relevance").is_not_null()).alias(HITS))


def _of_preferences(run: Any, judgments: Any, ties: Ties) -> tuple[Pair, pl.LazyFrame]:
    """The run with the documents that preferences are about, and the relation of preferences."""
    preferences = preferences_of(preference_table(judgments))
    relevance = pl.when(pl.col("doc_id").is_not_null()).then(1)
    documents = preferences.documents.select("query_id", "doc_id").unique().with_columns(relevance=relevance)
    pair = pair_up(run, documents.collect())
    ranks = reordered(relate(pair, ties=ties), pair.keys, ties)
    # Ids of the two sides may have met in a wider type.
    schema = preferences.documents.collect_schema()
    ranks = ranks.with_columns(pl.col(column).cast(schema[column]) for column in ("query_id", "doc_id"))
    return pair, relate_pairs(preferences, ranks, pair.keys)
