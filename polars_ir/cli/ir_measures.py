"""`polars-ir ir_measures`: the arguments of ir_measures' command, and its output.

Conventions: figures come in the order in which measures are named, of the queries in that of the run. Measures are
called and mean what they do there: IPrec rounds up, the beta of SetF weighs like its square. Documents are ordered as
by trec_eval, those of equal scores in single precision by falling ids, for every measure; the providers of ir_measures
that order ties otherwise, and gdeval's five decimals, are not followed. A query that the run lacks counts 0, and counts
are summed. Measures of subtopics read the second field of TREC judgments.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

import polars as pl

from polars_ir.cli.inputs import alike, check_stdin, qrels_of, run_of
from polars_ir.cli.output import say
from polars_ir.cli.parser import Parser
from polars_ir.errors import FileError, MeasureError, OptionError
from polars_ir.files.finding.copies import as_file
from polars_ir.files.finding.sources import format_of, resolve
from polars_ir.files.formats.trec import TREC
from polars_ir.frames.roles import find
from polars_ir.language.catalog import MeasureCall, MeasureInfo, info_of
from polars_ir.language.dialects import parts_of, several
from polars_ir.language.measure import call_of, members
from polars_ir.language.names import as_in_ir_measures, parse
from polars_ir.language.options import CUTOFFS
from polars_ir.runs.evaluate import evaluate

#: Measures printed as sums.
COUNTS = {"NumRet", "NumRel", "NumRelRet", "NumQ"}

DESCRIPTION = "Evaluate a run, as ir_measures does; tied documents are in the order of trec_eval for every measure."

JUDGED_ONLY = re.compile(r"(?<=[(,])judged_only=(True|False),?|,judged_only=(True|False)(?=\))")

#: Parameters that ir_measures prints even at the default of this package.
WRITTEN = {"relative", "max_rel"}

#: Measures that are another measure with a parameter in ir_measures.
SPELT: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "R_cap": ("SetP", {"relative": True}),
    "NumRelRet": ("NumRet", {"rel": 1}),
}


def main(arguments: Sequence[str]) -> int:
    """Run ir_measures; returns its exit status."""
    parser = Parser(prog="polars-ir ir_measures", description=DESCRIPTION)
    parser.add_argument("qrels", help="judgments")
    parser.add_argument("run", help="a run; - is standard input")
    parser.add_argument("measures", nargs="+", help="measures, such as nDCG@10; several in quotes, with blanks between")
    parser.add_argument("-p", "--places", type=int, default=4, help="decimals; -1 for all (%(default)s)")
    parser.add_argument("-q", "--by_query", action="store_true", help="figures of each query before the means")
    parser.add_argument("-n", "--no_summary", action="store_true", help="no means (with -q)")
    parser.add_argument("-o", "--output_format", choices=["tsv", "jsonl"], default="tsv", help="(%(default)s)")
    parser.add_argument("--provider", help="accepted, and not needed: there is one implementation")
    options = parser.parse_args(arguments)
    if options.no_summary and not options.by_query:
        parser.error("--no_summary goes with --by_query")
    if options.places < -1:
        parser.error(f"--places must be -1 or more; got {options.places}")
    check_stdin(options)
    asked = dict(one for measure in options.measures for name in measure.split() for one in _asked(name))
    if not asked:
        raise MeasureError.none_given()
    queries, *figures = _per_query(asked, options)
    if options.by_query:
        for query, *values in zip(queries, *figures, strict=True):
            _print(query, zip(asked, values, strict=True), options)
    if not options.no_summary:
        ns = [1 if call.measure in COUNTS else len(queries) for call, _ in asked.values()]
        means = [sum(of_all) / n for of_all, n in zip(figures, ns, strict=True)]
        _print("all", zip(asked, means, strict=True), options)
    if options.output_format == "jsonl" and options.places != parser.get_default("places"):
        print("--places is ignored when using --output jsonl", file=sys.stderr)
    return 0


def _asked(text: str) -> Iterator[tuple[str, tuple[MeasureCall, bool]]]:
    """The measures that a text stands for, by their names in the output, each with its `judged_only`."""
    for name in several(text) or [text]:
        asked = parse(JUDGED_ONLY.sub("", name).replace("()", ""))
        is_one = not asked.meta.has_multiple_outputs()
        for expression in members(asked):
            call = call_of(expression)
            if call is None:
                says = f"ir_measures has no measure {text!r}, whose value is a text; trec_eval -q prints it."
                raise MeasureError(says)
            label = _label(name if is_one else expression.meta.output_name(), info_of(call))
            yield label, (call, "judged_only=True" in text)


def _label(text: str, info: MeasureInfo) -> str:
    """The name that ir_measures prints: its own, with the given parameters that are not its defaults."""
    theirs = info.also.get("ir_measures", "").split()
    name, arguments, at = parts_of(text)
    if not theirs or (name != info.name and name not in theirs):
        return text
    word, implied = SPELT.get(info.name, (theirs[0], {}))
    always = {*implied, *WRITTEN, *(["rel"] if info.name == "RBP" else [])}
    written = {n: v for n, v in arguments.items() if n != info.at and n not in CUTOFFS}
    kept = {n: v for n, v in {**implied, **written}.items() if n in always or v != info.parameters.get(n)}
    at = at or next((str(v) for n, v in arguments.items() if n == info.at or n in CUTOFFS), None)
    number = "" if at is None else f"@{at if info.at == 'k' else float(at)}"
    parameters = ",".join(f"{n}={_written(v)}" for n, v in kept.items() if v is not False)
    return f"{word}({parameters}){number}" if parameters else f"{word}{number}"


def _written(value: object) -> str:
    """The value of a parameter; a map without the grades that are their own gains."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in sorted(value.items()) if grade != gain) + "}"
    return repr(value)


def _per_query(asked: Mapping[str, tuple[MeasureCall, bool]], options: argparse.Namespace) -> pl.DataFrame:
    """The queries, the run's first, and the values of each measure; 0 for queries missing from the run."""
    run = run_of(options.run)
    if find("run", "run", run.columns):
        raise OptionError(f"{options.run} holds several systems, and ir_measures evaluates one; use evaluate.")
    run = run.cast({name: pl.Float32 for name in [find("run", "score", run.columns)] if name})
    grounds: dict[tuple[bool, bool], list[pl.Expr]] = {}
    for name, (call, judged_only) in asked.items():
        measure = as_in_ir_measures(call).cast(pl.Float64).alias(name)
        grounds.setdefault((info_of(call).kind == "subtopics", judged_only), []).append(measure)
    frames = []
    with as_file(options.qrels) as qrels:
        judgments = {of_subtopics: _judged(qrels, of_subtopics=of_subtopics) for of_subtopics, _ in grounds}
        for (of_subtopics, judged_only), expressions in grounds.items():
            ours, judged = alike(run, judgments[of_subtopics])
            frames.append(evaluate(ours, judged, expressions, judged_only=judged_only))
    query, place = frames[0].columns[0], "polars_ir: place"
    ids = ours[find("run", "query_id", ours.columns) or query].unique(maintain_order=True)
    figures = pl.concat(frames, how="align").join(ids.to_frame(query).with_row_index(place), on=query, how="left")
    values = pl.when(pl.col(place).is_not_null()).then(pl.col(*asked)).fill_null(0.0)
    return figures.sort(place, query, nulls_last=True).select(query, values)


def _judged(name: str, *, of_subtopics: bool) -> pl.DataFrame:
    """The judgments of a file, in TREC's format with the second field where it is of subtopics."""
    if of_subtopics:
        # A file that is none of judgments is an error of the reader.
        with suppress(FileError):
            if format_of(resolve(name)[0], "qrels") is TREC:
                return qrels_of(name, "subtopics")
    return qrels_of(name)


def _print(query: object, figures: Iterable[tuple[str, float]], options: argparse.Namespace) -> None:
    of_query = {"query_id": str(query)} if options.by_query else {}
    for measure, value in figures:
        if options.output_format == "jsonl":
            say(json.dumps({**of_query, "measure": measure, "value": value}))
        else:
            text = str(value) if options.places < 0 else f"{value:.{options.places}f}"
            say("\t".join([*of_query.values(), measure, text]))
