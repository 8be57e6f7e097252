"""`polars-ir ir_measures`: the arguments of ir_measures' command, and its output.

Conventions: a measure sees the ranking of the provider that computes it there: documents are tied in single precision
for some and ordered otherwise for others, so that RR and RR@10 may differ. Measures are called and mean what they do
there: IPrec rounds up, the beta of SetF weighs like its square, gdeval has five decimals. Counts are summed. Measures
of subtopics read the second field of TREC judgments.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import attrgetter
from typing import Any, Literal

import polars as pl

from polars_ir.cli.inputs import alike, check_stdin, qrels_of, run_of
from polars_ir.cli.ir_measures_order import GDEVAL_DECIMALS, Provider, Reported, Ties, in_order, provider_of
from polars_ir.cli.output import say
from polars_ir.cli.parser import Parser
from polars_ir.errors import MeasureError, OptionError
from polars_ir.files.detection import one_format
from polars_ir.files.downloads import downloaded
from polars_ir.files.formats import FormatName
from polars_ir.files.incoming import as_file
from polars_ir.files.sources import resolve
from polars_ir.files.unpacking import MAX_RATIO
from polars_ir.frames.columns import find
from polars_ir.language.catalog import spec_of
from polars_ir.language.dialects import CUTOFFS, parts_of, several
from polars_ir.language.identity import Call, call_of, members
from polars_ir.language.names import as_in_ir_measures, parse
from polars_ir.language.spec import Spec
from polars_ir.measures.counts import n_relevant_documents, n_relevant_retrieved
from polars_ir.runs.evaluation import evaluate

#: Measures whose sum is told, not their mean.
COUNTS = {"NumRet", "NumRel", "NumRelRet", "NumQ"}

#: How many decimals there are without being asked for.
PLACES = 4

_JUDGED_ONLY = re.compile(r"(?<=[(,])judged_only=(True|False),?|,judged_only=(True|False)(?=\))")


#: What ir_measures writes also with the value that is the default here.
WRITTEN = {"max_rel"}

#: Measures that are another one of a parameter there.
SPELT: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "R_cap": ("SetP", {"relative": True}),
    "NumRelRet": ("NumRet", {"rel": 1}),
}

#: The column that counts why a query has a value.
REPORTED = "polars_ir: reported "


@dataclass(frozen=True)
class Asked:
    """A measure, and what it is evaluated on."""

    expression: pl.Expr
    call: Call | None
    of_subtopics: bool
    judged_only: bool

    @property
    def name(self) -> str:
        """How ir_measures calls it."""
        return self.expression.meta.output_name()

    @property
    def provider(self) -> Provider:
        """The part of ir_measures that computes it."""
        return provider_of(self.call, judged_only=self.judged_only)

    @property
    def way(self) -> tuple[bool, bool, Ties]:
        """What measures of one evaluation share."""
        return self.of_subtopics, self.judged_only, self.provider.ties


def main(arguments: Sequence[str]) -> int:
    """Run ir_measures; returns its exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.no_summary and not options.by_query:
        parser.error("--no_summary goes with --by_query")
    if options.places < -1:
        parser.error(f"--places must be -1 or more; got {options.places}")
    check_stdin(options)
    asked = [one for measure in options.measures for name in measure.split() for one in _asked(name)]
    if not asked:
        raise MeasureError.none_given()
    measures = list({measure.name: measure for measure in asked}.values())
    for query, measure, value in _figures(measures, options):
        say(_line(query, measure, value, options))
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


def _asked(text: str) -> Iterator[Asked]:
    """The measures that a text stands for; `judged_only` is an option of the evaluation here."""
    judged_only = "judged_only=True" in text
    for name in several(text) or [text]:
        asked = parse(_JUDGED_ONLY.sub("", name).replace("()", ""))
        for expression in members(asked):
            call = call_of(expression)
            if call is None:
                yield Asked(expression.alias(text), None, of_subtopics=False, judged_only=judged_only)
                continue
            is_one = not asked.meta.has_multiple_outputs()
            label = _label(name if is_one else expression.meta.output_name(), spec_of(call))
            of_subtopics = spec_of(call).kind == "subtopics"
            yield Asked(as_in_ir_measures(call).alias(label), call, of_subtopics, judged_only)


def _label(text: str, spec: Spec) -> str:
    """The name that ir_measures prints: its own word, and the parameters as they were given, but for its defaults."""
    theirs = spec.also.get("ir_measures", "").split()
    name, arguments, at = parts_of(text)
    if not theirs or (name != spec.name and name not in theirs):
        return text
    word, implied = SPELT.get(spec.name, (theirs[0], {}))
    always = {"relative", *WRITTEN, *(["rel"] if spec.name == "RBP" else [])}
    written = {n: v for n, v in arguments.items() if n != spec.at and n not in CUTOFFS}
    kept = {n: v for n, v in {**implied, **written}.items() if n in {*always, *implied} or v != spec.parameters.get(n)}
    at = at or next((str(v) for n, v in arguments.items() if n == spec.at or n in CUTOFFS), None)
    number = "" if at is None else f"@{at if spec.at == 'k' else float(at)}"
    parameters = ",".join(f"{n}={_written(v)}" for n, v in kept.items() if v is not False)
    return f"{word}({parameters}){number}" if parameters else f"{word}{number}"


def _written(value: object) -> str:
    """The value of a parameter; a map without what is its own gain."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in sorted(value.items()) if grade != gain) + "}"
    return repr(value)


def _evaluated(options: argparse.Namespace, measures: Sequence[Asked]) -> tuple[pl.DataFrame, list[Any]]:
    """The figures of each query, and the queries of the run; measures of one way are evaluated together."""
    run = run_of(options.run)
    if find("run", "run", run.columns):
        raise OptionError(f"{options.run} holds several systems, and ir_measures evaluates one; use evaluate.")
    frames = []
    way = attrgetter("way")
    with as_file(options.qrels) as qrels:
        with downloaded(resolve(qrels), None, MAX_RATIO) as files:
            is_trec = one_format(files, "qrels", None).name == "trec"
        for (of_subtopics, judged_only, ties), group in groupby(sorted(measures, key=way), key=way):
            format: FormatName | None = "subtopics" if of_subtopics and is_trec else None
            ours, judged = alike(_ranked(run, ties), qrels_of(qrels, format))
            expressions = [expression for measure in group for expression in (measure.expression, *_reported(measure))]
            of_input: Literal["input", "doc_id"] = "input" if ties == "input" else "doc_id"
            frames.append(evaluate(ours, judged, expressions, judged_only=judged_only, ties=of_input))
    query = frames[0].columns[0]
    together = reduce(lambda left, right: left.join(right, on=query, how="left", maintain_order="left"), frames)
    answered = ours.select(pl.col(find("run", "query_id", ours.columns) or query).unique(maintain_order=True))
    return together, answered.to_series().to_list()


def _reported(measure: Asked) -> Iterator[pl.Expr]:
    """What tells of a query, by not being 0, that the provider of ir_measures reports the measure."""
    counts = {"accuracy": n_relevant_retrieved, "msmarco": n_relevant_documents, "gdeval": n_relevant_documents}
    count = counts.get(measure.provider.name)
    if count and measure.call:
        arguments = measure.call.arguments
        cutoff = {"k": arguments["k"]} if count is n_relevant_retrieved else {}
        yield count(rel=arguments.get("rel") or 1, **cutoff).alias(REPORTED + measure.name)


def _ranked(run: pl.DataFrame, ties: Ties) -> pl.DataFrame:
    """The run with scores that put its documents in the order a provider has."""
    score, *ids = (find("run", role, run.columns) for role in ("score", "doc_id", "query_id"))
    if score is None or ties in ("falling", "input"):
        return run
    if ties == "single" or None in ids:
        return run.cast({score: pl.Float32})
    order = pl.struct(-pl.col(score).cast(pl.Float64), ids[0]).rank("ordinal").over(ids[1])
    return run.with_columns((-order.cast(pl.Float64)).alias(score))


def _figures(measures: Sequence[Asked], options: argparse.Namespace) -> Iterator[tuple[str, str, float]]:
    """The figures of each query, if they are asked for, and the summary, of the query `all`."""
    per_query, answered = _evaluated(options, measures)
    judged = per_query[per_query.columns[0]].to_list()
    judged_queries = set(judged)
    reported = [_values(measure, per_query, set(answered)) for measure in measures]
    values: dict[str, list[float]] = {measure.name: [] for measure in measures}
    for query, label, value in in_order(reported, [query for query in answered if query in judged_queries], judged):
        values[label].append(value)
        if options.by_query:
            yield query, label, value
    for measure in [] if options.no_summary else measures:
        summed = sum(values[measure.name], 0.0)
        is_count = measure.call is not None and measure.call.measure in COUNTS
        n_values = len(values[measure.name])
        yield "all", measure.name, summed if is_count else summed / n_values if n_values else math.nan


def _values(measure: Asked, per_query: pl.DataFrame, answered: AbstractSet[Any]) -> Reported:
    """The values of the queries that a measure is reported of."""
    columns = [per_query[name].to_list() for name in (per_query.columns[0], measure.name)]
    count = per_query[REPORTED + measure.name].to_list() if REPORTED + measure.name in per_query.columns else None
    is_rounded = measure.provider.name == "gdeval"
    values = {
        query: float(f"{value:.{GDEVAL_DECIMALS}f}") if is_rounded else float(value)
        for place, (query, value) in enumerate(zip(*columns, strict=True))
        if query in answered and (count is None or count[place])
    }
    return Reported(measure.name, measure.call, measure.judged_only, values)


def _line(query: str, measure: str, value: float, options: argparse.Namespace) -> str:
    of_query = {"query_id": query} if options.by_query else {}
    if options.output_format == "jsonl":
        return json.dumps({**of_query, "measure": measure, "value": value})
    text = str(value) if options.places < 0 else f"{value:.{options.places}f}"
    return "\t".join([*map(str, of_query.values()), measure, text])
