"""The findings of `validate` about documents: relevant ones with unjudged twins, and those that lack a text."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from polars_ir.engine.shingles import direct_twins
from polars_ir.errors import DtypeError, warn
from polars_ir.extras import lacks
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.frames.documents import documents_of
from polars_ir.runs.leaks import Leak

#: The findings, each with its severity, and the least similarity of twins.
TWINS = {
    "relevant documents with unjudged twins": "warning",
    "the same text judged differently": "warning",
    "relevant documents that documents lack": "warning",
}
SIMILARITY = 0.8

#: The text of a document, and that of a twin.
OF_DOCUMENT, OF_TWIN = "polars_ir: text", "polars_ir: text of the twin"

#: The twin of a document, and true for a document that is judged, or there.
TWIN, THERE = "polars_ir: twin", "polars_ir: there"


def twins_of_gold(qrels: CanonicalFrame, documents: object) -> Iterator[Leak]:
    """The findings in the order of `TWINS`; those of queries name a document and its twin."""
    texts, name = documents_of(documents)
    dtype = qrels.dtypes["doc_id"]
    if texts.schema["doc_id"].is_integer() != dtype.is_integer():
        names = name, texts.schema["doc_id"], qrels.names["doc_id"], dtype
        raise DtypeError.different_ids(*names, table="documents")
    if needed := lacks("twins"):
        warn(f"only documents of the same text count as twins: others need {needed}.")
    of_texts, pairs = direct_twins(texts, SIMILARITY, near=not needed)
    of_texts = of_texts.select(pl.col("doc_id").cast(dtype), pl.col("text").alias(OF_DOCUMENT))
    judged = qrels.select(*qrels.document, "relevance").drop_nulls("doc_id")
    relevant = judged.filter(pl.col("relevance") > 0)
    there = texts.lazy().select(pl.col("doc_id").cast(dtype), pl.lit(value=True).alias(THERE))
    known = relevant.select("doc_id").unique().join(there, on="doc_id", how="left")
    lacking = pl.col(THERE).is_null()
    known = qrels.computed(known).lazy()
    if qrels.found(known.select(is_lacking=lacking.all() & (pl.len() > 0)))["is_lacking"].any():
        warn("has no document that is relevant in the qrels: no id is in both.", about="documents")
    yield _unjudged(qrels.keys, judged, relevant, of_texts.lazy(), pairs.lazy())
    yield _differing(qrels.keys, judged, of_texts.lazy())
    yield Leak(known, lacking, ("doc_id",), "nothing is known of their text, and of twins")


def _unjudged(
    keys: list[str], judged: pl.LazyFrame, relevant: pl.LazyFrame, of_texts: pl.LazyFrame, pairs: pl.LazyFrame
) -> Leak:
    """The queries with a relevant document one of whose twins is not judged."""
    of_twins = of_texts.rename({"doc_id": TWIN, OF_DOCUMENT: OF_TWIN})
    twins = relevant.join(of_texts, on="doc_id").join(pairs, left_on=OF_DOCUMENT, right_on="text")
    twins = twins.join(of_twins, left_on="twin", right_on=OF_TWIN).filter(pl.col(TWIN) != pl.col("doc_id"))
    twins = twins.join(judged, left_on=[*keys, TWIN], right_on=[*keys, "doc_id"], how="anti")
    found = twins.group_by(keys).agg(pl.col("doc_id", TWIN).sort_by("doc_id", TWIN).first())
    queries = relevant.select(keys).unique().join(found, on=keys, how="left")
    meaning = (
        "the same text, or nearly so, has another id that is not judged for the query, and counts as not "
        "relevant where it is retrieved; ir.twins lists them: judge them alike, or keep one of each in the index"
    )
    return Leak(queries, pl.col(TWIN).is_not_null(), (*keys, "doc_id", TWIN), meaning)


def _differing(keys: list[str], judged: pl.LazyFrame, of_texts: pl.LazyFrame) -> Leak:
    """The queries with a text that is judged under two ids, by two grades."""
    first = pl.col("relevance").sort_by("doc_id").first()
    other = pl.col("doc_id").filter(pl.col("relevance") != first).min().alias(TWIN)
    texts = judged.join(of_texts, on="doc_id").group_by(*keys, OF_DOCUMENT).agg(pl.col("doc_id").min(), other)
    differing = texts.drop_nulls(TWIN).group_by(keys).agg(pl.col("doc_id", TWIN).sort_by("doc_id").first())
    queries = judged.select(keys).unique().join(differing, on=keys, how="left")
    meaning = "one text has two grades under two ids: judge them alike, or keep one of each"
    return Leak(queries, pl.col(TWIN).is_not_null(), (*keys, "doc_id", TWIN), meaning)
