"""`polars-ir compare`: systems against each other or a baseline."""

from __future__ import annotations

import argparse
from typing import Any

import polars as pl

from polars_ir.cli.arguments import SHORT
from polars_ir.cli.inputs import by_measure, figures_of_files, slices_of
from polars_ir.errors import OptionError
from polars_ir.language.options import options_of
from polars_ir.per_query.compare import SCHEMA, compare
from polars_ir.per_query.shared.options import Comparing


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Systems against each other or a baseline."""
    if options.queries is not None and options.by is None and options.cluster is None:
        raise OptionError("--queries is a table for --by or --cluster to name columns of; give both.")
    per_query, by = slices_of(figures_of_files(options), options)
    per_query, cluster = slices_of(per_query, options, by="cluster")
    named = ("margin", "by", "cluster", "reference")
    testing: Any = {name: getattr(options, name) for name in options_of(Comparing) if name not in named}
    margin = options.margin and by_measure("margin", options.margin)
    differences: pl.DataFrame = compare(
        per_query, options.measure, baseline=options.baseline, by=by, cluster=cluster, margin=margin, **testing
    )
    if options.render == "markdown" and not options.all:
        return differences.select(pl.exclude(set(SCHEMA) - set(SHORT)))
    return differences
