"""On Spark every figure is the local one, to the last bit, and what is wrong is told before a job where it can be."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from generated import collection, collection_of, every_measure

import polars_ir as ir
from polars_ir import spark as irs
from polars_ir.errors import ExtraError
from polars_ir.expected import EXPECTED
from polars_ir.spark import tables
from polars_ir.spark.stand_ins import Names
from polars_ir.spark.tasks import Evaluation, Summary

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    # A session leaves sockets to its JVM, which ends with the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

ROBUST = Path(__file__).resolve().parents[2] / "shared" / "data" / "robust03"

SYSTEMS = ["a", "b", "c"]


@pytest.fixture(scope="session")
def session():
    """A session of two cores, which tries a task three times."""
    sql = pytest.importorskip("pyspark.sql", exc_type=ImportError)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parent),
        "spark.log.level": "OFF",
    }
    session = sql.SparkSession.builder.master("local[2,3]").config(map=options).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def to_spark(session):
    """A function that makes a Spark frame of a Polars one."""
    return lambda frame: session.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))


@pytest.fixture
def jobs(session):
    """The jobs that a test has run."""
    session.sparkContext.setJobGroup("test", "")
    before = set(session.sparkContext.statusTracker().getJobIdsForGroup("test"))
    return lambda: set(session.sparkContext.statusTracker().getJobIdsForGroup("test")) - before


def collected(result, keys):
    """A Spark frame in memory, its rows in the order of the local ones."""
    return pl.DataFrame(result.toArrow()).sort(keys)


def comparable(frame):
    """A local result in the dtypes that Spark has, each float spelt out to its last bit."""
    return [tuple(v.hex() if isinstance(v, float) else v for v in row) for row in tables.plain(frame).iter_rows()]


def assert_same(to_spark, run, qrels, measures, *, on_spark=None, **options):
    local = ir.evaluate(run, qrels, measures, **options)
    result = irs.evaluate(
        to_spark(run), None if qrels is None else to_spark(qrels), measures, **options, **on_spark or {}
    )
    keys = [name for name in ("run", "query_id", "qid") if name in local.columns]
    found = collected(result, keys)
    assert found.schema == tables.plain(local).schema
    assert comparable(found) == comparable(local)


def systems(run):
    """Three systems: a run, its reverse, and one that has a single query."""
    one = run.filter(pl.col("query_id") == "q0")
    parts = zip(SYSTEMS, (run, run.with_columns(-pl.col("score")), one), strict=True)
    return pl.concat(part.with_columns(run=pl.lit(name)) for name, part in parts)


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


@pytest.mark.parametrize("kind", ["subtopics", "preferences"])
def test_measures_of_other_judgments_are_the_local_ones(to_spark, kind):
    assert_same(to_spark, *collection_of(kind, 2), every_measure(kind), on_spark={"partitions": 2})


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        (MEASURES, {"missing": "skip", "undefined": None}),
        (MEASURES, {"judged_only": True, "ties": "worst"}),
        (MEASURES, {"ties": "best"}),
        (sorted(name for name in EXPECTED if name != "Judged"), {"ties": "expected"}),
        (BOUNDED, {"bounds": True}),
        (POOLED, {}),
    ],
    ids=["skip", "condensed, worst", "best", "expected", "bounds", "pool"],
)
def test_options_mean_what_they_mean_locally_also_with_several_systems(to_spark, measures, options):
    run, qrels = collection(3)
    assert_same(to_spark, systems(run), qrels, measures, **options)


def test_bounds_of_one_system_know_the_highest_grade_of_all_queries(to_spark):
    run, qrels = collection(4)
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


def test_times_of_the_run_can_be_measured(session, to_spark):
    run, qrels = collection(16, queries=6)
    run = run.with_columns(at=pl.datetime(2026, 1, 1, time_zone="UTC") + pl.duration(hours=pl.int_range(pl.len())))
    latest = pl.col("at").max().dt.hour().alias("latest")
    assert_same(to_spark, run, qrels, [latest, pl.col("at").min().dt.timestamp("us").alias("first"), "AP"])
    odd = session.sql("select 'q' as qid, 'd' as docno, 1 as score, interval 1 year as age")
    with pytest.raises(ir.IRError, match=r"run has a column that can not be sent to Python: .*YearMonthIntervalType"):
        irs.evaluate(odd, to_spark(QRELS), "AP")


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


def test_a_measure_registered_on_the_driver_alone_is_sent(to_spark):
    try:

        @ir.measure("Early", bounds=(0, 10), source="an example")
        def early(*, k: int = 3, rel: float = 1) -> pl.Expr:
            return (ir.top(k) & ir.relevant(rel)).sum()

        assert_same(to_spark, *collection(11, queries=8), ["Early@2", "AP"], bounds=True)
    finally:
        ir.CATALOG.pop("Early", None)


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


def test_nothing_runs_before_an_action(to_spark, jobs):
    run, qrels = collection(14, queries=6)
    result = irs.summarize(to_spark(systems(run)).transform(irs.evaluate, to_spark(qrels), BOUNDED, bounds=True))
    assert jobs() == set()
    assert result.count() == len(SYSTEMS) * 3 * len(BOUNDED)
    assert jobs() != set()


def test_a_task_that_fails_once_changes_nothing(to_spark):
    run, qrels = collection(15)
    result = irs.evaluate(to_spark(systems(run)), to_spark(qrels), BOUNDED, bounds=True, partitions=3)
    retried = result.mapInArrow(failing_once(), result.schema)
    local = ir.evaluate(systems(run), qrels, BOUNDED, bounds=True)
    assert comparable(collected(retried, ["run", "query_id"])) == comparable(local)


def failing_once():
    """What ends the first attempt at each task, after it has done its work."""

    def fail(batches: Iterator) -> Iterator:
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().attemptNumber() == 0:
            os._exit(1)

    return fail


RUN = pl.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d1"], "score": [0.5, 0.4, 0.3]})
QRELS = pl.DataFrame({"qid": ["q1"], "docno": ["d2"], "rel": [1]})


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        (
            RUN.with_columns(docno=pl.Series(["d1", None, "d1"])),
            QRELS,
            (
                "polars_ir.errors.DataError: run has 1 row whose 'docno' is null. Leave them out: "
                "run.filter(pl.col('docno').is_not_null()). The first:"
            ),
        ),
        (
            RUN.with_columns(score=pl.Series([0.5, 0.4, float("nan")])),
            QRELS,
            (
                "polars_ir.errors.DataError: run has 1 row whose 'score' is null or NaN. Leave them out: "
                "run.filter(pl.col('score').is_not_null() & pl.col('score').is_not_nan()). The first:"
            ),
        ),
        (
            RUN.with_columns(qid=pl.Series([None, "q1", "q2"])),
            QRELS,
            (
                "polars_ir.errors.DataError: run has 1 row whose 'qid' is null. Leave them out: "
                "run.filter(pl.col('qid').is_not_null()). The first:"
            ),
        ),
        (
            pl.concat([RUN, RUN[:1]]),
            QRELS,
            (
                "polars_ir.errors.DataError: run has 2 rows that repeat the ids of another (qid, docno). Keep one of "
                "each: run.unique(['qid', 'docno'], keep='first'). The first:"
            ),
        ),
        (
            RUN,
            pl.concat([QRELS, QRELS]),
            (
                "polars_ir.errors.DataError: qrels has 2 rows that repeat the ids of another (qid, docno). Keep one of "
                "each: qrels.unique(['qid', 'docno'], keep='first'). The first:"
            ),
        ),
    ],
    ids=["null document", "NaN score", "null query", "duplicates", "judged twice"],
)
def test_bad_rows_fail_the_job_with_our_message(to_spark, run, qrels, message):
    from pyspark.errors import PythonException

    result = irs.evaluate(to_spark(run), to_spark(qrels), "AP", broadcast=True)
    with pytest.raises(PythonException) as caught:
        result.collect()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "measures", "options", "message"),
    [
        (
            RUN.rename({"docno": "url"}),
            "AP",
            {},
            (
                "run has no 'doc_id' column (recognised names: doc_id, docno, docid, corpus_id, pid, passage_id, "
                "item_id); it has 'qid', 'url', 'score'. Rename the one that is meant: run.rename({'...': 'doc_id'})."
            ),
        ),
        (
            RUN.with_columns(docno=pl.int_range(3)),
            "AP",
            {},
            (
                "ids must have one type on both sides; run column 'docno' is Int64 and qrels column 'docno' is String. "
                "Cast one: run.with_columns(pl.col('docno').cast(pl.String))."
            ),
        ),
        (
            RUN,
            "nDGC@5",
            {},
            "no measure is called 'nDGC@5'. Did you mean 'nDCG' or 'Rndcg' or 'α_nDCG'? `ir.catalog()` lists them all.",  # noqa: RUF001
        ),
        (
            RUN,
            pl.col("price").sum(),
            {},
            "measure 'price' reads the column 'price', which neither the judged relation nor the run has.",
        ),
        (
            RUN,
            "AP",
            {"ties": "input"},
            "ties='input' needs rows in an order, which those of a Spark frame have not. Use another.",
        ),
        (RUN, "AP", {"partitions": 0}, "partitions must be a whole number from 1 on; got 0."),
        (RUN, "AP", {"broadcast": "yes"}, "broadcast must be one of None, True, False; got 'yes'."),
        (RUN, "AP", {"bound": True}, "evaluate(): got an unexpected keyword argument 'bound'. Did you mean 'bounds'?"),
    ],
)
def test_what_a_schema_tells_fails_before_any_job(to_spark, jobs, changed, measures, options, message):
    run, qrels = to_spark(changed), to_spark(QRELS)
    with pytest.raises(ir.IRError) as caught:
        irs.evaluate(run, qrels, measures, **options)
    assert str(caught.value).startswith(message)
    assert jobs() == set()


def test_scores_and_grades_alone_have_no_order_on_spark(to_spark):
    labelled = to_spark(pl.DataFrame({"qid": ["q"], "score": [0.5], "rel": [1]}))
    with pytest.raises(ir.IRError, match=r"run has no 'doc_id' column"):
        irs.evaluate(labelled, None, "AP")


def test_a_python_function_is_not_sent_unless_it_can_be(to_spark, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    mine = ir.rank.map_elements(lambda place: place**0.5 + hash(place), return_dtype=pl.Float64).sum().alias("mine")
    with pytest.raises(ir.IRError) as caught:
        irs.evaluate(to_spark(RUN), to_spark(QRELS), mine)
    assert str(caught.value) == (
        "measure 'mine' holds a Python function, which can not be sent to executors; write it in Polars expressions."
    )


def test_judgments_too_large_to_broadcast_are_an_error_that_says_what_to_choose(to_spark, monkeypatch):
    monkeypatch.setattr(tables, "LARGEST_BROADCAST", 1)
    with pytest.raises(ir.IRError) as caught:
        irs.evaluate(to_spark(RUN), to_spark(QRELS), "AP", broadcast=True)
    assert str(caught.value).startswith(
        "broadcast=True needs judged queries of less than 1 bytes, Spark's limit; Spark estimates "
    )
    assert str(caught.value).endswith("Leave them where they are: broadcast=False.")


def test_executors_with_another_polars_are_told_apart():
    with pytest.raises(ir.IRError) as caught:
        next(Evaluation((), {}, Names({}, {}), None, polars="1.0.0")([]))
    assert str(caught.value) == (
        "executors need the Polars of the driver, since expressions are sent; here is "
        f"{pl.__version__}, there is 1.0.0. Install polars==1.0.0 on the executors."
    )


def test_slices_and_weights_are_columns_on_spark(to_spark):
    per_query = to_spark(ir.evaluate(RUN, QRELS, "AP"))
    with pytest.raises(ir.IRError) as caught:
        irs.mean(per_query, weights=pl.DataFrame({"qid": ["q1"], "asked": [2]}))
    assert str(caught.value) == (
        "weights must name columns of per_query here; got DataFrame. Join it first: "
        "per_query.join(weights, 'query_id')."
    )


def threads(rows):  # noqa: ARG001  # what a summary is made of
    return pl.DataFrame({"n": [pl.thread_pool_size()]})


@pytest.mark.skipif("POLARS_MAX_THREADS" in os.environ, reason="somebody else has chosen")
def test_polars_has_as_many_threads_as_a_task_has_cores(to_spark):
    task = Summary(threads, {}, tables.arrow_schema(threads(RUN)))
    assert {row.n for row in tables.in_tasks(to_spark(RUN), task).collect()} == {1}


def test_a_local_run_is_told_where_to_go():
    pytest.importorskip("pyspark", exc_type=ImportError)
    with pytest.raises(ir.IRError) as caught:
        irs.evaluate(RUN, QRELS, "AP")
    assert str(caught.value) == (
        "run must be a Spark frame; got DataFrame. For a table in memory there is polars_ir.evaluate; or make it a "
        "Spark frame: session.createDataFrame(table)."
    )


@pytest.mark.parametrize("function", [irs.mean, irs.summarize])
def test_without_pyspark_the_extra_is_named(function, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ExtraError) as caught:
        function(None)
    assert str(caught.value) == "polars_ir.spark needs an optional dependency: pip install 'polars_ir[spark]'."
