"""Ranked lists of a run: one a query, or one a query and system, in the package's one order of documents.

Conventions: scores fall, equal scores are ordered by document id falling, as everywhere in this package. A run in
memory is searched for duplicates up to a size (`engine/run_and_qrels.py`); invalid values of a LazyFrame make its plan
fail, and so do duplicates as far as it is searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.in_memory import Rankings, places, row_numbers
from polars_ir.engine.run_and_qrels import is_searched, search_duplicates, searched
from polars_ir.errors import OptionError, check_systems, with_names
from polars_ir.frames import kinds
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.rules import guard
from polars_ir.frames.table import run_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.words import place, text

#: A column with the number of systems that an option names.
SEEN = "polars_ir: seen"

#: True, or a list of systems, for scores that are distances.
LowerIsBetter = bool | Iterable[str]


def checked_run(run: Any, by: Sequence[str] = (), /, **names: str) -> CanonicalFrame:
    """A run as a table, without duplicates as far as it is searched; `by` are keys of its rankings.

    `names` are those of tables in errors.
    """
    with with_names(**names):
        table = run_table(run, by=by)
        if is_searched(table):
            search_duplicates(table)
    return table if table.eager else table.with_frame(searched(table.guarded().all_columns(), table))


def oriented(run: CanonicalFrame, *columns: str, lower_is_better: LowerIsBetter = False) -> pl.LazyFrame:
    """Keys, `doc_id`, `score` and other columns of a run, distances negated: the highest score is the best."""
    needed = dict.fromkeys([*run.keys, "doc_id", "score", *columns])
    rows = run.select(*needed)
    if (distance := _distances(run, lower_is_better)) is not None:
        dtype = run.dtypes["score"]
        # In a type that has the negative ones, also of the lowest; Int128 has no negation.
        wide = pl.Int128 if dtype.is_integer() else dtype
        score = pl.col("score").cast(wide)
        turned = 0 - score if dtype.is_integer() else -score
        rows = rows.with_columns(score=pl.when(distance).then(turned).otherwise(score))
        if not isinstance(lower_is_better, bool):
            rows = of_known_systems(rows, "lower_is_better", lower_is_better, run)
    return rows


def of_known_systems(rows: pl.LazyFrame, option: str, names: Iterable[object], run: CanonicalFrame) -> pl.LazyFrame:
    """Rows of a run, whose systems an option names; where these are not read yet, the plan fails for unknown ones."""
    names = sorted(set(map(str, names)))
    if (systems := systems_in(run)) is not None:
        check_systems(option, names, systems)
        return rows
    seen = run.select("run").unique().select(pl.col("run").cast(pl.String).is_in(names).sum().alias(SEEN))
    says = f"{option} names {', '.join(map(repr, names))}, not all of which are systems of the run"
    return guard(rows.join(seen, how="cross"), pl.col(SEEN) < len(names), says).drop(SEEN)


def ranked(
    run: CanonicalFrame,
    *columns: str,
    lower_is_better: LowerIsBetter = False,
    whole: bool = False,
    depth: int | None = None,
) -> pl.LazyFrame:
    """Keys, `doc_id`, `score` and `rank` of every row, or of the rows to a depth, with other columns of the run.

    The score is Float64, unless it is to be `whole`: Float64 cannot hold every integer.
    """
    rows = oriented(run.guarded(), *columns, lower_is_better=lower_is_better)
    if run.eager and run.rows >= tuning.TUNING.streaming_rows:
        # In one chunk, where ids and numbers are looked up in a fraction of the time.
        rows = _placed(rows.collect().rechunk(), run.keys).lazy()
    else:
        rows = rows.with_columns(rank=place("score").over(run.keys))
    rows = rows if depth is None else rows.filter(pl.col("rank") <= depth)
    return rows if whole else rows.with_columns(pl.col("score").cast(pl.Float64))


def _placed(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Rows in memory with their ranks, found by number: a third of the time, and less for ordered rows."""
    rankings = Rankings.of(rows, keys, keys[:-1])
    ranks = places(rankings, row_numbers(rows.height), by_id=True)["rank"]
    return rows.with_columns(ranks.cast(pl.UInt32))


def _distances(run: CanonicalFrame, lower_is_better: object) -> pl.Expr | None:
    """An expression that is true for distances; None where no score is one."""
    if isinstance(lower_is_better, bool):
        return pl.lit(True) if lower_is_better else None
    if isinstance(lower_is_better, str) or not isinstance(lower_is_better, Iterable):
        says = f"must be True, False or a list of systems; got {lower_is_better!r}."
        raise OptionError(says, about="lower_is_better")
    if "run" not in run.dtypes:
        raise OptionError("must be True or False for a run of one system.", about="lower_is_better")
    return pl.col("run").cast(pl.String).is_in([str(name) for name in lower_is_better])


def systems_in(run: CanonicalFrame) -> list[str] | None:
    """Names of the systems, sorted; None for a LazyFrame of several, whose names are not read yet."""
    if run.systems is not None:
        return sorted(run.systems)
    return sorted(run.select("run").unique().collect()["run"].cast(pl.String)) if run.eager else None


def first(rows: pl.LazyFrame, top: int) -> pl.LazyFrame:
    """The first documents of each query by their scores."""
    return rows.filter(place("score").over("query_id") <= top)


def in_order(rows: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Rows by system, query and falling score, equal scores by id falling."""
    falling = [*[False] * len(keys), True, True]
    return rows.sort(*keys, "score", text("doc_id"), descending=falling)


def returned(result: pl.LazyFrame, run: CanonicalFrame, like: Table[FrameT]) -> FrameT:
    """A result in the kind of the run, with the run's name of its query column."""
    return run.give_back(result, like, _engine(run.rows))


def collected(plan: pl.LazyFrame, rows: int | None = None) -> pl.DataFrame:
    """The result of a plan over some rows in memory, or over files; a failed guard raises a `DataError`."""
    return kinds.collected(plan, _engine(rows))


def _engine(rows: int | None) -> Literal["in-memory", "streaming"]:
    """The engine for a plan over some rows in memory, or over files."""
    return "in-memory" if rows is not None and rows < tuning.TUNING.streaming_rows else "streaming"


def of_ranks(table: CanonicalFrame, among: pl.Expr, like: Table[FrameT]) -> FrameT:
    """Rows of a run at some ranks, each list by falling score, in the kind of `like`."""
    others = [column for column in table.columns if column not in (*table.keys, "doc_id", "score")]
    rows = ranked(table, *others, whole=True).filter(among).drop("rank")
    return returned(in_order(rows, table.keys), table, like)
