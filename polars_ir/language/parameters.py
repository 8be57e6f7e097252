"""What the parameters of measures mean, and which values they can have; the same in every measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, get_args

import polars as pl

from polars_ir.language.words import Discount, Discounted

#: 2 to the power of a grade above this is no gain anyone means.
HIGHEST_GRADE = 64

#: No number that a parameter means is larger.
LARGEST = 1e9

#: Ranks and counts are 32-bit numbers.
MOST_DOCUMENTS = 2**31


@dataclass(frozen=True)
class Parameter:
    """What a parameter means, in words what it can be, and whether a value is that."""

    meaning: str
    wanted: str
    holds: Callable[[Any], bool]


def whole(value: Any, low: int = 1) -> bool:
    """Whether a value is a whole number of at least `low`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low


def number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def positive(value: Any) -> bool:
    """Whether a value is a number above 0 that can be squared."""
    return number(value) and 0 < value <= LARGEST


def not_negative(value: Any) -> bool:
    """Whether a value is a finite number of 0 or more."""
    return number(value) and value >= 0


def one_of(meaning: str, *choices: str) -> Parameter:
    """A parameter that is one of some words."""
    return Parameter(meaning, f"one of {', '.join(map(repr, choices))}", lambda v: isinstance(v, str) and v in choices)


def chance(meaning: str) -> Parameter:
    """A parameter that is a probability, neither impossible nor certain."""
    return Parameter(meaning, "a number between 0 and 1, both excluded", lambda v: number(v) and 0 < v < 1)


def named(value: Any) -> bool:
    """Whether a value is an expression that its name tells: a bare column, or one with a name of its own."""
    if not isinstance(value, pl.Expr) or value.meta.has_multiple_outputs():
        return False
    return value.meta.is_column() or value.meta.output_name() not in {*value.meta.root_names(), "literal"}


def _map_of_gains(value: Any) -> bool:
    return isinstance(value, Mapping) and len(value) > 0 and all(number(g) and number(x) for g, x in value.items())


PARAMETERS: dict[str, Parameter] = {
    "k": Parameter(
        "Cutoff: only the first k documents of the ranking count; None: all of them.",
        "a whole number of documents, 1 or more",
        lambda v: whole(v) and v <= MOST_DOCUMENTS,
    ),
    "rel": Parameter(
        "The lowest grade that counts as relevant, 0 for every judged document; None, where grades are gains: any "
        "grade above 0.",
        "a grade of 0 or more",
        lambda v: not_negative(v) and v <= LARGEST,
    ),
    "beta": Parameter(
        "How many times as much recall matters as precision; at 0 only precision does.",
        f"a number from 0 to {LARGEST:g}",
        lambda v: not_negative(v) and v <= LARGEST,
    ),
    "p": chance("Persistence: how likely the reader goes on from one document to the next."),
    "max_rel": Parameter(
        "The highest grade there can be; a grade above it counts as this one.",
        f"a whole number from 1 to {HIGHEST_GRADE}",
        lambda v: whole(v) and v <= HIGHEST_GRADE,
    ),
    "dcg": one_of(
        "The gain: 'log2' takes the grade itself, 'exp-log2' 2 to the grade less 1, 'binary' 1 for all above 0.",
        *get_args(Discounted),
    ),
    "discount": one_of(
        "What divides the gain at a rank: 'log2' is log2(1 + rank), 'ln' its natural logarithm, 'jarvelin' "
        "max(1, log2(rank)), 'rank' the rank itself, 'none' 1.",
        *get_args(Discount),
    ),
    "gains": Parameter(
        "What grades are worth: a map, which leaves a grade that it does not name its own value, or a Polars "
        "expression over columns of run or qrels, such as `pl.col('relevance') * pl.col('trust')`. Unjudged documents "
        "and negative values are worth 0. A column of the run is null for documents that the run did not return, so "
        "that they are missing from an ideal ranking.",
        "a map from grades to numbers of 0 or more, as in {1: 1, 2: 3}, a column, or a Polars expression with a name "
        "of its own, as in (pl.col('relevance') * pl.col('trust')).alias('trusted')",
        lambda v: named(v) or (_map_of_gains(v) and all(x >= 0 for x in v.values())),
    ),
}
