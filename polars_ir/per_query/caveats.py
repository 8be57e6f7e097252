"""Warnings of per-query frames that hold more than measures."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.errors import Fix, MeasureError, dropping, quoted, warn
from polars_ir.frames.table import Table
from polars_ir.language.names import parse


def warn_of_attributes(table: Table, measures: Sequence[str]) -> None:
    """Warn of columns that count as measures, and are none by name or by values: years, prices, numbers of words."""
    if not table.eager:
        return
    value = pl.col(measures).cast(pl.Float64)
    within = table.select(*measures).select((value.is_between(0, 1) | value.is_null()).all())
    shares = within.collect(engine="in-memory").row(0, named=True)
    others = [name for name in measures if not shares[name] and not _is_named(name)]
    # Where no column is called as a measure, all of them are the user's own.
    if others and any(_is_named(name) for name in measures):
        fix = Fix("Leave out what is no measure", dropping("per_query", others), "; define your own with @ir.measure")
        says = f"has numbers beyond 0 to 1 under names of no measure, which count as measures: {quoted(others)}."
        warn(says, about="per_query", fix=fix)


def _is_named(column: str) -> bool:
    """Whether a column is called as a measure is, or as one of its bounds."""
    try:
        parse(column.removesuffix(" low").removesuffix(" high"))
    except MeasureError:
        return False
    return True
