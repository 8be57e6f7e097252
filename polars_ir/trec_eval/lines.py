"""The lines that trec_eval prints: `measure topic value`.

Conventions: counts are whole numbers, and the summary (topic `all`) adds them up; a value that is null has no line.
Python prints a number as C does, to the last digit; Polars has no such format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_ir.summary import mean
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


def of_topics(per_query: pl.DataFrame, figures: Sequence[Figure], digits: int = DIGITS) -> Iterator[str]:
    """The lines of every topic."""
    printed = [figure for figure in figures if figure.measure not in OF_SUMMARY]
    values = [per_query[figure.column].to_list() for figure in printed]
    for topic, *row in zip(per_query["query_id"], *values, strict=True):
        for figure, value in zip(printed, row, strict=True):
            if value is not None or figure.measure in OF_TOPICS:
                yield _line(figure.printed, topic, _text(figure, value, digits))


def of_run(per_query: pl.DataFrame, tag: str) -> Iterator[str]:
    """The lines at the head of the summary, which are of no measure: the run's name and the number of topics."""
    yield _line("runid", "all", tag)
    yield _line("num_q", "all", str(per_query.height))


def of_all(per_query: pl.DataFrame, figures: Sequence[Figure], digits: int = DIGITS) -> Iterator[str]:
    """The lines of the summary."""
    printed = [figure for figure in figures if figure.measure not in OF_TOPICS]
    means = mean(per_query).row(0, named=True) if printed else {}
    for figure in printed:
        value = means[figure.column]
        if value is not None:
            total = per_query[figure.column].sum() if figure.measure in COUNTS else value
            yield _line(figure.printed, "all", _text(figure, total, digits))


def _text(figure: Figure, value: Any, digits: int) -> str:
    if figure.measure in OF_TOPICS:
        return f"'{value or ''}'"
    # The mean over several judges of a count may be a fraction.
    return str(int(value)) if figure.measure in COUNTS and value == int(value) else f"{value:.{digits}f}"


def _line(name: str, topic: object, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}"
