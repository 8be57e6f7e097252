"""Measures of a per-query frame: its measure columns, and the range of each.

Conventions: a range is (worst, best), as for the measures of the catalogue; either can be infinite. A column outside
the catalogue has none unless the user gives it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import filterfalse
from typing import Any, NamedTuple, TypeGuard, TypeVar

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    MeasureError,
    OptionError,
    fold,
    nearest,
    option,
    quoted,
    warn,
)
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.roles import TOPICS
from polars_ir.language.columns import canonical_name, column_of
from polars_ir.language.names import Measures as AnyMeasures
from polars_ir.language.names import OneMeasure, expressions, listed
from polars_ir.per_query.shared.options import ROUNDED

T = TypeVar("T")

#: The columns of measures of answers, which are from 0 to 1.
OF_ANSWERS = re.compile(r"(strict_)?((vital|all|weighted)_score|(mean_)?citation_(precision|recall))")

#: The highest percentage.
PERCENTS = 100

#: A percentage of the range of a measure or of its mean.
PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*", re.ASCII)

#: Measures of a per-query frame, by name or expression; None for all.
Measures = AnyMeasures | None


def measures_of(table: CanonicalFrame, measures: Measures = None, *, without: Collection[str] = ()) -> list[str]:
    """Measure columns of a per-query table: those named, or all numbers but `without`."""
    left_out = {*table.keys, *without}
    numbers = []
    for name, dtype in table.dtypes.items():
        if name not in left_out and fold(name) not in TOPICS and (dtype.is_numeric() or dtype == pl.Boolean):
            numbers.append(name)
    if not numbers:
        raise _no_measure(table, left_out)
    if measures is None:
        return numbers
    if hasattr(type(measures), "columns"):
        fix = Fix("Give the frames of several systems in a dict", Code("ir.compare({'a': per_query, 'b': other})"))
        raise MeasureError("must be names of measures; got a table.", about="measures", fix=fix)
    names: dict[str, None] = {}
    for measure in listed(measures):
        if isinstance(measure, str) and measure in numbers:
            names[measure] = None
        else:
            names.update(dict.fromkeys(_columns_of(measure, numbers, table)))
    if not names:
        raise MeasureError.none_given()
    return list(names)


def _no_measure(table: CanonicalFrame, left_out: Collection[str]) -> ColumnError:
    """The error for a frame without a measure, with the reason."""
    others = {name: dtype for name, dtype in table.dtypes.items() if name not in left_out}
    attributes = [name for name in table.columns if name in left_out and name not in table.keys]
    if not others and attributes:
        return ColumnError(
            f"has no measure beside {quoted(attributes)}, taken for slices or weights; it must have another numeric or "
            "Boolean column. Give those in a frame of their own, with a query column.",
            about=table.about,
        )
    has = ", ".join(f"{name!r} ({dtype})" for name, dtype in others.items()) or "no columns beside its keys"
    fix = Fix("Cast what is one", Code.casting(table.about, next(iter(others)), pl.Float64)) if others else None
    says = f"has no measure, which is a numeric or Boolean column; it has {has}."
    return ColumnError(says, about=table.about, fix=fix)


def _columns_of(measure: OneMeasure, columns: Sequence[str], table: CanonicalFrame) -> list[str]:
    """Columns of a measure, by another of its names or by the expression it was computed with."""
    try:
        names = [expression.meta.output_name() for expression in expressions(measure)]
    except MeasureError:
        if not isinstance(measure, str):
            raise
        names = [measure]
    for place, name in enumerate(names):
        if name in columns:
            continue
        # A column has the canonical name or that in SQL.
        if same := [column for column in columns if canonical_name(column) == name]:
            names[place] = same[0]
            continue
        if name in table.dtypes and not table.dtypes[name].is_numeric():
            cast = Fix("Cast it", Code.casting(table.about, name, pl.Float64))
            raise DtypeError.of_column(table.about, name, "numbers or Booleans", table.dtypes[name], cast)
        near = nearest(str(name), columns)
        says = f"has no measure {name!r}.{near} It has {quoted(columns)}; evaluate makes others."
        raise ColumnError(says, about=table.about)
    return names


class Range(NamedTuple):
    """The worst and the best value of a measure."""

    worst: float
    best: float

    @property
    def is_cost(self) -> bool:
        """True where lower is better."""
        return self.best < self.worst

    @property
    def width(self) -> float:
        """The largest drop of a value."""
        return abs(self.best - self.worst)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return min(self), max(self)


def range_of(column: str) -> Range | None:
    """Range of the measure that a column is named for; None for an unknown name.

    >>> range_of("nDCG@10"), range_of("Hole@5"), range_of("latency")
    (Range(worst=0.0, best=1.0), Range(worst=1.0, best=0.0), None)
    """
    named = column_of(column)
    if named is None:
        return Range(0.0, 1.0) if OF_ANSWERS.fullmatch(column) else None
    low, high = map(float, named.info.bounds)
    return Range(high, low) if named.info.best == low else Range(low, high)


def ranges_of(columns: list[str], ranges: Mapping[str, Any] | None) -> dict[str, Range]:
    """Range of each column: the user's, or the catalogue's; an error for a column of neither."""
    ranges = {} if ranges is None else ranges
    if not isinstance(ranges, Mapping):
        raise OptionError(f"ranges must be a dict of (worst, best) by measure; got {ranges!r}.")
    if ranges:
        ranges = _ranges_by_column(columns, ranges)
    found: dict[str, Range] = {}
    for name in columns:
        its = _range(name, ranges[name]) if name in ranges else range_of(name)
        if its is None:
            fix = Fix(
                "Say what its worst and its best value are, (float('inf'), 0) where lower is better without a limit",
                Code(f"ranges={{{name!r}: (0, 1)}}"),
                without_code="Say what its worst and its best value are: "
                f"{option('ranges')} {name}=0:1, or inf:0 where lower is better and there is no limit",
            )
            raise OptionError(f"{name!r} is not a measure of the catalogue.", fix=fix)
        found[name] = its
    return found


def _ranges_by_column(columns: Sequence[str], ranges: Mapping[str, Any]) -> dict[str, Any]:
    """The ranges by the names of the columns; an error for a range without a column."""
    by_name = {**{canonical_name(column): column for column in columns}, **{column: column for column in columns}}

    def columns_of(name: str) -> list[str]:
        if (column := by_name.get(name) or by_name.get(canonical_name(name))) is None:
            raise OptionError(f"ranges has no such measure: {name!r}.{nearest(name, columns)}")
        return [column]

    return by_column("ranges", ranges, columns_of)


def by_column(option: str, given: Mapping[str, T], columns_of: Callable[[str], Sequence[str]]) -> dict[str, T]:
    """Values of an option by columns of measures; an `OptionError` for a measure given twice, by two spellings."""
    names: dict[str, str] = {}
    for name in given:
        for column in columns_of(name):
            if column in names:
                says = f"gives two values for {column!r}, as {names[column]!r} and as {name!r}."
                raise OptionError(says, about=option, fix="Leave one of them out")
            names[column] = name
    return {column: given[name] for column, name in names.items()}


def _range(name: str, its: Any) -> Range:
    try:
        worst, best = map(float, its)
    except (TypeError, ValueError, OverflowError):
        worst = best = math.nan
    if math.isnan(worst) or math.isnan(best) or worst == best:
        raise OptionError(f"ranges must give two numbers, the worst and the best value of {name!r}; got {its!r}.")
    return Range(worst, best)


def check_range(measure: str, values: stats.Floats, its: Range, otherwise: str | None = None) -> None:
    """Raise a `DataError` for values beyond the range, such as a measure in percent.

    Functions that take no ranges say what to do `otherwise`.
    """
    low, high = its.ends
    if is_beyond(values, its).any():
        lowest, highest = float(values.min()), float(values.max())
        extreme = max(lowest, highest, key=lambda value: max(low - value, value - high))
        are_percents = in_percent(lowest, highest, its)
        divide, say = "Divide what is in percent by 100, or " * are_percents, "say what it is between"
        # Code could name the ends of these values alone, beyond which others may be.
        fix: Fix | str = f"Say in {option('ranges')} what its worst and its best value can be"
        if are_percents:
            worst, best = (f"{end * PERCENTS:.15g}" for end in its)
            fix = Fix(
                divide + say,
                Code(f"ranges={{{measure!r}: ({worst}, {best})}}"),
                without_code=f"{divide}{say}: {option('ranges')} {measure}={worst}:{best}",
            )
        if otherwise:
            fix = f"{divide}{otherwise}"
            fix = fix[0].upper() + fix[1:]
        raise DataError(f"{measure!r} must be from {low:g} to {high:g}; there is {extreme:g}.", fix=fix)


def is_beyond(value: Any, its: Range) -> Any:
    """True for a value, or those of an array, beyond a range by more than rounding."""
    low, high = its.ends
    return (value < low - ROUNDED + 1) | (value > high + ROUNDED - 1)


def in_percent(lowest: float, highest: float, its: Range) -> bool:
    """True for values beyond a range to 1 that are within a hundred times of it."""
    low, high = its.ends
    return high == 1 and math.isfinite(low) and low * PERCENTS <= lowest and highest <= PERCENTS


def check_bounds(measure: str, values: stats.Floats, otherwise: str) -> None:
    """Raise a `DataError` for values beyond the range of the catalogue, if that is finite."""
    its = range_of(measure)
    if its is not None and math.isfinite(its.width):
        check_range(measure, values, its, otherwise)


def is_percentage(drop: object) -> TypeGuard[str]:
    """True for a drop written as a percentage."""
    return isinstance(drop, str) and PERCENT.fullmatch(drop) is not None


def readings(drop: str, measure: str, its: Range, mean: float, of: str) -> OptionError:
    """The error for a percentage, with both readings: a share of the range, and of a mean that is called `of`."""
    share = float(drop.strip().removesuffix("%")) / 100
    return OptionError(
        f"{drop!r} can be {share * its.width:g}, a share of the range of {measure!r}, or {share * mean:.4g}, one of "
        f"{of} of {mean:.4g}. Give the number.",
        about="max_drop",
    )


def warn_of_attributes(table: CanonicalFrame, measures: Sequence[str]) -> None:
    """Warn of columns that count as measures, and are none by name or by values: years, prices, numbers of words."""
    unnamed = list(filterfalse(column_of, measures))
    # Where no column is named as a measure, all of them are the user's own.
    if not table.rows or not 0 < len(unnamed) < len(measures):
        return
    value = pl.col(unnamed).cast(pl.Float64)
    within = table.select(*unnamed).select((value.is_between(0, 1) | value.is_null()).all())
    shares = within.collect(engine="in-memory").row(0, named=True)
    if others := [name for name, is_share in shares.items() if not is_share]:
        words = "Define your own measures with @ir.measure, and leave out other columns"
        fix = Fix(words, Code.dropping("per_query", others))
        says = f"has numbers beyond 0 to 1 under names of no measure, which count as measures: {quoted(others)}."
        warn(says, about="per_query", fix=fix)
