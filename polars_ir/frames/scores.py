"""Scores of several systems in one type, which must not make different scores equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from polars_ir.errors import Code, DataError, Fix
from polars_ir.frames.checks import guard

if TYPE_CHECKING:
    from polars_ir.frames.table import Table


def score_type(tables: Mapping[str, Table]) -> pl.DataType:
    """The type that holds the scores of all systems: Float64 where one has floats, and no other wide integers."""
    dtypes = {table.dtypes["score"] for table in tables.values()}
    if not any(dtype.is_float() for dtype in dtypes):
        scales = [dtype.scale for dtype in dtypes if isinstance(dtype, pl.Decimal)]
        if pl.UInt128 not in dtypes:
            return pl.Decimal(38, max(scales)) if scales else pl.Int128()
    for system, table in tables.items():
        if table.eager and not table.dtypes["score"].is_float() and not _is_float64(table):
            fix = Fix("Give all systems scores of one type", Code(f"pl.col({table.names['score']!r}).cast(pl.Float64)"))
            raise DataError(f"{_rounded(system, table)}.", fix=fix)
    return pl.Float64()


def with_guarded_score(system: str, table: Table, dtype: pl.DataType) -> Table:
    """The table; where it is a plan whose scores become Float64, it fails for a score that this rounds.

    Whether two scores become equal only all of them would tell; that each is what it was is told row by row.
    """
    own = table.dtypes["score"]
    if table.eager or own.is_float() or not dtype.is_float():
        return table
    sources = []
    for frame, make in table.sources:
        score = make["score"]
        is_rounded = score.cast(pl.Float64).cast(own, strict=False).ne_missing(score)
        message = f"{_rounded(system, table)}; give all systems scores of one type"
        guarded = guard(frame.lazy(), is_rounded, message)
        sources.append((guarded, {**make, "score": score.cast(pl.Float64)}))
    return replace(table, sources=tuple(sources))


def _rounded(system: str, table: Table) -> str:
    """What is wrong with the scores of a system that those of others round."""
    return f"run {system!r} has scores of {table.dtypes['score']} that Float64, the type of others, rounds"


def _is_float64(table: Table) -> bool:
    """Whether Float64 holds the scores of a table apart."""
    score = pl.col("score")
    rounded = score.cast(pl.Float64)
    return bool(table.select("score").select(score.n_unique() == rounded.n_unique()).collect().item())
