"""Whether differences between paired scores can be chance: tests, corrections for many of them, effect sizes.

Conventions: differences have a row per query and a column per comparison, NaN where there is no pair. All tests are
two-sided. A figure that is not defined is None.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests, multitest_alias

from polars_ir.statistics.randomisation import ROUNDING, Floats, bootstrap_p, permuted_ranges, randomisation_p

#: statsmodels' corrections. Its local false discovery rate is left out: that is no p.
CORRECTIONS = tuple(name for name, method in multitest_alias.items() if method != "lfdr")

#: Their main names, which messages list.
MAIN_CORRECTIONS = (
    *("bonferroni", "sidak", "holm", "holm-sidak", "simes-hochberg", "hommel"),
    *("fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky"),
)

#: Up to so many differences with ties SciPy finds the p of Wilcoxon's test among all their signs.
PERMUTED = 13


class Outcome(NamedTuple):
    """What a test tells of a mean difference; its interval, if the test is one of those that make it."""

    statistic: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None


def differences(values: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Floats:
    """The scores of one system minus those of another, a column per measure and, in it, pair of systems.

    Differences that are all the same but for rounding are made the same: their spread says nothing of the queries.
    """
    return np.column_stack([_difference(of_measure[:, pair]) for of_measure in values for pair in pairs])


def _difference(scores: Floats) -> Floats:
    found: Floats = scores[:, 0] - scores[:, 1]
    pairs = there(found)
    rounding = ROUNDING * np.abs(scores[pairs]).max(initial=0)
    if pairs.any() and np.ptp(found[pairs]) <= rounding:
        same = found[pairs].mean()
        found[pairs] = same if abs(same) > rounding else 0
    return found


def there(differences: Floats) -> NDArray[np.bool_]:
    """Which differences are of a pair."""
    return ~np.isnan(differences)


def of_all(values: Floats) -> Floats:
    """The scores without those of queries that a system has no value for."""
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)


def outcomes(test: str, differences: Floats, *, tolerance: float, resamples: int, seed: int) -> list[Outcome]:
    """What a test of pairs tells of each column; of fewer than two pairs nothing.

    Ties are what is within the tolerance, and 0 for the sign test and Wilcoxon's. Where all differences are the same,
    there is no spread to measure them by, and t and bootstrap have no p.
    """
    columns = [column[there(column)] for column in differences.T]
    if test in ("randomisation", "bootstrap"):
        p_of, statistic_of = (randomisation_p, _mean) if test == "randomisation" else (bootstrap_p, _t)
        p = p_of(differences, resamples=resamples, seed=seed).tolist()
        found = [
            Outcome(statistic_of(column), None if math.isnan(value) else value)
            for column, value in zip(columns, p, strict=True)
        ]
    elif test == "t":
        found = [_t_test(column) for column in columns]
    else:
        of_signs = _sign_test if test == "sign" else _wilcoxon
        found = [of_signs(without_ties(column, tolerance)) for column in columns]
    return [outcome if len(column) > 1 else Outcome() for outcome, column in zip(found, columns, strict=True)]


def _mean(differences: Floats) -> float | None:
    return float(differences.mean()) if len(differences) else None


def _t(differences: Floats) -> float | None:
    d = cohen_d(differences)
    return None if d is None else d * math.sqrt(len(differences))


def _t_test(differences: Floats) -> Outcome:
    if cohen_d(differences) is None:
        return Outcome()
    found = stats.ttest_1samp(differences, 0)
    return Outcome(float(found.statistic), float(found.pvalue))


def _wilcoxon(differences: Floats) -> Outcome:
    ranks = signed_ranks(differences)
    has_ties = len(np.unique(np.abs(ranks[ranks != 0]))) < len(differences)
    if not ranks.any() or (has_ties and len(differences) <= PERMUTED):
        # What SciPy does one after the other with all signs of few differences, and does not define for no ranks.
        p = randomisation_p(ranks[:, None], resamples=2**PERMUTED, seed=0)
        return Outcome(float(min(ranks.clip(min=0).sum(), (-ranks).clip(min=0).sum())), float(p[0]))
    with warnings.catch_warnings(action="ignore"):
        # Former SciPys warn that they approximate the distribution for few values.
        found = stats.wilcoxon(differences)
    return Outcome(float(found.statistic), float(found.pvalue))


def _sign_test(differences: Floats) -> Outcome:
    positive, unequal = int((differences > 0).sum()), int(np.count_nonzero(differences))
    if not unequal:
        return Outcome(None, 1.0)
    found = stats.binomtest(positive, unequal)
    return Outcome(float(found.statistic), float(found.pvalue))


def tukey(values: Sequence[Floats], differences: Floats, *, alpha: float, resamples: int, seed: int) -> list[Outcome]:
    """What Tukey's test of all systems tells of each column; values and differences are `of_all` systems.

    The p is that of the largest of all differences to be as large. The intervals of all differences together miss one
    of them with a probability of alpha; one excludes 0 exactly where p is no more than alpha.
    """
    found: list[Outcome] = []
    for of_measure, of_pairs in zip(values, np.hsplit(differences, len(values)), strict=True):
        complete = of_measure[~np.isnan(of_measure).any(axis=1)]
        if len(complete) < 2:
            found += [Outcome()] * of_pairs.shape[1]
            continue
        ranges = np.sort(permuted_ranges(complete, resamples=resamples, seed=seed))
        means = of_pairs[there(of_pairs).all(axis=1)].mean(axis=0)
        narrower = np.searchsorted(ranges, np.abs(means) - ROUNDING * np.abs(complete).max())
        p = (resamples - narrower + 1) / (resamples + 1)
        # So many of ranges and observation may be as wide as a difference whose p is alpha.
        allowed = math.floor(alpha * (resamples + 1) * (1 + ROUNDING))
        margin = float(ranges[resamples - allowed]) if allowed else None
        for difference, of_pair in zip(means.tolist(), p.tolist(), strict=True):
            ends = None if margin is None else (difference - margin, difference + margin)
            found.append(Outcome(difference, of_pair, ends))
    return found


def corrected(p: Sequence[float | None], method: str | None, *, alpha: float) -> list[float | None]:
    """The p of a family of comparisons, corrected for their number; one that is not defined is not counted."""
    defined = [value for value in p if value is not None]
    if method is None or not defined:
        return list(p)
    with np.errstate(divide="ignore"):
        # A p of 1 is one part of some methods' logarithm of 0, which comes out right.
        found = iter(multipletests(defined, alpha=alpha, method=method)[1])
    return [None if value is None else float(next(found)) for value in p]


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


def without_ties(differences: Floats, tolerance: float) -> Floats:
    """The differences with 0 for those within the tolerance."""
    return np.where(np.abs(differences) <= tolerance, 0, differences)


def rank_biserial(differences: Floats) -> float | None:
    """The share of Wilcoxon's ranks that positive differences have, minus that of negative ones; None without ranks."""
    ranks = signed_ranks(differences)
    return float(ranks.sum() / np.abs(ranks).sum()) if ranks.any() else None


def signed_ranks(differences: Floats) -> Floats:
    """The ranks of the differences by size, each with the sign of its difference; 0 for a difference of 0."""
    ranks = np.zeros(len(differences))
    unequal = differences != 0
    ranks[unequal] = stats.rankdata(np.abs(differences[unequal])) * np.sign(differences[unequal])
    return ranks
