"""Exact sums, the same in any order of the values, by any engine and number of threads.

Conventions: a value as a multiple of a `unit`, a power of two that is about as large as the largest one, is an integer
but for bits below 2^-`BITS` of the unit. Int128 adds up integers without rounding, and the sum is rounded once.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl

#: Bits of a value that count, below the unit: of 127, they leave 41 for the number of values, 2 * 10^12.
BITS = 86

#: The smallest share of a unit whose last bit still counts.
LEAST = 2.0 ** (53 - BITS)


def exact_sum(values: pl.Expr, unit: pl.Expr | float | None = None, *, strict: bool = True) -> pl.Expr:
    """Sum of the non-null values, 0 where there is none; by default the unit is that of the largest value.

    Values beyond the unit, NaN and infinite ones are an error or, unless `strict`, left out.

    >>> pl.DataFrame({"v": [0.1, 1e8, -1e8, None]}).select(exact_sum(pl.col("v"))).item()
    0.1
    """
    unit = unit_of(values.abs().max()) if unit is None else unit
    whole = (values / unit * 2.0**BITS).cast(pl.Int128, strict=strict).sum()
    return whole.cast(pl.Float64) / 2.0**BITS * unit


def unit_of(largest: pl.Expr) -> pl.Expr:
    """Unit of values by their largest size; 1 if that is 0, or if there is none.

    >>> pl.DataFrame({"v": [0.3, 4.0, 0.0]}).select(unit_of(pl.col("v"))).to_series().to_list()
    [0.5, 4.0, 1.0]
    """
    # Once only, as Polars computes it for each time that it is named.
    return pl.lit(2.0).pow(largest.replace(0.0, 1.0).fill_null(1.0).log(2).ceil().clip(-1000))


def shared_unit(values: pl.DataFrame) -> float | None:
    """Unit by which no sum of any of the values loses a bit, if there is one.

    >>> shared_unit(pl.DataFrame({"v": [0.3, 1e-9], "w": [3, 0]})), shared_unit(pl.DataFrame({"v": [0.3, 1e-99]}))
    (4.0, None)
    """
    sizes = [column.cast(pl.Float64).abs() for column in values]
    ends: list[Any] = [end for column in sizes for end in (column.max(), column.filter(column > 0).min())]
    largest, least = max(filter(None, ends), default=0.0), min(filter(None, ends), default=0.0)
    return math.ldexp(1.0, math.frexp(largest)[1]) if 0 < largest * LEAST <= least else None
