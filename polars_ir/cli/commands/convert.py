"""`polars-ir convert`: a run or judgments from one format to another."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir.cli import parser
from polars_ir.cli.inputs import limits_of, qrels_of, run_of
from polars_ir.cli.output import as_target
from polars_ir.errors import OptionError, with_names
from polars_ir.files import write_qrels, write_run
from polars_ir.files.finding.copies import as_file, shown_name
from polars_ir.files.formats import READABLE, WRITABLE
from polars_ir.files.readers import tag_of
from polars_ir.frames.roles import find

#: The formats in which runs or judgments can be written.
WRITTEN = sorted({*WRITABLE["run"], *WRITABLE["qrels"]})


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("source", help="the file to read; - is standard input")
    target = "the file to write; - is standard output, {run} in it stands for each system"
    command.add_argument("target", help=target)
    command.add_argument("--qrels", action="store_true", help="the file holds judgments, not a run")
    source = "the format to read, if the file does not tell"
    command.add_argument("--format", choices=READABLE["qrels"], metavar="FORMAT", help=source)
    target_format = "the format to write, if the ending does not tell"
    command.add_argument("--to", choices=WRITTEN, metavar="FORMAT", help=target_format)
    command.add_argument("--tag", help="the last field of a TREC run's lines; without it, that of the source")
    parser.add_limits(command)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the file is written."""
    if options.qrels and options.tag is not None:
        raise OptionError("--tag is of runs; judgments have none.")
    with as_file(options.source) as source, as_target(options.target) as target:
        if options.qrels:
            qrels = qrels_of(source, options.format, option="format", **limits_of(options))
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


CONVERT = parser.Command("convert", "read a run or judgments in one format and write them in another", arguments, run)
