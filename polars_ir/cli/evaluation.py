"""Runs from files, evaluated: what several commands do first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir.cli.inputs import alike, limits_of, run_or_plan_of, systems_of
from polars_ir.language.names import resolve
from polars_ir.options import options_of
from polars_ir.runs.evaluation import evaluate
from polars_ir.runs.options import Evaluating
from polars_ir.runs.rankings import collected


def figures_of(runs: Sequence[str], qrels: pl.DataFrame, options: argparse.Namespace) -> pl.DataFrame:
    """The figures of runs, each per query; one run after the other, so that only one is in memory."""
    measures = [measure.expression for measure in resolve(options.measure)]
    evaluating: Any = {name: value for name, value in vars(options).items() if name in options_of(Evaluating)}

    def figures(name: str) -> pl.DataFrame:
        run, judged = alike(run_or_plan_of(name, options.format, **limits_of(options)), qrels)
        per_query: pl.DataFrame | pl.LazyFrame = evaluate(run, judged, measures, **evaluating)
        return per_query if isinstance(per_query, pl.DataFrame) else collected(per_query)

    return systems_of(runs, figures)
