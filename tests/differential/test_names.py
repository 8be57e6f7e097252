"""A column, or a measure, of the user's means the same whatever it is called, or its name is refused."""

import random

import polars as pl
import pytest
from suite import share

import polars_ir as ir

from . import planted
from .forms import HOSTILE

#: Names that results and plans have for columns of theirs, and names that are odd in themselves.
NAMES = (
    *HOSTILE,
    *("rank", "ideal_rank", "n_retrieved", "n_higher", "judged_elsewhere", "run", "system", "measure", "mean", "std"),
    *("low", "high", "se", "p", "all", "slice", "difference", "n_queries", "note", "baseline", "other", "left", "list"),
    *(
        "was_query",
        "judge",
        "group",
        "level",
        "part",
        "size",
        "AP",
        "^a",
        "a$",
        "a b",
        "{a}",
        "a'b",
        'a"b',
        "a\\b",
        "é",
    ),
    *("*", "^.*$", "polars_ir: kept", "polars_ir: ranking", "__index_level_0__"),
)

#: Names of the columns that a relation has, which a measure reads there, or by which a column is known for another.
KNOWN = ("run", "system", "rank", "ideal_rank", "n_retrieved", "n_higher", "n_tied", "judged_elsewhere")

RUN = pl.DataFrame(
    {"query_id": ["q1"] * 3 + ["q2"] * 3, "doc_id": list("abcabc"), "score": [3.0, 2.0, 1.0, 1.0, 2.0, 3.0]}
)
QRELS = pl.DataFrame({"query_id": ["q1", "q1", "q2", "q2"], "doc_id": list("acab"), "relevance": [1, 2, 0, 1]})
PER_QUERY = pl.DataFrame({"query_id": [f"q{i}" for i in range(12)], "AP": [i / 12 for i in range(12)]})
SYSTEMS = pl.concat(
    [PER_QUERY.with_columns(run=pl.lit("s")), PER_QUERY.with_columns(pl.col("AP") ** 2, run=pl.lit("t"))]
)


def beside(frame, name, *values):
    """The frame with a column of some values, which repeat."""
    return frame.with_columns(pl.Series(name, (list(values) * frame.height)[: frame.height]))


#: Calls by what they read of a column of some name.
CALLS = {
    "collapse": lambda name: ir.collapse(beside(RUN, name, "x", "x", "y"), name),
    "collapse, queries": lambda name: ir.collapse(beside(RUN, name, "t"), {"query_id": name}, how="first"),
    "collapse, expression": lambda name: ir.collapse(beside(RUN, name, "x", "x", "y"), pl.col(name).str.head(1)),
    "mean, by": lambda name: ir.mean(beside(PER_QUERY, name, "x", "y"), by=name),
    "mean, weights": lambda name: ir.mean(beside(PER_QUERY, name, 1.0, 2.0), weights=name),
    "summarize, by": lambda name: ir.summarize(beside(PER_QUERY, name, "x", "y"), by=name),
    "compare, by": lambda name: ir.compare(beside(SYSTEMS, name, "x", "y"), by=name),
    "worst_slices": lambda name: ir.worst_slices(beside(PER_QUERY, name, "x", "y"), name),
    "judges": lambda name: ir.evaluate(RUN, beside(QRELS, name, "j", "k"), ["AP", "nDCG@2"], judges=name),
    "a column of the run": lambda name: ir.evaluate(beside(RUN, name, 1, 5, 7), QRELS, pl.col(name).sum().alias("m")),
    "a column of qrels": lambda name: ir.evaluate(RUN, beside(QRELS, name, 1, 5), pl.col(name).sum().alias("m")),
    "gains": lambda name: ir.evaluate(RUN, beside(QRELS, name, 1.0, 0.5), ir.ndcg(gains=pl.col(name)).alias("m")),
    "weights of lists": lambda name: ir.fuse(
        {"a": beside(RUN, name, 1, 2), "b": RUN}, "sum", weights=pl.col(name).max()
    ),
    "abstention": lambda name: ir.abstention(beside(PER_QUERY, name, 0.1, 0.4, 0.3), name),
    "robustness": lambda name: ir.robustness(beside(PER_QUERY, name, "b", "c"), name),
}

#: Calls that give a measure some name.
MEASURES = {
    "evaluate": lambda name: ir.evaluate(RUN, QRELS, [ir.average_precision().alias(name), "P@2"]),
    "evaluate, lazy": lambda name: ir.evaluate(
        RUN.lazy(), QRELS, [ir.average_precision().alias(name), "P@2"]
    ).collect(),
    "evaluate, bounds": lambda name: ir.evaluate(RUN, QRELS, ir.precision(k=2).alias(name), bounds=True),
    "mean": lambda name: ir.mean(SYSTEMS.rename({"AP": name})),
    "compare": lambda name: ir.compare(SYSTEMS.rename({"AP": name})),
}


def rows(call, name):
    """The rows of a call, sorted, with one name in the place of another."""
    return sorted(repr(["the name" if value == name else value for value in row]) for row in call(name).rows())


def some(call):
    """Names drawn for a call."""
    return random.Random(call).sample(NAMES, min(len(NAMES), share(200, 3)))


@pytest.mark.parametrize("call", CALLS)
def test_a_column_is_read_under_any_name_or_refused(call):
    for name in some(call):
        try:
            found = rows(CALLS[call], name)
        except ir.IRError:
            continue
        if name not in KNOWN or call == "judges":
            assert found == rows(CALLS[call], "zzz"), name


@pytest.mark.parametrize("call", MEASURES)
def test_a_measure_may_have_any_name_that_is_not_refused(call):
    # The mean of a column that is called as a number of queries, trec_eval's, is its sum.
    for name in set(some(call)) - {"run", "n_queries"}:
        try:
            found = rows(MEASURES[call], name)
        except ir.IRError:
            continue
        assert found == rows(MEASURES[call], "zzz"), name


@pytest.mark.parametrize("bug", planted.OF_NAMES, ids=lambda bug: bug.about)
@pytest.mark.whole("all names")
def test_a_planted_bug_of_a_name_is_found(bug):
    with planted.planted(bug), pytest.raises((AssertionError, pl.exceptions.PolarsError)):  # noqa: PT012  # any of them
        for call in CALLS:
            test_a_column_is_read_under_any_name_or_refused(call)
        for call in MEASURES:
            test_a_measure_may_have_any_name_that_is_not_refused(call)
