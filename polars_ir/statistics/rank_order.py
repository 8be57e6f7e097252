"""Correlations of two orders of the same systems, by two arrays of scores.

Conventions: a higher score is better, equal scores are a tie, and neither array is all one tie. Arrays of one length
hold the same systems in the same places. A coefficient comes with its p-value, None where it has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

#: Minimum number of systems for an interval.
FEWEST = 8

Floats = NDArray[np.float64]
Coefficient = tuple[float, float | None]


def levels(scores: Floats) -> Floats:
    """The scores as shares of the highest, with those that agree to 12 digits made equal.

    Sums of the same values in another order differ in their last bits, which must not order systems.
    """
    return (scores / (np.abs(scores).max() or 1.0)).round(12)


def kendall_of_signs(reference: Floats, other: Floats) -> Floats:
    """Kendall's tau-b of each row, whose columns are signs of the differences of pairs; NaN where all are tied."""
    untied = [(signs != 0).sum(axis=1) for signs in (reference, other)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((reference * other).sum(axis=1) / np.sqrt(untied[0] * untied[1]))


def tau_ap(reference: Floats, other: Floats) -> Coefficient:
    """Mean share, over the places below the first, of systems above a place that also belong above it by `other`.

    Rescaled from [0, 1] to [-1, 1]. With ties, the mean over all orders of the tied systems.
    """
    first, place = stats.rankdata(-other, "min"), stats.rankdata(-other, "ordinal")
    above = first[np.newaxis, :] < first[:, np.newaxis]
    right = (above * (np.sign(reference[np.newaxis, :] - reference[:, np.newaxis]) + 1) / 2).sum(axis=1)
    # A tied system takes each place of its tie equally often, and is on its right side in half of the orders.
    _, tie = np.unique(other, return_inverse=True)
    of_tie = (np.bincount(tie, right) / np.bincount(tie))[tie]
    below = place > 1
    share = (of_tie + (place - first) / 2)[below] / (place - 1)[below]
    return float(2 * share.mean() - 1), None


def rbo(reference: Floats, other: Floats, persistence: float) -> float:
    """Overlap of the first d systems, extrapolated beyond the last: (1-p)/p sum(p^d overlap(d) / d) + p^n.

    With ties, the mean over all orders of the tied systems.
    """
    depth = np.arange(1, len(reference) + 1)
    overlap = (_share_within(reference, depth) * _share_within(other, depth)).sum(axis=0)
    weights = persistence**depth
    return float((1 - persistence) / persistence * (weights * overlap / depth).sum() + weights[-1])


def _with_p(result: Any) -> Coefficient:
    # Spearman's test has no degree of freedom left for two systems.
    return float(result.statistic), None if np.isnan(result.pvalue) else float(result.pvalue)


def _tau_ap_of_untied(reference: Floats, other: Floats) -> float:
    """tau_ap down the order of `other`, where systems tied with one are not above it."""
    n_above = stats.rankdata(-other, "min") - 1
    right = (other[np.newaxis, :] > other[:, np.newaxis]) & (reference[np.newaxis, :] > reference[:, np.newaxis])
    below = n_above > 0
    return float(2 * (right.sum(axis=1)[below] / n_above[below]).mean() - 1)


def _share_within(scores: Floats, depth: NDArray[np.int64]) -> Floats:
    """Probability of each system to be within each depth: the share of its tie's places that are."""
    first, last = stats.rankdata(-scores, "min"), stats.rankdata(-scores, "max")
    places = depth[np.newaxis, :] - first[:, np.newaxis] + 1
    return np.asarray(np.clip(places / (last - first + 1)[:, np.newaxis], 0.0, 1.0))


#: Variance of Fisher's z of a coefficient r of n systems: Fieller, Hartley & Pearson 1957
#: (https://doi.org/10.1093/biomet/44.3-4.470) for tau, Bonett & Wright 2000 (https://doi.org/10.1007/BF02294183).
VARIANCES: dict[str, Callable[[float, int], float]] = {
    "kendall": lambda _, n: 0.437 / (n - 4),
    "spearman": lambda r, n: (1 + r * r / 2) / (n - 3),
    "pearson": lambda _, n: 1 / (n - 3),
}


def interval(method: str, coefficient: float, n: int, confidence: float) -> tuple[float, float] | None:
    """Interval of a coefficient by Fisher's z; None for other methods, fewer than 8 systems, and a coefficient of 1."""
    if method not in VARIANCES or n < FEWEST or abs(coefficient) > 1 - 1e-12:
        return None
    half = float(stats.norm.ppf((1 + confidence) / 2)) * math.sqrt(VARIANCES[method](coefficient, n))
    middle = math.atanh(coefficient)
    return math.tanh(middle - half), math.tanh(middle + half)


#: The coefficients without a parameter, by the names of their methods; tau_ap_b is the mean of both directions.
COEFFICIENTS: dict[str, Callable[[Floats, Floats], Coefficient]] = {
    "kendall": lambda one, other: _with_p(stats.kendalltau(one, other)),
    "spearman": lambda one, other: _with_p(stats.spearmanr(one, other)),
    "pearson": lambda one, other: _with_p(stats.pearsonr(one, other)),
    "tau_ap": tau_ap,
    "tau_ap_b": lambda one, other: ((_tau_ap_of_untied(one, other) + _tau_ap_of_untied(other, one)) / 2, None),
}

METHODS = (*COEFFICIENTS, "rbo")
