"""How many queries it takes to show a difference between systems, and how small a difference a number of them shows.

Conventions: the test is Student's t of paired differences. Their spread is taken from the queries there are, as if
those still to come would differ alike. A figure that is not defined is null, and the row's note says why.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import polars as pl

from polars_ir.comparison.pairing import scores_of
from polars_ir.conversion import give_back
from polars_ir.errors import OptionError, explain_options
from polars_ir.extras import require
from polars_ir.options import chance, positive, whole
from polars_ir.summary import Measures

#: The columns of the result.
SCHEMA = {
    **dict.fromkeys(["run", "baseline", "measure"], pl.String),
    **dict.fromkeys(["std", "difference"], pl.Float64),
    "n_queries": pl.UInt32,
    "power": pl.Float64,
    "n_missing": pl.UInt32,
    "note": pl.String,
}

#: How often a planned test should find the difference.
POWER = 0.8

#: Nobody has more queries.
MOST_QUERIES = 1_000_000_000


@explain_options
def power(
    per_query: Any = None,
    *,
    baseline: str | None = None,
    measures: Measures = None,
    std: float | None = None,
    difference: float | None = None,
    n_queries: int | None = None,
    alpha: float = 0.05,
    power: float | None = None,
    missing: str | None = None,
) -> Any:
    """How many queries a difference between systems needs, or what n queries can show: one row per pair and measure.

    The power is the probability that a paired, two-sided t-test at level alpha finds a true mean difference:
    P(|T| > t(1 - alpha / 2; n - 1)), T having the noncentral t distribution with n - 1 degrees of freedom and
    noncentrality difference / std * sqrt(n). Two of difference, number and power determine the third:

    - given `difference`: the lowest number of queries that have at least this power;
    - given `n_queries`: the smallest difference that they show with this power;
    - given both: the power that they have;
    - given neither: the smallest difference that the pairs of queries of `per_query` show with this power.

    Parameters
    ----------
    per_query
        What `evaluate` returned for several systems, or a dict of such frames by system. None to plan with `std`.
    baseline
        The system that the others are compared with; None takes each with each.
    measures
        Names of the measures, in any spelling; all by default.
    std
        A guess of the standard deviation of the differences, in place of `per_query`; nDCG@10 and AP often have
        0.1 to 0.3.
    difference
        The mean difference to show, in units of the measure; above 0.
    n_queries
        How many queries there will be; 2 or more.
    alpha
        The level of the test: how often it may find a difference that is not there.
    power
        How often it should find one that is there; above alpha. 0.8 by default; not with both of `difference` and
        `n_queries`, which determine it.
    missing
        `"zero"`, the default, counts 0 for a system that lacks a query which others have; `"skip"` leaves the pair out.

    Returns
    -------
    The kind of per_query
        `run`, `baseline`, `measure` (String; null with `std`), `std` (of the differences), `difference` (Float64),
        `n_queries` (UInt32), `power` (Float64, from 0 to 1: that of this difference and number), `n_missing` (UInt32:
        queries that only one of the two answered; null with `std`), and `note` (String): why something is null, as
        where differences do not vary, or the number would be over a billion, and how many pairs were left out since the
        measure is undefined for only one of the two.

    Raises
    ------
    IRError
        For a single system, systems with fewer than two common queries, a baseline or measure that is not there,
        options outside their range, neither or both of `per_query` and `std`, or options that have no say in the plan.

    References
    ----------
    Sakai 2016, Topic set size design, https://doi.org/10.1007/s10791-015-9273-z; the figures are those of
    `statsmodels.stats.power.TTestPower`

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> ir.power(std=0.2, difference=0.02)["n_queries"].item()
    787
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    >>> found = ir.power(per_query, baseline="bm25")
    >>> found.select("run", "n_queries", pl.col("std", "difference").round(4)).rows()
    [('chargrams', 96, 0.1688, 0.0488), ('tfidf', 96, 0.1095, 0.0316)]
    """
    require("stats", "ir.power")
    std = None if std is None else positive("std", std)
    difference = None if difference is None else positive("difference", difference)
    n_queries = None if n_queries is None else whole("n_queries", n_queries, 2, MOST_QUERIES)
    alpha = chance("alpha", alpha)
    if power is not None and difference is not None and n_queries is not None:
        raise OptionError(
            f"power follows from difference and n_queries; got all three, power={power!r}. Leave one out."
        )
    power = chance("power", POWER if power is None else power)
    if power <= alpha:
        raise OptionError(f"power must be above alpha, {alpha!r}; got {power!r}.")
    if (per_query is None) == (std is None):
        raise OptionError("power takes the differences' spread from per_query or is given it as std; give one of them.")
    if std is not None and difference is None and n_queries is None:
        raise OptionError("with std, power needs the difference to show, the n_queries there will be, or both.")
    of_frame = {"baseline": baseline, "measures": measures, "missing": missing}
    if std is not None and (given := [name for name, value in of_frame.items() if value is not None]):
        raise OptionError(f"{', '.join(given)} can only be of a per_query; power was given std instead. Leave it out.")
    spreads = _spreads(per_query, baseline, measures, missing or "zero") if std is None else [({}, std, 0, [])]
    rows = []
    for names, spread, n_pairs, notes in spreads:
        number = n_pairs if difference is None and n_queries is None else n_queries
        plan = _plan(spread, difference, number, n_pairs, alpha, power)
        note = "; ".join([*([plan["note"]] if "note" in plan else []), *notes]) or None
        rows.append({**names, "std": spread, **plan, "note": note})
    return give_back(pl.DataFrame(rows, schema=SCHEMA), per_query)


def queries_needed(effect: float, *, alpha: float, power: float, alternative: str = "two-sided") -> int | None:
    """The lowest number of queries that show an effect with this power; None if it is over a billion.

    The effect is a difference in standard deviations of the differences; the alternative is statsmodels' word.
    """
    numbers = range(2, MOST_QUERIES + 1)
    place = bisect_left(numbers, power, key=lambda n: power_of(effect, n, alpha=alpha, alternative=alternative))
    return numbers[place] if place < len(numbers) else None


def power_of(effect: float, n_queries: int, *, alpha: float, alternative: str = "two-sided") -> float:
    """How often n queries show an effect."""
    import numpy as np
    from statsmodels.stats.power import TTestPower

    with np.errstate(all="ignore"):
        found = float(TTestPower().power(effect, n_queries, alpha, alternative=alternative))
    if not math.isnan(found):
        return min(found, 1.0)
    # statsmodels has no figure far out in the tails: neither for the tail against the effect, which has no weight ...
    if alternative == "two-sided":
        return power_of(effect, n_queries, alpha=alpha / 2, alternative="larger")
    # ... nor where the noncentrality is so large that the statistic is hardly anything else.
    from scipy.stats import t

    return float(effect * math.sqrt(n_queries) > t.isf(alpha, n_queries - 1))


def _smallest_effect(n_queries: int, *, alpha: float, power: float) -> float:
    from scipy.optimize import brentq

    def excess(effect: float) -> float:
        return power_of(effect, n_queries, alpha=alpha) - power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0, high, xtol=1e-15))


def _plan(
    std: float | None, difference: float | None, n_queries: int | None, n_pairs: int, alpha: float, power: float
) -> dict[str, Any]:
    """The difference, the number of queries and the power, of which those that are not given follow."""
    if not std:
        few = "fewer than two queries with a value of both systems"
        note = few if n_pairs < 2 else "all differences are the same"
        return {"difference": difference, "n_queries": n_queries, "note": note}
    if difference is None and n_queries is not None:
        difference = std * _smallest_effect(n_queries, alpha=alpha, power=power)
    elif difference is not None and n_queries is None:
        n_queries = queries_needed(difference / std, alpha=alpha, power=power)
    if difference is None or n_queries is None:
        return {"difference": difference, "note": f"more than {MOST_QUERIES:,} queries"}
    found = power_of(difference / std, n_queries, alpha=alpha)
    return {"difference": difference, "n_queries": n_queries, "power": found}


def _spreads(
    per_query: Any, baseline: str | None, measures: Any, missing: str
) -> Iterator[tuple[dict[str, Any], float | None, int, list[str]]]:
    """For each measure and pair their names, the spread of their differences, how many there are, and notes."""
    from polars_ir.statistics import significance

    scores = scores_of(per_query, measures, missing=missing, what="ir.power")
    pairs = scores.pairs(baseline)
    scores.check_common(pairs, "ir.power")
    for measure, values in scores.values.items():
        for pair, column in zip(pairs, significance.differences([values], pairs).T, strict=True):
            run, against = (scores.systems[system] for system in pair)
            names = {"run": run, "baseline": against, "measure": measure, "n_missing": scores.n_missing(pair)}
            differences = column[significance.there(column)]
            yield names, significance.deviation(differences), len(differences), scores.undefined(measure, pair)
