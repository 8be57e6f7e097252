"""The number of queries that shows a difference between systems, and the smallest difference that a number shows.

Conventions: the test is Student's t of paired differences, or a gate. Their spread is taken from the queries there are,
as its upper limit of 80 %, since that of few queries is often too low. A figure that is not defined is null, and the
row's note says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import chance, check, one_of, or_none, positive, public, whole
from polars_ir.per_query.gate import is_percentage, readings
from polars_ir.per_query.shared.aligned import Scores, scores_of
from polars_ir.per_query.shared.keys import keys_found
from polars_ir.per_query.shared.measures import Measures, Range, measures_of, ranges_of
from polars_ir.per_query.shared.options import MISSING

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Floats

#: The largest number of queries that is planned.
MOST_QUERIES = 1_000_000_000

#: The methods of planning.
METHODS = ("normal", "pilot")

#: The columns of the result, the deciding ones first: a terminal shows the first four and the last four.
SCHEMA = {
    **dict.fromkeys(["run", "measure"], pl.String),
    "n_queries": pl.UInt32,
    **dict.fromkeys(["difference", "power", "max_drop"], pl.Float64),
    "baseline": pl.String,
    **dict.fromkeys(["std", "std_planned"], pl.Float64),
    "n_missing": pl.UInt32,
    "note": pl.String,
}


@public()
def power(
    per_query: Table[FrameT] | None = None,
    measures: Measures = None,
    *,
    baseline: str | None = None,
    std: float | None = None,
    difference: float | None = None,
    max_drop: float | None = None,
    n_queries: int | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    power: float | None = None,
    method: str = "normal",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    missing: str | None = None,
    seed: int = 0,
    cluster: Any = None,
) -> FrameT:
    """The number of queries that a difference needs, or the difference that n queries show: a row per pair and measure.

    The power is the probability that a paired, two-sided t-test at level alpha finds a true mean difference. Two of
    difference, number and power determine the third:

    - given `difference`: the lowest number of queries that have at least this power;
    - given `n_queries`: the smallest difference that they show with this power;
    - given both: the power that they have;
    - given neither: the smallest difference that the pairs of queries of `per_query` show with this power.

    The spread of few queries is as often too low as too high, and a plan by it has less power than it says. So the plan
    is by its upper limit of 80 %, std * sqrt((n - 1) / chi2(.2; n - 1)), n queries being there: `std_planned`. Plans of
    a power of .8 by pilots of 10, 25, 50 and 100 queries of real runs had .84, .85, .85 and .84 on average, and below
    .7 in .20, .12, .08 and .03 of 360 cases; by the spread itself .69, .76, .78 and .79 (`tests/bench/evidence.py`).

    With `max_drop`, the power is the probability that `gate` passes a change that lowers nothing, with `n_queries`
    queries; without `n_queries`, the result is the number of queries at which it passes in about 80 % of the cases.

    Parameters
    ----------
    per_query
        What `evaluate` returned for several systems, or a dict of such frames by system. None to plan with `std`. Of
        LazyFrames it reads moments, as `compare` does, for method `"normal"` without `max_drop`.
    baseline
        The system that the others are compared with; None takes each with each.
    std
        A guess of the standard deviation of the differences, in place of `per_query`; nDCG@10 and AP often have
        0.1 to 0.3.
    difference
        The mean difference to show, in units of the measure; above 0.
    max_drop
        The largest drop that a gate allows, above 0; it needs `per_query`, and replaces `difference` and `power`.
    n_queries
        The planned number of queries; 2 or more.
    alpha
        The level of the test: how often it may find a difference where there is none.
    comparisons
        The number of comparisons that p will be corrected for: the plan is for alpha / comparisons, the first step of
        Holm's correction, so that 16 systems against a baseline need `comparisons=16`. A gate needs none.
    power
        How often it should find a true difference; above alpha. 0.8 by default; not with both of `difference` and
        `n_queries`, which determine it.
    method
        `"normal"`: as if differences were normal, P(|T| > t(1 - alpha / 2; n - 1)), T having the noncentral t
        distribution with n - 1 degrees of freedom and noncentrality difference / std * sqrt(n). `"pilot"`: by 2,000
        samples drawn from the observed differences, shifted to the mean that is to be shown. A gate is always planned
        by a pilot: 400 samples of its differences, each with a random sign.
    ranges
        The worst and the best value of a measure that the catalogue does not have, as in `gate`; with `max_drop`.
    missing
        `"zero"`, the default, counts 0 for a system that lacks a query which others have; `"skip"` leaves the pair out.
    seed
        Of the samples of a pilot.
    cluster
        What several queries have in common that are no sample of their own, as in `compare`: `n_queries` is a number of
        clusters then. Of several rows of a query and system, as of nights of a benchmark, the query is the cluster, and
        the plan is for queries with as many rows; keep those of one night to plan one.

    Returns
    -------
    The kind of per_query
        The column of systems, `measure` (String; null with `std`), `n_queries` (UInt32), `difference` (Float64),
        `power` (Float64, from 0 to 1: that of this difference, or drop, and number), `max_drop` (Float64; it or the
        difference is null), `baseline` (String; null with `std`), `std` and `std_planned` (Float64, of the differences,
        and the one of the plan), `n_missing` (UInt32: queries that only one of the two answered; null with `std`), and
        `note` (String): why something is null, as where differences do not vary, or the number would be over a billion,
        and how many pairs were left out since the measure is undefined for only one of the two.

    Raises
    ------
    IRError
        For a single system, systems with fewer than two common queries, an unknown baseline or measure,
        options outside their range, neither or both of `per_query` and `std`, or options that the plan does not use.

    References
    ----------
    Sakai 2016, Topic set size design, https://doi.org/10.1007/s10791-015-9273-z; the figures of `"normal"` are those of
    `statsmodels.stats.power.TTestPower`

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> ir.power(std=0.2, difference=0.02)["n_queries"].item()
    787
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    >>> plan = ir.power(per_query, baseline="bm25")
    >>> plan.select("run", "n_queries", pl.col("std", "difference").round(4)).rows()
    [('chargrams', 96, 0.1688, 0.0521), ('tfidf', 96, 0.1095, 0.0338)]
    >>> ir.power(per_query, baseline="bm25", max_drop=0.02, n_queries=400).select("run", "power").rows()
    [('chargrams', 0.67), ('tfidf', 0.89)]
    """
    std = check("std", std, or_none(positive()))
    difference = check("difference", difference, or_none(positive()))
    n_queries = check("n_queries", n_queries, or_none(whole(2, MOST_QUERIES)))
    alpha = check("alpha", alpha, chance()) / check("comparisons", comparisons, whole(1, 10**9))
    seed = check("seed", seed, whole(0))
    check("method", method, one_of(*METHODS))
    if max_drop is not None:
        if per_query is not None and is_percentage(max_drop):
            raise _readings(max_drop, per_query, baseline, measures, ranges)
        others = {"std": std, "difference": difference, "power": power, "comparisons": None if comparisons == 1 else 1}
        drop = _for_a_gate(max_drop, per_query, others, alpha)
        gates = _gates(per_query, baseline, measures, missing or "zero", cluster, ranges, drop, n_queries, alpha, seed)
        return give_back(_planned(list(gates)), per_query)
    target = _power(power, difference, n_queries, alpha)
    _check_source(per_query, std, difference, n_queries, method)
    of_frame = {"baseline": baseline, "measures": measures, "missing": missing, "cluster": cluster}
    if std is not None and (named := [name for name, value in of_frame.items() if value is not None]):
        raise OptionError(f"{', '.join(named)} can only be of a per_query; power was given std instead. Leave it out.")
    if ranges is not None:
        raise OptionError("ranges are for the power of a gate only; give its max_drop, or leave them out.")
    if std is not None:
        plan = _plan(std, None, difference, n_queries, alpha, target, seed)
        return give_back(_planned([{"std": std, "std_planned": std, **plan}]), per_query)
    first = next(iter(per_query.values()), None) if isinstance(per_query, Mapping) else per_query
    given = per_query, baseline, measures, missing or "zero", cluster
    of_pairs: Iterator[tuple[dict[str, Any], Floats | None, list[str]]] = _pairs(*given)
    if isinstance(first, pl.LazyFrame) and method == "normal":
        from polars_ir.per_query.by_sums import spreads

        of_pairs = spreads(*given)
    rows = []
    for names, differences, notes in of_pairs:
        n_pairs = names["n_pairs"]
        number = n_pairs if difference is None and n_queries is None else n_queries
        pilot = differences if method == "pilot" else None
        plan = _plan(names["std_planned"], pilot, difference, number, alpha, target, seed, n_pairs=n_pairs)
        rows.append({**names, **plan, "note": _joined([plan.get("note"), *notes])})
    return give_back(_planned(rows), per_query)


def _planned(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """The result of some rows, in which the column of systems has the name that it came with."""
    return pl.DataFrame(rows, schema=SCHEMA).rename({"run": rows[0].get("system", "run")})


def _for_a_gate(max_drop: object, per_query: Any, others: Mapping[str, object], alpha: float) -> float:
    """The drop that a gate allows; an error for options that its plan does not use."""
    if per_query is None:
        raise OptionError("power of a gate needs the differences of a per_query; give one with max_drop.")
    if named := [name for name, value in others.items() if value is not None]:
        raise OptionError(f"max_drop takes the place of {', '.join(named)}. Leave one of them out.")
    check("alpha", alpha, chance(below=0.5))
    return check("max_drop", max_drop, positive())


def _readings(
    max_drop: str,
    per_query: Any,
    baseline: str | None,
    measures: Measures,
    ranges: Mapping[str, tuple[float, float]] | None,
) -> OptionError:
    """The error for a drop that is a percentage, of the first measure and pair."""
    import numpy as np

    scores = _scores(per_query, measures, "skip")
    against = scores.pairs(baseline, "ir.power")[0][1]
    measure, values = next(iter(scores.values.items()))
    mean = float(np.nan_to_num(values[:, against]).sum() / max(np.isfinite(values[:, against]).sum(), 1))
    its = ranges_of([measure], ranges)[measure]
    return readings(max_drop, measure, its, mean, f"the mean of {scores.systems[against]!r}")


def _power(power: float | None, difference: float | None, n_queries: int | None, alpha: float) -> float:
    if power is not None and difference is not None and n_queries is not None:
        raise OptionError(
            f"power follows from difference and n_queries; got all three, power={power!r}. Leave one out."
        )
    from polars_ir.statistics.planning import POWER

    target = check("power", POWER if power is None else power, chance())
    if target <= alpha:
        raise OptionError(f"must be above alpha, {alpha!r}; got {target!r}.", about="power")
    return target


def _check_source(
    per_query: Any, std: float | None, difference: float | None, n_queries: int | None, method: str
) -> None:
    """Raise an `OptionError` unless there is one source of the spread, and enough to plan with."""
    if (per_query is None) == (std is None):
        raise OptionError("power takes the differences' spread from per_query or is given it as std; give one of them.")
    if std is not None and difference is None and n_queries is None:
        raise OptionError("with std, power needs the difference to show, the n_queries there will be, or both.")
    if std is not None and method == "pilot":
        raise OptionError("method='pilot' needs the differences of a per_query; power was given std instead.")


def _plan(
    std: float | None,
    pilot: Floats | None,
    difference: float | None,
    n_queries: int | None,
    alpha: float,
    power: float,
    seed: int,
    n_pairs: int = 2,
) -> dict[str, Any]:
    """The difference, the number of queries and the power, of which those that are not given follow."""
    from polars_ir.statistics import planning

    if not std:
        few = "fewer than two queries with a value of both systems"
        note = few if n_pairs < 2 else "all differences are the same"
        return {"difference": difference, "n_queries": n_queries, "note": note}
    options: dict[str, Any] = {"alpha": alpha, "power": power}
    if difference is None and n_queries is not None:
        difference = (
            std * planning.smallest_effect(n_queries, **options)
            if pilot is None
            else planning.pilot_difference(pilot, n_queries, seed=seed, **options)
        )
    elif difference is not None and n_queries is None:
        n_queries = (
            planning.queries_needed(difference / std, **options)
            if pilot is None
            else planning.pilot_queries(pilot, difference, seed=seed, **options)
        )
    if difference is None or n_queries is None:
        return {"difference": difference, "note": f"more than {MOST_QUERIES:,} queries"}
    achieved = (
        planning.power_of(difference / std, n_queries, alpha=alpha)
        if pilot is None
        else planning.pilot_power(pilot, difference, n_queries, alpha=alpha, seed=seed)
    )
    return {"difference": difference, "n_queries": n_queries, "power": achieved}


def _gates(
    per_query: Any,
    baseline: str | None,
    measures: Measures,
    missing: str,
    cluster: Any,
    ranges: Mapping[str, tuple[float, float]] | None,
    max_drop: float,
    n_queries: int | None,
    alpha: float,
    seed: int,
) -> Iterator[dict[str, Any]]:
    """The chance that a gate passes a change without any drop, or the number of queries for it."""
    from polars_ir.statistics import planning

    value_ranges: dict[str, Range] = {}
    for names, differences, notes in _pairs(per_query, baseline, measures, missing, cluster):
        measure = names["measure"]
        value_range = value_ranges.setdefault(measure, ranges_of([measure], ranges)[measure])
        row = {**names, "max_drop": max_drop, "n_queries": n_queries}
        options: dict[str, Any] = {"max_drop": max_drop, "lowest": -value_range.width, "alpha": alpha}
        gains = differences.clip(-value_range.width, value_range.width)
        if not len(gains):
            yield {**row, "note": _joined(["no query with a value of both systems", *notes])}
            continue
        number = n_queries or planning.gate_queries(gains, **options)
        if number is None:
            yield {**row, "note": _joined([f"more than {MOST_QUERIES:,} queries", *notes])}
            continue
        passed = planning.gate_power(gains, number, seed=seed, **options)
        yield {**row, "n_queries": number, "power": passed, "note": _joined(notes)}


def _joined(notes: Sequence[str | None]) -> str | None:
    return "; ".join(note for note in notes if note) or None


def _scores(per_query: Any, measures: Measures, missing: str, cluster: Any = None) -> Scores:
    """The scores of the systems; of several rows of a query, which other columns tell apart, the query is a cluster."""
    table = per_query_table(per_query)
    keys = keys_found(table, without=() if measures is None else measures_of(table, measures))
    return scores_of(per_query, measures, {"missing": missing}, cluster=cluster, keys=keys, what="ir.power")


def _pairs(
    per_query: Any, baseline: str | None, measures: Any, missing: str, cluster: Any
) -> Iterator[tuple[dict[str, Any], Floats, list[str]]]:
    """For each measure and pair their names and spreads, the differences as widely spread as is planned, and notes."""
    from polars_ir.statistics import significance
    from polars_ir.statistics.planning import widened

    scores = _scores(per_query, measures, check("missing", missing, MISSING), cluster)
    pairs = scores.pairs(baseline, "ir.power")
    scores = scores.of_clusters()
    for measure, values in scores.values.items():
        for pair, column in zip(pairs, significance.differences([values], pairs).T, strict=True):
            run, against = (scores.systems[system] for system in pair)
            differences = column[significance.there(column)]
            planned = differences * widened(len(differences))
            names = {
                "system": scores.system,
                "run": run,
                "baseline": against,
                "measure": measure,
                "std": float(significance.deviation(differences)) if len(differences) > 1 else None,
                "std_planned": float(significance.deviation(planned)) if len(differences) > 1 else None,
                "n_missing": scores.n_missing(pair),
                "n_pairs": len(differences),
            }
            yield names, planned, scores.undefined(measure, pair)
