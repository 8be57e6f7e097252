"""What unjudged documents hide: the relation as it would be, had they been judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_ir.language.identity import Call


@dataclass(frozen=True)
class Judging:
    """What judgments of the unjudged documents a measure calls for.

    `k` is the cutoff on whose two sides the same judgment can do the opposite; None for a measure that only ever rises
    with the grades. `highest` is the grade of a document then judged relevant; None for the highest that occurs, or
    `least` if that is higher.
    """

    k: int | None
    least: float = 0
    highest: float | None = None

    @classmethod
    def of(cls, call: Call | None) -> Judging:
        """The judgments that tell how low and how high a measure can be."""
        arguments: Mapping[str, Any] = call.arguments if call else {}
        gains, rel = arguments.get("gains"), arguments.get("rel")
        # No other grade has a gain in a map.
        highest = max(gains) if isinstance(gains, Mapping) else None
        return cls(None if call and call.monotone else arguments.get("k"), rel or 0, highest)

    def relations(self, relation: pl.LazyFrame, keys: list[str]) -> list[pl.LazyFrame]:
        """The judged relation with unjudged documents, judged in several ways.

        None of them is relevant; all have the highest grade; only those above the cutoff have it, or only those below.
        """
        grade, rank = pl.col("relevance"), pl.col("rank")
        # A row without a document says that the query was judged, and nothing found.
        unjudged = grade.is_null() & pl.col("doc_id").is_not_null()
        sides = [] if self.k is None else [rank <= self.k, rank > self.k]
        return [
            relation.with_columns(
                relevance=pl.when(~unjudged).then(grade).when(relevant).then(self._highest()).otherwise(0)
            ).with_columns(ideal_rank=grade.rank("ordinal", descending=True).over(keys))
            for relevant in (pl.lit(False), pl.lit(True), *sides)
        ]

    def _highest(self) -> pl.Expr:
        """The grade of a document judged relevant."""
        if self.highest is not None:
            return pl.lit(self.highest)
        highest = pl.max_horizontal(pl.col("relevance").max(), self.least)
        return pl.when(highest > 0).then(highest).otherwise(1)


def with_bounds(result: pl.LazyFrame, values: list[pl.LazyFrame], keys: list[str]) -> pl.LazyFrame:
    """The result with the lowest and the highest value of some measures under several judgings, and of their own.

    A measure that tells judged documents from unjudged ones can be outside of what judging these leads to.
    """
    schema = values[0].collect_schema()
    numbers = [name for name, dtype in schema.items() if name not in keys and dtype != pl.String]
    low, high = ({name: f"{name} {side}" for name in numbers} for side in ("low", "high"))
    lowest = [pl.col(name).min().alias(low[name]) for name in numbers]
    highest = [pl.col(name).max().alias(high[name]) for name in numbers]
    extremes = pl.concat(values).group_by(keys).agg(*lowest, *highest)
    bounded = result.join(extremes, on=keys, how="left").with_columns(
        *(pl.min_horizontal(name, low[name]).alias(low[name]) for name in numbers),
        *(pl.max_horizontal(name, high[name]).alias(high[name]) for name in numbers),
    )
    columns = result.collect_schema().names()
    return bounded.select(c for name in columns for c in ([name, low[name], high[name]] if name in low else [name]))
