"""`tune_fusion`: weights chosen on some queries and measured on others, beside what needs no choice.

Conventions: a choice is measured on queries that it was not made on (out of fold); the in-sample figure of the best
configuration is there only to show the gap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple

import polars as pl

from polars_ir.engine.needs import check_of_documents
from polars_ir.errors import Code, Fix, OptionError
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Missing, fusion_of
from polars_ir.fusion.fuse import scored, termed
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.methods import TRAINED, Method
from polars_ir.fusion.tuning.trials import (
    Candidates,
    Experiment,
    Trial,
    candidates_of,
    figures,
    folds_of,
    measured,
    trials_of,
)
from polars_ir.language.columns import is_cost
from polars_ir.language.names import resolve_one
from polars_ir.language.options import check, count, public, whole
from polars_ir.language.words import average, total
from polars_ir.per_query.compare import compare
from polars_ir.per_query.shared.verdicts import p_beside
from polars_ir.runs.rankings import LowerIsBetter, collected, first, in_order, ranked

#: The systems of the comparison.
TUNED, SINGLE, EQUAL = "tuned, out of fold", "best single run, out of fold", "equal weights"

#: Columns of the result, beside that of the measure.
OWN = ("run", "query_id", "trial", "k", "norm")


class TunedFusion(NamedTuple, Generic[FrameT]):
    """The result of `tune_fusion`, whose text is its `report`.

    - `run`: the out-of-fold fused run: each query by the configuration chosen on the other folds.
    - `weights`, `k`, `norm`: the configuration that is best on all queries, for use.
    - `trials`: a row per configuration: `trial`, its `weight_{run}`, `k`, `norm` and mean of the measure, best first.
    - `choices`: a row per fold: `fold`, `n_queries`, `trial`, `weight_{run}`, `k`, `norm`, and the mean of the measure
      on the queries it was chosen on (`chosen_on`) and on the fold (`held_out`).
    - `summary`: one row: `measure`, `in_sample`, `out_of_fold`, `gap` (their difference), `best_single` (the run that
      is best on all queries), `best_single_mean` (of the runs that are best on the other folds), `equal_weights_mean`,
      `agreement` (the share of folds with the most frequent choice) and `spread` (the largest difference of a run's
      weight between two folds, weights adding up to 1).
    - `per_query`: the values of the three systems compared.
    - `comparison`: the result of `compare` for each pair of them.
    - `report`: the findings in words.
    """

    run: FrameT
    weights: dict[str, float]
    k: float | None
    norm: str | None
    trials: FrameT
    choices: FrameT
    summary: FrameT
    per_query: FrameT
    comparison: FrameT
    report: str

    def __str__(self) -> str:
        return self.report


@public()
def tune_fusion(
    runs: Table[FrameT],
    qrels: Any,
    method: str | Method = "rrf",
    measure: Any = "nDCG@10",
    *,
    grid: Any = None,
    norm: Any = None,
    folds: int = 5,
    by: Any = None,
    seed: int = 0,
    missing: Missing = "skip",
    depth: int | None = None,
    top: int = 1000,
    dialect: str | None = None,
    lower_is_better: LowerIsBetter = False,
) -> TunedFusion[FrameT]:
    """Fusion weights tuned by nested folds, compared with the best run alone.

    For each fold the configuration with the best mean on the other folds is chosen, and used on the fold; so no query
    is measured by a choice that it took part in. So is the best single run, which else were the luckiest one. The three
    comparisons, of the fusion, that run and equal weights, are corrected together. The whole grid is measured in a few
    passes: what each run gives a candidate is found once, a configuration is a weighted sum and a rank.

    Parameters
    ----------
    runs, method, norm, missing, depth, dialect, lower_is_better
        As in `fuse`. A LazyFrame is collected.
    measure
        One measure, by which configurations are chosen.
    grid
        The configurations: a list of weights (in the order of the runs, or dicts by run), or a dict with lists of
        `"weights"`, `"k"` and `"norm"`, all combinations of which are tried. None: weights in steps of 0.1 that add up
        to 1, or in larger steps for more than four runs. Equal weights are always tried too.
    folds
        The number of folds of the queries.
    by
        Groups of queries that no fold may part, such as variants of one query: a dict from queries to groups, or a
        table with the query and one other column. A query without a group is one of its own.
    seed
        The seed of the draw that puts groups into folds.
    top
        The number of fused documents that are measured.

    Returns
    -------
    TunedFusion
        Frames of the runs' kind, beside a `report` in words; `print` shows it.

    References
    ----------
    Cawley & Talbot 2010, https://www.jmlr.org/papers/v11/cawley10a.html (nested folds); Bruch, Gai & Ingber 2023,
    https://doi.org/10.1145/3596512

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> tuned = ir.tune_fusion(pydocs.runs, pydocs.qrels, "sum", "nDCG@10", norm="min-max", grid=[[2, 1, 1], [1, 0, 1]])
    >>> tuned.summary.select("measure", "best_single").row(0)
    ('nDCG@10', 'bm25')
    """
    folds, seed = check("folds", folds, whole(2)), check("seed", seed, whole(0))
    measured_by = resolve_one(measure, "tune_fusion", OWN)
    check_of_documents(measured_by, "tune_fusion", qrels)
    experiment = Experiment(method, dialect, missing, check("top", top, count()), measured_by)
    _check_has_weights(method, dialect)
    table = table_of(runs, experiment.fusion(norm), lower_is_better=lower_is_better)
    systems = systems_of(table)
    trials = trials_of(grid, table, norm)
    candidates = candidates_of(table, systems, qrels, depth=depth, lower_is_better=lower_is_better)
    name = experiment.measure.name
    cost = is_cost(name)
    values = measured(trials, candidates, experiment).rename({"run": "trial", name: "value"})
    values = values.join(folds_of(candidates.qrels, by, folds, seed), on="query_id")
    choices = _choices(values, cost=cost)
    means = values.sort("query_id").group_by("trial").agg(mean=average(pl.col("value")))
    # Means that differ by rounding alone are equal.
    means = means.sort(pl.col("mean").round(12), "trial", descending=[not cost, False])
    best = trials[int(means["trial"][0])]
    single, per_query = _compared(values, choices, candidates, experiment)
    comparison = compare(per_query)
    configurations = _configurations(trials, systems)
    described_choices = choices.join(configurations, on="trial", how="left", maintain_order="left")
    summary = {
        "measure": name,
        **_means(per_query, name, float(means["mean"][0]), single),
        **_stability(described_choices, systems),
    }
    frames = {
        "run": _out_of_fold_run(candidates, trials, experiment, values, choices, depth, lower_is_better),
        "trials": means.rename({"mean": name}).join(configurations, on="trial", how="left", maintain_order="left"),
        "choices": described_choices,
        "summary": pl.DataFrame([summary]),
        "per_query": per_query,
        "comparison": comparison,
    }
    for of_queries in ("run", "per_query"):
        frames[of_queries] = frames[of_queries].rename({"query_id": table.names["query_id"]})
    of_kind = {name: give_back(frame.lazy(), of_one(runs)) for name, frame in frames.items()}
    report = _report(summary, comparison)
    return TunedFusion(weights=dict(best.weights), k=best.k, norm=best.norm_name, report=report, **of_kind)


def _check_has_weights(method: Any, dialect: str | None) -> None:
    """Raise an `OptionError` for a method without weights, as trained ones are: there is nothing to choose."""
    if (isinstance(method, str) and method in TRAINED) or not fusion_of(method, dialect=dialect).method.reads_weights:
        name = method.name if isinstance(method, Method) else method
        where = "" if dialect is None else f" in the dialect {dialect!r}"
        other, crossed = "Fuse by it without tuning, or take another", f"fuse_out_of_fold(runs, qrels, {name!r})"
        fix = Fix("Measure it by", Code(f"ir.fusion.{crossed}"), without_code=other) if name in TRAINED else other
        raise OptionError(f"{name!r} has no weights to choose{where}.", about="method", fix=fix)


def _choices(values: pl.DataFrame, *, cost: bool) -> pl.DataFrame:
    """The best trial outside each fold; of equally good ones the first."""
    sums = values.sort("query_id").group_by("fold", "trial").agg(sum=total(pl.col("value").sort()), n=pl.len())
    whole_sum, whole_n = pl.col("sum").sort().sum().over("trial"), pl.col("n").sum().over("trial")
    outside = sums.with_columns(
        chosen_on=(whole_sum - pl.col("sum")) / (whole_n - pl.col("n")), held_out=pl.col("sum") / pl.col("n")
    )
    # Means that differ by rounding alone are equal.
    best = outside.sort("fold", pl.col("chosen_on").round(12), "trial", descending=[False, not cost, False])
    first = best.group_by("fold", maintain_order=True).first()
    return first.select("fold", n_queries="n", trial="trial", chosen_on="chosen_on", held_out="held_out")


def _compared(
    values: pl.DataFrame, choices: pl.DataFrame, candidates: Candidates, experiment: Experiment
) -> tuple[str, pl.DataFrame]:
    """The best single run, and the values per query of the three systems that are compared.

    The run that is best on the queries that it is measured on is so by chance, too: with each fold it is the one that
    is best on the others.
    """
    name = experiment.measure.name
    singles = figures(candidates.rows.select("run", "query_id", "doc_id", "score"), candidates, experiment.measure)
    means = singles.group_by("run").agg(mean=average(pl.col(name).cast(pl.Float64)))
    best = means.sort(pl.col("mean").round(12), "run", descending=[not is_cost(name), False])["run"][0]
    singles = singles.select("query_id", trial="run", value=pl.col(name).cast(pl.Float64))
    singles = singles.join(values.select("query_id", "fold").unique(), on="query_id")
    systems = {
        TUNED: _out_of_fold(values, choices),
        SINGLE: _out_of_fold(singles, _choices(singles, cost=is_cost(name))),
        EQUAL: values.filter(trial=0),
    }
    named = [frame.select("query_id", pl.col("value").alias(name), run=pl.lit(of)) for of, frame in systems.items()]
    per_query = pl.concat(named, how="vertical_relaxed").select("run", "query_id", name)
    return str(best), per_query.sort("run", "query_id")


def _out_of_fold(values: pl.DataFrame, choices: pl.DataFrame) -> pl.DataFrame:
    """Values of each fold's queries under the trial chosen without them."""
    return values.join(choices.select("fold", "trial"), on=["fold", "trial"])


def _configurations(trials: Sequence[Trial], systems: Sequence[str]) -> pl.DataFrame:
    """A row per trial: its number, weights, constant and norm."""
    weights = [f"weight_{system}" for system in systems]
    schema = {"trial": pl.Int64, **dict.fromkeys(weights, pl.Float64), "k": pl.Float64, "norm": pl.String}
    rows = ((i, *(t.weights[system] for system in systems), t.k, t.norm_name) for i, t in enumerate(trials))
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _out_of_fold_run(
    candidates: Candidates,
    trials: Sequence[Trial],
    experiment: Experiment,
    values: pl.DataFrame,
    choices: pl.DataFrame,
    depth: int | None,
    lower_is_better: LowerIsBetter,
) -> pl.DataFrame:
    """The fused run, each query by the choice made without it."""
    table = candidates.table
    fold_of = values.select("query_id", "fold").unique()
    rows = ranked(table, lower_is_better=lower_is_better, depth=depth)
    parts = []
    for fold, number in choices.select("fold", "trial").iter_rows():
        trial = trials[number]
        fusion = experiment.fusion(trial.norm, trial.k)
        of_fold = rows.join(fold_of.filter(fold=fold).lazy(), on="query_id", how="semi")
        of_fold = termed(of_fold, fusion, trial.weights, table)
        parts.append(first(scored(of_fold, fusion, trial.weights, table), experiment.top))
    return in_order(collected(pl.concat(parts), table.rows).lazy(), ["query_id"]).collect()


def _means(per_query: pl.DataFrame, name: str, in_sample: float, single: str) -> dict[str, Any]:
    by_system = per_query.group_by("run").agg(mean=average(pl.col(name).cast(pl.Float64)))
    means = dict(by_system.iter_rows())
    return {
        "in_sample": in_sample,
        "out_of_fold": means[TUNED],
        "gap": in_sample - means[TUNED],
        "best_single": single,
        "best_single_mean": means[SINGLE],
        "equal_weights_mean": means[EQUAL],
    }


def _stability(choices: pl.DataFrame, systems: Sequence[str]) -> dict[str, float]:
    """Agreement of the folds on a trial, and the spread of each run's weight share across folds."""
    shares = choices.select(pl.col(f"weight_{system}") for system in systems)
    shares = shares.select(pl.all() / pl.sum_horizontal(pl.all()))
    return {
        "agreement": int(str(choices["trial"].value_counts()["count"].max())) / choices.height,
        "spread": float(shares.select(pl.max_horizontal(pl.all().max() - pl.all().min())).item()),
    }


def _report(summary: Mapping[str, Any], comparison: pl.DataFrame) -> str:
    rows = {(row["run"], row["baseline"]): row for row in comparison.iter_rows(named=True)}
    cost = is_cost(summary["measure"])
    tuned = _in_words("The tuned fusion", rows[TUNED, SINGLE], "s", cost=cost)
    equal = _in_words("Equal weights", rows[EQUAL, SINGLE], "", cost=cost)
    return (
        f"{summary['measure']}{' (lower is better)' * cost} of the tuned fusion: "
        f"{summary['out_of_fold']:.4f} out of fold "
        f"({summary['in_sample']:.4f} in-sample, a gap of {summary['gap']:+.4f}).\n"
        f"Best single run, {summary['best_single']}: {summary['best_single_mean']:.4f} out of fold. {tuned}\n"
        f"Equal weights: {summary['equal_weights_mean']:.4f}. {equal}\n"
        f"Folds: {summary['agreement']:.0%} made the most frequent choice; "
        f"a run's share of the weight differs by up to {summary['spread']:.2f} between them."
    )


def _in_words(subject: str, row: Mapping[str, Any], s: str, *, cost: bool) -> str:
    """A difference from the best single run, with its significance and the interval that allows for all three."""
    if row["difference"] is None or row["p_corrected"] is None:
        return f"{subject} and it cannot be compared: {row['note']}."
    verb = f"gain{s}" if (row["difference"] > 0) != cost else f"lose{s}"
    sure = "significant" if row["significant"] else "not significant"
    low, high = row["simultaneous_low"], row["simultaneous_high"]
    interval = "" if low is None else f", 95 % interval of all comparisons {low:+.4f} to {high:+.4f}"
    sure = f"{sure}, p {p_beside(row['p_corrected'])}"
    return f"{subject} {verb} {abs(row['difference']):.4f} against it ({sure}{interval})."
