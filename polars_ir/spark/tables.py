"""Spark frames as the core sees them: schemas, names and sizes, none of which runs a job.

Conventions: a column is named in backquotes, since its name can hold a dot. PySpark and PyArrow are imported when used.
"""

from __future__ import annotations

import inspect
import os
import pickle
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl
import polars.selectors as cs

from polars_ir.conversion import to_polars
from polars_ir.errors import DtypeError, ExtraError, InputTypeError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


class Task(Protocol):
    """What an executor does with the batches of a partition, and the schema of what it gives back."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches given back."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What it makes of the batches of a partition."""


#: From so many bytes on Spark refuses to broadcast a table.
LARGEST_BROADCAST = 8 << 30

#: What Spark takes for the size of a table that it knows nothing of, and larger.
UNKNOWN = 1 << 62


def check_spark(role: str, frame: object) -> None:
    """Raise an error unless a value is a Spark frame, and what tasks need is there."""
    try:
        import pyarrow as pa  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError:
        raise ExtraError.missing("polars_ir.spark", "spark") from None
    if not is_spark(frame):
        raise InputTypeError(
            f"{role} must be a Spark frame; got {type(frame).__name__}. For a table in memory there is "
            "polars_ir.evaluate; or make it a Spark frame: session.createDataFrame(table)."
        )


def is_spark(value: object) -> bool:
    """Whether a value is a frame of Spark, or of Spark Connect."""
    return type(value).__module__.startswith("pyspark.sql") and hasattr(value, "mapInArrow")


def to_spark(table: str, value: object, *, column: str, like: DataFrame) -> DataFrame:
    """A Spark frame as it is, and any other table in the session of another frame."""
    if is_spark(value):
        return value
    frame = to_polars(table, value, column=column).lazy().collect()
    return like.sparkSession.createDataFrame(plain(frame).to_arrow(compat_level=pl.CompatLevel.oldest()))


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in dtypes that Spark has too: text for categories and nulls, Int64 for unsigned and long integers."""
    texts = cs.by_dtype(pl.Null, pl.Categorical, pl.Enum)
    long = cs.unsigned_integer() | cs.by_dtype(pl.Int128)
    return frame.with_columns(texts.cast(pl.String), long.cast(pl.Int64))


def empty(table: str, frame: DataFrame) -> pl.DataFrame:
    """A Polars frame with the columns of a Spark frame, and no row."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_schema

    # PySpark 4.0 takes no zone, and is content with UTC.
    has_zone = "timezone" in inspect.signature(to_arrow_schema).parameters
    zone = {"timezone": frame.sparkSession.conf.get("spark.sql.session.timeZone")} if has_zone else {}
    try:
        return pl.DataFrame(to_arrow_schema(frame.schema, **zone).empty_table())
    except PySparkTypeError as error:
        raise DtypeError(
            f"{table} has a column that can not be sent to Python: {error}. Drop it: {table}.drop('...')."
        ) from None


def arrow_schema(frame: pl.DataFrame) -> pa.Schema:
    """The schema of a frame as Spark gives it to Arrow, with the strings that its workers expect."""
    import pyarrow as pa

    schema = plain(frame.clear()).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    string = (pa.field(f.name, pa.string()) if pa.types.is_large_string(f.type) else f for f in schema)
    return pa.schema(list(string))


def spark_schema(schema: pa.Schema) -> Any:
    """An Arrow schema in Spark's types."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def column(name: str) -> Column:
    """A column by its name, whatever that holds."""
    from pyspark.sql import functions as F  # noqa: N812  # everybody's name for it

    return F.col(f"`{name.replace('`', '``')}`")


def in_tasks(rows: DataFrame, task: Task) -> DataFrame:
    """What a task makes of the rows of each partition."""
    sent = pickle.dumps(task)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        # Polars counts its threads when it is imported, here by what is received. Spark runs a task for each of its
        # cores; as many threads in each would be too many. This function is sent whole, and so imports nothing before.
        from pyspark import TaskContext

        context = TaskContext.get()
        os.environ.setdefault("POLARS_MAX_THREADS", str(context.cpus() if context else 1))
        return pickle.loads(sent)(batches)  # type: ignore[no-any-return]  # noqa: S301  # what the driver has sent

    return rows.mapInArrow(run, spark_schema(task.schema))


def is_small(frame: DataFrame) -> bool:
    """Whether Spark would broadcast a table by itself: `spark.sql.autoBroadcastJoinThreshold`."""
    size = _estimated_bytes(frame)
    if size is None:
        return False
    threshold = frame.sparkSession._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold()  # noqa: SLF001  # the number behind its text
    return size <= int(threshold)


def check_broadcast(frame: DataFrame) -> None:
    """Raise an error for a table that is known to be too large to be broadcast."""
    size = _estimated_bytes(frame)
    if size is not None and LARGEST_BROADCAST <= size < UNKNOWN:
        raise OptionError(
            f"broadcast=True needs judged queries of less than {LARGEST_BROADCAST:,} bytes, Spark's limit; Spark "
            f"estimates {size:,}. Leave them where they are: broadcast=False."
        )


def _estimated_bytes(frame: DataFrame) -> int | None:
    """What Spark's optimizer takes for the size of a frame; None over Spark Connect, which does not tell."""
    plan = getattr(frame, "_jdf", None)
    return None if plan is None else int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
