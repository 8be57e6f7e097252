"""`bounds=True`: what the unjudged documents hide, against every judging there could be."""

from copy import copy
from itertools import product
from math import log2

import polars as pl
import pytest
from generated import collection, collections, every_measure, qrels_frame, run_frame
from hypothesis import given
from polars.testing import assert_frame_equal
from suite import examples
from tuned import tune

import polars_ir as ir
from polars_ir.engine.bounds import Judging

#: Measures that are not monotone, and yet have exact bounds: shares of the relevant documents at a cutoff.
SHARES = ["R@2", "R_cap@2", "F@2", "R", "F", "CatBoost RecallAt@1"]

#: Measures whose value no number of unjudged documents can be told to bound.
MONOTONE = [info for info in ir.CATALOG.values() if info.monotone and info.kind == "documents" and info.name != "CWL"]
CUT = [info.function(k=2) for info in MONOTONE if "k" in info.parameters]
EXACT = [*(info.function() for info in MONOTONE), *CUT, *(ir.parse(name) for name in SHARES)]
OTHER = [ir.parse(name) for name in ("nDCG@2", "nDCG", "AP", "Rprec", "bpref", "Q", "infAP")]

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


def names(measures: list[pl.Expr]) -> list[str]:
    return [measure.meta.output_name() for measure in measures]


def every_judging(run: dict, qrels: dict, measures: list[pl.Expr]) -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    """The lowest and the highest value of the measures over all grades that unjudged documents could have."""
    highest = max(1, *(grade for judged in qrels.values() for grade in judged.values()))
    extremes = {}
    for query, judged in qrels.items():
        unjudged = [document for document in run.get(query, {}) if document not in judged]
        judgings = [
            {**judged, **dict(zip(unjudged, grades, strict=True))}
            for grades in product(range(highest + 1), repeat=len(unjudged))
        ]
        copies = {f"{query}.{i}": judging for i, judging in enumerate(judgings)}
        ranked = dict.fromkeys(copies, run[query]) if query in run else {}
        values = ir.evaluate(run_frame(ranked), qrels_frame(copies), measures).drop("query_id")
        extremes[query] = values.min(), values.max()
    return extremes


@pytest.fixture(scope="module")
def small() -> tuple[dict, dict]:
    """Rankings with up to four unjudged documents, at the top, within and at the end."""
    run = {"1": list("abcdef"), "2": list("abc"), "3": list("fedcba"), "4": list("ab")}
    qrels = {"1": {"b": 2, "d": 0, "x": 1}, "2": {"x": 1, "a": -1}, "3": {"f": 1, "e": 2}, "4": {"a": 0}, "5": {"a": 1}}
    return {q: {d: -float(i) for i, d in enumerate(ranking)} for q, ranking in run.items()}, qrels


@pytest.mark.parametrize("measure", EXACT, ids=names(EXACT))
@pytest.mark.whole("many cases", quick=10)
def test_the_bounds_are_those_of_all_judgings(measure, small):
    run, qrels = small
    name = measure.meta.output_name()
    found = ir.evaluate(run_frame(run), qrels_frame(qrels), measure, bounds=True)
    extremes = every_judging(run, qrels, [measure])
    for row in found.iter_rows(named=True):
        lowest, highest = extremes[row["query_id"]]
        assert row[f"{name} low"] == pytest.approx(lowest[name].item(), abs=1e-12, rel=0)
        assert row[f"{name} high"] == pytest.approx(highest[name].item(), abs=1e-12, rel=0)


def test_the_bounds_of_other_measures_are_values_that_some_judging_gives(small):
    run, qrels = small
    found = ir.evaluate(run_frame(run), qrels_frame(qrels), OTHER, bounds=True)
    extremes = every_judging(run, qrels, OTHER)
    for row in found.iter_rows(named=True):
        lowest, highest = extremes[row["query_id"]]
        for name in names(OTHER):
            # bpref and infAP tell unjudged documents from those judged not relevant: as it is, their value is another.
            value = row[name]
            assert min(lowest[name].item(), value) - 1e-12 <= row[f"{name} low"] <= value <= row[f"{name} high"]
            assert row[f"{name} high"] <= max(highest[name].item(), value) + 1e-12


def test_bounds_by_hand():
    found = ir.evaluate({"q": ["a", "b", "c"]}, {"q": {"b": 1, "x": 1}}, ["P@2", "R@2"], bounds=True)
    assert found.columns == ["query_id", "P@2", "P@2 low", "P@2 high", "R@2", "R@2 low", "R@2 high"]
    # a could be relevant, and c, below the cutoff, could be one that was missed.
    assert found.row(0) == ("q", 0.5, 0.5, 1.0, 1 / 2, 1 / 3, 2 / 3)


@examples(60)
@given(collections())
def test_a_higher_grade_never_lowers_a_monotone_measure(run_and_qrels):
    run, qrels = run_and_qrels
    measures = [info.function() for info in MONOTONE] + CUT
    cost = {info.name for info in MONOTONE if info.best == info.bounds[0]}
    # Each judgment raised makes a query of its own, so that all are evaluated at once.
    raised = {
        (query, document): {**judged, document: grade + 1}
        for query, judged in qrels.items()
        for document, grade in judged.items()
    }
    before, after = (
        ir.evaluate(
            run_frame({f"{query} {document}": run.get(query, {}) for query, document in raised}),
            qrels_frame({f"{query} {document}": of(query, document) for query, document in raised}),
            measures,
        ).sort("query_id")
        for of in (lambda query, _: qrels[query], lambda query, document: raised[query, document])
    )
    for name in names(measures):
        change = (after[name] - before[name]) * (-1 if name.partition("(")[0].partition("@")[0] in cost else 1)
        assert change.min() >= -1e-12, name


@pytest.mark.whole("many cases")
@examples(60)
@given(collections())
def test_a_higher_grade_beyond_the_cutoff_never_raises_a_measure_that_falls_beyond(run_and_qrels):
    run, qrels = run_and_qrels
    falling = [info.function(k=2) for info in ir.CATALOG.values() if info.falls_beyond]
    assert {"nDCG@2", "AP@2", *SHARES[:3]} <= set(names(falling))
    ranks = {(q, d): rank for q, d, rank in ir.judge(run, qrels).select("query_id", "doc_id", "rank").rows()}
    beyond = {
        (query, document): {**judged, document: grade + 1}
        for query, judged in qrels.items()
        for document, grade in judged.items()
        if (ranks[query, document] or 3) > 2
    }
    runs = run_frame({f"{query} {document}": run.get(query, {}) for query, document in beyond})
    before, after = (
        ir.evaluate(runs, qrels_frame({f"{q} {d}": of(q, d) for q, d in beyond}), falling).sort("query_id")
        for of in (lambda query, _: qrels[query], lambda query, document: beyond[query, document])
    )
    for name in names(falling):
        assert not (after[name] > before[name]).filter(before[name] > 0).any(), name


RUN, QRELS = {"q": list("abcdef")}, {"q": {"b": 1, "e": 0, "x": 1}}


def bounds(measure: pl.Expr | str, run: object = RUN, qrels: object = QRELS, **options: object) -> tuple:
    """The value of a measure and its bounds."""
    return ir.evaluate(run, qrels, measure, bounds=True, **options).row(0)[1:]


def test_the_name_of_a_measure_does_not_matter():
    assert bounds(ir.recall(k=3).alias("mine")) == bounds("R@3") == (1 / 2, 1 / 4, 3 / 4)


def test_other_measures_of_a_call_do_not_matter():
    found = ir.evaluate(RUN, QRELS, ["bpref", "P@1", "R@1", "nDCG@4"], bounds=True)
    assert found.select("bpref", "bpref low", "bpref high").row(0) == bounds("bpref")


def test_a_grade_that_the_measure_asks_for_can_be_given():
    assert bounds("P(rel=2)@2", {"q": ["a", "b"]}, {"q": {"a": 1}}) == (0.0, 0.0, 1 / 2)
    assert bounds("DCG(gains={0.5:5})", {"q": ["a", "b"]}, {"q": {"b": 0.5}})[2] == 5 + 5 / log2(3)


def test_where_nothing_is_relevant_yet_the_bounds_are_those_of_a_value_of_0():
    for undefined in (0.0, None):
        value, *ends = bounds("P@3", {"q": list("abc")}, {"q": {"x": 0}}, undefined=undefined)
        assert (value, ends) == (undefined, [0.0, 1.0])
    # Where a tool counts 1, one relevant document at the end makes the least.
    assert bounds("lightgbm ndcg", {"q": list("abc")}, {"q": {"x": 0}}) == (1, 1 / 2, 1)


@pytest.mark.parametrize("name", ["Judged@3", "unj@3", "Hole@3", "RBP_residual", "infAP", "bpref"])
def test_a_value_that_tells_unjudged_documents_apart_is_within_its_bounds(name):
    value, low, high = bounds(name)
    assert low <= value <= high


def test_a_measure_of_the_name_of_a_bound_is_an_error():
    with pytest.raises(ir.IRError, match="two measures are named 'AP low'"):
        ir.evaluate(RUN, QRELS, ["AP", ir.precision(k=1).alias("AP low")], bounds=True)


def test_where_all_is_judged_the_bounds_are_the_value():
    run, qrels = collection(3)
    judged = run.join(qrels, on=["query_id", "doc_id"], how="semi")
    found = ir.evaluate(judged, qrels, ["P@5", "AP", "nDCG@10"], bounds=True)
    for name in ("P@5", "AP", "nDCG@10"):
        assert found[name].equals(found[f"{name} low"], null_equal=True)
        assert found[name].equals(found[f"{name} high"])


@pytest.mark.whole("bounds of every measure")
def test_bounds_leave_the_measures_as_they_are():
    run, qrels = collection(4)
    wanted = ir.evaluate(run, qrels, every_measure(), ties="worst")
    # All at once are slow to plan.
    for measures in batched(every_measure(), 40):
        found = ir.evaluate(run, qrels, measures, ties="worst", bounds=True)
        names = [measure.meta.output_name() for measure in measures]
        assert_frame_equal(found.select("query_id", *names), wanted.select("query_id", *names))


def batched(measures: list[pl.Expr], size: int) -> list[list[pl.Expr]]:
    """The measures in lists of so many."""
    return [measures[first : first + size] for first in range(0, len(measures), size)]


def test_bounds_of_a_plan_and_of_several_systems_are_those_of_a_frame():
    run, qrels = collection(5)
    other, _ = collection(6)
    measures = ["P@5", "R@5", "nDCG@10"]
    wanted = ir.evaluate(run, qrels, measures, bounds=True)
    assert_frame_equal(ir.evaluate(run.lazy(), qrels, measures, bounds=True).collect(), wanted, check_exact=True)
    together = ir.evaluate({"a": run, "b": other}, qrels, measures, bounds=True)
    assert_frame_equal(together.filter(pl.col("run") == "a").drop("run"), wanted, check_exact=True)


def test_that_nothing_was_judged_for_a_query_is_no_unjudged_document():
    found = ir.evaluate({"q": ["a"]}, {"q": []}, ["NumRel", "R@1"], bounds=True)
    assert found.rows() == [("q", 0, 0, 1, 0.0, 0.0, 1.0)]


def test_bounds_add_no_query_that_nobody_judged():
    labelled = pl.DataFrame({"query_id": ["q", "r"], "doc_id": ["a", "b"], "score": 1.0, "relevance": [1, None]})
    assert ir.evaluate(labelled, None, "P@1", bounds=True)["query_id"].to_list() == ["q"]
    assert labelled.lazy().pipe(ir.evaluate, None, "P@1", bounds=True).collect()["query_id"].to_list() == ["q"]


def test_the_highest_grade_is_one_that_a_map_of_gains_has():
    run, qrels = {"q": ["a", "b"]}, {"q": {"b": -1}}
    assert ir.evaluate(run, qrels, ir.dcg(gains={-1: 3}, discount="none"), bounds=True).row(0) == ("q", 3.0, 3.0, 6.0)


def test_where_a_higher_grade_has_a_lower_gain_the_documents_beside_the_cutoff_are_judged_too():
    # All tied, `a` judged 1 leads at best: were only the unjudged one behind it relevant, it had lost its place.
    run, qrels = {"q": dict.fromkeys("abcd", 1.0)}, {"q": {"a": 1}}
    falling = pl.when(ir.relevance == 1).then(1.0).when(ir.relevance == 2).then(0.5).otherwise(0.0).alias("falling")
    everything, above = 0.5 + 0.5 / log2(3), 0.5 + 1 / log2(3)
    # The judging of grade 2 is of the map, or of a document that the run did not retrieve.
    for gains, judged in (({1: 1, 2: 0.5}, qrels), (falling, {"q": {"a": 1, "z": 2}})):
        value, low, high = bounds(ir.dcg(k=2, gains=gains), run, judged, ties="best")
        assert (value, low) == (1.0, pytest.approx(everything))
        assert high == pytest.approx(above)


@pytest.mark.parametrize("ties", ["doc_id", "best", "worst"])
def test_judgings_that_change_nothing_are_left_out(ties, monkeypatch):
    run, qrels = collection(6)
    measures = ["nDCG@3", "R@3", "R@100", "AP@3", "P@50"]
    tune(monkeypatch, small=0)
    found = [ir.evaluate(run, qrels, measures, bounds=True, ties=ties)]
    monkeypatch.setattr(Judging, "within", lambda judging, _: judging)
    for info in filter(lambda info: info.falls_beyond, ir.CATALOG.values()):
        changed = copy(info)
        object.__setattr__(changed, "falls_beyond", False)
        monkeypatch.setitem(ir.CATALOG, info.name, changed)
    found.append(ir.evaluate(run, qrels, measures, bounds=True, ties=ties))
    assert_frame_equal(*found, check_exact=True)


@pytest.mark.parametrize("undefined", [0.0, None])
def test_measures_that_are_grouped_apart_have_the_same_bounds(undefined, monkeypatch):
    run, qrels = collection(5)
    options = {"bounds": True, "undefined": undefined}
    for measures in (["nDCG@5", "AP", "R@3"], ["nDCG@5", "bpref"]):
        found = []
        for apart in (0, 10**9):
            tune(monkeypatch, apart=apart)
            found.append(ir.evaluate(run, qrels, measures, **options))
        assert_frame_equal(*found, check_exact=True)


def test_a_text_has_no_bounds():
    found = ir.evaluate({"q": ["a", "b"]}, {"q": ["b"]}, [ir.relevance_string(), "P@1"], bounds=True)
    assert found.rows() == [("q", "-1", 0.0, 0.0, 1.0)]


def test_the_mean_has_the_bounds_too():
    run, qrels = collection(7)
    mean = ir.mean(ir.evaluate(run, qrels, ["P@5"], bounds=True))
    assert mean.columns == ["P@5", "P@5 low", "P@5 high"]
    assert mean["P@5 low"].item() <= mean["P@5"].item() <= mean["P@5 high"].item()


def test_expectations_under_ties_have_bounds_of_documents_that_are_judged():
    run, qrels = {"q": {"a": 1.0, "b": 1.0, "d": 0.5}}, {"q": {"d": 1, "c": 1}}
    found = ir.evaluate(run, qrels, ["RR", "AP"], ties="expected", bounds=True).row(0, named=True)
    judged = {"q": {**qrels["q"], "a": 1, "b": 1}}
    for measure, value in (
        ir.evaluate(run, judged, ["RR", "AP"], ties="expected").drop("query_id").row(0, named=True).items()
    ):
        assert found[f"{measure} high"] == value > found[measure] == found[f"{measure} low"]
