"""Tests of paired scores, corrections for many of them, and the sizes of the effects with their intervals.

Conventions: differences have a row per query and a column per comparison, NaN where there is no pair. All tests are
two-sided. A figure that is not defined is None.
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
    ROUNDING,
    Draws,
    Floats,
    bootstrap_p,
    permuted_ranges,
    randomisation_p,
)

#: The main names of statsmodels' corrections, which messages list.
MAIN_CORRECTIONS = (
    *("bonferroni", "sidak", "holm", "holm-sidak", "simes-hochberg", "hommel"),
    *("fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky"),
)

#: The most differences with ties for which SciPy finds the p of Wilcoxon's test among all their signs.
PERMUTED = 13

#: Up to so many differences without ties SciPy knows the distribution of Wilcoxon's statistic.
EXACT = 50

#: The resamples that must be able to fall into each comparison's share of alpha.
PER_COMPARISON = 10

#: The columns of the sizes of an effect and of their intervals.
EFFECTS = [f"{effect}{end}" for effect in ("cohen_d", "rank_biserial") for end in ("", "_low", "_high")]

#: No default draws more.
BUDGET = 200_000


class Outcome(NamedTuple):
    """The result of a test; of one of all systems also its interval, and that which holds over several families."""

    statistic: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None
    simultaneous: tuple[float, float] | None = None


class Paired(NamedTuple):
    """The input of a test: scores of each measure, a column per system, and differences, a column per comparison.

    `widths` are the ranges of the measure of each column, and `families` the number of families of all systems.
    """

    values: Sequence[Floats]
    differences: Floats
    alpha: float
    tolerance: float
    draws: Draws
    widths: Sequence[float] = ()
    families: int = 1


def differences(values: Sequence[Floats], pairs: Sequence[tuple[int, int]]) -> Floats:
    """The scores of one system minus those of another, a column per measure and, in it, pair of systems.

    They are rounded, so that those which floats alone make unequal are ties, and differences that are all the same have
    no spread.
    """
    columns = []
    runs, baselines = np.array(pairs).T
    for of_measure in values:
        largest = np.fmax.reduce(np.abs(of_measure), axis=0, initial=0)
        scales = np.maximum(largest[runs], largest[baselines])
        of_pairs = of_measure[:, runs] - of_measure[:, baselines]
        for scale in np.unique(scales):
            alike = scales == scale
            of_pairs[:, alike] = rounded(of_pairs[:, alike], float(scale))
        columns.append(of_pairs)
    return np.ascontiguousarray(np.hstack(columns))


def samples_of(differences: Floats) -> list[Floats]:
    """The differences of each column, without those of queries that a system has no value for."""
    return [column[there(column)] for column in differences.T]


def there(differences: Floats) -> NDArray[np.bool_]:
    """True where both systems of a pair have a value."""
    return ~np.isnan(differences)


def by_size(samples: Sequence[Floats]) -> Iterator[tuple[list[int], Floats]]:
    """The samples of each size, a row each, and their places: a row's figures are to the bit those of it alone."""
    places: dict[int, list[int]] = {}
    for place, sample in enumerate(samples):
        places.setdefault(len(sample), []).append(place)
    for alike in places.values():
        yield alike, np.array([samples[place] for place in alike])


def of_all(values: Floats) -> Floats:
    """The scores without those of queries that a system has no value for."""
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)


def of_each(test: Callable[[Floats], Outcome], differences: Floats, tolerance: float) -> list[Outcome]:
    """The result of a test of pairs for each column; of fewer than two pairs there is none.

    Differences within the tolerance are ties, and 0.
    """
    tested = (without_ties(sample, tolerance) for sample in samples_of(differences))
    return [test(sample) if len(sample) > 1 else Outcome() for sample in tested]


def _resampled(differences: Floats, p: Floats, statistic: Callable[[Floats], float | None]) -> list[Outcome]:
    """The result for each column, by p of resamples: Fisher's randomisation, of the mean, or a bootstrap, of t."""
    return [
        Outcome(statistic(sample), None if math.isnan(value) else value) if len(sample) > 1 else Outcome()
        for sample, value in zip(samples_of(differences), p.tolist(), strict=True)
    ]


def _mean(differences: Floats) -> float | None:
    return float(differences.mean()) if len(differences) else None


def _t(differences: Floats) -> float | None:
    d = float(cohen_d(differences))
    return None if math.isnan(d) else d * math.sqrt(len(differences))


def t_test(samples: Sequence[Floats]) -> list[Outcome]:
    """Student's paired t of each sample; of differences that are all the same there is none."""
    outcomes = [Outcome()] * len(samples)
    for places, rows in by_size(samples):
        spread = np.flatnonzero(deviation(rows) > 0)
        if not len(spread):
            continue
        result = stats.ttest_1samp(rows[spread], 0, axis=1)
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
        # Former SciPys warn that they approximate the distribution for few values.
        result = stats.wilcoxon(differences)
    return Outcome(float(result.statistic), float(result.pvalue))


def _has_ties(ranks: Floats) -> bool:
    """True where differences are 0, or as large as another."""
    return len(np.unique(np.abs(ranks[ranks != 0]))) < len(ranks)


def rejected_ranks(ranks: Floats, alpha: float) -> float:
    """The largest of the lower sums of signed ranks at which `wilcoxon` has a p of alpha or less; below 0 if none is.

    The distribution is as in `wilcoxon`: that of all changes of signs for few differences, else the normal one.
    """
    has_ties, of_unequal = _has_ties(ranks), np.abs(ranks[ranks != 0])
    if len(ranks) <= (PERMUTED if has_ties else EXACT):
        shares = np.ones(1)
        for rank in (2 * of_unequal).astype(int):
            shares = (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0))) / 2
        return (np.count_nonzero(2 * shares.cumsum() <= alpha * (1 + ROUNDING)) - 1) / 2
    return float(of_unequal.sum() / 2 - stats.norm.isf(alpha / 2) * math.sqrt((of_unequal**2).sum()) / 2)


def sign_test(differences: Floats) -> Outcome:
    """The share of differences above 0."""
    positive, unequal = int((differences > 0).sum()), int(np.count_nonzero(differences))
    if not unequal:
        return Outcome(None, 1.0)
    result = stats.binomtest(positive, unequal)
    return Outcome(float(result.statistic), float(result.pvalue))


def automatic(differences: Floats, width: float, mean: float = 0.0) -> Outcome:
    """Twice the smaller p of the bounds of `gate(interval="auto")`, if no difference can be wider; the statistic is t.

    It is that of a true mean difference. None where few queries lie on one side, and the width is not known.
    """
    sides = [p_above(side, true, lowest=-width) for side, true in ((differences, mean), (-differences, -mean))]
    p = None if sides[0] is None or sides[1] is None else min(1.0, 2 * min(sides[0], sides[1]))
    return Outcome(_t(differences), p)


def binomial(successes: int, trials: int) -> tuple[float, tuple[float | None, float | None]]:
    """The exact two-sided p of a share of one half, and the exact 95 % interval of the share (Clopper-Pearson)."""
    if not trials:
        return 1.0, (None, None)
    result = stats.binomtest(successes, trials)
    ends = result.proportion_ci(0.95, method="exact")
    return float(result.pvalue), (float(ends.low), float(ends.high))


def tukey(
    values: Sequence[Floats], differences: Floats, draws: Draws, *, alpha: float, families: int = 1
) -> list[Outcome]:
    """The result of Tukey's test of all systems for each column; values and differences are `of_all` systems.

    The p is that of the largest of all differences to be as large. The intervals of all differences together miss one
    of them with a probability of alpha, the simultaneous ones one of all families; one excludes 0 exactly where p is no
    more than alpha. Where no ranges differ there is none.
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


#: The outcomes of each paired test, by its name, for each comparison.
PAIRED: Mapping[str, Callable[[Paired], list[Outcome]]] = {
    **dict.fromkeys(("t", "max-t"), lambda of: t_test(samples_of(of.differences))),
    "auto": lambda of: list(map(automatic, samples_of(of.differences), of.widths)),
    "wilcoxon": lambda of: of_each(wilcoxon, of.differences, of.tolerance),
    "sign": lambda of: of_each(sign_test, of.differences, of.tolerance),
    "randomisation": lambda of: _resampled(of.differences, randomisation_p(of.differences, of.draws), _mean),
    "bootstrap": lambda of: _resampled(of.differences, bootstrap_p(of.differences, of.draws), _t),
    "tukey": lambda of: tukey(of.values, of.differences, of.draws, alpha=of.alpha, families=of.families),
}


def _around(difference: float, margin: float, rounding: float) -> tuple[float, float]:
    """The interval of a difference; an end that only rounding tells from 0 is 0, as a range that is as wide by it."""
    low, high = difference - margin, difference + margin
    return (low if abs(low) > rounding else 0.0, high if abs(high) > rounding else 0.0)


def _margin(ranges: Floats, alpha: float) -> float | None:
    """The widest of sorted ranges but for those that, with the one observed, may be as wide; None if too few are."""
    allowed = math.floor(alpha * (len(ranges) + 1) * (1 + ROUNDING))
    return float(ranges[len(ranges) - allowed]) if allowed else None


def corrected(p: Sequence[float | None], method: str | None, *, alpha: float) -> list[float | None]:
    """The p of a family of comparisons, corrected for their number; one that is not defined is not counted."""
    defined = [value for value in p if value is not None]
    if method is None or not defined:
        return list(p)
    if method in ("h", "holm"):
        adjusted = iter(holm(np.array(defined)))
    else:
        # It imports pandas, which takes a second.
        from statsmodels.stats.multitest import multipletests

        with np.errstate(divide="ignore"):
            # A p of 1 is one part of some methods' logarithm of 0, which comes out right.
            adjusted = iter(multipletests(defined, alpha=alpha, method=method)[1])
    return [None if value is None else float(next(adjusted)) for value in p]


def is_correction(name: object) -> bool:
    """True for the name of a correction of statsmodels; not of its local false discovery rate, which is no p."""
    if name in MAIN_CORRECTIONS:
        return True
    from statsmodels.stats.multitest import multitest_alias

    return isinstance(name, str) and multitest_alias.get(name, "lfdr") != "lfdr"


def holm(p: Floats) -> Floats:
    """The p corrected by Holm, as by statsmodels, whose collection of garbage takes 30 times as long as `compare`."""
    order = p.argsort()
    rising = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(rising, 1)[order.argsort()]


def without_ties(differences: Floats, tolerance: float) -> Floats:
    """The differences with 0 for those within the tolerance."""
    return np.where(np.abs(differences) <= tolerance, 0, differences)


def effects(samples: Sequence[Floats], *, tolerance: float, confidence: float) -> list[dict[str, float | None]]:
    """The sizes of each sample's effect, with their intervals, by the names of their columns."""
    found: list[dict[str, float | None]] = [{}] * len(samples)
    for places, rows in by_size(samples):
        ranked = without_ties(rows, tolerance)
        d, r, n = cohen_d(rows), rank_biserial(ranked), np.count_nonzero(ranked, axis=-1)
        intervals = cohen_d_interval(d, rows.shape[1], confidence), rank_biserial_interval(r, n, confidence)
        columns = [d, *intervals[0], r, *intervals[1]]
        floats = np.column_stack(columns)
        figures = floats.astype(object)
        figures[np.isnan(floats)] = None
        for place, row in zip(places, figures.tolist(), strict=True):
            found[place] = dict(zip(EFFECTS, row, strict=True))
    return found


def deviation(differences: Floats) -> Floats:
    """The standard deviation of each row of differences, 0 if they are all the same; NaN of fewer than two."""
    if differences.shape[-1] < 2:
        return np.full(differences.shape[:-1], math.nan)
    # The mean of equal numbers can be another number, by rounding.
    return np.where(np.ptp(differences, axis=-1) > 0, differences.std(axis=-1, ddof=1), 0.0)


def cohen_d(differences: Floats) -> Floats:
    """Cohen's d_z of each row: the mean of the differences by their standard deviation; NaN without a spread."""
    spread = deviation(differences)
    with np.errstate(all="ignore"):
        return np.where(spread > 0, differences.sum(axis=-1) / differences.shape[-1] / spread, math.nan)


def cohen_d_interval(d: Floats, n: int | Floats, confidence: float) -> tuple[Floats, Floats]:
    """The interval of each d of n differences, by the noncentral t distribution.

    It takes differences for normal (Cumming & Finch 2001, https://doi.org/10.1177/0013164401614002).
    """
    tail, t = (1 - confidence) / 2, d * np.sqrt(n)
    with np.errstate(all="ignore"):
        low = special.nctdtrinc(n - 1, 1 - tail, t) / np.sqrt(n)
        high = special.nctdtrinc(n - 1, tail, t) / np.sqrt(n)
    is_defined = np.isfinite(low) & np.isfinite(high)
    return np.where(is_defined, low, math.nan), np.where(is_defined, high, math.nan)


def rank_biserial(differences: Floats) -> Floats:
    """The share of Wilcoxon's ranks of each row that are of positive differences, minus that of negative ones.

    NaN without ranks.
    """
    ranks = signed_ranks(differences)
    with np.errstate(all="ignore"):
        return np.asarray(ranks.sum(axis=-1) / np.abs(ranks).sum(axis=-1))


def rank_biserial_interval(r: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Wilson's interval of each share of n positive ranks, of as many queries as have its spread without an effect.

    The sum of n signed ranks has the variance n (n + 1) (2n + 1) / 6 then.
    """
    effective = np.asarray(1.5 * n * (n + 1) / (2 * n + 1))
    z = float(stats.norm.ppf((1 + confidence) / 2))
    with np.errstate(all="ignore"):
        middle, half = r / (1 + z * z / effective), z / (1 + z * z / effective)
        half *= np.sqrt((1 - r * r) / effective + z * z / effective**2)
    return middle - half, middle + half


def signed_ranks(differences: Floats) -> Floats:
    """The ranks of each row's differences by size, with the sign of its difference; 0 for a difference of 0."""
    ranks = stats.rankdata(np.abs(differences), axis=-1)
    # Zeros have the lowest ranks, which do not count.
    zeros = differences.shape[-1] - np.count_nonzero(differences, axis=-1, keepdims=True)
    return np.where(differences == 0, 0.0, (ranks - zeros) * np.sign(differences))


def resamples_for(comparisons: int, alpha: float, *, least: int = 10_000) -> int:
    """The number of resamples with which each of a family of comparisons can be significant after a correction.

    m resamples can show no p below 1 / (m + 1), which Holm's or Bonferroni's correction multiplies by their number.

    >>> resamples_for(1, 0.05), resamples_for(780, 0.05)
    (10000, 156000)
    """
    return max(least, min(BUDGET, math.ceil(PER_COMPARISON * comparisons / alpha)))


def rounded(values: Floats, scale: float | None = None) -> Floats:
    """Values to the thirteenth digit of the largest, or of `scale`: those that differ by rounding alone are equal.

    .4 - .3 and .2 - .1 differ by 3e-17, which is no order for a test of ranks.
    """
    largest = np.nanmax(np.abs(values), initial=0) if scale is None else scale
    if not largest:
        return values
    # NumPy multiplies by the power of ten, which must be a finite number.
    decimals = min(300, 13 - math.ceil(math.log10(largest)))
    return np.round(values, decimals) + 0.0
