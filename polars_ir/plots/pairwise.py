"""Two systems query by query: the values of both, and which of them is better."""

from __future__ import annotations

import polars as pl

from polars_ir.language.names import is_cost
from polars_ir.per_query.shared.aligned import Scores


def ranked_pairs(
    scores: Scores, measure: str, run: str, baseline: str, tolerance: float, *, of_all: bool = False
) -> pl.DataFrame:
    """A row per query for which both systems have a value (`of_all`: all systems), the greatest win of `run` first."""
    columns = {str(i): pl.Series(scores.values[measure][:, i], nan_to_null=True) for i in range(len(scores.systems))}
    values = pl.DataFrame({"query": scores.queries.to_series().cast(pl.String), **columns})
    values_of_pair = (values.drop_nulls() if of_all else values).select(
        "query",
        run_value=pl.col(str(scores.index(run, "run"))),
        baseline_value=pl.col(str(scores.index(baseline))),
    )
    pairs = values_of_pair.drop_nulls().with_columns(difference=pl.col("run_value") - pl.col("baseline_value"))
    ordered = pairs.sort("difference", "query", descending=[not is_cost(measure), False])
    better_by = -pl.col("difference") if is_cost(measure) else pl.col("difference")
    won, lost = better_by > tolerance, better_by < -tolerance
    outcome = pl.when(won).then(pl.lit("win")).when(lost).then(pl.lit("loss")).otherwise(pl.lit("tie"))
    return ordered.with_columns(outcome=outcome).with_row_index("place")
