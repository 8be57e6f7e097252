"""Dicts, records and collections: what has an order is a ranking, and what is not a table says how to make one."""

import numpy as np
import polars as pl
import pytest
from messages import message_of

import polars_ir as ir

QRELS = {"q": ["b"]}


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_is_no_ranking(kind):
    assert message_of(lambda: ir.evaluate({"q": kind("ab")}, QRELS, "RR")) == (
        f"run['q'] is a {kind.__name__}, which has no order, and a ranking is one. Give a list, best first, or a score "
        "for each document: {query: {doc: score}}."
    )


def test_keys_of_a_dict_are_a_ranking_and_their_union_with_others_is_none():
    keys = {"a": 1, "b": 2}.keys()
    assert ir.evaluate({"q": keys}, QRELS, "RR").item(0, 1) == 0.5
    with pytest.raises(ir.IRError, match=r"run\['q'\] is a set, which has no order"):
        ir.evaluate({"q": keys | {"c"}}, QRELS, "RR")


def test_a_set_in_one_of_several_systems_is_no_ranking():
    with pytest.raises(ir.IRError, match="has no order"):
        ir.evaluate({"s": {"q": {"a", "b"}}}, QRELS, "RR")


def test_a_list_of_records_is_a_table():
    run = [{"query_id": "q", "doc_id": "a", "score": 2}, {"query_id": "q", "doc_id": "b", "score": 1.5}]
    assert ir.evaluate(run, [{"qid": "q", "docno": "b", "label": 1}], "RR").rows() == [("q", 0.5)]


@pytest.mark.parametrize(
    "documents", [[("a", 2.0), ("b", 1.0)], [{"doc_id": "a", "score": 2.0}, {"doc_id": "b", "score": 1.0}]]
)
def test_documents_that_are_no_ids_are_an_error_whose_advice_runs(documents):
    run = {"q": documents}
    with pytest.raises(ir.IRError, match=r"run\['q'\] must hold ids of documents; its first is") as error:
        ir.evaluate(run, QRELS, "RR")
    run = eval(str(error.value).partition("Write it as: ")[2].removesuffix("."))  # noqa: S307  # what the message says
    assert ir.evaluate(run, QRELS, "RR").rows() == [("q", 0.5)]


def test_records_of_another_shape_are_an_error():
    with pytest.raises(ir.IRError, match="run must be rows with the fields query_id, doc_id, score; got 5"):
        ir.evaluate([{"query_id": "q", "doc_id": "a", "score": 2}, 5], QRELS, "RR")


@pytest.mark.parametrize("value", ["\ud800", b"\xff"])
def test_ids_that_are_no_text_are_an_error(value):
    with pytest.raises(ir.IRError):
        ir.evaluate({"q": {value: 1.0}}, QRELS, "RR")


def test_integers_beyond_64_bits_are_scores():
    assert ir.evaluate({"q": {"a": 2**64, "b": 2**64 + 1}}, QRELS, "RR").item(0, 1) == 1.0


def test_a_name_of_10_mb_is_cut_in_the_middle():
    message = message_of(lambda: ir.evaluate({"q" * 10_000_000: 5}, QRELS, "RR"))
    assert len(message) < 5_000
    assert message.startswith("run['qqq")
    assert "characters ...] qqq" in message
    assert message.endswith("got int: 5.")


@pytest.mark.whole("thousands of columns")
def test_of_very_many_columns_the_first_are_named():
    wide = pl.DataFrame({f"c{number}": [1] for number in range(20_000)})
    with pytest.raises(
        ir.IRError, match=r"'c29' and 19,970 others\. Rename the column that is meant to 'query_id'"
    ) as error:
        ir.evaluate(wide, QRELS, "RR")
    assert len(str(error.value)) < 1_000


def test_an_empty_dict_says_nothing_of_the_types_of_ids():
    runs = {"a": {}, "b": {1: {5: 1.0}}, "c": {}}
    with pytest.warns(ir.IRWarning, match="'a' and 'c'|runs? of"):
        found = ir.evaluate(runs, {1: {5: 1}}, "RR")
    assert found.rows() == [("a", 1, 0.0), ("b", 1, 1.0), ("c", 1, 0.0)]


def test_arrays_are_rankings_and_relevant_documents():
    run = {"q": np.array(["a", "b"]), "r": np.array([])}
    qrels = {"q": np.array(["b"]), "r": np.array([])}
    assert ir.evaluate(run, qrels, "RR").rows() == [("q", 0.5), ("r", 0.0)]


class Answer:
    """An answer of Elasticsearch's client, or of Qdrant's, or a point of the latter."""

    def __init__(self, **fields: object) -> None:
        vars(self).update(fields)


HITS = [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]
POINTS = [Answer(id="a", score=2.0, payload={}), Answer(id="b", score=1.0, payload={})]
ANSWERS = {
    "Elasticsearch": {"took": 1, "hits": {"total": 2, "hits": HITS}},
    "hits first": {"hits": {"hits": HITS}},
    "the client's object": Answer(body={"hits": {"hits": HITS}}),
    "a list of hits": HITS,
    "Qdrant": Answer(points=POINTS),
    "a list of points": POINTS,
    "Qdrant's JSON": {"result": {"points": [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}]}},
    "Qdrant's JSON of a search": {"result": [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}]},
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_answers_of_search_engines_are_runs(answer):
    wanted = ir.evaluate({"q": {"a": 2.0, "b": 1.0}}, {"q": ["b"]}, "RR")
    assert ir.evaluate({"q": answer}, {"q": ["b"]}, "RR").equals(wanted)
    assert ir.evaluate({"x": {"q": answer}}, {"q": ["b"]}, "RR").drop("run").equals(wanted)


def test_an_answer_without_hits_is_an_empty_ranking_and_one_without_scores_an_error():
    none = {"hits": {"hits": []}}
    assert ir.evaluate({"q": none, "r": {"a": 1.0}}, {"q": ["b"], "r": ["a"]}, "RR").rows() == [("q", 0.0), ("r", 1.0)]
    with pytest.raises(ir.IRError, match=r"run\['q'\] has hits without a score, as a sorted search has"):
        ir.evaluate({"q": [{"_id": "a", "_score": None}]}, {"q": ["b"]}, "RR")


def test_hits_of_a_sorted_search_are_ranked_by_their_places():
    hits = [{"_id": "b", "_score": None, "sort": [3]}, {"_id": "a", "_score": None, "sort": [5]}]
    assert ir.evaluate({"q": {"hits": {"hits": hits}}, "r": hits}, {"q": ["a"], "r": ["b"]}, "RR").rows() == [
        ("q", 0.5),
        ("r", 1.0),
    ]
