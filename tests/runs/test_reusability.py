"""Values of systems without the judgments that they alone contributed."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of

import polars_ir as ir
from polars_ir.runs.reusability import reusability

PYDOCS = ir.datasets.load("pydocs")
RUNS = {
    "a": {"q": ["d1", "d2"], "r": ["e1", "e2"]},
    "b": {"q": ["d1", "d3"], "r": ["e1", "e3"]},
    "c": {"q": ["d1", "d2", "d4"], "r": ["e2", "e1"]},
}
QRELS = {"q": {"d1": 1, "d2": 0, "d3": 1, "d4": 0}, "r": {"e1": 1, "e3": 1, "e9": 1}}


def row(found: pl.DataFrame, system: str) -> dict:
    return found.filter(run=system).row(0, named=True)


def test_judgments_that_a_system_alone_brought_are_taken_away():
    # Without b, d3 and e3 are not judged: its P@2 is (1/2 + 1/2) / 2 in place of 1.
    found = row(reusability(RUNS, QRELS, "P@2"), "b")
    assert (found["mean"], found["mean_without"], found["change"]) == (1.0, 0.5, -0.5)
    assert (found["n_judgments"], found["n_relevant"]) == (2, 2)
    assert (found["rank"], found["rank_without"], found["passed_by"]) == (1, 1, ["a", "c"])


def test_documents_that_nobody_has_stay_judged():
    # R of r: e1 of e1 and e9 without b's e3; in q d1 of d1.
    assert row(reusability(RUNS, QRELS, "R@2"), "b")["mean_without"] == (1 + 1 / 2) / 2


def test_judgments_that_are_taken_away_change_the_others_too():
    # R@2 of a is (1/2 + 1/3) / 2 with all judgments, and as b's without those of b: it profits.
    found = row(reusability(RUNS, QRELS, "R@2"), "b")
    assert found["passed_by"] == ["a", "c"]


def test_each_system_is_what_evaluate_says_of_fewer_judgments():
    found = reusability(PYDOCS.runs, PYDOCS.qrels, "nDCG@10", depth=10)
    run = PYDOCS.runs.with_columns(place=pl.col("score").rank("ordinal", descending=True).over("run", "query_id"))
    for system in ("bm25", "tfidf", "chargrams"):
        # Ties of scores at place 10 aside, of which pydocs has none there.
        top = run.filter(pl.col("place") <= 10)
        others = top.filter(pl.col("run") != system)
        only = top.filter(run=system).join(others, on=["query_id", "doc_id"], how="anti")
        kept = PYDOCS.qrels.join(only, on=["query_id", "doc_id"], how="anti")
        lost = PYDOCS.qrels.height - kept.height
        wanted = ir.mean(ir.evaluate(PYDOCS.runs, kept, "nDCG@10"))
        assert row(found, system)["n_judgments"] == lost
        # Queries that lose all of their judgments count 0, where evaluate leaves them out.
        share = kept["query_id"].n_unique() / PYDOCS.qrels["query_id"].n_unique()
        assert row(found, system)["mean_without"] == pytest.approx(
            wanted.filter(run=system)["nDCG@10"].item() * share, rel=1e-9
        )


def test_a_query_that_loses_all_its_judgments_counts_nothing():
    runs = {"a": {"q": ["d1"], "r": ["e1"]}, "b": {"q": ["d2"], "r": ["e1"]}}
    found = row(reusability(runs, {"q": {"d1": 1}, "r": {"e1": 1}}, "RR"), "a")
    assert (found["mean"], found["mean_without"]) == (1.0, 0.5)


def test_systems_of_a_group_are_left_out_together():
    twins = {**RUNS, "b2": RUNS["b"]}
    alone = reusability(twins, QRELS, "P@2")
    assert row(alone, "b")["n_judgments"] == 0
    together = reusability(twins, QRELS, "P@2", by={"b": "team", "b2": "team"})
    assert together["group"].to_list() == ["team", "team", "a", "c"]
    assert row(together, "b")["n_judgments"] == row(together, "b2")["n_judgments"] == 2
    assert row(together, "b")["passed_by"] == ["a", "c"]


def test_the_depth_is_that_of_the_pool():
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d2", "d1"]}}
    qrels = {"q": {"d1": 1, "d2": 1}}
    assert reusability(runs, qrels, "RR", depth=1)["n_judgments"].to_list() == [1, 1]
    assert reusability(runs, qrels, "RR", depth=None)["n_judgments"].to_list() == [0, 0]


def test_of_a_cost_a_rise_is_a_loss():
    runs = {"a": {"q": ["d1", "x"]}, "b": {"q": ["d2", "d9"]}, "c": {"q": ["d1", "d2"]}}
    found = reusability(runs, {"q": {"d1": 1, "d2": 0, "d9": 0, "x": 1}, "r": {"x": 0}}, "unj@2")
    assert found["change"].is_sorted(descending=True)
    assert row(found, "b")["change"] == 0.25
    assert row(found, "b")["rank"] == 1


def test_tau_is_that_of_the_orders_with_and_without():
    stats = pytest.importorskip("scipy.stats")
    found = reusability(RUNS, QRELS, "P@2")
    before = ir.mean(ir.evaluate(RUNS, QRELS, "P@2"))["P@2"]
    without = {"q": {"d1": 1, "d2": 0, "d4": 0}, "r": {"e1": 1, "e9": 1}}
    after = ir.mean(ir.evaluate(RUNS, without, "P@2"))["P@2"]
    assert row(found, "b")["tau"] is None
    assert after.n_unique() == 1
    # Of the other two nothing changes.
    assert row(found, "a")["tau"] == pytest.approx(stats.kendalltau(before, before).statistic)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: reusability(RUNS["a"], QRELS, "AP"), "ir.reusability needs several systems"),
        (lambda: reusability(RUNS, None, "AP"), "reusability needs qrels"),
        (lambda: reusability(RUNS, QRELS, ["AP", "RR"]), "takes one measure"),
        (lambda: reusability(RUNS, QRELS, "AP", depth=0), "depth must be a whole number"),
        (lambda: reusability(RUNS, QRELS, "AP", by={"bb": "x"}), "names 'bb', which is not one of the systems"),
        (lambda: reusability(RUNS, QRELS, "AP", by="team"), "by must be a dict"),
        (lambda: reusability(RUNS, QRELS, "AP", by=dict.fromkeys("abc", "x")), "puts all of them into one"),
        (lambda: reusability(RUNS, QRELS, "alpha_nDCG@10"), "reusability"),
    ],
)
def test_wrong_input_is_told(call, words):
    assert words in message_of(call)


@given(st.permutations(range(4)), st.sampled_from(["Judged@1", "unj@2", "P@2", "bpref", "nDCG@3"]))
def test_the_order_of_the_judgments_does_not_matter(order, measure):
    runs = {"a": {"q": ["d1", "d2", "d3"], "r": ["x"]}, "b": {"q": ["e1", "e2"], "r": ["x"]}}
    qrels = pl.DataFrame(
        {"query_id": ["q", "q", "q", "r"], "doc_id": ["d1", "d2", "d3", "x"], "relevance": [1, 0, 1, 1]}
    )
    found = reusability(runs, qrels[list(order)], measure)
    assert found.equals(reusability(runs, qrels, measure))


def test_a_query_that_loses_all_its_judgments_has_no_judged_document():
    runs = {"a": {"q": ["d1"], "r": ["x"]}, "b": {"q": ["e1"], "r": ["x"]}}
    assert row(reusability(runs, {"q": ["d1"], "r": ["x"]}, "Judged@1"), "a")["mean_without"] == 0.5
