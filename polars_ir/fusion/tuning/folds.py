"""The folds of a tuning: queries parted so that a group of variants is never in two."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, OptionError, quoted
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import required


def folds_of(queries: pl.DataFrame, by: Any, folds: int, seed: int) -> pl.DataFrame:
    """The fold of each of some queries; those of a group are in the same."""
    queries = queries.select("query_id").unique().sort("query_id")
    own_group = pl.format("query {}", pl.col("query_id"))
    if by is None:
        groups = queries.with_columns(group=own_group)
    else:
        column = _groups(by, queries.schema["query_id"])
        if column.height and column.join(queries, on="query_id", how="semi").is_empty():
            ids = quoted(column["query_id"].head(3)), quoted(queries["query_id"].head(3))
            raise OptionError(f"has none of the judged queries; its ids are {ids[0]}, and theirs {ids[1]}.", about="by")
        groups = queries.join(column, on="query_id", how="left").with_columns(
            group=pl.coalesce(pl.format("group {}", pl.col("group")), own_group)
        )
    names = groups["group"].unique().sort().to_list()
    if len(names) < folds:
        raise OptionError(
            f"must be no more than the {len(names)} queries or groups of them; got {folds}.", about="folds"
        )
    random.Random(seed).shuffle(names)  # noqa: S311  # it parts queries, and hides nothing
    fold = pl.DataFrame({"group": names}).with_row_index("fold").with_columns(pl.col("fold") % folds + 1)
    return groups.join(fold, on="group").select("query_id", "fold")


def _groups(by: Any, dtype: pl.DataType) -> pl.DataFrame:
    """The group of each query that has one."""
    if isinstance(by, Mapping):
        # NaN is what pandas has in place of null.
        is_nan = [isinstance(group, float) and math.isnan(group) for group in by.values()]
        groups = [None if nan or group is None else str(group) for nan, group in zip(is_nan, by.values(), strict=True)]
        frame = pl.DataFrame({"query_id": list(by), "group": groups}, strict=False)
        return frame.with_columns(pl.col("query_id").cast(dtype))
    frame = to_polars("by", by, column="group").lazy().collect()
    query = required("by", "query_id", frame.columns)
    others = [column for column in frame.columns if column != query]
    if len(others) != 1 or frame[query].is_duplicated().any():
        says = f"must have one other column beside {query!r}, and a query once; it has {quoted(others)}."
        raise ColumnError(says, about="by")
    return frame.select(pl.col(query).cast(dtype).alias("query_id"), pl.col(others[0]).cast(pl.String).alias("group"))
