"""`polars-ir evaluate`: runs against judgments."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir.cli import parser
from polars_ir.cli.inputs import alike, figures_of, limits_of, qrels_of, queries_of
from polars_ir.errors import OptionError, with_names
from polars_ir.files.finding.file import is_remote, pure
from polars_ir.files.formats.columnar import IPC, PARQUET
from polars_ir.frames.roles import find
from polars_ir.per_query import mean
from polars_ir.runs.options import Evaluating

#: The endings of files that have columns of text beside numbers, whoever reads them.
TYPED = (*PARQUET.extensions, *IPC.extensions)


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_judged_runs(command)
    parser.add_measures(command, required=True)
    parser.add_per_query(command)
    command.add_argument("--key", action="append", metavar="COLUMN", help=parser.KEY)
    by = "means per value of a column of --queries; repeat"
    command.add_argument("--by", action="append", metavar="COLUMN", help=by)
    command.add_argument("--queries", metavar="FILE", help="a table with a query column, for --by and --weights")
    command.add_argument("--weights", nargs=1, metavar="COLUMN", help="means weighted by a column of --queries")
    parser.add_options(command, Evaluating, without=["by"])
    parser.add_limits(command)
    parser.add_output(command)
    flat = "print one JSON object of numbers, by system and measure, as trackers of experiments take it"
    command.add_argument("--json=flat", dest="render", action="store_const", const="flat", help=flat)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The means of runs, or their figures per query."""
    if options.render == "flat" and options.per_query:
        raise OptionError("--json=flat is of means; leave out --per-query.")
    # An error of the queries is raised before the evaluation.
    queries = _queries(options)
    # A file says how it was made: one that knows its types in columns, and of a text a file beside it.
    if options.per_query and options.output is not None and not options.provenance:
        is_typed = pure(options.output).suffix in TYPED
        options.metadata = not is_typed and not is_remote(options.output)
        options.provenance = is_typed or options.metadata
    qrels = qrels_of(options.qrels, options.qrels_format, **limits_of(options))
    with with_names(by="--key"):
        per_query = figures_of(options.runs, qrels, options)
    if options.per_query:
        return per_query
    if queries is None:
        return mean(per_query, by=options.key)
    per_query, queries = alike(per_query, queries)
    query = find("queries", "query_id", queries.columns)
    by, weights = (names and queries.select(query, *names) for names in (options.by, options.weights))
    return mean(per_query, by=options.key or by, weights=weights)


def _queries(options: argparse.Namespace) -> pl.DataFrame | None:
    """The table that --by and --weights name columns of; None without them."""
    columns = [*(options.by or ()), *(options.weights or ())]
    if options.by and options.key:
        raise OptionError("--by and --key make rows in two ways; leave one of them out.")
    if columns and options.per_query:
        raise OptionError("--by and --weights are of means; leave out --per-query.")
    if bool(columns) != bool(options.queries):
        raise OptionError("--by and --weights name columns of a table of queries, --queries FILE; give both.")
    if not columns:
        return None
    return queries_of(options, columns)


EVALUATE = parser.Command("evaluate", "evaluate runs against judgments", arguments, run)
