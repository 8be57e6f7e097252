"""On Spark every figure is the local one, to the last bit."""

import datetime as dt
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from generated import collection, collection_of, every_measure
from on_spark import MASTER, REMOTE, SYSTEMS, assert_same, collected, comparable, systems

import polars_ir as ir
from polars_ir import spark as irs

#: The local evaluations that these tests compare with warn of oddities of small collections.
pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_ir.IRWarning"),
    pytest.mark.whole("a session of Spark"),
]

ROBUST = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"


def of_judges(qrels):
    """Judgments by two judges, of whom the second has seen less."""
    second = qrels.filter(pl.int_range(pl.len()) % 3 == 0).with_columns(
        judge=pl.lit("j2"), relevance=pl.lit(1, pl.Int64)
    )
    return pl.concat([qrels.with_columns(judge=pl.lit("j1"), relevance=pl.col("relevance").cast(pl.Int64)), second])


MEASURES = ["nDCG@5", "AP", "RR", "P@3", "NumRel", (1 / ir.rank).max().alias("mine")]
BOUNDED = ["nDCG@5", "AP", "P(rel=2)@3", "ERR@4"]
POOLED = [pl.col("judged_elsewhere").is_not_null().sum().alias("pooled"), "nDCG@5"]


def test_every_measure_of_documents_is_the_local_one(to_spark):
    assert_same(to_spark, *collection(1), every_measure(), on_spark={"partitions": 2})


def is_expected(info):
    """True for a measure of graded documents that has a mean over all orders of ties."""
    return info.expected and info.kind == "documents" and info.name != "Judged"


@pytest.mark.parametrize("kind", ["subtopics", "preferences"])
def test_measures_of_other_judgments_are_the_local_ones(to_spark, kind):
    assert_same(to_spark, *collection_of(kind, 2), every_measure(kind), on_spark={"partitions": 2})


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        (MEASURES, {"missing": "skip", "undefined": None}),
        (MEASURES, {"judged_only": True, "ties": "worst"}),
        (MEASURES, {"ties": "best"}),
        (sorted(info.name for info in ir.CATALOG.values() if is_expected(info)), {"ties": "expected"}),
        (BOUNDED, {"bounds": True}),
        (POOLED, {}),
    ],
    ids=["skip", "condensed, worst", "best", "expected", "bounds", "pool"],
)
def test_options_mean_what_they_mean_locally_also_with_several_systems(to_spark, measures, options):
    run, qrels = collection(3)
    assert_same(to_spark, systems(run), qrels, measures, **options)


@pytest.mark.parametrize("measures", [BOUNDED, POOLED], ids=["bounds", "pool"])
def test_documents_that_do_not_count_are_left_out_as_they_are_locally(to_spark, measures):
    run, qrels = (frame.with_columns(pl.col("doc_id").replace("d3", "q4")) for frame in collection(8))
    doubled = pl.concat([systems(run), systems(run).with_columns(pl.col("score") - 1)])
    out = qrels.select("doc_id", qid="query_id").sample(30, seed=1)
    for exclude, there in (("self", "self"), (out, out), (out, to_spark(out))):
        options = {"exclude": exclude, "duplicates": "first", "bounds": measures is BOUNDED}
        assert_same(to_spark, doubled, qrels, measures, **options, on_spark={"exclude": there})
    for exclude in ("self", to_spark(pl.DataFrame({"qid": [1], "pid": ["d1"]}))):
        ids = run.with_columns(query_id=pl.int_range(pl.len())) if exclude == "self" else run
        with pytest.raises(ir.IRError, match="type"):
            irs.evaluate(to_spark(ids), to_spark(qrels), "RR", exclude=exclude)


NIGHTS = [dt.date(2026, 11, day) for day in (18, 19, 20)]


def nights(run, qrels):
    """Runs of three nights and two tenants, on one of which a system lacks, and judgments of two of the nights."""
    parts = zip(NIGHTS, (run, run.with_columns(-pl.col("score")), run.filter(run="b")), strict=True)
    runs = pl.concat(part.with_columns(date=pl.lit(night), tenant=pl.lit("t")) for night, part in parts)
    runs = pl.concat([runs, runs.filter(date=NIGHTS[0]).with_columns(tenant=pl.lit("u"))])
    lower = qrels.with_columns(relevance=pl.min_horizontal("relevance", 1)).filter(pl.int_range(pl.len()) % 2 == 0)
    judged = zip((NIGHTS[0], NIGHTS[2]), (qrels, lower.cast(qrels.schema)), strict=True)
    return runs, pl.concat(part.with_columns(date=pl.lit(night)) for night, part in judged)


def test_each_judge_of_the_judgments_is_evaluated_by_as_it_is_locally(to_spark):
    run, qrels = collection(17, queries=8)
    assert_same(to_spark, systems(run), of_judges(qrels), MEASURES, by="judge")


@pytest.mark.parametrize(
    ("measures", "options"), [(MEASURES, {"missing": "skip"}), (BOUNDED, {"bounds": True}), (POOLED, {})]
)
def test_days_and_tenants_are_told_apart_as_they_are_locally(to_spark, measures, options):
    run, qrels = collection(17, queries=8)
    runs, daily = nights(systems(run), qrels)
    for judgments in (qrels, daily):
        by = ["date", "tenant"]
        assert_same(to_spark, runs, judgments, measures, by=by, **options, on_spark={"partitions": 5})
    one = runs.filter(run="b", tenant="t").drop("run", "tenant")
    assert_same(to_spark, one, daily, measures, by="date", **options)
    labelled = one.join(daily, on=["date", "query_id", "doc_id"], how="left")
    if "missing" not in options:
        assert_same(to_spark, labelled, None, measures, by="date", **options, on_spark={"partitions": 5})


def test_means_of_days_are_the_local_ones(to_spark):
    run, qrels = collection(18, queries=8)
    runs, _ = nights(systems(run), qrels)
    local = ir.evaluate(runs, qrels, MEASURES, by=["date", "tenant"])
    per_query = to_spark(local)
    for by in (["tenant", "date"], "date"):
        if by == "date":
            local, per_query = local.filter(tenant="t"), per_query.filter("tenant = 't'")
        for there, here in ((irs.mean, ir.mean), (irs.summarize, ir.summarize)):
            expected = here(local, by=by)
            keys = [name for name in ("date", "tenant", "run", "measure") if name in expected.columns]
            assert comparable(collected(there(per_query, by=by), keys)) == comparable(expected.sort(keys))


@pytest.mark.parametrize("grade", [pl.Int64, pytest.param(pl.Boolean, marks=pytest.mark.whole("seconds"))])
def test_bounds_of_one_system_know_the_highest_grade_of_all_queries(to_spark, grade):
    run, qrels = collection(4)
    relevance = pl.col("relevance") > 0 if grade == pl.Boolean else pl.col("relevance")
    qrels = qrels.with_columns(relevance.cast(grade).alias("relevance"))
    assert_same(to_spark, run, qrels, BOUNDED, bounds=True, on_spark={"partitions": 7})


def test_judges_are_averaged_as_they_are_locally(to_spark):
    run, qrels = collection(5)
    assert_same(to_spark, run, of_judges(qrels), BOUNDED, judges="judge", bounds=True)


def test_a_frame_with_its_own_grades_needs_no_qrels(to_spark):
    run, qrels = collection(6)
    labelled = run.join(qrels, on=["query_id", "doc_id"], how="left")
    assert_same(to_spark, systems(labelled), None, [*BOUNDED, *POOLED[:1]], bounds=False)
    assert_same(to_spark, labelled, None, BOUNDED, bounds=True)


def test_columns_are_recognised_and_columns_of_the_run_can_be_measured(to_spark):
    run, qrels = collection(7)
    number = pl.col("query_id").str.slice(1).cast(pl.Int32)
    run = run.select(number.alias("qid"), pl.col("doc_id").alias("docno"), "score", (pl.col("score") * 2).alias("a.b"))
    qrels = qrels.select(pl.col("relevance").alias("score"), number.cast(pl.Int64).alias("query-id"), "doc_id")
    assert_same(to_spark, run, qrels, ["AP", pl.col("a.b").sum().alias("sum")])


def test_times_of_the_run_can_be_measured(to_spark):
    run, qrels = collection(16, queries=6)
    run = run.with_columns(at=pl.datetime(2026, 1, 1, time_zone="UTC") + pl.duration(hours=pl.int_range(pl.len())))
    first, latest = pl.col("at").min(), pl.col("at").max()
    times = [first.dt.cast_time_unit("ms").alias("first"), latest.dt.cast_time_unit("ns").alias("latest")]
    assert_same(to_spark, run, qrels, [*times, (latest - first).alias("between"), latest.dt.hour().alias("hour"), "AP"])


@pytest.mark.parametrize("on_spark", [{"broadcast": True}, {"broadcast": False, "partitions": 1}, {"partitions": 9}])
def test_neither_partitions_nor_broadcasting_change_a_figure(to_spark, on_spark):
    assert_same(to_spark, *collection(8), MEASURES, on_spark=on_spark)


@pytest.mark.parametrize("nothing", ["run", "qrels", "common"])
def test_an_empty_side_gives_what_it_gives_locally(to_spark, nothing):
    run, qrels = collection(9, queries=5)
    tables_of = {
        "run": (run.clear(), qrels),
        "qrels": (run, qrels.clear()),
        "common": (run.with_columns(query_id="x" + pl.col("query_id")), qrels),
    }
    run, qrels = tables_of[nothing]
    local = ir.evaluate(run.lazy(), qrels, MEASURES).collect()
    found = collected(irs.evaluate(to_spark(run), to_spark(qrels), MEASURES), "query_id")
    assert comparable(found) == comparable(local)


def test_qrels_can_be_any_local_table(to_spark):
    run, qrels = collection(10, queries=6)
    nested = {q: dict(zip(r["doc_id"], r["relevance"], strict=True)) for (q,), r in qrels.group_by("query_id")}
    found = collected(to_spark(run).transform(irs.evaluate, nested, "AP"), "query_id")
    assert comparable(found) == comparable(ir.evaluate(run, nested, "AP"))


def test_local_qrels_arrive_whole_from_several_chunks(to_spark):
    run, qrels = collection(23, queries=6)
    chunks = pl.concat(qrels.iter_slices(5), rechunk=False)
    found = collected(to_spark(run).transform(irs.evaluate, chunks, "AP"), "query_id")
    assert comparable(found) == comparable(ir.evaluate(run, qrels, "AP"))


def test_local_qrels_can_be_empty(to_spark):
    run, qrels = collection(24, queries=3)
    qrels = qrels.clear().with_columns(at=pl.lit(None, pl.Datetime("us", "UTC")), kind=pl.lit(None, pl.Categorical))
    found = collected(to_spark(run).transform(irs.evaluate, qrels, "AP"), "query_id")
    assert comparable(found) == comparable(ir.evaluate(run.lazy(), qrels, "AP").collect())


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_registered_on_the_driver_alone_is_sent(to_spark):
    @ir.measure("Early", bounds=(0, 10), source="an example")
    def early(*, k: int = 3, rel: float = 1) -> pl.Expr:
        return (ir.top(k) & ir.relevant(rel)).sum()

    assert_same(to_spark, *collection(11, queries=8), ["Early@2", "AP"], bounds=True)


@pytest.mark.skipif(not ROBUST.exists(), reason="needs the data beside the project")
def test_robust_track_figures_are_the_local_ones(to_spark):
    run = ir.read_run(ROBUST / "humR03dc.run.gz").drop("rank")
    qrels = ir.read_qrels(ROBUST / "qrels.txt.gz").select("query_id", "doc_id", "relevance")
    assert_same(to_spark, run, qrels, ["nDCG@10", "AP", "RR", "infAP", "bpref", "P@20"])


def test_means_are_the_local_ones(to_spark):
    run, qrels = collection(12)
    per_query = ir.evaluate(systems(run), qrels, ["R@5", "NumRel", "GMAP"])
    sent = to_spark(per_query)
    assert comparable(collected(irs.mean(sent), "run")) == comparable(ir.mean(per_query))
    micro = per_query.drop("GMAP")
    found = irs.mean(to_spark(micro), average="micro", weights=None)
    assert comparable(collected(found, "run")) == comparable(ir.mean(micro, average="micro"))


def test_times_without_a_zone_stay_without_one(to_spark):
    day = pl.datetime(2026, 1, 1) + pl.duration(days=pl.int_range(pl.len()) % 2)
    per_query = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [0.1, 0.2, 0.4]}).with_columns(day=day)
    sent = to_spark(per_query).selectExpr("query_id", "AP", "cast(day as timestamp_ntz) as day")
    found = collected(irs.mean(sent, by="day"), "day")
    local = ir.mean(per_query, by="day")
    assert found.schema == local.schema
    assert comparable(found) == comparable(local)


@pytest.mark.parametrize("interval", ["normal", "BCa"])
def test_summaries_are_the_local_ones(to_spark, interval):
    if interval != "normal":
        pytest.importorskip("scipy")
    run, qrels = collection(13)
    per_query = ir.evaluate(run, qrels, ["R@5", "GMAP"]).with_columns(slice=pl.col("query_id").str.slice(-1) < "5")
    found = irs.summarize(to_spark(per_query), by="slice", interval=interval, resamples=200)
    local = ir.summarize(per_query, by="slice", interval=interval, resamples=200)
    keys = ["slice", "measure"]
    assert comparable(collected(found, keys)) == comparable(local.sort(keys))


@pytest.mark.skipif(REMOTE, reason="Spark Connect tells of no jobs")
def test_nothing_runs_before_an_action(to_spark, jobs):
    run, qrels = collection(14, queries=6)
    result = irs.summarize(to_spark(systems(run)).transform(irs.evaluate, to_spark(qrels), BOUNDED, bounds=True))
    assert jobs() == set()
    assert result.count() == len(SYSTEMS) * 3 * len(BOUNDED)
    assert jobs() != set()


def test_settings_of_a_session_change_nothing(session, to_spark):
    settings = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.caseSensitive": "true",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
    }
    before = {name: session.conf.get(name) for name in settings}
    run, qrels = collection(17, queries=12)
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        assert_same(to_spark, systems(run).with_columns(Price=1.0, price=2.0), qrels, BOUNDED, bounds=True)
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def test_names_of_columns_can_hold_dots_and_backquotes(to_spark):
    run, qrels = collection(18, queries=6)
    run = run.with_columns((pl.col("score") * 2).alias("a.b`c"), a=pl.struct(b=1))
    qrels = qrels.with_columns(pl.lit("x").alias("x.y`z"))
    assert_same(to_spark, run, qrels, ["AP", pl.col("a.b`c").sum().alias("sum.of`it")], bounds=False)


def test_short_integers_are_ids_too(to_spark):
    run, qrels = (
        frame.with_columns(pl.col("query_id").str.slice(1).cast(pl.Int8)) for frame in collection(19, queries=12)
    )
    qrels = qrels.with_columns(query_id=pl.col("query_id").cast(pl.Int64) + (1 << 40) * (pl.col("query_id") == 3))
    assert_same(to_spark, run, qrels, BOUNDED, bounds=True, on_spark={"broadcast": True})


def test_text_is_compared_by_its_bytes_whatever_its_collation(to_spark):
    run, qrels = collection(20, queries=8)
    run = pl.concat([systems(run), systems(run).with_columns(pl.col("run").str.to_uppercase())])
    qrels = qrels.with_columns(pl.col("doc_id").str.to_uppercase())
    sent = to_spark(run).selectExpr(
        "run collate utf8_lcase run", "query_id", "doc_id collate utf8_lcase doc_id", "score"
    )
    found = irs.evaluate(sent, to_spark(qrels), POOLED)
    with pytest.warns(ir.IRWarning, match="no retrieved document is judged"):
        local = ir.evaluate(run, qrels, POOLED)
    assert comparable(collected(found, ["run", "query_id"])) == comparable(local)


def test_run_and_qrels_can_be_the_same_frame(to_spark):
    run, qrels = collection(21, queries=8)
    labelled = run.join(qrels, on=["query_id", "doc_id"])
    frame = to_spark(labelled)
    found = irs.evaluate(frame, frame, [*BOUNDED, *POOLED[:1]])
    assert comparable(collected(found, "query_id")) == comparable(
        ir.evaluate(labelled, labelled, [*BOUNDED, *POOLED[:1]])
    )


def test_a_mean_is_the_same_whatever_the_order_of_its_queries(to_spark):
    per_query = pl.select(query_id=pl.int_range(5000)).with_columns(AP=(pl.col("query_id") * 0.7).sin().abs())
    for frame in (to_spark(per_query).repartition(7), to_spark(per_query.reverse())):
        assert comparable(collected(irs.mean(frame), "AP")) == comparable(ir.mean(per_query))


def test_a_task_that_fails_once_changes_nothing(to_spark):
    run, qrels = collection(15)
    result = irs.evaluate(to_spark(systems(run)), to_spark(qrels), BOUNDED, bounds=True, partitions=3)
    retried = result.mapInArrow(failing_once(), result.schema)
    local = ir.evaluate(systems(run), qrels, BOUNDED, bounds=True)
    assert comparable(collected(retried, ["run", "query_id"])) == comparable(local)


def failing_once():
    """The end of the first attempt at each task, after it has done its work."""

    def fail(batches: Iterator) -> Iterator:
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().attemptNumber() == 0:
            os._exit(1)

    return fail


@pytest.mark.skipif(not MASTER.startswith("local-cluster"), reason="needs executors that are processes")
def test_a_lost_executor_changes_nothing(to_spark, tmp_path):
    run, qrels = collection(22)
    result = irs.evaluate(to_spark(systems(run)), to_spark(qrels), BOUNDED, bounds=True, partitions=8)
    ended = tmp_path / "ended"
    lost = result.mapInArrow(ending_its_executor(ended), result.schema)
    local = ir.evaluate(systems(run), qrels, BOUNDED, bounds=True)
    assert comparable(collected(lost, ["run", "query_id"])) == comparable(local)
    assert ended.exists()


@pytest.mark.skipif(not MASTER.startswith("local-cluster"), reason="needs executors that are processes")
def test_a_lost_executor_in_the_midst_of_a_write_changes_nothing(to_spark, tmp_path):
    run, qrels = collection(23)
    result = irs.evaluate(to_spark(systems(run)), to_spark(qrels), BOUNDED, bounds=True, partitions=8)
    ended, written = tmp_path / "ended", tmp_path / "written"
    result.mapInArrow(ending_its_executor(ended), result.schema).write.parquet(str(written))
    local = ir.evaluate(systems(run), qrels, BOUNDED, bounds=True)
    assert comparable(pl.read_parquet(written / "*.parquet").sort("run", "query_id")) == comparable(local)
    assert ended.exists()


def ending_its_executor(ended):
    """The end, once, of the process of an executor's Python workers, with all that it has shuffled."""

    def end(batches: Iterator) -> Iterator:
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().partitionId() == 3 and not ended.exists():
            process = os.getppid()
            while "java" not in Path(f"/proc/{process}/comm").read_text(encoding="utf-8"):
                process = int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            ended.touch()
            os.kill(process, signal.SIGKILL)
            time.sleep(60)

    return end


def test_names_with_points_are_summed_up_and_names_in_sql_or_of_systems_are_those_of_columns(to_spark):
    pydocs = ir.datasets.load("pydocs")
    run, qrels = pydocs.runs.head(2000).rename({"run": "system"}), pydocs.qrels
    measures = ["RBP(p=0.9)", "IPrec@0.1"]
    per_query = irs.evaluate(to_spark(run), to_spark(qrels), measures)
    assert comparable(collected(irs.mean(per_query), "system")) == comparable(
        ir.mean(ir.evaluate(run, qrels, measures))
    )
    in_sql = irs.evaluate(to_spark(run), to_spark(qrels), measures, names="sql")
    assert in_sql.columns == ["system", "query_id", "rbp_p_0_9", "iprec_0_1"]
    assert in_sql.selectExpr("avg(rbp_p_0_9)").count() == 1
