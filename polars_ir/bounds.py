"""What unjudged documents hide: the relation as it would be, had they been judged."""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from polars_ir.ranking import place

#: The cutoff in a measure's name.
CUTOFF = re.compile(r"@(\d+)$")


def judgings(relation: pl.LazyFrame, keys: list[str], measures: Iterable[str]) -> list[pl.LazyFrame]:
    """The judged relation with unjudged documents, under judgments that could have been made of these.

    None of them is relevant; all have the highest grade; only those above a cutoff, or only those below it, for every
    cutoff of the measures. A measure that rises with the grades is lowest under the first and highest under the
    second; one that counts the relevant documents below its cutoff as missed is so under the last two.
    """
    grade, rank = pl.col("relevance"), pl.col("rank")
    highest = pl.max_horizontal(grade.max(), 1)
    cutoffs = sorted({int(found[1]) for name in measures if (found := CUTOFF.search(name))})
    chosen = [pl.lit(False), pl.lit(True), *(rank <= k for k in cutoffs), *(rank > k for k in cutoffs)]
    return [
        relation.with_columns(
            pl.when(grade.is_null())
            .then(pl.when(relevant).then(highest).otherwise(0))
            .otherwise(grade)
            .alias("relevance")
        ).with_columns(ideal_rank=place("relevance").over(keys))
        for relevant in chosen
    ]


def widened(values: list[pl.LazyFrame], keys: list[str], measures: Iterable[str]) -> pl.LazyFrame:
    """The lowest and the highest value of every measure under several judgings."""
    bounds = [
        bound.alias(f"{name} {side}")
        for name in measures
        for side, bound in (("low", pl.col(name).min()), ("high", pl.col(name).max()))
    ]
    return pl.concat(values).group_by(keys).agg(bounds)
