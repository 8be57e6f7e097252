"""Documents that can not be among the first of a fused list, left out before their terms are added up.

Conventions: exact, not a heuristic. Let a method's terms be w f(r) for the rank r in a run of weight w, f falling and
not negative, and the score their sum. The first `top` documents of any one run have at least its term at rank `top`
each; let `floor` be the largest of these among the runs that have so many documents. A document whose best rank is r
has at most W f(r), W being the sum of the weights. If that is below `floor`, then `top` documents have more. For
RRF W / (k + r) >= w / (k + top) is r <= (W / w)(k + top) - k. A query none of whose runs has `top` documents keeps all.
"""

from __future__ import annotations

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.fusion.methods import Method

#: Rounding must not leave out what is tied with the last: far more than it can be, far less than a rank is worth.
ROUNDED = 1 - 1e-9


def pruned(rows: pl.LazyFrame, method: Method, top: int) -> pl.LazyFrame:
    """The rows of the documents that can be among the first `top` of their query."""
    first, last = pl.col("rank") == 1, pl.col("rank") == top
    ends = rows.filter(first | last).group_by("query_id")
    bounds = ends.agg(weight=pl.col("weight").filter(first).sum(), floor=pl.col("term").filter(last).max() * ROUNDED)
    # The most that a document can have whose best rank this is: the term of one run with the weights of all.
    most = rows.select(*DOCUMENT, "rank").join(bounds, on="query_id").with_columns(term=method.term)
    reaching = most.filter(pl.col("floor").is_null() | (pl.col("term") >= pl.col("floor")))
    return rows.join(reaching.select(DOCUMENT), on=DOCUMENT, how="semi")
