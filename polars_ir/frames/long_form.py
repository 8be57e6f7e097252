"""Per-query figures in long form, a row for each query and measure, as the wide form that functions read."""

from __future__ import annotations

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, InputTypeError, quoted
from polars_ir.frames.roles import TEXT
from polars_ir.language.measure import PARTS, of_part
from polars_ir.language.names import sql_part

#: The columns of the long form beside the keys: the measure, its value, and the parts that belong to it.
MEASURE, VALUE = "measure", "value"


def is_long(schema: pl.Schema) -> bool:
    """True of a frame with the names of measures in one column, and their values in another."""
    return VALUE in schema and isinstance(schema.get(MEASURE), TEXT)


def wide(about: str, frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """The frame with a column for each measure, and for each of its parts that has values."""
    if isinstance(frame, pl.LazyFrame):
        says = "is in long form, whose measures nobody knows before it is read; got a LazyFrame."
        raise InputTypeError(says, about=about, fix=Fix("Collect it first", Code(f"{about}.collect()")))
    parts = [part for part in PARTS if part in frame.columns]
    for name in (VALUE, *parts):
        if not (frame.schema[name].is_numeric() or frame.schema[name] in (pl.Boolean, pl.Null)):
            fix = Fix("Cast it", Code.casting(about, name, pl.Float64))
            raise DtypeError.of_column(about, name, "numbers, as a frame in long form has", frame.schema[name], fix)
    if not frame.width > len(parts) + 2:
        says = f"is in long form, and has no column of queries beside {quoted(frame.columns)}."
        raise ColumnError(says, about=about)
    keys = [name for name in frame.columns if name not in (MEASURE, VALUE, *parts)]
    if count := int(frame[MEASURE].null_count()):
        shown = frame.filter(pl.col(MEASURE).is_null())
        raise DataError.rows(about, f"whose {MEASURE!r} is null", "Leave them out.", count, shown)
    again = frame.select(*keys, MEASURE).is_duplicated()
    if again.any():
        shown = frame.filter(again)
        keep = "Keep one of each, or, if they are of several days, name the column that tells them apart."
        raise DataError.rows(about, "that give a query's measure again", keep, shown.height, shown)
    measure = pl.col(MEASURE).cast(pl.String)
    names = frame.select(measure.unique(maintain_order=True)).to_series().to_list()
    values = frame.with_columns(measure, pl.col(VALUE, *parts).cast(pl.Float64))
    of_parts = []
    for part in (VALUE, *parts):
        column = {name: name if part == VALUE else sql_part(name, part) or of_part(name, part) for name in names}
        there = values.select(*keys, measure.replace(column), pl.col(part).alias(VALUE))
        of_parts.append(there if part == VALUE else there.drop_nulls(VALUE))
    rows = pl.concat(of_parts).pivot(MEASURE, index=keys, values=VALUE, maintain_order=True)
    # Each measure stands before its parts.
    made = set(rows.columns)
    order = [name for column in names for name in (column, *(c(column, p) for p in PARTS for c in (sql_part, of_part)))]
    return rows.select(*keys, *(name for name in order if name in made))
