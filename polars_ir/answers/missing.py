"""Answers that a system did not give, which count 0 where the call names their queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from polars_ir.errors import SHOWN, Code, DataError, DtypeError, Fix, InputTypeError, quoted, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import Frame, to_polars
from polars_ir.frames.roles import required
from polars_ir.frames.rules import guard
from polars_ir.frames.table import fitting

#: The column that is true for a query without any figure.
UNDEFINED = "polars_ir: undefined"


def with_missing(figures: pl.LazyFrame, table: CanonicalFrame, missing: Any, *, by_query: bool = False) -> pl.LazyFrame:
    """Figures of answers, and a 0 for each system and query that `missing` names and that has no answer.

    What is undefined `by_query` is so for the missing answers of a query, too, if it is for all others.
    """
    if missing is None:
        return figures
    column = figures.collect_schema().names()[-1]
    wanted = _queries(missing, table.dtypes["query_id"], table.names["query_id"])
    _tell_unknown(wanted, table)
    if "run" in table.keys:
        wanted = wanted.join(table.select("run").unique(), how="cross")
    undefined = figures.group_by("query_id").agg((pl.col(column).is_null().all() & by_query).alias(UNDEFINED))
    lacking = wanted.join(figures, on=table.keys, how="anti").join(undefined, on="query_id", how="left")
    zero = pl.when(~pl.col(UNDEFINED).fill_null(value=False)).then(0.0).alias(column)
    return pl.concat([figures, lacking.select(*table.keys, zero)])


def _tell_unknown(wanted: pl.LazyFrame, table: CanonicalFrame) -> None:
    """Warn of queries that no system answers; with one system, whose gaps they may be, if it answers none of them."""
    queries = table.found(wanted)
    unknown = queries.lazy().join(table.select("query_id"), on="query_id", how="anti").sort("query_id")
    ids = table.found(unknown)["query_id"]
    if len(ids) and ("run" in table.keys or len(ids) == queries.height):
        n = f"{len(ids):,} quer{'y' if len(ids) == 1 else 'ies'}"
        some = quoted(ids.head(SHOWN).to_list())
        warn(f"names {n} that no system answers, where all score 0; the first: {some}.", about="missing")


def _queries(missing: Any, dtype: pl.DataType, name: str) -> pl.LazyFrame:
    """The distinct queries that a list, a dict or a table names."""
    if isinstance(missing, str):
        says = f"must be ids in a list, or a table of queries; got {missing!r}."
        raise InputTypeError(says, about="missing", fix=Fix("Give a list", Code(f"[{missing!r}]")))
    frame = _frame(missing)
    column = required("missing", "query_id", frame.collect_schema().names())
    found = fitting("missing", "query_id", column, frame.collect_schema()[column], frame)
    if found.is_integer() != dtype.is_integer():
        says = f"ids must have one type on both sides; frame column {name!r} is {dtype}, those of missing are {found}."
        table = "frame" if dtype.is_integer() else "missing"
        cast = Code.casting(table, name if dtype.is_integer() else column, pl.String)
        raise DtypeError(says, fix=Fix("Cast one", cast))
    queries = frame.lazy().select(pl.col(column).cast(dtype).alias("query_id")).unique()
    if isinstance(frame, pl.LazyFrame):
        return guard(queries, pl.col("query_id").is_null(), "missing has query ids that are null; leave them out")
    if queries.select(pl.col("query_id").is_null().any()).collect(engine="in-memory").item():
        raise DataError("has query ids that are null.", about="missing", fix="Leave them out")
    return queries


def _frame(missing: Any) -> Frame:
    if not isinstance(missing, (Mapping, list, tuple, set, frozenset)):
        return to_polars("missing", missing, column="text")
    try:
        return pl.DataFrame({"query_id": list(missing)}, schema=None if missing else {"query_id": pl.String})
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputTypeError.mixed("missing", "ids", error) from None
