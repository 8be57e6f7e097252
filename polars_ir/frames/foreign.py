"""Tables of other libraries: pandas, narwhals, Hugging Face's datasets, Arrow's datasets and streams.

Conventions: a library is recognised by the modules that are loaded, and never imported for it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import polars as pl
from polars.io.plugins import register_io_source

from polars_ir.errors import Code, ExtraError, Fix, InputTypeError, quoted
from polars_ir.frames.columns import ROLES, fold

#: The modules whose classes are datasets; a module of the user's may be called `datasets`, too.
HUGGING_FACE = ("datasets.arrow_dataset", "datasets.iterable_dataset", "datasets.dataset_dict")

#: Every name that a column may be recognised by.
NAMES = frozenset(fold(name) for names in ROLES.values() for name in names)


def is_narwhals(value: object) -> bool:
    """Whether a value is a frame of narwhals, which holds one of another library."""
    return type(value).__module__.partition(".")[0] == "narwhals" and hasattr(value, "to_native")


def is_hugging_face(value: object) -> bool:
    """Whether a value is a dataset or a dict of splits of the package `datasets`."""
    return type(value).__module__ in HUGGING_FACE


def is_arrow_dataset(value: object) -> bool:
    """Whether a value is a dataset of Arrow: files that are not in memory."""
    dataset = getattr(sys.modules.get("pyarrow.dataset"), "Dataset", None)
    return dataset is not None and isinstance(value, dataset)


def is_arrow_stream(value: object) -> bool:
    """Whether a value is a stream of Arrow's record batches, which can be read once."""
    reader = getattr(sys.modules.get("pyarrow"), "RecordBatchReader", None)
    return reader is not None and isinstance(value, reader)


def is_arrow(value: object) -> bool:
    """Whether a value gives its rows as an Arrow stream."""
    return hasattr(value, "__arrow_c_stream__")


def is_pandas(value: object) -> bool:
    """Whether a value is a pandas frame."""
    frame = getattr(sys.modules.get("pandas"), "DataFrame", None)
    return frame is not None and isinstance(value, frame)


def is_pandas_series(value: object) -> bool:
    """Whether a value is a Series of pandas."""
    series = getattr(sys.modules.get("pandas"), "Series", None)
    return series is not None and isinstance(value, series)


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
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        return pl.DataFrame([_column_of_pandas(table, str(name), value[name]) for name in value.columns])


def from_series(table: str, value: Any, column: str) -> pl.DataFrame:
    """A Series of pandas with ids in its index: its values are those of `column`, unless it has a name."""
    levels = list(value.index.names)
    if all(name is None for name in levels):
        wanted = ["query_id", "doc_id"][: len(levels)]
        fix = Fix("Say what its index holds", Code(f"{table}.rename_axis({wanted!r})"))
        raise InputTypeError(
            "is a Series whose index has no name, which would say what its values are of.", about=table, fix=fix
        )
    return from_pandas(table, value.rename(column if value.name is None else value.name).to_frame())


def aligned_series(value: Any) -> pl.Series | None:
    """A Series of Polars, or one of pandas without ids in its index, whose values are those of the rows of a frame."""
    if is_pandas_series(value):
        if any(name is not None for name in value.index.names):
            return None
        value = _column_of_pandas(
            "by", "value" if value.name is None else str(value.name), value.reset_index(drop=True)
        )
    if not isinstance(value, pl.Series):
        return None
    return value if value.name else value.alias("value")


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
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputTypeError(f"can not be read as Arrow: {error}.", about=table) from None


def _scan(batches: Any, schema: pl.Schema) -> pl.LazyFrame:
    """A plan over what a function of the needed columns gives, batch by batch."""

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
    ids = [name for name in value.columns if value[name].dtype == object and _begins_with_uuid(value[name])]
    texts = {name: value[name].map(str, na_action="ignore") for name in ids}
    return value.assign(**sparse, **texts) if sparse or texts else value


def _begins_with_uuid(values: Any) -> bool:
    """Whether the first value that is there is a UUID, which Arrow writes as bytes."""
    return isinstance(next((value for value in values if value is not None), None), UUID)


def _column_of_pandas(table: str, name: str, values: Any) -> pl.Series:
    """A column whose values Arrow may not take: as text then, unless it holds ids, scores or grades."""
    try:
        return pl.Series(name, pl.from_pandas(_plain(values.to_frame(name))).to_series())
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        if fold(name) in NAMES:
            fix = Fix("Make them one", Code(f"{table}.astype({{{name!r}: str}})"))
            raise InputTypeError(
                f"column {name!r} has values that Arrow has no one type for: {error}.", about=table, fix=fix
            ) from None
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


#: What recognises a table, as values of a dict of systems.
TABLES = (is_narwhals, is_hugging_face, is_arrow_dataset, is_arrow_stream, is_pandas, is_arrow)
