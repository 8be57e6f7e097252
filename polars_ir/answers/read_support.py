"""`read_support`: files of the support of citations."""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from polars_ir.answers.citations import WORDS, grade_of
from polars_ir.answers.records import check_once, exploded, records_of, returned
from polars_ir.errors import ColumnError, quoted
from polars_ir.files.finding.sources import Limits
from polars_ir.inputs.fields import field, fields_of, first_field, innermost, refuse
from polars_ir.language.options import public

#: The column of the support as it was given.
GIVEN = "polars_ir: given"


@public(Limits)
def read_support(source: Any, **options: Unpack[Limits]) -> Any:
    """Read the support of citations as TREC RAG has it judged: a row per citation of each sentence.

    Parameters
    ----------
    source
        JSON Lines, JSON or Parquet, a glob, or a list of such; or a frame with a column `sentences`. Records have a
        query (`topic_id`, `narrative_id`, `qid`, `query_id`), `sentences`, each with a list of `citations`, each with
        `support`: 2, 1, 0 or -1 (not judged), or "full support", "partial support", "no support"; and `run_id`, without
        which the system is called as the file. Rows of `qid` "all" are left out.

    Returns
    -------
    pl.DataFrame, or the kind of a frame that was given
        `run` (if there are several), `query_id` (String), `sentence` and `citation` (their numbers from 1) and
        `support`, as `citation_precision` and `citation_recall` take them, and `doc_id` where citations name it. A
        sentence that cites nothing has one row, in which `citation` and `support` are null.

    Raises
    ------
    IRError
        For records without a query or sentences, an answer that is there twice, and citations without support.

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> sentences = [{"citations": [{"support": 2}]}, {"citations": []}]
    >>> frame = ir.read_support(pl.DataFrame([{"topic_id": "q", "run_id": "a", "sentences": sentences}]))
    >>> frame.rows(), ir.citation_recall(frame).rows()
    ([('q', 1, 1, 2), ('q', 2, None, None)], [('q', 0.5)])
    """
    records = records_of(source, "sentences", **options)
    keys = ["run", "query_id"]
    check_once(records, keys, "answers")
    fields = fields_of(innermost(records.schema["sentences"]))
    citations = field(fields, "citations", pl.col("sentences"))
    of_citations = {} if citations is None else fields_of(innermost(citations.dtype))
    if citations is None or "support" not in of_citations:
        has = quoted(of_citations or fields)
        says = f"must have the support of citations, sentences[].citations[].support; there are {has}."
        raise ColumnError(says, about="source")
    sentences = exploded(records, "sentences", "sentence", keys)
    sentences = sentences.select(*keys, "sentence", citations.value.alias("citations"))
    rows = exploded(sentences, "citations", "citation", [*keys, "sentence"])
    there = pl.col("citations").is_not_null()
    given = pl.col("citations").struct.field("support")
    document = first_field(of_citations, ("docid", "doc_id", "segment_id"), pl.col("citations"))
    rows = rows.select(
        *keys,
        "sentence",
        pl.when(there).then("citation").alias("citation"),
        grade_of(given).alias("support"),
        given.cast(pl.String).alias(GIVEN),
        *([] if document is None else [document.value.cast(pl.String).alias("doc_id")]),
    )
    bad = rows.filter(pl.col("citation").is_not_null() & pl.col("support").is_null())
    problem, shown = f"of citations whose support is none of {', '.join(WORDS)}", pl.col(GIVEN).alias("support")
    refuse(bad, problem, "Write -1 for what was not judged", *keys, "sentence", "citation", shown)
    return returned(rows.drop(GIVEN), source)
