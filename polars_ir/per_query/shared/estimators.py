"""Estimates of means with their intervals, and tests of mean differences: of values, of moments, or by expressions.

Conventions: intervals, p-values and effects come from here alone, for values and for moments. Where the values are
needed, a sample of moments raises an error that names the alternative.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any, NamedTuple

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import InputTypeError, option
from polars_ir.extras import np
from polars_ir.language.columns import canonical_name
from polars_ir.language.words import total
from polars_ir.per_query.shared import averages
from polars_ir.per_query.shared.averages import DEGREES, ERROR, HIGHEST, LOWEST, MOMENTS, SHARE, Averaging
from polars_ir.per_query.shared.measures import check_bounds
from polars_ir.per_query.shared.options import BOUNDED, OF_MEDIANS, PairedTest
from polars_ir.per_query.shared.queries import VALUE, Pairs, Queries

#: Reason for a null effect size.
NO_RANKS = "rank_biserial needs the values of queries: collect them"

#: Columns that `summarize` makes.
MADE = ("measure", "mean", "std", "low", "high", "n_queries", "n_effective", "note")

#: Note on weights too unequal for an interval.
UNEQUAL = (
    f"weights so unequal (n_effective below {averages.LEAST_EFFECTIVE} n_queries, or {averages.LEAST_OF_FEW} of fewer "
    f"than {averages.FEW_WEIGHTS}) have no interval that holds: "
    "draw queries by their weight, and leave weights out"
)

#: Note on constant values of a measure without bounds.
SAME = "all values are the same"


def means(queries: Queries, average: str, people: Any = None) -> pl.LazyFrame:
    """Mean of each measure by slice and system."""
    if people is not None:
        from polars_ir.per_query.shared import reference

        queries = reference.with_people(queries, people)
        return queries.named(reference.means(queries, queries.measures), queries.measures)
    weight_of: dict[str, str | None] = dict.fromkeys(queries.measures, queries.weight)
    if average == "micro":
        counts = averages.denominators(queries.measures, queries.table.columns)
        times = 1.0 if queries.weight is None else pl.col(queries.weight)
        pooled = [(count * times).alias(f"polars_ir: out of {measure}") for measure, count in counts.items()]
        known = {canonical_name(name): pl.col(name) for name in queries.measures}
        queries = replace(queries, rows=queries.rows.with_columns(**known).with_columns(pooled))
        weight_of = {measure: f"polars_ir: out of {measure}" for measure in counts}
    found = []
    for measure, weight in weight_of.items():
        averaging = Averaging.of(measure, queries.table.columns, in_order=queries.in_order)
        found.append(averages.mean_of(averaging, weight).alias(measure))
    return queries.named(queries.means(found), weight_of)


def summaries(queries: Queries, options: Mapping[str, Any]) -> pl.LazyFrame:
    """A row per slice, system and measure, in the order of the measures."""
    note_of_queries, columns = queries.note(clustered=options["reference"] is None), queries.table.columns
    queries = queries.of_clusters(lambda measure: averages.mean_of(Averaging.of(measure, columns)))
    interval, made = options["interval"], list(MADE)
    if options["reference"] is not None:
        from polars_ir.per_query.shared import reference

        queries = reference.with_people(queries, options["reference"])
        rows = [reference.summary(queries, interval, options["alpha"])]
        made += reference.ADDED
    elif interval in ("auto", "normal"):  # by expressions, which need neither SciPy nor the values in memory
        z = NormalDist().inv_cdf((1 + (1 - options["alpha"])) / 2)
        samples = [(queries.below_each_other(names), kind) for kind, names in _kinds(queries)]
        if interval == "auto":
            rows = [_bounded(sample, kind, options["alpha"]) for sample, kind in samples]
        else:
            rows = [_summary(sample, kind, **averages.interval_of(kind, z, sample.weight)) for sample, kind in samples]
    elif queries.table.eager:
        if interval == "bounded":
            for measure, values in queries.rows.select(queries.measures).collect().cast(pl.Float64).to_dict().items():
                check_bounds(measure, values.drop_nulls().to_numpy(), f"take {option('interval', 't')}")
        rows = [_with_interval(queries.below_each_other(names), kind, options) for kind, names in _kinds(queries)]
    else:
        raise InputTypeError.lazy(f"ir.summarize with {option('interval', interval)}", option("interval", "auto"))
    found = pl.concat(rows).sort(pl.col("measure").cast(pl.Enum(queries.measures)), maintain_order=True)
    # Constant values are no evidence that there is no spread.
    note = pl.coalesce("note", pl.when(pl.col("low") == pl.col("high")).then(pl.lit(SAME)))
    holds = pl.col("low") < pl.col("high")
    if queries.weight is not None and queries.stratum is None:
        are_few = pl.col("n_queries") < averages.FEW_WEIGHTS
        least = pl.when(are_few).then(averages.LEAST_OF_FEW).otherwise(averages.LEAST_EFFECTIVE)
        unequal = pl.col("n_effective") < least * pl.col("n_queries")
        holds &= ~unequal
        note = pl.coalesce("note", pl.when(unequal).then(pl.lit(UNEQUAL)), note)
    low, high = (pl.when(holds).then(end) for end in ("low", "high"))
    summary = queries.named(found.with_columns(low=low, high=high, note=note), made)
    if note_of_queries is None:
        return summary
    both = pl.concat_str("note", pl.lit(note_of_queries), separator="; ", ignore_nulls=True)
    return summary.with_columns(note=both)


def _kinds(queries: Queries) -> Iterator[tuple[Averaging, list[str]]]:
    """Measures that are averaged alike, which are summarized together: a plan per measure is slow to optimize."""
    kinds: dict[Averaging, list[str]] = {}
    for measure in queries.measures:
        averaging = Averaging.of(measure, queries.table.columns, in_order=queries.in_order)._replace(column=VALUE)
        kinds.setdefault(averaging, []).append(measure)
    yield from kinds.items()


def _summary(sample: Queries, averaging: Averaging, **others: pl.Expr) -> pl.LazyFrame:
    return sample.means(
        mean=averages.mean_of(averaging, sample.weight),
        std=averages.std_of(averaging, sample.weight),
        **others,
        n_queries=averages.averaged(averaging, sample.weight).count(),
        n_effective=averages.n_effective_of(averaging, sample.weight),
        note=averages.note_of(averaging, sample.weight),
    )


def _bounded(sample: Queries, averaging: Averaging, alpha: float) -> pl.LazyFrame:
    """The summary with Wilson's interval."""
    moments = averages.moments_of(averaging, sample.weight)
    if sample.stratum is not None:
        rows = averages.with_shares_of_variance(sample.rows, averaging, sample.weight, sample.stratum, sample.keys)
        moments[ERROR] = total(pl.col(SHARE).drop_nulls()).sqrt().fill_nan(None)
        value = averages.averaged(averaging, sample.weight)
        strata = pl.col(sample.stratum).filter(value.is_not_null()).n_unique()
        moments[DEGREES] = value.count().cast(pl.Int64) - strata.cast(pl.Int64)
        moments[averages.IS_FEW] = pl.col(averages.IS_FEW).any()
        sample = replace(sample, rows=rows)
    summary = _summary(sample, averaging, **moments)
    if sample.stratum is not None:
        alone = (pl.col("n_queries") > 1) & pl.col(ERROR).is_null()
        summary = summary.with_columns(note=pl.when(alone).then(pl.lit("a stratum of one query")).otherwise("note"))
    summary = summary.with_columns(**averages.bounded_interval_of(averaging, alpha))
    without_spread = pl.col("low").is_null() & (pl.col(LOWEST) == pl.col(HIGHEST))
    summary = summary.with_columns(note=pl.coalesce("note", pl.when(without_spread).then(pl.lit(SAME))))
    if sample.stratum is not None:
        summary = _by_strata(summary, sample, averaging, alpha)
    return summary.drop(*MOMENTS, averages.IS_FEW, strict=False)


def _by_strata(summary: pl.LazyFrame, sample: Queries, averaging: Averaging, alpha: float) -> pl.LazyFrame:
    """The summary, in which intervals of strata make that of a mean which few queries decide, or leave none."""
    ends, is_few = ("low", "high"), pl.col(averages.IS_FEW)
    if sample.weight is None or sample.stratum is None or averaging.kind != "arithmetic":
        summary = summary.with_columns(pl.when(~is_few).then(end).alias(end) for end in ends)
    else:
        joined = averages.joined_intervals(sample.rows, averaging, sample.weight, sample.stratum, sample.keys, alpha)
        summary = summary.join(joined, on=sample.keys, how="left", suffix=" joined", maintain_order="left")
        of_joined = [pl.when(is_few).then(f"{end} joined").otherwise(end).alias(end) for end in ends]
        summary = summary.with_columns(of_joined).drop(f"{end} joined" for end in ends)
    few = f"a stratum of fewer than {averages.LEAST_OF_STRATUM} queries counts more than its share of them"
    lacks = pl.when(is_few & pl.col("low").is_null()).then(pl.lit(f"{few}: no interval holds"))
    return summary.with_columns(note=pl.coalesce("note", lacks))


def _with_interval(sample: Queries, averaging: Averaging, options: Mapping[str, Any]) -> pl.LazyFrame:
    value = averages.averaged(averaging, sample.weight)
    lists = {"values": value.drop_nulls()}
    if sample.weight is not None:
        lists["weights"] = pl.when(value.is_not_null()).then(pl.col(sample.weight)).drop_nulls()
    # In the order in which the intervals are found: measures of several slices alternate.
    rows = _summary(sample, averaging, **lists).collect().sort("measure", maintain_order=True)
    draws = stats.Draws(options["resamples"], options["seed"])
    found: list[stats.Estimate] = []
    for of_measure in rows.partition_by("measure", maintain_order=True):
        values, *weights = ([each.to_numpy() for each in of_measure[name]] for name in lists)
        weighed = zip(values, weights[0] if weights else [None] * len(values), strict=True)
        samples = [stats.Values(each, weight, averaging.between) for each, weight in weighed]
        found += estimates(samples, options["interval"], options["alpha"], draws)
    schema = {"low": pl.Float64, "high": pl.Float64, "note": pl.String}
    intervals = pl.DataFrame([(each.low, each.high, each.note) for each in found], schema, orient="row")
    rows = rows.drop(*lists).with_columns(pl.coalesce("note", intervals["note"]), intervals["low"], intervals["high"])
    return rows.lazy().with_columns(**averages.ends(averaging, pl.col("low"), pl.col("high")))


class Procedure(NamedTuple):
    """A test with its options: `family` is the number of its comparisons, `margins` are by measure."""

    test: PairedTest
    interval: str
    alpha: float
    family: int
    tolerance: float
    margins: Mapping[str, float]
    draws: stats.Draws


def estimates(
    samples: Sequence[stats.Sample],
    kind: str,
    alpha: float,
    draws: stats.Draws | None = None,
    advice: tuple[str, str | None] = ("this interval", None),
) -> list[stats.Estimate]:
    """Mean of each sample with its interval, which misses the true one with a probability of alpha.

    `advice` is what needs the values, and what does not.
    """
    if any(isinstance(sample, stats.Moments) for sample in samples):
        return [_by_moments(sample, kind, alpha, advice) for sample in samples]
    of_values = [sample for sample in samples if isinstance(sample, stats.Values)]
    return stats.intervals.estimates(of_values, kind, 1 - alpha, draws)


def interval_of_mean(
    mean: float, error: float, n: int, between: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """The interval of `summarize` of n values with a standard error, within their range if that is known."""
    if all(map(math.isfinite, between)):
        z = NormalDist().inv_cdf(1 - alpha / 2)
        found = averages.wilson(pl.lit(mean), pl.lit(error), pl.lit(n), z=z, between=between)
        low, high = pl.select(low=found[0], high=found[1]).row(0)
        return low, high
    half = stats.student.quantile(1 - alpha / 2, n - 1) * error
    return mean - half, mean + half


def _by_moments(sample: stats.Sample, kind: str, alpha: float, advice: tuple[str, str | None]) -> stats.Estimate:
    n, mean = sample.n, sample.mean
    if n < 2:
        return stats.Estimate(mean if n else None, None, None, n)
    if kind == "auto":
        tails = _tails(sample, advice)
        if tails is None:
            return stats.Estimate(mean, None, None, n)
        return stats.Estimate(mean, tails[0].bound(alpha / 2), -tails[1].bound(alpha / 2), n)
    if kind not in ("t", "normal"):
        raise InputTypeError.lazy(*advice)
    share = 1 - alpha / 2
    quantile = stats.student.quantile(share, n - 1) if kind == "t" else NormalDist().inv_cdf(share)
    half = quantile * sample.std / math.sqrt(n)
    return stats.Estimate(mean, mean - half, mean + half, n)


def _tails(sample: stats.Sample, advice: tuple[str, str | None]) -> tuple[stats.Tail, stats.Tail] | None:
    """Both tails of moments, where bounds by Student's t hold; none where the range of the measure is not known either.

    Where it is, a bound by the range would need the values.
    """
    tails = sample.tail(), sample.scaled(-1).tail()
    if tails[0] is not None and tails[1] is not None:
        return tails[0], tails[1]
    if sample.n < 2 or not math.isfinite(sample.support[0]):
        return None
    what, instead = advice
    says = f"{what}, where fewer than {stats.LEAST_BELOW} queries lie below mean and median, or above both,"
    raise InputTypeError.lazy(says, instead)


def why_none(sample: stats.Sample) -> str:
    """The reason for a p or an interval by `"auto"` that there is not."""
    has_range = math.isfinite(sample.support[0])
    return "" if has_range or (sample.tail() and sample.scaled(-1).tail()) else f": {stats.NO_RANGE}"


def outcomes(of: Pairs, how: Procedure) -> list[stats.Outcome]:
    """The result of the test for each pair."""
    if of.differences is None:
        return [_tested(pair.sample, how) for pair in of.pairs]
    widths = [pair.sample.support[1] for pair in of.pairs]
    scores = of.values, of.differences
    paired = stats.Paired(*scores, how.alpha, how.tolerance, how.draws, widths, how.family, of.largest)
    return stats.PAIRED[how.test.name](paired)


def _tested(sample: stats.Sample, how: Procedure) -> stats.Outcome:
    """Student's t of moments, or the smaller p of both bounds."""
    n, std = sample.n, sample.std
    t = sample.mean / std * math.sqrt(n) if n > 1 and std else None
    if how.test.name == "t":
        return stats.Outcome() if t is None else stats.Outcome(t, stats.student.two_sided(t, n - 1))
    tails = _tails(sample, ("ir.compare with test='auto'", option("test", "t")))
    return stats.Outcome(t, min(1.0, 2 * min(tail.p_above(0.0) for tail in tails)) if tails else None)


def intervals(
    samples: Sequence[stats.Sample], how: Procedure, outcomes: Sequence[stats.Outcome]
) -> tuple[list[stats.Ends | None], list[stats.Ends | None]]:
    """The interval of each difference, and the one that holds together with those of its family."""
    bounded = how.interval in BOUNDED
    advice = f"ir.compare with {option('interval', how.interval)}", option("interval", "t")
    ranked: list[stats.Sample] = list(samples)
    if how.interval in OF_MEDIANS:
        ranked = [stats.Values(stats.without_ties(d.values, how.tolerance)) for d in samples if d.values is not None]

    def ends(alpha: float) -> list[stats.Ends | None]:
        found: list[stats.Ends | None] = []
        for estimate, d in zip(estimates(ranked, how.interval, alpha, how.draws, advice), samples, strict=True):
            # What shows no spread does not show either that there is none.
            is_there = bounded or d.lowest < d.highest
            low, high = estimate.ends if estimate.ends is not None and is_there else (0.0, 0.0)
            # An end that is 0 but for rounding is 0, so that no interval excludes 0 by that.
            low, high = (end if abs(end) > stats.ROUNDING * largest(d) else 0.0 for end in (low, high))
            found.append((low, high) if low < high else None)
        return found

    of_test = how.interval == how.test.interval
    if how.test.complete:
        alone = [outcome.interval for outcome in outcomes] if of_test else ends(how.alpha)
        return alone, [outcome.simultaneous for outcome in outcomes]
    alone = ends(how.alpha)
    if of_test:
        # An interval that contradicts p is left out.
        alone = [
            end if end is None or p is None or (p <= how.alpha) == (end[0] > 0 or end[1] < 0) else None
            for end, p in zip(alone, [outcome.p for outcome in outcomes], strict=True)
        ]
    return alone, ends(how.alpha / how.family)


def largest(sample: stats.Sample) -> float:
    """The largest absolute value, 0 of no values."""
    return max(abs(sample.lowest), abs(sample.highest)) if sample.n else 0.0


def effects(of: Pairs, how: Procedure) -> list[dict[str, float | None]]:
    """The sizes of the effects with their intervals, by the names of their columns."""
    confidence, samples = 1 - how.alpha, [pair.people or pair.sample for pair in of.pairs]
    values = [sample.values for sample in samples if sample.values is not None]
    if len(values) == len(samples):
        return stats.effects(values, tolerance=how.tolerance, confidence=confidence)
    n, mean, std = (np.array([getattr(d, name) for d in samples], np.float64) for name in ("n", "mean", "std"))
    with np.errstate(all="ignore"):
        d = np.where(std > 0, mean / std, np.nan)
    return stats.records(d, *stats.cohen_d_interval(d, n, confidence))


def p_within(sample: stats.Sample, margin: float) -> float | None:
    """The p of the test that a mean difference is within the margin, by two one-sided ones."""
    if sample.values is None:
        sides: Sequence[Any] = _tails(sample, ("margin", "no margin")) or ()
    else:
        sides = sample.values, -sample.values
    p = [stats.p_above(side, -margin, lowest=sample.support[0]) for side in sides]
    return None if not p or p[0] is None or p[1] is None else max(p[0], p[1])
