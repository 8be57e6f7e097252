"""The evidence that a system misses in the queries in which it loses most, and where it went."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.errors import IRError
from polars_ir.language.names import resolve
from polars_ir.language.options import is_number
from polars_ir.per_query.difficulty import hardest
from polars_ir.reports.content import Missing
from polars_ir.reports.experiment import Experiment
from polars_ir.runs.alternatives import cutoff_of
from polars_ir.runs.missing_evidence import missing_evidence

#: Number of queries whose missing evidence is looked up, and the depth without a cutoff.
QUERIES, DEPTH = 5, 10


def missing_of(experiment: Experiment, pair: Sequence[str]) -> Missing | None:
    """The groups of evidence that the first of a pair lacks in its largest drops, and whether the other lacks them too.

    None where no runs are known, and where none lacks any.
    """
    per_query, measures, _, rows, qrels, *_ = experiment
    if rows is None or qrels is None or len(pair) < 2:
        return None
    values = per_query.select("run", "query_id", measures[0])
    drops = hardest(values, measures[0], n=QUERIES, run=pair[0], baseline=pair[1])
    k, rel = next((each for name in measures if (each := _first_relevant(name))[0]), _first_relevant(measures[0]))
    k = k or DEPTH
    try:
        runs = (rows.filter(run=system).drop("run") for system in pair)
        missing, others = (missing_evidence(run, qrels, k, rel=rel) for run in runs)
    except IRError:  # judgments of another kind, such as preferences
        return None
    both = others.select("query_id", "subtopic", in_neither=True)
    missing = missing.join(both, on=["query_id", "subtopic"], how="left", maintain_order="left")
    found = missing.select(
        pl.col("query_id", "doc_id").cast(pl.String), "rank", pl.col("in_neither").fill_null(value=False)
    )
    found = found.filter(pl.col("query_id").is_in(drops["query_id"].implode()))
    # Where all was found, or no grade is relevant, there is nothing to show.
    return None if found.is_empty() else {"k": k, "rel": rel, "rows": found.to_dict(as_series=False)}


def _first_relevant(measure: str) -> tuple[int | None, float]:
    """The cutoff of a measure by its name, and the lowest grade that is relevant to it, 1 where it names none."""
    try:
        resolved = resolve(measure)[0]
    except IRError:  # one of the user's own
        return None, 1
    rel = resolved.call.arguments.get("rel") if resolved.call else None
    return cutoff_of(resolved), rel if is_number(rel) else 1
