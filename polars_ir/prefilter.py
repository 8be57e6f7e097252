"""Rows that a join would drop, left out before it: a look into a table of hashes costs a fraction of the join.

The table has many more slots than there are entries, and the hash of a row's values is its slot. Rows can share a slot
with an entry that is not theirs, so that some stay that the join has to drop: no result hangs on the hashes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

#: Slots for each entry, at least: more let fewer rows through, and fewer stay in the processor's cache (measured).
SLOTS = 16


def among(columns: Sequence[str], entries: pl.LazyFrame) -> pl.Expr:
    """Whether the values of some columns may be those of an entry, which has them in as many columns of its own."""
    known = entries.collect()
    if known.is_empty():
        return pl.lit(False)
    size = _size(known)
    table = pl.repeat(False, size, dtype=pl.Boolean, eager=True)
    table.scatter(known.select(_slot(known.columns, size)).to_series(), True)
    return pl.lit(table).gather(_slot(columns, size))


def reaches(score: str, columns: Sequence[str], entries: pl.LazyFrame) -> pl.Expr:
    """Whether a score may be as high as the lowest, which is the last column, of the entries with some values."""
    known = entries.collect()
    size, (*others, lowest) = _size(known), known.columns
    falling = known.sort(lowest, descending=True)
    table = pl.repeat(math.inf, size, dtype=pl.Float64, eager=True)
    # Of entries that share a slot the last, and lowest, stays.
    table.scatter(falling.select(_slot(others, size)).to_series(), falling[lowest].cast(pl.Float64))
    # Rounding to Float64 keeps the order.
    return pl.col(score).cast(pl.Float64) >= pl.lit(table).gather(_slot(columns, size))


def _size(entries: pl.DataFrame) -> int:
    """The number of slots, a power of two."""
    return 1 << (SLOTS * entries.height).bit_length()


def _slot(columns: Sequence[str], size: int) -> pl.Expr:
    """The slot of some columns' values, each with a seed of its own, or equal values would cancel out."""
    first, *others = (pl.col(column).hash(seed) for seed, column in enumerate(columns))
    for other in others:
        first ^= other
    return first & (size - 1)
