"""The number of documents of a ranking that a budget allows, found on the whole run, before unjudged rows go."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from polars_ir.engine.in_memory import RANKING, Rankings, places, repeats, row_numbers
from polars_ir.engine.ranking import POSITION, with_position
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import Rule
from polars_ir.language.budget import budget_of
from polars_ir.language.words import place


def with_within(relation: pl.LazyFrame, run: CanonicalFrame, columns: Iterable[str], *, in_order: bool) -> pl.LazyFrame:
    """The judged relation with columns that `cutoff` names; equal scores stand as the rows do, or by their ids."""
    by_cost: dict[str, list[str]] = {}
    for column in columns:
        by_cost.setdefault(budget_of(column).cost, []).append(column)
    for cost, of_cost in by_cost.items():
        rows = _placed(run, cost, in_order=in_order)
        value = pl.col(cost).cast(pl.Int128 if run.dtypes[cost].is_integer() else pl.Float64).cum_sum()
        counts = (_count(column, value) for column in of_cost)
        if run.eager:
            # A number is cheaper to group by than ids.
            counted = rows.group_by(RANKING).agg(pl.col(run.keys).first(), *counts).drop(RANKING)
        else:
            counted = rows.group_by(run.keys, maintain_order=True).agg(*counts)
        relation = relation.join(counted, on=run.keys, how="left")
    return relation


def _count(column: str, spent: pl.Expr) -> pl.Expr:
    """The number of documents of a ranking that count, by what those down to each cost."""
    budget, _, over = budget_of(column)
    count = (spent <= budget).sum().cast(pl.Int64)
    return (count if over == "stop" else (count + 1).clip(upper_bound=pl.len())).alias(column)


def _placed(run: CanonicalFrame, cost: str, *, in_order: bool) -> pl.LazyFrame:
    """The keys and the cost of each row of a run, in the order of the rankings."""
    value = pl.col(cost)
    wrong = value.is_null() | (value < 0) | (value.is_nan() if run.dtypes[cost].is_float() else False)
    rule = Rule(wrong, f"whose {cost!r} is null, negative or no number", "Give each retrieved document its cost")
    if not run.eager:
        run = with_position(run) if in_order else run
        tie = [POSITION] if in_order else []
        checked = run.checked(rule, rows=run.select(*run.document, "score", cost, *tie))
        rank = place("score", pl.col(POSITION) if in_order else None).over(run.keys)
        return checked.with_columns(rank=rank).sort(*run.keys, "rank")
    run.checked(rule, rows=run.select(*run.document, cost))
    rows = run.select(*run.keys, "doc_id", "score", cost).collect(engine="in-memory")
    rankings = Rankings.of(rows, run.keys, run.keys[:-1])
    ranks = places(rankings, row_numbers(rows.height), by_id=not in_order)["rank"]
    placed = rankings.rows.select(*run.keys, cost).hstack([rankings.ranking.alias(RANKING), ranks])
    stands = (ranks == 1) | (repeats(rankings.ranking) & (ranks == ranks.shift() + 1))
    return placed.lazy() if stands.all() else placed.lazy().sort(RANKING, "rank")
