"""One Spark session for all tests here, of two cores in this process.

Environment variables choose another: `SPARK_REMOTE='local[2]'` one of Spark Connect, `SPARK_MASTER=
'local-cluster[2,1,1024]'` one whose executors are processes, which a test ends.
"""

import os
import sys
from functools import partial
from pathlib import Path

import pytest
from on_spark import MASTER, REMOTE

from polars_ir.spark import tables

#: Warnings of PySpark itself in every test; a session leaves sockets to its JVM, which ends with the process.
WARNINGS = ("ignore:PySpark does not yet fully support pandas:FutureWarning", "ignore::ResourceWarning")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith("tests/spark/"):
            for warning in WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(warning))


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
    if REMOTE:  # the settings of a session are all that is left to set
        options = {name: value for name, value in options.items() if name.startswith("spark.sql.")}
    builder = sql.SparkSession.builder if REMOTE else sql.SparkSession.builder.master(MASTER)
    if MASTER.startswith("local-cluster"):
        os.environ.setdefault("SPARK_HOME", str(Path(sql.__file__).parents[1]))
    session = builder.config(map=options).getOrCreate()
    if REMOTE:  # Connect gives workers no variables, so what they are to import here is sent
        session.addArtifacts(*map(str, Path(__file__).parent.glob("*.py")), pyfile=True)
    yield session
    session.stop()


@pytest.fixture
def to_spark(session):
    """A function that makes a Spark frame of a Polars one."""
    return partial(tables.in_session, session)


@pytest.fixture
def jobs(session):
    """The jobs that a test has run; Spark Connect tells of none."""
    if REMOTE:
        return set
    session.sparkContext.setJobGroup("test", "")
    before = set(session.sparkContext.statusTracker().getJobIdsForGroup("test"))
    return lambda: set(session.sparkContext.statusTracker().getJobIdsForGroup("test")) - before
