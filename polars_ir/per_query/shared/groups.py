"""Groups of queries against others that they share no query with: differences of means, their intervals and tests.

Conventions: what is not defined is None, and a note says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_ir.per_query.shared.averages import ADDED, AT_END
from polars_ir.per_query.shared.measures import Range

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Floats

#: From so many buckets of reference on, a bucket is compared with their means, and not its queries with theirs.
LEAST_BUCKETS = 4

#: The widest interval that is looked at, in standard deviations, and how often this width is halved to find one.
WIDEST, HALVINGS = 37.0, 50


class Group(NamedTuple):
    """The values of a group of queries and of those that it is compared with, and the range of the measure."""

    values: Floats
    rest: Floats
    range: Range | None = None


def against_rest(groups: Sequence[Group], *, alpha: float, least: int) -> list[dict[str, Any]]:
    """The difference of the means of each group and its rest, with an interval and the p that goes with it.

    The interval is Newcombe's: with [l, u] of the group's mean m and [l', u'] of m' of the rest, it goes from
    m - m' - sqrt((m - l)^2 + (u' - m')^2) to m - m' + sqrt((u - m)^2 + (m' - l')^2). Those are Wilson's, as in
    `summarize`, between the ends of the measure's range or, where it is not known or not kept, the lowest and the
    highest value of both; but values that are all at one end spread as those of both do, and not as far as they can, or
    a group that fails wholly were less of a loss than one that nearly does. The statistic is the width, in standard
    deviations, of the interval that ends at 0, and p is what its confidence leaves. Groups below `least` queries, or
    with such a rest, have none of these.
    """
    import numpy as np
    from scipy import stats

    rows = [_undefined(group, least) for group in groups]
    tested = [(row, group) for row, group in zip(rows, groups, strict=True) if row["note"] is None]
    ranges = np.array([_ends(group) for _, group in tested]).reshape(-1, 2)
    spreads = np.array([_spread(group, ends) for (_, group), ends in zip(tested, ranges.tolist(), strict=True)])
    of_group = _Means.of([group.values for _, group in tested], ranges, spreads)
    of_rest = _Means.of([group.rest for _, group in tested], ranges, spreads)
    z, beyond = np.zeros(len(tested)), np.full(len(tested), WIDEST)
    for _ in range(HALVINGS):
        middle = (z + beyond) / 2
        low, high = _newcombe(of_group, of_rest, middle)
        holds = (low <= 0) & (high >= 0)
        z, beyond = np.where(holds, z, middle), np.where(holds, middle, beyond)
    ends = _newcombe(of_group, of_rest, np.full(len(tested), stats.norm.isf(alpha / 2)))
    columns = np.column_stack([*ends, np.sign(of_group.mean - of_rest.mean) * z, 2 * stats.norm.sf(z)]).tolist()
    for (row, _), figures in zip(tested, columns, strict=True):
        row.update(zip(("low", "high", "statistic", "p"), figures, strict=True))
    return rows


def _undefined(group: Group, least: int) -> dict[str, Any]:
    """The row of a group without its interval and test; the note is why it has none, and None if it has."""
    from polars_ir.statistics.randomisation import ROUNDING

    mean, rest_mean = (float(part.mean()) if len(part) else None for part in group[:2])
    difference = None if mean is None or rest_mean is None else mean - rest_mean
    row = {"mean": mean, "rest_mean": rest_mean, "difference": difference, "note": None}
    row |= dict.fromkeys(("low", "high", "statistic", "p"))
    for part, what in ((group.values, "here"), (group.rest, "to compare with")):
        if (n := len(part)) < least:
            return row | {"note": f"{n} {'query' if n == 1 else 'queries'} {what}; a test needs {least}"}
    lowest, highest = _seen(group)
    same = highest - lowest <= ROUNDING * max(abs(lowest), abs(highest))
    return row | {"note": "all values are the same" if same else None}


def _seen(group: Group) -> tuple[float, float]:
    values, rest, _ = group
    return float(min(values.min(), rest.min())), float(max(values.max(), rest.max()))


def _ends(group: Group) -> tuple[float, float]:
    """The ends of the measure's range, or of the values seen."""
    its, seen = group.range, _seen(group)
    is_kept = its is not None and math.isfinite(its.width) and its.ends[0] <= seen[0] and seen[1] <= its.ends[1]
    return its.ends if its is not None and is_kept else seen


def _spread(group: Group, ends: Sequence[float]) -> float:
    """The variance of both groups' values as a share of the largest that their mean allows."""
    import numpy as np

    both = np.concatenate(group[:2])
    return float(both.var() / ((both.mean() - ends[0]) * (ends[1] - both.mean())))


class _Means(NamedTuple):
    """The means of samples as shares of a range, 1 / n' of Wilson's intervals, and the ranges' widths."""

    mean: Floats
    share: Floats
    inverse: Floats
    width: Floats

    @classmethod
    def of(cls, samples: Sequence[Floats], ranges: Floats, spreads: Floats) -> _Means:
        """The means of samples as in `averages.wilson`, but for those at an end."""
        import numpy as np

        from polars_ir.statistics.intervals import standard_error

        mean, n = np.array([each.mean() for each in samples]), np.array([len(each) for each in samples])
        error, width = np.array([standard_error(each) for each in samples]), ranges[:, 1] - ranges[:, 0]
        share = (mean - ranges[:, 0]) / width
        spread = share * (1 - share)
        with np.errstate(all="ignore"):
            inflated = np.where(spread > AT_END, (error / width) ** 2 / spread, spreads / (n - 1))
        return cls(mean, share, inflated + ADDED / (n * (n - 1)), width)

    def margins(self, z: Floats) -> tuple[Floats, Floats]:
        """The distances of Wilson's ends from each mean, below and above."""
        import numpy as np

        r, m = z**2 * self.inverse, self.share
        middle, half = (m + r / 2) / (1 + r), np.sqrt((m * (1 - m)).clip(0) * r + r**2 / 4) / (1 + r)
        low, high = (middle - half).clip(0, 1), (middle + half).clip(0, 1)
        return self.width * (m - low), self.width * (high - m)


def _newcombe(of_group: _Means, of_rest: _Means, z: Floats) -> tuple[Floats, Floats]:
    """The intervals of differences, `z` being the quantiles of the normal distribution."""
    import numpy as np

    (below, above), (rest_below, rest_above) = of_group.margins(z), of_rest.margins(z)
    difference = of_group.mean - of_rest.mean
    return difference - np.hypot(below, rest_above), difference + np.hypot(above, rest_below)


def against_groups(group: Floats, others: Sequence[Floats]) -> dict[str, Any]:
    """The difference of a group's mean from the mean of other groups' means, with Student's t of its prediction.

    The groups are the sample: k means, whose variance s^2 has k - 1 degrees of freedom, predict one more with the error
    s sqrt(1 + 1/k). The variance is no less than what values drawn into groups of these sizes would have, and more by
    as much as a smaller group's mean varies more.
    """
    import numpy as np
    from scipy import stats

    means, k = np.array([values.mean() for values in others]), len(others)
    of_values = float(np.concatenate([group, *others]).var(ddof=1))
    drawn = of_values * float(np.mean([1 / len(values) for values in others]))
    variance = max(float(means.var(ddof=1)), drawn) * (1 + 1 / k) + max(0.0, of_values / len(group) - drawn)
    mean, reference = float(group.mean()), float(means.mean())
    t = (mean - reference) / math.sqrt(variance) if variance else 0.0
    p = 2 * float(stats.t.sf(abs(t), k - 1))
    return {"mean": mean, "rest_mean": reference, "difference": mean - reference, "statistic": t, "p": p}


def against_own(values: Floats, others: Floats) -> dict[str, Any]:
    """The mean difference of queries from their own means over other buckets, a column each, with Student's t.

    The less sure of two tests: of the n differences, with n - 1 degrees of freedom, and, from four buckets on, of k
    buckets' means, with the variance s^2 (1 + 1/k) and k - 1 degrees.
    """
    from scipy import stats

    n, k = others.shape
    differences = values - others.mean(axis=1)
    figures = {"mean": float(values.mean()), "rest_mean": float(others.mean()), "difference": float(differences.mean())}
    spreads = [(float(differences.var(ddof=1)) / n, n - 1)]
    if k >= LEAST_BUCKETS:
        spreads.append((float(others.mean(axis=0).var(ddof=1)) * (1 + 1 / k), k - 1))
    found = []
    for variance, degrees in spreads:
        if variance:
            t = figures["difference"] / math.sqrt(variance)
            found.append((2 * float(stats.t.sf(abs(t), degrees)), t))
    if not found:
        return {**figures, "statistic": None, "p": None, "note": "all differences are the same"}
    p, t = max(found)
    return {**figures, "statistic": t, "p": p, "note": None}


def shrinkage(groups: Sequence[Floats]) -> Sequence[float | None]:
    """The share of each group's distance from the others that is not chance, as the spread of all groups tells.

    It is t / (t + v / n), v being the variance within groups and t that of their true means, by the moments: how much
    further the means of k groups are apart than v explains, 0 or more. Groups of one value each do not show v, and have
    none.
    """
    import numpy as np

    there = [values for values in groups if len(values)]
    n, means = np.array([len(values) for values in there], np.float64), np.array([values.mean() for values in there])
    total, k = float(n.sum()), len(there)
    if k < 2:
        return [0.0] * len(groups)
    if total == k:
        return [None] * len(groups)
    variance = sum(float(((values - values.mean()) ** 2).sum()) for values in there) / (total - k)
    between = float(n @ (means - n @ means / total) ** 2) - (k - 1) * variance
    of_means = max(0.0, between / (total - float(n @ n) / total))
    return [of_means / (of_means + variance / len(values)) if of_means and len(values) else 0.0 for values in groups]
