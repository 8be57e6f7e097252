"""`polars-ir plot`: a chart as a file."""

from __future__ import annotations

import argparse
import io
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.cli.arguments import OF_FIGURES, OF_RUNS
from polars_ir.cli.inputs import alike, figures_of_files, judgments_of, limits_of, refuse_selection, run_of, systems_of
from polars_ir.errors import OptionError
from polars_ir.files.writing.replacing import replaced


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the chart is written."""
    drawn = _of_runs(options) if options.chart in OF_RUNS else _of_figures(options)
    # Altair writes texts and pictures as such.
    picture: Any = io.BytesIO() if (ending := Path(options.target).suffix[1:]) in ("png", "pdf") else io.StringIO()
    drawn.save(picture, format=ending)
    with replaced(Path(options.target)) as file:
        file.write(picture.getvalue() if isinstance(picture, io.BytesIO) else picture.getvalue().encode())
    return pl.DataFrame()


def _of_figures(options: argparse.Namespace) -> Any:
    from polars_ir import plots

    needed = OF_FIGURES[options.chart]
    if lacking := [name for name in needed if getattr(options, name) is None]:
        flags = ", ".join(f"--{name}" for name in lacking)
        raise OptionError(f"plot {options.chart} needs {flags}.")
    measures = options.measure
    if "measure" in needed and len(measures) > 1:
        raise OptionError(f"plot {options.chart} shows one measure; got {', '.join(measures)}.")
    how = {name: getattr(options, name) for name in needed if name != "measure"}
    how |= {"measure": measures[0]} if "measure" in needed else {"measures": measures}
    how |= {"by": options.by} if options.by else {}
    return getattr(plots, options.chart)(figures_of_files(options), **how)


def _of_runs(options: argparse.Namespace) -> Any:
    from polars_ir import plots

    if options.qrels is None:
        raise OptionError(f"plot {options.chart} needs runs and their judgments (--qrels FILE).")
    refuse_selection(options, f"plot {options.chart} counts all documents")
    limits = limits_of(options)
    runs = systems_of(options.files, partial(run_of, format=options.format, **limits))
    runs, qrels = alike(runs, judgments_of(options))
    if options.chart == "precision_recall":
        return plots.precision_recall(runs, qrels, by=options.by)
    measure = options.measure[0] if options.measure else "nDCG"
    return plots.cutoffs(runs, qrels, measure, baseline=options.baseline, by=options.by)
