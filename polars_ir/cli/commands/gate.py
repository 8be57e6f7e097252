"""`polars-ir gate`: the verdict on a change."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.cli.inputs import (
    alike,
    all_alike,
    by_measure,
    figures_of,
    judgments_of,
    limits_of,
    per_query_of,
    queries_of,
    refuse_selection,
    run_of,
    slices_of,
)
from polars_ir.cli.logs import gold_of, logs_of, of_queries, texts_of
from polars_ir.errors import FileError, OptionError, nearest, option, quoted
from polars_ir.files.finding.copies import shown_name
from polars_ir.files.tables import read_one_table
from polars_ir.files.writers import write_lines
from polars_ir.frames.kinds import as_dtype
from polars_ir.frames.roles import TEXT, required
from polars_ir.language.columns import is_cost
from polars_ir.language.options import check, one_of, options_of
from polars_ir.per_query.assert_no_worse import status as exit_status
from polars_ir.per_query.gate import gate_with_floors
from polars_ir.per_query.shared.measures import ranges_of
from polars_ir.per_query.shared.options import INCONCLUSIVE, LOOK, Gating
from polars_ir.per_query.worst_slices import worst_slices

#: The printed slices and their columns.
SLICES = 5
SLICE_COLUMNS = ("attribute", "value", "measure", "n_queries", "mean", "rest_mean", "difference", "p_corrected")

#: The exit status of an inconclusive gate.
UNDECIDED = 3


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The verdict on a change."""
    _check_report(options)
    if options.thresholds is not None:
        read_thresholds(options)
    files = [options.new, *filter(None, [options.old])]
    logs = _logs_of(files, options)
    if options.documents is not None and (options.report is None or not (options.qrels or logs)):
        raise OptionError("--documents are texts for the rankings on a page; give --report and --qrels as well.")
    if not options.measure and (options.qrels is not None or logs):
        needed = "gate of runs needs a measure to judge by: -m, or measures in the file of --thresholds"
        raise OptionError(f"{needed}; polars-ir gate --help tells more.")
    if (options.qrels is None and not logs) or options.report is not None:
        refuse_selection(options, "without it, or with --report, all documents count")
    qrels = judgments_of(options) if options.qrels is not None else gold_of(logs) if logs else None
    if qrels is None:
        sides = [per_query_of(file, **limits_of(options)) for file in files]
    else:
        # Judgments of logs are of the queries that each has.
        asked = {file: of_queries(qrels, logs[file]) if logs and options.qrels is None else qrels for file in files}
        sides = [figures_of([file], asked[file], options, logs) for file in files]
    sides = _of_one_type(sides)
    if options.queries is not None and not (options.cluster or options.slices) and options.report is None:
        says = "--queries is for --cluster or --slice, which name columns, or for --report; give one of them."
        raise OptionError(says)
    of_logs = texts_of(logs, "queries", "query_id")
    (new, cluster), *others = (slices_of(side, options, by="cluster", of_logs=of_logs) for side in sides)
    old = others[0][0] if others else None
    named = ("max_drop", "ranges", "cluster")
    ranges = dict(options.range or [])
    gating: Any = {name: getattr(options, name) for name in options_of(Gating) if name not in named}
    verdict: pl.DataFrame = gate_with_floors(
        new,
        old,
        options.measure or None,
        baseline=options.baseline,
        max_drop=by_measure("max_drop", options.max_drop or [0.01]),
        ranges=ranges,
        cluster=cluster,
        floors=_by_name("floor", options.floor or []),
        **gating,
    )
    measures = verdict["measure"].unique(maintain_order=True).to_list()
    turned = [name for name, its in ranges_of(measures, ranges).items() if its.is_cost != is_cost(name)]
    slices = _slices_of(options, of_logs)
    if slices is not None and old is not None:
        options.worst = _worst(new, old, slices, measures, turned)
    if options.report is not None and old is not None:
        if len(turned) < len(measures):
            _write_report(verdict, new, old, qrels, options, logs, slices, turned)
        else:
            says = f"no report is written: the direction of {quoted(turned)} is known from --range alone."
            print(f"polars-ir: warning: {says}", file=sys.stderr)
    return verdict


def _of_one_type(sides: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Figures with ids of one type, and with days and times, which a CSV has as texts, of the other side's dtypes."""
    sides = list(alike(*sides)) if len(sides) == 2 else sides
    made = []
    for side, other in zip(sides, reversed(sides), strict=True):
        texts = {name for name, dtype in side.schema.items() if isinstance(dtype, TEXT)}
        times = {name: dtype for name, dtype in other.schema.items() if name in texts and dtype.is_temporal()}
        parsed = (as_dtype(side[name], dtype) for name, dtype in times.items())
        made.append(side.with_columns(*(values for values in parsed if values is not None)))
    return made


def _worst(
    new: pl.DataFrame, old: pl.DataFrame, slices: pl.DataFrame, measures: list[str], turned: list[str]
) -> pl.DataFrame:
    """The slices that lose more than the other queries, the worst first.

    `turned` are measures whose direction --range reverses.
    """
    query = required("per_query", "query_id", new.columns)
    sides = {"new": new, "old": old.rename({required("per_query", "query_id", old.columns): query})}
    values = [-pl.col(name).cast(pl.Float64) if name in turned else pl.col(name) for name in measures]
    both = [side.select(pl.lit(name).alias("run"), query, *values) for name, side in sides.items()]
    figures, by = alike(pl.concat(both, how="vertical_relaxed"), slices)
    found = worst_slices(figures, by, measures, baseline="old")
    costs = pl.col("measure").is_in([name for name in measures if is_cost(name)])
    lost = found.filter(pl.col("p_corrected").is_not_null() & ((pl.col("difference") < 0) != costs))
    columns = pl.col("mean", "rest_mean", "difference")
    as_given = pl.when(pl.col("measure").is_in(turned)).then(-columns).otherwise(columns)
    return lost.with_columns(as_given).select(SLICE_COLUMNS).head(SLICES)


def _logs_of(files: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """The files as logs; none where they are files of figures, or runs."""
    logs = logs_of(files, options)
    if logs and len(logs) < len(files) and options.qrels is None:
        other = next(file for file in files if file not in logs)
        says = f"{shown_name(next(iter(logs)))} is a log, and {shown_name(other)} is not; give two of a kind."
        raise OptionError(says)
    if logs and options.old is None:
        raise OptionError(f"a log holds one system; give the log of the old one as well: gate {options.new} OLD.")
    return logs


def _slices_of(options: argparse.Namespace, of_logs: pl.DataFrame | None) -> pl.DataFrame | None:
    """The columns of queries that slices are made by; None without any."""
    if not options.slices:
        return None
    queries = queries_of(options, options.slices, of_logs)
    if queries is None:
        raise OptionError("--slice names columns of queries: those of logs, or of a table, --queries FILE.")
    return queries.select(
        pl.col(required("queries", "query_id", queries.columns)).alias("query_id"), *dict.fromkeys(options.slices)
    )


def _check_report(options: argparse.Namespace) -> None:
    """Raise an `OptionError` for options that a report does not go with."""
    if options.report is None and (options.title or options.date):
        raise OptionError("--title and --date head a page; give --report FILE as well.")
    if options.report is not None and options.by:
        raise OptionError("--report shows one verdict per measure; leave --by out.")
    if options.report is not None and options.baseline is not None:
        raise OptionError("--report compares two files; leave --baseline out, and give the old system's.")


def status(verdict: pl.DataFrame, options: argparse.Namespace) -> int:
    """The exit status of the verdict: 0 also for inconclusive ones that pass or warn."""
    found = exit_status(verdict)
    if found != UNDECIDED or options.inconclusive in (None, "fail"):
        return found
    if options.inconclusive == "warn":
        print("polars-ir: warning: these queries cannot tell whether the change is harmless.", file=sys.stderr)
    return 0


def read_thresholds(options: argparse.Namespace) -> None:
    """Read options that the command line does not have from a TOML file."""
    try:
        table: Any = tomllib.loads(Path(options.thresholds).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FileError.of_file(options.thresholds, f"it cannot be read as TOML: {error}.") from None
    if Path(options.thresholds).name == "pyproject.toml":
        for name in ("tool", "polars_ir", "gate"):
            table = table.get(name) if isinstance(table, dict) else None
        if not isinstance(table, dict):
            raise FileError.of_file(options.thresholds, "there is no table [tool.polars_ir.gate].")
    records = options_of(Gating)
    known = ("measures", "floors", "inconclusive", *(name for name in records if name != "cluster"))
    # An option that is typed counts, also if it is the default; argparse takes its first letters, too.
    typed = tuple(word.partition("=")[0] for word in options.argv if len(word) > 2 and word.startswith("--"))
    for name, value in table.items():
        if name not in known:
            near = nearest(name, known)
            raise FileError.of_file(options.thresholds, f"{name!r} is not an option of the gate.", near=near)
        of_name = {"measures": "measure", "floors": "floor", "ranges": "range"}.get(name, name)
        given, default = getattr(options, of_name), records[name].default if name in records else None
        if given is None or (given == default and not option(of_name).startswith(typed)):
            setattr(options, of_name, _from_toml(name, value))
    if options.inconclusive is not None:
        check("inconclusive", options.inconclusive, one_of(*INCONCLUSIVE))


def _from_toml(name: str, value: Any) -> Any:
    """A value from a file as the command line would parse it."""
    if name == "measures":
        return [value] if isinstance(value, str) else value
    if name == "looks":
        return LOOK.read(value) if isinstance(value, str) else value
    if name in ("max_drop", "floors", "ranges"):
        return list(value.items()) if isinstance(value, dict) else [value]
    return value


def _by_name(option: str, values: list[Any]) -> dict[str, Any]:
    """Pairs of a measure and a number as a dict."""
    if not all(isinstance(value, tuple) for value in values):
        raise OptionError("must be NAME=NUMBER for each measure.", about=option)
    return dict(values)


def _write_report(
    verdict: pl.DataFrame,
    new: pl.DataFrame,
    old: pl.DataFrame,
    qrels: pl.DataFrame | None,
    options: argparse.Namespace,
    logs: dict[str, Any],
    slices: pl.DataFrame | None,
    turned: list[str],
) -> None:
    """Write the page of a change, or the comment on it, whose two systems are called new and old."""
    from polars_ir.cli.commands.report import with_origin
    from polars_ir.reports.report import attributes_of, heading_of, report_of_change

    files = [options.new, options.old]
    if qrels is not None:
        found = [
            logs[file].run if file in logs else run_of(file, options.format, **limits_of(options)) for file in files
        ]
        new, others = all_alike(found[0], {"qrels": qrels, "old": found[1]})
        old, qrels = others["old"], others["qrels"]
    texts = {name: _texts_of(getattr(options, name), options) for name in ("documents", "queries")}
    for name, id in (("documents", "doc_id"), ("queries", "query_id")):
        of_logs = texts_of(logs, name, id) if texts[name] is None else None
        if of_logs is not None and "text" in of_logs.columns:
            texts[name] = of_logs
    heading = heading_of(options.title, options.date)
    made = report_of_change(
        new, old, qrels, verdict, texts, options.cluster, attributes_of(slices, None), heading=heading, turned=turned
    )
    with_origin(made, options, [*files, options.qrels, options.queries, options.documents], options.report)
    if Path(options.report).suffix == ".md":
        write_lines([made.markdown().removesuffix("\n")], options.report)
    else:
        made.write(options.report)


def _texts_of(name: str | None, options: argparse.Namespace) -> pl.DataFrame | None:
    """A table with texts; None without a file, or for one that has ids and clusters alone."""
    if name is None:
        return None
    table = read_one_table(name, **limits_of(options))
    table = table.drop(options.cluster, strict=False) if options.cluster else table
    return table if len(table.columns) > 1 else None
