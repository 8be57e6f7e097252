"""The row of a query of a plan, and what pairs of systems are to it: values, differences, moments, counts and bins.

Conventions: a row per query, with a column for each measure and system, is the widest table; it is never sorted, and a
plan makes it in one `group_by`. Pairs are stacked there, a row for each query, measure and pair. Differences are
rounded as those of values (`significance.differences`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from polars_ir.errors import SHOWN
from polars_ir.frames.kinds import collected
from polars_ir.per_query.shared.queries import ALL, JUDGED, MODEL, people_of
from polars_ir.per_query.shared.sums import ROWS, Query

#: Number of bins that the range of a median is divided into.
BINS = 1024

#: Number of measures and pairs in one plan. More have plans of their own, as each is a branch.
AT_ONCE = 50

#: Number of queries up to which more measures and pairs are stacked by a join, and of the rows that it makes at once.
FEW_ROWS, STACKED_ROWS = 10_000, 1_000_000

#: Moments of the model's differences beside people's: of the same queries (f), of others (u), and of sums of both.
BESIDE = ("n_f", "m", "f", "u", "var_f", "var_u", "n_sum", "var_sum")

#: The value of a measure, among the columns of a system.
VALUE = "value"

#: Column of the last slice of a query, where it has several.
LAST = "last"


class Place(NamedTuple):
    """A measure and a pair of systems, by their numbers, and the values that count as 0.

    With `"zero"` a query that one system lacks counts as 0, with `"new"` one that the first has no value for and the
    second has, with `"skip"` none. For a `cost` the lower value is better.
    """

    number: int
    measure: int
    first: int
    second: int
    missing: str
    cost: bool


@dataclass(frozen=True)
class PairSchema:
    """Row of a query with columns for each system: `rows s` is the row count, `m s` the value of a measure.

    `slices` are columns; they are keys of rows if they are `nested`, else each query is in one of them. With people's
    values beside a model's, values of measures are people's, `judged s` is the number of their rows, and `model m s` is
    the model's value.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    slices: tuple[str, ...] = ()
    nested: bool = False
    with_people: bool = False

    @property
    def keys(self) -> list[str]:
        """The columns that distinguish sums."""
        return [*self.slices, ALL]

    def of_system(self, measure: int, system: int) -> dict[str, str]:
        """The columns of a row that a pair takes of a system."""
        columns = {ROWS: f"{ROWS} {system}", VALUE: f"{measure} {system}"}
        beside = {JUDGED: f"{JUDGED} {system}", MODEL: f"{MODEL} {measure} {system}"}
        return columns | beside if self.with_people else columns

    def wide(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """A row per query."""
        run, cells = pl.col("run").cast(pl.String), []
        for place, system in enumerate(self.systems):
            is_its = run == system
            cells.append(is_its.sum().alias(f"{ROWS} {place}"))
            if self.with_people:
                cells.append((is_its & pl.col(JUDGED)).sum().alias(f"{JUDGED} {place}"))
            for number, measure in enumerate(self.measures):
                value = pl.when(is_its).then(pl.col(measure).cast(pl.Float64))
                # There is one, as `faults` makes sure; a maximum is taken in half the time of a first value.
                if self.with_people:
                    cells.append(value.max().alias(f"{MODEL} {number} {place}"))
                    value = pl.when(is_its).then(pl.col(people_of(measure)))
                cells.append(value.max().alias(f"{number} {place}"))
        if self.with_people:
            cells.append(pl.col(JUDGED).any().alias(JUDGED))
        if self.nested and self.slices:
            return rows.group_by("query_id", *self.keys).agg(cells)
        lasts = (pl.col(name).max().alias(f"{LAST} {name}") for name in self.slices)
        # Polars would know that a literal is sorted, and keep all rows as those of one group.
        return rows.group_by("query_id").agg(*cells, pl.col(self.keys).min(), *lasts)

    def pairs(self, wide: pl.LazyFrame, places: Sequence[Place], facts: pl.DataFrame) -> pl.LazyFrame:
        """Values of pairs and their difference, stacked, by `place`, beside the facts of each."""
        names = list(filterfalse([*self.keys, "place"].__contains__, facts.columns))
        named = pl.format("{} {}", "variable", "place")
        beside = facts.unpivot(names, index=[*self.keys, "place"]).with_columns(named.alias("variable"))
        beside = beside.pivot("variable", index=self.keys, values="value")
        rows = wide.join(beside.lazy(), on=self.keys, how="left", nulls_equal=True)

        def of_place(place: Place) -> pl.LazyFrame:
            known = pl.lit(place.number, pl.UInt32).alias("place"), pl.lit(place.cost).alias("cost")
            sides = [self.of_system(place.measure, system) for system in (place.first, place.second)]
            beside = (pl.col(f"{name} {place.number}").alias(name) for name in names)
            return rows.select(*self.keys, *known, *self._pair(sides, place.missing), *beside)

        return self._with_differences(pl.concat(map(of_place, places)))

    def stacked(self, rows: pl.DataFrame, places: Sequence[Place], facts: pl.DataFrame) -> pl.LazyFrame:
        """As `pairs`, of few rows and many places: a plan whose size does not grow with these."""
        systems = range(len(self.systems))
        columns = [self.of_system(measure, system) for measure in range(len(self.measures)) for system in systems]
        sides, taken = [], {}
        for role in ("first", "second"):
            sides.append({of: f"{of} of {role}" for of in columns[0]})
            at = (pl.col("measure") * len(systems) + pl.col(role)) * rows.height + pl.col("row")
            for of, name in sides[-1].items():
                # The columns of all systems and measures below each other.
                values = pl.concat((rows[each[of]] for each in columns), rechunk=True)
                taken[name] = pl.lit(values).gather(at)
        lasts = (f"{LAST} {name}" for name in (() if self.nested else self.slices))
        shared = rows.lazy().select(*self.keys, *lasts, *([JUDGED] if self.with_people else []))
        shared = shared.with_row_index("row").cast({"row": pl.Int64})
        listed = pl.DataFrame(places, schema=Place._fields, orient="row").cast({"number": pl.UInt32})
        found = [
            some.lazy()
            .join(shared, how="cross")
            .with_columns(**taken)
            .select(*self.keys, "cost", *self._pair(sides, str(missing)), place="number")
            for (missing,), some in listed.group_by("missing", maintain_order=True)
        ]
        beside = pl.concat(found).join(facts.lazy(), on=[*self.keys, "place"], how="left", nulls_equal=True)
        return self._with_differences(beside)

    def _with_differences(self, both: pl.LazyFrame) -> pl.LazyFrame:
        """Pairs of values with their differences, rounded by the unit of each."""
        # There is none where neither system has a row of the slice, in which both count 0.
        ends, unit = {"difference": ("first", "second")}, pl.col("unit").fill_null(1.0)
        if self.with_people:
            ends["model"] = "model_first", "model_second"
        differences = {name: pl.col(first) - pl.col(second) for name, (first, second) in ends.items()}
        return both.with_columns(**{name: (its * unit).round() / unit for name, its in differences.items()})

    def _pair(self, sides: Sequence[Mapping[str, str]], missing: str) -> Iterator[pl.Expr]:
        """Columns of a pair: its values, with 0 for what counts as 0, and the facts of both rows.

        `sides` have the columns of both systems.
        """
        rows, raw = ([pl.col(side[of]) for side in sides] for of in (ROWS, VALUE))
        answered, values = [n > 0 for n in rows], [*raw]
        if self.with_people:
            of_model = [pl.col(side[MODEL]) for side in sides]
            if missing == "zero":
                both = zip(answered, of_model, strict=True)
                of_model = [pl.when(there).then(value).otherwise(0.0) for there, value in both]
            yield from (pl.col(JUDGED), of_model[0].alias("model_first"), of_model[1].alias("model_second"))
            answered = [pl.col(side[JUDGED]) > 0 for side in sides]
        if missing == "new":
            values[0] = pl.when(raw[0].is_null() & raw[1].is_not_null()).then(0.0).otherwise(raw[0])
        elif missing == "zero":
            values = [pl.when(there).then(value).otherwise(0.0) for there, value in zip(answered, values, strict=True)]
            if self.with_people:
                values = [pl.when(pl.col(JUDGED)).then(value) for value in values]
        moves = (pl.col(name) != pl.col(f"{LAST} {name}") for name in (() if self.nested else self.slices))
        for name, value, there, found in zip(("first", "second"), values, answered, raw, strict=True):
            yield from (value.alias(name), there.alias(f"in_{name}"), found.is_null().alias(f"lacks_{name}"))
        yield pl.any_horizontal(n > 1 for n in rows).alias("repeated")
        yield pl.any_horizontal(pl.lit(False), *moves).alias("moved")
        halves = (pl.col(JUDGED) & (side > 0) & ~there for side, there in zip(rows, answered, strict=True))
        yield pl.any_horizontal(pl.lit(False), *(halves if self.with_people else ())).alias("judged in part")

    def _by_place(
        self, wide: pl.LazyFrame, places: Sequence[Place], facts: pl.DataFrame, summed: Query
    ) -> pl.LazyFrame:
        """Sums of pairs; for many systems in several plans."""
        if len(places) <= AT_ONCE:
            return summed(self.pairs(wide, places, facts))
        rows, parts = collected(wide, "streaming"), []
        # Few rows take the streaming engine longer to set up than to read, as branches take longer to plan.
        few = rows.height < FEW_ROWS
        step = STACKED_ROWS // max(rows.height, 1) if few else AT_ONCE
        for start in range(0, len(places), step):
            some = places[start : start + step]
            own = facts.filter(pl.col("place").is_between(some[0].number, some[-1].number))
            pairs = self.stacked(rows, some, own) if few else self.pairs(rows.lazy(), some, own)
            parts.append(collected(summed(pairs), "in-memory" if few else "streaming"))
        return pl.concat(parts).lazy()

    def moments(
        self, wide: pl.LazyFrame, places: Sequence[Place], facts: pl.DataFrame, tolerance: float
    ) -> pl.LazyFrame:
        """Moments and counts of each pair, and whether it has faults."""
        d, first, second = pl.col("difference"), pl.col("first"), pl.col("second")
        better, there = pl.when("cost").then(-d).otherwise(d), d.is_not_null()
        in_first, in_second, lacks_first, lacks_second = map(
            pl.col, ("in_first", "in_second", "lacks_first", "lacks_second")
        )
        both = in_first & in_second
        figures = {
            "n": d.count(),
            "mean": d.mean(),
            "variance": d.var(ddof=0),
            "first": pl.when(there).then(first).mean(),
            "first_variance": pl.when(there).then(first).var(ddof=0),
            "second": pl.when(there).then(second).mean(),
            "lowest": d.min(),
            "highest": d.max(),
            "wins": (better > tolerance).sum(),
            "losses": (better < -tolerance).sum(),
            "below_0": (d < 0).sum(),
            "above_0": (d > 0).sum(),
            "both": both.sum(),
            "only_first": (in_first & ~in_second).sum(),
            "only_second": (in_second & ~in_first).sum(),
            "lacking_first": (both & lacks_first).sum(),
            "lacking_second": (both & lacks_second).sum(),
            "undefined_first": (both & lacks_first & ~lacks_second).sum(),
            "undefined_second": (both & lacks_second & ~lacks_first).sum(),
            "repeated": pl.col("repeated").any(),
            "moved": pl.col("moved").any(),
            "judged in part": pl.col("judged in part").any(),
        }
        if self.with_people:
            f, u = (pl.when(judged).then(pl.col("model")) for judged in (pl.col(JUDGED), ~pl.col(JUDGED)))
            figures |= {"n_f": f.count(), "f": f.mean(), "var_f": f.var(), "m": u.count(), "u": u.mean()}
            figures |= {"var_u": u.var(), "n_sum": (d + f).count(), "var_sum": (d + f).var()}
        return self._by_place(wide, places, facts, lambda rows: rows.group_by(*self.keys, "place").agg(**figures))

    def faulty(self, wide: pl.LazyFrame, fault: str) -> pl.LazyFrame:
        """The first queries of a fault, and their number."""
        rows = pl.col([f"{ROWS} {place}" for place in range(len(self.systems))])
        if fault == "judged in part":
            of_each = (f"{{}} {place}" for place in range(len(self.systems)))
            half = [(pl.col(name.format(ROWS)) > 0) & (pl.col(name.format(JUDGED)) == 0) for name in of_each]
            lacking = pl.when(pl.col(JUDGED)).then(pl.sum_horizontal(half)).fill_null(0)
            is_wrong, total = lacking > 0, lacking.sum()
        elif fault == "repeated":
            is_wrong, total = pl.any_horizontal(rows > 1), pl.sum_horizontal(pl.when(rows > 1).then(rows)).sum()
        else:
            is_wrong = pl.any_horizontal(pl.col(name) != pl.col(f"{LAST} {name}") for name in self.slices)
            total = pl.len()
        shown = cs.starts_with(f"{ROWS} ", f"{LAST} ", f"{JUDGED} ")
        found = wide.filter(is_wrong.fill_null(False))
        return found.select("query_id", *self.slices, shown, total=total.cast(pl.Int64)).head(SHOWN)

    def cubes(self, wide: pl.LazyFrame, places: Sequence[Place], facts: pl.DataFrame) -> pl.LazyFrame:
        """Sums of cubes of deviations, and the numbers of values clearly below and above the mean."""
        d, mean, rounding = pl.col("difference"), pl.col("mean"), pl.col("rounding")
        figures = {
            "cubes": ((d - mean) ** 3).sum(),
            "below": (d < mean - rounding).sum(),
            "above": (d > mean + rounding).sum(),
        }
        return self._by_place(wide, places, facts, lambda rows: rows.group_by(*self.keys, "place").agg(**figures))

    def bins(self, wide: pl.LazyFrame, places: Sequence[Place], facts: pl.DataFrame) -> pl.LazyFrame:
        """The differences in the bracket of each slice and pair, counted in `BINS` bins."""
        d, start, end = pl.col("difference"), pl.col("from"), pl.col("to")
        width = pl.max_horizontal((end - start) / BINS, pl.lit(5e-324))
        bin = ((d - start) / width).floor().clip(0, BINS - 1).cast(pl.Int64)
        figures = {"inside": pl.len(), "lowest": d.min(), "highest": d.max()}

        def summed(rows: pl.LazyFrame) -> pl.LazyFrame:
            return rows.filter(d.is_between(start, end)).group_by(*self.keys, "place", bin=bin).agg(**figures)

        return self._by_place(wide, places, facts, summed)
