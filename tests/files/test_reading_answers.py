"""Judgments and results as search teams have them: lists of ids, Solr, Vespa, Workbench, RRE, RecBole and Quepid."""

import json

import pytest

import polars_ir as ir
from polars_ir.errors import FileError
from polars_ir.files import read_qrels, read_run, scan_run

RUNS = {
    "lists of ids": ({"q1": ["a", "b"], "q2": []}, [("q1", "a", 2.0), ("q1", "b", 1.0)]),
    "Solr": (
        {"q1": {"responseHeader": {"status": 0}, "response": {"numFound": 2, "docs": [{"id": 1, "score": 2.0}]}}},
        [("q1", "1", 2.0)],
    ),
    "Solr without scores": (
        {"q1": {"response": {"docs": [{"id": "b"}, {"id": "a"}]}}},
        [("q1", "b", 2), ("q1", "a", 1)],
    ),
    "Vespa": (
        {"q1": {"root": {"id": "toplevel", "relevance": 1.0, "children": [{"id": "id:n:d::7", "relevance": 0.5}]}}},
        [("q1", "id:n:d::7", 0.5)],
    ),
    "Vespa with no hit": (
        {"q1": {"root": {"id": "toplevel", "children": [{"id": "x", "relevance": 1}]}}, "q2": {"root": {"id": "none"}}},
        [("q1", "x", 1.0)],
    ),
}
QRELS = {
    "lists of ids": ({"q1": ["a", "b"], "q2": []}, [("q1", "a", 1), ("q1", "b", 1), ("q2", None, None)]),
    "Rated Ranking Evaluator": (
        {"q1": {"3": ["193"], "1": ["2", "4"]}},
        [("q1", "193", 3), ("q1", "2", 1), ("q1", "4", 1)],
    ),
    "Search Relevance Workbench": (
        {"name": "j", "judgmentRatings": [{"query": "m l", "ratings": [{"docId": "B07", "rating": "1.0"}]}]},
        [("m l", "B07", 1.0)],
    ),
}


@pytest.mark.parametrize(("value", "rows"), RUNS.values(), ids=RUNS)
def test_results_are_a_run(value, rows, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(value), encoding="utf-8")
    assert read_run(tmp_path / "a.json").rows() == scan_run(tmp_path / "a.json").collect().rows() == rows


@pytest.mark.parametrize(("value", "rows"), QRELS.values(), ids=QRELS)
def test_judgments_are_qrels(value, rows, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(value), encoding="utf-8")
    assert read_qrels(tmp_path / "a.json").rows() == rows


@pytest.mark.parametrize(
    ("read", "value", "says"),
    [
        (read_run, {"q1": ["a"], "q2": {"d": "x"}}, "query 'q2' is of another shape than the first"),
        (read_run, {"q1": {"response": {"docs": [{"id": "a", "score": 1}, {"id": "b"}]}}}, "a score must be a number"),
        (read_run, {"q1": {"response": {"docs": [{"url": "a"}]}}}, "an id must be a text"),
        (
            read_qrels,
            {"judgmentRatings": [{"query": "m", "ratings": [{"docId": "B", "rating": "x"}]}]},
            "must be a number",
        ),
        (read_qrels, {"judgmentRatings": [{"query": "m", "ratings": [{"id": "B", "rating": "1"}]}]}, "an id must be"),
        (read_run, {"q1": []}, "the file is empty"),
    ],
)
def test_what_is_no_whole_one_is_refused(read, value, says, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(FileError, match=says):
        read(tmp_path / "a.json")


def test_types_in_the_header_of_recbole_are_no_part_of_a_name(tmp_path):
    (tmp_path / "a.inter").write_text(
        "user_id:token\titem_id:token\trating:float\ttimestamp:float\n007\tx\t4\t1\n", encoding="utf-8"
    )
    qrels = read_qrels(tmp_path / "a.inter")
    assert qrels.rows() == [("007", "x", 4, "1")]
    assert ir.evaluate({"007": ["y", "x"]}, qrels, "RR").rows() == [("007", 0.5)]


def test_a_snapshot_of_quepid_is_ranked_by_its_positions(tmp_path):
    (tmp_path / "a.csv").write_text(
        "Snapshot Name,Query Text,Doc ID,Doc Position\ns,q 1,b,1\ns,q 1,a,2\n", encoding="utf-8"
    )
    assert ir.evaluate(read_run(tmp_path / "a.csv"), {"q 1": ["a"]}, "RR").rows() == [("q 1", 0.5)]
