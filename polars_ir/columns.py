"""The columns that measures read: they choose the relation, and must be there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

import polars as pl

from polars_ir.errors import ColumnError, MeasureError
from polars_ir.greedy import is_greedy
from polars_ir.judging import Pair
from polars_ir.ranking import DOCUMENT
from polars_ir.registry import Kind, kind_of
from polars_ir.schema import MADE

#: What the judged relation can always give a measure.
RELATION = ("run", *DOCUMENT, "relevance", *MADE)

#: The map of gains in a measure's name.
GAIN_MAP = re.compile(r"gains=(\{[^}]*\})")


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


def check_gain_maps(pair: Pair, measures: Mapping[str, pl.Expr]) -> None:
    """Raise a `MeasureError` for a map of gains that lacks a grade above 0 which occurs in judgments in memory."""
    maps = {name: ast.literal_eval(found[1]) for name in measures if (found := GAIN_MAP.search(name))}
    judgments = pair.qrels or pair.run
    if not maps or not judgments.eager:
        return
    grade = pl.col("relevance")
    graded = judgments.select("relevance").filter(grade > 0)
    grades = graded.select(grade.unique().sort()).collect(engine="in-memory")["relevance"].to_list()
    for name, gains in maps.items():
        if lacking := [grade for grade in grades if grade not in gains]:
            raise MeasureError.unmapped(name, lacking, gains)
