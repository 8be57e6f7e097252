"""Warnings of tables and columns that are probably exchanged, from the first rows of tables in memory."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import Fix, table_name, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import is_pandas, to_polars
from polars_ir.frames.roles import find

#: Number of inspected rows.
SAMPLED = 1000

#: Grades are mostly no higher.
HIGH = 10


def warn_of_places(run: Any, pair: RunAndQrels) -> None:
    """Warn of a run and judgments, or a rank and a score, that were probably exchanged."""
    if not pair.run.eager:
        return
    if pair.qrels is not None and pair.qrels.eager and _are_swapped(pair.run, pair.qrels):
        warn(
            f"scores of {table_name('run')} look like grades, and grades of {table_name('qrels')} like scores.",
            fix=Fix("The run comes first; if they are exchanged, swap them"),
        )
    if isinstance(run, pl.DataFrame) or is_pandas(run):
        _warn_of_ranks(to_polars("run", run.head(SAMPLED), column="score"))


def _are_swapped(run: CanonicalFrame, qrels: CanonicalFrame) -> bool:
    """True for grades that are fractions or large, each once in a query, beside scores that are small whole numbers."""
    grades = qrels.column("relevance").head(SAMPLED).drop_nulls()
    if not len(grades) or (_are_whole(grades) and not (grades > HIGH).any()):
        return False
    scores = run.select("score").head(SAMPLED).collect(engine="in-memory").to_series()
    if not _are_whole(scores) or not ((scores >= 0) & (scores <= HIGH)).all():
        return False
    # Scores of lists fall to 1 one by one, and grades of a query recur.
    of_lists = ((scores.diff() == -1) | (scores.shift() == 1))[1:].all()
    judged = qrels.select("query_id", "relevance").head(SAMPLED).collect(engine="in-memory")
    return not of_lists and not judged.is_duplicated().any()


def _are_whole(numbers: pl.Series) -> bool:
    return not numbers.dtype.is_float() or bool((numbers == numbers.floor()).all())


def _warn_of_ranks(rows: pl.DataFrame | pl.LazyFrame) -> None:
    """Warn of a rank beside a score that contradicts it throughout, or is exchanged with it."""
    names = {role: find("run", role, rows.columns) for role in ("query_id", "score", "rank")} if rows.columns else {}
    if not isinstance(rows, pl.DataFrame) or None in names.values() or not names:
        return
    query, score, rank = (rows[str(names[role])] for role in ("query_id", "score", "rank"))
    if not score.dtype.is_numeric():
        return
    same = query == query.shift()
    if rank.null_count() == len(rank):
        places = (score.diff() == 1) | ((score == 1) & ~same)
        if len(score) > 1 and same.any() and bool(places[1:].all()) and score[0] == 1:
            warn("the scores are 1, 2, 3 of each query, and no rank is a whole number: are they exchanged?")
        return
    if not rank.dtype.is_numeric():
        return
    along = (score.diff().cast(pl.Float64) * rank.cast(pl.Float64).diff()).filter(same)
    if len(along) and bool((along > 0).all()):
        fix = Fix("The order is that of the scores; if they are distances, take their negative, else leave scores out")
        warn(
            f"column {rank.name!r} contradicts {score.name!r} throughout: the higher the score, the worse the rank.",
            fix=fix,
        )
