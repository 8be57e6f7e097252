"""Many fusions of the same runs measured at once: what each run gives the candidates is found once.

Conventions: a fusion here returns its first `top` documents. Ids of documents are numbered in their own order, so that
equal scores are ordered as everywhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_ir.engine.needs import reads_only_relevant
from polars_ir.engine.ranking import text
from polars_ir.errors import IRWarning
from polars_ir.frames.ids import same_types
from polars_ir.frames.table import Table, qrels_table
from polars_ir.fusion.counting import Counting, is_counted
from polars_ir.fusion.dialects import Fusion, fusion_of
from polars_ir.fusion.fusing import Missing, scored, termed
from polars_ir.fusion.grids import Trial
from polars_ir.fusion.inputs import check_collected
from polars_ir.fusion.methods import Method
from polars_ir.language.identity import Measured
from polars_ir.runs.evaluation import evaluate
from polars_ir.runs.rankings import LowerIsBetter, collected, first, ranked
from polars_ir.values import check, or_none, whole

#: Rows that are measured together, to bound the memory.
ROWS = 5_000_000


class Candidates(NamedTuple):
    """The ranked rows of all runs, in memory, and their judgments, both with numbered documents."""

    rows: pl.DataFrame
    table: Table
    qrels: pl.DataFrame
    systems: Sequence[str]


def candidates_of(
    table: Table, systems: Sequence[str], qrels: Any, *, depth: int | None, lower_is_better: LowerIsBetter
) -> Candidates:
    """What all the fusions start from."""
    depth = check("depth", depth, or_none(whole(1)))
    table, judgments = same_types(table, qrels_table(qrels))
    rows = ranked(table, lower_is_better=lower_is_better)
    rows = rows if depth is None else rows.filter(pl.col("rank") <= depth)
    ranking = collected(rows, table.rows)
    check_collected(table, ranking)
    judged = judgments.select("query_id", "doc_id", "relevance").collect()
    ids = pl.concat([ranking.select("doc_id"), judged.select("doc_id").drop_nulls()]).unique().sort(text("doc_id"))
    # All of one length, since ids are compared as text: 9 comes after 10.
    start = 10 ** len(str(ids.height))
    numbers = ids.with_columns(number=start + pl.int_range(pl.len(), dtype=pl.Int64))
    numbered = (
        frame.join(numbers, on="doc_id", how="left", maintain_order="left").with_columns(doc_id="number").drop("number")
        for frame in (ranking, judged)
    )
    return Candidates(next(numbered), table, next(numbered), systems)


class How(NamedTuple):
    """How trials are fused and measured."""

    method: str | Method
    dialect: str | None
    missing: Missing
    top: int
    measure: Measured


def measured(trials: Sequence[Trial], of: Candidates, how: How) -> pl.DataFrame:
    """A row per trial and query: `run` (the number of the trial), `query_id` and the value of the measure."""
    alike: dict[tuple[Any, Any], list[int]] = {}
    for number, trial in enumerate(trials):
        alike.setdefault((trial.k, id(trial.norm)), []).append(number)
    parts = []
    for numbers in alike.values():
        first_trial = trials[numbers[0]]
        fusion = fusion_of(how.method, first_trial.norm, how.dialect, first_trial.k)
        weightings = {number: trials[number].weights for number in numbers}
        if is_counted(fusion, how.measure, how.missing):
            parts.append(_counted(fusion, weightings, of, how))
        else:
            parts.append(_of_lists(_fused(fusion, weightings, of, how), of, how))
    return pl.concat(parts).sort("run", "query_id")


def measured_subsets(
    subsets: Sequence[Sequence[str]], weights: Any, of: Candidates, how: How, norm: Any
) -> pl.DataFrame:
    """A row per subset of the runs and query, as `measured` has it, each fused by itself."""
    fusion = fusion_of(how.method, norm, how.dialect)

    def lists() -> Iterator[pl.DataFrame]:
        for number, subset in enumerate(subsets):
            rows = of.rows.lazy().filter(pl.col("run").cast(pl.String).is_in(list(subset)))
            subset_weights = {system: weights[system] for system in subset} if isinstance(weights, Mapping) else weights
            yield _list(rows, number, fusion, subset_weights, subset, of, how)

    return _of_lists(lists(), of, how).sort("run", "query_id")


def figures(rows: pl.DataFrame, of: Candidates, measure: Measured) -> pl.DataFrame:
    """The values of runs or fused lists; that a list has no judged document is no mistake here."""
    with warnings.catch_warnings(action="ignore", category=IRWarning):
        values: pl.DataFrame = evaluate(rows, of.qrels, measure.expression)
    return values


def _of_lists(lists: Iterator[pl.DataFrame], of: Candidates, how: How) -> pl.DataFrame:
    """The values of fused lists, several at a time."""
    values, waiting = [], []
    for fused in lists:
        waiting.append(fused)
        if sum(frame.height for frame in waiting) >= ROWS:
            values.append(figures(pl.concat(waiting), of, how.measure))
            waiting = []
    if waiting:
        values.append(figures(pl.concat(waiting), of, how.measure))
    return pl.concat(values)


def _fused(
    fusion: Fusion, weightings: Mapping[int, Mapping[str, float]], of: Candidates, how: How
) -> Iterator[pl.DataFrame]:
    """The fused list of each weighting, made from the rows."""
    for number, weights in weightings.items():
        yield _list(of.rows.lazy(), number, fusion, weights, of.systems, of, how)


def _list(
    rows: pl.LazyFrame, number: int, fusion: Fusion, weights: Any, systems: Sequence[str], of: Candidates, how: How
) -> pl.DataFrame:
    rows = termed(rows, fusion, weights, systems, of.table, how.missing)
    fused = first(scored(rows, fusion.method, weights, systems), how.top)
    return fused.select("query_id", "doc_id", "score", run=pl.lit(number, pl.Int64)).collect()


def _counted(fusion: Fusion, weightings: Mapping[int, Mapping[str, float]], of: Candidates, how: How) -> pl.DataFrame:
    """The values of weightings without a list of any."""
    # As in `evaluate`, but for one of each query, so that none is lost.
    read = (pl.col("relevance") > 0) | pl.col("query_id").is_first_distinct()
    qrels = of.qrels.filter(read) if reads_only_relevant(how.measure) else of.qrels
    counting = Counting.of(fusion, how.missing, of.rows, of.systems, qrels, how.top)
    return _with_every_query(pl.concat(counting.values(weightings, how.measure)), of, how, list(weightings))


def _with_every_query(values: pl.DataFrame, of: Candidates, how: How, numbers: Sequence[int]) -> pl.DataFrame:
    """A value for every judged query of every trial, 0 where a measure is not defined, as in `evaluate`."""
    name = how.measure.name
    queries = of.qrels.select("query_id").unique()
    grid = pl.DataFrame({"run": numbers}, schema={"run": pl.Int64}).join(queries, how="cross")
    complete = grid.join(values, on=["run", "query_id"], how="left")
    return complete.select("run", "query_id", pl.col(name).cast(pl.Float64).fill_null(0.0))
