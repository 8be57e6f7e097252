"""`fuse_out_of_fold`: every judged query fused by a trained method that has not seen its judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polars_ir.frames.kinds import give_back
from polars_ir.frames.rules import guard
from polars_ir.frames.table import qrels_table, same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Fusion, fusion_of
from polars_ir.fusion.fuse import NOT_A_NUMBER, scored, termed
from polars_ir.fusion.inputs import check_collected, of_one, systems_of, table_of
from polars_ir.fusion.learned.train import trained
from polars_ir.fusion.methods import TRAINED, Method, score
from polars_ir.fusion.tuning.trials import folds_of
from polars_ir.language.options import check, count, one_of, or_none, public, whole
from polars_ir.runs.rankings import LowerIsBetter, collected, first, in_order, ranked


@public()
def fuse_out_of_fold(
    runs: Table[FrameT],
    qrels: Any,
    method: str = "probfuse",
    *,
    folds: int = 5,
    by: Any = None,
    seed: int = 0,
    norm: Any = None,
    segments: int | None = None,
    ends: Sequence[int] | None = None,
    window: int | None = None,
    rel: float = 1,
    depth: int | None = None,
    top: int | None = None,
    lower_is_better: LowerIsBetter = False,
) -> FrameT:
    """One run by a method trained out of fold: no query is fused by what its own judgments taught.

    The judged queries are parted into folds; those of a fold are fused by what `train` learns from the others, and
    queries without judgments by what it learns from all.

    Parameters
    ----------
    runs, norm, top
        As in `fuse`. A LazyFrame is collected.
    method
        `"posfuse"`, `"slidefuse"`, `"probfuse"`, `"segfuse"`, `"mapfuse"` or `"bayesfuse"`.
    folds, by, seed
        As in `tune_fusion`: how many folds, groups of queries that none may part, and what decides which is where.
    segments, ends, window, rel, depth, lower_is_better
        As in `train`.

    Returns
    -------
    The kind of the runs
        As `fuse` returns it.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> fused = ir.fusion.fuse_out_of_fold(pydocs.runs, pydocs.qrels, "slidefuse")
    >>> fused.ir.evaluate(pydocs.qrels, "nDCG@10").ir.mean()["nDCG@10"].round(3).item()
    0.303
    """
    check("method", method, one_of(*TRAINED))
    folds, seed = check("folds", folds, whole(2)), check("seed", seed, whole(0))
    top = check("top", top, or_none(count()))
    table = table_of(runs, Fusion(Method("train", score)), lower_is_better=lower_is_better)
    systems = systems_of(table)
    table, judgments = same_types(table, qrels_table(qrels))
    rows = collected(table.select("run", "query_id", "doc_id", "score"), table.rows)
    judged = judgments.select("query_id", "doc_id", "relevance").collect()
    # Unanswered queries teach nothing and are not fused.
    queries = judged.join(rows, on="query_id", how="semi").select("query_id").unique()
    fold_of = folds_of(queries, by, folds, seed)
    rows = rows.join(fold_of, on="query_id", how="left")
    learning = {"segments": segments, "ends": ends, "window": window}

    def of_each(some: pl.DataFrame) -> dict[str, pl.DataFrame]:
        return {system: some.filter(pl.col("run") == system).drop("run", "fold") for system in systems}

    check_collected(table, rows)
    table = replace(table, systems=systems)
    # A fold may have no query that two runs answer, so it is fused within the runs and not by itself.
    ranking = collected(ranked(table, lower_is_better=lower_is_better), table.rows)
    ranking = ranking if depth is None else ranking.filter(pl.col("rank") <= depth)
    ranking = ranking.join(fold_of, on="query_id", how="left")
    parts = []
    for fold in rows["fold"].unique().sort():
        inside = pl.col("fold").eq_missing(fold)
        outside = of_each(rows.filter(~inside & pl.col("fold").is_not_null()))
        taught = trained(method, outside, judged, learning, rel, depth, lower_is_better, partly=True)
        # A run without a judged query outside the fold contributes the default of unlearnt ranks.
        fusion = fusion_of(taught._replace(table=None), norm)
        of_fold = termed(ranking.lazy().filter(inside).drop("fold"), fusion, None, table)
        scores = guard(scored(of_fold, fusion, None, table), pl.col("score").is_nan(), NOT_A_NUMBER)
        parts.append(collected(scores if top is None else first(scores, top), table.rows))
    fused = in_order(pl.concat(parts).lazy(), ["query_id"]).rename({"query_id": table.names["query_id"]})
    return give_back(fused, of_one(runs))
