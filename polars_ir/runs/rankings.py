"""The ranked lists of a run: one a query, or one a query and system, in the package's one order of documents.

Conventions: scores fall, equal scores are ordered by document id falling, as everywhere in this package. A run in
memory is searched for duplicates up to the size `pairing` says; bad values of a LazyFrame make its plan fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from polars_ir.engine import tuning
from polars_ir.engine.numbers import Rankings, row_numbers
from polars_ir.engine.pairing import is_searched, search_duplicates
from polars_ir.engine.placing import places
from polars_ir.engine.ranking import guarded, place, text
from polars_ir.engine.relation import OUR_MESSAGE
from polars_ir.errors import DataError, OptionError, nearest, quoted
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import Table, run_table

#: Whether scores are distances: of all systems, or of those listed.
LowerIsBetter = bool | Iterable[str]


def checked_run(run: Any) -> Table:
    """A run as a table, without duplicates as far as it is searched."""
    table = run_table(run)
    if is_searched(table):
        search_duplicates("run", table, [*table.keys, "doc_id"])
    return table


def oriented(run: Table, *columns: str, lower_is_better: LowerIsBetter = False) -> pl.LazyFrame:
    """The keys, `doc_id`, `score` and other columns of a run, distances with a minus: the highest score is the best."""
    needed = dict.fromkeys([*run.keys, "doc_id", "score", *columns])
    rows = run.select(*needed)
    if (distance := _distances(run, lower_is_better)) is not None:
        wide = pl.Int128 if run.dtypes["score"] == pl.UInt64 else run.dtypes["score"]
        score = pl.col("score").cast(wide)
        rows = rows.with_columns(score=pl.when(distance).then(-score).otherwise(score))
    return rows


def ranked(run: Table, *columns: str, lower_is_better: LowerIsBetter = False, whole: bool = False) -> pl.LazyFrame:
    """The keys, `doc_id`, `score` and `rank` of every row, with other columns of the run.

    The score is Float64, unless it is to be `whole`: a Float64 can not hold every integer.
    """
    rows = oriented(guarded(run), *columns, lower_is_better=lower_is_better)
    if run.eager and run.rows >= tuning.TUNING.streaming_rows:
        # In one chunk, in which ids and numbers are looked up in a fraction of the time.
        rows = _placed(rows.collect().rechunk()).lazy()
    else:
        rows = rows.with_columns(rank=place("score").over(run.keys))
    return rows if whole else rows.with_columns(pl.col("score").cast(pl.Float64))


def _placed(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows in memory with their ranks, found by number: a third of the time, and less where they stand in order."""
    rankings = Rankings.of(rows)
    ranks = places(rankings, row_numbers(rows.height), by_id=True)["rank"]
    return rows.with_columns(ranks.cast(pl.UInt32))


def _distances(run: Table, lower_is_better: object) -> pl.Expr | None:
    """Whether a row's score is a distance; None where none is."""
    if isinstance(lower_is_better, bool):
        return pl.lit(True) if lower_is_better else None
    if isinstance(lower_is_better, str) or not isinstance(lower_is_better, Iterable):
        says = f"must be True, False or a list of systems; got {lower_is_better!r}."
        raise OptionError(says, about="lower_is_better")
    if "run" not in run.dtypes:
        raise OptionError("must be True or False for a run of one system.", about="lower_is_better")
    names = [str(name) for name in lower_is_better]
    known = systems_in(run)
    if known is not None and (unknown := [name for name in names if name not in known]):
        says = f"names {unknown[0]!r}, which is no system; they are {quoted(known)}."
        raise OptionError(says, about="lower_is_better", near=nearest(unknown[0], known))
    return pl.col("run").cast(pl.String).is_in(names)


def systems_in(run: Table) -> list[str] | None:
    """The names of the systems, sorted; None for a LazyFrame of several, whose names are not read yet."""
    if run.systems is not None:
        return sorted(run.systems)
    return sorted(run.select("run").unique().collect()["run"].cast(pl.String)) if run.eager else None


def first(rows: pl.LazyFrame, top: int) -> pl.LazyFrame:
    """The first documents of each query by their scores."""
    return rows.filter(place("score").over("query_id") <= top)


def in_order(rows: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """The rows by system, query and falling score, equal scores by id falling."""
    falling = [*[False] * len(keys), True, True]
    return rows.sort(*keys, "score", text("doc_id"), descending=falling)


def returned(result: pl.LazyFrame, run: Table, like: Any) -> Any:
    """A result in the kind of the run, its query column under the name it had there."""
    result = result.rename({"query_id": run.names["query_id"]})
    return result if not run.eager else give_back(collected(result, run.rows), like)


def collected(plan: pl.LazyFrame, rows: int | None = None) -> pl.DataFrame:
    """What a plan over so many rows in memory, or over files, gives; what it finds wrong becomes an error of ours."""
    small = rows is not None and rows < tuning.TUNING.streaming_rows
    try:
        return plan.collect(engine="in-memory" if small else "streaming")
    except pl.exceptions.InvalidOperationError as error:
        if ours := OUR_MESSAGE.search(str(error)):
            raise DataError(ours[1]) from None
        raise


def of_ranks(table: Table, among: pl.Expr, like: Any) -> Any:
    """The rows of a run whose rank is among some, each list by falling score, as the kind of `like`."""
    others = [column for column in table.columns if column not in (*table.keys, "doc_id", "score")]
    rows = ranked(table, *others, whole=True).filter(among).drop("rank")
    return returned(in_order(rows, table.keys), table, like)
