"""`train`: by hand, against ranx where it is installed, and what it refuses."""

import math
import random
from itertools import pairwise

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.fusion.learned.learners import LEARNERS, SEGFUSE_ENDS
from polars_ir.fusion.methods import TRAINED
from polars_ir.fusion.tuning.trials import folds_of

PYDOCS = ir.datasets.load("pydocs")

#: Two training queries; `a` has the relevant document at ranks 1 and 3, `b` at rank 2 and nowhere.
A = {"q1": ["r", "x", "y"], "q2": ["x", "y", "r", "z"]}
B = {"q1": ["x", "r"], "q2": ["x", "y"]}
QRELS = {"q1": {"r": 1, "x": 0}, "q2": {"r": 2}}

#: The fused runs: `n` at rank 1 of `a`, `m` at ranks 2 and 1, `o` at rank 3 of `a`.
FUSED = {"a": {"q": ["n", "m", "o"]}, "b": {"q": ["m"]}}


def _table(trained: ir.fusion.Method) -> dict[tuple[str, int], float]:
    return {(run, bucket): value for run, bucket, value, _ in trained.table.rows()}


def _scores(method: ir.fusion.Method, runs: object = FUSED, **options: object) -> dict[str, float]:
    return dict(ir.fuse(runs, method, **options).select("doc_id", "score").rows())


def _trained(method: str, **options: object) -> ir.fusion.Method:
    return ir.fusion.train(method, {"a": A, "b": B}, QRELS, **options)


def test_posfuse_is_the_share_of_relevant_documents_at_a_rank_of_the_lists_that_have_it():
    method = _trained("posfuse")
    expected = {("a", 1): 1 / 2, ("a", 2): 0, ("a", 3): 1 / 2, ("a", 4): 0, ("b", 1): 0, ("b", 2): 1 / 2}
    assert _table(method) == expected
    assert method.table["n_queries"].to_list() == [2, 2, 2, 1, 2, 2]
    assert method.table.schema == {"run": pl.String, "bucket": pl.Int64, "value": pl.Float64, "n_queries": pl.UInt32}
    assert _scores(method) == {"n": 1 / 2, "m": 0, "o": 1 / 2}


def test_slidefuse_is_the_mean_over_a_window_within_the_list():
    assert _scores(_trained("slidefuse", window=1)) == pytest.approx({"n": 1 / 4, "m": 1 / 3 + 0, "o": 1 / 4})


def test_slidefuse_counts_ranks_that_nobody_learnt_as_zero():
    runs = {"a": {"q": ["n"]}, "b": {"q": list("mnopq")}}
    scores = _scores(_trained("slidefuse", window=1), runs)
    assert scores == pytest.approx({"m": 1 / 4, "n": 1 / 2 + 1 / 6, "o": 1 / 6, "p": 0, "q": 0})


def test_windows_with_the_same_sum_are_tied():
    lists = {f"q{query}": [f"d{rank}" for rank in range(9)] for query in range(3)}
    qrels = {query: {f"d{rank}": 1 for rank in range(0, 9, 2)} if query == "q0" else {"d0": 0} for query in lists}
    method = ir.fusion.train("slidefuse", {"a": lists, "b": lists}, qrels, window=1)
    scores = _scores(method, {"a": {"q": list("abcdefghi")}, "b": {"q": ["z"]}})
    assert scores["c"] == scores["e"] == scores["g"]
    assert scores["d"] == scores["f"] == scores["h"]


def test_probfuse_is_the_mean_share_of_a_segment_by_its_number():
    method = _trained("probfuse", segments=2)
    # Segments of 2 for `a` (3 and 4 documents), of 1 for `b`.
    expected = {("a", 1): 1 / 4, ("a", 2): 1 / 4, ("b", 1): 0, ("b", 2): 1 / 2}
    assert _table(method) == expected
    assert _scores(method) == {"n": 1 / 4, "m": 1 / 4, "o": 1 / 8}


def test_segfuse_weighs_the_scores_by_the_share_of_relevant_documents_in_a_segment():
    method = _trained("segfuse", ends=[2, 4])
    assert _table(method) == {("a", 1): 1 / 4, ("a", 2): 1 / 4, ("b", 1): 1 / 4}
    runs = {"a": {"q": {"n": 30.0, "m": 15.0, "o": 10.0}}, "b": {"q": {"m": 4.0, "k": 0.0}}}
    assert _scores(method, runs) == pytest.approx({"n": 0.5, "m": 0.25 * 1.25 + 0.5, "o": 0.25, "k": 0.25})
    assert _scores(method, runs, norm="max")["o"] == pytest.approx(0.25 * (1 + 1 / 3))


def test_the_segments_of_segfuse_have_the_sizes_of_the_paper():
    sizes = [end - start for start, end in pairwise((0, *SEGFUSE_ENDS))]
    assert sizes == [10 * 2**k - 5 for k in range(10)]


def test_mapfuse_is_the_mean_average_precision_by_the_rank():
    method = _trained("mapfuse")
    assert _table(method) == {("a", 1): pytest.approx(2 / 3), ("b", 1): 1 / 4}
    assert _scores(method) == pytest.approx({"n": 2 / 3, "m": 1 / 3 + 1 / 4, "o": 2 / 9})


def test_bayesfuse_adds_log_odds_and_those_of_lacking_a_document():
    method, least = _trained("bayesfuse", ends=[1, 2, 4]), math.log(0.001 / 0.999)
    odds = {("a", 1): 0.0, ("a", 2): least, ("a", 3): math.log(1 / 3), ("b", 1): least, ("b", 2): 0.0}
    assert _table(method) == pytest.approx(odds)
    assert _scores(method) == pytest.approx({"n": least, "m": 2 * least, "o": math.log(1 / 3) + least})


def test_bayesfuse_takes_a_probability_of_one_for_odds_of_a_thousand():
    table = ir.fusion.train("bayesfuse", {"a": {"q": ["r"]}, "b": {"q": ["r"]}}, {"q": ["r"]}, ends=[1]).table
    assert table["value"].to_list() == [pytest.approx(math.log(1000))] * 2


@pytest.mark.parametrize("method", TRAINED)
def test_the_order_of_runs_and_rows_changes_no_bit(method):
    runs, qrels = _random(seed=3)
    stacked = pl.concat(
        pl.DataFrame([(name, q, d, s) for q, docs in run.items() for d, s in docs.items()], orient="row")
        for name, run in runs.items()
    )
    stacked.columns = ["run", "query_id", "doc_id", "score"]
    shuffled = stacked.sample(fraction=1, shuffle=True, seed=1)
    trained, again = (ir.fusion.train(method, rows, qrels) for rows in (stacked, shuffled))
    assert trained.table.equals(again.table)
    fused = ir.fuse(stacked, trained)
    assert fused.equals(ir.fuse(shuffled, again))
    assert fused.equals(ir.fuse(dict(reversed(runs.items())), trained))
    assert fused.equals(ir.fuse(stacked.lazy(), trained).collect())


@pytest.mark.parametrize("method", TRAINED)
def test_a_depth_in_training_is_that_of_cut_runs(method):
    runs, qrels = _random(seed=4)
    cut = {
        name: {query: dict(sorted(docs.items(), key=lambda item: -item[1])[:7]) for query, docs in run.items()}
        for name, run in runs.items()
    }
    shallow = ir.fusion.train(method, runs, qrels, depth=7)
    assert shallow.table.equals(ir.fusion.train(method, cut, qrels).table)
    assert ir.fuse(runs, shallow, depth=7).equals(ir.fuse(cut, shallow))


def test_training_reads_judged_queries_and_the_grades_that_are_relevant():
    more = {"a": A | {"unjudged": ["r"]}, "b": B | {"unjudged": ["r"]}}
    others = QRELS | {"answered by none": {"r": 1}}
    for method in TRAINED:
        assert ir.fusion.train(method, more, others).table.equals(_trained(method).table)
    strict = _table(_trained("posfuse", rel=2))
    assert strict["a", 1] == 0
    assert strict["a", 3] == 1 / 2


def test_distances_learn_from_the_lowest():
    distances = {q: {doc: float(place) for place, doc in enumerate(docs)} for q, docs in A.items()}
    method = ir.fusion.train("posfuse", {"a": distances, "b": B}, QRELS, lower_is_better=["a"])
    assert method.table.equals(_trained("posfuse").table)


def test_a_run_of_a_plan_that_was_not_trained_is_an_error_that_names_it():
    plan = pl.LazyFrame({"run": ["a", "c"], "query_id": ["q", "q"], "doc_id": ["x", "y"], "score": [1.0, 2.0]})
    with pytest.raises(pl.exceptions.InvalidOperationError, match="was trained for the runs 'a', 'b', and there is"):
        ir.fuse(plan, _trained("posfuse")).collect()


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("probfus", {}, "must be one of 'posfuse'.*probfuse"),
        ("segfuse", {"window": 3}, "window.* is not for 'segfuse', which takes 'ends'"),
        ("probfuse", {"segments": 0}, "segments"),
        ("slidefuse", {"window": -1}, "window"),
        ("bayesfuse", {"ends": [5, 5]}, "must be ranks that rise"),
        ("bayesfuse", {"ends": []}, "must be ranks that rise"),
        ("posfuse", {"rel": -1}, "rel"),
        ("posfuse", {"depth": 0}, "depth"),
    ],
)
def test_what_a_method_does_not_take_is_an_error(method, options, message):
    with pytest.raises(ir.IRError, match=message):
        _trained(method, **options)


def test_weights_are_an_error_for_a_trained_method():
    with pytest.raises(ir.IRError, match="ignored by the method 'posfuse'"):
        ir.fuse({"a": A, "b": B}, _trained("posfuse"), weights=[1, 2])


def test_the_methods_that_have_a_learner_are_those_with_a_name():
    assert tuple(LEARNERS) == TRAINED


def _random(seed: int) -> tuple[dict[str, dict[str, dict[str, float]]], dict]:
    """Runs of different depths with distinct scores, and judgments with grades of -1 to 2."""
    chance = random.Random(seed)
    names = [f"q{query}" for query in range(12)]
    runs = {
        run: {
            name: {f"d{doc}": chance.gauss(3, 3) for doc in chance.sample(range(60), chance.randint(3, 40))}
            for name in names
        }
        for run in ("x", "y", "z")
    }
    grades = range(-1, 3)
    qrels = {name: {f"d{doc}": chance.choice(grades) for doc in chance.sample(range(60), 25)} for name in names}
    return runs, qrels


# Out of fold.


def test_no_query_is_fused_by_its_own_judgments():
    """Other judgments of a query change the lists of others, and not its own."""
    ids = PYDOCS.qrels["query_id"].unique().sort()
    query = ids[7]
    found = pl.col("query_id") == query
    first = PYDOCS.runs.filter(found).sort("score").group_by("run").head(50).select("query_id", "doc_id").unique()
    others = pl.concat([PYDOCS.qrels.filter(~found), first.with_columns(relevance=pl.lit(1))], how="diagonal_relaxed")
    plain, changed = (ir.fusion.fuse_out_of_fold(PYDOCS.runs, qrels, "posfuse") for qrels in (PYDOCS.qrels, others))
    assert plain.filter(found).equals(changed.filter(found))
    assert not plain.filter(~found).equals(changed.filter(~found))


def test_a_fold_is_fused_by_what_is_learnt_on_the_others():
    found = ir.fusion.fuse_out_of_fold(PYDOCS.runs, PYDOCS.qrels, "segfuse", folds=4, seed=3, ends=[3, 9], top=15)
    fold_of = folds_of(PYDOCS.qrels, None, 4, 3)
    parts = []
    for fold in range(1, 5):
        inside = fold_of.filter(fold=fold)["query_id"].to_list()
        of_fold = pl.col("query_id").is_in(inside)
        method = ir.fusion.train("segfuse", PYDOCS.runs.filter(~of_fold), PYDOCS.qrels, ends=[3, 9])
        parts.append(ir.fuse(PYDOCS.runs.filter(of_fold), method, top=15))
    assert found.equals(pl.concat(parts).sort("query_id", maintain_order=True))


def test_queries_without_judgments_are_fused_by_what_all_teach():
    judged = PYDOCS.qrels["query_id"].unique().sort()[:40].to_list()
    unjudged = ~pl.col("query_id").is_in(judged)
    qrels = PYDOCS.qrels.filter(~unjudged)
    runs = {system: run.drop("run").lazy() for (system,), run in PYDOCS.runs.group_by("run")}
    found = ir.fusion.fuse_out_of_fold(runs, qrels, "mapfuse").collect()
    method = ir.fusion.train("mapfuse", PYDOCS.runs, qrels)
    assert found.filter(unjudged).equals(ir.fuse(PYDOCS.runs.filter(unjudged), method))
    assert found["query_id"].n_unique() == PYDOCS.runs["query_id"].n_unique()


def test_what_can_not_be_parted_is_an_error():
    for options, message in (({"folds": 97}, "must be no more than the 96"), ({"method": "rrf"}, "must be one of")):
        with pytest.raises(ir.IRError, match=message):
            ir.fusion.fuse_out_of_fold(PYDOCS.runs, PYDOCS.qrels, **options)
