"""Every lazy plan we return can be sent: its one callback warns, and is imported; its figures are the same then."""

import io
import re

import polars as pl
import pytest
from generated import collection, collection_of, every_measure
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir

#: Signs of a Python function in a plan, in its text and in its serialised form.
CALLBACKS = ("python", "map_batches", "map_elements", "PYTHON SCAN", "anonymous")

MEASURES = ["nDCG@5", "AP", "RR", "P(rel=2)@3", "NumRel"]

each_plan = pytest.mark.parametrize("deep", [0, 10**9], ids=["sorting", "counting"])


def sent(plan: pl.LazyFrame) -> pl.LazyFrame:
    """The plan as another process would have it."""
    # The callback that warns is pickled by its name; others would be pickled with their code.
    text = re.sub(r'python_udf\(.*\)\.alias\("polars_ir: warned"\)', "", plan.explain()).casefold()
    assert [callback for callback in CALLBACKS if callback.casefold() in text] == []
    return pl.LazyFrame.deserialize(io.BytesIO(plan.serialize()))


def assert_survives(plan: pl.LazyFrame, *, by_rounding: bool = False) -> None:
    exactly = {} if by_rounding else {"check_exact": True}
    assert_frame_equal(sent(plan).collect(), plan.collect(), **exactly)


def systems(run: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([run.with_columns(run=pl.lit("a")), run.with_columns(-pl.col("score"), run=pl.lit("b"))])


@each_plan
@pytest.mark.whole("seconds a case")
def test_the_plan_of_every_measure_of_documents(monkeypatch, deep):
    tune(monkeypatch, deep=deep)
    run, qrels = collection(1)
    assert_survives(ir.evaluate(run.lazy(), qrels, every_measure()))


@pytest.mark.whole("seconds")
def test_the_plan_of_every_measure_of_subtopics_and_of_preferences():
    for kind in ("subtopics", "preferences"):
        run, qrels = collection_of(kind, 2)
        assert_survives(ir.evaluate(run.lazy(), qrels, every_measure(kind)))


@each_plan
@pytest.mark.parametrize(
    "options",
    [
        {"ties": "best"},
        {"ties": "worst"},
        {"ties": "input"},
        {"ties": "expected"},
        {"bounds": True},
        {"judged_only": True},
        {"missing": "skip", "undefined": None},
    ],
    ids=str,
)
@pytest.mark.whole("many cases", quick=7)
def test_the_plans_of_options(monkeypatch, deep, options):
    tune(monkeypatch, deep=deep)
    run, qrels = collection(3, queries=20)
    measures = (
        [info.function() for info in ir.CATALOG.values() if info.expected and info.kind != "none"]
        if options.get("ties") == "expected"
        else MEASURES
    )
    assert_survives(ir.evaluate(systems(run).lazy(), qrels.lazy(), measures, **options))


def test_the_plan_of_several_judges():
    run, qrels = collection(4, queries=20)
    judged = pl.concat([qrels.with_columns(judge=pl.lit("j1")), qrels[::3].with_columns(judge=pl.lit("j2"))])
    assert_survives(ir.evaluate(run.lazy(), judged, MEASURES, judges="judge"))


@each_plan
def test_the_plan_of_a_scan(monkeypatch, tmp_path, deep):
    tune(monkeypatch, deep=deep)
    run, qrels = collection(5, queries=20)
    run.write_parquet(tmp_path / "run.parquet")
    qrels.write_parquet(tmp_path / "qrels.parquet")
    scanned = [pl.scan_parquet(tmp_path / f"{name}.parquet") for name in ("run", "qrels")]
    plan = ir.evaluate(*scanned, MEASURES)
    assert_survives(plan)
    assert sent(plan).collect().equals(ir.evaluate(run, qrels, MEASURES))


def test_the_plan_of_a_scanned_text_file(tmp_path):
    run, qrels = collection(6, queries=20)
    ir.write_run(run, tmp_path / "run.txt")
    plan = ir.evaluate(ir.scan_run(tmp_path / "run.txt"), qrels, MEASURES)
    assert_survives(plan)


def test_the_plans_of_means_and_summaries():
    run, qrels = collection(7, queries=20)
    per_query = ir.evaluate(systems(run).lazy(), qrels, [*MEASURES, "GMAP"])
    weights = qrels.lazy().group_by("query_id").agg(asked=pl.len())
    for plan in (
        ir.mean(per_query),
        ir.mean(per_query, weights=weights),
        ir.mean(ir.evaluate(run.lazy(), qrels, ["R@5", "NumRel"]), average="micro"),
        ir.summarize(per_query),
        ir.summarize(per_query, weights=weights),
    ):
        # Means are added up as they stream.
        assert_survives(plan, by_rounding=True)


def test_the_plans_of_the_judged_relation_and_of_the_validation():
    run, qrels = collection(8, queries=20)
    relation = ir.judge(run.lazy(), qrels, unjudged=True)
    keys = ["query_id", "doc_id"]
    assert sent(relation).sort(keys).collect().equals(relation.sort(keys).collect())
    findings = ir.validate(run.lazy(), qrels.lazy())
    assert sent(findings).sort("finding").collect().equals(findings.sort("finding").collect())


def test_what_a_plan_finds_wrong_it_finds_after_a_journey():
    run, qrels = collection(9, queries=5)
    plan = ir.evaluate(run.with_columns(score=pl.lit(float("nan"))).lazy(), qrels, "AP")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="scores that are NaN; leave those rows out"):
        sent(plan).collect()
