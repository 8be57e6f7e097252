"""What the options of statistics can be, checked before anything is read.

Conventions: a number may be of any kind, such as NumPy's, and comes back as Python's; True and False are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import TypeGuard

from polars_ir.errors import OptionError

#: The intervals of a mean that there are.
INTERVALS = ("normal", "t", "percentile", "BCa", "bootstrap-t")

#: Those that need to know the lowest and the highest value, and hold for few queries: by one method, or the best one.
BOUNDED = ("auto", "bounded")

#: What a query counts for a system that lacks it: 0, or it is left out.
MISSING = ("zero", "skip")

#: More rearrangements take longer than anybody waits.
MOST_RESAMPLES = 10_000_000

#: No number is larger, so that those of a calculation with its square are numbers too.
LARGEST = 1e100

#: A difference of 0.4 - 0.3 is no larger than 0.1, whatever floats make of it.
ROUNDED = 1 + 1e-9


def one_of(option: str, value: object, choices: Sequence[str | None]) -> None:
    """Raise an `OptionError` unless a value is one of some words."""
    if not isinstance(value, str | None) or value not in choices:
        raise OptionError.value(option, value, choices)


def chance(option: str, value: object, *, below: float = 1) -> float:
    """A probability, neither impossible nor as high as `below`."""
    if not _is_number(value) or not 0 < value < below:
        raise OptionError(f"must be between 0 and {below}, both excluded; got {value!r}.", about=option)
    return float(value)


def not_negative(option: str, value: object) -> float:
    """A number of 0 or more."""
    if not _is_number(value) or not 0 <= value <= LARGEST:
        raise OptionError(f"must be {_finite('0 or more', value)}; got {value!r}.", about=option)
    return float(value)


def tie(tolerance: object) -> float:
    """The largest difference that is a tie."""
    return not_negative("tolerance", tolerance) * ROUNDED


def positive(option: str, value: object) -> float:
    """A number above 0."""
    if not _is_number(value) or not 0 < value <= LARGEST:
        raise OptionError(f"must be {_finite('a number above 0', value)}; got {value!r}.", about=option)
    return float(value)


def whole(option: str, value: object, least: int, most: float = math.inf) -> int:
    """A whole number in a range."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        wanted = f"from {least} on" if most == math.inf else f"from {least} to {most:,}"
        raise OptionError(f"must be a whole number {wanted}; got {value!r}.", about=option)
    return int(value)


def randomness(resamples: object, seed: object) -> dict[str, int]:
    """How often chance is tried, and from which seed."""
    return {"resamples": whole("resamples", resamples, 1, MOST_RESAMPLES), "seed": whole("seed", seed, 0)}


def _finite(wanted: str, value: object) -> str:
    """What was wanted, and the upper limit for a value beyond it."""
    return f"{wanted}, and no more than {LARGEST:g}" if _is_number(value) and value > LARGEST else wanted


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)
