"""Means over queries, of every measure.

Conventions: a null is a query for which a measure is undefined, and left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import polars as pl

from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.names import canonical_name
from polars_ir.language.options import check, one_of, public
from polars_ir.per_query.provenance import warn_of_several
from polars_ir.per_query.shared.averages import (
    Averaging,
    denominators,
    mean_of,
)
from polars_ir.per_query.shared.measures import warn_of_attributes
from polars_ir.per_query.shared.queries import queries_of


@public()
def mean(
    per_query: Table[FrameT], *, by: Any = None, weights: Any = None, average: Literal["macro", "micro"] = "macro"
) -> FrameT:
    """The mean of every measure over the queries: one row per system.

    The macro average is sum(w * value) / sum(w), where w is 1 without weights. The micro average pools the counts of
    all queries: of hits / R it is sum(hits) / sum(R), which is the mean whose weights are the denominators. Precision,
    recall, F, success and the shares of judged documents have one.

    Null values, of queries for which a measure is undefined, are left out of its mean. Counts are averaged like
    everything else; trec_eval prints their sums. Measures of the catalogue that are averaged otherwise have their own
    mean: `GMAP` and `GMbpref` the geometric one, exp(mean(log(max(value, 1e-5)))), and `NumQ` the sum, the number of
    queries; of weights, their sum. Of standard errors of values (a column `m se`), the result is that of the mean of
    independent values, sqrt(sum((w * se)^2)) / sum(w).

    Parameters
    ----------
    per_query
        What `evaluate` returned: a query column, `run` where there are several, and measures in numeric or Boolean
        columns; others are left out. Numbers that are probably no measures, such as years, give a warning.
    by
        Slices of the queries, each with means of its own: columns of `per_query`, by name, or a frame with a query
        column and the columns to slice by.
    weights
        The weight of each query, such as how often it is asked: a column of `per_query`, by name, or a frame with a
        query column and one other. Numbers from 0 on; a query of weight 0 is left out.
    average
        `"macro"`, the mean over the queries, or `"micro"`, over their pooled counts. A micro average needs the counts
        beside the measures: `ir.evaluate(run, qrels, ["R@100", "NumRel"])`; the frame may hold nothing else.

    Returns
    -------
    The kind of the input
        The columns of the slices, in whose order the rows are; the column of systems (if there is one) and a Float64
        column per measure, null where no query has a value. A micro average leaves out the counts that are its
        denominators. A LazyFrame is added up as it streams, with a row per query and system in memory, and is that of
        the values to within 1e-12 (1e-11 of three million); with weights in the order of the queries, to the last bit.

    Raises
    ------
    IRError
        For a frame without a query column or without a measure, or with rows of documents; a query that a system has
        twice; NaN and infinite values, with which a LazyFrame fails when it is collected; a query without a slice or a
        weight, or with several; a micro average of a measure that is no ratio of counts, or without its denominators.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> ir.mean(ir.evaluate(run, qrels, ["RR", "P@1"])).rows()
    [(0.75, 0.5)]
    >>> recalls = ir.evaluate({"q1": ["d1"], "q2": ["d1"]}, {"q1": ["d1"], "q2": ["d1", "d2", "d3"]}, ["R", "NumRel"])
    >>> ir.mean(recalls, average="micro").item()  # 2 of 4 relevant documents
    0.5
    """
    check("average", average, one_of("macro", "micro"))
    queries = queries_of(per_query, by=by, weights=weights)
    warn_of_attributes(queries.table, queries.measures)
    if PROVENANCE in queries.table.columns:
        warn_of_several(queries.table, queries.measures)
    weight_of = dict.fromkeys(queries.measures, queries.weight)
    if average == "micro":
        counts = denominators(queries.measures, queries.table.columns)
        times = 1.0 if queries.weight is None else pl.col(queries.weight)
        pooled = [(count * times).alias(f"polars_ir: out of {measure}") for measure, count in counts.items()]
        known = {canonical_name(name): pl.col(name) for name in queries.measures}
        queries = replace(queries, rows=queries.rows.with_columns(**known).with_columns(pooled))
        weight_of = {measure: f"polars_ir: out of {measure}" for measure in counts}
    means = []
    for measure, weight in weight_of.items():
        averaging = Averaging.of(measure, queries.table.columns, in_order=queries.in_order)
        means.append(mean_of(averaging, weight).alias(measure))
    return queries.table.give_back(queries.named(queries.means(means), weight_of), per_query)
