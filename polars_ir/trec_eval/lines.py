"""The lines that trec_eval prints: `measure topic value`.

Conventions: counts are whole numbers, and the summary (topic `all`) adds them up; a value that is null has no line.
Python prints a number as C does, to the last digit; Polars has no such format.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_ir.files.finding.file import File
from polars_ir.files.rows.unreadable import FAILURES, unreadable
from polars_ir.language.words import average, total
from polars_ir.trec_eval.measures import COUNTS, OF_SUMMARY, OF_TOPICS

#: The digits that trec_eval prints of a figure.
DIGITS = 4


class Figure(NamedTuple):
    """A figure of the output: the measure, the text before its value, and its column in a per-query frame."""

    measure: str
    printed: str
    column: str


class Format(NamedTuple):
    """The digits of values; z-scores have names that begin with a Z, and no counts."""

    digits: int = DIGITS
    zscores: bool = False

    def lines(self, figure: Figure, topics: Sequence[object], values: Iterable[Any]) -> list[str | None]:
        """The line of a figure for each topic, or None where its value is null."""
        pairs = zip(topics, values, strict=True)
        if figure.measure in OF_TOPICS:
            return [_line(figure.printed, topic, f"'{value or ''}'") for topic, value in pairs]
        name = f"Z{figure.printed:<22}" if self.zscores else figure.printed
        may_be_whole = figure.measure in COUNTS and not self.zscores

        def text(value: float) -> str:
            # The mean over several judges of a count may be a fraction.
            return str(int(value)) if may_be_whole and value == int(value) else _number(value, self.digits)

        return [value if value is None else _line(name, topic, text(value)) for topic, value in pairs]


def read_fields(path: File, names: Sequence[str]) -> pl.DataFrame:
    """The first fields of every line, with line number, text and field count (`n_fields`)."""
    lines = pl.scan_lines(path, name="text", row_index_name="line", row_index_offset=1, glob=False)
    # A byte-order mark means nothing.
    lines = lines.with_columns(pl.col("text").str.strip_prefix("\ufeff"))
    words = pl.col("text").str.strip_chars().str.replace_all(r"\s+", " ").str.split(" ")
    fields = [words.list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(names)]
    try:
        return lines.with_columns(*fields, n_fields=words.list.len()).collect()
    except FAILURES as error:
        raise unreadable(path, error) from None


def of_topics(per_query: pl.DataFrame, figures: Sequence[Figure], form: Format) -> list[str]:
    """The lines of every topic."""
    topics = per_query["query_id"].to_list()
    printed = [figure for figure in figures if figure.measure not in OF_SUMMARY]
    columns = [form.lines(figure, topics, per_query[figure.column].to_list()) for figure in printed]
    return [line for of_topic in zip(*columns, strict=True) for line in of_topic if line is not None]


def of_run(n_topics: int, tag: str, form: Format) -> dict[str, str]:
    """The head of the summary: run name and topic count."""
    name, number = (f"Z{'num_q':<22}", _number(n_topics, DIGITS)) if form.zscores else ("num_q", str(n_topics))
    return {"runid": _line("runid", "all", tag), "num_q": _line(name, "all", number)}


def of_all(values: Mapping[str, float | None], figures: Sequence[Figure], form: Format) -> list[str]:
    """The lines of the summary."""
    lines = [form.lines(f, ["all"], [values[f.column]])[0] for f in figures if f.column in values]
    return [line for line in lines if line is not None]


def summary_of(per_query: pl.DataFrame, figures: Sequence[Figure]) -> dict[str, float | None]:
    """Figures over all topics: counts are summed, others averaged.

    Figures of geometric means are logarithms in `per_query`.
    """
    numbers = {figure.column: figure.measure for figure in figures if figure.measure not in OF_TOPICS}
    sums = {name: total if measure in COUNTS else average for name, measure in numbers.items()}
    summary = per_query.select(summed(pl.col(name).cast(pl.Float64)) for name, summed in sums.items())
    values = dict(zip(numbers, summary.row(0), strict=True)) if numbers else {}
    logarithms = (name for name, value in values.items() if numbers[name] in OF_SUMMARY and value is not None)
    return values | {name: math.exp(values[name]) for name in logarithms}


def _number(value: float, digits: int) -> str:
    # As C pads it, and with the sign that 0 / 0 has on x86.
    return "  -nan" if math.isnan(value) else f"{value:.{digits}f}"


def _line(name: str, topic: object, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}"
