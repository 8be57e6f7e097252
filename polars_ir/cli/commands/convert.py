"""`polars-ir convert`: a run or judgments from one format to another."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir.cli.inputs import grades_of, limits_of, qrels_of, run_of
from polars_ir.cli.output import as_target
from polars_ir.errors import OptionError, with_names
from polars_ir.files import write_qrels, write_run
from polars_ir.files.finding.copies import as_file, shown_name
from polars_ir.files.readers import tag_of
from polars_ir.frames.roles import find


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Writes the file; returns nothing to show."""
    if options.qrels and options.tag is not None:
        raise OptionError("--tag is for runs; judgments have no tag.")
    with as_file(options.source) as source, as_target(options.target) as target:
        if options.qrels:
            qrels = qrels_of(source, options.format, option="format", grades=grades_of(options), **limits_of(options))
            with with_names(format="--to", path="the target", qrels=shown_name(options.source)):
                write_qrels(qrels, target, format=options.to)
        else:
            rows = run_of(source, options.format, **limits_of(options))
            tag = _tag(source, rows, options)
            with with_names(format="--to", path="the target", run=shown_name(options.source)):
                write_run(rows, target, format=options.to, tag=tag)
    return pl.DataFrame()


def _tag(source: str, run: pl.DataFrame, options: argparse.Namespace) -> str | None:
    """The tag of `--tag`, or the name of the run as it is read; several systems keep their names."""
    if options.tag is not None or find("run", "run", run.columns):
        tag: str | None = options.tag
        return tag
    return "_".join(tag_of(source, format=options.format, **limits_of(options)).split()) or None
