"""The weight of each run, or of each run and query: numbers, a table, or an expression over its lists.

Conventions: weights are 0 or more, and not all of them 0, and name runs that are fused, all of them. What all queries
have in common is checked at once; a weight by query is checked by the plan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DtypeError, Fix, OptionError, check_systems, quoted
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import is_pandas, to_polars
from polars_ir.frames.roles import required
from polars_ir.frames.rules import guard
from polars_ir.fusion.inputs import LIST
from polars_ir.fusion.methods import Method
from polars_ir.language.options import is_number
from polars_ir.runs.norms import check_over_list, with_counts
from polars_ir.runs.rankings import of_known_systems

BAD_WEIGHTS = "weights must be 0 or more, not all 0 for a query, and one for each run and query"


def check_reads_weights(method: Method) -> None:
    """Raise an `OptionError` for weights that a method would ignore."""
    if not method.reads_weights:
        says = f"are ignored by the method {method.name!r} (in this dialect)."
        raise OptionError(says, about="weights", fix="Leave them out, or take another method")


def weighted(rows: pl.LazyFrame, weights: Any, run: CanonicalFrame) -> pl.LazyFrame:
    """Ranked rows with the `weight` of their run."""
    if weights is None:
        return rows.with_columns(weight=1.0)
    if isinstance(weights, pl.Expr):
        # In the order of the ranking, so that a sum is the same whatever the order of the rows.
        value = weights.cast(pl.Float64).over(LIST, order_by="rank")
        rows = with_counts(rows, weights.meta.root_names(), LIST)
        check_over_list("weights", weights, rows)
        return _guarded(rows.with_columns(weight=value))
    if is_numbers(weights):
        numbers = by_system(weights, run)
        rows = of_known_systems(rows, "weights", numbers, run)
        rows = rows.with_columns(weight=pl.col("run").replace_strict(numbers, return_dtype=pl.Float64, default=None))
        # Of a LazyFrame of several runs the plan alone knows the names.
        return rows if run.systems is not None else guard(rows, pl.col("weight").is_null(), BAD_WEIGHTS)
    return _guarded(rows.join(by_query(weights, run), on=LIST, how="left"))


def all_weights(rows: pl.LazyFrame, weights: Any, run: CanonicalFrame) -> pl.Expr | pl.LazyFrame:
    """The sum of the weights of all runs: one number, or one by query."""
    if is_numbers(weights):
        return pl.lit(math.fsum(by_system(weights, run).values()))
    if weights is None and run.systems is not None:
        return pl.lit(float(len(run.systems)))
    lists = rows.select(*LIST, "weight").unique(LIST)
    if weights is None:
        return lists.select(all_weights=pl.col("run").n_unique().cast(pl.Float64))
    return lists.group_by("query_id").agg(all_weights=pl.col("weight").sort().cum_sum().last())


def is_numbers(weights: Any) -> bool:
    """True for weights by system: a dict, or a sequence in run order."""
    return isinstance(weights, (Mapping, Sequence)) and not isinstance(weights, str)


def by_system(weights: Any, run: CanonicalFrame) -> dict[str, float]:
    """Weights as a dict by system, checked; a list is in the order of the mapping, or of the systems' first rows."""
    systems = run.systems
    if not isinstance(weights, Mapping):
        named = all(make["run"].meta.is_literal(allow_aliasing=True) for _, make in run.sources)
        if not named and systems is None:
            fix = Fix("Give them by name", Code("weights={'bm25': 2, 'dense': 1}"))
            raise OptionError("have no order in a LazyFrame of several systems.", about="weights", fix=fix)
        order = list(systems or ())
        if not named:
            order = run.select("run").unique(maintain_order=True).collect()["run"].cast(pl.String).to_list()
        if len(weights) != len(order):
            says = f"must be as many as runs; got {len(weights)} for the {len(order)} runs {quoted(order)}."
            raise OptionError(says, about="weights")
        weights = dict(zip(order, weights, strict=True))
    numbers = {str(system): weight for system, weight in weights.items()}
    if systems is not None:
        check_systems("weights", numbers, systems)
        if lacking := [system for system in systems if system not in numbers]:
            says = f"must be as many as runs; got none for {quoted(lacking)}."
            raise OptionError(says, about="weights")
    for system, weight in numbers.items():
        if not is_number(weight) or weight < 0:
            raise OptionError(f"must be numbers of 0 or more; got {weight!r} for {system!r}.", about="weights")
    if not any(numbers.values()):
        raise OptionError(f"must not all be 0; got {weights!r}.", about="weights")
    return {system: float(weight) for system, weight in numbers.items()}


def by_query(weights: Any, run: CanonicalFrame) -> pl.LazyFrame:
    """A table of weights with canonical columns, ids of the run's type; one in memory must name runs alone."""
    if not (isinstance(weights, (pl.DataFrame, pl.LazyFrame)) or is_pandas(weights)):
        says = f"must be numbers, a dict by system, a table (query_id, run, weight) or an expression; got {weights!r}."
        raise OptionError(says, about="weights")
    frame = to_polars("weights", weights, column="weight").lazy()
    schema = frame.collect_schema()
    names = {role: required("weights", role, schema.names()) for role in LIST}
    if "weight" not in schema:
        others = [name for name in schema if name not in names.values()]
        raise ColumnError.missing("weights", "weight", ["weight"], schema.names(), others)
    if not schema["weight"].is_numeric():
        raise DtypeError.of_column("weights", "weight", "numbers", schema["weight"], _cast("weight", pl.Float64()))
    query = names["query_id"]
    if schema[query].is_integer() != run.dtypes["query_id"].is_integer():
        wanted = f"{run.dtypes['query_id']}, as in the runs"
        raise DtypeError.of_column("weights", query, wanted, schema[query], _cast(query, run.dtypes["query_id"]))
    table = frame.select(
        pl.col(names["run"]).cast(pl.String).alias("run"),
        pl.col(query).cast(run.dtypes["query_id"]).alias("query_id"),
        weight=pl.col("weight").cast(pl.Float64),
    )
    if run.systems is not None and not isinstance(weights, pl.LazyFrame):
        check_systems("weights", table.select(pl.col("run").drop_nulls().unique().sort()).collect()["run"], run.systems)
    # Two weights of one run and query are an error of the plan.
    return table.unique(LIST, keep="none")


def _cast(column: str, dtype: pl.DataType) -> Fix:
    kind = pl.Float64 if dtype.is_float() else pl.Int64 if dtype.is_integer() else pl.String
    return Fix("Cast it", Code.casting("weights", column, kind))


def _guarded(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows; collecting them fails for unusable weights."""
    weight = pl.col("weight")
    wrong = weight.is_null() | ~weight.is_finite() | (weight < 0) | (weight.max().over("query_id") <= 0)
    return guard(rows, wrong.fill_null(True), BAD_WEIGHTS)
