"""Queries of a per-query frame: checked, in one order, with their slices and weights, and pairs of systems.

Conventions: queries are in the order of their ids, so that a mean over them is the same to the last bit whatever the
order of the rows. Values are finite numbers or null, which means undefined; weights are 0 or more. A frame in
memory is checked at once, what is lazy by its plan.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, repeat
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from polars_ir import statistics as stats
from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, OptionError
from polars_ir.frames.canonical_frame import CanonicalFrame, may_repeat
from polars_ir.frames.kinds import aligned_series
from polars_ir.frames.known_order import rows_of_plan
from polars_ir.frames.roles import ADVISED, note_of_structure
from polars_ir.frames.rules import Rule
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import average_of
from polars_ir.language.options import LARGEST
from polars_ir.per_query.provenance import warn_of_several
from polars_ir.per_query.shared.attributes import QUERY, column_for, with_attributes, with_keys
from polars_ir.per_query.shared.measures import Measures, measures_of, warn_of_attributes

#: Minimum number of rows for ordering texts by numbers.
MANY = 10_000

#: The column that orders ids.
NUMBER = "polars_ir: number"

#: A key shared by all queries, so that a mean over all of them is added up as one over a system's is.
ALL = "polars_ir: all"

#: Columns of weights, of the values of all measures stacked, of answered queries, of clusters and strata.
WEIGHT, VALUE, ANSWERED = "polars_ir: weight", "polars_ir: value", "polars_ir: answered"
CLUSTER, STRATUM = "polars_ir: cluster", "polars_ir: stratum"

#: True in rows that people judged, of a model's figures with a reference; prefix of the model's values beside people's.
JUDGED, MODEL = "polars_ir: judged by people", "polars_ir: of the model"

#: Number of ids that show whether they look like variants.
LOOKED_AT = 100_000

#: Queries of systems, by their names; a single one without a name.
Systems = list[tuple[str | None, pl.DataFrame]]


class Pair(NamedTuple):
    """Two systems by a measure; the sample has the differences, `run` less `baseline`, of queries with both values.

    `one_sided` counts the queries that only the baseline has, that only the run has, and those undefined for the run
    only and for the baseline only; `error` is the standard error of the run's mean. With a reference the sample has the
    moments of the estimate, `people` are people's differences, whose means, wins and losses the pair has, and `beside`
    the columns of the reference, with its note as `why`.
    """

    measure: str
    run: str
    baseline: str
    sample: stats.Sample
    mean: float | None
    baseline_mean: float | None
    wins: int
    losses: int
    n_missing: int
    notes: Sequence[str]
    one_sided: tuple[int, int, int, int] = (0, 0, 0, 0)
    error: float | None = None
    people: stats.Sample | None = None
    beside: Mapping[str, Any] | None = None

    @property
    def differing(self) -> int:
        """Number of queries that differ by more than the tolerance."""
        return self.wins + self.losses


class Pairs(NamedTuple):
    """Pairs of a slice, measure by measure.

    With values there are also those of all systems, by measure, and the differences, a column per pair, with the
    largest values that these are rounded by.
    """

    slice: Mapping[str, Any]
    pairs: Sequence[Pair]
    values: Sequence[stats.Floats] = ()
    differences: stats.Floats | None = None
    largest: stats.Floats | None = None


@dataclass(frozen=True)
class Queries:
    """Queries of a per-query frame, in the order they are added up in, with their attributes.

    `slices` are the user's names of the attributes; the rows have them where `column_for` says. `systems` are the
    columns that distinguish rows of a query, `weight` and `stratum` the columns of weights and strata, if any, and
    `cluster` is the name of the attribute whose values the rows have as clusters. Rows that are not `in_order` are
    added up as they come.
    """

    table: CanonicalFrame
    measures: Sequence[str]
    rows: pl.LazyFrame
    systems: Sequence[str]
    slices: Sequence[str] = ()
    weight: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    in_order: bool = True

    @property
    def keys(self) -> list[str]:
        """The columns that the queries of a mean share."""
        return [*map(column_for, self.slices), *self.systems] or [ALL]

    def compared(self, measures: Measures) -> Queries:
        """The queries without standard errors, which no system is better by; those that are named stay."""
        others = [name for name in self.measures if average_of(name, self.table.columns) != "error"]
        return replace(self, measures=others) if measures is None and others else self

    def means(self, *figures: Iterable[pl.Expr], **named: pl.Expr) -> pl.LazyFrame:
        """Figures of the queries of each mean, in the order of slices and systems."""
        return self.rows.group_by(self.keys).agg(*figures, **named).sort(self.keys)

    def below_each_other(self, measures: Sequence[str]) -> Queries:
        """Values of the measures in one column, and their names in another that distinguishes means."""
        others = filter(None, (self.weight, self.stratum))
        keys = [*self.keys, *others]
        rows = self.rows.select(*keys, pl.col(measures).cast(pl.Float64))
        # A measure may itself be called `measure`.
        name = "polars_ir: measure"
        long = rows.unpivot(measures, index=keys, variable_name=name, value_name=VALUE).rename({name: "measure"})
        return replace(self, rows=long, systems=[*self.systems, "measure"])

    def named(self, means: pl.LazyFrame, columns: Iterable[str]) -> pl.LazyFrame:
        """These columns of means, after their keys; slices come in order, under their names."""
        columns = [*self.systems, *columns]
        if not self.slices:
            return means.select(columns)
        check_names(self.slices, columns)
        slices = dict(zip(map(column_for, self.slices), self.slices, strict=True))
        return means.sort(*slices, maintain_order=True).select(*slices, *columns).rename(slices)

    def of_clusters(self, mean: Callable[[str], pl.Expr]) -> Queries:
        """Clusters instead of their queries, if there are any, with the means of their values."""
        if self.cluster is None:
            return self
        means = [mean(measure).alias(measure) for measure in self.measures]
        strata = [pl.col(self.stratum).first()] if self.stratum else []
        rows = self.rows.group_by(*self.keys, CLUSTER, maintain_order=True).agg(*means, *strata)
        return replace(self, rows=rows.rename({CLUSTER: "query_id"}).sort("query_id"))

    def note(self, *, clustered: bool = True) -> str | None:
        """Note on clusters that count instead of queries, or that ids suggest.

        With advice if queries can be `clustered`.
        """
        if self.cluster == QUERY:
            return "each query counts once, as the mean of its rows"
        if self.cluster is not None:
            return f"queries are clusters of {self.cluster!r}"
        others, n = sorted({*self.table.columns} - {*self.table.keys}), self.table.rows
        if n > LOOKED_AT and not self.table.dtypes["query_id"].is_integer():
            # Variants of a query are neighbours, so that the first of many ids show whether to look at all.
            last = self.rows.select(NUMBER).collect(engine="in-memory").to_series().sort()[LOOKED_AT]
            if note_of_structure(others, self.rows.filter(pl.col(NUMBER) <= last)) is None:
                return None
        note = note_of_structure(others, self.rows if n else None)
        return note if note is None or clustered else note.partition(ADVISED)[0]

    def each_system(self, per_query: Any, *others: str) -> Systems:
        """Measures and slices of each system's queries, and other columns of them, in the order of their ids."""
        columns = [*map(column_for, self.slices), *self.measures, *others]
        if not self.systems:
            return [(None, self.rows.select(columns).collect())]
        # Systems keep their order of appearance. Sorting the rows of each separately takes half the time.
        systems = systems_of(per_query, self.table.select("run").collect())
        name = pl.col("run").cast(pl.String)
        return [(system, self.rows.filter(name == system).select(columns).collect()) for system in systems]


def queries_of(
    per_query: Any,
    measures: Measures = None,
    *,
    by: Any = None,
    weights: Any = None,
    cluster: Any = None,
    strata: Any = None,
    needs: str | None = None,
    what: str | None = None,
    several: bool = False,
    keys: Sequence[str] = (),
    repeated: bool = False,
) -> Queries:
    """Queries of a per-query frame, with weights, and sliced by attributes; `needs` names those that it must have.

    `what` names, in messages, a function that needs some rows in memory; it may need `several` systems. `keys`
    distinguish rows of a query and system, as do the columns that are named where queries repeat. Rows of a plan may be
    `repeated` for a caller that counts them; in a plan without weights, clusters and strata they are unordered.
    """
    plain = weights is None and by is None and cluster is None and strata is None
    named = () if plain else _named_in(weights, by, cluster, strata)
    table = per_query_table(per_query)
    names = measures_of(table, measures, without=[*named, *keys])
    others = {*table.columns} - {*table.keys}
    named_keys = list(dict.fromkeys(filter(others.__contains__, named)))
    as_given, table = table, with_keys(table, keys) if keys else table
    if what:
        _check_some(table, what, several=several)
    # Attributes of another frame are joined, and rows with weights are sorted.
    comes = plain or (weights is None and cluster is None and strata is None and bool(named))
    rows, is_ordered = table.checked(*rules_of(table, names)), False
    order: list[str] = []
    systems = list(filter("query_id".__ne__, table.keys))
    sorted_by = "query_id"
    if not table.eager:
        rows, order = rows_of_plan(table, rows, names, named_keys, as_they_come=comes, repeated=repeated)
    else:
        frame, sorted_by = numbered(rows.collect(engine="in-memory"), "query_id"), NUMBER
        # Among many unordered rows the first ones show it.
        is_ordered = frame.height > MANY and all(_are_in_order(part, systems) for part in (frame.head(MANY), frame))
        if not is_ordered and may_repeat(frame.lazy().select(NUMBER, *systems)):
            if named_keys and not keys:
                table = with_keys(table, named_keys)
                frame = numbered(table.checked(*rules_of(table, names)).collect(engine="in-memory"), "query_id")
            as_given.check_once(*dict.fromkeys([*keys, *named_keys]), *as_given.keys)
        rows = frame.lazy()
    slices: list[str] = []
    clustered_by: str | None = None
    if strata is not None:
        rows = _with_strata(table, rows, aligned_series("strata", strata, per_query))
    if cluster is not None:
        rows, clustered_by = _with_clusters(table, rows, aligned_series("cluster", cluster, per_query))
    if weights is not None:
        rows = _with_weights(table, rows, aligned_series("weights", weights, per_query))
    if by is not None or needs:
        rows, slices = with_attributes(table, rows, aligned_series(needs or "by", by, per_query), needs or "by")
        # -0.0 equals 0.0, and belongs to its slice.
        value = cs.by_name(*map(column_for, slices)) & cs.float()
        rows = rows.with_columns(pl.when(value == 0).then(value.abs()).otherwise(value))
    # The values of a system are added up in the order of their queries, wherever other systems' rows are.
    in_order = table.eager or not (weights is None and cluster is None and strata is None)
    if in_order and (several or not is_ordered):
        rows = rows.sort(sorted_by)
    ordered = rows.with_columns(pl.lit(1, pl.UInt32).alias(ALL))
    # Guards of attributes do not keep the claim.
    ordered = ordered.set_sorted(*order) if order and repeated else ordered
    weight, stratum = (WEIGHT if weights is not None else None), (STRATUM if strata is not None else None)
    return Queries(table, names, ordered, systems, slices, weight, stratum, clustered_by, in_order)


def sampled(per_query: Any, options: Mapping[str, Any]) -> Queries:
    """Queries as a sample, by the options of a function that estimates means; warns of mixed provenance."""
    named = {name: options[name] for name in ("by", "weights", "cluster", "strata") if name in options}
    queries = queries_of(per_query, **named)
    warn_of_attributes(queries.table, queries.measures)
    warn_of_several(queries.table, queries.measures)
    return queries


def people_of(measure: str) -> str:
    """The column of people's values of a measure, with a reference."""
    return f"polars_ir: people's {measure}"


def numbered(rows: pl.DataFrame, ids: str) -> pl.DataFrame:
    """The rows with `NUMBER`, a number that orders ids as they are ordered themselves, different for different ids.

    Of many texts it is a number of eight of their bytes, by which they are in order in a tenth of the time.
    """
    number = pl.col(ids)
    if rows.height < MANY or rows[ids].dtype != pl.String:
        return rows.with_columns(number.alias(NUMBER))
    length = number.str.len_bytes()
    shortest, longest = rows.select(a=length.min(), b=length.max()).row(0)
    shared = _shared_start(rows[ids].gather_every(rows.height // MANY))
    if not rows[ids].str.starts_with(shared).all():
        shared = _shared_start(rows[ids])
    start, same_length = len(shared.encode()), shortest == longest >= 8
    if same_length:
        start = min(start, longest - 8)
    elif shortest < start + 8:
        number = number.str.pad_end(len(shared) + 8, "\0")
    number = number.cast(pl.Binary).bin.slice(start, 8).bin.reinterpret(dtype=pl.UInt64, endianness="big")
    rows = rows.with_columns(number.alias(NUMBER))
    return rows if same_length and longest <= start + 8 else _distinct(rows, ids)


def _shared_start(texts: pl.Series) -> str:
    """Common start of all texts: those between the first and the last in order share it."""
    return os.path.commonprefix([str(texts.min()), str(texts.max())])  # noqa: RUF071  # texts, and no paths


def _distinct(rows: pl.DataFrame, ids: str) -> pl.DataFrame:
    """The rows with new numbers where different ids share one, since they differ in later bytes only."""
    texts = rows.select(NUMBER, ids).sort(NUMBER)
    differ = (pl.col(NUMBER) == pl.col(NUMBER).shift()) & (pl.col(ids) != pl.col(ids).shift())
    several = texts.filter(differ)[NUMBER].unique()
    if several.is_empty():
        return rows
    numbers = rows.select(NUMBER, ids).unique().sort(NUMBER)
    alike = pl.col(NUMBER).is_in(several.implode())
    # Ids of one number are contiguous in both orders.
    numbers = pl.concat([numbers.filter(~alike), numbers.filter(alike).sort(ids)]).sort(NUMBER, maintain_order=True)
    numbers = numbers.select(ids, pl.int_range(pl.len(), dtype=pl.UInt64).alias(NUMBER))
    return rows.drop(NUMBER).join(numbers, on=ids, maintain_order="left")


def _are_in_order(rows: pl.DataFrame, systems: Sequence[str]) -> bool:
    """True if rows are in the order of queries, or each system's are contiguous and ordered, and each occurs once."""
    numbers = rows[NUMBER]
    falls = numbers <= numbers.shift()
    if not systems:
        return not falls.any()
    if numbers.is_sorted():
        system = rows[systems[0]]
        return bool((~falls | (system > system.shift())).all())
    stretches = rows[systems[0]].rle().struct.unnest()
    starts = stretches["len"].cum_sum()
    return stretches["value"].is_unique().all() and falls.arg_true().is_in(starts.implode()).all()


def _check_some(table: CanonicalFrame, what: str, *, several: bool) -> None:
    """Raise an error for a plan, or for no rows, where a function needs some; it may need `several` systems."""
    table.check_in_memory(what)
    if several and "run" not in table.dtypes:
        raise ColumnError.one_system(what, table.columns)
    if not table.rows:
        raise DataError("has no rows, and so no queries to compare.", about="per_query")


def _named_in(*options: Any) -> list[str]:
    """Columns of per_query named as slices, weights, clusters or strata, which are then no measures."""
    lists = [[option] if isinstance(option, str) else option for option in options]
    return [name for names in lists if isinstance(names, (list, tuple)) for name in names]


def rules_of(table: CanonicalFrame, measures: Iterable[str]) -> Iterator[Rule]:
    """Rules of rows: ids, and values whose squares can be summed."""
    for key in table.keys:
        fix = Fix("Leave them out", Code.without_nulls(table.about, table.names[key]))
        yield Rule(pl.col(key).is_null(), f"whose {table.names[key]!r} is null", fix)
    advice = "Leave the queries out, or make the values null, which means undefined."
    says = f"is NaN or infinite, or beyond {LARGEST:g}"
    wrong = {}
    for name in measures:
        if table.dtypes[name].is_float():
            wrong[name] = ~pl.col(name).is_finite() | (pl.col(name).abs() > LARGEST)
    if table.eager:
        for name, is_wrong in wrong.items():
            yield Rule(is_wrong, f"whose {name!r} {says}", advice)
    elif wrong:
        # One rule for all measures, as each has a column of the plan.
        yield Rule(pl.any_horizontal(wrong.values()), f"with a measure that {says}", advice)


def _with_one(
    table: CanonicalFrame, rows: pl.LazyFrame, attribute: Any, option: str, column: str
) -> tuple[pl.LazyFrame, str]:
    """Rows with one attribute of every query in a column of ours, and its name."""
    rows, (name, *others) = with_attributes(table, rows, attribute, option)
    if others:
        raise ColumnError(f"must be one column; got {', '.join(map(repr, [name, *others]))}.", about=option)
    return rows.with_columns(pl.col(column_for(name)).alias(column)).drop(column_for(name)), name


def _with_weights(table: CanonicalFrame, rows: pl.LazyFrame, weights: Any) -> pl.LazyFrame:
    rows, name = _with_one(table, rows, weights, "weights", WEIGHT)
    dtype = rows.select(WEIGHT).collect_schema().dtypes()[0]
    if not dtype.is_numeric():
        holder = "per_query" if isinstance(weights, (str, list, tuple)) else "weights"
        remedy = Fix("Cast it", Code.casting(holder, name, pl.Float64))
        raise DtypeError.of_column("weights", name, "numbers", dtype, remedy)
    rule = Rule(
        ~pl.col(WEIGHT).is_between(0, LARGEST),
        f"whose weight is below 0 or beyond {LARGEST:g}",
        "Weights are 0 or more; 0 leaves a query out.",
    )
    rows = rows.with_columns(pl.col(WEIGHT).cast(pl.Float64))
    rows = table.checked(rule, rows=rows, names={WEIGHT: name})
    if table.rows and not rows.select(pl.col(WEIGHT).max()).collect().item():
        raise DataError(f"must not all be 0; {name!r} is 0 for all {table.rows} rows of per_query.", about="weights")
    return rows


def _with_strata(table: CanonicalFrame, rows: pl.LazyFrame, strata: Any) -> pl.LazyFrame:
    rows, name = _with_one(table, rows, strata, "strata", STRATUM)
    if table.rows:
        sizes = rows.group_by(*filter("query_id".__ne__, table.keys), STRATUM).len().filter(len=1)
        if (small := sizes.collect()).height:
            says = f"must have two queries or more of each; {name!r} is {small[STRATUM].sort()[0]!r} for one."
            raise DataError(says, about="strata", fix="Merge it with another, as one query shows no spread")
    return rows


def _with_clusters(table: CanonicalFrame, rows: pl.LazyFrame, clusters: Any) -> tuple[pl.LazyFrame, str]:
    """Rows with the cluster of every query, and the name of the clusters."""
    rows, name = _with_one(table, rows, clusters, "cluster", CLUSTER)
    if table.rows:
        strata = [STRATUM] if STRATUM in rows.collect_schema() else []
        of_queries = rows.select("query_id", CLUSTER, *strata).unique().collect()
        several = of_queries.filter(pl.col("query_id").is_duplicated()).sort("query_id", CLUSTER)
        if several.height:
            shown = several.rename({"query_id": table.names["query_id"], CLUSTER: name})
            remedy = "A query must be in the same cluster for every system."
            raise DataError.rows("per_query", "of queries in several clusters", remedy, several.height, shown)
        if of_queries[CLUSTER].n_unique() < 2:
            says = f"must have two values or more; {name!r} is {of_queries[CLUSTER][0]!r} for all queries."
            raise DataError(says, about="cluster", fix="Leave it out, or take a column that distinguishes queries")
        if strata and of_queries.select(CLUSTER, STRATUM).n_unique() > of_queries[CLUSTER].n_unique():
            says = f"must have one stratum for all queries of each; some values of {name!r} have several."
            raise DataError(says, about="cluster", fix="Take strata that clusters are wholly in")
    return rows, name


def check_names(slices: Iterable[str], columns: Iterable[str]) -> None:
    """Raise a `ColumnError` for a column of slices or a key with the name of a column of the result."""
    if clash := set(slices).intersection(columns):
        says = f"a key or a column of slices may not be called {min(clash)!r}, like one of the result."
        raise ColumnError(says, fix=Fix("Rename it", Code.renaming("", {min(clash): f"my_{min(clash)}"})))


def schema_of(slices: Sequence[str], queries: pl.LazyFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Types of a result: those of the slices, and its other columns, of which none may have the same name."""
    check_names(slices, columns)
    dtypes = queries.collect_schema()
    return {**{name: dtypes[name] for name in slices}, **columns}


def systems_of(per_query: Any, rows: pl.DataFrame) -> list[str]:
    """Names of the systems: sorted or, if they came in a dict, in its order."""
    systems = rows["run"].cast(pl.String).unique(maintain_order=True).to_list()
    return systems if isinstance(per_query, Mapping) else sorted(systems)


def pairs_of(systems: Sequence[str], baseline: object) -> list[tuple[int, int]]:
    """Places of (system, baseline) to compare: every other one with the baseline, or each with each."""
    if baseline is None:
        return [(system, against) for against, system in combinations(range(len(systems)), 2)]
    if str(baseline) not in systems:
        raise OptionError.not_a_system("baseline", str(baseline), systems)
    against = systems.index(str(baseline))
    return list(zip([*range(against), *range(against + 1, len(systems))], repeat(against)))


def notes_of_lacking(
    measure: str, systems: Sequence[str], lacking: Sequence[int], of_one: Sequence[int], n: int
) -> list[str]:
    """Notes on missing values of a pair, of n queries that both answered: per system, and of one system alone."""
    notes = []
    for system, missing, alone in zip(systems, lacking, of_one, strict=True):
        if missing == n and any(lacking):
            notes.append(f"{system!r} has no value of {measure!r}")
        elif alone:
            notes.append(f"undefined for {system!r} only: {alone}, left out")
    return notes
