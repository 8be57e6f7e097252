"""Dtypes that hold the values of a case: for ids, scores and grades any that loses nothing."""

import random
from collections.abc import Sequence
from typing import Any

import polars as pl

#: Dtypes of text, of whole numbers and of others.
TEXTS = ("String", "Categorical", "Enum")
WHOLE = ("Int64", "Int32", "Int16", "Int8", "UInt64", "UInt32", "UInt8", "Int128")
FLOATS = ("Float64", "Float32", "Decimal")

#: The dtypes that a library lacks; a pandas frame of no rows says nothing of decimals, and Polars 1 writes Int128 to
#: Parquet, but does not read it.
UNFIT = {"pandas": {"Int128", "Decimal"}, "arrow": {"Int128"}, "scan": {"Int128"}}


def chosen(
    chance: random.Random, kind: str, rows: Sequence[Any], roles: Sequence[str], other: Sequence[Any]
) -> dict[str, str]:
    """A dtype for each role that holds its values, in a kind of table."""
    return {
        role: chance.choice([dtype for dtype in dtypes if dtype not in UNFIT.get(kind, ())])
        for role, dtypes in possible_for(rows, roles, other).items()
    }


def usual(rows: Sequence[Any], roles: Sequence[str], other: Sequence[Any]) -> dict[str, str]:
    """The most usual dtype for each role that holds its values."""
    return {role: dtypes[0] for role, dtypes in possible_for(rows, roles, other).items()}


def possible_for(rows: Sequence[Any], roles: Sequence[str], other: Sequence[Any]) -> dict[str, list[str]]:
    """The dtypes that hold the values of each role; without any, ids are such as those of the other table."""
    return {role: possible(role, values_of(rows, role) or values_of(other, role)) for role in roles}


def values_of(rows: Sequence[Any], role: str) -> list[Any]:
    """The values of a role that rows of their kind have."""
    values = (getattr(row, role, None) for row in rows)
    return [value for value in values if value is not None]


def possible(role: str, values: Sequence[Any]) -> list[str]:
    """The dtypes that hold some values, the usual one first, and as often as all others."""
    of_ids = role in ("query", "document")
    if not values:
        return ["String" if of_ids else "Float64"]
    names = TEXTS if isinstance(values[0], str) else WHOLE if of_ids else (*FLOATS, *WHOLE)
    fitting = [name for name in names if holds(name, values)]
    return [fitting[0]] * len(fitting) + fitting


def holds(name: str, values: Sequence[Any]) -> bool:
    """True if a dtype holds some values exactly."""
    try:
        held = series(values, name).to_list()
    except (pl.exceptions.PolarsError, OverflowError, TypeError):
        return False
    whole_in_floats = name in FLOATS and any(isinstance(value, int) and abs(value) > 2**53 for value in values)
    return held == list(values) and not whole_in_floats


def series(values: Sequence[Any], name: str) -> pl.Series:
    """Values as a Series of a dtype by its name."""
    if name == "Enum":
        return pl.Series(values, dtype=pl.Enum(sorted({value for value in values if value is not None})))
    if name in ("Decimal", "Float32"):
        dtype = pl.Decimal(20, 4) if name == "Decimal" else pl.Float32
        return pl.Series(values, dtype=pl.Float64).cast(dtype)
    return pl.Series(values, dtype=getattr(pl, name))
