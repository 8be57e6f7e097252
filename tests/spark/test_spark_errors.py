"""Faults are reported before a job where that can be, and never drop a part of the figures without a word."""

import os
import re
import shutil
import sys
import types
from functools import partial

import polars as pl
import pytest
from messages import message_of
from on_spark import REMOTE, threads

import polars_ir as ir
from polars_ir import spark as irs
from polars_ir.errors import ExtraError
from polars_ir.spark import tables, tasks
from polars_ir.version import requirement

pytestmark = pytest.mark.whole("a session of Spark")

RUN = pl.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d1"], "score": [0.5, 0.4, 0.3]})
QRELS = pl.DataFrame({"qid": ["q1"], "docno": ["d2"], "rel": [1]})


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [
        (
            RUN.with_columns(score=pl.Series([0.5, 0.4, float("nan")])),
            QRELS,
            (
                "DataError: run has 1 row whose 'score' is null or NaN. Leave them out: "
                "run.filter(pl.col('score').is_not_null() & pl.col('score').is_not_nan()). The first:"
            ),
        ),
        (
            RUN.with_columns(qid=pl.Series([None, "q1", "q2"])),
            QRELS,
            (
                "DataError: run has 1 row whose 'qid' is null. Leave them out: "
                "run.filter(pl.col('qid').is_not_null()). The first:"
            ),
        ),
        (
            RUN,
            pl.concat([QRELS, QRELS]),
            (
                "DataError: qrels has 2 rows that repeat the ids of another (qid, docno). If they are a file's "
                "judgments of subtopics, or of judges, read it with format='subtopics' or format='judges'. Else "
                "keep the highest grade of each document: qrels.group_by('qid', 'docno').agg(pl.col('rel').max())."
            ),
        ),
    ],
    ids=["NaN score", "null query", "judged twice"],
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
                "item_id, product_id, movie_id); it has 'qid', 'url', 'score'. Rename the one that is meant: "
                "run.withColumnsRenamed({'url': 'doc_id'})."
            ),
        ),
        (
            RUN.with_columns(docno=pl.int_range(3)),
            "AP",
            {},
            (
                "ids must have one type on both sides; run column 'docno' is Int64 and qrels column 'docno' is String. "
                "Cast one: run.withColumn('docno', run['docno'].cast('string'))."
            ),
        ),
        (
            RUN,
            "nDGC@5",
            {},
            "no measure is called 'nDGC@5'. Did you mean 'nDCG@5' or 'α_nDCG@5'? `ir.catalog()` lists them all.",  # noqa: RUF001
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
            "ties='input' needs an order of rows, which a Spark frame does not have. Use another.",
        ),
        (
            RUN,
            "AP",
            {"history": RUN},
            "history needs all users, and no Spark task has them all. Join what you need of it to the run, as in ",
        ),
        (RUN, "AP", {"partitions": 0}, "partitions must be a whole number, 1 or more; got 0."),
        (RUN, "AP", {"broadcast": "yes"}, "broadcast must be one of None, True, False; got 'yes'."),
        (RUN, "AP", {"bound": True}, "evaluate(): got an unexpected keyword argument 'bound'. Did you mean 'bounds'?"),
    ],
)
def test_what_a_schema_tells_fails_before_any_job(to_spark, jobs, changed, measures, options, message):
    run, qrels = to_spark(changed), to_spark(QRELS)
    assert message_of(lambda: irs.evaluate(run, qrels, measures, **options)).startswith(message)
    assert jobs() == set()


@pytest.mark.parametrize("setting", tables.LOSSY)
def test_a_session_that_leaves_out_lost_parts_is_an_error(session, to_spark, jobs, setting):
    run = to_spark(RUN)
    session.conf.set(setting, "true")
    try:
        with pytest.raises(ir.IRError) as caught:
            irs.evaluate(run, QRELS, "AP")
    finally:
        session.conf.set(setting, "false")
    assert str(caught.value) == (
        f"{setting} must be 'false' to evaluate: the rows of a lost part would be silently missing from the "
        f"figures. Set it: session.conf.set('{setting}', 'false')."
    )
    assert jobs() == set()


def in_parts(folder, third):
    """The run as three Parquet parts, the last of which is another frame."""
    folder.mkdir()
    for number, part in enumerate([RUN[:1], RUN[1:2], third]):
        part.write_parquet(folder / f"part-{number}.parquet")
    return str(folder)


def test_a_part_that_is_lost_before_the_job_is_named(session, to_spark, tmp_path):
    run = session.read.parquet(in_parts(tmp_path / "run", RUN[2:]))
    result = irs.evaluate(run, to_spark(QRELS), "AP")
    (tmp_path / "run" / "part-1.parquet").unlink()
    with pytest.raises(Exception, match=r"FILE_NOT_EXIST(.|\n)*part-1\.parquet"):
        result.collect()


@pytest.mark.skipif(REMOTE, reason="Spark Connect does not tell the sizes of files")
@pytest.mark.parametrize("format", ["parquet", "orc"])
@pytest.mark.parametrize("classes", ["parquet,orc", ""], ids=["version 1", "version 2"])
def test_a_part_of_zero_bytes_is_an_error_before_any_job(session, to_spark, jobs, tmp_path, format, classes):
    before = session.conf.get("spark.sql.sources.useV1SourceList")
    session.conf.set("spark.sql.sources.useV1SourceList", classes)
    try:
        to_spark(RUN).repartition(2).write.format(format).save(str(tmp_path / "run"))
        (tmp_path / "run" / f"part 9 %41.{format}").touch()
        run = session.read.format(format).load(str(tmp_path / "run"))
        known = jobs()
        for frame in (run, run.filter("score > 0").withColumnRenamed("qid", "query_id").cache()):
            with pytest.raises(ir.IRError) as caught:
                irs.evaluate(frame, QRELS, "AP")
            assert re.fullmatch(
                rf"file:/+.*/run/part%209%20%2541\.{format}: the file has zero bytes, and Spark would skip it "
                r"silently\. Write it again, or delete it\.",
                str(caught.value),
            )
        assert jobs() == known
    finally:
        session.conf.set("spark.sql.sources.useV1SourceList", before)


def test_texts_of_zero_bytes_have_no_rows(session, to_spark, tmp_path):
    to_spark(RUN).repartition(2).write.csv(str(tmp_path / "run"), header=True)
    (tmp_path / "run" / "part-9.csv").touch()
    run = session.read.csv(str(tmp_path / "run"), header=True, schema="qid string, docno string, score double")
    assert irs.evaluate(run, QRELS, "AP").count() == ir.evaluate(RUN, QRELS, "AP").height


def test_parts_in_folders_of_a_table_are_read(session, to_spark, tmp_path):
    to_spark(RUN).write.partitionBy("qid").parquet(str(tmp_path / "run"))
    run = session.read.schema("docno string, score double, qid string").parquet(str(tmp_path / "run"))
    assert irs.evaluate(run, QRELS, "AP").count() == ir.evaluate(RUN, QRELS, "AP").height


@pytest.mark.parametrize("kept", [0.5, 0.9])
def test_a_truncated_part_fails_and_is_named(session, to_spark, tmp_path, kept):
    folder = in_parts(tmp_path / "run", RUN[2:])
    part = tmp_path / "run" / "part-1.parquet"
    run = session.read.schema("qid string, docno string, score double").parquet(folder)
    part.write_bytes(part.read_bytes()[: int(part.stat().st_size * kept)])
    with pytest.raises(Exception, match=r"part-1\.parquet"):
        irs.evaluate(run, to_spark(QRELS), "AP").collect()


def test_a_part_that_is_no_parquet_fails_and_is_named(session, to_spark, tmp_path):
    run = session.read.schema("qid string, docno string, score double").parquet(in_parts(tmp_path / "run", RUN[2:]))
    (tmp_path / "run" / "part-1.parquet").write_text("q1 Q0 d1 1 0.5 bm25\n" * 20, encoding="utf-8")
    with pytest.raises(Exception, match=r"part-1\.parquet"):
        irs.evaluate(run, to_spark(QRELS), "AP").collect()


def test_a_part_of_another_schema_is_named(session, to_spark, tmp_path):
    third = RUN[2:].with_columns(pl.col("score").cast(pl.String))
    run = session.read.schema("qid string, docno string, score double").parquet(in_parts(tmp_path / "run", third))
    with pytest.raises(Exception, match=r"part-2\.parquet(.|\n)*score(.|\n)*double(.|\n)*BINARY"):
        irs.evaluate(run, to_spark(QRELS), "AP").collect()


def test_a_part_without_a_column_is_an_error_that_says_how_to_find_it(session, to_spark, tmp_path):
    from pyspark.errors import PythonException

    run = session.read.option("mergeSchema", "true").parquet(in_parts(tmp_path / "run", RUN[2:].drop("docno")))
    with pytest.raises(PythonException) as caught:
        irs.evaluate(run, to_spark(QRELS), "AP").collect()
    assert "run has 1 row whose 'docno' is null." in str(caught.value)
    assert (
        "On Spark `row` counts in a partition. Which files such rows are in: "
        "frame.where('...').select('_metadata.file_path').distinct(), on the frame as it was read."
    ) in str(caught.value)
    found = run.where("docno is null").select("_metadata.file_path").distinct().collect()
    assert [row.file_path.rpartition("/")[2] for row in found] == ["part-2.parquet"]


def test_a_stream_has_no_last_row(session, tmp_path):
    labelled = RUN.with_columns(rel=1)
    folder = in_parts(tmp_path / "run", labelled[2:])
    stream = session.readStream.schema("qid string, docno string, score double, rel int").parquet(folder)
    assert message_of(lambda: irs.evaluate(stream, None, "AP")) == (
        "run is a stream, and a query can be evaluated when all of its rows are there. Read it as a table, or evaluate "
        "batches that hold whole queries: writeStream.foreachBatch(...)."
    )


def test_columns_that_spark_does_not_tell_apart_are_an_error(to_spark):
    run = to_spark(RUN)
    for frame, names in (
        (run.select("*", "score"), "'score', 'score'"),
        (run.selectExpr("*", "1 as price", "2 as Price"), "'price', 'Price'"),
    ):
        with pytest.raises(ir.IRError) as caught:
            irs.evaluate(frame, QRELS, "AP")
        told, _, advice = str(caught.value).rpartition(": run.toDF(")
        assert told == f"run has columns that Spark does not distinguish: {names}. Give each a name of its own"
        apart = [name.strip(" '").lower() for name in advice.removesuffix(").").split(",")]
        assert len(set(apart)) == len(frame.columns)


def test_a_column_that_can_not_be_sent_is_named(session, to_spark):
    odd = session.sql("select 'q' as qid, 'd' as docno, 1 as score, interval 1 year as age")
    assert message_of(lambda: irs.evaluate(odd, to_spark(QRELS), "AP")) == (
        "run column 'age' is of a type that Spark does not send to Python: interval year. Drop it: run.drop('age')."
    )


def test_a_grade_that_is_no_number_is_shown_once(to_spark):
    from pyspark.errors import PythonException

    qrels = QRELS.with_columns(rel=pl.lit(float("nan")))
    with pytest.raises(PythonException, match="qrels has 1 row whose 'rel' is null, NaN or infinite"):
        irs.evaluate(to_spark(RUN), to_spark(qrels), "AP", bounds=True).collect()


def test_scores_and_grades_alone_have_no_order_on_spark(to_spark):
    labelled = to_spark(pl.DataFrame({"qid": ["q"], "score": [0.5], "rel": [1]}))
    with pytest.raises(ir.IRError, match=r"run has no 'doc_id' column"):
        irs.evaluate(labelled, None, "AP")


def test_a_python_function_is_not_sent_unless_it_can_be(to_spark, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    mine = ir.rank.map_elements(lambda place: place**0.5 + hash(place), return_dtype=pl.Float64).sum().alias("mine")
    assert message_of(lambda: irs.evaluate(to_spark(RUN), to_spark(QRELS), mine)) == (
        "measure 'mine' holds a Python function, which cannot be sent to executors; write it in Polars expressions."
    )


@pytest.mark.skipif(REMOTE, reason="Spark Connect does not tell the size of a table")
def test_judgments_too_large_to_broadcast_are_an_error_that_says_what_to_choose(to_spark, monkeypatch):
    monkeypatch.setattr(tables, "LARGEST_BROADCAST", 1)
    with pytest.raises(ir.IRError) as caught:
        irs.evaluate(to_spark(RUN), to_spark(QRELS), "AP", broadcast=True)
    assert str(caught.value).startswith(
        "broadcast=True needs judged queries of less than 1 bytes, Spark's limit; Spark estimates "
    )
    assert str(caught.value).endswith("Leave them where they are: broadcast=False.")


@pytest.mark.parametrize(("package", "here"), [("polars", pl.__version__), ("polars_ir", ir.__version__)])
def test_executors_with_another_version_are_told_apart(package, here):
    assert message_of(lambda: next(tasks.on_executor(dict, None, {package: "0.0.1"}, []))) == (
        f"executors need the {package} of the driver; this one has {here}, the driver 0.0.1. Install "
        f"{package}==0.0.1 on the executors."
    )


def test_executors_without_the_package_are_told_what_to_send(to_spark, monkeypatch):
    from pyspark.errors import PythonException

    class Task:
        """A module that only the driver can import."""

    only_here = types.ModuleType("only_here")
    only_here.Task, Task.__module__, Task.__qualname__ = Task, "only_here", "Task"
    monkeypatch.setitem(sys.modules, "only_here", only_here)
    with pytest.raises(PythonException) as caught:
        tasks.in_tasks(to_spark(RUN), Task(), tables.arrow_schema(RUN)).collect()
    assert (
        f"ImportError: executors need the packages of the driver: No module named 'only_here' for {sys.executable}. "
        "Install them there, or send them: spark-submit --archives env.tar.gz#env --conf "
        "spark.pyspark.python=./env/bin/python --conf spark.pyspark.driver.python=python"
    ) in str(caught.value)


def test_slices_and_weights_are_columns_on_spark(to_spark):
    per_query = to_spark(ir.evaluate(RUN, QRELS, "AP"))
    assert message_of(lambda: irs.mean(per_query, weights=pl.DataFrame({"qid": ["q1"], "asked": [2]}))) == (
        "weights must name columns of per_query here; got DataFrame. Join it first: "
        "per_query.join(session.createDataFrame(weights.to_arrow()), 'qid')."
    )


@pytest.mark.skipif("POLARS_MAX_THREADS" in os.environ, reason="somebody else has chosen")
def test_polars_has_as_many_threads_as_a_task_has_cores(to_spark):
    from pyspark.sql import functions as F  # noqa: N812

    task = partial(tasks.summary, function=threads, options={})
    run = to_spark(RUN)
    packed = run.select(F.struct(*run.columns).alias(tasks.RUN))
    assert {row.n for row in tasks.in_tasks(packed, task, tables.arrow_schema(threads(RUN))).collect()} == {1}


def test_a_local_run_is_told_where_to_go():
    pytest.importorskip("pyspark", exc_type=ImportError)
    assert message_of(lambda: irs.evaluate(RUN, QRELS, "AP")) == (
        "run must be a Spark frame; got DataFrame. For a table in memory there is polars_ir.evaluate. Or make it a "
        "Spark frame: session.createDataFrame(run.to_arrow())."
    )


def test_without_java_a_local_run_is_told_how_to_get_it(monkeypatch):
    pytest.importorskip("pyspark", exc_type=ImportError)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert message_of(lambda: irs.evaluate(RUN, QRELS, "AP")).endswith(
        "Or make it a Spark frame (a session needs Java, which was not found here: install OpenJDK 17 or 21, by apt "
        "install openjdk-17-jre-headless, brew install openjdk@17 or conda install openjdk=17, or set JAVA_HOME): "
        "session.createDataFrame(run.to_arrow())."
    )


@pytest.mark.parametrize("function", [irs.mean, irs.summarize])
def test_without_pyspark_the_extra_is_named(function, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ExtraError) as caught:
        function(None)
    assert str(caught.value) == f"polars_ir.spark needs an optional dependency: pip install {requirement('spark')}."


@pytest.mark.parametrize("function", ["mean", "summarize", "compare"])
def test_a_reference_names_the_local_call(to_spark, function):
    per_query = to_spark(pl.DataFrame({"query_id": ["q1", "q1"], "run": ["a", "b"], "AP": [0.5, 1.0]}))
    assert message_of(lambda: getattr(irs, function)(per_query, reference=per_query)) == (
        "reference does not go with a Spark frame. Take both to this machine, a row per query: "
        f"polars_ir.{function}(per_query.toArrow(), reference=people.toArrow())."
    )
