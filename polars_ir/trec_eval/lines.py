"""The lines that trec_eval prints: `measure topic value`.

Conventions: counts are whole numbers, and the summary (topic `all`) adds them up; a value that is null has no line.
Python prints a number as C does, to the last digit; Polars has no such format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_ir.language.words import average, total
from polars_ir.trec_eval.measures import COUNTS, OF_SUMMARY, OF_TOPICS

#: The digits that trec_eval prints of a figure.
DIGITS = 4


@dataclass(frozen=True)
class Figure:
    """A line of the output: the measure's name, what is printed before the value, and the aggregation."""

    measure: str
    printed: str
    expression: pl.Expr

    @property
    def column(self) -> str:
        """The column of the figure in a per-query frame."""
        return self.expression.meta.output_name()


@dataclass(frozen=True)
class Format:
    """How values are printed: their digits, and whether they are z-scores, whose names begin with a Z."""

    digits: int = DIGITS
    zscores: bool = False

    def line(self, figure: Figure, topic: object, value: Any) -> str:
        """The line of a figure."""
        if figure.measure in OF_TOPICS:
            return _line(figure.printed, topic, f"'{value or ''}'")
        name = f"Z{figure.printed:<22}" if self.zscores else figure.printed
        # The mean over several judges of a count may be a fraction.
        is_count = figure.measure in COUNTS and not self.zscores and value == int(value)
        return _line(name, topic, str(int(value)) if is_count else _number(value, self.digits))


def of_topics(per_query: pl.DataFrame, figures: Sequence[Figure], form: Format) -> Iterator[str]:
    """The lines of every topic."""
    printed = [figure for figure in figures if figure.measure not in OF_SUMMARY]
    values = [per_query[figure.column].to_list() for figure in printed]
    for topic, *row in zip(per_query["query_id"], *values, strict=True):
        for figure, value in zip(printed, row, strict=True):
            if value is not None or figure.measure in OF_TOPICS:
                yield form.line(figure, topic, value)


def of_run(n_topics: int, tag: str, form: Format) -> Iterator[str]:
    """The lines at the head of the summary, which are of no measure: the run's name and the number of topics."""
    yield _line("runid", "all", tag)
    yield (
        _line(f"Z{'num_q':<22}", "all", _number(n_topics, DIGITS))
        if form.zscores
        else _line("num_q", "all", str(n_topics))
    )


def of_all(values: Mapping[str, float | None], figures: Sequence[Figure], form: Format) -> Iterator[str]:
    """The lines of the summary."""
    for figure in figures:
        value = values.get(figure.column)
        if value is not None:
            yield form.line(figure, "all", value)


def summary_of(per_query: pl.DataFrame, figures: Sequence[Figure]) -> dict[str, float | None]:
    """What stands for each figure over all topics: the sum of a count, and the mean of others.

    Those of geometric means are logarithms here.
    """
    numbers = [figure for figure in figures if figure.measure not in OF_TOPICS]
    sums = [
        total(pl.col(f.column).cast(pl.Float64).drop_nulls()).alias(f.column) for f in numbers if f.measure in COUNTS
    ]
    means = [average(pl.col(f.column).cast(pl.Float64)).alias(f.column) for f in numbers if f.measure not in COUNTS]
    if not numbers:
        return {}
    values: dict[str, float | None] = per_query.select(*sums, *means).row(0, named=True)
    for figure in numbers:
        mean = values[figure.column]
        if figure.measure in OF_SUMMARY and mean is not None:
            values[figure.column] = math.exp(mean)
    return values


def _number(value: float, digits: int) -> str:
    # As C pads it, and with the sign that 0 / 0 has on x86.
    return "  -nan" if math.isnan(value) else f"{value:.{digits}f}"


def _line(name: str, topic: object, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}"
