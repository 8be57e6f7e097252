"""Comparisons of many systems at once, and the chance of each to be first.

Conventions: values have a row per query and a column per system, none of them NaN; higher is better. All statements
about the pairs of systems are true together with the given confidence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polars_ir.statistics.randomisation import CELLS, ROUNDING, Draws, Floats, counted, random_flips
from polars_ir.statistics.significance import rounded


def better_than(values: Floats, confidence: float, draws: Draws) -> NDArray[np.bool_]:
    """True where the system of a row is better than that of a column, by the largest |t| of all pairs.

    The differences of a query change signs all together, at random, which is what they could as well have done if no
    systems differed; each pair is compared with the largest |t| that this makes of any (as `randomisation`'s
    `largest_flipped`, without its steps). |t| is shown by the share that a sum of differences has of the root of their
    sum of squares, of which it is a rising function.
    """
    totals, spreads = values.sum(axis=0), _spreads(values)
    apart = totals[:, None] - totals
    shares = np.divide(np.abs(apart), spreads, out=np.zeros_like(apart), where=spreads > 0)
    largest = np.sort(_largest_flipped(values, spreads, draws))
    narrower = np.searchsorted(largest, shares - ROUNDING * len(values))
    p = (draws.resamples - narrower + 1) / (draws.resamples + 1)
    better: NDArray[np.bool_] = (p <= (1 - confidence) * (1 + ROUNDING)) & (apart > 0)
    return better


def _spreads(values: Floats) -> Floats:
    """The root of the sum of squares of the differences of each two systems; 0 for what rounding leaves."""
    spreads = np.array([np.sqrt(((values - column[:, None]) ** 2).sum(axis=0)) for column in values.T])
    return np.where(spreads > ROUNDING * np.abs(values).max(initial=0) * len(values), spreads, 0.0)


def _largest_flipped(values: Floats, spreads: Floats, draws: Draws) -> Floats:
    """The largest share among all pairs, for each random change of signs."""
    n, n_systems = values.shape
    largest = []
    for flip in random_flips((n, max(n, n_systems**2)), draws):
        sums = (2 * flip.astype(np.float64) - 1) @ values
        highest = np.zeros(len(sums))
        for system in range(n_systems - 1):
            apart, spread = np.abs(sums[:, system + 1 :] - sums[:, [system]]), spreads[system, system + 1 :]
            shares = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
            highest = np.maximum(highest, shares.max(axis=1))
        largest.append(highest)
    return np.concatenate(largest)


def first_shares(values: Floats, draws: Draws) -> Floats:
    """The share of samples in which each system has the highest mean; systems that tie share it."""
    n = len(values)
    shares = np.zeros(values.shape[1])
    for generator, rows in draws.parts(CELLS // max(values.shape)):
        means = counted(generator.integers(n, size=(rows, n))) @ values / n
        highest = rounded(means) == rounded(means).max(axis=1, keepdims=True)
        shares += (highest / highest.sum(axis=1, keepdims=True)).sum(axis=0)
    return shares / draws.resamples
