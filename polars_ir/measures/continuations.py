"""The chance that a reader goes on from a position of a list to the next, as an expression of what is known there.

A continuation is an expression of `place`, `gained` and `cumulated`, which are fields of a struct and no columns: the
positions of a list are made within the aggregation.
"""

from __future__ import annotations

import polars as pl

from polars_ir.errors import MeasureError

#: The position of the reader, 1 at the top of the list; named, for an expression of it alone to have a name.
place = pl.field("place").alias("place")

#: The gain at that position, from 0 to 1.
gained = pl.field("gained").alias("gained")

#: The gains down to that position, itself included.
cumulated = pl.field("cumulated").alias("cumulated")

#: Positions of a list without a cutoff.
DEPTH = 1000

#: What the engine quotes when a continuation turns out to be no chance.
OUTSIDE = "polars_ir: {}: continuation must be between 0 and 1 at every position"


def inverse_square(head_start: float | pl.Expr) -> pl.Expr:
    """The continuation under which attention falls with the inverse square of the position."""
    return ((place + head_start - 1) / (place + head_start)) ** 2


def checked(name: str, continuation: pl.Expr) -> pl.Expr:
    """A user's continuation, NaN where it is no chance; a `MeasureError` for one that can be none."""

    def refuse(wanted: str, got: object) -> MeasureError:
        return MeasureError.parameter(name, "continuation", wanted, got)

    if columns := continuation.meta.root_names():
        raise refuse("an expression of ir.place, ir.gained and ir.cumulated alone", columns)
    chance = continuation * pl.lit(1.0, pl.Float64)
    gains = pl.Series("gained", [0.0, 0.5, 1.0, 0.0, 0.25, 0.0])
    some = pl.DataFrame(
        {"place": pl.Series(range(1, 7), dtype=pl.Float64), "gained": gains, "cumulated": gains.cum_sum()}
    )
    try:
        of_some, of_three = chances(chance, some), chances(chance, some.reverse()[1:4])
    except pl.exceptions.PolarsError as error:
        raise refuse("an expression of ir.place, ir.gained and ir.cumulated alone", str(error)) from None
    if not of_some.reverse()[1:4].equals(of_three):
        raise refuse("the chance at a position, whatever stands at others", str(continuation))
    within = chance.is_between(0, 1).fill_null(False)
    of_no_gain = chances(pl.when(~within).then(place.cast(pl.Int64)), without_gains(DEPTH))
    if of_no_gain.count():
        raise refuse("between 0 and 1 at every position", f"{continuation!s} at position {of_no_gain.min()!r}")
    return pl.when(within).then(chance).otherwise(float("nan"))


def chance_at(continuation: pl.Expr, *words: pl.Expr) -> pl.Expr:
    """The continuation where its words are these."""
    return pl.struct(words).struct.with_fields(chance=continuation).struct.field("chance")


def chances(continuation: pl.Expr, positions: pl.DataFrame) -> pl.Series:
    """The continuation at given positions."""
    return positions.select(chance_at(continuation, pl.all())).to_series()


def without_gains(depth: int) -> pl.DataFrame:
    """The positions of a list without a single gain."""
    return pl.select(place=pl.int_range(1, depth + 1).cast(pl.Float64), gained=0.0, cumulated=0.0)


def reads(continuation: pl.Expr, word: str) -> bool:
    """Whether a continuation reads one of its words; an expression does not tell the fields it reads."""
    try:
        chances(continuation, without_gains(1).drop(word))
    except pl.exceptions.PolarsError:
        return True
    return False
