"""The bootstrap-t interval of a mean: that of Student's t, by what t is in samples drawn from the queries themselves.

Conventions: the interval is symmetric, mean -/+ q * standard error, q being the quantile of |t|, so that it excludes 0
exactly where `randomisation.bootstrap_p` is no more than what confidence leaves: both draw the same queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from polars_ir.statistics.randomisation import CELLS, ROUNDING, Floats, counted


def bootstrap_t(
    samples: Sequence[Floats], weights: Sequence[Floats | None], confidence: float, resamples: int, seed: int
) -> list[tuple[float, float] | None]:
    """The interval of each sample; None where all values, or those of too many drawn samples, are the same."""
    places_of: dict[int, list[int]] = {}
    for place, values in enumerate(samples):
        if len(values) > 1 and np.ptp(values) > 0:
            places_of.setdefault(len(values), []).append(place)
    ends: list[tuple[float, float] | None] = [None] * len(samples)
    for places in places_of.values():
        columns = [_Studentised(samples[place], weights[place], resamples) for place in places]
        n = len(samples[places[0]])
        generator, step = np.random.default_rng(seed), max(1, CELLS // n)
        for start in range(0, resamples, step):
            rows = slice(start, min(start + step, resamples))
            counts = counted(generator.integers(n, size=(rows.stop - rows.start, n)))
            for column in columns:
                column.draw(counts, rows)
        for place, column in zip(places, columns, strict=True):
            ends[place] = column.ends(1 - confidence)
    return ends


class _Studentised:
    """The |t| of samples drawn from values with weights, against the mean they are drawn from."""

    def __init__(self, values: Floats, weights: Floats | None, resamples: int) -> None:
        self.weights = np.ones(len(values)) if weights is None else weights
        self.mean = float(np.average(values, weights=self.weights))
        centred = values - self.mean
        self.moments = np.column_stack(
            [self.weights, self.weights * centred, *((self.weights**2) * centred**k for k in range(3))]
        )
        self.standard_error = float(self._of(np.ones((1, len(values))))[1][0])
        self.t = np.empty(resamples)

    def _of(self, counts: Floats) -> tuple[Floats, Floats]:
        """How far the mean of each sample is from that of all, and its standard error (Cochran's, by linearisation)."""
        n = counts.shape[1]
        total, first, zeroth, linear, square = (counts @ self.moments).T
        with np.errstate(all="ignore"):
            apart = first / total
            squares = square - 2 * apart * linear + apart**2 * zeroth
            # Of values that are all the same, these are what rounding leaves.
            squares[squares <= ROUNDING * square] = 0
            error = np.sqrt(n / (n - 1) * squares) / total
        return apart, error

    def draw(self, counts: Floats, rows: slice) -> None:
        apart, error = self._of(counts)
        with np.errstate(all="ignore"):
            self.t[rows] = np.where(error > 0, np.abs(apart) / error, np.inf)

    def ends(self, alpha: float) -> tuple[float, float] | None:
        """The interval that so many of the samples, with that of the queries themselves, may be beyond."""
        allowed = math.floor(alpha * (len(self.t) + 1) * (1 + ROUNDING))
        if not allowed:
            return None
        half = float(np.sort(self.t)[len(self.t) - allowed]) * self.standard_error
        return (self.mean - half, self.mean + half) if math.isfinite(half) else None
