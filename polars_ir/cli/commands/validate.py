"""`polars-ir validate`: problems of runs and their judgments."""

from __future__ import annotations

import argparse
from typing import Any

import polars as pl

from polars_ir.cli.inputs import all_alike, judgments_of, limits_of, run_of, systems_of, tables_of_lists
from polars_ir.errors import with_names
from polars_ir.frames.roles import find
from polars_ir.runs.findings import SEVERITIES
from polars_ir.runs.validate import validate


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The problems of each run."""
    limits = limits_of(options)
    qrels, tables = judgments_of(options), tables_of_lists(options)

    def findings(name: str) -> pl.DataFrame:
        run, given = all_alike(run_of(name, options.format, **limits), {"qrels": qrels, **tables})
        return _findings(run, given.pop("qrels"), by=options.key, only=options.only, **given)

    with with_names(by="--key"):
        return systems_of(options.runs, findings)


def status(findings: pl.DataFrame, options: argparse.Namespace) -> int:
    """1 if there are problems as severe as `--fail-on` says."""
    severe = SEVERITIES[: SEVERITIES.index(options.fail_on) + 1]
    return int(findings["severity"].is_in(severe).any())


def _findings(run: pl.DataFrame, qrels: pl.DataFrame, **options: Any) -> pl.DataFrame:
    """The problems of a run, by system where it holds several."""
    system = find("run", "run", run.columns)
    if system is None:
        of_one: pl.DataFrame = validate(run, qrels, **options)
        return of_one
    parts = run.partition_by(system, as_dict=True, include_key=False, maintain_order=True).items()
    of_each: list[pl.DataFrame] = [
        validate(part, qrels, **options).select(pl.lit(name).alias("run"), pl.all()) for (name,), part in parts
    ]
    return pl.concat(of_each)
