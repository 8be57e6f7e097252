"""Pairs of systems of a plan, known by moments and counts of their differences, without the values.

Conventions: the moments of partitions are merged as in `sums`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import SHOWN, ColumnError, DataError, Fix, InputTypeError
from polars_ir.frames.known_order import once_of_plan
from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.rules import Rule
from polars_ir.language.columns import is_cost
from polars_ir.per_query.provenance import check_made_alike
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.measures import Measures, Range, range_of
from polars_ir.per_query.shared.pair_schema import BESIDE, LAST, PairSchema, Place
from polars_ir.per_query.shared.queries import ALL, JUDGED, Pair, Pairs, notes_of_lacking, pairs_of, queries_of
from polars_ir.per_query.shared.sums import ROWS, Executor, Source, ends_of, locally

#: Decimals to which differences can be rounded by a power of ten.
MOST_DECIMALS = 300

#: Columns of a pair of systems that are added up across partitions, and those that are averaged by the number of pairs.
COUNTS = (
    *("n", "wins", "losses", "below_0", "above_0", "both", "only_first", "only_second"),
    *("lacking_first", "lacking_second", "undefined_first", "undefined_second"),
)
MEANS = ("mean", "first", "second")


def pair_sums(
    executor: Executor,
    schema: PairSchema,
    places: Sequence[Place],
    extremes: pl.DataFrame,
    rule: Rule,
    *,
    tolerance: float,
    tails: bool,
) -> pl.DataFrame:
    """Moments and counts of pairs of systems, a row for each slice and place, with those of tails if asked for."""
    units = _units(extremes, schema, places)
    query = partial(schema.moments, places=places, facts=units, tolerance=tolerance)
    found = executor.of_queries(schema, query, tails)
    for fault in ("repeated", "moved", "judged in part"):
        if found[fault].any():
            raise _fault(executor, schema, fault, rule)
    keys = [*schema.keys, "place"]
    moments = _together(found, keys)
    return _with_tails(executor, schema, places, units, moments) if tails else moments.sort(keys, nulls_last=True)


def _beside(moments: pl.LazyFrame) -> pl.LazyFrame:
    """Moments of people's differences and the model's, as estimates take them."""
    variance = pl.col("squares") / (pl.col("n") - 1).replace(0, None)
    unmatched = pl.col("n") + pl.col("n_f").cast(pl.Int64) - 2 * pl.col("n_sum").cast(pl.Int64)
    covariance = (pl.col("var_sum") - variance - pl.col("var_f")) / 2
    return moments.with_columns(y="mean", var_y=variance, covariance=covariance, unmatched=unmatched)


def _units(extremes: pl.DataFrame, schema: PairSchema, places: Sequence[Place]) -> pl.DataFrame:
    """Power of ten at which differences are rounded, by slice and place."""
    names = {name: [schema.systems[getattr(place, name)] for place in places] for name in ("first", "second")}
    pairs = pl.DataFrame({"place": [p.number for p in places], "measure": [p.measure for p in places], **names})
    pairs = pairs.cast({"place": pl.UInt32, "measure": extremes.schema["measure"]})
    pairs = pairs.unpivot(list(names), index=["place", "measure"], value_name="run")
    size = pl.max_horizontal(pl.col("lowest").abs(), pl.col("highest").abs())
    sizes = extremes.with_columns(size=size).join(pairs, on=["measure", "run"])
    sizes = sizes.group_by(*schema.keys, "place", "measure").agg(largest=pl.col("size").max())
    decimals = 13 - pl.col("largest").log10().ceil()
    for number in sizes.filter(pl.col("largest") > 0, decimals > MOST_DECIMALS)["measure"].sort():
        raise InputTypeError.lazy(f"a difference of values of {schema.measures[number]!r} too small to be rounded")
    unit = pl.when(pl.col("largest") > 0).then(pl.lit(10.0) ** decimals).otherwise(1.0)
    return sizes.select(*schema.keys, "place", unit=unit)


def _fault(executor: Executor, schema: PairSchema, fault: str, rule: Rule) -> DataError:
    rows = executor.of_queries(schema, partial(schema.faulty, fault=fault), False)
    about = "per_query"
    fix: Fix | str
    if fault == "judged in part":
        from polars_ir.per_query.shared.reference import IN_PART

        about, (problem, fix) = "reference", IN_PART
        names = {f"{JUDGED} {place}": f"rows of {system!r}" for place, system in enumerate(schema.systems)}
    elif fault == "repeated":
        _, problem, fix = rule
        names = {f"{ROWS} {place}": f"rows of {system!r}" for place, system in enumerate(schema.systems)}
    else:
        problem, fix = "of queries in several slices", "A query must be in the same slice for every system."
        names = {f"{LAST} {name}": f"and {name}" for name in schema.slices}
    shown = rows.select("query_id", *schema.slices, *names).rename(names).sort("query_id").head(SHOWN)
    return DataError.rows(about, problem, fix, int(rows["total"][0]), shown)


def _together(found: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    n, mean = pl.col("n"), pl.col("mean")

    def weighted(value: pl.Expr) -> pl.Expr:
        # A single partition keeps its bits.
        return pl.when(pl.len() == 1).then(value.first()).otherwise((n * value).sum() / n.sum())

    def squared(variance: str, mean: pl.Expr) -> pl.Expr:
        return (n * pl.col(variance)).sum() + (n * (mean - weighted(mean)) ** 2).sum()

    return (
        found.with_columns(pl.col(COUNTS).cast(pl.Int64))
        .group_by(keys)
        .agg(
            pl.col(COUNTS).sum(),
            *(weighted(pl.col(name)).alias(name) for name in MEANS),
            # With a reference there is one partition.
            *(pl.col(name).first() for name in BESIDE if name in found.columns),
            squares=squared("variance", mean),
            first_squares=squared("first_variance", pl.col("first")),
            lowest=pl.col("lowest").min(),
            highest=pl.col("highest").max(),
        )
    )


def _with_tails(
    executor: Executor, schema: PairSchema, places: Sequence[Place], units: pl.DataFrame, moments: pl.DataFrame
) -> pl.DataFrame:
    """The moments with the sum of cubes, and the numbers of values below and above both mean and median."""
    on = [*schema.keys, "place"]
    rounding = stats.ROUNDING * pl.max_horizontal(pl.col("lowest").abs(), pl.col("highest").abs())
    facts = units.join(moments.select(*on, "mean", rounding=rounding), on=on, nulls_equal=True)
    found = executor.of_queries(schema, partial(schema.cubes, places=places, facts=facts), True)
    found = found.group_by(on).agg(pl.col("cubes", "below", "above").sum())
    moments = moments.join(found, on=on, how="left", nulls_equal=True)
    medians = _around_medians(executor, schema, places, units, moments)
    moments = moments.join(medians, on=on, how="left", nulls_equal=True)
    # Values below the lower one of two limits are below both.
    below, above = pl.min_horizontal("below", "below_median"), pl.min_horizontal("above", "above_median")
    return moments.with_columns(below=below, above=above).sort(on, nulls_last=True)


def _around_medians(
    executor: Executor, schema: PairSchema, places: Sequence[Place], units: pl.DataFrame, moments: pl.DataFrame
) -> pl.DataFrame:
    """Numbers of values below and above the median of each slice and pair, found by counting."""
    on, n = [*schema.keys, "place"], pl.col("n")
    # A median of 0, the usual one, needs no search.
    of_0 = (pl.col("below_0") * 2 < n) & (pl.col("above_0") * 2 < n)
    found = [
        moments.filter(of_0 | (n == 0)).select(*on, below_median=pl.col("below_0"), above_median=pl.col("above_0"))
    ]
    left = moments.filter(~of_0 & (n > 0)).select(
        *on, "n", pl.col("lowest").alias("from"), pl.col("highest").alias("to"), before=pl.lit(0, pl.Int64)
    )
    while left.height:
        facts = units.join(left.select(*on, "from", "to"), on=on, nulls_equal=True)
        there = set(left["place"])
        some = [place for place in places if place.number in there]
        bins = executor.of_queries(schema, partial(schema.bins, places=some, facts=facts), True)
        bins = bins.group_by(*on, "bin").agg(
            inside=pl.col("inside").sum().cast(pl.Int64), lowest=pl.col("lowest").min(), highest=pl.col("highest").max()
        )
        bins = left.join(bins, on=on, nulls_equal=True).sort(*on, "bin")
        through = pl.col("before") + pl.col("inside").cum_sum().over(on)
        bins = bins.with_columns(through=through)
        # The lower of two middle values, or the only one.
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


@dataclass(frozen=True)
class Sums:
    """Several systems on the same queries, known by moments only: the counterpart of `Scores`.

    `extremes` are the lowest and highest values of each slice, system and measure. Both systems of a pair must share at
    least `common` queries. `rule` is that a system has one row of a query. `system` is the user's name of the column of
    systems.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    slices: tuple[str, ...]
    queries: pl.LazyFrame
    extremes: pl.DataFrame
    executor: Executor
    rule: Rule
    common: tuple[int, str]
    note: str | None = None
    system: str = "run"
    with_people: bool = False

    def pairs(self, baseline: object, _: str) -> list[tuple[int, int]]:
        """Columns of (system, baseline) to compare."""
        return pairs_of(self.systems, baseline)

    def notes(self, _: Sequence[object]) -> list[str]:
        """The note of every row."""
        return [] if self.note is None else [self.note]

    def seen(self, measure: str) -> stats.Floats:
        """Lowest and highest values of a measure."""
        ends = self.extremes.filter(measure=self.measures.index(measure))
        return pl.concat([ends["lowest"], ends["highest"]]).drop_nulls().to_numpy()

    def paired(
        self,
        pairs: Sequence[tuple[int, int]],
        *,
        missing: str,
        tolerance: float = 0.0,
        complete: bool = False,  # noqa: ARG002  # such tests need the values
        tails: bool = False,
        as_0: Collection[str] | None = None,
        ranges: Mapping[str, Range] | None = None,
    ) -> Iterator[Pairs]:
        """Pairs of each slice, as in `Scores`."""
        schema = PairSchema(
            self.systems, self.measures, tuple(map(column_for, self.slices)), as_0 is not None, self.with_people
        )
        places = []
        for number, measure in enumerate(self.measures):
            treated = missing if as_0 is None else "new" if measure in as_0 else "skip"
            for pair, systems in enumerate(pairs, number * len(pairs)):
                places.append(Place(pair, number, *systems, treated, is_cost(measure)))
        found = pair_sums(self.executor, schema, places, self.extremes, self.rule, tolerance=tolerance, tails=tails)
        shared = found.group_by("place").agg(pl.col("both").sum())["both"]
        if not (shared >= self.common[0]).any():
            fix = "Evaluate the systems on the same queries, and write their ids alike"
            raise DataError(self.common[1], fix=fix)
        for of_slice in found.partition_by(schema.keys, maintain_order=True):
            if schema.nested and not of_slice["both"][0]:
                continue  # A slice of one side only.
            names = dict(zip(self.slices, of_slice.row(0)[: len(self.slices)], strict=True))
            rows = of_slice.iter_rows(named=True)
            found_pairs = [self._pair(place, row, ranges or {}) for place, row in zip(places, rows, strict=True)]
            if self.with_people:
                from polars_ir.per_query.shared.reference import with_estimates

                found_pairs = with_estimates(found_pairs, _beside(of_slice.lazy()))
            yield Pairs(names, found_pairs)

    def _pair(self, place: Place, row: Mapping[str, Any], ranges: Mapping[str, Range]) -> Pair:
        measure, systems = self.measures[place.measure], (self.systems[place.first], self.systems[place.second])
        width = getattr(ranges.get(measure) or range_of(measure), "width", math.inf)
        sample = stats.Moments.of(())
        if row["n"]:
            figures = {name: row[name] for name in stats.Moments._fields if name in row}
            sample = stats.Moments(**figures, support=(-width, width))
            if sample.is_tiny:
                raise InputTypeError.lazy(f"a difference of {measure!r} that is too small to be squared")
        lacking = row["lacking_first"], row["lacking_second"]
        alone = row["undefined_first"], row["undefined_second"]
        notes = notes_of_lacking(measure, systems, lacking, alone, row["both"])
        return Pair(
            measure,
            *systems,
            sample,
            row["first"] if row["n"] else None,
            row["second"] if row["n"] else None,
            row["wins"],
            row["losses"],
            row["only_first"] + row["only_second"],
            [*notes, *self.notes(systems)],
            (row["only_second"], row["only_first"], *alone),
            math.sqrt(row["first_squares"] / (row["n"] - 1) / row["n"]) if row["n"] > 1 else None,
        )


def sums_of(
    per_query: Any,
    measures: Measures,
    *,
    by: Any = None,
    people: Any = None,
    what: str,
    source: Source | None = None,
    common: tuple[int, str] | None = None,
    advice: str | None = None,
) -> Sums:
    """Systems of a plan, or of what it stands for, for a function that messages name.

    `advice` is about several rows of a query.
    """
    queries = queries_of(per_query, measures, by=by, repeated=True).compared(measures)
    if "run" not in queries.table.dtypes:
        raise ColumnError.one_system(what, queries.table.columns)
    executor = of_model = (source or locally)(queries)
    if people is not None:
        from polars_ir.per_query.shared.reference import with_people

        queries = with_people(queries, people, named=measures is not None)
        executor = locally(queries)
    keys, names = [*map(column_for, queries.slices), ALL], tuple(queries.measures)
    query = partial(ends_of, keys=[*keys, pl.col("run").cast(pl.String)], measures=names)
    extremes = of_model.of_rows(query).group_by(*keys, "run", "measure")
    ends = extremes.agg(pl.col("lowest").min(), pl.col("highest").max())
    systems = _systems(per_query, ends, what, queries.table.columns)
    slices = dict(zip(map(column_for, queries.slices), queries.slices, strict=True))
    note = queries.note(clustered=people is None)
    if PROVENANCE in queries.table.columns:
        made = of_model.of_rows(_made).unique().sort(PROVENANCE)
        note = "; ".join(filter(None, (note, check_made_alike(queries.table, made, queries.measures)))) or None
    rule = once_of_plan(queries.table, [*queries.slices, "run", "query_id"], queries.measures)
    return Sums(
        systems,
        names,
        tuple(queries.slices),
        queries.rows.select(*slices).rename(slices),
        ends,
        executor,
        rule._replace(fix=advice) if advice else rule,
        common or (2, f"{what} needs two queries or more that both systems of a pair answered."),
        note,
        queries.table.names["run"],
        people is not None,
    )


def _systems(per_query: Any, ends: pl.DataFrame, what: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The systems that have rows, by name or in the order of a dict; an error for fewer than two."""
    if ends.is_empty():
        raise DataError("has no rows, and so no queries to compare.", about="per_query")
    there = ends["run"].unique().sort().to_list()
    named = list(map(str, per_query)) if isinstance(per_query, Mapping) else there
    systems = list(filter(there.__contains__, named))
    if len(systems) == 1 < len(named):
        about = next(name for name in named if name not in there)
        raise DataError("has no rows, and so no queries to compare.", about=about)
    if len(systems) < 2:
        raise ColumnError.one_system(what, columns, systems)
    return tuple(systems)


def _made(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Provenance of figures, as if all were of one query."""
    return rows.select(PROVENANCE, query_id=pl.lit(0)).unique()
