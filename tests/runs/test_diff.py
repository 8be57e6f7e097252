"""`diff`: the queries and documents by which two runs differ."""

from pathlib import Path

import polars as pl
import pytest
from generated import collection
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.runs.diff import diff
from polars_ir.runs.explain import explain

ROBUST03 = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"

A = {"q": ["d1", "d2"], "r": ["d5"], "s": ["d6", "d7"]}
B = {"q": ["d3", "d1"], "r": ["d5"], "s": ["d7", "d6"]}
QRELS = {"q": {"d1": 1, "d2": 1}, "r": {"d5": 1}, "s": {"d7": 1, "d6": 0}}


def two_runs(seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """A run, another one of the same documents in another order, and judgments."""
    run, qrels = collection(seed)
    return run, run.with_columns(score=pl.col("score").reverse()).filter(pl.col("query_id") != "q0"), qrels


def test_a_difference_by_hand():
    # P@2: q has 2/2 and 1/2, the others differ in nothing. RR: s has 1/2 and 1, q 1 and 1/2.
    found = diff(A, B, QRELS, "P@2")
    assert found.rows() == [("q", 0.5, 1.0, 0.5, "d2", 1, 2, None, 0.5, 0.0, 0.5, "b")]
    assert found.columns == [
        "query_id",
        "query_difference",
        "value_a",
        "value_b",
        "doc_id",
        "relevance",
        "rank_a",
        "rank_b",
        "contribution_a",
        "contribution_b",
        "difference",
        "lost_by",
    ]
    found = diff(A, B, QRELS, "RR")
    assert found.select("query_id", "query_difference", "doc_id", "rank_a", "rank_b", "difference").rows() == [
        ("q", 0.5, "d1", 1, 2, 0.5),
        ("s", -0.5, "d7", 2, 1, -0.5),
    ]


def test_a_document_is_lost_by_the_run_that_has_it_below_the_cutoff_only():
    a, b = {"q": ["d1", "x", "d2"]}, {"q": ["x", "d2", "d1"]}
    found = diff(a, b, {"q": {"d1": 1, "d2": 1, "x": 0}}, "nDCG@2")
    assert dict(found.select("doc_id", "lost_by").rows()) == {"d1": "b", "d2": "a"}
    assert diff(a, b, {"q": {"d1": 1, "d2": 1, "x": 0}}, "nDCG")["lost_by"].to_list() == [None, None]


def test_texts_stand_behind_their_ids():
    documents, queries = {"d2": "the second", "d9": "another"}, pl.DataFrame({"qid": ["q"], "text": ["what?"]})
    found = diff(A, B, QRELS, "P@2", documents=documents, queries=queries)
    assert found.columns[:2] == ["query_id", "query"]
    assert found.columns[5:7] == ["doc_id", "text"]
    assert found.select("query", "text").rows() == [("what?", "the second")]


def test_the_differences_of_a_query_add_up():
    a, b, qrels = two_runs(1)
    for measure in ("nDCG@10", "AP", "bpref"):
        found = diff(a, b, qrels, measure, n_queries=None)
        sums = found.group_by("query_id").agg(pl.col("difference").sum(), pl.col("query_difference").first())
        assert sums.select((pl.col("difference") - pl.col("query_difference")).abs().max()).item() < 1e-12
        of_a, of_b = (ir.evaluate(run, qrels, measure) for run in (a, b))
        wanted = of_a.join(of_b, on="query_id").select("query_id", value_a=measure, value_b=f"{measure}_right")
        shown = found.select("query_id", "value_a", "value_b").unique().sort("query_id")
        assert_frame_equal(shown, wanted.filter((pl.col("value_a") - pl.col("value_b")).abs() > 1e-14).sort("query_id"))


def test_contributions_are_those_of_explain():
    a, b, qrels = two_runs(2)
    found = diff(a, b, qrels, "AP", n_queries=3)
    for side, run in {"a": a, "b": b}.items():
        alone = explain(run, qrels, "AP", query_id=found["query_id"].unique())
        both = found.join(alone, on=["query_id", "doc_id"])
        assert both[f"contribution_{side}"].to_list() == both["contribution"].to_list() != []


def test_the_queries_that_differ_most_come_first_and_in_them_the_documents():
    a, b, qrels = two_runs(3)
    everything = diff(a, b, qrels, "nDCG", n_queries=None)
    sizes = everything.select("query_id", pl.col("query_difference").abs()).unique(maintain_order=True)
    assert sizes["query_difference"].is_sorted(descending=True)
    for (_,), documents in everything.group_by("query_id", maintain_order=True):
        assert documents["difference"].abs().is_sorted(descending=True)
    first = sizes["query_id"].head(2)
    assert_frame_equal(
        diff(a, b, qrels, "nDCG", n_queries=2), everything.filter(pl.col("query_id").is_in(first.implode()))
    )


def test_runs_that_do_not_differ_have_no_row():
    found = diff(A, A, QRELS, "AP")
    assert found.shape == (0, 12)
    assert found.schema == diff(A, B, QRELS, "RR").schema
    with pytest.warns(ir.IRWarning, match="hold no judgments"):
        assert diff(A, B, {}, "RR").schema == found.schema


def test_a_column_of_one_system_is_as_none():
    a, b = (
        pl.DataFrame({"run": n, "qid": ["q", "q"], "docno": d, "score": [2, 1]})
        for n, d in (("a", ["d1", "d2"]), ("b", ["d2", "d3"]))
    )
    found = diff(a, b, QRELS, "RR")
    assert found.height == 0
    assert diff(a, b, QRELS, "P@2").select("qid", "doc_id", "difference").rows() == [("q", "d1", 0.5)]


def test_either_run_may_be_a_plan():
    a = pl.DataFrame({"query_id": "q", "doc_id": ["d1", "d2"], "score": [2, 1]})
    b = pl.DataFrame({"query_id": "q", "doc_id": ["d3", "d1"], "score": [2, 1]})
    found = diff(a, b, QRELS, "P@2")
    for others in ((a.lazy(), b), (a, b.lazy()), (a.lazy(), b.lazy())):
        assert_frame_equal(diff(*others, QRELS, "P@2").lazy().collect(), found)


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (({"x": A, "y": B}, A), {}, "run_a must be one table here; got a dict of several: 'x', 'y'"),
        ((A, B), {"n_queries": 0}, "n_queries must be a whole number, 1 or more, or None for all; got 0"),
        ((A, {1: ["d1"]}), {}, "must be String, as in the first run"),
    ],
)
def test_what_can_not_be_compared_is_an_error(runs, options, message):
    assert message in message_of(lambda: diff(*runs, QRELS, "RR", **options))


def test_a_run_of_several_systems_is_an_error():
    run = pl.DataFrame({"tag": ["x", "y"], "query_id": "q", "doc_id": "d1", "score": 1})
    with pytest.raises(ir.IRError, match=r"run_b must be of one system; its column 'tag' has 2: 'x', 'y'. Take one"):
        diff(A, run, QRELS, "RR")
    for named in ((diff, "RR"), (ir.side_by_side, "RR", "q")):
        function, *others = named
        with pytest.raises(ir.IRError, match=r"systems must be two, .*; got 'y' alone\. Name both, as 'y', 'x'"):
            function(run, QRELS, *others, "y")
    with pytest.raises(ir.IRError, match="'yaap' is not a sum over the documents"):
        diff(A, B, QRELS, "yaap")


def test_a_measure_that_is_a_text_or_missing_judgments_are_an_error():
    with pytest.raises(ir.IRError, match="must be a number; it is String"):
        diff(A, B, QRELS, "relstring")
    with pytest.raises(ir.IRError, match="diff needs qrels"):
        diff(A, B, None, "RR")


@pytest.mark.skipif(not ROBUST03.exists(), reason="the real data are not here")
def test_real_runs_with_heavy_ties():
    qrels = ir.read_qrels(ROBUST03 / "qrels.txt.gz")
    a, b = (ir.read_run(ROBUST03 / f"{name}.run.gz") for name in ("pircRBa1", "MU03rob01"))
    found = diff(a, b, qrels, "nDCG@10")
    assert found["query_id"].n_unique() == 10
    sums = found.group_by("query_id").agg(pl.col("difference").sum(), pl.col("query_difference").first())
    assert sums.select((pl.col("difference") - pl.col("query_difference")).abs().max()).item() < 1e-12


def test_two_systems_of_one_run_are_named_last():
    a, b, qrels = two_runs(2)
    both = pl.concat([a.with_columns(run=pl.lit("a")), b.with_columns(run=pl.lit("b"))])
    wanted = diff(a, b, qrels, "nDCG@10")
    assert wanted.height
    assert_frame_equal(both.ir.diff(qrels, "nDCG@10", "a", "b"), wanted)
    assert_frame_equal(both.lazy().ir.diff(qrels, "nDCG@10", "a", "b").collect(), wanted)
    assert_frame_equal(diff({"b": b, "a": a}, qrels, "nDCG@10", "a", "b", n_queries=10), wanted)


@pytest.mark.parametrize(
    ("run", "names", "words"),
    [
        ({"old": A, "new": B}, ("old", "now"), "systems names 'now', which is not one of the systems: 'old', 'new'"),
        (
            {"old": A, "new": B},
            ("old", "new", "x"),
            "systems must be two, after the other arguments; got 'old', 'new', 'x'",
        ),
        (A, ("old", "new"), "run_a has no column of systems; 'old', 'new' must be two of them"),
    ],
)
def test_wrong_names_are_told(run, names, words):
    assert words in message_of(lambda: diff(run, QRELS, "P@2", *names))
