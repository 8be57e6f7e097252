"""On Spark, systems are compared by sums: as the values are, but for rounding, and no row of a query leaves a task."""

import contextlib
import io
import re

import numpy as np
import polars as pl
import pytest
from messages import message_of
from on_spark import REMOTE
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir import spark as irs
from polars_ir.spark import per_query, tables
from polars_ir.spark.evaluate import COUNTED

pytestmark = [
    pytest.mark.filterwarnings("ignore::polars_ir.IRWarning"),
    pytest.mark.whole("a session of Spark"),
]

MEASURES = ["nDCG@10", "RR", "Hole@5", "RBP(p=0.9)"]


def drawn(n: int = 300) -> pl.DataFrame:
    """Three systems alike, whose queries lack and whose values are null here and there."""
    draw, frames = np.random.default_rng(1), []
    for number, run in enumerate("abc"):
        columns = {
            "query_id": [f"q{query}" for query in range(n)],
            "nDCG@10": np.where(draw.random(n) < 0.05, np.nan, draw.beta(1 + number / 20, 2, n).round(2)),
            "RR": 1 / draw.integers(1, 9, n),
            "Hole@5": draw.integers(0, 6, n) / 5,
            "RBP(p=0.9)": draw.random(n),
            "lang.uage": [["de", "en"][query % 2] for query in range(n)],
        }
        frame = pl.DataFrame(columns).with_columns(pl.col("nDCG@10").fill_nan(None), run=pl.lit(run))
        frames.append(frame.filter(pl.Series(draw.random(n) < 0.95)))
    return pl.concat(frames).sample(fraction=1, shuffle=True, seed=1)


SYSTEMS = drawn()


def assert_same(on_spark, locally: pl.LazyFrame) -> None:
    assert_frame_equal(pl.DataFrame(on_spark.toArrow()), tables.plain(locally.collect()), rel_tol=1e-11, abs_tol=1e-12)


def plan_of(frame) -> str:
    """The physical plan of a Spark frame."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        frame.explain()
    return text.getvalue()


def shuffles(plan: str) -> list[tuple[str, str]]:
    """The shuffles of rows in a plan, the last one first: their kind, and the first column that they are by."""
    return re.findall(r"\bExchange (\w+)(?:\((\w+))?", plan)


#: Rows that travel to the partition of their query.
BY_QUERY = ("hashpartitioning", "polars_ir_query")


@pytest.fixture
def plans(monkeypatch):
    """The plans of Spark whose results come to the driver."""
    shown, in_tasks = [], per_query.in_tasks

    def noted(rows, task, schema):
        result = in_tasks(rows, task, schema)
        shown.append(plan_of(result))
        return result

    monkeypatch.setattr(per_query, "in_tasks", noted)
    return shown


@pytest.mark.parametrize(
    "options",
    [{"baseline": "b", "by": "lang.uage", "missing": "skip"}, {"test": "auto", "margin": 0.05, "alpha": 0.2}],
)
def test_comparisons_are_those_of_a_plan(to_spark, options):
    found = irs.compare(to_spark(SYSTEMS), MEASURES, **options)
    assert_same(found, ir.compare(SYSTEMS.lazy(), MEASURES, **options))


@pytest.mark.parametrize("options", [{"max_drop": 0.2}, {"by": "lang.uage", "looks": (2, 5)}])
def test_gates_are_those_of_plans(to_spark, options):
    new, old = (SYSTEMS.filter(run=run).drop("run") for run in "cb")
    found = irs.gate(to_spark(new), to_spark(old), MEASURES, **options)
    assert_same(found, ir.gate(new.lazy(), old.lazy(), MEASURES, **options))


def test_a_baseline_names_the_old_system_of_one_frame(to_spark):
    both = SYSTEMS.filter(pl.col("run") != "a")
    found = irs.gate(to_spark(both), measures=MEASURES, baseline="b", max_drop=0.2)
    assert_same(found, ir.gate(both.lazy(), measures=MEASURES, baseline="b", max_drop=0.2))


def test_rows_travel_once_by_their_query_and_the_driver_gets_sums(to_spark, plans):
    frame = to_spark(SYSTEMS)
    irs.compare(frame, MEASURES)
    extremes, moments = plans
    assert "Exchange" not in extremes
    assert shuffles(moments) == [BY_QUERY]
    plans.clear()
    irs.gate(frame.filter("run = 'a'"), frame.filter("run = 'b'"), MEASURES)
    # Those that are kept travel once, however often they are looked at.
    assert {each for plan in plans for each in shuffles(plan)} <= {BY_QUERY}
    assert all("InMemoryTableScan" in plan for plan in plans[1:])


@pytest.mark.skipif(REMOTE, reason="Spark Connect tells of no jobs")
def test_rows_that_are_kept_are_in_few_partitions(session, to_spark, jobs):
    session.conf.set("spark.sql.shuffle.partitions", "40")
    try:
        irs.gate(*(to_spark(SYSTEMS.filter(run=run).drop("run")) for run in "ab"), MEASURES, max_drop=0.2)
    finally:
        session.conf.set("spark.sql.shuffle.partitions", "3")
    told = session.sparkContext.statusTracker()
    stages = [told.getStageInfo(stage) for job in jobs() for stage in told.getJobInfo(job).stageIds]
    assert len(stages) > 3
    assert max(stage.numTasks for stage in stages if stage) < 40


@pytest.mark.parametrize("function", [irs.mean, irs.summarize])
def test_a_summary_travels_once_by_its_system(to_spark, function):
    assert shuffles(plan_of(function(to_spark(SYSTEMS)))) == [("hashpartitioning", "run")]


def test_runs_travel_once_by_their_query_and_facts_of_all_queries_are_added_up_before(to_spark):
    draw = np.random.default_rng(3)
    run = SYSTEMS.select("run", "query_id", doc_id=pl.lit("d"), score="RR")
    qrels = run.select("query_id", "doc_id", relevance=pl.Series(draw.integers(2, size=run.height))).unique("query_id")
    tables_of = to_spark(run), to_spark(qrels)
    assert shuffles(plan_of(irs.validate(*tables_of))) == [("hashpartitioning", "finding"), BY_QUERY]
    last, *others = shuffles(plan_of(irs.evaluate(*tables_of, "AP", broadcast=True)))
    assert last == BY_QUERY
    # The ids of judged queries, once each, and the systems there are, as one row.
    assert set(others) == {("hashpartitioning", "query_id"), ("SinglePartition", "")}


def test_slices_are_those_of_a_plan(to_spark, plans):
    found = irs.worst_slices(to_spark(SYSTEMS), "lang.uage", MEASURES)
    assert shuffles(plans[-1]) == [BY_QUERY]
    assert_same(found, ir.worst_slices(SYSTEMS.lazy(), "lang.uage", MEASURES))


@pytest.mark.parametrize("options", [{}, {"every": "1w", "reference": "earlier"}, {"every": "1d", "reference": 5}])
def test_courses_are_those_of_a_plan(to_spark, options, plans):
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("query_id").str.slice(1).cast(pl.Int64) % 14)
    frame = SYSTEMS.drop("lang.uage").with_columns(day)
    found = irs.drift(to_spark(frame), "date", MEASURES, **options)
    assert shuffles(plans[-1]) == [BY_QUERY]
    assert_same(found, ir.drift(frame.lazy(), "date", MEASURES, **options))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda frame: irs.compare(frame, test="wilcoxon"),
            ["test='wilcoxon'", "test='t'", "got a Spark frame", "per_query.toArrow()"],
        ),
        (lambda frame: irs.compare(frame, by=SYSTEMS), ["by must name columns"]),
        (lambda frame: irs.compare(frame, cluster="lang.uage"), ["cluster"]),
        (lambda frame: irs.compare(frame.unionAll(frame.limit(1)), "RR"), ["repeat the ids"]),
        (lambda frame: irs.gate(frame, frame, "RR"), ["new must be of one system", "new.filter(new['run'] == "]),
        (
            lambda frame: irs.gate(frame, measures="RR", baseline="b"),
            ["new must have one system beside 'b'; it has 'a', 'c'"],
        ),
        (lambda frame: irs.gate(frame, measures="RR", baseline="x"), ["baseline names 'x', which is not one of"]),
        (lambda frame: irs.gate(frame, "RR", baseline="b"), ["old must be left out beside baseline='b'"]),
        (lambda frame: irs.compare(frame.limit(0), "RR"), ["no row"]),
        (
            lambda frame: irs.gate(frame.filter("run = 'a'"), frame.limit(0), "RR"),
            ["old has no rows, and so no queries to compare."],
        ),
        (lambda frame: irs.drift(frame.unionAll(frame.limit(1)), "lang.uage", "RR"), ["repeat the ids", "come again"]),
    ],
)
def test_what_sums_do_not_tell_is_an_error(to_spark, call, words):
    message = message_of(lambda: call(to_spark(SYSTEMS)))
    assert [word for word in words if word not in message] == []


def test_a_value_that_is_no_number_fails_the_job(to_spark):
    with pytest.raises(Exception, match="NaN or infinite"):
        irs.compare(to_spark(SYSTEMS.with_columns(RR=pl.lit(float("inf")))), "RR")


def test_tables_of_parquet_go_in_and_out(session, tmp_path):
    SYSTEMS.write_parquet(tmp_path / "systems.parquet")
    frame = session.read.parquet(str(tmp_path / "systems.parquet"))
    irs.compare(frame, MEASURES).write.parquet(str(tmp_path / "compared"))
    found = session.read.parquet(str(tmp_path / "compared"))
    assert_same(
        found.sort("measure", "baseline", "run"),
        ir.compare(SYSTEMS.lazy(), MEASURES).sort("measure", "baseline", "run"),
    )


def test_findings_of_one_query_each_are_counted(to_spark):
    draw = np.random.default_rng(2)
    rows = [(f"q{q}", f"d{draw.integers(9)}", int(draw.integers(4)) / 2) for q in range(30) for _ in range(8)]
    run = pl.DataFrame(
        [*rows, (None, "d1", 1.0), ("q1", "d0", None)], schema=["query_id", "doc_id", "score"], orient="row"
    )
    run = pl.concat([run.with_columns(run=pl.lit(name)) for name in "ab"])
    judged = [(f"q{q}", f"d{d}", int(d == q % 7)) for q in range(5, 40) for d in range(6)]
    qrels = pl.DataFrame([*judged, judged[0]], schema=["query_id", "doc_id", "relevance"], orient="row")
    found = pl.DataFrame(irs.validate(to_spark(run), to_spark(qrels)).toArrow()).sort("finding")
    expected = ir.validate(run, qrels).filter(pl.col("finding").is_in(list(COUNTED))).sort("finding")
    assert expected.height >= 7
    assert_frame_equal(
        found.select("finding", "severity", "count"), tables.plain(expected.select("finding", "severity", "count"))
    )
    with pytest.raises(ir.IRError, match="needs all queries together"):
        irs.validate(to_spark(run), to_spark(qrels), only="nDCG@10 moved by ties")
