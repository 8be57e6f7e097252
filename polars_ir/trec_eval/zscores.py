"""trec_eval's `-Z`: figures of topics as standard deviations from a mean, which a file has for each of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.errors import FileError
from polars_ir.files.unreadable import FAILURES, unreadable
from polars_ir.trec_eval.lines import Figure
from polars_ir.trec_eval.measures import OF_TOPICS

#: The fields of a line of the file.
FIELDS = ("query_id", "measure", "mean", "std")

#: What stands for a figure that the file does not tell the mean of.
MISSING = -1_000_000.0


def read_zscores(path: str) -> pl.DataFrame:
    """The means and standard deviations of a file, of lines `topic measure mean deviation`."""
    try:
        text = pl.scan_lines(path, name="text", row_index_name="line", row_index_offset=1, glob=False).collect()
    except FAILURES as error:
        raise unreadable(path, error) from None
    words = pl.col("text").str.strip_chars().str.replace_all(r"\s+", " ").str.split(" ")
    fields = [words.list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(FIELDS)]
    numbers = [pl.col(name).cast(pl.Float64, strict=False) for name in FIELDS[2:]]
    rows = text.with_columns(*fields, n_fields=words.list.len()).with_columns(numbers)
    wrong = rows.filter((pl.col("n_fields") != len(FIELDS)) | pl.any_horizontal(pl.col(FIELDS[2:]).is_null()))
    for line, content in wrong.select("line", "text").head(1).rows():
        raise FileError.at_line(path, line, content, "a line has a topic, a measure, a mean and a standard deviation.")
    return rows.select(FIELDS).unique(FIELDS[:2], keep="first")


def as_zscores(per_query: pl.DataFrame, figures: Sequence[Figure], zscores: pl.DataFrame) -> pl.DataFrame:
    """The figures of topics, each less its mean, in standard deviations."""
    numbers = [figure for figure in figures if figure.measure not in OF_TOPICS]
    if not numbers:
        return per_query
    values = per_query.select("query_id", *(pl.col(figure.column).cast(pl.Float64) for figure in numbers))
    long = values.unpivot(index="query_id", variable_name="measure", value_name="value")
    long = long.join(zscores, on=FIELDS[:2], how="left", maintain_order="left")
    value, mean, std = pl.col("value"), pl.col("mean"), pl.col("std")
    constant = pl.when(value == mean).then(0.0).otherwise(MISSING)
    score = pl.when(mean.is_null()).then(MISSING).when(std == 0).then(constant).otherwise((value - mean) / std)
    wide = long.with_columns(value=score).pivot("measure", index="query_id", values="value", maintain_order=True)
    rest = per_query.drop(figure.column for figure in numbers)
    return rest.join(wide, on="query_id", how="left", maintain_order="left")
