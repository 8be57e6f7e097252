"""Course of a system over time: each period against earlier ones.

Conventions: undefined figures are null, and the row's note says why.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from numbers import Integral
from typing import Any, Unpack

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import (
    Code,
    ColumnError,
    DataError,
    DtypeError,
    Fix,
    InputTypeError,
    OptionError,
    Setting,
    option,
    warn,
)
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back, is_pandas
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.language.words import average
from polars_ir.per_query.provenance import warn_of_other_judgments, warn_of_several
from polars_ir.per_query.shared.attributes import QUERY, column_for
from polars_ir.per_query.shared.averages import MOMENTS, Averaging, bounded_interval_of
from polars_ir.per_query.shared.groups import (
    LEAST_BUCKETS,
    Group,
    against_groups,
    against_own,
    against_rest,
    shift_of,
    values_by,
)
from polars_ir.per_query.shared.measures import Measures, Range, range_of
from polars_ir.per_query.shared.options import Grouping
from polars_ir.per_query.shared.queries import CLUSTER, Queries, queries_of
from polars_ir.per_query.shared.sums import MEANS_OF_CLUSTERS, Source, slice_moments
from polars_ir.per_query.shared.verdicts import check_correction, with_corrected_p

#: Samples of buckets, by system and measure.
OfBuckets = dict[tuple[str | None, str], Mapping[Any, "stats.Sample"]]

#: Notes on few buckets of reference: their start, and the one on a comparison of queries.
OF_FEW = f"fewer than {LEAST_BUCKETS} buckets of reference: taken for granted that these"
BY_QUERIES = f"{OF_FEW} differ by their queries only"

#: The numbers in a text.
NUMBERS = re.compile(r"(\d+)", re.ASCII)

#: The reference that grows.
EARLIER = "earlier"

#: Columns of `drift` after the systems; buckets keep their type.
COLUMNS: dict[str, Any] = {
    "measure": pl.String,
    "bucket": None,
    "n_queries": pl.UInt32,
    **dict.fromkeys(["mean", "low", "high"], pl.Float64),
    "n_reference": pl.UInt32,
    **dict.fromkeys(["reference_mean", "difference", "statistic", "p", "p_corrected"], pl.Float64),
    "drifted": pl.Boolean,
    "note": pl.String,
}


@public(Grouping, keys=False)
def drift(
    per_query: Table[FrameT],
    by: Any,
    measures: Measures = None,
    *,
    every: str | None = None,
    reference: Any = None,
    cluster: Any = None,
    **options: Unpack[Grouping],
) -> FrameT:
    """The course of every measure over time, with the buckets that differ beyond chance: a row per bucket.

    Each bucket of queries is compared with a reference: by default the first buckets, which hold a third of the
    queries; else the first n, one, or all earlier ones. Days vary by themselves, as their queries do. So with four
    buckets of reference or more, the buckets are the sample: Student's t of a bucket's mean against the k means m of
    the reference, (mean - mean(m)) / (s sqrt(1 + 1/k)), with k - 1 degrees of freedom; s^2 is the variance of m, but at
    least that of queries drawn into buckets. With fewer than four, queries are the sample, by the test of
    `worst_slices`, as if buckets differed by their queries only; the note says so.

    Where the same queries recur, as in a nightly benchmark, each is compared with its own mean over the reference,
    using only queries with a value in all these buckets: these differences vary far less than the queries do, and show
    much smaller drifts. The higher p counts: of the paired t of the n differences or, with four buckets of reference or
    more, of Student's t of a bucket's mean.

    A fixed reference marks a lasting change for as long as it lasts; a growing one absorbs it. Looking again with every
    new bucket makes more tests than `correction` knows of. Long tails of days' means mark up to .25 of quiet courses.

    Parameters
    ----------
    by
        When a query was asked: a column of `per_query`, by name, or a frame with a query column and one other; dates,
        times, or anything that has an order.
    every
        The length of a bucket, as Polars writes it: `"1d"`, `"1w"` (from Monday), `"1mo"`; without it, one value.
    reference
        The buckets to compare with: None, the fewest first ones with a third of the queries; a whole number n, the
        first n; `"earlier"`, all earlier ones; else the one bucket of this value. A number that is at least the number
        of buckets is a value, such as 2022; a lower value is given as text: `"3"`. Buckets of the reference are not
        tested.
    cluster
        Groups of dependent queries, such as the user of sessions, as in `compare`: each counts once in a bucket.
    measures
        The measures to look at; without it, all numbers but the column of `by`.

    Returns
    -------
    The kind of per_query
        The column of systems (if there is one), `measure` (String), `bucket` (as in `by`, or its start), `n_queries`
        (UInt32), `mean`, `low`, `high` (as in `summarize`), `n_reference` (UInt32), `reference_mean` (of buckets where
        these are the sample, else of queries), `difference`, `statistic`, `p`, `p_corrected` (Float64), `drifted`
        (Boolean) and `note` (String: why there is no test, and where queries are the sample).

    Raises
    ------
    IRError
        For a query without a value of `by`; raw times without `every`; an unknown reference, measure or option; NaN
        values; a LazyFrame with `cluster`, or in which queries come again. Another is read by moments, to within 1e-12.

    References
    ----------
    Hahn & Meeker 1991, Statistical Intervals, https://doi.org/10.1002/9780470316771 (prediction by t)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> values = [0.8, 0.9, 0.8, 0.9, 0.9, 0.8, 0.3, 0.4, 0.3]
    >>> log = pl.DataFrame({"query_id": range(9), "day": [1, 1, 1, 2, 2, 2, 3, 3, 3], "RR": values})
    >>> course = ir.drift(log, "day", min_queries=3)
    >>> course.select("bucket", pl.col("mean").round(3), pl.col("difference").round(3), "drifted").rows()
    [(1, 0.833, None, None), (2, 0.867, 0.033, False), (3, 0.333, -0.5, False)]
    """
    course = course_of(per_query, by, measures, options, every=every, reference=reference, cluster=cluster)
    return give_back(course, per_query)


def course_of(
    per_query: Any,
    by: Any,
    measures: Measures,
    options: Grouping,
    *,
    every: str | None,
    reference: Any,
    cluster: Any = None,
    source: Source | None = None,
) -> pl.DataFrame:
    """Result of `drift`; a `source` has the sums of a frame whose rows a plan stands for."""
    check_correction(options["correction"])
    is_plan = isinstance(per_query, pl.LazyFrame)
    if is_plan and cluster is not None:
        raise InputTypeError.lazy("ir.drift with cluster", MEANS_OF_CLUSTERS)
    how: dict[str, Any] = {"repeated": True} if is_plan else {"cluster": cluster, "what": "ir.drift"}
    queries = queries_of(per_query, measures, by=by, needs="by", **how)
    warn_of_several(queries.table, queries.measures)
    attribute, *others = queries.slices
    if others:
        raise ColumnError(f"must give one column of times; got {', '.join(map(repr, queries.slices))}.", about="by")
    column, least = column_for(attribute), options["min_queries"]
    dtype = queries.rows.collect_schema()[column]
    period = _truncated(dtype, _holder_of(by), attribute, every)
    # Recurring queries are compared with their own earlier values.
    paired = QUERY in queries.table.columns
    if is_plan:
        found, counts = slice_moments(queries, source, of_times=True, every=every)
        systems = list(dict.fromkeys(system for system, *_ in found))
        values: OfBuckets = {(system, measure): moments for (system, _, measure), moments in found.items()}
    else:
        queries = _in_periods(queries, period, paired=paired)
        frames = dict(queries.each_system(per_query, *(["query_id"] if paired else [])))
        systems = list(frames)
        counts = pl.concat([frame[column] for frame in frames.values()]).alias("value").value_counts(name="queries")
        counts = counts.sort("value")
        values = {
            (system, measure): {bucket: stats.Values(of_bucket) for bucket, of_bucket in of_buckets.items()}
            for system, frame in frames.items()
            for measure, of_buckets in zip(queries.measures, values_by(frame, column, *queries.measures), strict=True)
        }
    if every is None:
        _check_shared(dtype, counts.height, int(counts["queries"].sum()) // len(systems), attribute, least)
    buckets = counts["value"].alias(column)
    _warn_of_texts(buckets, attribute)
    first = _places_of(reference, buckets, counts["queries"])
    courses = {
        (system, measure): _paired_course(frames[system], measure, column, buckets, first, least)
        if paired
        else _course(values[system, measure], buckets, range_of(measure), first, least)
        for measure in queries.measures
        for system in systems
    }
    note = "paired: differences of the same queries" if paired else queries.note()
    return _tested(courses, values, buckets, queries, options, note)


def _in_periods(queries: Queries, period: pl.Expr, *, paired: bool) -> Queries:
    """The queries with their buckets, in memory; clusters, and queries that recur, once in each bucket."""
    if paired:
        warn_of_other_judgments(queries.table, QUERY)
        if queries.cluster is None:
            queries = replace(queries, rows=queries.rows.with_columns(pl.col(QUERY).alias(CLUSTER)), cluster=QUERY)
    queries = replace(queries, rows=queries.rows.with_columns(period))
    if queries.cluster is None:
        return queries
    queries = queries.of_clusters(lambda measure: average(pl.col(measure).cast(pl.Float64)))
    return replace(queries, rows=queries.rows.collect().lazy())


def _tested(
    courses: Mapping[tuple[str | None, str], Iterator[dict[str, Any]]],
    samples: OfBuckets,
    buckets: pl.Series,
    queries: Queries,
    options: Grouping,
    said: str | None,
) -> pl.DataFrame:
    rows = [
        {"run": system, "measure": measure, "bucket": bucket, **row}
        for (system, measure), course in courses.items()
        for bucket, row in zip(buckets, course, strict=True)
    ]
    by_queries = [row for row in rows if "group" in row]
    groups = [row.pop("group") for row in by_queries]
    found = against_rest(groups, alpha=options["alpha"], least=options["min_queries"])
    for row, figures in zip(by_queries, found, strict=True):
        note = BY_QUERIES if figures["note"] is None else figures["note"]
        row |= {**figures, "note": row.get("note") or note}
    ends = _intervals(samples, queries.table.columns, options["alpha"])
    for row in rows:
        row["reference_mean"] = row["rest_mean"]
        row["note"] = "; ".join(note for note in (row["note"], said) if note) or None
        row["low"], row["high"] = ends.get((row["run"], row["measure"], row["bucket"]), (None, None))
    schema: dict[str, Any] = {"run": pl.String} if "run" in queries.systems else {}
    schema |= {**COLUMNS, "bucket": buckets.dtype}
    tests = with_corrected_p(rows, schema, "drifted", options["correction"], options["alpha"])
    return tests.rename(queries.table.source_names, strict=False)


def _check_shared(dtype: pl.DataType, distinct: int, n_queries: int, name: str, min_queries: int) -> None:
    """Raise an error for raw times, most of which have a single query: they are no buckets."""
    if n_queries < 2 * min_queries or distinct * 2 <= n_queries:
        return
    says = f"column {name!r} has {distinct:,} values for {n_queries:,} queries: most buckets would hold one."
    if dtype in (pl.Date, pl.Datetime):
        raise DataError(says, about="by", fix=Fix("Take stretches of time", Setting("every", "1w")))
    raise DataError(says, about="by", fix=f"Take dates or times, and stretches of them ({option('every', '1w')})")


def _warn_of_texts(buckets: pl.Series, name: str) -> None:
    """Warn of text buckets whose order is not that of the numbers in them."""
    if buckets.dtype not in (pl.String, pl.Categorical):
        return
    texts = buckets.cast(pl.String).to_list()
    # Texts and numbers alternate, so that like is compared with like.
    by_number = sorted(
        texts, key=lambda text: [int(part) if i % 2 else part for i, part in enumerate(NUMBERS.split(text))]
    )
    if texts != by_number:
        text, wanted = next((text, wanted) for text, wanted in zip(texts, by_number, strict=True) if text != wanted)
        says = f"column {name!r} is text, which sorts {text!r} before {wanted!r}."
        warn(says, about="by", fix=Fix("Make it dates or numbers, so that earlier buckets are first"))


def _holder_of(by: Any) -> str | None:
    """The name of the frame that has the times; None for values by query, or by row."""
    if isinstance(by, Sequence) and all(isinstance(name, str) for name in by):
        return "per_query"
    return "by" if isinstance(by, (pl.DataFrame, pl.LazyFrame)) or is_pandas(by) else None


def _to_date(table: str | None, name: str, dtype: pl.DataType) -> Fix:
    """The advice for times that are texts, or numbers of seconds, of a frame."""
    code = None
    says, unit = "Leave every out, or take a column of dates", ""
    if dtype.is_numeric():
        says, unit = "Convert seconds, or leave every out where numbers are buckets already", ", unit='s'"
        code = f"pl.from_epoch({name!r}, time_unit='s')"
    elif isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        says, code = "Convert it", f"pl.col({name!r}).cast(pl.String).str.to_date()"
    of_pandas = f"{table}.assign(**{{{name!r}: pd.to_datetime({table}[{name!r}]{unit})}})"
    return Fix(says, None if code is None or table is None else Code(f"{table}.with_columns({code})", of_pandas))


def _truncated(dtype: pl.DataType, table: str | None, name: str, every: str | None) -> pl.Expr:
    time = pl.col(column_for(name))
    if every is None:
        return time
    if dtype not in (pl.Date, pl.Datetime):
        raise DtypeError.of_column(
            "by", name, f"dates or times for {option('every')}=", dtype, _to_date(table, name, dtype)
        )
    try:
        pl.Series([date(2000, 1, 1)]).cast(dtype).dt.truncate(every)
    except (pl.exceptions.PolarsError, TypeError, AttributeError):
        says = f"must be a length of time, such as '1d', '1w' or '1mo'; got {every!r}."
        raise OptionError(says, about="every") from None
    return time.dt.truncate(every)


def _places_of(reference: Any, buckets: pl.Series, n_queries: pl.Series) -> list[int] | None:
    """Places of the reference's buckets; None if each bucket is compared with the earlier ones."""
    if isinstance(reference, str) and reference == EARLIER:
        return None
    if reference is None:
        counts = n_queries.cast(pl.Int64).cum_sum()
        # The last bucket is left to be compared, however much it holds.
        first = int((counts * 3 < counts[-1]).sum()) + 1
        return list(range(max(1, min(first, len(buckets) - 1))))
    names = list(map(str, buckets))
    if isinstance(reference, Integral) and not isinstance(reference, bool):
        if 0 < int(reference) < len(buckets):
            return list(range(int(reference)))
        if str(reference) not in names:
            says = f"must be from 1 to one less than the {len(buckets)} buckets, or a bucket; got {reference}."
            raise OptionError(says, about="reference")
    if str(reference) not in names:
        raise OptionError.value("reference", str(reference), [EARLIER, *names])
    return [names.index(str(reference))]


def _course(
    samples: Mapping[Any, stats.Sample], buckets: pl.Series, its: Range | None, reference: list[int] | None, least: int
) -> Iterator[dict[str, Any]]:
    """The buckets of a system, compared with the reference or with a given `group`."""
    of_each: list[stats.Sample] = [samples.get(bucket, stats.Moments.of(())) for bucket in buckets]
    there = [sample for sample in of_each if sample.n]
    ends = [(sample.lowest, sample.highest) for sample in there if sample.values is not None]
    # Moments have a shift already.
    shift = shift_of(min(ends)[0], max(high for _, high in ends)) if its is None and ends else 0.0

    def moments(places: Sequence[int]) -> stats.Moments:
        return stats.together([of_each[place] for place in places if of_each[place].n], shift)

    for place, of_bucket in enumerate(of_each):
        places = range(place) if reference is None else [] if place in reference else reference
        others = [other for other in places if of_each[other].n]
        sample = [other for other in others if of_each[other].n >= least]
        n_reference = sum(of_each[other].n for other in others)
        row: dict[str, Any] = {"n_queries": of_bucket.n, "n_reference": n_reference, "note": None}
        if not places:
            row["note"] = "no earlier bucket" if reference is None else "part of the reference"
        if len(sample) >= LEAST_BUCKETS and of_bucket.n >= least:
            of_sample = [moments([other]) for other in sample]
            figures = against_groups(moments([place]), of_sample, moments([place, *sample]))
            yield {**row, "n_reference": sum(part.n for part in of_sample), **figures}
        else:
            yield {**row, "group": Group(moments([place]), moments(others), its)}


def _paired_course(
    frame: pl.DataFrame, measure: str, column: str, buckets: pl.Series, reference: list[int] | None, least: int
) -> Iterator[dict[str, Any]]:
    """The buckets of a system, each compared with the values of the same queries in the reference."""
    defined = frame.drop_nulls(measure)
    places_of = pl.col(column).replace_strict(buckets, range(len(buckets)), return_dtype=pl.Int64)
    at = defined.select(pl.col("query_id").rank("dense").cast(pl.Int64) - 1, places_of).to_numpy().T
    grid = np.full((at[0].max(initial=-1) + 1, len(buckets)), np.nan)
    grid[tuple(at)] = defined[measure].cast(pl.Float64).to_numpy()
    is_there = ~np.isnan(grid)
    for place in range(len(buckets)):
        places = range(place) if reference is None else [] if place in reference else reference
        others = [other for other in places if is_there[:, other].sum() >= least]
        values, row = grid[is_there[:, place], place], dict.fromkeys(("rest_mean", "difference", "statistic", "p"))
        row |= {"n_queries": len(values), "n_reference": 0, "mean": float(values.mean()) if len(values) else None}
        if not places:
            yield {**row, "note": "no earlier bucket" if reference is None else "part of the reference"}
            continue
        shared = is_there[:, [place, *others]].all(axis=1)
        n = int(shared.sum())
        if n < least or not others:
            yield {**row, "note": f"{n} {'query' if n == 1 else 'queries'} of all these buckets; a test needs {least}"}
            continue
        figures = against_own(grid[shared, place], grid[shared][:, others])
        if len(others) < LEAST_BUCKETS:
            figures["note"] = figures["note"] or f"{OF_FEW} do not differ by themselves"
        yield {**row, "n_reference": n, **figures}


def _intervals(samples: OfBuckets, columns: Collection[str], alpha: float) -> dict[Any, tuple[Any, ...]]:
    """Ends of the interval of each arithmetic mean by system, measure and bucket, as in `summarize`."""
    found: dict[Any, tuple[Any, ...]] = {}
    for measure in dict.fromkeys(measure for _, measure in samples):
        if (averaging := Averaging.of(measure, columns)).kind != "arithmetic":
            continue
        of_buckets = {
            (system, measure, bucket): sample if isinstance(sample, stats.Moments) else stats.Moments.in_order(sample)
            for (system, its), of_system in samples.items()
            for bucket, sample in of_system.items()
            if its == measure and sample.n
        }
        moments = [(part.mean + part.shift, part.error, part.n, part.n - 1, *part.ends) for part in of_buckets.values()]
        rows = pl.DataFrame(moments, dict.fromkeys(MOMENTS, pl.Float64), orient="row")
        ends = rows.select(**bounded_interval_of(averaging, alpha)).rows()
        found |= {of: each for of, each in zip(of_buckets, ends, strict=True) if each[0] != each[1]}
    return found
