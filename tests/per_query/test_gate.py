"""A change has to show that it does no harm."""

import json
import re
from math import inf

import numpy as np
import polars as pl
import pytest
from messages import message_of
from scipy import stats
from statsmodels.stats.power import TTestPower

import polars_ir as ir
from polars_ir.per_query.assert_no_worse import as_json, as_markdown, as_text, ships, status
from polars_ir.per_query.gate import gate
from polars_ir.statistics.bounds import p_above
from polars_ir.statistics.planning import level_of_look

QUERIES = [f"q{i}" for i in range(8)]
#: Differences of 0.01 and -0.01 by turns.
OLD = pl.DataFrame({"query_id": QUERIES, "AP": [0.5] * 8})
NEW = pl.DataFrame({"query_id": QUERIES, "AP": [0.51, 0.49] * 4})
#: The same of 80 queries, 40 of which are below the mean 0: their standard deviation is sqrt(80 / 79) * 0.01.
LONG_OLD = pl.DataFrame({"query_id": range(80), "AP": [0.5] * 80})
LONG_NEW = pl.DataFrame({"query_id": range(80), "AP": [0.51, 0.49] * 40})
HALF = stats.t.ppf(0.95, 39) * (80 / 79) ** 0.5 * 0.01 / 80**0.5


@pytest.fixture(scope="module")
def systems() -> dict[str, pl.DataFrame]:
    pydocs = ir.datasets.load("pydocs")
    per_query = ir.evaluate(pydocs.runs, pydocs.qrels, ["nDCG@10", "RR"])
    return {frame["run"][0]: frame for frame in per_query.partition_by("run")}


def lowered(drop: float) -> pl.DataFrame:
    return LONG_NEW.with_columns(pl.col("AP") - drop)


@pytest.mark.parametrize(
    ("drop", "max_drop", "verdict"),
    [
        (0.0, HALF + 1e-9, "no worse"),
        (0.0, HALF - 1e-9, "inconclusive"),
        (0.1, 0.1 + HALF + 1e-9, "no worse"),
        (0.1, 0.1 - HALF + 1e-9, "dropped"),
        (0.1, 0.1 - HALF - 1e-9, "worse"),
    ],
)
def test_the_verdict_by_hand(drop, max_drop, verdict):
    row = gate(lowered(drop), LONG_OLD, "AP", max_drop=max_drop).row(0, named=True)
    assert (row["verdict"], row["passed"]) == (verdict, verdict == "no worse")
    assert row["difference"] == pytest.approx(-drop, abs=1e-12)
    assert (row["low"], row["high"]) == pytest.approx((-drop - HALF, -drop + HALF), rel=1e-12)


def test_bounds_are_those_of_two_one_sided_tests(systems):
    found = gate(systems["tfidf"], systems["bm25"], ["nDCG@10", "RR"], alpha=0.02)
    for row in found.iter_rows(named=True):
        pair = [systems[name].sort("query_id")[row["measure"]] for name in ("tfidf", "bm25")]
        d = (pair[0] - pair[1]).to_numpy()
        for gains, bound in ((d, row["low"]), (-d, -row["high"])):
            assert p_above(gains, bound, lowest=-1) == pytest.approx(0.02, rel=1e-6)
        assert (row["mean"], row["old_mean"]) == pytest.approx((pair[0].mean(), pair[1].mean()), rel=1e-12)


@pytest.mark.whole("a simulation")
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
    passed = int(gate(new, old, names, max_drop=0.01, alpha=0.1, ranges=ranges)["passed"].sum())
    low, high = stats.binom.interval(0.999, 400, 0.1)
    assert low <= passed <= high


@pytest.mark.parametrize(("n", "verdict"), [(298, "inconclusive"), (299, "no worse")])
def test_a_system_that_did_not_change_passes_with_so_many_queries_that_a_rare_loss_would_have_shown(n, verdict):
    # Of losses of 1 in a hundred queries, 299 show none with a chance of .99^299 = .0495.
    same = pl.DataFrame({"query_id": range(n), "Success@10": [1.0] * n})
    row = gate(same, same, "Success@10", max_drop=0.01).row(0, named=True)
    assert (row["verdict"], row["difference"]) == (verdict, 0)
    assert row["low"] == pytest.approx(-(1 - 0.05 ** (1 / n)), abs=1e-8)


def test_an_inconclusive_gate_says_how_many_more_queries_decide():
    note = gate(OLD, OLD, "AP", max_drop=0.01)["note"].item()
    ruled_out = 1 - 0.05 ** (1 / 8)
    more = "about 299 fresh queries would pass a change without any drop 4 times out of 5"
    few = "none of 8 queries differs: no outcome of so few could have been beyond chance"
    assert note == f"{few}; these queries rule out a drop of more than {ruled_out:.3g}; {more}"


def test_of_so_few_queries_in_so_many_slices_no_outcome_is_beyond_chance():
    ids, lang = list(range(48)), [f"s{i // 6}" for i in range(48)]
    old = pl.DataFrame({"query_id": ids, "lang": lang, "Success@5": [1.0] * 6 + [0.0, 1.0] * 21})
    new = old.with_columns((1 - pl.col("Success@5")).alias("Success@5"))
    row = gate(new, old, by="lang", max_drop=0.02).row(0, named=True)
    # One slice of eight loses all by chance with 1 - (1 - 2^-6)^8 = .118.
    assert (row["difference"], row["p"] > 0.1) == (-1, True)
    assert row["note"].startswith("there are only 6 queries: no outcome of so few, in so many rows, could have been")
    # Slices of other sizes leave room for a low p: then no drop is promised that is as large as one not found.
    of_lang = {"lang": pl.Series([f"s{max(0, i - 6) // 7}x" if i > 5 else "s0" for i in range(48)])}
    row = gate(new.with_columns(**of_lang), old.with_columns(**of_lang), by="lang", max_drop=0.02).row(0, named=True)
    assert (row["difference"], row["note"].split("; ")[:2]) == (
        -1,
        ["no drop beyond chance (p = .066)", "worse by itself, but of 7 verdicts one is by chance"],
    )
    # Beside a slice of many queries that differ, as few can be found.
    alone = new.filter(lang="s0"), old.filter(lang="s0")
    many = [pl.DataFrame({"query_id": range(100, 140), "lang": "s9", "Success@5": [v] * 40}) for v in (0.0, 1.0)]
    both = [pl.concat(frames) for frames in zip(alone, many, strict=True)]
    assert gate(*both, by="lang", max_drop=0.02)["p"].max() < 0.05


@pytest.mark.parametrize(
    ("new", "old", "found"),
    [
        ([0, 1, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0, 1], "no drop that the measure can have"),
        ([0.51] * 30, [0.5] * 30, "one of more than 0.01"),
    ],
)
def test_a_drop_that_would_be_found_is_one_that_can_be(new, old, found):
    frames = (pl.DataFrame({"query_id": range(len(of)), "AP": of}) for of in (new, old))
    assert f"; {found} would be found 4 times out of 5; " in gate(*frames, max_drop=0.01)["note"].item()


def test_counts_are_judged_only_where_they_are_named():
    new, old = (frame.with_columns(NumRel=3, NumRet=of) for frame, of in ((LONG_NEW, 9), (LONG_OLD, 10)))
    with pytest.warns(ir.IRWarning, match=r"new has counts, which are not judged unless measures names them: 'NumRel'"):
        assert gate(new, old, max_drop=0.1)["measure"].to_list() == ["AP"]
    assert gate(new, old, ["AP", "NumRet"])["measure"].to_list() == ["AP", "NumRet"]


@pytest.mark.whole("a simulation")
def test_so_many_queries_do_pass_4_times_out_of_5():
    source = np.random.default_rng(4)

    def differences(n):
        return np.where(source.random(n) < 0.1, source.choice([-0.1, 0.1], n), 0)

    old = pl.DataFrame({"query_id": range(60), "AP": [0.5] * 60})
    new = old.with_columns(AP=0.5 + pl.Series([0.1, -0.1] * 3 + [0.0] * 54))
    needed = int(gate(new, old, "AP", max_drop=0.02)["note"].item().split("about ")[1].split(" ")[0])
    old = pl.DataFrame({"query_id": range(needed), "AP": [0.5] * needed})
    news = [old.with_columns(AP=0.5 + pl.Series(differences(needed))) for _ in range(100)]
    passed = sum(gate(new, old, "AP", max_drop=0.02)["passed"].item() for new in news)
    assert 65 <= passed <= 97


def test_a_drop_that_no_measure_can_fall_by_is_an_error():
    with pytest.raises(ir.IRError, match=r"max_drop must be below 1 for 'AP', which cannot drop by more; got 5"):
        gate(NEW, OLD, "AP", max_drop=5)


def test_a_column_of_ones_own_needs_its_direction_said():
    old, slower = (pl.DataFrame({"query_id": range(400), "latency": [value] * 400}) for value in (100.0, 150.0))
    with pytest.raises(
        ir.IRError, match=r"'latency' is not a measure of the catalogue\. Say what its worst and its best"
    ):
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


@pytest.mark.parametrize(
    ("name", "values", "advice", "its"),
    [
        # Slices may have lower or higher values than these.
        ("AP", pl.col("AP") - 1, "Say in ranges what its worst and its best value can be.", (-1, 1)),
        ("AP", pl.col("AP") * 1000, "Say in ranges what its worst and its best value can be.", (0, 500)),
        ("DCG@10", pl.col("AP") - 2, "Say in ranges what its worst and its best value can be.", (-2, inf)),
        ("Hole@5", pl.col("AP") * 100, "or say what it is between: ranges={'Hole@5': (100, 0)}.", (100, 0)),
        ("infAP", pl.col("AP") * 100, "or say what it is between: ranges={'infAP': (0, 100)}.", (0, 100)),
    ],
)
def test_the_advice_on_values_beyond_the_range_has_code_for_percentages_alone(name, values, advice, its):
    frame = OLD.select("query_id", values.alias(name))
    with pytest.raises(ir.IRError, match=rf"{re.escape(advice)}$"):
        gate(frame, frame, name)
    gate(frame, frame, name, ranges={name: its})


def test_rows_that_repeat_are_those_of_one_side():
    twice = pl.concat([OLD, OLD])
    for new, old, side in ((twice, OLD, "new"), (OLD, twice, "old")):
        advice = rf"^{side} has 16 rows .* Keep one of each: {side}\.unique\(\['query_id'\]"
        with pytest.raises(ir.IRError, match=advice):
            gate(new, old)


def test_of_a_cost_a_rise_is_a_drop():
    old, better, worse = (frame.rename({"AP": "Hole@5"}) for frame in (LONG_OLD, lowered(0.2), lowered(-0.2)))
    found = [gate(new, old, "Hole@5", max_drop=0.05)["verdict"].item() for new in (better, worse)]
    assert found == ["no worse", "worse"]


def test_the_note_tells_how_many_queries_pass_a_change_without_a_drop():
    note = gate(lowered(0.001), LONG_OLD, "AP", max_drop=0.002)["note"].item()
    # A paired, one-sided test at alpha, of a true difference that is 0.002 above the one that may not be.
    sizes = np.array([0.01 - 0.001, -0.01 - 0.001])
    wider = (79 / stats.chi2.ppf(0.2, 79)) ** 0.5  # the upper limit of 80 % of the spread
    effect = 0.002 / (sizes**2).mean() ** 0.5 / wider
    needed = np.ceil(TTestPower().solve_power(effect, alpha=0.05, power=0.8, alternative="larger"))
    assert f"about {needed:.0f} fresh queries would pass a change without any drop 4 times out of 5" in note


def test_one_of_many_measures_is_worse_only_after_a_correction():
    # By itself AP is worse at .05, and not at .05 / 3.
    gains = np.tile([0.01, -0.01], 50) - 0.0019  # 1.9 standard errors below 0
    new = pl.DataFrame({"query_id": range(100), "AP": 0.5 + gains})
    others = {"P@5": np.repeat([0.51, 0.49], 50), "P@10": np.tile([0.51, 0.51, 0.49, 0.49], 25)}
    new, old = new.with_columns(**others), new.with_columns(AP=0.5, **dict.fromkeys(others, 0.5))
    assert gate(new, old, "AP", max_drop=0)["verdict"].item() == "worse"
    found = gate(new, old, ["AP", "P@5", "P@10"], max_drop=0).row(0, named=True)
    assert found["verdict"] == "inconclusive"
    assert found["high"] < 0
    assert found["note"].endswith("worse by itself, but of 3 verdicts one is by chance")


def test_looks_have_the_boundary_of_o_brien_and_fleming(systems):
    # c for a one-sided level of .025 is 1.977 for two looks and 2.040 for five (Jennison & Turnbull 2000, table 2.3).
    for looks, c in ((2, 1.977), (5, 2.040)):
        for look in (1, looks):
            level = level_of_look(look, looks, alpha=0.025)
            assert stats.norm.isf(level) == pytest.approx(c * (looks / look) ** 0.5, abs=0.03)
    old, new = systems["bm25"], systems["tfidf"]
    level = level_of_look(2, 3, alpha=0.05)
    alone = gate(new, old, "nDCG@10", max_drop=0.1, alpha=level)
    looked = gate(new, old, "nDCG@10", max_drop=0.1, looks=(2, 3))
    assert looked.select("low", "high", "verdict").equals(alone.select("low", "high", "verdict"))
    assert looked["note"].item().endswith(f"; look 2 of 3: each bound is at a level of {level:.2g}")
    assert gate(new, old, "RR", looks=(1, 1))["low"].equals(gate(new, old, "RR")["low"])


def test_that_nothing_at_all_is_lost_can_not_be_shown():
    note = gate(NEW, OLD, "AP", max_drop=0)["note"].item()
    assert note.split("; ")[-1] == "no number of queries shows that nothing at all is lost: allow a max_drop above 0"


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
    row = gate(LONG_NEW.head(40), LONG_OLD, "AP", max_drop=0.1, missing="skip").row(0, named=True)
    assert (row["passed"], row["n_queries"], row["n_missing"]) == (True, 40, 40)
    assert row["note"].split("; ")[-1] == "queries that only old has: 40, left out"


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_query_that_only_new_has_is_no_gain(missing):
    row = gate(LONG_NEW, LONG_OLD.head(40), "AP", max_drop=0.1, missing=missing).row(0, named=True)
    assert row["difference"] == pytest.approx(0, abs=1e-12)
    assert (row["n_queries"], row["note"]) == (40, "queries that only new has: 40, left out")


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


def test_systems_may_be_called_alike(systems):
    assert gate(systems["bm25"], systems["bm25"], "RR", max_drop=0.1)["passed"].item()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measures": "RR"}, "new has no measure 'RR'"),
        ({"old": OLD.rename({"AP": "RR"})}, "old has no measure 'AP'"),
        ({"measures": []}, "at least one measure"),
        ({"new": NEW.with_columns(run=pl.Series(["a", "b"] * 4))}, "new must be of one system; it has 2: 'a', 'b'."),
        ({"new": NEW.with_columns(query_id=pl.int_range(8))}, "must be Int64, as in the first per_query"),
        (
            {"old": OLD.with_columns(query_id="x" + pl.col("query_id"))},
            "they share none: 'new' has 'q0', 'q1', 'q2'; 'old' has 'xq0'",
        ),
        ({"max_drop": -0.1}, "max_drop must be from 0 to 1e+100; got -0.1."),
        ({"max_drop": float("inf")}, "max_drop must be from 0 to 1e+100; got inf."),
        ({"max_drop": float("nan")}, "max_drop must be from 0 to 1e+100; got nan."),
        ({"max_drop": {}}, "max_drop must have every measure, or be one number; it lacks 'AP'."),
        ({"ranges": {3: (0, 1)}}, "the name of a measure must be a text; got 3."),
        ({"ranges": {"RR": (0, 1)}}, "ranges has no such measure: 'RR'."),
        ({"ranges": {"AP": (0, 0)}}, "ranges must give two numbers, the worst and the best value of 'AP'; got (0, 0)."),
        ({"max_drop": {"AQ": 1}}, "has no measure 'AQ'"),
        ({"alpha": 0.5}, "alpha must be at least 1e-09 and below 0.5; got 0.5."),
        ({"looks": (3, 2)}, "looks must be (i, m), look i of m planned ones"),
        ({"looks": (0, 2)}, "got (0, 2)"),
        ({"looks": (1, 2), "interval": "anytime"}, "looks are not planned with interval='anytime'"),
    ],
)
def test_wrong_input_is_told(changes, words):
    assert words in message_of(lambda: gate(**({"new": NEW, "old": OLD, "measures": "AP"} | changes)))


ROW = {
    "measure": ["A|B", "AP", "RR"],
    "mean": [0.5, 0.25, None],
    "old_mean": [0.4, 0.75, None],
    "difference": [0.1, -0.5, None],
    "low": [0.05, -0.7, None],
    "high": [0.15, -0.3, None],
    "p": [0.5, 0.0123, None],
    "max_drop": [0.01, 0.01, 0.2],
    "passed": [True, False, False],
    "verdict": ["no worse", "worse", "inconclusive"],
    "n_queries": [9, 9, 0],
    "n_missing": [0, 0, 9],
    "note": [None, None, "no pairs"],
}
RESULT = pl.DataFrame(ROW)
OPTIONS = {"alpha": 0.05, "looks": None, "interval": "auto"}


def test_a_result_as_text():
    assert as_text(RESULT, OPTIONS).splitlines() == [
        (
            "A|B: no worse: 0.5000 against 0.4000 on 9 queries, difference +0.1000, 90 % interval +0.0500 to +0.1500; "
            "a drop of 0.01 is allowed"
        ),
        (
            "AP: worse: 0.2500 against 0.7500 on 9 queries, difference -0.5000, 90 % interval -0.7000 to -0.3000; "
            "a drop of 0.01 is allowed"
        ),
        "RR: inconclusive: none against none on 0 queries, difference none; a drop of 0.2 is allowed (no pairs)",
        "does not ship: 1 of 3 measures passed",
    ]


def test_a_result_as_json():
    assert json.loads(as_json(RESULT, OPTIONS)) == {"ships": False, "measures": RESULT.to_dicts()}


def test_a_result_as_markdown():
    assert as_markdown(RESULT, OPTIONS).splitlines() == [
        "**does not ship: 1 of 3 measures passed**",
        "",
        "| measure | verdict | new | old | difference | low (90 %) | high (90 %) | p | may drop | queries | note |",
        "| :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | :-- |",
        "| A\\|B | no worse | 0.5000 | 0.4000 | +0.1000 | 0.0500 | 0.1500 | 0.5 | 0.01 | 9 |  |",
        "| AP | worse | 0.2500 | 0.7500 | -0.5000 | -0.7000 | -0.3000 | 0.012 | 0.01 | 9 |  |",
        "| RR | inconclusive | none | none | none | none | none | none | 0.2 | 0 | no pairs |",
    ]


@pytest.mark.parametrize(("verdict_of", "wanted"), [([], 3), (["worse"], 1), (["dropped"], 1), (["no worse"], 0)])
def test_the_status_tells_a_change_that_is_worse_from_one_that_too_few_queries_can_not_tell(verdict_of, wanted):
    names = verdict_of or ["inconclusive", "no worse"]
    assert status(pl.DataFrame({"verdict": names, "passed": [name == "no worse" for name in names]})) == wanted


def test_a_change_ships_if_every_measure_passed():
    assert [ships(frame) for frame in (RESULT, RESULT.head(1))] == [False, True]
    assert as_text(RESULT.head(1), OPTIONS).splitlines()[-1] == "ships: 1 of 1 measures passed"


def test_a_percentage_is_refused_with_both_its_readings():
    old = pl.DataFrame({"query_id": ["q1", "q2"], "AP": [0.2, 0.4]})
    for drop in ("5%", {"AP": " 5 %"}):
        with pytest.raises(
            ir.IRError, match=r"can be 0\.05, a share of the range of 'AP', or 0\.015, one of its old mean"
        ):
            ir.gate(old, old, ["AP"], max_drop=drop)
    both = {"new": old, "old": old}
    with pytest.raises(ir.IRError, match=r"can be 0\.05, a share .* 'AP', or 0\.015, one of the mean of 'old' of 0\.3"):
        ir.power(both, baseline="old", max_drop="5%")


@pytest.mark.parametrize("lacking", ["new", "old"])
def test_the_frame_that_lacks_a_column_of_clusters_is_named(lacking):
    figures = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [0.5, 0.2, 0.3], "topic": ["a", "a", "b"]})
    frames = {"new": figures, "old": figures} | {lacking: figures.drop("topic")}
    with pytest.raises(ir.IRError, match=f"^{lacking} has no column 'topic'"):
        gate(**frames, measures="AP", cluster="topic")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            pl.lit(None, pl.String),
            "^new or old has 3 rows without a value of cluster.*those rows out: new.filter",
        ),
        (pl.lit("b"), "^new or old has 4 rows of queries in several clusters"),
    ],
)
def test_an_error_of_either_frame_names_both(wrong, message):
    new = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "AP": [0.5, 0.2, 0.3], "topic": ["a", "a", "b"]})
    with pytest.raises(ir.IRError, match=message) as raised:
        ir.gate(new, new.with_columns(topic=wrong), "AP", cluster="topic")
    assert "per_query" not in str(raised.value)


def test_the_advice_for_several_systems_has_the_name_of_their_column():
    new = pl.DataFrame({"system": ["a", "b"], "query_id": ["1", "1"], "AP": [0.1, 0.3]})
    with pytest.raises(ir.IRError, match=r"Give by='system' for a verdict on each"):
        ir.gate(new, new, "AP")


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy])
def test_a_row_without_a_system_is_an_error(kind):
    new = pl.DataFrame({"run": "a", "query_id": ["q1", "q2"], "AP": [0.5, 1.0]})
    old = new.with_columns(run=pl.Series(["b", None]))
    with pytest.raises(ir.IRError, match=r"old has .*rows? whose 'run' is null"):
        ir.gate(kind(new), kind(old), "AP", max_drop=0.1)


def test_a_baseline_names_the_old_system_of_one_frame(systems):
    frame = pl.concat([systems["tfidf"], systems["bm25"]])
    wanted = gate(systems["tfidf"], systems["bm25"], ["nDCG@10", "RR"], max_drop=0.1)
    for given in (frame, {name: systems[name].drop("run") for name in ("bm25", "tfidf")}):
        assert ir.of(given).gate(baseline="bm25", max_drop=0.1).equals(wanted)
    assert pl.DataFrame(ir.gate(frame.to_pandas(), baseline="bm25", max_drop=0.1).to_dict("list")).equals(wanted)
    lazy = frame.lazy().ir.gate(measures="ndcg@10", baseline="bm25", max_drop=0.1).collect()
    assert lazy.row(0)[:3] == wanted.row(0)[:3]
    ir.assert_no_worse(frame, measures="nDCG@10", baseline="bm25", max_drop=0.1, floors={"nDCG@10": 0.2})
    with pytest.raises(AssertionError, match="RR: worse"):
        frame.ir.assert_no_worse(baseline="bm25")


def test_each_other_system_of_one_frame_has_a_row(systems):
    frame = pl.concat(systems.values()).with_columns(lang=pl.col("query_id").str.ends_with("1"))
    found = frame.ir.gate(measures=["nDCG@10", "RR"], baseline="bm25", by=["lang", "run"])
    assert found.select("lang", "run").rows() == [
        (lang, run) for lang in (False, True) for run in ("chargrams", "tfidf") for _ in "ab"
    ]
    of_one = gate(*(frame.filter(run=name, lang=True) for name in ("tfidf", "bm25")), ["nDCG@10", "RR"])
    alike = ["measure", "difference", "low", "high", "mean", "old_mean", "n_queries"]
    assert found.filter(run="tfidf", lang=True).select(alike).equals(of_one.select(alike))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "old must be the figures before the change; without them baseline names a system"),
        (
            {"old": ["RR"], "baseline": "bm25"},
            "old must be left out beside baseline='bm25', a system of new; measures are given by name: measures=",
        ),
        ({"old": "bm25"}, "old must be a table; 'bm25' is a system of new. Name it: baseline='bm25'."),
        ({"baseline": "bm26"}, "baseline names 'bm26', which is not one of the systems"),
        (
            {"baseline": "bm25"},
            "new must have one system beside 'bm25'; it has 2: 'chargrams', 'tfidf'. Judge each: by=",
        ),
        ({"baseline": "bm25", "by": "language"}, "Judge each: by=['language', 'run']"),
    ],
)
def test_wrong_sides_are_told_by_the_argument(systems, given, words):
    assert words in message_of(lambda: gate(pl.concat(systems.values()), **given))


def test_a_frame_of_one_system_and_a_plan_of_many_have_no_baseline(systems):
    one = systems["bm25"]
    assert "needs several systems; per_query has only 'bm25'" in message_of(lambda: gate(one, baseline="bm25"))
    assert "has no 'run'" in message_of(lambda: gate(one.drop("run"), baseline="bm25"))
    many = pl.concat(systems.values()).lazy()
    assert "Collect it first: new.collect()" in message_of(lambda: gate(many, baseline="bm25", by="run"))
    own = pl.concat(systems.values()).filter(pl.col("run") != "tfidf").with_columns(mine=0.5)
    assert "'mine' is not a measure of the catalogue" in message_of(lambda: gate(own, baseline="bm25"))
