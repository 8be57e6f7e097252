"""Pruning: documents that cannot reach the top of a fused list are dropped before terms are added.

Conventions: exact, not a heuristic. Let a method's terms be w f(r) for the rank r in a run of weight w, f falling and
not negative, and the score their sum. If `top` documents have a score of `floor` or more, what has less is not among
the first; and a document whose best rank is r has at most W f(r), W being the sum of the weights. The score at place
`top` that counts only some of the terms, those of the first `HEAD * top` ranks, is a floor, since the others add to it.
Even one run's term at rank `top` would be one: for RRF W / (k + r) >= w / (k + top) is r <= (W / w)(k + top) - k. A
query without so many documents keeps all, and one in which a run repeats a document: its terms are more than a document
can have.

Each list is ranked once, as a list of ids in a row for each run and query, so that heads are cut off, and weights and
bounds joined, by list and not by row; and only the rows of documents that are left are grouped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.fusion.inputs import LIST, repeated
from polars_ir.fusion.methods import Method
from polars_ir.language.words import text
from polars_ir.runs.rankings import LowerIsBetter, oriented

#: Slack for ties with the last document: far above rounding, far below the value of a rank.
ROUNDED = 1 - 1e-9

#: A column with the hash of a row's document.
HASH = "polars_ir: hash"

#: The ranks of each list that are read for the floor, in units of `top`: more raise it, and take longer.
HEAD = 4

#: Ranks with known terms; a query whose floor lies below the last of them keeps all documents.
LADDER = 4096


def ranked_lists(table: CanonicalFrame, lower_is_better: LowerIsBetter, depth: int | None) -> pl.LazyFrame:
    """A row per run and query: document ids in rank order, and their count in `rank`.

    Each source is grouped apart, since a run of its own needs no grouping by its name, which takes as long again.
    """
    lists = []
    for frame, make in table.sources:
        named = make["run"].meta.is_literal(allow_aliasing=True)
        rows = oriented(replace(table, sources=((frame, make),)).guarded(), lower_is_better=lower_is_better)
        # Two conditions in place of a struct of both ids, which takes twice the time.
        order = pl.col("doc_id").sort_by("score", text("doc_id"), descending=[True, True])
        keys = ["query_id"] if named else LIST
        found = rows.group_by(keys).agg(order, rank=pl.len())
        lists.append(found.select(make["run"].alias("run") if named else "run", "query_id", "doc_id", "rank"))
    whole = pl.concat(lists)
    return whole if depth is None else whole.with_columns(pl.col("doc_id").list.head(depth))


def pruned(lists: pl.LazyFrame, method: Method, top: int, systems: Sequence[str] | None) -> pl.LazyFrame:
    """The rows of the documents that can be among the first `top` of their query, from weighted lists of ids."""
    lists = lists.cache()
    heads = _rows(lists, pl.lit(HEAD * top)).with_columns(term=method.term)
    floors = _floors(heads, top, systems)
    bounds = lists.group_by("query_id").agg(pl.col("weight").sum()).join(floors, on="query_id")
    bounds = bounds.select("query_id", reach=_reach(method))
    reaching = _rows(lists.join(bounds, on="query_id"), pl.col("reach")).select(_hash())
    # A hash is looked up in a fraction of the time of two ids; on a collision both documents stay.
    rows = _rows(lists).with_columns(_hash())
    return rows.join(reaching, on=HASH, how="semi").drop(HASH).with_columns(term=method.term)


def _floors(rows: pl.LazyFrame, top: int, systems: Sequence[str] | None) -> pl.LazyFrame:
    """The score at rank `top` per query by the known terms; null where they do not bound it."""
    sums = rows.group_by(DOCUMENT).agg(pl.col("term").sum(), repeated=repeated(systems))
    # A query with a document twice in a run has no floor: it keeps all rows, and the sum of terms finds the duplicate.
    known = (pl.len() >= top) & ~pl.col("repeated").any()
    return sums.group_by("query_id").agg(floor=pl.when(known).then(pl.col("term").top_k(top).min() * ROUNDED))


def _hash() -> pl.Expr:
    return (pl.col("query_id").hash(0) ^ pl.col("doc_id").hash(1)).alias(HASH)


def _rows(lists: pl.LazyFrame, depth: pl.Expr | None = None) -> pl.LazyFrame:
    lists = lists if depth is None else lists.with_columns(pl.col("doc_id").list.head(depth))
    lists = lists.with_columns(rank=pl.int_ranges(1, pl.col("doc_id").list.len() + 1, dtype=pl.UInt32))
    return lists.explode("doc_id", "rank")


def _reach(method: Method) -> pl.Expr:
    """The last rank r with W f(r) >= floor among the known terms; unbounded if beyond them."""
    ranks = pl.select(rank=pl.int_range(LADDER, 0, -1, dtype=pl.UInt32)).with_columns(weight=1.0)
    terms = ranks.select(method.term.cast(pl.Float64)).to_series()
    # A floor of 0 / 0, of runs whose weight is 0 alone, is reached by all, as is one that is not known.
    least = (pl.col("floor") / pl.col("weight") * ROUNDED).fill_nan(0.0).fill_null(0.0)
    lower = pl.lit(terms).search_sorted(least, side="left")
    return pl.when(lower > 0).then(LADDER - lower.cast(pl.Int64)).otherwise(2**32)
