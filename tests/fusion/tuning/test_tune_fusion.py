"""Tuning tells what it is worth: by queries it was not made on, and against what needs no choice."""

import random
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir
from polars_ir.fusion.dialects import fusion_of
from polars_ir.fusion.inputs import systems_of, table_of
from polars_ir.fusion.tuning.trials import Candidates, candidates_of, folds_of, simplex
from polars_ir.fusion.tuning.tune_fusion import EQUAL, SINGLE, TUNED

PYDOCS = ir.datasets.load("pydocs")

#: Judgments of one document by two judges.
TWICE = pl.DataFrame({"query_id": "q", "doc_id": ["x", "x"], "relevance": [1, 0], "judge": ["p", "m"]})
OF_SUBTOPICS = TWICE.rename({"judge": "subtopic"})
ROBUST = Path(ir.__file__).parents[2] / "shared" / "data" / "robust03"


@pytest.fixture(scope="module")
def tuned() -> ir.fusion.TunedFusion:
    return ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, "sum", "nDCG@10", norm="min-max", top=100)


def _candidates() -> Candidates:
    table = table_of(PYDOCS.runs, fusion_of("rrf"))
    return candidates_of(table, systems_of(table), PYDOCS.qrels, depth=None, lower_is_better=False)


def _mean(run: object) -> float:
    return ir.evaluate(run, PYDOCS.qrels, "nDCG@10").ir.mean()["nDCG@10"][0]


def test_the_out_of_fold_run_has_the_out_of_fold_figure(tuned):
    assert _mean(tuned.run) == pytest.approx(tuned.summary["out_of_fold"][0], rel=1e-12)


def test_the_best_weights_have_the_in_sample_figure(tuned):
    best = ir.fuse(PYDOCS.runs, "sum", norm="min-max", weights=tuned.weights, top=100)
    assert _mean(best) == pytest.approx(tuned.summary["in_sample"][0], rel=1e-12)
    assert tuned.summary["in_sample"][0] == tuned.trials["nDCG@10"].max()


def test_every_trial_is_measured_as_its_fusion_is(tuned):
    """To the last bit of each query, though it is never fused by itself."""
    for row in tuned.trials.gather_every(13).rows(named=True):
        weights = {name.removeprefix("weight_"): value for name, value in row.items() if name.startswith("weight_")}
        fused = ir.fuse(PYDOCS.runs, "sum", norm="min-max", weights=weights, top=100)
        assert _mean(fused) == pytest.approx(row["nDCG@10"], rel=1e-12)


def test_a_choice_is_the_best_on_the_otherfolds_of():
    """Worked again from the fused runs of a small grid."""
    grid = [[1, 0, 0], [2, 1, 0], [1, 0, 1]]
    found = ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, "rrf", "nDCG@10", grid=grid, folds=3, seed=5)
    systems = sorted(PYDOCS.runs["run"].unique())
    weightings = [dict.fromkeys(systems, 1.0), *(dict(zip(systems, weights, strict=True)) for weights in grid)]
    values = [
        ir.evaluate(ir.fuse(PYDOCS.runs, weights=w, top=1000), PYDOCS.qrels, "nDCG@10").sort("query_id")
        for w in weightings
    ]
    fold_of = folds_of(_candidates().qrels, None, 3, 5)
    for fold in found.choices.rows(named=True):
        inside = fold_of.filter(fold=fold["fold"])["query_id"].to_list()
        outside = [v.filter(~pl.col("query_id").is_in(inside))["nDCG@10"].mean() for v in values]
        assert fold["trial"] == outside.index(max(outside))
        assert fold["chosen_on"] == pytest.approx(max(outside))
        held_out = values[fold["trial"]].filter(pl.col("query_id").is_in(inside))["nDCG@10"].mean()
        assert fold["held_out"] == pytest.approx(held_out)


def test_groups_are_not_parted():
    """Copies of queries: were one in another fold, its choice would know the answer."""
    ids = PYDOCS.qrels["query_id"].unique().sort()
    groups = {query: number // 2 for number, query in enumerate(ids)}
    of = _candidates()
    for by in (groups, pl.DataFrame({"qid": ids, "part": [groups[q] for q in ids]})):
        folds = dict(folds_of(of.qrels, by, 5, 0).rows())
        assert all(len({folds[q] for q in ids if groups[q] == group}) == 1 for group in set(groups.values()))
        assert len(set(folds.values())) == 5
    # Otherwise they would be: half of the neighbours are in other folds.
    assert any(a != b for a, b in zip(*[iter(dict(folds_of(of.qrels, None, 5, 0).rows()).values())] * 2, strict=False))


@pytest.mark.parametrize("none", [None, float("nan")])
def test_a_query_without_a_group_is_one_of_its_own_in_any_form(none):
    queries = pl.DataFrame({"query_id": [f"q{i}" for i in range(20)]})
    for seed in range(5):
        chance = random.Random(seed)
        by = {query: chance.choice(["a", "b", none]) for query in queries["query_id"] if chance.random() < 0.8}
        groups = {query: group for query, group in by.items() if group in ("a", "b")}
        table = pl.DataFrame({"query_id": list(groups), "group": list(groups.values())})
        folds = folds_of(queries, by, 3, seed)
        assert folds.sort("query_id").equals(folds_of(queries, table, 3, seed).sort("query_id"))
        assert folds.sort("query_id").equals(folds_of(queries, table.to_pandas(), 3, seed).sort("query_id"))
    with pytest.raises(ir.IRError, match="none of the judged queries; its ids are 'Q1', and theirs 'q0', 'q1', 'q10'"):
        folds_of(queries, {"Q1": "a"}, 3, 0)


@pytest.mark.whole("a second")
def test_the_order_of_rows_and_runs_changes_nothing(tuned):
    rows = PYDOCS.runs.sample(fraction=1, shuffle=True, seed=1)
    again = ir.tune_fusion(rows, PYDOCS.qrels.reverse(), "sum", "nDCG@10", norm="min-max", top=100)
    assert again.run.equals(tuned.run)
    assert again.trials.equals(tuned.trials)
    assert again.report == tuned.report


@pytest.mark.whole("a second")
def test_equal_scores_are_ordered_in_trials_as_in_the_run():
    """Integer ids, which are compared as text, and scores of which nearly all are tied."""
    runs = {
        name: pl.DataFrame(
            {
                "query_id": [q for q in range(6) for _ in range(30)],
                "doc_id": [(7 * n + 11 * q + step) % 120 for q in range(6) for n in range(30)],
                "score": [n // 10 for _ in range(6) for n in range(30)],
            }
        )
        for step, name in enumerate("abc")
    }
    qrels = runs["a"].gather_every(4).select("query_id", "doc_id", relevance=pl.lit(1))
    found = ir.tune_fusion(runs, qrels, "sum", "AP", grid=[[2, 1, 1], [1, 3, 0]], folds=2)
    for row in found.trials.rows(named=True):
        weights = {name: row[f"weight_{name}"] for name in runs}
        fused = ir.fuse(runs, "sum", weights=weights)
        assert ir.evaluate(fused, qrels, "AP").ir.mean()["AP"][0] == pytest.approx(row["AP"], rel=1e-12)


@pytest.mark.whole("a second")
def test_constants_and_norms_are_tried_too():
    grid = {"weights": [[1, 0, 0]], "k": [1, 60]}
    found = ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, "rrf", "RR", grid=grid, folds=2)
    assert sorted(found.trials["k"]) == [1, 1, 60, 60]
    assert found.k == found.trials["k"][0]
    grid = {"weights": [[1, 0, 0]], "norm": ["z", "min-max"]}
    found = ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, "harmonic", "RR", grid=grid, folds=2)
    assert sorted(found.trials["norm"]) == ["min-max", "min-max", "z", "z"]


def test_the_report_says_that_equal_weights_lose(tuned):
    assert "Equal weights lose 0.0255 against it (significant" in str(tuned)
    assert "not significant" in str(tuned)


def test_the_best_single_run_is_chosen_out_of_fold_and_all_comparisons_are_one_family(tuned):
    values = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, "nDCG@10")
    folds = folds_of(PYDOCS.qrels, None, 5, 0)
    values = values.join(folds, on="query_id")
    wanted = {}
    for (fold,), of_fold in values.group_by("fold"):
        others = values.filter(pl.col("fold") != fold).group_by("run").agg(pl.col("nDCG@10").mean())
        best = others.sort("nDCG@10")["run"][-1]
        wanted |= dict(of_fold.filter(run=best).select("query_id", "nDCG@10").iter_rows())
    single = tuned.per_query.filter(run=SINGLE)
    assert dict(single.select("query_id", "nDCG@10").iter_rows()) == wanted
    assert tuned.summary["best_single_mean"].item() == pytest.approx(sum(wanted.values()) / len(wanted), rel=1e-12)
    pairs = [(EQUAL, SINGLE), (TUNED, SINGLE), (TUNED, EQUAL)]
    assert tuned.comparison.select("run", "baseline").rows() == pairs
    p = tuned.comparison["p"].sort()
    assert tuned.comparison["p_corrected"].min() == pytest.approx(3 * p[0], rel=1e-12)


def test_steps_of_weights_add_up_to_one():
    for systems, count in ((["a", "b"], 11), (list("abc"), 66), (list("abcd"), 286)):
        weightings = list(simplex(systems))
        assert len(weightings) == count
        assert all(sum(weights.values()) == pytest.approx(1) for weights in weightings)
        assert len({tuple(weights.values()) for weights in weightings}) == count


@pytest.mark.skipif(not ROBUST.exists(), reason="needs the shared runs")
@pytest.mark.whole("seconds")
def test_on_robust_equal_weights_lose_and_tuning_is_not_significant():
    runs = {name: ir.read_run(ROBUST / f"{name}.run.gz") for name in ("pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc")}
    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz")
    best = {"pircRBa1": 0.8, "MU03rob01": 0, "UIUC03Rd1": 0.1, "humR03dc": 0.1}
    figures = {
        "best single": ir.evaluate(runs["pircRBa1"], qrels, "AP"),
        "rrf": ir.evaluate(ir.fuse(runs, top=1000), qrels, "AP"),
        "min-max": ir.evaluate(ir.fuse(runs, "sum", norm="min-max", top=1000), qrels, "AP"),
        "z": ir.evaluate(ir.fuse(runs, "sum", norm="z", top=1000), qrels, "AP"),
        "dbsf": ir.evaluate(ir.fuse(runs, "dbsf", top=1000), qrels, "AP"),
        "tuned in-sample": ir.evaluate(ir.fuse(runs, weights=best, top=1000), qrels, "AP"),
    }
    means = {name: round(frame.ir.mean()["AP"][0], 3) for name, frame in figures.items()}
    expected = {
        "best single": 0.310,
        "rrf": 0.274,
        "min-max": 0.263,
        "z": 0.281,
        "dbsf": 0.277,
        "tuned in-sample": 0.318,
    }
    assert means == expected
    weights = [[1, 0, 0, 0], [8, 0, 1, 1], [7, 0, 2, 1], [8, 1, 1, 0], [6, 1, 2, 1]]
    found = ir.tune_fusion(runs, qrels, "rrf", "AP", grid=weights)
    assert found.summary["out_of_fold"][0] == pytest.approx(0.315, abs=0.004)
    assert "not significant" in found.report
    assert "Equal weights lose" in found.report


@pytest.mark.whole("tunes weights")
def test_of_a_cost_a_higher_value_is_a_loss():
    judged, other = {f"q{i}": ["d"] for i in range(6)}, {f"q{i}": ["x"] for i in range(4)}
    runs = {"judged": judged, "other": other, "another": other}
    report = ir.tune_fusion(runs, judged, "rrf", "Hole@1", grid=[[1, 0, 0]], folds=2).report
    assert report.startswith("Hole@1 (lower is better) of the tuned fusion: 0.0000 out of fold")
    assert "Equal weights lose 0.6667 against it" in report


# The possible gain.


def test_complementarity_by_hand():
    """a has x, y and u, b has y, z and v; x, y, z are relevant, u and v are not."""
    runs = {"a": {"q": ["x", "y", "u"]}, "b": {"q": ["v", "z", "y"]}}
    found = ir.complementarity(runs, {"q": ["x", "y", "z", "w"]}, "RR")
    assert found.pairs.select("relevant_overlap", "other_overlap").row(0) == (2 * 1 / 4, 0.0)
    assert found.systems.rows() == [("a", 2, 1, 1.0), ("b", 2, 1, 0.5)]
    ceilings = dict(found.ceilings.rows())
    assert ceilings["best single run"] == ceilings["oracle routing"] == ceilings["oracle weights"] == 1.0
    assert (ceilings["recall of the best run"], ceilings["recall of all runs"]) == (2 / 4, 3 / 4)


def test_oracles_are_no_worse_than_what_they_choose_from():
    ceilings = dict(ir.complementarity(PYDOCS.runs, PYDOCS.qrels, "nDCG@10").ceilings.rows())
    assert ceilings["best single run"] < ceilings["oracle routing"] < ceilings["oracle weights"]
    assert ceilings["recall of the best run"] < ceilings["recall of all runs"]


@pytest.mark.whole("a second")
def test_shapley_values_are_the_mean_gain_over_all_orders():
    found = ir.contribution(PYDOCS.runs, PYDOCS.qrels, "rrf", "nDCG@10", cost={"bm25": 1, "tfidf": 1, "chargrams": 5})
    systems = sorted(PYDOCS.runs["run"].unique())

    def worth(subset: tuple[str, ...]) -> float:
        runs = PYDOCS.runs.filter(pl.col("run").is_in(subset))
        return 0.0 if not subset else _mean(runs.drop("run") if len(subset) == 1 else ir.fuse(runs))

    gains = dict.fromkeys(systems, 0.0)
    for order in permutations(systems):
        for place, system in enumerate(order):
            gains[system] += (worth(order[: place + 1]) - worth(order[:place])) / 6
    assert dict(found.select("run", "shapley").rows()) == pytest.approx(gains)
    assert found["shapley"].sum() == pytest.approx(found["all"][0])
    # Nothing is better than bm25 alone, which is as cheap as any.
    assert dict(found.select("run", "pareto").rows()) == {"bm25": True, "chargrams": False, "tfidf": False}
    # Together a and b cost as much as c, in whose place they are as good.
    of_two = {"a": {"q": ["x"], "s": ["z"]}, "b": {"r": ["x"], "s": ["z"]}, "c": {"q": ["x"], "r": ["x"]}}
    qrels = {"q": ["x"], "r": ["x"]}
    for costs, on_front in [
        ({"a": 0.1, "b": 0.2, "c": 0.3}, ["a", "b", "c"]),
        ({"a": 110000.1, "b": 220000.2, "c": 330000.3}, ["a", "b", "c"]),
        ({"a": 1e-13, "b": 2e-13, "c": 5e-13}, ["a", "b"]),
    ]:
        found = ir.contribution(of_two, qrels, "rrf", "P@1", cost=costs)
        assert sorted(found.filter("pareto")["run"]) == on_front


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, grid=[[1, 2]]), "must be as many as runs"),
        (lambda: ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, missing="none"), "missing must be one of 'skip', 'zero'"),
        (lambda: ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, depth=0), "depth must be a whole number, 1 or more"),
        (
            lambda: ir.contribution(PYDOCS.runs, PYDOCS.qrels, cost={"bm25": "?", "chargrams": 1, "tfidf": 1}),
            "must be a dict with a number for each",
        ),
        (lambda: ir.contribution(PYDOCS.runs, PYDOCS.qrels, missing="none"), "missing must be one of 'skip', 'zero'"),
        (lambda: ir.complementarity(PYDOCS.runs, PYDOCS.qrels, depth=0), "depth must be a whole number, 1 or more"),
        (lambda: ir.complementarity(PYDOCS.runs, PYDOCS.qrels, rel="high"), "rel must be a number"),
        (
            lambda: ir.contribution({"a": {"q": ["x"]}, "b": {"q": ["y"]}}, TWICE.lazy()),
            "| 0   | q        | x      | 1         |",
        ),
        (
            lambda: ir.contribution(PYDOCS.runs, OF_SUBTOPICS, measure="alpha_nDCG@5"),
            "contribution goes with measures of documents; these are of subtopics",
        ),
        (
            lambda: ir.tune_fusion(PYDOCS.runs, OF_SUBTOPICS, measure=ir.full_recall(k=5)),
            "tune_fusion goes with measures of documents; these are of subtopics",
        ),
        (
            lambda: ir.complementarity(PYDOCS.runs, PYDOCS.qrels, ir.rank.max().alias("unique")),
            "measure is named 'unique', like a column of the result of complementarity. Give it another name.",
        ),
        (
            lambda: ir.tune_fusion(PYDOCS.runs, PYDOCS.qrels, measure=ir.rank.max().alias("trial")),
            "measure is named 'trial', like a column of the result of tune_fusion",
        ),
    ],
)
def test_what_can_not_be_tuned_is_an_error(call, message):
    assert message in message_of(call)


@pytest.mark.parametrize("name", ["tune_fusion", "contribution", "complementarity"])
def test_a_second_measure_is_an_error_and_not_left_out(name):
    with pytest.raises(ir.IRError, match=f"{name} takes one measure; got 'nDCG@10', 'AP'"):
        getattr(ir, name)(PYDOCS.runs, PYDOCS.qrels, measure=["nDCG@10", "AP"])
