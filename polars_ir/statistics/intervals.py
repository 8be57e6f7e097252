"""Confidence intervals of a mean over queries.

Conventions: an undefined interval is None: fewer than two values, or constant values in a bootstrap that needs a
spread. Bootstrap intervals resample queries, each with its weight; the same seed gives the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from polars_ir.statistics import student
from polars_ir.statistics.bounds import BOUNDS, lower_bound
from polars_ir.statistics.randomisation import CELLS, ROUNDING, Draws, Floats, all_flips, counted, random_flips, unit
from polars_ir.statistics.samples import Ends, Values
from polars_ir.statistics.significance import rejected_ranks, signed_ranks

#: Drawn values in memory at once; more is no faster.
DRAWN = 1_000_000

#: Means of samples in memory at once.
MEANS = 20_000_000

#: Bisections of the range of values after which an average in it is known to the last bit.
HALVINGS = 60


class Estimate(NamedTuple):
    """A mean with the ends of its interval, the number of values, and a note where the interval is missing."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    note: str | None = None

    @property
    def ends(self) -> Ends | None:
        """The interval, if defined."""
        return None if self.low is None or self.high is None else (self.low, self.high)


#: Intervals of several samples at one confidence; a bootstrap uses the same draws for all.
Estimator = Callable[[Sequence[Values], float, Draws], list[Ends | None]]


def estimates(
    samples: Sequence[Values], kind: str, confidence: float = 0.95, draws: Draws | None = None
) -> list[Estimate]:
    """Mean of each sample, with its interval by one of `ESTIMATORS`.

    The standard error of a weighted mean comes from its linearisation, sqrt(n / (n - 1) * sum((w * (x - mean))^2)) /
    sum(w) (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, 6.3); with equal weights it is std / sqrt(n).

    >>> estimates([Values(np.array([0.0, 1.0]))], "percentile")[0].ends
    (0.0, 1.0)
    """
    scaled = [each if each.weights is None else each._replace(weights=_scaled(each.weights)) for each in samples]
    found = []
    for (values, weights, _), ends in zip(scaled, ESTIMATORS[kind](scaled, confidence, draws or Draws()), strict=True):
        value, note = _mean(values, weights) if len(values) else None, None
        if ends is None:
            same = "all values are the same: " if len(values) and values.min() == values.max() else ""
            note = f"{same}no {kind} interval"
        low, high = ends or (None, None)
        found.append(Estimate(value, low, high, len(values), note))
    return found


def _by_bounds(kind: str) -> Estimator:
    """Intervals between two one-sided bounds, each with half of the error that the confidence allows, unweighted."""

    def intervals(samples: Sequence[Values], confidence: float, _: Draws) -> list[Ends | None]:
        alpha, ends = (1 - confidence) / 2, []
        for values, _weights, (lowest, highest) in samples:
            low = lower_bound(values, kind, lowest=lowest, alpha=alpha)
            high = lower_bound(-values, kind, lowest=-highest, alpha=alpha)
            ends.append(None if low is None or high is None else (low, -high))
        return ends

    return intervals


def _by_standard_error(quantile: Callable[[float, int], float]) -> Estimator:
    """Intervals of mean -/+ quantile * standard error, by the quantile for a number of degrees of freedom."""

    def intervals(samples: Sequence[Values], confidence: float, _: Draws) -> list[Ends | None]:
        ends: list[Ends | None] = []
        for values, weights, _support in samples:
            if len(values) < 2:
                ends.append(None)
                continue
            half = quantile((1 + confidence) / 2, len(values) - 1) * standard_error(values, weights)
            mean = _mean(values, weights)
            ends.append((mean - half, mean + half))
        return ends

    return intervals


def _scaled(weights: Floats) -> Floats:
    """The weights as shares of the largest, so that their squares neither vanish nor overflow."""
    return weights / (weights.max(initial=0) or 1.0)


def standard_error(values: Floats, weights: Floats | None = None) -> float:
    """Standard error of the mean, or of the weighted mean, of at least two values."""
    n = len(values)
    size = float(unit(values)[0])
    values = values / size
    if weights is None:
        return float(values.std(ddof=1)) / math.sqrt(n) * size
    weights = _scaled(weights)
    centred = weights * (values - _mean(values, weights))
    return math.sqrt(n / (n - 1) * float(centred @ centred)) / float(weights.sum()) * size


def _mean(values: Floats, weights: Floats | None) -> float:
    return float(np.average(values, weights=weights))


def _bootstrap(kind: str) -> Estimator:
    """The intervals of `scipy.stats.bootstrap`, from one draw for all samples of a size."""

    def intervals(samples: Sequence[Values], confidence: float, draws: Draws) -> list[Ends | None]:
        ends: list[Ends | None] = [None] * len(samples)
        at_once = max(1, MEANS // draws.resamples)
        for alike in _places_by_size(samples, spread=kind == "BCa").values():
            for places in (alike[start : start + at_once] for start in range(0, len(alike), at_once)):
                columns = [samples[place] for place in places]
                for place, sample, means in zip(places, columns, _drawn_means(columns, draws), strict=True):
                    ends[place] = _percentiles(sample, means, kind, confidence)
        return ends

    return intervals


def _places_by_size(samples: Sequence[Values], *, spread: bool = False) -> dict[int, list[int]]:
    """Places of the samples of each size from 2 on, of those with a spread if it is needed."""
    places: dict[int, list[int]] = {}
    for place, (values, *_) in enumerate(samples):
        if len(values) > 1 and not (spread and np.ptp(values) == 0):
            places.setdefault(len(values), []).append(place)
    return places


def _drawn_means(columns: Sequence[Values], draws: Draws) -> Floats:
    """Means of samples drawn with replacement from columns of equal length: a row per column."""
    n = len(columns[0].values)
    products = np.column_stack([values if weights is None else weights * values for values, weights, _ in columns])
    divisors = np.column_stack([np.ones(n) if weights is None else weights for _, weights, _ in columns])
    is_weighted = any(sample.weights is not None for sample in columns)
    observed = np.array([_means(values, weights) for values, weights, _ in columns])
    rounding = ROUNDING * np.array([np.abs(values).max() for values, *_ in columns])
    means = np.empty((len(columns), draws.resamples))
    start = 0
    for generator, rows in draws.parts(DRAWN // n):
        drawn = generator.integers(n, size=(rows, n))
        counts = counted(drawn)
        part, start = means[:, start : start + rows], start + rows
        with np.errstate(all="ignore"):
            part[:] = (counts @ products / (counts @ divisors if is_weighted else n)).T
        # BCa counts the means below the observed one. Where rounding alone makes them differ, SciPy's order of addition
        # decides, so it is kept here.
        for number, near in enumerate(np.abs(part - observed[:, None]) <= rounding[:, None]):
            values, weights, _ = columns[number]
            places = drawn[near]
            part[number, near] = _means(values[places], None if weights is None else weights[places])
    return means


def _means(values: Floats, weights: Floats | None) -> Floats:
    if weights is None:
        return np.asarray(values.mean(axis=-1))
    with np.errstate(all="ignore"):
        return np.asarray((weights * values).sum(axis=-1) / weights.sum(axis=-1))


def _percentiles(sample: Values, means: Floats, kind: str, confidence: float) -> Ends | None:
    """Endpoints of the interval among the means of samples, as `scipy.stats.bootstrap` finds them."""
    places = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    with np.errstate(all="ignore"):
        if kind == "BCa":
            places = _corrected(places, sample, means)
        # Undefined where nearly all weight is on one query.
        percentiles = np.percentile(means, places * 100) if np.isfinite(places).all() else places
    low, high = percentiles.tolist()
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _corrected(places: Floats, sample: Values, means: Floats) -> Floats:
    """Quantile levels of the ends, corrected for bias and acceleration (Efron 1987, https://doi.org/10.2307/2289144)."""
    values, weights, _ = sample
    observed = _means(values, weights)
    bias = special.ndtri(((means < observed).sum() + (means <= observed).sum()) / (2 * len(means)))
    if weights is None:
        without = (values.sum() - values) / (len(values) - 1)
    else:
        products = weights * values
        without = (products.sum() - products) / (weights.sum() - weights)
    influence = without.mean() - without
    influence /= unit(influence)
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    moved = bias + special.ndtri(places)
    return np.asarray(special.ndtr(bias + moved / (1 - acceleration * moved)))


def _bootstrap_t(samples: Sequence[Values], confidence: float, draws: Draws) -> list[Ends | None]:
    """Student's intervals, by the quantiles of |t| in samples drawn from the queries themselves.

    Symmetric: mean -/+ q * standard error, so that an interval excludes 0 exactly where `randomisation.bootstrap_p` is
    at most 1 - confidence; both draw the same queries.
    """
    ends: list[Ends | None] = [None] * len(samples)
    for n, places in _places_by_size(samples, spread=True).items():
        columns = [_Studentised(samples[place], draws.resamples) for place in places]
        start = 0
        for generator, rows in draws.parts(CELLS // n):
            counts = counted(generator.integers(n, size=(rows, n)))
            for column in columns:
                column.draw(counts, slice(start, start + rows))
            start += rows
        for place, column in zip(places, columns, strict=True):
            ends[place] = column.ends(1 - confidence)
    return ends


class _Studentised:
    """|t| of samples drawn from weighted values, against the mean of these values."""

    def __init__(self, sample: Values, resamples: int) -> None:
        values, weights, _ = sample
        self.weights = np.ones(len(values)) if weights is None else weights
        self.mean = float(np.average(values, weights=self.weights))
        self.size = float(unit(values)[0])
        centred = (values - self.mean) / self.size
        self.moments = np.column_stack(
            [self.weights, self.weights * centred, *((self.weights**2) * centred**k for k in range(3))]
        )
        self.standard_error = float(self._of(np.ones((1, len(values))))[1][0])
        self.t = np.empty(resamples)

    def _of(self, counts: Floats) -> tuple[Floats, Floats]:
        """Deviation of each sample's mean from the overall mean, and its standard error (Cochran's linearisation)."""
        n = counts.shape[1]
        total, first, zeroth, linear, square = (counts @ self.moments).T
        with np.errstate(all="ignore"):
            distance = first / total
            squares = square - 2 * distance * linear + distance**2 * zeroth
            # For constant values, these are rounding residue.
            squares[squares <= ROUNDING * square] = 0
            error = np.sqrt(n / (n - 1) * squares) / total
        return distance, error

    def draw(self, counts: Floats, rows: slice) -> None:
        distance, error = self._of(counts)
        with np.errstate(all="ignore"):
            self.t[rows] = np.where(error > 0, np.abs(distance) / error, np.inf)

    def ends(self, alpha: float) -> Ends | None:
        """The interval that the given number of samples, counting that of the queries themselves, may exceed."""
        allowed = math.floor(alpha * (len(self.t) + 1) * (1 + ROUNDING))
        if not allowed:
            return None
        half = float(np.sort(self.t)[len(self.t) - allowed]) * self.standard_error * self.size
        return (self.mean - half, self.mean + half) if math.isfinite(half) else None


def _between_order_statistics(samples: Sequence[Values], confidence: float, _: Draws) -> list[Ends | None]:
    """Intervals of the median of the non-zero values, which exclude 0 where the sign test rejects."""
    ends: list[Ends | None] = []
    for sample in samples:
        values = np.sort(sample.values[sample.values != 0])
        fewer = stats.binom.cdf(np.arange(len(values) // 2), len(values), 0.5)
        n_rejected = np.count_nonzero(2 * fewer <= (1 - confidence) * (1 + ROUNDING))
        ends.append((float(values[n_rejected - 1]), float(values[-n_rejected])) if n_rejected else None)
    return ends


def _between_walsh_averages(samples: Sequence[Values], confidence: float, _: Draws) -> list[Ends | None]:
    """Intervals around the Hodges-Lehmann median, which exclude 0 where Wilcoxon's test rejects.

    The number of averages of two values, or of one with itself, below the lower end is the test's critical value
    (https://doi.org/10.1214/aoms/1177704172).
    """
    ends: list[Ends | None] = []
    for sample in samples:
        values = np.sort(sample.values[sample.values != 0])
        least = rejected_ranks(signed_ranks(sample.values), 1 - confidence)
        is_none = least < 0 or not len(values)
        found = None if is_none else (_walsh_average(values, least), -_walsh_average(-values[::-1], least))
        ends.append(found)
    return ends


def _walsh_average(values: Floats, least: float) -> float:
    """Smallest average of two sorted values with more than `least` averages at or below it, ties counting half."""
    low, high = float(values[0]), float(values[-1])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below, up_to = (
            (np.searchsorted(values, 2 * middle - values, side).sum() + np.searchsorted(values, middle, side)) / 2
            for side in ("left", "right")
        )
        low, high = (low, middle) if (below + up_to) / 2 > least else (middle, high)
    return high


def _by_flips(samples: Sequence[Values], confidence: float, draws: Draws) -> list[Ends | None]:
    """The set of means that Fisher's randomisation does not reject.

    The sum of values less m is as extreme after a change of signs as before exactly where m is between the mean of the
    values that keep their sign and the mean of the others.
    """
    ends: list[Ends | None] = [None] * len(samples)
    for n, alike in _places_by_size(samples).items():
        is_exact = n < draws.resamples.bit_length()
        n_flips = 2**n if is_exact else draws.resamples
        allowed = math.floor((1 - confidence) * (n_flips + (not is_exact)) * (1 + ROUNDING)) - (not is_exact)
        at_once = max(1, MEANS // n_flips // 2)
        for places in (alike[start : start + at_once] for start in range(0, len(alike), at_once) if allowed >= 0):
            columns = np.column_stack([samples[place].values for place in places])
            flips = all_flips(columns.shape) if is_exact else random_flips(columns.shape, draws)
            lower, higher = (np.concatenate(part) for part in zip(*_halves(columns, flips), strict=True))
            low = np.partition(lower, allowed, axis=0)[allowed]
            high = -np.partition(-higher, allowed, axis=0)[allowed]
            for place, pair in zip(places, np.column_stack([low, high]).tolist(), strict=True):
                ends[place] = (pair[0], pair[1]) if all(map(math.isfinite, pair)) else None
    return ends


def _halves(columns: Floats, flips: Iterable[NDArray[np.uint8]]) -> Iterator[tuple[Floats, Floats]]:
    """Lower and higher of the means of both sign groups, a row per change; infinite where one group is empty."""
    n, total = len(columns), columns.sum(axis=0)
    for flip in flips:
        kept = flip.sum(axis=1, dtype=np.float64)[:, None]
        sums = flip.astype(np.float64) @ columns
        with np.errstate(all="ignore"):
            means = sums / kept, (total - sums) / (n - kept)
        one_sign = (kept == 0) | (kept == n)
        yield np.where(one_sign, -np.inf, np.minimum(*means)), np.where(one_sign, np.inf, np.maximum(*means))


#: The intervals, by the names of their kinds.
ESTIMATORS: dict[str, Estimator] = {
    **{kind: _by_bounds(kind) for kind in BOUNDS},
    "normal": _by_standard_error(lambda share, _: float(special.ndtri(share))),
    "t": _by_standard_error(student.quantile),
    **{kind: _bootstrap(kind) for kind in ("percentile", "BCa")},
    "bootstrap-t": _bootstrap_t,
    "randomisation": _by_flips,
    "median": _between_order_statistics,
    "hodges-lehmann": _between_walsh_averages,
}
