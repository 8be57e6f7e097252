"""Confidence intervals of a mean over queries.

Conventions: an interval that is not defined is None: of fewer than two values, or a bootstrap that needs a spread of
values that are all the same. Bootstrap intervals draw queries, each with its weight; the same seed gives the same
interval. `support` is the lowest and the highest value there can be, infinite where that is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from polars_ir.statistics.bounds import BOUNDS, lower_bound
from polars_ir.statistics.randomisation import ROUNDING, Floats, counted
from polars_ir.statistics.studentised import bootstrap_t

#: So many drawn values are in memory at once; more make it no faster.
DRAWN = 1_000_000

#: So many means of samples are.
MEANS = 20_000_000

#: The methods of `scipy.stats.bootstrap`, whose figures these are.
BOOTSTRAPS = ("percentile", "BCa")

#: Of values that can be anything.
ANY = (-math.inf, math.inf)


def interval(
    values: Floats,
    *,
    kind: str,
    confidence: float = 0.95,
    weights: Floats | None = None,
    support: tuple[float, float] = ANY,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The confidence interval of the mean of values, or of their weighted mean, none of them NaN.

    The standard error of a weighted mean is that of its linearisation, sqrt(n / (n - 1) * sum((w * (x - mean))^2)) /
    sum(w) (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, 6.3), which equal weights make std / sqrt(n).

    >>> interval(np.array([0.0, 1.0]), kind="percentile")
    (0.0, 1.0)
    """
    together, of_one = None if weights is None else [weights], [support]
    drawn = {"resamples": resamples, "seed": seed}
    return intervals([values], kind=kind, confidence=confidence, weights=together, supports=of_one, **drawn)[0]


def intervals(
    samples: Sequence[Floats],
    *,
    kind: str,
    confidence: float = 0.95,
    weights: Sequence[Floats] | None = None,
    supports: Sequence[tuple[float, float]] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[tuple[float, float] | None]:
    """The interval of each of several samples; a bootstrap draws the same for all of one size, and so but once.

    The bounds of `BOUNDS` know no weights.
    """
    weighed = [None] * len(samples) if weights is None else [_scaled(of_sample) for of_sample in weights]
    if kind in BOUNDS:
        return [
            _by_bounds(values, kind, confidence, support)
            for values, support in zip(samples, supports or [ANY] * len(samples), strict=True)
        ]
    if kind in BOOTSTRAPS:
        return _bootstraps(samples, weighed, kind, confidence, resamples, seed)
    if kind == "bootstrap-t":
        return bootstrap_t(samples, weighed, confidence, resamples, seed)
    return [
        _by_standard_error(values, of_sample, kind, confidence) if len(values) > 1 else None
        for values, of_sample in zip(samples, weighed, strict=True)
    ]


def _by_bounds(
    values: Floats, kind: str, confidence: float, support: tuple[float, float]
) -> tuple[float, float] | None:
    """Two bounds, each of which misses the mean with half of what confidence leaves."""
    alpha = (1 - confidence) / 2
    low = lower_bound(values, kind, lowest=support[0], alpha=alpha)
    high = lower_bound(-values, kind, lowest=-support[1], alpha=alpha)
    return None if low is None or high is None else (low, -high)


def _scaled(weights: Floats) -> Floats:
    """The weights as shares of the largest, whose squares are neither too small nor too large for floats."""
    return weights / (weights.max(initial=0) or 1.0)


def _by_standard_error(values: Floats, weights: Floats | None, kind: str, confidence: float) -> tuple[float, float]:
    place = (1 + confidence) / 2
    quantile = stats.norm.ppf(place) if kind == "normal" else stats.t.ppf(place, len(values) - 1)
    mean, half = _mean(values, weights), float(quantile) * standard_error(values, weights)
    return mean - half, mean + half


def standard_error(values: Floats, weights: Floats | None = None) -> float:
    """The standard error of the mean, or of the weighted mean, of at least two values."""
    n = len(values)
    if weights is None:
        return float(values.std(ddof=1)) / math.sqrt(n)
    weights = _scaled(weights)
    apart = weights * (values - _mean(values, weights))
    return math.sqrt(n / (n - 1) * float(apart @ apart)) / float(weights.sum())


def _mean(values: Floats, weights: Floats | None) -> float:
    return float(np.average(values, weights=weights))


def _bootstraps(
    samples: Sequence[Floats],
    weights: Sequence[Floats | None],
    kind: str,
    confidence: float,
    resamples: int,
    seed: int,
) -> list[tuple[float, float] | None]:
    ends: list[tuple[float, float] | None] = [None] * len(samples)
    by_size: dict[int, list[int]] = {}
    for place, values in enumerate(samples):
        if len(values) > 1 and not (kind == "BCa" and np.ptp(values) == 0):
            by_size.setdefault(len(values), []).append(place)
    at_once = max(1, MEANS // resamples)
    for alike in by_size.values():
        for places in (alike[start : start + at_once] for start in range(0, len(alike), at_once)):
            columns = [(samples[place], weights[place]) for place in places]
            for place, (of_column, means) in zip(
                places, zip(columns, _drawn_means(columns, resamples, seed), strict=True), strict=True
            ):
                ends[place] = _percentiles(*of_column, means, kind, confidence)
    return ends


def _drawn_means(columns: Sequence[tuple[Floats, Floats | None]], resamples: int, seed: int) -> Floats:
    """The means of samples drawn from each column, all of one length, with replacement: a row per column."""
    n = len(columns[0][0])
    generator = np.random.default_rng(seed)
    products = np.column_stack([values if weights is None else weights * values for values, weights in columns])
    divisors = np.column_stack([np.ones(n) if weights is None else weights for _, weights in columns])
    is_weighted = any(weights is not None for _, weights in columns)
    observed = np.array([_means(values, weights) for values, weights in columns])
    rounding = ROUNDING * np.array([np.abs(values).max() for values, _ in columns])
    means = np.empty((len(columns), resamples))
    step = max(1, DRAWN // n)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = generator.integers(n, size=(rows, n))
        counts = counted(drawn)
        part = means[:, start : start + rows]
        with np.errstate(all="ignore"):
            part[:] = (counts @ products / (counts @ divisors if is_weighted else n)).T
        # BCa counts the means below the observed one. Of those that differ from it by rounding alone, SciPy's order of
        # adding up decides, here as there.
        for number, near in enumerate(np.abs(part - observed[:, None]) <= rounding[:, None]):
            values, weights = columns[number]
            places = drawn[near]
            part[number, near] = _means(values[places], None if weights is None else weights[places])
    return means


def _means(values: Floats, weights: Floats | None) -> Floats:
    """The mean of each row."""
    if weights is None:
        return np.asarray(values.mean(axis=-1))
    with np.errstate(all="ignore"):
        return np.asarray((weights * values).sum(axis=-1) / weights.sum(axis=-1))


def _percentiles(
    values: Floats, weights: Floats | None, means: Floats, kind: str, confidence: float
) -> tuple[float, float] | None:
    """The ends of the interval among the means of samples, as `scipy.stats.bootstrap` finds them."""
    places = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    with np.errstate(all="ignore"):
        if kind == "BCa":
            places = _corrected(places, values, weights, means)
        # Where next to all weight is on one query, there is no such interval.
        percentiles = np.percentile(means, places * 100) if np.isfinite(places).all() else places
    low, high = percentiles.tolist()
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _corrected(places: Floats, values: Floats, weights: Floats | None, means: Floats) -> Floats:
    """Where the ends are, corrected for bias and acceleration (Efron 1987, https://doi.org/10.2307/2289144)."""
    observed = _means(values, weights)
    bias = special.ndtri(((means < observed).sum() + (means <= observed).sum()) / (2 * len(means)))
    if weights is None:
        without = (values.sum() - values) / (len(values) - 1)
    else:
        products = weights * values
        without = (products.sum() - products) / (weights.sum() - weights)
    apart = without.mean() - without
    acceleration = (apart**3).sum() / (6 * (apart**2).sum() ** 1.5)
    moved = bias + special.ndtri(places)
    corrected: Floats = special.ndtr(bias + moved / (1 - acceleration * moved))
    return corrected
