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
    by_measure,
    figures_of,
    judgments_of,
    limits_of,
    per_query_of,
    refuse_selection,
    run_of,
    slices_of,
)
from polars_ir.errors import FileError, OptionError, nearest
from polars_ir.files.tables import read_one_table
from polars_ir.language.options import check, one_of, options_of
from polars_ir.per_query.gate import gate_with_floors
from polars_ir.per_query.gate import status as exit_status
from polars_ir.per_query.shared.options import INCONCLUSIVE, Gating

#: The exit status where too few queries can not tell.
UNDECIDED = 3


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The verdict on a change."""
    if options.report is not None and options.by:
        raise OptionError("--report is of one verdict on each measure; leave --by out.")
    if options.report is not None and options.baseline is not None:
        raise OptionError("--report is of two files; leave --baseline out, and give the old system's.")
    if options.documents is not None and (options.report is None or options.qrels is None):
        raise OptionError("--documents are texts for the rankings on a page; give --report and --qrels as well.")
    if options.thresholds is not None:
        read_thresholds(options)
    if not options.measure and options.qrels is not None:
        needed = "gate of runs needs a measure to judge by: -m, or measures in the file of --thresholds"
        raise OptionError(f"{needed}; polars-ir gate --help tells more.")
    files, qrels = [options.new, *filter(None, [options.old])], None
    if options.qrels is None or options.report is not None:
        refuse_selection(options, "without it, or with --report, all documents count")
    if options.qrels is None:
        sides = [per_query_of(file, **limits_of(options)) for file in files]
    else:
        qrels = judgments_of(options)
        sides = [figures_of([file], qrels, options) for file in files]
    if options.queries is not None and options.cluster is None and options.report is None:
        raise OptionError("--queries is for --cluster, which names a column of it, or for --report; give one of them.")
    (new, cluster), *others = (slices_of(side, options, by="cluster") for side in sides)
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
    if options.report is not None and old is not None:
        _write_report(verdict, new, old, qrels, options)
    return verdict


def status(verdict: pl.DataFrame, options: argparse.Namespace) -> int:
    """The exit status of the verdict: 0 also for inconclusive ones that pass or warn."""
    found = exit_status(verdict)
    if found != UNDECIDED or options.inconclusive in (None, "fail"):
        return found
    if options.inconclusive == "warn":
        print("polars-ir: warning: these queries can not tell whether the change is harmless.", file=sys.stderr)
    return 0


def read_thresholds(options: argparse.Namespace) -> None:
    """Read options that the command line leaves at their defaults from a TOML file."""
    try:
        table = tomllib.loads(Path(options.thresholds).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FileError.of_file(options.thresholds, f"it can not be read as TOML: {error}.") from None
    if Path(options.thresholds).name == "pyproject.toml":
        table = table.get("tool", {}).get("polars_ir", {}).get("gate")
        if table is None:
            raise FileError.of_file(options.thresholds, "there is no table [tool.polars_ir.gate].")
    records = options_of(Gating)
    known = ("measures", "floors", "inconclusive", *(name for name in records if name != "cluster"))
    for name, value in table.items():
        if name not in known:
            near = nearest(name, known)
            raise FileError.of_file(options.thresholds, f"{name!r} is no option of the gate.", near=near)
        of_name = {"measures": "measure", "floors": "floor", "ranges": "range"}.get(name, name)
        if getattr(options, of_name) in (None, records[name].default if name in records else None):
            setattr(options, of_name, _from_toml(name, value))
    if options.inconclusive is not None:
        check("inconclusive", options.inconclusive, one_of(*INCONCLUSIVE))


def _from_toml(name: str, value: Any) -> Any:
    """A value from a file as the command line would parse it."""
    if name == "measures":
        return [value] if isinstance(value, str) else value
    if name == "looks":
        return tuple(value)
    if name in ("max_drop", "floors", "ranges"):
        return list(value.items()) if isinstance(value, dict) else [value]
    return value


def _by_name(option: str, values: list[Any]) -> dict[str, Any]:
    """Pairs of a measure and a number as a dict."""
    if not all(isinstance(value, tuple) for value in values):
        raise OptionError("must be NAME=NUMBER for each measure.", about=option)
    return dict(values)


def _write_report(
    verdict: pl.DataFrame, new: pl.DataFrame, old: pl.DataFrame, qrels: pl.DataFrame | None, options: argparse.Namespace
) -> None:
    """Write the page of a change, whose two systems are called new and old."""
    from polars_ir.cli.commands.report import with_origin
    from polars_ir.reports.report import report_of_change

    files = [options.new, options.old]
    if qrels is not None:
        runs = [alike(run_of(file, options.format, **limits_of(options)), qrels) for file in files]
        (new, qrels), (old, _) = runs
    texts = {name: _texts_of(getattr(options, name), options) for name in ("documents", "queries")}
    made = report_of_change(new, old, qrels, verdict, texts, options.cluster)
    with_origin(made, options, [*files, options.qrels, options.queries, options.documents], options.report)
    made.write(options.report)


def _texts_of(name: str | None, options: argparse.Namespace) -> pl.DataFrame | None:
    """A table with texts; None without a file, or for one that has ids and clusters alone."""
    if name is None:
        return None
    table = read_one_table(name, **limits_of(options))
    table = table.drop(options.cluster, strict=False) if options.cluster else table
    return table if len(table.columns) > 1 else None
