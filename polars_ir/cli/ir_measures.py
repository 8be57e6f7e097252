"""`polars-ir ir_measures`: the arguments of ir_measures' command, and its output.

Conventions: scores are single precision, as there, so that the same documents are tied; and IPrec rounds as there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence

import polars as pl

from polars_ir.cli.inputs import qrels_of, run_of
from polars_ir.evaluation import evaluate, resolve
from polars_ir.measures import interpolated_precision
from polars_ir.registry import call_of
from polars_ir.summary import mean


def main(arguments: Sequence[str]) -> int:
    """Run ir_measures; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.no_summary and not options.by_query:
        parser.error("--no_summary goes with --by_query")
    names = list(dict.fromkeys(name for measure in options.measures for name in measure.split()))
    run = run_of(options.run).with_columns(pl.col("score").cast(pl.Float32))
    per_query = evaluate(run, qrels_of(options.qrels), map(_as_there, resolve(names).values()))
    for query, measure, value in _figures(per_query, options):
        print(_line(query, measure, value, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="polars-ir ir_measures", description="Evaluate a run, as ir_measures does.")
    parser.add_argument("qrels", help="judgments")
    parser.add_argument("run", help="a run; - is standard input")
    parser.add_argument("measures", nargs="+", help="measures, such as nDCG@10; several in quotes, with blanks between")
    parser.add_argument("-p", "--places", type=int, default=4, help="decimals; -1 for all (%(default)s)")
    parser.add_argument("-q", "--by_query", action="store_true", help="figures of each query before the means")
    parser.add_argument("-n", "--no_summary", action="store_true", help="no means (with -q)")
    parser.add_argument("-o", "--output_format", choices=["tsv", "jsonl"], default="tsv", help="(%(default)s)")
    parser.add_argument("--provider", help="accepted, and not needed: there is one implementation")
    return parser


def _as_there(expression: pl.Expr) -> pl.Expr:
    """A measure with the defaults that it has in ir_measures."""
    call = call_of(expression)
    if call is None or call.spec.name != "IPrec":
        return expression
    there = interpolated_precision(**{**call.arguments, "rounding": "up"})  # type: ignore[arg-type]  # its own arguments
    return there.alias(expression.meta.output_name())


def _figures(per_query: pl.DataFrame, options: argparse.Namespace) -> Iterator[tuple[str, str, float]]:
    """The figures of each query, if they are asked for, and the means, of the query `all`."""
    measures = per_query.columns[1:]
    rows = per_query.rows() if options.by_query else []
    means = [] if options.no_summary else [("all", *mean(per_query).row(0))]
    for query, *values in [*rows, *means]:
        yield from ((query, measure, value) for measure, value in zip(measures, values, strict=True))


def _line(query: str, measure: str, value: float, options: argparse.Namespace) -> str:
    of_query = {"query_id": query} if options.by_query else {}
    if options.output_format == "jsonl":
        return json.dumps({**of_query, "measure": measure, "value": value})
    text = str(value) if options.places < 0 else f"{value:.{options.places}f}"
    return "\t".join([*of_query.values(), measure, text])
