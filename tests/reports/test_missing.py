"""The missing evidence of a report: of the documents that are relevant to its first measure."""

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.language.names import resolve
from polars_ir.reports.experiment import Experiment
from polars_ir.reports.rankings import missing_of

RUNS = {"new": {"q": ["x", "a", "b"]}, "old": {"q": ["b", "a"]}}
QRELS = {"q": {"a": 1, "b": 2}}


OF_TWO = ir.precision(k=1, rel=2).alias("P@1")


@pytest.mark.parametrize(("measure", "lost"), [("P(rel=2)@1", ["b"]), ("P@1", ["a", "b"]), (OF_TWO, ["b"])])
def test_what_is_lost_is_relevant_to_the_first_measure(measure, lost):
    per_query = ir.evaluate(RUNS, QRELS, measure)
    rows = pl.DataFrame(
        [(run, "q", doc, -at) for run, of in RUNS.items() for at, doc in enumerate(of["q"])],
        ["run", "query_id", "doc_id", "score"],
        orient="row",
    )
    experiment = Experiment(per_query, [per_query.columns[-1]], [*RUNS], rows, QRELS, resolved=resolve(measure))
    missing = missing_of(experiment, ["new", "old"])
    assert missing is not None
    assert missing["rows"]["doc_id"] == lost
