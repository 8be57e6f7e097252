"""Where a system is worse: slices of the queries against the rest.

Conventions: a slice shares no query with the rest, so that tests are unpaired. What is not defined is null, and the
row's note says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from polars_ir.attributes import column_for
from polars_ir.comparison.groups import (
    Measures,
    Samples,
    Test,
    checked_options,
    each_system,
    measures_in_memory,
    tested,
)
from polars_ir.comparison.pairing import Scores, scores_of
from polars_ir.conversion import give_back
from polars_ir.errors import DtypeError, explain_options
from polars_ir.naming import is_cost
from polars_ir.options import MISSING, one_of

#: The columns of `worst_slices`, behind `run`.
COLUMNS = {
    "baseline": pl.String,
    "measure": pl.String,
    "attribute": pl.String,
    "value": pl.String,
    **dict.fromkeys(["mean", "rest_mean", "difference", "low", "high", "statistic", "p", "p_corrected"], pl.Float64),
    "significant": pl.Boolean,
    "n_queries": pl.UInt32,
    "n_rest": pl.UInt32,
    "note": pl.String,
}


@explain_options
def worst_slices(
    per_query: Any,
    by: Any,
    *,
    measures: Measures = None,
    baseline: str | None = None,
    test: Test = "t",
    correction: str | None = "holm",
    alpha: float = 0.05,
    min_queries: int = 5,
    missing: str = "zero",
    resamples: int = 10_000,
    seed: int = 0,
) -> Any:
    """The slices of the queries in which a system loses most against the rest of its queries, the worst first.

    The difference is mean(slice) - mean(all other queries): of the values or, with a baseline, of what a query gains
    or loses against it. Each column is looked at by itself, so that any number can be thrown in; a slice is all the
    queries with one value in one column. Slices of different columns overlap.

    Parameters
    ----------
    per_query
        What `evaluate` returned, of one system or of several.
    by
        What queries are sliced by: columns of `per_query`, by name, or a frame with a query column and others.
    measures
        The measures to look at; without it, all numbers but the columns of `by`.
    baseline
        A system: what is ranked is then how the others differ from it.
    test
        Of two groups of different queries: `"t"` is Welch's, of unequal variances; `"mann-whitney"` is of ranks;
        `"permutation"` is of the difference of means, exact where there are no more than `resamples` ways to split.
    correction
        How p allows for the number of slices, by its name in statsmodels (`"holm"`, `"bonferroni"`, `"fdr_bh"`, ...),
        or None. The family is all rows of a measure.
    alpha
        The highest corrected p that counts as significant; intervals have a confidence of 1 - alpha.
    min_queries
        Slices of fewer queries, or with fewer outside, have means but no test and are not counted by the correction.
    missing
        With a baseline, what a query counts that a system lacks: 0 (`"zero"`), or it is left out (`"skip"`).
    resamples
        How often the permutation test permutes.
    seed
        What it draws; the same seed gives the same p.

    Returns
    -------
    The kind of per_query
        `run` (if there is one), `baseline` (String, null without), `measure`, `attribute` (the column), `value`
        (String), `mean`, `rest_mean`, `difference` (Float64), `low`, `high` (Welch's interval of the difference),
        `statistic`, `p`, `p_corrected` (Float64), `significant` (Boolean), `n_queries`, `n_rest` (UInt32) and `note`
        (String), why there is no test. Measures are in the order they have, systems in that of their names, or of the
        dict they came in; in them the worst difference is first: the lowest or, for a measure whose best value is its
        lowest (`Hole`), the highest. Rows without a test come last.

    Raises
    ------
    IRError
        For a query without a value of `by`; a baseline, a measure or an option that is not there; NaN values; a
        LazyFrame.

    References
    ----------
    Welch 1947, https://doi.org/10.1093/biomet/34.1-2.28; Mann & Whitney 1947,
    https://doi.org/10.1214/aoms/1177730491

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> ids = [f"q{i}" for i in range(12)]
    >>> per_query = pl.DataFrame({"query_id": ids, "RR": [0.1, 0.2, 0.3, 0.2] + [0.8, 0.9, 1.0, 0.9] * 2})
    >>> languages = pl.DataFrame({"query_id": ids, "language": ["de"] * 4 + ["en"] * 4 + ["fr"] * 4})
    >>> found = ir.worst_slices(per_query, languages, min_queries=4)
    >>> found.select("value", pl.col("difference").round(3), "significant").rows()
    [('de', -0.7, True), ('en', 0.35, False), ('fr', 0.35, False)]
    """
    options = checked_options("ir.worst_slices", test, correction, alpha, min_queries, resamples, seed)
    one_of("missing", missing, MISSING)
    table, names = measures_in_memory(per_query, measures, by, "ir.worst_slices")
    if baseline is None:
        samples, attributes = each_system(per_query, table, by)
    else:
        scores = scores_of(per_query, names, missing=missing, by=by, what="ir.worst_slices(baseline=...)")
        samples, attributes = _each_difference(scores, baseline), list(scores.slices)
    texts = [_text(samples[0][1], attribute) for attribute in attributes]
    samples = [(system, frame.with_columns(texts)) for system, frame in samples]
    rows = [
        {"run": system, "baseline": baseline, "measure": measure, **row}
        for measure in names
        for system, frame in samples
        for row in _ranked(_each_slice(frame, attributes, measure, **options), measure)
    ]
    schema = {"run": pl.String, **COLUMNS} if "run" in table.dtypes else COLUMNS
    found = tested(rows, schema, significant="significant", correction=correction, alpha=alpha)
    return give_back(found, per_query)


def _each_difference(scores: Scores, baseline: str) -> Samples:
    """How each system differs from the baseline, instead of its values."""
    attributes = scores.queries.select(pl.col(name).alias(column_for(name)) for name in scores.slices)
    return [
        (
            str(scores.systems[system]),
            attributes.with_columns(
                pl.Series(measure, values[:, system] - values[:, against], nan_to_null=True)
                for measure, values in scores.values.items()
            ),
        )
        for system, against in scores.pairs(baseline)
    ]


def _text(frame: pl.DataFrame, attribute: str) -> pl.Expr:
    """A column of slices as text, since those of several columns stand in one."""
    dtype = frame.schema[column_for(attribute)]
    if dtype.is_nested():
        raise DtypeError.of_column("by", attribute, "texts, numbers or dates", dtype, "Take a part of it.")
    return pl.col(column_for(attribute)).cast(pl.String)


def _each_slice(
    frame: pl.DataFrame, attributes: Sequence[str], measure: str, **options: Any
) -> Iterator[dict[str, Any]]:
    from polars_ir.statistics.unpaired import group_against_rest

    known = frame.drop_nulls(measure)
    values = known[measure].cast(pl.Float64).to_numpy()
    for attribute in attributes:
        for value in frame[column_for(attribute)].unique().sort():
            inside = (known[column_for(attribute)] == value).to_numpy()
            group, rest = values[inside], values[~inside]
            found = group_against_rest(group, rest, **options)
            yield {"attribute": attribute, "value": value, **found, "n_queries": len(group), "n_rest": len(rest)}


def _ranked(rows: Iterable[dict[str, Any]], measure: str) -> list[dict[str, Any]]:
    """The worst difference first, and behind all others those that could not be tested."""
    sign = -1 if is_cost(measure) else 1
    return sorted(rows, key=lambda row: (row["p"] is None, row["difference"] is None, sign * (row["difference"] or 0)))
