"""What the parameters of measures mean, and which values they can have; the same in every measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

import polars as pl

from polars_ir.language.gains import Discount, Discounted
from polars_ir.values import Value, chance, is_number, is_whole, not_negative, one_of

#: 2 to the power of a grade above this is no gain anyone means.
HIGHEST_GRADE = 64

#: No number that a parameter means is larger.
LARGEST = 1e9

#: Ranks and counts are 32-bit numbers.
MOST_DOCUMENTS = 2**31

#: No collection has more documents; all numbers up to here are whole as floats, too.
LARGEST_COLLECTION = 2**53


class Parameter(NamedTuple):
    """What a parameter means, in words what it can be, and whether a value is that."""

    meaning: str
    wanted: str
    holds: Callable[[Any], bool]

    @classmethod
    def of(cls, meaning: str, value: Value[Any]) -> Parameter:
        """A parameter that can be what an option can be."""
        return cls(meaning, value.wanted, value.holds)


def named(value: Any) -> bool:
    """Whether a value is an expression that its name tells: a bare column, or one with a name of its own."""
    if not isinstance(value, pl.Expr) or value.meta.has_multiple_outputs():
        return False
    return value.meta.is_column() or value.meta.output_name() not in {*value.meta.root_names(), "literal"}


def _map_of_gains(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    return all(is_number(grade) and is_number(gain) for grade, gain in value.items())


PARAMETERS: dict[str, Parameter] = {
    "k": Parameter(
        "Cutoff: only the first k documents of the ranking count; None: all of them.",
        f"a whole number of documents, from 1 to {MOST_DOCUMENTS:,}",
        lambda v: is_whole(v, 1, MOST_DOCUMENTS),
    ),
    "rel": Parameter(
        "The lowest grade that counts as relevant, 0 for every judged document; None, where grades are gains: any "
        "grade above 0.",
        f"a grade from 0 to {LARGEST:g}",
        not_negative(LARGEST).holds,
    ),
    "beta": Parameter(
        "How many times as much recall matters as precision; at 0 only precision does.",
        f"a number from 0 to {LARGEST:g}",
        not_negative(LARGEST).holds,
    ),
    "p": Parameter.of("Persistence: how likely the reader goes on from one document to the next.", chance()),
    "max_rel": Parameter(
        "The highest grade there can be; a grade above it counts as this one.",
        f"a whole number from 1 to {HIGHEST_GRADE}",
        lambda v: is_whole(v, 1, HIGHEST_GRADE),
    ),
    "dcg": Parameter.of(
        "The gain: 'log2' takes the grade itself, 'exp-log2' 2 to the grade less 1, 'binary' 1 for all above 0.",
        one_of(*get_args(Discounted)),
    ),
    "discount": Parameter.of(
        "What divides the gain at a rank: 'log2' is log2(1 + rank), 'ln' its natural logarithm, 'jarvelin' "
        "max(1, log2(rank)), 'rank' the rank itself, 'none' 1.",
        one_of(*get_args(Discount)),
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
