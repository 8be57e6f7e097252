"""Sums over the places of a list of any length, and the probability that its reader goes on from each.

A cutoff costs the same however far beyond the list it is. A continuation is an expression of `place`, `gained` and
`cumulated`, which are fields of a struct, not columns: the positions of a list are made within the aggregation.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl

from polars_ir.errors import MeasureError

#: A term at a place of a list, smooth between the places and beyond the first of them.
Term = Callable[[pl.Expr], pl.Expr]

#: Number of places that are added up one by one.
EXACT = 10_000

#: Number of intervals, of equal length in the logarithm of the place, of the integral over the others.
PARTS = 4096

#: Limit of the sum of 1 / i less the logarithm.
EULER = 0.57721566490153286

#: The three Gauss-Legendre nodes in an interval of length 1, and their weights.
NODES = {-math.sqrt(0.15): 5 / 18, 0.0: 8 / 18, math.sqrt(0.15): 5 / 18}


def over_places(term: Term, k: int) -> float:
    """Sum of a term over the places 1 to `k`.

    Beyond the exact ones by the formula of Euler and Maclaurin: the integral over the places, each from half a place
    before it to half a place after it, less a 24th of the change of the slope.

    >>> over_places(lambda place: 1 / place, 4)
    2.083333333333333
    >>> round(over_places(lambda place: 1 / place, 10**9), 12)  # log(10^9) + 0.5772156649 + 5e-10
    21.300481502348
    """
    head = evaluated(term, pl.int_range(1, min(k, EXACT) + 1, eager=True)).cum_sum()[-1]
    if k <= EXACT:
        return float(head)
    at_the_ends = evaluated(term, pl.Series("place", [EXACT, EXACT + 1, k, k + 1], pl.Float64))
    slopes = at_the_ends.diff()
    return float(head + integral(term, EXACT + 0.5, k + 0.5) - (slopes[3] - slopes[1]) / 24)


def harmonic(place: pl.Expr) -> pl.Expr:
    """Sum of 1 / i over the places down to one.

    >>> pl.DataFrame({"place": [1.0, 4.0]}).select(harmonic(pl.col("place")).round(12)).to_series().to_list()
    [1.0, 2.083333333333]
    """
    # Ten terms one by one, and the asymptotic series where it is exact.
    x = place + 10
    z = 1 / x**2
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760))))))
    return x.log() + EULER + 1 / (2 * x) - series - sum((1 / (place + i) for i in range(10, 0, -1)), pl.lit(0.0))


def integral(term: Term, low: float, high: float) -> float:
    """Integral of a term from one place to another, in intervals of equal length in their logarithm."""
    length = math.log(high / low) / PARTS
    middles = (pl.int_range(PARTS, eager=True) + 0.5) * length + math.log(low)
    places = [(middles + node * length).exp() for node in NODES]
    parts = [evaluated(term, place) * place * weight for place, weight in zip(places, NODES.values(), strict=True)]
    return float(sum(part.cum_sum()[-1] for part in parts) * length)


def evaluated(term: Term, places: pl.Series) -> pl.Series:
    """A term at some places."""
    return places.to_frame("place").select(term(pl.col("place"))).to_series()


#: The position of the reader, 1 at the top of the list; named, so that an expression of it alone has a name.
place = pl.field("place").alias("place")

#: The gain at that position, from 0 to 1.
gained = pl.field("gained").alias("gained")

#: The cumulated gain down to that position, itself included.
cumulated = pl.field("cumulated").alias("cumulated")

#: Positions of a list without a cutoff.
DEPTH = 1000

#: Message of a plan whose continuation is no probability.
OUTSIDE = "polars_ir: {}: continuation must be between 0 and 1 at every position"


def inverse_square(head_start: float | pl.Expr) -> pl.Expr:
    """The continuation under which attention falls with the inverse square of the position."""
    return ((place + head_start - 1) / (place + head_start)) ** 2


def checked(name: str, continuation: pl.Expr) -> pl.Expr:
    """A user's continuation, NaN outside 0 to 1; a `MeasureError` for one that can be no probability."""

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
    """The continuation in terms of the given words."""
    return pl.struct(words).struct.with_fields(chance=continuation).struct.field("chance")


def chances(continuation: pl.Expr, positions: pl.DataFrame) -> pl.Series:
    """The continuation at some positions."""
    return positions.select(chance_at(continuation, pl.all())).to_series()


def without_gains(depth: int) -> pl.DataFrame:
    """The positions of a list without a single gain."""
    return pl.select(place=pl.int_range(1, depth + 1).cast(pl.Float64), gained=0.0, cumulated=0.0)


def reads(continuation: pl.Expr, word: str) -> bool:
    """True for a continuation that reads a word; expressions do not list the fields they read."""
    try:
        chances(continuation, without_gains(1).drop(word))
    except pl.exceptions.PolarsError:
        return True
    return False
