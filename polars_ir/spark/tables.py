"""Spark frames as the core sees them: schemas, names and sizes, none of which runs a job.

Conventions: a column is named in backquotes, since its name can hold a dot. PySpark and PyArrow are imported when used.
"""

from __future__ import annotations

import inspect
import os
import pickle
import shutil
import sys
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import polars as pl
import polars.selectors as cs

from polars_ir.errors import (
    Code,
    ColumnError,
    Door,
    DtypeError,
    ExtraError,
    Fix,
    InputTypeError,
    OptionError,
    Setting,
    dropping,
    option,
    quoted,
)
from polars_ir.frames.kinds import to_polars
from polars_ir.spark.files import check_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession


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

#: How a caller with Spark frames came in.
SPARK = Door("spark")

#: Settings by which Spark leaves out the rows of a file without a word.
LOSSY = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")


def check_spark(role: str, frame: object) -> None:
    """Raise an error unless a value is a Spark frame, and what tasks need is there."""
    try:
        import pyarrow as pa  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError:
        raise ExtraError.missing("polars_ir.spark", "spark") from None
    if not is_spark(frame):
        raise InputTypeError(
            f"must be a Spark frame; got {type(frame).__name__}. For a table in memory there is polars_ir.evaluate.",
            about=role,
            fix=Fix("Or make it a Spark frame", Code(f"session.createDataFrame({role})"), _without_java()),
        )
    check_whole(role, frame)


def _without_java() -> str:
    """What to say where no Java is found; Spark itself says little more than that its process ended."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return ""
    return (
        ". A session needs Java, which was not found here: install OpenJDK 17 or 21 (apt install "
        "openjdk-17-jre-headless, brew install openjdk@17, conda install openjdk=17) or set JAVA_HOME"
    )


def check_whole(table: str, frame: Any) -> None:
    """Raise an error for a frame of which rows or columns could be lost without a word."""
    if frame.isStreaming:
        raise InputTypeError(
            "is a stream, and a query can be evaluated when all of its rows are there. Read it as a table, or "
            "evaluate batches that hold whole queries: writeStream.foreachBatch(...).",
            about=table,
        )
    settings = frame.sparkSession.conf
    for setting in LOSSY:
        if settings.get(setting) == "true":
            raise OptionError(
                f"{setting} must be 'false' to evaluate: the rows of a lost part would be silently missing from "
                "the figures.",
                fix=Fix("Set it", Code(f"session.conf.set({setting!r}, 'false')")),
            )
    check_files(frame)
    folded = [name if settings.get("spark.sql.caseSensitive") == "true" else name.lower() for name in frame.columns]
    ambiguous = [name for name, key in zip(frame.columns, folded, strict=True) if folded.count(key) > 1]
    if ambiguous:
        raise ColumnError(
            f"has columns that Spark does not tell apart: {quoted(ambiguous)}.",
            about=table,
            fix=Fix(
                "Give each a name of its own", Code(f"{table}.toDF({', '.join(map(repr, _apart(frame.columns)))})")
            ),
        )


def _apart(names: Sequence[str]) -> list[str]:
    """Names of columns, those that Spark does not tell apart with the number of the column."""
    folded = [name.lower() for name in names]
    numbered = enumerate(zip(names, folded, strict=True), 1)
    return [f"{name}_{number}" if folded.count(key) > 1 else name for number, (name, key) in numbered]


def is_spark(value: object) -> TypeGuard[DataFrame]:
    """Whether a value is a frame of Spark, or of Spark Connect."""
    return type(value).__module__.startswith("pyspark.sql") and hasattr(value, "mapInArrow")


def to_spark(table: str, value: object, *, column: str, like: DataFrame) -> DataFrame:
    """A Spark frame as it is, and any other table in the session of another frame."""
    if is_spark(value):
        check_whole(table, value)
        return value
    frame = to_polars(table, value, column=column).lazy().collect()
    return in_session(like.sparkSession, plain(frame))


def in_session(session: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """A Polars frame as a Spark frame, with all of its rows and types also over Spark Connect."""
    # Connect 4.0 takes the first chunk of a table and leaves out the others; no Connect reads the types of no rows.
    rows = frame.rechunk() if frame.height else frame.clear(1)
    sent = session.createDataFrame(rows.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return sent if frame.height else sent.limit(0)


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in dtypes that Spark has too.

    Text for categories and nulls, Int64 for unsigned and long integers, microseconds for other units of time.
    """
    texts = cs.by_dtype(pl.Null, pl.Categorical, pl.Enum)
    long = cs.unsigned_integer() | cs.by_dtype(pl.Int128)
    times = cs.datetime(["ms", "ns"]) | cs.duration(["ms", "ns"])
    return frame.with_columns(texts.cast(pl.String), long.cast(pl.Int64), times.dt.cast_time_unit("us"))


def empty(table: str, frame: DataFrame) -> pl.DataFrame:
    """A Polars frame with the columns of a Spark frame, and no row."""
    import pyarrow as pa
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    # PySpark 4.0 takes no zone, and is content with UTC.
    has_zone = "timezone" in inspect.signature(to_arrow_schema).parameters
    zone: dict[str, Any] = {"timezone": frame.sparkSession.conf.get("spark.sql.session.timeZone")} if has_zone else {}
    fields = []
    for field in frame.schema:
        try:
            fields += to_arrow_schema(StructType([field]), **zone)
        except PySparkTypeError:
            raise DtypeError(
                f"{table} column {field.name!r} is of a type that Spark does not send to Python: "
                f"{field.dataType.simpleString()}.",
                fix=Fix("Drop it", dropping(table, [field.name])),
            ) from None
    return pl.DataFrame(pa.schema(fields).empty_table())


def by_bytes(frame: DataFrame) -> DataFrame:
    """The frame with text that is compared by its bytes, as in the core, where a column has another collation."""
    collations = {field.name: getattr(field.dataType, "collation", "UTF8_BINARY") for field in frame.schema}
    collated = [name for name, collation in collations.items() if collation != "UTF8_BINARY"]
    return frame.withColumns({name: column(name).cast("string") for name in collated}) if collated else frame


def arrow_schema(frame: pl.DataFrame) -> pa.Schema:
    """The schema of a frame as Spark gives it to Arrow, with the strings that its workers expect."""
    import pyarrow as pa

    schema = plain(frame.clear()).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    string = (pa.field(f.name, pa.string()) if pa.types.is_large_string(f.type) else f for f in schema)
    return pa.schema(list(string))


def spark_schema(schema: pa.Schema) -> Any:
    """An Arrow schema in Spark's types."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)  # as `empty` has them: a time without a zone has none


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
        try:
            received = pickle.loads(sent)  # noqa: S301  # what the driver has sent
        except ImportError as error:
            raise ImportError(
                f"executors need the packages of the driver: {error} for {sys.executable}. Install them there, or send "
                "them: spark-submit --archives env.tar.gz#env --conf spark.pyspark.python=./env/bin/python "
                "--conf spark.pyspark.driver.python=python"
            ) from None
        return received(batches)  # type: ignore[no-any-return]

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
            f"needs judged queries of less than {LARGEST_BROADCAST:,} bytes, Spark's limit; Spark estimates {size:,}.",
            about=option("broadcast", True),
            fix=Fix("Leave them where they are", Setting("broadcast", False)),
        )


def _estimated_bytes(frame: DataFrame) -> int | None:
    """What Spark's optimizer takes for the size of a frame; None over Spark Connect, which does not tell."""
    plan = getattr(frame, "_jdf", None)
    return None if plan is None else int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
