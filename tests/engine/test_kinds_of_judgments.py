"""Judgments of other kinds: of subtopics, by several judges, as preferences; and gains of any kind."""

import math
from math import log2

import polars as pl
import pytest
from generated import collection, collections, of_subtopics, qrels_frame, run_frame
from hypothesis import given
from messages import message_of
from polars.testing import assert_frame_equal
from suite import examples

import polars_ir as ir

RUN = {"q": {"d1": 0.9, "d2": 0.8, "d3": 0.7}}
JUDGES = pl.DataFrame(
    {
        "query_id": ["q"] * 4,
        "judge": ["x", "x", "y", "y"],
        "doc_id": ["d1", "d2", "d2", "d9"],
        "relevance": [1, 0, 2, 1],
    }
)
SUBTOPICS = pl.DataFrame(
    {"query_id": ["q"] * 3, "subtopic": [1, 2, 2], "doc_id": ["d1", "d1", "d3"], "relevance": [1, 1, 1]}
)

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


# Several judges.


def test_a_measure_is_the_mean_over_the_judges():
    found = ir.evaluate(RUN, JUDGES, ["AP", "P@1", "NumRel"], judges="judge")
    # x: d1 is relevant, at rank 1. y: d2 at rank 2, and d9, which was not retrieved.
    assert found.row(0) == ("q", (1 + (1 / 2) / 2) / 2, (1 + 0) / 2, (1 + 2) / 2)


def test_a_measure_that_one_judge_leaves_undefined_is_left_out_or_0():
    judgments = JUDGES.with_columns(relevance=pl.Series([0, 0, 2, 1]))
    assert ir.evaluate(RUN, judgments, "AP", judges="judge")["AP"].item() == (0 + 1 / 4) / 2
    assert ir.evaluate(RUN, judgments, "AP", judges="judge", undefined=None)["AP"].item() == 1 / 4


@examples(50)
@given(collections(), collections())
def test_judges_are_the_mean_of_the_calls_with_each(first, second):
    run, qrels = first
    every = [qrels_frame(qrels), qrels_frame({q: j for q, j in second[1].items() if q in qrels})]
    judgments = pl.concat([of.with_columns(assessor=pl.lit(name)) for name, of in zip("ab", every, strict=True)])
    measures = ["AP", "nDCG@3", "bpref", "P@2"]
    found = ir.evaluate(run_frame(run), judgments, measures, judges="assessor")
    apart = pl.concat(ir.evaluate(run_frame(run), of, measures) for of in every)
    wanted = apart.group_by("query_id").agg(pl.col(measures).mean()).sort("query_id")
    assert_frame_equal(found, wanted, abs_tol=1e-15)


def test_judges_of_several_systems_and_of_plans():
    one = ir.evaluate(RUN, JUDGES, ["AP"], judges="judge")
    several = ir.evaluate({"a": RUN, "none": {}}, JUDGES, ["AP"], judges="judge")
    assert several.rows() == [("a", "q", one["AP"].item()), ("none", "q", 0.0)]
    plan = ir.evaluate(run_frame(RUN).lazy(), JUDGES.lazy(), ["AP"], judges="judge")
    assert plan.collect().equals(one)


def test_what_one_judge_did_not_judge_is_unjudged_for_them():
    run = run_frame(RUN).with_columns(price=pl.Series([1.0, 2.0, 3.0]))
    unjudged = pl.col("price").filter(pl.col("relevance").is_null()).sum().alias("unjudged")
    # x left d3 unjudged, y left d1 and d3.
    assert ir.evaluate(run, JUDGES, unjudged, judges="judge")["unjudged"].item() == (3 + 4) / 2


# Kinds that do not go together.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ir.evaluate(RUN, JUDGES, "AP"),
            (
                "If they are judgments of subtopics, use measures of these (alpha_nDCG); if several judges', "
                "ir.evaluate takes judges='judge' for their mean, by='judge' for each, and ir.merge_judgments makes "
                "one grade. Else keep the highest grade of each document"
            ),
        ),
        (
            lambda: ir.evaluate(RUN, JUDGES, "AP", judges="juge"),
            (
                "qrels has no 'juge' column, which would distinguish the judgments of one document; it has "
                "'query_id', 'judge', 'doc_id', 'relevance'. Did you mean 'judge'?"
            ),
        ),
        (
            lambda: ir.evaluate(RUN, JUDGES, "AP", judges=2),
            "judges must be the name of a column of the qrels, or None where there is one judge; got 2.",
        ),
        (
            lambda: ir.evaluate(
                RUN, JUDGES.with_columns(judge=pl.Series(["x", None, "y", "y"])), "P@1", judges="judge"
            ),
            "qrels has 1 row whose 'judge' is null.",
        ),
        (
            lambda: ir.evaluate(RUN, SUBTOPICS, ["StRecall@2", "prefs_simp"]),
            (
                "measures of one call must read judgments that go together; got 'StRecall@2' of subtopics; "
                "'prefs_simp' of preferences. Evaluate each kind by itself."
            ),
        ),
        (
            lambda: ir.evaluate(RUN, {"q": ["d1"]}, "StRecall@2"),
            (
                "qrels has no 'subtopic' column (recognised names: subtopic, subtopic_id, aspect, intent), which "
                "would distinguish the judgments of one document; it has 'query_id', 'doc_id', 'relevance'."
            ),
        ),
        (
            lambda: ir.evaluate(RUN, SUBTOPICS, "StRecall@2", judges="subtopic"),
            "judges='subtopic' goes with measures of documents; these are of subtopics.",
        ),
        (
            lambda: ir.evaluate(RUN, JUDGES, "AP", judges="query_id"),
            (
                "a column of the qrels must distinguish the judgments of one document, beside query_id, doc_id, "
                "relevance; got 'query_id'."
            ),
        ),
        (
            lambda: ir.evaluate(RUN, JUDGES, "relstring@3", judges="judge"),
            "the measure 'relstring@3' is a text, and judges makes means of numbers. Evaluate it in another call.",
        ),
        (
            lambda: ir.evaluate(RUN, JUDGES, "prefs_simp", judged_only=True),
            "judged_only=True goes with measures of documents; these are of preferences.",
        ),
        (
            lambda: ir.evaluate(run_frame(RUN).with_columns(relevance=1, subtopic=1), None, "StRecall@2"),
            "need qrels of their own; got none. Pass them: run.ir.evaluate(qrels, ['nDCG@10']).",
        ),
        (
            lambda: ir.judge(RUN, SUBTOPICS, judges="subtopics"),
            (
                "qrels has no 'subtopics' column, which would distinguish the judgments of one document; it has "
                "'query_id', 'subtopic', 'doc_id', 'relevance'. Did you mean 'subtopic'?"
            ),
        ),
        (
            lambda: ir.evaluate(RUN, pl.concat([SUBTOPICS, SUBTOPICS[:1]]), "StRecall@2"),
            "qrels has 2 rows that repeat the ids of another (query_id, doc_id, subtopic).",
        ),
    ],
)
def test_judgments_of_the_wrong_kind_are_an_error(call, message):
    assert message in message_of(call)


def test_the_relation_of_subtopics_has_a_row_for_each():
    run, qrels = collection(2)
    judgments = of_subtopics(qrels)
    relation = ir.judge(run, judgments, judges="subtopic")
    assert relation.select("query_id", "subtopic", "doc_id").is_unique().all()
    assert relation.height == judgments.height
    documents = ir.judge(run, qrels).select("query_id", "doc_id", "rank", "n_higher", "n_tied", "n_retrieved")
    by_document = relation.select(documents.columns).unique()
    assert_frame_equal(by_document, documents, check_row_order=False)


# Any gain.

AGED = run_frame(RUN).with_columns(age_days=pl.Series([0.0, 30.0, 60.0]))


def test_fresh_documents_gain_more():
    fresh = (ir.relevance * 0.5 ** (pl.col("age_days") / 30)).alias("fresh")
    found = ir.evaluate(AGED, {"q": {"d1": 1, "d2": 2, "d3": 3}}, [ir.dcg(k=3, gains=fresh), ir.ndcg(gains=fresh)])
    gains = [1, 2 / 2, 3 / 4]
    dcg = sum(gain / log2(i + 2) for i, gain in enumerate(gains))
    assert found.columns == ["query_id", "DCG(gains=fresh)@3", "nDCG(gains=fresh)"]
    assert found.row(0) == ("q", pytest.approx(dcg, abs=1e-15), 1.0)


def test_a_column_of_the_qrels_is_a_gain_by_its_name():
    qrels = pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["d2", "d9"], "relevance": [1, 1], "trust": [0.5, 1.0]})
    found = ir.evaluate(RUN, qrels, ["DCG(gains=trust)", "nDCG(gains=trust)"])
    assert found.row(0)[1:] == pytest.approx((0.5 / log2(3), 0.5 / log2(3) / (1 + 0.5 / log2(3))), abs=1e-15)
    assert ir.parse("nDCG(gains=trust)@5").meta.eq(ir.ndcg(gains=pl.col("trust"), k=5))


def test_a_gain_of_the_run_does_not_reach_documents_it_did_not_return():
    """Documented: the ideal ranking lacks d9, whose age nobody knows."""
    found = ir.evaluate(
        AGED, {"q": {"d1": 1, "d9": 1}}, ir.ndcg(gains=(ir.relevance + 0 * pl.col("age_days")).alias("aged"))
    )
    assert found["nDCG(gains=aged)"].item() == 1.0


def test_unjudged_documents_and_negative_gains_are_worth_nothing():
    gains = pl.col("age_days") - 45
    found = ir.evaluate(AGED, {"q": {"d1": 1, "d2": 1}}, ir.dcg(gains=gains.alias("old")))
    assert found.item(0, 1) is None or found.item(0, 1) == 0.0


@pytest.mark.parametrize(
    ("partial", "whole"),
    [
        ("nDCG(gains={1:2})@3", "nDCG(gains={1:2,2:2})@3"),
        ("nDCG(gains={0:1})@3", "nDCG(gains={0:1,1:1,2:2})@3"),
        ("DCG(gains={1:3,3:1})", "DCG(gains={1:3,2:2})"),
        ("ERR(gains={1:2})", "ERR(gains={1:2,2:2})"),
        # A relevant document by itself is worth 1 to RBP.
        ("RBP(gains={1:0.5})", "RBP(gains={1:0.5,2:1})"),
    ],
)
def test_a_grade_that_a_map_of_gains_does_not_name_keeps_its_own(partial, whole):
    qrels = {"q": {"d1": 1, "d2": 2, "d3": 0, "d4": -1}}
    found, wanted, without = (
        ir.evaluate(run_frame(RUN), qrels, name).item(0, 1) for name in (partial, whole, partial.partition("(")[0])
    )
    assert found == wanted != without
    assert ir.evaluate(run_frame(RUN).lazy(), qrels, partial).collect().item(0, 1) == wanted


def test_a_gain_that_is_computed_has_a_name_of_its_own():
    for gains in (ir.relevance * 2, pl.lit(1.0), pl.col("relevance", "age_days"), pl.all()):
        with pytest.raises(ir.IRError, match="a Polars expression with a name of its own"):
            ir.ndcg(gains=gains)


def test_a_gain_by_an_expression_has_an_expectation_too():
    tied = AGED.with_columns(score=pl.lit(1.0))
    fresh = (ir.relevance * 0.5 ** (pl.col("age_days") / 30)).alias("fresh")
    found = ir.evaluate(tied, {"q": {"d1": 1, "d2": 2, "d3": 3}}, ir.dcg(k=1, gains=fresh), ties="expected")
    assert found.item(0, 1) == pytest.approx((1 + 2 / 2 + 3 / 4) / 3, abs=1e-15)


def test_a_gain_that_is_no_number_is_an_error():
    run = run_frame(RUN).with_columns(color=pl.Series(["red", "green", "blue"]))
    for frame in (run, run.lazy()):
        with pytest.raises(
            ir.IRError, match=r"measure 'nDCG\(gains=color\)' cannot be computed from .*color \(String\)"
        ):
            ir.evaluate(frame, {"q": ["d1"]}, "nDCG(gains=color)")


@pytest.mark.filterwarnings("error")
def test_a_gain_that_is_nan_is_told():
    run = AGED.with_columns(age_days=pl.Series([math.nan, 1.0, 2.0]))
    with pytest.warns(ir.IRWarning, match=r"'DCG\(gains=age_days\)' is not a number for 1 of 1 queries, such as 'q'"):
        ir.evaluate(run, {"q": ["d1"]}, "DCG(gains=age_days)")


@pytest.mark.parametrize("column", ["subtopic", "judge"])
def test_a_null_in_a_plan_is_no_subtopic_and_no_judge(column):
    judgments = SUBTOPICS if column == "subtopic" else JUDGES
    judgments = judgments.with_columns(pl.when(pl.int_range(pl.len()) > 0).then(column).alias(column)).lazy()
    measure, options = ("StRecall@2", {}) if column == "subtopic" else ("AP", {"judges": column})
    with pytest.raises(pl.exceptions.InvalidOperationError, match="the qrels have ids or grades that are null"):
        ir.evaluate(run_frame(RUN).lazy(), judgments, measure, **options).collect()


# Documents judged for other queries.


def test_documents_judged_elsewhere_have_their_places_in_the_best_order():
    run, qrels = {"q": dict.fromkeys(["u1", "u2", "u3", "d"], 1.0)}, {"q": {"d": 0}, "p": {"u3": 1}}
    with_price = run_frame(run).with_columns(price=1.0)
    for ties in ("best", "worst"):
        alone = ir.evaluate(run, qrels, ["Hole@1", "Hole@2"], ties=ties)
        beside = ir.evaluate(with_price, qrels, ["Hole@1", "Hole@2", pl.col("price").max()], ties=ties)
        assert_frame_equal(beside.drop("price"), alone, check_exact=True)


def test_a_hole_is_a_document_judged_for_no_query():
    run = {"1": ["a", "b", "c"], "2": ["c", "d"], "3": ["a"]}
    qrels = {"1": {"a": 1}, "2": {"b": 0, "x": 1}, "4": {"a": 1}}
    found = ir.evaluate(run, qrels, ["Hole@2", "Hole", "unj@2"])
    # b is judged for query 2, c and d for none.
    assert found.rows() == [("1", 0.0, 1 / 3, 1 / 2), ("2", 1.0, 1.0, 1.0), ("4", 0.0, 0.0, 0.0)]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_plan_finds_wrong_rows_also_where_no_document_is_judged_at_all(engine):
    run = pl.LazyFrame({"query_id": ["q"], "doc_id": ["d"], "score": [None]}, schema_overrides={"score": pl.Float64})
    nothing = pl.DataFrame(
        {"query_id": ["q"], "doc_id": [None], "relevance": [None]},
        schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Int64},
    )
    for qrels in (nothing, nothing.lazy()):
        with pytest.raises(pl.exceptions.PolarsError, match="scores that are null"):
            ir.evaluate(run, qrels, "Hole").collect(engine=engine)


@pytest.mark.parametrize("k", [1, 3, 10])
@examples(100)
@given(collections(ties=False))
@pytest.mark.whole("a second a case", quick=1)
def test_holes_are_those_of_beir(k, run_and_qrels):
    """BEIR's `hole`: documents of the first k that no query has a judgment of, out of k."""
    run, qrels = run_and_qrels
    pool = {document for judged in qrels.values() for document in judged}
    first = {q: sorted(run.get(q, {}), key=lambda d, q=q: -run[q][d])[:k] for q in qrels}
    wanted = {q: sum(document not in pool for document in first[q]) / k for q in qrels}
    measures = [ir.hole(k=k), pl.col("price").max()]
    with_price = run_frame(run).with_columns(price=1.0)
    for found in (
        ir.evaluate(run_frame(run), qrels_frame(qrels), measures[0]),
        ir.evaluate(with_price, qrels, measures),
    ):
        assert dict(found.select("query_id", f"Hole@{k}").rows()) == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_condensed_labelled_frame_keeps_the_judgments_it_leaves_out_of_the_ranking(lazy):
    labelled = pl.DataFrame(
        {
            "query_id": ["q", "q", "q", "r"],
            "doc_id": list("abcd"),
            "score": [4.0, 3.0, 2.0, 1.0],
            "relevance": [-1, None, 1, -1],
        }
    )
    run, qrels = labelled.drop("relevance"), labelled.drop("score").drop_nulls()
    measures = ["RR", "P@1", "Judged@2", "nDCG", "infAP", "NumRet"]
    wanted = ir.evaluate(run, qrels, measures, judged_only=True)
    found = ir.evaluate(labelled.lazy() if lazy else labelled, None, measures, judged_only=True).lazy().collect()
    assert_frame_equal(found, wanted)
    assert found["query_id"].to_list() == ["q", "r"]
