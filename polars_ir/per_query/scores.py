"""Systems side by side: what each of them scored on the same queries, aligned by the queries' ids.

Conventions: a query that one system lacks counts as 0 for it (`missing="zero"`) or is left out of what that system is
part of (`"skip"`), as in `evaluate`. A null is a query for which a measure is undefined; the pair is left out,
and where only one of two systems has no value, the note of their row counts such queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.errors import ColumnError, DataError, Fix, InputTypeError, OptionError, nearest, without_nulls
from polars_ir.frames.checks import check_duplicates
from polars_ir.frames.table import Table
from polars_ir.per_query.attributes import column_for, with_attributes
from polars_ir.per_query.caveats import warn_of_attributes
from polars_ir.per_query.columns import Measures, measures_of
from polars_ir.per_query.options import MISSING
from polars_ir.per_query.samples import check_numbers
from polars_ir.values import check, one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Booleans = NDArray[np.bool_]


#: A column that tells whether a system answered a query.
ANSWERED = "polars_ir: answered"


@dataclass(frozen=True)
class Scores:
    """What several systems scored on the same queries.

    `values` holds an array per measure with a row per query and a column per system; NaN where there is no value.
    `answered` tells, in the same shape, whether the system had a row for the query at all. `queries` has the query's
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
        name = str(system)
        if name not in self.systems:
            names = ", ".join(map(repr, self.systems))
            raise OptionError(
                f"must be one of the systems, {names}; got {system!r}.{nearest(name, self.systems)}", about=option
            )
        return self.systems.index(name)

    def examples(self, systems: Iterable[int]) -> str:
        """Some queries that each of these systems answered, for a message."""
        ids = self.queries.to_series()
        first = [(self.systems[i], ids.filter(pl.Series(self.answered[:, i])).head(3)) for i in systems]
        return "; ".join(f"{system!r} has {', '.join(map(repr, queries))}" for system, queries in first)

    def check_common(self, pairs: Sequence[tuple[int, int]], what: str) -> None:
        """Raise a `DataError` if no two systems that are to be compared answered two of the same queries."""
        if any(self.answered[:, pair].all(axis=1).sum() > 1 for pair in pairs):
            return
        raise DataError(
            f"{what} needs two queries or more that both systems of a pair answered; "
            f"{self.examples(pairs[0])}. Evaluate the systems on the same queries, and write their ids alike."
        )

    def n_missing(self, pair: tuple[int, int]) -> int:
        """How many queries only one of two systems answered."""
        return int((self.answered[:, pair[0]] != self.answered[:, pair[1]]).sum())

    def undefined(self, measure: str, pair: tuple[int, int]) -> list[str]:
        """What there is to say of queries that two systems answered, and only one of them has a value for."""
        import numpy as np

        answered = self.answered[:, pair].all(axis=1)
        lacking = np.isnan(self.values[measure][answered][:, pair])
        notes = []
        for place, system in enumerate(pair):
            if len(lacking) and lacking[:, place].all():
                notes.append(f"{self.systems[system]!r} has no value of {measure!r}")
            elif n := int((lacking[:, place] & ~lacking[:, 1 - place]).sum()):
                notes.append(f"undefined for {self.systems[system]!r} only: {n}, left out")
        return notes

    def pairs(self, baseline: str | None) -> list[tuple[int, int]]:
        """The columns of (system, baseline) to compare: every other one with the baseline, or each with each."""
        columns = range(len(self.systems))
        if baseline is not None:
            against = self.index(baseline)
            return [(column, against) for column in columns if column != against]
        return [(column, other) for other in columns for column in columns if other < column]


def scores_of(
    per_query: Any,
    measures: Measures = None,
    *,
    missing: str = "zero",
    by: Any = None,
    what: str,
) -> Scores:
    """The scores of the systems of a per-query frame; `what` is the function that asks, for messages."""
    check("missing", missing, one_of(*MISSING))
    table, names = measures_of(per_query, measures, without=[by] if isinstance(by, str) else by)
    if not table.eager:
        raise InputTypeError.lazy(what)
    if measures is None:
        warn_of_attributes(table, names)
    if "run" not in table.dtypes:
        raise ColumnError.one_system(what, table.columns)
    rows = table.all_columns().with_columns(pl.col("run").cast(pl.String)).collect()
    check_ids(rows, table)
    check_duplicates("per_query", rows, table.keys, table.names)
    slices: list[str] = []
    queries = rows.select(pl.col("query_id").unique().sort())
    if by is not None:
        attributed, slices = with_attributes(table, by, "by")
        queries = _queries(attributed.collect(), slices, table.names["query_id"])
    check_numbers(rows, names, table)
    systems = systems_of(per_query, rows)
    if len(systems) < 2:
        raise ColumnError.one_system(what, table.columns, systems)
    values = _grid(rows, queries, systems, names)
    shape = (queries.height, len(systems))
    counted = pl.lit(True) if missing == "zero" else pl.col(ANSWERED)
    of_names = values.select(pl.when(counted).then(pl.col(name)).fill_null(float("nan")).alias(name) for name in names)
    return Scores(
        tuple(systems),
        queries.rename({"query_id": table.names["query_id"]}),
        {name: of_names[name].to_numpy().reshape(shape) for name in names},
        values[ANSWERED].to_numpy().reshape(shape),
        tuple(slices),
    )


def _grid(rows: pl.DataFrame, queries: pl.DataFrame, systems: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Every query for every system, in order: whether it was answered, and the values, 0 where it was not."""
    grid = queries.select("query_id").join(pl.DataFrame({"run": systems}), how="cross")
    answered = rows.select("run", "query_id", *names, pl.lit(True).alias(ANSWERED))
    filled = grid.join(answered, on=["run", "query_id"], how="left", maintain_order="left")
    is_answered = pl.col(ANSWERED).fill_null(False)
    return filled.select(
        is_answered,
        *(pl.when(is_answered).then(pl.col(name).cast(pl.Float64)).otherwise(0.0).alias(name) for name in names),
    )


def _queries(rows: pl.DataFrame, slices: list[str], name: str) -> pl.DataFrame:
    """Every query with its slice; an error for one that is in several."""
    sliced = rows.select("query_id", *(pl.col(column_for(column)).alias(column) for column in slices)).unique()
    several = sliced.filter(pl.col("query_id").is_duplicated())
    if several.height:
        remedy = "A query must be in the same slice for every system."
        shown = several.sort("query_id").rename({"query_id": name} if name not in slices else {})
        raise DataError.rows("per_query", "of queries in several slices", remedy, several.height, shown)
    return sliced.sort("query_id")


def systems_of(per_query: Any, rows: pl.DataFrame) -> list[str]:
    """The names of the systems: sorted or, if they came in a dict, which somebody put in order, in its order."""
    systems = rows["run"].cast(pl.String).unique(maintain_order=True).to_list()
    return systems if isinstance(per_query, Mapping) else sorted(systems)


def check_ids(rows: pl.DataFrame, table: Table) -> None:
    """Raise a `DataError` unless there are rows, each of a query and, where there are several, of a system."""
    if rows.is_empty():
        raise DataError("has no row, and so no queries to compare; it must have some.", about="per_query")
    for key in table.keys:
        bad = rows.with_row_index("row").filter(pl.col(key).is_null())
        if bad.height:
            name = table.names[key]
            remedy = Fix("Leave them out", without_nulls("per_query", name))
            raise DataError.rows("per_query", f"whose {name!r} is null", remedy, bad.height, bad)
