"""Pairs of spans that overlap, found by bins: linear in the rows and pairs, however long sources are.

Each span is put into the bins of equal width that it meets, and spans of the same bin are compared. A width near the
mean length keeps the number of bins near that of spans, also where a few are very long.
"""

from __future__ import annotations

import polars as pl

#: The number of a bin, and two hashes: of source and bin, the one key of the join, and of the source again. Their 128
#: bits stand for the source at less than the cost of comparing texts.
BIN, KEY, AGAIN = "polars_ir: bin", "polars_ir: key", "polars_ir: source again"

#: The width of a bin, in mean lengths: fewer bins to make, and few more pairs to compare.
WIDTH = 2


def overlapping(one: pl.LazyFrame, other: pl.LazyFrame, length: float) -> pl.LazyFrame:
    """The pairs of spans of two tables that overlap in a source: `start` and `end` are those of what both share.

    Both have `source`, `start` and `end`, of a mean `length`. Spans of the first are in `start_left`, `end_left`, of
    the other in `start_right`, `end_right`. The other is held in memory, and the first is not.
    """
    bins = max(1, round(WIDTH * length))
    left = one.rename({"start": "start_left", "end": "end_left"})
    right = other.rename({"start": "start_right", "end": "end_right"})
    small = _binned(right.with_columns(pl.col("source").hash(1).alias(AGAIN)), "right", bins).drop("source", BIN)
    # Left to itself, Polars takes the larger side at times, at twice the cost.
    pairs = _binned(left, "left", bins).join(small, on=KEY, build_side="force_right")
    start = pl.max_horizontal("start_left", "start_right")
    end = pl.min_horizontal("end_left", "end_right")
    # A pair that meets in several bins counts in that of its start.
    found = pairs.filter((start < end) & (start // bins == pl.col(BIN))).with_columns(start=start, end=end)
    # Hashed here, of pairs alone, since most spans of the first meet none.
    return found.filter(pl.col("source").hash(1) == pl.col(AGAIN)).drop(BIN, KEY, AGAIN)


def _binned(spans: pl.LazyFrame, side: str, bins: int) -> pl.LazyFrame:
    """A row for each bin that a span meets."""
    start, end = pl.col(f"start_{side}"), pl.col(f"end_{side}")
    met = pl.int_ranges(start // bins, (end - 1) // bins + 1)
    rows = spans.with_columns(met.alias(BIN), pl.col("source").hash().alias(KEY)).explode(BIN)
    return rows.with_columns(pl.col(KEY) ^ pl.col(BIN).cast(pl.UInt64))


def covered_length(pairs: pl.DataFrame, by: str, lengths: pl.Series) -> pl.DataFrame:
    """The number of characters of spans that `start` to `end` of some rows cover together: `by`, `covered`.

    `by` is the number of a span in `lengths`; `start` and `end` are counted from its own start.
    """
    # Spans laid end to end need no groups: what covers one ends before the next begins.
    before = lengths.cum_sum() - lengths
    line = pairs.select(by, pl.col("start", "end") + before.gather(pairs[by])).sort("start")
    new = pl.col("end") - pl.max_horizontal("start", pl.col("end").cum_max().shift(1, fill_value=0))
    return line.with_columns(covered=new.clip(0)).group_by(by).agg(pl.col("covered").sum())
