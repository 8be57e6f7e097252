"""Expressions of measures, printed by their names and pickled by their calls."""

import copy
import os
import pickle
import subprocess
import sys

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.language.measure import MeasureExpression

NAMED = [ir.ndcg(k=10), ir.precision(k=[1, 5]), ir.rbp(p=0.9).alias("main"), ir.ndcg(gains={1: 3})]
OTHERS = [ir.ndcg(gains=(ir.relevance * 2).alias("twice")), ir.parse("xgboost map@10"), ir.rank.min().alias("first")]


def test_a_measure_is_printed_as_its_columns_are_named():
    assert [repr(measure) for measure in NAMED] == ["nDCG@10", "P@1, P@5", "main", "nDCG(gains={1:3})"]
    assert str(ir.ndcg(k=10)) == "nDCG@10"
    assert ir.ndcg(gains={1: 3})._repr_html_() == "<code>nDCG(gains={1:3})</code>"
    assert type(ir.ndcg(k=10) * 2) is type(pl.col("x"))


@pytest.mark.parametrize("measure", [*NAMED, *OTHERS], ids=str)
def test_a_measure_is_the_same_after_pickling(measure):
    sent = pickle.dumps(measure)
    received = pickle.loads(sent)  # noqa: S301  # our own
    assert received.meta == measure.meta
    assert copy.deepcopy(measure).meta == measure.meta


@pytest.mark.parametrize("measure", NAMED, ids=str)
def test_a_pickle_holds_calls_and_so_serves_another_version_of_polars(measure):
    sent = pickle.dumps(measure)
    assert len(sent) < 120
    assert b"polars_ir measure" not in sent


def test_a_measure_of_ones_own_is_sent_whole():
    @ir.measure("Own", source="a test")
    def own() -> pl.Expr:
        return ir.rank.min()

    measure = own()
    assert repr(measure) == "Own"
    del ir.CATALOG["Own"]
    assert isinstance(measure, MeasureExpression)
    assert pickle.loads(pickle.dumps(measure)).meta == measure.meta  # noqa: S301


FORKING = """
import os, polars_ir as ir
ir.evaluate({"q": ["a"]}, {"q": ["a"]}, "RR")
pid = os.fork()
if not pid:
    try:
        ir.evaluate({"q": ["a"]}, {"q": ["a"]}, "RR")
    except ir.IRError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_fork_of_a_process_that_was_used_says_so_and_does_not_wait():
    command = [sys.executable, "-c", FORKING]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True, encoding="utf-8")  # noqa: S603  # our own
    assert ran.stdout.startswith("Polars was used before this process forked")
    assert "get_context('spawn')" in ran.stdout
