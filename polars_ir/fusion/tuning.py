"""`tune_fusion`: weights chosen on some queries and measured on others, beside what needs no choice.

Conventions: what a choice is worth is told by queries it was not made on (out of fold); the in-sample figure of the
best configuration is given only so that the gap shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import polars as pl

from polars_ir.errors import Code, Fix, OptionError, explain_options
from polars_ir.extras import require
from polars_ir.frames.kinds import SameKind, give_back
from polars_ir.fusion.dialects import fusion_of
from polars_ir.fusion.folds import folds_of
from polars_ir.fusion.fusing import Missing, check_missing, reads_weights, scored, termed
from polars_ir.fusion.grids import Trial, trials_of
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.methods import TRAINED, Method
from polars_ir.fusion.trials import Candidates, How, candidates_of, figures, measured
from polars_ir.language.names import is_cost, resolve_one
from polars_ir.language.words import average, total
from polars_ir.per_query.systems import compare
from polars_ir.runs.rankings import LowerIsBetter, collected, first, in_order, ranked
from polars_ir.values import check, whole

#: The systems of the comparison.
TUNED, SINGLE, EQUAL = "tuned, out of fold", "best single run", "equal weights"


FrameT = TypeVar("FrameT")


class TunedFusion(NamedTuple, Generic[FrameT]):
    """What `tune_fusion` found; printed, it says whether it was worth it.

    - `run`: the out-of-fold fused run: each query by the configuration chosen on the other folds.
    - `weights`, `k`, `norm`: the configuration that is best on all queries, for use.
    - `trials`: a row per configuration: `trial`, its `weight_{run}`, `k`, `norm` and mean of the measure, best first.
    - `choices`: a row per fold: `fold`, `n_queries`, `trial`, `weight_{run}`, `k`, `norm`, and the mean of the measure
      on the queries it was chosen on (`chosen_on`) and on the fold (`held_out`).
    - `summary`: one row: `measure`, `in_sample`, `out_of_fold`, `gap` (their difference), `best_single` (a run's name),
      `best_single_mean`, `equal_weights_mean`, `agreement` (the share of folds with the most frequent choice) and
      `spread` (the largest difference of a run's weight between two folds, weights adding up to 1).
    - `per_query`: the values of the three systems compared.
    - `comparison`: what `compare` says of each pair of them.
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
        """The report."""
        return self.report


@explain_options
def tune_fusion(
    runs: Any,
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
) -> TunedFusion[SameKind]:
    """Weights of a fusion tuned by nested folds, and whether that is better than the best run alone.

    For each fold the configuration with the best mean on the other folds is chosen, and used on the fold; so no query
    is measured by a choice that it took part in. The whole grid is measured in a few passes: what each run gives a
    candidate is found once, a configuration is a weighted sum and a rank.

    Parameters
    ----------
    runs, method, norm, missing, depth, dialect, lower_is_better
        As in `fuse`. A LazyFrame is collected.
    qrels
        The judgments.
    measure
        One measure, by which configurations are chosen.
    grid
        What to try: a list of weights (in the order of the runs, or dicts by run), or a dict with lists of `"weights"`,
        `"k"` and `"norm"`, all combinations of which are tried. None: weights in steps of 0.1 that add up to 1, or in
        larger steps for more than four runs. Equal weights are always tried too.
    folds
        In how many folds the queries are parted.
    by
        Groups of queries that no fold may part, such as variants of one query: a dict from queries to groups, or a
        table with the query and one other column. A query without a group is one of its own.
    seed
        What decides which fold a group is in.
    top
        How many fused documents are measured.

    Returns
    -------
    TunedFusion
        Frames of the runs' kind, beside a `report` in words; `print` shows it.

    Raises
    ------
    IRError
        For more folds than groups, and for what `fuse`, `evaluate` or `compare` does not take.

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
    require("stats", "ir.tune_fusion")
    folds, seed = check("folds", folds, whole(2)), check("seed", seed, whole(0))
    how = How(method, dialect, missing, check("top", top, whole(1)), resolve_one(measure, "tune_fusion"))
    _check_has_weights(method, dialect)
    fusion = fusion_of(method, norm, dialect)
    check_missing(missing)
    table = table_of(runs, fusion, lower_is_better=lower_is_better)
    systems = systems_of(table) or sorted(table.select("run").unique().collect()["run"].cast(pl.String))
    trials = trials_of(grid, systems, norm)
    of = candidates_of(table, systems, qrels, depth=depth, lower_is_better=lower_is_better)
    values = measured(trials, of, how).rename({"run": "trial", how.measure.name: "value"})
    values = values.join(folds_of(of.qrels, by, folds, seed), on="query_id")
    choices = _choices(values, cost=is_cost(how.measure.name))
    tuning = _Tuning(trials, of, how, values, choices)
    per_query = tuning.per_query()
    single = next(system for system in per_query["run"].unique() if system.startswith(SINGLE))
    comparison = compare(per_query, baseline=single)
    comparison = pl.concat([comparison, compare(per_query, baseline=EQUAL).filter(run=TUNED)])
    summary = tuning.summary(per_query)
    best = trials[int(tuning.means()["trial"][0])]
    frames = {
        "run": tuning.out_of_fold_run(depth, lower_is_better).rename({"query_id": table.names["query_id"]}),
        "trials": tuning.described(tuning.means().rename({"mean": how.measure.name})),
        "choices": tuning.described(choices),
        "summary": summary,
        "per_query": per_query.rename({"query_id": table.names["query_id"]}),
        "comparison": comparison,
    }
    of_kind = {name: give_back(frame.lazy(), of_one(runs)) for name, frame in frames.items()}
    report = _report(summary.row(0, named=True), comparison)
    return TunedFusion(weights=dict(best.weights), k=best.k, norm=best.norm_name, report=report, **of_kind)


def _check_has_weights(method: Any, dialect: str | None) -> None:
    """Raise an `OptionError` for a method without weights, as trained ones are: there is nothing to choose."""
    if (isinstance(method, str) and method in TRAINED) or not reads_weights(fusion_of(method, dialect=dialect).method):
        name = method.name if isinstance(method, Method) else method
        where = "" if dialect is None else f" in the dialect {dialect!r}"
        other, crossed = "Fuse by it without tuning, or take another", f"fuse_out_of_fold(runs, qrels, {name!r})"
        fix = Fix("Measure it by", Code(f"ir.fusion.{crossed}"), without_code=other) if name in TRAINED else other
        raise OptionError(f"{name!r} has no weights to choose{where}.", about="method", fix=fix)


def _choices(values: pl.DataFrame, *, cost: bool) -> pl.DataFrame:
    """The trial that is best on the queries outside of each fold; the first of those that are equally good."""
    sums = values.sort("query_id").group_by("fold", "trial").agg(sum=total(pl.col("value").sort()), n=pl.len())
    whole_sum, whole_n = pl.col("sum").sort().sum().over("trial"), pl.col("n").sum().over("trial")
    outside = sums.with_columns(
        chosen_on=(whole_sum - pl.col("sum")) / (whole_n - pl.col("n")), held_out=pl.col("sum") / pl.col("n")
    )
    # Means that differ by rounding alone are equal.
    best = outside.sort("fold", pl.col("chosen_on").round(12), "trial", descending=[False, not cost, False])
    first = best.group_by("fold", maintain_order=True).first()
    return first.select("fold", n_queries="n", trial="trial", chosen_on="chosen_on", held_out="held_out")


class _Tuning(NamedTuple):
    """What was tried, and what came of it."""

    trials: Sequence[Trial]
    of: Candidates
    how: How
    values: pl.DataFrame
    choices: pl.DataFrame

    def means(self) -> pl.DataFrame:
        """The mean of each trial over all queries, the best first."""
        means = self.values.sort("query_id").group_by("trial").agg(mean=average(pl.col("value")))
        cost = is_cost(self.how.measure.name)
        return means.sort(pl.col("mean").round(12), "trial", descending=[not cost, False])

    def per_query(self) -> pl.DataFrame:
        """The values of the systems that are compared."""
        name = self.how.measure.name
        rows = self.of.rows.select("run", "query_id", "doc_id", "score")
        singles = figures(rows, self.of, self.how.measure)
        means = singles.group_by("run").agg(mean=average(pl.col(name).cast(pl.Float64)))
        best = means.sort("mean", "run", descending=[not is_cost(name), False])["run"][0]
        tuned = self.values.join(self.choices.select("fold", "trial"), on=["fold", "trial"])
        systems = {TUNED: tuned.select("query_id", pl.col("value").alias(name))}
        systems[f"{SINGLE}: {best}"] = singles.filter(pl.col("run") == best).select("query_id", name)
        systems[EQUAL] = self.values.filter(trial=0).select("query_id", pl.col("value").alias(name))
        named = [frame.select(pl.lit(system).alias("run"), pl.all()) for system, frame in systems.items()]
        return pl.concat(named, how="vertical_relaxed").sort("run", "query_id")

    def described(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A table with the configuration of its trials."""
        columns = {f"weight_{system}": [t.weights[system] for t in self.trials] for system in self.of.systems}
        parameters = {"k": [t.k for t in self.trials], "norm": [t.norm_name for t in self.trials]}
        schema = {**dict.fromkeys(columns, pl.Float64), "k": pl.Float64, "norm": pl.String}
        configurations = pl.DataFrame({**columns, **parameters}, schema=schema).with_row_index("trial")
        configurations = configurations.with_columns(pl.col("trial").cast(frame.schema["trial"]))
        return frame.join(configurations, on="trial", how="left", maintain_order="left")

    def out_of_fold_run(self, depth: int | None, lower_is_better: LowerIsBetter) -> pl.DataFrame:
        """The fused run whose queries are each fused as was chosen without them."""
        of, how = self.of, self.how
        fold_of = self.values.select("query_id", "fold").unique()
        rows = ranked(of.table, lower_is_better=lower_is_better)
        rows = rows if depth is None else rows.filter(pl.col("rank") <= depth)
        parts = []
        for fold, number in self.choices.select("fold", "trial").iter_rows():
            trial = self.trials[number]
            fusion = fusion_of(how.method, trial.norm, how.dialect, trial.k)
            of_fold = rows.join(fold_of.filter(fold=fold).lazy(), on="query_id", how="semi")
            of_fold = termed(of_fold, fusion, trial.weights, of.systems, of.table, how.missing)
            parts.append(first(scored(of_fold, fusion.method, trial.weights, of.systems), how.top))
        fused = collected(pl.concat(parts), of.table.rows)
        return in_order(fused.lazy(), ["query_id"]).collect()

    def summary(self, per_query: pl.DataFrame) -> pl.DataFrame:
        """One row: what the choice seems to be worth, and what it is."""
        name = self.how.measure.name
        by_system = per_query.group_by("run").agg(mean=average(pl.col(name).cast(pl.Float64)))
        means = dict(by_system.iter_rows())
        single = next(system for system in means if system.startswith(SINGLE))
        in_sample = float(self.means()["mean"][0])
        often = self.choices["trial"].value_counts()["count"].max()
        shares = self.described(self.choices).select(pl.col(f"weight_{system}") for system in self.of.systems)
        shares = shares.select(pl.all() / pl.sum_horizontal(pl.all()))
        row = {
            "measure": name,
            "in_sample": in_sample,
            "out_of_fold": means[TUNED],
            "gap": in_sample - means[TUNED],
            "best_single": single.removeprefix(f"{SINGLE}: "),
            "best_single_mean": means[single],
            "equal_weights_mean": means[EQUAL],
            "agreement": int(str(often)) / self.choices.height,
            "spread": float(shares.select(pl.max_horizontal(pl.all().max() - pl.all().min())).item()),
        }
        return pl.DataFrame([row])


def _report(summary: Mapping[str, Any], comparison: pl.DataFrame) -> str:
    """The findings in words, the sober ones first."""
    of_tuned = comparison.filter(pl.col("baseline").is_not_null(), run=TUNED)
    against = {row["baseline"]: row for row in of_tuned.iter_rows(named=True)}
    single = next(row for baseline, row in against.items() if baseline.startswith(SINGLE))
    equal = next(row for row in comparison.iter_rows(named=True) if row["run"] == EQUAL)
    name, best = summary["measure"], summary["best_single"]
    tuned = (
        f"{name} of the tuned fusion: {summary['out_of_fold']:.4f} out of fold "
        f"({summary['in_sample']:.4f} in-sample, a gap of {summary['gap']:+.4f})."
    )
    alone = f"Best single run, {best}: {summary['best_single_mean']:.4f}. {_in_words('The tuned fusion', single, 's')}"
    weights = f"Equal weights: {summary['equal_weights_mean']:.4f}. {_in_words('Equal weights', equal, '')}"
    folds = (
        f"Folds: {summary['agreement']:.0%} made the most frequent choice; "
        f"a run's share of the weight differs by up to {summary['spread']:.2f} between them."
    )
    return f"{tuned}\n{alone}\n{weights}\n{folds}"


def _in_words(subject: str, row: Mapping[str, Any], s: str) -> str:
    """A difference from the best single run, with how sure it is."""
    if row["difference"] is None or row["p_corrected"] is None:
        return f"{subject} and it can not be compared: {row['note']}."
    verb = f"gain{s}" if row["difference"] > 0 else f"lose{s}"
    sure = "significant" if row["significant"] else "not significant"
    interval = "" if row["low"] is None else f", 95 % interval {row['low']:+.4f} to {row['high']:+.4f}"
    return f"{subject} {verb} {abs(row['difference']):.4f} against it ({sure}, p = {row['p_corrected']:.3f}{interval})."
