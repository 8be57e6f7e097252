"""`read_nuggets`: files of nuggets, alone or with what answers or documents do to them."""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from polars_ir.answers.nuggets import ASSIGNMENTS, WEIGHTS, check_lists
from polars_ir.answers.records import check_once, exploded, records_of, returned, underscored
from polars_ir.errors import ColumnError, quoted
from polars_ir.files.finding.sources import Limits
from polars_ir.inputs.fields import fields_of, first_field, innermost, refuse
from polars_ir.language.options import public

#: The fields of a nugget.
OF_NUGGETS = ("text", "importance", "assignment")


@public(Limits)
def read_nuggets(source: Any, **options: Unpack[Limits]) -> Any:
    """Read nuggets as nuggetizer and TREC RAG write them: a row per nugget of each query and answer, or document.

    Parameters
    ----------
    source
        JSON Lines, JSON or Parquet, a glob, or a list of such; or a frame with a column `nuggets`. Records have a query
        (`qid`, `query_id`, `topic_id`, `narrative_id`), `nuggets` with `text`, `importance` and, once judged,
        `assignment`, and `run_id`; without it the system is called as the file. Rows of `qid` "all" are left out.

    Returns
    -------
    pl.DataFrame, or the kind of a frame that was given
        `run` (if there are several), `query_id` (String), `nugget` (its number from 1, since files have no ids of
        them), and its fields, as `nugget_recall` takes them. Where a record judges a document, these are qrels:
        `doc_id`, `subtopic` (the number), `relevance` (2 support, 1 partial_support, 0), `weight` (1 vital, 0.5 okay)
        and `text`; `StRecall(rel=2, weights='weight')@5` is the share of nuggets that the first five documents support.

    Raises
    ------
    IRError
        For records without a query or nuggets, an answer that is there twice, nuggets that differ in text or
        importance between answers to a query or that an answer to it lacks, and documents judged in other words.

    References
    ----------
    https://github.com/castorini/nuggetizer

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> nuggets = [{"text": "made of tin", "importance": "vital", "assignment": "support"}]
    >>> ir.nugget_recall(ir.read_nuggets(pl.DataFrame([{"qid": "q", "nuggets": nuggets}]))).rows()
    [('q', 1.0)]
    """
    records = records_of(source, "nuggets", **options)
    fields = fields_of(innermost(records.schema["nuggets"]))
    if lacking := [name for name in OF_NUGGETS[:2] if name not in fields]:
        raise ColumnError(f"has nuggets without {quoted(lacking)}; they have {quoted(fields)}.", about="source")
    document = first_field(records.schema, ("docid", "doc_id"))
    keys = ["run", "query_id"]
    if document is not None:
        records, keys = records.with_columns(document.value.cast(pl.String).alias("doc_id")), [*keys, "doc_id"]
    check_once(records, keys, "documents" if document else "answers")
    rows = exploded(records, "nuggets", "nugget", keys)
    own = [name for name in OF_NUGGETS if name in fields]
    value = {name: pl.col("nuggets").struct.field(name) for name in own}
    words = {name: underscored(value[name]).alias(name) for name in own if name != "text"}
    rows = rows.select(*keys, "nugget", *(value | words).values())
    # Their numbers are no ids where the texts differ.
    check_lists(rows, "source", OF_NUGGETS[:2], answer="run" if document is None else None)
    if document is not None:
        rows = _as_qrels(rows)
    return returned(rows, source)


def _as_qrels(rows: pl.DataFrame) -> pl.DataFrame:
    """Nuggets of documents as judgments of subtopics."""
    if "assignment" not in rows.columns:
        raise ColumnError("has documents without 'assignment'.", about="source", fix="Judge the nuggets first")
    known = {"assignment": list(ASSIGNMENTS), "importance": list(WEIGHTS["weighted"])}
    for name, words in known.items():
        bad = rows.filter(~pl.col(name).is_in(words).fill_null(value=False))
        problem = f"whose {name!r} is none of {', '.join(words)}"
        refuse(bad, problem, "Judge those nuggets", "query_id", "doc_id", "nugget", name)
    grades = {word: int(2 * value) for word, value in ASSIGNMENTS.items()}
    return rows.select(
        "run",
        "query_id",
        "doc_id",
        pl.col("nugget").alias("subtopic"),
        pl.col("assignment").replace_strict(grades, return_dtype=pl.Int64).alias("relevance"),
        pl.col("importance").replace_strict(WEIGHTS["weighted"], return_dtype=pl.Float64).alias("weight"),
        "text",
    )
