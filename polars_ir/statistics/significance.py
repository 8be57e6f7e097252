"""Whether differences between paired scores can be chance: tests, and corrections for many of them.

Conventions: differences have a row per query and a column per comparison, NaN where there is no pair. All tests are
two-sided. A figure that is not defined is None.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests, multitest_alias

from polars_ir.statistics.effects import cohen_d, deviation, signed_ranks
from polars_ir.statistics.randomisation import (
    ROUNDING,
    Floats,
    bootstrap_p,
    largest_flipped,
    permuted_ranges,
    randomisation_p,
    rounded,
)

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

    They are rounded, so that those which floats alone make unequal are ties, and differences that are all the same have
    no spread.
    """
    return np.column_stack([_difference(of_measure[:, pair]) for of_measure in values for pair in pairs])


def _difference(scores: Floats) -> Floats:
    return rounded(scores[:, 0] - scores[:, 1], float(np.nanmax(np.abs(scores), initial=0)))


def there(differences: Floats) -> NDArray[np.bool_]:
    """Which differences are of a pair."""
    return ~np.isnan(differences)


def of_all(values: Floats) -> Floats:
    """The scores without those of queries that a system has no value for."""
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)


def of_each(test: Callable[[Floats], Outcome], differences: Floats, *, tolerance: float | None = None) -> list[Outcome]:
    """What a test of pairs tells of each column; of fewer than two pairs nothing.

    With a tolerance, differences within it are ties, and 0. Where all differences are the same, there is no spread to
    measure them by, and t has no p.
    """
    columns = [column[there(column)] for column in differences.T]
    tested = columns if tolerance is None else [without_ties(column, tolerance) for column in columns]
    return [test(column) if len(column) > 1 else Outcome() for column in tested]


def randomisation(differences: Floats, *, resamples: int, seed: int) -> list[Outcome]:
    """What Fisher's randomisation tells of each column: the statistic is the mean."""
    return _resampled(differences, randomisation_p(differences, resamples=resamples, seed=seed), _mean)


def bootstrap(differences: Floats, *, resamples: int, seed: int) -> list[Outcome]:
    """What the studentised bootstrap tells of each column: the statistic is t."""
    return _resampled(differences, bootstrap_p(differences, resamples=resamples, seed=seed), _t)


def _resampled(differences: Floats, p: Floats, statistic: Callable[[Floats], float | None]) -> list[Outcome]:
    columns = [column[there(column)] for column in differences.T]
    return [
        Outcome(statistic(column), None if math.isnan(value) else value) if len(column) > 1 else Outcome()
        for column, value in zip(columns, p.tolist(), strict=True)
    ]


def _mean(differences: Floats) -> float | None:
    return float(differences.mean()) if len(differences) else None


def _t(differences: Floats) -> float | None:
    d = cohen_d(differences)
    return None if d is None else d * math.sqrt(len(differences))


def t_test(differences: Floats) -> Outcome:
    """Student's paired t."""
    if cohen_d(differences) is None:
        return Outcome()
    result = stats.ttest_1samp(differences, 0)
    return Outcome(float(result.statistic), float(result.pvalue))


def wilcoxon(differences: Floats) -> Outcome:
    """Wilcoxon's signed ranks."""
    ranks = signed_ranks(differences)
    has_ties = len(np.unique(np.abs(ranks[ranks != 0]))) < len(differences)
    if not ranks.any() or (has_ties and len(differences) <= PERMUTED):
        # What SciPy does one after the other with all signs of few differences, and does not define for no ranks.
        p = randomisation_p(ranks[:, None], resamples=2**PERMUTED, seed=0)
        return Outcome(float(min(ranks.clip(min=0).sum(), (-ranks).clip(min=0).sum())), float(p[0]))
    with warnings.catch_warnings(action="ignore"):
        # Former SciPys warn that they approximate the distribution for few values.
        result = stats.wilcoxon(differences)
    return Outcome(float(result.statistic), float(result.pvalue))


def sign_test(differences: Floats) -> Outcome:
    """The share of differences above 0."""
    positive, unequal = int((differences > 0).sum()), int(np.count_nonzero(differences))
    if not unequal:
        return Outcome(None, 1.0)
    result = stats.binomtest(positive, unequal)
    return Outcome(float(result.statistic), float(result.pvalue))


def max_t(differences: Floats, *, measures: int, alpha: float, resamples: int, seed: int) -> list[Outcome]:
    """What the step-down test of the largest |t| tells of each column; the columns of a measure are one family.

    The intervals of a family together miss one of its mean differences with a probability of alpha.
    """
    outcomes: list[Outcome] = []
    for of_pairs in np.hsplit(differences, measures):
        p, largest = largest_flipped(of_pairs, resamples=resamples, seed=seed)
        allowed = math.floor(alpha * (resamples + 1) * (1 + ROUNDING))
        limit = float(largest[resamples - allowed]) if allowed else math.inf
        for column, of_pair in zip(of_pairs.T, p.tolist(), strict=True):
            pairs = column[there(column)]
            half = limit * (deviation(pairs) or 0) / math.sqrt(max(1, len(pairs)))
            ends = (float(pairs.mean()) - half, float(pairs.mean()) + half) if half and math.isfinite(half) else None
            outcomes.append(Outcome(_t(pairs), of_pair, ends) if len(pairs) > 1 else Outcome())
    return outcomes


def binomial(successes: int, trials: int) -> tuple[float, tuple[float | None, float | None]]:
    """The exact two-sided p of a share of one half, and the exact 95 % interval of the share (Clopper-Pearson)."""
    if not trials:
        return 1.0, (None, None)
    result = stats.binomtest(successes, trials)
    ends = result.proportion_ci(0.95, method="exact")
    return float(result.pvalue), (float(ends.low), float(ends.high))


def tukey(values: Sequence[Floats], differences: Floats, *, alpha: float, resamples: int, seed: int) -> list[Outcome]:
    """What Tukey's test of all systems tells of each column; values and differences are `of_all` systems.

    The p is that of the largest of all differences to be as large. The intervals of all differences together miss one
    of them with a probability of alpha; one excludes 0 exactly where p is no more than alpha.
    """
    outcomes: list[Outcome] = []
    for of_measure, of_pairs in zip(values, np.hsplit(differences, len(values)), strict=True):
        complete = of_measure[~np.isnan(of_measure).any(axis=1)]
        if len(complete) < 2:
            outcomes += [Outcome()] * of_pairs.shape[1]
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
            outcomes.append(Outcome(difference, of_pair, ends))
    return outcomes


def corrected(p: Sequence[float | None], method: str | None, *, alpha: float) -> list[float | None]:
    """The p of a family of comparisons, corrected for their number; one that is not defined is not counted."""
    defined = [value for value in p if value is not None]
    if method is None or not defined:
        return list(p)
    with np.errstate(divide="ignore"):
        # A p of 1 is one part of some methods' logarithm of 0, which comes out right.
        adjusted = iter(multipletests(defined, alpha=alpha, method=method)[1])
    return [None if value is None else float(next(adjusted)) for value in p]


def without_ties(differences: Floats, tolerance: float) -> Floats:
    """The differences with 0 for those within the tolerance."""
    return np.where(np.abs(differences) <= tolerance, 0, differences)
