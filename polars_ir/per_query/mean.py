"""Means over queries, of every measure.

Conventions: a null is a query for which a measure is undefined, and is left out.
"""

from __future__ import annotations

from typing import Unpack

from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.per_query.shared import estimators
from polars_ir.per_query.shared.options import Averaging
from polars_ir.per_query.shared.queries import sampled


@public(Averaging)
def mean(per_query: Table[FrameT], **options: Unpack[Averaging]) -> FrameT:
    """The mean of every measure over the queries: one row per system.

    The macro average is sum(w * value) / sum(w), where w is 1 without weights. The micro average pools the counts of
    all queries: for hits / R it is sum(hits) / sum(R), the mean weighted by the denominators. Precision, recall, F,
    success and the shares of judged documents have one.

    Null values, where a measure is undefined, are left out of its mean. Counts are averaged like everything else;
    trec_eval prints their sums. Some measures of the catalogue define another mean: `GMAP` and `GMbpref` the geometric
    one, exp(mean(log(max(value, 1e-5)))), and `NumQ` the sum, the number of queries (with weights, their sum). Standard
    errors of values (a column `m se`) become that of the mean of independent values, sqrt(sum((w * se)^2)) / sum(w).

    With `reference=people` means are the estimates of `summarize`, which also tells how sure they are.

    Parameters
    ----------
    per_query
        What `evaluate` returned: a query column, `run` where there are several, and measures in numeric or Boolean
        columns; others are left out. Numbers that are probably no measures, such as years, give a warning.

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
    if (people := options["reference"]) is not None:
        from polars_ir.per_query.shared.reference import check_reference

        check_reference(options, {"average": ["macro"]})
    queries = sampled(per_query, options)
    return queries.table.give_back(estimators.means(queries, options["average"], people), per_query)
