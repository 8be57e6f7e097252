"""The course of a system over time: each stretch against those before.

Conventions: what is not defined is null, and the row's note says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import polars as pl

from polars_ir.errors import Code, ColumnError, DataError, DtypeError, Fix, OptionError, Setting, option
from polars_ir.frames.kinds import Eager, give_back
from polars_ir.language.options import takes
from polars_ir.per_query.shared.aligned import Systems, aligned
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.options import Grouping
from polars_ir.per_query.shared.tests import check_correction, how_corrected, how_tested, tested

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Draws, Floats

#: The column of the place of a query's bucket among all.
PLACE = "polars_ir: place"

#: The reference that grows.
EARLIER = "earlier"

#: The columns of `drift`, behind `run`; buckets have the type they came with.
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


@takes(Grouping)
def drift(
    per_query: Any,
    by: Any,
    measures: Measures = None,
    *,
    every: str | None = None,
    reference: Any = None,
    **options: Unpack[Grouping],
) -> Eager:
    """The course of every measure over time, and where it is beyond chance another than before: a row per bucket.

    Each bucket of queries is compared with a reference: by default the first buckets, which hold a third of the
    queries; else so many first ones, one, or all earlier ones. It tells a bucket whose mean is higher or lower; not one
    in which only the spread changed, nor a slow trend before it has made a difference of its own, and not why: other
    queries make another mean, too (`worst_slices` looks into a bucket). A fixed reference marks a lasting change for as
    long as it lasts; one that grows takes it in, and then the mark fades. Whoever looks again with every new bucket
    makes more tests than `correction` knows of.

    Parameters
    ----------
    per_query
        What `evaluate` returned, of one system or of several.
    by
        When a query was asked: a column of `per_query`, by name, or a frame with a query column and one other; dates,
        times, or anything that has an order.
    every
        How long a bucket is, in Polars' words for dates and times: `"1d"`, `"1w"` (from Monday), `"1mo"`. Without it, a
        bucket is one value.
    reference
        What a bucket is compared with: None, the fewest first ones with a third of the queries; a whole number, so many
        first ones; `"earlier"`, all that are earlier; else the one bucket of this value. A number that is as high as
        there are buckets is one, such as 2022; of lower ones, a bucket is named by text: `"3"`. Buckets of the
        reference are not tested.
    measures
        The measures to look at; without it, all numbers but the column of `by`.

    Returns
    -------
    The kind of per_query
        `run` (if there is one), `measure` (String), `bucket` (as in `by`, or its start), `n_queries` (UInt32), `mean`,
        `low`, `high` (the interval of the mean by t), `n_reference` (UInt32), `reference_mean`, `difference`
        (mean - reference_mean), `statistic`, `p`, `p_corrected` (Float64), `drifted` (Boolean, p_corrected <= alpha)
        and `note` (String), why there is no test. Measures are in the order they have, systems in that of their names,
        or of the dict they came in, buckets in theirs.

    Raises
    ------
    IRError
        For a query without a value of `by`; raw times, most of which only one query has, without `every`; `every` with
        other than dates and times; an unknown reference, measure or option; NaN values; a LazyFrame.

    References
    ----------
    Welch 1947, https://doi.org/10.1093/biomet/34.1-2.28

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> values = [0.8, 0.9, 0.8, 0.9, 0.9, 0.8, 0.3, 0.4, 0.3]
    >>> log = pl.DataFrame({"query_id": range(9), "day": [1, 1, 1, 2, 2, 2, 3, 3, 3], "RR": values})
    >>> course = ir.drift(log, "day", min_queries=3)
    >>> course.select("bucket", pl.col("mean").round(3), pl.col("difference").round(3), "drifted").rows()
    [(1, 0.833, None, None), (2, 0.867, 0.033, False), (3, 0.333, -0.5, False)]
    """
    check_correction(options["correction"])
    queries = aligned(per_query, measures, by=by, needs="by", what="ir.drift")
    samples, (attribute, *others) = queries.each_system(per_query), queries.slices
    if others:
        raise ColumnError(f"must give one column of times; got {', '.join(map(repr, queries.slices))}.", about="by")
    times = samples[0][1][column_for(attribute)]
    if every is None:
        _check_shared(times, attribute, options["min_queries"])
    time = _truncated(times.dtype, attribute, every)
    samples = [(system, frame.with_columns(bucket=time)) for system, frame in samples]
    buckets = pl.concat([frame["bucket"] for _, frame in samples]).unique().sort()
    places = pl.DataFrame({"bucket": buckets}).with_row_index(PLACE)
    first = _places_of(reference, buckets, pl.concat([frame["bucket"] for _, frame in samples]))
    how = how_tested(options, family=len(samples) * len(buckets))
    samples = [(system, frame.join(places, on="bucket", maintain_order="left")) for system, frame in samples]
    rows = [
        {"run": system, "measure": measure, **row}
        for measure in queries.measures
        for system, course in _tested_together(samples, measure, len(buckets), first, **how)
        for row in _each_bucket(course, buckets, first, **how)
    ]
    schema: dict[str, Any] = {"run": pl.String} if "run" in queries.systems else {}
    schema |= {**COLUMNS, "bucket": buckets.dtype}
    return give_back(tested(rows, schema, significant="drifted", **how_corrected(options, how)), per_query)


def _check_shared(times: pl.Series, name: str, min_queries: int) -> None:
    """Raise an error for raw times, most of which only one query has: they are no buckets."""
    distinct = times.n_unique()
    if len(times) < 2 * min_queries or distinct * 2 <= len(times):
        return
    says = f"column {name!r} has {distinct:,} values for {len(times):,} queries: most buckets would hold one."
    if times.dtype in (pl.Date, pl.Datetime):
        raise DataError(says, about="by", fix=Fix("Take stretches of time", Setting("every", "1w")))
    raise DataError(says, about="by", fix=f"Take dates or times, and stretches of them ({option('every', '1w')})")


def _to_date(name: str) -> Fix:
    """The advice for times that are texts."""
    return Fix(
        "Convert it",
        Code(
            f"per_query.with_columns(pl.col({name!r}).str.to_date())",
            f"per_query.assign(**{{{name!r}: pd.to_datetime(per_query[{name!r}])}})",
        ),
    )


def _truncated(dtype: pl.DataType, name: str, every: str | None) -> pl.Expr:
    """The bucket of a query."""
    time = pl.col(column_for(name))
    if every is None:
        return time
    if dtype not in (pl.Date, pl.Datetime):
        raise DtypeError.of_column("by", name, f"dates or times for {option('every')}=", dtype, _to_date(name))
    try:
        pl.Series([date(2000, 1, 1)]).cast(dtype).dt.truncate(every)
    except (pl.exceptions.PolarsError, TypeError, AttributeError):
        raise OptionError(
            f"must be a length of time such as '1d', '1w' or '1mo'; got {every!r}.", about="every"
        ) from None
    return time.dt.truncate(every)


def _places_of(reference: Any, buckets: pl.Series, of_queries: pl.Series) -> list[int] | None:
    """The places of the buckets that all others are compared with; None if each is with those before it."""
    if isinstance(reference, str) and reference == EARLIER:
        return None
    if reference is None:
        counts = of_queries.value_counts(name="n").sort(of_queries.name)["n"].cum_sum()
        # The last bucket is left to be compared, however much it holds.
        first = int((counts * 3 < counts[-1]).sum()) + 1
        return list(range(max(1, min(first, len(buckets) - 1))))
    names = list(map(str, buckets))
    if isinstance(reference, Integral) and not isinstance(reference, bool):
        if 0 < int(reference) < len(buckets):
            return list(range(int(reference)))
        if str(reference) not in names:
            raise OptionError(
                f"must be from 1 to one less than the {len(buckets)} buckets, or a bucket; got {reference}.",
                about="reference",
            )
    if str(reference) not in names:
        raise OptionError.value("reference", str(reference), [EARLIER, *names])
    return [names.index(str(reference))]


class _Bucket(NamedTuple):
    """The values of a bucket and of its reference, and what random orders of both say of it."""

    values: Floats
    reference: Floats
    p: float | None = None


def _tested_together(
    samples: Systems, measure: str, n_buckets: int, reference: list[int] | None, **how: Any
) -> Iterator[tuple[str | None, Sequence[_Bucket]]]:
    """The buckets of each system: those that are as large see the same random orders, which take most of the time."""
    courses = [list(_buckets(frame, measure, n_buckets, reference)) for _, frame in samples]
    asked = [bucket for course in courses for bucket in course if _is_permuted(bucket, **how)]
    permuted = iter(_permuted(asked, how["draws"]))
    for (system, _), course in zip(samples, courses, strict=True):
        yield system, [b._replace(p=next(permuted)) if _is_permuted(b, **how) else b for b in course]


def _buckets(frame: pl.DataFrame, measure: str, n_buckets: int, reference: list[int] | None) -> Iterator[_Bucket]:
    """The buckets of a system; one of the reference has none of its own."""
    import numpy as np

    defined = frame.drop_nulls(measure)
    values, places = defined[measure].cast(pl.Float64).to_numpy(), defined[PLACE].to_numpy()
    fixed = None if reference is None else values[np.isin(places, reference)]
    for place in range(n_buckets):
        of_it = values[places < place] if fixed is None else fixed
        yield _Bucket(values[places == place], of_it[:0] if reference and place in reference else of_it)


def _is_permuted(bucket: _Bucket, *, test: str, least: int, **_: Any) -> bool:
    return test == "permutation" and min(len(bucket.values), len(bucket.reference)) >= least


def _permuted(buckets: Sequence[_Bucket], draws: Draws) -> Iterator[float]:
    """The p-values of buckets by random orders of each with its reference."""
    import numpy as np

    from polars_ir.statistics.randomisation import permutation_p

    samples = [
        (np.concatenate([values, of_it]), np.repeat([0, 1], [len(values), len(of_it)])) for values, of_it, _ in buckets
    ]
    for p, _ in permutation_p(samples, draws):
        yield float(p)


def _each_bucket(
    course: Sequence[_Bucket], buckets: pl.Series, reference: list[int] | None, **how: Any
) -> Iterator[dict[str, Any]]:
    from polars_ir.statistics.intervals import Values, estimates
    from polars_ir.statistics.unpaired import group_against_rest

    for place, (name, bucket) in enumerate(zip(buckets, course, strict=True)):
        figures = group_against_rest(bucket.values, bucket.reference, drawn_p=bucket.p, **how)
        if reference is None and place == 0:
            figures["note"] = "no earlier bucket"
        elif reference is not None and place in reference:
            figures["note"] = "part of the reference"
        (estimate,) = estimates([Values(bucket.values)], "t", how["confidence"])
        yield {
            "bucket": name,
            **{key: figures[key] for key in ("mean", "difference", "statistic", "p", "note")},
            "reference_mean": figures["rest_mean"],
            "n_queries": len(bucket.values),
            "n_reference": len(bucket.reference),
            "low": estimate.low,
            "high": estimate.high,
        }
