"""What else is known of queries: columns brought to a per-query frame, from itself or from another frame.

Conventions: every query must have a value, and only one. A frame in memory is checked at once, and the error shows
its first wrong rows; what is lazy is checked by the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, Setting, casting, dropping, nearest, only
from polars_ir.frames.checks import check_duplicates, guard
from polars_ir.frames.columns import ROLES, TEXT, find
from polars_ir.frames.foreign import aligned_series
from polars_ir.frames.kinds import Frame, to_polars
from polars_ir.frames.table import Table

#: The rows that a per-query frame has for a query.
ROWS = "polars_ir: rows"


def column_for(name: str) -> str:
    """Where `with_attributes` puts an attribute, so that it has no measure's name."""
    return f"polars_ir: {name}"


def with_attributes(table: Table, attributes: Any, option: str) -> tuple[pl.LazyFrame, list[str]]:
    """A per-query frame with attributes of its queries, and their names.

    `attributes` names columns of the frame itself, is a Series of them, or is a frame with a query column, `run` if its
    values are of one system each, and the columns to bring. `option` is what the user calls it.
    """
    holder = option
    if isinstance(attributes, str) or (
        isinstance(attributes, Sequence) and all(isinstance(name, str) for name in attributes)
    ):
        names, holder = [attributes] if isinstance(attributes, str) else list(dict.fromkeys(attributes)), "per_query"
        _check_names(table, names, option)
        source, keys = (
            table.all_columns().select(*table.keys, *(pl.col(n).alias(column_for(n)) for n in names)),
            table.keys,
        )
    elif (aligned := aligned_series(attributes)) is not None:
        source, keys, names = _of_rows(table, aligned, option), table.keys, [aligned.name]
    else:
        source, keys, names = _of_frame(table, to_polars(option, attributes, column="value"), option)
    _check_types(source, names, option, holder)
    rows = table.all_columns()
    if table.eager:
        frame, values = rows.collect(engine="in-memory"), source.collect(engine="in-memory")
        check_duplicates("per_query", frame, table.keys, table.names)
        check_duplicates(option, values, keys, table.names)
        rows, source = frame.lazy(), values.lazy()
    joined = rows.join(source, on=keys, how="left")
    return _checked(table, joined, names, option), names


def _of_rows(table: Table, values: pl.Series, option: str) -> pl.LazyFrame:
    """The values of a Series that has one for each row of a per-query frame, in its order, by the keys of the table."""
    if not table.eager or len(values) != table.rows:
        has = f"{table.rows} rows" if table.eager else "an unknown number of rows, as it is a LazyFrame"
        raise DataError(
            f"is a Series of {len(values)} values; per_query has {has}. Give a frame with a query column.", about=option
        )
    rows = table.select(*table.keys).collect(engine="in-memory")
    return rows.with_columns(values.alias(column_for(values.name))).lazy()


def _check_names(table: Table, names: Sequence[str], option: str) -> None:
    for name in names:
        if name not in table.columns or name in table.keys:
            others = [column for column in table.columns if column not in table.keys]
            raise ColumnError(
                f"must name a column of per_query, or be a frame with a query column; got {name!r}."
                f"{nearest(name, others)} There are {', '.join(map(repr, others)) or 'no columns'}.",
                about=option,
            )
    if not names:
        raise ColumnError("must name at least one column of per_query; got none.", about=option)


def _check_types(source: pl.LazyFrame, names: Sequence[str], option: str, holder: str) -> None:
    """Raise a `DtypeError` for values that have no order, or are several: lists, structs and Python objects.

    `holder` is the table that has them.
    """
    schema = source.collect_schema()
    for name in names:
        dtype = schema[column_for(name)]
        if dtype.is_nested() or dtype == pl.Object:
            remedy = Fix("Make it one", _as_one(holder, name, dtype))
            raise DtypeError.of_column(option, name, "texts, numbers, Booleans or times", dtype, remedy)


def _of_frame(table: Table, frame: Frame, option: str) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """The values of a frame by the keys of the table; which keys these are; the names of the values."""
    schema = frame.collect_schema()
    # The query column may be called as it is in per_query, whatever others could be one too.
    named_alike = table.names["query_id"] if table.names["query_id"] in schema else None
    named_as = {
        "query_id": named_alike or find(option, "query_id", schema.names()),
        "run": find(option, "run", schema.names()),
    }
    if named_as["query_id"] is None:
        raise ColumnError.missing(option, "query_id", ROLES["query_id"], schema.names())
    columns = {role: name for role, name in named_as.items() if name is not None}
    if "run" in columns and "run" not in table.dtypes:
        raise ColumnError(
            f"has values for each system ({columns['run']!r}), and per_query has no column of systems.",
            about=option,
            fix=Fix("Keep those of one", _of_one(option, columns["run"], frame)),
        )
    keys = [
        pl.col(name).cast(_joinable(table, role, option, name, schema[name]), strict=False).alias(role)
        for role, name in columns.items()
    ]
    names = [name for name in schema if name not in columns.values()]
    if not names:
        raise ColumnError(
            f"has no column beside {', '.join(map(repr, columns.values()))} to take values from.", about=option
        )
    source = frame.lazy().select(*keys, *(pl.col(name).alias(column_for(name)) for name in names))
    return source, list(columns), names


def _of_one(option: str, run: str, frame: Frame) -> Code:
    """Code that keeps the values of the first system."""
    first = frame.lazy().select(pl.col(run).drop_nulls().first()).collect().item()
    kept, left = only(option, run, first), dropping("", [run])
    return Code(f"{kept.polars}{left.polars}", f"{kept.pandas}{left.pandas}", f"{kept.spark}{left.polars}")


def _as_one(table: str, name: str, dtype: pl.DataType) -> Code:
    """Code that makes one value of several."""
    column = f"pl.col({name!r})"
    of_pandas = f"{table}.assign(**{{{name!r}: {table}[{name!r}].str[0]}})"
    if isinstance(dtype, pl.List | pl.Array):
        kind = "list" if isinstance(dtype, pl.List) else "arr"
        return Code(f"{table}.with_columns({column}.{kind}.first())", of_pandas)
    if isinstance(dtype, pl.Struct):
        first = dtype.fields[0].name
        of_pandas = f"{table}.assign(**{{{name!r}: {table}[{name!r}].str[{first!r}]}})"
        return Code(f"{table}.with_columns({column}.struct.field({first!r}).alias({name!r}))", of_pandas)
    text = f"{table}.with_columns({column}.map_elements(str, return_dtype=pl.String))"
    return Code(text, f"{table}.astype({{{name!r}: str}})")


def _joinable(table: Table, role: str, option: str, name: str, dtype: pl.DataType) -> pl.DataType:
    """The type of the table's ids, if ids of this type can be the same."""
    wanted = table.dtypes[role]
    same = dtype.is_integer() if wanted.is_integer() else isinstance(dtype, TEXT)
    if not same and dtype != pl.Null:
        remedy = Fix("Cast one of them", casting(option, name, pl.Int64 if wanted.is_integer() else pl.String))
        raise DtypeError.of_column(option, name, f"{wanted}, as per_query has it", dtype, remedy)
    return wanted


def _checked(table: Table, rows: pl.LazyFrame, names: Sequence[str], option: str) -> pl.LazyFrame:
    """The rows; an error, or a plan that fails, where a query has no value or several."""
    schema = rows.collect_schema()
    missing = pl.any_horizontal(
        pl.col(c).is_null() | (pl.col(c).is_nan() if schema[c].is_float() else False) for c in map(column_for, names)
    )
    if not table.eager:
        message = f"a query of per_query has no {option}, several of them, or several rows; give each query one"
        counted = rows.with_columns(pl.len().over(table.keys).alias(ROWS))
        return guard(counted, missing | (pl.col(ROWS) > 1), message).drop(ROWS)
    frame = rows.collect(engine="in-memory")
    wrong = frame.filter(missing)
    if wrong.height:
        shown = wrong.sort(table.keys).select(*table.keys, *(pl.col(column_for(name)).alias(name) for name in names))
        raise DataError.rows(
            "per_query",
            f"without a value of {option}",
            Fix(
                "Give each query one, or leave the query out; those that the run missed are left out by evaluate's",
                Setting("missing", "skip"),
            ),
            wrong.height,
            shown.rename({key: table.names[key] for key in table.keys if table.names[key] not in names}),
        )
    return frame.lazy()
