"""The learners of the trained methods of fusion: tables made of judged lists, and the terms that look them up.

Conventions: what is learnt is a table of a run and a bucket of ranks to a value. Buckets are numbered from 1; a rank or
a segment that no training list had has the value of one without a relevant document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import polars as pl

from polars_ir.errors import OptionError, nearest, quoted
from polars_ir.frames.rules import guard
from polars_ir.fusion.methods import Method, score
from polars_ir.language.words import average, total
from polars_ir.runs.norms import min_max

rank, n_retrieved = pl.col("rank").cast(pl.Int64), pl.col("n_retrieved").cast(pl.Int64)

#: The ends of SegFuse's segments, whose sizes are 10 2^(k - 1) - 5.
SEGFUSE_ENDS = (5, 20, 55, 130, 285, 600, 1235, 2510, 5065, 10180)

#: The ends of BayesFuse's segments.
BAYESFUSE_ENDS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

#: The probability of BayesFuse in place of 0, and for a document that a run lacks.
LEAST = 0.001

#: A window's sum is a difference of sums, whose rounding must not part what is tied.
DECIMALS = 12

#: Exceeds any rank, so that run number and bucket combine into one key.
STRIDE = 2**40


class Lists(NamedTuple):
    """The judged lists (`run`, `query_id`, `rank`, `n_retrieved`, `relevant`) and the average precision of each."""

    rows: pl.DataFrame
    average_precision: pl.DataFrame

    def n_queries(self) -> pl.DataFrame:
        """Training queries per run."""
        return self.rows.group_by("run").agg(n_queries=pl.col("query_id").n_unique())


def _value(table: pl.DataFrame, bucket: pl.Expr, default: float) -> pl.Expr:
    """A table's value by run and bucket: the default for other buckets, null where the run lacks the document."""
    runs = table["run"].unique().sort()
    numbers = dict(zip(runs, range(len(runs)), strict=True))
    number = pl.col("run").cast(pl.String).replace_strict(numbers, return_dtype=pl.Int64, default=None)
    keys = table.select(pl.col("run").replace_strict(numbers, return_dtype=pl.Int64) * STRIDE + pl.col("bucket"))
    found = (number * STRIDE + bucket).replace_strict(
        keys.to_series(), table["value"], return_dtype=pl.Float64, default=default
    )
    return pl.when(pl.col("rank").is_not_null()).then(found)


#: The result of a learner: its table, and the function that makes a method of a table.
Learnt = tuple[pl.DataFrame, Callable[[pl.DataFrame], Method]]


def _posfuse(lists: Lists) -> Learnt:
    return _by_rank(lists), lambda table: Method("posfuse", _value(table, rank, 0.0))


def _slidefuse(lists: Lists, window: int = 5) -> Learnt:
    above, below = pl.max_horizontal(rank - window, 1), pl.min_horizontal(rank + window, n_retrieved)

    def as_method(table: pl.DataFrame) -> Method:
        sums = table.with_columns(value=pl.col("value").cum_sum().over("run", order_by="bucket"))
        # Beyond the learnt ranks the sum stays the same.
        longest = table.group_by("run").agg(value=pl.col("bucket").max().cast(pl.Float64), bucket=1)
        last = _value(longest, pl.lit(1), 0.0).cast(pl.Int64)
        upper, lower = (_value(sums, pl.min_horizontal(to, last), 0.0) for to in (below, above - 1))
        return Method("slidefuse", (upper - lower).round(DECIMALS) / (below - above + 1))

    return _by_rank(lists), as_method


def _by_rank(lists: Lists) -> pl.DataFrame:
    """The share of relevant documents at each rank, among lists that reach it."""
    return lists.rows.group_by("run", bucket=rank).agg(value=pl.col("relevant").mean(), n_queries=pl.len())


def _probfuse(lists: Lists, segments: int = 25) -> Learnt:
    size = (n_retrieved + (segments - 1)) // segments
    bucket = (rank - 1) // size + 1
    shares = lists.rows.group_by("run", "query_id", bucket=bucket).agg(share=pl.col("relevant").mean())
    sums = shares.group_by("run", "bucket").agg(sum=total(pl.col("share").sort())).join(lists.n_queries(), on="run")
    learnt = sums.with_columns(value=pl.col("sum") / pl.col("n_queries"))
    return learnt, lambda table: Method("probfuse", _value(table, bucket, 0.0) / bucket)


def _segfuse(lists: Lists, ends: Sequence[int] = SEGFUSE_ENDS) -> Learnt:
    term, segment = 1 + score, _segment(ends)
    return _by_segment(lists, ends), lambda table: Method("segfuse", _value(table, segment, 0.0) * term, norm=min_max())


def _bayesfuse(lists: Lists, ends: Sequence[int] = BAYESFUSE_ENDS) -> Learnt:
    value = pl.col("value")
    relevant = pl.when(value == 0).then(LEAST).otherwise(value)
    other = pl.when(value == 1).then(LEAST).otherwise(1 - relevant)
    learnt = _by_segment(lists, ends).with_columns(value=(relevant / other).log())
    least = math.log(LEAST / (1 - LEAST))
    return learnt, lambda table: Method("bayesfuse", _value(table, _segment(ends), least), absent=pl.lit(least))


def _segment(ends: Sequence[int]) -> pl.Expr:
    """The segment of a rank, from 1; beyond the last segment one more."""
    return pl.sum_horizontal(1, *((rank > end).cast(pl.Int64) for end in ends))


def _by_segment(lists: Lists, ends: Sequence[int]) -> pl.DataFrame:
    """Relevant documents between two ends by rank and query; shorter lists have none there."""
    sizes = [end - start for start, end in pairwise((0, *ends))]
    segments = pl.DataFrame({"bucket": range(1, len(ends) + 1), "size": sizes}, schema_overrides={"bucket": pl.Int64})
    hits = lists.rows.group_by("run", bucket=_segment(ends)).agg(hits=pl.col("relevant").sum())
    found = hits.join(segments, on="bucket").join(lists.n_queries(), on="run")
    return found.with_columns(value=pl.col("hits") / (pl.col("size") * pl.col("n_queries")))


def _mapfuse(lists: Lists) -> Learnt:
    means = lists.average_precision.sort("run", "query_id").group_by("run", maintain_order=True)
    learnt = means.agg(bucket=pl.lit(1, pl.Int64), value=average(pl.col("value")), n_queries=pl.len())
    return learnt, lambda table: Method("mapfuse", _value(table, pl.lit(1), 0.0) / rank)


LEARNERS: Mapping[str, Callable[..., Learnt]] = {
    "posfuse": _posfuse,
    "slidefuse": _slidefuse,
    "probfuse": _probfuse,
    "segfuse": _segfuse,
    "mapfuse": _mapfuse,
    "bayesfuse": _bayesfuse,
}


def knowing(rows: pl.LazyFrame, name: str, table: pl.DataFrame, systems: Sequence[str] | None) -> pl.LazyFrame:
    """The rows of a fusion; an error for a run that a trained method has not learnt."""
    trained = table["run"].unique().sort().to_list()
    says = f"was trained for the runs {quoted(trained)}"
    if systems is None:
        unknown = ~pl.col("run").cast(pl.String).is_in(trained)
        return guard(rows, unknown, f"the method {name!r} {says}, and there is another")
    if others := [system for system in systems if system not in trained]:
        fix = "Train it with the runs that are fused, by the same names"
        says = f"{name!r} {says}, and not for {others[0]!r}."
        raise OptionError(says, about="method", near=nearest(others[0], trained), fix=fix)
    return rows
