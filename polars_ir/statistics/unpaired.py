"""Tests of two groups that share no query.

Conventions: all tests are two-sided. What is not defined is None, and a note says why.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from scipy import stats

from polars_ir.statistics.intervals import DRAWN
from polars_ir.statistics.randomisation import ROUNDING, Draws, Floats, permutation_p
from polars_ir.statistics.significance import rounded


def group_against_rest(
    group: Floats,
    rest: Floats,
    *,
    test: str,
    confidence: float,
    least: int,
    draws: Draws,
    drawn_p: float | None = None,
) -> dict[str, float | str | None]:
    """Both means, their difference with Welch's interval, and what the test says of it; groups below `least` have none.

    `drawn_p` is what `permutation_p` found for this group together with others, which is much faster.

    >>> tested = group_against_rest(
    ...     np.zeros(3), np.array([1.0, 2.0, 3.0]), test="permutation", confidence=0.95, least=2, draws=Draws()
    ... )
    >>> tested["difference"], round(tested["low"], 3), tested["p"]
    (-2.0, -4.484, 0.1)
    """
    means = [float(values.mean()) if len(values) else None for values in (group, rest)]
    mean, of_rest = means
    difference = None if mean is None or of_rest is None else mean - of_rest
    if len(group) and len(rest):
        scale = float(max(np.abs(group).max(), np.abs(rest).max()))
        group, rest = rounded(group, scale), rounded(rest, scale)
    found = {"mean": mean, "rest_mean": of_rest, "difference": difference}
    outcome = dict.fromkeys(("low", "high", "statistic", "p"))
    if note := _undefined(group, rest, least):
        return {**found, **outcome, "note": note}
    with warnings.catch_warnings(action="ignore"):
        # SciPy warns of values that are nearly the same, which is told by the size of the difference.
        low, high = stats.ttest_ind(group, rest, equal_var=False).confidence_interval(confidence)
        if test == "mann-whitney":
            statistic, p = stats.mannwhitneyu(group, rest)
        else:
            statistic, p = difference, _permutation_p(group, rest, draws, drawn_p)
    figures = zip(outcome, (low, high, statistic, p), strict=True)
    return {**found, **{name: float(value) for name, value in figures}, "note": None}


def _undefined(group: Floats, rest: Floats, least: int) -> str | None:
    """The reason for a missing test; None if there is one."""
    for values, what in ((group, "here"), (rest, "to compare with")):
        if len(values) < least:
            return f"{len(values)} {'query' if len(values) == 1 else 'queries'} {what}; a test needs {least}"
    rounding = ROUNDING * max(np.abs(group).max(), np.abs(rest).max())
    if max(group.std(), rest.std()) <= rounding:
        return "values vary in neither group"
    return None


def _permutation_p(group: Floats, rest: Floats, draws: Draws, drawn_p: float | None) -> float:
    """The share of ways to split the queries that make a difference as far from 0: of all or, if too many, drawn."""
    n = len(group) + len(rest)
    if math.comb(n, len(group)) > draws.resamples:
        if drawn_p is not None:
            return drawn_p
        numbers = np.repeat([0, 1], [len(group), len(rest)])
        return float(permutation_p([(np.concatenate([group, rest]), numbers)], draws)[0][0])
    result = stats.permutation_test(
        (group, rest),
        _difference,
        permutation_type="independent",
        alternative="greater",
        vectorized=True,
        n_resamples=draws.resamples,
        batch=max(1, DRAWN // n),
    )
    return float(result.pvalue)


def _difference(group: Floats, rest: Floats, *, axis: int) -> Floats:
    return np.asarray(np.abs(group.mean(axis=axis) - rest.mean(axis=axis)))
