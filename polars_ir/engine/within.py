"""The number of documents of a ranking that a budget allows, found on the whole run, before unjudged rows go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from polars_ir.engine.in_memory import RANKING, Rankings, RowRuns, places, repeats, row_numbers, starts_of
from polars_ir.engine.ranking import POSITION, with_position
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import Rule
from polars_ir.language.budget import budget_of
from polars_ir.language.words import place

#: Sums of costs below this fit Int64.
MOST = 2**63


def with_within(relation: pl.LazyFrame, run: CanonicalFrame, columns: Iterable[str], *, in_order: bool) -> pl.LazyFrame:
    """The judged relation with columns that `cutoff` names; equal scores stand as the rows do, or by their ids."""
    by_cost: dict[str, list[str]] = {}
    for column in columns:
        by_cost.setdefault(budget_of(column).cost, []).append(column)
    for cost, of_cost in by_cost.items():
        rows = _placed(run, cost, in_order=in_order)
        value = pl.col(cost).cast(pl.Int128 if run.dtypes[cost].is_integer() else pl.Float64).cum_sum()
        counts = (_count(column, value) for column in of_cost)
        if run.eager and run.dtypes[cost].is_integer():
            counted = _counted(rows.collect(engine="in-memory"), run.keys, cost, of_cost).lazy()
        elif run.eager:
            # A number is cheaper to group by than ids.
            counted = rows.group_by(RANKING).agg(pl.col(run.keys).first(), *counts).drop(RANKING)
        else:
            counted = rows.group_by(run.keys, maintain_order=True).agg(*counts)
        relation = _joined(relation, counted, run)
    return relation


def _joined(relation: pl.LazyFrame, counted: pl.LazyFrame, run: CanonicalFrame) -> pl.LazyFrame:
    """The relation with the counts of its rankings; in memory ids are looked up once a ranking."""
    if not run.eager or RANKING not in relation.collect_schema():
        return relation.join(counted, on=run.keys, how="left")
    rows = relation.collect(engine="in-memory")
    row_runs = RowRuns.of(rows, [RANKING])
    keys = rows.select(run.keys)[row_runs.starts].lazy()
    found = keys.join(counted, on=run.keys, how="left", maintain_order="left").collect(engine="in-memory")
    counts = [row_runs.spread(found[name]).alias(name) for name in found.columns[len(run.keys) :]]
    return rows.with_columns(counts).lazy()


def _counted(rows: pl.DataFrame, keys: Sequence[str], cost: str, columns: Sequence[str]) -> pl.DataFrame:
    """The number of documents of each ranking that count, by one sum of all costs, which is exact of integers."""
    group, starts = rows[RANKING].rle_id(), starts_of(rows[RANKING]).cast(pl.Int64)
    fits_all = int(rows[cost].max() or 0) * rows.height < MOST  # type: ignore[arg-type]  # it is an integer
    costs = rows[cost].cast(pl.Int64 if fits_all else pl.Int128)
    spent = costs.cum_sum()
    before, sizes = spent[starts] - costs[starts], pl.concat([starts.slice(1), pl.Series([rows.height])]) - starts
    of_ranking = spent - before[group]
    counts = []
    for column in columns:
        fits = (of_ranking <= budget_of(column).budget).cast(pl.Int64).cum_sum()
        up_to = pl.concat([pl.Series([0]), fits[starts.slice(1) - 1], fits.tail(1)])
        counts.append(up_to.diff().slice(1).alias(column))
    found = rows.select(keys)[starts].hstack(counts)
    is_crossed = [column for column in columns if budget_of(column).over == "include"]
    return found.with_columns((pl.col(column) + 1).clip(upper_bound=sizes) for column in is_crossed)


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
    ranking, score = rankings.ranking, rankings.rows["score"]
    placed = rankings.rows.select(*run.keys, cost)
    # Rows known to be in the order of their rankings are grouped without a hash of each.
    if ranking.is_sorted() and not (repeats(ranking) & (score >= score.shift())).any():
        return placed.with_columns(ranking.set_sorted().alias(RANKING)).lazy()
    ranks = places(rankings, row_numbers(rows.height), by_id=not in_order)["rank"]
    return placed.hstack([ranking.alias(RANKING), ranks]).lazy().sort(RANKING, "rank")
