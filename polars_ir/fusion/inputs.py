"""The runs of a fusion: a dict, list or stacked table as one checked table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import polars as pl

from polars_ir.engine.run_and_qrels import is_searched, search_duplicates
from polars_ir.errors import ColumnError, DataError, Fix, InputTypeError, Setting, fold
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import is_pandas, to_polars
from polars_ir.frames.roles import TEXT, find, required
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Fusion
from polars_ir.runs.rankings import LowerIsBetter, systems_in

LIST = ["run", "query_id"]

#: Most systems sorted column by column with compared neighbours, whose cost is quadratic.
MOST_COLUMNS = 16

#: Names of a column of distances, whose lowest is the best.
DISTANCES = ("distance", "dist")


def table_of(
    runs: Any, fusion: Fusion, *, lower_is_better: LowerIsBetter = False, apart: bool = False
) -> CanonicalFrame:
    """The runs of a fusion as one table, checked; unless each is for itself (`apart`), two must share a query."""
    is_list = isinstance(runs, (list, tuple)) and runs and not isinstance(runs[0], tuple)
    named = {str(number): run for number, run in enumerate(runs, 1)} if is_list else runs
    if lower_is_better is False and not fusion.by_rank_column:
        for name, run in named.items() if isinstance(named, Mapping) else [(None, named)]:
            _check_direction(None if name is None else str(name), run)
    if fusion.by_rank_column:
        named = {name: _by_rank(run) for name, run in named.items()} if isinstance(named, Mapping) else _by_rank(named)
    table = run_table(named)
    if "run" not in table.dtypes:
        says = f"needs several runs; got one, which has {', '.join(map(repr, table.columns))} and no column 'run'."
        raise ColumnError(says, about="fuse", fix="Give a dict of runs by name, or a list")
    if not isinstance(table.dtypes["run"], TEXT):
        table = table.cast("run", pl.String())  # as weights, terms and messages name systems
    if is_searched(table):
        search_duplicates(table)
    if (systems := table.systems or systems_in(table)) is not None:
        table = replace(table, systems=_several(systems))
    if not apart:
        _check_common(table)
    return table


def of_one(runs: Table[FrameT]) -> FrameT:
    """A run of the kind that the result has."""
    return cast("FrameT", runs[0] if isinstance(runs, (list, tuple)) else runs)


def systems_of(table: CanonicalFrame) -> tuple[str, ...]:
    """The names of the runs, which must be several; those in one table are read, and sorted."""
    return table.systems or _several(sorted(table.select("run").unique().collect()["run"].cast(pl.String)))


def _several(systems: Sequence[str]) -> tuple[str, ...]:
    if len(systems) < 2:
        names = ", ".join(map(repr, systems)) or "no row"
        raise InputTypeError(f"fuse needs several runs; got {len(systems)}: {names}.")
    return tuple(systems)


def repeated(systems: Sequence[str] | None) -> pl.Expr:
    """True for a document that some run returned more than once."""
    run, returned = pl.col("run"), pl.col("rank").is_not_null()
    if systems is None or len(systems) > MOST_COLUMNS:
        return pl.when(returned).then(run).drop_nulls().n_unique() < returned.sum()
    # A sum of n powers of two has n ones if and only if no two of them are the same.
    powers = (pl.when(run == system).then(pl.lit(2**i, pl.UInt64)) for i, system in enumerate(systems))
    return pl.when(returned).then(pl.coalesce(powers)).sum().bitwise_count_ones() < returned.sum()


def _by_rank(run: Any) -> Any:
    """A run without its score, ordered by its rank column instead."""
    frame = to_polars("run", run, column="score")
    columns = frame.collect_schema().names()
    required("run", "rank", columns)
    score = find("run", "score", columns)
    return frame if score is None else frame.drop(score)


def _check_common(table: CanonicalFrame) -> None:
    """Raise an error for runs in memory no two of which answer the same query."""
    # The first row of each piece of a list is enough, and the others need no hash.
    starts = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in ("run", "query_id"))
    lists = table.found(table.select("run", "query_id").filter(starts).unique())
    if lists.height and not lists["query_id"].is_duplicated().any():
        first = lists.group_by("run").agg(pl.col("query_id").min()).sort("run").head(3)
        ids = ", ".join(f"{query!r} in {run!r}" for run, query in first.iter_rows())
        raise InputTypeError(f"the runs have no query in common; queries are {ids}.", fix="Give them ids of one form")


def _check_direction(name: str | None, run: Any) -> None:
    """Raise an error for distances without `lower_is_better`: by their name, or by the ranks beside them."""
    if not (isinstance(run, (pl.DataFrame, pl.LazyFrame)) or is_pandas(run)):
        return
    frame = to_polars("run", run, column="score")
    columns = frame.collect_schema().names()
    distance = next((column for column in columns if fold(column) in DISTANCES), None)
    rank = find("run", "rank", columns)
    if distance is None and rank is None:
        return
    score, query, system = (find("run", role, columns) for role in ("score", "query_id", "run"))
    own = pl.lit(name) if system is None else pl.col(system)
    if distance is not None and (systems := _without_scores(frame, own, distance, score)):
        says = f"has distances in {distance!r}, and no score: the lowest is the best. Rename the column to 'score'."
        raise ColumnError(says, about=_named(systems), fix=_say_so(systems))
    if score is None or rank is None or query is None or not isinstance(frame, pl.DataFrame):
        return
    if systems := _rising(frame.select(own.alias("run"), query, rank, score)):
        says = f"has scores that rise with the rank ({score!r}, {rank!r}), as distances do."
        raise DataError(says, about=_named(systems), fix=_say_so(systems))


def _named(systems: list[str | None]) -> str:
    return "runs" if systems[0] is None else f"run {systems[0]!r}"


def _say_so(systems: list[str | None]) -> Fix:
    """Ask which systems hold distances: the scores of the others must keep their sign."""
    return Fix("Say so", Setting("lower_is_better", True if systems[0] is None else systems))


def _without_scores(
    frame: pl.DataFrame | pl.LazyFrame, system: pl.Expr, distance: str, score: str | None
) -> list[str | None]:
    """The systems whose rows have a distance and no score; of a plan, which is not read, its own name."""
    if isinstance(frame, pl.LazyFrame):
        own = pl.select(system).item() if system.meta.is_literal() else None
        return [own] if score is None else []
    has_score = pl.lit(False) if score is None else pl.col(score).is_not_null()
    rows = frame.filter(pl.col(distance).is_not_null() & ~has_score)
    return rows.select(system.cast(pl.String)).to_series().unique(maintain_order=True).to_list()


def _rising(rows: pl.DataFrame) -> list[str | None]:
    """The systems with a list whose scores rise all the way down, and none whose scores ever fall.

    The columns are the system, the query, the rank and the score; systems without ranks are passed over.
    """
    system, query, rank, score = map(pl.col, rows.columns)
    ranked = rows.filter(rank.is_not_null())
    steps = ranked.select(system, step=score.sort_by(rank).diff().over([system, query], mapping_strategy="explode"))
    rises, falls = (pl.col("step") > 0).any(), (pl.col("step") < 0).any()
    directions = steps.group_by(system, maintain_order=True).agg(rises=rises, falls=falls)
    rising = directions.filter(pl.col("rises") & ~pl.col("falls"))
    return rising.select(system.cast(pl.String)).to_series().to_list()


def check_collected(table: CanonicalFrame, rows: pl.DataFrame) -> None:
    """Raise a `DataError` for duplicates in the rows of runs that `table_of` did not search: large ones, and plans."""
    if not is_searched(table):
        table.check_once(*table.keys, "doc_id", made=rows)
