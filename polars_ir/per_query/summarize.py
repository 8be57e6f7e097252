"""Means over queries with their spread and their interval, of every measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from polars_ir.errors import InputTypeError, OptionError, option
from polars_ir.frames.roles import PROVENANCE
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.language.words import total
from polars_ir.per_query.provenance import warn_of_several
from polars_ir.per_query.shared import averages
from polars_ir.per_query.shared.averages import DEGREES, ERROR, HIGHEST, LOWEST, MOMENTS, SHARE, Averaging
from polars_ir.per_query.shared.measures import warn_of_attributes
from polars_ir.per_query.shared.options import Summarizing
from polars_ir.per_query.shared.queries import VALUE, Queries, queries_of

if TYPE_CHECKING:
    from polars_ir.statistics.intervals import Estimate

#: The columns that `summarize` makes.
MADE = ("measure", "mean", "std", "low", "high", "n_queries", "n_effective", "note")

#: The columns of intervals of values in memory.
INTERVAL = {"low": pl.Float64, "high": pl.Float64, "note": pl.String}

#: The note where weights are so unequal that no interval holds.
UNEQUAL = (
    f"weights so unequal (n_effective below {averages.LEAST_EFFECTIVE} n_queries, or {averages.LEAST_OF_FEW} of fewer "
    f"than {averages.FEW_WEIGHTS}) have no interval that holds: "
    "draw queries by their weight, and leave weights out"
)

#: The note on values without a spread, of a measure without bounds.
SAME = "all values are the same"

#: The intervals by expressions, which need no SciPy and no values in memory.
BY_EXPRESSIONS = ("auto", "normal")


@public(Summarizing)
def summarize(
    per_query: Table[FrameT],
    *,
    by: Any = None,
    weights: Any = None,
    cluster: Any = None,
    strata: Any = None,
    **options: Unpack[Summarizing],
) -> FrameT:
    """Mean, spread and confidence interval of every measure over the queries: one row per system and measure.

    Queries are taken as a sample of all that could be asked. The interval of a bounded measure is Wilson's, widened by
    how much the values spread: it stays within the bounds, does not close where all values are the same, and held the
    mean of Robust 2003's topics in .93 or more of samples of 10 to 100 queries, of P, R, RR, AP, nDCG and Success
    alike, where the normal one did in .61 to .95 (notebooks/evidence.md), and in .91 to .98 of samples of 5 to 400
    values of which .84 to .90 are 0. Of values of 0 and 1 it holds in .91 or more of samples of 5 to 400 for a share of
    .03 to .97, in .88 for .02 and .98, and in .86 for .01 and .99. Without bounds (`DCG`, a column of one's own) it is
    Student's, mean -/+ t(n - 1) * std / sqrt(n), which held in .95 of samples of normal values, and in .80, .85, .87
    and .91 of 5, 10, 25 and 100 lognormal ones. The interval of a geometric mean is of the logarithms; a sum has none.

    With weights, std is sqrt(n / (n - 1) * sum(w * (x - mean)^2) / sum(w)), and in the place of std / sqrt(n) is
    sqrt(n / (n - 1) * sum((w * (x - mean))^2)) / sum(w). With equal weights both are what they are without weights.
    Where weights are as unequal as traffic, an interval holds only for queries drawn by their weight (then leave the
    weights out): of queries drawn evenly from a log by Zipf's law (exponent .8 and 1), whose frequent queries do
    better, the weighted interval held in .46 to .93 of samples of 25 to 400, as the few queries that have most of the
    weight are mostly not among them. So there is none, but a note, where `n_effective` is below .8 of `n_queries`,
    or .9 of fewer than 20: of samples of 5 to 400 at most .06 have an interval that misses.

    Parameters
    ----------
    by
        Slices of the queries, as in `mean`.
    weights
        The weight of each query, as in `mean`; a bootstrap draws a query with its weight.
    cluster
        What several queries have in common that are no sample of their own, such as the topic of variants, the user of
        sessions, a conversation: a column of `per_query`, or a frame with a query column and one other. Each cluster
        counts once, as the mean of its queries (their sum, for a measure that is added up), without weights.
    strata
        The groups from each of which so many queries were drawn, such as languages: as `cluster`. How far groups are
        apart is no chance then, and the interval is of the spread within them: the standard error is
        sqrt(sum(n / (n - 1) * sum((z - mean(z))^2))) over groups of n queries, z being (x - mean) * w / sum(w), and
        Student's t has as many degrees of freedom as there are queries, less the number of groups. With `weights`, a
        group counts as those of its queries together; without, as it has queries, and one without a query here not at
        all; one of a single query is an error. For interval `"auto"`. `compare` and `gate` take none: in the difference
        of two systems on a query, the level of its group is gone. So does `mean`: strata change the interval, and only
        weights change the mean.

    Returns
    -------
    The kind of the input
        The columns of the slices, in whose order the rows are; the column of systems (if there is one), `measure`
        (String), `mean`, `std` (of the sample), `low`, `high` (Float64), `n_queries` (UInt32), which counts the queries
        with a value, and a weight above 0, `n_effective` (Float64), Kish's number of as many with equal weights,
        sum(w)^2 / sum(w^2), and `note` (String), why there is no interval: a single query has no spread, weights are
        too unequal, a sum is not estimated, and values that are all the same have one by the bounds of their measure
        only, `"auto"` or `"bounded"`; that `n_queries` counts clusters, or that ids or a column `topic` look as if
        there were some; else null.

    Raises
    ------
    IRError
        As `mean`; for an alpha outside (0, 1), an unknown interval, and a LazyFrame where values are needed.

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
    if options["interval"] == "bounded" and weights is not None:
        raise OptionError(
            "interval='bounded' takes no weights. Take another, such as 'auto', or leave the weights out."
        )
    if weights is not None and cluster is not None:
        raise OptionError("cluster takes no weights: each cluster counts once. Leave one of them out.")
    if strata is not None and options["interval"] != "auto":
        raise OptionError(f"strata go with interval='auto'; got {options['interval']!r}. Leave one of them out.")
    queries = queries_of(per_query, by=by, weights=weights, cluster=cluster, strata=strata)
    warn_of_attributes(queries.table, queries.measures)
    if PROVENANCE in queries.table.columns:
        warn_of_several(queries.table, queries.measures)
    said, columns = queries.note(), queries.table.columns
    queries = queries.of_clusters(lambda measure: averages.mean_of(Averaging.of(measure, columns)))
    rows = queries.named(summaries(queries, options), MADE)
    if said is not None:
        rows = rows.with_columns(note=pl.concat_str("note", pl.lit(said), separator="; ", ignore_nulls=True))
    return queries.table.give_back(rows, per_query)


def summaries(queries: Queries, options: Summarizing) -> pl.LazyFrame:
    """A row per slice, system and measure, in the order of the measures."""
    interval, kinds = options["interval"], _kinds(queries)
    if interval in BY_EXPRESSIONS:
        z = NormalDist().inv_cdf((1 + (1 - options["alpha"])) / 2)
        samples = [(queries.below_each_other(names), kind) for kind, names in kinds]
        if interval == "auto":
            rows = [_bounded(sample, kind, options["alpha"]) for sample, kind in samples]
        else:
            rows = [_summary(sample, kind, **averages.interval_of(kind, z, sample.weight)) for sample, kind in samples]
    elif queries.table.eager:
        rows = [_with_interval(queries.below_each_other(names), kind, options) for kind, names in kinds]
    else:
        raise InputTypeError.lazy(f"ir.summarize with {option('interval', interval)}", option("interval", "auto"))
    found = pl.concat(rows).sort(pl.col("measure").cast(pl.Enum(queries.measures)), maintain_order=True)
    # What shows no spread does not show either that there is none.
    note = pl.coalesce("note", pl.when(pl.col("low") == pl.col("high")).then(pl.lit(SAME)))
    holds = pl.col("low") < pl.col("high")
    if queries.weight is not None and queries.stratum is None:
        are_few = pl.col("n_queries") < averages.FEW_WEIGHTS
        least = pl.when(are_few).then(averages.LEAST_OF_FEW).otherwise(averages.LEAST_EFFECTIVE)
        unequal = pl.col("n_effective") < least * pl.col("n_queries")
        holds &= ~unequal
        note = pl.coalesce("note", pl.when(unequal).then(pl.lit(UNEQUAL)), note)
    low, high = (pl.when(holds).then(end) for end in ("low", "high"))
    return found.with_columns(low=low, high=high, note=note)


def _kinds(queries: Queries) -> Iterator[tuple[Averaging, list[str]]]:
    """The measures that are averaged alike, which are summarized together: a plan a measure is slow to optimize."""
    kinds: dict[Averaging, list[str]] = {}
    for measure in queries.measures:
        averaging = Averaging.of(measure, queries.table.columns, in_order=queries.in_order)._replace(column=VALUE)
        kinds.setdefault(averaging, []).append(measure)
    yield from kinds.items()


def _summary(sample: Queries, averaging: Averaging, **others: pl.Expr) -> pl.LazyFrame:
    """A row per slice, system and measure, with other aggregations."""
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
        sample = replace(sample, rows=rows)
    summary = _summary(sample, averaging, **moments)
    if sample.stratum is not None:
        alone = (pl.col("n_queries") > 1) & pl.col(ERROR).is_null()
        summary = summary.with_columns(note=pl.when(alone).then(pl.lit("a stratum of one query")).otherwise("note"))
    summary = summary.with_columns(**averages.bounded_interval_of(averaging, alpha))
    without_spread = pl.col("low").is_null() & (pl.col(LOWEST) == pl.col(HIGHEST))
    summary = summary.with_columns(note=pl.coalesce("note", pl.when(without_spread).then(pl.lit(SAME))))
    return summary.drop(MOMENTS)


def _with_interval(sample: Queries, averaging: Averaging, options: Summarizing) -> pl.LazyFrame:
    """The summary with intervals that expressions can not have."""
    from polars_ir.statistics.intervals import estimates
    from polars_ir.statistics.randomisation import Draws
    from polars_ir.statistics.samples import Values

    value = averages.averaged(averaging, sample.weight)
    lists = {"values": value.drop_nulls()}
    if sample.weight is not None:
        lists["weights"] = pl.when(value.is_not_null()).then(pl.col(sample.weight)).drop_nulls()
    # In the order in which the intervals are found: measures of several slices stand among each other.
    rows = _summary(sample, averaging, **lists).collect().sort("measure", maintain_order=True)
    draws = Draws(options["resamples"], options["seed"])
    found: list[Estimate] = []
    for of_measure in rows.partition_by("measure", maintain_order=True):
        values, *weights = ([each.to_numpy() for each in of_measure[name]] for name in lists)
        weighed = zip(values, weights[0] if weights else [None] * len(values), strict=True)
        samples = [Values(each, weight, averaging.between) for each, weight in weighed]
        found += estimates(samples, options["interval"], 1 - options["alpha"], draws)
    intervals = pl.DataFrame([(each.low, each.high, each.note) for each in found], INTERVAL, orient="row")
    rows = rows.drop(*lists).with_columns(pl.coalesce("note", intervals["note"]), intervals["low"], intervals["high"])
    return rows.lazy().with_columns(**averages.ends(averaging, pl.col("low"), pl.col("high")))
