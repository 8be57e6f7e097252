"""`polars-ir ir_measures`: the arguments of ir_measures' command, and its output.

Conventions: figures come in the order in which measures are named, of the queries in that of the run. A measure sees
the ranking of the provider that computes it there: documents are tied in single precision for some and ordered
otherwise for others, so that RR and RR@10 may differ. Measures are called and mean what they do there: IPrec rounds up,
the beta of SetF weighs like its square, gdeval has five decimals. Counts are summed. Measures of subtopics read the
second field of TREC judgments.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

import polars as pl

from polars_ir.cli.inputs import alike, check_stdin, qrels_of, run_of
from polars_ir.cli.output import say
from polars_ir.cli.parser import Parser
from polars_ir.errors import MeasureError, OptionError
from polars_ir.files.finding.copies import as_file, downloaded
from polars_ir.files.finding.file import MAX_RATIO
from polars_ir.files.finding.sources import one_format, resolve
from polars_ir.files.formats import FormatName
from polars_ir.frames.roles import find
from polars_ir.language.catalog import MeasureCall, MeasureInfo, info_of
from polars_ir.language.dialects import parts_of, several
from polars_ir.language.identity import call_of, members
from polars_ir.language.measures.counts import n_relevant_documents, n_relevant_retrieved
from polars_ir.language.names import as_in_ir_measures, parse
from polars_ir.language.options import CUTOFFS
from polars_ir.runs.evaluate import evaluate

#: Measures whose sum is printed, not their mean.
COUNTS = {"NumRet", "NumRel", "NumRelRet", "NumQ"}

#: The decimals that are printed by default.
PLACES = 4

_JUDGED_ONLY = re.compile(r"(?<=[(,])judged_only=(True|False),?|,judged_only=(True|False)(?=\))")


#: Parameters that ir_measures writes even with the value that is the default here.
WRITTEN = {"max_rel"}

#: Measures that are another one of a parameter there.
SPELT: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "R_cap": ("SetP", {"relative": True}),
    "NumRelRet": ("NumRet", {"rel": 1}),
}

#: The order of tied documents: by falling ids of scores in single or double precision, by rising ids, that of the run.
Ties = Literal["single", "falling", "rising", "input"]


class Provider(NamedTuple):
    """A part of ir_measures that computes some measures."""

    ties: Ties
    measures: tuple[str, ...] = ()
    #: The documents without which a query has no value of the measure.
    counts: Callable[..., pl.Expr] | None = None


#: gdeval computes ERR@k and an nDCG@k, the provider of MS MARCO RR@k.
GDEVAL = Provider("falling", counts=n_relevant_documents)
MSMARCO = Provider("rising", counts=n_relevant_documents)
ACCURACY = Provider("input", ("Accuracy",), n_relevant_retrieved)
CWL_EVAL = Provider("input", ("RBP", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ"))
PYNDEVAL = Provider(
    "rising", ("ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall")
)
BY_ID = Provider("rising", ("Compat", "Judged"))

#: pytrec_eval has all other measures.
PYTREC_EVAL = Provider("single")

#: The decimals that gdeval prints, whose output ir_measures reads.
GDEVAL_DECIMALS = 5

#: The prefix of the column that counts the documents without which a query has no value.
COUNTED = "documents counted by "

#: The column that is true for queries of the run.
ANSWERED = "polars_ir: answered"


@dataclass(frozen=True)
class Asked:
    """A measure, and the judgments that it is evaluated on."""

    expression: pl.Expr
    call: MeasureCall
    of_subtopics: bool
    judged_only: bool

    @property
    def name(self) -> str:
        """The name that ir_measures prints."""
        return self.expression.meta.output_name()

    @property
    def provider(self) -> Provider:
        """The part of ir_measures that computes the measure."""
        name, arguments = self.call.measure, self.call.arguments
        cutoff = arguments.get("k")
        if name == "nDCG" and arguments["dcg"] != "log2":
            is_gdeval = cutoff is not None and arguments["gains"] is None and not self.judged_only
            return GDEVAL if is_gdeval else PYTREC_EVAL
        if cutoff is not None and name in ("RR", "ERR"):
            return MSMARCO if name == "RR" else GDEVAL
        providers = ACCURACY, CWL_EVAL, PYNDEVAL, BY_ID
        return next((provider for provider in providers if name in provider.measures), PYTREC_EVAL)

    @property
    def way(self) -> tuple[bool, bool, Ties]:
        """The properties that measures of one evaluation share."""
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
                raise MeasureError(
                    f"ir_measures has no measure {text!r}, whose value is a text; trec_eval -q prints it."
                )
            is_one = not asked.meta.has_multiple_outputs()
            label = _label(name if is_one else expression.meta.output_name(), info_of(call))
            of_subtopics = info_of(call).kind == "subtopics"
            yield Asked(as_in_ir_measures(call).alias(label), call, of_subtopics, judged_only)


def _label(text: str, info: MeasureInfo) -> str:
    """The name that ir_measures prints: its own word, and the parameters as written, but for its defaults."""
    theirs = info.also.get("ir_measures", "").split()
    name, arguments, at = parts_of(text)
    if not theirs or (name != info.name and name not in theirs):
        return text
    word, implied = SPELT.get(info.name, (theirs[0], {}))
    always = {"relative", *WRITTEN, *(["rel"] if info.name == "RBP" else [])}
    written = {n: v for n, v in arguments.items() if n != info.at and n not in CUTOFFS}
    kept = {n: v for n, v in {**implied, **written}.items() if n in {*always, *implied} or v != info.parameters.get(n)}
    at = at or next((str(v) for n, v in arguments.items() if n == info.at or n in CUTOFFS), None)
    number = "" if at is None else f"@{at if info.at == 'k' else float(at)}"
    parameters = ",".join(f"{n}={_written(v)}" for n, v in kept.items() if v is not False)
    return f"{word}({parameters}){number}" if parameters else f"{word}{number}"


def _written(value: object) -> str:
    """The value of a parameter; a map without the grades that are their own gains."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in sorted(value.items()) if grade != gain) + "}"
    return repr(value)


def _evaluated(options: argparse.Namespace, measures: Sequence[Asked]) -> pl.DataFrame:
    """The figures of each query, those of the run first; measures of one way are evaluated together."""
    run = run_of(options.run)
    if find("run", "run", run.columns):
        raise OptionError(f"{options.run} holds several systems, and ir_measures evaluates one; use evaluate.")
    frames: list[pl.DataFrame] = []
    way = attrgetter("way")
    with as_file(options.qrels) as qrels:
        with downloaded(resolve(qrels), None, MAX_RATIO) as files:
            is_trec = one_format(files, "qrels", None).name == "trec"
        for (of_subtopics, judged_only, ties), group in groupby(sorted(measures, key=way), key=way):
            format: FormatName | None = "subtopics" if of_subtopics and is_trec else None
            ours, judged = alike(_ranked(run, ties), qrels_of(qrels, format))
            expressions = [expression for measure in group for expression in (measure.expression, *_counted(measure))]
            of_input: Literal["input", "doc_id"] = "input" if ties == "input" else "doc_id"
            frames.append(evaluate(ours, judged, expressions, judged_only=judged_only, ties=of_input))
    query = frames[0].columns[0]
    together = reduce(lambda left, right: left.join(right, on=query, how="left", maintain_order="left"), frames)
    id = find("run", "query_id", ours.columns) or query
    answered = ours.select(pl.col(id).unique(maintain_order=True).alias(query), pl.lit(True).alias(ANSWERED))
    others = together.join(answered, on=query, how="anti", maintain_order="left")
    return pl.concat([answered.join(together, on=query, maintain_order="left"), others], how="diagonal")


def _counted(measure: Asked) -> Iterator[pl.Expr]:
    """The count of the documents without which a query has no value, if the provider has such a condition."""
    count = measure.provider.counts
    if count:
        arguments = measure.call.arguments
        cutoff = {"k": arguments["k"]} if count is n_relevant_retrieved else {}
        rel = arguments.get("rel")
        yield count(rel=1 if rel is None else rel, **cutoff).alias(COUNTED + measure.name)


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
    """The figures of each query with `--by_query`, and the summary, of the query `all`."""
    per_query = _evaluated(options, measures)
    # Beside other measures, Accuracy is 0 where it has no value.
    missing = None if all(measure.provider is ACCURACY for measure in measures) else 0.0
    columns = [_values(measure, per_query, missing) for measure in measures]
    names = [measure.name for measure in measures]
    for query, *row in zip(per_query.to_series(), *columns, strict=True) if options.by_query else ():
        yield from ((query, name, value) for name, value in zip(names, row, strict=True) if value is not None)
    for measure, column in () if options.no_summary else zip(measures, columns, strict=True):
        values = [value for value in column if value is not None]
        summed, is_count = sum(values, 0.0), measure.call.measure in COUNTS
        yield "all", measure.name, summed if is_count else summed / len(values) if values else math.nan


def _values(measure: Asked, per_query: pl.DataFrame, missing: float | None) -> list[float | None]:
    """The values of a measure, with another for queries that the run lacks, or without the documents it needs."""
    count = pl.col(COUNTED + measure.name) if COUNTED + measure.name in per_query.columns else pl.lit(1)
    value = pl.when(pl.col(ANSWERED), count > 0).then(pl.col(measure.name).cast(pl.Float64)).otherwise(missing)
    values: list[float | None] = per_query.select(value).to_series().to_list()
    if measure.provider is not GDEVAL:
        return values
    return [None if value is None else float(f"{value:.{GDEVAL_DECIMALS}f}") for value in values]


def _line(query: str, measure: str, value: float, options: argparse.Namespace) -> str:
    of_query = {"query_id": query} if options.by_query else {}
    if options.output_format == "jsonl":
        return json.dumps({**of_query, "measure": measure, "value": value})
    text = str(value) if options.places < 0 else f"{value:.{options.places}f}"
    return "\t".join([*map(str, of_query.values()), measure, text])
