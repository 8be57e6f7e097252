"""The same figures to the last bit, however the rows come, whatever runs the plan and whatever else is asked for."""

import contextlib
import hashlib
import io
import os
import subprocess
import sys
import tempfile
from ast import literal_eval
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest
from generated import collection, collection_of, every_measure
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir
from polars_ir.cli.trec_eval import main as trec_eval
from polars_ir.engine import tuning

ENGINES = ["in-memory", "streaming"]
PLANS = [0, 10**9]

with_each_engine = pytest.mark.parametrize("engine", ENGINES)
with_each_plan = pytest.mark.parametrize("deep", PLANS, ids=["sorting", "counting"])


@cache
def large() -> tuple[pl.DataFrame, pl.DataFrame]:
    """A collection of some 10,000 retrieved documents with ties, in several chunks."""
    run, qrels = collection(20, queries=120, depth=200)
    return in_chunks(run), in_chunks(qrels)


def in_chunks(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in chunks of unequal length, whose borders cut through queries."""
    return pl.concat([frame[:1234], frame[1234:5000], frame[5000:]], rechunk=False)


@cache
def systems() -> dict[str, pl.DataFrame]:
    """Three systems: the large run, its reverse, and one that misses most of the queries."""
    run, _ = large()
    return {"a": run, "b": run.with_columns(-pl.col("score")), "c": run.head(2000)}


def bits(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    """The rows of a frame, with each float spelt out to its last bit."""
    return [tuple(v.hex() if isinstance(v, float) else v for v in row) for row in frame.iter_rows()]


@cache
def evaluated() -> pl.DataFrame:
    """The reference of every comparison: all measures of the large run, in memory and at once."""
    return ir.evaluate(*large(), every_measure())


def collected(engine: str, run: pl.DataFrame, qrels: pl.DataFrame) -> pl.DataFrame:
    """The same from a LazyFrame, with an engine."""
    return ir.evaluate(run.lazy(), qrels, every_measure()).collect(engine=engine)


def digest() -> str:
    """A digest of what each engine and each plan computes of one run, of several, and of their means."""
    run, qrels = large()
    found = []
    for deep in PLANS:
        tuning.TUNING = replace(tuning.TUNING, deep=deep)
        for engine in ENGINES:
            one = collected(engine, run, qrels)
            several = ir.evaluate({name: r.lazy() for name, r in systems().items()}, qrels, ["nDCG@10", "RBP", "ERR"])
            frames = (one, ir.mean(one), ir.summarize(one), several.collect(engine=engine))
            found += [bits(frame) for frame in frames]
    return hashlib.sha256(repr(found).encode()).hexdigest()


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.whole("seconds a case", quick=1)
def test_the_order_of_the_rows_changes_nothing(seed):
    run, qrels = (frame.sample(fraction=1, shuffle=True, seed=seed) for frame in large())
    assert bits(ir.evaluate(run, qrels, every_measure())) == bits(evaluated())


@with_each_engine
@with_each_plan
@pytest.mark.whole("seconds a case", quick=1)
def test_the_engine_changes_nothing(engine, deep, monkeypatch):
    tune(monkeypatch, deep=deep)
    assert bits(collected(engine, *large())) == bits(evaluated())


@with_each_plan
@pytest.mark.parametrize("numbered", PLANS, ids=["by number", "planned"])
@pytest.mark.whole("seconds a case", quick=1)
def test_the_plan_changes_nothing(deep, numbered, monkeypatch):
    tune(monkeypatch, deep=deep, numbered=numbered, counted=0, streaming_rows=0, together=10**9)
    assert bits(ir.evaluate(*large(), every_measure())) == bits(evaluated())


@pytest.mark.whole("seconds")
def test_the_plan_of_small_tables_changes_nothing(monkeypatch):
    tune(monkeypatch, small=10**9)
    assert bits(ir.evaluate(*large(), every_measure())) == bits(evaluated())


def in_rank_order(run: pl.DataFrame) -> pl.DataFrame:
    """The run as files have it, but for the order of equal scores."""
    return run.sort("query_id", "score", descending=[False, True], maintain_order=True)


@pytest.mark.parametrize(
    "order",
    [
        in_rank_order,
        lambda run: in_chunks(in_rank_order(run)),
        lambda run: pl.concat([in_rank_order(run), in_rank_order(run)[:100]])[100:],  # a query in two pieces
        lambda run: run,
    ],
    ids=["ranked", "in chunks", "in pieces", "as it is"],
)
@pytest.mark.parametrize("sparse", [0, 10**9])
@pytest.mark.whole("seconds a case", quick=3)
def test_a_large_run_has_the_same_bits_in_any_order(order, sparse, monkeypatch):
    tune(monkeypatch, deep=10**9, numbered=10**9, counted=0, streaming_rows=0, sparse=sparse, together=10**9)
    run, qrels = large()
    assert bits(ir.evaluate(order(run), qrels, every_measure())) == bits(evaluated())


@pytest.mark.whole("a second")
def test_queries_judged_to_several_depths_in_one_plan_change_nothing(monkeypatch):
    run, qrels = large()
    judged = qrels.group_by("query_id").len()["len"]
    tune(monkeypatch, deep=judged.median())
    assert judged.min() < tuning.TUNING.deep <= judged.max()
    assert bits(ir.evaluate(run.lazy(), qrels.lazy(), every_measure()).collect()) == bits(evaluated())


@pytest.mark.whole("a second")
def test_unjudged_documents_beside_the_judged_ones_change_nothing():
    run, qrels = large()
    reads_the_run = pl.col("price").count()
    result = ir.evaluate(run.with_columns(price=1), qrels, [*every_measure(), reads_the_run])
    assert bits(result.drop("price")) == bits(evaluated())


@pytest.mark.whole("hundreds of calls")
def test_a_measure_alone_has_the_bits_it_has_among_others():
    for measure in every_measure():
        alone = ir.evaluate(*large(), measure)
        assert bits(alone) == bits(evaluated().select(alone.columns)), measure.meta.output_name()


@pytest.mark.filterwarnings("ignore:no grade of the qrels is above 0")
@pytest.mark.parametrize("query", ["q0", "q40", "q80"])
@pytest.mark.whole("a second a case", quick=1)
def test_a_query_alone_has_the_bits_it_has_among_others(query):
    """A frame of one row is where Polars may take a divisor for a constant."""
    run, qrels = large()
    alone = ir.evaluate(run, qrels.filter(pl.col("query_id") == query), every_measure())
    among_others = evaluated().filter(pl.col("query_id") == query)
    # The queries ask for documents judged for other queries.
    asks_of_others = cs.starts_with("Hole")
    assert bits(alone.drop(asks_of_others)) == bits(among_others.drop(asks_of_others))


@cache
def together() -> pl.DataFrame:
    """All measures of the systems, in one call."""
    return ir.evaluate(systems(), large()[1], every_measure())


@pytest.mark.filterwarnings("ignore:.*fewer than half of the judged queries")
@pytest.mark.parametrize("name", ["a", "b", "c"])
@pytest.mark.whole("seconds a case")
def test_a_system_alone_has_the_bits_it_has_among_others(name):
    _, qrels = large()
    among_others = together().filter(pl.col("run") == name).drop("run")
    alone = ir.evaluate(systems()[name], qrels, every_measure())
    assert [m for m in alone.columns if bits(alone.select(m)) != bits(among_others.select(m))] == []


@pytest.mark.parametrize("measure", ["P(rel=2)@3", "R@3", "nDCG", "infAP"])
@pytest.mark.whole("half a second a case")
def test_the_summary_of_a_measure_alone_has_the_bits_it_has_among_others(measure):
    alone = evaluated().select("query_id", measure)
    assert bits(ir.mean(alone)) == bits(ir.mean(evaluated()).select(measure))
    assert bits(ir.summarize(alone)) == bits(ir.summarize(evaluated()).filter(pl.col("measure") == measure))


@pytest.mark.parametrize("summary", [ir.mean, ir.summarize])
@pytest.mark.whole("half a second a case", quick=1)
def test_the_summary_of_a_system_alone_has_the_bits_it_has_among_others(summary):
    per_query = pl.concat(evaluated().select(pl.lit(name).alias("run"), pl.all()) for name in ("a", "b"))
    shuffled = in_chunks(per_query.sample(fraction=1, shuffle=True, seed=3))
    together = summary(shuffled).filter(pl.col("run") == "b").drop("run")
    assert bits(together) == bits(summary(evaluated()))


@with_each_engine
@pytest.mark.parametrize("summary", [ir.mean, ir.summarize])
@pytest.mark.whole("half a second a case", quick=2)
def test_the_engine_changes_a_summary_by_rounding_alone(summary, engine):
    of_plan = summary(evaluated().lazy()).collect(engine=engine)
    assert_frame_equal(of_plan, summary(evaluated()), rel_tol=1e-12, abs_tol=1e-12)


def found_with(function: str, **variables: str) -> str:
    """What a function of this file returns in a process of its own, with variables of its environment."""
    return subprocess.run(  # noqa: S603  # this file
        [sys.executable, "-c", f"import sys, test_same_bits; sys.stdout.write(test_same_bits.{function})"],
        cwd=Path(__file__).parent,
        env={**os.environ, **variables, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
        text=True,
        encoding="utf-8",
    ).stdout


@pytest.mark.whole("two processes")
def test_the_number_of_threads_changes_nothing():
    """Also with morsels of 500 rows, which put the borders between pieces of work elsewhere."""
    one = found_with("digest()", POLARS_MAX_THREADS="1")
    assert found_with("digest()", POLARS_MAX_THREADS="8", POLARS_IDEAL_MORSEL_SIZE="500") == one


def repeated(kind: str) -> str:
    """The figures of each measure of a kind in five evaluations, the rows shuffled and in chunks each time."""
    run, qrels = collection_of(kind, 5)
    measures = [info.function() for info in ir.CATALOG.values() if info.kind == kind]
    found = {}
    for seed in range(5):
        shuffled = [frame.sample(fraction=1, shuffle=True, seed=seed) for frame in (run, qrels)]
        chunks = [pl.concat([rows[:7], rows[7:90], rows[90:]], rechunk=False) for rows in shuffled]
        for measure in measures:
            column = ir.evaluate(*chunks, measure)
            found.setdefault(measure.meta.output_name(), set()).add(repr(bits(column)))
    return repr({name: sorted(texts) for name, texts in found.items()})


def repeated_by_trec_eval() -> str:
    """What `--strict` prints of all preference measures, for five orders of the lines of both files."""
    printed = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("qrels", "run")]
        run, qrels = collection_of("preferences", 5)
        qrels = qrels.with_columns(pl.col("relevance").cast(pl.String))
        run = run.select(
            "query_id", pl.lit("Q0"), "doc_id", pl.lit("1").alias("rank"), "score", pl.lit("t").alias("tag")
        )
        for seed in range(5):
            for path, rows in zip(paths, (qrels, run), strict=True):
                rows.sample(fraction=1, shuffle=True, seed=seed).write_csv(path, include_header=False, separator=" ")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                trec_eval(["--strict", "-q", "-c", "-R", "prefs", "-m", "all_prefs", *map(str, paths)])
            printed.append("\n".join(sorted(out.getvalue().splitlines())))
    return repr({"prefs": sorted(set(printed))})


@pytest.mark.parametrize(
    "function",
    [*(f"repeated({kind!r})" for kind in ("documents", "subtopics", "preferences")), "repeated_by_trec_eval()"],
)
@pytest.mark.whole("hundreds of calls in two processes")
def test_the_same_call_gives_the_same_figures_each_time(function):
    """Alone with one thread, and beside a busy process with eight."""
    one = found_with(function, POLARS_MAX_THREADS="1")
    assert [name for name, texts in literal_eval(one).items() if len(texts) > 1] == []
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])  # killed below
    try:
        assert found_with(function, POLARS_MAX_THREADS="8") == one
    finally:
        busy.kill()
        busy.wait()


@pytest.mark.parametrize("place", [4, 5, 6, 9])
def test_a_query_alone_has_the_bits_that_it_has_among_others(place: int):
    # One judged document is one row of the judged relation, which an engine may compute otherwise than columns of many.
    measures = [*(f"RBP(p={p})" for p in (0.7, 0.8, 0.9)), "Compat(p=0.9)", "ERR", "nDCG", "AP"]
    run = {query: [f"{query}{n}" for n in range(1, 11)] for query in "ab"}
    qrels = {query: {f"{query}{place}": 1} for query in run}
    among = ir.evaluate(run, qrels, measures)
    for query, ranking in run.items():
        alone = ir.evaluate({query: ranking}, {query: qrels[query]}, measures)
        assert bits(alone) == bits(among.filter(query_id=query))
