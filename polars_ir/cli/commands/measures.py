"""`polars-ir measures`: the catalogue."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir.cli import parser
from polars_ir.errors import MeasureError
from polars_ir.language.catalog import catalog


def arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("pattern", nargs="?", default="", help="only those with this in a name or the meaning")
    parser.add_output(command)


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The measures whose names or meaning hold a pattern."""
    text = pl.concat_str("name", "function", "also", "meaning", separator=" ").str.to_lowercase()
    measures = catalog().filter(text.str.contains(options.pattern.lower(), literal=True))
    if measures.is_empty():
        raise MeasureError(f"no measure has {options.pattern!r} in a name or in its meaning.")
    return measures.select("name", "meaning", "parameters", "function", "judgments")


MEASURES = parser.Command("measures", "list all measures", arguments, run)
