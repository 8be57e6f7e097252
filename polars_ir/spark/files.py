"""Files of a Spark frame that Spark passes over without a word: those of zero bytes.

Conventions: no job runs. Spark knows the sizes of files that it has listed, and only its own plan tells them, which
Spark Connect has not, nor has a frame made from a cached or a streaming one. Spark Connect (4.0) tells the names of a
frame's files, those of zero bytes among them, but not their sizes: `_metadata` and the `binaryFile` source leave such
files out as every reader does, so that only a job over all parts, before each evaluation, could tell them. A table in
text may have such a file; in Parquet and ORC it is what is left of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from polars_ir.errors import FileError

#: The formats that no file of zero bytes has, as Spark's classes for them are called.
_NEVER_EMPTY = ("ParquetFileFormat", "OrcFileFormat", "ParquetTable", "OrcTable")


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
    """The elements of a sequence of Scala."""
    return (sequence.apply(place) for place in range(sequence.size()))
