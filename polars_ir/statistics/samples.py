"""Samples that a mean is estimated from: the values of queries, or moments that a plan adds up.

Conventions: a sample does not know where its queries are. A sample of moments has no `values`; callers that need these
refuse it, and everything else is the same for both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from polars_ir.statistics.bounds import LEAST_BELOW, Tail
from polars_ir.statistics.randomisation import Floats
from polars_ir.statistics.significance import deviation
from polars_ir.statistics.student import TINY

Ends = tuple[float, float]

#: Support of values without a known range.
ANY = (-math.inf, math.inf)


def together(samples: Sequence[Sample], shift: float = 0.0) -> Moments:
    """Moments of several samples together; values are joined before anything is added up."""
    values = [sample.values for sample in samples if sample.values is not None]
    if len(values) == len(samples):
        return Moments.of(np.concatenate([np.empty(0), *values]), shift)
    return reduce(Moments.joined, (sample for sample in samples if isinstance(sample, Moments)), Moments.of(()))


class Values(NamedTuple):
    """An array of values without NaN, and weights, if any."""

    values: Floats
    weights: Floats | None = None
    support: Ends = ANY

    @property
    def n(self) -> int:
        """The number of values."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean, weighted if there are weights."""
        return float(np.average(self.values, weights=self.weights)) if len(self.values) else math.nan

    @property
    def std(self) -> float:
        """The unweighted standard deviation, 0 of equal values; NaN of fewer than two."""
        return float(deviation(self.values))

    @property
    def lowest(self) -> float:
        """The lowest value."""
        return float(self.values.min(initial=math.inf))

    @property
    def highest(self) -> float:
        """The highest value."""
        return float(self.values.max(initial=-math.inf))

    def tail(self, *, whole: bool = False) -> Tail | None:
        """The lower tail, as `Sample` has it."""
        return Tail.of(self.values, whole=whole)

    def scaled(self, factor: float) -> Values:
        """The sample, with values multiplied by a factor."""
        return Values(self.values * factor, self.weights, _scaled(self.support, factor))


class Moments(NamedTuple):
    """A sample by its moments: number, mean, sum of squared deviations, lowest and highest value.

    All are of the values less `shift`, common to the samples compared. Tails use the sum of the `cubes` of deviations,
    and the numbers of values `below` and `above` both mean and median.
    """

    n: int
    mean: float
    squares: float
    lowest: float
    highest: float
    shift: float = 0.0
    cubes: float = math.nan
    below: int = 0
    above: int = 0
    support: Ends = ANY

    @classmethod
    def of(cls, values: Floats | Sequence[float], shift: float = 0.0) -> Moments:
        """Moments of an array."""
        values = np.asarray(values, np.float64) - shift
        if not len(values):
            return cls(0, math.nan, 0.0, math.inf, -math.inf)
        mean = values.mean()
        squares = float(((values - mean) ** 2).sum())
        return cls(len(values), float(mean), squares, float(values.min()), float(values.max()), shift)

    @classmethod
    def in_order(cls, sample: Sample) -> Moments:
        """Moments of values added up one after the other, as expressions over queries do."""
        values = np.asarray(sample.values)
        mean = values.cumsum()[-1] / len(values)
        squares = ((values - mean) ** 2).cumsum()[-1]
        return cls(len(values), mean, squares, float(values.min()), float(values.max()))

    @property
    def values(self) -> None:
        """None: the values are unknown."""
        return

    @property
    def variance(self) -> float:
        """Sample variance; NaN of fewer than two values."""
        return self.squares / (self.n - 1) if self.n > 1 else math.nan

    @property
    def std(self) -> float:
        """The standard deviation, 0 of equal values; NaN of fewer than two."""
        return math.sqrt(self.variance) if self.n < 2 or self.lowest < self.highest else 0.0

    @property
    def is_tiny(self) -> bool:
        """True of unequal values whose deviations are too small for the squares and cubes of moments."""
        return 0 < self.highest - self.lowest < TINY

    @property
    def ends(self) -> Ends:
        """Lowest and highest possible value."""
        return self.lowest + self.shift, self.highest + self.shift

    @property
    def error(self) -> float | None:
        """Standard error of the mean."""
        return math.sqrt(self.variance) / math.sqrt(self.n) if self.n > 1 else None

    def joined(self, other: Moments) -> Moments:
        """Moments of both samples together, without their tails."""
        if not self.n or not other.n:
            return self if self.n else other
        n, delta = self.n + other.n, other.mean - self.mean
        squares = self.squares + other.squares + delta**2 * self.n * other.n / n
        ends = min(self.lowest, other.lowest), max(self.highest, other.highest)
        return Moments(n, self.mean + delta * other.n / n, squares, *ends, self.shift)

    def tail(self, *, whole: bool = False) -> Tail | None:
        """The lower tail, as `Sample` has it."""
        n, std, g = self.n, self.std, 0.0
        below = n if whole else self.below
        if below < (2 if whole else LEAST_BELOW):
            return None
        if n > 2 and std:
            # As in `Tail.of`.
            g = math.sqrt((n - 1.0) * n) / (n - 2.0) * (self.cubes / n) / (self.squares / n) ** 1.5 / math.sqrt(n)
        return Tail(n, self.mean, std, g, below)

    def scaled(self, factor: float) -> Moments:
        """The sample, with values multiplied by a factor."""
        lowest, highest = sorted((self.lowest * factor, self.highest * factor))
        return self._replace(
            mean=self.mean * factor,
            squares=self.squares * factor**2,
            lowest=lowest,
            highest=highest,
            cubes=self.cubes * factor**3,
            below=self.below if factor > 0 else self.above,
            above=self.above if factor > 0 else self.below,
            support=_scaled(self.support, factor),
        )


def _scaled(support: Ends, factor: float) -> Ends:
    low, high = sorted(end * factor for end in support)
    return low, high


#: What a mean is estimated from.
Sample: TypeAlias = Values | Moments
