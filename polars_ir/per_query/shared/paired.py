"""Several systems on the same queries: values as arrays or, for a plan, moments of their differences.

Conventions: a query that one system lacks counts 0 for it (`missing="zero"`), or is left out wherever that system takes
part (`"skip"`), as in `evaluate`; a pair with an undefined value is left out, and the notes of the pair count queries
with a value of one system only. Queries of a cluster, such as variants of one, count once: as the mean of those for
which all systems have a value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import ColumnError, DataError, InputTypeError, OptionError, option
from polars_ir.extras import np
from polars_ir.frames.roles import PROVENANCE
from polars_ir.language.columns import is_cost
from polars_ir.per_query.provenance import check_made_alike, codes_of_judgments, note_of_other_judgments
from polars_ir.per_query.shared.attributes import QUERY, column_for, with_systems
from polars_ir.per_query.shared.measures import Measures, Range, range_of, warn_of_attributes
from polars_ir.per_query.shared.pair_sums import Sums, sums_of
from polars_ir.per_query.shared.queries import (
    ANSWERED,
    CLUSTER,
    JUDGED,
    NUMBER,
    Pair,
    Pairs,
    Queries,
    notes_of_lacking,
    pairs_of,
    people_of,
    queries_of,
    systems_of,
)
from polars_ir.per_query.shared.sums import MEANS_OF_CLUSTERS, Source


@dataclass(frozen=True)
class Scores:
    """Values of several systems on the same queries, as arrays.

    `values` holds an array per measure with a row per query and a column per system; NaN where there is no value.
    `answered` is true, in the same shape, where the system had a row for the query at all. `queries` has the query's
    id, under the name it came with, and the columns of `slices`. `clusters` has the number of each query's cluster, if
    queries have some, and `each_query` the scores of queries where the rows are clusters. `note` belongs to every row.
    `system` is the name that the column of systems came with. `judged` has numbers of the judgments of each query and
    system, by the column that shows them. With a reference the scores are people's, NaN for queries that they did not
    judge, and `model` has the model's.
    """

    systems: tuple[str, ...]
    queries: pl.LazyFrame
    values: Mapping[str, stats.Floats]
    answered: stats.Booleans
    slices: tuple[str, ...] = ()
    note: str | None = None
    clusters: np.typing.NDArray[np.intp] | None = None
    each_query: Scores | None = None
    system: str = "run"
    judged: Mapping[str, stats.Floats] = field(default_factory=dict)
    model: Mapping[str, stats.Floats] = field(default_factory=dict)

    def of_clusters(self) -> Scores:
        """The scores of clusters instead of their queries, if there are clusters."""
        if self.clusters is None:
            return self
        numbers = np.unique(self.clusters, return_inverse=True)[1]

        def means(values: stats.Floats) -> stats.Floats:
            """Means over the queries with values of all systems that have any."""
            complete = _complete(values)
            n = np.bincount(numbers[complete], minlength=numbers.max(initial=-1) + 1)
            sums = [np.bincount(numbers[complete], column[complete], len(n)) for column in values.T]
            with np.errstate(invalid="ignore"):
                return np.column_stack(sums) / n[:, None]

        values = {measure: means(of_queries) for measure, of_queries in self.values.items()}
        answered = means(self.answered.astype(float)) > 0
        queries = pl.LazyFrame({"cluster": range(len(answered))})
        return Scores(self.systems, queries, values, answered, note=self.note, each_query=self, system=self.system)

    def each_slice(self) -> Iterator[tuple[dict[str, Any], Scores]]:
        """The values that name a slice, and the scores of its clusters or queries; without slices, all scores."""
        yield from ((names, part.of_clusters()) for names, part in self._each_slice())

    def _each_slice(self) -> Iterator[tuple[dict[str, Any], Scores]]:
        if not self.slices:
            yield {}, self
            return
        queries = self.queries.collect()
        rows = queries.with_row_index("polars_ir: row").group_by(self.slices, maintain_order=True)
        slices = rows.agg("polars_ir: row").sort(self.slices, nulls_last=True)
        for *names, places in slices.iter_rows():
            values, judged, model = (
                {name: array[places] for name, array in arrays.items()}
                for arrays in (self.values, self.judged, self.model)
            )
            clusters = None if self.clusters is None else self.clusters[places]
            part = replace(self, queries=queries[places].lazy(), values=values, answered=self.answered[places])
            part = replace(part, clusters=clusters, judged=judged, model=model)
            yield dict(zip(self.slices, names, strict=True)), part

    def index(self, system: object, option: str = "baseline") -> int:
        """Column of a system; an error that names the nearest ones for an unknown name."""
        if str(system) not in self.systems:
            raise OptionError.not_a_system(option, str(system), self.systems)
        return self.systems.index(str(system))

    def examples(self, systems: Iterable[int]) -> str:
        """Some queries that each of these systems answered, for a message."""
        ids = self.queries.collect().to_series()
        first = [(self.systems[i], ids.filter(pl.Series(self.answered[:, i])).head(3)) for i in systems]
        return "; ".join(f"{system!r} has {', '.join(map(repr, queries))}" for system, queries in first)

    def n_missing(self, pair: tuple[int, int]) -> int:
        """Number of queries that only one of two systems answered."""
        answered = (self.each_query or self).answered
        return int((answered[:, pair[0]] != answered[:, pair[1]]).sum())

    def notes(self, systems: Sequence[int]) -> list[str]:
        """The note of every row, and that on queries that were judged differently for some systems."""
        judged = (self.each_query or self).judged
        return list(filter(None, (self.note, note_of_other_judgments(judged, systems))))

    def left_out(self, measure: str, systems: Sequence[int]) -> list[str]:
        """Notes on some systems: on queries left out of their clusters, and those of every row."""
        n = 0 if self.each_query is None else int((~_complete(self.each_query.values[measure])).sum())
        notes = [f"left out of clusters, without a value of all systems: {n}"] if n else []
        return [*notes, *self.notes(systems)]

    def undefined(self, measure: str, pair: tuple[int, int]) -> list[str]:
        """Notes on a pair: those on all systems, and on queries that both answered and only one has a value for."""
        if self.each_query is not None:
            return self.left_out(measure, pair)
        answered = self.answered[:, pair].all(axis=1)
        lacking = np.isnan(self.values[measure][:, pair])[answered]
        if not lacking.any():
            return self.notes(pair)
        of_one = (lacking & ~lacking[:, ::-1]).sum(axis=0).tolist()
        systems = [self.systems[system] for system in pair]
        notes = notes_of_lacking(measure, systems, lacking.sum(axis=0).tolist(), of_one, len(lacking))
        return [*notes, *self.left_out(measure, pair)]

    def of_all(self, measure: str) -> tuple[stats.Floats, list[str]]:
        """Values of the queries for which all systems have one, and notes on the others."""
        values = self.values[measure]
        complete = values[~np.isnan(values).any(axis=1)]
        left_out = len(values) - len(complete)
        notes = [f"left out, without a value of some system: {left_out}"] if left_out else []
        return complete, [*notes, *self.left_out(measure, range(len(self.systems)))]

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures."""
        return tuple(self.values)

    def seen(self, measure: str) -> stats.Floats:
        """The values of a measure."""
        values = self.values[measure]
        return values[~np.isnan(values)]

    def paired(
        self,
        pairs: Sequence[tuple[int, int]],
        *,
        missing: str,  # noqa: ARG002  # the values have it
        tolerance: float = 0.0,
        complete: bool = False,
        tails: bool = False,  # noqa: ARG002  # values have tails
        as_0: Collection[str] | None = None,
        ranges: Mapping[str, Range] | None = None,
    ) -> Iterator[Pairs]:
        """Pairs of each slice.

        A difference within the `tolerance` is a tie. In `complete` ones, only queries with values of all systems count.
        For measures that are counted `as_0`, a missing value of the first of two systems is 0 where the second has one.
        Samples have the given `ranges` of measures, or the catalogue's.
        """
        for names, part in self._each_slice():
            filled = part._filled(pairs, as_0) if as_0 else part  # noqa: SLF001  # its own
            of_clusters = filled.of_clusters()
            one_sided = None if as_0 is None else part
            yield of_clusters._pairs(names, pairs, one_sided, tolerance, ranges or {}, complete=complete)  # noqa: SLF001

    def _filled(self, pairs: Sequence[tuple[int, int]], as_0: Collection[str]) -> Scores:
        """The scores with 0 for missing values of the first system, where the second has one."""
        values = dict(self.values)
        for measure in as_0:
            values[measure] = values[measure].copy()
            for first, second in pairs:
                there = ~np.isnan(values[measure])
                values[measure][there[:, second] & ~there[:, first], first] = 0
        return replace(self, values=values)

    def _pairs(
        self,
        names: Mapping[str, Any],
        pairs: Sequence[tuple[int, int]],
        given: Scores | None,
        tolerance: float,
        ranges: Mapping[str, Range],
        *,
        complete: bool,
    ) -> Pairs:
        """Pairs of all queries; the `given` scores show who lacks what, and have means as `ir.mean` adds them up."""
        values = [stats.of_all(of) if complete else of for of in self.values.values()]
        differences, made = stats.differences(values, pairs), []
        columns = zip(product(zip(self.values, values, strict=True), pairs), differences.T, strict=True)
        for ((measure, of_measure), pair), column in columns:
            there = stats.there(column)
            d = column[there]
            width = getattr(ranges.get(measure) or range_of(measure), "width", math.inf)
            better = -d if is_cost(measure) else d
            of_pair = of_measure[there][:, pair]
            # By column, or query by query.
            of_pair = np.asfortranarray(of_pair) if given is None else np.ascontiguousarray(of_pair)
            mean, baseline_mean = of_pair.mean(axis=0).tolist() if len(d) else (None, None)
            made.append(
                Pair(
                    measure,
                    self.systems[pair[0]],
                    self.systems[pair[1]],
                    stats.Values(d, support=(-width, width)),
                    mean,
                    baseline_mean,
                    int((better > tolerance).sum()),
                    int((better < -tolerance).sum()),
                    self.n_missing(pair),
                    self.undefined(measure, pair),
                    (0, 0, 0, 0) if given is None else given.one_sided(measure, pair),
                    float(stats.deviation(of_pair[:, 0])) / math.sqrt(len(d)) if len(d) > 1 else None,
                )
            )
        if self.model:
            from polars_ir.per_query.shared.reference import with_estimates
            from polars_ir.statistics.prediction import moments_of

            of_model = stats.differences(list(self.model.values()), pairs)
            moments = moments_of(differences, of_model, np.logical_or.reduce(self.answered, axis=1))
            return Pairs(names, with_estimates(made, moments))
        return Pairs(names, made, values, differences, stats.largest_values(values, pairs))

    def one_sided(self, measure: str, pair: tuple[int, int]) -> tuple[int, int, int, int]:
        """The counts of `Pair.one_sided`."""
        answered, lacking = self.answered[:, pair], np.isnan(self.values[measure][:, pair])
        only = (answered & ~answered[:, ::-1]).sum(axis=0).tolist()
        undefined = (lacking & ~lacking[:, ::-1])[answered.all(axis=1)].sum(axis=0).tolist()
        return only[1], only[0], undefined[0], undefined[1]

    def pairs(self, baseline: object, what: str) -> list[tuple[int, int]]:
        """Columns of (system, baseline) to compare: every other one with the baseline, or each with each.

        A `DataError` if no pair of systems answered two common queries; `what` is the function that the message names.
        """
        pairs = pairs_of(self.systems, baseline)
        for pair in pairs:
            if self.answered[:, pair].all(axis=1).sum() > 1:
                return pairs
        raise DataError(
            f"{what} needs two queries or more that both systems of a pair answered; "
            f"{self.examples(pairs[0])}. Evaluate the systems on the same queries, and write their ids alike."
        )


def _complete(values: stats.Floats) -> stats.Booleans:
    """True for the queries with values of all systems that have any."""
    lacking = np.isnan(values)
    return np.logical_not(lacking[:, ~lacking.all(axis=0)].any(axis=1, keepdims=True))[:, 0]


def scores_of(
    per_query: Any,
    measures: Measures,
    options: Mapping[str, Any],
    *,
    by: Any = None,
    cluster: Any = None,
    keys: Sequence[str] = (),
    clustered: bool = True,
    what: str,
) -> Scores:
    """Scores of the systems of a per-query frame, by the options of a function that messages name.

    Where `keys` distinguish several rows of a query, the query is the cluster. A function whose queries cannot be
    `clustered` has no note that advises it.
    """
    cluster = QUERY if keys and cluster is None else cluster
    of = queries_of(per_query, measures, by=by, cluster=cluster, what=what, several=True, keys=keys)
    of = of.compared(measures)
    if measures is None:
        warn_of_attributes(of.table, of.measures)
    if (people := options.get("reference")) is not None:
        from polars_ir.per_query.shared.reference import with_people

        of = with_people(of, people, named=measures is not None)
    systems = systems_of(per_query, of.table.select("run").collect())
    if len(systems) < 2:
        raise ColumnError.one_system(what, of.table.columns, systems)
    note = of.note(clustered=people is None and clustered)
    if PROVENANCE in of.table.columns:
        made = of.rows.sort(of.table.keys).collect()
        note = "; ".join(filter(None, (note, check_made_alike(of.table, made, of.measures)))) or None
    slices, others = list(map(column_for, of.slices)), [] if cluster is None else [CLUSTER]
    column = pl.col("run").cast(pl.String).cast(pl.Enum(systems)).to_physical()
    columns = [*of.measures] if people is None else [*of.measures, JUDGED, *map(people_of, of.measures)]
    rows = of.rows.select(NUMBER, *slices, *others, *columns, column.alias(ANSWERED)).collect(engine="in-memory")
    # Rows are in the order of their queries.
    query = rows[NUMBER].rle_id()
    is_first = query != query.shift(fill_value=len(query))
    if slices:
        _check_slices(of, rows.select(slices), query, is_first)
    # Where rows have ids of their own, the query is in another column.
    query_id = QUERY if QUERY in of.table.dtypes else "query_id"
    names = {query_id: of.table.names["query_id"], **dict(zip(slices, of.slices, strict=True))}
    # NumPy is named before Polars hands over values, which panics without it.
    lacking = np.float64(0.0 if options["missing"] == "zero" else "nan")
    clusters = rows[CLUSTER].filter(is_first).rank("dense").cast(pl.Int64).to_numpy() if others else None
    cells = (query.cast(pl.Int64) * len(systems) + rows[ANSWERED].cast(pl.Int64)).to_numpy()
    answered = np.zeros((int(is_first.sum()), len(systems)), bool)
    np.put(answered, cells, True)

    def by_cell(column: str, unanswered: stats.Floats | float) -> stats.Floats:
        found = np.full(answered.shape, unanswered)
        np.put(found, cells, rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy())
        return found

    model, values = {}, {measure: by_cell(measure, lacking) for measure in of.measures}
    if people is not None:
        model, there, answered = values, answered, by_cell(JUDGED, np.nan) == 1
        values = {}
        of_part = answered.any(axis=1, keepdims=True) & ~answered
        _check_judged_whole(of, pl.Series(np.take(of_part & there, cells)))
        for measure in of.measures:
            values[measure] = np.where(of_part, lacking, by_cell(people_of(measure), np.nan))
    judged = {}
    for name, codes in codes_of_judgments(of.table, of.rows).items():
        judged[name] = np.full(answered.shape, np.nan)
        np.put(judged[name], cells, codes)
    queries, system = of.rows.filter(is_first).select(*names).rename(names), of.table.names["run"]
    found = Scores(tuple(systems), queries, values, answered, tuple(of.slices), note, clusters, system=system)
    return replace(found, judged=judged, model=model)


def _check_judged_whole(of: Queries, is_lacking: pl.Series) -> None:
    """Raise a `DataError` for rows that people lack, of queries that they judged for other systems."""
    if not is_lacking.any():
        return
    from polars_ir.per_query.shared.reference import IN_PART

    keys = list(of.table.keys)
    shown = of.rows.select(keys).collect().filter(is_lacking).sort("query_id", "run")
    problem, fix = IN_PART
    raise DataError.rows(
        "reference", problem, fix, shown.height, shown.rename({key: of.table.names[key] for key in keys})
    )


def _check_slices(of: Queries, attributes: pl.DataFrame, query: pl.Series, is_first: pl.Series) -> None:
    """Raise a `DataError` for a query that is in several slices, by the attributes of the rows."""
    of_first = attributes.filter(is_first)[query]
    is_other = pl.any_horizontal(attributes[name] != of_first[name] for name in attributes.columns)
    several = attributes.select(is_other).to_series()
    if several.any():
        remedy = "A query must be in the same slice for every system."
        rows = of.rows.filter(query.is_in(query.filter(several).unique().implode()))
        shown = rows.select("query_id", *attributes.columns).unique().sort("query_id", *attributes.columns).collect()
        names = dict(zip(attributes.columns, of.slices, strict=True))
        if (name := of.table.names["query_id"]) not in of.slices:
            names["query_id"] = name
        raise DataError.rows("per_query", "of queries in several slices", remedy, shown.height, shown.rename(names))


#: The systems of a frame, by values or by sums.
PairedSystems = Scores | Sums


def paired_systems(
    per_query: Any,
    measures: Measures,
    options: Mapping[str, Any],
    *,
    what: str,
    only: Mapping[str, Sequence[str | None]],
    keys: Sequence[str] = (),
    source: Source | None = None,
    common: tuple[int, str] | None = None,
    advice: str | None = None,
) -> PairedSystems:
    """Systems of a frame by the options of a function: scores or, for a LazyFrame or a dict of them, sums.

    `only` lists the values of options that sums support, the recommended one first; others are an error. `common` is
    the minimum number of common queries of a pair, and an error for fewer; `advice` is as in `sums_of`.
    """
    by, cluster, systems = (options.get(name) for name in ("by", "cluster", "systems"))
    first = next(iter(per_query.values()), None) if isinstance(per_query, Mapping) else per_query
    if not isinstance(first, pl.LazyFrame) and getattr(first, "eager", True):
        if systems is not None:
            per_query, people = with_systems(per_query, systems), options.get("reference")
            options = {**options, "reference": None if people is None else with_systems(people, systems)}
        return scores_of(per_query, measures, options, by=by, cluster=cluster, keys=keys, what=what)
    for name, values in only.items():
        if options[name] not in values:
            raise InputTypeError.lazy(f"{what} with {option(name, options[name])}", option(name, values[0]))
    if cluster is not None:
        raise InputTypeError.lazy(f"{what} with cluster", MEANS_OF_CLUSTERS)
    if systems is not None:
        raise InputTypeError.lazy(f"{what} with systems", "that column in place of 'run'")
    people = options.get("reference")
    return sums_of(per_query, measures, by=by, people=people, what=what, source=source, common=common, advice=advice)
