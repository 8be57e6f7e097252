"""Elasticsearch and OpenSearch: responses that say which query they answer, and what to do with the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from reading import Reader, Write, message, qrels_readers, run_readers

import polars_ir as ir
from polars_ir.errors import FileError, IRWarning
from polars_ir.files import read_qrels, read_run


def hit(document: Any, score: Any) -> dict[str, Any]:
    return {"_index": "books", "_id": document, "_score": score, "_source": {"price": 3, "tags": ["a"]}}


def search(*hits: Any) -> dict[str, Any]:
    total = {"value": len(hits), "relation": "eq"}
    return {"took": 3, "timed_out": False, "hits": {"total": total, "max_score": 1.0, "hits": list(hits)}}


# The shapes of the documentation of `_rank_eval`.
RESPONSE = {
    "metric_score": 0.4,
    "details": {
        "q1": {
            "metric_score": 0.6,
            "unrated_docs": [{"_index": "books", "_id": "c"}],
            "hits": [{"hit": hit("a", 2.5), "rating": 1}, {"hit": hit("c", 1), "rating": None}],
            "metric_details": {"precision": {"relevant_docs_retrieved": 1, "docs_retrieved": 1}},
        },
        "q2": {"metric_score": 0, "unrated_docs": [], "hits": []},
    },
    "failures": {},
}
REQUEST = {
    "requests": [
        {
            "id": "q1",
            "request": {"query": {"match": {"text": "berlin"}}},
            "ratings": [{"_index": "books", "_id": "a", "rating": 2}, {"_index": "books", "_id": "z", "rating": 0}],
        },
        {"id": "q2", "request": {"query": {"match": {"text": "x"}}}, "ratings": []},
    ],
    "metric": {"precision": {"k": 20, "relevant_rating_threshold": 1}},
}


@pytest.fixture
def save(write: Write) -> Callable[..., Path]:
    return lambda content, name="a.json": write(json.dumps(content), name)


@run_readers
def test_the_hits_of_a_rank_eval_response_are_a_run(save: Write, reader: Reader) -> None:
    frame = reader(save(RESPONSE)).lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert frame.rows() == [("q1", "a", 2.5), ("q1", "c", 1.0)]


@qrels_readers
def test_the_ratings_of_a_request_are_judgments(save: Write, reader: Reader) -> None:
    frame = reader(save(REQUEST)).lazy().collect()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64}
    assert frame.rows() == [("q1", "a", 2), ("q1", "z", 0), ("q2", None, None)]


@qrels_readers
def test_the_ratings_of_a_response_are_judgments_with_a_warning(save: Write, reader: Reader) -> None:
    with pytest.warns(IRWarning, match="has only the ratings of documents that were found") as caught:
        frame = reader(save(RESPONSE)).lazy().collect()
    assert frame.rows() == [("q1", "a", 1), ("q2", None, None)]
    assert caught[0].filename == __file__


@run_readers
def test_search_responses_under_their_queries_are_a_run(save: Write, reader: Reader) -> None:
    path = save({"q1": search(hit("a", 1.5), hit("b", 1)), "q2": search()})
    assert reader(path).lazy().collect().rows() == [("q1", "a", 1.5), ("q1", "b", 1.0)]


@pytest.mark.parametrize(
    ("scores", "ranked"),
    [((1.0, 5.0), (2.0, 1.0)), ((5.0, 5.0), (2.0, 1.0)), ((5.0, 1.0), (5.0, 1.0)), ((None, None), (2.0, 1.0))],
)
def test_a_sorted_search_ranks_by_place_unless_its_scores_agree(scores, ranked, save: Write) -> None:
    hits = [
        {**hit(document, score), "sort": [place]}
        for place, (document, score) in enumerate(zip("ba", scores, strict=True))
    ]
    answer = {"q1": search(*hits)}
    assert read_run(save(answer)).rows() == [("q1", "b", ranked[0]), ("q1", "a", ranked[1])]
    assert ir.evaluate(answer, {"q1": ["b"]}, "RR")["RR"].to_list() == [1.0]


def test_responses_are_known_by_their_content(save: Write) -> None:
    assert read_run(save(RESPONSE, "response")).height == 2


def test_precision_is_that_of_the_response(save: Write) -> None:
    figures = ir.evaluate(read_run(save(RESPONSE)), read_qrels(save(REQUEST, "b.json")), ["P@2"])
    assert sorted(figures.rows()) == [("q1", 0.5), ("q2", 0.0)]


def test_queries_may_have_the_names_of_a_response(save: Write) -> None:
    names = ["details", "hits", "requests", "responses"]
    assert read_run(save({name: {"hits": 1, "d": 2} for name in names})).height == 8
    assert read_run(save({name: {"d": 2} for name in names})).rows() == [(name, "d", 2.0) for name in names]


NAMELESS = (
    "a.json: search responses do not say which queries they answer. Save them under their ids: "
    "json.dump(dict(zip(query_ids, responses)), file)."
)
AN_ID = "every hit and rating must be an object with an _id, which is a text; got "


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (search(hit("a", 1)), NAMELESS),
        ({"took": 1, "responses": [search(hit("a", 1))]}, NAMELESS),
        (REQUEST, "a.json: this request has ratings only; the response of _rank_eval has the hits."),
        (
            {"q": search(hit("a", None), hit("b", 1))},
            (
                "a.json: query 'q', document 'a': the hit has no score, as in a search that is sorted. "
                "Search with 'track_scores': true."
            ),
        ),
        (
            {"q": search(hit("a", float("inf")))},
            "a.json: query 'q', document 'a': a score must be a finite number; got Infinity.",
        ),
        ({"q": search(hit("a", "1"))}, "a.json: query 'q', document 'a': a score must be a finite number; got \"1\"."),
        ({"q": search({"x": 1})}, f"a.json: query 'q': {AN_ID}an object of numbers."),
        ({"q": search(hit(7, 1))}, f"a.json: query 'q': {AN_ID}7."),
        ({"q": search("a")}, f"a.json: query 'q': {AN_ID}\"a\"."),
        (
            {"p": {"error": "x", "status": 400}, "q": search()},
            "a.json: query 'p': wanted a search response with hits; got an object.",
        ),
        ({"details": {"q": {"hits": [{"rating": 1}]}}}, f"a.json: query 'q': {AN_ID}null."),
        ({"details": {}}, "a.json: the file is empty: no query has documents."),
    ],
)
def test_what_is_no_run_says_what_to_do(save: Write, content: Any, said: str) -> None:
    assert message(read_run, save(content)) == said


AN_OBJECT = "a.json: every request must have an id, which is a text, and a list of ratings."


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"q": search()}, "a.json: a search response has no ratings, but hits; use read_run."),
        ({"requests": [5]}, AN_OBJECT),
        ({"requests": [{"ratings": []}]}, AN_OBJECT),
        ({"requests": [{"id": "q"}]}, AN_OBJECT),
        ({"requests": [{"id": 1, "ratings": []}]}, AN_OBJECT),
        (
            {"requests": [{"id": "q", "ratings": [{"_id": "a"}]}]},
            "a.json: query 'q', document 'a': a rating must be a finite number; got null.",
        ),
        ({"requests": []}, "a.json: the file is empty: no query has documents."),
    ],
)
def test_what_are_no_judgments_says_what_to_do(save: Write, content: Any, said: str) -> None:
    assert message(read_qrels, save(content)) == said


def test_a_hit_without_document_has_no_rating(save: Write) -> None:
    content = {"details": {"q": {"hits": [{"rating": 1}]}}}
    with pytest.warns(IRWarning):
        assert message(read_qrels, save(content)) == f"a.json: query 'q': {AN_ID}null."


@pytest.mark.parametrize(
    "content",
    [
        {**RESPONSE, "failures": {"q9": {"error": "timeout"}}},
        {"q1": search(hit("a", 1)), "q9": {**search(hit("a", 1)), "timed_out": True}},
        {"q1": search(hit("a", 1)), "q9": {**search(hit("a", 1)), "_shards": {"total": 5, "failed": 4}}},
    ],
)
def test_queries_that_failed_are_told(save: Write, content: Any) -> None:
    with pytest.raises(
        FileError, match=r"queries that failed, timed out or miss shards: 1, such as 'q9'\. Search for them again\.$"
    ):
        read_run(save(content))


def test_hits_of_a_sorted_search_are_ranked_by_place(write: Write) -> None:
    content = {"q": search(*({**hit(document, None), "sort": [price]} for document, price in (("b", 1), ("a", 2))))}
    file = write(json.dumps(content), "a.json")
    assert read_run(file).rows() == [("q", "b", 2.0), ("q", "a", 1.0)]
    assert ir.evaluate(read_run(file), {"q": ["a"]}, "RR").rows() == ir.evaluate(content, {"q": ["a"]}, "RR").rows()
