"""People's values of some queries beside a model's of all, and the estimates of their mean by both.

Conventions: people's values are columns beside the model's. Rows of a query and system that people judged are a random
part of the model's; a frame in memory is checked at once, a plan when it is collected.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import SHOWN, Code, ColumnError, DataError, Fix, MeasureError, OptionError, option, quoted, warn
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.kinds import collected
from polars_ir.frames.known_order import rows_of_plan
from polars_ir.frames.rules import Rule, checked
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import average_of
from polars_ir.per_query.shared import averages
from polars_ir.per_query.shared.attributes import QUERY, joinable
from polars_ir.per_query.shared.averages import DEGREES, ERROR, HIGHEST, LOWEST, MEAN, NUMBER, Averaging
from polars_ir.per_query.shared.measures import measures_of
from polars_ir.per_query.shared.queries import JUDGED, Pair, Queries, people_of, rules_of

#: Columns of a reference in a result, after all others.
ADDED = {
    "n_model": pl.UInt32,
    **dict.fromkeys(("lambda", "rho", "n_equivalent", "people_mean", "model_mean"), pl.Float64),
}

#: True in rows that the model judged.
HERE = "polars_ir: judged by the model"

#: Advice on people's queries without a model's figures, and where the model's rows are a part of people's.
OF_ALL = "Evaluate the model's judgments of them too, or leave them out"
EXCHANGED = (
    "It has all rows of per_query besides; exchange them, if per_query has people's figures and this the model's"
)

#: The problem of queries that people judged of some systems only, and advice.
IN_PART = (
    "too few, of queries that people judged for some systems only",
    "Evaluate all systems of a query by people's judgments, or leave the query out of the reference",
)


def check_reference(options: Mapping[str, Any], only: Mapping[str, Collection[Any]]) -> None:
    """Raise an `OptionError` for options that do not go with a reference, of which `only` lists those that do."""
    for name, values in only.items():
        if name in options and options[name] not in values:
            those = " or ".join(option(name, value) for value in values if value is not None)
            says = f"goes with {those}; got {option(name, options[name])}."
            raise OptionError(says, about=option("reference"), fix="Leave one of them out")
    for name in ("weights", "strata", "cluster", "margin"):
        if options.get(name) is not None:
            says = f"does not go with {option(name)}: how often its intervals then hold is not known."
            raise OptionError(says, about=option("reference"), fix="Leave one of them out")


def _people(queries: Queries, table: CanonicalFrame, *, named: bool) -> CanonicalFrame:
    """The table with people's values of the measures of both, checked, by ids of the types that the model's have.

    Where measures are `named`, people must have all of them.
    """
    of = queries.table
    if ("run" in table.dtypes) != ("run" in of.dtypes):
        which, lacks = ("reference", "per_query") if "run" in table.dtypes else ("per_query", "reference")
        says = f"must have systems like per_query; {which} has a column of them, and {lacks} has none."
        raise ColumnError(says, about="reference", fix="Evaluate both alike, each with all systems or with one")
    measures = [name for name in measures_of(table) if name in queries.measures]
    lacking = [name for name in queries.measures if name not in measures]
    if not measures or (named and lacking):
        has = [name for name in table.dtypes if name not in table.keys]
        says = f"has no measure {lacking[0]!r}, as per_query has; it has {quoted(has)}."
        raise MeasureError(says, about="reference", fix="Evaluate both with the same measures")
    if lacking:
        warn(f"lacks measures of per_query, which are left out: {quoted(lacking)}.", about="reference")
    if sums := [name for name in measures if average_of(name, of.columns) not in ("arithmetic", "geometric")]:
        says = f"has {sums[0]!r}, which is not a mean over queries, and has no estimate from a sample."
        raise MeasureError(says, about="per_query", fix=Fix("Leave it out", Code.dropping("per_query", sums)))
    types = {role: joinable(of, role, "reference", table.names[role], table.dtypes[role]) for role in of.keys}
    rows = table.checked(*rules_of(table, measures), rows=table.select(*table.keys, *measures))
    table.check_once(*table.keys)
    if not table.eager:
        rows, _ = rows_of_plan(table, rows, measures, [], as_they_come=False, repeated=False)
    values = [pl.col(name).cast(pl.Float64).alias(people_of(name)) for name in measures]
    rows = rows.select(
        *(pl.col(role).cast(dtype) for role, dtype in types.items()), *values, pl.lit(True).alias(JUDGED)
    )
    return table.with_frame(table.computed(rows))


def _check_part(table: CanonicalFrame, of: CanonicalFrame) -> None:
    """Raise a `DataError` for people's rows that the model lacks, and for systems that people lack."""
    keys = list(of.keys)
    rows, those = table.select(*keys), of.select(*keys)
    alone = rows.join(those, on=keys, how="anti").sort(keys).collect()
    if alone.height:
        shown = alone.head(SHOWN).rename({key: of.names[key] for key in keys})
        is_part = those.join(rows, on=keys, how="anti").head(1).collect().is_empty()
        fix = EXCHANGED if is_part else OF_ALL
        raise DataError.rows("reference", "that per_query lacks", fix, alone.height, shown)
    if "run" in keys:
        without = those.select("run").unique().join(rows.select("run").unique(), on="run", how="anti").collect()
        if without.height:
            systems = without["run"].cast(pl.String).sort().to_list()
            fix = "Evaluate them by people's judgments too, or leave them out of per_query"
            raise DataError(f"lacks systems that per_query has: {quoted(systems)}.", about="reference", fix=fix)


def with_people(queries: Queries, reference: Any, *, named: bool = False) -> Queries:
    """The queries with columns of people's values, by the measures that both have.

    Measures that are `named` must be in both.
    """
    of, keys = queries.table, list(queries.table.keys)
    if QUERY in of.dtypes:
        says = "needs one row per query and system in per_query, which has several."
        raise OptionError(
            says, about=option("reference"), fix="Keep one row of each, such as those of one night or judge"
        )
    table = per_query_table(reference, "reference")
    if of.eager:
        in_memory = table.with_frame(collected(table.all_columns(), "in-memory"))
        table = _people(queries, in_memory, named=named)
        _check_part(table, of)
        found = queries.rows.join(table.all_columns(), on=keys, how="left", maintain_order="left")
    else:
        table = _people(queries, table, named=named)
        here = queries.rows.with_columns(pl.lit(True).alias(HERE))
        rule = Rule(pl.col(HERE).is_null(), "that per_query lacks", OF_ALL)
        joined = here.join(table.all_columns(), on=keys, how="full", coalesce=True)
        found = checked(joined, rule, about="reference", keys=keys, names=of.names)
    return replace(queries, rows=found, measures=[name for name in queries.measures if people_of(name) in table.dtypes])


def summary(queries: Queries, kind: str, alpha: float) -> pl.LazyFrame:
    """A row per slice, system and measure, with the columns of the reference.

    Columns of `averages.MOMENTS` are those of the estimate, so that its interval is made as any other.
    """
    names: list[str] = []
    figures: dict[str, pl.Expr] = {}
    values: dict[str, pl.Expr] = {}
    kinds: dict[Averaging, list[str]] = {}
    judged = pl.col(JUDGED).is_not_null()
    for place, measure in enumerate(queries.measures):
        averaging = Averaging.of(measure, queries.table.columns, in_order=queries.in_order)
        model, of_people = (
            averages.averaged(averaging._replace(column=name)) for name in (measure, people_of(measure))
        )
        of = {"y": of_people, "f": pl.when(judged).then(model), "u": pl.when(~judged).then(model)}
        values |= {f"polars_ir: {name} {place}": value for name, value in of.items()}
        moments = averages.moments_beside(averaging, *(pl.col(f"polars_ir: {name} {place}") for name in of))
        figures |= {f"{name} {place}": figure for name, figure in moments.items()}
        names = list(moments)
        kinds.setdefault(averaging._replace(column=""), []).append(measure)
    found = replace(queries, rows=queries.rows.with_columns(**values)).means(**figures)
    # A plan of both steps computes the moments once for each measure.
    found = queries.table.computed(found).lazy()
    rows = []
    for averaging, measures in kinds.items():
        long = pl.concat(
            found.select(
                *queries.keys,
                *(pl.col(f"{name} {queries.measures.index(measure)}").alias(name) for name in names),
                measure=pl.lit(measure),
            )
            for measure in measures
        )
        rows.append(_on_scale(estimated(long, averaging, kind, alpha), averaging))
    return pl.concat(rows)


def estimated(moments: pl.LazyFrame, averaging: Averaging, kind: str, alpha: float) -> pl.LazyFrame:
    """The rows of moments with their estimates and intervals; people's alone where these are no wider."""
    rows, n = stats.prediction.predicted(moments), pl.col("n").cast(pl.Int64)
    between = averaging.between if kind == "auto" else (-math.inf, math.inf)
    if all(map(math.isfinite, between)):
        # Wilson's interval also widens as its mean comes to the middle of the range.
        z = NormalDist().inv_cdf(1 - alpha / 2)
        both = (("estimate", "error"), ("y", "error_y"))
        rows = rows.with_columns(error_y=(pl.col("var_y") / n).sqrt())
        width, of_people = (
            averages.middle_and_half(pl.col(mean), pl.col(error), n, z=z, between=between)[1] for mean, error in both
        )
        is_inside = (pl.col("lowest") >= between[0]) & (pl.col("highest") <= between[1])
        rows = stats.prediction.alone(rows, is_inside & (width > of_people))
    figures = {MEAN: pl.col("estimate"), ERROR: pl.col("error"), NUMBER: n, DEGREES: n - 1}
    rows = rows.with_columns(**figures, **{LOWEST: pl.col("lowest"), HIGHEST: pl.col("highest")})
    return rows.with_columns(**averages.bounded_interval_of(averaging._replace(between=between), alpha))


def _on_scale(rows: pl.LazyFrame, averaging: Averaging) -> pl.LazyFrame:
    n, means = pl.col("n"), {"mean": "estimate", "people_mean": "y", "model_mean": "model_mean"}
    return rows.with_columns(
        std=pl.when(n > 1, pl.col("lowest") == pl.col("highest")).then(0.0).otherwise(pl.col("var_y").sqrt()),
        n_queries=n.cast(pl.UInt32),
        n_effective=n.cast(pl.Float64),
        n_model=pl.col("n_model").cast(pl.UInt32),
        note=pl.when(n == 0).then(pl.lit("no query")).when(n == 1).then(pl.lit("one query")).otherwise("why"),
        **{name: averages.on_scale(averaging, pl.col(column)) for name, column in means.items()},
    )


def means(queries: Queries, measures: Sequence[str]) -> pl.LazyFrame:
    """Estimated mean of each measure by slice and system, as a summary has it by default."""
    long = summary(queries, "auto", 0.05).select(*queries.keys, "measure", "mean")
    of_each = [pl.col("mean").filter(pl.col("measure") == name).first().alias(name) for name in measures]
    return long.group_by(queries.keys).agg(of_each).sort(queries.keys)


def with_estimates(pairs: Sequence[Pair], moments: pl.LazyFrame) -> list[Pair]:
    """The pairs of people's differences with the estimates of both, by the moments of each."""
    rows = stats.prediction.predicted(moments).with_columns(people_mean="y", error=pl.col("error").fill_null(0.0))
    found = []
    for pair, row in zip(pairs, rows.collect(engine="in-memory").iter_rows(named=True), strict=True):
        d, sample = pair.sample, stats.Moments.of(())
        if d.n:
            squares = row["error"] ** 2 * d.n * (d.n - 1)
            sample = stats.Moments(d.n, row["estimate"], squares, d.lowest, d.highest, support=d.support)
        turned = d.n and row["estimate"] * row["people_mean"] < 0
        whys = row["why"], "the estimate and people's difference differ in sign" if turned else None
        beside = {name: row[name] for name in ADDED} | {"why": "; ".join(filter(None, whys)) or None}
        found.append(pair._replace(sample=sample, people=d, beside=beside))
    return found
