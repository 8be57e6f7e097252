"""Judgments that are prepared once give what they give anew each time."""

import polars as pl
import pytest
from generated import collection, collection_of, every_measure
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir
from polars_ir.engine import in_memory as numbers

RUN, QRELS = collection(4, queries=40, depth=20)


@pytest.mark.parametrize(
    "options", [{}, {"ties": "best"}, {"judged_only": True}, {"bounds": True}, {"missing": "skip"}]
)
@pytest.mark.whole("a third of a second a case", quick=2)
def test_every_call_gives_the_same_figures(options):
    prepared = ir.judgments(QRELS)
    for measures in (every_measure()[:20], "bpref", every_measure()[:20]):
        assert_frame_equal(
            ir.evaluate(RUN, prepared, measures, **options),
            ir.evaluate(RUN, QRELS, measures, **options),
            check_exact=True,
        )


def test_they_are_numbered_once(monkeypatch):
    tune(monkeypatch)
    calls = []
    of = numbers.Judgments.of
    monkeypatch.setattr(numbers.Judgments, "of", lambda *args, **how: calls.append(args) or of(*args, **how))
    prepared = ir.judgments(QRELS)
    for some in (RUN, RUN[:100], RUN.reverse()):
        some.ir.ndcg(prepared, k=10, missing="skip")
    assert len(calls) == 1


def test_every_function_takes_them():
    prepared = ir.judgments(QRELS)
    assert_frame_equal(RUN.ir.judge(prepared), RUN.ir.judge(QRELS))
    assert_frame_equal(RUN.ir.validate(prepared), RUN.ir.validate(QRELS))
    query = QRELS["query_id"][0]
    assert_frame_equal(RUN.ir.explain(prepared, "AP", query), RUN.ir.explain(QRELS, "AP", query))
    plan = ir.evaluate(RUN.lazy(), prepared, "AP")
    assert_frame_equal(plan.collect(), RUN.ir.evaluate(QRELS, "AP"))


@pytest.mark.parametrize("kind", ["subtopics", "preferences"])
def test_judgments_of_every_kind(kind):
    run, qrels = collection_of(kind, 5)
    measures = every_measure(kind)[:5]
    prepared = ir.judgments(qrels)
    for _ in range(2):
        assert_frame_equal(ir.evaluate(run, prepared, measures), ir.evaluate(run, qrels, measures), check_exact=True)


def test_ids_of_another_integer_type_than_the_run():
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": pl.Series([7, 8], dtype=pl.UInt64), "score": [2.0, 1.0]})
    prepared = ir.judgments({1: {8: 1}})
    for some in (run, run.cast({"doc_id": pl.Int64}), run):
        assert ir.evaluate(some, prepared, "RR")["RR"].item() == 0.5


def test_changes_of_the_frame_do_not_reach_them():
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d1"], "relevance": [1]})
    prepared = ir.judgments(qrels)
    qrels.replace_column(2, pl.Series("relevance", [0]))
    assert ir.evaluate({"q": ["d1"]}, prepared, "RR")["RR"].item() == 1.0


def test_wrong_rows_are_shown_at_each_use():
    prepared = ir.judgments(pl.concat([QRELS, QRELS[:1]]))
    for _ in range(2):
        with pytest.raises(ir.IRError, match="repeat the ids of another"):
            ir.evaluate(RUN, prepared, "AP")


def test_they_are_given_in_any_kind():
    assert ir.evaluate({"q": ["d1"]}, ir.judgments(ir.judgments({"q": {"d1": 1}})), "AP")["AP"].item() == 1.0
    assert repr(ir.judgments(QRELS.lazy())).startswith("<judgments: ")
