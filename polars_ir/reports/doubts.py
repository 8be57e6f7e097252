"""Caveats of a report: the findings of `validate` per system, and bounds for unjudged documents."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import polars as pl

from polars_ir.frames.roles import find
from polars_ir.language.kinds import DOCUMENTS, kind_of
from polars_ir.language.names import ResolvedMeasure, call_behind
from polars_ir.per_query.means import mean
from polars_ir.reports.answer import plain
from polars_ir.reports.content import Doubts, Finding
from polars_ir.reports.experiment import Experiment
from polars_ir.runs.evaluate import evaluate_collected
from polars_ir.runs.findings import FINDINGS, ROWS, SEVERITIES, TYPES, UNJUDGED, finding
from polars_ir.runs.options import Reporting
from polars_ir.runs.validate import validate

LOG = logging.getLogger(__name__)

#: Row count of runs beyond which bounds take longer than all the rest.
MOST_ROWS = 1_000_000


def doubts_of(experiment: Experiment, options: Reporting) -> Doubts:
    """The findings, the worst first, each with the systems that have it, and the bounds of the first measure."""
    rows, qrels = experiment.rows, experiment.qrels
    if rows is None or qrels is None:
        return {"findings": [], "bounds": None, "without_bounds": False, "checked": False, "only_relevant": False}
    findings: dict[str, Finding] = {}
    for of_system in _found(experiment, rows):
        name, severity, meaning = (of_system.pop(name) for name in ("finding", "severity", "meaning"))
        found: Finding = {"finding": name, "severity": severity, "meaning": meaning, "systems": []}
        findings.setdefault(name, found)["systems"].append(of_system)
    worst_first = sorted(findings.values(), key=lambda each: SEVERITIES.index(each["severity"]))
    few, only_relevant = rows.height <= MOST_ROWS, False
    if kind_of(*(each.expression for each in experiment.resolved)) is DOCUMENTS:
        judged: pl.DataFrame = qrels.frame
        grade = find("qrels", "relevance", judged.columns)
        only_relevant = grade is None or judged.filter(pl.col(grade).cast(pl.Float64, strict=False) <= 0).is_empty()
    bounds = _bounds(rows, qrels, experiment.resolved[0], options) if few else None
    return {
        "findings": worst_first,
        "bounds": bounds,
        "without_bounds": not few,
        "checked": True,
        "only_relevant": only_relevant,
    }


def _found(experiment: Experiment, rows: pl.DataFrame) -> Iterator[dict[str, Any]]:
    # What evaluate refuses is not there, and it has counted the unjudged documents.
    elsewhere = TYPES | ROWS | (UNJUDGED if experiment.counts else {})
    only = [name for name in FINDINGS if name not in elsewhere]
    parts = rows.partition_by("run", as_dict=True, include_key=False)
    for system in experiment.systems:
        LOG.info("looking for doubts about %s", plain(system))
        if (system,) in parts:
            for found in validate(parts[(system,)], experiment.qrels, only=only).iter_rows(named=True):
                yield {"run": system, **found}
        if experiment.counts:
            of_system = experiment.per_query.lazy().filter(run=system)
            meaning = "share: the mean of unj@10 over the queries; unjudged documents count as not relevant"
            name, share = next(iter(UNJUDGED)), pl.col("unj@10")
            unjudged = finding(name, of_system, share > 0, pl.col("query_id").filter("wrong"), meaning, share)
            yield from (
                {"run": system, **found}
                for found in unjudged.filter(pl.col("count") > 0).collect().iter_rows(named=True)
            )


def _bounds(rows: pl.DataFrame, qrels: Any, measure: ResolvedMeasure, options: Reporting) -> dict[str, Any] | None:
    """Mean of a measure with its bounds by system; None for a measure without, and without unjudged documents."""
    call = call_behind(measure)
    if call is None or call.arguments.get("budget") is not None:
        return None
    if "bounds" in kind_of(measure.expression).refuses:
        return None
    means: pl.DataFrame = mean(evaluate_collected(rows, qrels, measure.expression, **options, bounds=True))
    name, *bounds = (column for column in means.columns if column != "run")
    means = means.rename({name: "mean", **dict(zip(bounds, ("low", "high"), strict=True))})
    return means.filter(pl.col("low") < pl.col("high")).to_dict(as_series=False)
