"""`polars-ir table`: the table of a publication."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.cli.arguments import TEXTS
from polars_ir.cli.inputs import figures_of_files
from polars_ir.cli.output import say
from polars_ir.files.writing.replacing import replaced
from polars_ir.language.options import options_of
from polars_ir.per_query.shared.options import Marking
from polars_ir.tables.table import table


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the text is printed or written."""
    per_query = figures_of_files(options)
    of_ending = {ending: format for format, ending in TEXTS.items()}
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
