"""Bounds of a measure: the judged relation under possible judgments of the unjudged documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_ir.language.catalog import CATALOG, MeasureCall
from polars_ir.language.columns import measure_of
from polars_ir.language.measure import of_part
from polars_ir.language.names import ResolvedMeasure, call_behind
from polars_ir.language.words import Ties


class Judging(NamedTuple):
    """Judgments of the unjudged documents: those from the `first` to the `last` rank are relevant, the others are not.

    The grade of the relevant ones is the `highest`; None for the highest that occurs, or `least` if that is higher.
    With `lowest_alone` no more than the one of the lowest rank is relevant.
    """

    first: int
    last: int | None
    least: float = 0
    highest: float | None = None
    lowest_alone: bool = False

    def applied(self, relation: pl.LazyFrame, keys: list[str], by: Sequence[str]) -> pl.LazyFrame:
        """The judged relation with unjudged documents under this judging; `by` are keys of judgments."""
        grade, rank = pl.col("relevance"), pl.col("rank")
        # A row without a rank records that the query was judged, and nothing found.
        unjudged = grade.is_null() & rank.is_not_null()
        relevant = rank >= self.first if self.last is None else rank.is_between(self.first, self.last)
        if self.lowest_alone:
            relevant = rank == pl.when(unjudged).then(rank).max().over(keys)
        return relation.with_columns(
            relevance=pl.when(~unjudged).then(grade).when(relevant).then(self._grade(by)).otherwise(0)
        ).with_columns(ideal_rank=grade.rank("ordinal", descending=True).over(keys))

    def within(self, deepest: int) -> Judging:
        """The equivalent judging of rankings no deeper than this, in the form of one of all documents or of none."""
        if self.first > deepest:
            return NONE_RELEVANT
        return self._replace(last=None) if self.last is not None and self.last >= deepest else self

    def _grade(self, by: Sequence[str]) -> pl.Expr:
        """Grade of a document judged relevant."""
        if self.highest is not None:
            return pl.lit(self.highest)
        highest = pl.col("relevance").max()
        highest = pl.max_horizontal(highest.over(by) if by else highest, self.least)
        return pl.when(highest > 0).then(highest).otherwise(1)


#: No unjudged document is relevant.
NONE_RELEVANT = Judging(1, 0)


def judgings(measure: ResolvedMeasure, ties: Ties = "doc_id") -> list[Judging]:
    """Judgings of the unjudged documents that show how low and how high a measure can be.

    One that only ever rises with the grades is lowest where none is relevant, and highest where all are. For others,
    the same judgment can do the opposite on the two sides of the cutoff.
    """
    call = call_behind(measure)
    arguments: Mapping[str, Any] = call.arguments if call else {}
    rises, k = _rise(arguments.get("gains")), arguments.get("k")
    if k is None or (call and call.monotone and rises):
        ranks = [(1, None)]
    else:
        # Where documents beyond the cutoff can only lower the value, and tied ones do not move up to it, those above
        # it alone make the value as high as all do.
        info = CATALOG.get(call.measure) if call and ties in ("doc_id", "input") else None
        of_all = [] if rises and info and info.falls_beyond else [(1, None)]
        ranks = [*of_all, (1, k), (k + 1, None)]
    grades = least_relevant(call), _highest(arguments)
    of_ranks = [NONE_RELEVANT, *(Judging(first, last, *grades) for first, last in ranks)]
    # Where a tool gives a query without a relevant document the highest value, one at the end makes the lowest.
    return of_ranks if call is None or measure.call else [*of_ranks, Judging(1, None, *grades, lowest_alone=True)]


def _rise(gains: object) -> bool:
    """True where a higher grade is known to have no lower gain."""
    if not isinstance(gains, Mapping):
        return gains is None
    values = [gains[grade] for grade in sorted(gains)]
    return values == sorted(values)


def least_relevant(call: MeasureCall | None) -> float:
    """The lowest grade that is relevant to a measure."""
    return (call.arguments.get("rel") if call else None) or 0


def _highest(arguments: Mapping[str, Any]) -> float | None:
    """The highest grade in a map of gains; no other has a gain."""
    gains = arguments.get("gains")
    return max(gains) if isinstance(gains, Mapping) else None


def with_bounds(result: pl.LazyFrame, values: list[pl.LazyFrame], keys: list[str]) -> pl.LazyFrame:
    """The result with the lowest and the highest value of measures under several judgings, and of their own, by `keys`.

    A measure that distinguishes judged documents from unjudged ones can lie outside of these values.
    """
    schema = {name: dtype for frame in values for name, dtype in frame.collect_schema().items()}
    measured = [name for name, dtype in schema.items() if name not in keys and dtype != pl.String]
    numbers = [name for name in measured if measure_of(name) == name]
    low, high = ({name: of_part(name, part) for name in numbers} for part in ("low", "high"))
    lowest = [pl.col(name).min().alias(low[name]) for name in numbers]
    highest = [pl.col(name).max().alias(high[name]) for name in numbers]
    extremes = pl.concat(values, how="diagonal").group_by(keys).agg(*lowest, *highest)
    bounded = result.join(extremes, on=keys, how="left").with_columns(
        *(pl.min_horizontal(name, low[name]).alias(low[name]) for name in numbers),
        *(pl.max_horizontal(name, high[name]).alias(high[name]) for name in numbers),
    )
    columns = result.collect_schema().names()
    return bounded.select(c for name in columns for c in ([name, low[name], high[name]] if name in low else [name]))
