"""Means by people's values of few queries and a model's of many: prediction-powered inference for small samples.

Conventions: y are people's values of n queries, f the model's of the same, u the model's of m others; moments are
columns, and so are figures. It is PPI++: the weight of the model is cov(y, f) / ((1 + n / m) var(f, u)), from 0 to 1
(https://arxiv.org/abs/2311.01453). Three amendments hold the level of few queries: the residual variance is by n - 2,
`ADDED` queries with residuals as wide as people's values are counted, and no figure is less sure than people's alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_ir.statistics.randomisation import Floats

    Booleans = NDArray[np.bool_]

#: Queries added to the residuals: those of a near-perfect model show no spread.
ADDED = 2

#: Minimum number of people's queries for which the model counts: 95 % intervals of 8 held in .91 for some models.
LEAST = 10

#: Standard errors between the model's means of both parts beyond which people's queries are no random ones.
UNLIKE = 4.0

#: Moments: numbers, means and variances of y, f, u, of f and u together, of y + f and y - f, and the number of queries
#: that only one of y and f is undefined for.
MOMENTS: Mapping[str, Any] = {
    **dict.fromkeys(("n", "m"), pl.Int64),
    **dict.fromkeys(("y", "f", "u"), pl.Float64),
    **dict.fromkeys(("var_y", "var_f", "var_u", "var_all", "var_sum", "var_difference"), pl.Float64),
    "unmatched": pl.Int64,
}

#: Mean and number of all of the model's values.
OF_ALL: Mapping[str, Any] = {"all": pl.Float64, "judged": pl.Int64}

#: Columns of an estimate: weight of the model, correlation, number of people's queries that alone would be as sure,
#: the mean, its standard error, and the note.
ESTIMATE = ("lambda", "rho", "n_equivalent", "estimate", "error", "why")

FEW = f"fewer than {LEAST} queries by people: their figures alone"
NO_OTHERS = "the model judged fewer than two other queries: people's figures alone"
REVERSED = "the model's values fall where people's rise (rho below 0): people's figures alone"
NOTHING = "the model narrows nothing: people's figures alone"
UNMATCHED = "queries undefined by people only, or by the model only: {}; people's figures alone"
SAME = "people's values are all the model's: is the reference a part of per_query?"
NOT_RANDOM = (
    "the model's values of people's queries are unlike those of the others: the reference must be drawn at random"
)


def predicted(moments: pl.LazyFrame) -> pl.LazyFrame:
    """The rows of moments with the columns of their estimates."""
    n, m, y, f, u = map(pl.col, ("n", "m", "y", "f", "u"))
    var_y, var_f, var_u, var_all = map(pl.col, ("var_y", "var_f", "var_u", "var_all"))
    covariance, weight, variance = (pl.col(f"polars_ir: {name}") for name in ("covariance", "weight", "variance"))
    counts = (n >= LEAST) & (m > 1) & (pl.col("unmatched") == 0) & (var_all > 0)
    # Of plans, 0 and NaN are null.
    squares = ((n - 1) * (var_y - weight * (2 * covariance - weight * var_f)) / (n - 2)).clip(0)
    residual = ((n - 1) * squares + ADDED * pl.max_horizontal(squares, var_y)) / (n - 1 + ADDED)
    rows = (
        moments.with_columns(((pl.col("var_sum") - pl.col("var_difference")) / 4).alias(covariance.meta.output_name()))
        .with_columns(
            pl.when(counts)
            .then((covariance / ((1 + n / m) * var_all)).clip(0, 1))
            .otherwise(0.0)
            .alias(weight.meta.output_name()),
            rho=pl.when(pl.col("unmatched") == 0).then(
                pl.when((var_y > 0) & (var_f > 0)).then((covariance / (var_y * var_f).sqrt()).clip(-1, 1))
            ),
        )
        .with_columns((residual / n + weight**2 * var_u / m).alias(variance.meta.output_name()))
    )
    narrows = ((weight > 0) & (variance < var_y / n)).fill_null(False)
    shift = (f - u).abs() > UNLIKE * (var_f / n + var_u / m).sqrt()
    alone = (
        pl.when(pl.col("unmatched") > 0)
        .then(pl.format(UNMATCHED, "unmatched"))
        .when(n < LEAST)
        .then(pl.lit(FEW))
        .when(m < 2)
        .then(pl.lit(NO_OTHERS))
        .when(pl.col("rho") < 0)
        .then(pl.lit(REVERSED))
        .when(~narrows)
        .then(pl.lit(NOTHING))
    )
    is_same = narrows & (pl.col("var_difference") == 0) & (y == f)
    notes = [alone, pl.when(is_same).then(pl.lit(SAME)), pl.when((n > 1) & (m > 1) & shift).then(pl.lit(NOT_RANDOM))]
    why = pl.concat_str(notes, separator="; ", ignore_nulls=True)
    return rows.with_columns(
        pl.when(narrows).then(weight).otherwise(0.0).alias("lambda"),
        estimate=pl.when(narrows).then(y + weight * (u - f)).otherwise(y),
        error=pl.when(narrows).then(variance).otherwise(var_y / n).sqrt(),
        n_equivalent=pl.when(narrows).then(var_y / variance).otherwise(n.cast(pl.Float64)),
        why=pl.when(why != "").then(why),
    ).drop(each.meta.output_name() for each in (covariance, weight, variance))


def moments_of(y: Floats, f: Floats, judged: Booleans) -> pl.LazyFrame:
    """Moments of arrays, a row per column, with the mean of all of the model's values and their number.

    Rows are queries, of which some were `judged` by people; NaN is no value.
    """
    import numpy as np

    beside, others = np.where(judged[:, None], f, np.nan), np.where(judged[:, None], np.nan, f)
    figures: dict[str, Floats] = {}
    every = {"y": y, "f": beside, "u": others, "all": f, "sum": y + beside, "difference": y - beside}
    for name, values in every.items():
        n = np.isfinite(values).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(values, axis=0) / n
            figures |= {f"n_{name}": n, name: mean}
            figures[f"var_{name}"] = np.nansum((values - mean) ** 2, axis=0) / np.where(n > 1, n - 1.0, np.nan)
    figures |= {"n": figures["n_y"], "m": figures["n_u"], "judged": figures["n_all"]}
    figures["unmatched"] = (np.isnan(y) != np.isnan(f))[judged].sum(axis=0)
    found = pl.LazyFrame({name: figures[name] for name in (*MOMENTS, "all", "judged")}, {**MOMENTS, **OF_ALL})
    return found.with_columns(pl.col(pl.Float64).fill_nan(None))
