"""Compatibility: overlap with the ideal ranking."""

import pytest
from generated import as_dicts, collection, collections
from hypothesis import given
from referred import assert_agree, by_ir_measures, by_reference
from suite import examples

import polars_ir as ir

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")

NAMES = ["Compat", "Compat(p=0.5)", "Compat(p=0.99)", "Compat(p=0.01)", "Compat(normalize=False)"]
NAMES += ["Compat(p=0.8,normalize=False)"]


def value(run: object, qrels: object, **parameters: object) -> float:
    """The compatibility of a single query."""
    return ir.evaluate(run, qrels, ir.compatibility(**parameters)).item(0, 1)


def test_worked_by_hand():
    run, qrels = {"q": ["x", "a", "b"]}, {"q": {"a": 2, "b": 1}}
    # Ideal a b. Overlaps at depths 1, 2, 3 are 0, 1, 2; of the ideal ranking with itself 1, 2, 2.
    overlap, ideal = 0.5 * 1 / 2 + 0.25 * 2 / 3, 1 + 0.5 + 0.25 * 2 / 3
    assert value(run, qrels, p=0.5) == pytest.approx(overlap / ideal, abs=1e-15, rel=0)
    assert value(run, qrels, p=0.5, normalize=False) == pytest.approx(overlap / (1 + 0.5 + 0.25), abs=1e-15, rel=0)


def test_equal_grades_have_the_order_of_the_run():
    assert value({"q": ["b", "a"]}, {"q": ["a", "b"]}) == value({"q": ["a", "b"]}, {"q": ["a", "b"]}) == 1.0


def test_documents_that_were_not_retrieved_come_last_among_their_grade():
    # Ideal b c, c being what the run missed: overlaps 1 and 1, of 1 and 2.
    assert value({"q": {"b": -1.0}}, {"q": ["b", "c"]}, p=0.5) == pytest.approx(1.25 / 1.5, abs=1e-15, rel=0)


@pytest.mark.whole("a long table")
def test_the_table_of_weights_is_long_enough():
    run = {"q": [*(f"d{i:05}" for i in range(5000)), "hit"]}
    for p in (0.01, 0.95, 0.9999):
        scores = {document: -float(i) for i, document in enumerate(run["q"])}
        wanted = by_reference({"q": scores}, {"q": {"hit": 1}}, [f"Compat(p={p})"])["q"][f"Compat(p={p})"]
        assert value(run, {"q": ["hit"]}, p=p) == pytest.approx(wanted, rel=1e-9, abs=1e-17)


@pytest.mark.parametrize("name", NAMES)
@examples(40)
@given(collections(grades=(-0.5, 0.0, 0.5, 1.0, 2.0, 3.0)))
@pytest.mark.whole("half a second a case", quick=2)
def test_the_reference_gives_the_same(name, run_and_qrels):
    assert_agree(*run_and_qrels, [ir.parse(name)], by_reference(*run_and_qrels, [name]))


def assert_ir_measures_agrees(run, qrels) -> None:
    assert_agree(run, qrels, list(map(ir.parse, NAMES)), by_ir_measures(run, qrels, NAMES))


@examples(100)
@given(collections(ties=False))
def test_ir_measures_has_the_same_figures(run_and_qrels):
    """Without ties, which it orders by ids rising, and without scores below that of what was not retrieved, 0."""
    run, qrels = run_and_qrels
    assert_ir_measures_agrees(
        {query: {d: 1 + score for d, score in ranking.items()} for query, ranking in run.items()}, qrels
    )


@pytest.mark.parametrize("depth", [40, 1500])
@pytest.mark.whole("half a second a case", quick=1)
def test_ir_measures_has_the_same_figures_of_long_lists(depth):
    run, qrels = collection(21, depth=depth, queries=20)
    run = run.with_columns(score=1.0 + run["score"].rank("ordinal"))
    assert_ir_measures_agrees(as_dicts(run, "score"), as_dicts(qrels, "relevance"))


def test_ir_measures_puts_what_was_not_retrieved_above_negative_scores():
    """Its ideal ranking takes 0 for the score of a document that was not retrieved."""
    run, qrels = {"q": {"b": -1.0}}, {"q": {"b": 1, "c": 1}}
    assert by_ir_measures(run, qrels, ["Compat(p=0.5)"])["q"]["Compat(p=0.5)"] == pytest.approx(
        0.25 / 1.5, abs=1e-15, rel=0
    )
    assert value(run, qrels, p=0.5) == pytest.approx(1.25 / 1.5, abs=1e-15, rel=0)
