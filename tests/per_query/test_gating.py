"""A change has to show that it does no harm."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

import polars_ir as ir
from polars_ir.per_query import verdicts
from polars_ir.per_query.gating import gate

QUERIES = [f"q{i}" for i in range(8)]
#: Differences of 0.01 and -0.01 by turns: their mean is 0, and their standard deviation sqrt(8 / 7) * 0.01.
OLD = pl.DataFrame({"query_id": QUERIES, "AP": [0.5] * 8})
NEW = pl.DataFrame({"query_id": QUERIES, "AP": [0.51, 0.49] * 4})
HALF = stats.t.ppf(0.95, 7) * (8 / 7) ** 0.5 * 0.01 / 8**0.5


@pytest.fixture(scope="module")
def systems() -> dict[str, pl.DataFrame]:
    pydocs = ir.datasets.load("pydocs")
    per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"])
    return {frame["run"][0]: frame for frame in per_query.partition_by("run")}


def lowered(drop: float) -> pl.DataFrame:
    return NEW.with_columns(pl.col("AP") - drop)


@pytest.mark.parametrize(
    ("drop", "max_drop", "verdict"),
    [
        (0.0, HALF + 1e-9, "no worse"),
        (0.0, HALF - 1e-9, "inconclusive"),
        (0.1, 0.1 + HALF + 1e-9, "no worse"),
        (0.1, 0.1 - HALF + 1e-9, "inconclusive"),
        (0.1, 0.1 - HALF - 1e-9, "worse"),
    ],
)
def test_the_verdict_by_hand(drop, max_drop, verdict):
    row = gate(lowered(drop), OLD, "AP", max_drop=max_drop, interval="t").row(0, named=True)
    assert (row["verdict"], row["passed"]) == (verdict, verdict == "no worse")
    assert row["difference"] == pytest.approx(-drop, abs=1e-12)
    assert (row["low"], row["high"]) == pytest.approx((-drop - HALF, -drop + HALF), rel=1e-12)


def test_bounds_are_those_of_two_one_sided_tests(systems):
    found = gate(systems["tfidf"], systems["bm25"], ["nDCG@10", "RR"], alpha=0.02, interval="t")
    for row in found.iter_rows(named=True):
        pair = [systems[name].sort("query_id")[row["measure"]] for name in ("tfidf", "bm25")]
        for bound, alternative in (("low", "greater"), ("high", "less")):
            test = stats.ttest_1samp((pair[0] - pair[1]).to_numpy(), row[bound], alternative=alternative)
            assert test.pvalue == pytest.approx(0.02, rel=1e-9)
        assert (row["mean"], row["old_mean"]) == pytest.approx((pair[0].mean(), pair[1].mean()), rel=1e-12)


def test_a_change_that_costs_what_is_allowed_passes_no_more_often_than_alpha():
    source = np.random.default_rng(11)
    simulated = source.normal(-0.01, 0.05, size=(400, 40))
    ids = pl.Series("query_id", range(40))
    old = pl.DataFrame([ids, *(pl.Series(f"m{i}", np.zeros(40)) for i in range(400))])
    new = pl.DataFrame([ids, *(pl.Series(f"m{i}", drops) for i, drops in enumerate(simulated))])
    names = [f"m{i}" for i in range(400)]
    ranges = dict.fromkeys(names, (0, 1))
    new = new.with_columns(pl.col(names) + 0.5)
    old = old.with_columns(pl.col(names) + 0.5)
    passed = int(gate(new, old, names, max_drop=0.01, alpha=0.1, interval="t", ranges=ranges)["passed"].sum())
    low, high = stats.binom.interval(0.999, 400, 0.1)
    assert low <= passed <= high


@pytest.mark.parametrize(("n", "verdict"), [(298, "inconclusive"), (299, "no worse")])
def test_a_system_that_did_not_change_passes_with_so_many_queries_that_a_rare_loss_would_have_shown(n, verdict):
    # Of losses of 1 in a hundred queries, 299 show none with a chance of .99^299 = .0495.
    same = pl.DataFrame({"query_id": range(n), "Success@10": [1.0] * n})
    row = gate(same, same, "Success@10", max_drop=0.01).row(0, named=True)
    assert (row["verdict"], row["difference"]) == (verdict, 0)
    assert row["low"] == pytest.approx(-(1 - 0.05 ** (1 / n)), abs=1e-8)


def test_differences_that_are_all_the_same_tell_no_spread():
    found = [gate(OLD, OLD, "AP", interval=kind) for kind in ("t", "BCa")]
    assert [row["verdict"].item() for row in found] == ["inconclusive"] * 2
    assert found[0]["note"].item().startswith("all differences are the same, and show no spread")


def test_an_inconclusive_gate_says_how_many_more_queries_decide():
    note = gate(OLD, OLD, "AP", max_drop=0.01)["note"].item()
    ruled_out = 1 - 0.05 ** (1 / 8)
    more = "about 291 more would pass a change without any drop 4 times out of 5"
    assert note == f"these queries rule out a drop of more than {ruled_out:.3g}; {more}"


def test_so_many_queries_do_pass_4_times_out_of_5():
    source = np.random.default_rng(4)

    def differences(n):
        return np.where(source.random(n) < 0.1, source.choice([-0.1, 0.1], n), 0)

    old = pl.DataFrame({"query_id": range(60), "AP": [0.5] * 60})
    new = old.with_columns(AP=0.5 + pl.Series([0.1, -0.1] * 3 + [0.0] * 54))
    needed = 60 + int(gate(new, old, "AP", max_drop=0.02)["note"].item().split("about ")[1].split(" ")[0])
    old = pl.DataFrame({"query_id": range(needed), "AP": [0.5] * needed})
    news = [old.with_columns(AP=0.5 + pl.Series(differences(needed))) for _ in range(100)]
    passed = sum(gate(new, old, "AP", max_drop=0.02)["passed"].item() for new in news)
    assert 65 <= passed <= 97


def test_a_drop_that_no_measure_can_fall_by_is_an_error():
    with pytest.raises(ir.IRError, match=r"max_drop must be below 1 for 'AP', which can not drop by more; got 5"):
        gate(NEW, OLD, "AP", max_drop=5)


def test_a_column_of_ones_own_needs_its_direction_said():
    old, slower = (pl.DataFrame({"query_id": range(400), "latency": [value] * 400}) for value in (100.0, 150.0))
    with pytest.raises(ir.IRError, match=r"'latency' is no measure of the catalogue\. Say what its worst and its best"):
        gate(slower, old, "latency", max_drop=20)
    limits = {"ranges": {"latency": (1000, 0)}, "max_drop": 20}
    assert gate(slower, old, "latency", **limits)["verdict"].item() == "worse"
    assert gate(old, slower, "latency", **limits)["verdict"].item() == "no worse"


def test_without_a_range_few_queries_that_lose_have_no_bounds():
    old = pl.DataFrame({"query_id": range(8), "latency": [100.0] * 8})
    row = gate(old, old, "latency", max_drop=20, ranges={"latency": (float("inf"), 0)}).row(0, named=True)
    assert (row["verdict"], row["low"]) == ("inconclusive", None)
    assert "fewer than 20 queries lose, or gain, and the measure has no known range" in row["note"]


def test_values_beyond_the_range_are_an_error():
    percent = OLD.with_columns(pl.col("AP") * 100)
    with pytest.raises(ir.IRError, match=r"'AP' must be from 0 to 1; there is 50\. Divide what is in percent by 100"):
        gate(percent, percent, "AP")


def test_of_a_cost_a_rise_is_a_drop():
    old, better, worse = (frame.rename({"AP": "Hole@5"}) for frame in (OLD, lowered(0.2), lowered(-0.2)))
    found = [gate(new, old, "Hole@5", max_drop=0.05, interval="t")["verdict"].item() for new in (better, worse)]
    assert found == ["no worse", "worse"]


def test_the_note_tells_how_many_queries_pass_a_change_without_a_drop():
    note = gate(lowered(0.003), OLD, "AP", max_drop=0.004, interval="t")["note"].item()
    # A paired, one-sided test at alpha, of a true difference that is 0.004 above the one that may not be.
    sizes = np.array([0.01 - 0.003] * 4 + [-0.01 - 0.003] * 4)
    effect = 0.004 / (sizes**2).mean() ** 0.5
    needed = np.ceil(TTestPower().solve_power(effect, alpha=0.05, power=0.8, alternative="larger"))
    assert f"about {needed - 8:.0f} more would pass a change without any drop 4 times out of 5" in note


def test_that_nothing_at_all_is_lost_can_not_be_shown():
    note = gate(NEW, OLD, "AP", max_drop=0)["note"].item()
    assert note.split("; ")[1] == "no number of queries shows that nothing at all is lost: allow a max_drop above 0"


def test_measures_can_have_drops_of_their_own(systems):
    asked = {"recip_rank": 0.5, "nDCG@10": 0.001}
    found = gate(systems["tfidf"], systems["bm25"], list(asked), max_drop=asked)
    assert found.select("measure", "max_drop", "passed").rows() == [("RR", 0.5, True), ("nDCG@10", 0.001, False)]


def test_queries_are_aligned_by_their_ids(systems):
    shuffled = systems["bm25"].sort("RR").select(pl.all().exclude("query_id"), qid="query_id")
    assert gate(shuffled, systems["tfidf"], "RR").equals(gate(systems["bm25"], systems["tfidf"], "RR"))


def test_a_query_that_new_lacks_counts_as_0():
    row = gate(NEW.head(4), OLD, "AP").row(0, named=True)
    assert row["difference"] == pytest.approx(-0.5 / 2, rel=1e-12)
    assert (row["n_queries"], row["n_missing"]) == (8, 4)
    assert row["note"].split("; ")[-1] == "queries that only old has: 4, counted as 0"


def test_a_query_that_new_lacks_can_be_left_out():
    row = gate(NEW.head(4), OLD, "AP", max_drop=0.1, missing="skip", interval="t").row(0, named=True)
    assert (row["passed"], row["n_queries"], row["n_missing"]) == (True, 4, 4)
    assert row["note"] == "queries that only old has: 4, left out"


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_query_that_only_new_has_is_no_gain(missing):
    row = gate(NEW, OLD.head(4), "AP", max_drop=0.1, missing=missing, interval="t").row(0, named=True)
    assert row["difference"] == pytest.approx(0, abs=1e-12)
    assert (row["n_queries"], row["note"]) == (4, "queries that only new has: 4, left out")


def test_too_few_values_do_not_pass():
    some = NEW.with_columns(AP=pl.Series([0.9, *[None] * 7]))
    row = gate(some, OLD, "AP", missing="skip").row(0, named=True)
    assert [row[name] for name in ("low", "high", "passed", "verdict")] == [None, None, False, "inconclusive"]
    few = "fewer than two queries with a value of both systems"
    assert row["note"] == f"{few}; queries undefined for new only: 7, left out"


@pytest.mark.parametrize(
    ("missing", "measure", "drop", "treated"),
    [("zero", "AP", -0.375, "counted as 0"), ("skip", "AP", 0.0, "left out"), ("zero", "Hole@5", 0.0, "left out")],
)
def test_a_value_that_new_lacks_does_not_help_it_and_is_told(missing, measure, drop, treated):
    same = OLD.rename({"AP": measure})
    some = same.with_columns(pl.Series(measure, [0.5, 0.5, *[None] * 6]))
    row = gate(some, same, measure, missing=missing).row(0, named=True)
    assert (row["difference"], row["n_missing"]) == (drop, 0)
    assert row["note"].split("; ")[-1] == f"queries undefined for new only: 6, {treated}"
    back = gate(same, some, measure, missing=missing).row(0, named=True)
    assert (back["difference"], back["n_queries"]) == (0, 2)
    assert back["note"].split("; ")[-1] == "queries undefined for old only: 6, left out"


def test_more_queries_are_not_asked_for_where_there_are_enough():
    old = pl.DataFrame({"query_id": range(400), "AP": [0.5] * 400})
    new = old.with_columns(AP=pl.Series([0.591, 0.391] * 200))
    row = gate(new, old, "AP", max_drop=0.0148).row(0, named=True)
    assert row["verdict"] == "inconclusive"
    assert "they would mostly pass a change without any drop: the difference is close to max_drop" in row["note"]


def test_where_there_is_no_value_nothing_is_made_up():
    row = gate(NEW.with_columns(AP=pl.lit(None, pl.Float64)), OLD, "AP", missing="skip").row(0, named=True)
    assert (row["mean"], row["old_mean"], row["difference"], row["n_queries"]) == (None, None, None, 0)


def test_bootstrap_bounds_are_the_same_each_time():
    found = [gate(NEW, OLD, "AP", interval="percentile", resamples=200) for _ in range(2)]
    assert found[0].equals(found[1])
    assert not found[0].equals(gate(NEW, OLD, "AP", interval="percentile", resamples=200, seed=1))


def test_systems_may_be_called_alike(systems):
    assert gate(systems["bm25"], systems["bm25"], "RR", max_drop=0.1)["passed"].item()


def test_pandas_comes_back_as_pandas():
    pandas = pytest.importorskip("pandas")
    assert isinstance(gate(NEW.to_pandas(), OLD, "AP"), pandas.DataFrame)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"new": NEW.select("AP")}, "new has no 'query_id' column"),
        ({"old": OLD.lazy()}, "Collect it first"),
        ({"new": "new.parquet"}, "new must be a table; got the path 'new.parquet'"),
        ({"measures": "RR"}, "new has no measure 'RR'"),
        ({"old": OLD.rename({"AP": "RR"})}, "old has no measure 'AP'"),
        ({"measures": []}, "at least one measure"),
        ({"new": NEW.clear()}, "new has no row, and so no queries to compare"),
        ({"new": NEW.with_columns(run=pl.Series(["a", "b"] * 4))}, "new must be of one system; it has 2: 'a', 'b'."),
        ({"new": pl.concat([NEW, NEW])}, "repeat the ids of another"),
        ({"new": NEW.with_columns(query_id=pl.int_range(8))}, "must be Int64, as in the first per_query"),
        (
            {"old": OLD.with_columns(query_id="x" + pl.col("query_id"))},
            "they share none: 'new' has 'q0', 'q1', 'q2'; 'old' has 'xq0'",
        ),
        ({"new": NEW.with_columns(pl.col("AP") / 0)}, "NaN or infinite"),
        ({"max_drop": -0.1}, "max_drop must be from 0 to 1e+100; got -0.1."),
        ({"max_drop": float("inf")}, "max_drop must be from 0 to 1e+100; got inf."),
        ({"max_drop": float("nan")}, "max_drop must be from 0 to 1e+100; got nan."),
        ({"max_drop": {}}, "max_drop must have every measure, or be one number; it lacks 'AP'."),
        ({"ranges": {"RR": (0, 1)}}, "ranges has no such measure: 'RR'."),
        ({"ranges": {"AP": (0, 0)}}, "ranges must give two numbers, the worst and the best value of 'AP'; got (0, 0)."),
        ({"max_drop": {"AQ": 1}}, "has no measure 'AQ'"),
        ({"alpha": 0.5}, "alpha must be between 0 and 0.5, both excluded; got 0.5."),
        ({"interval": "bca"}, "Did you mean 'BCa'?"),
        ({"missing": "zeros"}, "Did you mean 'zero'?"),
        ({"max_dorp": 0.1}, "Did you mean 'max_drop'?"),
    ],
)
def test_wrong_input_is_told(changes, words):
    with pytest.raises(ir.IRError) as error:
        gate(**({"new": NEW, "old": OLD, "measures": "AP"} | changes))
    assert words in str(error.value)


ROW = {
    "measure": ["A|B", "AP", "RR"],
    "mean": [0.5, 0.25, None],
    "old_mean": [0.4, 0.75, None],
    "difference": [0.1, -0.5, None],
    "low": [0.05, -0.7, None],
    "high": [0.15, -0.3, None],
    "max_drop": [0.01, 0.01, 0.2],
    "passed": [True, False, False],
    "verdict": ["no worse", "worse", "inconclusive"],
    "n_queries": [9, 9, 0],
    "n_missing": [0, 0, 9],
    "note": [None, None, "no pairs"],
}
RESULT = pl.DataFrame(ROW)


def test_a_result_as_text():
    assert verdicts.as_text(RESULT).splitlines() == [
        (
            "A|B: no worse: 0.5000 against 0.4000 on 9 queries, difference +0.1000, between +0.0500 and +0.1500; "
            "0.01 may be lost"
        ),
        (
            "AP: worse: 0.2500 against 0.7500 on 9 queries, difference -0.5000, between -0.7000 and -0.3000; "
            "0.01 may be lost"
        ),
        "RR: inconclusive: none against none on 0 queries, difference none; 0.2 may be lost (no pairs)",
        "does not ship: 1 of 3 measures passed",
    ]


def test_a_result_as_json():
    assert json.loads(verdicts.as_json(RESULT)) == {"ships": False, "measures": RESULT.to_dicts()}


def test_a_result_as_markdown():
    assert verdicts.as_markdown(RESULT).splitlines() == [
        "**does not ship: 1 of 3 measures passed**",
        "",
        "| measure | verdict | new | old | difference | low | high | may drop | queries | note |",
        "| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | :-- |",
        "| A\\|B | no worse | 0.5000 | 0.4000 | +0.1000 | 0.0500 | 0.1500 | 0.01 | 9 |  |",
        "| AP | worse | 0.2500 | 0.7500 | -0.5000 | -0.7000 | -0.3000 | 0.01 | 9 |  |",
        "| RR | inconclusive | none | none | none | none | none | 0.2 | 0 | no pairs |",
    ]


@pytest.mark.parametrize(("verdict_of", "status"), [([], 3), (["worse"], 1), (["no worse"], 0)])
def test_the_status_tells_a_change_that_is_worse_from_one_that_too_few_queries_can_not_tell(verdict_of, status):
    rows = RESULT.filter(pl.col("verdict").is_in(verdict_of or ["inconclusive", "no worse"]))
    assert verdicts.status(rows) == status


def test_a_change_ships_if_every_measure_passed():
    assert [verdicts.ships(frame) for frame in (RESULT, RESULT.head(1))] == [False, True]
    assert verdicts.as_text(RESULT.head(1)).splitlines()[-1] == "ships: 1 of 1 measures passed"
