"""Sums over the rows of a plan, wherever these are: an executor of queries, and the moments of slices.

Conventions: each partition sums deviations from its own mean, and partitions are merged by their means (Chan, Golub &
LeVeque 1983, https://doi.org/10.1080/00031305.1983.10483115), so that nothing cancels: figures agree with those of the
values to within 1e-12 (1e-11 for three million, since each addition rounds). Sums in another order promise no bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import polars as pl
import polars.selectors as cs

from polars_ir import statistics as stats
from polars_ir.errors import SHOWN, DataError
from polars_ir.frames.kinds import collected
from polars_ir.frames.rules import once
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.groups import shift_of
from polars_ir.per_query.shared.measures import range_of
from polars_ir.per_query.shared.queries import ALL, Queries

#: A function of the rows of a partition, or of all, whose results are merged by `ALL` and the slices.
Query = Callable[[pl.LazyFrame], pl.LazyFrame]

#: The queries that are summed where there are clusters.
MEANS_OF_CLUSTERS = "the means of clusters, by a group_by of them, as queries"

#: Row count of a query.
ROWS = "rows"


class WideSchema(Protocol):
    """Columns of the row of a query."""

    def wide(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """A row per query, with its id."""
        ...


class Executor(NamedTuple):
    """Executor of queries over the rows of a plan, wherever they are: over the rows themselves, or a row per query.

    The row per query can be kept for later queries.
    """

    of_rows: Callable[[Query], pl.DataFrame]
    of_queries: Callable[[WideSchema, Query, bool], pl.DataFrame]


#: Maker of an executor, by the rows that a plan has or stands for.
Source = Callable[[Queries], Executor]


def locally(queries: Queries) -> Executor:
    """Executor of a plan, which is read for each query but for those that keep a row per query."""
    kept: dict[WideSchema, pl.DataFrame] = {}

    def of_queries(schema: WideSchema, query: Query, keep: bool) -> pl.DataFrame:  # noqa: FBT001  # ours
        if keep and schema not in kept:
            kept[schema] = collected(schema.wide(queries.rows).drop("query_id"), "streaming")
        return collected(query(kept[schema].lazy() if keep else schema.wide(queries.rows)), "streaming")

    return Executor(lambda query: collected(query(queries.rows), "streaming"), of_queries)


def ends_of(rows: pl.LazyFrame, keys: Sequence[str | pl.Expr], measures: Sequence[str]) -> pl.LazyFrame:
    """Lowest and highest value of each measure by some keys: a row for each `measure`, by its place."""
    columns = {str(place): pl.col(measure).cast(pl.Float64) for place, measure in enumerate(measures)}
    figures = {f"lowest {place}": value.min() for place, value in columns.items()}
    figures |= {f"highest {place}": value.max() for place, value in columns.items()}
    found = rows.group_by(keys).agg(**figures)
    return _by_measure(found, keys, measures, ("lowest", "highest"))


def _by_measure(
    found: pl.LazyFrame, keys: Sequence[str | pl.Expr], measures: Sequence[str], names: Iterable[str], **others: pl.Expr
) -> pl.LazyFrame:
    """Figures in columns named by the place of their measure, as a row for each measure."""
    return pl.concat(
        found.select(*keys, *(pl.col(f"{name} {place}").alias(name) for name in names), measure=pl.lit(place), **others)
        for place in range(len(measures))
    )


@dataclass(frozen=True)
class SliceSchema:
    """Row of a query and system; `attributes` are the columns of slices, `shifts` those of measures.

    Values of attributes are texts, or times, cut into periods of the length `every`.
    """

    measures: tuple[str, ...]
    attributes: tuple[str, ...]
    systems: tuple[str, ...]
    shifts: tuple[float, ...]
    of_times: bool = False
    every: str | None = None

    def wide(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """A row for each query and system, with its attributes."""
        values = [
            (pl.col(name).cast(pl.Float64).max() - shift).alias(str(place))
            for place, (name, shift) in enumerate(zip(self.measures, self.shifts, strict=True))
        ]
        attributes = pl.col(self.attributes).max()
        rows = rows.with_columns(pl.col(self.systems).cast(pl.String))
        return rows.group_by("query_id", *self.systems).agg(*values, attributes, pl.len().alias(ROWS))

    def moments(self, wide: pl.LazyFrame) -> pl.LazyFrame:
        """Moments of the slices of each attribute, by its place and that of the measure."""
        times = [pl.col(self.attributes).dt.truncate(self.every)] if self.every else []
        rows = wide.with_columns(times if self.of_times else as_texts(self.attributes))
        shared = {"queries": pl.len().cast(pl.Int64), "repeated": (pl.col(ROWS) > 1).any()}
        figures: dict[str, pl.Expr] = {}
        for place in range(len(self.measures)):
            value = pl.col(str(place))
            of_measure = {
                "n": value.count().cast(pl.Int64),
                "mean": value.mean(),
                "squares": value.var(ddof=0) * value.count(),
                "lowest": value.min(),
                "highest": value.max(),
            }
            figures |= {f"{name} {place}": figure for name, figure in of_measure.items()}
        found = []
        for place, attribute in enumerate(self.attributes):
            # At once, as rows read by several plans are kept for the slower one.
            slices = rows.group_by(*self.systems, value=pl.col(attribute)).agg(**figures, **shared)
            keys = [*self.systems, "value", *shared]
            names = ("n", "mean", "squares", "lowest", "highest")
            found.append(_by_measure(slices, keys, self.measures, names, attribute=pl.lit(place)))
        return pl.concat(found)

    def repeated(self, wide: pl.LazyFrame) -> pl.LazyFrame:
        """The first queries with several rows of a system, and the number of these rows."""
        rows = wide.filter(pl.col(ROWS) > 1)
        return rows.select("query_id", *self.systems, ROWS, total=pl.col(ROWS).sum().cast(pl.Int64)).head(SHOWN)


def as_texts(columns: Sequence[str]) -> list[pl.Expr]:
    """Values of attributes as texts."""
    chosen, without_text = cs.by_name(*columns), cs.duration() | cs.binary()
    texts = [(chosen & cs.duration()).dt.to_string(), (chosen & cs.binary()).bin.encode("hex")]
    return [*texts, (chosen - without_text).cast(pl.String)]


def slice_moments(
    queries: Queries, source: Source | None, *, of_times: bool = False, every: str | None = None
) -> tuple[Mapping[tuple[str | None, str, str], Mapping[Any, stats.Moments]], pl.DataFrame]:
    """Moments of slices by system, attribute and measure, and the number of `queries` of each `value` of the first one.

    The slices are texts or, with `of_times`, periods.
    """
    executor = (source or locally)(queries)
    systems = tuple(filter("run".__eq__, queries.systems))
    attributes, shifts = tuple(map(column_for, queries.slices)), _shifts(queries, executor)
    schema = SliceSchema(tuple(queries.measures), attributes, systems, shifts, of_times, every)
    rows = executor.of_queries(schema, schema.moments, False)
    if rows.is_empty():
        raise DataError("has no rows, and so no queries to compare.", about="per_query")
    if rows["repeated"].any():
        found = executor.of_queries(schema, schema.repeated, False)
        _, problem, fix = once("per_query", [*systems, "query_id"], {"run": "run"})
        shown = found.drop("total").sort("query_id").head(SHOWN)
        if of_times:
            fix = (
                "Keep one of each; or, as queries that come again are compared with their own values, collect it first"
            )
        raise DataError.rows("per_query", problem, fix, int(found["total"][0]), shown)
    moments: dict[tuple[str | None, str, str], dict[Any, stats.Moments]] = {}
    for row in rows.sort(*systems, "value").iter_rows(named=True):
        key = row.get("run"), queries.slices[row["attribute"]], queries.measures[row["measure"]]
        part = stats.Moments.of(())
        if row["n"]:
            figures = {name: row[name] for name in stats.Moments._fields if name in row}
            part = stats.Moments(**figures, shift=schema.shifts[row["measure"]])
        of_key = moments.setdefault(key, {})
        of_key[row["value"]] = of_key[row["value"]].joined(part) if row["value"] in of_key else part
    counts = rows.filter(measure=0, attribute=0).group_by("value").agg(pl.col("queries").sum()).sort("value")
    return moments, counts


def _shifts(queries: Queries, executor: Executor) -> tuple[float, ...]:
    """Shifts of the measures; those of unknown range are read once more for them."""
    unknown = [name for name in queries.measures if range_of(name) is None]
    if not unknown:
        return (0.0,) * len(queries.measures)
    ends = executor.of_rows(partial(ends_of, keys=[ALL], measures=unknown))
    ends = ends.group_by("measure").agg(pl.col("lowest").min(), pl.col("highest").max())
    shifts = {unknown[place]: shift_of(low, high) for place, low, high in ends.iter_rows()}
    return tuple(shifts.get(name, 0.0) for name in queries.measures)
