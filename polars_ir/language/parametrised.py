"""Columns that are computed where a measure names them: their names are calls, which no column of a user's is."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import polars as pl

T = TypeVar("T", bound=tuple[Any, ...])


@dataclass(frozen=True)
class ParametrisedColumns(Generic[T]):
    """Columns named as calls of a function, whose arguments are the fields of a named tuple.

    >>> from polars_ir.language.budget import WITHIN, Budget
    >>> WITHIN.column(Budget(4000, "tokens", "stop")).meta.output_name()
    "within(budget=4000, cost='tokens', over='stop')"
    """

    function: str
    record: Callable[..., T]

    def column(self, parameters: T) -> pl.Expr:
        """The column of some parameters."""
        fields: Any = parameters
        return pl.col(f"{self.function}({', '.join(f'{name}={value!r}' for name, value in fields._asdict().items())})")

    def is_named(self, column: str) -> bool:
        """True for the name of such a column.

        >>> from polars_ir.language.budget import WITHIN
        >>> WITHIN.is_named("within(budget=4000, cost='tokens', over='stop')"), WITHIN.is_named("rank")
        (True, False)
        """
        return column.startswith(f"{self.function}(")

    def parameters(self, column: str) -> T:
        """The parameters in such a name.

        >>> from polars_ir.language.budget import WITHIN
        >>> WITHIN.parameters("within(budget=4000, cost='tokens', over='stop')")
        Budget(budget=4000, cost='tokens', over='stop')
        """
        call: Any = ast.parse(column, mode="eval").body
        return self.record(**{keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords})
