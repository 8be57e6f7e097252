"""Hard queries: those with the lowest values, and those that no system answers.

Conventions: a null is a query for which a measure is undefined, which says nothing of how hard it is. Worst is lowest,
but highest for measures whose best value is the lowest (`Hole`), if their names are in the catalogue.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from polars_ir.errors import ColumnError, MeasureError, OptionError, check_systems, option, quoted
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.columns import is_cost
from polars_ir.language.names import is_one
from polars_ir.language.options import check, count, or_none, public
from polars_ir.language.words import ROUNDED_TO, average
from polars_ir.per_query.shared.averages import Averaging, std_of
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.queries import Queries, queries_of, systems_of


@public()
def hardest(
    per_query: Table[FrameT],
    measure: str | pl.Expr | None = None,
    *,
    n: int | None = 10,
    run: str | None = None,
    baseline: str | None = None,
) -> FrameT:
    """The queries with the worst mean of a measure over the systems, or the largest drops of one from another.

    A large `std` means that systems differ, and `best_run` names the one that succeeds; a small one that the query is
    hard for all of them. Queries with the same mean, to 12 digits, come in the order of their ids. A query for which
    the measure is undefined (null) for every system is not among them, and rows that are missing do not count as 0:
    `evaluate` adds those (`missing="zero"`).

    Queries chosen as the hardest by some systems look harder than they are, since chance chose them too
    (notebooks/evidence.md, "others"). Compare systems on hard queries that other systems chose.

    Parameters
    ----------
    measure
        The measure to go by; needed of a frame with several.
    n
        How many queries; `None` for all.
    run, baseline
        Two systems: the queries that `run` has a worse value of than `baseline`, by falling drop; those that one of
        them has no value of are not among them.

    Returns
    -------
    The kind of per_query
        The query column and `measure` (String); of two systems `value` (of `run`), `baseline_value` and `difference`
        (value - baseline_value; Float64); else `mean`, `std` (of the sample of systems; null for one system), `worst`,
        `best` (Float64), `best_run` (the only system with the best value; null where several have it, to 12
        digits, and where `per_query` has no column of systems), and `n_systems` (UInt32), which counts the systems with
        a value.

    Examples
    --------
    >>> import polars_ir as ir
    >>> runs = {"a": {"q1": ["d1"], "q2": ["d7", "d2"]}, "b": {"q1": ["d1"], "q2": ["d2"]}}
    >>> per_query = ir.evaluate(runs, {"q1": ["d1"], "q2": ["d2"]}, "RR")
    >>> ir.hardest(per_query, "RR").select("query_id", "mean", "worst", "best", "best_run").rows()
    [('q2', 0.75, 0.5, 1.0, 'b'), ('q1', 1.0, 1.0, 1.0, None)]
    >>> per_query.ir.hardest(run="a", baseline="b").rows()
    [('q2', 'RR', 0.5, 1.0, -0.5)]
    """
    n = check("n", n, or_none(count(), "for all"))
    error = OptionError(f"must be one measure, by its name or as an expression; got {measure!r:.80}.", about="measure")
    if measure is not None and not is_one(measure):
        raise error
    queries = queries_of(per_query, measure)
    name, *others = queries.measures
    if others:
        unnamed = OptionError(f"must be named: the frame has {quoted(queries.measures)}.", about="measure")
        raise unnamed if measure is None else error
    if run is not None or baseline is not None:
        drops = _drops(queries, per_query, name, run, baseline)
        return queries.table.give_back(drops if n is None else drops.head(n), per_query)
    value = pl.col(name)
    worst, best = (value.max(), value.min()) if is_cost(name) else (value.min(), value.max())
    is_best = (value - best).abs() <= ROUNDED_TO * best.abs()
    system = pl.col("run") if queries.systems else pl.lit(None, pl.String)
    hardest_first = (
        _each_query(queries)
        .agg(
            pl.lit(name).alias("measure"),
            mean=average(value),
            std=std_of(Averaging(name, "arithmetic", (-math.inf, math.inf))),
            worst=worst,
            best=best,
            best_run=pl.when(is_best.sum() == 1).then(system.filter(is_best).first()),
            n_systems=value.count(),
        )
        .filter(pl.col("n_systems") > 0)
        .sort(pl.col("mean").round_sig_figs(12), "query_id", descending=[is_cost(name), False])
    )
    return queries.table.give_back(hardest_first if n is None else hardest_first.head(n), per_query)


def _drops(queries: Queries, per_query: Any, measure: str, run: str | None, baseline: str | None) -> pl.LazyFrame:
    """The queries in which a system is worse than another, by falling drop."""
    named = {"run": run, "baseline": baseline}
    for about, other in (("run", "baseline"), ("baseline", "run")):
        if named[about] is None:
            raise OptionError(f"must be given beside {option(other)}.", about=about)
    if not queries.systems:
        raise ColumnError.one_system("ir.hardest with run and baseline", queries.table.columns)
    there = systems_of(per_query, queries.table.select("run").unique().collect(engine=queries.table.engine))
    for about, name in named.items():
        check_systems(about, [name], there)
    value, system = pl.col(measure), pl.col("run").cast(pl.String)
    sides = (value.filter(system == str(name)).first() for name in (run, baseline))
    drop = pl.col("difference") * (-1 if is_cost(measure) else 1)
    return (
        _each_query(queries)
        .agg(pl.lit(measure).alias("measure"), **dict(zip(("value", "baseline_value"), sides, strict=True)))
        .with_columns(difference=pl.col("value") - pl.col("baseline_value"))
        # What only rounding makes of equal values is no drop.
        .filter(drop.round(9) < 0)
        .sort(drop.round(9), "query_id")
    )


@public()
def unanswered(per_query: Table[FrameT], measures: Measures = None) -> FrameT:
    """The queries that every system fails: all values of a measure are 0 or less.

    A query for which a measure is undefined (null) for every system is not unanswered by it. Measures whose best value
    is the lowest (`Hole`) cannot show this, and are left out.

    Parameters
    ----------
    measures
        The measures to look at; by default all for which higher is better.

    Returns
    -------
    The kind of per_query
        A row per measure and unanswered query: the query column, `measure` (String), and `n_systems` (UInt32), the
        number of systems with a value. Measures in the order of the call, queries in the order of their ids.

    Examples
    --------
    >>> import polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["Success@10", "R@100"])
    >>> ir.unanswered(per_query).group_by("measure", maintain_order=True).len().rows()
    [('Success@10', 13), ('R@100', 9)]
    """
    queries = queries_of(per_query, measures)
    costs = [name for name in queries.measures if is_cost(name)]
    names = [name for name in queries.measures if name not in costs]
    if not names or (costs and measures is not None):
        raise MeasureError(
            f"lower is better for {', '.join(map(repr, costs))}, so that 0 does not mean unanswered. Name a measure "
            "for which higher is better, such as 'Success@10'."
        )
    each_query = _each_query(queries)
    values = {name: pl.col(name) for name in names}
    parts = [
        each_query.agg(pl.lit(name).alias("measure"), best=value.max(), n_systems=value.count())
        for name, value in values.items()
    ]
    return queries.table.give_back(pl.concat(parts).filter(pl.col("best") <= 0).drop("best"), per_query)


def _each_query(queries: Queries) -> pl.lazyframe.group_by.LazyGroupBy:
    """The systems of each query, always in the same order, with the measures as numbers."""
    numbers = queries.rows.select(*queries.table.keys, pl.col(queries.measures).cast(pl.Float64))
    return numbers.sort("query_id", *queries.systems).group_by("query_id", maintain_order=True)
