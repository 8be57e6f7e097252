"""The moments of slices of queries, which a plan, or each part of a cluster, adds up.

Conventions: as in `sums`; a slice is all queries with one value of an attribute, as a text, or of a stretch of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl
import polars.selectors as cs

from polars_ir.errors import SHOWN, DataError
from polars_ir.frames.rules import once
from polars_ir.per_query.shared.aligned import Aligned
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.groups import Moments, shift_of
from polars_ir.per_query.shared.measures import range_of
from polars_ir.per_query.shared.sums import ROWS, Source, ends_of, plan_of

#: The advice on queries that come again in stretches of time.
COME_AGAIN = "Keep one of each; or, as queries that come again are compared with their own values, collect it first"

#: The columns of the moments of a slice.
MOMENTS = ("n", "mean", "squares", "lowest", "highest")


@dataclass(frozen=True)
class Slices:
    """The columns of a query's row of a system; `attributes` are those of slices, `shifts` those of measures."""

    measures: tuple[str, ...]
    attributes: tuple[str, ...]
    systems: tuple[str, ...]
    shifts: tuple[float, ...]

    def wide(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """A row for each query and system, with its attributes as texts."""
        values = [
            (pl.col(name).cast(pl.Float64).max() - shift).alias(str(place))
            for place, (name, shift) in enumerate(zip(self.measures, self.shifts, strict=True))
        ]
        attributes = pl.col(self.attributes).max()
        rows = rows.with_columns(pl.col(self.systems).cast(pl.String))
        return rows.group_by("query_id", *self.systems).agg(*values, attributes, pl.len().alias(ROWS))

    def named(self) -> list[pl.Expr]:
        """The slices of a query."""
        return as_texts(self.attributes)

    def moments(self, wide: pl.LazyFrame) -> pl.LazyFrame:
        """The moments of the slices of each attribute, by its place and that of the measure."""
        found = []
        rows = wide.with_columns(self.named())
        shared = {"queries": pl.len().cast(pl.Int64), "repeated": (pl.col(ROWS) > 1).any()}
        figures: dict[str, pl.Expr] = {}
        for number in range(len(self.measures)):
            value = pl.col(str(number))
            of_measure = {
                "n": value.count().cast(pl.Int64),
                "mean": value.mean(),
                "squares": value.var(ddof=0) * value.count(),
                "lowest": value.min(),
                "highest": value.max(),
            }
            figures |= {f"{number} {name}": figure for name, figure in of_measure.items()}
        for place, attribute in enumerate(self.attributes):
            # At once, as rows that are read by several are kept for the slower.
            slices = rows.group_by(*self.systems, value=pl.col(attribute)).agg(**figures, **shared)
            for number in range(len(self.measures)):
                its = (pl.col(f"{number} {name}").alias(name) for name in MOMENTS)
                places = {"attribute": pl.lit(place), "measure": pl.lit(number)}
                found.append(slices.select(*self.systems, "value", *its, *shared, **places))
        return pl.concat(found)

    def repeated(self, wide: pl.LazyFrame) -> pl.LazyFrame:
        """The first queries with several rows of a system, and the number of these rows."""
        rows = wide.filter(pl.col(ROWS) > 1)
        return rows.select("query_id", *self.systems, ROWS, total=pl.col(ROWS).sum().cast(pl.Int64)).head(SHOWN)


@dataclass(frozen=True)
class Stretches(Slices):
    """The same of one attribute, the time of a query, whose slices are as long as `every` says, or one value."""

    every: str | None = None

    def named(self) -> list[pl.Expr]:
        """The stretch of a query."""
        (attribute,) = self.attributes
        return [pl.col(attribute) if self.every is None else pl.col(attribute).dt.truncate(self.every)]


def as_texts(columns: tuple[str, ...] | list[str]) -> list[pl.Expr]:
    """The values of attributes as texts."""
    chosen, without_text = cs.by_name(*columns), cs.duration() | cs.binary()
    texts = [(chosen & cs.duration()).dt.to_string(), (chosen & cs.binary()).bin.encode("hex")]
    return [*texts, (chosen - without_text).cast(pl.String)]


#: The moments of each value of an attribute, by system, attribute and measure.
OfSlices = Mapping[tuple[str | None, str, str], Mapping[Any, Moments]]


def slice_moments(of: Aligned, source: Callable[[Aligned], Source] | None) -> OfSlices:
    """The moments of the slices of each attribute."""
    moments, _ = _summed(of, source, Slices)
    return moments


def stretch_moments(
    of: Aligned, source: Callable[[Aligned], Source] | None, every: str | None
) -> tuple[OfSlices, pl.DataFrame]:
    """The moments of the stretches of one attribute, and the `queries` of each `value`, of all systems."""
    moments, rows = _summed(of, source, partial(Stretches, every=every), COME_AGAIN)
    return moments, rows.filter(measure=0).group_by("value").agg(pl.col("queries").sum()).sort("value")


def _shifts(of: Aligned, ways: Source) -> tuple[float, ...]:
    """The shifts of the measures, for which those of no known range are read once more."""
    unknown = [name for name in of.measures if range_of(name) is None]
    if not unknown:
        return (0.0,) * len(of.measures)
    ends = ways.of_rows(partial(_ends, measures=unknown))
    shifts = {
        name: shift_of(ends[f"{place} lowest"].min(), ends[f"{place} highest"].max())
        for place, name in enumerate(unknown)
    }
    return tuple(shifts.get(name, 0.0) for name in of.measures)


def _ends(rows: pl.LazyFrame, measures: Sequence[str]) -> pl.LazyFrame:
    """The lowest and the highest value of each measure, by its place."""
    return rows.select(ends_of(measures))


def _summed(
    of: Aligned, source: Callable[[Aligned], Source] | None, kind: Callable[..., Slices], advice: str | None = None
) -> tuple[OfSlices, pl.DataFrame]:
    """The moments of slices of a kind, and the rows that they are of; `advice` is on queries with several rows."""
    ways = (source or plan_of)(of)
    systems = tuple(filter("run".__eq__, of.systems))
    layout = kind(tuple(of.measures), tuple(map(column_for, of.slices)), systems, _shifts(of, ways))
    rows = ways.of_queries(layout, layout.moments, False)
    if rows.is_empty():
        raise DataError("has no row, and so no queries to compare; it must have some.", about="per_query")
    if rows["repeated"].any():
        found = ways.of_queries(layout, layout.repeated, False)
        _, problem, fix = once("per_query", [*systems, "query_id"], {"run": "run"})
        shown = found.drop("total").sort("query_id").head(SHOWN)
        raise DataError.rows("per_query", problem, advice or fix, int(found["total"][0]), shown)
    moments: dict[tuple[str | None, str, str], dict[Any, Moments]] = {}
    for row in rows.sort(*systems, "value").iter_rows(named=True):
        key = row.get("run"), of.slices[row["attribute"]], of.measures[row["measure"]]
        its = moments.setdefault(key, {})
        its_moments = {name: row[name] for name in MOMENTS}
        part = Moments(**its_moments, shift=layout.shifts[row["measure"]]) if row["n"] else Moments.of(())
        its[row["value"]] = its[row["value"]].joined(part) if row["value"] in its else part
    return moments, rows
