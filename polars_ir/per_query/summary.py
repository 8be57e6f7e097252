"""Means over queries: of every measure, and with their spread.

Conventions: a null is a query for which a measure is undefined, and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, Literal, Unpack, overload

import polars as pl

from polars_ir.errors import (
    InputTypeError,
    OptionError,
    explain_options,
)
from polars_ir.extras import require
from polars_ir.frames.kinds import SameKind, give_back
from polars_ir.options import takes
from polars_ir.per_query.attributes import column_for
from polars_ir.per_query.averages import (
    ERROR,
    HIGHEST,
    LOWEST,
    MEAN,
    NUMBER,
    Averaging,
    averaged,
    bounded_interval_of,
    denominators,
    ends,
    interval_of,
    mean_of,
    moments_of,
    note_of,
    std_of,
)
from polars_ir.per_query.caveats import warn_of_attributes
from polars_ir.per_query.columns import measures_of
from polars_ir.per_query.options import Summarizing
from polars_ir.per_query.samples import ALL, Sample, named_in, sample_of
from polars_ir.values import check, one_of

#: Where the values of all measures are, below each other.
VALUE = "polars_ir: value"

#: The columns that `summarize` makes.
MADE = ("measure", "mean", "std", "low", "high", "n_queries", "note")

#: The intervals by expressions, which need no SciPy and no values in memory.
BY_EXPRESSIONS = ("auto", "normal")


@overload
def mean(
    per_query: pl.LazyFrame, *, by: Any = ..., weights: Any = ..., average: Literal["macro", "micro"] = ...
) -> pl.LazyFrame: ...
@overload
def mean(
    per_query: pl.DataFrame, *, by: Any = ..., weights: Any = ..., average: Literal["macro", "micro"] = ...
) -> pl.DataFrame: ...
@overload
def mean(per_query: Any, *, by: Any = ..., weights: Any = ..., average: Literal["macro", "micro"] = ...) -> Any: ...
@explain_options
def mean(
    per_query: Any, *, by: Any = None, weights: Any = None, average: Literal["macro", "micro"] = "macro"
) -> SameKind:
    """The mean of every measure over the queries: one row per system.

    The macro average is sum(w * value) / sum(w), where w is 1 without weights. The micro average pools the counts of
    all queries: of hits / R it is sum(hits) / sum(R), which is the mean whose weights are the denominators. Precision,
    recall, F, success and the shares of judged documents have one.

    Null values, of queries for which a measure is undefined, are left out of its mean. Counts are averaged like
    everything else; trec_eval prints their sums. Measures of the catalogue that are averaged otherwise have their own
    mean: `GMAP` and `GMbpref` the geometric one, exp(mean(log(max(value, 1e-5)))), and `NumQ` the sum, the number of
    queries; of weights, their sum.

    Parameters
    ----------
    per_query
        What `evaluate` returned: a query column, `run` where there are several, and measures in numeric or Boolean
        columns; others are left out. Numbers that are probably no measures, such as years, give a warning.
    by
        Slices of the queries, each with means of its own: columns of `per_query`, by name, or a frame with a query
        column and the columns to slice by.
    weights
        The weight of each query, such as how often it is asked: a column of `per_query`, by name, or a frame with a
        query column and one other. Numbers from 0 on; a query of weight 0 is left out.
    average
        `"macro"`, the mean over the queries, or `"micro"`, over their pooled counts. A micro average needs the counts
        beside the measures: `ir.evaluate(run, qrels, ["R@100", "NumRel"])`; the frame may hold nothing else.

    Returns
    -------
    The kind of the input
        The columns of the slices, in whose order the rows are; `run` (if there is one) and a Float64 column per
        measure, null where no query has a value. A micro average leaves out the counts that are its denominators.

    Raises
    ------
    IRError
        For a frame without a query column or without a measure, or with rows of documents; a query that a system has
        twice; NaN and infinite values, with which a LazyFrame fails when it is collected; a query without a slice or a
        weight, or with several; a micro average of a measure that is no ratio of counts, or without its denominators.

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> ir.mean(ir.evaluate(run, qrels, ["RR", "P@1"])).rows()
    [(0.75, 0.5)]
    >>> recalls = ir.evaluate({"q1": ["d1"], "q2": ["d1"]}, {"q1": ["d1"], "q2": ["d1", "d2", "d3"]}, ["R", "NumRel"])
    >>> ir.mean(recalls, average="micro").item()  # 2 of 4 relevant documents
    0.5
    """
    check("average", average, one_of("macro", "micro"))
    table, measures = measures_of(per_query, without=named_in(by, weights))
    warn_of_attributes(table, measures)
    sample = sample_of(table, measures, by, weights)
    weight_of = dict.fromkeys(measures, sample.weight)
    if average == "micro":
        counts = denominators(measures, table.columns)
        times = 1.0 if sample.weight is None else pl.col(sample.weight)
        pooled = [(count * times).alias(f"polars_ir: out of {measure}") for measure, count in counts.items()]
        sample = replace(sample, rows=sample.rows.with_columns(pooled))
        weight_of = {measure: f"polars_ir: out of {measure}" for measure in counts}
    means = sample.groups().agg(
        mean_of(Averaging.of(measure), weight).alias(measure) for measure, weight in weight_of.items()
    )
    return give_back(sample.named(means, weight_of), per_query)


@overload
def summarize(
    per_query: pl.LazyFrame, *, by: Any = ..., weights: Any = ..., **options: Unpack[Summarizing]
) -> pl.LazyFrame: ...
@overload
def summarize(
    per_query: pl.DataFrame, *, by: Any = ..., weights: Any = ..., **options: Unpack[Summarizing]
) -> pl.DataFrame: ...
@overload
def summarize(per_query: Any, *, by: Any = ..., weights: Any = ..., **options: Unpack[Summarizing]) -> Any: ...
@explain_options
@takes(Summarizing)
def summarize(per_query: Any, *, by: Any = None, weights: Any = None, **options: Unpack[Summarizing]) -> SameKind:
    """Mean, spread and confidence interval of every measure over the queries: one row per system and measure.

    Queries are taken as a sample of all that could be asked. The interval of a bounded measure is Wilson's, widened by
    how much the values spread: it stays within the bounds, does not close where all values are the same, and held the
    mean of Robust 2003's topics in .93 or more of samples of 10 to 100 queries, of P, R, RR, AP, nDCG and Success
    alike, where the normal one did in .61 to .95 (notebooks/evidence.md). Without bounds (`DCG`, a column of one's own)
    it is the normal one, mean -/+ z * std / sqrt(n), z being the quantile of the normal distribution. The interval of a
    geometric mean is of the logarithms; a sum has none.

    With weights, std is sqrt(n / (n - 1) * sum(w * (x - mean)^2) / sum(w)), and in the place of std / sqrt(n) is
    sqrt(n / (n - 1) * sum((w * (x - mean))^2)) / sum(w). With equal weights both are what they are without weights.

    Parameters
    ----------
    per_query
        What `evaluate` returned.
    by
        Slices of the queries, as in `mean`.
    weights
        The weight of each query, as in `mean`; a bootstrap draws a query with its weight.

    Returns
    -------
    The kind of the input
        The columns of the slices, in whose order the rows are; `run` (if there is one), `measure` (String), `mean`,
        `std` (of the sample), `low`, `high` (Float64), `n_queries` (UInt32), which counts the queries with a value,
        and a weight above 0, and `note` (String), why there is no interval, and null where there is one: a single query
        has no spread, a sum is not estimated, and of values that are all the same there is no BCa interval.

    Raises
    ------
    IRError
        As `mean`; for a confidence outside (0, 1), an unknown interval, and a LazyFrame where values are needed.

    References
    ----------
    Wilson 1927, https://doi.org/10.2307/2276774 (`"auto"`); Efron & Tibshirani 1993, An Introduction to the Bootstrap,
    https://doi.org/10.1201/9780429246593 (percentile, BCa); Learned-Miller, Thomas 2019,
    https://arxiv.org/abs/1905.06208 (Gaffke's bound); Cochran 1977, Sampling Techniques, 3rd ed., 6.3 (the
    weighted mean as a ratio)

    Examples
    --------
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> per_query = ir.evaluate(run, qrels, "RR")
    >>> ir.summarize(per_query).select("measure", "mean", "n_queries").rows()
    [('RR', 0.75, 2)]
    >>> ir.summarize(per_query, weights=pl.DataFrame({"query_id": ["q1", "q2"], "asked": [9, 1]}))["mean"].item()
    0.55
    """
    interval = options["interval"]
    if interval == "bounded" and weights is not None:
        raise OptionError(
            "interval='bounded' takes no weights. Take another, such as 'auto', or leave the weights out."
        )
    how = {"kind": interval, **{name: options[name] for name in ("confidence", "resamples", "seed")}}
    table, measures = measures_of(per_query, without=named_in(by, weights))
    warn_of_attributes(table, measures)
    sample = sample_of(table, measures, by, weights)
    if interval in BY_EXPRESSIONS:
        z = NormalDist().inv_cdf((1 + options["confidence"]) / 2)
        by_expression = _bounded if interval == "auto" else _normal
        rows = [by_expression(_below_each_other(sample, names), kind, z) for kind, names in _kinds(measures)]
    elif table.eager:
        require("stats", f"ir.summarize(interval={interval!r})")
        rows = [_with_interval(_below_each_other(sample, names), kind, how) for kind, names in _kinds(measures)]
    else:
        raise InputTypeError.lazy(f"interval={interval!r}")
    in_order = pl.concat(rows).sort(pl.col("measure").cast(pl.Enum(measures)), maintain_order=True)
    return give_back(sample.named(in_order, MADE), per_query)


def _kinds(measures: Iterable[str]) -> Iterator[tuple[Averaging, list[str]]]:
    """The measures that are averaged alike, which are summarized together: a plan a measure is slow to optimize."""
    kinds: dict[Averaging, list[str]] = {}
    for measure in measures:
        kinds.setdefault(Averaging.of(measure)._replace(column=VALUE), []).append(measure)
    yield from kinds.items()


def _below_each_other(sample: Sample, measures: Sequence[str]) -> Sample:
    """The sample with the values of the measures in one column, and their names in another that tells means apart."""
    keys = [*map(column_for, sample.slices), *sample.systems, ALL]
    index = keys if sample.weight is None else [*keys, sample.weight]
    rows = sample.rows.select(*index, pl.col(measures).cast(pl.Float64))
    long = rows.unpivot(measures, index=index, variable_name="measure", value_name=VALUE)
    return replace(sample, rows=long, systems=[*sample.systems, "measure"])


def _summary(sample: Sample, averaging: Averaging, **others: pl.Expr) -> pl.LazyFrame:
    """A row per slice, system and measure, with other aggregations."""
    return sample.groups().agg(
        mean=mean_of(averaging, sample.weight),
        std=std_of(averaging, sample.weight),
        **others,
        n_queries=averaged(averaging, sample.weight).count(),
        note=note_of(averaging, sample.weight),
    )


def _normal(sample: Sample, averaging: Averaging, z: float) -> pl.LazyFrame:
    """The summary with the normal interval."""
    return _summary(sample, averaging, **interval_of(averaging, z, sample.weight))


def _bounded(sample: Sample, averaging: Averaging, z: float) -> pl.LazyFrame:
    """The summary with Wilson's interval."""
    moments = _summary(sample, averaging, **moments_of(averaging, sample.weight))
    return moments.with_columns(**bounded_interval_of(averaging, z)).drop(MEAN, ERROR, NUMBER, LOWEST, HIGHEST)


def _with_interval(sample: Sample, averaging: Averaging, options: Mapping[str, Any]) -> pl.LazyFrame:
    """The summary with intervals that expressions can not have."""
    from polars_ir.statistics.intervals import intervals

    value = averaged(averaging, sample.weight)
    lists = {"values": value.drop_nulls()}
    if sample.weight is not None:
        lists["weights"] = pl.when(value.is_not_null()).then(pl.col(sample.weight)).drop_nulls()
    # In the order in which the intervals are found: measures of several slices stand among each other.
    rows = _summary(sample, averaging, **lists).collect().sort("measure", maintain_order=True)
    interval_ends: list[tuple[float, float] | None] = []
    for of_measure in rows.partition_by("measure", maintain_order=True):
        samples, *weights = ([each.to_numpy() for each in of_measure[name]] for name in lists)
        supports = [averaging.between] * len(samples)
        interval_ends += intervals(samples, weights=weights[0] if weights else None, supports=supports, **options)
    low, high = (
        pl.Series(n, [end and end[i] for end in interval_ends], pl.Float64) for i, n in enumerate(["low", "high"])
    )
    same = pl.when(pl.col("values").list.n_unique() == 1).then(pl.lit("all values are the same: "))
    why = pl.concat_str(same.otherwise(pl.lit("")), pl.lit(f"no {options['kind']} interval"))
    note = pl.coalesce("note", pl.when(pl.col("low").is_null()).then(why))
    rows = rows.with_columns(low, high).with_columns(note=note).drop(*lists)
    return rows.lazy().with_columns(**ends(averaging, pl.col("low"), pl.col("high")))
