"""The finding of `validate` about documents: relevant ones whose text stands under another id, which is not judged."""

from __future__ import annotations

import polars as pl

from polars_ir.engine.shingles import twins_of
from polars_ir.errors import Code, DtypeError, Fix, warn
from polars_ir.extras import lacks
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.documents import documents_of
from polars_ir.runs.leaks import Leak

#: The finding, with its severity, and the least similarity of twins.
TWINS, SIMILARITY = {"relevant documents with unjudged twins": "warning"}, 0.8

#: Columns between two steps.
SIZE, TWIN, RELEVANT = "polars_ir: size", "polars_ir: twin", "polars_ir: relevant"


def twins_of_gold(qrels: CanonicalFrame, documents: object) -> Leak:
    """The queries with a relevant document of a group of twins that are not all judged."""
    texts, name = documents_of(documents)
    dtype = qrels.dtypes["doc_id"]
    if texts.schema["doc_id"].is_integer() != dtype.is_integer():
        says = f"ids must have one type on both sides; documents column {name!r} is {texts.schema['doc_id']}, in the "
        table, column = ("documents", name) if not dtype.is_integer() else ("qrels", qrels.names["doc_id"])
        fix = Fix("Cast one", Code.casting(table, column, pl.String))
        raise DtypeError(f"{says}qrels they are {dtype}.", fix=fix)
    if needed := lacks("twins"):
        warn(f"only documents of the same text count as twins: others need {needed}.")
    groups = twins_of(texts, SIMILARITY, near=not needed).select(
        pl.col("doc_id").cast(dtype), "group", pl.len().over("group").alias(SIZE)
    )
    judged = qrels.select(*qrels.document, "relevance").drop_nulls("doc_id")
    rows = judged.join(groups.lazy(), on="doc_id", how="left")
    is_relevant = (pl.col("relevance") > 0).any()
    of_groups = rows.group_by(*qrels.keys, "group").agg(
        is_relevant.alias(RELEVANT),
        (pl.col("doc_id").n_unique() < pl.col(SIZE).first()).fill_null(value=False).alias(TWIN),
    )
    twin = (pl.col(RELEVANT) & pl.col(TWIN)).any()
    queries = of_groups.group_by(qrels.keys).agg(pl.col(RELEVANT).any(), twin.alias(TWIN)).filter(RELEVANT)
    meaning = (
        "the same text, or nearly so, stands under another id that is not judged for the query, and counts as not "
        "relevant where it is retrieved; ir.twins lists them: judge them alike, or keep one of each in the index"
    )
    return Leak(queries, pl.col(TWIN), tuple(qrels.keys), meaning)
