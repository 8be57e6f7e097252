"""Warnings of tables that are valid, and probably not what was meant: their grades, their places, their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import polars as pl

from polars_ir.engine.run_and_qrels import RunAndQrels
from polars_ir.errors import Code, Fix, fold, quoted, table_name, warn, with_keys
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import collected, is_pandas, to_polars
from polars_ir.frames.nested import HIT_SCORE, SORTED
from polars_ir.frames.roles import find, no_ids
from polars_ir.frames.rules import numbered, rows_without_id
from polars_ir.language.catalog import CATALOG, MeasureCall
from polars_ir.language.kinds import STRATUM
from polars_ir.language.names import ResolvedMeasure

#: Number of rows inspected for exchanged tables and columns.
SAMPLED = 1000

Numbers = TypeVar("Numbers", pl.Series, pl.Expr)

#: Grades are mostly no higher.
HIGH = 10

#: Number of systems or measures that a warning names.
NAMED = 3


def warn_of_tables(run: Any, pair: RunAndQrels, measures: Sequence[ResolvedMeasure]) -> None:
    """Warn of grades; of tables in memory also where they, or columns, look exchanged, and of ids of no document."""
    warn_of_grades(pair, measures)
    if not pair.run.rows:
        return
    # Grades are mostly small, which is all that need be read then.
    odd = pair.qrels is not None and _no_grade(pair.qrels.first("relevance", SAMPLED)).any()
    if pair.qrels and odd and exchanged(pair.run, pair.qrels).collect(engine="in-memory").item():
        says = f"scores of {table_name('run')} look like grades, and grades of {table_name('qrels')} like scores."
        warn(says, fix=Fix("The run comes first; if they are exchanged, swap them"))
    for value in no_ids(pair.run.first("doc_id", SAMPLED)):
        fix = rows_without_id(pair.run.names["doc_id"], value)
        fix = fix if isinstance(run, pl.DataFrame) or is_pandas(run) else Fix(fix.words)
        warn(f"{table_name('run')} has the id {value!r}, which counts as a retrieved document.", fix=fix)
    if isinstance(run, pl.DataFrame) or is_pandas(run):
        if (score := pair.run.names.get("score")) == HIT_SCORE[0] and SORTED in run.columns:
            _warn_of_sorted(pair.run, score)
        rank = find("run", "rank", list(map(str, run.columns)))
        if rank is not None and rank != pair.run.names["score"]:
            _warn_of_ranks(to_polars("run", run.head(SAMPLED), column="score").lazy().collect(), pair.run.names, rank)


def exchanged(run: CanonicalFrame, qrels: CanonicalFrame) -> pl.LazyFrame:
    """Whether, in the first rows, grades are fractions or large, each once in a query, and scores small whole numbers.

    Scores of lists fall to 1 one by one, and grades of a query recur.
    """
    grade, score = pl.col("relevance"), pl.col("score").cast(pl.Float64)
    recurs = pl.struct("query_id", "relevance").is_duplicated() & grade.is_not_null()
    of_grades = _no_grade(grade).any() & ~recurs.any()
    of_list = ((score.diff() == -1) | (score.shift() == 1)).slice(1).all()
    of_scores = ~(_no_grade(score) | (score < 0)).any() & ~of_list
    judged = qrels.select("query_id", "relevance").head(SAMPLED).select(of_grades.alias("grades"))
    retrieved = run.select("score").head(SAMPLED).select(of_scores.alias("scores"))
    return judged.join(retrieved, how="cross").select(exchanged=pl.col("grades") & pl.col("scores"))


def _no_grade(numbers: Numbers) -> Numbers:
    """True for numbers that are fractions or high."""
    numbers = numbers.cast(pl.Float64)
    return (numbers != numbers.floor()) | (numbers > HIGH)


def _warn_of_sorted(run: CanonicalFrame, score: str) -> None:
    """Warn of hits that a search sorted by anything but the scores that it tracked."""
    rows = run.select("query_id", "score").head(SAMPLED).collect(engine="in-memory")
    if rows.select(((pl.col("score").diff() > 0) & (pl.col("query_id") == pl.col("query_id").shift())).any()).item():
        fix = Fix("If each query's rows are in order, number them", numbered("run", score, run.names["query_id"]))
        warn(f"the hits have {SORTED!r}, as of a sorted search, and are ranked by {score!r}.", fix=fix)


def _warn_of_ranks(rows: pl.DataFrame, names: Mapping[str, str], of_rank: str) -> None:
    """Warn of a rank beside a score that contradicts it throughout, or is exchanged with it."""
    query, score, rank = (rows[name] for name in (names["query_id"], names["score"], of_rank))
    if not score.dtype.is_numeric():
        return
    same = query == query.shift()
    if rank.null_count() == len(rank):
        places = (score.diff() == 1) | ((score == 1) & ~same)
        if len(score) > 1 and same.any() and bool(places[1:].all()) and score[0] == 1:
            warn("the scores of each query are 1, 2, 3, and no rank is a whole number: are they exchanged?")
        return
    if not rank.dtype.is_numeric():
        return
    along = (score.diff().cast(pl.Float64) * rank.cast(pl.Float64).diff()).filter(same)
    if len(along) and bool((along > 0).all()):
        fix = Fix("The order is that of the scores; if they are distances, negate them, else leave scores out")
        warn(
            f"column {rank.name!r} contradicts {score.name!r} throughout: the higher the score, the worse the rank.",
            fix=fix,
        )


def warn_of_grades(pair: RunAndQrels, measures: Sequence[ResolvedMeasure]) -> None:
    """Warn of measures to which no grade, of any judge, is relevant or, of grades between 0 and 1, only the highest."""
    judgments, judges = pair.judgments, pair.only_judged
    if STRATUM in judgments.dtypes:
        from polars_ir.runs.samples import measures_of_whole, warn_of_strata

        if of_whole := measures_of_whole(judgments, measures):
            warn_of_strata(judgments, of_whole)
    # Every judged document is relevant to a measure with `rel=0`.
    if not (called := [(m.name, m.call) for m in measures if m.call and m.call.arguments.get("rel", 0) != 0]):
        return
    if not judges:
        _warn_of_extremes(*extremes_of(judgments), "", judgments, called)
        return
    grade = pl.col("relevance")
    extremes = grade.filter(grade > 0).min().alias("lowest"), grade.max().alias("highest")
    of_each = judgments.select(*judges, "relevance").drop_nulls(judges).group_by(judges).agg(extremes).sort(judges)
    alike: dict[tuple[Any, Any], list[tuple[Any, ...]]] = {}
    for *judge, lowest, highest in collected(of_each, judgments.engine).iter_rows():
        alike.setdefault((lowest, highest), []).append(tuple(judge))
    for extreme, names in alike.items():
        whose = f" by {quoted(with_keys(judges, names), NAMED)}" if len(alike) > 1 else ""
        _warn_of_extremes(*extreme, whose, judgments, called)


def _warn_of_extremes(
    lowest: Any, highest: Any, whose: str, judgments: CanonicalFrame, called: Sequence[tuple[str, MeasureCall]]
) -> None:
    """Warn of grades by the lowest above 0 and the highest; `whose` names their judges, if others gave other grades."""
    if lowest is None:
        # Some measures are not 0 without relevant documents: Fallout, utility, the number of those judged not relevant.
        specs = [CATALOG[call.measure] for _, call in called]
        if highest is not None and any(info.bounds[0] == 0 < info.best for info in specs):
            warn(f"no grade of {table_name('qrels')}{whose} is above 0, so that no document is relevant.")
        return
    whole = not judgments.dtypes["relevance"].is_float()
    # Stars begin with 1, the worst.
    stars = fold(judgments.names["relevance"]) == "rating" and lowest == 1 and highest >= 3
    wrong: dict[str, list[tuple[str, MeasureCall]]] = {}
    for name, call in called:
        rel = call.arguments["rel"]
        if rel == 1 and stars:
            wrong.setdefault(f"every rating{whose} is relevant, the lowest too", []).append((name, call))
        if rel is None or (whole and rel <= 1):  # A whole grade above 0 is 1 or more.
            continue
        if highest < rel:
            wrong.setdefault(f"no grade{whose} is relevant: the highest is {highest:g}", []).append((name, call))
        if rel == 1 and lowest < 1 == highest:
            problem = f"only grades of 1{whose} are relevant, and others between 0 and 1 are not"
            wrong.setdefault(problem, []).append((name, call))
    for problem, calls in wrong.items():
        example = _from_grade(calls[0][1], 0.5 if lowest < 1 and highest <= 1 else highest - stars)
        words = "Name the lowest relevant grade, as in"
        fix = Fix(words, Code(repr(example)), without_code=f"{words} {example}")
        warn(f"to {quoted([name for name, _ in calls], NAMED)} {problem}.", fix=fix)


def extremes_of(judgments: CanonicalFrame) -> tuple[Any, Any]:
    """The lowest grade above 0, and the highest."""
    if judgments.eager:
        grades = judgments.column("relevance")
        return grades.filter(grades > 0).min(), grades.max()
    grade = pl.col("relevance")
    extremes = judgments.select("relevance").select(grade.filter(grade > 0).min().alias("lowest"), grade.max())
    return collected(extremes, "streaming").row(0)


def _from_grade(call: MeasureCall, rel: float) -> str:
    """Name of a measure for which grades of `rel` or more are relevant."""
    k = call.arguments.get("k")
    return f"{call.measure}(rel={rel:g})" + (f"@{k}" if k is not None else "")
