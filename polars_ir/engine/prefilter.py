"""Rows that a join would drop, left out before it: a lookup in a table of hashes costs a fraction of the join.

The table has many more slots than there are entries, and the hash of a row's values is its slot. Rows can share a slot
with an entry that is not theirs, so that some stay that the join has to drop: no result depends on the hashes. But
equal values have equal hashes only in columns of one dtype.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import xor

import polars as pl

from polars_ir.engine import tuning


def among(columns: Sequence[str] | pl.Expr, entries: pl.DataFrame) -> pl.Expr:
    """True for a row that may be one of the entries: its values of `columns`, or their hash, against theirs, in order.

    An expression is the hash of columns that has been computed.
    """
    if entries.is_empty():
        return pl.lit(False)
    size = _size(entries)
    table = pl.repeat(False, size, dtype=pl.Boolean, eager=True)
    table.scatter(entries.select(_slot(entries.columns, size)).to_series(), True)
    return pl.lit(table).gather(_slot(columns, size))


def reaches(columns: Sequence[str], score: str, floors: pl.DataFrame) -> pl.Expr:
    """True for a row whose score may reach the floor of its values of `columns`; floors are entries with a score.

    A floor as a Float64 lets a row through that is as high once both are rounded, whether or not it was before.
    """
    *others, floor = floors.columns
    size = _size(floors)
    lowest = floors.group_by(slot=_slot(others, size)).agg(pl.col(floor).min().cast(pl.Float64))
    table = pl.repeat(math.inf, size, dtype=pl.Float64, eager=True).scatter(lowest["slot"], lowest[floor])
    return pl.col(score).cast(pl.Float64) >= pl.lit(table).gather(_slot(columns, size))


def _size(entries: pl.DataFrame) -> int:
    """Number of slots, a power of two."""
    return 1 << (tuning.TUNING.slots * entries.height).bit_length()


def hash_of(columns: Sequence[str], seed: int = 0) -> pl.Expr:
    """The hash of some columns' values; others can share it."""
    # Each with a seed of its own, or equal values would cancel out.
    return reduce(xor, (pl.col(column).hash(place) for place, column in enumerate(columns, seed)))


def _slot(columns: Sequence[str] | pl.Expr, size: int) -> pl.Expr:
    """Slot of some columns' values, or of their hash."""
    return (columns if isinstance(columns, pl.Expr) else hash_of(columns)) & (size - 1)
