"""LETOR and SVM-light: the grades without the features."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from reading import Reader, Write, message

import polars_ir as ir
from polars_ir.errors import OptionError
from polars_ir.files import read_qrels, read_run, scan_qrels

readers = pytest.mark.parametrize("reader", [read_qrels, scan_qrels])

LETOR4 = (
    "2 qid:10032 1:0.056537 2:0.000000 46:0.076923 #docid = GX029-35-5894638 inc = 0.0119881192468859 prob = 0.139842\n"
    "0 qid:10032 1:0.279152 2:0.000000 46:1.000000 #docid = GX030-77-6315042 inc = 1 prob = 0.341364\n"
    "1 qid:10035 1:0.130742 2:0.000000 46:0.000000 #docid = GX140-98-13566007 inc = 1 prob = 0.0701303\n"
)
MSLR = "2 qid:1 1:3 2:0 136:0 \n1 qid:1 1:3 2:2 136:0 \n0 qid:2 1:3 2:0 136:0 \n3 qid:1 1:1 2:0 136:0 \n"


@readers
@pytest.mark.parametrize("options", [{}, {"format": "letor"}])
def test_documents_are_those_of_the_comments(write: Write, reader: Reader, options: dict[str, Any]) -> None:
    frame = reader(write(LETOR4, "test.txt"), **options).lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert frame.rows() == [
        ("10032", "GX029-35-5894638", 2),
        ("10032", "GX030-77-6315042", 0),
        ("10035", "GX140-98-13566007", 1),
    ]


@readers
@pytest.mark.parametrize("comment", ["# docno = GX1", "#docno=GX1", "# DOCID: GX1 inc = 1", "# x=1 doc_id = GX1"])
def test_a_document_is_named_in_several_ways(write: Write, reader: Reader, comment: str) -> None:
    assert reader(write(f"1 qid:1 1:0.5 {comment}\n", "a.txt")).lazy().collect().rows() == [("1", "GX1", 1)]


@readers
def test_documents_without_name_are_numbered_in_their_query(write: Write, reader: Reader) -> None:
    rows = [("1", "1", 2), ("1", "2", 1), ("2", "1", 0), ("1", "3", 3)]
    assert reader(write(MSLR, "test.txt")).lazy().collect().rows() == rows
    odd = "# 1 comment\n\n" + MSLR.replace("\n", "\r\n# 1 comment qid:1\n")
    assert reader(write(odd, "odd.txt")).lazy().collect().rows() == rows


def test_a_lazy_filter_does_not_change_the_numbers(write: Write) -> None:
    lazy = scan_qrels(write(MSLR, "test.txt"))
    assert lazy.filter(relevance=3).collect().rows() == [("1", "3", 3)]
    assert_frame_equal(lazy.collect(engine="streaming"), lazy.collect(engine="in-memory"))


def test_fractions_are_grades(write: Write) -> None:
    assert read_qrels(write("0.5 qid:1 1:1\n1 qid:1 1:1\n", "a.txt"))["relevance"].to_list() == [0.5, 1.0]


def test_predictions_beside_the_judgments_make_a_run(write: Write) -> None:
    frame = read_qrels(write(MSLR, "test.txt")).with_columns(score=pl.Series([0.1, 0.9, 0.5, 0.3]))
    assert sorted(ir.evaluate(frame, frame, ["RR(rel=2)"]).rows()) == [("1", 0.5), ("2", 0.0)]


def test_scikit_learn_reads_the_same_grades_and_queries(write: Write) -> None:
    sklearn = pytest.importorskip("sklearn.datasets")
    buffer = io.BytesIO()
    generator = np.random.default_rng(1)
    grades, queries = generator.integers(0, 4, 50), np.sort(generator.integers(1, 6, 50))
    sklearn.dump_svmlight_file(generator.random((50, 3)), grades, buffer, query_id=queries, comment="made by hand")
    frame = read_qrels(write(buffer.getvalue(), "a.svm"), format="letor")
    assert frame["relevance"].to_list() == grades.tolist()
    assert frame["query_id"].to_list() == list(map(str, queries))
    assert frame.select("query_id", "doc_id").is_unique().all()


def test_a_very_long_line_is_read_whole(write: Write) -> None:
    features = " ".join(f"{i}:0.5" for i in range(50_000))
    assert read_qrels(write(f"1 qid:1 {features} # docid = A\n", "a.txt")).rows() == [("1", "A", 1)]


@readers
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "x qid:1 1:1\n",
            (
                "a.txt, line 1: the grade (field 1) must be a number; got 'x'. "
                "Words have numbers by grades={word: number}.\n    'x qid:1 1:1'"
            ),
        ),
        ("1 qid:1 1:1\n1 1:1\n", "a.txt, line 2: a line begins with a grade and qid:query_id.\n    '1 1:1'"),
        ("1 qid:1 1:1\n2\n", "a.txt, line 2: a line begins with a grade and qid:query_id.\n    '2'"),
        (
            "1 qid:1 # docid = A\n2 qid:1\n",
            "a.txt, line 2: the first line has a docid in its comment; this one differs.\n    '2 qid:1'",
        ),
        (
            "1 qid:1\n2 qid:1 # docid = A\n",
            "a.txt, line 2: the first line has no docid in its comment; this one differs.\n    '2 qid:1 # docid = A'",
        ),
        ("1 qid: 1:1\n", "a.txt, line 1: a line begins with a grade and qid:query_id.\n    '1 qid: 1:1'"),
    ],
)
def test_a_wrong_line_is_an_error(write: Write, reader: Reader, text: str, said: str) -> None:
    assert message(reader, write(text, "a.txt")) == said


def test_a_late_wrong_line_is_never_scanned_over(write: Write) -> None:
    lazy = scan_qrels(write("1 qid:1 1:1\n" * 5000 + "2\n", "a.txt"))
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"a\.txt, line 5001: wanted grade qid:query_id"):
        lazy.select("relevance").collect()


def test_letor_is_no_run(write: Write) -> None:
    with pytest.raises(OptionError, match="got 'letor'"):
        read_run(write(MSLR, "a.txt"), format="letor")


def test_a_comment_may_follow_the_query_at_once(write: Write) -> None:
    assert read_qrels(write("1 qid:7# docid = a\n"), format="letor").rows() == [("7", "a", 1)]


def test_a_scan_says_that_a_late_line_lacks_its_document(write: Write) -> None:
    late = scan_qrels(write("1 qid:1 # docid = a\n" * 3000 + "1 qid:1 1:1\n"), format="letor")
    with pytest.raises(
        pl.exceptions.InvalidOperationError, match="line 3001: wanted grade qid:query_id # docid = doc_id"
    ):
        late.collect()


COMMENTS = {
    "#\t7555\tboots": "7555",
    "# 7555": "7555",
    "#docA": "docA",
    "# docA some title": "docA",
    "# id=docA query=x": "docA",
    "# document: docA": "docA",
    "# docid docA": "docA",
    "# docid = docA": "docA",
}


@readers
@pytest.mark.parametrize("comment", COMMENTS)
@pytest.mark.parametrize("features", ["", "1:0.5 2:3 "])
def test_the_comment_names_the_document(reader, comment, features, write: Write) -> None:
    text = f"4\tqid:1 {features}{comment}\n0\tqid:1 {features}{comment.replace(COMMENTS[comment], 'other')}\n"
    frame = reader(write(text, "ltr.txt")).lazy().collect()
    assert frame.rows() == [("1", COMMENTS[comment], 4), ("1", "other", 0)]


@pytest.mark.parametrize("comment", ["# inc = 1 prob = 0.3", "# query: boots"])
def test_a_comment_without_a_document_is_an_error(comment, write: Write) -> None:
    with pytest.raises(ir.IRError, match="the comment names no document; write # docid = doc_id"):
        read_qrels(write(f"4 qid:1 {comment}\n", "ltr.txt"))


@readers
@pytest.mark.parametrize("comment", ["# doc {}", "# the query text {}"])
def test_a_first_word_that_recurs_in_a_query_names_no_document(reader, comment, write: Write) -> None:
    text = "".join(f"{grade} qid:{query} {comment.format(grade)}\n" for query in (1, 2) for grade in (0, 1))
    word = comment.split()[1]
    with pytest.raises(
        ir.IRError, match=f"line 1: several lines of this query .* begin with '{word}', .*docid = doc_id"
    ):
        reader(write(text, "ltr.txt"))


def test_a_scan_says_that_a_late_first_word_recurs(write: Write) -> None:
    lines = "".join(f"1 qid:{query} # d\n" for query in range(3000))
    late = scan_qrels(write(lines + "1 qid:2999 # d\n", "ltr.txt"))
    with pytest.raises(pl.exceptions.PolarsError, match=r"ltr\.txt, line 3000"):
        late.collect()
