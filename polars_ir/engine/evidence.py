"""Groups of evidence, any document of which suffices, and documents that belong to several groups.

Conventions: a group is a subtopic of the query or, where judgments have none, a relevant document by itself. To
measures of documents a document of several groups is one, with its highest grade: the row that has this grade.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_ir.frames.canonical_frame import may_repeat
from polars_ir.language.kinds import GROUP
from polars_ir.language.words import place, text

#: True for one row of each document, that of its highest grade; and the place of the document in the ideal ranking.
FIRST, IDEAL = "polars_ir: first", "polars_ir: ideal_rank"


def with_group(judgments: pl.DataFrame | pl.LazyFrame, *_: str, keys: Sequence[str]) -> pl.LazyFrame:
    """Judgments with the column of groups.

    Documents in memory are numbered within their query, which takes fewer different values than their ids.

    >>> with_group(pl.DataFrame({"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"]}), keys=["query_id"]).collect().rows()
    [(1, 'a', 0), (1, 'b', 1), (2, 'c', 0)]
    """
    if "subtopic" in judgments.collect_schema():
        group = pl.col("subtopic")
    elif isinstance(judgments, pl.DataFrame):
        row, query = pl.int_range(pl.len()), pl.struct(keys) if len(keys) > 1 else pl.col(keys)
        begins = (row == 0) | query.ne_missing(query.shift())
        # Where rows of a query do not stand together, their places would repeat; an `over` takes thirty times as long.
        together = begins.sum() == query.n_unique()
        group = row - pl.when(together).then(pl.when(begins).then(row).forward_fill()).otherwise(0)
    else:
        group = pl.col("doc_id")
    return judgments.lazy().with_columns(group.alias(GROUP))


def with_document(judgments: pl.DataFrame | pl.LazyFrame, *columns: str, keys: Sequence[str]) -> pl.LazyFrame:
    """Judgments of subtopics with the column `FIRST` and, if it is among the columns, `IDEAL`.

    >>> judgments = pl.DataFrame({"subtopic": [1, 2, 2], "doc_id": ["a", "a", "b"], "relevance": [1, 2, 3]})
    >>> with_document(judgments.with_columns(query_id=1), keys=["query_id"]).collect().to_dict(as_series=False)[FIRST]
    [False, True, True]
    """
    document, grade = [*keys, "doc_id"], pl.col("relevance")
    if isinstance(judgments, pl.DataFrame) and not may_repeat(judgments.lazy().select(document)):
        ideal = [place("relevance").over(list(keys)).alias(IDEAL)] if IDEAL in columns else []
        return judgments.lazy().with_columns(pl.lit(True).alias(FIRST), *ideal)
    # A step of its own: within the next `over` the highest grade would be found anew for each document.
    rows = judgments.lazy().with_columns(grade.eq_missing(grade.max().over(document)).alias(FIRST))
    lowest = pl.when(FIRST).then("subtopic").min().over(document)
    rows = rows.with_columns(pl.col(FIRST) & pl.col("subtopic").eq_missing(lowest))
    if IDEAL not in columns:
        return rows
    order = pl.when(pl.col(FIRST) & grade.is_not_null()).then(pl.struct("relevance", text("doc_id")))
    return rows.with_columns(order.rank("ordinal", descending=True).over(list(keys)).alias(IDEAL))


def of_documents(relation: pl.LazyFrame) -> pl.LazyFrame:
    """The judged relation with a row for each document, as measures of documents read it."""
    ideal = [pl.col(IDEAL).alias("ideal_rank")] if IDEAL in relation.collect_schema() else []
    return relation.filter(pl.col(FIRST).fill_null(True)).with_columns(ideal)


def once(judgments: pl.LazyFrame, part: str, keys: Sequence[str]) -> pl.LazyFrame:
    """A row for each document, that of its highest grade."""
    rows = with_document(judgments.with_columns(pl.col(part).alias("subtopic")), keys=keys)
    return rows.filter(FIRST).select(judgments.collect_schema().names())
