"""`polars-ir compare`: systems against each other or a baseline."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import polars as pl

from polars_ir.cli.inputs import figures_of, limits_of, per_query_of, qrels_of, slices_of, systems_of
from polars_ir.cli.parser import (
    Command,
    add_limits,
    add_measures,
    add_options,
    add_output,
    add_runs_instead,
    add_slices,
    by_measure,
    number_of_measure,
)
from polars_ir.errors import OptionError
from polars_ir.language.options import options_of
from polars_ir.per_query.compare import compare
from polars_ir.per_query.shared.options import Comparing

FILES = "files of evaluate --per-query, or of trec_eval -q, a system each or several; with --qrels, runs"


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("files", nargs="+", metavar="file", help=FILES)
    add_measures(command, required=False)
    add_runs_instead(command)
    baseline = "the system that the others are compared with; without it, all pairs"
    command.add_argument("--baseline", metavar="SYSTEM", help=baseline)
    add_options(command, Comparing, without=["margin", "by"])
    margin = "the largest difference that counts as none, or a measure's own as NAME=MARGIN; repeat"
    command.add_argument("--margin", type=number_of_measure, action="append", metavar="MARGIN", help=margin)
    add_slices(command, "a row per value of a column of --queries, or of the files, as well; repeat")
    add_limits(command)
    add_output(command)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Systems against each other or a baseline."""
    limits = limits_of(options)
    if options.qrels is None:
        per_query = systems_of(options.files, partial(per_query_of, **limits))
    elif options.measure is None:
        raise OptionError("compare needs a measure to evaluate runs by (-m); without --qrels, files bring theirs.")
    else:
        per_query = figures_of(options.files, qrels_of(options.qrels, options.qrels_format, **limits), options)
    per_query, by = slices_of(per_query, options)
    testing: Any = {name: getattr(options, name) for name in options_of(Comparing) if name not in ("margin", "by")}
    margin = options.margin and by_measure("margin", options.margin)
    differences: pl.DataFrame = compare(
        per_query, options.measure, baseline=options.baseline, by=by, margin=margin, **testing
    )
    return differences


COMPARE = Command("compare", "tell whether systems differ by more than chance", arguments, run)
