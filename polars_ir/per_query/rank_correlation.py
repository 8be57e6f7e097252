"""Agreement of measures, judgments or query sets on the order of the systems.

Conventions: a system's score is its mean over queries as by `mean`, negated for measures whose best value is the
lowest. Means that agree to 12 significant digits are a tie, since sums of the same values in another order differ in
the last bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import Code, ColumnError, DataError, Fix, MeasureError, nearest
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table import per_query_table
from polars_ir.frames.table_types import EagerFrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import chance, check, one_of, public
from polars_ir.per_query.means import mean
from polars_ir.per_query.shared.measures import Measures, measures_of
from polars_ir.per_query.shared.options import MISSING
from polars_ir.per_query.shared.paired import scores_of

#: Columns of the result.
SCHEMA = {
    "measure": pl.String,
    "other_measure": pl.String,
    "method": pl.String,
    **dict.fromkeys(["coefficient", "low", "high", "p"], pl.Float64),
    "n_systems": pl.UInt32,
    "n_left_out": pl.UInt32,
    "note": pl.String,
}


@public()
def rank_correlation(
    per_query: Table[EagerFrameT],
    other: Any = None,
    measures: Measures = None,
    *,
    method: str = "kendall",
    missing: str = "zero",
    persistence: float = 0.9,
    alpha: float = 0.05,
) -> EagerFrameT:
    """Correlation of the orders that two measures, or two sets of judgments or queries, give the same systems.

    Of n systems, the methods are

    - `"kendall"`: tau-b, (concordant - discordant pairs) / sqrt((pairs not tied here) * (pairs not tied there));
    - `"spearman"`: Pearson's r of the ranks; `"pearson"`: Pearson's r of the means;
    - `"tau_ap"`: 2 / (n-1) * sum over i = 2...n of C(i) / (i-1), less 1, C(i) being how many of the systems above the
      i-th belong above it by the reference. The top counts most. The reference is what is given first: `measure`, or
      `per_query`. With ties, the mean over all orders of the tied systems (tau_AP,a, carried over to ties in both);
    - `"tau_ap_b"`: the mean of both directions, corrected for ties, where neither order is a reference;
    - `"rbo"`: rank-biased overlap, (1-p) / p * sum over d of p^d * (systems in the first d of both) / d, extrapolated
      behind the last place by p^n. With ties, the mean over all orders of the tied systems (RBO^a).

    How two measures agree query by query is Polars' own: `per_query.select(pl.corr("AP", "RR", method="spearman"))`.

    Parameters
    ----------
    other
        The same of other judgments or other queries, for the same systems. Without it, the measures of `per_query` are
        compared with one another.
    method
        The coefficient.
    missing
        A query that a system lacks counts as 0 for it (`"zero"`), or is left out of its mean (`"skip"`).
    persistence
        The p of rank-biased overlap, between 0 and 1: the lower, the more the top counts.
    alpha
        The share of such intervals that miss: their confidence is 1 - alpha.

    Returns
    -------
    A DataFrame, or pandas for pandas
        A row per pair of measures or, with `other`, per measure that both have: `measure`, `other_measure`, `method`
        (String), `coefficient` (Float64, from -1 for opposite orders to 1 for the same; `"rbo"` from 0 to 1), `low` and
        `high` (Float64: its interval by Fisher's z, for Kendall's, Spearman's and Pearson's with eight systems or more
        in orders that differ; systems are treated as a sample of a population, their means as exact; its coverage is in
        notebooks/evidence.md), `p` (Float64, SciPy's two-sided one; null for methods without a test, and for Spearman's
        of two systems), `n_systems` (UInt32), `n_left_out` (UInt32: systems that only one side has, or without a mean),
        and `note` (String: the systems left out, or why there is no coefficient).

    References
    ----------
    Kendall 1945, https://doi.org/10.1093/biomet/33.3.239 (tau-b); Yilmaz, Aslam, Robertson 2008,
    https://doi.org/10.1145/1390334.1390435 (tau_AP); Urbano, Marrero 2017, https://doi.org/10.1145/3121050.3121106 (its
    ties); Webber, Moffat, Zobel 2010, https://doi.org/10.1145/1852102.1852106 (RBO); Corsi, Urbano 2024,
    https://doi.org/10.1145/3626772.3657700 (its ties); Bonett, Wright 2000, https://doi.org/10.1007/BF02294183
    (intervals)

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "AP", "R@100"])
    >>> ir.rank_correlation(per_query, method="tau_ap").select("measure", "other_measure", "coefficient").rows()
    [('nDCG@10', 'AP', 1.0), ('nDCG@10', 'R@100', 0.0), ('AP', 'R@100', 0.0)]
    """
    check("method", method, one_of(*stats.rank_order.METHODS))
    persistence, confidence = check("persistence", persistence, chance()), 1 - check("alpha", alpha, chance())
    means = _means(per_query, measures, missing, "ir.rank_correlation")
    names = means.columns[1:]
    if other is None:
        if len(names) < 2:
            says = f"ir.rank_correlation compares two measures, or one measure of two frames; got {names[0]!r} alone."
            code = Code("ir.rank_correlation(per_query, other)")
            raise MeasureError(says, fix=Fix("Name another measure, or give the other per-query frame", code))
        other_means, pairs = means, list(combinations(names, 2))
    else:
        shared = _shared(names, measures_of(per_query_table(other)), asked=measures is not None)
        other_means = _means(other, shared, missing, "ir.rank_correlation of other")
        pairs = [(name, name) for name in shared]
    if means.join(other_means, on="run", how="semi").height < 2:
        systems = [", ".join(map(repr, side["run"])) for side in (means, other_means)]
        raise DataError(
            f"per_query and other must have two systems in common; they have {systems[0]}, and {systems[1]}. Give the "
            "same system the same name in both."
        )
    rows = [
        _row(means.select("run", one), other_means.select("run", two), method, persistence, confidence)
        for one, two in pairs
    ]
    return give_back(pl.DataFrame(rows, schema=SCHEMA, orient="row"), per_query)


def _means(per_query: Any, measures: Any, missing: str, what: str) -> pl.DataFrame:
    """Mean of every measure, higher being better: a row per system."""
    scores = scores_of(per_query, measures, {"missing": check("missing", missing, MISSING)}, clustered=False, what=what)
    n_queries, n_systems = scores.answered.shape
    values = {name: array.ravel() for name, array in scores.values.items()}
    rows = pl.DataFrame({"run": [str(system) for system in scores.systems] * n_queries, **values}).fill_nan(None)
    queries = rows.with_columns(query_id=pl.int_range(pl.len()) // n_systems)
    turned = [-pl.col(name) if is_cost(name) else pl.col(name) for name in scores.values]
    means: pl.DataFrame = mean(queries)
    return means.select("run", *turned)


def _shared(names: Sequence[str], other_names: Sequence[str], *, asked: bool) -> list[str]:
    """The measures that both frames have; an error for a requested one that is missing."""
    common = [name for name in names if name in other_names]
    lacking = [name for name in names if name not in other_names]
    if (asked and lacking) or not common:
        raise ColumnError(
            f"must have the measures of per_query; it lacks {', '.join(map(repr, lacking))}, and has "
            f"{', '.join(map(repr, other_names))}.{nearest(lacking[0], other_names)}",
            about="other",
        )
    return common


def _row(
    first: pl.DataFrame, second: pl.DataFrame, method: str, persistence: float, confidence: float
) -> tuple[Any, ...]:
    one, two = first.columns[1], second.columns[1]
    sides = first.rename({one: "here"}).join(
        second.rename({two: "there"}), on="run", how="full", coalesce=True, maintain_order="left_right"
    )
    complete = sides.drop_nulls()
    left_out = sides.filter(pl.any_horizontal(pl.col("here", "there").is_null()))["run"].to_list()
    values = complete["here"].to_numpy(), complete["there"].to_numpy()
    coefficient, p, note = _correlated(*values, (one, two), method, persistence)
    notes = [note] if note else []
    if left_out:
        notes.append(f"left out, without a mean on one side: {', '.join(left_out)}")
    ends = None if coefficient is None else stats.rank_order.interval(method, coefficient, complete.height, confidence)
    low, high = ends or (None, None)
    note = "; ".join(notes) or None
    return one, two, method, coefficient, low, high, p, complete.height, len(left_out), note


def _correlated(
    first: stats.Floats, second: stats.Floats, names: tuple[str, str], method: str, persistence: float
) -> tuple[float | None, float | None, str | None]:
    """The coefficient, its p-value, and the reason for a missing one."""
    if len(first) < 2:
        return None, None, "fewer than two systems have a mean on both sides"
    levels = stats.rank_order.levels(first), stats.rank_order.levels(second)
    tied = [name for name, level in zip(names, levels, strict=True) if (level == level[0]).all()]
    if tied:
        return None, None, f"all systems are tied by {' and '.join(dict.fromkeys(tied))}"
    if method == "rbo":
        return stats.rank_order.rbo(*levels, persistence), None, None
    # Pearson's r compares the means, not their order.
    sides = (first, second) if method == "pearson" else levels
    coefficient, p = stats.rank_order.COEFFICIENTS[method](*sides)
    return coefficient, p, None
