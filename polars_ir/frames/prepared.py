"""Judgments for many calls, with the tables and numbers made of them alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import polars as pl

T = TypeVar("T")


class PreparedJudgments:
    """Judgments in memory, with the tables and numbers made of them; every function takes them as qrels."""

    def __init__(self, frame: pl.DataFrame) -> None:
        # Polars can change a frame in place; a clone, which copies no values, stays as it is.
        self.frame = frame.clone()
        self._made: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"<judgments: {self.frame.height} rows, columns {', '.join(self.frame.columns)}>"

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; made on first access."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made
