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

#: Variance of differences, as a share of that of people's values, that is 0 but for rounding.
ROUNDING = 1e-12

#: Standard errors between the model's means of both parts beyond which people's queries are no random ones.
UNLIKE = 4.0

#: Moments: numbers, means and variances of y, f and u, the covariance of y and f, and the number of queries that only
#: one of both is undefined for.
MOMENTS: Mapping[str, Any] = {
    **dict.fromkeys(("n", "n_f", "m"), pl.Int64),
    **dict.fromkeys(("y", "f", "u", "var_y", "var_f", "var_u", "covariance"), pl.Float64),
    "unmatched": pl.Int64,
}

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
    """The rows of moments with the columns of their estimates.

    They are `lambda`, the weight of the model, `rho`, the correlation, `n_equivalent`, the number of people's queries
    that alone were as sure, the `estimate` with its `error`, the number and the mean of the model's values, and `why`
    figures are people's alone, or to be doubted.
    """
    n, m, y, f, u = (pl.col(name).cast(MOMENTS[name]) for name in ("n", "m", "y", "f", "u"))
    var_y, var_f, var_u, covariance = map(pl.col, ("var_y", "var_f", "var_u", "covariance"))
    weight, variance, var_all = (pl.col(f"polars_ir: {name}") for name in ("weight", "variance", "of all"))
    n_model = pl.col("n_f").cast(pl.Int64) + m
    of_all = (pl.col("n_f") * f).fill_null(0.0) + (m * u).fill_null(0.0)
    apart = (n - 1) * var_f + (m - 1) * var_u + n * m / (n + m) * (f - u) ** 2
    counts = (n >= LEAST) & (m > 1) & (pl.col("unmatched") == 0) & (var_all > 0)
    squares = ((n - 1) * (var_y - weight * (2 * covariance - weight * var_f)) / (n - 2)).clip(0)
    residual = ((n - 1) * squares + ADDED * pl.max_horizontal(squares, var_y)) / (n - 1 + ADDED)
    correlation = pl.when((var_y > 0) & (var_f > 0)).then((covariance / (var_y * var_f).sqrt()).clip(-1, 1))
    share = pl.when(counts).then((covariance / ((1 + n / m) * var_all)).clip(0, 1)).otherwise(0.0)
    rows = (
        moments.with_columns(
            (apart / (n + m - 1)).alias(var_all.meta.output_name()),
            rho=pl.when(pl.col("unmatched") == 0).then(correlation),
            n_model=n_model,
            model_mean=pl.when(n_model > 0).then(of_all / n_model),
        )
        .with_columns(share.alias(weight.meta.output_name()))
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
    is_same = narrows & (var_y + var_f - 2 * covariance <= ROUNDING * var_y) & ((y - f).abs() <= ROUNDING)
    notes = [alone, pl.when(is_same).then(pl.lit(SAME)), pl.when((n > 1) & (m > 1) & shift).then(pl.lit(NOT_RANDOM))]
    why = pl.concat_str(notes, separator="; ", ignore_nulls=True)
    return rows.with_columns(
        pl.when(narrows).then(weight).otherwise(0.0).alias("lambda"),
        estimate=pl.when(narrows).then(y + weight * (u - f)).otherwise(y),
        error=pl.when(narrows).then(variance).otherwise(var_y / n).sqrt(),
        n_equivalent=pl.when(narrows).then(var_y / variance).otherwise(n.cast(pl.Float64)),
        why=pl.when(why != "").then(why),
    ).drop(each.meta.output_name() for each in (var_all, weight, variance))


def alone(rows: pl.LazyFrame, wider: pl.Expr) -> pl.LazyFrame:
    """The rows of estimates, with people's alone where the interval of both would be wider."""
    is_alone = ((pl.col("lambda") > 0) & wider).fill_null(False)
    figures = {"lambda": pl.lit(0.0), "estimate": pl.col("y"), "error": (pl.col("var_y") / pl.col("n")).sqrt()}
    figures |= {"n_equivalent": pl.col("n").cast(pl.Float64)}
    figures |= {"why": pl.concat_str(pl.lit(NOTHING), "why", separator="; ", ignore_nulls=True)}
    return rows.with_columns(pl.when(is_alone).then(to).otherwise(name).alias(name) for name, to in figures.items())


def moments_of(y: Floats, f: Floats, judged: Booleans) -> pl.LazyFrame:
    """Moments of arrays, a row per column; rows are queries, of which people `judged` some, and NaN is no value."""
    import numpy as np

    parts = {"y": y, "f": np.where(judged[:, None], f, np.nan), "u": np.where(judged[:, None], np.nan, f)}
    figures: dict[str, Floats] = {"unmatched": (np.isnan(y) != np.isnan(f))[judged].sum(axis=0)}
    apart: dict[str, Floats] = {}
    freedom: dict[str, Floats] = {}
    for name, values in parts.items():
        n = figures[f"n_{name}"] = np.isfinite(values).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            figures[name] = np.nansum(values, axis=0) / n
        apart[name], freedom[name] = values - figures[name], np.where(n > 1, n - 1.0, np.nan)
        figures[f"var_{name}"] = np.nansum(apart[name] ** 2, axis=0) / freedom[name]
    figures["covariance"] = np.nansum(apart["y"] * apart["f"], axis=0) / freedom["y"]
    figures |= {"n": figures["n_y"], "m": figures["n_u"]}
    return pl.LazyFrame({name: figures[name] for name in MOMENTS}, MOMENTS).with_columns(
        pl.col(pl.Float64).fill_nan(None)
    )
