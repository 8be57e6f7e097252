"""A measure is the same wherever it is sent, whatever it is called, and however long it is kept."""

import multiprocessing
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import elsewhere
import polars as pl
import pytest
from elsewhere import known_elsewhere, known_of
from generated import collection, samples
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.errors import MeasureError
from polars_ir.language.catalog import info_of
from polars_ir.language.measure import call_of

KINDS = ("documents", "subtopics", "preferences")


@pytest.fixture(scope="module")
def fresh() -> Iterator[ProcessPoolExecutor]:
    """One process that has made no measure."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def made(kind: str) -> list[pl.Expr]:
    """Every sample of every measure of a kind, each under a name that tells nothing of it."""
    specs = [info for info in ir.CATALOG.values() if info.kind == kind]
    calls = [(info, arguments) for info in specs for arguments in samples(info)]
    return [info.function(**arguments).alias(f"m{number}") for number, (info, arguments) in enumerate(calls)]


def explained(kind: str) -> list[str]:
    """The names in `made` of some measures with gains or discounts of their own: every explanation takes a while."""
    if kind != "documents":
        return []
    calls = [call_of(measure) for measure in made(kind)]
    asked = {
        "nDCG": ({"dcg"}, {"dcg", "k"}),
        "ERR": ({"max_rel"},),
        "RBP": ({"gains"}, {"p", "gains"}),
        "SDCG": ({"min_rel"},),
        "P": ({"rel"},),
    }
    return [
        f"m{number}"
        for number, call in enumerate(calls)
        if call and call.measure in asked
        if {n for n, v in call.arguments.items() if v != info_of(call).parameters[n]} in asked[call.measure]
    ]


@pytest.fixture(scope="module")
def answers(fresh: ProcessPoolExecutor) -> dict[str, elsewhere.Known]:
    """The facts of a fresh process about all of them, sent at once."""
    asked = {kind: (made(kind), [m.meta.serialize() for m in made(kind)], explained(kind)) for kind in KINDS}
    return fresh.submit(known_elsewhere, asked).result()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.whole("everything twice")
def test_a_fresh_process_knows_of_every_measure_what_this_one_does(kind, answers):
    wanted, found = known_of(made(kind), kind, explained(kind)), answers[kind]
    assert found.keys() == wanted.keys()
    for what, frame in wanted.items():
        assert_frame_equal(found[what], frame, check_exact=True)
    assert wanted["figures"].width == len(made(kind)) + 1
    if kind == "documents":
        assert {"figures", "bounds", "expectations", "calls"} < wanted.keys()
        assert len(wanted) >= 4 + 5


@pytest.mark.usefixtures("scratch_catalog")
def test_a_fresh_process_bounds_a_measure_that_it_lacks(fresh):
    mine = ir.measure("Mine", source="here", monotone=True)(at_the_top)
    run, qrels = collection(2)
    wanted = elsewhere.bounds_of([mine(k=3)], run, qrels)
    assert_frame_equal(fresh.submit(elsewhere.bounds_of, [mine(k=3)], run, qrels).result(), wanted, check_exact=True)
    with pytest.raises(MeasureError, match="Mine"):
        fresh.submit(known_of, [mine(k=3)], "documents", []).result()


def at_the_top(*, k: int = 1) -> pl.Expr:
    return (ir.top(k) & ir.relevant()).sum().cast(pl.Float64)


def test_measures_of_one_formula_stay_apart():
    ap, gmap = (pickle.loads(pickle.dumps(measure.alias("x"))) for measure in (ir.average_precision(), ir.gmap()))  # noqa: S301
    assert [call_of(measure).measure for measure in (ap, gmap)] == ["AP", "GMAP"]


def test_what_is_made_of_a_measure_is_no_longer_it():
    ndcg = ir.ndcg(k=10)
    for other in (ndcg.round(2), 1 - ndcg, ndcg.fill_null(0).alias("nDCG@10"), ndcg.cast(pl.Float32)):
        assert call_of(other) is None
    assert call_of(ndcg.alias("a").alias("b").name.suffix("!")) == call_of(ndcg)


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is told by Linux")
@pytest.mark.whole("25,000 measures, and their memory")
def test_a_measure_outlasts_others_and_these_leave_nothing_behind():
    held, run, qrels = [ir.ndcg(k=10, dcg="exp-log2"), ir.precision(k=5, rel=2)], *collection(4)
    before = elsewhere.bounds_of(held, run, qrels)

    def others(first: int) -> None:
        for k in range(first, first + 12_500):
            call_of(ir.hole(k=k))
            ir.parse(f"P@{k}")

    others(1)
    memory = resident()
    others(30_000)
    # A call of one measure takes some 2 kB while it lives.
    assert resident() - memory < 20e6
    assert_frame_equal(elsewhere.bounds_of(held, run, qrels), before, check_exact=True)
    again = [ir.ndcg(k=10, dcg="exp-log2"), ir.precision(k=5, rel=2)]
    assert [call_of(measure) for measure in held] == [call_of(measure) for measure in again]
    assert ir.explain(run, qrels, held[0], query_id="q0").equals(ir.explain(run, qrels, again[0], query_id="q0"))
