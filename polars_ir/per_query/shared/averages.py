"""Means of measures over queries, and their spread, with equal weights or given ones.

Conventions: values are added up in the order of the rows or, for an unordered plan, as the engine does, which changes
rounding alone; nulls and queries of weight 0 are left out. The name of a measure decides its average (`GMAP` has a
geometric mean, `NumQ` a sum, which weights multiply) and its denominator, for the micro average. `weight` is the name
of a column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Literal, NamedTuple

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import Code, ColumnError, Fix, MeasureError, warn
from polars_ir.language.catalog import CATALOG, Average
from polars_ir.language.columns import average_of, canonical_name, column_of
from polars_ir.language.words import average, ratio, total
from polars_ir.per_query.shared.measures import range_of
from polars_ir.per_query.shared.options import ROUNDED

#: Lowest value in a geometric mean, which a single 0 would otherwise make 0 (trec_eval's).
FLOOR = 1e-5

#: Means within this fraction of the range of an endpoint are treated as the endpoint: sums have rounding errors.
AT_END = 1e-12

#: Pseudo-queries added; with fewer, coverage of 95 % intervals drops below .93 for some proportions.
ADDED = 2

#: Minimum share of effective in actual queries for an interval by weights; the same below `FEW_WEIGHTS` queries, whose
#: weights are alike by chance.
LEAST_EFFECTIVE, LEAST_OF_FEW, FEW_WEIGHTS = 0.8, 0.9, 20

#: Kinds of average without an interval, with the note that says so.
WITHOUT_INTERVAL = {"sum": "a sum has no interval", "error": "a standard error has no interval"}

#: Column of each query's share in a variance.
SHARE = "polars_ir: share of variance"

#: Columns of `moments_of`.
MEAN, ERROR, NUMBER, DEGREES, LOWEST, HIGHEST = MOMENTS = tuple(
    f"polars_ir: {name}" for name in ("mean", "error", "number", "degrees", "lowest", "highest")
)


class Averaging(NamedTuple):
    """Kind of average of the values in a column, and their range, as far as it is known."""

    column: str
    kind: Average | Literal["error"]
    between: tuple[float, float]
    in_order: bool = True

    @classmethod
    def of(cls, measure: str, columns: Collection[str], *, in_order: bool = True) -> Averaging:
        """Averaging of a measure, by its name and the columns beside it."""
        kind, its = average_of(measure, columns), range_of(measure)
        if its is None:
            _warn_of_lost(measure)
            return cls(measure, kind, (-math.inf, math.inf), in_order)
        return cls(measure, kind, (math.log(FLOOR), 0.0) if kind == "geometric" else its.ends, in_order)

    def total(self, values: pl.Expr) -> pl.Expr:
        """Sum of the non-null values."""
        return total(values.drop_nulls()) if self.in_order else values.sum()


def mean_of(averaging: Averaging, weight: str | None = None) -> pl.Expr:
    """Mean of a measure over all queries, or its sum; for standard errors, that of the mean of their values."""
    value = averaged(averaging, weight)
    weighted = value if weight is None else value * pl.col(weight)
    if averaging.kind == "sum":
        return averaging.total(weighted)
    if averaging.kind == "error":
        # Queries are judged independently, so that the variances of their values add up.
        number = value.count() if weight is None else averaging.total(_weights(value, weight))
        return ratio(averaging.total(weighted**2).sqrt(), number)
    mean = _mean(averaging, value, weight)
    return mean.exp() if averaging.kind == "geometric" else mean


def std_of(averaging: Averaging, weight: str | None = None) -> pl.Expr:
    """Sample standard deviation of the unweighted values; 0 for equal ones."""
    value = _counted(averaging, weight)
    std = _std(averaging, value, weight)
    return pl.when(value.min() == value.max()).then(std * 0.0).otherwise(std)


def interval_of(averaging: Averaging, z: float, weight: str | None = None) -> dict[str, pl.Expr]:
    """Ends of the confidence interval, `z` standard errors from the mean; null for a sum."""
    value = averaged(averaging, weight)
    mean, half = _mean(averaging, value, weight), z * _standard_error(averaging, value, weight)
    half = pl.when(value.min() == value.max()).then(half * 0.0).otherwise(half)
    return ends(averaging, mean - half, mean + half)


def moments_of(averaging: Averaging, weight: str | None = None) -> dict[str, pl.Expr]:
    """Moments that make Wilson's interval: a column each, since an expression of all is slow to plan."""
    value = averaged(averaging, weight)
    return {
        MEAN: _mean(averaging, value, weight),
        ERROR: _standard_error(averaging, value, weight),
        NUMBER: n_effective_of(averaging, weight),
        DEGREES: value.count().cast(pl.Int64) - 1,
        LOWEST: value.min(),
        HIGHEST: value.max(),
    }


def moments_beside(averaging: Averaging, y: pl.Expr, f: pl.Expr, u: pl.Expr) -> dict[str, pl.Expr]:
    """Moments of people's values y, and of the model's, f of the same and u of other queries (`prediction.MOMENTS`)."""
    means = {name: _mean(averaging, value, None) for name, value in (("y", y), ("f", f), ("u", u))}
    if averaging.in_order:

        def covariance(a: pl.Expr, b: pl.Expr) -> pl.Expr:
            return ratio(total((a * b).drop_nulls()), a.count().cast(pl.Int64) - 1)

        of_y, of_f, of_u = y - means["y"], f - means["f"], u - means["u"]
        var_f, var_u, both = covariance(of_f, of_f), covariance(of_u, of_u), covariance(of_y, of_f)
    else:
        # Sums of a plan have no products of deviations.
        var_f, var_u, both = f.var(), u.var(), ((y + f).var() - y.var() - f.var()) / 2
    return {
        "n": y.count(),
        "n_f": f.count(),
        "m": u.count(),
        **means,
        "var_y": _std(averaging, y, None) ** 2,
        "var_f": var_f,
        "var_u": var_u,
        "covariance": both,
        "unmatched": y.count() + f.count() - 2 * (y + f).count(),
        "lowest": y.min(),
        "highest": y.max(),
    }


def on_scale(averaging: Averaging, mean: pl.Expr) -> pl.Expr:
    """A mean of the averaged values, on the scale of the measure."""
    return mean.exp() if averaging.kind == "geometric" else mean


def n_effective_of(averaging: Averaging, weight: str | None = None) -> pl.Expr:
    """Kish's effective number of queries."""
    value = averaged(averaging, weight)
    if weight is None:
        return value.count().cast(pl.Float64)
    shares = _weights(value, weight) / _weights(value, weight).max()
    return ratio(total(shares.drop_nulls()) ** 2, total((shares**2).drop_nulls()))


#: The fewest queries of a stratum that counts more than its share of the queries, and the column that tells of fewer.
LEAST_OF_STRATUM, IS_FEW = 50, "polars_ir: few"


def with_shares_of_variance(
    rows: pl.LazyFrame, averaging: Averaging, weight: str | None, stratum: str, keys: Sequence[str]
) -> pl.LazyFrame:
    """The rows with each query's share in the variance of the mean of its `keys`, estimated within the strata.

    With shares s of the weights and z = s * (value - mean), it is n / (n - 1) * (z - mean(z))^2 in a stratum of n
    queries (Cochran, 5A.3); NaN for n = 1. `IS_FEW` marks strata that weigh more than `LEAST_OF_STRATUM` allows: with
    2 to 30 such queries one interval of all held in .51 to .90.
    """
    value, z = averaged(averaging, weight), pl.col(SHARE)
    weights = pl.when(value.is_not_null()).then(pl.lit(1.0) if weight is None else pl.col(weight))
    # A window within another one would see the outer's rows only.
    mean = (weights * value).sum().over(keys) / weights.sum().over(keys)
    rows = rows.with_columns((weights / weights.sum().over(keys) * (value - mean)).alias(SHARE))
    n = value.count().over([*keys, stratum]).cast(pl.Float64)
    of_weights = weights.sum().over([*keys, stratum]) / weights.sum().over(keys)
    # The mean hangs by a few queries, whose spread is hardly known, and not by the degrees of freedom of all.
    is_few = (n < LEAST_OF_STRATUM) & (of_weights > n / value.count().over(keys) * ROUNDED)
    share = n / (n - 1) * (z - z.mean().over([*keys, stratum])) ** 2
    return rows.with_columns(share.alias(SHARE), is_few.alias(IS_FEW))


def joined_intervals(
    rows: pl.LazyFrame, averaging: Averaging, weight: str, stratum: str, keys: Sequence[str], alpha: float
) -> pl.LazyFrame:
    """Ends of the mean of strata, from the interval of each (MOVER, https://doi.org/10.1002/sim.3095).

    With the shares W of the weights and the means m, the low end is mean - sqrt(sum W^2 (m - low)^2).
    """
    count = total(_weights(averaged(averaging, weight), weight).drop_nulls())
    of_strata = rows.group_by(*keys, stratum).agg(**moments_of(averaging, weight), weight=count)
    # Means are added up in the order of the strata.
    of_strata = of_strata.filter(pl.col("weight") > 0).sort(*keys, stratum)
    of_strata = of_strata.with_columns(**bounded_interval_of(averaging, alpha))
    # Of a plain sum Polars drops the sort, as floats would add up to the same in any order.
    share = pl.col("weight") / total(pl.col("weight"))
    joined = {}
    for end, sign in (("low", -1), ("high", 1)):
        half = total((share * (pl.col(end) - pl.col(MEAN))).pow(2)).sqrt()
        joined[end] = pl.when(pl.col(end).is_not_null().all()).then(total(share * pl.col(MEAN)) + sign * half)
    return of_strata.group_by(keys, maintain_order=True).agg(**joined)


def bounded_interval_of(averaging: Averaging, alpha: float) -> dict[str, pl.Expr]:
    """Ends of Wilson's interval where the range is known and all values are in it, else of Student's.

    Reads the columns of `moments_of`. Constant values have no interval of Student's.
    """
    mean, error = pl.col(MEAN), pl.col(ERROR)
    half = pl.when(pl.col(LOWEST) < pl.col(HIGHEST)).then(stats.student.quantiles(alpha, pl.col(DEGREES)) * error)
    by_t, between = (mean - half, mean + half), averaging.between
    if not all(map(math.isfinite, between)):
        return ends(averaging, *by_t)
    is_inside = (pl.col(LOWEST) >= between[0]) & (pl.col(HIGHEST) <= between[1])
    bounded = wilson(mean, error, pl.col(NUMBER), z=NormalDist().inv_cdf(1 - alpha / 2), between=between)
    low, high = (
        pl.when(is_inside).then(inside).otherwise(outside) for inside, outside in zip(bounded, by_t, strict=True)
    )
    return ends(averaging, low, high)


def wilson(
    mean: pl.Expr, error: pl.Expr, n: pl.Expr, *, z: float, between: tuple[float, float]
) -> tuple[pl.Expr, pl.Expr]:
    """Ends of the interval, `z` being the quantile of the normal distribution; null for one query.

    With m the mean and e its standard error, both as shares of the range, and n queries, 1 / n' is e^2 / (m (1 - m)) +
    2 / (n (n - 1)): the second term, two more queries of the widest possible spread, keeps the interval open for
    constant values. The ends are Wilson's for n' queries (https://doi.org/10.2307/2276774), (m + z^2 / 2n' -/+ z sqrt(m
    (1 - m) / n' + z^2 / 4n'^2)) / (1 + z^2 / n').
    """
    low, width = between[0], between[1] - between[0]
    middle, half = middle_and_half(mean, error, n, z=z, between=between)
    lower, upper = ((low + width * end.clip(0, 1)).fill_nan(None) for end in (middle - half, middle + half))
    return lower, upper


def middle_and_half(
    mean: pl.Expr, error: pl.Expr, n: pl.Expr, *, z: float, between: tuple[float, float]
) -> tuple[pl.Expr, pl.Expr]:
    """Middle and half the width of Wilson's interval, as shares of the range."""
    width = between[1] - between[0]
    m = (mean - between[0]) / width
    spread = (m * (1 - m)).clip(0)
    # At an end, the ratio of both is that of values at one of the ends.
    inflated = pl.when(spread > AT_END).then((error / width) ** 2 / spread).otherwise(1 / (n - 1))
    r = z**2 * (inflated + ADDED / (n * (n - 1)))
    return (m + r / 2) / (1 + r), (spread * r + r**2 / 4).sqrt() / (1 + r)


def ends(averaging: Averaging, low: pl.Expr, high: pl.Expr) -> dict[str, pl.Expr]:
    """Ends of an interval of the averaged values, on the scale of the measure."""
    if averaging.kind in WITHOUT_INTERVAL:
        return dict.fromkeys(["low", "high"], pl.lit(None, pl.Float64))
    return {"low": low.exp(), "high": high.exp()} if averaging.kind == "geometric" else {"low": low, "high": high}


def note_of(averaging: Averaging, weight: str | None = None) -> pl.Expr:
    """Reason for a missing interval; null where there is one."""
    count = averaged(averaging, weight).count()
    of_kind = pl.lit(WITHOUT_INTERVAL.get(averaging.kind), pl.String)
    few = pl.when(count == 0).then(pl.lit("no query")).when(count == 1).then(pl.lit("one query"))
    if not averaging.in_order:
        too_small = "the values are too small to be squared in sums of a plan: collect them"
        few = few.when(_are_tiny(_spans(averaged(averaging, weight)))).then(pl.lit(too_small))
    return few.otherwise(of_kind)


def averaged(averaging: Averaging, weight: str | None = None) -> pl.Expr:
    """The averaged values: logarithms for a geometric mean."""
    value = _counted(averaging, weight)
    return value.clip(lower_bound=FLOOR).log() if averaging.kind == "geometric" else value


def denominators(measures: Iterable[str], columns: Iterable[str]) -> Mapping[str, pl.Expr]:
    """Denominator of each measure that is a ratio of counts; counts themselves have none.

    Expressions over columns of counts under their canonical names.

    >>> denominators(["R@5", "NumRel"], ["query_id", "R@5", "NumRel"])["R@5"].meta.output_name()
    'NumRel'
    """
    column_of_each = {measure: column_of(measure) for measure in measures}
    shares = {
        measure: count
        for measure, column in column_of_each.items()
        if column and column.info.out_of
        if (count := column.info.out_of(**{**column.info.parameters, **column.arguments})) is not None
    }
    counts = {name: measure for measure, count in shares.items() for name in count.meta.root_names()}
    if lacking := [name for name in counts if name not in set(map(canonical_name, columns))]:
        raise ColumnError(
            f"the micro average of {counts[lacking[0]]!r} needs the column {lacking[0]!r}, which per_query does not "
            "have.",
            fix=Fix("Evaluate it too", Code(f"ir.evaluate(run, qrels, {[counts[lacking[0]], *lacking]!r})")),
        )
    if others := [
        measure for measure in column_of_each if measure not in shares and canonical_name(measure) not in counts
    ]:
        ratios = ", ".join(name for name, info in list(CATALOG.items()) if info.out_of)
        says = f"micro averages exist for ratios of counts ({ratios}); got {', '.join(map(repr, others))}."
        raise MeasureError(says, fix=Fix("Leave that out", Code.dropping("per_query", others)))
    return shares


def _warn_of_lost(column: str) -> None:
    """Warn of a column that begins with the name of a measure with another mean, such as `gmap_x`."""
    for end in re.finditer(r"[\W_]", column):
        named = column_of(column[: end.start()])
        if named and named.info.average != "arithmetic":
            warn(
                f"{column!r} is averaged as a column of your own, arithmetically, since a measure is known by its "
                f"name; that of {named.info.name} is a {named.info.average} one.",
                about="per_query",
                fix=Fix("Rename it", Code.renaming("per_query", {column: named.info.name})),
            )
            return


def _counted(averaging: Averaging, weight: str | None) -> pl.Expr:
    value = pl.col(averaging.column).cast(pl.Float64)
    return value if weight is None else pl.when(pl.col(weight) > 0).then(value)


def _weights(value: pl.Expr, weight: str) -> pl.Expr:
    return pl.when(value.is_not_null()).then(pl.col(weight))


def _mean(averaging: Averaging, value: pl.Expr, weight: str | None) -> pl.Expr:
    if weight is None:
        return average(value) if averaging.in_order else value.mean()
    return ratio(averaging.total(value * pl.col(weight)), averaging.total(_weights(value, weight)))


def _std(averaging: Averaging, value: pl.Expr, weight: str | None) -> pl.Expr:
    if not averaging.in_order:
        return pl.when(~_are_tiny(_spans(value))).then(value.std())
    unit = _unit(value)
    squares = ((value - _mean(averaging, value, weight)) / unit) ** 2
    if weight is None:
        return ratio(total(squares.drop_nulls()), value.count().cast(pl.Int64) - 1).sqrt() * unit
    squares = ratio(total((squares * pl.col(weight)).drop_nulls()), total(_weights(value, weight).drop_nulls()))
    return (_bessel(value) * squares).sqrt() * unit


def _standard_error(averaging: Averaging, value: pl.Expr, weight: str | None) -> pl.Expr:
    """Standard error of a mean; of a weighted one by its linearisation, as in `intervals.standard_error`."""
    if weight is None:
        return _std(averaging, value, None) / value.count().sqrt()
    weights = _weights(value, weight)
    # As shares of the largest one, weights have squares that neither vanish nor overflow.
    shares = weights / weights.max()
    unit = _unit(value)
    squares = ((value - _mean(averaging, value, weight)) / unit * shares) ** 2
    return (_bessel(value) * total(squares.drop_nulls())).sqrt() / total(shares.drop_nulls()) * unit


def _are_tiny(widths: pl.Expr) -> pl.Expr:
    """True for widths whose squares would leave the floats."""
    return widths.is_between(0, stats.student.TINY, "none")


def _spans(value: pl.Expr) -> pl.Expr:
    return value.max() - value.min()


def _unit(value: pl.Expr) -> pl.Expr:
    """Divisor of deviations: 1, but the width of their range where that is so tiny that squares would be 0."""
    width = _spans(value)
    return pl.when(_are_tiny(width)).then(width).otherwise(1.0)


def _bessel(value: pl.Expr) -> pl.Expr:
    """Bessel's correction, n / (n - 1); null for one value."""
    return ratio(value.count(), value.count().cast(pl.Int64) - 1)
