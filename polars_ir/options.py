"""Options: each a record of what it means, what it can be and what it is by default, that all its readers share.

The options of a kind of call are a `TypedDict`, whose fields carry the records. A function takes them as
`**options: Unpack[...]` under `@takes(...)`, which checks them, fills in the defaults and completes signature and
docstring; `.ir`, Spark, the command line and the book read the same records.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_type_hints

from polars_ir.values import Value, check

P = ParamSpec("P")
T = TypeVar("T")


class Option(NamedTuple):
    """An option: its default, what it can be, and what it means; the first sentence is the shell's help."""

    default: Any
    value: Value[Any]
    meaning: str


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
                kwargs[name] = check(name, kwargs.get(name, option.default), option.value)
            return function(*args, **kwargs)

        signature = inspect.signature(function)
        parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        call.__signature__ = signature.replace(parameters=[*parameters, *parameters_of(kind)])  # type: ignore[attr-defined]  # read by help()
        call.__doc__ = documented(inspect.getdoc(function) or "", kind)
        return call

    return decorate


def documented(text: str, kind: type) -> str:
    """A docstring with the options of a kind at the end of its parameters."""
    entries = "".join(
        f"{name} : default {option.default!r}\n{textwrap.indent(textwrap.fill(option.meaning, 108), '    ')}\n"
        for name, option in options_of(kind).items()
    )
    before, title, after = text.partition("\n\nReturns\n-------")
    return f"{before}\n{entries.rstrip()}{title}{after}"
