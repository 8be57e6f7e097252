"""Confidence intervals of a mean over queries.

Conventions: an interval that is not defined is None: of fewer than two values, or a BCa interval of values that are all
the same. Bootstrap intervals draw queries, each with its weight; the same seed gives the same interval.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]

#: So many drawn values are in memory at once; more make it no faster.
DRAWN = 1_000_000

#: The methods of `scipy.stats.bootstrap`.
BOOTSTRAPS = ("percentile", "BCa")


def interval(
    values: Floats,
    *,
    kind: str,
    confidence: float = 0.95,
    weights: Floats | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The confidence interval of the mean of values, or of their weighted mean, none of them NaN.

    The standard error of a weighted mean is that of its linearisation, sqrt(n / (n - 1) * sum((w * (x - mean))^2)) /
    sum(w) (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, 6.3), which equal weights make std / sqrt(n).

    >>> interval(np.array([0.0, 1.0]), kind="percentile")
    (0.0, 1.0)
    """
    if len(values) < 2:
        return None
    if kind in BOOTSTRAPS:
        return _bootstrap(values, weights, kind, confidence, resamples, seed)
    n = len(values)
    quantile = stats.norm.ppf((1 + confidence) / 2) if kind == "normal" else stats.t.ppf((1 + confidence) / 2, n - 1)
    mean, half = _mean(values, weights), float(quantile) * standard_error(values, weights)
    return mean - half, mean + half


def standard_error(values: Floats, weights: Floats | None = None) -> float:
    """The standard error of the mean, or of the weighted mean, of at least two values."""
    n = len(values)
    if weights is None:
        return float(values.std(ddof=1)) / math.sqrt(n)
    apart = weights * (values - _mean(values, weights))
    return math.sqrt(n / (n - 1) * float(apart @ apart)) / float(weights.sum())


def _mean(values: Floats, weights: Floats | None) -> float:
    return float(np.average(values, weights=weights))


def _bootstrap(
    values: Floats, weights: Floats | None, kind: str, confidence: float, resamples: int, seed: int
) -> tuple[float, float] | None:
    if kind == "BCa" and np.ptp(values) == 0:
        return None
    data = (values,) if weights is None else (values, weights)
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        # Where next to all weight is on one query, SciPy warns and has no BCa interval.
        found = stats.bootstrap(
            data,
            _means,
            paired=True,
            vectorized=True,
            method=kind,
            confidence_level=confidence,
            n_resamples=resamples,
            batch=max(1, DRAWN // len(values)),
            rng=np.random.default_rng(seed),
        ).confidence_interval
    low, high = float(found.low), float(found.high)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _means(values: Floats, weights: Floats | None = None, *, axis: int) -> Floats:
    """The mean of every resample."""
    if weights is None:
        return np.asarray(values.mean(axis=axis))
    return np.asarray((weights * values).sum(axis=axis) / weights.sum(axis=axis))
