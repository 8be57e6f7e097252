"""Differences of systems by their moments and counts, which a plan, or each part of a cluster, adds up.

Conventions: a row per query, with a column for each measure and system, is the widest table there is; it is never
sorted, and a plan makes it in one `group_by`. Sums are of a part's own mean, and parts are put together by it (Chan,
Golub & LeVeque 1983, https://doi.org/10.1080/00031305.1983.10483115), so that nothing cancels: figures are those of the
values to within 1e-12 of them (of three million 1e-11: each is added with a rounding), and differences are rounded as
there (`significance.differences`). What is added up in another order promises no bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import polars as pl
import polars.selectors as cs

from polars_ir.errors import SHOWN, ColumnError, DataError
from polars_ir.frames.kinds import collected
from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.rules import Rule
from polars_ir.per_query.provenance import check_made_alike
from polars_ir.per_query.shared.aligned import ALL, Aligned, aligned
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.plan_rows import once_of_plan

if TYPE_CHECKING:
    from polars_ir.statistics.bounds import Tail

#: A function of the rows of a part, or of all, whose results are put together by `ALL` and the slices.
Step = Callable[[pl.LazyFrame], pl.LazyFrame]

#: The queries that sums are made of where there are clusters.
MEANS_OF_CLUSTERS = "the means of clusters, by a group_by of them, as queries"

#: The parts that the range of a median is divided into at once.
BINS = 1024

#: The figures of the differences of a pair, as parts make them: counts, those that are smallest or largest, and others.
COUNTS = (
    *("n", "wins", "losses", "below_0", "above_0", "both", "only_first", "only_second"),
    *("lacking_first", "lacking_second", "undefined_first", "undefined_second"),
)

#: The columns of a query's row that tell of a fault: rows of a system, and the last of its slices.
ROWS, LAST = "rows", "last"


class Differences(NamedTuple):
    """The moments and counts of the differences of two systems by a measure, first less second.

    `n` queries have a value of both, whose means are `first` and `second`; `both` are those that both answered, and
    `lacking` those of these without a value. `tails` are the lower tails of the differences and of their negative,
    if there is need of them.
    """

    n: int
    mean: float
    variance: float
    first: float
    second: float
    lowest: float
    highest: float
    wins: int
    losses: int
    below_0: int
    above_0: int
    both: int
    only_first: int
    only_second: int
    lacking_first: int
    lacking_second: int
    undefined_first: int
    undefined_second: int
    tails: tuple[Tail, Tail] | None = None

    @property
    def largest(self) -> float:
        """The largest difference, whichever system is better."""
        return max(abs(self.lowest), abs(self.highest)) if self.n else 0.0

    @property
    def n_missing(self) -> int:
        """The number of queries that only one of both answered."""
        return self.only_first + self.only_second

    @property
    def std(self) -> float:
        """The standard deviation of the sample, 0 if all differences are the same; NaN of fewer than two."""
        if self.n < 2:
            return math.nan
        return math.sqrt(self.variance) if self.lowest < self.highest else 0.0


@dataclass(frozen=True)
class Layout:
    """The columns of a query's row, and what is compared of them.

    `slices` are columns; they are keys of rows if they are `apart`, else each query is in one of them. `missing` says
    of each measure what counts 0: `"zero"` a query that one system lacks, `"new"` one that the first has no value for
    and the second has, `"skip"` none. `costs` are the measures whose lower value is better.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    missing: tuple[str, ...]
    costs: tuple[bool, ...]
    slices: tuple[str, ...] = ()
    apart: bool = False
    tolerance: float = 0.0

    @property
    def keys(self) -> list[str]:
        """The columns that distinguish sums."""
        return [*self.slices, ALL]

    @property
    def numbers(self) -> list[tuple[int, int]]:
        """The numbers of each measure and of each pair."""
        return [(measure, pair) for measure in range(len(self.measures)) for pair in range(len(self.pairs))]

    def wide(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """A row per query."""
        run, cells = pl.col("run").cast(pl.String), []
        for place, system in enumerate(self.systems):
            is_its = run == system
            cells.append(is_its.sum().alias(f"{ROWS} {place}"))
            for number, measure in enumerate(self.measures):
                value = pl.when(is_its).then(pl.col(measure).cast(pl.Float64))
                # There is one, as `faults` makes sure; a maximum is taken in half the time of a first value.
                cells.append(value.max().alias(f"{number} {place}"))
        if self.apart and self.slices:
            return rows.group_by("query_id", *self.keys).agg(cells)
        lasts = (pl.col(name).max().alias(f"{LAST} {name}") for name in self.slices)
        # Of a literal Polars would know that it is sorted, and keep all rows as those of one group.
        return rows.group_by("query_id").agg(*cells, pl.col(self.keys).min(), *lasts)

    def values(self, number: int, pair: int) -> tuple[pl.Expr, pl.Expr]:
        """The values of a pair of systems by a measure, with 0 for what counts as 0."""
        first, second = (pl.col(f"{number} {place}") for place in self.pairs[pair])
        if self.missing[number] == "new":
            return pl.when(first.is_null() & second.is_not_null()).then(0.0).otherwise(first), second
        if self.missing[number] == "zero":
            lacks = (pl.col(f"{ROWS} {place}") == 0 for place in self.pairs[pair])
            first, second = (
                pl.when(lack).then(0.0).otherwise(value) for lack, value in zip(lacks, (first, second), strict=True)
            )
        return first, second

    def differences(self, wide: pl.LazyFrame, units: pl.DataFrame) -> pl.LazyFrame:
        """The differences, in columns named by `numbers`, beside those of the rows."""
        rows = wide.join(units.lazy(), on=self.keys, how="left", nulls_equal=True)
        made = []
        for number, pair in self.numbers:
            first, second = self.values(number, pair)
            unit = pl.col(f"unit {number} {pair}")
            rounded = ((first - second) * unit).round() / unit
            made.append(rounded.alias(_difference(number, pair)))
        return rows.with_columns(made)

    def moments(self, wide: pl.LazyFrame, units: pl.DataFrame) -> pl.LazyFrame:
        """The figures of `Differences`, in a column each, and the number of `faults`."""
        figures = []
        for number, pair in self.numbers:
            d, (first, second) = pl.col(_difference(number, pair)), self.values(number, pair)
            better = -d if self.costs[number] else d
            there = d.is_not_null()
            answered = [pl.col(f"{ROWS} {place}") > 0 for place in self.pairs[pair]]
            lacking = [pl.col(f"{number} {place}").is_null() for place in self.pairs[pair]]
            both = answered[0] & answered[1]
            of_pair = {
                "n": d.count(),
                "mean": d.mean(),
                "variance": d.var(ddof=0),
                "first": pl.when(there).then(first).mean(),
                "second": pl.when(there).then(second).mean(),
                "lowest": d.min(),
                "highest": d.max(),
                "wins": (better > self.tolerance).sum(),
                "losses": (better < -self.tolerance).sum(),
                "below_0": (d < 0).sum(),
                "above_0": (d > 0).sum(),
                "both": both.sum(),
                "only_first": (answered[0] & ~answered[1]).sum(),
                "only_second": (answered[1] & ~answered[0]).sum(),
                "lacking_first": (both & lacking[0]).sum(),
                "lacking_second": (both & lacking[1]).sum(),
                "undefined_first": (both & lacking[0] & ~lacking[1]).sum(),
                "undefined_second": (both & lacking[1] & ~lacking[0]).sum(),
            }
            figures += [each.alias(f"{number} {pair} {name}") for name, each in of_pair.items()]
        faults = (is_wrong.any().alias(fault) for fault, is_wrong in self.faults().items())
        return self.differences(wide, units).group_by(self.keys).agg(*figures, *faults)

    def faults(self) -> dict[str, pl.Expr]:
        """The conditions on the row of a query that can not be paired."""
        repeats = (pl.col(f"{ROWS} {place}") > 1 for place in range(len(self.systems)))
        moves = (pl.col(name) != pl.col(f"{LAST} {name}") for name in (() if self.apart else self.slices))
        return {"repeated": pl.any_horizontal(*repeats), "moved": pl.any_horizontal(pl.lit(False), *moves)}

    def faulty(self, wide: pl.LazyFrame, fault: str) -> pl.LazyFrame:
        """The first queries of a fault, and the number of all."""
        is_wrong = self.faults()[fault].fill_null(False)
        rows = pl.col([f"{ROWS} {place}" for place in range(len(self.systems))])
        total = pl.sum_horizontal(pl.when(rows > 1).then(rows)).sum() if fault == "repeated" else pl.len()
        shown = cs.starts_with(f"{ROWS} ", f"{LAST} ")
        return wide.filter(is_wrong).select("query_id", *self.slices, shown, total=total.cast(pl.Int64)).head(SHOWN)

    def cubes(self, wide: pl.LazyFrame, units: pl.DataFrame, means: pl.DataFrame) -> pl.LazyFrame:
        """The sums of cubes of differences from their mean, and the numbers that are clearly below and above it."""
        figures = []
        for number, pair in self.numbers:
            d, name = pl.col(_difference(number, pair)), f"{number} {pair}"
            mean, apart = pl.col(f"{name} mean"), pl.col(f"{name} rounding")
            of_pair = {
                "cubes": ((d - mean) ** 3).sum(),
                "below": (d < mean - apart).sum(),
                "above": (d > mean + apart).sum(),
            }
            figures += [each.alias(f"{name} {its}") for its, each in of_pair.items()]
        rows = self.differences(wide, units).join(means.lazy(), on=self.keys, how="left", nulls_equal=True)
        return rows.group_by(self.keys).agg(figures)

    def bins(self, wide: pl.LazyFrame, units: pl.DataFrame, brackets: Mapping[int, pl.DataFrame]) -> pl.LazyFrame:
        """The differences in a bracket of each slice, counted in so many bins, by the place of a pair in `numbers`."""
        rows, counted = self.differences(wide, units), []
        for place, bracket in brackets.items():
            d = pl.col(_difference(*self.numbers[place]))
            width = pl.max_horizontal((pl.col("to") - pl.col("from")) / BINS, pl.lit(5e-324))
            bin = ((d - pl.col("from")) / width).floor().clip(0, BINS - 1).cast(pl.Int64)
            inside = rows.join(bracket.lazy(), on=self.keys, nulls_equal=True).filter(
                d.is_between(pl.col("from"), pl.col("to"))
            )
            of_bin = inside.group_by(*self.keys, bin=bin).agg(n=pl.len(), lowest=d.min(), highest=d.max())
            counted.append(of_bin.with_columns(place=pl.lit(place, pl.Int64)))
        return pl.concat(counted)


def _difference(number: int, pair: int) -> str:
    return f"difference {number} {pair}"


class RowPerQuery(Protocol):
    """A layout of the row of a query."""

    def wide(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """A row per query, with its id."""
        ...


class Source(NamedTuple):
    """The ways in which steps run: over the rows as they are, and over a row per query, kept for others or not."""

    of_rows: Callable[[Step], pl.DataFrame]
    of_queries: Callable[[RowPerQuery, Step, bool], pl.DataFrame]


@dataclass(frozen=True)
class Sums:
    """Several systems on the same queries, as `Scores`, of which only the moments are known: `values` have these.

    They are by measure, one for each of the pairs; empty where it is of all slices. `of_each` is the rule that a system
    has one row of a query. `system` is the name that the column of systems came with.
    """

    systems: tuple[str, ...]
    slices: tuple[str, ...]
    values: Mapping[str, Sequence[Differences]]
    queries: pl.LazyFrame
    extremes: pl.DataFrame
    source: Source
    of_each: Rule
    parts: Sequence[tuple[dict[str, Any], Sums]] = ()
    note: str | None = None
    system: str = "run"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the slices."""
        return tuple(map(column_for, self.slices))

    def of_pairs(self, layout: Layout, *, tails: bool) -> Sums:
        """With the sums of pairs of systems, and their tails where a bound needs them."""
        units = _units(self.extremes, layout)
        found = self.source.of_queries(layout, partial(layout.moments, units=units), tails)
        for fault in layout.faults():
            if found[fault].any():
                raise _fault(self.source, layout, fault, self.of_each)
        moments = _together(found, layout)
        if tails:
            moments = _with_tails(self.source, layout, units, moments)
        parts = []
        for of_slice in moments.sort(layout.keys, nulls_last=True).partition_by(layout.keys, maintain_order=True):
            names = dict(zip(self.slices, of_slice.row(0)[: len(self.slices)], strict=True))
            its = [_differences(row) for row in of_slice.sort("place").iter_rows(named=True)]
            n = len(layout.pairs)
            values = {measure: its[at * n : at * n + n] for at, measure in enumerate(layout.measures)}
            parts.append((names, replace(self, values=values)))
        return replace(self, parts=parts)

    def each_slice(self) -> Iterator[tuple[dict[str, Any], Sums]]:
        """The values that name a slice, and its sums."""
        yield from self.parts


def sums_of(
    per_query: Any,
    measures: Measures,
    *,
    by: Any = None,
    what: str,
    source: Callable[[Aligned], Source] | None = None,
) -> Sums:
    """The systems of a plan, or of what it stands for, and their measures, for a function that is named in messages."""
    of = aligned(per_query, measures, by=by, repeated=True)
    if "run" not in of.table.dtypes:
        raise ColumnError.one_system(what, of.table.columns)
    return _summed(of, (source or plan_of)(of), per_query, what)


def _summed(of: Aligned, source: Source, per_query: Any, what: str) -> Sums:
    """The systems of rows, wherever these are: `of` has their columns, and the source the rows."""
    keys = [*map(column_for, of.slices), ALL]
    extremes = source.of_rows(partial(extremes_of, keys=keys, measures=tuple(of.measures)))
    extremes = extremes.group_by(*keys, "run").agg(
        *(pl.col(f"{place} lowest").min() for place in range(len(of.measures))),
        *(pl.col(f"{place} highest").max() for place in range(len(of.measures))),
    )
    if extremes.is_empty():
        raise DataError("has no row, and so no queries to compare; it must have some.", about="per_query")
    there = extremes["run"].unique().sort().to_list()
    named = list(map(str, per_query)) if isinstance(per_query, Mapping) else there
    systems = list(filter(there.__contains__, named))
    if len(systems) == 1 < len(named):
        about = next(name for name in named if name not in there)
        raise DataError("has no row, and so no queries to compare; it must have some.", about=about)
    if len(systems) < 2:
        raise ColumnError.one_system(what, of.table.columns, systems)
    names = dict(zip(map(column_for, of.slices), of.slices, strict=True))
    queries = of.rows.select(*names).rename(names)
    note = of.note()
    if PROVENANCE in of.table.columns:
        made = source.of_rows(_made).unique()
        note = "; ".join(filter(None, (note, check_made_alike(of.table, made, of.measures)))) or None
    values: dict[str, Sequence[Differences]] = dict.fromkeys(of.measures, ())
    of_each = once_of_plan(of.table, [*of.slices, "run", "query_id"], of.measures)
    system = of.table.names["run"]
    return Sums(tuple(systems), tuple(of.slices), values, queries, extremes, source, of_each, note=note, system=system)


def _made(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The ways in which figures were made, as if all were of one query."""
    return rows.select(PROVENANCE, query_id=pl.lit(0)).unique()


def extremes_of(rows: pl.LazyFrame, keys: Sequence[str], measures: Sequence[str]) -> pl.LazyFrame:
    """The lowest and the highest value of each system, by the places of the measures."""
    return rows.group_by(*keys, pl.col("run").cast(pl.String)).agg(ends_of(measures))


def ends_of(measures: Sequence[str]) -> list[pl.Expr]:
    """The lowest and the highest values, by the places of the measures."""
    ends = []
    for place, measure in enumerate(measures):
        value = pl.col(measure).cast(pl.Float64)
        ends += [value.min().alias(f"{place} lowest"), value.max().alias(f"{place} highest")]
    return ends


def plan_of(of: Aligned) -> Source:
    """The rows of a plan, read for each step but for those that keep a row per query."""
    kept: dict[RowPerQuery, pl.DataFrame] = {}

    def of_queries(layout: RowPerQuery, step: Step, keep: bool) -> pl.DataFrame:  # noqa: FBT001  # ours
        if keep and layout not in kept:
            kept[layout] = collected(layout.wide(of.rows).drop("query_id"), "streaming")
        return collected(step(kept[layout].lazy() if keep else layout.wide(of.rows)), "streaming")

    return Source(lambda step: collected(step(of.rows), "streaming"), of_queries)


def _units(extremes: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """The power of ten that differences are rounded at, of each slice, measure and pair."""
    columns = []
    for number, pair in layout.numbers:
        of_pair = pl.col("run").is_in([layout.systems[place] for place in layout.pairs[pair]])
        ends = pl.max_horizontal(pl.col(f"{number} lowest").abs(), pl.col(f"{number} highest").abs())
        largest = ends.filter(of_pair).max()
        decimals = pl.min_horizontal(pl.lit(300.0), 13 - largest.log10().ceil())
        unit = pl.when(largest > 0).then(pl.lit(10.0) ** decimals).otherwise(1.0)
        columns.append(unit.alias(f"unit {number} {pair}"))
    return extremes.group_by(layout.keys).agg(columns)


def _fault(source: Source, layout: Layout, fault: str, of_each: Rule) -> DataError:
    """The error for queries whose rows can not be paired, with the first of them."""
    rows = source.of_queries(layout, partial(layout.faulty, fault=fault), False)
    if fault == "repeated":
        _, problem, fix = of_each
        names = {f"{ROWS} {place}": f"rows of {system!r}" for place, system in enumerate(layout.systems)}
    else:
        problem, fix = "of queries in several slices", "A query must be in the same slice for every system."
        names = {f"{LAST} {name}": f"and {name}" for name in layout.slices}
    shown = rows.select("query_id", *layout.slices, *names).rename(names).sort("query_id").head(SHOWN)
    return DataError.rows("per_query", problem, fix, int(rows["total"][0]), shown)


def _together(found: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """The moments of all parts together, in a row for each slice and pair, by its `place` in `layout.numbers`."""
    own = [name for name in Differences._fields if name != "tails"]
    rows = []
    for place, (number, pair) in enumerate(layout.numbers):
        columns = (pl.col(f"{number} {pair} {name}").alias(name) for name in own)
        rows.append(found.select(*layout.keys, pl.lit(place).alias("place"), *columns))
    n, mean = pl.col("n"), pl.col("mean")

    def weighted(value: pl.Expr) -> pl.Expr:
        # Of a single part it is to the bit that of the part.
        return pl.when(pl.len() == 1).then(value.first()).otherwise((n * value).sum() / n.sum())

    together = weighted(mean)
    squares = (n * pl.col("variance")).sum() + (n * (mean - together) ** 2).sum()
    return (
        pl.concat(rows)
        .with_columns(pl.col(COUNTS).cast(pl.Int64))
        .group_by(*layout.keys, "place")
        .agg(
            *(pl.col(name).sum() for name in COUNTS),
            *(weighted(pl.col(name)).alias(name) for name in ("mean", "first", "second")),
            variance=squares / n.sum(),
            lowest=pl.col("lowest").min(),
            highest=pl.col("highest").max(),
        )
    )


def _with_tails(source: Source, layout: Layout, units: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """The moments with the sum of cubes, and the numbers of values below and above both mean and median."""
    from polars_ir.statistics.randomisation import ROUNDING

    rounding = ROUNDING * pl.max_horizontal(pl.col("lowest").abs(), pl.col("highest").abs())
    of_means = moments.select(*layout.keys, "place", "mean", rounding=rounding)
    means = units.select(layout.keys)
    for place, (number, pair) in enumerate(layout.numbers):
        its = of_means.filter(place=place).select(
            *layout.keys, *(pl.col(name).alias(f"{number} {pair} {name}") for name in ("mean", "rounding"))
        )
        means = means.join(its, on=layout.keys, how="left", nulls_equal=True)
    found = source.of_queries(layout, partial(layout.cubes, units=units, means=means), True)
    rows = []
    for place, (number, pair) in enumerate(layout.numbers):
        columns = (pl.col(f"{number} {pair} {name}").sum().alias(name) for name in ("cubes", "below", "above"))
        rows.append(found.group_by(layout.keys).agg(*columns).with_columns(pl.lit(place).alias("place")))
    on = [*layout.keys, "place"]
    moments = moments.join(pl.concat(rows), on=on, how="left", nulls_equal=True)
    medians = _around_medians(source, layout, units, moments)
    moments = moments.join(medians, on=on, how="left", nulls_equal=True)
    # Values below the lower one of two limits are below both.
    return moments.with_columns(
        below=pl.min_horizontal("below", "below_median"), above=pl.min_horizontal("above", "above_median")
    )


def _around_medians(source: Source, layout: Layout, units: pl.DataFrame, moments: pl.DataFrame) -> pl.DataFrame:
    """The numbers of values below and above the median of each slice and pair, found by counting."""
    on, n = [*layout.keys, "place"], pl.col("n")
    # A median of 0 needs no search, and there mostly is one.
    of_0 = (pl.col("below_0") * 2 < n) & (pl.col("above_0") * 2 < n)
    found = [
        moments.filter(of_0 | (n == 0)).select(*on, below_median=pl.col("below_0"), above_median=pl.col("above_0"))
    ]
    left = moments.filter(~of_0 & (n > 0)).select(
        *on, "n", pl.col("lowest").alias("from"), pl.col("highest").alias("to"), before=pl.lit(0, pl.Int64)
    )
    while left.height:
        brackets = {
            place: its.select(*layout.keys, "from", "to")
            for (place,), its in left.partition_by("place", as_dict=True).items()
        }
        bins = source.of_queries(layout, partial(layout.bins, units=units, brackets=brackets), True)
        bins = bins.with_columns(pl.col("place").cast(left.schema["place"]))
        bins = bins.group_by(*on, "bin").agg(
            inside=pl.col("n").sum().cast(pl.Int64), lowest=pl.col("lowest").min(), highest=pl.col("highest").max()
        )
        bins = left.join(bins, on=on, nulls_equal=True).sort(*on, "bin")
        through = pl.col("before") + pl.col("inside").cum_sum().over(on)
        bins = bins.with_columns(through=through)
        # The lower of two middle values, or the one.
        middle = bins.filter(pl.col("through") > (n - 1) // 2).group_by(on, maintain_order=True).first()
        middle = middle.with_columns(before=pl.col("through") - pl.col("inside"))
        is_one = pl.col("lowest") == pl.col("highest")
        halves = pl.col("through") * 2 == n
        found.append(
            middle.filter(is_one).select(
                *on,
                below_median=pl.when(halves).then(n // 2).otherwise("before"),
                above_median=n - pl.col("through"),
            )
        )
        left = middle.filter(~is_one).select(
            *on, "n", pl.col("lowest").alias("from"), pl.col("highest").alias("to"), "before"
        )
    return pl.concat(found)


def _differences(row: Mapping[str, Any]) -> Differences:
    """The record of a row, whose variance becomes that of a sample."""
    n, lowest, highest = row["n"], row["lowest"], row["highest"]
    figures = {name: row[name] for name in Differences._fields if name != "tails"}
    figures |= {"variance": row["variance"] * n / (n - 1) if n > 1 else math.nan}
    tails = None
    if "cubes" in row and n > 1:
        from polars_ir.statistics.bounds import Tail

        std, g = math.sqrt(figures["variance"]) if lowest < highest else 0.0, 0.0
        if n > 2 and std:
            # As in `Tail.of`.
            g = math.sqrt((n - 1.0) * n) / (n - 2.0) * row["cubes"] / n / row["variance"] ** 1.5 / math.sqrt(n)
        tails = Tail(n, row["mean"], std, g, row["below"]), Tail(n, -row["mean"], std, -g, row["above"])
    return Differences(**figures, tails=tails)
