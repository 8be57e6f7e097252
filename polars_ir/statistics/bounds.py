"""One-sided bounds of a mean that hold their level for few values and for nearly constant ones.

Conventions: no value can be below `lowest`, which is -inf where unknown; an upper bound is the negated lower bound of
the negated values. An undefined bound is None. A bound exceeds the true mean with a probability of at most alpha,
within the limits that its docstring states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import optimize

from polars_ir.statistics import student
from polars_ir.statistics.randomisation import CELLS, ROUNDING, Floats, unit

#: Minimum number of values below both mean and median for a bound by Student's t. With fewer, values not yet seen can
#: be larger than those seen: the simulation in tests/bench/evidence.py shows the levels for other numbers.
LEAST_BELOW = 20

#: Reason for a missing bound of `"auto"`.
NO_RANGE = f"fewer than {LEAST_BELOW} queries lose, or gain, and the measure has no known range"

#: The integral in `chance_below`, on a natural logarithmic scale: step, start, and the size at which it ends.
STEP, FIRST, VANISHED = 0.05, -20.0, 30.0

#: The power series in `chance_below`: the largest size of its terms' base, where so many of them leave no error.
NEAR, TERMS = 0.125, 18

#: Means of flat Dirichlet weights have a log-concave density: beyond this many standard deviations it is below 1e-16.
FAR = 40.0

#: Stakes of a bet, as shares of the largest one that cannot lose everything.
STAKES = np.geomspace(1e-4, 0.99, 60)

#: The stakes of a bet on signs, in shares of the range.
SIGN_STAKES = np.geomspace(0.05, 40, 40)


class Tail(NamedTuple):
    """Statistics of the lower tail of n values that make a bound: mean, standard deviation, skewness, number below.

    `skewness` is divided by sqrt(n) and corrected for bias; `below` counts values under both mean and median. Computed
    from values, or from sums where the values are not in memory.
    """

    n: int
    mean: float
    std: float
    skewness: float
    below: int

    @classmethod
    def of(cls, values: Floats, *, whole: bool = False) -> Tail | None:
        """The tail of an array of values; None where too few are below both mean and median to estimate it.

        A `whole` sample has n - 1 degrees of freedom; None of fewer than two values.
        The skewness equals `scipy.stats.skew` to the bit, whose checks take forty times as long as the sums.
        """
        below = len(values) if whole else n_below(values)
        if below < (2 if whole else LEAST_BELOW):
            return None
        n, size = len(values), float(unit(values)[0])
        values = values / size
        centred = values - values.mean()
        squares = centred**2
        with np.errstate(all="ignore"):
            skewness = (
                math.sqrt((n - 1.0) * n) / np.float64(n - 2.0) * (squares * centred).mean() / squares.mean() ** 1.5
            )
        g = float(skewness) / math.sqrt(n)
        return cls(n, float(values.mean()) * size, float(values.std(ddof=1)) * size, g, below)

    def bound(self, alpha: float) -> float:
        """Student's bound, lowered where a long lower tail makes t too high.

        With g = skewness / sqrt(n), Hall's transformation t + g (t^2 / 3 + 1 / 6) + g^2 t^3 / 27 is distributed as t
        would be without skewness (https://doi.org/10.1111/j.2517-6161.1992.tb01878.x); a positive skewness raises
        nothing. Degrees of freedom: the number of values below mean and median, less one, since these determine the
        tail.
        """
        t = student.quantile(1 - alpha, self.below - 1)
        if g := min(0.0, self.skewness):
            inner = g * (t - g / 6)
            # Near 0, the difference between a cube root and 1 would be all rounding.
            t = 3 / g * (math.expm1(math.log1p(inner) / 3) if inner > -0.9 else float(np.cbrt(1 + inner)) - 1)
        return self.mean - t * self.std / math.sqrt(self.n)

    def p_above(self, mean: float) -> float:
        """One-sided p of the hypothesis that the true mean is `mean` or less."""
        g = min(0.0, self.skewness)
        if not self.std:
            return float(self.mean <= mean)
        t = (self.mean - mean) * math.sqrt(self.n) / self.std
        return student.below(-(t + g * (t**2 / 3 + 1 / 6) + g**2 * t**3 / 27), self.below - 1)


def lower_bound(values: Floats, kind: str, *, lowest: float, alpha: float) -> float | None:
    """Lower bound of the mean by one of `BOUNDS`; None for fewer than two values."""
    if len(values) < 2:
        return None
    return BOUNDS[kind](values, lowest, alpha)


def p_above(values: Floats | Tail, mean: float, *, lowest: float) -> float | None:
    """One-sided p of a true mean of `mean` or less, by the rule of `"auto"`; None if undefined."""
    if isinstance(values, Tail):
        return values.p_above(mean)
    if tail := Tail.of(values):
        return tail.p_above(mean)
    return chance_below(values, mean, lowest) if len(values) > 1 and math.isfinite(lowest) else None


def n_below(values: Floats) -> int:
    """Number of values below both mean and median."""
    if not len(values):
        return 0
    rounding = ROUNDING * float(np.abs(values).max())
    return int((values < min(values.mean(), np.median(values)) - rounding).sum())


def automatic(values: Floats, lowest: float, alpha: float) -> float | None:
    """Skewness-corrected bound by t where enough values lie below mean and median; else the bounded one."""
    tail = Tail.of(values)
    return tail.bound(alpha) if tail else bounded(values, lowest, alpha)


def bounded(values: Floats, lowest: float, alpha: float) -> float | None:
    """The alpha quantile of the mean in a Bayesian bootstrap with one more value, the lowest possible one.

    Gaffke's bound: for values 0 and 1 it equals that of Clopper and Pearson, and it never leaves the range. Its
    validity for every distribution is a conjecture that no search has contradicted (https://arxiv.org/abs/1905.06208).
    """
    if not math.isfinite(lowest):
        return None
    if (high := float(values.max())) <= lowest:
        return lowest
    levels, counts = (np.asarray(part, np.float64) for part in np.unique(values, return_counts=True))
    # In shares of the largest distance, of which the squares of tiny ones would leave the floats.
    unit = high - lowest
    expected, deviation = _moments(np.append(0.0, (levels - lowest) / unit), np.append(1.0, counts))
    # No alpha quantile is further from the expected mean than this (Cantelli).
    low = lowest + unit * max(0.0, expected - deviation * math.sqrt(1 / alpha))
    return _root(lambda mean: chance_below(levels, mean, lowest, counts) - alpha, low, high)


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where an excess between two means is 0."""
    return float(optimize.brentq(excess, low, high, xtol=1e-12 * (high - low)))


def _moments(values: Floats, counts: Floats) -> tuple[float, float]:
    """Expected value and standard deviation of the mean under flat Dirichlet weights."""
    total = float(counts.sum())
    expected = float((counts * values).sum()) / total
    return expected, math.sqrt(float((counts * (values - expected) ** 2).sum()) / total / (total + 1))


def chance_below(values: Floats, mean: float, lowest: float, counts: Floats | None = None) -> float:
    """Probability that flat Dirichlet weights give a mean of the values and `lowest` below `mean`.

    Computed as P(sum(E (x - mean)) <= 0) with exponential E, by inverting the characteristic function (Gil-Pelaez).
    `counts` is the multiplicity of each value and may be fractional.
    """
    if counts is None:
        values, counts = (np.asarray(part, np.float64) for part in np.unique(values, return_counts=True))
    # Sorted, for which blocks have small values throughout.
    centred, weights = np.append(lowest, values) - mean, np.append(1.0, counts)
    if (centred >= 0).all() or (centred <= 0).all():
        return 0.0 if (centred > 0).any() else 1.0
    centred /= np.abs(centred).max()
    expected, deviation = _moments(centred, weights)
    far = -expected / deviation
    if abs(far) > FAR:
        return float(far > 0)
    centred /= math.sqrt((weights * centred**2).sum())
    # The further from the expected mean, the faster the integrand oscillates.
    step = STEP / (1 + abs(far) / 5)
    last = 0.0
    while (np.log1p(np.exp(2 * last) * centred**2) * weights).sum() / 2 < VANISHED:
        last += 0.5
    at = np.exp(np.arange(FIRST, last, step))
    angle, size = np.zeros(len(at)), np.zeros(len(at))
    columns = max(1, CELLS // len(at))
    for start in range(0, len(centred), columns):
        of_block = _exponent(at, centred[start : start + columns], weights[start : start + columns])
        angle += of_block[0]
        size += of_block[1]
    return min(1.0, max(0.0, float(0.5 - step / math.pi * (np.sin(angle) * np.exp(-size)).sum())))


def _exponent(at: Floats, values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The weighted sums of arctan(t x) and of log(1 + (t x)^2) / 2 over values x, for each t of an ascending `at`.

    While all t x are small, by the power series, which takes the values' sums of powers only.
    """
    largest = float(np.abs(values).max()) or 1.0
    # The series of few values takes longer than their logarithms.
    near = int(np.searchsorted(at, NEAR / largest)) if len(values) > 2 * TERMS else 0
    # Sums, not products of matrices, whose threads and bits depend on the machine.
    powers = np.multiply.accumulate(np.broadcast_to(values / largest, (TERMS, len(values))))
    terms = (powers * weights).sum(axis=1) / np.arange(1, TERMS + 1) * np.resize([1.0, 1.0, -1.0, -1.0], TERMS)
    series = np.multiply.accumulate(np.broadcast_to(at[:near] * largest, (TERMS, near))) * terms[:, None]
    products, counted = np.multiply.outer(values, at[near:]), weights[:, None]
    angle = np.append(series[::2].sum(axis=0), (np.arctan(products) * counted).sum(axis=0))
    return angle, np.append(series[1::2].sum(axis=0), (np.log1p(products**2) * counted).sum(axis=0) / 2)


def anytime(values: Floats, lowest: float, alpha: float) -> float | None:
    """The lowest mean at which a bettor against it has not yet won 1 / alpha times the stake.

    The wealth, averaged over `STAKES` s of prod(1 + s (x - mean) / (mean - lowest)), is an e-value: if `mean` is the
    true one, the wealth ever reaches 1 / alpha with a probability of at most alpha, at whatever times it is inspected
    (Ville; Waudby-Smith and Ramdas, https://arxiv.org/abs/2010.09686). It does not depend on the order of the values.
    """
    if not math.isfinite(lowest):
        return None
    levels, counts = (np.asarray(part, np.float64) for part in np.unique(values, return_counts=True))
    high, least = float(values.max()), -math.log(alpha)
    just_above = lowest + 1e-9 * (high - lowest)
    if high <= lowest or log_wealth(levels, counts, just_above, lowest) < least:
        return lowest
    return _root(lambda mean: log_wealth(levels, counts, mean, lowest) - least, just_above, high)


def log_wealth(levels: Floats, counts: Floats, mean: float, lowest: float) -> float:
    """Logarithm of the wealth of `anytime` from a stake of 1; `counts` is the multiplicity of each level."""
    growth = np.log1p(STAKES[:, None] * (levels - mean) / (mean - lowest)) @ counts
    return float(np.logaddexp.reduce(growth)) - math.log(len(STAKES))


def p_of_signs(gains: Floats, width: float) -> float | None:
    """The p that gains within a range of this width have signs by chance, and are not lost: it holds at any look.

    The inverse of a bettor's wealth, the mean over `SIGN_STAKES` s of prod(exp(-s d) / cosh(s d)), which is expected to
    be 1 if each gain could as well have the other sign; None where the range is not known.
    """
    if not math.isfinite(width):
        return None
    bets = SIGN_STAKES[:, None] * gains / width
    # As logarithms, of which cosh would leave the floats.
    grown = (math.log(2) - bets - np.abs(bets) - np.log1p(np.exp(-2 * np.abs(bets)))).sum(axis=1)
    return float(np.exp(min(0.0, math.log(len(grown)) - np.logaddexp.reduce(grown))))


#: The bounds, by the names of their kinds.
BOUNDS: dict[str, Callable[[Floats, float, float], float | None]] = {
    "auto": automatic,
    "bounded": bounded,
    "anytime": anytime,
}
