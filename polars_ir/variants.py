"""Several variants of one query: how well they do together, and how far a change of the query moves documents.

Conventions: which queries are variants of one another is said by a column, and not by what their ids look like.
"""

from __future__ import annotations

from typing import Any, overload

import polars as pl

from polars_ir.attributes import column_for, with_attributes
from polars_ir.conversion import Frame, give_back, to_polars
from polars_ir.errors import ColumnError, explain_options
from polars_ir.judging import Pair, collect_checked, pair_up, relate
from polars_ir.naming import is_cost
from polars_ir.schema import ROLES, find
from polars_ir.summary import measures_of
from polars_ir.vocabulary import average, ratio, total

#: The columns that `robustness` makes.
MADE = ("run", "measure", "mean", "worst", "n_variants")


@overload
def robustness(per_query: pl.LazyFrame, by: Any) -> pl.LazyFrame: ...
@overload
def robustness(per_query: pl.DataFrame, by: Any) -> pl.DataFrame: ...
@overload
def robustness(per_query: Any, by: Any) -> Any: ...
@explain_options
def robustness(per_query: Any, by: str | Any) -> Any:
    """The mean and the worst value of every measure over the variants of a query: one row per base query and measure.

    Variants are wordings, instructions or languages of one information need. The mean over base queries of the worst
    nDCG@10 is MTEB's robustness@10; where each query has one relevant document, that of R@1 over pairs is its paired
    accuracy. The worst value is the lowest one; for measures whose best value is the lowest (`Hole`) the highest, if
    their names are in the catalogue. Variants for which a measure is undefined (null) do not count.

    Parameters
    ----------
    per_query
        What `evaluate` returned.
    by
        The column of `per_query` that holds the base query of each; or a frame with a query column and one other, the
        base query.

    Returns
    -------
    The kind of per_query
        `run` (if there is one), the base query under its own name, `measure` (String), `mean`, `worst` (Float64), and
        `n_variants` (UInt32), which counts the variants with a value; with none of them, mean and worst are null.

    Raises
    ------
    IRError
        For a query without a base query, or with several; a frame without a query column or a measure.

    References
    ----------
    Oh et al. 2024, https://arxiv.org/abs/2402.14334 (robustness@10); Weller et al. 2023,
    https://arxiv.org/abs/2305.07614 (paired accuracy)

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> run = {"a1": ["d1", "d2"], "a2": ["d2", "d1"], "b1": ["d3"]}
    >>> per_query = ir.evaluate(run, {"a1": ["d1"], "a2": ["d1"], "b1": ["d3"]}, "RR")
    >>> found = ir.robustness(per_query.with_columns(base=pl.col("query_id").str.head(1)), "base")
    >>> found.rows()
    [('a', 'RR', 0.75, 0.5, 2), ('b', 'RR', 1.0, 1.0, 1)]
    >>> found.group_by("measure").agg(pl.col("worst").mean()).row(0)
    ('RR', 0.75)
    """
    table, numbers = measures_of(per_query)
    rows, names = with_attributes(table, by, "by")
    if len(names) > 1:
        raise ColumnError(f"by must give one column of base queries; got {', '.join(map(repr, names))}.")
    (base,) = names
    if base in MADE:
        raise ColumnError(f"the base query may not be called {base!r}, like a column of the result; rename it.")
    measures = [name for name in numbers if not (isinstance(by, str) and name == base)]
    if not measures:
        raise ColumnError.no_measure([name for name in table.columns if name != base])
    keys = [*(key for key in table.keys if key == "run"), column_for(base)]
    variants = rows.sort(*keys, "query_id").group_by(keys, maintain_order=True)
    found = [variants.agg(pl.lit(measure).alias("measure"), **_mean_and_worst(measure)) for measure in measures]
    columns = [*keys, "measure", "mean", "worst", "n_variants"]
    return give_back(pl.concat(found).select(columns).rename({column_for(base): base}), per_query)


def _mean_and_worst(measure: str) -> dict[str, pl.Expr]:
    value = pl.col(measure).cast(pl.Float64)
    return {
        "mean": average(value),
        "worst": value.max() if is_cost(measure) else value.min(),
        "n_variants": value.count(),
    }


@explain_options
def p_mrr(original: Any, changed: Any, documents: Any) -> Any:
    """How far a changed query moves the documents that are no longer relevant to it: pairwise MRR, one row per query.

    The mean over these documents of new / old - 1 where the document did not fall (the ranks being old and new), and
    of 1 - old / new where it fell: near 1 when it fell far, as it should, 0 when it stayed, near -1 when it rose
    instead. A document that a run did not return stands one place below its last. Null where a run did not answer the
    query.

    Parameters
    ----------
    original
        The run of the queries as they were, in any form that `evaluate` takes.
    changed
        The run of the changed queries, under the ids they had before.
    documents
        The documents that the change makes irrelevant: a table with a query and a document column, or
        `{query: [doc, ...]}`. Grades do not matter.

    Returns
    -------
    The kind of original
        `run` (if the runs have several), the query column and `p-MRR` (Float64), a row per query of `documents`.

    Raises
    ------
    IRError
        For runs or documents that `evaluate` would not take.

    References
    ----------
    Weller et al. 2024 (FollowIR), https://arxiv.org/abs/2403.15246; MTEB's `p-MRR` is its mean over queries

    Examples
    --------
    >>> import polars_ir as ir
    >>> before, after = {"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d2", "d3", "d4", "d1"]}
    >>> ir.p_mrr(before, after, {"q": ["d1"]}).row(0)
    ('q', 0.75)
    """
    judgments = _as_qrels(documents)
    before, after = pair_up(original, judgments), pair_up(changed, judgments)
    keys = before.run.keys
    if after.run.keys != keys:
        raise ColumnError("both runs must have a 'run' column of the same systems, or neither; one of them has it.")
    ranks = _ranks(before, "old").join(_ranks(after, "new"), on=[*keys, "doc_id"], how="left")
    old, new = pl.col("old"), pl.col("new")
    change = pl.when(old >= new).then(new / old - 1).otherwise(1 - old / new)
    value = change.filter(change.is_not_null())
    moved = (
        ranks.sort(*keys, "doc_id")
        .group_by(keys, maintain_order=True)
        .agg(ratio(total(value), value.len()).alias("p-MRR"))
    )
    return give_back(moved.rename({"query_id": before.run.names["query_id"]}), original)


def _as_qrels(documents: Any) -> Frame:
    """Documents by query, as judgments."""
    frame = to_polars("documents", documents, column="relevance")
    columns = frame.collect_schema().names()
    names = {role: find("documents", role, columns) for role in ("query_id", "doc_id")}
    for role, name in names.items():
        if name is None:
            raise ColumnError.missing("documents", role, ROLES[role], columns)
    ids = frame.select(pl.col(name).alias(role) for role, name in names.items() if name is not None)
    return ids.with_columns(relevance=pl.when(pl.col("doc_id").is_not_null()).then(1))


def _ranks(pair: Pair, name: str) -> pl.LazyFrame:
    """The rank of each document, behind the last one if it was not retrieved; null where nothing was."""
    relation = relate(pair)
    checked = collect_checked(pair, relation).lazy() if pair.run.eager else relation
    place = pl.col("rank").fill_null(pl.col("n_retrieved") + 1).cast(pl.Float64)
    known = (pl.col("n_retrieved") > 0) & pl.col("doc_id").is_not_null()
    return checked.select(*pair.run.keys, "doc_id", pl.when(known).then(place).alias(name))
