"""`polars-ir gate`: the verdict on a change."""

from __future__ import annotations

import argparse
from typing import Any

import polars as pl

from polars_ir.cli.inputs import alike, figures_of, limits_of, per_query_of, qrels_of, run_of, slices_of
from polars_ir.cli.parser import (
    Command,
    add_limits,
    add_measures,
    add_options,
    add_output,
    add_queries,
    add_runs_instead,
    by_measure,
    number_of_measure,
)
from polars_ir.errors import OptionError
from polars_ir.language.options import options_of
from polars_ir.per_query.gate import gate, status
from polars_ir.per_query.shared.options import Gating

#: Options that go in 0.4: nothing is drawn at random any more.
FORMER = ("resamples", "seed")


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("new", help="a file of evaluate --per-query for one system; with --qrels, its run")
    command.add_argument("old", help="the same for the system before the change")
    add_measures(command, required=True)
    add_options(command, Gating, without=["max_drop", "ranges"])
    for former in FORMER:
        command.add_argument(f"--{former}", type=int, help=argparse.SUPPRESS)
    add_runs_instead(command)
    may_drop = "how much a mean may drop, or a measure's own drop as NAME=DROP; repeat (0.01)"
    command.add_argument("--max-drop", type=number_of_measure, action="append", metavar="DROP", help=may_drop)
    its_range = "the worst and the best value of a measure of your own, such as inf:0; repeat"
    command.add_argument("--range", type=ends, action="append", metavar="NAME=WORST:BEST", help=its_range)
    add_queries(command)
    command.add_argument("--report", metavar="FILE", help="write the change as a page, one file of HTML, as well")
    add_limits(command)
    add_output(command)


def ends(text: str) -> tuple[str, tuple[float, float]]:
    """The name of a measure, and the ends of its range."""
    name, _, limits = text.rpartition("=")
    worst, best = map(float, limits.split(":"))
    return name, (worst, best)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The verdict on a change."""
    files = options.new, options.old
    if options.qrels is None:
        new, old = (per_query_of(file, **limits_of(options)) for file in files)
    else:
        qrels = qrels_of(options.qrels, options.qrels_format, **limits_of(options))
        new, old = (figures_of([file], qrels, options) for file in files)
    if options.queries is not None and options.cluster is None:
        raise OptionError("--queries is a table for --cluster to name a column of; give both.")
    old, _ = slices_of(old, options, by="cluster")
    new, cluster = slices_of(new, options, by="cluster")
    named = ("max_drop", "ranges", "cluster")
    gating: Any = {name: getattr(options, name) for name in options_of(Gating) if name not in named}
    verdict: pl.DataFrame = gate(
        new,
        old,
        options.measure,
        max_drop=by_measure("max_drop", options.max_drop or [0.01]),
        ranges=dict(options.range or []),
        cluster=cluster,
        **gating,
        **{name: value for name in FORMER if (value := getattr(options, name)) is not None},
    )
    if options.report is not None:
        _write_report(verdict, new, old, options)
    return verdict


def _write_report(verdict: pl.DataFrame, new: pl.DataFrame, old: pl.DataFrame, options: argparse.Namespace) -> None:
    """Write the page of a change, whose two systems are called new and old."""
    from polars_ir.cli.commands.report import told
    from polars_ir.reports.report import report_of_change

    files, qrels = [options.new, options.old], None
    if options.qrels is not None:
        qrels = qrels_of(options.qrels, options.qrels_format, **limits_of(options))
        runs = [alike(run_of(file, options.format, **limits_of(options)), qrels) for file in files]
        (new, qrels), (old, _) = runs
    made = report_of_change(new, old, qrels, verdict)
    told(made, options, [*files, options.qrels], options.report).write(options.report)


GATE = Command("gate", "tell whether a change may ship: no measure drops more than it may", arguments, run, status)
