"""Variants of a query: the worst of them, and what a changed query does to documents."""

import random
import re
import statistics
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of

import polars_ir as ir

PER_QUERY = pl.DataFrame(
    {"query_id": ["a1", "a2", "b1"], "RR": [1.0, 0.5, 0.25], "Hole@5": [0.0, 0.2, 0.4], "base": ["a", "a", "b"]}
)


def test_mean_and_worst_by_hand():
    assert ir.robustness(PER_QUERY, "base").rows() == [
        ("a", "RR", 0.75, 0.5, 2),
        ("b", "RR", 0.25, 0.25, 1),
        # The share of unjudged documents is a cost: its highest value is its worst.
        ("a", "Hole@5", 0.1, 0.2, 2),
        ("b", "Hole@5", 0.4, 0.4, 1),
    ]


def test_the_worst_of_what_nobody_knows_is_the_lowest():
    assert ir.robustness(PER_QUERY.rename({"Hole@5": "mine"}), "base")["worst"].to_list() == [0.5, 0.25, 0.0, 0.4]


def test_the_bounds_of_a_cost_are_costs():
    bounds = PER_QUERY.rename({"Hole@5": "Hole@5 low"})
    assert ir.robustness(bounds, "base")["worst"].to_list() == [0.5, 0.25, 0.2, 0.4]


def test_base_queries_can_stand_in_another_frame():
    given = PER_QUERY.select("base", qid="query_id")
    assert ir.robustness(PER_QUERY.drop("base"), given).equals(ir.robustness(PER_QUERY, "base"))


def test_the_query_column_of_the_other_frame_is_the_one_of_the_same_name():
    given = PER_QUERY.select("query_id", topic="base")
    assert ir.robustness(PER_QUERY.drop("base"), given).columns[0] == "topic"


def test_base_queries_can_be_numbers_and_are_no_measure_then():
    numbered = PER_QUERY.with_columns(base=pl.Series([7, 7, 3]))
    found = ir.robustness(numbered, "base")
    assert found.rows()[:2] == [(3, "RR", 0.25, 0.25, 1), (7, "RR", 0.75, 0.5, 2)]
    assert found["measure"].unique().sort().to_list() == ["Hole@5", "RR"]


def test_robustness_at_10_of_mteb():
    # mteb/_evaluators/retrieval_metrics.py, robustness_at_10: the ids of the variants of a query begin alike.
    source = random.Random(5)
    qrels = {f"{base}_{i}": {"d0": 1, "d4": 2, "d7": 1} for base in range(12) for i in range(source.randint(1, 4))}
    run = {query: {f"d{j}": source.random() for j in range(20)} for query in qrels}
    per_query = ir.evaluate(run, qrels, "nDCG@10")
    of_base = defaultdict(list)
    for query, value in per_query.rows():
        of_base[query.split("_")[0]].append(value)
    wanted = statistics.fmean(min(values) for values in of_base.values())
    by = per_query.select("query_id", base=pl.col("query_id").str.split("_").list.first())
    assert ir.robustness(per_query, by)["worst"].mean() == pytest.approx(wanted, rel=1e-14)


def test_paired_accuracy_of_mteb():
    # mteb/_evaluators/retrieval_metrics.py, paired_accuracy: R@1 must be 1 for both queries of a pair.
    qrels = {"1_q1": ["d1"], "1_q2": ["d2"], "2_q1": ["d1"], "2_q2": ["d2"]}
    run = {"1_q1": ["d1", "d2"], "1_q2": ["d2", "d1"], "2_q1": ["d1", "d2"], "2_q2": ["d1", "d2"]}
    per_query = ir.evaluate(run, qrels, "R@1").with_columns(pair=pl.col("query_id").str.head(1))
    assert ir.robustness(per_query, "pair").select("pair", "mean", "worst").rows() == [("1", 1.0, 1.0), ("2", 0.5, 0.0)]
    assert ir.robustness(per_query, "pair")["worst"].mean() == 0.5


def test_undefined_variants_do_not_count():
    some = PER_QUERY.select("query_id", "base", RR=pl.Series([None, 0.5, None], dtype=pl.Float64))
    assert ir.robustness(some, "base").rows() == [("a", "RR", 0.5, 0.5, 1), ("b", "RR", None, None, 0)]


def test_systems_are_apart():
    both = pl.concat(
        [PER_QUERY.with_columns(run=pl.lit("y")), PER_QUERY.with_columns(pl.col("RR") / 2, run=pl.lit("x"))]
    )
    assert ir.robustness(both, "base").head(4).select("run", "base", "worst").rows() == [
        ("x", "a", 0.25),
        ("x", "b", 0.125),
        ("y", "a", 0.5),
        ("y", "b", 0.25),
    ]


BY = PER_QUERY.select("query_id", "base")


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("bas", ["'bas'", "Did you mean 'base'"]),
        (["base", "RR"], ["one column", "'base', 'RR'"]),
        (PER_QUERY.select("query_id", "base", "RR"), ["one column", "'base', 'RR'"]),
        (BY.head(2), ["1 row without a value of by", "b1"]),
        (BY.with_columns(base=None), ["3 rows without a value of by"]),
        (pl.concat([BY, BY.head(1)]), ["by has 2 rows that repeat", "a1"]),
        (BY.rename({"base": "measure"}), ["'measure'", "rename"]),
        (BY.rename({"query_id": "variant"}), ["by has no 'query_id' column"]),
        (None, ["by must be a table"]),
    ],
)
def test_what_can_not_be_is_an_error_that_says_so(by, words):
    message = message_of(lambda: ir.robustness(PER_QUERY, by))
    assert [word for word in words if word not in message] == []


def test_without_a_measure_there_is_nothing_to_compare():
    with pytest.raises(ir.IRError, match="no measure"):
        ir.robustness(BY, "base")


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_plan_over_a_query_without_a_base_fails_and_says_why(engine):
    plan = ir.robustness(PER_QUERY.lazy(), BY.head(2).lazy())
    with pytest.raises(pl.exceptions.InvalidOperationError, match="rows without a value of by"):
        plan.collect(engine=engine)


def mtebs_p_mrr(before: dict, after: dict, documents: dict) -> float:
    """p-MRR of MTEB (mteb/_evaluators/retrieval_metrics.py, calculate_pmrr), with our order of equal scores."""

    def rank(scores: dict, document: str) -> int:
        order = sorted(scores, key=lambda d: (scores[d], d), reverse=True)
        return order.index(document) + 1 if document in order else len(order) + 1

    def of_document(query: str, document: str) -> float:
        old, new = rank(before[query], document), rank(after[query], document)
        return (1 / old) / (1 / new) - 1 if old >= new else 1 - (1 / new) / (1 / old)

    asked = [query for query in documents if query in before and query in after]
    return statistics.fmean(statistics.fmean(of_document(q, d) for d in documents[q]) for q in asked)


def test_p_mrr_by_hand():
    before, after = {"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d2", "d3", "d4", "d1"]}
    # d1 fell from 1 to 4: 1 - 1/4. d4 rose from 4 to 3: 3/4 - 1. d9 is behind the last of both: 5/5 - 1.
    assert ir.p_mrr(before, after, {"q": ["d1"]}).rows() == [("q", 0.75)]
    assert ir.p_mrr(before, after, {"q": ["d4"]}).rows() == [("q", -0.25)]
    assert ir.p_mrr(before, after, {"q": ["d9"]}).rows() == [("q", 0.0)]
    assert ir.p_mrr(before, after, {"q": ["d1", "d4", "d9"]}).rows() == [("q", (0.75 - 0.25) / 3)]


ids = st.sampled_from([f"d{i}" for i in range(8)])
runs = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(ids, st.sampled_from([0.5, 1.0, 2.0]), min_size=1),
    min_size=1,
)


@given(before=runs, after=runs, documents=st.lists(ids, min_size=1, unique=True))
def test_p_mrr_is_that_of_mteb(before, after, documents):
    asked = dict.fromkeys(before, documents)
    found = ir.p_mrr(before, after, asked)
    shared = before.keys() & after.keys()
    assert found.filter(pl.col("p-MRR").is_null())["query_id"].to_list() == sorted(before.keys() - shared)
    if shared:
        assert found["p-MRR"].mean() == pytest.approx(mtebs_p_mrr(before, after, asked), rel=1e-12, abs=1e-12)


def test_p_mrr_of_systems_and_of_queries_without_documents():
    before = {"s": {"q": ["d1", "d2"]}, "t": {"q": ["d2", "d1"]}}
    after = {"s": {"q": ["d2", "d1"]}, "t": {"q": ["d2", "d1"]}}
    found = ir.p_mrr(before, after, {"q": ["d1"], "none": []})
    assert found.rows() == [("s", "none", None), ("s", "q", 0.5), ("t", "none", None), ("t", "q", 0.0)]
    assert ir.mean(found).rows() == [("s", 0.5), ("t", 0.0)]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_p_mrr_of_lazy_runs_is_lazy(engine):
    before = pl.LazyFrame({"qid": ["q", "q"], "docno": ["d1", "d2"], "score": [2.0, 1.0]})
    after = before.with_columns(-pl.col("score"))
    found = ir.p_mrr(before, after, before.select("qid", "docno").head(1))
    assert isinstance(found, pl.LazyFrame)
    assert found.collect(engine=engine).rows(named=True) == [{"qid": "q", "p-MRR": 0.5}]


def test_p_mrr_needs_runs_of_one_kind_and_documents_with_ids():
    run = {"q": ["d1"]}
    with pytest.raises(ir.IRError, match="both runs"):
        ir.p_mrr({"s": run}, run, {"q": ["d1"]})
    with pytest.raises(ir.IRError, match="documents has no 'doc_id' column"):
        ir.p_mrr(run, run, pl.DataFrame({"query_id": ["q"]}))
    documents = pl.DataFrame({"qid": [None, "q", None, None], "docno": ["d2", "d1", "d1", "d2"]})
    with pytest.raises(ir.IRError, match="documents has 3 rows whose 'qid' is null") as error:
        ir.p_mrr(run, run, documents)
    assert re.findall(r"^\| (\w+) +\| (\w+)", str(error.value), re.MULTILINE) == [
        ("qid", "docno"),
        ("null", "d1"),
        ("null", "d2"),
        ("null", "d2"),
    ]
    with pytest.raises(pl.exceptions.InvalidOperationError, match="documents has rows whose 'qid' is null"):
        ir.p_mrr(run, run, documents.lazy()).lazy().collect()
