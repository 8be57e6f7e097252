"""`similarity`: the agreement of the ranked lists of systems, as overlap, Jaccard and rank-biased overlap."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, OptionError
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import chance, check, public, whole
from polars_ir.language.words import total
from polars_ir.runs.rankings import checked_run, ranked, returned

#: Approximate number of common documents of the pairs of a chunk; all pairs with the same first list are in one chunk.
MOST_ROWS = 200_000

#: Some lists and their rows, and the lists of the same queries from the first of these on, and theirs.
Part = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]


@public()
def similarity(runs: Table[FrameT], other: Any = None, *, k: int = 10, p: float = 0.9) -> FrameT:
    """Similarity of the lists of two systems: a row per pair of systems and query that both answered.

    - `overlap@k`: the share of the first k documents that both have, |A intersection B| / k.
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
        The other of two runs, which are then called `a` and `b`.
    k
        The depth of overlap and Jaccard.
    p
        The persistence of RBO: the first 10 documents have 86 % of the weight at 0.9.

    Returns
    -------
    The kind of the runs (a LazyFrame for a LazyFrame, pandas for pandas)
        The column of systems, `other` (String, in alphabetical order), the query column, `overlap@k`, `jaccard@k` and
        `RBO` (Float64; all of them 1 for equal lists of k documents), sorted.

    References
    ----------
    Webber, Moffat & Zobel 2010, https://doi.org/10.1145/1852102.1852106 (RBO, eq. 32)

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.similarity({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, k=2).select("overlap@2", "jaccard@2").row(0)
    (1.0, 1.0)
    """
    k, p = check("k", k, whole(1, 2**32 - 1)), check("p", p, chance())
    table = checked_run(runs if other is None else {"a": runs, "b": other})
    if "run" not in table.dtypes:
        raise OptionError("must be the other run, unless runs hold several; got None.", about="other")
    if table.systems is not None and len(table.systems) < 2:
        raise ColumnError("needs two runs at least; got one.", about="similarity")
    run, query = table.dtypes["run"], table.dtypes["query_id"]
    schema = {"run": run, "other": run, "query_id": query, **dict.fromkeys(_measures(k, p), pl.Float64())}
    rows = ranked(table).select("run", "query_id", "doc_id", "rank")
    # A function of all rows: the last bits of a streaming plan depend on its batches.
    unchanged: Any = dict.fromkeys(("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False)
    return returned(rows.map_batches(partial(_similarities, k=k, p=p), schema=schema, **unchanged), table, runs)


def _similarities(rows: pl.DataFrame, k: int, p: float) -> pl.DataFrame:
    """Similarities of the lists of every pair of systems, found in chunks."""
    lists = rows.group_by("query_id", "run").agg(n=pl.len().cast(pl.Int64)).sort("query_id", "run")
    lists = lists.with_row_index("list").with_columns(query=pl.col("query_id").rle_id())
    rows = rows.join(lists, on=["query_id", "run"]).select("list", "query", "doc_id", "rank", "n").sort("list")
    weights = _weights(lists.select(pl.col("n").max()).item() or 0, p)
    found = pl.concat(_agreements(part, weights, k).collect(engine="in-memory") for part in _parts(lists, rows))
    ids = {"run": ("run", "list"), "other": ("run", "other"), "query_id": ("query_id", "list")}
    named = [lists[column].gather(found[side]).alias(name) for name, (column, side) in ids.items()]
    # Not in the chunks: Polars multiplies by the reciprocal where it divides by a column of one row.
    return found.select(*named, **_measures(k, p)).sort(*ids)


def _parts(lists: pl.DataFrame, rows: pl.DataFrame) -> Iterator[Part]:
    """Chunks of the lists, each with all lists that its own are compared with."""
    ends = lists.select("list", "query", end=pl.col("n").cum_sum(), begin=pl.col("n").cum_sum() - pl.col("n"))
    ends = ends.with_columns(pl.col("list", "end").last().over("query").name.prefix("last "))
    if lists.is_empty():
        yield lists, rows, lists, rows
        return
    common = lists["n"] * (ends["last list"] - ends["list"])
    for part in ends.with_columns(part=common.cum_sum() // MOST_ROWS).partition_by("part"):
        first, last = part.row(0, named=True), part.row(-1, named=True)
        own, others = (lists[first["list"] : last[end] + 1] for end in ("list", "last list"))
        own_rows, rows_of_others = (rows[first["begin"] : last[end]] for end in ("end", "last end"))
        yield own, own_rows, others, rows_of_others


def _weights(depth: int, p: float) -> pl.DataFrame:
    """Sums over the depths up to each one: of p^d / d (`by_depth`; `before` without it), and of p^d (`of_depth`)."""
    depths = pl.int_range(1, depth + 1).cast(pl.Float64)
    power = pl.lit(p).pow(depths)
    weights = pl.select(by_depth=(power / depths).cum_sum(), of_depth=power.cum_sum())
    return weights.with_columns(before=pl.col("by_depth").shift(1, fill_value=0.0))


def _agreements(part: Part, weights: pl.DataFrame, k: int) -> pl.LazyFrame:
    """Pairs of lists with counts of their common documents, and the sum of RBO over the depths of the longer one.

    A common document at depth m or above adds p^d / d at each depth d from m to the end.
    """

    def paired(left: pl.DataFrame, right: pl.DataFrame, *on: str) -> pl.LazyFrame:
        theirs = right.lazy().rename({"list": "other", "n": "other_n", "rank": "other_rank"}, strict=False)
        pairs = left.lazy().join(theirs, on=on).filter(pl.col("list") < pl.col("other"))
        return pairs.with_columns(short=pl.min_horizontal("n", "other_n"), long=pl.max_horizontal("n", "other_n"))

    def down_to(sums: str, depth: pl.Expr) -> pl.Expr:
        return pl.lit(weights[sums]).gather(depth - 1)

    lists, rows, others, rows_of_others = part
    short, long, deeper = pl.col("short"), pl.col("long"), pl.max_horizontal("rank", "other_rank")
    part_of_each = down_to("by_depth", long) - down_to("before", deeper)
    both = paired(rows, rows_of_others, "query", "doc_id")
    both = both.select("list", "other", "short", deeper=deeper, part=part_of_each)
    counts = both.group_by("list", "other").agg(
        common=(pl.col("deeper") <= k).sum().cast(pl.Float64),
        x_short=(pl.col("deeper") <= short).sum().cast(pl.Float64),
        x_long=pl.len().cast(pl.Float64),
        depths=total(pl.col("part").sort()),
    )
    # Lists without a common document are a pair, too.
    pairs = paired(lists, others, "query").join(counts, on=["list", "other"], how="left")
    return pairs.select(
        *("list", "other", "n", "other_n", "short", "long"),
        pl.col("common", "x_short", "x_long", "depths").fill_null(0.0),
        of_depths=down_to("of_depth", long) - down_to("of_depth", short),
        by_depths=down_to("by_depth", long) - down_to("by_depth", short),
    )


def _measures(k: int, p: float) -> dict[str, pl.Expr]:
    """Measures of a pair, from its counts and the sums over the depths."""
    common, x_short, x_long, depths = map(pl.col, ("common", "x_short", "x_long", "depths"))
    short, long = (pl.col(end).cast(pl.Float64) for end in ("short", "long"))
    either = pl.min_horizontal("n", k) + pl.min_horizontal("other_n", k) - common
    behind_short = x_short / short * (pl.col("of_depths") - short * pl.col("by_depths"))
    behind_both = ((x_long - x_short) / long + x_short / short) * pl.lit(p).pow(long)
    return {
        f"overlap@{k}": common / pl.col("n").clip(k, k),
        f"jaccard@{k}": common / either,
        "RBO": ((depths + behind_short) * ((1 - p) / p) + behind_both).clip(0.0, 1.0),
    }
