"""Estimates of means with their intervals, and tests of mean differences: of values, of moments, or by expressions.

Conventions: whoever needs an end, a p or an effect asks here, and does not know whether a sample has its values. What
needs these is an error of a sample of moments, which says what to take instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_ir.errors import InputTypeError, option
from polars_ir.per_query.shared.options import BOUNDED
from polars_ir.per_query.shared.tests import OF_MEDIANS, PairedTest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polars_ir.per_query.shared.pairs import Pairs
    from polars_ir.statistics.bounds import Tail
    from polars_ir.statistics.intervals import Estimate
    from polars_ir.statistics.randomisation import Draws
    from polars_ir.statistics.samples import Ends, Sample
    from polars_ir.statistics.significance import Outcome

#: The reason why a size of effect is null.
NO_RANKS = "rank_biserial needs the values of queries: collect them"


class Procedure(NamedTuple):
    """A test with its options: `family` is the number of its comparisons, `margins` are those of the measures."""

    test: PairedTest
    interval: str
    alpha: float
    family: int
    tolerance: float
    margins: Mapping[str, float]
    draws: Draws


def estimates(
    samples: Sequence[Sample],
    kind: str,
    alpha: float,
    draws: Draws | None = None,
    advice: tuple[str, str | None] = ("this interval", None),
) -> list[Estimate]:
    """The mean of each sample with its interval, which misses the true one with a probability of alpha.

    The `advice` is what needs the values, and what does not.
    """
    from polars_ir.statistics import intervals
    from polars_ir.statistics.samples import Moments, Values

    if any(isinstance(sample, Moments) for sample in samples):
        return [_by_moments(sample, kind, alpha, advice) for sample in samples]
    of_values = [sample for sample in samples if isinstance(sample, Values)]
    return intervals.estimates(of_values, kind, 1 - alpha, draws)


def _by_moments(sample: Sample, kind: str, alpha: float, advice: tuple[str, str | None]) -> Estimate:
    """The mean with the interval that moments make."""
    from scipy import stats

    from polars_ir.statistics.intervals import Estimate

    n, mean = sample.n, sample.mean
    if n < 2:
        return Estimate(mean if n else None, None, None, n)
    if kind == "auto":
        tails = _tails(sample, advice)
        if tails is None:
            return Estimate(mean, None, None, n)
        return Estimate(mean, tails[0].bound(alpha / 2), -tails[1].bound(alpha / 2), n)
    if kind not in ("t", "normal"):
        raise InputTypeError.lazy(*advice)
    share = 1 - alpha / 2
    quantile = float(stats.t.ppf(share, n - 1) if kind == "t" else stats.norm.ppf(share))
    half = quantile * sample.std / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)


def _tails(sample: Sample, advice: tuple[str, str | None]) -> tuple[Tail, Tail] | None:
    """Both tails of moments, where bounds by Student's t hold; none where the range of the measure is not known either.

    Where it is, a bound by the range would need the values.
    """
    from polars_ir.statistics.bounds import LEAST_BELOW

    tails = sample.tail(), sample.scaled(-1).tail()
    if tails[0] is not None and tails[1] is not None:
        return tails[0], tails[1]
    if sample.n < 2 or not math.isfinite(sample.support[0]):
        return None
    what, instead = advice
    says = f"{what}, where fewer than {LEAST_BELOW} queries lie below mean and median, or above both,"
    raise InputTypeError.lazy(says, instead)


def why_none(sample: Sample) -> str:
    """The reason for a p or an interval by `"auto"` that there is not."""
    from polars_ir.statistics.bounds import NO_RANGE

    has_range = math.isfinite(sample.support[0])
    return "" if has_range or (sample.tail() and sample.scaled(-1).tail()) else f": {NO_RANGE}"


def outcomes(of: Pairs, how: Procedure) -> list[Outcome]:
    """The result of the test for each pair."""
    from polars_ir.statistics import significance

    if of.differences is None:
        return [_tested(pair.sample, how) for pair in of.pairs]
    widths = [pair.sample.support[1] for pair in of.pairs]
    paired = significance.Paired(of.values, of.differences, how.alpha, how.tolerance, how.draws, widths, how.family)
    return significance.PAIRED[how.test.name](paired)


def _tested(sample: Sample, how: Procedure) -> Outcome:
    """Student's t of moments, or the smaller p of both bounds."""
    from scipy import special

    from polars_ir.statistics.significance import Outcome

    n, std = sample.n, sample.std
    t = sample.mean / std * math.sqrt(n) if n > 1 and std else None
    if how.test.name == "t":
        return Outcome() if t is None else Outcome(t, 2 * float(special.stdtr(n - 1, -abs(t))))
    tails = _tails(sample, ("ir.compare with test='auto'", option("test", "t")))
    return Outcome(t, min(1.0, 2 * min(tail.p_above(0.0) for tail in tails)) if tails else None)


def intervals(
    samples: Sequence[Sample], how: Procedure, outcomes: Sequence[Outcome]
) -> tuple[list[Ends | None], list[Ends | None]]:
    """The interval of each difference, and the one that holds together with those of its family."""
    from polars_ir.statistics.samples import Values
    from polars_ir.statistics.significance import without_ties

    bounded = how.interval in BOUNDED
    advice = f"ir.compare with {option('interval', how.interval)}", option("interval", "t")
    ranked: list[Sample] = list(samples)
    if how.interval in OF_MEDIANS:
        ranked = [Values(without_ties(d.values, how.tolerance)) for d in samples if d.values is not None]

    def ends(alpha: float) -> list[Ends | None]:
        found: list[Ends | None] = []
        for estimate, d in zip(estimates(ranked, how.interval, alpha, how.draws, advice), samples, strict=True):
            # What shows no spread does not show either that there is none.
            is_there = estimate.ends is not None and (bounded or d.lowest < d.highest)
            low, high = (_without_rounding(end, d) for end in estimate.ends or ()) if is_there else (0.0, 0.0)
            found.append((low, high) if low < high else None)
        return found

    of_test = how.interval == how.test.interval
    if how.test.complete:
        alone = [outcome.interval for outcome in outcomes] if of_test else ends(how.alpha)
        return alone, [outcome.simultaneous for outcome in outcomes]
    alone = ends(how.alpha)
    if of_test:
        alone = [
            end if end is None or agree(outcome.p, end, how.alpha) else None
            for end, outcome in zip(alone, outcomes, strict=True)
        ]
    return alone, ends(how.alpha / how.family)


def largest(sample: Sample) -> float:
    """The largest absolute value, 0 of no values."""
    return max(abs(sample.lowest), abs(sample.highest)) if sample.n else 0.0


def _without_rounding(end: float, sample: Sample) -> float:
    """The end of an interval, and 0 where it is 0 but for rounding, so that none excludes 0 by that."""
    from polars_ir.statistics.randomisation import ROUNDING

    return end if abs(end) > ROUNDING * largest(sample) else 0.0


def agree(p: float | None, ends: Ends, alpha: float) -> bool:
    """True where an interval excludes 0 as p says."""
    return p is None or (p <= alpha) == (ends[0] > 0 or ends[1] < 0)


def effects(of: Pairs, how: Procedure) -> list[dict[str, float | None]]:
    """The sizes of the effects with their intervals, by the names of their columns."""
    import numpy as np

    from polars_ir.statistics import significance

    confidence = 1 - how.alpha
    if of.differences is not None:
        samples = [pair.sample.values for pair in of.pairs if pair.sample.values is not None]
        return significance.effects(samples, tolerance=how.tolerance, confidence=confidence)
    n, std = (np.array([getattr(pair.sample, name) for pair in of.pairs], np.float64) for name in ("n", "std"))
    with np.errstate(all="ignore"):
        d = np.where(std > 0, np.array([pair.sample.mean for pair in of.pairs]) / std, np.nan)
    columns = np.column_stack([d, *significance.cohen_d_interval(d, n, confidence)])
    rows = columns.astype(object)
    rows[np.isnan(columns)] = None
    return [dict(zip(significance.EFFECTS, row, strict=False)) for row in rows.tolist()]


def p_within(sample: Sample, margin: float) -> float | None:
    """The p of the test that a mean difference is within the margin, by two one-sided ones."""
    from polars_ir.statistics.bounds import p_above

    if sample.values is None:
        tails = _tails(sample, ("margin", "no margin"))
        sides: Sequence[Any] = tails or ()
    else:
        sides = sample.values, -sample.values
    p = [p_above(side, -margin, lowest=sample.support[0]) for side in sides]
    return None if not p or p[0] is None or p[1] is None else max(p[0], p[1])
