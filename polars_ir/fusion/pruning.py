"""Documents that can not be among the first of a fused list, left out before their terms are added up.

Conventions: exact, not a heuristic. Let a method's terms be w f(r) for the rank r in a run of weight w, f falling and
not negative, and the score their sum. If `top` documents have a score of `floor` or more, what has less is not among
the first; and a document whose best rank is r has at most W f(r), W being the sum of the weights. For a plan `floor` is
the highest term that any run has at rank `top`, since its documents above have at least as much: for RRF
W / (k + r) >= w / (k + top) is r <= (W / w)(k + top) - k. In memory it is the score at place `top` among the documents
that some run has so high, which is no less. A query without so many documents keeps all.
"""

from __future__ import annotations

import polars as pl

from polars_ir.engine.prefilter import among
from polars_ir.engine.ranking import DOCUMENT
from polars_ir.fusion.methods import Method

#: Rounding must not leave out what is tied with the last: far more than it can be, far less than a rank is worth.
ROUNDED = 1 - 1e-9

#: A column with the hash of a row's document.
HASH = "polars_ir: hash"


def pruned(rows: pl.LazyFrame, method: Method, top: int) -> pl.LazyFrame:
    """The rows of the documents that can be among the first `top` of their query."""
    first, last = pl.col("rank") == 1, pl.col("rank") == top
    ends = rows.filter(first | last).group_by("query_id")
    bounds = ends.agg(weight=pl.col("weight").filter(first).sum(), floor=pl.col("term").filter(last).max() * ROUNDED)
    return rows.join(_reaching(rows, bounds, method).select(DOCUMENT), on=DOCUMENT, how="semi")


def pruned_in_memory(rows: pl.DataFrame, method: Method, top: int) -> pl.DataFrame:
    """As `pruned`, without a join of all rows: of other documents only those stay that share a slot with one."""
    # What is asked twice of each row is hashed once.
    rows = rows.with_columns((pl.col("query_id").hash(0) ^ pl.col("doc_id").hash(1)).alias(HASH))
    leading = rows.filter(pl.col("rank") <= top).select(HASH)
    scores = rows.lazy().filter(among([HASH], leading)).group_by(DOCUMENT).agg(pl.col("term").sum())
    floor = pl.col("term").top_k(top).min() * ROUNDED
    weights = rows.lazy().filter(pl.col("rank") == 1).group_by("query_id").agg(pl.col("weight").sum())
    floors = scores.group_by("query_id").agg(floor=pl.when(pl.len() >= top).then(floor))
    bounds = weights.join(floors, on="query_id").collect()
    deepest = _deepest(rows, bounds, method)
    high = rows.lazy() if deepest is None else rows.lazy().filter(pl.col("rank") <= deepest)
    return rows.filter(among([HASH], _reaching(high, bounds.lazy(), method).select(HASH).collect())).drop(HASH)


def _reaching(rows: pl.LazyFrame, bounds: pl.LazyFrame, method: Method) -> pl.LazyFrame:
    """The rows whose document has the floor of its query, were it in all runs where it is in this one."""
    most = rows.drop("weight").join(bounds, on="query_id").with_columns(term=method.term)
    return most.filter(pl.col("floor").is_null() | (pl.col("term") >= pl.col("floor")))


def _deepest(rows: pl.DataFrame, bounds: pl.DataFrame, method: Method) -> int | None:
    """The last rank that reaches any query's floor, the terms falling with it; None where a query has none."""
    if bounds["floor"].null_count():
        return None
    deepest: int = rows.select(pl.col("rank").max()).item()
    ranks = pl.select(rank=pl.int_range(1, deepest + 1, dtype=pl.UInt32)).with_columns(weight=1.0)
    least = bounds.select((pl.col("floor") / pl.col("weight")).min() * ROUNDED).item()
    return ranks.filter(method.term >= least).height
