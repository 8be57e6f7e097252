"""`polars-ir demo`: the bundled test collection, evaluated."""

from __future__ import annotations

import argparse

import polars as pl

from polars_ir import datasets
from polars_ir.per_query import mean
from polars_ir.runs import evaluate

MEASURES = ["nDCG@10", "AP", "RR@10", "R@100", "Judged@10"]


def run(options: argparse.Namespace) -> pl.DataFrame:
    """The measures of the bundled collection."""
    pydocs = datasets.load("pydocs")
    per_query = evaluate(pydocs.runs, pydocs.qrels, MEASURES)
    return per_query if options.per_query else mean(per_query)
