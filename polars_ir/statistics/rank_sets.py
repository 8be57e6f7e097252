"""Which of many systems are better than which, all of them at once, and how often each is first.

Conventions: values have a row per query and a column per system, none of them NaN; higher is better. All statements
about the pairs of systems are true together with the given confidence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polars_ir.statistics.randomisation import CELLS, ROUNDING, Floats, counted, random_flips, rounded


def better_than(values: Floats, *, confidence: float, resamples: int, seed: int) -> NDArray[np.bool_]:
    """Whether the system of a row is better than that of a column, by the largest |t| of all pairs.

    The differences of a query change signs all together, at random, which is what they could as well have done if no
    systems differed; each pair is compared with the largest |t| that this makes of any (as `randomisation`'s
    `largest_flipped`, without its steps). |t| is shown by the share that a sum of differences has of the root of their
    sum of squares, of which it is a rising function.
    """
    totals, spreads = values.sum(axis=0), _spreads(values)
    apart = totals[:, None] - totals
    shares = np.divide(np.abs(apart), spreads, out=np.zeros_like(apart), where=spreads > 0)
    largest = np.sort(_largest_flipped(values, spreads, resamples, seed))
    narrower = np.searchsorted(largest, shares - ROUNDING * len(values))
    p = (resamples - narrower + 1) / (resamples + 1)
    better: NDArray[np.bool_] = (p <= (1 - confidence) * (1 + ROUNDING)) & (apart > 0)
    return better


def _spreads(values: Floats) -> Floats:
    """The root of the sum of squares of the differences of each two systems; 0 for what rounding leaves."""
    spreads = np.array([np.sqrt(((values - column[:, None]) ** 2).sum(axis=0)) for column in values.T])
    return np.where(spreads > ROUNDING * np.abs(values).max(initial=0) * len(values), spreads, 0.0)


def _largest_flipped(values: Floats, spreads: Floats, resamples: int, seed: int) -> Floats:
    """The largest share among all pairs, for each random change of signs."""
    n, n_systems = values.shape
    largest = []
    for flip in random_flips((n, max(n, n_systems**2)), resamples, seed):
        sums = (2 * flip.astype(np.float64) - 1) @ values
        highest = np.zeros(len(sums))
        for system in range(n_systems - 1):
            apart, spread = np.abs(sums[:, system + 1 :] - sums[:, [system]]), spreads[system, system + 1 :]
            shares = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
            highest = np.maximum(highest, shares.max(axis=1))
        largest.append(highest)
    return np.concatenate(largest)


def first_shares(values: Floats, *, resamples: int, seed: int) -> Floats:
    """How often each system has the highest mean of queries drawn with replacement; systems that tie share it."""
    n = len(values)
    generator = np.random.default_rng(seed)
    step = max(1, CELLS // max(values.shape))
    shares = np.zeros(values.shape[1])
    for start in range(0, resamples, step):
        means = counted(generator.integers(n, size=(min(step, resamples - start), n))) @ values / n
        highest = rounded(means) == rounded(means).max(axis=1, keepdims=True)
        shares += (highest / highest.sum(axis=1, keepdims=True)).sum(axis=0)
    return shares / resamples
