"""Equal scores: every rule of `ties=`, against all the orders there are. The expectation is in test_expected.py."""

from functools import cache
from itertools import permutations, product

import polars as pl
import pytest
from generated import collection, collections, every_measure, qrels_frame, run_frame
from hypothesis import given
from messages import message_of
from polars.testing import assert_frame_equal
from suite import examples
from tuned import tune

import polars_ir as ir

#: Measures that no order serves better than the relevant documents first, the highest grade leading.
GRADED = ["P@1", "P@3", "R@3", "Success@2", "RR", "AP", "AP@3", "nDCG", "nDCG@3", "DCG(dcg='exp-log2')@3", "bpref"]

# Collections without a query or a document in common are among those made up.
pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")

plans = pytest.mark.parametrize("deep", [0, 10**9], ids=["sorting", "counting"])


def orders(ranking: dict[str, float]) -> list[dict[str, float]]:
    """Every order that a ranking can have, ties broken in all ways."""
    blocks = [
        [document for document, of in ranking.items() if of == score]
        for score in sorted(set(ranking.values()), reverse=True)
    ]
    whole = product(*(permutations(block) for block in blocks))
    return [{d: -float(i) for i, d in enumerate(d for block in order for d in block)} for order in whole]


@pytest.mark.parametrize("ties", ["best", "worst"])
@examples(40)
@given(collections())
def test_the_best_and_the_worst_order_are_those_of_all_orders(ties, run_and_qrels):
    run, qrels = run_and_qrels
    run = {query: dict(list(ranking.items())[:6]) for query, ranking in run.items()}
    extreme = pl.max if ties == "best" else pl.min
    for row in ir.evaluate(run_frame(run), qrels_frame(qrels), GRADED[:-1], ties=ties).iter_rows(named=True):
        query = row.pop("query_id")
        every = {str(i): {query: order} for i, order in enumerate(orders(run.get(query, {})))}
        values = ir.evaluate(every, {query: qrels[query]}, GRADED[:-1])
        assert row == pytest.approx(values.select(extreme(list(row))).row(0, named=True), rel=0, abs=1e-12)


def test_best_and_worst_by_hand():
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}
    qrels = {"q": {"a": 1, "b": 2, "c": 0}}
    assert ir.judge(run, qrels, ties="best").sort("rank")["doc_id"].to_list() == ["b", "a", "c"]
    # d, which nobody judged, stands between those judged relevant and those judged not to be.
    assert ir.judge(run, qrels, ties="best").sort("rank")["rank"].to_list() == [1, 2, 4]
    assert ir.judge(run, qrels, ties="worst").sort("rank").select("doc_id", "rank").rows() == [
        ("c", 1),
        ("a", 3),
        ("b", 4),
    ]


@plans
@pytest.mark.parametrize("ties", ["best", "worst", "doc_id"])
def test_unjudged_documents_in_the_relation_change_no_rank(ties, deep, monkeypatch):
    tune(monkeypatch, deep=deep)
    run, qrels = collection(3)
    without, within = (ir.judge(run, qrels, ties=ties, unjudged=unjudged) for unjudged in (False, True))
    judged = within.filter(pl.col("relevance").is_not_null()).drop("score")
    assert_frame_equal(judged, without, check_row_order=False, check_column_order=False)
    complete = (
        within.drop_nulls("rank")
        .group_by("query_id")
        .agg((pl.col("rank").sort() == pl.int_range(1, pl.len() + 1)).all())
    )
    assert complete["rank"].all()


def test_the_order_of_the_input_decides():
    run, qrels = collection(4)
    by_position = run.with_columns(pl.int_range(pl.len()).alias("position")).sort(
        "query_id", pl.col("score"), "position", descending=[False, True, False]
    )
    as_ranked = by_position.with_columns(score=-pl.int_range(pl.len()).cast(pl.Float64)).drop("position")
    wanted = ir.evaluate(as_ranked, qrels, GRADED)
    assert_frame_equal(ir.evaluate(run, qrels, GRADED, ties="input"), wanted, check_exact=True)
    assert_frame_equal(ir.evaluate(run.lazy(), qrels, GRADED, ties="input").collect(), wanted, check_exact=True)
    assert not wanted.equals(ir.evaluate(run, qrels, GRADED))


def test_the_order_of_the_input_decides_in_condensed_lists_and_for_several_systems():
    run, qrels = {"q": {"a": 1.0, "z": 1.0, "b": 1.0}}, {"q": {"b": 1, "a": 0}}
    assert ir.evaluate(run, qrels, "RR", ties="input")["RR"].item() == 1 / 3
    assert ir.evaluate(run, qrels, "RR", ties="input", judged_only=True)["RR"].item() == 1 / 2
    other = {"q": {"b": 1.0, "a": 1.0}}
    assert ir.evaluate({"one": run, "two": other}, qrels, "RR", ties="input")["RR"].to_list() == [1 / 3, 1.0]


def test_a_frame_with_grades_has_the_ties_of_a_run_with_qrels():
    run, qrels = collection(5)
    joined = run.join(qrels, on=["query_id", "doc_id"], how="left")
    judged = joined.select("query_id", "doc_id", "relevance").drop_nulls("relevance")
    for ties in ("doc_id", "input", "best", "worst", "expected"):
        wanted = ir.evaluate(run, judged, ["P@3", "AP", "nDCG@5"], ties=ties)
        found = ir.evaluate(joined, None, ["P@3", "AP", "nDCG@5"], ties=ties)
        assert_frame_equal(found.filter(pl.col("query_id").is_in(wanted["query_id"].implode())), wanted)


@cache
def without_ties() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """A run without equal scores, its judgments, and every measure of it."""
    run, qrels = collection(6)
    run = run.with_columns(score=pl.int_range(pl.len()).cast(pl.Float64).shuffle(seed=1))
    return run, qrels, ir.evaluate(run, qrels, every_measure())


@plans
@pytest.mark.parametrize("ties", ["input", "best", "worst"])
@pytest.mark.whole("a second a case", quick=2)
def test_without_ties_every_rule_gives_the_same(ties, deep, monkeypatch):
    run, qrels, wanted = without_ties()
    tune(monkeypatch, deep=deep)
    assert_frame_equal(ir.evaluate(run, qrels, every_measure(), ties=ties), wanted, check_exact=True)


@plans
@pytest.mark.parametrize("ties", ["input", "best", "worst", "expected"])
def test_a_plan_gives_what_a_frame_does(ties, deep, monkeypatch):
    tune(monkeypatch, deep=deep)
    run, qrels = collection(7)
    wanted = ir.evaluate(run, qrels, ["P@3", "AP", "nDCG@5"], ties=ties)
    found = ir.evaluate(run.lazy(), qrels.lazy(), ["P@3", "AP", "nDCG@5"], ties=ties).collect()
    assert_frame_equal(found, wanted, check_exact=True)


def test_duplicates_in_a_plan_are_found_whatever_the_rule():
    run = pl.LazyFrame({"query_id": ["q"] * 2, "doc_id": ["d"] * 2, "score": [1.0, 0.5]})
    for ties in ("doc_id", "input", "best", "worst", "expected"):
        with pytest.raises(pl.exceptions.InvalidOperationError, match="more than once"):
            ir.evaluate(run, {"q": ["d"]}, ["P@3"], ties=ties).collect()


def test_the_order_of_ties_at_best_goes_by_the_highest_grade_of_any_subtopic():
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
    qrels = pl.DataFrame(
        {"query_id": ["q"] * 4, "subtopic": [1, 1, 2, 2], "doc_id": ["a", "b", "b", "c"], "relevance": [0, 1, 3, 2]}
    )
    ranks = ir.judge(run, qrels, judges="subtopic", ties="best").select("doc_id", "rank").unique().sort("rank")
    assert ranks.rows() == [("b", 1), ("c", 2), ("a", 3)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ir.evaluate({"q": ["a"]}, {"q": ["a"]}, "AP", ties="docid"),
            "ties must be one of 'doc_id', 'input', 'best', 'worst', 'expected'; got 'docid'. Did you mean 'doc_id'?",
        ),
        (
            lambda: ir.judge({"q": ["a"]}, {"q": ["a"]}, ties="expected"),
            "ties must be an order of tied documents, one of 'doc_id', 'input', 'best', 'worst'; got 'expected'.",
        ),
    ],
)
def test_a_rule_that_does_not_exist_is_an_error(call, message):
    assert message_of(call) == message


def test_a_measure_without_a_known_expectation_is_an_error():
    for measure in ("bpref", ir.rank.min().alias("first")):
        with pytest.raises(ir.IRError, match="over all orders of tied documents is not known"):
            ir.evaluate({"q": ["a"]}, {"q": ["a"]}, measure, ties="expected")


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.UInt64, pl.Int128])
def test_grades_of_any_whole_type_are_ordered_alike(dtype):
    qrels = pl.DataFrame(
        {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0]}, schema_overrides={"relevance": dtype}
    )
    run = {"q": {"a": 1.0, "b": 1.0}}
    subtopics = qrels.with_columns(subtopic=pl.lit("s"))
    assert ir.evaluate(run, qrels, ["RR", "Compat"], ties="best").row(0) == ("q", 1.0, 1.0)
    assert ir.evaluate(run, qrels, ["RR", "Compat"], ties="worst").row(0)[1] == 0.5
    assert ir.evaluate(run, subtopics, "StRecall@1", ties="best").row(0) == ("q", 1.0)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_an_expectation_divides_alike_where_all_documents_tie(engine):
    """All queries may have one number of tied documents, which an engine could take for a constant."""
    tied = {"query_id": ["q"] * 5, "doc_id": list("abcde"), "score": [1.0] * 5, "relevance": [1, 1, 1, 1, None]}
    measures = ["RBP", "RBP_residual", "RBP(p=0.5)@3", "AP", "nDCG@3", "RR"]
    found = ir.evaluate(pl.LazyFrame(tied), None, measures, ties="expected").collect(engine=engine)
    assert_frame_equal(found, ir.evaluate(pl.DataFrame(tied), None, measures, ties="expected"), check_exact=True)
