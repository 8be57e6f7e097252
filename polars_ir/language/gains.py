"""Gains and discounts: what a grade is worth, and what divides it at a rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

#: How a grade becomes a gain: the grade itself, 2 to the grade, less 1, or 1 for every grade above 0.
Discounted = Literal["log2", "exp-log2", "binary"]

#: What divides the gain at a rank.
Discount = Literal["log2", "ln", "jarvelin", "rank", "none"]

#: What documents are worth: by grade, or as an expression.
Gains = Mapping[float, float] | pl.Expr


def of_grade(value: pl.Expr, dcg: Discounted) -> pl.Expr:
    """The gain of a grade of 0 or more.

    >>> pl.DataFrame({"grade": [0.0, 0.5, 2.0]}).select(of_grade(pl.col("grade"), "binary")).to_series().to_list()
    [0.0, 1.0, 1.0]
    """
    return {"log2": value, "exp-log2": 2.0**value - 1.0, "binary": value.sign()}[dcg]


def aligned(expression: pl.Expr, gains: Gains | None) -> pl.Expr:
    """What is made of gains, in a form that goes with other columns also where the gains are aggregated themselves.

    Polars 1.44 takes the wrong rows where a condition on `relevance / relevance.max()` selects from a plain column;
    shifted by nothing, it does not. That takes time, so only for gains by an expression of the user's own.

    >>> pl.DataFrame({"relevance": [2, 1]}).select(aligned(pl.col("relevance") > 1, None)).to_series().to_list()
    [True, False]
    """
    return expression.shift(0) if isinstance(gains, pl.Expr) else expression


def discounted(place: pl.Expr, discount: Discount = "log2") -> pl.Expr:
    """What divides the gain at a place of a ranking.

    >>> pl.DataFrame({"rank": [1, 3]}).select(discounted(pl.col("rank"))).to_series().to_list()
    [1.0, 2.0]
    """
    divisors = {
        "log2": (place + 1).log(2),
        "ln": (place + 1).log(),
        "jarvelin": place.log(2).clip(lower_bound=1.0),
        "rank": place.cast(pl.Float64),
        "none": pl.lit(1.0),
    }
    return divisors[discount]
