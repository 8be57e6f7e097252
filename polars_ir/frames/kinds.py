"""Tables of any kind to Polars frames, and results back to the kind that came.

Conventions: a LazyFrame stays lazy, and an Arrow dataset or a stream of record batches becomes one; pandas comes back
as pandas, every other table as a Polars DataFrame. No library is imported to recognise its tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, TypeAlias

import polars as pl
import polars.selectors as cs

from polars_ir.errors import Code, Fix, InputTypeError
from polars_ir.frames import foreign
from polars_ir.frames.foreign import is_pandas
from polars_ir.frames.nested import from_mapping, from_records
from polars_ir.frames.prepared import PreparedJudgments

Frame = pl.DataFrame | pl.LazyFrame

#: What `give_back` gives: the kind of the first table. A type checker learns which through `ir.of`.
SameKind: TypeAlias = Any

#: The same, of a function that refuses a LazyFrame.
Eager: TypeAlias = Any


def to_polars(table: str, value: object, *, column: str) -> Frame:
    """Any table as a Polars frame; what names no column for its values, such as nested dicts, has them in `column`."""
    value = value.frame if isinstance(value, PreparedJudgments) else value
    if isinstance(value, (pl.DataFrame, pl.LazyFrame)):
        return value
    for is_of_kind, read in READERS:
        if is_of_kind(value):
            return read(table, value, column)
    raise InputTypeError.not_a_table(table, value)


def give_back(result: Frame, like: object) -> Any:
    """A result in the kind of the input: a LazyFrame for what is lazy, pandas for pandas, else a DataFrame."""
    first = next(iter(like.values()), None) if isinstance(like, Mapping) else like
    if foreign.is_narwhals(first):
        first = first.to_native()  # type: ignore[union-attr]
    if is_lazy(first):
        return result.lazy()
    frame = result.lazy().collect(engine="in-memory") if isinstance(result, pl.LazyFrame) else result
    return _to_pandas(frame) if is_pandas(first) or foreign.is_pandas_series(first) else frame


def is_lazy(value: object) -> bool:
    """Whether a table is not in memory, so that a result of it is a plan."""
    return isinstance(value, pl.LazyFrame) or foreign.is_arrow_dataset(value) or foreign.is_arrow_stream(value)


def holds_systems(value: Mapping[Any, Any]) -> bool:
    """Whether a mapping is from systems to runs, not from queries to documents or from splits to their rows."""
    if foreign.is_hugging_face(value):
        return False
    for one in value.values():
        if isinstance(one, (pl.DataFrame, pl.LazyFrame)) or any(is_of_kind(one) for is_of_kind in foreign.TABLES):
            return True
        if isinstance(one, Mapping) and one:
            return isinstance(next(iter(one.values())), (Mapping, list, tuple, set, frozenset))
    return False


def _from_narwhals(table: str, value: Any, column: str) -> Frame:
    return to_polars(table, value.to_native(), column=column)


def _from_mapping(table: str, value: Any, column: str) -> Frame:
    if holds_systems(value):
        raise InputTypeError.several_tables(table, list(value))
    return from_mapping(table, value, column)


def _not_yet_read(table: str, value: Any, _column: str) -> Frame:
    tables = dict.fromkeys(["per_query", "new", "old", "queries"], "pl.read_parquet")
    reader = {"qrels": "ir.read_qrels", **tables}.get(table, "ir.read_run")
    fix = Fix("Read it first", Code(f"{reader}({str(value)!r})"))
    raise InputTypeError(f"must be a table; got the path {str(value)!r}.", about=table, fix=fix)


def _on_a_cluster(table: str, _value: Any, _column: str) -> Frame:
    fix = Fix("polars_ir.spark.evaluate keeps it on the cluster; bring it here", Code(f"{table}.toArrow()"))
    raise InputTypeError("is a Spark frame.", about=table, fix=fix)


def _to_pandas(frame: pl.DataFrame) -> Any:
    # Ids of UInt64 and Int64 meet in Int128, which pandas does not have.
    wide = {name: frame[name] for name, dtype in frame.schema.items() if dtype == pl.Int128}
    casts = {name: ids.cast(pl.UInt64 if (ids >= 0).all() else pl.Int64) for name, ids in wide.items()}
    found = frame.with_columns(**casts)
    table = found.to_pandas()
    # Integers beside a null become floats in pandas, which do not hold all ids.
    for ids in found.select(cs.integer()):
        if ids.null_count() and (ids.cast(pl.Int128).abs() > 2**53).any():
            table[ids.name] = ids.fill_null(0).to_pandas().astype(f"{ids.dtype}").mask(ids.is_null().to_pandas())
    return table


#: How a table of each kind is recognised and read; the first that recognises it reads it.
READERS: tuple[tuple[Callable[[Any], bool], Callable[[str, Any, str], Frame]], ...] = (
    (lambda value: isinstance(value, (str, PathLike)), _not_yet_read),
    (foreign.is_narwhals, _from_narwhals),
    (foreign.is_hugging_face, foreign.from_hugging_face),
    (lambda value: isinstance(value, Mapping), _from_mapping),
    (is_pandas, foreign.from_pandas),
    (foreign.is_pandas_series, foreign.from_series),
    (lambda value: type(value).__module__.startswith("pyspark"), _on_a_cluster),
    (foreign.is_arrow_dataset, foreign.scan_arrow_dataset),
    (foreign.is_arrow_stream, foreign.scan_arrow_stream),
    (foreign.is_arrow, foreign.from_arrow),
    (lambda value: isinstance(value, Iterable), from_records),
)
