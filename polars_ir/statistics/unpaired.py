"""Whether the queries of a group have other values than the rest: tests of two groups that share no query.

Conventions: all tests are two-sided. What is not defined is None, and a note says why.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import stats

from polars_ir.statistics.intervals import DRAWN
from polars_ir.statistics.randomisation import ROUNDING, Floats


def group_against_rest(
    group: Floats, rest: Floats, *, test: str, confidence: float, least: int, resamples: int, seed: int
) -> dict[str, float | str | None]:
    """Both means, their difference with Welch's interval, and what the test says of it; groups below `least` have none.

    >>> found = group_against_rest(
    ...     np.zeros(3), np.array([1.0, 2.0, 3.0]), test="t", confidence=0.95, least=2, resamples=1, seed=0
    ... )
    >>> found["difference"], round(found["statistic"], 3), round(found["p"], 3)
    (-2.0, -3.464, 0.074)
    """
    means = [float(values.mean()) if len(values) else None for values in (group, rest)]
    mean, of_rest = means
    difference = None if mean is None or of_rest is None else mean - of_rest
    found = {"mean": mean, "rest_mean": of_rest, "difference": difference}
    outcome = dict.fromkeys(("low", "high", "statistic", "p"))
    if note := _undefined(group, rest, least):
        return {**found, **outcome, "note": note}
    with warnings.catch_warnings(action="ignore"):
        # SciPy warns of values that are nearly the same, which is told by the size of the difference.
        welch = stats.ttest_ind(group, rest, equal_var=False)
        low, high = welch.confidence_interval(confidence)
        tested = welch if test == "t" else _tested(group, rest, test, resamples, seed)
    figures = zip(outcome, (low, high, tested.statistic, tested.pvalue), strict=True)
    return {**found, **{name: float(value) for name, value in figures}, "note": None}


def _undefined(group: Floats, rest: Floats, least: int) -> str | None:
    """Why there can be no test; None if there can."""
    for values, what in ((group, "here"), (rest, "to compare with")):
        if len(values) < least:
            return f"{len(values)} {'query' if len(values) == 1 else 'queries'} {what}; a test needs {least}"
    rounding = ROUNDING * max(np.abs(group).max(), np.abs(rest).max())
    if max(group.std(), rest.std()) <= rounding:
        return "values do not vary, neither here nor in what they are compared with"
    return None


def _tested(group: Floats, rest: Floats, test: str, resamples: int, seed: int) -> Any:
    if test == "mann-whitney":
        return stats.mannwhitneyu(group, rest)
    return stats.permutation_test(
        (group, rest),
        _difference,
        permutation_type="independent",
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, DRAWN // (len(group) + len(rest))),
        rng=np.random.default_rng(seed),
    )


def _difference(group: Floats, rest: Floats, *, axis: int) -> Floats:
    found: Floats = group.mean(axis=axis) - rest.mean(axis=axis)
    return found
