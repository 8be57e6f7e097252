"""Number of queries that shows a difference between systems, and the smallest difference that n queries show.

Conventions: the test is Student's t of paired differences, or a gate. The planned spread is the upper 80 % limit of the
observed one, since the spread of few queries is often too low. Undefined figures are null, and the row's note says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import OptionError
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import chance, check, one_of, or_none, positive, public, whole
from polars_ir.per_query.shared.attributes import keys_found
from polars_ir.per_query.shared.measures import Measures, check_range, is_percentage, measures_of, ranges_of, readings
from polars_ir.per_query.shared.options import MISSING
from polars_ir.per_query.shared.paired import PairedSystems, Scores, paired_systems, scores_of
from polars_ir.per_query.shared.queries import Pair

#: Columns of the result, the deciding ones first: a terminal shows the first four and the last four.
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
    """Number of queries that a difference needs, or the difference that n queries show: a row per pair and measure.

    The power is the probability that a paired, two-sided t-test at level alpha finds a true mean difference. Two of
    difference, number and power determine the third:

    - given `difference`: the lowest number of queries that have at least this power;
    - given `n_queries`: the smallest difference that they show with this power;
    - given both: the power that they have;
    - given neither: the smallest difference that the pairs of queries of `per_query` show with this power.

    The plan takes the upper 80 % limit of the spread, `std_planned` = std * sqrt((n - 1) / chi2(.2; n - 1)); how often
    plans by pilots reach their power is in notebooks/evidence.md.

    With `max_drop`, the power is the probability that `gate` passes a change that lowers nothing; without `n_queries`,
    the result is the number of queries at which it passes in about 80 % of the cases.

    Parameters
    ----------
    per_query
        What `evaluate` returned for several systems; None to plan with `std`. Of LazyFrames it reads moments, for
        method `"normal"` without `max_drop`.
    baseline, missing, ranges, cluster
        As in `compare` and `gate`; with `cluster`, or for queries of several nights, `n_queries` counts clusters.
    std
        A guess of the standard deviation of the differences, in place of `per_query`; often 0.1 to 0.3.
    difference, max_drop
        The mean difference to show, or the largest drop that a gate allows, in units of the measure; above 0.
    n_queries, alpha, comparisons
        The planned number of queries, 2 or more; the level of the test is alpha / comparisons, Holm's first step.
    power
        The probability to find a true difference, .8 by default; not with both of `difference` and `n_queries`.
    method, seed
        `"normal"`, by noncentral t, or `"pilot"`, as for a gate, by 2,000 samples of the differences.

    Returns
    -------
    The kind of per_query
        The column of systems, `measure`, `n_queries` (UInt32), `difference`, `power`, `max_drop` (Float64), `baseline`,
        `std`, `std_planned` (Float64, of the differences, and of the plan), `n_missing` (UInt32: queries that only one
        of the two answered), `note` (String, why something is null); names and `n_missing` are null with `std`.

    References
    ----------
    Sakai 2016, https://doi.org/10.1007/s10791-015-9273-z; `"normal"` is `statsmodels.stats.power.TTestPower`

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
    """
    planning = Planning(
        check("difference", difference, or_none(positive())),
        check("n_queries", n_queries, or_none(whole(2, stats.planning.MOST_QUERIES))),
        check("alpha", alpha, chance()) / check("comparisons", comparisons, whole(1, 10**9)),
        check("method", method, one_of("normal", "pilot")),
        check("seed", seed, whole(0)),
        baseline,
        check("missing", "zero" if missing is None else missing, MISSING),
        cluster,
        ranges,
    )
    std = check("std", std, or_none(positive()))
    if max_drop is not None:
        if per_query is not None and is_percentage(max_drop):
            raise _readings(max_drop, per_query, measures, planning)
        others = {"std": std, "difference": difference, "power": power, "comparisons": None if comparisons == 1 else 1}
        drop = _for_a_gate(max_drop, per_query, others, planning.alpha)
        scores = _scores(per_query, measures, planning)
        its_range = ranges_of(list(scores.measures), ranges)
        for name, its in its_range.items():
            check_range(name, scores.seen(name), its)
        rows = [_gate_row(pair, drop, its_range[pair.measure].width, planning) for pair in _pairs(scores, planning)]
        return give_back(pl.DataFrame(rows, schema=SCHEMA).rename({"run": scores.system}), per_query)
    planning = planning._replace(power=_power(power, difference, n_queries, planning.alpha))
    _check_source(per_query, std, difference, n_queries, method)
    of_frame = {"baseline": baseline, "measures": measures, "missing": missing, "cluster": cluster}
    if std is not None and (named := [name for name, value in of_frame.items() if value is not None]):
        raise OptionError(f"{', '.join(named)} can only be of a per_query; power was given std instead. Leave it out.")
    if ranges is not None:
        raise OptionError("ranges are for the power of a gate only; give its max_drop, or leave them out.")
    if std is not None:
        plan = _plan(std, None, planning.n_queries, planning)
        return give_back(pl.DataFrame([{"std": std, "std_planned": std, **plan}], schema=SCHEMA), per_query)
    systems: PairedSystems
    if method == "pilot":
        systems = _scores(per_query, measures, planning)
    else:
        keys, options = _keys(per_query, measures), planning._asdict()
        # There is no by= to advise.
        advice = "Keep one of each; or, as a query counts once, collect it first"
        systems = paired_systems(per_query, measures, options, keys=keys, what="ir.power", only={}, advice=advice)
    rows = []
    for pair in _pairs(systems, planning):
        planned, row = _spread(pair)
        number = planned.n if difference is None and n_queries is None else planning.n_queries
        plan = _plan(row["std_planned"], planned, number, planning)
        rows.append({**row, **plan, "note": _joined([plan.get("note"), *pair.notes])})
    return give_back(pl.DataFrame(rows, schema=SCHEMA).rename({"run": systems.system}), per_query)


class Planning(NamedTuple):
    """Options of a plan; `power` is the one asked for."""

    difference: float | None
    n_queries: int | None
    alpha: float
    method: str
    seed: int
    baseline: str | None
    missing: str
    cluster: Any
    ranges: Mapping[str, tuple[float, float]] | None
    power: float = 0.0


def _scores(per_query: Any, measures: Measures, planning: Planning) -> Scores:
    """The scores; the query is a cluster where other columns distinguish several rows of it."""
    options, keys = planning._asdict(), _keys(per_query, measures)
    return scores_of(per_query, measures, options, cluster=planning.cluster, keys=keys, what="ir.power")


def _keys(per_query: Any, measures: Measures) -> list[str]:
    table = per_query_table(per_query)
    return keys_found(table, without=() if measures is None else measures_of(table, measures))


def _pairs(systems: PairedSystems, planning: Planning) -> Sequence[Pair]:
    (of_all,) = systems.paired(systems.pairs(planning.baseline, "ir.power"), missing=planning.missing)
    return of_all.pairs


def _spread(pair: Pair) -> tuple[stats.Sample, dict[str, Any]]:
    """The differences, scaled to the planned spread, and the names and spreads of a pair."""
    d = pair.sample
    planned = d.scaled(stats.planning.widened(d.n))
    return planned, {
        "run": pair.run,
        "baseline": pair.baseline,
        "measure": pair.measure,
        "std": d.std if d.n > 1 else None,
        "std_planned": planned.std if d.n > 1 else None,
        "n_missing": pair.n_missing,
    }


def _for_a_gate(max_drop: object, per_query: Any, others: Mapping[str, object], alpha: float) -> float:
    """The drop that a gate allows; an error for options that its plan does not use."""
    if per_query is None:
        raise OptionError("power of a gate needs the differences of a per_query; give one with max_drop.")
    if named := [name for name, value in others.items() if value is not None]:
        raise OptionError(f"max_drop takes the place of {', '.join(named)}. Leave one of them out.")
    check("alpha", alpha, chance(below=0.5))
    return check("max_drop", max_drop, positive())


def _readings(max_drop: str, per_query: Any, measures: Measures, planning: Planning) -> OptionError:
    """The error for a drop that is a percentage, of the first measure and pair."""
    systems = _scores(per_query, measures, planning._replace(missing="skip", cluster=None))
    against, measure = systems.pairs(planning.baseline, "ir.power")[0][1], systems.measures[0]
    values = systems.values[measure][:, against]
    mean = float(np.nan_to_num(values).sum() / max(np.isfinite(values).sum(), 1))
    its = ranges_of([measure], planning.ranges)[measure]
    return readings(max_drop, measure, its, mean, f"the mean of {systems.systems[against]!r}")


def _power(power: float | None, difference: float | None, n_queries: int | None, alpha: float) -> float:
    if power is not None and difference is not None and n_queries is not None:
        says = f"power follows from difference and n_queries; got all three, power={power!r}. Leave one out."
        raise OptionError(says)
    target = check("power", stats.planning.POWER if power is None else power, chance())
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


def _plan(std: float | None, pilot: stats.Sample | None, n_queries: int | None, planning: Planning) -> dict[str, Any]:
    """Difference, number of queries and power: missing ones by the spread or, by method `"pilot"`, by the values."""
    difference = planning.difference
    if not std:
        few = "fewer than two queries with a value of both systems"
        note = few if pilot is not None and pilot.n < 2 else "all differences are the same"
        return {"difference": difference, "n_queries": n_queries, "note": note}
    values = pilot.values if pilot is not None and planning.method == "pilot" else None
    options: dict[str, Any] = {"alpha": planning.alpha, "power": planning.power}
    if difference is None and n_queries is not None:
        difference = (
            std * stats.planning.smallest_effect(n_queries, **options)
            if values is None
            else stats.planning.pilot_difference(values, n_queries, seed=planning.seed, **options)
        )
    elif difference is not None and n_queries is None:
        n_queries = (
            stats.planning.queries_needed(difference / std, **options)
            if values is None
            else stats.planning.pilot_queries(values, difference, seed=planning.seed, **options)
        )
    if difference is None or n_queries is None:
        return {"difference": difference, "note": f"more than {stats.planning.MOST_QUERIES:,} queries"}
    achieved = (
        stats.planning.power_of(difference / std, n_queries, alpha=planning.alpha)
        if values is None
        else stats.planning.pilot_power(values, difference, n_queries, alpha=planning.alpha, seed=planning.seed)
    )
    return {"difference": difference, "n_queries": n_queries, "power": achieved}


def _gate_row(pair: Pair, max_drop: float, width: float, planning: Planning) -> dict[str, Any]:
    """Probability that a gate passes a change without any drop, or the number of queries for it."""
    planned, row = _spread(pair)
    row |= {"max_drop": max_drop, "n_queries": planning.n_queries}
    options: dict[str, Any] = {"max_drop": max_drop, "lowest": -width, "alpha": planning.alpha}
    if planned.values is None or not planned.n:
        return {**row, "note": _joined(["no query with a value of both systems", *pair.notes])}
    gains = planned.values.clip(-width, width)
    number = planning.n_queries or stats.planning.gate_queries(gains, **options)
    if number is None:
        return {**row, "note": _joined([f"more than {stats.planning.MOST_QUERIES:,} queries", *pair.notes])}
    passed = stats.planning.gate_power(gains, number, seed=planning.seed, **options)
    return {**row, "n_queries": number, "power": passed, "note": _joined(pair.notes)}


def _joined(notes: Sequence[str | None]) -> str | None:
    return "; ".join(note for note in notes if note) or None
