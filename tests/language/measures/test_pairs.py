"""Pairwise accuracy and fall-out."""

import polars as pl
import pytest
from generated import collections, qrels_frame, run_frame
from hypothesis import given
from referred import assert_agree, by_reference
from suite import examples

import polars_ir as ir

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


def value(run: object, qrels: object, measure: str | pl.Expr, **options: object) -> float | None:
    """The figure of a single query."""
    return ir.evaluate(run, qrels, measure, **options).item(0, 1)


def in_order(run: dict[str, float]) -> list[str]:
    """The documents of a ranking: scores falling, equal scores by id falling."""
    return sorted(run, key=lambda document: (run[document], document), reverse=True)


@pytest.mark.parametrize(
    ("relevant", "measure", "wanted"),
    [
        # a b c d: the pairs are (a, b), (a, d), (c, b) and (c, d), of which (c, b) is in the wrong order.
        ("ac", "Accuracy", 3 / 4),
        # a b c: (a, b) and (c, b).
        ("ac", "Accuracy@3", 1 / 2),
        ("d", "Accuracy", 0.0),
        ("abcd", "Accuracy", 1.0),
        ("a", "Accuracy@1", 1.0),
        ("d", "Accuracy@3", 0.0),
        ("ac", "Accuracy@100", 3 / 4),
    ],
)
def test_accuracy_is_the_share_of_pairs_in_the_right_order(relevant, measure, wanted):
    assert value({"q": list("abcd")}, {"q": list(relevant)}, measure) == wanted


def test_unjudged_documents_are_not_relevant_to_accuracy():
    run = {"q": list("abcd")}
    assert (
        value(run, {"q": ["c"]}, "Accuracy")
        == value(run, {"q": {"a": 0, "b": -1, "c": 1, "d": 0}}, "Accuracy")
        == 1 / 3
    )


def test_accuracy_is_undefined_only_where_no_document_is_relevant():
    qrels = {"1": {"a": 0}, "2": {"z": 1}, "3": {"z": 1}}
    found = ir.evaluate({"1": ["a"], "2": ["a"]}, qrels, "Accuracy", undefined=None)
    assert found["Accuracy"].to_list() == [None, 0.0, 0.0]


@pytest.mark.parametrize("name", ["Accuracy@1", "Accuracy(rel=2)@5", "Accuracy", "Fallout@3", "Fallout(n_docs=20)@3"])
@examples(100)
@given(collections())
@pytest.mark.whole("a second a case", quick=2)
def test_pairs_and_documents_are_those_that_the_reference_counts(name, run_and_qrels):
    assert_agree(*run_and_qrels, [ir.parse(name)], by_reference(*run_and_qrels, [name]))


@examples(150)
@given(collections(ties=False))
def test_ir_measures_has_the_same_accuracy(run_and_qrels):
    """It gives no figure for a query without a relevant document, and divides by 0 where all retrieved are relevant."""
    oracle = pytest.importorskip("ir_measures")
    run, qrels = run_and_qrels
    for query in [query for query in run if not any(qrels.get(query, {}).get(d, 0) < 1 for d in run[query])]:
        del run[query]
    for k in (None, 3):
        if k and any(all(qrels.get(q, {}).get(d, 0) >= 1 for d in in_order(run[q])[:k]) for q in run):
            continue
        theirs = oracle.Accuracy if k is None else oracle.Accuracy @ k
        wanted = {metric.query_id: metric.value for metric in oracle.iter_calc([theirs], qrels, run)}
        ours = dict(ir.evaluate(run_frame(run), qrels_frame(qrels), ir.accuracy(k=k)).iter_rows())
        assert wanted.keys() <= ours.keys()
        assert {query: ours.pop(query) for query in wanted} == pytest.approx(wanted, abs=1e-15, rel=0)
        assert set(ours.values()) <= {0.0}


def test_ir_measures_leaves_queries_without_a_hit_out_and_divides_by_zero():
    oracle = pytest.importorskip("ir_measures")
    run, missed, all_relevant = {"q": {"a": 2.0, "b": 1.0}}, {"q": {"c": 1}}, {"q": {"a": 1, "b": 1}}
    assert list(oracle.iter_calc([oracle.Accuracy], missed, run)) == []
    assert value(run, missed, "Accuracy") == 0.0
    with pytest.raises(ZeroDivisionError):
        list(oracle.iter_calc([oracle.Accuracy], all_relevant, run))
    assert value(run, all_relevant, "Accuracy") == 1.0


@examples(100)
@given(collections(ties=False))
def test_scikit_learn_has_the_same_area_under_the_curve(run_and_qrels):
    metrics = pytest.importorskip("sklearn.metrics")
    run, qrels = run_and_qrels
    for query, figure in ir.evaluate(run_frame(run), qrels_frame(qrels), "Accuracy").iter_rows():
        ranking = run.get(query, {})
        is_relevant = [qrels[query].get(document, 0) >= 1 for document in ranking]
        if 0 < sum(is_relevant) < len(is_relevant):
            assert figure == pytest.approx(metrics.roc_auc_score(is_relevant, list(ranking.values())), abs=1e-12, rel=0)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        # a b c d, of which b and d are judged not relevant, and e, which is not retrieved; c is not judged.
        ("Fallout", 2 / 3),
        ("Fallout@2", 1 / 3),
        ("Fallout@1", 0.0),
        # With grades from 2 on relevant, a is not.
        ("Fallout(rel=2)@1", 1 / 4),
        # b, c and d of the 9 documents that are not a.
        ("Fallout(n_docs=10)", 3 / 9),
        ("Fallout(n_docs=10)@2", 1 / 9),
        ("Fallout(n_docs=10)@50", 3 / 9),
        ("Fallout(rel=2,n_docs=10)", 4 / 10),
    ],
)
def test_fallout_is_what_was_retrieved_in_vain(measure, wanted):
    assert value({"q": list("abcd")}, {"q": {"a": 1, "b": 0, "d": -1, "e": 0}}, measure) == wanted


def test_fallout_is_defined_for_every_query():
    qrels = {"1": {"a": 0, "b": 0}, "2": {"a": 1}, "3": {"a": 0}}
    found = ir.evaluate({"1": ["a"], "2": ["a"]}, qrels, ["Fallout", "Fallout(n_docs=3)"], undefined=None)
    assert found.rows() == [("1", 1 / 2, 1 / 3), ("2", 0.0, 0.0), ("3", 0.0, 0.0)]


def test_fallout_of_a_collection_of_relevant_documents_is_0():
    assert value({"q": ["a"]}, {"q": ["a"]}, "Fallout(n_docs=1)") == 0.0


def test_a_collection_smaller_than_what_was_found_is_an_error():
    with pytest.raises((ir.IRError, pl.exceptions.InvalidOperationError), match="Fallout: n_docs must be the size"):
        value({"q": list("abc")}, {"q": ["a"]}, "Fallout(n_docs=2)")
