"""Tests of paired scores, corrections for multiple comparisons, and effect sizes with their intervals.

Conventions: differences have a row per query and a column per comparison, NaN for a missing pair. All tests are
two-sided. An undefined figure is None.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from polars_ir.statistics.bounds import p_above
from polars_ir.statistics.randomisation import (
    DIGITS,
    ROUNDING,
    Draws,
    Floats,
    bootstrap_p,
    permuted_ranges,
    randomisation_p,
    unit,
)

#: Main names of statsmodels' corrections, which messages list.
MAIN_CORRECTIONS = (
    *("bonferroni", "sidak", "holm", "holm-sidak", "simes-hochberg", "hommel"),
    *("fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky"),
)

#: Most differences with ties for which SciPy enumerates all signs for the p of Wilcoxon's test.
PERMUTED = 13

#: Most differences without ties for which SciPy has the exact distribution of Wilcoxon's statistic.
EXACT = 50

#: Minimum number of resamples that can fall into each comparison's share of alpha.
PER_COMPARISON = 10

#: Columns of effect sizes and their intervals.
EFFECTS = [f"{effect}{end}" for effect in ("cohen_d", "rank_biserial") for end in ("", "_low", "_high")]

#: No default draws more.
BUDGET = 200_000


class Outcome(NamedTuple):
    """Result of a test; for tests of all systems also the interval, and the one that holds over several families."""

    statistic: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None
    simultaneous: tuple[float, float] | None = None


class Paired(NamedTuple):
    """Input of a test: scores by measure, a column per system, and differences, a column per comparison.

    `widths` are the ranges of the measure of each column, `families` the number of families of systems, and `largest`
    the `largest_values` that the differences are rounded by.
    """

    values: Sequence[Floats]
    differences: Floats
    alpha: float
    tolerance: float
    draws: Draws
    widths: Sequence[float] = ()
    families: int = 1
    largest: Floats | None = None


def largest_values(values: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Floats:
    """Largest absolute score of both systems, for each column of their `differences`."""
    runs, baselines = np.array(pairs).T
    columns = []
    for of_measure in values:
        largest = np.fmax.reduce(np.abs(of_measure), axis=0, initial=0)
        columns.append(np.maximum(largest[runs], largest[baselines]))
    return np.concatenate(columns)


def differences(values: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Floats:
    """Scores of one system minus those of another: a column per measure and, within it, pair of systems.

    Rounded, so that values made unequal by floats alone are ties, and constant differences have no spread.
    """
    columns = []
    runs, baselines = np.array(pairs).T
    for of_measure, scales in zip(values, np.split(largest_values(values, pairs), len(values)), strict=True):
        of_pairs = of_measure[:, runs] - of_measure[:, baselines]
        for scale in np.unique(scales):
            alike = scales == scale
            of_pairs[:, alike] = rounded(of_pairs[:, alike], float(scale))
        columns.append(of_pairs)
    return np.ascontiguousarray(np.hstack(columns))


def samples_of(differences: Floats) -> list[Floats]:
    """Differences of each column, without queries that a system has no value for."""
    return [column[there(column)] for column in differences.T]


def there(differences: Floats) -> NDArray[np.bool_]:
    """True where both systems of a pair have a value."""
    return ~np.isnan(differences)


def by_size(samples: Sequence[Floats]) -> Iterator[tuple[list[int], Floats]]:
    """Samples grouped by size, a row each, and their places: a row has the same bits as if computed alone."""
    places: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        places.setdefault(len(sample), []).append(place)
    for alike in places.values():
        yield alike, np.array([samples[place] for place in alike])


def of_all(values: Floats) -> Floats:
    """Scores, without queries that a system has no value for."""
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)


def of_each(test: Callable[[Floats], Outcome], differences: Floats, tolerance: float) -> list[Outcome]:
    """Result of a test for each column, differences within the tolerance being 0; None for fewer than two pairs."""
    tested = (without_ties(sample, tolerance) for sample in samples_of(differences))
    return [test(sample) if len(sample) > 1 else Outcome() for sample in tested]


def _resampled(differences: Floats, p: Floats, statistic: Callable[[Floats], float | None]) -> list[Outcome]:
    """Result for each column by p of resamples: Fisher's randomisation of the mean, or a bootstrap of t."""
    return [
        Outcome(statistic(sample), None if math.isnan(value) else value) if len(sample) > 1 else Outcome()
        for sample, value in zip(samples_of(differences), p.tolist(), strict=True)
    ]


def _t(differences: Floats) -> float | None:
    d = float(cohen_d(differences))
    return None if math.isnan(d) else d * math.sqrt(len(differences))


def t_test(samples: Sequence[Floats]) -> list[Outcome]:
    """Student's paired t of each sample; None for constant differences."""
    outcomes = [Outcome()] * len(samples)
    for places, rows in by_size(samples):
        spread = np.flatnonzero(deviation(rows) > 0)
        if not len(spread):
            continue
        result = stats.ttest_1samp(rows[spread] / unit(rows[spread]), 0, axis=1)
        for row, statistic, p in zip(spread, result.statistic.tolist(), result.pvalue.tolist(), strict=True):
            outcomes[places[row]] = Outcome(statistic, p)
    return outcomes


def wilcoxon(differences: Floats) -> Outcome:
    """Wilcoxon's signed ranks."""
    ranks = signed_ranks(differences)
    if not ranks.any() or (_has_ties(ranks) and len(differences) <= PERMUTED):
        # SciPy enumerates signs here, one after the other, and fails if all ranks are 0.
        p = randomisation_p(ranks[:, None], Draws(2**PERMUTED))
        return Outcome(float(min(ranks.clip(min=0).sum(), (-ranks).clip(min=0).sum())), float(p[0]))
    with warnings.catch_warnings(action="ignore"):
        # Earlier SciPy versions warn that they approximate the distribution for few values.
        result = stats.wilcoxon(differences)
    return Outcome(float(result.statistic), float(result.pvalue))


def _has_ties(ranks: Floats) -> bool:
    """True where differences are 0, or tied in size."""
    return len(np.unique(np.abs(ranks[ranks != 0]))) < len(ranks)


def rejected_ranks(ranks: Floats, alpha: float) -> float:
    """Largest lower sum of signed ranks for which `wilcoxon` has a p of alpha or less; below 0 if none has.

    The distribution is as in `wilcoxon`: over all changes of signs for few differences, else the normal one.
    """
    has_ties, of_unequal = _has_ties(ranks), np.abs(ranks[ranks != 0])
    if len(ranks) <= (PERMUTED if has_ties else EXACT):
        shares = np.ones(1)
        for rank in (2 * of_unequal).astype(int):
            shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
        return (np.count_nonzero(2 * shares.cumsum() <= alpha * (1 + ROUNDING)) - 1) / 2
    return float(of_unequal.sum() / 2 - stats.norm.isf(alpha / 2) * math.sqrt((of_unequal**2).sum()) / 2)


def sign_test(differences: Floats) -> Outcome:
    """Share of differences above 0."""
    positive, unequal = int((differences > 0).sum()), int(np.count_nonzero(differences))
    if not unequal:
        return Outcome(None, 1.0)
    result = stats.binomtest(positive, unequal)
    return Outcome(float(result.statistic), float(result.pvalue))


def automatic(differences: Floats, width: float, mean: float = 0.0) -> Outcome:
    """Twice the smaller p of the bounds of `gate(interval="auto")`, if no difference can be wider; the statistic is t.

    It concerns the true mean difference. None where few queries lie on one side and the width is unknown.
    """
    sides = [p_above(side, true, lowest=-width) for side, true in ((differences, mean), (-differences, -mean))]
    p = None if sides[0] is None or sides[1] is None else min(1.0, 2 * min(sides[0], sides[1]))
    return Outcome(_t(differences), p)


def binomial(successes: int, trials: int) -> tuple[float, tuple[float | None, float | None]]:
    """Exact two-sided p of a share of one half, and the exact 95 % interval of the share (Clopper-Pearson)."""
    if not trials:
        return 1.0, (None, None)
    result = stats.binomtest(successes, trials)
    ends = result.proportion_ci(0.95, method="exact")
    return float(result.pvalue), (float(ends.low), float(ends.high))


def tukey(
    values: Sequence[Floats], differences: Floats, draws: Draws, *, alpha: float, families: int = 1
) -> list[Outcome]:
    """Result of Tukey's test of all systems for each column; values and differences are `of_all` systems.

    The p is the probability of a largest difference as large. The joint intervals miss any of the differences with a
    probability of alpha, the simultaneous ones any of all families; an interval excludes 0 exactly where p is at most
    alpha. None where no ranges differ.
    """
    outcomes: list[Outcome] = []
    for of_measure, of_pairs in zip(values, np.hsplit(differences, len(values)), strict=True):
        complete = of_measure[~np.isnan(of_measure).any(axis=1)]
        if len(complete) < 2:
            outcomes += [Outcome()] * of_pairs.shape[1]
            continue
        ranges = np.sort(permuted_ranges(complete, draws))
        means = of_pairs[there(of_pairs).all(axis=1)].mean(axis=0)
        rounding = ROUNDING * float(np.abs(complete).max())
        narrower = np.searchsorted(ranges, np.abs(means) - rounding)
        p = (draws.resamples - narrower + 1) / (draws.resamples + 1)
        margins = [_margin(ranges, level) for level in (alpha, alpha / families)]
        for difference, of_pair in zip(means.tolist(), p.tolist(), strict=True):
            ends = [_around(difference, margin, rounding) if margin else None for margin in margins]
            outcomes.append(Outcome(difference, of_pair, *ends))
    return outcomes


#: Outcome of each paired test per comparison, by the name of the test.
PAIRED: Mapping[str, Callable[[Paired], list[Outcome]]] = {
    **dict.fromkeys(("t", "max-t"), lambda of: t_test(samples_of(of.differences))),
    "auto": lambda of: list(map(automatic, samples_of(of.differences), of.widths)),
    "wilcoxon": lambda of: of_each(wilcoxon, of.differences, of.tolerance),
    "sign": lambda of: of_each(sign_test, of.differences, of.tolerance),
    "randomisation": lambda of: _resampled(
        of.differences, randomisation_p(of.differences, of.draws, largest=of.largest), lambda d: float(d.mean())
    ),
    "bootstrap": lambda of: _resampled(of.differences, bootstrap_p(of.differences, of.draws), _t),
    "tukey": lambda of: tukey(of.values, of.differences, of.draws, alpha=of.alpha, families=of.families),
}


def _around(difference: float, margin: float, rounding: float) -> tuple[float, float]:
    """Interval of a difference; an end that differs from 0 by rounding alone becomes 0."""
    low, high = difference - margin, difference + margin
    return (low if abs(low) > rounding else 0.0, high if abs(high) > rounding else 0.0)


def _margin(ranges: Floats, alpha: float) -> float | None:
    """The range among the sorted ones that, with the observed one, at most this many may reach; None if too few are."""
    allowed = math.floor(alpha * (len(ranges) + 1) * (1 + ROUNDING))
    return float(ranges[len(ranges) - allowed]) if allowed else None


def corrected(p: Sequence[float | None], method: str | None, *, alpha: float) -> list[float | None]:
    """P-values of a family of comparisons, corrected for their number; undefined ones are not counted."""
    defined = [value for value in p if value is not None]
    if method is None or not defined:
        return list(p)
    if method in ("h", "holm"):
        adjusted = iter(holm(np.array(defined)))
    else:
        # It imports pandas, which takes a second.
        from statsmodels.stats.multitest import multipletests

        with np.errstate(divide="ignore"):
            # With a p of 1 some methods take the logarithm of 0, which comes out right.
            adjusted = iter(multipletests(defined, alpha=alpha, method=method)[1])
    return [None if value is None else float(next(adjusted)) for value in p]


def is_correction(name: object) -> bool:
    """True for the name of a statsmodels correction; not for its local false discovery rate, which is no p."""
    if isinstance(name, str) and name in MAIN_CORRECTIONS:
        return True
    from statsmodels.stats.multitest import multitest_alias

    return isinstance(name, str) and multitest_alias.get(name, "lfdr") != "lfdr"


def holm(p: Floats) -> Floats:
    """P-values corrected by Holm, as by statsmodels, whose garbage collection takes 30 times as long as `compare`."""
    order = p.argsort()
    rising = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(rising, 1)[order.argsort()]


def without_ties(differences: Floats, tolerance: float) -> Floats:
    """The differences, with 0 for those within the tolerance."""
    return np.where(np.abs(differences) <= tolerance, 0, differences)


def effects(samples: Sequence[Floats], *, tolerance: float, confidence: float) -> list[dict[str, float | None]]:
    """Effect sizes of each sample with their intervals, by the names of their columns."""
    found: list[dict[str, float | None]] = [{}] * len(samples)
    for places, rows in by_size(samples):
        ranked = without_ties(rows, tolerance)
        d, r, n = cohen_d(rows), rank_biserial(ranked), np.count_nonzero(ranked, axis=-1)
        intervals = cohen_d_interval(d, rows.shape[1], confidence), rank_biserial_interval(r, n, confidence)
        for place, row in zip(places, records(d, *intervals[0], r, *intervals[1]), strict=True):
            found[place] = row
    return found


def records(*columns: Floats) -> list[dict[str, float | None]]:
    """Rows of the first columns of `EFFECTS`; NaN is None."""
    floats = np.column_stack(columns)
    figures = floats.astype(object)
    figures[np.isnan(floats)] = None
    return [dict(zip(EFFECTS, row, strict=False)) for row in figures.tolist()]


def deviation(differences: Floats) -> Floats:
    """Standard deviation of each row of differences, 0 if constant; NaN of fewer than two."""
    if differences.shape[-1] < 2:
        return np.full(differences.shape[:-1], math.nan)
    units = unit(differences)
    std = (differences / units).std(axis=-1, ddof=1) * units[..., 0]
    # The mean of equal numbers can differ from them, by rounding.
    return np.where(np.ptp(differences, axis=-1) > 0, std, 0.0)


def cohen_d(differences: Floats) -> Floats:
    """Cohen's d_z of each row: mean difference over standard deviation; NaN without a spread."""
    differences = differences / unit(differences)
    spread = deviation(differences)
    with np.errstate(all="ignore"):
        return np.where(spread > 0, differences.sum(axis=-1) / differences.shape[-1] / spread, math.nan)


def cohen_d_interval(d: Floats, n: int | Floats, confidence: float) -> tuple[Floats, Floats]:
    """Interval of each d of n differences, by the noncentral t distribution.

    Assumes normal differences (Cumming & Finch 2001, https://doi.org/10.1177/0013164401614002).
    """
    tail, t = (1 - confidence) / 2, d * np.sqrt(n)
    with np.errstate(all="ignore"):
        low = special.nctdtrinc(n - 1, 1 - tail, t) / np.sqrt(n)
        high = special.nctdtrinc(n - 1, tail, t) / np.sqrt(n)
    is_defined = np.isfinite(low) & np.isfinite(high)
    return np.where(is_defined, low, math.nan), np.where(is_defined, high, math.nan)


def rank_biserial(differences: Floats) -> Floats:
    """Share of the ranks of each row, as Wilcoxon's, on positive differences less that on others; NaN without ranks."""
    ranks = signed_ranks(differences)
    with np.errstate(all="ignore"):
        return np.asarray(ranks.sum(axis=-1) / np.abs(ranks).sum(axis=-1))


def rank_biserial_interval(r: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval of each share of n positive ranks, by the number of queries with its spread under no effect.

    Under no effect the sum of n signed ranks has the variance n (n + 1) (2n + 1) / 6.
    """
    effective = np.asarray(1.5 * n * (n + 1) / (2 * n + 1))
    z = float(stats.norm.ppf((1 + confidence) / 2))
    with np.errstate(all="ignore"):
        middle, half = r / (1 + z * z / effective), z / (1 + z * z / effective)
        half *= np.sqrt((1 - r * r) / effective + z * z / effective**2)
    return middle - half, middle + half


def signed_ranks(differences: Floats) -> Floats:
    """Ranks of each row's differences by size, with the sign of the difference; 0 for a difference of 0."""
    ranks = stats.rankdata(np.abs(differences), axis=-1)
    # Zeros have the lowest ranks, which do not count.
    zeros = differences.shape[-1] - np.count_nonzero(differences, axis=-1, keepdims=True)
    return np.where(differences == 0, 0.0, (ranks - zeros) * np.sign(differences))


def resamples_for(comparisons: int, alpha: float, *, least: int = 10_000) -> int:
    """Number of resamples with which each of a family of comparisons can be significant after a correction.

    m resamples show no p below 1 / (m + 1), which Holm's or Bonferroni's correction multiplies by the number of
    comparisons.

    >>> resamples_for(1, 0.05), resamples_for(780, 0.05)
    (10000, 156000)
    """
    return max(least, min(BUDGET, math.ceil(PER_COMPARISON * comparisons / alpha)))


def rounded(values: Floats, scale: float | None = None) -> Floats:
    """Values to the thirteenth digit of the largest, or of `scale`, so that rounding alone makes none unequal.

    .4 - .3 and .2 - .1 differ by 3e-17, which is no order for a test of ranks.
    """
    largest = np.nanmax(np.abs(values), initial=0) if scale is None else scale
    if not largest:
        return values
    # NumPy multiplies by the power of ten, which must be a finite number.
    size = float(unit(np.array([largest]))[0])
    return np.round(values / size, DIGITS - math.ceil(math.log10(largest / size))) * size + 0.0
