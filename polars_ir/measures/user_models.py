"""Measures of a reader who goes on from one position to the next by chance: each is one line, its continuation.

Conventions (Moffat et al. 2017, "C/W/L"; cwl_eval computes the same)
    * A continuation C is the chance that a reader goes on from a position to the next. It is an expression of `place`,
      `gained` and `cumulated`, and nothing else.
    * The reader begins at position 1, so that the share of attention at position i is
      W(i) = C(1) * ... * C(i - 1) / the sum of these products; the measure is the sum of W(i) * gain(i).
    * The list has `k` positions, or 1000 as in cwl_eval, however many were retrieved. What was not retrieved, or not
      judged, gains 0.
    * A gain is (grade - min_rel) / (max_rel - min_rel), between 0 and 1; grades outside count as the nearer of the two.
      Undefined when no document has a gain.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.parameters import Parameter, number, positive
from polars_ir.registry import measure
from polars_ir.vocabulary import Discounted, gain, rank, ranked, top

#: The position of the reader, 1 at the top of the list; Float64.
place = pl.field("place")

#: The gain at that position, between 0 and 1.
gained = pl.field("gained")

#: The gains down to that position, itself included.
cumulated = pl.field("cumulated")

#: Positions of a list without a cutoff.
DEPTH = 1000

#: In the place of the logarithm of 0, whose differences are no numbers: exp(-800) is 0 as well.
LOG_OF_ZERO = -800.0

MOFFAT = "Moffat et al. 2017, https://doi.org/10.1145/3052768; cwl_eval, https://github.com/ireval/cwl"
AZZOPARDI = "Azzopardi et al. 2021, https://doi.org/10.1145/3471158.3472239"

MIN_REL = Parameter(
    "The grade from which gains are counted: a document of this grade, or a lower one, gains 0.",
    "a number of 0 or more",
    lambda v: number(v) and v >= 0,
)
GOAL = Parameter("How much gain the reader wants in all, 1 being a document of the highest grade.", "a number above 0", positive)
GRADES = {"min_rel": MIN_REL}
GRADES_AND_GOAL = {**GRADES, "T": GOAL}


class Position(NamedTuple):
    """What a continuation can read, at one position or at many."""

    place: pl.Expr
    gained: pl.Expr
    cumulated: pl.Expr


def expected_utility(
    name: str,
    continuation: pl.Expr,
    *,
    k: int | None = None,
    min_rel: float,
    max_rel: float,
    dcg: Discounted = "log2",
) -> pl.Expr:
    """The measure called `name` of the readers who go on with a chance of `continuation`."""
    if not min_rel < max_rel:
        raise MeasureError.parameter(name, "max_rel", f"above min_rel, which is {min_rel!r}", max_rel)
    depth = DEPTH if k is None else int(k)
    grade = gain().clip(min_rel, max_rel) - min_rel
    highest = max_rel - min_rel
    if dcg == "exp-log2":
        grade, highest = 2.0**grade - 1.0, 2.0**highest - 1.0
    # The highest gain as a column: Polars divides by a constant by multiplying with its reciprocal.
    value = grade / pl.len().cast(pl.Float64).clip(highest, highest)
    documents = ranked(pl.struct(rank.cast(pl.Float64).alias("place"), value.alias("gained")), (value > 0) & top(depth))
    solve = {"place": _by_place, "gained": _by_jumps, "cumulated": _by_steps}[last_word(continuation)]
    utility = solve(documents.implode(), continuation * 1.0, depth)
    return pl.when((value > 0).any()).then(utility.list.first().fill_null(0.0))
