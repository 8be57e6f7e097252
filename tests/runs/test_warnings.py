"""Warnings of results that are right, and probably not what was meant: of rows in memory, and of plans."""

import io
import pickle
import warnings

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.runs.evaluate import evaluate_collected

QUERIES = [f"q{number}" for number in range(6)]
QRELS = pl.DataFrame({"query_id": QUERIES, "doc_id": ["d"] * 6, "relevance": [1] * 6})
RUN = pl.DataFrame({"query_id": QUERIES, "doc_id": ["d"] * 6, "score": [1.0] * 6})

each_kind = pytest.mark.parametrize("lazy", [False, True])


def told(run: object, qrels: object = QRELS, measures: object = "RR", **options: object) -> list[str]:
    """The warnings of a result in memory."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate_collected(run, qrels, measures, **options)
    assert all(warning.category is ir.IRWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def of_kind(frame: pl.DataFrame, *, lazy: bool) -> pl.DataFrame | pl.LazyFrame:
    return frame.lazy() if lazy else frame


@each_kind
def test_a_run_and_qrels_that_meet_are_not_told_of(lazy):
    assert told(of_kind(RUN, lazy=lazy)) == []


@each_kind
def test_queries_that_never_meet_are_shown(lazy):
    run = RUN[:1].with_columns(query_id=pl.lit("Q0"))
    wanted = "the run and the qrels share no query; ids of the run are 'Q0', of the qrels 'q0', 'q1', 'q2'."
    assert told(of_kind(run, lazy=lazy)) == [wanted]
    lazily = of_kind(QRELS[:1], lazy=lazy)
    assert told(of_kind(run, lazy=lazy), lazily) == [wanted.replace(", 'q1', 'q2'", "")]


@each_kind
def test_documents_that_never_meet_are_shown(lazy):
    run = RUN.with_columns(doc_id=pl.lit("D"))
    wanted = "no retrieved document is judged for its query; ids of the run are 'D', of the qrels 'd'."
    assert told(of_kind(run, lazy=lazy)) == [wanted]


@each_kind
def test_one_of_several_systems_that_meets_nothing_is_named(lazy):
    runs = {"a": RUN, "b": RUN.with_columns(doc_id=pl.lit("D")), "c": RUN}
    wanted = "no retrieved document of 'b' is judged for its query; ids of the run are 'D', of the qrels 'd'."
    assert told({system: of_kind(run, lazy=lazy) for system, run in runs.items()}) == [wanted]


def test_of_many_systems_the_first_are_named():
    runs = {f"s{i}": RUN.with_columns(doc_id=pl.lit("D")) for i in range(5)} | {"z": RUN}
    assert told(runs)[0].startswith("no retrieved document of 's0', 's1', 's2' and 2 others is judged")


FEW = (
    "the run answers fewer than half of the judged queries; missing queries score 0. If they are a "
    "slice of the queries, evaluate all of them at once and take the means by slice (by), or leave the others out: "
    "missing='skip'."
)


@each_kind
@pytest.mark.parametrize(("answered", "wanted"), [(6, []), (3, []), (2, [FEW]), (1, [FEW])])
def test_a_run_that_answers_fewer_than_half_of_the_queries_is_told_of(lazy, answered, wanted):
    run = of_kind(RUN[:answered], lazy=lazy)
    assert told(run) == wanted
    assert told(run, missing="skip") == []


@each_kind
def test_answers_without_a_judged_document_are_answers(lazy):
    run = RUN.with_columns(doc_id=pl.when(pl.col("query_id") == "q0").then("doc_id").otherwise(pl.lit("x")))
    assert told(of_kind(run, lazy=lazy)) == []


@each_kind
def test_one_of_several_systems_that_answers_few_queries_is_named(lazy):
    found = told({"a": of_kind(RUN, lazy=lazy), "b": of_kind(RUN[:2], lazy=lazy)})
    assert found == [FEW.replace("the run answers", "the run of 'b' answers")]


def test_a_loop_over_slices_is_told_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for query in QUERIES:
            RUN.filter(pl.col("query_id") == query).ir.evaluate(QRELS, "RR")
    assert len(caught) == 1


def test_a_warning_of_a_slice_points_at_the_line_that_evaluates():
    with pytest.warns(ir.IRWarning) as caught:
        RUN[:1].ir.evaluate(QRELS, "RR")
    assert caught[0].filename == __file__


SHARES = QRELS.with_columns(relevance=pl.Series([0.9, 0.7, 0.4, 0.2, 0.0, 0.0]))


def test_grades_below_1_are_told_of_with_a_name_that_helps():
    wanted = (
        "to 'RR@10', 'AP' no grade is relevant: the highest is 0.9. Name the lowest relevant grade, as in: "
        "'RR(rel=0.5)@10'."
    )
    assert told(RUN, SHARES, ["nDCG@10", "RR@10", "AP"]) == [wanted]
    assert ir.evaluate(RUN, SHARES, "RR(rel=0.5)@10")["RR(rel=0.5)@10"].sum() == 2


def test_grades_from_0_to_1_are_told_of_where_1_occurs():
    qrels = SHARES.with_columns(pl.col("relevance") / 0.9)
    (message,) = told(RUN, qrels, ["nDCG", "P@5"])
    assert message.startswith("to 'P@5' only grades of 1 are relevant, and others between 0 and 1 are not.")


@pytest.mark.parametrize(
    ("qrels", "measures"),
    [
        (SHARES, ["nDCG", "DCG"]),
        (SHARES, "RR(rel=0.5)"),
        (SHARES.with_columns(pl.col("relevance") * 5), "RR"),
        (SHARES.with_columns(relevance=pl.lit(1.0)), "RR"),
        (QRELS, "RR"),
    ],
)
def test_grades_that_the_measures_take_are_not_told_of(qrels, measures):
    assert told(RUN, qrels, measures) == []


def test_a_lowest_relevant_grade_above_all_grades_is_told_of():
    (message,) = told(RUN, QRELS.with_columns(relevance=2), "P(rel=3)@5")
    assert message == (
        "to 'P(rel=3)@5' no grade is relevant: the highest is 2. Name the lowest relevant grade, as in: 'P(rel=2)@5'."
    )


def test_grades_below_1_of_a_labelled_frame_are_told_of():
    labelled = RUN.with_columns(label=pl.lit(0.5))
    assert len(told(labelled, None)) == 1


@pytest.mark.parametrize(
    "collect",
    [
        pl.LazyFrame.collect,
        lambda plan: plan.collect(engine="streaming"),
        lambda plan: plan.select("RR").collect(),
        lambda plan: plan.filter(pl.col("RR") > 0).collect(),
        lambda plan: pl.collect_all([plan, plan.select("AP")]),
        lambda plan: plan.sink_csv(io.BytesIO()),
        lambda plan: pickle.loads(pickle.dumps(plan)).collect(),  # noqa: S301  # our own
        lambda plan: ir.mean(plan).collect(),
    ],
)
@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        (RUN.with_columns(doc_id=pl.lit("D")), "no retrieved document is judged for its query; ids of the run are 'D'"),
        (
            RUN.select(qid="other " + pl.col("query_id"), doc_id="doc_id", score="score"),
            "the run and the qrels share no query",
        ),
        (RUN, None),
    ],
)
def test_a_plan_warns_in_whichever_way_it_is_run(collect, run, wanted):
    plan = ir.evaluate(run.lazy(), QRELS.lazy(), ["RR", "AP"])
    if wanted is None:
        collect(plan)
        return
    with pytest.warns(ir.IRWarning, match=wanted):
        collect(plan)


def test_a_plan_warns_of_grades_in_memory_when_it_is_made_and_of_answers_when_it_is_run():
    with pytest.warns(ir.IRWarning, match="no grade is relevant"):
        plan = ir.evaluate(RUN[:1].lazy(), SHARES, ["RR", "P@5", "NumRet"])
    with pytest.warns(ir.IRWarning) as caught:
        plan.collect()
    assert [str(warning.message) for warning in caught] == [FEW]


def test_judgments_without_a_relevant_document_are_told_of_once():
    nothing = "no grade of the qrels is above 0, so that no document is relevant."
    for run in (RUN, RUN.lazy()):
        with pytest.warns(ir.IRWarning) as caught:
            ir.evaluate(run, QRELS.with_columns(relevance=0), ["RR", "P@1", "nDCG"])
        assert [str(warning.message) for warning in caught] == [nothing]


@pytest.mark.parametrize("run", [RUN, RUN.lazy()], ids=["eager run", "lazy run"])
def test_grades_below_1_that_are_not_in_memory_are_told_of_once_they_are_read(run):
    of_frame = told(RUN, SHARES, ["RR", "P(rel=0.5)@5"])
    assert of_frame == told(run, SHARES.lazy(), ["RR", "P(rel=0.5)@5"])
    assert told(run, SHARES.lazy(), "RR(rel=0.5)") == told(run, QRELS.lazy(), "RR") == []
    labelled = run.with_columns(label=pl.lit(0.5))
    assert len(told(labelled, None)) == 1
