"""The number of queries that a difference needs, and the difference that a number of them detects."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of
from scipy import stats
from statsmodels.stats.power import TTestPower

import polars_ir as ir
from polars_ir.per_query.power import power
from polars_ir.statistics.planning import power_of, queries_needed

QUERIES = ["q1", "q2", "q3", "q4"]
OLD = pl.DataFrame({"query_id": QUERIES, "AP": [0.5, 0.5, 0.5, 0.5]})
NEW = pl.DataFrame({"query_id": QUERIES, "AP": [0.6, 0.4, 0.8, 0.6]})
BOTH = {"old": OLD, "new": NEW}
#: Of the differences 0.1, -0.1, 0.3 and 0.1: their mean is 0.1, and sqrt((0 + 0.04 + 0.04 + 0) / 3) is
STD = (0.08 / 3) ** 0.5


def test_the_spread_is_that_of_the_differences():
    row = power(BOTH, difference=0.1).row(0, named=True)
    assert [row[name] for name in ("run", "baseline", "measure")] == ["new", "old", "AP"]
    assert row["std"] == pytest.approx(STD, rel=1e-12)


def test_the_power_is_statsmodels_for_the_upper_limit_of_the_spread():
    found = power(BOTH, difference=0.1, n_queries=30)
    # A spread below that of three degrees of freedom has a chance of .2.
    planned = (3 * STD**2 / stats.chi2.ppf(0.2, 3)) ** 0.5
    assert found["std_planned"].item() == pytest.approx(planned, rel=1e-12)
    assert found["power"].item() == pytest.approx(TTestPower().power(0.1 / planned, 30, 0.05), rel=1e-12)
    assert power(std=0.2, n_queries=9)["std_planned"].item() == 0.2


def test_the_pilot_is_as_widely_spread_as_is_planned():
    found = power(BOTH, difference=0.2, n_queries=30, method="pilot")
    wide = {"old": OLD, "new": NEW.with_columns(AP=0.6 + (NEW["AP"] - 0.6) * 3)}
    assert found["power"].item() > power(wide, difference=0.2, n_queries=30, method="pilot")["power"].item() > 0.1


def test_a_plan_for_several_comparisons_has_a_share_of_alpha():
    many, one = power(std=0.2, difference=0.05, comparisons=16), power(std=0.2, difference=0.05, alpha=0.05 / 16)
    assert many.equals(one)
    assert many["n_queries"].item() > power(std=0.2, difference=0.05)["n_queries"].item()


def test_the_number_of_queries_is_the_first_that_statsmodels_finds_enough():
    found = power(std=0.2, difference=0.02)
    assert found["n_queries"].item() == np.ceil(TTestPower().solve_power(0.1, alpha=0.05, power=0.8)) == 787
    assert found["power"].item() == pytest.approx(TTestPower().power(0.1, 787, 0.05), rel=1e-12)
    assert TTestPower().power(0.1, 786, 0.05) < 0.8 < TTestPower().power(0.1, 787, 0.05)


def test_the_smallest_difference_is_statsmodels():
    found = power(std=0.2, n_queries=50, alpha=0.01, power=0.9)
    wanted = 0.2 * TTestPower().solve_power(nobs=50, alpha=0.01, power=0.9)
    assert found["difference"].item() == pytest.approx(wanted, rel=1e-6)
    assert found["power"].item() == pytest.approx(0.9, rel=1e-12)


def test_without_a_plan_it_tells_what_the_queries_at_hand_show():
    found = power(BOTH)
    assert found["n_queries"].item() == 4
    assert found.equals(power(BOTH, n_queries=4))


def test_a_simulated_test_has_the_power_that_is_told():
    source = np.random.default_rng(3)
    samples = source.normal(0.02, 0.1, size=(4000, 60))
    found = int((stats.ttest_1samp(samples, 0, axis=1).pvalue <= 0.05).sum())
    told = power(std=0.1, difference=0.02, n_queries=60)["power"].item()
    low, high = stats.binom.interval(0.999, 4000, told)
    assert low <= found <= high


@given(st.floats(1e-6, 1e6), st.integers(2, 10**9), st.floats(1e-9, 0.4), st.sampled_from(["two-sided", "larger"]))
def test_a_power_is_always_a_probability(effect, n, alpha, alternative):
    assert 0 <= power_of(effect, n, alpha=alpha, alternative=alternative) <= 1


@given(st.floats(1e-3, 10), st.floats(0.001, 0.3), st.floats(0.31, 0.999))
def test_one_query_less_is_not_enough(effect, alpha, wanted):
    n = queries_needed(effect, alpha=alpha, power=wanted)
    assert power_of(effect, n, alpha=alpha) >= wanted
    assert n == 2 or power_of(effect, n - 1, alpha=alpha) < wanted


def test_a_difference_that_needs_too_many_queries_is_noted():
    row = power(std=1, difference=1e-9).row(0, named=True)
    assert (row["n_queries"], row["power"], row["note"]) == (None, None, "more than 1,000,000,000 queries")


def test_a_huge_effect_needs_two_queries():
    assert power(std=1e-9, difference=0.02).select("n_queries", "power", "note").row(0) == (2, 1.0, None)


def test_differences_that_do_not_vary_are_noted():
    # 0.1 + 0.2 - 0.1 and 0.7 + 0.2 - 0.7 are not the same as floats.
    old = OLD.with_columns(AP=pl.Series([0.1, 0.7, 0.3, 0.9]))
    same = old.with_columns(pl.col("AP") + 0.2)
    row = power({"old": old, "new": same}, difference=0.1).row(0, named=True)
    assert (row["std"], row["n_queries"], row["power"]) == (0.0, None, None)
    assert row["note"] == "all differences are the same"


def test_too_few_pairs_are_noted():
    some = NEW.with_columns(AP=pl.Series([0.6, None, None, None]))
    row = power({"old": OLD, "new": some}).row(0, named=True)
    assert (row["std"], row["power"], row["note"]) == (
        None,
        None,
        "fewer than two queries with a value of both systems; undefined for 'new' only: 3, left out",
    )


def test_queries_that_one_lacks_are_counted():
    assert power({"old": OLD, "new": NEW.head(3)})["n_missing"].item() == 1
    assert power(std=1, n_queries=9)["n_missing"].item() is None


def test_rows_are_of_each_measure_and_pair():
    pydocs = ir.datasets.load("pydocs")
    found = power(ir.evaluate(pydocs.runs, pydocs.qrels, ["AP", "RR"]), measures="RR")
    assert found.select("run", "baseline", "measure").rows() == [
        ("chargrams", "bm25", "RR"),
        ("tfidf", "bm25", "RR"),
        ("tfidf", "chargrams", "RR"),
    ]


def test_columns_and_types_are_always_the_same():
    planned = [power(std=1, n_queries=9), power(BOTH), power(BOTH, difference=1e-12), power(BOTH, n_queries=9)]
    assert len({tuple(frame.schema.items()) for frame in planned}) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "give one of them"),
        ({"std": 0.1}, "the difference to show, the n_queries there will be, or both"),
        ({"std": 0, "n_queries": 5}, "std must be above 0, up to 1e+100, or None; got 0."),
        (
            {"std": 1, "difference": -0.1},
            "difference must be above 0, up to 1e+100, or None; got -0.1.",
        ),
        (
            {"std": 1, "difference": float("nan")},
            "difference must be above 0, up to 1e+100, or None; got nan.",
        ),
        ({"std": 1, "n_queries": 1}, "n_queries must be a whole number from 2 to 1,000,000,000, or None; got 1."),
        ({"std": 1, "n_queries": 9.5}, "n_queries must be a whole number from 2 to 1,000,000,000, or None; got 9.5."),
        (
            {"std": 1, "n_queries": 9, "comparisons": 0},
            "comparisons must be a whole number from 1 to 1,000,000,000; got 0.",
        ),
        ({"per_query": BOTH, "max_drop": 0.1, "comparisons": 2}, "max_drop takes the place of comparisons"),
        ({"std": 1, "n_queries": 9, "alpha": 1}, "alpha must be at least 1e-09 and below 1; got 1."),
        ({"std": 1, "n_queries": 9, "power": 0.05}, "power must be above alpha, 0.05; got 0.05."),
        (
            {"std": 1, "n_queries": 9, "baseline": "a", "missing": "zero"},
            "baseline, missing can only be of a per_query",
        ),
        ({"std": 1, "n_queries": 9, "difference": 1, "power": 0.8}, "power follows from difference and n_queries"),
        ({"per_query": {"a": OLD, "b": NEW.head(1)}}, "ir.power needs two queries or more"),
        ({"per_query": BOTH, "std": 1}, "give one of them"),
        ({"per_query": BOTH, "baseline": "odl"}, "Did you mean 'old'?"),
        ({"per_query": {"a": OLD.lazy(), "b": NEW.lazy()}, "method": "pilot"}, "Collect it first"),
    ],
)
def test_wrong_input_is_told(options, words):
    assert words in message_of(lambda: power(**options))


@pytest.mark.whole("seconds")
def test_the_gate_of_several_measures_takes_a_range_of_each():
    systems = pl.DataFrame({"run": ["a", "a", "b", "b"], "query_id": ["x", "y"] * 2, "latency": [1.0, 9.0, 2.0, 3.0]})
    ranges = {"latency": (0, 10), "price": (0, 10)}
    planned = ir.power(systems.with_columns(price="latency"), max_drop=0.5, ranges=ranges, n_queries=5)
    assert planned["measure"].to_list() == [*ranges]
    assert planned["power"].n_unique() == 1
