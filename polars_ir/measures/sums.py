"""Sums over the places of a list of any length: a cutoff costs the same however far beyond the list it is."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl

#: A term at a place of a list, smooth between the places and beyond the first of them.
Term = Callable[[pl.Expr], pl.Expr]

#: So many places are added up one by one.
EXACT = 10_000

#: So many parts, of equal length in the logarithm of the place, is the integral of the others made of.
PARTS = 4096

#: The limit of the sum of 1 / i less the logarithm.
EULER = 0.57721566490153286

#: The three nodes of Gauss and Legendre in a part of length 1, and their weights.
NODES = {-math.sqrt(0.15): 5 / 18, 0.0: 8 / 18, math.sqrt(0.15): 5 / 18}


def over_places(term: Term, k: int) -> float:
    """The sum of a term over the places 1 to `k`.

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
    """The sum of 1 / i over the places down to one.

    >>> pl.DataFrame({"place": [1.0, 4.0]}).select(harmonic(pl.col("place")).round(12)).to_series().to_list()
    [1.0, 2.083333333333]
    """
    # Ten terms one by one, and the asymptotic series where it is exact.
    x = place + 10
    z = 1 / x**2
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760))))))
    return x.log() + EULER + 1 / (2 * x) - series - sum((1 / (place + i) for i in range(10, 0, -1)), pl.lit(0.0))


def integral(term: Term, low: float, high: float) -> float:
    """The integral of a term from one place to another, in parts of equal length in their logarithm."""
    length = math.log(high / low) / PARTS
    middles = (pl.int_range(PARTS, eager=True) + 0.5) * length + math.log(low)
    places = [(middles + node * length).exp() for node in NODES]
    parts = [evaluated(term, place) * place * weight for place, weight in zip(places, NODES.values(), strict=True)]
    return float(sum(part.cum_sum()[-1] for part in parts) * length)


def evaluated(term: Term, places: pl.Series) -> pl.Series:
    """A term at some places."""
    return places.to_frame("place").select(term(pl.col("place"))).to_series()
