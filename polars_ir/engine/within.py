"""The number of documents of a ranking that a budget allows, found on the whole run, before unjudged rows go."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from polars_ir.engine.in_memory import RANKING, Rankings, places, row_numbers
from polars_ir.engine.ranking import POSITION, with_position
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import Rule
from polars_ir.language.budget import budget_of, is_within
from polars_ir.language.words import place

COST, SPENT = "polars_ir: cost", "polars_ir: spent"


def with_within(relation: pl.LazyFrame, run: CanonicalFrame, columns: Iterable[str], *, in_order: bool) -> pl.LazyFrame:
    """The judged relation with columns that `cutoff` names; equal scores stand as the rows do, or by their ids."""
    for cost, of_cost in _by_cost(columns).items():
        spent = _spent(run, cost, in_order=in_order)
        counts = spent.group_by(run.keys).agg(_count(column) for column in of_cost)
        relation = relation.join(counts, on=run.keys, how="left")
    return relation


def _by_cost(columns: Iterable[str]) -> dict[str, list[str]]:
    """The columns that are named, by those of costs."""
    named: dict[str, list[str]] = {}
    for column in sorted(filter(is_within, columns)):
        named.setdefault(budget_of(column).cost, []).append(column)
    return named


def _count(column: str) -> pl.Expr:
    """The number of documents of a ranking that count."""
    budget, _, over = budget_of(column)
    count = (pl.col(SPENT) <= budget).sum().cast(pl.Int64)
    return (count if over == "stop" else (count + 1).clip(upper_bound=pl.len())).alias(column)


def _spent(run: CanonicalFrame, cost: str, *, in_order: bool) -> pl.LazyFrame:
    """The keys of each row of a run and what the documents down to it cost, in the order of the ranking."""
    value = pl.col(cost)
    wrong = value.is_null() | (value < 0) | (value.is_nan() if run.dtypes[cost].is_float() else False)
    rule = Rule(wrong, f"whose {cost!r} is null, negative or no number", "Give each retrieved document its cost")
    if run.eager:
        run.checked(rule, rows=run.select(*run.document, cost))
        rows = run.select(*run.keys, "doc_id", "score", cost).collect(engine="in-memory")
        rankings = Rankings.of(rows, run.keys, run.keys[:-1])
        ranks = places(rankings, row_numbers(rows.height), by_id=not in_order)["rank"]
        placed = rankings.rows.select(*run.keys, cost).hstack([rankings.ranking.alias(RANKING), ranks]).lazy()
        rows_in_order = placed.sort(RANKING, "rank")
    else:
        run = with_position(run) if in_order else run
        tie = [POSITION] if in_order else []
        checked = run.checked(rule, rows=run.select(*run.document, "score", cost, *tie))
        rank = place("score", pl.col(POSITION) if in_order else None).over(run.keys)
        rows_in_order = checked.with_columns(rank=rank).sort(*run.keys, "rank")
    exact = pl.Int128 if run.dtypes[cost].is_integer() else pl.Float64
    spent = pl.col(cost).cast(exact).cum_sum().over(RANKING if run.eager else run.keys)
    return rows_in_order.select(*run.keys, spent.alias(SPENT))
