"""Values: what an option or a parameter can be, in words and as a test, and the check that says so.

Conventions: a number may be of any library, such as NumPy's, and comes back as Python's; True and False are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar

from polars_ir.errors import OptionError, nearest

T = TypeVar("T")

#: No number is larger, so that those of a calculation with its square are numbers too.
LARGEST = 1e100


class Value(NamedTuple, Generic[T]):
    """What a value can be: in words, as a test, as choices where there are such, and how text or a number is read."""

    wanted: str
    holds: Callable[[Any], bool]
    read: Callable[[Any], T]
    choices: tuple[Any, ...] = ()


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number of any library, and neither True nor False."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return isinstance(value, Integral) or math.isfinite(value)


def is_whole(value: object, least: int = 1, most: float = math.inf) -> TypeGuard[int]:
    """Whether a value is a whole number in a range, and neither True nor False."""
    return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most


def one_of(*choices: str) -> Value[str]:
    """One of some words."""
    wanted = f"one of {', '.join(map(repr, choices))}"
    return Value(wanted, lambda value: isinstance(value, str) and value in choices, str, choices)


def truth() -> Value[bool]:
    """True or False."""
    return Value("True or False", lambda value: isinstance(value, bool), bool, (True, False))


def whole(least: int, most: float = math.inf) -> Value[int]:
    """A whole number in a range."""
    wanted = f"a whole number from {least} on" if most == math.inf else f"a whole number from {least} to {most:,}"
    return Value(wanted, lambda value: is_whole(value, least, most), int)


def chance(below: float = 1) -> Value[float]:
    """A probability, neither impossible nor as high as `below`."""
    wanted = f"between 0 and {below}, both excluded"
    return Value(wanted, lambda value: is_number(value) and 0 < value < below, float)


def not_negative(most: float = LARGEST) -> Value[float]:
    """A number of 0 or more."""
    wanted = f"from 0 to {most:g}"
    return Value(wanted, lambda value: is_number(value) and 0 <= value <= most, float)


def positive(most: float = LARGEST) -> Value[float]:
    """A number above 0."""
    wanted = f"above 0, up to {most:g}"
    return Value(wanted, lambda value: is_number(value) and 0 < value <= most, float)


def any_number() -> Value[float]:
    """A finite number."""
    return Value("a number", is_number, float)


def column(of: str) -> Value[str]:
    """The name of a column."""
    return Value(f"the name of a column of {of}", lambda value: isinstance(value, str), str)


def anything() -> Value[Any]:
    """What the function itself looks at."""
    return Value("anything", lambda _: True, lambda value: value)


def or_none(value: Value[T], meaning: str = "") -> Value[T | None]:
    """A value, or None, which may mean something of its own."""

    def read(given: Any) -> T | None:
        return None if isinstance(given, str) and given.lower() == "none" else value.read(given)

    wanted = f"{value.wanted}, or None {meaning}".rstrip()
    return Value(wanted, lambda given: given is None or value.holds(given), read, value.choices)


def check(name: str, given: Any, value: Value[T]) -> T:
    """What was given, its numbers as Python's, or an `OptionError` that says what the option can be."""
    if not value.holds(given):
        words = [choice for choice in value.choices if isinstance(choice, str)]
        near = nearest(given, words) if isinstance(given, str) else ""
        raise OptionError(f"must be {value.wanted}; got {given!r}.", about=name, near=near)
    return value.read(given) if is_number(given) else given
