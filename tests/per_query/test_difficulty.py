"""The queries that systems do worst on, and those that none answers."""

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir
from polars_ir.per_query.difficulty import hardest, unanswered

#: Three systems, three queries; q3 is undefined for b, and q4 for all.
PER_QUERY = pl.DataFrame(
    {
        "run": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
        "qid": ["q1", "q2", "q3", "q4"] * 3,
        "RR": [0.5, 0.0, 0.0, None, 1.0, 0.0, None, None, 0.0, 0.0, 0.25, None],
        "Hole@5": [0.0, 0.5, 0.2, 0.0, 0.0, 0.5, 0.4, 0.0, 0.0, 0.5, 0.6, 0.0],
    }
)


def test_the_hardest_by_hand():
    found = hardest(PER_QUERY, "RR")
    assert found.drop("std").rows() == [
        ("q2", "RR", 0.0, 0.0, 0.0, None, 3),
        ("q3", "RR", 0.125, 0.0, 0.25, "c", 2),
        ("q1", "RR", 0.5, 0.0, 1.0, "b", 3),
    ]
    # The spread of 0, 0.25 is sqrt(2 * 0.125^2 / 1), that of 0.5, 1, 0 is sqrt((0 + 0.25 + 0.25) / 2).
    assert found["std"].to_list() == pytest.approx([0.0, 0.125 * 2**0.5, 0.5], abs=1e-15)


def test_of_a_cost_the_highest_is_the_worst():
    assert hardest(PER_QUERY, "Hole@5", n=2).drop("mean", "std").rows() == [
        ("q2", "Hole@5", 0.5, 0.5, None, 3),
        ("q3", "Hole@5", 0.6, 0.2, "a", 3),
    ]


def test_the_best_run_is_the_only_one_with_the_best_value():
    tied = PER_QUERY.with_columns(RR=pl.when(run="a", qid="q1").then(1.0).otherwise("RR"))
    assert hardest(PER_QUERY, "RR").filter(qid="q1")["best_run"].item() == "b"
    assert hardest(tied, "RR").filter(qid="q1")["best_run"].item() is None
    for a, b, best in [(0.1 + 0.2, 0.3, None), (0.5, 0.5 + 1e-11, "b"), (10**10 + 1, 10**10, "a")]:
        two = pl.DataFrame({"run": ["a", "b"], "query_id": 1, "RR": [a, b]})
        assert hardest(two, "RR")["best_run"].item() == best


def test_equally_hard_queries_come_in_the_order_of_their_ids():
    frame = pl.DataFrame({"query_id": [10, 9, 2], "RR": [0.5, 0.5, 0.5]})
    assert hardest(frame, "RR")["query_id"].to_list() == [2, 9, 10]
    # .1 + .2 + .3 is no .3 + .2 + .1 in floats, nor is .3 - .2 what .2 - .1 is.
    values = {"run": list("abcabc"), "query_id": [1] * 3 + [2] * 3, "RR": [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]}
    assert hardest(pl.DataFrame(values), "RR")["query_id"].to_list() == [1, 2]
    values = {"run": list("abab"), "query_id": [1, 1, 2, 2], "RR": [0.1, 0.2, 0.2, 0.3]}
    assert hardest(pl.DataFrame(values), "RR", run="a", baseline="b")["query_id"].to_list() == [1, 2]


def test_n_is_how_many():
    assert [hardest(PER_QUERY, "RR", n=n).height for n in (1, 2, 10, None)] == [1, 2, 3, 3]


def test_one_system_needs_no_column_of_systems():
    one = PER_QUERY.filter(run="a").drop("run")
    found = hardest(one, "RR")
    assert found.rows() == [
        ("q2", "RR", 0.0, None, 0.0, 0.0, None, 1),
        ("q3", "RR", 0.0, None, 0.0, 0.0, None, 1),
        ("q1", "RR", 0.5, None, 0.5, 0.5, None, 1),
    ]
    assert found.schema == hardest(PER_QUERY, "RR").schema
    assert unanswered(one, "RR").rows() == [("q2", "RR", 1), ("q3", "RR", 1)]


def test_a_measure_goes_by_any_of_its_names():
    assert hardest(PER_QUERY, "recip_rank").equals(hardest(PER_QUERY, ir.reciprocal_rank()))


def test_unanswered_is_what_no_system_has_above_0():
    # q3 is not: c has 0.25; q4 neither: it is undefined. Hole@5, a cost, tells nothing of it.
    assert unanswered(PER_QUERY).rows() == [("q2", "RR", 3)]


def test_unanswered_by_several_measures_in_the_order_asked():
    more = PER_QUERY.with_columns(hit=pl.col("RR") > 0.3, mine=-pl.col("RR"))
    found = unanswered(more, ["mine", "hit"]).rows()
    assert found == [("q1", "mine", 3), ("q2", "mine", 3), ("q3", "mine", 2), ("q2", "hit", 3), ("q3", "hit", 2)]


@pytest.mark.parametrize("n", [0, -1, 2.0, "5", True])
def test_n_must_be_a_number_of_queries(n):
    with pytest.raises(ir.IRError, match=r"n must be a whole number, 1 or more, or None for all; got "):
        hardest(PER_QUERY, "RR", n=n)


@pytest.mark.parametrize("make", [lambda frame: hardest(frame, "RR"), lambda frame: unanswered(frame, "RR")])
@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (PER_QUERY.rename({"RR": "RRR"}), ["no measure 'RR'", "Did you mean 'RRR'"]),
        (pl.concat([PER_QUERY, PER_QUERY.head(1)]), ["2 rows that repeat", "qid"]),
        (PER_QUERY.with_columns(qid=pl.when(pl.col("qid") != "q1").then("qid")), ["3 rows whose 'qid' is null"]),
    ],
)
def test_what_can_not_be_ranked_is_an_error_that_says_so(make, frame, words):
    message = message_of(lambda: make(frame))
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize("measures", ["Hole@5", ["RR", "Hole@5"]])
def test_a_cost_does_not_tell_what_is_unanswered(measures):
    with pytest.raises(ir.IRError, match="lower is better for 'Hole@5'"):
        unanswered(PER_QUERY, measures)


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_the_largest_drops_of_a_system_against_another(kind):
    pydocs = ir.datasets.load("pydocs")
    per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "Hole@10"])
    found = kind(per_query).ir.hardest("nDCG@10", n=3, run="tfidf", baseline="bm25").lazy().collect()
    new, old = (per_query.filter(run=run).sort("query_id")["nDCG@10"] for run in ("tfidf", "bm25"))
    worst = (new - old).arg_sort()[:3]
    assert found.columns == ["query_id", "measure", "value", "baseline_value", "difference"]
    assert found["difference"].to_list() == (new - old)[worst].to_list()
    assert found["value"].to_list() == new[worst].to_list()
    alone = per_query.drop("Hole@10").ir.hardest(n=None, run="tfidf", baseline="bm25")
    assert alone.height == ((new - old).round(9) < 0).sum()


def test_of_a_cost_the_largest_drop_is_the_largest_rise():
    values = {"run": ["a"] * 3 + ["b"] * 3, "query_id": [1, 2, 3] * 2, "Hole@5": [0.2, 0.8, 0.5, 0.4, 0.1, 0.3]}
    found = pl.DataFrame(values).ir.hardest(run="a", baseline="b")
    assert found["query_id"].to_list() == [2, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"run": "a"}, "baseline must be given beside run"),
        ({"run": "a", "baseline": "x"}, "baseline names 'x', which is not one of the systems"),
        ({"measure": None}, "measure must be named: the frame has"),
    ],
)
def test_what_the_hardest_queries_lack_is_told(options, words):
    with pytest.raises(ir.IRError, match=words):
        ir.hardest(PER_QUERY, **({"measure": "RR"} | options))
