"""Several variants of one query: their mean and their worst value.

Conventions: a column says which queries are variants of one another, not the form of their ids.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.errors import ColumnError
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.options import public
from polars_ir.language.words import average
from polars_ir.per_query.shared.attributes import column_for
from polars_ir.per_query.shared.queries import queries_of

#: Columns that `robustness` makes.
MADE = ("run", "measure", "mean", "worst", "n_variants")


@public()
def robustness(per_query: Table[FrameT], by: str | Any) -> FrameT:
    """Mean and worst value of every measure over the variants of a query: one row per base query and measure.

    Variants are wordings, instructions or languages of one information need. The mean over base queries of the worst
    nDCG@10 is MTEB's robustness@10; where each query has one relevant document, that of R@1 over pairs is its paired
    accuracy. The worst value is the lowest one; for measures whose best value is the lowest (`Hole`) the highest, if
    their names are in the catalogue. Variants for which a measure is undefined (null) do not count.

    The worst of many variants is lower than the worst of few, also where all are alike (notebooks/evidence.md,
    "others"): compare `worst` only between base queries with the same `n_variants`. The means are one value per base
    query, as by `cluster=` in `compare`, `gate` and `summarize`.

    Parameters
    ----------
    by
        The column of `per_query` that holds the base query of each; or a frame with a query column and one other, the
        base query.

    Returns
    -------
    The kind of per_query
        The column of systems (if there is one), the base query under its own name, `measure` (String), `mean`, `worst`
        (Float64), and `n_variants` (UInt32), which counts the variants with a value; with none of them, mean and worst
        are null.

    References
    ----------
    Oh et al. 2024, https://arxiv.org/abs/2402.14334 (robustness@10); Weller et al. 2023,
    https://arxiv.org/abs/2305.07614 (paired accuracy)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> run = {"a1": ["d1", "d2"], "a2": ["d2", "d1"], "b1": ["d3"]}
    >>> per_query = ir.evaluate(run, {"a1": ["d1"], "a2": ["d1"], "b1": ["d3"]}, "RR")
    >>> variants = ir.robustness(per_query.with_columns(base=pl.col("query_id").str.head(1)), "base")
    >>> variants.rows()
    [('a', 'RR', 0.75, 0.5, 2), ('b', 'RR', 1.0, 1.0, 1)]
    >>> variants.group_by("measure").agg(pl.col("worst").mean()).row(0)
    ('RR', 0.75)
    """
    queries = queries_of(per_query, by=by, needs="by")
    base, *others = queries.slices
    if others:
        says = f"must give one column of base queries; got {', '.join(map(repr, queries.slices))}."
        raise ColumnError(says, about="by")
    if base in MADE:
        raise ColumnError(f"the base query may not be called {base!r}, like a column of the result; rename it.")
    keys = [*queries.systems, column_for(base)]
    variants = queries.rows.sort(*keys, "query_id").group_by(keys, maintain_order=True)
    parts = []
    for name in queries.measures:
        value = pl.col(name).cast(pl.Float64)
        worst = value.max() if is_cost(name) else value.min()
        figures = {"mean": average(value), "worst": worst, "n_variants": value.count()}
        parts.append(variants.agg(pl.lit(name).alias("measure"), **figures))
    columns = [*keys, "measure", "mean", "worst", "n_variants"]
    return queries.table.give_back(pl.concat(parts).select(columns).rename({column_for(base): base}), per_query)
