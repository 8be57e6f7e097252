"""Means over queries with their spread and their interval, of every measure."""

from __future__ import annotations

from typing import Unpack

from polars_ir.errors import OptionError
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.per_query.shared import estimators
from polars_ir.per_query.shared.options import Summarizing
from polars_ir.per_query.shared.queries import sampled


@public(Summarizing)
def summarize(per_query: Table[FrameT], **options: Unpack[Summarizing]) -> FrameT:
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
    weights, interval = options["weights"], options["interval"]
    if interval == "bounded" and weights is not None:
        raise OptionError(
            "interval='bounded' takes no weights. Take another, such as 'auto', or leave the weights out."
        )
    if weights is not None and options["cluster"] is not None:
        raise OptionError("cluster takes no weights: each cluster counts once. Leave one of them out.")
    if options["strata"] is not None and interval != "auto":
        raise OptionError(f"strata go with interval='auto'; got {interval!r}. Leave one of them out.")
    queries = sampled(per_query, options)
    return queries.table.give_back(estimators.summaries(queries, options), per_query)
