"""Columns of queries beside their measures: keys, which distinguish several rows of one, and attributes.

Conventions: a row of several of a query and system, such as one a night, belongs to a query on its night. Its id is a
number in the order of queries, so that the figures of a night equal those of its rows alone, to the last bit.

Attributes are columns of a per-query frame, or joined from another frame. Every query must have a value, and only one.
A frame in memory is checked at once, and the error shows its first invalid rows; a plan checks itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, Code, ColumnError, DataError, DtypeError, Fix, caller, nearest, option, quoted, warn
from polars_ir.frames.canonical_frame import CanonicalFrame, may_repeat
from polars_ir.frames.kinds import Frame, to_polars
from polars_ir.frames.roles import TEXT, find, recognised
from polars_ir.frames.rules import Rule, check_duplicates, distinguishing, keys_perhaps
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import column_of

#: Column of the query of a row, where rows have ids of their own.
QUERY = "polars_ir: query"


def keys_found(table: CanonicalFrame, without: Collection[str] = ()) -> list[str]:
    """The columns that distinguish rows of the same query and system: one, or all candidates; none without any."""
    if table.rows < 2 or not may_repeat(table.select(*table.keys)):
        return []
    # Measures are numeric.
    spare = [
        name
        for name in keys_perhaps(table.dtypes, [*table.keys, *without])
        if not table.dtypes[name].is_integer() or column_of(name) is None
    ]
    return distinguishing(table.select(*table.keys, *spare).collect(), table.keys, spare)


def parts_of(
    sides: Mapping[str, CanonicalFrame], by: Sequence[str]
) -> list[tuple[dict[str, Any], dict[str, CanonicalFrame]]]:
    """Values of some columns that tables share, and the tables' rows of each."""
    values = [
        table.checked(*(null_rule(table, name) for name in by)).select(by).unique().collect()
        for table in sides.values()
    ]
    check_one_type(sides, by)
    shared = values[0].join(values[1], on=by, how="semi").sort(by)
    frames = {role: table.all_columns().collect() for role, table in sides.items()}
    rows = {role: frame.partition_by(by, as_dict=True, maintain_order=True) for role, frame in frames.items()}
    parts = []
    for part in shared.iter_rows():
        of_part = {role: table.with_frame(rows[role][part]) for role, table in sides.items()}
        parts.append((dict(zip(by, part, strict=True)), of_part))
    lone = pl.concat(values).group_by(by).len().filter(len=1).sort(by)
    if parts and lone.height:
        some = "; ".join(", ".join(map(str, row)) for row in lone.select(by).head(SHOWN).rows())
        warn(f"values of {quoted(by)} in only one frame are left out ({lone.height}): {some}.")
    if not parts:
        of_each = ([", ".join(map(str, row)) for row in each.sort(by).head(3).rows()] for each in values)
        firsts = "; ".join(f"{role} has {quoted(first)}" for role, first in zip(sides, of_each, strict=True))
        raise DataError(f"new and old share no value of {quoted(by)}: {firsts}.")
    return parts


def check_one_type(sides: Mapping[str, CanonicalFrame], keys: Collection[str]) -> None:
    """Raise a `DtypeError` for a key that has different types in two tables."""
    for name in keys:
        dtypes = {role: table.dtypes[name] for role, table in sides.items() if name in table.dtypes}
        if len(set(dtypes.values())) > 1:
            (first, dtype), (second, other) = dtypes.items()
            says = f"a key must have one type in both frames; {name!r} is {dtype} in {first} and {other} in {second}."
            raise DtypeError(says, fix="Cast one")


def with_keys(table: CanonicalFrame, keys: Sequence[str]) -> CanonicalFrame:
    """The frame, in memory, with an id for each query and value of some keys, and its query in `QUERY`."""
    rows = table.checked(*(null_rule(table, name) for name in (*table.keys, *keys)))
    number = pl.struct("query_id", *keys).rank("dense").cast(pl.Int64)
    return table.with_frame(rows.with_columns(pl.col("query_id").alias(QUERY), query_id=number).collect())


def texts_of(values: Sequence[Sequence[Any]]) -> list[str]:
    """Distinct texts for the values of keys; a float is without the digits of its rounding."""
    short = [", ".join(f"{each:.15g}" if isinstance(each, float) else str(each) for each in value) for value in values]
    return short if len(set(short)) == len(values) else [", ".join(map(str, value)) for value in values]


def null_rule(table: CanonicalFrame, key: str) -> Rule:
    """The rule that a key of rankings has a value."""
    name = table.names.get(key, key)
    return Rule(
        pl.col(key).is_null(), f"whose {name!r} is null", Fix("Leave them out", Code.without_nulls(table.about, name))
    )


def with_systems(per_query: Any, name: str) -> pl.DataFrame:
    """The frame with the values of a column in place of its one system."""
    table = per_query_table(per_query)
    table.check_in_memory("ir.compare")
    if not isinstance(name, str) or name not in table.columns:
        near = nearest(str(name), table.columns)
        raise ColumnError(f"names {name!r}; per_query has {quoted(table.columns)}.", about=option("systems"), near=near)
    rows = table.checked(null_rule(table, name)).collect()
    if "run" in rows.columns and rows["run"].n_unique() > 1:
        first = rows["run"].cast(pl.String).min()
        says = f"names {name!r}, and per_query has several systems, too."
        raise ColumnError(
            says, about=option("systems"), fix=Fix("Keep one", Code.only("per_query", table.names["run"], first))
        )
    # A time as Python writes it, without a fraction of 0.
    is_time = isinstance(rows.schema[name], pl.Datetime)
    texts = pl.col(name).dt.to_string("%Y-%m-%d %H:%M:%S%.f") if is_time else pl.col(name).cast(pl.String)
    rows = rows.drop("run", strict=False).with_columns(texts)
    return rows.rename({name: "run", "query_id": table.names["query_id"]})


#: Values of a dict by query.
SCALARS = (str, int, float, date, type(None))

#: Advice on queries without a value of an attribute.
VALUELESS = "Give each query one, or leave those rows out"


def column_for(name: str) -> str:
    """The column of an attribute, whose name no measure has."""
    return f"polars_ir: of {name}"


def with_attributes(
    table: CanonicalFrame, rows: pl.LazyFrame, attributes: Any, about: str
) -> tuple[pl.LazyFrame, list[str]]:
    """Rows of a per-query frame with attributes of its queries, and their names.

    `attributes` names columns of the frame itself, is a Series of them, values by query in a dict, or a frame with a
    query column, `run` if its values differ by system, and the columns to join. `about` is its name to the user.
    """
    if isinstance(attributes, str) or (
        isinstance(attributes, Sequence) and all(isinstance(name, str) for name in attributes)
    ):
        names = [attributes] if isinstance(attributes, str) else list(dict.fromkeys(attributes))
        _check_names(table, names, about)
        check_types(table.dtypes, names, about, "per_query")
        rows = rows.with_columns(pl.col(name).alias(column_for(name)) for name in names)
        rule = _valued(table.dtypes, names, about, Fix(VALUELESS, _with_values(table.dtypes, names)))
        return table.checked(rule, rows=rows, names={column_for(name): name for name in names}), names
    if isinstance(attributes, pl.Series):
        source, keys, names = _of_rows(table, attributes, about), table.keys, [attributes.name]
    else:
        if isinstance(attributes, Mapping) and isinstance(next(iter(attributes.values()), None), SCALARS):
            columns = {"query_id": attributes, about: attributes.values()}
            attributes = pl.DataFrame([pl.Series(name, [*part], strict=False) for name, part in columns.items()])
        source, keys, names = _of_frame(table, to_polars(about, attributes, column="value"), about)
    schema = source.collect_schema()
    dtypes = {name: schema[column_for(name)] for name in names}
    check_types(dtypes, names, about, about)
    source = table.computed(source).lazy()
    check_duplicates(about, table.found(source), keys, table.names)
    says = f"{table.about} has rows with several values of {about}; give each query one"
    source = table.guarded_rows(source, pl.len().over(keys) > 1, says, key=keys[-1])
    rows = rows.join(source, on=keys, how="left", maintain_order="left")
    rule = _valued(dtypes, names, about, Fix(VALUELESS))
    return table.checked(rule, rows=rows, names={column_for(name): name for name in names}), names


def _valued(dtypes: Mapping[str, pl.DataType], names: Sequence[str], about: str, fix: Fix) -> Rule:
    columns = {name: pl.col(column_for(name)) for name in names}
    missing = [
        value.is_null() | (value.is_nan() if dtypes[name].is_float() else False) for name, value in columns.items()
    ]
    return Rule(pl.any_horizontal(missing), f"without a value of {about}", fix)


def _with_values(dtypes: Mapping[str, pl.DataType], names: Sequence[str]) -> Code:
    """Code that leaves out the queries without a value."""
    rules = [f"pl.col({name!r}).is_not_null()" for name in names]
    rules += [f"pl.col({name!r}).is_not_nan()" for name in names if dtypes[name].is_float()]
    columns = names[0] if len(names) == 1 else list(names)
    return Code(f"per_query.filter({', '.join(rules)})", f"per_query.dropna(subset={columns!r})")


def _of_rows(table: CanonicalFrame, values: pl.Series, about: str) -> pl.LazyFrame:
    """Values of a Series with one for each row of a per-query frame, in its order, by the keys of the table."""
    known = table.rows if table.eager else None
    if len(values) != known:
        has = "an unknown number of rows, as it is a LazyFrame" if known is None else f"{known} rows"
        says = f"is a Series of {len(values)} values; per_query has {has}. Give a frame with a query column."
        raise DataError(says, about=about)
    rows = table.select(*table.keys).collect(engine="in-memory")
    return rows.with_columns(values.alias(column_for(values.name))).lazy()


def _check_names(table: CanonicalFrame, names: Sequence[str], about: str) -> None:
    for name in names:
        if name not in table.columns or name in table.keys:
            others = [column for column in table.columns if column not in (*table.keys, QUERY)]
            wanted = "per_query, or be values by query, in a dict or in a frame"
            if caller().kind == "shell":
                of_queries = option("queries")
                wanted = f"the figures{f', or of {of_queries} FILE' if of_queries.startswith('--') else ''}"
            raise ColumnError(
                f"must name a column of {wanted}; got {name!r}."
                f"{nearest(name, others)} There are {', '.join(map(repr, others)) or 'no columns'}.",
                about=about,
            )
    if not names:
        raise ColumnError("must name at least one column of per_query; got none.", about=about)


def check_types(dtypes: Mapping[str, pl.DataType], names: Sequence[str], about: str, holder: str) -> None:
    """Raise a `DtypeError` for values that have no order, or are several: lists, structs and Python objects.

    `holder` is the table that has them.
    """
    for name in names:
        dtype = dtypes[name]
        if dtype.is_nested() or dtype == pl.Object:
            remedy = Fix("Make it one", _as_one(holder, name, dtype))
            raise DtypeError.of_column(about, name, "texts, numbers, Booleans or times", dtype, remedy)


def _of_frame(table: CanonicalFrame, frame: Frame, about: str) -> tuple[pl.LazyFrame, list[str], list[str]]:
    """Values of a frame by the keys of the table; these keys; the names of the values."""
    schema = frame.collect_schema()
    # The query column may have per_query's name for it, whatever others could be one too.
    named_alike = table.names["query_id"] if table.names["query_id"] in schema else None
    named_as = {
        "query_id": named_alike or find(about, "query_id", schema.names()),
        "run": find(about, "run", schema.names()),
    }
    if named_as["query_id"] is None:
        raise ColumnError.missing(about, "query_id", recognised("query_id"), schema.names())
    columns = {role: name for role, name in named_as.items() if name is not None}
    if "run" in columns and "run" not in table.dtypes:
        run = columns["run"]
        first = frame.lazy().select(pl.col(run).drop_nulls().first()).collect().item()
        kept, left = Code.only(about, run, first), Code.dropping("", [run])
        fix = Fix("Keep those of one", Code(f"{kept.polars}{left.polars}", f"{kept.pandas}{left.pandas}"))
        says = f"has values for each system ({run!r}), and per_query has no column of systems."
        raise ColumnError(says, about=about, fix=fix)
    # Where rows have ids of their own, the query is in another column.
    on = {role: QUERY if role == "query_id" and QUERY in table.dtypes else role for role in columns}
    keys = [
        pl.col(name).cast(joinable(table, on[role], about, name, schema[name]), strict=False).alias(on[role])
        for role, name in columns.items()
    ]
    names = [name for name in schema if name not in columns.values()]
    if not names:
        says = f"has no column beside {', '.join(map(repr, columns.values()))} to take values from."
        raise ColumnError(says, about=about)
    source = frame.lazy().select(*keys, *(pl.col(name).alias(column_for(name)) for name in names))
    return source, list(on.values()), names


def _as_one(table: str, name: str, dtype: pl.DataType) -> Code:
    if isinstance(dtype, pl.List | pl.Array):
        return Code.making(table, name, f"{'list' if isinstance(dtype, pl.List) else 'arr'}.first()", "str[0]")
    if isinstance(dtype, pl.Struct):
        first = dtype.fields[0].name
        return Code.making(table, name, f"struct.field({first!r}).alias({name!r})", f"str[{first!r}]")
    return Code.as_text(table, name)


def joinable(table: CanonicalFrame, role: str, about: str, name: str, dtype: pl.DataType) -> pl.DataType:
    """The type of the table's ids, if ids of this type can equal them."""
    wanted = table.dtypes[role]
    same = dtype.is_integer() if wanted.is_integer() else isinstance(dtype, TEXT)
    if not same and dtype != pl.Null:
        remedy = Fix("Cast one of them", Code.casting(about, name, pl.Int64 if wanted.is_integer() else pl.String))
        raise DtypeError.of_column(about, name, f"{wanted}, as per_query has it", dtype, remedy)
    return wanted
