"""The measures of a per-query frame: which of its columns are measures, and which of them are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import (
    ColumnError,
    DtypeError,
    Fix,
    InputTypeError,
    MeasureError,
    casting,
    quoted,
)
from polars_ir.frames.table import Table, per_query_table
from polars_ir.language.names import OneMeasure, expressions, listed

#: Measures of a per-query frame, by name or expression; None for all.
Measures = OneMeasure | Iterable[OneMeasure] | None


def measures_of(
    per_query: Any,
    measures: Measures = None,
    *,
    without: Any = None,
) -> tuple[Table, list[str]]:
    """A per-query frame, and which of its columns are measures: those asked for, or all numbers but `without`."""
    if isinstance(per_query, Mapping) and not per_query:
        raise InputTypeError(
            "must be a frame of measures per query, or a dict of such by system; got {}.", about="per_query"
        )
    table = per_query_table(per_query)
    others = [without] if isinstance(without, str) else without
    left_out = {*table.keys, *(others if isinstance(others, (list, tuple, set)) else ())}
    numbers = [
        name
        for name, dtype in table.dtypes.items()
        if name not in left_out and (dtype.is_numeric() or dtype == pl.Boolean)
    ]
    if not numbers:
        raise _no_measure(table, left_out)
    if measures is None:
        return table, numbers
    columns = (column for measure in listed(measures) for column in _columns_of(measure, numbers, table))
    names = list(dict.fromkeys(columns))
    if not names:
        raise MeasureError.none_given()
    return table, names


def _no_measure(table: Table, left_out: Collection[str]) -> ColumnError:
    """That no column is left to be a measure, and why."""
    others = {name: dtype for name, dtype in table.dtypes.items() if name not in left_out}
    attributes = [name for name in table.columns if name in left_out and name not in table.keys]
    if not others and attributes:
        return ColumnError(
            f"has no measure beside {quoted(attributes)}, taken for slices or weights; it must have another numeric or "
            "Boolean column. Give those in a frame of their own, with a query column.",
            about="per_query",
        )
    has = ", ".join(f"{name!r} ({dtype})" for name, dtype in others.items()) or "no columns beside its keys"
    fix = Fix("Cast what is one", casting("per_query", next(iter(others)), pl.Float64)) if others else None
    says = f"has no measure, which is a numeric or Boolean column; it has {has}."
    return ColumnError(says, about="per_query", fix=fix)


def _columns_of(measure: OneMeasure, columns: Sequence[str], table: Table) -> list[str]:
    """The columns of a measure, given by any of its names or by the expression it was computed with."""
    try:
        parsed = [] if isinstance(measure, str) and measure in columns else expressions(measure)
        names = [expression.meta.output_name() for expression in parsed] or [str(measure)]
    except MeasureError:
        if not isinstance(measure, str):
            raise
        names = [measure]  # a column of the user's own, or none there is
    return [_checked(name, columns, table) for name in names]


def _checked(name: str, columns: Sequence[str], table: Table) -> str:
    """The name of a column of numbers; an error for another."""
    if name not in columns and name in table.dtypes and not table.dtypes[name].is_numeric():
        cast = Fix("Cast it", casting("per_query", name, pl.Float64))
        raise DtypeError.of_column("per_query", name, "numbers or Booleans", table.dtypes[name], cast)
    if name not in columns:
        raise ColumnError.measure_not_there(name, columns)
    return name
