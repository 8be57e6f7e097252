"""Groups of queries against others that they share no query with: differences of means, their intervals and tests.

Conventions: undefined figures are None, and a note says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import polars as pl

from polars_ir import statistics as stats
from polars_ir.extras import np
from polars_ir.per_query.shared.averages import ADDED, AT_END
from polars_ir.per_query.shared.measures import Range

#: Minimum number of reference buckets for testing bucket means; below it, queries are the sample.
LEAST_BUCKETS = 4

#: Pseudo-observations added with the pooled variance.
FEW = 5

#: Values further from 0 than this many times their spread are shifted, as their means would lose digits.
FAR = 1000

#: Widest interval that is searched, in standard deviations, and the number of bisections of it.
WIDEST, HALVINGS = 37.0, 50

#: Note on values whose deviations cannot be squared.
TOO_SMALL = "the values are too small to be squared"


class Group(NamedTuple):
    """Moments of a group of queries and of the group it is compared with, and the range of the measure."""

    here: stats.Moments
    rest: stats.Moments
    range: Range | None = None


def shift_of(lowest: Any, highest: Any) -> float:
    """Shift of values of a measure of unknown range: the lowest, where they are far from 0."""
    if lowest is None or not highest - lowest < min(abs(lowest), abs(highest)) / FAR:
        return 0.0
    return float(lowest)


def values_by(frame: pl.DataFrame, column: str, *measures: str) -> Iterator[dict[Any, stats.Floats]]:
    """Values of each measure by the values of a column, in the order of the rows."""
    lists = frame.group_by(column).agg(pl.col(measures).cast(pl.Float64))
    for measure in measures:
        of_each = zip(lists[column], lists[measure], strict=True)
        yield {value: values.drop_nulls().to_numpy() for value, values in of_each}


def all_others(groups: Sequence[stats.Moments]) -> list[stats.Moments]:
    """Moments of all other groups together, for each group: the earlier ones joined with the later ones."""
    before = [*accumulate(groups, stats.Moments.joined, initial=stats.Moments.of(()))]
    behind = [*accumulate(reversed(groups), stats.Moments.joined, initial=stats.Moments.of(()))][-2::-1]
    return [one.joined(other) for one, other in zip(before, behind, strict=False)]


def against_rest(groups: Sequence[Group], *, alpha: float, least: int) -> list[dict[str, Any]]:
    """Difference of the means of each group and its rest, with an interval and the matching p.

    The interval is Newcombe's: with [l, u] of the group's mean m and [l', u'] of m' of the rest, it goes from
    m - m' - sqrt((m - l)^2 + (u' - m')^2) to m - m' + sqrt((u - m)^2 + (m' - l')^2). Those are Clopper and Pearson's
    of effective queries, as Korn and Graubard have them, between the ends of the measure's range or, where it is not
    known or not kept, the lowest and the highest value of both. The statistic is the width, in standard deviations, of
    the interval that ends at 0, and p is what its confidence leaves. Groups below `least` queries, or with such a rest,
    have none of these.
    """
    from scipy.stats import norm

    rows = [_undefined(group, least) for group in groups]
    tested = [(row, group) for row, group in zip(rows, groups, strict=True) if row["note"] is None]
    facts = np.array([_ends_and_spread(group) for _, group in tested]).reshape(-1, 3).T
    of_group = _Means.of([group.here for _, group in tested], *facts)
    of_rest = _Means.of([group.rest for _, group in tested], *facts)
    difference = np.array([row["difference"] for row, _ in tested], np.float64)
    z, beyond, is_above = np.zeros(len(tested)), np.full(len(tested), WIDEST), difference > 0
    for _ in range(HALVINGS):
        middle = (z + beyond) / 2
        holds = abs(difference) <= _margin(of_group, of_rest, 2 * norm.sf(middle), is_above)
        z, beyond = np.where(holds, z, middle), np.where(holds, middle, beyond)
    low, high = (_margin(of_group, of_rest, np.full(len(tested), alpha), below) for below in (True, False))
    statistic = np.sign(difference) * z
    columns = np.column_stack([difference - low, difference + high, statistic, 2 * norm.sf(z)]).tolist()
    for (row, _), figures in zip(tested, columns, strict=True):
        row.update(zip(("low", "high", "statistic", "p"), figures, strict=True))
    return rows


def _undefined(group: Group, least: int) -> dict[str, Any]:
    """Row of a group without its interval and test; the note is the reason for a missing test, or None."""
    mean, rest_mean = (part.mean + part.shift if part.n else None for part in group[:2])
    both = group.here.joined(group.rest)
    difference = None
    if group.here.n and group.rest.n:
        difference = group.here.mean - group.rest.mean
        if abs(difference) <= stats.ROUNDING * max(map(abs, both.ends)):
            difference = 0.0  # These means differ by the order of their sums alone.
    row = {"mean": mean, "rest_mean": rest_mean, "difference": difference, "note": None}
    row |= dict.fromkeys(("low", "high", "statistic", "p"))
    for part, what in ((group.here, "here"), (group.rest, "to compare with")):
        if part.n < least:
            return row | {"note": f"{part.n} {'query' if part.n == 1 else 'queries'} {what}; a test needs {least}"}
    same = both.highest - both.lowest <= stats.ROUNDING * max(map(abs, both.ends))
    return row | {"note": "all values are the same" if same else TOO_SMALL if both.is_tiny else None}


def _ends_and_spread(group: Group) -> tuple[float, float, float]:
    """Ends of the measure's range, or of the observed values, and the variance as a share of the largest there."""
    its, both = group.range, group.here.joined(group.rest)
    low, high = both.lowest, both.highest
    if its is not None and math.isfinite(its.width) and its.ends[0] <= low and high <= its.ends[1]:
        low, high = its.ends
    return low, high, both.squares / both.n / ((both.mean - low) * (high - both.mean))


class _Means(NamedTuple):
    """Means of samples as shares of a range; their effective numbers of queries; the ranges' widths.

    With m the mean and s^2 the variance of n queries, as shares of the range, and a = min(m, 1 - m), the effective
    number is that of queries of the widest possible spread, m (1 - m), with the same information: 1 / (v / n + 2 / (n
    (n - 1))). v is the share s^2 / (m (1 - m)), and 2 / (n (n - 1)) keeps intervals of few queries open. Where few
    values are off the end that the mean is near, they show little of the spread: v is at least its value with `FEW`
    more values of the pooled variance of both groups, w = n a^2 / s^2 being the effective number of values off the end.
    Values that are all at an end take the pooled spread.
    """

    share: stats.Floats
    effective: stats.Floats
    width: stats.Floats

    @classmethod
    def of(
        cls, samples: Sequence[stats.Moments], low: stats.Floats, high: stats.Floats, spreads: stats.Floats
    ) -> _Means:
        """Means of samples, `spreads` being the shares of variance of both groups."""
        n, mean, squares = np.array([each[:3] for each in samples]).reshape(-1, 3).T
        width = high - low
        share = ((mean - low) / width).clip(0, 1)
        widest, variance = share * (1 - share), squares / (n - 1) / width**2
        off, pooled = n * np.minimum(share, 1 - share) ** 2, spreads * n / (n - 1)
        with np.errstate(all="ignore"):
            own = np.maximum(variance / widest, (off / widest + FEW * pooled) / (off / variance + FEW))
        inflated = np.where(widest > AT_END, own, pooled)
        return cls(share, 1 / (inflated / n + ADDED / (n * (n - 1))), width)

    def margin(self, alpha: stats.Floats, is_below: Any) -> stats.Floats:
        """Distance of Clopper and Pearson's ends below, or above, from each mean."""
        from scipy import special

        share = np.where(is_below, self.share, 1 - self.share)
        # With no events, and so far out that it is no float, the end is 0.
        end = np.nan_to_num(special.betaincinv(share * self.effective, (1 - share) * self.effective + 1, alpha / 2))
        return np.asarray(self.width * (share - end).clip(0))


def _margin(of_group: _Means, of_rest: _Means, alpha: stats.Floats, is_below: Any) -> stats.Floats:
    """Distances of Newcombe's ends below, or above, from each difference."""
    is_below = np.broadcast_to(is_below, alpha.shape)
    return np.asarray(np.hypot(of_group.margin(alpha, is_below), of_rest.margin(alpha, ~is_below)))


def against_groups(group: stats.Moments, others: Sequence[stats.Moments], together: stats.Moments) -> dict[str, Any]:
    """Difference of a group's mean from the mean of other groups' means, with Student's t of its prediction.

    `together` are the moments of the values of all of them.

    The groups are the sample: k means, whose variance s^2 has k - 1 degrees of freedom, predict one more with the error
    s sqrt(1 + 1/k). The variance is no less than what values drawn into groups of these sizes would have, and more by
    as much as a smaller group's mean varies more.
    """
    means, k = np.array([other.mean for other in others]), len(others)
    mean, reference = group.mean, float(means.mean())
    means_of = {"mean": mean + group.shift, "rest_mean": reference + group.shift, "difference": mean - reference}
    if together.is_tiny:
        return {**means_of, "statistic": None, "p": None, "note": TOO_SMALL}
    of_values = together.variance
    drawn = of_values * float(np.mean([1 / other.n for other in others]))
    variance = max(float(means.var(ddof=1)), drawn) * (1 + 1 / k) + max(0.0, of_values / group.n - drawn)
    t = (mean - reference) / math.sqrt(variance) if variance else 0.0
    return {**means_of, "statistic": t, "p": stats.student.two_sided(t, k - 1)}


def against_own(values: stats.Floats, others: stats.Floats) -> dict[str, Any]:
    """Mean difference of queries from their own means over other buckets, a column each, with Student's t.

    The higher p of two tests counts: of the n differences, with n - 1 degrees of freedom, and, with four buckets or
    more, of k buckets' means, with the variance s^2 (1 + 1/k) and k - 1 degrees.
    """
    n, k = others.shape
    differences = values - others.mean(axis=1)
    figures = {"mean": float(values.mean()), "rest_mean": float(others.mean()), "difference": float(differences.mean())}
    size = float(stats.unit(others.ravel())[0])
    spreads = [(float((differences / size).var(ddof=1)) / n, n - 1)]
    if k >= LEAST_BUCKETS:
        spreads.append((float((others.mean(axis=0) / size).var(ddof=1)) * (1 + 1 / k), k - 1))
    found = []
    for variance, degrees in spreads:
        if variance:
            t = figures["difference"] / size / math.sqrt(variance)
            found.append((stats.student.two_sided(t, degrees), t))
    if not found:
        return {**figures, "statistic": None, "p": None, "note": "all differences are the same"}
    p, t = max(found)
    return {**figures, "statistic": t, "p": p, "note": None}


def shrinkage(groups: Sequence[stats.Moments]) -> Sequence[float | None]:
    """Share of each group's distance from the others that is not chance, by the spread of all groups.

    It is t / (t + v / n), v being the variance within groups and t that of their true means, by the moments: the excess
    spread of the k means over what v explains, 0 or more. Groups of one value each do not show v, and have no share.
    """
    there = [group for group in groups if group.n]
    n, means = np.array([group.n for group in there], np.float64), np.array([group.mean for group in there])
    total, k = float(n.sum()), len(there)
    if k < 2:
        return [0.0] * len(groups)
    if total == k:
        return [None] * len(groups)
    variance = sum(group.squares for group in there) / (total - k)
    between = float(n @ (means - n @ means / total) ** 2) - (k - 1) * variance
    of_means = max(0.0, between / (total - float(n @ n) / total))
    return [of_means / (of_means + variance / group.n) if of_means and group.n else 0.0 for group in groups]
