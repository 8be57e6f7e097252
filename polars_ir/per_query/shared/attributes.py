"""Attributes of queries: columns of a per-query frame, or joined from another frame.

Conventions: every query must have a value, and only one. A frame in memory is checked at once, and the error shows its
first invalid rows; a plan checks itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, nearest
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import Frame, to_polars
from polars_ir.frames.roles import TEXT, find, recognised
from polars_ir.frames.rules import Rule, check_duplicates, checked
from polars_ir.per_query.shared.keys import QUERY

#: Values of a dict by query.
SCALARS = (str, int, float, date, type(None))

#: Advice on queries without a value of an attribute.
VALUELESS = "Give each query one, or leave those rows out"


def column_for(name: str) -> str:
    """The column of an attribute, whose name no measure has."""
    return f"polars_ir: of {name}"


def with_attributes(
    table: CanonicalFrame, rows: pl.LazyFrame, attributes: Any, option: str
) -> tuple[pl.LazyFrame, list[str]]:
    """Rows of a per-query frame with attributes of its queries, and their names.

    `attributes` names columns of the frame itself, is a Series of them, values by query in a dict, or a frame with a
    query column, `run` if its values differ by system, and the columns to join. `option` is its name to the user.
    """
    if isinstance(attributes, str) or (
        isinstance(attributes, Sequence) and all(isinstance(name, str) for name in attributes)
    ):
        names = [attributes] if isinstance(attributes, str) else list(dict.fromkeys(attributes))
        _check_names(table, names, option)
        check_types(table.dtypes, names, option, "per_query")
        rows = rows.with_columns(pl.col(name).alias(column_for(name)) for name in names)
        rule = _valued(table.dtypes, names, option, Fix(VALUELESS, _with_values(table.dtypes, names)))
        return table.checked(rule, rows=rows, names={column_for(name): name for name in names}), names
    if isinstance(attributes, pl.Series):
        source, keys, names = _of_rows(table, attributes, option), table.keys, [attributes.name]
    else:
        if isinstance(attributes, Mapping) and isinstance(next(iter(attributes.values()), None), SCALARS):
            columns = {"query_id": attributes, option: attributes.values()}
            attributes = pl.DataFrame([pl.Series(name, [*part], strict=False) for name, part in columns.items()])
        source, keys, names = _of_frame(table, to_polars(option, attributes, column="value"), option)
    schema = source.collect_schema()
    dtypes = {name: schema[column_for(name)] for name in names}
    check_types(dtypes, names, option, option)
    order: Literal["left"] | None = None
    if table.eager:
        values = source.collect(engine="in-memory")
        check_duplicates(option, values, keys, table.names)
        source, order = values.lazy(), "left"
    else:
        once = Rule(pl.len().over(keys) > 1, f"with several values of {option}", "Give each query one.")
        source = checked(source, once, eager=False, about=table.about, keys=keys, names=table.names)
    rows = rows.join(source, on=keys, how="left", maintain_order=order)
    rule = _valued(dtypes, names, option, Fix(VALUELESS))
    return table.checked(rule, rows=rows, names={column_for(name): name for name in names}), names


def _valued(dtypes: Mapping[str, pl.DataType], names: Sequence[str], option: str, fix: Fix) -> Rule:
    """The rule that every query has a value."""
    columns = {name: pl.col(column_for(name)) for name in names}
    missing = [
        value.is_null() | (value.is_nan() if dtypes[name].is_float() else False) for name, value in columns.items()
    ]
    return Rule(pl.any_horizontal(missing), f"without a value of {option}", fix)


def _with_values(dtypes: Mapping[str, pl.DataType], names: Sequence[str]) -> Code:
    """Code that leaves out the queries without a value."""
    rules = [f"pl.col({name!r}).is_not_null()" for name in names]
    rules += [f"pl.col({name!r}).is_not_nan()" for name in names if dtypes[name].is_float()]
    columns = names[0] if len(names) == 1 else list(names)
    return Code(f"per_query.filter({', '.join(rules)})", f"per_query.dropna(subset={columns!r})")


def _of_rows(table: CanonicalFrame, values: pl.Series, option: str) -> pl.LazyFrame:
    """Values of a Series with one for each row of a per-query frame, in its order, by the keys of the table."""
    if not table.eager or len(values) != table.rows:
        has = f"{table.rows} rows" if table.eager else "an unknown number of rows, as it is a LazyFrame"
        raise DataError(
            f"is a Series of {len(values)} values; per_query has {has}. Give a frame with a query column.", about=option
        )
    rows = table.select(*table.keys).collect(engine="in-memory")
    return rows.with_columns(values.alias(column_for(values.name))).lazy()


def _check_names(table: CanonicalFrame, names: Sequence[str], option: str) -> None:
    for name in names:
        if name not in table.columns or name in table.keys:
            others = [column for column in table.columns if column not in (*table.keys, QUERY)]
            raise ColumnError(
                f"must name a column of per_query, or be values by query, in a dict or in a frame; got {name!r}."
                f"{nearest(name, others)} There are {', '.join(map(repr, others)) or 'no columns'}.",
                about=option,
            )
    if not names:
        raise ColumnError("must name at least one column of per_query; got none.", about=option)


def check_types(dtypes: Mapping[str, pl.DataType], names: Sequence[str], option: str, holder: str) -> None:
    """Raise a `DtypeError` for values that have no order, or are several: lists, structs and Python objects.

    `holder` is the table that has them.
    """
    for name in names:
        dtype = dtypes[name]
        if dtype.is_nested() or dtype == pl.Object:
            remedy = Fix("Make it one", _as_one(holder, name, dtype))
            raise DtypeError.of_column(option, name, "texts, numbers, Booleans or times", dtype, remedy)


def _of_frame(table: CanonicalFrame, frame: Frame, option: str) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """Values of a frame by the keys of the table; these keys; the names of the values."""
    schema = frame.collect_schema()
    # The query column may have per_query's name for it, whatever others could be one too.
    named_alike = table.names["query_id"] if table.names["query_id"] in schema else None
    named_as = {
        "query_id": named_alike or find(option, "query_id", schema.names()),
        "run": find(option, "run", schema.names()),
    }
    if named_as["query_id"] is None:
        raise ColumnError.missing(option, "query_id", recognised("query_id"), schema.names())
    columns = {role: name for role, name in named_as.items() if name is not None}
    if "run" in columns and "run" not in table.dtypes:
        raise ColumnError(
            f"has values for each system ({columns['run']!r}), and per_query has no column of systems.",
            about=option,
            fix=Fix("Keep those of one", _of_one(option, columns["run"], frame)),
        )
    # Where rows have ids of their own, the query is in another column.
    on = {role: QUERY if role == "query_id" and QUERY in table.dtypes else role for role in columns}
    keys = [
        pl.col(name).cast(joinable(table, on[role], option, name, schema[name]), strict=False).alias(on[role])
        for role, name in columns.items()
    ]
    names = [name for name in schema if name not in columns.values()]
    if not names:
        raise ColumnError(
            f"has no column beside {', '.join(map(repr, columns.values()))} to take values from.", about=option
        )
    source = frame.lazy().select(*keys, *(pl.col(name).alias(column_for(name)) for name in names))
    return source, list(on.values()), names


def _of_one(option: str, run: str, frame: Frame) -> Code:
    """Code that keeps the values of the first system."""
    first = frame.lazy().select(pl.col(run).drop_nulls().first()).collect().item()
    kept, left = Code.only(option, run, first), Code.dropping("", [run])
    return Code(f"{kept.polars}{left.polars}", f"{kept.pandas}{left.pandas}")


def _as_one(table: str, name: str, dtype: pl.DataType) -> Code:
    """Code that reduces several values to one."""
    column = f"pl.col({name!r})"
    of_pandas = f"{table}.assign(**{{{name!r}: {table}[{name!r}].str[0]}})"
    if isinstance(dtype, pl.List | pl.Array):
        kind = "list" if isinstance(dtype, pl.List) else "arr"
        return Code(f"{table}.with_columns({column}.{kind}.first())", of_pandas)
    if isinstance(dtype, pl.Struct):
        first = dtype.fields[0].name
        of_pandas = f"{table}.assign(**{{{name!r}: {table}[{name!r}].str[{first!r}]}})"
        return Code(f"{table}.with_columns({column}.struct.field({first!r}).alias({name!r}))", of_pandas)
    return Code.as_text(table, name)


def joinable(table: CanonicalFrame, role: str, option: str, name: str, dtype: pl.DataType) -> pl.DataType:
    """The type of the table's ids, if ids of this type can equal them."""
    wanted = table.dtypes[role]
    same = dtype.is_integer() if wanted.is_integer() else isinstance(dtype, TEXT)
    if not same and dtype != pl.Null:
        remedy = Fix("Cast one of them", Code.casting(option, name, pl.Int64 if wanted.is_integer() else pl.String))
        raise DtypeError.of_column(option, name, f"{wanted}, as per_query has it", dtype, remedy)
    return wanted
