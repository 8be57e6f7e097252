"""The terms of a document added up, or put together otherwise, whatever the order of rows and runs.

Conventions: floating-point addition is not associative, so that a sum is made of its terms in the order of their size:
it is the same to the last bit for every order of the runs, and documents with the same terms are tied.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.engine.ranking import DOCUMENT
from polars_ir.frames.checks import guard
from polars_ir.fusion.methods import Method

#: A column of whether a document is there more than once.
REPEATED = "polars_ir: repeated"

#: Up to how many systems a column each is sorted by comparing neighbours, whose number rises with the square.
MOST_COLUMNS = 16

LIST = ["run", "query_id"]


#: What a run may not do, which a plan finds as it adds up.
DUPLICATES = "a run gives a document of a query more than once; keep the best score of each"


def combined(
    rows: pl.LazyFrame, method: Method, systems: Sequence[str] | None, *, searched: bool = True
) -> pl.LazyFrame:
    """A row per query and document: `combined`, `n_runs` and, if the final expression reads them, `weights`.

    Of rows that have not been `searched` for duplicates the plan fails for one.
    """
    counts = {"n_runs": pl.col("rank").count().cast(pl.UInt32)}
    if searched:
        return _combined(rows, method, systems, counts)
    documents = _combined(rows, method, systems, {**counts, REPEATED: repeated(systems)})
    return guard(documents, pl.col(REPEATED), DUPLICATES).drop(REPEATED)


def repeated(systems: Sequence[str] | None) -> pl.Expr:
    """Whether some run returned the document of a group more than once."""
    run, returned = pl.col("run"), pl.col("rank").is_not_null()
    if systems is None or len(systems) > MOST_COLUMNS:
        return pl.when(returned).then(run).drop_nulls().n_unique() < returned.sum()
    # A sum of n powers of two has n ones if and only if no two of them are the same.
    powers = (pl.when(run == system).then(pl.lit(2**i, pl.UInt64)) for i, system in enumerate(systems))
    return pl.when(returned).then(pl.coalesce(powers)).sum().bitwise_count_ones() < returned.sum()


def _combined(
    rows: pl.LazyFrame, method: Method, systems: Sequence[str] | None, counts: dict[str, pl.Expr]
) -> pl.LazyFrame:
    """As `combined`, with some counts of each document's rows."""
    weights = ["weight"] if "weights" in method.final.meta.root_names() else []
    # A run whose term is null does not count among the weights.
    rows = rows.with_columns(pl.when(pl.col("term").is_not_null()).then(weight).alias(weight) for weight in weights)
    if isinstance(method.combine, pl.Expr):
        added = {"weights": pl.col("weight").sort().cum_sum().last()} if weights else {}
        return rows.group_by(DOCUMENT).agg(combined=method.combine, **counts, **added)
    if method.combine == "wins":
        wins = _wins(rows, systems)
        return wins.join(rows.group_by(DOCUMENT).agg(**counts), on=DOCUMENT)
    names = {"term": "combined", "weight": "weights"}
    return summed(rows, DOCUMENT, ["term", *weights], systems, counts).rename({c: names[c] for c in ["term", *weights]})


def summed(
    rows: pl.LazyFrame,
    keys: list[str],
    columns: list[str],
    systems: Sequence[str] | None,
    others: dict[str, pl.Expr] | None = None,
) -> pl.LazyFrame:
    """The sum over the runs of each of some columns, by keys; each run has one row of a key at most."""
    others = others or {}
    if systems is None or len(systems) > MOST_COLUMNS:
        lists = rows.group_by(keys).agg(pl.col(columns), **others)
        return lists.with_columns(pl.col(columns).list.drop_nulls().list.sort().list.sum())
    slots = {column: [f"polars_ir: {column} {i}" for i in range(len(systems))] for column in columns}
    one_by_one = {
        slot: pl.when(pl.col("run") == system).then(column).sum()
        for column in columns
        for slot, system in zip(slots[column], systems, strict=True)
    }
    wide = rows.group_by(keys).agg(**one_by_one, **others)
    wide = in_order_of_size(wide, list(slots.values()))
    sums = {column: added(names) for column, names in slots.items()}
    return wide.select(*keys, *others, **sums)


def in_order_of_size(wide: pl.LazyFrame, rows_of: Sequence[Sequence[str]]) -> pl.LazyFrame:
    """The values of each group of columns sorted within each row, by comparing neighbours."""
    most = max(map(len, rows_of))
    # Two need no order: their sum is the same either way.
    for step in range(most if most > 2 else 0):
        changed = [column for names in rows_of for column in _neighbours_in_order(names[step % 2 :])]
        wide = wide.with_columns(changed)
    return wide


def _neighbours_in_order(names: Sequence[str]) -> list[pl.Expr]:
    """Columns in pairs, the lower value of each first: as many steps of this as there are columns sort them."""
    pairs = list(zip(names[::2], names[1::2], strict=False))
    lower = [pl.min_horizontal(pair).alias(pair[0]) for pair in pairs]
    return lower + [pl.max_horizontal(pair).alias(pair[1]) for pair in pairs]


def added(names: Sequence[str]) -> pl.Expr:
    """Columns added one after the other."""
    whole = pl.col(names[0])
    for name in names[1:]:
        whole = whole + pl.col(name)
    return whole


def completed(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The rows, and one without rank and score for each candidate that a list of its query lacks."""
    of_list = [column for column in ("weight", "n_retrieved", "n_candidates") if column in rows.collect_schema()]
    lists = rows.select(*LIST, *of_list).unique(LIST)
    candidates = rows.select(DOCUMENT).unique()
    retrieved = rows.select(*LIST, "doc_id", "score", "rank")
    return candidates.join(lists, on="query_id").join(retrieved, on=[*LIST, "doc_id"], how="left")


def _wins(rows: pl.LazyFrame, systems: Sequence[str] | None) -> pl.LazyFrame:
    """How many candidates of its query each document beats, ties counting half."""
    grid = completed(rows).select(
        *LIST, "doc_id", "weight", place=pl.col("rank").cast(pl.Float64).fill_null(float("inf"))
    )
    opponents = grid.select(*LIST, other="doc_id", other_place="place")
    lead = (pl.col("other_place") > pl.col("place")).cast(pl.Float64) - (pl.col("other_place") < pl.col("place"))
    pairs = grid.join(opponents, on=LIST).with_columns(term=pl.col("weight") * lead)
    margins = summed(pairs, [*DOCUMENT, "other"], ["term"], systems)
    margin = pl.col("term")
    # A document is tied with itself, which is no half of a win.
    wins = (margin > 0).sum() + (margin == 0).sum() / 2 - 0.5
    return margins.group_by(DOCUMENT).agg(combined=wins)
