"""Means over queries of every measure: by themselves, with their spread and interval, and as a flat dict.

Conventions: a null is a query for which a measure is undefined, and is left out.
"""

from __future__ import annotations

import re
from typing import Any, Unpack

import polars as pl

from polars_ir.errors import DataError, InputTypeError, OptionError
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.names import Names, spelt_in_sql
from polars_ir.language.options import Value, check, one_of, public
from polars_ir.per_query.shared import estimators
from polars_ir.per_query.shared.options import Averaging, Summarizing
from polars_ir.per_query.shared.queries import sampled


@public(Averaging)
def mean(per_query: Table[FrameT], **options: Unpack[Averaging]) -> FrameT:
    """The mean of every measure over the queries: one row per system.

    The macro average is sum(w * value) / sum(w), where w is 1 without weights. The micro average pools the counts of
    all queries: for hits / R it is sum(hits) / sum(R), the mean weighted by the denominators. Precision, recall, F,
    success and the shares of judged documents have one.

    Null values, where a measure is undefined, are left out of its mean. Counts are averaged like everything else;
    trec_eval prints their sums. Some measures of the catalogue define another mean: `GMAP` and `GMbpref` the geometric
    one, exp(mean(log(max(value, 1e-5)))), and `NumQ` the sum, the number of queries (with weights, their sum). Standard
    errors of values (a column `m se`) become that of the mean of independent values, sqrt(sum((w * se)^2)) / sum(w).

    With `reference=people` means are the estimates of `summarize`, which also tells how sure they are.

    Parameters
    ----------
    per_query
        What `evaluate` returned: a query column, `run` where there are several, and measures in numeric or Boolean
        columns; others are left out. Numbers that are probably no measures, such as years, give a warning.

    Returns
    -------
    The kind of the input
        The columns of the slices, in whose order the rows are; the column of systems (if there is one) and a Float64
        column per measure, null where no query has a value. A micro average leaves out the counts that are its
        denominators. A LazyFrame is added up as it streams, with a row per query and system in memory, and is that of
        the values to within 1e-12 (1e-11 of three million); with weights in the order of the queries, to the last bit.

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
    if (people := options["reference"]) is not None:
        from polars_ir.per_query.shared.reference import check_reference

        check_reference(options, {"average": ["macro"]})
    queries = sampled(per_query, options)
    return queries.table.give_back(estimators.means(queries, options["average"], people), per_query)


@public(Summarizing)
def summarize(per_query: Table[FrameT], **options: Unpack[Summarizing]) -> FrameT:
    """Mean, spread and confidence interval of every measure over the queries: one row per system and measure.

    Queries are treated as a sample of all that could be asked. The interval of a bounded measure is Wilson's, widened
    by the spread of the values: it stays within the bounds, and does not close where all values are the same. Without
    bounds (`DCG`, a column of one's own) it is Student's, mean -/+ t(n - 1) * std / sqrt(n). How often they hold the
    mean, and where they do not (lognormal values; shares below .03 or above .97), is in notebooks/evidence.md. The
    interval of a geometric mean is that of the logarithms; a sum has none.

    With weights, std is sqrt(n / (n - 1) * sum(w * (x - mean)^2) / sum(w)), and std / sqrt(n) becomes
    sqrt(n / (n - 1) * sum((w * (x - mean))^2)) / sum(w). With equal weights both equal the unweighted ones. Where
    weights are as unequal as traffic, an interval holds only for queries drawn by their weight (then leave the weights
    out): drawn evenly, the few queries that have most of the weight are mostly missing. So there is none, but a note,
    where `n_effective` is below .8 of `n_queries`, or .9 of fewer than 20.

    With `reference=people`, n random ones of the model's queries, the mean is y + lambda * (u - f): people's mean, the
    model's of the other m queries and of people's, lambda = cov(y, f) / ((1 + n / m) * var(f, u)) from 0 to 1. Its
    variance is s^2 / n + lambda^2 * var(u) / m, where s^2 is that of y - lambda * f over n - 2, and two queries as wide
    as people's values are added. Where it is none below people's own, of fewer than 10 queries, or of queries that are
    undefined by one side only, figures are people's alone, and `note` says so. `interval` is "auto" or "t".

    Returns
    -------
    The kind of the input
        The columns of the slices, which order the rows; the column of systems (if there is one), `measure` (String),
        `mean`, `std` (of the sample), `low`, `high` (Float64), `n_queries` (UInt32), the number of queries with a value
        and a weight above 0, `n_effective` (Float64), Kish's number, sum(w)^2 / sum(w^2), and `note` (String), why
        there is no interval: a single query has no spread, weights are too unequal, a sum is not estimated, and equal
        values have one by the bounds of their measure only, `"auto"` or `"bounded"`; that `n_queries` counts clusters,
        or that ids or a column `topic` suggest some; else null. With a reference, `std` and `n_queries` are people's;
        `n_model` (UInt32) are the queries with a model's value, `lambda`, `rho`, the correlation of both sides,
        `n_equivalent`, the queries by people alone that were as sure, `people_mean` and `model_mean`, of each alone.

    Raises
    ------
    IRError
        As `mean`; for an alpha outside (0, 1), an unknown interval, and a LazyFrame where values are needed.

    References
    ----------
    Wilson 1927, https://doi.org/10.2307/2276774 (`"auto"`); Efron & Tibshirani 1993, An Introduction to the Bootstrap,
    https://doi.org/10.1201/9780429246593 (percentile, BCa); Learned-Miller, Thomas 2019,
    https://arxiv.org/abs/1905.06208 (Gaffke's bound); Cochran 1977, Sampling Techniques, 3rd ed., 6.3 (the
    weighted mean as a ratio); Angelopoulos et al. 2023, https://arxiv.org/abs/2311.01453 (PPI++)

    Examples
    --------
    >>> import polars as pl
    >>> import polars_ir as ir
    >>> run, qrels = {"q1": ["d1", "d2"], "q2": ["d7"]}, {"q1": ["d2"], "q2": ["d7"]}
    >>> per_query = ir.evaluate(run, qrels, "RR")
    >>> ir.summarize(per_query).select("measure", "mean", "n_queries").rows()
    [('RR', 0.75, 2)]
    >>> ir.summarize(per_query, weights=pl.DataFrame({"query_id": ["q1", "q2"], "asked": [9, 1]}))["mean"].item()
    0.55
    >>> pydocs = ir.datasets.load("pydocs")
    >>> model = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    >>> people = model.filter(pl.col("query_id").hash(seed=1) % 4 == 0)  # in place of people's judgments
    >>> model.ir.summarize(reference=people).columns[-6:]
    ['n_model', 'lambda', 'rho', 'n_equivalent', 'people_mean', 'model_mean']
    """
    weights, interval = options["weights"], options["interval"]
    if options["reference"] is not None:
        from polars_ir.per_query.shared.reference import check_reference

        check_reference(options, {"interval": ["auto", "t"]})
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


@public()
def to_metrics(per_query: Any, *, by: Any = None, names: Names = "sql", sep: str = "/") -> dict[str, float]:
    """Mean of every measure as a flat dict, one number for each system and measure.

    `mlflow.log_metrics`, `wandb.log`, DVC's metrics files, TensorBoard's `add_scalar` and Prometheus (with `sep=":"`)
    take it unchanged.

    Parameters
    ----------
    per_query
        The result of `evaluate`, or a dict of such frames by system. A LazyFrame is refused.
    by
        Slices, or other keys, with numbers of their own, as in `mean`.
    names
        `"sql"`, where all but letters, digits and underscores become underscores, also in names of systems and slices;
        or `"canonical"`, where all names stay as they are, and which MLflow refuses for its `@`.
    sep
        The text between slice, system and measure.

    Returns
    -------
    dict
        `{"bm25/ndcg_10": 0.32}`; without the system for a frame of one that has no column of it. A mean of no values
        has no entry.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.to_metrics(ir.evaluate({"bm25": {"q": ["d1", "d2"]}}, {"q": ["d2"]}, ["RR", "P@1"]))
    {'bm25/rr': 0.5, 'bm25/p_1': 0.0}
    >>> ir.to_metrics(ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"]}, "RR"), names="canonical")
    {'RR': 0.5}
    """
    check("names", names, one_of("canonical", "sql"))
    check("sep", sep, Value("a text", lambda value: isinstance(value, str), str))
    if isinstance(means := to_polars("per_query", mean(per_query, by=by), column="score"), pl.LazyFrame):
        raise InputTypeError.lazy("ir.to_metrics")
    return flat(means, by, names=names, sep=sep)


def flat(means: pl.DataFrame, by: Any = None, *, names: Names = "canonical", sep: str = "/") -> dict[str, float]:
    """Means of a table by the names of their rows and columns; slices and systems come first."""
    slices = [by] if isinstance(by, str) else by if isinstance(by, (list, tuple)) else getattr(by, "columns", ())
    measures = [name for name, dtype in means.schema.items() if dtype == pl.Float64 and name not in list(slices)]
    keys = [name for name in means.columns if name not in measures]
    in_sql = {measure: spelt_in_sql(measure) for measure in measures}
    found: dict[str, float] = {}
    for row in means.iter_rows(named=True):
        of_row = [str(row[key]) for key in keys]
        for measure in measures:
            parts = [*of_row, measure if names == "canonical" else in_sql[measure]]
            # In SQL's names all but letters and digits are underscores.
            name = sep.join(parts if names == "canonical" else [re.sub(r"\W", "_", p, flags=re.ASCII) for p in parts])
            if name in found:
                fix = "Rename one, or keep names as they are with names='canonical'"
                raise DataError(f"two numbers would be called {name!r}.", fix=fix)
            if row[measure] is not None:
                found[name] = row[measure]
    return found
