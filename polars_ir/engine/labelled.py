"""The judged relation of a frame that holds scores and grades side by side: nothing to join."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.engine.in_memory import RANKING, Rankings, places, row_numbers
from polars_ir.engine.needs import Needs
from polars_ir.engine.ranking import POSITION, tie_counts, with_position
from polars_ir.frames.rules import BAD_RUN, duplicates_of_a_plan, guard, wrong_grade, wrong_run_row
from polars_ir.frames.table import Table
from polars_ir.language.words import place, text

TIED = (
    "tied documents differ in grade, and there are no document ids to break the tie; choose an order: "
    "ties='input' for the order of the rows, ties='best' or ties='worst' for the ends of what it can be (measures with "
    "a mean over all orders, such as P, R, RR, AP and nDCG, need none)"
)


def labelled_relation(run: Table, needs: Needs) -> pl.LazyFrame:
    """The judged relation; without ids, and with ties in the order of the input, equal scores stand as the rows do."""
    by_id = needs.ties != "input" and not run.numbered
    rows = (run if by_id or run.eager else with_position(run)).all_columns()
    if not run.eager:
        rows = guard(rows, wrong_run_row(run.keys) | wrong_grade(ungraded=True), BAD_RUN)
    if needs.judged_only:
        left_out, rows = rows.filter(pl.col("relevance") < 0), rows.filter(pl.col("relevance") >= 0)
    keys = [RANKING] if run.eager else run.keys
    relation = _placed(rows, run.keys, by_id=by_id) if run.eager else _planned(rows, run.keys, by_id=by_id)
    relation = relation.with_columns(n_retrieved=pl.len().over(keys))
    if needs.judged_only:
        relation, keys = _with_judgments(relation, left_out, run.keys), run.keys
    relation = relation.with_columns(
        ideal_rank=place("relevance").over(keys),
        judged_elsewhere=pl.when(pl.col("relevance").is_not_null().any().over(*run.by, "doc_id")).then(True),
    )
    if not run.eager:
        relation = guard(
            relation, pl.len().over(*run.keys, "doc_id") > 1, duplicates_of_a_plan(run.dtypes, [*run.names, *run.by])
        )
    whole = needs.unjudged or "judged_elsewhere" in needs.columns
    others = [column for column in run.columns if column not in (*run.keys, "doc_id", "score", "relevance")]
    if run.numbered and needs.ties == "doc_id":
        relation = guard(relation, _unlike_in_ties(run.keys, ["relevance", *(others if whole else [])]), TIED)
    relation, judged = relation.drop(POSITION, strict=False), pl.col("relevance").is_not_null()
    if whole:
        if needs.judged_only:
            relation = relation.with_columns(score=pl.when(pl.col("rank").is_not_null()).then("score"))
        return relation.filter(judged.any().over(keys))
    return relation.drop("score", *others).filter(judged)


def _unlike_in_ties(keys: list[str], columns: list[str]) -> pl.Expr:
    """True of documents that share their score and differ in a column that a measure can read."""
    return pl.any_horizontal(pl.col(column).n_unique().over(*keys, "score") > 1 for column in columns)


def _placed(plan: pl.LazyFrame, keys: Sequence[str], *, by_id: bool) -> pl.LazyFrame:
    """The rows of a frame in memory, with the number of their ranking and their places in it."""
    rows = plan.collect(engine="in-memory")
    rankings = Rankings.of(rows, keys, keys[:-1], rows["query_id"].unique())
    placed = places(rankings, row_numbers(rows.height), by_id=by_id)
    return rows.hstack([*placed, rankings.ranking.alias(RANKING)]).lazy()


def _with_judgments(relation: pl.LazyFrame, left_out: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """The relation with the judged documents that condensed lists leave out, as documents that were not retrieved."""
    together = pl.concat([relation.drop(RANKING, strict=False), left_out], how="diagonal")
    return together.with_columns(n_retrieved=pl.col("n_retrieved").max().over(keys).fill_null(0))


def _planned(plan: pl.LazyFrame, keys: list[str], *, by_id: bool) -> pl.LazyFrame:
    """The rows of a plan with their places."""
    tie = text("doc_id") if by_id else pl.col(POSITION)
    return plan.with_columns(rank=place("score", tie).over(keys), **tie_counts(keys))
