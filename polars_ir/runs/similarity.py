"""How much the ranked lists of systems agree: overlap, Jaccard and rank-biased overlap."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, OptionError, explain_options
from polars_ir.frames.kinds import SameKind
from polars_ir.language.words import total
from polars_ir.runs.rankings import checked_run, ranked, returned
from polars_ir.values import chance, check, whole

PAIR = ["run", "other", "query_id"]


@explain_options
def similarity(runs: Any, other: Any = None, *, k: int = 10, p: float = 0.9) -> SameKind:
    """How similar the lists of two systems are: a row per pair of systems and query that both answered.

    - `overlap@k`: the share of the first k places whose documents both have, |A intersection B| / k.
    - `jaccard@k`: |A intersection B| / |A union B| of the first k documents.
    - `RBO`: rank-biased overlap, the overlap at every depth d with weight falling as p^d, extrapolated beyond the ends
      of the lists. With x_d documents in common at depth d and lists of s <= l documents,
      (1-p)/p (sum over d to l of x_d p^d / d + sum over d from s+1 to l of x_s (d-s) p^d / (s d))
      + ((x_l - x_s) / l + x_s / s) p^l.

    Parameters
    ----------
    runs
        A dict of runs by name, or a table with a column `run`; or one run, with the `other`.
    other
        The other run of two, which are then called `a` and `b`.
    k
        The depth of overlap and Jaccard.
    p
        The persistence of RBO: the first 10 documents have 86 % of the weight at 0.9.

    Returns
    -------
    The kind of the runs (a LazyFrame for a LazyFrame, pandas for pandas)
        `run`, `other` (String, in alphabetical order), the query column, `overlap@k`, `jaccard@k` and `RBO` (Float64;
        all of them 1 for equal lists of k documents), sorted.

    Raises
    ------
    IRError
        For one run alone, a `p` that is not between 0 and 1, and runs that `evaluate` would not take.

    References
    ----------
    Webber, Moffat & Zobel 2010, https://doi.org/10.1145/1852102.1852106 (RBO, eq. 32)

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.similarity({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, k=2).select("overlap@2", "jaccard@2").row(0)
    (1.0, 1.0)
    """
    k, p = check("k", k, whole(1)), check("p", p, chance())
    table = checked_run(runs if other is None else {"a": runs, "b": other})
    if "run" not in table.dtypes:
        raise OptionError("must be the other run, or runs a dict of several; got None.", about="other")
    if table.systems is not None and len(table.systems) < 2:
        raise ColumnError("needs two runs at least; got one.", about="similarity")
    rows = ranked(table).select("run", "query_id", "doc_id", pl.col("rank").cast(pl.Int64))
    right = rows.rename({"run": "other", "rank": "other_rank"})
    shared = (
        rows.join(right, on=["query_id", "doc_id"])
        .filter(pl.col("run") < pl.col("other"))
        .with_columns(deeper=pl.max_horizontal("rank", "other_rank"))
    )
    lists = rows.group_by("run", "query_id").agg(n=pl.len().cast(pl.Int64))
    pairs = (
        lists.join(lists.rename({"run": "other", "n": "other_n"}), on="query_id")
        .filter(pl.col("run") < pl.col("other"))
        .with_columns(short=pl.min_horizontal("n", "other_n"), long=pl.max_horizontal("n", "other_n"))
    )
    weights = _weights(rows, p)
    ends = weights.select(short="depth", short_by="by_depth", short_of="of_depth")
    far_ends = weights.select(long="depth", long_by="by_depth", long_of="of_depth")
    pairs = pairs.join(ends, on="short").join(far_ends, on="long")
    similarities = pairs.join(_agreements(shared, pairs, weights, k), on=PAIR, how="left").select(
        *PAIR, *_similarities(k, p)
    )
    return returned(similarities.sort(PAIR), table, runs)


def _weights(rows: pl.LazyFrame, p: float) -> pl.LazyFrame:
    """Sums over the depths up to each one: of p^d / d (`by_depth`), and of p^d (`of_depth`)."""
    depth = pl.col("depth").cast(pl.Float64)
    power = pl.lit(p).pow(depth)
    # Every list has all the ranks from 1 on, so that the ranks there are, are the depths.
    depths = rows.select(depth="rank").unique().sort("depth")
    return depths.with_columns(by_depth=(power / depth).cum_sum(), of_depth=power.cum_sum())


def _agreements(shared: pl.LazyFrame, pairs: pl.LazyFrame, weights: pl.LazyFrame, k: int) -> pl.LazyFrame:
    """Counts of the common documents of a pair, and the sum of RBO over the depths of the longer list.

    A document in common from depth m on adds p^d / d at each depth d from m to the end.
    """
    deeper = pl.col("deeper")
    before = weights.select(deeper=pl.col("depth") + 1, before="by_depth")
    parts = (
        shared.join(pairs.select(*PAIR, "short", "long_by"), on=PAIR)
        .join(before, on="deeper", how="left")
        .with_columns(part=pl.col("long_by") - pl.col("before").fill_null(0.0))
    )
    return parts.group_by(PAIR).agg(
        common=(deeper <= k).sum().cast(pl.Float64),
        x_short=(deeper <= pl.col("short")).sum().cast(pl.Float64),
        x_long=pl.len().cast(pl.Float64),
        depths=total(pl.col("part").sort()),
    )


def _similarities(k: int, p: float) -> list[pl.Expr]:
    """The measures of a pair, from its counts and the sums over the depths."""
    common, x_short, x_long, depths = (pl.col(c).fill_null(0.0) for c in ("common", "x_short", "x_long", "depths"))
    short, long = (pl.col(end).cast(pl.Float64) for end in ("short", "long"))
    either = pl.min_horizontal("n", k) + pl.min_horizontal("other_n", k) - common
    of_depths, by_depths = pl.col("long_of") - pl.col("short_of"), pl.col("long_by") - pl.col("short_by")
    behind_short = x_short / short * (of_depths - short * by_depths)
    behind_both = ((x_long - x_short) / long + x_short / short) * pl.lit(p).pow(long)
    return [
        (common / pl.col("n").clip(k, k)).alias(f"overlap@{k}"),
        (common / either).alias(f"jaccard@{k}"),
        ((depths + behind_short) * ((1 - p) / p) + behind_both).clip(0.0, 1.0).alias("RBO"),
    ]
