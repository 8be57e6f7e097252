"""Losses weigh more than wins."""

import math

import numpy as np
import polars as pl
import pytest
from messages import message_of
from scipy import stats

import polars_ir as ir
from polars_ir.per_query.risk import geo_risk, risk

QUERIES = ["q1", "q2", "q3", "q4"]
OLD = pl.DataFrame({"query_id": QUERIES, "AP": [0.5, 0.5, 0.5, 0.5]})
NEW = pl.DataFrame({"query_id": QUERIES, "AP": [1.0, 0.75, 0.25, 0.5]})
BOTH = {"old": OLD, "new": NEW}


@pytest.fixture(scope="module")
def per_query() -> pl.DataFrame:
    pydocs = ir.datasets.load("pydocs")
    return ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"])


def wide(per_query: pl.DataFrame, measure: str) -> pl.DataFrame:
    """A column per system."""
    return per_query.pivot("run", index="query_id", values=measure).drop("query_id")


def test_urisk_by_hand():
    # Wins of 0.5 and 0.25, a loss of 0.25 that weighs three times as much, over four queries.
    row = risk(BOTH, "old", alpha=2).row(0, named=True)
    assert row["URisk"] == (0.5 + 0.25 - 3 * 0.25) / 4 == 0
    assert [row[name] for name in ("run", "baseline", "measure")] == ["new", "old", "AP"]
    assert [row[name] for name in ("wins", "ties", "losses", "n_queries", "note")] == [2, 1, 1, 4, None]


def test_without_a_weight_it_is_the_paired_t_test(per_query):
    scores = wide(per_query, "RR")
    found = risk(per_query, "bm25", measures="RR", alpha=0).row(1, named=True)
    test = stats.ttest_rel(scores["tfidf"], scores["bm25"])
    assert found["run"] == "tfidf"
    assert found["URisk"] == pytest.approx(scores["tfidf"].mean() - scores["bm25"].mean(), rel=1e-12)
    assert found["TRisk"] == pytest.approx(test.statistic, rel=1e-12)


@pytest.mark.parametrize("alpha", [0, 1, 5])
def test_p_is_scipys_of_systems_that_exchange_their_values(alpha):
    values = np.random.default_rng(1).normal(-0.1, 0.3, 9)
    both = {name: pl.DataFrame({"query_id": range(9), "m": v}) for name, v in (("old", 0 * values), ("new", values))}

    def urisk(d, axis):
        return (d * (1 + alpha * (d < 0))).mean(axis=axis)

    exact = stats.permutation_test((values,), urisk, permutation_type="samples", alternative="less", vectorized=True)
    found = risk(both, "old", alpha=alpha).row(0, named=True)
    assert (found["URisk"], found["p"]) == pytest.approx((exact.statistic, exact.pvalue), rel=1e-12)
    drawn = risk(both, "old", alpha=alpha, resamples=400)["p"].item()
    assert drawn == pytest.approx(exact.pvalue, abs=4 * (0.25 / 400) ** 0.5)
    assert drawn != exact.pvalue


def test_p_is_corrected_for_the_systems_of_a_measure(per_query):
    found = risk(per_query, "bm25", resamples=999)
    assert found["p"].to_list() == risk(per_query, "bm25", resamples=999, correction=None)["p_corrected"].to_list()
    for (_,), rows in found.group_by("measure"):
        assert rows["p_corrected"].sort().to_list() == [2 * rows["p"].min(), max(rows["p"].max(), 2 * rows["p"].min())]


@pytest.mark.whole("a simulation")
def test_systems_that_exchange_values_at_random_are_no_risk():
    # 200 measures of 50 queries; by TRisk a quarter of them were risks, and that in both directions at once.
    names = [f"m{i}" for i in range(200)]
    drawn = np.random.default_rng(4).beta(0.8, 1.2, (2, 50, 200))
    both = {str(i): pl.DataFrame(drawn[i], schema=names).with_columns(query_id=pl.int_range(50)) for i in range(2)}
    one, other = (risk(both, baseline, resamples=199)["p"] for baseline in "01")
    assert (one <= 0.05).sum() <= stats.binom.ppf(0.999, 200, 0.05)
    assert (one + other - 1).abs().max() < 0.01


def test_risks_are_those_of_the_weighed_differences_of_gdeval(per_query):
    for measure in ("nDCG@10", "RR"):
        scores = wide(per_query, measure)
        for system in ("chargrams", "tfidf"):
            pairs = zip(scores[system], scores["bm25"], strict=True)
            # riskWeighted of gdeval.pl 1.3.
            weighed = [(1 + 5) * (run - base) if run < base else run - base for run, base in pairs]
            row = risk(per_query, "bm25", alpha=5).row(
                by_predicate=(pl.col("run") == system) & (pl.col("measure") == measure), named=True
            )
            assert row["URisk"] == pytest.approx(np.mean(weighed), rel=1e-12)
            assert row["TRisk"] == pytest.approx(np.mean(weighed) / stats.sem(weighed), rel=1e-12)


def test_of_a_cost_the_lower_value_wins():
    costs = {name: frame.rename({"AP": "Hole@5"}) for name, frame in BOTH.items()}
    row = risk(costs, "old").row(0, named=True)
    # One win of 0.25, and losses of 0.5 and 0.25 that weigh twice as much.
    assert (row["URisk"], row["wins"], row["losses"]) == ((0.25 - 2 * 0.75) / 4, 1, 2)


def test_undefined_values_are_left_out():
    some = NEW.with_columns(AP=pl.Series([1.0, 0.75, 0.25, None]))
    assert risk({"old": OLD, "new": some}, "old").select("URisk", "n_queries").row(0) == (0.25 / 3, 3)


@pytest.mark.parametrize(
    ("new", "counted", "urisk", "p", "note"),
    [
        (OLD.with_columns(pl.col("AP") + 0.25), 4, 0.25, 1.0, "all differences are the same"),
        (
            NEW.with_columns(AP=pl.Series([1.0, None, None, None])),
            1,
            0.5,
            None,
            "fewer than two queries with a value of both systems; undefined for 'new' only: 3, left out",
        ),
        (
            NEW.with_columns(AP=pl.lit(None, pl.Float64)),
            0,
            None,
            None,
            "no query with a value of both systems; 'new' has no value of 'AP'",
        ),
    ],
)
def test_where_trisk_is_not_defined_a_note_says_why(new, counted, urisk, p, note):
    row = risk({"old": OLD, "new": new}, "old", missing="skip").row(0, named=True)
    assert [row[name] for name in ("URisk", "TRisk", "p", "n_queries", "note")] == [urisk, None, p, counted, note]


def test_queries_that_one_lacks_are_counted():
    some = {"old": OLD, "new": NEW.head(3), "other": NEW.tail(3)}
    assert risk(some, "old")["n_missing"].to_list() == [1, 1]
    assert geo_risk(some)["n_missing"].to_list() == [2, 2, 2]


def test_queries_undefined_for_some_systems_are_told():
    some = NEW.with_columns(AP=pl.Series([1.0, None, 0.25, 0.5]))
    assert geo_risk({"old": OLD, "new": some})["note"].to_list() == ["undefined for some systems only: 1, left out"] * 2


@pytest.mark.parametrize("call", [lambda both: risk(both, "old"), geo_risk])
def test_systems_without_two_common_queries_are_told(call):
    with pytest.raises(ir.IRError, match="needs two queries or more that both systems of a pair answered"):
        call({"old": OLD, "new": NEW.with_columns(query_id="x" + pl.col("query_id"))})


def test_a_weight_beyond_all_numbers_is_told():
    with pytest.raises(ir.IRError, match=r"must be from 0 to 1e.100; got 1e.308"):
        risk(BOTH, "old", alpha=1e308)


def test_georisk_by_hand():
    a = pl.DataFrame({"query_id": ["q1", "q2"], "AP": [0.5, 0.5]})
    b = pl.DataFrame({"query_id": ["q1", "q2"], "AP": [0.9, 0.1]})
    # Both have a sum of 1, and the queries sums of 1.4 and 0.6, so that 0.7 and 0.3 were to be expected of each.
    below, above = -0.2 / math.sqrt(0.7), 0.2 / math.sqrt(0.3)
    wanted = [(1 + 2) * below + above, -below + (1 + 2) * -above]
    found = geo_risk({"a": a, "b": b}, alpha=2)
    assert found["run"].to_list() == ["a", "b"]
    assert found["ZRisk"].to_list() == pytest.approx(wanted, rel=1e-12)
    geo = [math.sqrt(0.5 * stats.norm.cdf(z / 2)) for z in wanted]
    assert found["GeoRisk"].to_list() == pytest.approx(geo, rel=1e-12)


def test_georisk_is_that_of_loops_over_systems_and_queries(per_query):
    scores = wide(per_query, "nDCG@10").to_numpy()
    found = geo_risk(per_query, measures="nDCG@10", alpha=5)
    for system, geo in enumerate(found["GeoRisk"]):
        z_risk = 0.0
        for query in range(len(scores)):
            expected = scores[:, system].sum() * scores[query].sum() / scores.sum()
            z = (scores[query, system] - expected) / math.sqrt(expected) if expected else 0
            z_risk += (1 + 5) * z if z < 0 else z
        mean = scores[:, system].mean()
        assert geo == pytest.approx(math.sqrt(mean * stats.norm.cdf(z_risk / len(scores))), rel=1e-12)


def test_where_nothing_is_found_georisk_is_0():
    nothing = OLD.with_columns(pl.col("AP") * 0)
    assert geo_risk({"a": nothing, "b": nothing}).select("ZRisk", "GeoRisk").rows() == [(0.0, 0.0), (0.0, 0.0)]


@pytest.mark.parametrize(
    ("measure", "factor", "note"),
    [
        ("Hole@5", 1, "the lowest value of this measure is its best"),
        ("AP", -1, "some values are below 0"),
        ("AP", None, "no query with a value of all systems"),
    ],
)
def test_where_georisk_is_not_defined_a_note_says_why(measure, factor, note):
    both = {name: frame.select("query_id", (pl.col("AP") * factor).alias(measure)) for name, frame in BOTH.items()}
    found = geo_risk(both)
    assert found.select("ZRisk", "GeoRisk", "note").unique().rows() == [(None, None, note)]
    assert found.schema == geo_risk(BOTH).schema


@pytest.mark.parametrize("alpha", [-1, float("nan"), "1"])
def test_a_wrong_alpha_is_told(alpha):
    for call in (lambda: risk(BOTH, "old", alpha=alpha), lambda: geo_risk(BOTH, alpha=alpha)):
        assert message_of(call) == (
            f"alpha, the weight of a loss beyond that of a win, must be from 0 to 1e+100; got {alpha!r}."
        )


def test_a_baseline_that_is_not_there_is_told():
    with pytest.raises(ir.IRError, match="Did you mean 'old'"):
        risk(BOTH, "odl")
