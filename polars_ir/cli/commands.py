"""What each command computes: a frame."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir import datasets
from polars_ir.cli.inputs import alike, per_query_of, qrels_of, run_of, systems_of, table_of
from polars_ir.cli.messages import option_for
from polars_ir.cli.output import as_target
from polars_ir.comparison import verdicts
from polars_ir.comparison.gate import gate as gate_of
from polars_ir.comparison.systems import compare as compare_systems
from polars_ir.errors import ColumnError, MeasureError, OptionError, nearest
from polars_ir.evaluation import evaluate as evaluate_runs
from polars_ir.evaluation import resolve
from polars_ir.files import write_qrels, write_run
from polars_ir.files.incoming import as_file
from polars_ir.files.readers import tag_of
from polars_ir.registry import catalog
from polars_ir.schema import ROLES, find
from polars_ir.summary import mean
from polars_ir.validation import validate as findings_of

DEMO_MEASURES = ["nDCG@10", "AP", "RR@10", "R@100", "Judged@10"]


def demo(options: argparse.Namespace) -> pl.DataFrame:
    """The measures of the bundled collection."""
    pydocs = datasets.load("pydocs")
    per_query = evaluate_runs(pydocs.runs, pydocs.qrels, DEMO_MEASURES)
    return per_query if options.per_query else mean(per_query)


def evaluate(options: argparse.Namespace) -> pl.DataFrame:
    """The means of runs, or their figures per query."""
    # What is wrong with the queries is told now, not after the evaluation.
    queries = _queries(options)
    ranking = {"ties": options.ties, "judged_only": options.judged_only, "bounds": options.bounds}
    qrels = qrels_of(options.qrels, options.qrels_format)
    per_query = _evaluated(options.runs, qrels, options, **ranking)
    if options.per_query:
        return per_query
    if queries is None:
        return mean(per_query)
    per_query, queries = alike(per_query, queries)
    query = find("queries", "query_id", queries.columns)
    by, weights = (names and queries.select(query, *names) for names in (options.by, options.weights))
    return mean(per_query, by=by, weights=weights)


def _queries(options: argparse.Namespace) -> pl.DataFrame | None:
    """The table that --by and --weights name columns of; None without them."""
    wanted = [*(options.by or ()), *(options.weights or ())]
    if wanted and options.per_query:
        raise OptionError("--by and --weights are of means; leave out --per-query.")
    if bool(wanted) != bool(options.queries):
        raise OptionError("--by and --weights name columns of a table of queries, --queries FILE; give both.")
    if not wanted:
        return None
    queries = table_of(options.queries)
    if find("queries", "query_id", queries.columns) is None:
        raise ColumnError.missing("queries", "query_id", ROLES["query_id"], queries.columns)
    for name in wanted:
        if name not in queries.columns:
            there = ", ".join(map(repr, queries.columns))
            raise ColumnError(f"queries have no column {name!r}; they have {there}.{nearest(name, queries.columns)}")
    return queries


def compare(options: argparse.Namespace) -> pl.DataFrame:
    """Systems against each other or a baseline."""
    if options.qrels is None:
        per_query = systems_of(options.files, per_query_of)
    elif options.measure is None:
        raise OptionError("compare needs a measure to evaluate runs by (-m); without --qrels, files bring theirs.")
    else:
        per_query = _evaluated(options.files, qrels_of(options.qrels, options.qrels_format), options)
    found: pl.DataFrame = compare_systems(
        per_query,
        baseline=options.baseline,
        measures=options.measure,
        test=options.test,
        correction=None if options.correction == "none" else options.correction,
        alpha=options.alpha,
        missing=options.missing,
    )
    return found


def gate(options: argparse.Namespace) -> pl.DataFrame:
    """Whether a change may ship."""
    files = options.new, options.old
    if options.qrels is None:
        new, old = map(per_query_of, files)
    else:
        qrels = qrels_of(options.qrels, options.qrels_format)
        new, old = (_evaluated([file], qrels, options) for file in files)
    found: pl.DataFrame = gate_of(
        new, old, options.measure, max_drop=options.max_drop, alpha=options.alpha, missing=options.missing
    )
    return found


def validate(options: argparse.Namespace) -> pl.DataFrame:
    """What is odd about each run."""
    qrels = qrels_of(options.qrels, options.qrels_format)
    return systems_of(options.runs, lambda name: _findings(*alike(run_of(name, options.format), qrels)))


def _findings(run: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """What is odd about a run, or about each of the systems that it holds."""
    system = find("run", "run", run.columns)
    if system is None:
        of_one: pl.DataFrame = findings_of(run, qrels)
        return of_one
    parts = run.partition_by(system, as_dict=True, include_key=False, maintain_order=True).items()
    found: list[pl.DataFrame] = [
        findings_of(part, qrels).select(pl.lit(name).alias("run"), pl.all()) for (name,), part in parts
    ]
    return pl.concat(found)


def convert(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the file is written."""
    if options.qrels and options.tag is not None:
        raise OptionError("--tag is of runs; judgments have none.")
    with as_file(options.source) as source, as_target(options.target) as target:
        if options.qrels:
            qrels = qrels_of(source, options.format, option="format")
            with option_for("format", "to"):
                write_qrels(qrels, target, format=options.to)
        else:
            run = run_of(source, options.format)
            tag = _tag(source, run, options)
            with option_for("format", "to"):
                write_run(run, target, format=options.to, tag=tag)
    return pl.DataFrame()


def _tag(source: str, run: pl.DataFrame, options: argparse.Namespace) -> str | None:
    """The tag that was asked for, or what a run is called where it is read; several systems keep their names."""
    if options.tag is not None or find("run", "run", run.columns):
        asked: str | None = options.tag
        return asked
    return "_".join(tag_of(source, format=options.format).split()) or None


def measures(options: argparse.Namespace) -> pl.DataFrame:
    """The catalogue."""
    text = pl.concat_str("name", "function", "also", "meaning", separator=" ").str.to_lowercase()
    found = catalog().filter(text.str.contains(options.pattern.lower(), literal=True))
    if found.is_empty():
        raise MeasureError(f"no measure has {options.pattern!r} in a name or in its meaning.")
    return found.select("name", "function", "judgments", "parameters", "meaning")


COMMANDS = {
    "demo": demo,
    "evaluate": evaluate,
    "compare": compare,
    "gate": gate,
    "validate": validate,
    "convert": convert,
    "measures": measures,
}


def found_something(frame: pl.DataFrame, options: argparse.Namespace) -> bool:
    """Whether the result is a finding, which the exit status tells."""
    if options.command == "gate":
        return not verdicts.ships(frame)
    return options.command == "validate" and not frame.is_empty()


def _evaluated(runs: Sequence[str], qrels: pl.DataFrame, options: argparse.Namespace, **ranking: Any) -> pl.DataFrame:
    """The figures of runs, each per query; one run after the other, so that only one is in memory."""
    measures = list(resolve(options.measure).values())

    def figures(name: str) -> pl.DataFrame:
        run, judged = alike(run_of(name, options.format), qrels)
        per_query: pl.DataFrame = evaluate_runs(run, judged, measures, missing=options.missing, **ranking)
        return per_query

    return systems_of(runs, figures)
