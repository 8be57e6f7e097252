"""Coverage of runs by judgments, as rows, and as errors of an evaluation that is strict."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir

RUNS = pl.DataFrame(
    [
        ("a", "q1", "d1", 3.0),
        ("a", "q1", "d2", 2.0),
        ("a", "q1", "d3", 1.0),
        ("a", "q2", "d9", 1.0),
        ("a", "q7", "d1", 1.0),
        ("b", "q1", "d2", 1.0),
        ("b", "q2", "d5", 1.0),
    ],
    schema=["run", "query_id", "doc_id", "score"],
    orient="row",
)
QRELS = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d3", "d5"], "relevance": [1, 0, 2]})

#: The columns of a and of b.
COVERED = [("a", 2, 3, 2, 5, 2, 0.25, 0, 0, False), ("b", 2, 2, 2, 2, 1, 0.5, 0, 0, False)]


@pytest.mark.parametrize("lazy", [False, True])
def test_coverage_by_hand(lazy):
    run, qrels = (RUNS.lazy(), QRELS.lazy()) if lazy else (RUNS, QRELS)
    assert ir.coverage(run, qrels, k=2).lazy().collect().rows() == COVERED
    alone = RUNS.filter(run="b").drop("run")
    assert (alone.lazy() if lazy else alone).ir.coverage(qrels, k=2).lazy().collect().rows() == [COVERED[1][1:]]


def test_the_judged_share_is_that_of_the_measure():
    expected = ir.evaluate(RUNS, QRELS, "Judged@2", missing="skip").ir.mean()
    assert ir.coverage(RUNS, QRELS, k=2)["judged"].to_list() == expected["Judged@2"].to_list()


def test_duplicates_wrong_rows_and_empty_systems_are_counted():
    wrong = pl.DataFrame({"run": ["a", "a"], "query_id": ["q1", "q1"], "doc_id": ["d1", None], "score": [None, 1.0]})
    rows = pl.concat([RUNS, RUNS.head(1), wrong])
    counted = ir.coverage(rows, QRELS).select("run", "n_documents", "n_duplicates", "n_wrong", "empty").rows()
    assert counted == [("a", 6, 1, 2, False), ("b", 2, 0, 0, False)]
    assert ir.coverage({"a": {"q1": ["d1"]}, "b": {}}, QRELS)["empty"].to_list() == [False, True]


@pytest.mark.parametrize("lazy", [False, True])
def test_each_value_of_a_key_is_covered_by_itself(lazy):
    days = pl.concat([RUNS.with_columns(day=pl.lit(1)), RUNS.filter(run="a").with_columns(day=pl.lit(2))])
    daily = QRELS.with_columns(day=pl.lit(1))
    covered = ir.coverage(days.lazy() if lazy else days, daily, k=2, by="day").lazy().collect()
    assert covered.filter(day=1).drop("day").rows() == COVERED
    assert covered.filter(day=2).select("n_judged", "n_met", "judged", "empty").rows() == [(0, 0, None, True)]
    shared = ir.coverage(days, QRELS, k=2, by=["day"])
    assert_frame_equal(shared.filter(day=2).drop("day"), ir.coverage(RUNS.filter(run="a"), QRELS, k=2))


STRICT = {
    "without a judged document": (RUNS.with_columns(doc_id="X" + pl.col("doc_id")), {}),
    "of which fewer than half of the judged queries": (RUNS.filter(run="a", query_id="q1"), {}),
    "without judgments": (RUNS.with_columns(day=pl.lit(3)), {"by": "day"}),
    "run has no rows": (RUNS.clear(), {}),
    "run has no rows, so": (RUNS.clear().with_columns(day=pl.lit(3)), {"by": "day"}),
}


@pytest.mark.parametrize("problem", STRICT)
@pytest.mark.parametrize("engine", [None, "in-memory", "streaming"])
@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
def test_a_strict_evaluation_fails_for_what_does_not_meet(problem, engine):
    run, options = STRICT[problem]
    extra = pl.DataFrame([(f"q{n}", "d1", 1) for n in range(3, 7)], schema=QRELS.schema, orient="row")
    qrels = pl.concat([QRELS, extra]).with_columns(day=pl.lit(1)) if options else pl.concat([QRELS, extra])
    if engine is None:
        with pytest.raises(ir.IRError, match=problem):
            ir.evaluate(run, qrels, "AP", strict=True, **options)
        return
    plan = ir.evaluate(run.lazy(), qrels.lazy(), "AP", strict=True, **options)
    with pytest.raises(pl.exceptions.PolarsError, match=problem):
        plan.with_columns(note=pl.lit("kept")).select("AP", "note").collect(engine=engine)


def test_a_strict_plan_fails_for_an_unjudged_document_that_is_there_twice(tmp_path):
    # A retried load, of which only rows that nobody judged are double.
    twice = pl.concat([RUNS, RUNS.filter(doc_id="d9")])
    plan = ir.evaluate(twice.lazy(), QRELS, "P@1", strict=True)
    with pytest.raises(pl.exceptions.PolarsError, match=r"more than once|twice"):
        plan.sink_parquet(tmp_path / "figures.parquet")


@pytest.mark.parametrize("lazy", [False, True])
def test_a_strict_evaluation_that_meets_is_as_any_other(lazy):
    run = RUNS.lazy() if lazy else RUNS
    strict = ir.evaluate(run, QRELS, ["AP", "nDCG@2"], strict=True).lazy().collect()
    assert_frame_equal(strict, ir.evaluate(RUNS, QRELS, ["AP", "nDCG@2"]), check_exact=True)
    answers = RUNS.filter(run="a", query_id="q1")
    few = answers.lazy() if lazy else answers
    more = pl.concat([QRELS, pl.DataFrame([("q3", "d1", 1), ("q4", "d1", 1)], schema=QRELS.schema, orient="row")])
    assert ir.evaluate(few, more, "AP", strict=True, missing="skip").lazy().collect().height == 1


def test_a_labelled_frame_can_be_evaluated_strictly():
    labelled = RUNS.join(QRELS, on=["query_id", "doc_id"], how="left")
    assert ir.evaluate(labelled, "AP", strict=True).height == 2
    with pytest.raises(ir.IRError, match="without judgments"):
        ir.evaluate(labelled.with_columns(relevance=pl.lit(None, pl.Int64)), "AP", strict=True)
