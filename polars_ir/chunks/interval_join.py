"""Pairs of spans that overlap, found by bins: linear in the rows and pairs, however long sources are.

A span of the larger table is in the bin of equal width where it starts, one of the smaller table in all bins where a
span that it meets may start, and spans of the same bin are compared. Spans that are longer than a bin are few, and both
tables have them in all bins that they meet.
"""

from __future__ import annotations

import polars as pl

#: The number of a bin, and two hashes: of source and bin, the one key of the join, and of the source again. Their 128
#: bits stand for the source at less than the cost of comparing texts.
BIN, KEY, AGAIN = "polars_ir: bin", "polars_ir: key", "polars_ir: source again"

#: The largest width of a bin, in typical lengths: few spans are longer, and few more pairs are compared.
WIDTH = 3


def overlapping(one: pl.LazyFrame, other: pl.LazyFrame, length: float, longest: int) -> pl.LazyFrame:
    """The pairs of spans of two tables that overlap in a source: `start` and `end` are those of what both share.

    Both have `source`, `start` and `end`, of a typical `length` or less; `longest` is the largest of the first. Spans
    of the first are in `start_left`, `end_left`, of the other in `start_right`, `end_right`. The other is held in
    memory, and the first is not.
    """
    width = max(1, min(max(longest, round(length)), round(WIDTH * length)))
    left = one.rename({"start": "start_left", "end": "end_left"})
    right = other.rename({"start": "start_right", "end": "end_right"})
    right = right.with_columns(pl.col("source").hash().alias(KEY), pl.col("source").hash(1).alias(AGAIN)).drop("source")
    is_short = pl.col("end_left") - pl.col("start_left") <= width
    # Most spans get their bin without `explode`, which takes longer than the join.
    short = left.filter(is_short).with_columns((pl.col("start_left") // width).alias(BIN))
    pairs = [_same_bin(short, _binned(right, "right", width, before=width - 1))]
    if longest > width:
        of_long = _same_bin(_binned(left.filter(~is_short), "left", width), _binned(right, "right", width))
        # A pair that meets in several bins counts in that of its start.
        pairs.append(of_long.filter(pl.col("start") // width == pl.col(BIN)))
    return pl.concat(pairs).drop(BIN, KEY, AGAIN)


def _binned(spans: pl.LazyFrame, side: str, width: int, before: int = 0) -> pl.LazyFrame:
    """A row for each bin that a span meets, or that one meets which begins so much before it."""
    start, end = pl.col(f"start_{side}") - before, pl.col(f"end_{side}")
    return spans.with_columns(pl.int_ranges(start // width, (end - 1) // width + 1).alias(BIN)).explode(BIN)


def _same_bin(left: pl.LazyFrame, right: pl.LazyFrame) -> pl.LazyFrame:
    """The pairs of spans of one source and bin that overlap."""
    number = pl.col(BIN).reinterpret(signed=False)
    left = left.with_columns((pl.col("source").hash() ^ number).alias(KEY))
    right = right.with_columns(pl.col(KEY) ^ number).drop(BIN)
    # Left to itself, Polars takes the larger side at times, at twice the cost.
    pairs = left.join(right, on=KEY, build_side="force_right")
    start = pl.max_horizontal("start_left", "start_right")
    end = pl.min_horizontal("end_left", "end_right")
    found = pairs.filter(start < end).with_columns(start=start, end=end)
    # Hashed here, of pairs alone, since most spans of the first meet none.
    return found.filter(pl.col("source").hash(1) == pl.col(AGAIN))


def covered_length(pairs: pl.DataFrame, by: str, lengths: pl.Series) -> pl.Series:
    """The number of characters of each span that `start` to `end` of some rows cover together.

    `by` is the number of a span in `lengths`; `start` and `end` are counted from its own start.
    """
    # Spans laid end to end need no groups: what covers one ends before the next begins.
    before = lengths.cum_sum() - lengths
    line = pairs.select(by, pl.col("start", "end") + before.gather(pairs[by])).sort("start")
    new = pl.col("end") - pl.max_horizontal("start", pl.col("end").cum_max().shift(1, fill_value=0))
    covered = line.select(by, new=new.clip(0)).group_by(by).agg(pl.col("new").sum())
    return pl.zeros(len(lengths), pl.Int64, eager=True).scatter(covered[by], covered["new"])
