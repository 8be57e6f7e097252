"""Schemas, names and sizes of Spark frames, without running a job.

Conventions
    * A column is named in backquotes, since its name can hold a dot. PySpark and PyArrow are imported when used.
    * A file of zero bytes, which Spark passes over without a word, is an error: in Parquet and ORC it is a table that
      was lost. Spark knows the sizes of files that it has listed, and only its own plan tells them, which Spark Connect
      has not, nor has a frame made from a cached or a streaming one. Spark Connect (4.0) tells the names of a frame's
      files, but not their sizes: `_metadata` and the `binaryFile` source leave empty files out as every reader does, so
      that only a job over all parts, before each evaluation, could tell them.
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeGuard

import polars as pl
import polars.selectors as cs

from polars_ir.errors import (
    Code,
    ColumnError,
    DtypeError,
    ExtraError,
    FileError,
    Fix,
    InputTypeError,
    OptionError,
    Setting,
    option,
    quoted,
)
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.roles import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession


#: Size in bytes at which Spark refuses to broadcast a table.
LARGEST_BROADCAST = 8 << 30

#: Spark's estimates of tables of unknown size are at least this.
UNKNOWN = 1 << 62

#: Settings by which Spark silently skips the rows of a file.
LOSSY = ("spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles")

#: Spark's classes of formats that have no file of zero bytes.
_NEVER_EMPTY = ("ParquetFileFormat", "OrcFileFormat", "ParquetTable", "OrcTable")


def check_spark(role: str, frame: object) -> None:
    """Raise an error unless a value is a Spark frame, and the packages that tasks need are there."""
    try:
        import pyarrow as pa  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError:
        raise ExtraError.missing("polars_ir.spark", "spark") from None
    if not is_spark(frame):
        says = f"must be a Spark frame; got {type(frame).__name__}. For a table in memory there is polars_ir.evaluate."
        raise InputTypeError(says, about=role, fix=Fix(f"Or make it a Spark frame{_without_java()}", _in_spark(role)))
    check_whole(role, frame)


def _in_spark(table: str) -> Code:
    return Code(f"session.createDataFrame({table}.to_arrow())", f"session.createDataFrame({table})")


def _without_java() -> str:
    """Advice for a machine without Java, on which Spark only reports that its process ended."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return ""
    return (
        " (a session needs Java, which was not found here: install OpenJDK 17 or 21, by apt install "
        "openjdk-17-jre-headless, brew install openjdk@17 or conda install openjdk=17, or set JAVA_HOME)"
    )


def check_whole(table: str, frame: Any) -> None:
    """Raise an error for a frame that could lose rows or columns silently."""
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
        numbered, folded = enumerate(frame.columns, 1), [name.lower() for name in frame.columns]
        apart = [f"{name}_{i}" if folded.count(name.lower()) > 1 else name for i, name in numbered]
        raise ColumnError(
            f"has columns that Spark does not distinguish: {quoted(ambiguous)}.",
            about=table,
            fix=Fix("Give each a name of its own", Code(f"{table}.toDF({', '.join(map(repr, apart))})")),
        )


def is_spark(value: object) -> TypeGuard[DataFrame]:
    """True for a frame of Spark, or of Spark Connect."""
    return type(value).__module__.startswith("pyspark.sql") and hasattr(value, "mapInArrow")


def to_spark(table: str, value: object, *, column: str, like: DataFrame) -> DataFrame:
    """A Spark frame as it is; any other table as one in the session of another frame."""
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
    """The frame in dtypes that Spark supports.

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
                fix=Fix("Drop it", Code.dropping(table, [field.name])),
            ) from None
    return pl.DataFrame(pa.schema(fields).empty_table())


def by_bytes(frame: DataFrame) -> DataFrame:
    """The frame with text compared by bytes, as in the core, whatever its collation."""
    collations = {field.name: getattr(field.dataType, "collation", "UTF8_BINARY") for field in frame.schema}
    collated = [name for name, collation in collations.items() if collation != "UTF8_BINARY"]
    return frame.withColumns({name: column(name).cast("string") for name in collated}) if collated else frame


def arrow_schema(frame: pl.DataFrame) -> pa.Schema:
    """The schema of a frame as Spark gives it to Arrow, with the strings that its workers expect."""
    import pyarrow as pa

    schema = plain(frame.clear()).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    fields = []
    for each in schema:
        if pa.types.is_large_string(each.type):
            fields.append(pa.field(each.name, pa.string()))
        else:
            # The only lists that are sent are of texts.
            fields.append(pa.field(each.name, pa.list_(pa.string())) if pa.types.is_large_list(each.type) else each)
    return pa.schema(fields)


def column(name: str) -> Column:
    """A column by name, whatever characters it holds."""
    from pyspark.sql import functions as F  # noqa: N812  # everybody's name for it

    return F.col(f"`{name.replace('`', '``')}`")


def packed(columns: Iterable[str], name: str) -> Column:
    """A struct of columns: PySpark looks up those it sends, by names in which a point is a field but in a struct."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.struct(*map(column, columns)).alias(name)


def columns_of(about: str, names: Any, frame: DataFrame) -> Any:
    """The columns of a per-query frame that a call names, as it does; an error for another table."""
    is_table = hasattr(type(names), "columns")  # one of pandas is a row of names, too
    if names is None or (not is_table and isinstance(names, Iterable) and all(isinstance(name, str) for name in names)):
        return names
    query = find("per_query", "query_id", frame.columns) or "query_id"
    says = f"must name columns of per_query here; got {type(names).__name__}."
    raise InputTypeError(says, about=about, fix=Fix("Join it first", _joining(about, names, query)))


def _joining(about: str, table: Any, query: str) -> Code:
    """Code that joins a table, of Spark or in memory, to the figures of queries."""
    there = about
    if not is_spark(table):
        there = _in_spark(about)[type(table).__module__.startswith("pandas")] or about
    return Code("", spark=f"per_query.join({there}, {query!r})")


def is_small(frame: DataFrame) -> bool:
    """True for a table below `spark.sql.autoBroadcastJoinThreshold`."""
    size = _estimated_bytes(frame)
    if size is None:
        return False
    threshold = frame.sparkSession._jsparkSession.sessionState().conf().autoBroadcastJoinThreshold()  # noqa: SLF001  # the number behind its text
    return size <= int(threshold)


def check_broadcast(frame: DataFrame) -> None:
    """Raise an error for a table known to be too large for a broadcast."""
    size = _estimated_bytes(frame)
    if size is not None and LARGEST_BROADCAST <= size < UNKNOWN:
        raise OptionError(
            f"needs judged queries of less than {LARGEST_BROADCAST:,} bytes, Spark's limit; Spark estimates {size:,}.",
            about=option("broadcast", True),
            fix=Fix("Leave them where they are", Setting("broadcast", False)),
        )


def _estimated_bytes(frame: DataFrame) -> int | None:
    """The size of a frame as Spark's optimizer estimates it; None over Spark Connect, which has no estimate."""
    plan = getattr(frame, "_jdf", None)
    return None if plan is None else int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))


def check_files(frame: Any) -> None:
    """Raise a `FileError` for a file of zero bytes among those that a frame is read from."""
    from py4j.protocol import Py4JError

    plan = getattr(frame, "_jdf", None)
    if plan is None:
        return
    try:
        empty = next(_empty_files(frame.sparkSession, plan.queryExecution().analyzed()), None)
    except Py4JError:
        return  # a Spark that allows no look at its plans
    if empty is not None:
        problem = "the file has zero bytes, and Spark would skip it silently. Write it again, or delete it."
        raise FileError.of_file(empty, problem)


def _empty_files(session: Any, plan: Any) -> Iterator[str]:
    for leaf in _each(plan.collectLeaves()):
        kind = leaf.getClass().getSimpleName()
        if kind == "LogicalRelation" and leaf.relation().getClass().getSimpleName() == "HadoopFsRelation":
            yield from _empty_files_of(session, leaf.relation().fileFormat(), leaf.relation().location())
        elif kind == "DataSourceV2Relation" and leaf.table().getClass().getSimpleName() in _NEVER_EMPTY:
            yield from _empty_files_of(session, leaf.table(), leaf.table().fileIndex())


def _empty_files_of(session: Any, format: Any, index: Any) -> Iterator[str]:
    """The files of zero bytes in an index, whose list for a scan leaves them out."""
    if format.getClass().getSimpleName() not in _NEVER_EMPTY:
        return
    jvm, state = session._jvm, session._jsparkSession.sessionState()  # noqa: SLF001  # PySpark has no other way to these
    nothing = getattr(getattr(jvm.scala.collection.immutable, "Nil$"), "MODULE$")
    named = list(index.inputFiles())
    if len(named) == sum(folder.files().size() for folder in _each(index.listFiles(nothing, nothing))):
        return
    for name in named:
        path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(name))
        if path.getFileSystem(state.newHadoopConf()).getFileStatus(path).getLen() == 0:
            yield name


def _each(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(place) for place in range(sequence.size()))
