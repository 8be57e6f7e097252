"""Student's t: by SciPy for numbers, and by an expression for columns.

Conventions: SciPy is an extra, and `summarize` by default needs neither SciPy nor the values in memory; so columns have
their quantiles by formulas. The functions used are those below `scipy.stats.t`, which give the same bits: its checks
take fifty times as long.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

import polars as pl

#: Numbers nearer to 0 are scaled before they are squared or cubed: the results would leave the floats.
TINY = 2.0**-200

#: Most degrees of freedom for which quantiles of t are found one by one.
EXACT = 100


@functools.lru_cache
def quantile(share: float, df: float) -> float:
    """The quantile of t at the probability `share`."""
    from scipy import special

    return float(special.stdtrit(df, share))


def below(t: float, df: float) -> float:
    """Probability of a lower value."""
    from scipy import special

    return float(special.stdtr(df, t))


def two_sided(t: float, df: float) -> float:
    """Two-sided p: probability of a value as far from 0."""
    return 2 * below(-abs(t), df)


def quantiles(alpha: float, df: pl.Expr) -> pl.Expr:
    """Two-sided quantile of Student's t, exceeded by |t| with a probability of alpha; null below one degree of freedom.

    Above `EXACT` degrees it is the Fisher-Cornish expansion, right to the tenth digit there (Abramowitz & Stegun,
    26.7.5).
    """
    z = NormalDist().inv_cdf(1 - alpha / 2)
    parts = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    expansion = pl.sum_horizontal(pl.lit(z), *(part / df**power for power, part in enumerate(parts, 1)))
    exact = df.replace_strict(_few_quantiles(alpha), default=None, return_dtype=pl.Float64)
    return pl.when(df > EXACT).then(expansion).otherwise(exact)


@functools.cache
def _few_quantiles(alpha: float) -> dict[int, float]:
    """Quantiles of t for few degrees of freedom, by bisecting the angle whose tangent is t / sqrt(df)."""
    quantiles = {}
    for df in range(1, EXACT + 1):
        low, high = 0.0, math.pi / 2
        for _ in range(60):
            angle = (low + high) / 2
            low, high = (angle, high) if _chance_within(angle, df) < 1 - alpha else (low, angle)
        quantiles[df] = math.tan(low) * math.sqrt(df)
    return quantiles


def _chance_within(angle: float, df: int) -> float:
    """P(|t| < sqrt(df) tan(angle)) (Abramowitz & Stegun, 26.7.3 and 26.7.4)."""
    cosine, odd = math.cos(angle), df % 2
    terms = [1.0] if df > 1 else []
    for k in range(2 + odd, df, 2):
        terms.append(terms[-1] * cosine**2 * (k - 1) / k)
    if not odd:
        return math.sin(angle) * sum(terms)
    return 2 / math.pi * (angle + math.sin(angle) * cosine * sum(terms))
