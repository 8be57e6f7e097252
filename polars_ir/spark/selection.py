"""Spark frames without excluded documents, which every task would otherwise receive."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from polars_ir.errors import DtypeError, OptionError, option
from polars_ir.frames.roles import find, required
from polars_ir.spark.tables import by_bytes, column, to_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def without_excluded(run: DataFrame, qrels: DataFrame | None, exclude: Any) -> tuple[DataFrame, DataFrame | None]:
    """The run and its judgments without some documents; runs no job."""
    if exclude is None:
        return run, qrels
    excluded = None
    if not isinstance(exclude, str):
        table = by_bytes(to_spark("exclude", exclude, column="score", like=run))
        ids = [required("exclude", role, table.columns) for role in ("query_id", "doc_id")]
        excluded = table.select(*map(column, ids)).distinct()
    return _without("run", run, excluded), None if qrels is None else _without("qrels", qrels, excluded)


def _without(name: str, frame: DataFrame, excluded: DataFrame | None) -> DataFrame:
    """The rows of a table without excluded documents, which of None are the queries themselves."""
    query, document = (find(name, role, frame.columns) for role in ("query_id", "doc_id"))
    documents = [column for column in ("preferred", "other", document) if column in frame.columns]
    if query is None:
        return frame
    for each in filter(None, documents):
        if excluded is None:
            if _is_text(frame, query) != _is_text(frame, each):
                says = f"compares columns of the {name} of two types, {query!r} and {each!r}. Cast one of them."
                raise OptionError(says, about=option("exclude", "self"))
            frame = frame.filter(~column(query).eqNullSafe(column(each)) | column(query).isNull())
            continue
        for ours, theirs in zip((query, each), excluded.columns, strict=True):
            if _is_text(frame, ours) != _is_text(excluded, theirs):
                says = f"has a column {theirs!r} of another type than {ours!r} of the {name}. Cast one of them."
                raise DtypeError(says, about="exclude")
        renamed = excluded.toDF("polars_ir_query", "polars_ir_document")
        same = [column(ours) == column(theirs) for ours, theirs in zip((query, each), renamed.columns, strict=True)]
        frame = frame.join(renamed, reduce(lambda left, right: left & right, same), "left_anti")
    return frame


def _is_text(frame: DataFrame, name: str) -> bool:
    """True of a column of texts."""
    return frame.schema[name].dataType.typeName() in ("string", "varchar", "char")
