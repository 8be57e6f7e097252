"""A figure of Spark beside the local one."""

import os

import polars as pl

import polars_ir as ir
from polars_ir import spark as irs
from polars_ir.spark import tables

#: The Spark that the tests run on; see `conftest.py`.
REMOTE = "SPARK_REMOTE" in os.environ
MASTER = os.environ.get("SPARK_MASTER", "local[2,3]")

SYSTEMS = ["a", "b", "c"]


def threads(rows):  # noqa: ARG001  # a summary takes them
    """The threads of Polars in a task; executors import this module, and none of `tests/support`."""
    return pl.DataFrame({"n": [pl.thread_pool_size()]})


def collected(result, keys):
    """A Spark frame in memory, its rows in the order of the local ones."""
    return pl.DataFrame(result.toArrow()).sort(keys)


def comparable(frame):
    """A local result in the dtypes that Spark has, each float spelt out to its last bit."""
    return [tuple(v.hex() if isinstance(v, float) else v for v in row) for row in tables.plain(frame).iter_rows()]


def assert_same(to_spark, run, qrels, measures, *, on_spark=None, **options):
    local = ir.evaluate(run, qrels, measures, **options)
    result = irs.evaluate(
        to_spark(run), None if qrels is None else to_spark(qrels), measures, **{**options, **(on_spark or {})}
    )
    keys = [name for name in ("date", "tenant", "judge", "run", "query_id", "qid") if name in local.columns]
    found = collected(result, keys)
    assert found.schema == tables.plain(local).schema
    assert comparable(found) == comparable(local)


def systems(run):
    """Three systems: a run, its reverse, and one that has a single query."""
    one = run.filter(pl.col("query_id") == "q0")
    parts = zip(SYSTEMS, (run, run.with_columns(-pl.col("score")), one), strict=True)
    return pl.concat(part.with_columns(run=pl.lit(name)) for name, part in parts)
