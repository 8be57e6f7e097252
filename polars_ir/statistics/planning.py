"""Number of queries that a test or a gate needs, and its power.

Conventions: an effect is a mean difference in standard deviations of the differences. A pilot holds the differences of
existing queries; future ones are drawn from it.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterator

import numpy as np
from scipy import optimize, special, stats

from polars_ir.statistics import student
from polars_ir.statistics.bounds import LEAST_BELOW, chance_below, log_wealth, lower_bound
from polars_ir.statistics.randomisation import CELLS, Draws, Floats, unit

#: Power of a planned test.
POWER = 0.8

#: Probability that a spread is no larger than the planned one.
ASSURANCE = 0.8

#: Largest planned number of queries.
MOST_QUERIES = 1_000_000_000

#: Samples drawn from a pilot, and from a pilot of a gate, whose bounds take longer.
SAMPLES, OF_GATES = 2_000, 400

#: Simulated sequences of looks.
WALKS = 100_000

#: Number of queries above which means are treated as normal, whatever their differences.
NORMAL_FROM = 20_000


def widened(n: int) -> float:
    """Upper 80 % limit of a spread, as a multiple of the spread of n normal values; 1 where undefined."""
    return math.sqrt((n - 1) / float(stats.chi2.ppf(1 - ASSURANCE, n - 1))) if n > 1 else 1.0


@functools.cache
def level_of_look(look: int, looks: int, *, alpha: float) -> float:
    """Level of each of several looks whose joint error is alpha.

    An O'Brien-Fleming boundary, z = c sqrt(looks / look), with equally many new queries at each look
    (https://doi.org/10.2307/2530245); c is found by simulation.
    """
    if looks == 1:
        return alpha
    sums = np.random.default_rng(0).standard_normal((WALKS, looks)).cumsum(axis=1)
    c = np.quantile(sums.max(axis=1), 1 - alpha) / math.sqrt(looks)
    return float(stats.norm.sf(c * math.sqrt(looks / look)))


def queries_needed(effect: float, *, alpha: float, power: float, alternative: str = "two-sided") -> int | None:
    """Lowest number of queries that shows an effect with this power, None above a billion."""
    return _lowest(lambda n: power_of(effect, n, alpha=alpha, alternative=alternative) >= power)


def _lowest(is_enough: Callable[[int], bool], most: int = MOST_QUERIES) -> int | None:
    """Lowest number of queries, from 2 to `most`, that is enough; None if none is."""
    numbers = range(2, most + 1)
    place = bisect_left(numbers, True, key=is_enough)
    return numbers[place] if place < len(numbers) else None


def power_of(effect: float, n_queries: int, *, alpha: float, alternative: str = "two-sided") -> float:
    """Power of n queries for an effect, by the noncentral t, as statsmodels computes it, without importing pandas."""
    limit = -student.quantile(alpha / 2 if alternative == "two-sided" else alpha, n_queries - 1)
    noncentrality = effect * math.sqrt(n_queries)
    with np.errstate(all="ignore"):
        achieved = 1 - float(special.nctdtr(n_queries - 1, noncentrality, limit))
        if alternative == "two-sided":
            achieved += float(special.nctdtr(n_queries - 1, noncentrality, -limit))
    if not math.isnan(achieved):
        return min(achieved, 1.0)
    # SciPy returns no figure far out in the tails: neither for the tail against the effect, which has no weight ...
    if alternative == "two-sided":
        return power_of(effect, n_queries, alpha=alpha / 2, alternative="larger")
    # ... nor where the noncentrality is so large that the statistic is nearly constant.
    return float(effect * math.sqrt(n_queries) > -student.quantile(alpha, n_queries - 1))


def smallest_effect(n_queries: int, *, alpha: float, power: float) -> float:
    """Smallest effect that n queries show with this power."""

    def excess(effect: float) -> float:
        return power_of(effect, n_queries, alpha=alpha) - power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, 0, high, xtol=1e-15))


def pilot_power(differences: Floats, difference: float, n_queries: int, *, alpha: float, seed: int = 0) -> float:
    """Power of a two-sided t of n queries for a mean difference, by the centred differences of a pilot."""
    size = float(unit(differences)[0])
    differences, difference = differences / size, difference / size
    if n_queries >= NORMAL_FROM:
        return power_of(difference / float(differences.std(ddof=1)), n_queries, alpha=alpha)
    limit, n_significant = -student.quantile(alpha / 2, n_queries - 1), 0
    for drawn in _samples(differences - differences.mean() + difference, n_queries, Draws(SAMPLES, seed)):
        errors = drawn.std(axis=1, ddof=1) / math.sqrt(n_queries)
        n_significant += int((np.abs(drawn.mean(axis=1)) > limit * errors).sum())
    return n_significant / SAMPLES


def pilot_queries(differences: Floats, difference: float, *, alpha: float, power: float, seed: int = 0) -> int | None:
    """Lowest number of queries that finds a mean difference with this power, by a pilot."""
    return _lowest(lambda n: pilot_power(differences, difference, n, alpha=alpha, seed=seed) >= power)


def pilot_difference(differences: Floats, n_queries: int, *, alpha: float, power: float, seed: int = 0) -> float:
    """Smallest mean difference that n queries find with this power, by a pilot."""

    def excess(difference: float) -> float:
        return pilot_power(differences, difference, n_queries, alpha=alpha, seed=seed) - power

    size = float(unit(differences)[0])
    differences = differences / size
    high = float(np.ptp(differences))
    while excess(high) < 0:
        high *= 2
    return float(optimize.brentq(excess, 0, high, xtol=high * 1e-6)) * size


def _samples(values: Floats, n: int, draws: Draws) -> Iterator[Floats]:
    """Samples of n values drawn with replacement, a row each."""
    for generator, rows in draws.parts(CELLS // n):
        yield generator.choice(values, size=(rows, n))


def gate_power(
    gains: Floats, n_queries: int, *, max_drop: float, lowest: float, alpha: float, kind: str = "auto", seed: int = 0
) -> float:
    """Probability that n queries pass a change without any drop: gains of a pilot, each with a random sign."""
    mirrored = np.concatenate([gains, -gains])
    passed = 0
    for drawn in _samples(mirrored, n_queries, Draws(OF_GATES, seed)):
        bounds = [lower_bound(sample, kind, lowest=lowest, alpha=alpha) for sample in drawn]
        passed += sum(bound is not None and bound >= -max_drop for bound in bounds)
    return passed / OF_GATES


def gate_queries(gains: Floats, *, max_drop: float, lowest: float, alpha: float, kind: str = "auto") -> int | None:
    """Approximate number of queries that passes a change without any drop 4 times out of 5, for symmetric gains.

    The sample at the twentieth percentile, whose mean is .84 standard errors below 0, passes with this number.
    """
    needed = None
    size = float(unit(gains)[0])
    spread = math.sqrt(float(((gains / size) ** 2).mean())) * size
    if spread and kind == "auto":
        needed = gate_queries_by_t(spread, np.count_nonzero(gains) / len(gains), max_drop=max_drop, alpha=alpha)
    if not math.isfinite(lowest):
        return needed

    def passes(n: int) -> bool:
        return _passes(gains, spread, n, max_drop, lowest, alpha, kind)

    # Only fewer matter, and each number takes an integral.
    if needed is None:
        return _lowest(passes)
    return _lowest(passes, needed - 1) if passes(needed - 1) else needed


def gate_queries_by_t(spread: float, differing: float, *, max_drop: float, alpha: float) -> int | None:
    """The number by Student's t, for gains of this root mean square, of which a share is not 0."""
    by_t = queries_needed(max_drop / spread, alpha=alpha, power=POWER, alternative="larger")
    of_tail = _lowest(lambda n: special.bdtr(LEAST_BELOW - 1, n, differing / 2) < 1 - POWER)
    return by_t and of_tail and max(by_t, of_tail)


def _passes(gains: Floats, spread: float, n: int, max_drop: float, lowest: float, alpha: float, kind: str) -> bool:
    """True if n queries with symmetric gains of these sizes and a mean at the twentieth percentile pass."""
    levels, counts = np.unique(np.concatenate([gains, -gains]), return_counts=True)
    shift = float(special.ndtri(POWER)) * spread / math.sqrt(n)
    levels, counts = np.maximum(levels - shift, lowest), counts * (n / counts.sum())
    if kind == "anytime":
        return log_wealth(levels, counts, -max_drop, lowest) >= -math.log(alpha)
    return chance_below(levels, -max_drop, lowest, counts) <= alpha
