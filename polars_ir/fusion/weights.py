"""The weight of each run, or of each run and query: numbers, a table, or an expression over its lists.

Conventions: weights are 0 or more, and not all of them 0, and name runs that are fused, all of them. What all queries
have in common is checked at once; a weight by query is checked by the plan.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, OptionError, casting, nearest, quoted
from polars_ir.frames.checks import guard
from polars_ir.frames.columns import ROLES, find
from polars_ir.frames.foreign import is_pandas
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.table import Table
from polars_ir.fusion.combining import LIST
from polars_ir.runs.norms import check_over_list, with_counts
from polars_ir.values import is_number

BAD_WEIGHTS = "weights must be 0 or more, not all 0 for a query, and one for each run and query"


def weighted(rows: pl.LazyFrame, weights: Any, systems: Sequence[str] | None, run: Table) -> pl.LazyFrame:
    """Ranked rows with the `weight` of their run."""
    if weights is None:
        return rows.with_columns(weight=1.0)
    if isinstance(weights, pl.Expr):
        # In the order of the ranking, so that a sum is the same whatever the order of the rows.
        value = weights.cast(pl.Float64).over(LIST, order_by="rank")
        rows = with_counts(rows, weights, LIST)
        check_over_list("weights", weights, rows)
        return _guarded(rows.with_columns(weight=value))
    if is_numbers(weights):
        numbers = by_system(weights, systems)
        rows = rows.with_columns(weight=pl.col("run").replace_strict(numbers, return_dtype=pl.Float64, default=None))
        # Of a LazyFrame of several runs the plan alone knows the names.
        return rows if systems is not None else guard(rows, pl.col("weight").is_null(), BAD_WEIGHTS)
    return _guarded(rows.join(_by_query(weights, run, systems), on=LIST, how="left"))


def all_weights(rows: pl.LazyFrame, weights: Any, systems: Sequence[str] | None) -> pl.Expr | pl.LazyFrame:
    """The sum of the weights of all runs: one number, or one by query."""
    if systems is not None and (weights is None or is_numbers(weights)):
        numbers = [1.0] * len(systems) if weights is None else by_system(weights, systems).values()
        return pl.lit(math.fsum(numbers))
    lists = rows.select(*LIST, "weight").unique(LIST)
    if weights is None:
        return lists.select(all_weights=pl.col("run").n_unique().cast(pl.Float64))
    return lists.group_by("query_id").agg(all_weights=pl.col("weight").sort().cum_sum().last())


def is_numbers(weights: Any) -> bool:
    """Whether weights are numbers by system: a dict, or a sequence in the order of the runs."""
    return isinstance(weights, (Mapping, Sequence)) and not isinstance(weights, str)


def by_system(weights: Any, systems: Sequence[str] | None) -> dict[str, float]:
    """Weights as a dict by system, checked."""
    if not isinstance(weights, Mapping):
        if systems is None:
            fix = Fix("Give them by name", Code("weights={'bm25': 2, 'dense': 1}"))
            raise OptionError("are in no order for a LazyFrame of several systems.", about="weights", fix=fix)
        if len(weights) != len(systems):
            says = f"must be as many as runs; got {len(weights)} for the {len(systems)} runs {quoted(systems)}."
            raise OptionError(says, about="weights")
        weights = dict(zip(systems, weights, strict=True))
    numbers = {str(system): weight for system, weight in weights.items()}
    if systems is not None:
        _check_known(numbers, systems)
        if lacking := [system for system in systems if system not in numbers]:
            says = f"must be as many as runs; there is none for {quoted(lacking)}."
            raise OptionError(says, about="weights")
    for system, weight in numbers.items():
        if not is_number(weight) or weight < 0:
            raise OptionError(f"must be numbers of 0 or more; got {weight!r} for {system!r}.", about="weights")
    if not any(numbers.values()):
        raise OptionError(f"must not all be 0; got {weights!r}.", about="weights")
    return {system: float(weight) for system, weight in numbers.items()}


def _check_known(named: Iterable[str], systems: Sequence[str]) -> None:
    """Raise an `OptionError` for weights of what is no run, which is most probably misspelt."""
    if unknown := [system for system in named if system not in systems]:
        says = f"name {unknown[0]!r}, which is no run; the runs are {quoted(systems)}."
        raise OptionError(says, about="weights", near=nearest(unknown[0], systems))


def _by_query(weights: Any, run: Table, systems: Sequence[str] | None) -> pl.LazyFrame:
    """A table of weights with canonical columns, ids of the run's type; one in memory must name runs alone."""
    if not (isinstance(weights, (pl.DataFrame, pl.LazyFrame)) or is_pandas(weights)):
        says = f"must be numbers, a dict by system, a table (query_id, run, weight) or an expression; got {weights!r}."
        raise OptionError(says, about="weights")
    frame = to_polars("weights", weights, column="weight").lazy()
    schema = frame.collect_schema()
    names = {role: find("weights", role, schema.names()) for role in LIST}
    for role, name in (*names.items(), ("weight", "weight" if "weight" in schema else None)):
        if name is None:
            spare = [column for column in schema.names() if column not in (*names.values(), "weight")]
            raise ColumnError.missing("weights", role, ROLES.get(role, (role,)), schema.names(), spare)
    if not schema["weight"].is_numeric():
        raise DtypeError.of_column("weights", "weight", "numbers", schema["weight"], _cast("weight", pl.Float64()))
    query = str(names["query_id"])
    same = schema[query].is_integer() == run.dtypes["query_id"].is_integer()
    if not same:
        wanted = f"{run.dtypes['query_id']}, as in the runs"
        raise DtypeError.of_column("weights", query, wanted, schema[query], _cast(query, run.dtypes["query_id"]))
    table = frame.select(
        pl.col(str(names["run"])).cast(pl.String).alias("run"),
        pl.col(query).cast(run.dtypes["query_id"]).alias("query_id"),
        weight=pl.col("weight").cast(pl.Float64),
    )
    if systems is not None and not isinstance(weights, pl.LazyFrame):
        _check_known(table.select(pl.col("run").drop_nulls().unique().sort()).collect()["run"], systems)
    # A run and query with two weights has none, and the plan says so.
    return table.unique(LIST, keep="none")


def _cast(column: str, dtype: pl.DataType) -> Fix:
    """How to cast a column of a table of weights."""
    kind = pl.Float64 if dtype.is_float() else pl.Int64 if dtype.is_integer() else pl.String
    return Fix("Cast it", casting("weights", column, kind))


def _guarded(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows, whose plan fails for weights that can not be used."""
    weight = pl.col("weight")
    wrong = weight.is_null() | ~weight.is_finite() | (weight < 0) | (weight.max().over("query_id") <= 0)
    return guard(rows, wrong.fill_null(True), BAD_WEIGHTS)
