"""Means over queries: of every measure, and with their spread.

Conventions: a null is a query for which a measure is undefined, and left out. Queries are added up in the order of
their ids, so that a mean is the same to the last bit whatever the order of the rows. How a measure is averaged is known
by its name: `GMAP` has a geometric mean, `NumQ` a sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from statistics import NormalDist
from typing import Any, overload

import polars as pl

from polars_ir.conversion import give_back
from polars_ir.errors import ColumnError, MeasureError, OptionError, explain_options
from polars_ir.naming import parse
from polars_ir.registry import CATALOG
from polars_ir.schema import Table, per_query_table
from polars_ir.vocabulary import average, ratio, total

#: A key that all queries share, so that a mean over all of them is added up as one over a system's is.
ALL = "polars_ir: all"

#: The lowest value in a geometric mean, which a single 0 would otherwise make 0 (trec_eval's).
FLOOR = 1e-5

#: The measure in the name of a column: `GMAP` in `GMAP(rel=2) low`.
MEASURE = re.compile(r"[^(@ ]+")


@overload
def mean(per_query: pl.LazyFrame) -> pl.LazyFrame: ...
@overload
def mean(per_query: pl.DataFrame) -> pl.DataFrame: ...
@overload
def mean(per_query: Any) -> Any: ...
@explain_options
def mean(per_query: Any) -> Any:
    """The mean of every measure over the queries: one row per system.

    Null values, of queries for which a measure is undefined, are left out of its mean. Counts are averaged like
    everything else; trec_eval prints their sums. Measures of the catalogue that are averaged otherwise have their own
    mean: `GMAP` and `GMbpref` the geometric one, exp(mean(log(max(value, 1e-5)))), and `NumQ` the sum, the number of
    queries.

    Parameters
    ----------
    per_query
        What `evaluate` returned: a query column, `run` where there are several, and measures in numeric or Boolean
        columns; others are left out.

    Returns
    -------
    The kind of the input
        `run` (if there is one) and a Float64 column per measure.

    Raises
    ------
    IRError
        For a frame without a query column or without a measure.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> ir.mean(ir.evaluate(run, qrels, ["RR", "P@1"])).rows()
    [(0.75, 0.5)]
    """
    table, measures = measures_of(per_query)
    system, queries = _by_system(table)
    means = queries.agg(_average(measure).alias(measure) for measure in measures)
    return give_back(means.select(*system, *measures), per_query)


@overload
def summarize(per_query: pl.LazyFrame, *, confidence: float = ...) -> pl.LazyFrame: ...
@overload
def summarize(per_query: pl.DataFrame, *, confidence: float = ...) -> pl.DataFrame: ...
@overload
def summarize(per_query: Any, *, confidence: float = ...) -> Any: ...
@explain_options
def summarize(per_query: Any, *, confidence: float = 0.95) -> Any:
    """Mean, spread and confidence interval of every measure over the queries: one row per system and measure.

    The interval is mean -/+ z * std / sqrt(n), z being the quantile of the normal distribution: queries are taken as a
    sample of all that could be asked, and enough of them (some 30) for their mean to be normal. That of a geometric
    mean is of the logarithms.

    Parameters
    ----------
    per_query
        What `evaluate` returned.
    confidence
        How sure the interval is to hold the mean of all queries; between 0 and 1.

    Returns
    -------
    The kind of the input
        `run` (if there is one), `measure` (String), `mean`, `std` (of the sample), `low`, `high` (Float64) and
        `n_queries` (UInt32), which counts the queries with a value. With a single query there is no spread and no
        interval, but null.

    Raises
    ------
    IRError
        For a frame without a query column or without a measure, or a confidence outside (0, 1).

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> ir.summarize(ir.evaluate(run, qrels, "RR")).select("measure", "mean", "n_queries").rows()
    [('RR', 0.75, 2)]
    """
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise OptionError(f"confidence must be between 0 and 1, both excluded; got {confidence!r}.")
    table, measures = measures_of(per_query)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    system, queries = _by_system(table)
    rows = [
        queries.agg(
            pl.lit(measure).alias("measure"),
            mean=_average(measure),
            std=_std(_value(measure)),
            **_interval(measure, z),
            n_queries=pl.col(measure).count(),
        )
        for measure in measures
    ]
    columns = [*system, "measure", "mean", "std", "low", "high", "n_queries"]
    return give_back(pl.concat(rows).select(columns), per_query)


def measures_of(
    per_query: Any,
    measures: str | pl.Expr | Iterable[str | pl.Expr] | None = None,
    *,
    without: Any = None,
) -> tuple[Table, list[str]]:
    """A per-query frame, and which of its columns are measures: those asked for, or all numbers but `without`."""
    table = per_query_table(per_query)
    others = [without] if isinstance(without, str) else without
    left_out = {*table.keys, *(others if isinstance(others, (list, tuple, set)) else ())}
    numbers = [
        name
        for name, dtype in table.dtypes.items()
        if name not in left_out and (dtype.is_numeric() or dtype == pl.Boolean)
    ]
    if not numbers:
        raise ColumnError.no_measure([name for name in table.columns if name not in left_out])
    if measures is None:
        return table, numbers
    asked = [measures] if isinstance(measures, (str, pl.Expr)) else list(measures)
    found = list(dict.fromkeys(_column_of(measure, numbers) for measure in asked))
    if not found:
        raise MeasureError.none_given()
    return table, found


def _column_of(measure: str | pl.Expr, columns: Sequence[str]) -> str:
    """The column of a measure, given by any of its names or by the expression it was computed with."""
    name = measure.meta.output_name() if isinstance(measure, pl.Expr) else measure
    if name not in columns and isinstance(name, str):
        with suppress(MeasureError):
            name = parse(name).meta.output_name()
    if name not in columns:
        raise ColumnError.measure_not_there(measure if isinstance(measure, str) else name, columns)
    return name


def _by_system(table: Table) -> tuple[list[str], pl.lazyframe.group_by.LazyGroupBy]:
    """The key of the systems, if there are several, and the queries of each, always in the same order."""
    system = [key for key in table.keys if key == "run"]
    queries = table.all_columns().sort(table.keys).with_columns(pl.lit(True).alias(ALL))
    return system, queries.group_by(*system, ALL, maintain_order=True)


def _average(measure: str) -> pl.Expr:
    """What stands for a measure over all queries."""
    kind = _kind(measure)
    if kind == "sum":
        return total(pl.col(measure).cast(pl.Float64).drop_nulls())
    return average(_logged(measure)).exp() if kind == "geometric" else average(_value(measure))


def _kind(measure: str) -> str:
    """How a measure is averaged: as the catalogue says, if it knows it."""
    found = MEASURE.match(measure)
    spec = CATALOG.get(found[0]) if found else None
    return spec.average if spec else "arithmetic"


def _value(measure: str) -> pl.Expr:
    return pl.col(measure).cast(pl.Float64)


def _logged(measure: str) -> pl.Expr:
    return _value(measure).clip(lower_bound=FLOOR).log()


def _std(value: pl.Expr) -> pl.Expr:
    """The standard deviation of the sample."""
    squares = (value - average(value)) ** 2
    return ratio(total(squares.drop_nulls()), value.count().cast(pl.Int64) - 1).sqrt()


def _interval(measure: str, z: float) -> dict[str, pl.Expr]:
    """The ends of the confidence interval; a geometric mean has them on the scale of logarithms, a sum has none."""
    kind = _kind(measure)
    value = _logged(measure) if kind == "geometric" else _value(measure)
    half = z * (_std(value) / value.count().sqrt())
    low, high = average(value) - half, average(value) + half
    if kind == "sum":
        return dict.fromkeys(["low", "high"], pl.lit(None, pl.Float64))
    return {"low": low.exp(), "high": high.exp()} if kind == "geometric" else {"low": low, "high": high}
