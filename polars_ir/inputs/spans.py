"""Spans of retrievers, as OpenInference and OpenTelemetry export them: a trace is a query, and its spans are calls."""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_ir.errors import DataError, DtypeError
from polars_ir.inputs.fields import fields_of, has, innermost, of_json

#: The attributes of a document whose numbered keys are read, as `retrieval.documents.0.document.id`.
NUMBERED = r"^retrieval\.documents\.(\d+)\.document\.(id|score|content)$"

#: The attributes that hold a question, and the documents as a whole.
QUESTIONS = ("gen_ai.retrieval.query.text", "input.value")
WHOLE = ("retrieval.documents", "gen_ai.retrieval.documents")

#: The attributes that say which span is of a retriever, and the values that do.
KIND, OPERATION = "openinference.span.kind", "gen_ai.operation.name"
OF_RETRIEVERS = {KIND: "RETRIEVER", OPERATION: "retrieval"}

#: The fields of spans, in a table of them.
FIELDS: Any = {
    "retrieved": tuple(f"attributes.{name}" for name in WHOLE),
    "query": ("context.trace_id", "trace_id"),
    "question": tuple(f"attributes.{name}" for name in QUESTIONS),
    "start": ("start_time", "start_time_unix_nano"),
}

#: The documents of JSON in a text.
DOCUMENTS = pl.List(pl.Struct({"id": pl.String, "score": pl.Float64, "content": pl.String}))


def of_otlp(table: pl.DataFrame) -> pl.DataFrame:
    """OTLP as JSON: a row for each span, with the attributes that tell of retrieval."""
    scopes = _objects(_objects(table, "resourceSpans", "scopeSpans"), "scopeSpans", "spans")
    spans = _objects(scopes, "spans", "traceId", "startTimeUnixNano", "attributes").with_row_index("span")
    if spans.is_empty():
        raise DataError("has no spans.", about="source", fix="Export the spans of retrievers")
    attributes = _objects(spans, "attributes", "key", "value").cast({"key": pl.String})
    rows = attributes.with_columns(text=_text(attributes.schema["value"]))
    place, name = (pl.col("key").str.extract(NUMBERED, group) for group in (1, 2))
    found = [rows.select("span", "text", place=place.cast(pl.Int64), name=name).drop_nulls("place")]
    if has(attributes.schema, "value.arrayValue.values[].kvlistValue.values[].key"):
        found.append(_of_arrays(rows.filter(pl.col("key") == WHOLE[1])))
    names = (*QUESTIONS, KIND, OPERATION, WHOLE[1])
    whole = [pl.col("text").filter(pl.col("key") == name).first().alias(name) for name in names]
    whole.append((pl.col("key") == WHOLE[1]).any().alias("is_call"))
    of_spans = rows.group_by("span").agg(whole)
    of_spans = of_spans.with_columns(_of_texts(of_spans[WHOLE[1]]))
    documents = documents_of(pl.concat(found, how="diagonal_relaxed"))
    joined = spans.select(
        "span", trace_id="traceId", start_time=pl.col("startTimeUnixNano").cast(pl.Int64, strict=False)
    )
    joined = joined.join(of_spans, on="span", how="left").join(documents, on="span", how="left")
    # An attribute of documents without any is a call that found nothing.
    nothing = pl.when("is_call").then(pl.lit([], DOCUMENTS))
    both = pl.coalesce("documents", WHOLE[1], nothing).alias(WHOLE[0])
    inner = pl.struct(pl.coalesce(QUESTIONS).alias(QUESTIONS[1]), KIND, OPERATION, both).alias("attributes")
    return joined.sort("span").select("trace_id", "start_time", inner)


def _objects(rows: pl.DataFrame, name: str, *fields: str) -> pl.DataFrame:
    """The objects in the lists of a column, a row each, with these fields, of which some may be in none of them."""
    each = rows.explode(name) if isinstance(rows.schema[name], pl.List) else rows
    each = each.drop_nulls(name)
    known = fields_of(each.schema[name])
    values = {field: pl.col(name).struct.field(field) if field in known else pl.lit(None) for field in fields}
    return each.with_columns(**values).select(*(other for other in rows.columns if other == "span"), *fields)


def _of_texts(texts: pl.Series) -> pl.Series:
    """The lists of documents that texts hold as JSON."""
    documents = of_json(texts, texts.name) if texts.count() else texts.cast(pl.Null)
    if innermost(documents.dtype) == pl.Null:
        return documents.cast(DOCUMENTS)
    known = fields_of(innermost(documents.dtype))
    if not known or not isinstance(documents.dtype, pl.List):
        fix = "Export each document as an object with its id"
        raise DtypeError.of_column("source", texts.name, "a list of objects", documents.dtype, fix)
    values = [
        (pl.element().struct.field(name) if name in known and not known[name].is_nested() else pl.lit(None))
        .cast(dtype, strict=False)
        .alias(name)
        for name, dtype in fields_of(innermost(DOCUMENTS)).items()
    ]
    return documents.to_frame().select(pl.first().list.eval(pl.struct(values))).to_series()


def _text(dtype: pl.DataType) -> pl.Expr:
    """The value of an attribute, of whichever type it is, as text; null for arrays and objects."""
    single = [name for name, each in fields_of(dtype).items() if not each.is_nested()]
    return pl.coalesce(
        *(pl.col("value").struct.field(name).cast(pl.String) for name in single), pl.lit(None, pl.String)
    )


def _of_arrays(rows: pl.DataFrame) -> pl.DataFrame:
    """The fields of documents in an array of OTLP, each with its place."""
    values = pl.col("value").struct.field("arrayValue").struct.field("values")
    documents = rows.select("span", values.alias("document")).drop_nulls("document")
    documents = documents.with_columns(place=pl.int_ranges(pl.col("document").list.len())).explode("document", "place")
    pairs = pl.col("document").struct.field("kvlistValue").struct.field("values")
    each = documents.select("span", "place", pairs.alias("pair")).explode("pair").unnest("pair")
    return each.select("span", "place", name="key", text=_text(each.schema["value"]))


def of_numbered_attributes(table: pl.DataFrame) -> pl.DataFrame:
    """Spans whose attributes number the documents in their keys: with lists of them."""
    rows = table.with_row_index("span")
    attributes = rows.select("span", pl.col("attributes").struct.unnest())
    numbered = attributes.select("span", pl.col(NUMBERED).cast(pl.String)).unpivot(index="span", value_name="text")
    place, name = (pl.col("variable").str.extract(NUMBERED, group) for group in (1, 2))
    documents = documents_of(numbered.select("span", "text", place=place.cast(pl.Int64), name=name).drop_nulls("text"))
    joined = rows.join(documents, on="span", how="left", maintain_order="left")
    inner = pl.col("attributes").struct.with_fields(pl.col("documents").alias(WHOLE[0]))
    return joined.with_columns(inner).drop("span", "documents")


def documents_of(rows: pl.DataFrame) -> pl.DataFrame:
    """A list of documents for each span, of rows with a field of one each, in the order of their places."""
    of_name = [pl.col("text").filter(pl.col("name") == name).first().alias(name) for name in ("id", "score", "content")]
    each = rows.group_by("span", "place").agg(of_name).with_columns(pl.col("score").cast(pl.Float64, strict=False))
    each = each.sort("span", "place")
    return each.group_by("span", maintain_order=True).agg(documents=pl.struct("id", "score", "content"))
