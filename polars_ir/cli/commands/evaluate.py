"""`polars-ir evaluate`: runs against judgments."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.cli.arguments import OF_LOGS
from polars_ir.cli.inputs import alike, figures_of, judgments_of, queries_of
from polars_ir.cli.parser import reads_none
from polars_ir.errors import OptionError, with_names
from polars_ir.files.finding.file import is_remote, pure
from polars_ir.files.finding.sources import by_extension
from polars_ir.files.formats.columnar import IPC, PARQUET
from polars_ir.frames.roles import find
from polars_ir.per_query import mean


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The means of runs, or their per-query values."""
    if options.render == "flat" and options.per_query:
        raise OptionError("--json=flat prints means; leave out --per-query.")
    logs, gold, of_logs = _logs_of(options)
    # An error of the queries is raised before the evaluation.
    queries = _queries(options, of_logs)
    # A file says how it was made: one that knows its types in columns, and of a text a file beside it.
    if options.per_query and options.output is not None and not options.provenance:
        is_typed = pure(options.output).suffix in (*PARQUET.extensions, *IPC.extensions)
        options.metadata = not is_typed and not is_remote(options.output)
        options.provenance = is_typed or options.metadata
    qrels = gold if options.qrels is None else judgments_of(options)
    with with_names(by="--key"):
        per_query = figures_of(options.runs, qrels, options, logs)
    if options.per_query:
        return per_query
    if queries is None:
        return mean(per_query, by=options.key)
    per_query, queries = alike(per_query, queries)
    query = find("queries", "query_id", queries.columns)
    by, weights = (names and queries.select(query, *dict.fromkeys(names)) for names in (options.by, options.weights))
    return mean(per_query, by=options.key or by, weights=weights)


def _logs_of(options: argparse.Namespace) -> tuple[dict[str, Any], pl.DataFrame | None, pl.DataFrame | None]:
    """The logs among the runs, their judgments where no others are given, and the attributes of their queries."""
    alone = options.qrels is None and not reads_none(options)
    named = any(getattr(options, name) is not None for name in OF_LOGS)
    if not (alone or named or any(by_extension(Path(file)) for file in options.runs)):
        return {}, None, None
    from polars_ir.cli.logs import gold_of, is_log, logs_of, texts_of

    logs = logs_of(options.runs, options, alone=alone)
    if logs and options.qrels is not None and is_log(options.qrels, options):
        of = f"{options.qrels} is a log, and no judgments for others"
        raise OptionError(f"{of}; compare two logs by polars-ir gate NEW OLD, or evaluate one at a time.")
    gold = gold_of(logs) if logs and options.qrels is None else None
    return logs, gold, texts_of(logs, "queries", "query_id")


def _queries(options: argparse.Namespace, of_logs: pl.DataFrame | None) -> pl.DataFrame | None:
    """The table of query attributes for --by and --weights, that of --queries or of logs; None without them."""
    columns = [*(options.by or ()), *(options.weights or ())]
    if options.by and options.key:
        raise OptionError("--by and --key make rows in two ways; leave one of them out.")
    if columns and options.per_query:
        raise OptionError("--by and --weights are for means; leave out --per-query.")
    if bool(columns) != bool(options.queries) and (options.queries or of_logs is None):
        raise OptionError("--by and --weights name columns of a table of queries, --queries FILE; give both.")
    return queries_of(options, columns, of_logs) if columns else None
