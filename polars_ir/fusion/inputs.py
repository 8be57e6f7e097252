"""The runs of a fusion: a dict, a list or a stacked table to one table, checked for what can not be fused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.engine.pairing import is_searched, search_duplicates
from polars_ir.errors import ColumnError, DataError, Fix, InputTypeError, Setting, quoted
from polars_ir.frames.columns import find, fold
from polars_ir.frames.foreign import is_pandas
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.table import Table, run_table
from polars_ir.fusion.dialects import Fusion
from polars_ir.runs.rankings import LowerIsBetter, systems_in

#: What a column of distances is called, whose lowest is the best.
DISTANCES = ("distance", "dist")


def table_of(runs: Any, fusion: Fusion, *, lower_is_better: LowerIsBetter = False) -> Table:
    """The runs of a fusion as one table, checked."""
    named = named_runs(runs)
    if lower_is_better is False and not fusion.by_rank_column:
        for name, run in named.items() if isinstance(named, Mapping) else [("runs", named)]:
            _check_direction(str(name), run)
    if fusion.by_rank_column:
        named = {name: _by_rank(run) for name, run in named.items()} if isinstance(named, Mapping) else _by_rank(named)
    table = run_table(named)
    if "run" not in table.dtypes:
        says = f"needs several runs; got one, which has {', '.join(map(repr, table.columns))} and no column 'run'."
        raise ColumnError(says, about="fuse", fix="Give a dict of runs by name, or a list")
    if is_searched(table):
        search_duplicates("run", table, [*table.keys, "doc_id"])
    _check_common(table)
    return table


def named_runs(runs: Any) -> Any:
    """A list of runs as a dict of them by number; anything else as it is."""
    if isinstance(runs, (list, tuple)) and runs and not isinstance(runs[0], tuple):
        return {str(number): run for number, run in enumerate(runs, 1)}
    return runs


def of_one(runs: Any) -> Any:
    """A run that tells the kind of all."""
    return runs[0] if isinstance(runs, (list, tuple)) else runs


def systems_of(table: Table) -> list[str] | None:
    """The names of the runs, in the order they were given in; None where they are not read yet."""
    systems = list(table.systems) if table.systems is not None else systems_in(table)
    if systems is not None and len(systems) < 2:
        raise InputTypeError(f"fuse needs several runs; got {len(systems)}: {', '.join(map(repr, systems))}.")
    return systems


def _by_rank(run: Any) -> Any:
    """A run without its score, so that its column of ranks is what counts."""
    frame = to_polars("run", run, column="score")
    columns = frame.collect_schema().names()
    if find("run", "rank", columns) is None:
        says = f"has no column 'rank', which the dialect goes by; it has {quoted(columns)}."
        raise ColumnError(says, about="run", fix="Add the ranks that the system gave, from 1 in each list")
    score = find("run", "score", columns)
    return frame if score is None else frame.drop(score)


def _check_common(table: Table) -> None:
    """Raise an error for runs in memory no two of which answer the same query."""
    if not table.eager or not table.rows or len(systems_in(table) or []) < 2:
        return
    lists = table.select("run", "query_id").unique().collect()
    if not lists["query_id"].is_duplicated().any():
        first = lists.group_by("run").agg(pl.col("query_id").min()).sort("run").head(3)
        ids = ", ".join(f"{query!r} in {run!r}" for run, query in first.iter_rows())
        raise InputTypeError(f"the runs have no query in common; queries are {ids}.", fix="Give them ids of one form")


def _check_direction(name: str, run: Any) -> None:
    """Raise an error for distances without `lower_is_better`: by their name, or by the ranks beside them."""
    if not (isinstance(run, (pl.DataFrame, pl.LazyFrame)) or is_pandas(run)):
        return
    frame = to_polars("run", run, column="score")
    columns = frame.collect_schema().names()
    fix = Fix("Say so", Setting("lower_is_better", value=True))
    score, rank, query = (find("run", role, columns) for role in ("score", "rank", "query_id"))
    if score is None and (distance := next((column for column in columns if fold(column) in DISTANCES), None)):
        says = f"has distances in {distance!r}, and no score: the lowest is the best. Rename the column to 'score'."
        raise ColumnError(says, about=f"run {name!r}", fix=fix)
    if score is None or rank is None or query is None or not isinstance(frame, pl.DataFrame):
        return
    system = find("run", "run", columns)
    keys = [query] if system is None else [system, query]
    # A list whose scores rise all the way down, and none whose scores ever fall.
    steps = frame.select(pl.col(score).sort_by(rank).diff().over(keys, mapping_strategy="explode")).to_series()
    if (steps > 0).any() and not (steps < 0).any():
        says = f"has scores that rise with the rank ({score!r}, {rank!r}), as distances do."
        raise DataError(says, about=f"run {name!r}", fix=fix)
