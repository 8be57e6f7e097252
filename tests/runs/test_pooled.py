"""Days that are pooled into one ranking are warned of by name; columns of documents are not."""

import datetime as dt
import warnings

import polars as pl
import pytest

import polars_ir as ir
from polars_ir.runs.evaluate import evaluate_collected

FIRST, SECOND = dt.date(2026, 11, 18), dt.date(2026, 11, 19)
QRELS = pl.DataFrame({"query_id": ["q", "p"], "doc_id": ["a", "b"], "relevance": 1})

#: Two days of a system, of other documents: one ranking of both.
RUN = pl.DataFrame(
    {
        "date": [FIRST, FIRST, SECOND, FIRST, SECOND],
        "query_id": ["q", "q", "q", "p", "p"],
        "doc_id": ["a", "b", "c", "c", "b"],
        "score": [1.0, 2.0, 3.0, 1.0, 2.0],
    }
)

each_kind = pytest.mark.parametrize("lazy", [False, True])


def told(run, measures="RR", *, lazy=False, **options):
    """The warnings of an evaluation."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ir.evaluate(run.lazy() if lazy else run, QRELS, measures, **options).lazy().collect()
    return [str(warning.message) for warning in caught]


@each_kind
@pytest.mark.parametrize("name", ["date", "published_on", "tenant"])
def test_days_in_one_ranking_are_told_of_by_name(lazy, name):
    run = RUN.rename({"date": name})
    run = run.with_columns(tenant=pl.col("tenant").cast(pl.String)) if name == "tenant" else run
    [message] = told(run, lazy=lazy)
    assert message.startswith(f"the run has several {name!r} in a ranking, whose documents are ranked together.")
    assert message.endswith(f"by={name!r}.")
    with pytest.warns(ir.IRWarning, match="in a ranking") as caught:
        figures = evaluate_collected(run.lazy() if lazy else run, QRELS, "RR")
    assert len(caught) == 1
    assert figures.columns == ["query_id", "RR"]


@each_kind
def test_days_that_are_named_alone_or_read_are_not_told_of(lazy):
    assert told(RUN, lazy=lazy, by="date") == []
    assert told(RUN.filter(date=FIRST), lazy=lazy, missing="skip") == []
    newest = pl.col("date").max().dt.day().alias("newest")
    assert told(RUN, newest, lazy=lazy) == []
    assert told(RUN.rename({"date": "provider"}).cast({"provider": pl.String}), lazy=lazy) == []


@each_kind
def test_days_of_documents_are_not_told_of(lazy):
    published = pl.col("doc_id").replace_strict({"a": FIRST, "b": SECOND, "c": FIRST})
    runs = pl.concat([RUN.with_columns(run=pl.lit(name)) for name in "xyz"]).with_columns(date=published)
    assert told(runs, lazy=lazy) == []
