"""`polars-ir compare`: systems against each other or a baseline."""

from __future__ import annotations

import argparse
from typing import Any

import polars as pl

from polars_ir.cli import parser
from polars_ir.cli.inputs import figures_of_files, slices_of
from polars_ir.errors import OptionError
from polars_ir.language.options import options_of
from polars_ir.per_query.compare import SCHEMA, compare
from polars_ir.per_query.shared.options import Comparing

#: The columns of Markdown, which stands in a comment on a change.
SHORT = ("run", "baseline", "measure", "difference", "p_corrected", "significant")


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("files", nargs="+", metavar="file", help=parser.FILES)
    parser.add_measures(command, required=False)
    parser.add_runs_instead(command)
    baseline = "the system that the others are compared with; without it, all pairs"
    command.add_argument("--baseline", metavar="SYSTEM", help=baseline)
    parser.add_options(command, Comparing, without=["margin", "by"])
    margin = "the largest difference that counts as none, or a measure's own as NAME=MARGIN; repeat"
    command.add_argument("--margin", type=parser.number_of_measure, action="append", metavar="MARGIN", help=margin)
    by = "a row per value of a column of --queries, or of the files, as well; repeat"
    command.add_argument("--by", action="append", metavar="COLUMN", help=by)
    parser.add_queries(command)
    parser.add_limits(command)
    parser.add_output(command)
    all_columns = f"all columns of --markdown, and not only {', '.join(SHORT)}"
    command.add_argument("--all", action="store_true", help=all_columns)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Systems against each other or a baseline."""
    if options.queries is not None and options.by is None and options.cluster is None:
        raise OptionError("--queries is a table for --by or --cluster to name columns of; give both.")
    per_query, by = slices_of(figures_of_files(options), options)
    per_query, cluster = slices_of(per_query, options, by="cluster")
    named = ("margin", "by", "cluster")
    testing: Any = {name: getattr(options, name) for name in options_of(Comparing) if name not in named}
    margin = options.margin and parser.by_measure("margin", options.margin)
    differences: pl.DataFrame = compare(
        per_query, options.measure, baseline=options.baseline, by=by, cluster=cluster, margin=margin, **testing
    )
    if options.render == "markdown" and not options.all:
        return differences.select(pl.exclude(set(SCHEMA) - set(SHORT)))
    return differences


COMPARE = parser.Command("compare", "tell whether systems differ by more than chance", arguments, run)
