"""Options: each a record of what it means, what it can be and what it is by default, that all its readers share.

The options of a kind of call are a `TypedDict`, whose fields carry the records. A function takes them as
`**options: Unpack[...]` under `@takes(...)`, which checks them, fills in the defaults and completes signature and
docstring; `.ir`, Spark, the command line and the book read the same records.
"""

from __future__ import annotations

import functools
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_type_hints

from polars_ir.errors import OptionError, nearest

P = ParamSpec("P")
T = TypeVar("T")

#: No number is larger, so that those of a calculation with its square are numbers too.
LARGEST = 1e100


class Value(NamedTuple):
    """What a value can be: in words, as a test, as choices where there are such, and how a text is read as one."""

    wanted: str
    holds: Callable[[Any], bool]
    choices: tuple[Any, ...] = ()
    read: Callable[[str], Any] = str


class Option(NamedTuple):
    """An option: its default, what it can be, and what it means; the first sentence is the shell's help."""

    default: Any
    value: Value
    meaning: str


def number(value: Any) -> bool:
    """Whether a value is a finite number of any library, and neither True nor False."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    return isinstance(value, Integral) or math.isfinite(value)


def one_of(*choices: str) -> Value:
    """One of some words."""
    wanted = f"one of {', '.join(map(repr, choices))}"
    return Value(wanted, lambda value: isinstance(value, str) and value in choices, choices)


def truth() -> Value:
    """True or False."""
    return Value("True or False", lambda value: isinstance(value, bool), (True, False))


def whole(least: int, most: float = math.inf) -> Value:
    """A whole number in a range."""
    wanted = f"a whole number from {least} on" if most == math.inf else f"a whole number from {least} to {most:,}"

    def holds(value: Any) -> bool:
        return isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most

    return Value(wanted, holds, read=int)


def chance(below: float = 1) -> Value:
    """A probability, neither impossible nor as high as `below`."""
    return Value(f"between 0 and {below}, both excluded", lambda value: number(value) and 0 < value < below, read=float)


def not_negative() -> Value:
    """A number of 0 or more."""
    return Value(
        f"0 or more, and no more than {LARGEST:g}", lambda value: number(value) and 0 <= value <= LARGEST, read=float
    )


def positive() -> Value:
    """A number above 0."""
    return Value(
        f"a number above 0, and no more than {LARGEST:g}",
        lambda value: number(value) and 0 < value <= LARGEST,
        read=float,
    )


def any_number() -> Value:
    """A finite number."""
    return Value("a number", number, read=float)


def column(of: str) -> Value:
    """The name of a column."""
    return Value(f"the name of a column of {of}", lambda value: isinstance(value, str))


def anything() -> Value:
    """What the function itself looks at."""
    return Value("anything", lambda _: True)


def or_none(value: Value, meaning: str) -> Value:
    """A value, or None, which means something of its own."""
    return value._replace(
        wanted=f"{value.wanted}, or None {meaning}",
        holds=lambda given: given is None or value.holds(given),
        read=lambda text: None if text.lower() == "none" else value.read(text),
    )


def check(name: str, given: Any, value: Value) -> None:
    """Raise an `OptionError` unless an option has a value that it can have."""
    if not value.holds(given):
        words = [choice for choice in value.choices if isinstance(choice, str)]
        near = nearest(given, words) if isinstance(given, str) else ""
        raise OptionError(f"must be {value.wanted}; got {given!r}.", about=name, near=near)


@functools.cache
def options_of(kind: type) -> Mapping[str, Option]:
    """The records of a `TypedDict` of options, by name."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def parameters_of(kind: type) -> list[inspect.Parameter]:
    """The options of a kind as keyword-only parameters of a function."""
    hints = get_type_hints(kind)
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[name])
        for name, option in options_of(kind).items()
    ]


def takes(kind: type) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function take the options of a kind: checked, with their defaults, in its signature and its docstring."""
    options = options_of(kind)

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for name, option in options.items():
                check(name, kwargs.setdefault(name, option.default), option.value)
            return function(*args, **kwargs)

        own = inspect.signature(function)
        parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        call.__signature__ = own.replace(parameters=[*parameters, *parameters_of(kind)])  # type: ignore[attr-defined]  # read by help()
        call.__doc__ = documented(inspect.getdoc(function) or "", kind)
        return call

    return decorate


def documented(text: str, kind: type) -> str:
    """A docstring with the options of a kind at the end of its parameters."""
    written = "".join(
        f"{name} : default {option.default!r}\n{textwrap.indent(textwrap.fill(option.meaning, 108), '    ')}\n"
        for name, option in options_of(kind).items()
    )
    before, title, after = text.partition("\n\nReturns\n-------")
    return f"{before}\n{written.rstrip()}{title}{after}"
