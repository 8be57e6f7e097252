"""Tables of several systems as one with a column `run`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, InputTypeError, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import Frame
from polars_ir.frames.known_order import known_order
from polars_ir.frames.roles import KEYS_OF_RUN
from polars_ir.language.columns import canonical_name


def named_by_text(systems: Mapping[Any, Any]) -> dict[str, Any]:
    """Tables of systems by the texts of their names; an `InputTypeError` for two with the same text."""
    named = {}
    for key, table in systems.items():
        # The keys of `partition_by(as_dict=True)` are tuples.
        named[str(key[0] if isinstance(key, tuple) and len(key) == 1 else key)] = table
    if len(named) < len(systems):
        raise InputTypeError(f"two systems have one name as text; got {', '.join(map(repr, systems))}.")
    return named


def systems_of_runs(tables: Mapping[str, CanonicalFrame], by: Sequence[str]) -> CanonicalFrame:
    """Runs of several systems as one table with a `run` column; a system whose run is empty is still one."""
    tables = _with_ids_of_others(tables)
    try:
        "".join(tables).encode()
    except UnicodeEncodeError as error:
        raise InputTypeError.no_text("run", error) from None
    for system, table in tables.items():
        _check_one_system(system, table)
    first = _of_one_type("run", tables, (*KEYS_OF_RUN, *by))
    shared = {
        column: dtype
        for column, dtype in first.dtypes.items()
        if column != "run" and all(table.dtypes.get(column) == dtype for table in tables.values())
    }
    shared.setdefault("score", _score_type(tables))
    guarded = {system: _with_guarded_score(system, table, shared["score"]) for system, table in tables.items()}
    sources = tuple(
        (
            frame,
            {"run": pl.lit(system).alias("run"), **{name: make[name].cast(dtype) for name, dtype in shared.items()}},
        )
        for system, table in guarded.items()
        for frame, make in table.sources
    )
    names = {**first.names, "run": "run"}
    return CanonicalFrame("run", sources, {"run": pl.String(), **shared}, names, tuple(tables), by=tuple(by))


def _check_one_system(system: str, table: CanonicalFrame) -> None:
    """Raise a `ColumnError` for several systems in the table of one, which a plan with such a column may hold."""
    if "run" in table.dtypes and not table.is_empty and table.found(table.select("run")).n_unique() != 1:
        column = table.names["run"]
        fix = Fix("Pass that frame alone, or drop the column", Code(f".drop({column!r})", f".drop(columns={column!r})"))
        raise ColumnError(f"run {system!r} has a column {column!r}: it holds several systems itself.", fix=fix)


def _of_one_type(kind: str, tables: Mapping[str, CanonicalFrame], roles: Sequence[str]) -> CanonicalFrame:
    """The first of the tables of several systems; a `DtypeError` where the ids of another have another type."""
    first = next(iter(tables.values()))
    for system, table in tables.items():
        for role in roles:
            if (dtype := table.dtypes[role]) != first.dtypes[role]:
                wanted = f"{first.dtypes[role]}, as in the first {kind}"
                raise DtypeError.of_column(f"{kind} {system!r}", table.names[role], wanted, dtype, "Cast one.")
    return first


def _with_ids_of_others(tables: Mapping[str, CanonicalFrame]) -> Mapping[str, CanonicalFrame]:
    """The tables, in which ids of a run without rows have the dtypes of another's: an empty dict has none."""
    filled = [table for table in tables.values() if not table.is_empty]
    if not filled:
        return tables
    ids = [pl.col(role).cast(filled[0].dtypes[role]) for role in KEYS_OF_RUN]
    return {
        system: table.with_frame(table.all_columns().with_columns(ids).collect()) if table.is_empty else table
        for system, table in tables.items()
    }


def _score_type(tables: Mapping[str, CanonicalFrame]) -> pl.DataType:
    """Type that holds the scores of all systems: Float64 where one has floats, and no other wide integers."""
    dtypes = {table.dtypes["score"] for table in tables.values()}
    if not any(dtype.is_float() for dtype in dtypes):
        scales = [dtype.scale for dtype in dtypes if isinstance(dtype, pl.Decimal)]
        if pl.UInt128 not in dtypes:
            return pl.Decimal(38, max(scales)) if scales else pl.Int128()
    for system, table in tables.items():
        if table.dtypes["score"].is_float():
            continue
        # Those of a LazyFrame its plan finds out.
        scores = table.found(table.select("score").unique()).to_series()
        if scores.cast(pl.Float64).n_unique() < len(scores):
            fix = Fix("Give all systems scores of one type; a cast to Float64 would make ties of different scores")
            raise DataError(f"{_rounded(system, table)}.", fix=fix)
    return pl.Float64()


def _with_guarded_score(system: str, table: CanonicalFrame, dtype: pl.DataType) -> CanonicalFrame:
    """The table; where it is a plan whose scores become Float64, it fails for a score that this rounds.

    Only all scores together would show that two of them become equal; a rounded one shows in its own row.
    """
    own, score = table.dtypes["score"], pl.col("score")
    if own.is_float() or not dtype.is_float():
        return table
    is_rounded = score.cast(pl.Float64).cast(own, strict=False).ne_missing(score)
    return table.guarded_by(is_rounded, f"{_rounded(system, table)}; give all systems scores of one type")


def _rounded(system: str, table: CanonicalFrame) -> str:
    """The problem of a system whose scores those of others round."""
    return f"run {system!r} has scores of {table.dtypes['score']} that Float64, the type of others, rounds"


def systems_of_figures(tables: Mapping[str, CanonicalFrame]) -> Frame:
    """Per-query tables of several systems as one frame; the query column has its name in the first of them."""
    columns = set()
    for system, table in tables.items():
        columns.add(frozenset(table.dtypes))
        _check_one_system(system, table)
        if table.is_empty:
            warn(f"has no row of system {system!r}, which no result has.", about="per_query")
    if len(columns) > 1:
        tables = _spelt_alike(tables)
    query = {"query_id": _of_one_type("per_query", tables, ["query_id"]).names["query_id"]}
    eager, named = True, []
    for system, table in tables.items():
        eager &= table.eager
        named.append(table.all_columns().with_columns(run=pl.lit(system)).rename(query))
    together = pl.concat(named, how="diagonal_relaxed")
    return together.collect() if eager else _merged(named, query["query_id"], together)


def _merged(plans: Sequence[pl.LazyFrame], key: str, together: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of plans, which are `together` in no order, in that of a key if all are known to be sorted by it."""
    schema = together.collect_schema()
    if all(plan.collect_schema() == schema and known_order(plan, [key]) for plan in plans):
        return reduce(lambda rows, others: rows.merge_sorted(others, key), plans).set_sorted(key)
    return together


def _spelt_alike(tables: Mapping[str, CanonicalFrame]) -> dict[str, CanonicalFrame]:
    """The tables with each measure under the first name that one of them has for it: `ndcg_10` is nDCG@10."""
    first: dict[str, str] = {}
    alike = {}
    for system, table in tables.items():
        names = {name: first.setdefault(canonical_name(name), name) for name in table.columns}
        # A table may hold both.
        names = {name: other for name, other in names.items() if other != name and other not in table.columns}
        rows = table.all_columns().rename(names)
        alike[system] = table.with_frame(table.computed(rows)) if names else table
    return alike
