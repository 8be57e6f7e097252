"""Logs in the shell: files with lists of documents in the place of runs, with judgments of their own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.cli.arguments import OF_LOGS
from polars_ir.cli.inputs import alike, limits_of
from polars_ir.errors import DataError, FileError, OptionError
from polars_ir.files.finding.copies import STDIN, as_file, shown_name
from polars_ir.files.finding.sources import by_extension, resolve
from polars_ir.files.formats.columnar import IPC, PARQUET
from polars_ir.files.formats.json import JSON
from polars_ir.files.formats.ndjson import NDJSON
from polars_ir.files.formats.separated import CSV, TSV
from polars_ir.files.rows.unreadable import FAILURES
from polars_ir.frames.roles import find

if TYPE_CHECKING:
    from polars_ir.inputs.read_log import Log

#: Number of queries named by a message.
NAMED = 5


def logs_of(files: Sequence[str], options: argparse.Namespace, *, alone: bool = False) -> dict[str, Log]:
    """The logs among some files, each told on stderr; `alone` is a file that can be nothing else."""
    named = {name: value for name in OF_LOGS if (value := getattr(options, name)) is not None}
    known = named or (alone and [*files] == [STDIN])
    found = [file for file in files if options.format is None and (known or is_log(file, options))]
    if named and not files:
        raise OptionError(f"--{next(iter(named))} is for logs; name one.")
    if alone and not found:
        raise OptionError(f"{options.command} needs judgments, too: --qrels FILE; a log has its own.")
    try:
        return {file: _log_of(file, options) for file in found}
    except FileError as error:
        if not alone or found != [STDIN]:
            raise
        fix = "If it is a run, give judgments, too: --qrels FILE"
        raise FileError(error.says, about=error.about, fix=fix) from None


def is_log(name: str, options: argparse.Namespace) -> bool:
    """True for a file whose records hold lists or objects, in place of a document each; a pipe can be read once."""
    format = by_extension(Path(name))
    if format not in (PARQUET, IPC, NDJSON, JSON, CSV, TSV) or Path(name).is_fifo():
        return False
    file, *others = resolve(name, **limits_of(options))
    if others:
        return False
    try:
        if format in (CSV, TSV, JSON):
            begin = pl.scan_lines(file, name="line", glob=False).head(64).collect()["line"]
            prints_lists = bool(begin.slice(1, 1).str.contains(r"""(?:^|[,\t])"?\[""").any())
            return _begins_as_log("\n".join(begin)) if format is JSON else prints_lists
        if format is NDJSON:
            filled = pl.scan_lines(file, name="line", glob=False).filter(pl.col("line").str.contains(r"\S"))
            # The first records may lack lists.
            return any(_is_record(json.loads(line)) for line in filled.head(64).collect(engine="streaming")["line"])
        scan = pl.scan_parquet if format is PARQUET else pl.scan_ipc
        schema = scan(file).collect_schema()
    except (*FAILURES, ValueError):
        return False  # its reader tells what is wrong
    return any(dtype.is_nested() for dtype in schema.dtypes()) and find("run", "doc_id", schema) is None


def _is_record(value: Any) -> bool:
    """True of an object with lists or objects, as a record of a log, and no document, as a row of a run."""
    if not isinstance(value, dict) or find("run", "doc_id", value) is not None:
        return False
    return any(isinstance(each, list | dict) for each in value.values())


def _begins_as_log(text: str) -> bool:
    """True of the beginning of JSON that is a list of records, spans or LlamaIndex' data set, and no run."""
    begin = text.lstrip()
    if begin.startswith("{"):
        return any(f'"{mark}"' in begin for mark in ("resourceSpans", "relevant_docs"))
    record = begin.removeprefix("[").lstrip()
    lists = record.find("["), record.find('": {')
    return begin.startswith("[") and record.startswith("{") and max(lists) > 0


def _log_of(name: str, options: argparse.Namespace) -> Log:
    """The log in a file, its calls merged unless they are keys of the figures."""
    from polars_ir.inputs.read_log import STEP, log_of
    from polars_ir.runs.merge_calls import merge_calls

    named = {each: getattr(options, each) for each in OF_LOGS if each != "scores"}
    scores: Any = False if options.scores and options.scores.lower() in ("none", "false") else options.scores
    with as_file(name) as file:
        log, told = log_of(file, named, scores=scores, duplicates=options.duplicates, **limits_of(options))
    if log.run is None:
        raise OptionError(f"{shown_name(name)} ({told}) has judgments and no rankings; name them: --retrieved FIELD.")
    if STEP in log.run.columns and STEP not in (vars(options).get("key") or ()) and STEP not in (options.by or ()):
        log = log._replace(run=merge_calls(log.run))
        told += "; the calls of a query are merged in the order of reading"
    if log.qrels is not None:
        unjudged = log.run.select("query_id").unique().join(log.qrels, on="query_id", how="anti")
        told += f"; {unjudged.height:,} queries have no judgments" if unjudged.height else ""
    print(f"polars-ir: {shown_name(name)} is read as {told}.", file=sys.stderr)
    return log


def gold_of(logs: Mapping[str, Log]) -> pl.DataFrame:
    """The judgments of logs together; an error that names queries where those of two differ."""
    files = [file for file, log in logs.items() if log.qrels is not None]
    if not files:
        fields = "name the field of relevant documents (--relevant FIELD), or give judgments (--qrels FILE)"
        raise OptionError(f"{', '.join(map(shown_name, logs))}: no query has relevant documents; {fields}.")
    gold: pl.DataFrame = logs[files[0]].qrels
    for file in files[1:]:
        ours, theirs = alike(gold, logs[file].qrels)
        both = _canonical(ours).join(_canonical(theirs), on="query_id", how="inner", suffix="_other")
        differ = both.filter(pl.col("gold") != pl.col("gold_other"))["query_id"].sort()
        if len(differ):
            shown = ", ".join(map(repr, differ.head(NAMED)))
            more = " and others" * (len(differ) > NAMED)
            noun = "query" if len(differ) == 1 else "queries"
            says = f"and {shown_name(file)} differ in the relevant documents of {len(differ):,} {noun}: {shown}{more}."
            fix = "Give the judgments that count for both: --qrels FILE"
            raise DataError(says, about=shown_name(files[0]), fix=fix)
        gold = pl.concat([ours, theirs.join(ours, on="query_id", how="anti")], how="diagonal_relaxed")
    return gold


def _canonical(qrels: pl.DataFrame) -> pl.DataFrame:
    """The judgments of each query as one value, whatever their order and the numbers of groups."""
    document = pl.format("{}={}", "doc_id", pl.col("relevance").cast(pl.Float64)).fill_null("")
    keys = ["query_id", *(["subtopic"] if "subtopic" in qrels.columns else [])]
    groups = qrels.group_by(keys).agg(documents=document.sort())
    group = pl.col("documents").list.join("\x1f")
    return groups.group_by("query_id").agg(gold=group.sort()).with_columns(pl.col("gold").list.join("\x1e"))


def of_queries(qrels: pl.DataFrame, log: Log) -> pl.DataFrame:
    """The judgments of the queries that a log has: another's were never asked."""
    asked = [frame.select("query_id") for frame in (log.run, log.queries, log.qrels) if frame is not None]
    query = pl.col("query_id").cast(pl.String)
    return qrels.join(pl.concat(asked).select(query).unique(), left_on=query, right_on="query_id", how="semi")


def texts_of(logs: Mapping[str, Log], name: str, id: str) -> pl.DataFrame | None:
    """The texts and other values of queries or documents in any of the logs; None without any."""
    tables = [table for log in logs.values() if (table := getattr(log, name)) is not None]
    if not tables:
        return None
    as_text = [table.with_columns(pl.col(id).cast(pl.String)) for table in tables]
    rows: pl.DataFrame = pl.concat(as_text, how="diagonal_relaxed")
    return rows.unique(id, keep="first", maintain_order=True)
