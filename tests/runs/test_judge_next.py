"""`judge_next`: the swing of unjudged documents, against evaluating anew with each of them judged."""

from itertools import combinations

import polars as pl
import pytest
from generated import collection
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.runs import alternatives
from polars_ir.runs.judge_next import judge_next

RUNS = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d1"]}}
QRELS = {"q": {"d1": 1, "d9": 0}}


def systems(seed: int) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Three systems that answer some of the same queries, and judgments with gaps."""
    run, qrels = collection(seed, queries=8, depth=8)
    documents = pl.col("doc_id").str.replace("d1", "x9")
    others = {
        "b": run.with_columns(score=-pl.col("score")).filter(pl.col("query_id") != "q0"),
        "c": run.with_columns(documents).unique(["query_id", "doc_id"], keep="first", maintain_order=True),
    }
    return {"a": run, **others}, qrels


def means(runs: dict[str, pl.DataFrame], qrels: pl.DataFrame, measure: str | pl.Expr) -> dict[str, float]:
    """The mean of the measure for every system."""
    values = ir.evaluate(runs, qrels, measure)
    return {system: values.filter(run=system)[:, -1].mean() for system in runs}


def swings_by_evaluating(
    runs: dict[str, pl.DataFrame], qrels: pl.DataFrame, measure: str | pl.Expr, depth: int, baseline: str | None = None
) -> dict[tuple[str, str], float]:
    """The swing of every candidate, by adding its judgment to the others and evaluating all there is."""
    ranked = pl.concat(
        ir.judge(run, qrels, unjudged=True).select("query_id", "doc_id", "relevance", "rank") for run in runs.values()
    )
    candidates = (
        ranked.filter(pl.col("relevance").is_null(), pl.col("rank") <= depth).select("query_id", "doc_id").unique()
    )
    now, swings = means(runs, qrels, measure), {}
    for query, document in candidates.iter_rows():
        judgment = pl.DataFrame({"query_id": query, "doc_id": document, "relevance": qrels["relevance"].max()})
        then = means(runs, pl.concat([qrels, judgment]), measure)
        change = {system: then[system] - now[system] for system in runs}
        pairs = [pair for pair in combinations(runs, 2) if baseline is None or baseline in pair]
        swings[query, document] = max(abs(change[one] - change[other]) for one, other in pairs)
    return {candidate: swing for candidate, swing in swings.items() if swing > 1e-13}


@pytest.mark.parametrize("baseline", [None, "b"])
@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "RR", "P@5", "R@5", "RBP", "ERR", "bpref", "Q", "Compat", "F@5"])
@pytest.mark.whole("a third of a second a case", quick=2)
def test_the_swing_is_that_of_evaluating_anew(measure, baseline):
    runs, qrels = systems(1)
    found = judge_next(runs, qrels, measure, baseline=baseline, depth=5, n=None)
    wanted = swings_by_evaluating(runs, qrels, measure, 5, baseline)
    assert len(wanted) > 5
    assert {(q, d): swing for q, d, swing in found.select("query_id", "doc_id", "swing").rows()} == pytest.approx(
        wanted, abs=1e-12, rel=0
    )


def test_a_measure_of_a_column_of_the_run_sees_unjudged_documents():
    runs, qrels = systems(2)
    runs = {name: run.with_columns(price=pl.col("score").abs() + 1) for name, run in runs.items()}
    price, top = pl.col("price"), ir.top(4)
    value = ir.ratio(price.filter(ir.relevant() & top).sum(), price.filter(top).sum()).alias("value of the relevant")
    found = judge_next(runs, qrels, value, depth=4, n=None)
    wanted = swings_by_evaluating(runs, qrels, value, 4)
    assert {(q, d): swing for q, d, swing in found.select("query_id", "doc_id", "swing").rows()} == pytest.approx(
        wanted, abs=1e-12, rel=0
    )


def test_a_measure_that_is_no_number_somewhere_is_an_error():
    value = ((ir.relevant() & ir.top()).sum() / ir.top().sum() / 0 * 0).alias("nothing by nothing")
    with pytest.raises(ir.IRError, match="'nothing by nothing' is NaN for some rankings"):
        judge_next(RUNS, QRELS, value)


def test_by_hand():
    # P@2 of a and b is 1/2 each; d3 would make it 1 for b alone, d2 for a alone.
    assert judge_next(RUNS, QRELS, "P@2").rows() == [
        ("q", "d3", 1, 1, 0.5, "b", "a"),
        ("q", "d2", 1, 2, 0.5, "a", "b"),
    ]


def test_a_judgment_moves_the_mean_by_its_share_of_the_queries():
    qrels = {**QRELS, "r": ["d5"], "s": ["d5"], "t": ["d5"]}
    assert judge_next(RUNS, qrels, "P@2")["swing"].to_list() == [0.125, 0.125]


def test_a_document_that_all_retrieve_alike_is_left_out():
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "d2"]}}
    assert judge_next(runs, QRELS, "P@2").shape == (0, 7)
    assert judge_next(runs, QRELS, "P@2").schema == judge_next(RUNS, QRELS, "P@2").schema


def test_a_document_below_the_cutoff_can_matter_as_one_more_that_is_relevant():
    # With d2 relevant too, a has one of two instead of all, which b never had.
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d3", "d2"]}}
    found = judge_next(runs, QRELS, "R@1", depth=2)
    assert found.filter(doc_id="d2").select("swing", "favours", "against").rows() == [(0.5, "b", "a")]


def test_the_baseline_is_one_of_the_pair():
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "d3"]}, "c": {"q": ["d4", "d1"]}}
    found = judge_next(runs, QRELS, "P@2", baseline="c")
    assert found.select("doc_id", "favours", "against").rows() == [("d4", "c", "a"), ("d2", "a", "c"), ("d3", "b", "c")]


def test_of_one_system_it_is_the_change_of_its_mean():
    # nDCG@1 is 1 now; with d2 relevant as well it stays 1, AP rises from 1 to 1: nothing moves. P@2 goes to 1.
    assert judge_next(RUNS["a"], QRELS, "P@2").rows() == [("q", "d2", 1, 2, 0.5, None, None)]
    assert judge_next(RUNS["b"], QRELS, "RR").rows() == [("q", "d3", 1, 1, 0.5, None, None)]
    assert judge_next(RUNS["a"], QRELS, "RR").height == 0


def test_the_document_gets_the_highest_grade_there_is():
    qrels = {"q": {"d1": 1, "d9": 3}}
    # a has DCG 1 and would have 1 + 3 / log2(3).
    swing = judge_next(RUNS["a"], qrels, "DCG(discount='none')").select("doc_id", "swing").rows()
    assert swing == [("d2", 3.0)]
    # A tool counts 1 as long as no document has the grade that its measure asks for.
    assert judge_next({"q": ["d1", "d2"]}, {"q": {"d1": 1}}, "xgboost map(rel=2)@2")["swing"].to_list() == [0.5]


def test_depth_is_the_cutoff_unless_given():
    run = {"q": [f"d{i}" for i in range(30)]}
    for options, deepest in (({}, 3), ({"depth": 7}, 7), ({"depth": 1}, 1)):
        assert judge_next(run, {"q": ["x"]}, "nDCG@3", **options)["best_rank"].max() <= deepest
    assert judge_next(run, {"q": ["x"]}, "AP")["best_rank"].to_list() == list(range(1, 11))
    assert judge_next(run, {"q": ["x"]}, "AP", n=2)["best_rank"].to_list() == [1, 2]


def test_how_many_retrieved_it_and_how_high():
    runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d2", "d1"]}, "c": {"q": ["d3"]}}
    found = judge_next(runs, QRELS, "AP").sort("doc_id")
    assert found.select("doc_id", "n_systems", "best_rank").rows() == [("d2", 2, 1), ("d3", 1, 1)]


def test_parts_of_alternatives_are_together_what_they_are_at_once(monkeypatch):
    runs, qrels = systems(3)
    at_once = judge_next(runs, qrels, "AP", n=None)
    monkeypatch.setattr(alternatives, "MOST_ROWS", 50)
    assert_frame_equal(judge_next(runs, qrels, "AP", n=None), at_once, check_exact=True)


def test_systems_may_stand_in_a_column():
    run = pl.DataFrame(
        {"run": ["a", "a", "b", "b"], "qid": "q", "doc_id": ["d1", "d2", "d3", "d1"], "score": [2, 1, 2, 1]}
    )
    found = judge_next(run, QRELS, "P@2")
    assert found.rename({"qid": "query_id"}).rows() == judge_next(RUNS, QRELS, "P@2").rows()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "bm"}, "baseline names 'bm', which is not one of the systems: 'a', 'b'"),
        ({"depth": 0}, "depth must be a whole number, 1 or more, or None; got 0"),
        ({"n": 2.5}, "n must be a whole number, 1 or more, or None; got 2.5"),
        ({"measure": "alpha_nDCG"}, "judge_next goes with measures of documents; these are of subtopics"),
        ({"measure": ["AP", "RR"]}, "judge_next takes one measure; got 'AP', 'RR'."),
        ({"measure": "Hole"}, "judge_next evaluates queries separately; 'Hole' reads the judgments of others"),
        ({"measure": "relstring"}, "must be a number; it is String"),
        ({"qrels": None}, "judge_next needs qrels"),
        ({"runs": RUNS["a"], "baseline": "a"}, "baseline='a' needs several systems; the run is of one"),
    ],
)
def test_what_can_not_be_done_is_an_error(options, message):
    given = {"runs": RUNS, "qrels": QRELS, "measure": "P@2", **options}
    assert message in message_of(lambda: judge_next(**given))
