"""`complementarity`: the potential of fusing runs, before anyone tunes."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple

import polars as pl

from polars_ir.errors import InputTypeError
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import fusion_of
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.tuning.trials import Candidates, Experiment, candidates_of, figures, measured, trials_of
from polars_ir.language.columns import is_cost
from polars_ir.language.names import resolve_one
from polars_ir.language.options import any_number, check, public
from polars_ir.language.words import average, ratio, total
from polars_ir.runs.rankings import LowerIsBetter
from polars_ir.runs.similarity import similarity

PAIR = ["run", "other"]


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
    """The overlap of each pair of runs."""
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
    """The values of the best choices."""
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
