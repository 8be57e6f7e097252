"""The input of a report: runs and judgments, evaluated before any comparison."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import DataError, MeasureError
from polars_ir.frames.table import labelled_table, run_table
from polars_ir.language.catalog import info_of
from polars_ir.language.columns import is_cost
from polars_ir.language.kinds import DOCUMENTS, kind_of
from polars_ir.language.names import Measures, ResolvedMeasure, call_behind, is_renamed, parse, resolve
from polars_ir.runs.alternatives import check_number, cutoff_of, frames_of, in_memory
from polars_ir.runs.evaluate import evaluate_collected
from polars_ir.runs.judgments import judgments
from polars_ir.runs.options import Reporting

LOG = logging.getLogger(__name__)

#: What is counted of each ranking besides: the documents retrieved, and the share of unjudged ones in the top 10.
COUNTS = ["NumRet", "unj@10"]

#: The cutoffs at which the first measure is drawn, beside its own and the length of the longest ranking.
CUTOFFS = (1, 3, 10, 30, 100)


class Experiment(NamedTuple):
    """The input of a report: per-query values and, if known, their runs and judgments.

    `counts` are the columns of `per_query` with the number of retrieved documents and the share of unjudged ones in the
    top 10, `cutoffs` those of the first measure at several cutoffs. `resolved` are the measures, where runs are known:
    `measures`, their names, may be the user's own, or be those of others.
    """

    per_query: pl.DataFrame
    measures: list[str]
    systems: list[str]
    rows: pl.DataFrame | None = None
    qrels: Any = None
    counts: Sequence[str] = ()
    cutoffs: Mapping[str, int] = {}
    resolved: Sequence[ResolvedMeasure] = ()


def evaluated(runs: Any, qrels: Any, measures: Measures, options: Reporting) -> Experiment:
    """The experiment of runs and their judgments."""
    resolved = resolve(measures)
    measured = {each.name: each.expression for each in resolved}
    # The counts are of documents, and measures of one call read one kind of judgments.
    of_documents = kind_of(*measured.values()) is DOCUMENTS
    # The user may have given these names, and those of the measures that are drawn, to other measures.
    renamed = {each.name for each in filter(is_renamed, resolved)}
    counts = COUNTS if of_documents and renamed.isdisjoint(COUNTS) else []
    counted = {name: parse(name) for name in counts}
    frames = in_memory(frames_of(runs))
    table = labelled_table(frames) if qrels is None else run_table(frames, check=False)
    # Documents without ids cannot be shown.
    rows = None if table.numbered else with_run(table.all_columns().collect())
    cutoffs = {} if rows is None or not of_documents else at_cutoffs(resolved[0], rows)
    cutoffs = cutoffs if renamed.isdisjoint(cutoffs) else {}
    besides = counted | {name: parse(name) for name in cutoffs}
    columns = besides | measured
    LOG.info("evaluating %d measures", len(columns))
    # Judgments are checked and numbered once for the whole report.
    qrels = None if qrels is None else judgments(qrels)
    per_query = evaluate_collected(frames, qrels, list(columns.values()), **options)
    if per_query.is_empty():
        says = "give no ranking to report: they have no rows, or the judgments have none; look at what was read."
        raise DataError(says, about="runs")
    for each in resolved:
        check_number(each, per_query.schema)
    numbers = pl.col(*columns).cast(pl.Float64)
    named = with_run(per_query.rename(table.roles))
    named = named.with_columns(pl.col("query_id").cast(pl.String), numbers)
    systems = order_of(named, next(iter(measured)))
    return Experiment(named, list(measured), systems, rows, qrels, list(counted), cutoffs, resolved)


def order_of(per_query: pl.DataFrame, measure: str) -> list[str]:
    """Systems by mean, best first; means that agree to 12 digits are equal, and stand by name."""
    means = per_query.group_by("run").agg(pl.col(measure).sort().mean().round_sig_figs(12))
    by_mean = [False, False] if is_cost(measure) else [True, False]
    systems: list[str] = means.sort(measure, "run", descending=by_mean, nulls_last=True)["run"].to_list()
    return systems


def with_run(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with system names, also for a single unnamed system."""
    named = pl.col("run").cast(pl.String)
    return frame.with_columns(named) if "run" in frame.columns else frame.select(pl.lit("run").alias("run"), pl.all())


def at_cutoffs(measure: ResolvedMeasure, rows: pl.DataFrame) -> dict[str, int]:
    """A measure at several cutoffs, each with its cutoff, by names that stand for it; none where there is no such name.

    None, too, for a measure without cutoffs, and for rankings of one document.
    """
    longest: int = rows.group_by("run", "query_id").len().select(pl.col("len").max().fill_null(0)).item()
    cutoffs = {*filter(longest.__gt__, CUTOFFS), longest, cutoff_of(measure) or longest} - {0}
    call, is_ours = call_behind(measure), measure.call is not None
    if len(cutoffs) < 2 or call is None or "k" not in call.arguments or pl.Expr in map(type, call.arguments.values()):
        return {}
    info = info_of(call)
    in_words = measure.name.partition("@")[0]
    names = {info.column({**call.arguments, "k": k}) if is_ours else f"{in_words}@{k}": k for k in sorted(cutoffs)}
    try:
        list(map(parse, names))
    except MeasureError:
        return {}
    return names
