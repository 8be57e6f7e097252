"""Abstention: the gain from leaving out the queries that a run is least sure of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir.errors import Code, DtypeError, Fix
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.language.words import ROUNDED_TO, ratio, total
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.queries import ALL, queries_of

#: Points of a curve: no query left out, a tenth, up to nine tenths.
N_RATES = 10


@public()
def abstention(per_query: Table[FrameT], confidence: str | Sequence[str] | Any) -> FrameT:
    """The gain of a measure when the queries that a system is unsure of get no answer: normalised area (nAUC).

    The least confident 0, 10, ... 90 percent of the queries are left out (rounded, half to even; one query always
    stays), and the measure is averaged over the others: the abstention curve. nAUC is the area between this curve and
    the flat one (no query left out), out of the area between the oracle's (the worst queries left out first) and the
    flat one: 1 for a confidence that identifies the worst queries, 0 for an uninformative one, below 0 for a misleading
    one. Among queries with equal confidence the lower ids are left out first, so that the order of the rows does not
    matter; MTEB takes them in the order of its input, which is the same if that is sorted by id. Queries for which a
    measure is undefined (null) are not part of its curve. For measures whose best value is the lowest (`Hole`) the
    worst queries are those with the highest values, if their names are in the catalogue.

    Parameters
    ----------
    confidence
        The column of `per_query` that holds the confidence of each query, or a list of such columns; or a frame with a
        query column, `run` if it has values of several systems, and columns of confidences: what `confidence` returns.
        A frame without `run` holds for every system. Higher is surer.

    Returns
    -------
    The kind of per_query
        The column of systems (if there is one), `measure` and `confidence` (String), and `nAUC` (Float64); null where
        the oracle cannot beat the flat curve: all queries have the same value, or there is only one.

    References
    ----------
    Gisserot-Boukhlef et al. 2024, https://arxiv.org/abs/2402.12997; MTEB, `nauc_..._max`, `_std` and `_diff1`

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> run = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.8, "d2": 0.7}, "q3": {"d1": 0.6, "d2": 0.1}}
    >>> per_query = ir.evaluate(run, {"q1": ["d1"], "q2": ["d2"], "q3": ["d1"]}, "RR")
    >>> areas = ir.abstention(per_query, ir.confidence(run).select("query_id", "max", "diff1"))
    >>> areas.with_columns(pl.col("nAUC").round(9)).rows()
    [('RR', 'max', 0.4), ('RR', 'diff1', 1.0)]
    """
    queries = queries_of(per_query, by=confidence, needs="confidence")
    names, table = queries.slices, queries.table
    schema = queries.rows.collect_schema()
    for name in names:
        if not (dtype := schema[column_for(name)]).is_numeric():
            # Columns of per_query are to be fixed there.
            is_own = isinstance(confidence, (str, list, tuple))
            fix = Fix("Leave it out", None if is_own else Code.dropping("confidence", [name]))
            raise DtypeError.of_column("confidence", name, "numbers", dtype, fix)
    systems = queries.rows.sort(table.keys).group_by(*queries.systems, ALL, maintain_order=True)
    areas = [
        systems.agg(pl.lit(measure).alias("measure"), pl.lit(name).alias("confidence"), nAUC=_nauc(measure, name))
        for measure in queries.measures
        for name in names
    ]
    return table.give_back(pl.concat(areas).select(*queries.systems, "measure", "confidence", "nAUC"), per_query)


def _nauc(measure: str, name: str) -> pl.Expr:
    """Area between a curve and the flat one, as a share of the oracle's."""
    value = pl.col(measure).cast(pl.Float64)
    value = -value if is_cost(measure) else value
    sure = pl.when(value.is_not_null()).then(pl.col(column_for(name)).cast(pl.Float64))
    kept_longest = _surest_first(value, sure)
    best_first = value.sort(descending=True, nulls_last=True)
    flat = (N_RATES - 1) * _means(best_first).first()
    # Equal areas can differ slightly by rounding; the values themselves decide.
    return pl.when(value.min() < value.max()).then(ratio(_area(kept_longest) - flat, _area(best_first) - flat))


def _surest_first(value: pl.Expr, sure: pl.Expr) -> pl.Expr:
    """Values by falling confidence, ties by falling id; null confidences last."""
    rising = sure.sort(nulls_last=True)
    below = rising.shift()
    # Levels, since rounding could separate two neighbours.
    is_higher = (rising > below) & (rising - below > ROUNDED_TO * pl.min_horizontal(rising.abs(), below.abs()))
    # By two keys at once: two sorts in turn need not keep the order of the first.
    level = is_higher.fill_null(False).cum_sum().gather(sure.rank("ordinal") - 1)
    return value.sort_by(level, "query_id", descending=True, nulls_last=True)


def _area(values: pl.Expr) -> pl.Expr:
    """Area under the curve by trapezoids of width 1: all are equally wide, so that the width does not matter."""
    means = _means(values)
    return total(means) - (means.first() + means.last()) * 0.5


def _means(values: pl.Expr) -> pl.Expr:
    """Abstention curve: at each rate, the mean of the values left after the last ones are left out."""
    n_values = values.count().cast(pl.Int64)
    # MTEB's rates are multiples of 0.1, which is not quite a tenth, and halves are rounded accordingly.
    left_out = (pl.int_range(N_RATES) * 0.1 * n_values).round(mode="half_to_even").cast(pl.Int64)
    left = pl.max_horizontal(n_values - left_out, 1)
    return values.cum_sum().gather(left - 1) / left
