"""Frames with several rows of a query and system, such as one a night: the keys that distinguish them, and a row id.

Conventions: a row then belongs to a query on its night. Its id is a number in the order of queries, so that the figures
of a night equal those of its rows alone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import (
    SHOWN,
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    nearest,
    option,
    quoted,
    warn,
)
from polars_ir.frames.canonical_frame import CanonicalFrame, may_repeat
from polars_ir.frames.rules import Rule, distinguishing, keys_perhaps
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import column_of

#: Column of the query of a row, where rows have ids of their own.
QUERY = "polars_ir: query"


def keys_found(table: CanonicalFrame, without: Collection[str] = ()) -> list[str]:
    """The columns that distinguish rows of the same query and system: one, or all candidates; none without any."""
    if not table.eager or not may_repeat(table.select(*table.keys)):
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
        firsts = "; ".join(f"{role} has {each.head(3).rows()}" for role, each in zip(sides, values, strict=True))
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
