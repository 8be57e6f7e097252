"""The doubts about a report: the findings of `validate` on each system, and the bounds of unjudged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.errors import IRError
from polars_ir.language.names import Measures
from polars_ir.per_query.mean import mean
from polars_ir.runs.evaluate import evaluate_collected
from polars_ir.runs.validate import validate

if TYPE_CHECKING:
    from polars_ir.reports.report import Reporting


#: The rows of runs, beyond which bounds take longer than all the rest.
MOST_ROWS = 1_000_000


def doubts_of(
    rows: pl.DataFrame | None, qrels: Any, systems: list[str], measure: Measures, options: Reporting
) -> dict[str, Any]:
    """The findings, each with the systems that have it, and the bounds of a measure by system."""
    if rows is None or qrels is None:
        return {"findings": [], "bounds": None, "checked": False}
    parts = rows.partition_by("run", as_dict=True, include_key=False)
    findings: dict[str, dict[str, Any]] = {}
    for system in systems:
        if (part := parts.get((system,))) is None:
            continue
        for finding in validate(part, qrels).iter_rows(named=True):
            name, meaning = finding.pop("finding"), finding.pop("meaning")
            entry = findings.setdefault(name, {"finding": name, "meaning": meaning, "systems": []})
            entry["systems"].append({"run": system, **finding})
    bounds = _bounds(rows, qrels, measure, options) if rows.height <= MOST_ROWS else None
    told = rows.height > MOST_ROWS
    return {"findings": list(findings.values()), "bounds": bounds, "without_bounds": told, "checked": True}


def _bounds(rows: pl.DataFrame, qrels: Any, measure: Measures, options: Reporting) -> dict[str, Any] | None:
    """The mean of a measure with the bounds that unjudged documents leave, by system; None where there are none."""
    try:
        means: pl.DataFrame = mean(evaluate_collected(rows, qrels, measure, **options, bounds=True))
    except IRError:
        return None  # judgments of a kind that has no bounds
    name, *bounds = (column for column in means.columns if column != "run")
    means = means.rename({name: "mean", **dict(zip(bounds, ("low", "high"), strict=True))})
    return means.filter(pl.col("low") < pl.col("high")).to_dict(as_series=False)
