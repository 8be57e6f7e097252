"""When to give no answer: how sure a run is of each query, and what leaving out the unsure ones brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import polars as pl

from polars_ir.attributes import column_for, with_attributes
from polars_ir.checks import check_duplicates, guard, wrong_run_row
from polars_ir.conversion import give_back
from polars_ir.errors import ColumnError, DtypeError, explain_options
from polars_ir.judging import BAD_RUN
from polars_ir.naming import is_cost
from polars_ir.samples import ALL
from polars_ir.schema import find, run_table
from polars_ir.summary import measures_of
from polars_ir.vocabulary import ratio, total

#: How many points a curve has: none of the queries is left out, a tenth, up to nine.
N_RATES = 10

score = pl.col("score").cast(pl.Float64)


@overload
def confidence(run: pl.LazyFrame) -> pl.LazyFrame: ...
@overload
def confidence(run: Any) -> Any: ...
@explain_options
def confidence(run: Any) -> Any:
    """How sure a run is of its ranking, by the scores of each query: three of the simplest signals, which MTEB takes.

    Parameters
    ----------
    run
        A run in any form that `evaluate` takes; it needs scores, and no judgments.

    Returns
    -------
    The kind of the run
        `run` (if the run has several), the query column under its own name, and Float64 columns `max`, the highest
        score; `std`, the standard deviation of the scores (of all there are, not of a sample); `diff1`, the highest
        score less the second, 0 for a single document.

    Raises
    ------
    IRError
        For a run that `evaluate` would not take either, or one that has ranks alone.

    References
    ----------
    Gisserot-Boukhlef et al. 2024, https://arxiv.org/abs/2402.12997

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.confidence({"q": {"d1": 0.5, "d2": 1.0, "d3": 0.0}}).select("max", "diff1").row(0)
    (1.0, 0.5)
    """
    table = run_table(run)
    if find("run", "score", [table.names["score"]]) is None:
        raise ColumnError("run has ranks and no scores, which say nothing of how sure it is. Give it a 'score' column.")
    rows = table.select(*table.keys, "doc_id", "score")
    if table.eager:
        check_duplicates("run", rows.collect(engine="in-memory"), [*table.keys, "doc_id"], table.names)
    falling = score.sort(descending=True)
    mean = total(falling) / pl.len()
    of_query = rows.group_by(table.keys).agg(
        max=falling.first(),
        std=(total((falling - mean) ** 2) / pl.len()).sqrt(),
        diff1=(falling.first() - falling.slice(1, 1).first()).fill_null(0.0),
        n=pl.len(),
        wrong=wrong_run_row().any(),
    )
    sound = guard(of_query, "n", pl.col("wrong"), BAD_RUN).filter(pl.col("n") > 0)
    signals = sound.sort(table.keys).select(*table.keys, "max", "std", "diff1")
    return give_back(signals.rename({"query_id": table.names["query_id"]}), run)


@overload
def abstention(per_query: pl.LazyFrame, confidence: Any) -> pl.LazyFrame: ...
@overload
def abstention(per_query: pl.DataFrame, confidence: Any) -> pl.DataFrame: ...
@overload
def abstention(per_query: Any, confidence: Any) -> Any: ...
@explain_options
def abstention(per_query: Any, confidence: str | Sequence[str] | Any) -> Any:
    """How much better a measure becomes when the queries a system is unsure of get no answer: normalised area (nAUC).

    The least confident 0, 10, ... 90 percent of the queries are left out (rounded, half to even; one query always
    stays), and the measure is averaged over the others: the abstention curve. nAUC is the area between this curve and
    the flat one (no query left out), out of the area between the oracle's (the worst queries left out first) and the
    flat one: 1 for a confidence that knows the worst queries, 0 for one that knows nothing, below 0 for one that is
    wrong. Of queries with equal confidence those whose id is lower are left out first, so that the order of the rows
    does not matter; MTEB takes them in the order of its input, which is the same if that is sorted by id. Queries for
    which a measure is undefined (null) are not part of its curve. Measures whose best value is the lowest (`Hole`)
    count as worst where they are highest, if their names are in the catalogue.

    Parameters
    ----------
    per_query
        What `evaluate` returned.
    confidence
        The column of `per_query` that holds the confidence of each query, or a list of such columns; or a frame with a
        query column, `run` if it has values of several systems, and columns of confidences: what `confidence` returns.
        A frame without `run` holds for every system. Higher is surer.

    Returns
    -------
    The kind of per_query
        `run` (if there is one), `measure` and `confidence` (String), and `nAUC` (Float64); null where the oracle can
        not be better than the flat curve: all queries have the same value, or there is only one.

    Raises
    ------
    IRError
        For a query without a confidence, or with several; a confidence that is null, NaN or no number; a frame without
        a query column or a measure.

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
    table, numbers = measures_of(per_query)
    rows, names = with_attributes(table, confidence, "confidence")
    _check_numbers(rows.collect_schema(), names)
    own = isinstance(confidence, (str, list, tuple))
    measures = [name for name in numbers if not (own and name in names)]
    if not measures:
        raise ColumnError.no_measure([name for name in table.columns if name not in names])
    system = [key for key in table.keys if key == "run"]
    queries = rows.sort(table.keys).with_columns(pl.lit(True).alias(ALL)).group_by(*system, ALL, maintain_order=True)
    areas = [
        queries.agg(pl.lit(measure).alias("measure"), pl.lit(name).alias("confidence"), nAUC=_nauc(measure, name))
        for measure in measures
        for name in names
    ]
    return give_back(pl.concat(areas).select(*system, "measure", "confidence", "nAUC"), per_query)


def _check_numbers(schema: pl.Schema, names: Sequence[str]) -> None:
    for name in names:
        dtype = schema[column_for(name)]
        if not dtype.is_numeric():
            raise DtypeError.of_column("confidence", name, "numbers", dtype, f"Leave it out: .drop({name!r}).")


def _nauc(measure: str, name: str) -> pl.Expr:
    """The area between a curve and the flat one, as a share of the oracle's."""
    value = pl.col(measure).cast(pl.Float64)
    value = -value if is_cost(measure) else value
    sure = pl.when(value.is_not_null()).then(pl.col(column_for(name)))
    kept_longest = value.sort_by(sure, "query_id", descending=True, nulls_last=True)
    best_first = value.sort(descending=True, nulls_last=True)
    flat = (N_RATES - 1) * _means(best_first).first()
    # Two areas can be equal and, by rounding, a bit apart; the values themselves know.
    return pl.when(value.min() < value.max()).then(ratio(_area(kept_longest) - flat, _area(best_first) - flat))


def _area(values: pl.Expr) -> pl.Expr:
    """The area under the curve, by trapezoids as wide as 1: all are equally wide, so that it does not matter."""
    means = _means(values)
    return total(means) - (means.first() + means.last()) * 0.5


def _means(values: pl.Expr) -> pl.Expr:
    """The abstention curve: at each rate, the mean of the values that are left when the last are left out."""
    there = values.count().cast(pl.Int64)
    # MTEB's rates are multiples of 0.1, which is not quite a tenth, and halves are rounded accordingly.
    left_out = (pl.int_range(N_RATES) * 0.1 * there).round(mode="half_to_even").cast(pl.Int64)
    left = pl.max_horizontal(there - left_out, 1)
    return values.cum_sum().gather(left - 1) / left
