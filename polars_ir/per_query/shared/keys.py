"""Frames with several rows of a query and system, such as one a night: what tells these apart, and an id for each.

Conventions: a row is then of a query on its night. Its id is a number in the order of queries, so that the figures of a
night are those of its rows alone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from polars_ir.frames.roles import could_be
from polars_ir.frames.rules import telling_apart
from polars_ir.frames.table import Table, may_repeat
from polars_ir.language.names import column_of

#: The column of the query of a row, where rows have ids of their own.
QUERY = "polars_ir: query"


def keys_found(table: Table, without: Collection[str] = ()) -> list[str]:
    """The columns that tell rows of the same query and system apart: one, or all that there are; none without such."""
    if not table.eager or not may_repeat(table.select(*table.keys)):
        return []
    spare = [
        name
        for name, dtype in table.dtypes.items()
        if name not in (*table.keys, *without) and (could_be("run", dtype) or dtype.is_temporal())
    ]
    spare = [name for name in spare if column_of(name) is None]
    return telling_apart(table.select(*table.keys, *spare).collect(), table.keys, spare)


def with_keys(table: Table, keys: Sequence[str]) -> Table:
    """The frame with an id for each query and value of some keys, and its query in `QUERY`, where queries repeat."""
    if not (keys and table.eager and may_repeat(table.select(*table.keys))):
        return table
    rows = table.all_columns().with_columns(pl.col("query_id").alias(QUERY))
    number = pl.struct(QUERY, *keys).rank("dense").cast(pl.Int64)
    # A row without a key is an error that shows its query.
    complete = pl.all_horizontal(pl.col(QUERY, *keys).is_not_null())
    return table.made_of(rows.with_columns(query_id=pl.when(complete).then(number)).collect())
