"""Tables of any kind to Polars frames, and results back to the kind that came.

Conventions: a LazyFrame stays lazy, and an Arrow dataset or a stream of record batches becomes one; pandas comes back
as pandas, every other table as a Polars DataFrame. A library is recognised by the modules that are loaded, and never
imported for it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeVar, cast
from uuid import UUID

import polars as pl
import polars.selectors as cs
from polars.io.plugins import register_io_source

from polars_ir.errors import (
    OF_PLANS,
    TAKEN,
    Code,
    ColumnError,
    DataError,
    DtypeError,
    ExtraError,
    Fix,
    InputTypeError,
    IRError,
    fold,
    quoted,
)
from polars_ir.frames.nested import from_mapping, from_records, hits_of
from polars_ir.frames.roles import ROLE_OF, ROLES, TEXT
from polars_ir.frames.rules import EXAMPLES
from polars_ir.frames.table_types import FrameT, Table

T = TypeVar("T")


class PreparedJudgments:
    """Judgments in memory, with the tables and numbers made of them; every function takes them as qrels."""

    def __init__(self, frame: pl.DataFrame) -> None:
        # Polars can change a frame in place; a clone, which copies no values, is unaffected.
        self.frame = frame.clone()
        self._made: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"<judgments: {self.frame.height} rows, columns {', '.join(self.frame.columns)}>"

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key; made on first access."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made


Frame = pl.DataFrame | pl.LazyFrame

#: The message of a guard in Polars' error: the name of the column whose cast cannot succeed, and some values.
MESSAGE = re.compile(r"polars_ir: (.*?)(?:' for \d+ out of \d+ values: \[(.*)\]|\")")

#: Polars' error of files whose columns have other types than those of the first file.
OF_FILES = re.compile(r"data type mismatch for column (.*): incoming: (\w+).* != target: (\w+)")

#: The modules whose classes are datasets; a module of the user's may be called `datasets`, too.
HUGGING_FACE = ("datasets.arrow_dataset", "datasets.iterable_dataset", "datasets.dataset_dict")

#: The beginning of days and times that Polars reads as year, month and day.
YEAR_FIRST = r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"

#: The line that makes a table of what another package keeps on disks or on a cluster.
ELSEWHERE = {
    "deltalake": "pl.scan_delta({})",
    "pyiceberg": "pl.scan_iceberg({})",
    "lancedb": "{}.to_polars()",
    "dask": "{}.compute()",
    "dask_expr": "{}.compute()",
    "ray": "{}.to_pandas()",
}


def to_polars(table: str, value: object, *, column: str) -> Frame:
    """Any table as a Polars frame; what names no column for its values, such as nested dicts, has them in `column`.

    No column of it has a name that `pl.col` would take for several, or that plans give columns of their own.
    """
    frame = value.frame if isinstance(value, PreparedJudgments) else value
    if not isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        kind = next((kind for kind in KINDS if kind.recognizes(frame)), None)
        if kind is None:
            raise InputTypeError.not_a_table(table, frame)
        frame = kind.read(table, frame, column)
    for name in frame.collect_schema():
        if TAKEN.fullmatch(name):
            says = f"has a column {name!r}; {OF_PLANS}."
            raise ColumnError(says, about=table, fix=Fix("Rename it", Code.renaming(table, {name: "other"})))
    return frame


def has_column(value: Any, name: str) -> bool:
    """True for a table with a column, of any kind, nothing of which is read; an error for one in another spelling."""
    value = value.frame if isinstance(value, PreparedJudgments) else value
    if value is None or isinstance(value, Mapping):
        return False
    if hasattr(value, "collect_schema"):
        names = value.collect_schema().names()
    else:
        # PyArrow's `columns` are their values, and its streams have a schema alone.
        of_schema = getattr(getattr(value, "schema", None), "names", ())
        names = getattr(value, "column_names", getattr(value, "columns", of_schema))
    if name in (columns := list(names)):
        return True
    for column in columns:
        if isinstance(column, str) and fold(column) == fold(name):
            raise ColumnError(
                f"a column {column!r} is read as {name!r} alone.", fix=f"Rename it to {name!r}, or drop it"
            )
    return False


def give_back(result: Frame, like: Table[FrameT] | None) -> FrameT:
    """A result in the kind of the input: a LazyFrame for a plan, pandas for pandas, else a DataFrame."""
    first: Any = next(iter(like.values()), None) if isinstance(like, Mapping) else like
    if isinstance(first, pl.LazyFrame):
        return cast("FrameT", result.lazy())
    if not isinstance(first, pl.DataFrame):
        first = first.to_native() if is_narwhals(first) else first
        if isinstance(first, pl.LazyFrame) or is_arrow_dataset(first) or is_arrow_stream(first):
            return cast("FrameT", result.lazy())
    frame = result.collect(engine="in-memory") if isinstance(result, pl.LazyFrame) else result
    is_polars = isinstance(first, pl.DataFrame)
    if is_polars or not (is_pandas(first) or is_pandas_series(first)):
        return cast("FrameT", frame)
    return cast("FrameT", _to_pandas(frame, of_arrow=_is_of_arrow(first)))


def message_of(error: BaseException) -> str:
    """The message of a guard in an error of Polars; nothing of another error."""
    if not (message := MESSAGE.search(str(error))):
        return ""
    says, values = message.groups()
    return f"{says}: {values}" if EXAMPLES in says else says


def collected(
    plan: pl.LazyFrame, engine: Literal["in-memory", "streaming"] = "in-memory", kind: type[IRError] = DataError
) -> pl.DataFrame:
    """The rows of a plan; what its guards find invalid is raised as one of our errors."""
    try:
        return plan.collect(engine=engine)
    except pl.exceptions.InvalidOperationError as error:
        if message := message_of(error):
            raise kind(message) from None
        raise
    except pl.exceptions.SchemaError as error:
        if types := OF_FILES.search(str(error)):
            raise DtypeError.of_files(*types.groups()) from None
        raise


def as_dtype(values: pl.Series, dtype: pl.DataType) -> pl.Series | None:
    """Values of another dtype, days and times also from their texts in CSV and NDJSON; None where it is not theirs."""
    text = values.cast(pl.String).str if isinstance(values.dtype, TEXT) else None
    # Polars takes 01/02/2026 for the first of February, which may be the second of January.
    if text is not None and isinstance(dtype, (pl.Date, pl.Datetime)) and not text.contains(YEAR_FIRST).all():
        return None
    try:
        if text is not None and dtype == pl.Date:
            made = text.to_date()
        elif text is not None and dtype == pl.Time:
            made = text.to_time()
        elif text is not None and isinstance(dtype, pl.Datetime):
            made = text.to_datetime(time_unit=dtype.time_unit, time_zone=dtype.time_zone)
        else:
            made = values.cast(dtype)
    except pl.exceptions.PolarsError:
        return None
    # Texts with a zone are not times without one.
    return made if made.dtype == dtype else None


def holds_systems(value: Mapping[Any, Any]) -> bool:
    """True for a mapping from systems to runs, not from queries to documents or from splits to their rows."""
    if is_hugging_face(value):
        return False
    for one in value.values():
        if isinstance(one, (pl.DataFrame, pl.LazyFrame)) or any(k.is_table and k.recognizes(one) for k in KINDS):
            return True
        if isinstance(one, Mapping) and one:
            if hits_of(one) is not None:
                return False
            first = next(iter(one.values()))
            return isinstance(first, (Mapping, list, tuple, set, frozenset)) or hits_of(first) is not None
    return False


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


def _elsewhere(table: str, value: Any, _column: str) -> Frame:
    kind = type(value)
    fix = Fix("Make it one", Code(ELSEWHERE[_package(value)].format(table)))
    raise InputTypeError(f"must be a table here; got a {kind.__name__} of {_package(value)}.", about=table, fix=fix)


def _package(value: object) -> str:
    """The package of a value's class."""
    return type(value).__module__.partition(".")[0]


def _to_pandas(frame: pl.DataFrame, *, of_arrow: bool = False) -> Any:
    # Ids of UInt64 and Int64 meet in Int128, which pandas does not have.
    wide = {name: frame[name] for name, dtype in frame.schema.items() if dtype == pl.Int128}
    casts = {name: ids.cast(pl.UInt64 if (ids >= 0).all() else pl.Int64) for name, ids in wide.items()}
    found = frame.with_columns(**casts)
    if of_arrow:
        return found.to_pandas(use_pyarrow_extension_array=True)
    table = found.to_pandas()
    # Integers beside a null become floats in pandas, which do not hold all ids.
    for ids in found.select(cs.integer()):
        if ids.null_count() and (ids.cast(pl.Int128).abs() > 2**53).any():
            table[ids.name] = ids.fill_null(0).to_pandas().astype(f"{ids.dtype}").mask(ids.is_null().to_pandas())
    return table


def is_narwhals(value: object) -> bool:
    """True of a frame of narwhals, which holds one of another library."""
    return type(value).__module__.partition(".")[0] == "narwhals" and hasattr(value, "to_native")


def is_hugging_face(value: object) -> bool:
    """True of a dataset, or a dict of splits, of the package `datasets`."""
    return type(value).__module__ in HUGGING_FACE


def _is_a(value: object, module: str, kind: str) -> bool:
    """True of an instance of a class of a library, which is not imported for that."""
    return isinstance(value, getattr(sys.modules.get(module), kind, ()))


def is_arrow_dataset(value: object) -> bool:
    """True of a dataset of Arrow: files that are not in memory."""
    return _is_a(value, "pyarrow.dataset", "Dataset")


def is_arrow_stream(value: object) -> bool:
    """True of a stream of Arrow's record batches, which can be read once."""
    return _is_a(value, "pyarrow", "RecordBatchReader")


def is_pandas(value: object) -> bool:
    """True of a pandas frame."""
    return _is_a(value, "pandas", "DataFrame")


def _is_of_arrow(value: Any) -> bool:
    """True of a frame, or a Series, of pandas whose columns all are Arrow's."""
    dtypes = [value.dtype] if is_pandas_series(value) else list(value.dtypes)
    return bool(dtypes) and all(hasattr(dtype, "pyarrow_dtype") for dtype in dtypes)


def is_pandas_series(value: object) -> bool:
    """True of a Series of pandas."""
    return _is_a(value, "pandas", "Series")


def from_pandas(table: str, value: Any, _column: str = "") -> pl.DataFrame:
    """A pandas frame as a Polars one; an index with a name counts as a column, since `set_index` makes ids one."""
    levels = [name for name in value.index.names if name is not None]
    if levels:
        # `set_index(..., drop=False)` leaves the ids in a column, too.
        value = value.drop(columns=[name for name in levels if name in value.columns]).reset_index()
    if not value.columns.is_unique:
        twice = value.columns[value.columns.duplicated()][0]
        fix = Fix("Keep the first of each", Code(f"{table}.loc[:, ~{table}.columns.duplicated()]"))
        raise InputTypeError(f"has several columns {twice!r}.", about=table, fix=fix)
    try:
        return pl.from_pandas(_plain(value))
    except ImportError:
        raise ExtraError.missing("a pandas frame", "pandas") from None
    except (TypeError, ValueError, NotImplementedError, pl.exceptions.PolarsError):
        return pl.DataFrame([_column_of_pandas(table, str(name), value[name]) for name in value.columns])


def from_series(table: str, value: Any, column: str) -> pl.DataFrame:
    """A Series of pandas with ids in its index: its values are those of `column`, unless it has a name."""
    levels = list(value.index.names)
    if all(name is None for name in levels):
        if table == "items":
            raise InputTypeError.not_a_table(table, value)
        wanted = ["query_id", "doc_id"][: len(levels)]
        fix = Fix("Say what its index holds", Code(f"{table}.rename_axis({wanted!r})"))
        raise InputTypeError(
            "is a Series whose index has no name, which would say what its values are of.", about=table, fix=fix
        )
    return from_pandas(table, value.rename(column if value.name is None else value.name).to_frame())


def aligned_series(option: str, value: Any, rows_of: Any) -> Any:
    """A Series with a value for each row of a frame, as one of Polars; any other value as it is.

    A Series of pandas without ids in its index is aligned with the index of a pandas frame, else with the numbers of
    the rows, as pandas aligns a column.
    """
    if is_pandas_series(value) and all(name is None for name in value.index.names):
        index = list(rows_of.index if is_pandas(rows_of) else range(len(value)))
        if list(value.index) != index:
            lacking = [label for label in index if label not in value.index]
            if lacking or not value.index.is_unique:
                has = f"lacks {quoted(lacking[:3])} of the index of per_query" if lacking else "has labels twice"
                remedy = "Give one with the index of per_query, or a frame with a query column."
                raise DataError(f"is a Series whose index {has}. {remedy}", about=option)
            value = value.reindex(index)
        name = "value" if value.name is None else str(value.name)
        value = _column_of_pandas(option, name, value.reset_index(drop=True))
    return value.alias("value") if isinstance(value, pl.Series) and not value.name else value


def from_hugging_face(table: str, value: Any, _column: str = "") -> pl.DataFrame:
    """A split of a Hugging Face dataset, with the selections and the order that were made of its rows."""
    if isinstance(value, Mapping):
        split = Code(f"{table}[{next(iter(value), 'test')!r}]")
        says = f"is a {type(value).__name__} with the splits {quoted(value)}."
        raise InputTypeError(says, about=table, fix=Fix("Take one", split))
    frame: pl.DataFrame = value.to_polars()
    return frame


def scan_arrow_dataset(_table: str, value: Any, _column: str) -> pl.LazyFrame:
    """A plan over the files of an Arrow dataset, which reads the columns it needs, batch by batch."""
    schema = pl.DataFrame(value.schema.empty_table()).schema
    return _scan(lambda columns: value.to_batches(columns=columns), schema)


def scan_arrow_stream(_table: str, value: Any, _column: str) -> pl.LazyFrame:
    """A plan over a stream of record batches, which are kept in a file while it lives, as it reads them repeatedly."""
    import pyarrow as pa

    spool = tempfile.NamedTemporaryFile(suffix=".arrows")  # noqa: SIM115  # closed, and so removed, with the plan
    with pa.ipc.new_stream(spool.name, value.schema) as writer:
        for batch in value:
            writer.write_batch(batch)

    def batches(columns: list[str] | None) -> Iterator[Any]:
        with pa.memory_map(spool.name) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                yield batch if columns is None else batch.select(columns)

    return _scan(batches, pl.DataFrame(value.schema.empty_table()).schema)


def from_arrow(table: str, value: Any, _column: str) -> pl.DataFrame:
    """Anything that gives its rows as an Arrow stream, such as a table or a relation of DuckDB."""
    try:
        return pl.DataFrame(value)
    except (TypeError, ValueError, NotImplementedError, pl.exceptions.PolarsError) as error:
        raise InputTypeError(f"cannot be read as Arrow: {error}.", about=table) from None


def _scan(batches: Any, schema: pl.Schema) -> pl.LazyFrame:
    """A plan over the batches that a function of the needed columns makes."""

    def rows(
        columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, _batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        for batch in batches(columns):
            frame = pl.DataFrame(batch)
            frame = frame if n_rows is None else frame.head(n_rows)
            n_rows = n_rows if n_rows is None else n_rows - frame.height
            yield frame if predicate is None else frame.filter(predicate)
            if n_rows == 0:
                return

    return register_io_source(rows, schema=schema)


def _plain(value: Any) -> Any:
    """The frame with what Arrow can hold as its own: sparse columns as dense ones, and UUIDs as their text."""
    sparse = {name: value[name].sparse.to_dense() for name in value.columns if hasattr(value[name].dtype, "fill_value")}
    objects = {name: value[name] for name in value.columns if value[name].dtype == object}
    first = {name: next((each for each in column if each is not None), None) for name, column in objects.items()}
    ids = [name for name in objects if isinstance(first[name], UUID)]
    texts = {name: value[name].map(str, na_action="ignore") for name in ids}
    return value.assign(**sparse, **texts) if sparse or texts else value


def _column_of_pandas(table: str, name: str, values: Any) -> pl.Series:
    """A column whose values Arrow may not take: as text then, unless it holds ids, scores or grades."""
    try:
        return pl.Series(name, pl.from_pandas(_plain(values.to_frame(name))).to_series())
    except (TypeError, ValueError, NotImplementedError, pl.exceptions.PolarsError) as error:
        if fold(name) in ROLE_OF:
            dtype = "str" if ROLES[ROLE_OF[fold(name)]].values == "id" else "'float64'"
            fix = Fix("Make them one", Code(f"{table}.astype({{{name!r}: {dtype}}})"))
            raise InputTypeError(
                f"column {name!r} has values without a common Arrow type: {error}.", about=table, fix=fix
            ) from None
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


class Kind(NamedTuple):
    """A kind of table: its test, and its reader as a Polars frame; a dict of such that are tables holds systems."""

    recognizes: Callable[[Any], bool]
    read: Callable[[str, Any, str], Frame]
    is_table: bool = True


#: The kinds of tables beside Polars'; the first that recognises a value reads it.
KINDS = (
    Kind(lambda value: isinstance(value, (str, PathLike)), _not_yet_read, is_table=False),
    Kind(is_narwhals, lambda table, value, column: to_polars(table, value.to_native(), column=column)),
    Kind(is_hugging_face, from_hugging_face),
    Kind(lambda value: isinstance(value, Mapping), _from_mapping, is_table=False),
    Kind(is_pandas, from_pandas),
    Kind(is_pandas_series, from_series, is_table=False),
    Kind(lambda value: type(value).__module__.startswith("pyspark"), _on_a_cluster, is_table=False),
    Kind(lambda value: _package(value) in ELSEWHERE, _elsewhere, is_table=False),
    Kind(is_arrow_dataset, scan_arrow_dataset),
    Kind(is_arrow_stream, scan_arrow_stream),
    Kind(lambda value: hasattr(value, "__arrow_c_stream__"), from_arrow),
    Kind(lambda value: isinstance(value, Iterable), from_records, is_table=False),
)
