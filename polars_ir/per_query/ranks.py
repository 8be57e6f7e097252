"""Ranks of the systems by the mean, with ranges that hold for all of them together.

Conventions: rank 1 is the best, also of a measure whose lowest value is the best; equal means share the better rank.
Only queries for which all systems have a value count.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import EagerFrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import RankingBySlice
from polars_ir.per_query.shared.paired import Scores, scores_of
from polars_ir.per_query.shared.queries import schema_of
from polars_ir.per_query.shared.verdicts import FEW, OF_FEW

#: Columns of the result, the deciding ones first: a terminal shows the first four and the last four.
SCHEMA = {
    "run": pl.String,
    **dict.fromkeys(["rank", "best_rank", "worst_rank"], pl.UInt32),
    "tied_with_first": pl.Boolean,
    "measure": pl.String,
    "mean": pl.Float64,
    "n_queries": pl.UInt32,
    "note": pl.String,
}


@public(RankingBySlice)
def ranks(per_query: Table[EagerFrameT], measures: Measures = None, **options: Unpack[RankingBySlice]) -> EagerFrameT:
    """Rank of each system by its mean, with its possible ranks: a row per system and measure, the best first.

    One of two systems is better beyond chance if the paired t-test says so, with p corrected by Holm for all pairs, as
    by `compare`. A system's ranks then go from 1 + the number of systems better than it to the number of all systems
    less those that it is better than. The ranges of all systems of a measure hold together with a confidence of 1 -
    alpha, and need no correction for the number of systems.

    Queries are treated as a sample of a population. They may also be the tasks of a benchmark (MTEB's): `rename` the
    columns of model and task to `run` and `query_id`, and take `missing="skip"` where models lack tasks.

    How often they hold, by simulation, is in notebooks/evidence.md. Where systems differ in rare queries only and the
    sample has few of these, t cannot know it. A difference that is the same in all queries has no spread, and
    distinguishes no systems.

    Parameters
    ----------
    per_query
        The result of `evaluate` for two systems or more, or a dict of such frames by system. A LazyFrame is refused.
    measures
        Names of the measures, in any spelling; all by default. Means are arithmetic.

    Returns
    -------
    The kind of per_query
        The column of systems (String); `rank`, `best_rank` and `worst_rank` (UInt32, from 1 to the number of systems;
        equal means share the lower number); `tied_with_first` (Boolean, best_rank is 1): the true best system is among
        these with a confidence of 1 - alpha; `measure` (String); `mean` (Float64); `n_queries` (UInt32), for which all
        systems have a value; `note` (String): how many were left out, that 10 queries or fewer which distinguish
        systems do so too often where differences are skewed, or why there are no ranks, which are null then; else null.
        Rows are in the order of measures and ranks.

    References
    ----------
    Mogstad, Romano, Shaikh & Wilhelm 2024, https://doi.org/10.1093/restud/rdad006 (ranges of ranks from differences of
    pairs); Holm 1979, https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> ranking = ir.ranks(ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10"))
    >>> ranking.select("run", pl.col("mean").round(3), "rank", "best_rank", "worst_rank", "tied_with_first").rows()
    [('bm25', 0.323, 1, 1, 1, True), ('chargrams', 0.279, 2, 2, 3, False), ('tfidf', 0.264, 3, 2, 3, False)]
    >>> mteb = {"model": ["a", "b"] * 3, "task": ["t1", "t1", "t2", "t2", "t3", "t3"], "score": [7, 5, 8, 5, 6, 5]}
    >>> tasks = pl.DataFrame(mteb).rename({"model": "run", "task": "query_id"})
    >>> ir.ranks(tasks, "score").select("run", "rank", "worst_rank").rows()  # three tasks prove nothing
    [('a', 1, 2), ('b', 2, 2)]
    """
    by, cluster = options["by"], options["cluster"]
    scores = scores_of(per_query, measures, options, by=by, cluster=cluster, what="ir.ranks")
    schema = schema_of(scores.slices, scores.queries, SCHEMA)
    scores.pairs(None, "ir.ranks")
    rows = [
        {**names, **row}
        for names, part in scores.each_slice()
        for measure in scores.values
        for row in _ranked(part, measure, options["alpha"])
    ]
    return give_back(pl.DataFrame(rows, schema=schema).rename({"run": scores.system}), per_query)


def _ranked(scores: Scores, measure: str, alpha: float) -> Iterator[dict[str, Any]]:
    values, notes = scores.of_all(measure)
    if len(values) < 2:
        notes.insert(0, "fewer than two queries with a value of all systems")
    same: dict[str, Any] = {"measure": measure, "n_queries": len(values), "note": "; ".join(notes) or None}
    if len(values) < 2:
        yield from ({**same, "run": system} for system in scores.systems)
        return
    places = _places(-values if is_cost(measure) else values, alpha)
    if len(values) <= FEW and not places["tied_with_first"].all():
        same["note"] = "; ".join([*notes, OF_FEW])
    order = np.argsort(places["rank"], kind="stable")
    for system in order.tolist():
        figures = {name: column[system].item() for name, column in places.items()}
        yield {**same, "run": scores.systems[system], "mean": float(values[:, system].mean()), **figures}


def _places(values: stats.Floats, alpha: float) -> dict[str, Any]:
    """Columns of ranks; higher is better, beyond chance by Holm's correction of t."""
    pairs = list(combinations(range(values.shape[1]), 2))
    samples = stats.samples_of(stats.differences([values], pairs))
    p = stats.corrected([outcome.p for outcome in stats.t_test(samples)], "holm", alpha=alpha)
    # True where the system of a row is better than that of a column.
    better = np.zeros((values.shape[1],) * 2, bool)
    for (first, second), d, p_of_pair in zip(pairs, samples, p, strict=True):
        if p_of_pair is not None and p_of_pair <= alpha:
            better[(first, second) if d.mean() > 0 else (second, first)] = True
    means = stats.rounded(values.mean(axis=0))
    best = better.sum(axis=0) + 1
    return {
        "rank": (means[:, None] > means).sum(axis=0) + 1,
        "best_rank": best,
        "worst_rank": len(means) - better.sum(axis=1),
        "tied_with_first": best == 1,
    }
