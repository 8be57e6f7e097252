"""`polars-ir measures`: the catalogue."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.catalog import catalog


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The measures whose names or meaning match a pattern."""
    text = pl.concat_str("name", "function", "also", "meaning", separator=" ").str.to_lowercase()
    measures = catalog().filter(text.str.contains(options.pattern.lower(), literal=True))
    if measures.is_empty():
        raise MeasureError(f"no measure has {options.pattern!r} in a name or in its meaning.")
    return measures.select("name", "meaning", "parameters", "function", "judgments")
