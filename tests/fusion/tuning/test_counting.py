"""Figures of many weightings by counting are those of each fused run, to the last bit."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suite import examples

import polars_ir as ir
from polars_ir.fusion.dialects import fusion_of
from polars_ir.fusion.inputs import table_of
from polars_ir.fusion.tuning.trials import Experiment, Trial, candidates_of, is_counted, measured
from polars_ir.language.names import resolve_one

ROBUST = Path(ir.__file__).parents[2] / "shared" / "data" / "robust03"

#: Methods whose scores are sums, with the norm that makes the scores fit for them.
METHODS = [
    ("rrf", None, None),
    ("rrf", None, "qdrant"),
    ("rrf", None, "haystack"),
    ("sum", "min-max", None),
    ("sum", "borda", None),
    ("mnz", "z", None),
    ("gmnz", None, None),
    ("wmnz", "max", None),
    ("mean", "min-max", "opensearch"),
    ("geometric", "min-max", None),
    ("harmonic", "sum", None),
    ("isr", None, None),
    ("log_isr", None, None),
    ("borda", None, None),
    ("rbc", None, None),
    ("dbsf", None, None),
]

#: Steps of a third, a tenth and more, so that terms are rounded.
WEIGHTS = st.sampled_from([0.0, 0.1, 0.2, 1 / 3, 0.7, 1.0, 3.0])


def figures_of(runs, qrels, trials, experiment, depth=None):
    """The values of trials: by counting, and those of each fused run."""
    table = table_of(runs, fusion_of(experiment.method, trials[0].norm, experiment.dialect))
    candidates = candidates_of(table, list(runs), qrels, depth=depth, lower_is_better=False)
    found = measured(trials, candidates, experiment)
    options = {name: value for name, value in experiment._asdict().items() if name != "measure"} | {"depth": depth}
    fused = {
        number: ir.fuse(runs, norm=trial.norm, weights=trial.weights, k=trial.k, **options).drop("n_runs")
        for number, trial in enumerate(trials)
    }
    evaluated = pl.concat(
        ir.evaluate(run, qrels, experiment.measure.expression).select(
            pl.lit(number, pl.Int64).alias("run"), "query_id", pl.col(experiment.measure.name).cast(pl.Float64)
        )
        for number, run in fused.items()
    )
    return found, evaluated.sort("run", "query_id")


@st.composite
def collections(draw):
    """Runs of few documents and fewer scores, some without a query; integer ids, which are compared as text."""
    names = draw(st.sampled_from([["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]]))
    scores = st.sampled_from([-1.0, 0.0, 0.1, 0.2, 0.3, 2.0])
    answers = st.dictionaries(st.integers(7, 13), scores, min_size=1, max_size=6)
    runs = {}
    for name in names:
        of_query = {1: draw(answers)} | draw(st.dictionaries(st.sampled_from([2, 3]), answers))
        rows = [(query, doc, score) for query, docs in of_query.items() for doc, score in docs.items()]
        runs[name] = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    grades = st.dictionaries(st.integers(6, 13), st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=6)
    judged = {1: draw(grades)} | draw(st.dictionaries(st.sampled_from([2, 3, 4]), grades))
    rows = [(query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items()]
    qrels = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")
    weightings = draw(st.lists(st.tuples(*[WEIGHTS] * len(names)).filter(any), min_size=1, max_size=4))
    return runs, qrels, [dict(zip(names, weights, strict=True)) for weights in weightings]


@pytest.mark.filterwarnings("ignore::polars_ir.errors.IRWarning")
@pytest.mark.parametrize(("method", "norm", "dialect"), METHODS)
@given(collections(), st.sampled_from(["AP", "nDCG@2", "bpref", "P@3"]), st.sampled_from(["skip", "zero"]))
@examples(8)
@pytest.mark.whole("half a second a case", quick=1)
def test_counting_is_evaluating_each_fused_run(method, norm, dialect, collection, measure, missing):
    runs, qrels, weightings = collection
    trials = [Trial(weights, None, norm) for weights in weightings]
    experiment = Experiment(method, dialect, missing, 3, resolve_one(measure, "tune_fusion"))
    assert is_counted(experiment.fusion(norm), experiment.measure)
    found, evaluated = figures_of(runs, qrels, trials, experiment)
    assert found.equals(evaluated)


@pytest.mark.filterwarnings("ignore::polars_ir.errors.IRWarning")
@pytest.mark.skipif(not ROBUST.exists(), reason="needs the shared runs")
@pytest.mark.whole("seconds")
def test_counting_is_evaluating_on_robust(monkeypatch):
    """In batches of three."""
    runs = {name: ir.read_run(ROBUST / f"{name}.run.gz") for name in ("pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc")}
    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz")
    monkeypatch.setattr("polars_ir.fusion.tuning.trials.CELLS", 700_000)
    trials = [
        Trial(dict(zip(runs, weights, strict=True)))
        for weights in [(1, 1, 1, 1), (8, 0, 1, 1), (0.3, 0.1, 2, 0.7), (0, 1, 0, 0)]
    ]
    for measure in ("AP", "bpref"):
        experiment = Experiment("rrf", None, "skip", 1000, resolve_one(measure, "tune_fusion"))
        found, evaluated = figures_of(runs, qrels, trials, experiment)
        assert found.equals(evaluated)


@pytest.mark.parametrize(
    ("method", "missing", "measure"), [("rrf", "min", "AP"), ("condorcet", "skip", "AP"), ("rrf", "skip", "Hole@3")]
)
def test_what_can_not_be_counted_is_fused(method, missing, measure):
    runs = {"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"z": 2.0, "x": 1.0}}}
    experiment = Experiment(method, None, missing, 10, resolve_one(measure, "tune_fusion"))
    assert not is_counted(experiment.fusion(None), experiment.measure)
    found, evaluated = figures_of(runs, {"q": {"x": 1}}, [Trial({"a": 1.0, "b": 2.0})], experiment)
    assert found.equals(evaluated)
