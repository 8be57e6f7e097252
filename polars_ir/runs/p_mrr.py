"""`p_mrr`: the movement of documents by a changed query, a measure of instruction following."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.engine.needs import Needs
from polars_ir.engine.relation import given_back, relate
from polars_ir.engine.run_and_qrels import RunAndQrels, align
from polars_ir.errors import Code, ColumnError, Fix, with_names
from polars_ir.frames.kinds import Frame, to_polars
from polars_ir.frames.roles import required
from polars_ir.frames.rules import Rule, checked
from polars_ir.frames.table_types import FrameT, Table
from polars_ir.language.options import public
from polars_ir.language.words import ratio, total


@public()
def p_mrr(original: Table[FrameT], changed: Any, documents: Any) -> FrameT:
    """Pairwise MRR: the movement of documents that a changed query makes irrelevant, one row per query.

    The mean over these documents of new / old - 1 where the document did not fall (old and new being its ranks), and of
    1 - old / new where it fell: near 1 when it fell far, as it should, 0 when it stayed, near -1 when it rose instead.
    A document that a run did not return ranks one place below the last. Null where a run did not answer the query.

    Parameters
    ----------
    original
        The run of the original queries, in any form that `evaluate` takes.
    changed
        The run of the changed queries, under the ids they had before.
    documents
        The documents that the change makes irrelevant: a table with a query and a document column, or
        `{query: [doc, ...]}`. Grades do not matter.

    Returns
    -------
    The kind of original
        The column of systems (if the runs have several), the query column and `p-MRR` (Float64), a row per query of
        `documents`.

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
    with with_names(run="original", qrels="documents"):
        before = align(original, judgments)
    with with_names(run="changed", qrels="documents"):
        after = align(changed, judgments)
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
    return before.run.give_back(moved, original)


def _as_qrels(documents: Any) -> Frame:
    frame = to_polars("documents", documents, column="relevance")
    columns = frame.collect_schema().names()
    names = {role: required("documents", role, columns) for role in ("query_id", "doc_id")}
    query = names["query_id"]
    named = Code.keeping("documents", f"pl.col({query!r}).is_not_null()", f"documents[{query!r}].notna()")
    rule = Rule(pl.col("query_id").is_null(), f"whose {query!r} is null", Fix("Leave them out", named))
    ids = frame.select(pl.col(name).alias(role) for role, name in names.items())
    ids = checked(ids, rule, about="documents", keys=["query_id", "doc_id"], names=names)
    # A document counts once.
    return ids.unique(maintain_order=True).with_columns(relevance=pl.when(pl.col("doc_id").is_not_null()).then(1))


def _ranks(pair: RunAndQrels, name: str) -> pl.LazyFrame:
    """Rank of each document, after the last one if it was not retrieved; null where nothing was."""
    relation = relate(pair, Needs())
    result = given_back(pair, relation, relation)
    place = pl.col("rank").fill_null(pl.col("n_retrieved") + 1).cast(pl.Float64)
    is_ranked = (pl.col("n_retrieved") > 0) & pl.col("doc_id").is_not_null()
    return result.select(*pair.run.keys, "doc_id", pl.when(is_ranked).then(place).alias(name))
