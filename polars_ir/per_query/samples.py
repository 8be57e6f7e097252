"""The queries that means are taken over: in one order, with their slices and their weights.

Conventions: queries are in the order of their ids, so that a mean over them is the same to the last bit whatever the
order of the rows. Values are finite numbers or null, which means undefined; weights are numbers from 0 on. A frame in
memory is checked at once, what is lazy by its plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, casting, renaming
from polars_ir.frames.checks import check_duplicates, guard
from polars_ir.frames.table import Table
from polars_ir.per_query.attributes import ROWS, column_for, with_attributes
from polars_ir.values import LARGEST

#: A key that all queries share, so that a mean over all of them is added up as one over a system's is.
ALL = "polars_ir: all"

#: Where the weights of queries are.
WEIGHT = "polars_ir: weight"


@dataclass(frozen=True)
class Sample:
    """The queries that a mean is taken over, in the order they are added up in.

    `slices` are the names their user gave; the rows have them where `column_for` says. `weight` is a column of the
    rows, if they have weights.
    """

    rows: pl.LazyFrame
    slices: Sequence[str]
    systems: Sequence[str]
    weight: str | None

    def groups(self) -> pl.lazyframe.group_by.LazyGroupBy:
        """The queries of each mean."""
        return self.rows.group_by(*map(column_for, self.slices), *self.systems, ALL, maintain_order=True)

    def named(self, means: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
        """These columns of means, behind what tells one from another; slices come in order, under their names."""
        columns = [*self.systems, *columns]
        check_names(self.slices, columns)
        slices = [column_for(name) for name in self.slices]
        ordered = means.sort(slices, maintain_order=True) if slices else means
        return ordered.select(*slices, *columns).rename(dict(zip(slices, self.slices, strict=True)))


def sample_of(table: Table, measures: Sequence[str], by: Any = None, weights: Any = None) -> Sample:
    """The queries of a per-query frame, with what is given of their slices and weights."""
    table = _each_once(table)
    rows, weight = table.all_columns(), None
    slices: list[str] = []
    if table.eager:
        check_numbers(rows.collect(), measures, table)
    if by is not None:
        rows, slices = with_attributes(table, by, "by")
    if weights is not None:
        rows = rows.join(_weights(table, weights), on=table.keys, how="left", maintain_order="left")
        weight = WEIGHT
    ordered = rows.sort(*map(column_for, slices), *table.keys).with_columns(pl.lit(1, pl.UInt32).alias(ALL))
    if not table.eager:
        wrong = [_is_wrong(measure) for measure in measures if table.dtypes[measure].is_float()]
        ordered = guard(ordered, pl.any_horizontal(wrong), "a measure is NaN or infinite") if wrong else ordered
    return Sample(ordered, slices, [key for key in table.keys if key == "run"], weight)


def _each_once(table: Table) -> Table:
    """The table, in which no query of a system may be twice, as it would count twice; a plan is checked by itself."""
    if table.eager:
        check_duplicates("per_query", table.select(*table.keys).collect(engine="in-memory"), table.keys, table.names)
        return table
    rows = table.all_columns().with_columns(pl.len().over(table.keys).alias(ROWS))
    checked = guard(rows, pl.col(ROWS) > 1, "per_query has several rows for a query; give each query one")
    return table.made_of(checked.drop(ROWS))


def named_in(*options: Any) -> list[str]:
    """The columns of per_query that are named as slices or weights, and are no measures then."""
    lists = [[option] if isinstance(option, str) else option for option in options]
    return [name for names in lists if isinstance(names, (list, tuple)) for name in names]


def check_names(slices: Iterable[str], columns: Iterable[str]) -> None:
    """Raise a `ColumnError` for a column of slices that is called like another one of the result."""
    if clash := set(slices).intersection(columns):
        raise ColumnError(
            f"a column of slices may not be called {min(clash)!r}, like one of the result.",
            fix=Fix("Rename it", renaming("", {min(clash): f"my_{min(clash)}"})),
        )


def check_numbers(rows: pl.DataFrame, measures: Iterable[str], table: Table) -> None:
    """Raise a `DataError` for a measure whose value is NaN or infinite."""
    for measure in measures:
        if rows.schema[measure].is_float() and (bad := rows.filter(_is_wrong(measure))).height:
            shown = bad.select(*(pl.col(key).alias(table.names[key]) for key in table.keys), measure)
            remedy = "Leave the queries out, or make the values null, which means undefined."
            problem = f"whose {measure!r} is NaN or infinite, or beyond {LARGEST:g}"
            raise DataError.rows("per_query", problem, remedy, bad.height, shown)


def _is_wrong(measure: str) -> pl.Expr:
    """Whether a value is none that sums of squares can be made of."""
    return ~pl.col(measure).is_finite() | (pl.col(measure).abs() > LARGEST)


def _cast(weights: Any, name: str) -> Code:
    """Code that makes numbers of weights, which are a column of per_query or a frame."""
    return casting("per_query" if isinstance(weights, (str, list, tuple)) else "weights", name, pl.Float64)


def _weights(table: Table, weights: Any) -> pl.LazyFrame:
    """The weight of every query, by its keys."""
    rows, names = with_attributes(table, weights, "weights")
    if len(names) > 1:
        raise ColumnError(f"must be one column; got {', '.join(map(repr, names))}.", about="weights")
    (name,) = names
    dtype = rows.collect_schema()[column_for(name)]
    if not dtype.is_numeric():
        raise DtypeError.of_column("weights", name, "numbers", dtype, Fix("Cast it", _cast(weights, name)))
    weighted = rows.select(*table.keys, pl.col(column_for(name)).cast(pl.Float64).alias(WEIGHT))
    wrong = ~pl.col(WEIGHT).is_between(0, LARGEST)
    if not table.eager:
        return guard(weighted, wrong, f"a weight is below 0 or beyond {LARGEST:g}")
    frame = weighted.collect()
    if (bad := frame.filter(wrong)).height:
        shown = bad.select(*(pl.col(key).alias(table.names[key]) for key in table.keys), pl.col(WEIGHT).alias(name))
        remedy = "Weights are numbers from 0 on; 0 leaves a query out."
        raise DataError.rows("per_query", f"whose weight is below 0 or beyond {LARGEST:g}", remedy, bad.height, shown)
    if frame.height and not frame[WEIGHT].max():
        raise DataError(f"must not all be 0; {name!r} is 0 for all {frame.height} rows of per_query.", about="weights")
    return frame.lazy()
