"""MS MARCO's files: rankings without scores and judgments without grades, which must be said to be such."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import Reader, Write, message, qrels_readers, run_readers
from suite import examples

import polars_ir as ir
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_run, tag_of


@run_readers
@pytest.mark.parametrize("text", ["007\t12\t1\n007\t3\t2\n", "\ufeff007 12 1\r\n\r\n# comment\r\n 007  3 2 \r\n"])
def test_a_ranking_has_no_scores(write: Write, reader: Reader, text: str) -> None:
    frame = reader(write(text, "a.tsv"), format="msmarco").lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64}
    assert frame.rows() == [("007", "12", 1), ("007", "3", 2)]


@run_readers
def test_a_ranking_may_have_scores(write: Write, reader: Reader) -> None:
    frame = reader(write("1\t12\t1\t5.5\n1\t3\t2\t-1e-3\n", "a.tsv"), format="msmarco").lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    assert frame.rows() == [("1", "12", 1, 5.5), ("1", "3", 2, -0.001)]


@qrels_readers
def test_relevant_passages_have_grade_1(write: Write, reader: Reader) -> None:
    frame = reader(write("1\t12\n2\t3\n", "a.tsv"), format="msmarco").lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert frame.rows() == [("1", "12", 1), ("2", "3", 1)]


@qrels_readers
@pytest.mark.parametrize("options", [{}, {"format": "msmarco"}])
def test_judgments_of_four_fields_are_those_of_trec(write: Write, reader: Reader, options: dict[str, Any]) -> None:
    path = write("1185869\t0\t0\t1\n1185868\t0\t16\t1\n", "qrels.dev.small.tsv")
    assert reader(path, **options).lazy().collect().rows() == [("1185869", "0", 1), ("1185868", "16", 1)]


@run_readers
def test_several_rankings_are_named_by_their_files(write: Write, reader: Reader) -> None:
    paths = [write("1 12 1\n", "bm25.dev.tsv"), write("1 3 1\n", "dense.dev.tsv.txt")]
    assert reader(paths, format="msmarco").lazy().collect().rows() == [
        ("bm25.dev", "1", "12", 1),
        ("dense.dev", "1", "3", 1),
    ]


def test_a_ranking_has_the_name_of_its_file(write: Write) -> None:
    assert tag_of(write("1 12 1\n", "bm25.dev.tsv"), format="msmarco") == "bm25.dev"


@examples(150)
@given(st.lists(st.text("12d.#x \t\xa0", max_size=12), min_size=1, max_size=4))
def test_odd_lines_are_read_as_they_are_split_or_are_an_error(lines: list[str]) -> None:
    split = [[field for field in re.split("[ \t]", line) if field] for line in lines]
    kept = [fields for fields in split if fields and not fields[0].startswith("#")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.tsv")
        path.write_text("\n".join(lines), "utf-8")
        try:
            rows: Any = read_run(path, format="msmarco").rows()
        except FileError:
            rows = None
    widths = {len(fields) for fields in kept}
    right = widths <= {3} and all(re.fullmatch("[0-9]+", fields[2]) for fields in kept) and kept
    if right:
        assert rows == [(query, doc, int(rank)) for query, doc, rank in kept]
    elif widths != {4}:
        assert rows is None


def test_a_ranking_is_evaluated_by_its_ranks(write: Write) -> None:
    run = read_run(write("1 12 1\n1 3 2\n2 12 1\n", "a.tsv"), format="msmarco")
    qrels = read_qrels(write("1 3\n2 12\n", "b.tsv"), format="msmarco")
    assert sorted(ir.evaluate(run, qrels, ["RR@10"]).rows()) == [("1", 0.5), ("2", 1.0)]


@run_readers
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 12 1\n1 3\n", "a.tsv, line 2: a line of this run has 3 fields (query_id doc_id rank); this one has 2."),
        ("1 12 1\n1 3 2 9\n", "a.tsv, line 2: a line of this run has 3 fields (query_id doc_id rank); this one has 4."),
        ("1 12 1 9\n1 3 2\n", "a.tsv, line 2: a line of this run has 4 fields (query_id doc_id rank score); this one"),
        ("1 12 1\n1 3 2.5\n", "a.tsv, line 2: the rank (field 3) must be an integer; got '2.5'."),
        ("1 12 1 9\n1 3 x 9\n", "a.tsv, line 2: the rank (field 3) must be an integer; got 'x'."),
        ("1 12 1 9\n1 3 2 nan\n", "a.tsv, line 2: the score (field 4) must be a number; got 'nan'."),
        ("1 12 1\n1 3\0 2\n", "a.tsv, line 2: a NUL byte; is this a binary file?"),
        ("# nothing\n", "a.tsv: the file is empty: no line holds data."),
    ],
)
def test_a_wrong_line_of_a_ranking_is_an_error(write: Write, reader: Reader, text: str, said: str) -> None:
    assert message(reader, write(text, "a.tsv"), format="msmarco").startswith(said)


@qrels_readers
def test_a_wrong_line_of_relevant_passages_is_an_error(write: Write, reader: Reader) -> None:
    assert message(reader, write("1 12\n1 0 3 1\n", "a.tsv"), format="msmarco") == (
        "a.tsv, line 2: a line of these qrels has 2 fields (query_id doc_id), or 4 in all lines (TREC's); "
        "this one has 4.\n    '1 0 3 1'"
    )


def test_a_late_wrong_line_is_never_scanned_over(write: Write) -> None:
    path = write("1 12 1\n" * 5000 + "1 12 x\n", "a.tsv")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"a\.tsv, line 5001: wanted query_id doc_id rank; "):
        scan_run(path, format="msmarco").select("doc_id").collect()


@run_readers
@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a"])
def test_a_run_that_tells_no_format_is_an_error_that_says_how_to_tell(write: Write, reader: Reader, name: str) -> None:
    assert message(reader, write("# a comment\n1\t12\t1\n", name)) == (
        f"{name}, line 2: neither the name nor the first line tells the format; tried trec, csv, tsv, json. Give it: "
        "format='msmarco' for lines of query_id doc_id rank, and perhaps a score; all are 'trec', 'msmarco', "
        "'parquet', 'ipc', 'csv', 'tsv', 'ndjson', 'json'.\n    '1\\t12\\t1'"
    )


@qrels_readers
def test_judgments_that_tell_no_format_are_an_error_that_says_how_to_tell(write: Write, reader: Reader) -> None:
    assert message(reader, write("1 12\n", "a.txt")) == (
        "a.txt, line 1: neither the name nor the first line tells the format; tried trec, letor, csv, tsv, beir, "
        "json. Give it: format='msmarco' for lines of query_id doc_id, of grade 1, or TREC's fields; all are 'trec', "
        "'subtopics', 'judges', 'preferences', 'sample_eval', 'prels', 'msmarco', 'letor', 'parquet', 'ipc', 'csv', "
        "'tsv', 'beir', 'ndjson', 'json'.\n"
        "    '1 12'"
    )


def test_a_table_is_known_by_its_first_line(write: Write) -> None:
    assert read_run(write("qid,docno,score\nq,d,1\n", "a.txt")).rows() == [("q", "d", 1.0)]
    assert read_run(write("qid\tdocno\tscore\nq\td\t1\n", "a")).rows() == [("q", "d", 1.0)]
    assert read_qrels(write("query-id\tcorpus-id\tscore\nq\td\t1\n", "a.txt")).rows() == [("q", "d", 1)]
