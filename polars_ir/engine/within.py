"""The number of documents of a ranking that a budget allows, found on the whole run, before unjudged rows go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from polars_ir.engine.in_memory import RANKING, Rankings, RowRuns, filled, places, repeats, row_numbers
from polars_ir.engine.ranking import POSITION, with_position
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import Rule, checked
from polars_ir.language.budget import WITHIN
from polars_ir.language.words import place

#: Sums of costs below this fit Int64.
MOST = 2**63

#: Share that rounding may add to a sum, for each cost, and for costs that are Float32: 0.1 + 0.2 is no more than 0.3.
ROUNDED, ROUNDED_FLOAT32 = 2.0**-52, 2.0**-24


def with_within(relation: pl.LazyFrame, run: CanonicalFrame, columns: Sequence[str], *, in_order: bool) -> pl.LazyFrame:
    """The judged relation with columns that `WITHIN` names; equal scores stand as the rows do, or by their ids."""
    if not run.eager:
        for cost, of_cost in _by_cost(columns).items():
            spent = _number(cost, run).cum_sum()
            placed = _placed(run, cost, in_order=in_order).group_by(run.keys, maintain_order=True)
            relation = relation.join(
                placed.agg(_count(column, spent, run) for column in of_cost), on=run.keys, how="left"
            )
        return relation
    rows = run.select(*dict.fromkeys([*run.keys, "doc_id", "score", *_by_cost(columns)])).collect(engine="in-memory")
    rankings = Rankings.of(rows, run.keys, run.keys[:-1])
    counted = counted_within(rankings, run, columns, in_order=in_order)
    found = rankings.rows.select(run.keys)[counted["row"]].hstack(counted.drop(RANKING, "row")).lazy()
    return relation.join(found, on=run.keys, how="left", maintain_order="left")


def with_counts(
    relation: pl.DataFrame, rankings: Rankings, run: CanonicalFrame, columns: Sequence[str], *, in_order: bool
) -> pl.DataFrame:
    """The judged relation of rankings in memory with the same columns, by the numbers it has already."""
    counted = counted_within(rankings.known(), run, columns, in_order=in_order)
    n_systems = 1 if rankings.systems is None else len(rankings.systems)
    nothing = filled(None, n_systems * len(rankings.queries), pl.Int64())
    of_rankings = (nothing.clone().scatter(counted[RANKING], counted[name]).alias(name) for name in columns)
    return relation.with_columns(count[relation[RANKING]] for count in of_rankings)


def counted_within(rankings: Rankings, run: CanonicalFrame, columns: Sequence[str], *, in_order: bool) -> pl.DataFrame:
    """The number of documents of each ranking that count, in memory, with its number and one of its rows."""
    for cost in _by_cost(columns):
        of_documents = run.select(*run.document, cost).collect(engine="in-memory")
        checked(of_documents, _rule(cost, run), about=run.about, keys=run.document, names=run.names)
    order = rankings.order
    ranking, score = (rows if order is None else rows[order] for rows in (rankings.ranking, rankings.rows["score"]))
    if not in_order and (repeats(ranking) & repeats(score)).any():
        rank = places(rankings, row_numbers(len(ranking)), by_id=True)["rank"]
        placed = pl.DataFrame({"ranking": rankings.ranking, "rank": rank})
        order = placed.select(pl.arg_sort_by("ranking", "rank")).to_series()
        ranking = rankings.ranking[order]
    starts = RowRuns.of(ranking).starts
    counts = [pl.DataFrame({RANKING: ranking[starts], "row": starts if order is None else order[starts]})]
    for cost, of_cost in _by_cost(columns).items():
        costs = rankings.rows[cost] if order is None else rankings.rows[cost][order]
        highest = max(WITHIN.parameters(column).budget for column in of_cost)
        if costs.dtype.is_integer() and int(costs.max() or 0) * len(costs) + highest < MOST:  # type: ignore[arg-type]
            counts.append(_of_one_sum(costs.cast(pl.Int64), starts, of_cost))
        else:
            spent = _number(cost, run).cum_sum()
            rows = pl.DataFrame({RANKING: ranking, cost: costs}).group_by(RANKING, maintain_order=True)
            counts.append(rows.agg(_count(column, spent, run) for column in of_cost).drop(RANKING))
    return pl.concat(counts, how="horizontal")


def _of_one_sum(costs: pl.Series, starts: pl.Series, columns: Sequence[str]) -> pl.DataFrame:
    """The counts by one sum of all costs: it never falls, so the last row within each budget is searched for."""
    spent, starts = costs.cum_sum(), starts.cast(pl.Int64)
    before = spent[starts] - costs[starts]
    sizes = pl.concat([starts.slice(1), pl.Series([len(costs)])]) - starts
    counts = {}
    for column in columns:
        budget, _, over = WITHIN.parameters(column)
        fit = spent.search_sorted(before + int(budget), side="right").cast(pl.Int64) - starts + (over == "include")
        counts[column] = fit.zip_with(fit < sizes, sizes)
    return pl.DataFrame(counts)


def _by_cost(columns: Iterable[str]) -> dict[str, list[str]]:
    """The columns by the cost that their budgets are of."""
    by_cost: dict[str, list[str]] = {}
    for column in columns:
        by_cost.setdefault(WITHIN.parameters(column).cost, []).append(column)
    return by_cost


def _number(cost: str, run: CanonicalFrame) -> pl.Expr:
    """The costs, in a type in which their sums fit."""
    return pl.col(cost).cast(pl.Int128 if run.dtypes[cost].is_integer() else pl.Float64)


def _count(column: str, spent: pl.Expr, run: CanonicalFrame) -> pl.Expr:
    """The number of documents of a ranking that count, by what those down to each cost."""
    budget, cost, over = WITHIN.parameters(column)
    dtype = run.dtypes[cost]
    rounded = pl.len() * ROUNDED + (ROUNDED_FLOAT32 if dtype == pl.Float32 else 0)
    most = pl.lit(budget) if dtype.is_integer() else budget * (1 + rounded)
    count = (spent <= most).sum().cast(pl.Int64)
    return (count if over == "stop" else (count + 1).clip(upper_bound=pl.len())).alias(column)


def _rule(cost: str, run: CanonicalFrame) -> Rule:
    """The rule that each retrieved document has its cost."""
    value = pl.col(cost)
    wrong = value.is_null() | (value < 0) | (~value.is_finite() if run.dtypes[cost].is_float() else False)
    return Rule(wrong, f"whose {cost!r} is null, negative, infinite or NaN", "Give each retrieved document its cost")


def _placed(run: CanonicalFrame, cost: str, *, in_order: bool) -> pl.LazyFrame:
    """The keys and the cost of each row of a plan, in the order of the rankings."""
    run = with_position(run) if in_order else run
    tie = [POSITION] if in_order else []
    sound = run.checked(_rule(cost, run), rows=run.select(*run.document, "score", cost, *tie))
    rank = place("score", pl.col(POSITION) if in_order else None).over(run.keys)
    return sound.with_columns(rank=rank).sort(*run.keys, "rank")
