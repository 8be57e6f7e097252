"""`polars-ir ir_measures`: the arguments of ir_measures' command, and its output.

Conventions: scores are single precision, as there, so that the same documents are tied; but all measures see one
ranking, where those of some of its providers have their own. Measures are called and mean what they do there: IPrec
rounds up, and the beta of SetF weighs like its square. Counts are summed. Measures of subtopics read the second field
of TREC judgments.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import attrgetter
from typing import Any

import polars as pl

from polars_ir.cli.arguments import Parser
from polars_ir.cli.inputs import alike, check_stdin, qrels_of, run_of
from polars_ir.errors import MeasureError, OptionError
from polars_ir.evaluation import evaluate
from polars_ir.files.formats import Format
from polars_ir.files.incoming import as_file
from polars_ir.files.sources import one_format, resolve
from polars_ir.naming import parse
from polars_ir.registry import call_of
from polars_ir.schema import find
from polars_ir.summary import mean

#: Arguments that mean something else there.
ARGUMENTS: dict[str, Any] = {
    "IPrec": lambda arguments: {**arguments, "rounding": "up"},
    "SetF": lambda arguments: {**arguments, "beta": arguments["beta"] ** 0.5},
}

#: Measures whose sum is told, not their mean.
COUNTS = {"NumRet", "NumRel", "NumRelRet"}

#: How many decimals there are without being asked for.
PLACES = 4

_JUDGED_ONLY = re.compile(r"(?<=[(,])judged_only=(True|False),?|,judged_only=(True|False)(?=\))")


@dataclass(frozen=True)
class Asked:
    """A measure, and what it is evaluated on."""

    expression: pl.Expr
    of_subtopics: bool
    judged_only: bool
    is_count: bool

    @property
    def name(self) -> str:
        """How ir_measures calls it."""
        return self.expression.meta.output_name()

    @property
    def way(self) -> tuple[bool, bool]:
        """What measures of one evaluation share."""
        return self.of_subtopics, self.judged_only


def main(arguments: Sequence[str]) -> int:
    """Run ir_measures; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.no_summary and not options.by_query:
        parser.error("--no_summary goes with --by_query")
    if options.places < -1:
        parser.error(f"--places must be -1 or more; got {options.places}")
    check_stdin(options)
    asked = [_asked(name) for measure in options.measures for name in measure.split()]
    if not asked:
        raise MeasureError.none_given()
    measures = list({measure.name: measure for measure in asked}.values())
    for query, measure, value in _figures(_evaluated(options, measures), measures, options):
        print(_line(query, measure, value, options))
    if options.output_format == "jsonl" and options.places != PLACES:
        print("--places is ignored when using --output jsonl", file=sys.stderr)
    return 0


def _parser() -> Parser:
    parser = Parser(prog="polars-ir ir_measures", description="Evaluate a run, as ir_measures does.")
    parser.add_argument("qrels", help="judgments")
    parser.add_argument("run", help="a run; - is standard input")
    parser.add_argument("measures", nargs="+", help="measures, such as nDCG@10; several in quotes, with blanks between")
    parser.add_argument("-p", "--places", type=int, default=PLACES, help="decimals; -1 for all (%(default)s)")
    parser.add_argument("-q", "--by_query", action="store_true", help="figures of each query before the means")
    parser.add_argument("-n", "--no_summary", action="store_true", help="no means (with -q)")
    parser.add_argument("-o", "--output_format", choices=["tsv", "jsonl"], default="tsv", help="(%(default)s)")
    parser.add_argument("--provider", help="accepted, and not needed: there is one implementation")
    return parser


def _asked(text: str) -> Asked:
    """A measure as it was asked for; `judged_only` is an option of the evaluation here."""
    plain = _JUDGED_ONLY.sub("", text).replace("()", "")
    expression = parse(plain)
    call = call_of(expression)
    judged_only = "judged_only=True" in text
    if call is None:
        return Asked(expression.alias(text), of_subtopics=False, judged_only=judged_only, is_count=False)
    name = call.spec.name
    there = call.spec.function(**ARGUMENTS.get(name, dict)(call.arguments))
    label = text if judged_only else _label(expression.meta.output_name(), plain, name, call.spec.also)
    of_subtopics = call.spec.kind == "subtopics"
    return Asked(there.alias(label), of_subtopics, judged_only, is_count=name in COUNTS)


def _label(ours: str, text: str, name: str, also: Mapping[str, str]) -> str:
    """The name that ir_measures prints: ours, if both call the measure so, or with its own word for it."""
    theirs = also.get("ir_measures", "").split()
    if name == "IPrec":
        return re.sub(r"@(\d+)$", r"@\1.0", ours)
    if name in theirs:
        return ours
    return ours.replace(name, theirs[0], 1) if re.split(r"\W", text)[0] in theirs else text


def _evaluated(options: argparse.Namespace, measures: Sequence[Asked]) -> pl.DataFrame:
    """The figures of each query; measures of one way are evaluated together."""
    run = run_of(options.run)
    if find("run", "run", run.columns):
        raise OptionError(f"{options.run} holds several systems, and ir_measures evaluates one; use evaluate.")
    frames = []
    way = attrgetter("way")
    with as_file(options.qrels) as qrels:
        is_trec = one_format(resolve(qrels), "qrels", None) == "trec"
        for (of_subtopics, judged_only), group in groupby(sorted(measures, key=way), key=way):
            format: Format | None = "subtopics" if of_subtopics and is_trec else None
            ours, judged = alike(_in_single_precision(run), qrels_of(qrels, format))
            expressions = [measure.expression for measure in group]
            frames.append(evaluate(ours, judged, expressions, judged_only=judged_only))
    query = frames[0].columns[0]
    together = reduce(lambda left, right: left.join(right, on=query, how="left", maintain_order="left"), frames)
    return together.select(query, *(measure.name for measure in measures))


def _in_single_precision(run: pl.DataFrame) -> pl.DataFrame:
    score = find("run", "score", run.columns)
    return run.cast({score: pl.Float32}) if score else run


def _figures(
    per_query: pl.DataFrame, measures: Sequence[Asked], options: argparse.Namespace
) -> Iterator[tuple[str, str, float]]:
    """The figures of each query, if they are asked for, and the summary, of the query `all`."""
    names = per_query.columns[1:]
    rows = per_query.rows() if options.by_query else []
    counts = [measure.name for measure in measures if measure.is_count]
    summary = mean(per_query).with_columns(per_query.select(pl.col(counts).sum()).cast(pl.Float64))
    means = [] if options.no_summary else [("all", *summary.row(0))]
    for query, *values in [*rows, *means]:
        yield from ((query, measure, value) for measure, value in zip(names, values, strict=True))


def _line(query: str, measure: str, value: float, options: argparse.Namespace) -> str:
    of_query = {"query_id": query} if options.by_query else {}
    if options.output_format == "jsonl":
        return json.dumps({**of_query, "measure": measure, "value": value})
    text = str(value) if options.places < 0 else f"{value:.{options.places}f}"
    return "\t".join([*map(str, of_query.values()), measure, text])
