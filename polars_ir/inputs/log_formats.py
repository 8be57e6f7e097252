"""The formats of logs, a record each, which is recognised by its fields.

Conventions: a path names a field, as `field` finds it; of several the first that there is counts. Data sets with
questions and their evidence have no rankings: what they list as context, or as haystack, is in no order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from polars_ir.inputs import spans
from polars_ir.inputs.fields import field, has

#: Ids of records, and their questions, in own lists and where a format has no others.
QUERY_IDS = ("query_id", "qid", "topic_id", "question_id", "example_id", "id", "_id")
QUESTIONS = ("query", "question", "user_input", "input", "query_text", "question_text", "prompt")

#: Ids, texts and scores of documents that are objects.
IDS = (
    "doc_id", "docno", "document_id", "chunk_id", "passage_id", "corpus_id", "node_id", "node.id_", "node.node_id",
    "document.id", "kwargs.id", "id", "id_", "_id", "idx",
)  # fmt: skip
TEXTS = (
    "text", "content", "page_content", "document.content", "kwargs.page_content", "node.text", "contents", "context",
    "paragraph_text", "passage", "chunk",
)  # fmt: skip
SCORES_OF_DOCUMENTS = ("score", "_score", "similarity", "document.score")

#: Numbers of a document that LangChain, LlamaIndex and Haystack write for themselves: its version, and places in texts.
OFFSETS = ("lc", "start_char_idx", "end_char_idx", "split_id", "split_idx_start")

#: Lists of scores beside a list of documents.
LISTS_OF_SCORES = ("scores", "retrieved_scores")

#: Lists of retrieved documents, and of relevant ones, whatever wrote them.
RETRIEVED = (
    "retrieved", "retrieved_ids", "retrieved_doc_ids", "retrieved_docs", "retrieved_documents", "ranking", "results",
    "hits", "retrieved_context_ids",
)  # fmt: skip
RELEVANT = (
    "relevant", "relevant_ids", "relevant_doc_ids", "relevant_docs", "relevant_documents", "positives", "gold",
    "gold_ids", "gold_docs", "expected_ids", "ground_truth_documents", "reference_context_ids",
)  # fmt: skip


class LogFormat(NamedTuple):
    """A format of logs, of which all `marks` are fields."""

    name: str
    marks: tuple[str, ...]
    retrieved: tuple[str, ...] = ()
    relevant: tuple[str, ...] = RELEVANT
    #: Lists of texts, where the others hold ids.
    retrieved_texts: tuple[str, ...] = ()
    relevant_texts: tuple[str, ...] = ()
    query: tuple[str, ...] = QUERY_IDS
    question: tuple[str, ...] = QUESTIONS
    #: A list of documents in no order.
    candidates: str = ""
    #: True where the relevant documents are titles, which are ids.
    titles: bool = False
    #: A list of documents that do not count, which are left out before any cutoff.
    excluded: str = ""
    #: The start of a call, where each record is one.
    start: tuple[str, ...] = ()
    #: The records that count.
    kept: pl.Expr | None = None
    #: Makes a table of a row for each record, where the file has another shape.
    unpack: Callable[[pl.DataFrame], pl.DataFrame] = lambda table: table


def of_hotpotqa(table: pl.DataFrame) -> pl.DataFrame:
    """HotpotQA: pairs of a title and a sentence as titles, which are the documents, in rows or in columns."""
    facts, context = (field(table.schema, name) for name in ("supporting_facts", "context"))
    first, last = pl.element().list.first(), pl.element().list.last()
    columns = {}
    if facts is not None:
        by_columns = isinstance(facts.dtype, pl.Struct)
        titles = facts.value.struct.field("title") if by_columns else facts.value.list.eval(first)
        columns["supporting_facts"] = titles.list.unique(maintain_order=True)
    if context is not None and isinstance(context.dtype, pl.Struct):
        inner, sentences = context.value.struct, pl.element().list.join("")
        index = pl.int_ranges(inner.field("title").list.len())
        of_both = table.select(at=index, title=inner.field("title"), text=inner.field("sentences").list.eval(sentences))
        rows = of_both.with_row_index("row").explode("at", "title", "text", empty_as_null=True)
        documents = rows.group_by("row", maintain_order=True).agg(context=pl.struct(id="title", text="text"))
        return table.with_columns(documents["context"], **columns)
    if context is not None:
        # Polars reads a title beside a list as a list of it.
        three_deep = pl.List(pl.List(pl.List(pl.String)))
        title = pl.concat_str(first.list.join("") if context.dtype == three_deep else first)
        columns["context"] = context.value.list.eval(pl.struct(id=title, text=last.list.join("")))
    return table.with_columns(**columns)


def of_musique(table: pl.DataFrame) -> pl.DataFrame:
    """MuSiQue: the numbers of the supporting paragraphs."""
    paragraph = pl.element().struct
    supporting = pl.element().filter(paragraph.field("is_supporting")).struct.field("idx")
    return table.with_columns(supporting=pl.col("paragraphs").list.eval(supporting))


def of_llamaindex_dataset(table: pl.DataFrame) -> pl.DataFrame:
    """LlamaIndex' data set for embeddings: objects by ids, as a row for each query."""

    def by_id(name: str, value: str) -> pl.DataFrame:
        return table.select(pl.col(name).struct.unnest()).unpivot(variable_name="query_id", value_name=value)

    rows = by_id("queries", "query").join(by_id("relevant_docs", "relevant"), on="query_id", how="left")
    if not isinstance(table.schema.get("corpus"), pl.Struct):
        return rows
    corpus = by_id("corpus", "text").select(pl.struct(id="query_id", text="text").implode().alias("corpus"))
    return rows.with_row_index("row").join(corpus.with_row_index("row"), on="row", how="left").drop("row")


#: From the specific to the general: the first whose marks are all there.
FORMATS = (
    LogFormat("OTLP", ("resourceSpans[].scopeSpans",), unpack=spans.of_otlp, **spans.FIELDS),
    LogFormat(
        "OpenInference",
        ("attributes.retrieval.documents.0.document.id|attributes.retrieval.documents.0.document.content",),
        unpack=spans.of_numbered_attributes,
        **spans.FIELDS,
    ),
    LogFormat("OpenInference", ("attributes.retrieval.documents", "context.trace_id|trace_id"), **spans.FIELDS),
    LogFormat("OpenTelemetry", ("attributes.gen_ai.retrieval.documents", "context.trace_id|trace_id"), **spans.FIELDS),
    LogFormat(
        "LangSmith",
        ("run_type", "outputs.documents", "trace_id"),
        retrieved=("outputs.documents",),
        query=("trace_id",),
        question=("inputs.query", "inputs.question", "inputs.input"),
        start=("dotted_order", "start_time"),
        kept=pl.col("run_type") == "retriever",
    ),
    LogFormat(
        "LlamaIndex data set",
        ("queries", "relevant_docs", "corpus|mode"),
        relevant=("relevant",),
        candidates="corpus",
        unpack=of_llamaindex_dataset,
    ),
    LogFormat(
        "HotpotQA",
        ("supporting_facts", "context", "question"),
        retrieved=RETRIEVED,
        relevant=("supporting_facts",),
        candidates="context",
        titles=True,
        unpack=of_hotpotqa,
    ),
    LogFormat(
        "MuSiQue",
        ("paragraphs[].is_supporting", "paragraphs[].idx"),
        retrieved=RETRIEVED,
        relevant=("supporting",),
        kept=pl.col("answerable").fill_null(value=True),
        unpack=of_musique,
    ),
    LogFormat(
        "LongMemEval",
        ("question_id", "answer_session_ids"),
        retrieved=("retrieval_results.ranked_items", *RETRIEVED),
        relevant=("answer_session_ids",),
        # Abstentions, whose answer is in no session.
        kept=~pl.col("question_id").cast(pl.String).str.contains("_abs", literal=True),
    ),
    LogFormat(
        "BRIGHT", ("gold_ids", "excluded_ids"), retrieved=RETRIEVED, relevant=("gold_ids",), excluded="excluded_ids"
    ),
    LogFormat(
        "ragas",
        ("user_input", "retrieved_context_ids|retrieved_contexts|reference_context_ids|reference_contexts"),
        retrieved=("retrieved_context_ids",),
        relevant=("reference_context_ids",),
        retrieved_texts=("retrieved_contexts",),
        relevant_texts=("reference_contexts",),
    ),
    LogFormat(
        "DeepEval",
        ("input", "retrieval_context"),
        relevant=(),
        retrieved_texts=("retrieval_context",),
        relevant_texts=("context",),
    ),
    LogFormat(
        "LlamaIndex",
        ("retrieved_ids", "expected_ids"),
        retrieved=("retrieved_ids",),
        relevant=("expected_ids",),
        retrieved_texts=("retrieved_texts",),
        relevant_texts=("expected_texts",),
    ),
    *(
        LogFormat("LlamaIndex", (f"{name}[].node",), retrieved=(name,))
        for name in ("source_nodes", "nodes", "retrieved")
    ),
    *(
        LogFormat("LangChain", (f"{name}[].page_content|{name}[].kwargs.page_content",), retrieved=(name,))
        for name in ("source_documents", "documents", "retrieved", "context")
    ),
    *(
        LogFormat("Haystack", (f"{name}[].content",), retrieved=(name,))
        for name in ("retrieved_documents", "documents", "retriever.documents", "retrieved")
    ),
)

#: Own lists, recognised by the name of one, or named in the call.
OWN = LogFormat("own lists", (), retrieved=RETRIEVED)


def recognised(fields: Mapping[str, pl.DataType]) -> LogFormat:
    """The format of a log with these fields."""
    return next((each for each in FORMATS if all(has(fields, mark) for mark in each.marks)), OWN)
