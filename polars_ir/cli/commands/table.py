"""`polars-ir table`: the table of a publication."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.cli import parser
from polars_ir.cli.inputs import figures_of_files
from polars_ir.cli.output import say
from polars_ir.files.writing.replacing import replaced
from polars_ir.language.options import options_of
from polars_ir.per_query.shared.options import Marking
from polars_ir.tables.cells import PARTS
from polars_ir.tables.table import table

#: The texts that a table can be, and the endings of their files.
FORMATS = {"markdown": ".md", "latex": ".tex", "html": ".html"}


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("files", nargs="+", metavar="file", help=parser.FILES)
    parser.add_measures(command, required=False)
    parser.add_runs_instead(command)
    command.add_argument("--baseline", metavar="SYSTEM", help="the system that the others are compared with")
    command.add_argument("--by", action="append", metavar="COLUMN", help="the column of days or collections; repeat")
    command.add_argument("--order", metavar="MEASURE", help="sort the systems by a measure, the best first")
    command.add_argument("--show", choices=PARTS, action="append", default=[], help="figures beside each mean; repeat")
    command.add_argument("--digits", type=int, metavar="N", help="decimal places (4, or 2 in percent)")
    command.add_argument("--percent", action="store_true", help="print means times 100")
    command.add_argument("--title", help="the text above the table")
    command.add_argument("--label", help="the name by which LaTeX refers to the table")
    parser.add_options(command, Marking)
    parser.add_limits(command)
    formats = command.add_mutually_exclusive_group()
    for format, ending in FORMATS.items():
        of_file = f"print {format}, or write it to a FILE that does not end in {ending}"
        formats.add_argument(f"--{format}", dest="text", action="store_const", const=format, help=of_file)
    to_a_file = "write to a file; its ending tells the format"
    command.add_argument("-o", dest="target", type=parser.on_disk, metavar="FILE", help=to_a_file)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the text is printed or written."""
    per_query = figures_of_files(options)
    of_ending = {ending: format for format, ending in FORMATS.items()}
    format: Any = options.text or of_ending.get(Path(options.target or "").suffix, "markdown")
    names = ("baseline", "order", "show", "digits", "percent", "title", "label", "by", *options_of(Marking))
    how: Any = {name: getattr(options, name) for name in names}
    text = table(per_query, options.measure, format=format, **how)
    if options.target is None:
        say(text, end="")
    else:
        with replaced(Path(options.target)) as file:
            file.write(text.encode())
    return pl.DataFrame()


TABLE = parser.Command("table", "print a table for a publication: LaTeX, Markdown or HTML", arguments, run)
