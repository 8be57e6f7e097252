"""Wilson's interval of the mean of values between two ends, as an expression.

Conventions: the interval is that of a share of as many queries as would give the mean its standard error if every value
were one of both ends. It never leaves the ends, nor closes at them.
"""

from __future__ import annotations

import polars as pl

#: A mean so near to an end, as a share of the range, is at it: sums have rounding errors.
AT_END = 1e-12

#: So many queries of the widest spread are added: with fewer, less than .93 of intervals of 95 % hold some shares.
ADDED = 2


def wilson(
    mean: pl.Expr, error: pl.Expr, n: pl.Expr, *, z: float, between: tuple[float, float]
) -> tuple[pl.Expr, pl.Expr]:
    """The ends of the interval, `z` being the quantile of the normal distribution; null for one query.

    With m the mean and e its standard error, both as shares of the range, and n queries, 1 / n' is
    e^2 / (m (1 - m)) + 2 / (n (n - 1)): the second part, two queries more of the widest spread there is, keeps the
    interval open where all values are the same. The ends are those of Wilson's of n' queries
    (https://doi.org/10.2307/2276774), (m + z^2 / 2n' -/+ z sqrt(m (1 - m) / n' + z^2 / 4n'^2)) / (1 + z^2 / n').
    """
    low, width = between[0], between[1] - between[0]
    m = (mean - low) / width
    spread = (m * (1 - m)).clip(0)
    # At an end, the ratio of both is what it is for values that are one of the ends.
    inflated = pl.when(spread > AT_END).then((error / width) ** 2 / spread).otherwise(1 / (n - 1))
    r = z**2 * (inflated + ADDED / (n * (n - 1)))
    middle, half = (m + r / 2) / (1 + r), (spread * r + r**2 / 4).sqrt() / (1 + r)
    lower, upper = ((low + width * end.clip(0, 1)).fill_nan(None) for end in (middle - half, middle + half))
    return lower, upper
