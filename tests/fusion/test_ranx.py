"""Every method and norm that ranx has too gives ranx's figures, where its rules apply.

ranx wants the same queries in all runs, and orders equal scores arbitrarily: so the scores here are all different.
"""

import random

import polars as pl
import pytest

import polars_ir as ir

ranx = pytest.importorskip("ranx")

# numba warns of casts in ranx as it compiles.
pytestmark = pytest.mark.filterwarnings("ignore:unsafe cast")

#: ranx's name of each norm.
NORMS = {"min-max": "min-max", "max": "max", "sum": "sum", "z": "zmuv", "rank": "rank", "borda": "borda"}

#: Methods that ranx has without parameters or weights, with the norm they are used with.
PLAIN = {"sum": "z", "min": "min-max", "max": "z", "med": "sum", "anz": "min-max", "mnz": "min-max"}
OF_RANKS = {"isr": "isr", "log_isr": "log_isr", "borda": "bordafuse"}

#: A method of ours, and its name and parameters there.
WITH_PARAMETERS = [
    (ir.fusion.comb_gmnz(gamma=0.3), "gmnz", {"gamma": 0.3}),
    (ir.fusion.logn_isr(sigma=0.2), "logn_isr", {"sigma": 0.2}),
    (ir.fusion.rrf(k=17), "rrf", {"k": 17}),
    (ir.fusion.rbc(phi=0.7), "rbc", {"phi": 0.7}),
]
WEIGHTS = [0.2, 0.5, 0.3]


def _runs() -> list[dict[str, dict[str, float]]]:
    chance = random.Random(1)
    return [
        {
            f"q{query}": {f"d{doc}": chance.gauss(scale, 3) for doc in chance.sample(range(60), chance.randint(3, 40))}
            for query in range(12)
        }
        for scale in (1, 20, -5)
    ]


RUNS = _runs()


#: ranx divides by 1e-9 where no score is above 0, so that its maximum norm is compared where some are.
POSITIVE = [{query: {doc: score + 50 for doc, score in docs.items()} for query, docs in run.items()} for run in RUNS]


def _of_ranx(
    method: str, norm: str | None = None, of: list = RUNS, **parameters: object
) -> dict[str, dict[str, float]]:
    runs = [ranx.Run(run, name=str(number)) for number, run in enumerate(of)]
    return ranx.fuse(runs, norm=norm, method=method, params=parameters or None).to_dict()


def _same(fused: pl.DataFrame, theirs: dict[str, dict[str, float]]) -> None:
    rows = {(query, doc): score for query, doc, score, *_ in fused.rows()}
    flat = {(query, doc): score for query, docs in theirs.items() for doc, score in docs.items()}
    assert rows.keys() == flat.keys()
    assert [rows[key] for key in flat] == pytest.approx(list(flat.values()), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_a_norm_is_that_of_ranx(norm):
    runs = POSITIVE if norm == "max" else RUNS
    _same(ir.fuse(runs, "sum", norm=norm), _of_ranx("sum", NORMS[norm], of=runs))


@pytest.mark.parametrize(("method", "norm"), PLAIN.items())
def test_a_method_of_scores_is_that_of_ranx(method, norm):
    _same(ir.fuse(RUNS, method, norm=norm), _of_ranx(method, NORMS[norm]))


@pytest.mark.parametrize(("method", "theirs"), OF_RANKS.items())
def test_a_method_of_ranks_is_that_of_ranx(method, theirs):
    _same(ir.fuse(RUNS, method), _of_ranx(theirs))


@pytest.mark.parametrize(("method", "theirs", "parameters"), WITH_PARAMETERS)
def test_a_method_with_a_parameter_is_that_of_ranx(method, theirs, parameters):
    _same(ir.fuse(RUNS, method, norm="min-max"), _of_ranx(theirs, "min-max", **parameters))


@pytest.mark.parametrize(
    ("method", "theirs"),
    [("wsum", "wsum"), ("wmnz", "wmnz"), ("mixed", "mixed"), ("borda", "w_bordafuse")],
)
def test_a_weighted_method_is_that_of_ranx(method, theirs):
    norm = None if method == "borda" else "min-max"
    _same(ir.fuse(RUNS, method, norm=norm, weights=WEIGHTS), _of_ranx(theirs, norm, weights=WEIGHTS))


def test_constant_scores_are_those_of_ranx_in_its_dialect():
    constant = [{"q": {"a": 2.0, "b": 2.0}}, {"q": {"a": 3.0, "c": 1.0}}]
    runs = [ranx.Run(run, name=str(number)) for number, run in enumerate(constant)]
    for norm in ("min-max", "sum"):
        theirs = ranx.fuse(runs, norm=norm, method="sum").to_dict()
        _same(ir.fuse(constant, "sum", norm=norm, dialect="ranx"), theirs)


#: ranx has the sizes of SegFuse's segments for their ends.
ENDS = [10 * 2**k - 5 for k in range(10)]

#: A trained method, our options, and what ranx's training and fusion take.
TRAINED = [
    ("posfuse", {}, {}, {}),
    ("mapfuse", {}, {}, {}),
    ("bayesfuse", {}, {}, {}),
    ("segfuse", {"ends": ENDS}, {}, {}),
    *(("probfuse", {"segments": n}, {"n_segments": n}, {}) for n in (1, 3, 7, 25, 100)),
    *(("slidefuse", {"window": w}, {}, {"w": w}) for w in (0, 1, 4, 50)),
]


@pytest.mark.filterwarnings("ignore:.*unsafe cast")  # of Numba, about code of ranx
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("method", "ours", "of_training", "of_fusion"), TRAINED)
def test_a_trained_method_is_that_of_ranx(method, ours, of_training, of_fusion, seed):
    chance = random.Random(seed)
    qrels = {query: {f"d{doc}": chance.randint(0, 2) for doc in chance.sample(range(60), 30)} for query in RUNS[0]}
    # Half of the queries to learn from, half to fuse.
    learning, fused = list(qrels)[:6], list(qrels)[6:]
    parts = [[{query: run[query] for query in queries} for run in RUNS] for queries in (learning, fused)]
    judged = {query: qrels[query] for query in learning}
    runs = [ranx.Run(run) for run in parts[0]]
    trainer = getattr(ranx.fusion, f"{method}_train")
    name = {"mapfuse": "map_scores", "bayesfuse": "log_odds"}.get(method, "probs")
    learnt = {name: trainer(ranx.Qrels(judged), runs, **of_training)}
    trained = ir.fusion.train(method, parts[0], judged, **ours)
    _same(ir.fuse(parts[1], trained, norm="min-max"), _of_ranx(method, "min-max", of=parts[1], **learnt, **of_fusion))
