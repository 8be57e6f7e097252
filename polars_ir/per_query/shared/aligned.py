"""The queries of a per-query frame: checked, in one order, with their slices and weights, and systems side by side.

Conventions: queries are in the order of their ids, so that a mean over them is the same to the last bit whatever the
order of the rows. Values are finite numbers or null, which means undefined; weights are numbers from 0 on. A frame in
memory is checked at once, what is lazy by its plan. A query that one system lacks counts as 0 for it (`missing="zero"`)
or is left out of what that system is part of (`"skip"`), as in `evaluate`; a pair with an undefined value is left out,
and where only one of two systems has no value, the note of their row counts such queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from polars_ir.errors import (
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    InputTypeError,
    OptionError,
    casting,
    renaming,
    without_nulls,
)
from polars_ir.frames.kinds import aligned_series
from polars_ir.frames.rules import Rule
from polars_ir.frames.table import Table, per_query_table
from polars_ir.language.options import LARGEST, check
from polars_ir.per_query.shared.attributes import column_for, with_attributes
from polars_ir.per_query.shared.measures import Measures, measures_of, warn_of_attributes
from polars_ir.per_query.shared.options import MISSING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_ir.statistics.randomisation import Floats

    Booleans = NDArray[np.bool_]

#: A key that all queries share, so that a mean over all of them is added up as one over a system's is.
ALL = "polars_ir: all"

#: The columns of weights, of the values of all measures below each other, and of answered queries.
WEIGHT, VALUE, ANSWERED = "polars_ir: weight", "polars_ir: value", "polars_ir: answered"

#: The queries of systems, by their names; one without a name is alone.
Systems = list[tuple[str | None, pl.DataFrame]]


@dataclass(frozen=True)
class Aligned:
    """The queries of a per-query frame, in the order they are added up in, with their attributes.

    `slices` are the attributes' names as their user gave them; the rows have them where `column_for` says. `systems`
    are the columns that distinguish rows of a query, and `weight` is that of the weights, if there are any.
    """

    table: Table
    measures: Sequence[str]
    rows: pl.LazyFrame
    systems: Sequence[str]
    slices: Sequence[str] = ()
    weight: str | None = None

    def groups(self) -> pl.lazyframe.group_by.LazyGroupBy:
        """The queries of each mean."""
        return self.rows.group_by(*map(column_for, self.slices), *self.systems, ALL, maintain_order=True)

    def below_each_other(self, measures: Sequence[str]) -> Aligned:
        """The values of the measures in one column, and their names in another that distinguishes means."""
        keys = [*map(column_for, self.slices), *self.systems, ALL, *([self.weight] if self.weight else [])]
        rows = self.rows.select(*keys, pl.col(measures).cast(pl.Float64))
        # A measure may itself be called `measure`.
        name = "polars_ir: measure"
        long = rows.unpivot(measures, index=keys, variable_name=name, value_name=VALUE).rename({name: "measure"})
        return replace(self, rows=long, systems=[*self.systems, "measure"])

    def named(self, means: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
        """These columns of means, behind their keys; slices come in order, under their names."""
        columns = [*self.systems, *columns]
        if not self.slices:
            return means.select(columns)
        check_names(self.slices, columns)
        slices = dict(zip(map(column_for, self.slices), self.slices, strict=True))
        return means.sort(*slices, maintain_order=True).select(*slices, *columns).rename(slices)

    def each_system(self, per_query: Any) -> Systems:
        """The queries of each system, in the order of their ids."""
        frame = self.rows.sort("query_id").collect()
        if "run" not in frame.columns:
            return [(None, frame)]
        frame = frame.with_columns(pl.col("run").cast(pl.String))
        # The systems have the order in which they came.
        systems = systems_of(per_query, self.table.select("run").collect())
        return [(system, frame.filter(pl.col("run") == system)) for system in systems]


def aligned(
    per_query: Any,
    measures: Measures = None,
    *,
    by: Any = None,
    weights: Any = None,
    needs: str | None = None,
    what: str | None = None,
    several: bool = False,
) -> Aligned:
    """The queries of a per-query frame, with weights, and sliced by attributes; `needs` names these where it has to be.

    `what` is a function that needs the rows in memory, and some of them, for messages; it may need `several` systems.
    """
    named = () if weights is None and by is None else _named_in(weights, by)
    table = per_query_table(per_query)
    names = measures_of(table, measures, without=named)
    if what and not table.eager:
        raise InputTypeError.lazy(what)
    if what and several and "run" not in table.dtypes:
        raise ColumnError.one_system(what, table.columns)
    if what and not table.rows:
        raise DataError("has no row, and so no queries to compare; it must have some.", about="per_query")
    rows = table.checked(*_rules(table, names))
    table.check_once(*table.keys)
    weight: str | None = None
    slices: list[str] = []
    if weights is not None:
        rows, weight = _with_weights(table, rows, aligned_series("weights", weights, per_query)), WEIGHT
    if by is not None or needs:
        rows, slices = with_attributes(table, rows, aligned_series(needs or "by", by, per_query), needs or "by")
        # -0.0 is 0.0, and so in one slice with it.
        value = cs.by_name(*map(column_for, slices)) & cs.float()
        rows = rows.with_columns(pl.when(value == 0).then(value.abs()).otherwise(value))
    ordered = rows.sort(*map(column_for, slices), *table.keys).with_columns(pl.lit(1, pl.UInt32).alias(ALL))
    return Aligned(table, names, ordered, list(filter("query_id".__ne__, table.keys)), slices, weight)


def _named_in(*options: Any) -> list[str]:
    """The columns of per_query that are named as slices or weights, and are no measures then."""
    lists = [[option] if isinstance(option, str) else option for option in options]
    return [name for names in lists if isinstance(names, (list, tuple)) for name in names]


def _rules(table: Table, measures: Iterable[str]) -> Iterator[Rule]:
    """The rules of rows: ids, values that sums of squares can be made of, and, in a plan, one row for each ranking."""
    for key in table.keys:
        fix = Fix("Leave them out", without_nulls("per_query", table.names[key]))
        yield Rule(pl.col(key).is_null(), f"whose {table.names[key]!r} is null", fix)
    advice = "Leave the queries out, or make the values null, which means undefined."
    says = f"is NaN or infinite, or beyond {LARGEST:g}"
    wrong = []
    for name in measures:
        if table.dtypes[name].is_float():
            wrong.append(~pl.col(name).is_finite() | (pl.col(name).abs() > LARGEST))
            if table.eager:
                yield Rule(wrong[-1], f"whose {name!r} {says}", advice)
    if not table.eager:
        # One rule for all measures, as each has a column of the plan.
        if wrong:
            yield Rule(pl.any_horizontal(wrong), f"with a measure that {says}", advice)
        yield table.once()


def _with_weights(table: Table, rows: pl.LazyFrame, weights: Any) -> pl.LazyFrame:
    """The rows with the weight of every query."""
    rows, (name, *others) = with_attributes(table, rows, weights, "weights")
    if others:
        raise ColumnError(f"must be one column; got {', '.join(map(repr, [name, *others]))}.", about="weights")
    weight = pl.col(column_for(name))
    dtype = rows.select(weight).collect_schema().dtypes()[0]
    if not dtype.is_numeric():
        holder = "per_query" if isinstance(weights, (str, list, tuple)) else "weights"
        remedy = Fix("Cast it", casting(holder, name, pl.Float64))
        raise DtypeError.of_column("weights", name, "numbers", dtype, remedy)
    rule = Rule(
        ~pl.col(WEIGHT).is_between(0, LARGEST),
        f"whose weight is below 0 or beyond {LARGEST:g}",
        "Weights are numbers from 0 on; 0 leaves a query out.",
    )
    rows = rows.with_columns(weight.cast(pl.Float64).alias(WEIGHT)).drop(column_for(name))
    rows = table.checked(rule, rows=rows, names={WEIGHT: name})
    if table.rows and not rows.select(pl.col(WEIGHT).max()).collect().item():
        raise DataError(f"must not all be 0; {name!r} is 0 for all {table.rows} rows of per_query.", about="weights")
    return rows


def check_names(slices: Iterable[str], columns: Iterable[str]) -> None:
    """Raise a `ColumnError` for a column of slices that is called like another one of the result."""
    if clash := set(slices).intersection(columns):
        raise ColumnError(
            f"a column of slices may not be called {min(clash)!r}, like one of the result.",
            fix=Fix("Rename it", renaming("", {min(clash): f"my_{min(clash)}"})),
        )


@dataclass(frozen=True)
class Scores:
    """The values of several systems on the same queries, as arrays.

    `values` holds an array per measure with a row per query and a column per system; NaN where there is no value.
    `answered` is true, in the same shape, where the system had a row for the query at all. `queries` has the query's
    id, under the name it came with, and the columns of `slices`.
    """

    systems: tuple[str, ...]
    queries: pl.DataFrame
    values: Mapping[str, Floats]
    answered: Booleans
    slices: tuple[str, ...] = ()

    def each_slice(self) -> Iterator[tuple[dict[str, Any], Scores]]:
        """The values that name a slice, and the scores of its queries; without slices, everything at once."""
        if not self.slices:
            yield {}, self
            return
        rows = self.queries.with_row_index("polars_ir: row").group_by(self.slices, maintain_order=True)
        slices = rows.agg("polars_ir: row").sort(self.slices, nulls_last=True)
        for *names, places in slices.iter_rows():
            values = {measure: array[places] for measure, array in self.values.items()}
            part = Scores(self.systems, self.queries[places], values, self.answered[places])
            yield dict(zip(self.slices, names, strict=True)), part

    def index(self, system: object, option: str = "baseline") -> int:
        """The column of a system; an error that names the nearest ones where there is none of that name."""
        if str(system) not in self.systems:
            raise OptionError.not_a_system(option, str(system), self.systems)
        return self.systems.index(str(system))

    def examples(self, systems: Iterable[int]) -> str:
        """Some queries that each of these systems answered, for a message."""
        ids = self.queries.to_series()
        first = [(self.systems[i], ids.filter(pl.Series(self.answered[:, i])).head(3)) for i in systems]
        return "; ".join(f"{system!r} has {', '.join(map(repr, queries))}" for system, queries in first)

    def n_missing(self, pair: tuple[int, int]) -> int:
        """The number of queries that only one of two systems answered."""
        return int((self.answered[:, pair[0]] != self.answered[:, pair[1]]).sum())

    def undefined(self, measure: str, pair: tuple[int, int]) -> list[str]:
        """The notes on queries that two systems answered, and only one of them has a value for."""
        import numpy as np

        answered = self.answered[:, pair].all(axis=1)
        lacking = np.isnan(self.values[measure][:, pair])[answered]
        notes = []
        for place, system in enumerate(pair if lacking.any() else ()):
            if lacking[:, place].all():
                notes.append(f"{self.systems[system]!r} has no value of {measure!r}")
            elif n := int((lacking[:, place] & ~lacking[:, 1 - place]).sum()):
                notes.append(f"undefined for {self.systems[system]!r} only: {n}, left out")
        return notes

    def pairs(self, baseline: str | None, what: str) -> list[tuple[int, int]]:
        """The columns of (system, baseline) to compare: every other one with the baseline, or each with each.

        A `DataError` if the systems of no pair, for a function named in the message, answered two of the same queries.
        """
        if baseline is None:
            pairs = [(system, against) for against, system in combinations(range(len(self.systems)), 2)]
        else:
            against = self.index(baseline)
            pairs = [(system, against) for system in range(len(self.systems)) if system != against]
        for pair in pairs:
            if self.answered[:, pair].all(axis=1).sum() > 1:
                return pairs
        raise DataError(
            f"{what} needs two queries or more that both systems of a pair answered; "
            f"{self.examples(pairs[0])}. Evaluate the systems on the same queries, and write their ids alike."
        )


def scores_of(per_query: Any, measures: Measures, options: Mapping[str, Any], *, by: Any = None, what: str) -> Scores:
    """The scores of the systems of a per-query frame, by the options of a function that is named in messages."""
    import numpy as np

    missing = check("missing", options["missing"], MISSING)
    of = aligned(per_query, measures, by=by, what=what, several=True)
    if measures is None:
        warn_of_attributes(of.table, of.measures)
    systems = systems_of(per_query, of.table.select("run").collect())
    if len(systems) < 2:
        raise ColumnError.one_system(what, of.table.columns, systems)
    rows = of.rows.with_columns(pl.col("run").cast(pl.String)).collect()
    queries = _queries(rows, of.slices, of.table.names["query_id"])
    grid = queries.select("query_id").join(pl.DataFrame({"run": systems}), how="cross")
    answered = rows.select("run", "query_id", *of.measures, pl.lit(True).alias(ANSWERED))
    grid = grid.join(answered, on=["run", "query_id"], how="left", maintain_order="left")
    is_answered, undefined = pl.col(ANSWERED).fill_null(False), float("nan")
    value = pl.col(of.measures).cast(pl.Float64).fill_null(undefined)
    values = grid.select(pl.when(is_answered).then(value).otherwise(0.0 if missing == "zero" else undefined))
    shape = (queries.height, len(systems))
    return Scores(
        tuple(systems),
        queries.rename({"query_id": of.table.names["query_id"]}),
        {name: np.reshape(values[name].to_numpy(), shape) for name in of.measures},
        np.reshape(grid.select(is_answered).to_series().to_numpy(), shape),
        tuple(of.slices),
    )


def _queries(rows: pl.DataFrame, slices: Sequence[str], name: str) -> pl.DataFrame:
    """Every query with its slice; an error for one that is in several."""
    sliced = rows.select("query_id", *(pl.col(column_for(column)).alias(column) for column in slices)).unique()
    several = sliced.filter(pl.col("query_id").is_duplicated()).sort("query_id")
    if several.height:
        remedy = "A query must be in the same slice for every system."
        shown = several.rename({"query_id": name} if name not in slices else {})
        raise DataError.rows("per_query", "of queries in several slices", remedy, several.height, shown)
    return sliced.sort("query_id")


def systems_of(per_query: Any, rows: pl.DataFrame) -> list[str]:
    """The names of the systems: sorted or, if they came in a dict, which somebody put in order, in its order."""
    systems = rows["run"].cast(pl.String).unique(maintain_order=True).to_list()
    return systems if isinstance(per_query, Mapping) else sorted(systems)
