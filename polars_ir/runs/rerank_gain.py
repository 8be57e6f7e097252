"""`rerank_gain`: the gain of a second stage, by depth, and by the share of reranked queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple

import polars as pl

from polars_ir.engine.needs import check_of_documents
from polars_ir.engine.run_and_qrels import judged_once
from polars_ir.errors import OptionError, with_names
from polars_ir.frames.judgments import check_whole
from polars_ir.frames.kinds import give_back
from polars_ir.frames.rules import checked, infinite_score
from polars_ir.frames.table import same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.names import resolve_one
from polars_ir.language.options import check, count, public
from polars_ir.language.words import ROUNDED_TO, average, place, ratio
from polars_ir.runs.evaluate import evaluate
from polars_ir.runs.rankings import checked_run, collected, ranked
from polars_ir.runs.verbs import rerank

#: Depths of the curve below the last.
DEPTHS = (5, 10, 20, 30, 50, 100, 200, 500, 1000)

#: Shares of reranked queries, in per cent.
SHARES = range(0, 101, 10)


class RerankGain(NamedTuple, Generic[FrameT]):
    """The result of `rerank_gain`, in frames of the run's kind.

    - `summary`: one row: `measure`, `before`, `after`, `ceiling` (the candidates in the order of their grades),
      `realised` ((after - before) / (ceiling - before)), `helped`, `hurt`, `unchanged` (queries), `new_in_top` (the
      mean share of the first k documents that were not among them before) and `deepest` (the mean over queries of the
      lowest first rank among the first k).
    - `curve`: the same per `depth`: `after`, `ceiling`, `realised`, `helped`, `hurt`.
    - `gating`: if only the share `reranked` of the queries with the smallest margin is reranked: `margin` (the largest
      of theirs), the mean of the measure (`value`) and the share of the gain it keeps (`kept`).
    - `per_query`: `before`, `after`, `ceiling`, `difference` and `margin` of each query.
    """

    summary: FrameT
    curve: FrameT
    gating: FrameT
    per_query: FrameT


@public()
def rerank_gain(
    run: Table[FrameT], reranked: Any, qrels: Any, measure: Any = "nDCG@10", *, depth: int = 100, k: int = 10
) -> RerankGain[FrameT]:
    """Gain of reranking over the first order, beside that of the best order of the same candidates.

    The margin of a query, which can gate reranking without judgments, is (s_1 - s_2) / (s_1 - s_n) of the first stage's
    scores at ranks 1, 2 and n, the last candidate's: small where the first stage is unsure.

    Parameters
    ----------
    run
        The first stage: a run of one system, in any form that `evaluate` takes. A LazyFrame is collected.
    reranked
        The scores of the second stage, as a run; documents without one keep their order after the others.
    depth
        The number of candidates to rerank.
    k
        The depth at which changes are counted.

    Returns
    -------
    RerankGain
        `summary`, `curve`, `gating` and `per_query`.

    Raises
    ------
    IRError
        For runs of several systems, for infinite scores, which have no margin, and for what `rerank` or
        `evaluate` does not take.

    References
    ----------
    Nogueira & Cho 2019, https://arxiv.org/abs/1901.04085 (reranking candidates)

    Examples
    --------
    >>> import polars_ir as ir
    >>> first, second = {"q": ["a", "b", "c"]}, {"q": {"a": 0.1, "b": 0.9, "c": 0.5}}
    >>> gain = ir.rerank_gain(first, second, {"q": {"c": 1}}, "RR")
    >>> gain.summary.select("before", "after", "ceiling", "helped").rows()
    [(0.3333333333333333, 0.5, 1.0, 1)]
    """
    depth, k = check("depth", depth, count()), check("k", k, count())
    measured_by = resolve_one(measure, "rerank_gain")
    check_of_documents(measured_by, "rerank_gain", qrels)
    check_whole(qrels, measured_by.expression.meta.root_names())
    table, judgments = same_types(checked_run(run), judged_once(qrels))
    if "run" in table.dtypes:
        raise OptionError(f"must be of one system; it has a column {table.names['run']!r}.", about="run")
    with with_names(qrels="reranked"):
        # Ids of two types are an error of these tables, not of an evaluation below.
        same_types(table, checked_run(reranked, run="reranked"))
    candidates = collected(ranked(table), table.rows)
    finite = infinite_score(table.names["score"])
    checked(candidates, finite, about="run", keys=["query_id", "doc_id"], names=table.names)
    judged = judgments.select("query_id", "doc_id", "relevance").collect()
    ideal = candidates.join(judged, on=["query_id", "doc_id"], how="left")
    ideal = ideal.select("query_id", "doc_id", score=pl.col("relevance").cast(pl.Float64).fill_null(0.0))
    plain = candidates.drop("rank")

    def values(reordered: pl.DataFrame, name: str) -> pl.DataFrame:
        evaluated: pl.DataFrame = evaluate(reordered, judged, measured_by.expression)
        return evaluated.select("query_id", pl.col(measured_by.name).cast(pl.Float64).alias(name))

    depths = [*(of_curve for of_curve in DEPTHS if of_curve < depth), depth]
    before = values(plain, "before")
    curve = [
        before.join(values(rerank(plain, reranked, depth=d), "after"), on="query_id")
        .join(values(rerank(plain, ideal, depth=d), "ceiling"), on="query_id")
        .with_columns(depth=pl.lit(d, pl.Int64))
        for d in depths
    ]
    better = -1 if is_cost(measured_by.name) else 1
    per_query = curve[-1].drop("depth").with_columns(difference=pl.col("after") - pl.col("before"))
    per_query = per_query.join(_margins(candidates, depth), on="query_id", how="left").sort("query_id")
    moved = _moved(rerank(plain, reranked, depth=depth), k)
    aggregations = _aggregations(better)
    summary = per_query.select(
        pl.lit(measured_by.name).alias("measure"), before=average(pl.col("before")), **aggregations
    )
    curves = pl.concat(curve).sort("depth", "query_id").group_by("depth", maintain_order=True).agg(**aggregations)
    frames = (
        summary.with_columns(moved.select(pl.all()).get_columns()),
        curves.drop("unchanged"),
        _gating(per_query),
        per_query.rename({"query_id": table.names["query_id"]}),
    )
    return RerankGain(*(give_back(frame.lazy(), run) for frame in frames))


def _aggregations(better: int) -> dict[str, pl.Expr]:
    """Means over the queries, and the numbers of better and worse ones."""
    before, after, ceiling = (average(pl.col(name)) for name in ("before", "after", "ceiling"))
    difference = better * (pl.col("after") - pl.col("before"))
    return {
        "after": after,
        "ceiling": ceiling,
        "realised": ratio(better * (after - before), better * (ceiling - before)),
        "helped": (difference > 0).sum(),
        "hurt": (difference < 0).sum(),
        "unchanged": (difference == 0).sum(),
    }


def _margins(candidates: pl.DataFrame, depth: int) -> pl.DataFrame:
    """Lead of the first document; 1 where it is alone, 0 where all scores are equal."""
    score, rank = pl.col("score"), pl.col("rank")
    ahead = score.filter(rank == 1).first() - score.filter(rank == 2).first()
    spread = score.max() - score.min()
    margin = pl.when(pl.len() == 1).then(1.0).when(spread > 0).then(ahead / spread).otherwise(0.0)
    return candidates.filter(rank <= depth).group_by("query_id").agg(margin=margin)


def _moved(reordered: pl.DataFrame, k: int) -> pl.DataFrame:
    """Share of new documents among the first k, and the lowest first rank among them."""
    first = reordered.filter(place("score").over("query_id") <= k).sort("query_id", "first_rank")
    by_query = first.group_by("query_id", maintain_order=True).agg(
        new=(pl.col("first_rank") > k).sum() / pl.len(), deepest=pl.col("first_rank").max().cast(pl.Float64)
    )
    return by_query.select(new_in_top=average(pl.col("new")), deepest=average(pl.col("deepest")))


def _gating(per_query: pl.DataFrame) -> pl.DataFrame:
    """Share of the gain that is kept if only the queries with the smallest margins are reranked."""
    # A query without candidates has nothing to rerank.
    ordered = per_query.sort(pl.col("margin").fill_null(2.0), "query_id")
    n = ordered.height
    counts: Sequence[int] = [round(n * share / 100) for share in SHARES]
    gains = pl.concat([pl.Series([0.0]), ordered["difference"].cum_sum()])
    margins = pl.concat([pl.Series([None], dtype=pl.Float64), ordered["margin"].cum_max()])
    # Gains and losses that cancel each other leave the rounding of their sum.
    is_gain = abs(gains[-1]) > ROUNDED_TO * ordered.select(pl.col("difference").abs().sum()).item()
    before = float(per_query.select(average(pl.col("before"))).item()) if n else 0.0
    rows = {
        "reranked": [count / n if n else 0.0 for count in counts],
        "margin": [margins[count] for count in counts],
        "value": [before + gains[count] / max(n, 1) for count in counts],
        "kept": [gains[count] / gains[-1] if is_gain else None for count in counts],
    }
    return pl.DataFrame(rows, schema=dict.fromkeys(rows, pl.Float64))
