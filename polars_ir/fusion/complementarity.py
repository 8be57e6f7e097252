"""What runs add to each other: `complementarity`, before anyone tunes, and `contribution`, to a fusion."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb, isclose
from typing import Any, Generic, NamedTuple

import polars as pl

from polars_ir.engine.needs import check_of_documents
from polars_ir.errors import InputTypeError, OptionError, quoted
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Missing, fusion_of
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.tuning.trials import (
    Candidates,
    Experiment,
    candidates_of,
    figures,
    measured,
    measured_subsets,
    trials_of,
)
from polars_ir.fusion.weights import by_query, by_system, check_reads_weights, is_numbers
from polars_ir.language.columns import is_cost
from polars_ir.language.names import resolve_one
from polars_ir.language.options import any_number, check, count, is_number, public
from polars_ir.language.words import ROUNDED_TO, average, ratio, total
from polars_ir.runs.rankings import LowerIsBetter
from polars_ir.runs.similarity import similarity

PAIR = ["run", "other"]

#: Every subset of the runs is fused, and each further run doubles their number.
MOST_SYSTEMS = 8


class Complementarity(NamedTuple, Generic[FrameT]):
    """The result of `complementarity`.

    - `pairs`: a row per pair of runs: the column of systems, `other`, `relevant_overlap` and `other_overlap`,
      2 |A and B| / (|A| + |B|) of the relevant and of all other documents they returned (Lee), null where neither
      returned any, and `RBO`, the mean over queries.
    - `systems`: a row per run: the column of systems, `n_relevant` it returned, `unique` of these that no other run
      returned, and the mean of the measure.
    - `ceilings`: a row each of `ceiling` and `value`: the best single run, the best run of each query (oracle routing),
      the best weights of each query (oracle weights), the recall of the best run and of all runs together.
    """

    pairs: FrameT
    systems: FrameT
    ceilings: FrameT


@public()
def complementarity(
    runs: Table[FrameT],
    qrels: Any,
    measure: Any = "nDCG@10",
    *,
    method: Any = "rrf",
    norm: Any = None,
    rel: float = 1,
    depth: int | None = None,
    lower_is_better: LowerIsBetter = False,
) -> Complementarity[FrameT]:
    """The potential of fusing runs: their overlap, what only one finds, and the values that oracles would reach.

    Fusion pays where runs share relevant documents and not the others (Lee). Oracles look at the judgments, so no
    method reaches them; but where they are hardly above the best run, no method will pay.

    Parameters
    ----------
    runs, depth, lower_is_better
        As in `fuse`. A LazyFrame is collected.
    measure
        The measure of systems and oracles.
    method, norm
        The fusion whose weights the oracle chooses, in steps as in `tune_fusion`.
    rel
        The lowest grade that is relevant, of overlaps and recall.

    Returns
    -------
    Complementarity
        `pairs`, `systems` and `ceilings`, frames of the runs' kind.

    References
    ----------
    Lee 1997, https://doi.org/10.1145/258525.258587 (overlap of relevant and of other documents)

    Examples
    --------
    >>> import polars_ir as ir
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["x", "z"]}}
    >>> potential = ir.complementarity(runs, {"q": {"x": 1, "z": 1}}, "P@1")
    >>> potential.systems.select("run", "n_relevant", "unique").rows()
    [('a', 1, 0), ('b', 2, 1)]
    """
    measured_by = resolve_one(measure, "complementarity", ("n_relevant", "unique"))
    check_of_documents(measured_by, "complementarity", qrels)
    rel = check("rel", rel, any_number())
    fusion = fusion_of(method, norm)
    table = table_of(runs, fusion, lower_is_better=lower_is_better)
    systems = systems_of(table)
    candidates = candidates_of(table, systems, qrels, depth=depth, lower_is_better=lower_is_better)
    rows = candidates.rows.select("run", "query_id", "doc_id", "score")
    singles = figures(rows, candidates, measured_by).rename({measured_by.name: "value"})
    if singles["value"].drop_nulls().is_empty():
        raise InputTypeError("complementarity needs a judged query that a run answers; there is none.")
    experiment = Experiment(method, None, "skip", 1000, measured_by)
    trials = measured(trials_of(None, candidates.table, norm), candidates, experiment)
    grades = candidates.qrels.filter(pl.col("relevance") >= rel).select("query_id", "doc_id", relevant=True)
    judged = candidates.rows.join(grades, on=["query_id", "doc_id"], how="left")
    judged = judged.with_columns(pl.col("relevant").fill_null(False))
    weights = trials.rename({measured_by.name: "value"}).select("query_id", "value")
    frames = (
        _pairs(judged, rows),
        _systems(judged, singles).rename({"mean": measured_by.name}),
        _ceilings(singles, weights, judged, grades, candidates, cost=is_cost(measured_by.name)),
    )
    named = (frame.lazy().rename(table.source_names, strict=False) for frame in frames)
    return Complementarity(*(give_back(frame, of_one(runs)) for frame in named))


def _pairs(judged: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    documents = judged.select(pl.col("run").cast(pl.String), "query_id", "doc_id", "relevant")
    counts = documents.group_by("run").agg(n=pl.col("relevant").sum(), n_other=(~pl.col("relevant")).sum())
    both = documents.join(documents.select("query_id", "doc_id", other="run"), on=["query_id", "doc_id"])
    shared = both.group_by(PAIR).agg(relevant_shared=pl.col("relevant").sum(), other_shared=(~pl.col("relevant")).sum())
    pairs = counts.join(counts.select(pl.all().name.prefix("of_other_")), how="cross")
    pairs = pairs.rename({"of_other_run": "other"}).filter(pl.col("run") < pl.col("other"))
    pairs = pairs.join(shared, on=PAIR, how="left").fill_null(0)
    rbo = similarity(rows).group_by(PAIR).agg(RBO=average(pl.col("RBO").sort()))
    relevant = ratio(2 * pl.col("relevant_shared"), pl.col("n") + pl.col("of_other_n"))
    others = ratio(2 * pl.col("other_shared"), pl.col("n_other") + pl.col("of_other_n_other"))
    pairs = pairs.join(rbo, on=PAIR, how="left").sort(PAIR)
    return pairs.select(*PAIR, relevant_overlap=relevant, other_overlap=others, RBO="RBO")


def _systems(judged: pl.DataFrame, singles: pl.DataFrame) -> pl.DataFrame:
    """Relevant documents found per run, and found by that run alone."""
    found_by = pl.len().over("query_id", "doc_id")
    relevant = judged.with_columns(alone=found_by == 1).filter("relevant")
    counts = relevant.group_by("run").agg(n_relevant=pl.len(), unique=pl.col("alone").sum())
    means = singles.sort("query_id").group_by("run").agg(mean=average(pl.col("value").cast(pl.Float64)))
    systems = means.join(counts, on="run", how="left").sort("run")
    return systems.select("run", pl.col("n_relevant", "unique").fill_null(0), "mean")


def _ceilings(
    singles: pl.DataFrame,
    weights: pl.DataFrame,
    judged: pl.DataFrame,
    grades: pl.DataFrame,
    candidates: Candidates,
    *,
    cost: bool,
) -> pl.DataFrame:
    value = pl.col("value").cast(pl.Float64)
    best = value.min() if cost else value.max()
    means = singles.sort("query_id").group_by("run").agg(value=average(value))

    def mean_of_best(values: pl.DataFrame) -> float:
        by_query = values.group_by("query_id").agg(value=best).sort("query_id")
        return float(by_query.select(average(pl.col("value"))).item())

    relevant = judged.filter("relevant").select(pl.col("run").cast(pl.String), "query_id", "doc_id")
    n_relevant = grades.group_by("query_id").agg(n=pl.len())

    def recall(documents: pl.DataFrame) -> float:
        counts = documents.unique(["query_id", "doc_id"]).group_by("query_id").agg(hits=pl.len())
        shares = n_relevant.join(counts, on="query_id", how="left").with_columns(pl.col("hits").fill_null(0))
        queries = candidates.qrels["query_id"].n_unique()
        return float(shares.sort("query_id").select(total(pl.col("hits") / pl.col("n"))).item()) / queries

    of_each = (recall(relevant.filter(run=system)) for system in candidates.systems)
    values = {
        "best single run": float(means.select(best).item()),
        "oracle routing": mean_of_best(singles.select("query_id", "value")),
        "oracle weights": mean_of_best(weights),
        "recall of the best run": max(of_each, default=0.0),
        "recall of all runs": recall(relevant),
    }
    return pl.DataFrame({"ceiling": list(values), "value": list(values.values())})


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
    check_of_documents(measured_by, "contribution", qrels)
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
    largest = max(map(abs, worth.values()))

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        # Sums that differ in their last bits are equal.
        as_cheap = isclose(one[0], other[0], rel_tol=ROUNDED_TO)
        as_good = isclose(one[1], other[1], rel_tol=0, abs_tol=ROUNDED_TO * largest)
        cheaper, better = one[0] < other[0] and not as_cheap, one[1] > other[1] and not as_good
        return (cheaper and (better or as_good)) or (better and as_cheap)

    return [subset for subset, point in points.items() if not any(beats(other, point) for other in points.values())]


def _costs(cost: Any, systems: list[str]) -> dict[str, float]:
    if not isinstance(cost, Mapping) or set(map(str, cost)) != set(systems) or not all(map(is_number, cost.values())):
        says = f"must be a dict with a number for each of {quoted(systems)}; got {cost!r:.80}."
        raise OptionError(says, about="cost")
    return {str(system): float(price) for system, price in cost.items()}
