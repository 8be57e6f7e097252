"""What each command computes: a frame."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir import datasets
from polars_ir.cli.inputs import per_query_of, qrels_of, run_of, systems_of, table_of
from polars_ir.comparison import verdicts
from polars_ir.comparison.gate import gate as gate_of
from polars_ir.comparison.systems import compare as compare_systems
from polars_ir.errors import ColumnError, MeasureError, OptionError, nearest
from polars_ir.evaluation import evaluate as evaluate_runs
from polars_ir.files import write_qrels, write_run
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
    ranking = {"ties": options.ties, "judged_only": options.judged_only, "bounds": options.bounds}
    judgments = {"format": options.format, "qrels_format": options.qrels_format}
    per_query = _evaluated(options.runs, options.qrels, options, **judgments, **ranking)
    if options.per_query:
        return per_query
    queries = {"by": options.by, "weights": options.weights}
    given = {option: names for option, names in queries.items() if names}
    if given and options.queries is None:
        raise OptionError(f"--{next(iter(given))} names a column of a table of queries: --queries FILE.")
    table = table_of(options.queries) if options.queries else None
    means: pl.DataFrame = mean(per_query, **{option: _columns(table, names) for option, names in given.items()})
    return means


def _columns(queries: pl.DataFrame | None, names: Sequence[str] | str) -> Any:
    """Some columns of a table of queries, with the query's."""
    if queries is None:
        return None
    query = find("queries", "query_id", queries.columns)
    if query is None:
        raise ColumnError.missing("queries", "query_id", ROLES["query_id"], queries.columns)
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in queries.columns:
            raise ColumnError(
                f"queries have no column {name!r}; they have {', '.join(map(repr, queries.columns))}."
                f"{nearest(name, queries.columns)}"
            )
    return queries.select(query, *wanted)


def compare(options: argparse.Namespace) -> pl.DataFrame:
    """Systems against each other or a baseline."""
    if options.qrels is None:
        per_query = systems_of(options.files, per_query_of)
    elif options.measure is None:
        raise OptionError("compare needs a measure to evaluate runs by (-m); without --qrels, files bring theirs.")
    else:
        per_query = _evaluated(options.files, options.qrels, options)
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
    if options.qrels is None:
        new, old = per_query_of(options.new), per_query_of(options.old)
    else:
        qrels, missing = qrels_of(options.qrels), options.missing
        new, old = (
            evaluate_runs(run_of(run), qrels, options.measure, missing=missing) for run in (options.new, options.old)
        )
    found: pl.DataFrame = gate_of(
        new, old, options.measure, max_drop=options.max_drop, alpha=options.alpha, missing=options.missing
    )
    return found


def validate(options: argparse.Namespace) -> pl.DataFrame:
    """What is odd about each run."""
    qrels = qrels_of(options.qrels, options.qrels_format)
    runs = systems_of(options.runs, lambda name: run_of(name, options.format))
    found: list[pl.DataFrame] = [
        findings_of(run.drop("run"), qrels).select(pl.lit(system).alias("run"), pl.all())
        for (system,), run in runs.partition_by("run", as_dict=True).items()
    ]
    return pl.concat(found)


def convert(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the file is written."""
    if options.qrels:
        if options.tag is not None:
            raise OptionError("--tag is of runs; judgments have none.")
        write_qrels(qrels_of(options.source, options.format), options.target, format=options.to)
    else:
        write_run(run_of(options.source, options.format), options.target, format=options.to, tag=options.tag)
    return pl.DataFrame()


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


def _evaluated(
    runs: Sequence[str],
    qrels: str,
    options: argparse.Namespace,
    *,
    format: Any = None,
    qrels_format: Any = None,
    **ranking: Any,
) -> pl.DataFrame:
    """The figures of runs, each per query."""
    systems = systems_of(runs, lambda name: run_of(name, format))
    judgments = qrels_of(qrels, qrels_format)
    per_query: pl.DataFrame = evaluate_runs(systems, judgments, options.measure, missing=options.missing, **ranking)
    return per_query
