"""What every public function does for its caller: wrong arguments are explained, in the words of its frames."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import ParamSpec, TypeVar

from polars_ir.errors.doors import Door, Fix, entered_by
from polars_ir.errors.kinds import IRWarning, OptionError

P = ParamSpec("P")
T = TypeVar("T")


#: What a caller with pandas frames has.
PANDAS = Door("pandas")


def explain_options(function: Callable[P, T]) -> Callable[P, T]:
    """Turn a call with wrong arguments into an `OptionError`, and say what goes wrong in the words of its frames."""
    signature = inspect.signature(function)
    names = list(signature.parameters)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with entered_by(PANDAS) if any(map(_holds_pandas, args)) else nullcontext():
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                wrong = next((key for key in kwargs if key not in names), "")
                raise OptionError.misspelt(function.__name__, str(error), wrong, names) from None
            return function(*args, **kwargs)

    return call


def warn(says: str, *, about: str = "", fix: Fix | None = None) -> None:
    """Issue an `IRWarning` that points at the line of the user's that called us."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "polars_ir":
        frame, level = frame.f_back, level + 1
    warnings.warn(IRWarning(says, about=about, fix=fix), stacklevel=level)


def _holds_pandas(value: object) -> bool:
    """Whether an argument is a pandas frame, or holds frames of several systems as such."""
    if isinstance(value, Mapping) and value:
        value = next(iter(value.values()))
    return type(value).__module__.partition(".")[0] == "pandas"
