"""`fuse_out_of_fold`: every judged query fused by a trained method that has not seen its judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir.errors import explain_options
from polars_ir.frames.ids import same_types
from polars_ir.frames.kinds import SameKind, give_back
from polars_ir.frames.table import qrels_table
from polars_ir.fusion.dialects import Fusion
from polars_ir.fusion.folds import folds_of
from polars_ir.fusion.fusing import fuse
from polars_ir.fusion.inputs import of_one, systems_of, table_of
from polars_ir.fusion.methods import TRAINED, Method, score
from polars_ir.fusion.training import train
from polars_ir.runs.rankings import LowerIsBetter, collected, in_order
from polars_ir.values import check, one_of, whole


@explain_options
def fuse_out_of_fold(
    runs: Any,
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
) -> SameKind:
    """One run by a trained method that no judged query has taught about itself, so that it can be measured.

    The judged queries are parted into folds; those of a fold are fused by what `train` learns from the others, and
    queries without judgments by what it learns from all.

    Parameters
    ----------
    runs, norm, top
        As in `fuse`. A LazyFrame is collected.
    qrels
        The judgments.
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

    Raises
    ------
    IRError
        For more folds than groups of queries, and for what `train` or `fuse` does not take.

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
    table = table_of(runs, Fusion(Method("train", score), None), lower_is_better=lower_is_better)
    systems = systems_of(table)
    table, judgments = same_types(table, qrels_table(qrels))
    rows = collected(table.select("run", "query_id", "doc_id", "score"), table.rows)
    judged = judgments.select("query_id", "doc_id", "relevance").collect()
    systems = systems or sorted(rows["run"].unique().cast(pl.String))
    # Queries that are answered: the others teach nothing, and are not fused.
    queries = judged.join(rows, on="query_id", how="semi").select("query_id").unique()
    fold_of = folds_of(queries, by, folds, seed)
    rows = rows.join(fold_of, on="query_id", how="left")
    learning: dict[str, Any] = {"segments": segments, "ends": ends, "window": window, "rel": rel}
    shared: dict[str, Any] = {"depth": depth, "lower_is_better": lower_is_better}

    def of_each(some: pl.DataFrame) -> dict[str, pl.DataFrame]:
        return {system: some.filter(pl.col("run") == system).drop("run", "fold") for system in systems}

    parts = []
    for fold in rows["fold"].unique().sort():
        inside = pl.col("fold").eq_missing(fold)
        taught = train(
            method, of_each(rows.filter(~inside & pl.col("fold").is_not_null())), judged, **learning, **shared
        )
        parts.append(fuse(of_each(rows.filter(inside)), taught, norm=norm, top=top, **shared))
    fused = in_order(pl.concat(parts).lazy(), ["query_id"]).rename({"query_id": table.names["query_id"]})
    return give_back(fused, of_one(runs))
