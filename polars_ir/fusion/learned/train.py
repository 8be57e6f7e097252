"""Methods of fusion that learn from judged queries what a place in a run's list is worth, and fusions out of fold.

Conventions
    * A document that nobody judged is not relevant.
    * The training queries are those that are judged and that some run answered. A run learns from those that it
      answered; its mean average precision is that of `evaluate`, in which the others count 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from polars_ir.engine.run_and_qrels import judged_once
from polars_ir.errors import InputTypeError, OptionError
from polars_ir.frames.kinds import give_back
from polars_ir.frames.rules import guard
from polars_ir.frames.table import same_types
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.fusion.dialects import Fusion, fusion_of
from polars_ir.fusion.fuse import NOT_A_NUMBER, scored, termed
from polars_ir.fusion.inputs import check_collected, of_one, systems_of, table_of
from polars_ir.fusion.learned.learners import LEARNERS, Lists
from polars_ir.fusion.methods import TRAINED, Method, score
from polars_ir.fusion.tuning.trials import folds_of
from polars_ir.language.measures.average_precision import average_precision
from polars_ir.language.options import check, count, not_negative, one_of, or_none, public, whole
from polars_ir.runs.evaluate import evaluate
from polars_ir.runs.judge import judge
from polars_ir.runs.rankings import LowerIsBetter, collected, first, in_order, ranked


@public()
def train(
    method: str,
    runs: Any,
    qrels: Any,
    *,
    segments: int | None = None,
    ends: Sequence[int] | None = None,
    window: int | None = None,
    rel: float = 1,
    depth: int | None = None,
    lower_is_better: LowerIsBetter = False,
) -> Method:
    """A method of fusion that has learnt from judged queries what each run's ranks are worth.

    A document's fused score is the sum, over the runs that have it at rank r of their n documents for the query, of

    - `"posfuse"`: P(r), the share of the training lists with a document at rank r whose document there is relevant;
    - `"slidefuse"`: the mean of P over the ranks from r - window to r + window that are in the list;
    - `"probfuse"`: P(k) / k for the k-th of a list's segments of ceil(n / segments) documents; P(k) is the mean, over
      the training queries, of the share of relevant documents in segment k, 0 for an empty one;
    - `"segfuse"`: P(k) (1 + s) with the score s by min-max, or by the norm of `fuse`; P(k) is the mean, over the
      training queries, of the relevant documents between two `ends` by the ranks between them;
    - `"mapfuse"`: MAP / r, with the run's mean average precision;
    - `"bayesfuse"`: ln(P(k) / (1 - P(k))) with P(k) as for SegFuse, 0.001 in place of a probability of 0 (also of not
      being relevant); ln(0.001 / 0.999) for each run that answered the query and lacks the document.

    P is 0 for ranks and segments beyond those learnt. Train on other queries than those fused, or on folds of them: a
    run fused in-sample knows their judgments, and measures too well.

    Parameters
    ----------
    method
        One of the names above.
    runs
        The training runs by the names that they will be fused by, as `fuse` takes them; a LazyFrame is collected.
    qrels
        The judgments. Queries without any or any answer are passed over; one that a run lacks counts 0 in its MAP.
    ends
        For SegFuse and BayesFuse: the last rank of each segment. None: for SegFuse 5, 20, 55, ..., of segments of
        10 2^(k - 1) - 5 ranks (ranx takes these sizes for ends), for BayesFuse 5, 10, 15, 20, 30, 100, 200, 500, 1000.
    segments, window
        Segments of a list for ProbFuse, None: 25; ranks averaged on either side for SlideFuse, None: 5.
    rel, depth
        The lowest relevant grade, and the number of first documents of each list to learn from, the same as in `fuse`.

    Returns
    -------
    Method
        For `ir.fuse(runs, method)` of the runs that it was trained for, without weights. Its `table` has `run`
        (String), `bucket` (Int64: the rank or the number of the segment, from 1; 1 for MAPFuse), `value` (Float64: the
        probability, BayesFuse's log odds, or MAP) and `n_queries` (UInt32, from how many lists it is estimated).

    References
    ----------
    Lillis et al. 2006, https://doi.org/10.1145/1148170.1148197 (ProbFuse); Lillis et al. 2008,
    https://doi.org/10.1007/978-3-540-78646-7_33 (SlideFuse); Lillis et al. 2010,
    https://doi.org/10.1145/1835449.1835508 (PosFuse, MAPFuse); Shokouhi 2007,
    https://doi.org/10.1007/978-3-540-71496-5_19 (SegFuse); Aslam & Montague 2001, https://doi.org/10.1145/383952.384007
    (BayesFuse)

    Examples
    --------
    >>> import polars_ir as ir
    >>> runs = {"bm25": {"q1": ["a", "b"], "q2": ["c", "d"]}, "dense": {"q1": ["b", "x"], "q2": ["d", "c"]}}
    >>> posfuse = ir.fusion.train("posfuse", runs, {"q1": ["b"], "q2": ["c"]})
    >>> ir.fuse({"bm25": {"q3": ["e", "f"]}, "dense": {"q3": ["f"]}}, posfuse).select("doc_id", "score").rows()
    [('f', 1.0), ('e', 0.5)]
    """
    options = {"segments": segments, "ends": ends, "window": window}
    return trained(method, runs, qrels, options, rel, depth, lower_is_better)


def trained(
    method: str,
    runs: Any,
    qrels: Any,
    options: Mapping[str, Any],
    rel: float,
    depth: int | None,
    lower_is_better: LowerIsBetter,
    *,
    partly: bool = False,
) -> Method:
    """As `train`; `partly` is for runs of which some may have no judged query, and then have learnt nothing."""
    check("method", method, one_of(*TRAINED))
    options = _of_method(method, options)
    check("rel", rel, not_negative())
    depth = check("depth", depth, or_none(count()))
    lists = _lists(runs, qrels, rel, depth, lower_is_better, partly=partly)
    learnt, as_method = LEARNERS[method](lists, **options)
    table = learnt.select("run", "bucket", "value", "n_queries").sort("run", "bucket")
    return as_method(table)._replace(name=method, table=table)


def _of_method(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    own = {"probfuse": "segments", "slidefuse": "window", "segfuse": "ends", "bayesfuse": "ends"}.get(method)
    options = {name: value for name, value in given.items() if value is not None}
    if other := next((name for name in options if name != own), None):
        takes = "takes none" if own is None else f"takes {own!r}"
        raise OptionError(f"is not for {method!r}, which {takes}.", about=other, fix="Leave it out")
    for name, least in (("segments", 1), ("window", 0)):
        if name in options:
            check(name, options[name], whole(least, 10**6))
    if "ends" in options:
        options["ends"] = _rising(options["ends"])
    return options


def _rising(ends: Any) -> tuple[int, ...]:
    are_ranks = isinstance(ends, Sequence) and not isinstance(ends, str)
    ranks = tuple(check("ends", end, count()) for end in ends) if are_ranks else ()
    if not ranks or list(ranks) != sorted(set(ranks)):
        raise OptionError(f"must be ranks that rise, such as [5, 10, 20]; got {ends!r:.80}.", about="ends")
    return ranks


def _lists(
    runs: Any, qrels: Any, rel: float, depth: int | None, lower_is_better: LowerIsBetter, *, partly: bool
) -> Lists:
    table = table_of(runs, Fusion(Method("train", score)), lower_is_better=lower_is_better, apart=True)
    systems = systems_of(table)
    table, judgments = same_types(table, judged_once(qrels))
    found = collected(ranked(table, lower_is_better=lower_is_better), table.rows)
    check_collected(table, found)
    found = found if depth is None else found.filter(pl.col("rank") <= depth)
    run = found.select(pl.col("run").cast(pl.String), "query_id", "doc_id", score=-pl.col("rank").cast(pl.Int64))
    judged = judgments.select("query_id", "doc_id", "relevance").collect()
    answered = run.join(judged, on="query_id", how="semi")
    learning = answered["run"].unique()
    if lacking := [system for system in systems if system not in learning and not partly]:
        queries = (run.filter(run=lacking[0])["query_id"], judged["query_id"])
        its, theirs = (", ".join(map(repr, ids.unique().sort().head(3))) for ids in queries)
        says = f"the run {lacking[0]!r} answers no judged query; its queries are {its}, those of the qrels {theirs}."
        raise InputTypeError(says, fix="Leave the run out, or judge its queries")
    run, judged = answered, judged.join(answered, on="query_id", how="semi")
    relation = judge(run, judged, unjudged=True).filter(pl.col("rank").is_not_null())
    relevant = (pl.col("relevance") >= rel).fill_null(False)
    rows = relation.select("run", "query_id", "rank", "n_retrieved", relevant=relevant)
    return Lists(rows, evaluate(run, judged, average_precision(rel=rel).alias("value")))


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
    table, judgments = same_types(table, judged_once(qrels))
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
    ranking = collected(ranked(table, lower_is_better=lower_is_better, depth=depth), table.rows)
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
