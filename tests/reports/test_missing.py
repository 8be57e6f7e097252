"""The missing evidence of a report: of the documents that are relevant to its first measure."""

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.reports.experiment import Experiment
from polars_ir.reports.rankings import missing_of

RUNS = {"new": {"q": ["x", "a", "b"]}, "old": {"q": ["b", "a"]}}
QRELS = {"q": {"a": 1, "b": 2}}


@pytest.mark.parametrize(("measure", "lost"), [("P(rel=2)@1", ["b"]), ("P@1", ["a", "b"])])
def test_what_is_lost_is_relevant_to_the_first_measure(measure, lost):
    per_query = ir.evaluate(RUNS, QRELS, measure)
    rows = pl.DataFrame(
        [(run, "q", doc, -at) for run, of in RUNS.items() for at, doc in enumerate(of["q"])],
        ["run", "query_id", "doc_id", "score"],
        orient="row",
    )
    missing = missing_of(Experiment(per_query, [measure], [*RUNS], rows, QRELS), ["new", "old"])
    assert missing is not None
    assert missing["rows"]["doc_id"] == lost
