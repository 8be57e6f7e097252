"""Functions of a frame as methods of what holds the frame."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def bound(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that passes the frame of its object to a function, as the first argument."""

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self._frame, *args, **kwargs)

    return method
