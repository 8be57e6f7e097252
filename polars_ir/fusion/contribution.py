"""`contribution`: what each run adds to a fusion."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb
from typing import Any

import polars as pl

from polars_ir.errors import OptionError, quoted
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Missing, fusion_of
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.tuning.trials import Experiment, candidates_of, measured_subsets
from polars_ir.fusion.weights import by_query, by_system, check_reads_weights, is_numbers
from polars_ir.language.columns import is_cost
from polars_ir.language.names import resolve_one
from polars_ir.language.options import check, count, is_number, public
from polars_ir.language.words import average
from polars_ir.runs.rankings import LowerIsBetter

#: Every subset of the runs is fused, and each further run doubles their number.
MOST_SYSTEMS = 8


@public()
def contribution(
    runs: Table[FrameT],
    qrels: Any,
    method: Any = "rrf",
    measure: Any = "nDCG@10",
    *,
    norm: Any = None,
    weights: Any = None,
    cost: Mapping[str, float] | None = None,
    missing: Missing = "skip",
    depth: int | None = None,
    top: int = 1000,
    dialect: str | None = None,
    lower_is_better: LowerIsBetter = False,
) -> FrameT:
    """The contribution of each run to the fusion of all: a row per run.

    Every subset of the runs is fused and measured. Leave-one-out is the mean with all runs less that without the one;
    the Shapley value is the mean gain of adding it, over all orders in which the runs can be added to none (which has
    the value 0): the values of all runs add up to that of the fusion.

    Parameters
    ----------
    runs, norm, weights, missing, depth, dialect, lower_is_better
        As in `fuse`; 2 to 8 runs. A LazyFrame is collected.
    method, measure
        The fusion, and what it is measured by.
    cost
        The cost of each run, such as milliseconds a query: adds columns about the subset of runs that is worth it.
    top
        The number of fused documents that are measured.

    Returns
    -------
    The kind of the runs
        The column of systems, `alone` (the mean of the measure for the run by itself), `all` (that of the fusion of
        all), `without` (of all but the run), `leave_one_out` (all - without), `shapley`; with `cost` also `cost` and
        `pareto` (Boolean: whether some subset with this run is on the Pareto front, which no subset beats that costs no
        more). Sorted by falling Shapley value.

    References
    ----------
    Shapley 1953, https://doi.org/10.1515/9781400881970-018

    Examples
    --------
    >>> import polars_ir as ir
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["x", "z"]}}
    >>> ir.contribution(runs, {"q": ["x"]}, "rrf", "P@1").select("run", "alone", "leave_one_out", "shapley").rows()
    [('a', 1.0, 0.0, 0.5), ('b', 1.0, 0.0, 0.5)]
    """
    measured_by = resolve_one(measure, "contribution")
    fusion = fusion_of(method, norm, dialect, missing=missing)
    if weights is not None:
        check_reads_weights(fusion.method)
    table = table_of(runs, fusion, lower_is_better=lower_is_better)
    lower_is_better = False if fusion.by_rank_column else lower_is_better
    systems = sorted(systems_of(table))
    if len(systems) > MOST_SYSTEMS:
        says = f"must be {MOST_SYSTEMS} at most, since every subset is fused; got {len(systems)}."
        raise OptionError(says, about="runs")
    costs = None if cost is None else _costs(cost, systems)
    own_weights = weights
    if is_numbers(weights):
        own_weights = by_system(weights, table)
    elif weights is not None and not isinstance(weights, pl.Expr):
        own_weights = by_query(weights, table).collect().lazy()
    subsets = [subset for size in range(1, len(systems) + 1) for subset in combinations(systems, size)]
    if isinstance(own_weights, dict):
        # A fusion of zero weights has no scores; such runs alone are worth 0.
        subsets = [subset for subset in subsets if any(own_weights[system] for system in subset)]
    candidates = candidates_of(table, systems, qrels, depth=depth, lower_is_better=lower_is_better)
    experiment = Experiment(method, dialect, missing, check("top", top, count()), measured_by)
    values = measured_subsets(subsets, own_weights, candidates, experiment, norm)
    means = values.group_by("run").agg(mean=average(pl.col(measured_by.name).cast(pl.Float64))).sort("run")
    worth = dict.fromkeys([()], 0.0) | {subsets[number]: mean for number, mean in means.iter_rows()}
    rows = [_row(system, systems, worth) for system in systems]
    if costs is not None:
        front = _front(worth, costs, lower=is_cost(measured_by.name))
        for row in rows:
            row |= {"cost": costs[row["run"]], "pareto": any(row["run"] in subset for subset in front)}
    contributions = pl.DataFrame(rows).sort(pl.col("shapley").round(12), "run", descending=[True, False])
    return give_back(contributions.lazy().rename(table.source_names, strict=False), of_one(runs))


def _row(system: str, systems: list[str], worth: Mapping[tuple[str, ...], float]) -> dict[str, Any]:
    others = [other for other in systems if other != system]
    everyone, without = worth.get(tuple(systems), 0.0), worth.get(tuple(others), 0.0)
    gains = (
        (worth.get(tuple(sorted([*before, system])), 0.0) - worth.get(before, 0.0)) / comb(len(others), len(before))
        for size in range(len(systems))
        for before in combinations(others, size)
    )
    return {
        "run": system,
        "alone": worth.get((system,), 0.0),
        "all": everyone,
        "without": without,
        "leave_one_out": everyone - without,
        "shapley": sum(gains) / len(systems),
    }


def _front(worth: Mapping[tuple[str, ...], float], costs: Mapping[str, float], *, lower: bool) -> list[tuple[str, ...]]:
    """The Pareto front of subsets: none is better at the same cost, or as good at a lower one."""
    points = {subset: (sum(costs[s] for s in subset), -v if lower else v) for subset, v in worth.items() if subset}

    def beaten(price: float, value: float) -> bool:
        return any(p <= price and v >= value and (p < price or v > value) for p, v in points.values())

    return [subset for subset, point in points.items() if not beaten(*point)]


def _costs(cost: Any, systems: list[str]) -> dict[str, float]:
    if not isinstance(cost, Mapping) or set(map(str, cost)) != set(systems) or not all(map(is_number, cost.values())):
        says = f"must be a dict with a number for each of {quoted(systems)}; got {cost!r:.80}."
        raise OptionError(says, about="cost")
    return {str(system): float(price) for system, price in cost.items()}
