"""How large an effect is, with its interval: Cohen's d of differences, and the rank-biserial correlation of pairs.

Conventions: differences are of one pair of systems, none of them NaN. What is not defined is None.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special, stats

from polars_ir.statistics.randomisation import Floats

Ends = tuple[float, float]


def cohen_d(differences: Floats) -> float | None:
    """Cohen's d_z: the mean of the differences by their standard deviation; None without a spread."""
    spread = deviation(differences)
    return float(differences.mean()) / spread if spread else None


def deviation(differences: Floats) -> float | None:
    """The standard deviation of the differences, 0 if they are all the same; None of fewer than two."""
    if len(differences) < 2:
        return None
    # The mean of equal numbers can be another number, by rounding.
    return float(differences.std(ddof=1)) if np.ptp(differences) else 0.0


def cohen_d_interval(differences: Floats, confidence: float) -> Ends | None:
    """Between which true d the t of the differences is no surprise, by the noncentral t distribution.

    It takes differences for normal (Cumming & Finch 2001, https://doi.org/10.1177/0013164401614002).
    """
    d, n = cohen_d(differences), len(differences)
    if d is None:
        return None
    t, tail = d * math.sqrt(n), (1 - confidence) / 2
    low, high = (float(special.nctdtrinc(n - 1, share, t)) / math.sqrt(n) for share in (1 - tail, tail))
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def rank_biserial(differences: Floats) -> float | None:
    """The share of Wilcoxon's ranks that positive differences have, minus that of negative ones; None without ranks."""
    ranks = signed_ranks(differences)
    return float(ranks.sum() / np.abs(ranks).sum()) if ranks.any() else None


def rank_biserial_interval(differences: Floats, confidence: float) -> Ends | None:
    """Wilson's interval of the share of positive ranks, of as many queries as have its spread without an effect.

    The sum of n signed ranks has the variance n (n + 1) (2n + 1) / 6 then.
    """
    r, n = rank_biserial(differences), int(np.count_nonzero(differences))
    if r is None:
        return None
    effective = 1.5 * n * (n + 1) / (2 * n + 1)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    middle, half = r / (1 + z * z / effective), z / (1 + z * z / effective)
    half *= math.sqrt((1 - r * r) / effective + z * z / effective**2)
    return middle - half, middle + half


def signed_ranks(differences: Floats) -> Floats:
    """The ranks of the differences by size, each with the sign of its difference; 0 for a difference of 0."""
    ranks = np.zeros(len(differences))
    unequal = differences != 0
    ranks[unequal] = stats.rankdata(np.abs(differences[unequal])) * np.sign(differences[unequal])
    return ranks
