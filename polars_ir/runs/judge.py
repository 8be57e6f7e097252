"""`judge`: the judged relation of a run, for aggregations of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.engine.in_memory import RANKING
from polars_ir.engine.needs import Needs
from polars_ir.engine.ranking import reordered
from polars_ir.engine.relation import given_back, relate
from polars_ir.engine.run_and_qrels import align, of_systems
from polars_ir.errors import ColumnError
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import keys_named, public
from polars_ir.runs.options import Judging
from polars_ir.runs.pooled import warn_of_pooled_rows
from polars_ir.runs.selection import selected


@public(Judging)
def judge(
    run: Table[FrameT],
    qrels: Any = None,
    *,
    judges: str | None = None,
    unjudged: bool = False,
    by: str | Sequence[str] | None = None,
    **options: Unpack[Judging],
) -> FrameT:
    """The judged relation: one row per judged document of every judged query, with its place in the run.

    Parameters
    ----------
    qrels
        The judgments, in the same kinds; None where the run has a relevance column of its own.
    judges
        The column of the qrels that distinguishes several judgments of one document: the column of judges, or
        `"subtopic"`.
    unjudged
        Add the retrieved documents without a judgment, with null `relevance`, and the run's other columns.

    Returns
    -------
    The kind of the run (a LazyFrame for a LazyFrame, pandas for pandas)
        The keys of `by`, the column of systems (if the run has several), `query_id`, `doc_id` (if the run has one), the
        column of `judges`; `relevance`, the grade; `rank`, 1-based place in the run, null when not retrieved;
        `ideal_rank`, the place in the ideal ranking; `n_retrieved`, the number of documents that the run returned for
        the query; `n_higher`, the number of them with a higher score than the document; `n_tied`, the number with its
        score. Ranks and counts are UInt32. The rows are unordered.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.judge({"q": ["d1", "d2", "d3"]}, {"q": {"d3": 1, "d9": 2}}).sort("ideal_rank").select(
    ...     "doc_id", "relevance", "rank", "ideal_rank", "n_retrieved"
    ... ).rows()
    [('d9', 2, None, 1, 3), ('d3', 1, 3, 2, 3)]
    """
    ties, judged_only = options["ties"], options["judged_only"]
    keys = tuple(keys_named(by))
    pair = align(*selected(run, qrels, options, keys), per=judges, by=keys)
    warn_of_pooled_rows(pair.run)
    needs = Needs(per=judges, ties=ties, unjudged=unjudged, judged_only=judged_only, by=keys)
    relation = of_systems(reordered(relate(pair, needs), pair.keys, ties), pair).drop(RANKING, strict=False)
    if keys:
        relation = relation.select(*keys, pl.exclude(*keys))
    own = pair.run.source_names
    if judges in own.values():
        raise ColumnError.not_per(judges, (*own.values(), "doc_id", "relevance"))
    # A column `run` of the judgments is left out.
    relation = relation.drop(set(own.values()).difference(own), strict=False).rename(own)
    if pair.run.numbered:
        relation = relation.drop("doc_id")
    return given_back(pair, relation, run)
