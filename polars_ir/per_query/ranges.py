"""Between which values a measure is, and which of them is the better one.

Conventions: a range is (worst, best), as for the measures of the catalogue; either can be infinite. A column that is no
measure of the catalogue has none unless its user gives it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_ir.errors import Code, DataError, Fix, OptionError, nearest, option
from polars_ir.language.names import column_of
from polars_ir.per_query.options import ROUNDED

if TYPE_CHECKING:
    from polars_ir.per_query.scores import Floats


class Range(NamedTuple):
    """The worst and the best value of a measure."""

    worst: float
    best: float

    @property
    def is_cost(self) -> bool:
        """Whether lower is better."""
        return self.best < self.worst

    @property
    def width(self) -> float:
        """How far a value can fall."""
        return abs(self.best - self.worst)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        return min(self), max(self)


def range_of(column: str) -> Range | None:
    """The range of the measure that a column is named for; None where its name tells none.

    >>> range_of("nDCG@10"), range_of("Hole@5"), range_of("latency")
    (Range(worst=0.0, best=1.0), Range(worst=1.0, best=0.0), None)
    """
    named = column_of(column)
    if named is None:
        return None
    low, high = map(float, named.spec.bounds)
    return Range(high, low) if named.is_cost else Range(low, high)


def ranges_of(columns: list[str], ranges: Mapping[str, Any] | None) -> dict[str, Range]:
    """The range of each column: as given, else as the catalogue has it; an error for a column of neither."""
    ranges = _checked(ranges)
    if missed := [name for name in ranges if name not in columns]:
        raise OptionError(f"ranges has no such measure: {missed[0]!r}.{nearest(missed[0], columns)}")
    by_column = {name: ranges.get(name) or range_of(name) for name in columns}
    if unknown := [name for name, its in by_column.items() if its is None]:
        raise OptionError(
            f"{unknown[0]!r} is no measure of the catalogue.",
            fix=Fix(
                "Say what its worst and its best value are",
                Code(f"ranges={{{unknown[0]!r}: (0, 1)}}"),
                ", or (float('inf'), 0) where lower is better and there is no limit",
                without_code="Say what its worst and its best value are: "
                f"{option('ranges')} {unknown[0]}=0:1, or inf:0 where lower is better and there is no limit",
            ),
        )
    return {name: its for name, its in by_column.items() if its is not None}


def _checked(ranges: Mapping[str, Any] | None) -> dict[str, Range]:
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        raise OptionError(f"ranges must be a dict of (worst, best) by measure; got {ranges!r}.")
    return {name: _range(name, its) for name, its in ranges.items()}


def _range(name: str, its: Any) -> Range:
    try:
        worst, best = map(float, its)
    except (TypeError, ValueError):
        worst = best = math.nan
    if math.isnan(worst) or math.isnan(best) or worst == best:
        raise OptionError(f"ranges must give two numbers, the worst and the best value of {name!r}; got {its!r}.")
    return Range(worst, best)


def check_range(measure: str, values: Floats, its: Range) -> None:
    """Raise a `DataError` for values beyond the range, as of a measure in percent."""
    low, high = its.ends
    beyond = values[(values < low - ROUNDED + 1) | (values > high + ROUNDED - 1)]
    if len(beyond):
        raise DataError(
            f"{measure!r} must be from {low:g} to {high:g}; there is {beyond[0]:g}.",
            fix=Fix(
                "Divide what is in percent by 100, or say what it is between",
                Code(f"ranges={{{measure!r}: (0, 100)}}"),
                without_code=f"Divide what is in percent by 100, or say what it is between: {option('ranges')} "
                f"{measure}=0:100",
            ),
        )
