"""The level and the power of tests on systems drawn anew: near to what is known, with the errors that are told."""

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from tests.support.suite import share

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("statsmodels")

DRAWN = np.random.default_rng(2)
VALUES = np.round(DRAWN.beta(2, 3, (80, 1)) * 0.5 + DRAWN.beta(2, 3, (80, 3)) * 0.4 + [0.0, 0.02, 0.1], 3)
SYSTEMS = pl.concat(
    pl.DataFrame({"run": run, "query_id": range(80), "AP": VALUES[:, i], "RR": VALUES[:, i] ** 2})
    for i, run in enumerate("abc")
)
N = share(1000, 300)


def test_a_single_test_holds_its_level_and_has_its_power_as_often_as_known():
    found = ir.level(SYSTEMS.filter(pl.col("run") != "c"), "AP", n=50, simulations=N).row(0, named=True)
    assert found["level"] == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / N) ** 0.5)
    assert found["level_error"] == pytest.approx((found["level"] * (1 - found["level"]) / N) ** 0.5, rel=1e-9)
    assert found["coverage"] == found["simultaneous_coverage"] == pytest.approx(0.95, abs=0.05)
    d = VALUES[:, 1] - VALUES[:, 0]
    wanted = ir.power(std=float(d.std()), difference=float(abs(d.mean())), n_queries=50)["power"].item()
    assert found["power"] == pytest.approx(wanted, abs=4 * 0.5 / N**0.5)


@pytest.mark.parametrize(("test", "simulations", "n"), [("t", 20, 30), ("auto", 4, 12), ("auto", 4, 60)])
def test_the_shares_are_those_of_compare_on_the_same_draws(test, simulations, n):
    options = {"test": test, "correction": "bonferroni"}
    found = ir.level(SYSTEMS, "AP", n=n, simulations=simulations, seed=4, **options).row(0, named=True)
    drawn, any_is, shares, holds = np.random.default_rng(4).integers(80, size=(simulations, n)), [], [], []
    truth = [VALUES[:, i].mean() - VALUES[:, j].mean() for j, i in ((0, 1), (0, 2), (1, 2))]
    for places in drawn:
        for moved in (True, False):
            values = VALUES[places] - (VALUES.mean(axis=0) - 0.4 if moved else 0)
            runs = {run: pl.DataFrame({"query_id": range(n), "AP": values[:, i]}) for i, run in enumerate("abc")}
            rows = ir.compare(runs, **options).sort("baseline", "run")
            if moved:
                any_is.append(rows["significant"].any())
            else:
                shares.append((rows["significant"] & (rows["difference"].sign() == pl.Series(truth).sign())).mean())
                holds.append(((rows["low"] <= pl.Series(truth)) & (rows["high"] >= pl.Series(truth))).mean())
    assert (found["level"], found["power"], found["coverage"]) == pytest.approx(
        (np.mean(any_is), np.mean(shares), np.mean(holds)), rel=1e-12
    )
    assert found["power_error"] == pytest.approx(np.std(shares) / simulations**0.5, rel=1e-9)


@pytest.mark.parametrize("test", ["max-t", "tukey", "randomisation", "sign", "wilcoxon", "bootstrap", "auto"])
@pytest.mark.whole("a second a test", quick=3)
def test_every_test_holds_its_level_where_systems_exchange_values(test):
    found = ir.level(SYSTEMS, "AP", test=test, n=12, equal="exchanged", simulations=100, resamples=199)
    assert found["level"].item() <= stats.binom.ppf(0.999, 100, 0.05) / 100
    assert (found["coverage"].item() is None) == (test in ("sign", "wilcoxon"))


def test_there_is_a_row_per_setting_in_order():
    found = ir.level(SYSTEMS, ["RR", "AP"], test=["t", "max-t"], n=[5, 10], simulations=3, resamples=9)
    wanted = [(m, t, n) for m in ("RR", "AP") for n in (5, 10) for t in ("t", "max-t")]
    assert found.select("measure", "test", "n_queries").rows() == wanted
    assert found["correction"].to_list() == ["holm", None] * 4
    alone = ir.level(SYSTEMS, test="t", simulations=3)
    assert alone.select("measure", "n_queries", "n_comparisons", "simulations").rows() == [
        ("AP", 80, 3, 3),
        ("RR", 80, 3, 3),
    ]
    assert ir.level(SYSTEMS, baseline="a", simulations=2)["n_comparisons"].to_list() == [2, 2]


def test_ties_that_moving_breaks_are_told():
    tied = SYSTEMS.with_columns(AP=(pl.col("AP") > 0.5).cast(float))
    notes = [ir.level(tied, "AP", simulations=2, equal=equal)["note"].item() for equal in ("moved", "exchanged")]
    assert notes[1] is None
    assert notes[0].endswith(
        "% of the differences are 0, and all alike once they are moved: equal='exchanged' keeps them"
    )


def test_clusters_are_drawn_whole():
    kinds = pl.DataFrame({"query_id": range(80), "kind": [i // 4 for i in range(80)]})
    means = SYSTEMS.group_by("run", query_id=pl.col("query_id") // 4).agg(pl.col("AP", "RR").mean())
    found, wanted = ir.level(SYSTEMS, cluster=kinds, simulations=20), ir.level(means, simulations=20)
    assert found["n_queries"].to_list() == [20, 20]
    assert found.drop("note").equals(wanted.drop("note"))


def test_systems_that_do_not_differ_are_never_told_apart():
    same = pl.concat(SYSTEMS.filter(run="a").with_columns(run=pl.lit(name)) for name in "xy")
    for test in ("t", "wilcoxon", "max-t"):
        row = ir.level(same, "AP", test=test, n=20, simulations=5, resamples=19).row(0, named=True)
        assert (row["level"], row["power"], row["coverage"]) == (0.0, None, None)


def test_tests_that_draw_draw_enough_for_many_comparisons():
    levels = np.random.default_rng(0).random((20, 1)) / 2
    many = pl.concat(
        pl.DataFrame(
            {"run": f"s{i:02}", "query_id": range(20), "AP": (levels + i / 30)[:, 0] + VALUES[:20, i % 3] / 10}
        )
        for i in range(12)
    )
    rows = [ir.level(many, test="randomisation", simulations=2, resamples=n).row(0, named=True) for n in (None, 999)]
    assert (rows[0]["n_comparisons"], rows[0]["note"]) == (66, None)
    assert rows[0]["power"] > 0.9
    assert rows[1]["note"] == "no p by itself can be significant with 999 resamples: raise them"


def test_a_test_without_a_p_has_neither_level_nor_power():
    found = ir.level(SYSTEMS.rename({"AP": "latency"}), "latency", test="auto", n=10, simulations=5)
    row = found.row(0, named=True)
    assert (row["level"], row["level_error"], row["power"], row["power_error"]) == (None, None, None, None)
    assert row["note"].startswith("left out, without a p: 100.00% of comparisons, in which fewer than 20 queries lose")


def test_tests_have_the_names_of_other_tools():
    assert ir.level(SYSTEMS, "AP", test="ttest", simulations=2).equals(ir.level(SYSTEMS, "AP", simulations=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "welch"}, "test must be one of"),
        ({"test": []}, "test must have at least one value"),
        ({"n": 1}, "n must be a whole number from 2 to 1,000,000"),
        ({"n": [10, "20"]}, "n must be a whole number from 2 to 1,000,000"),
        ({"equal": "shifted"}, "equal must be one of 'moved', 'exchanged'"),
        ({"simulations": 1}, "simulations must be a whole number from 2"),
        ({"correction": "holms"}, "correction must be one of"),
        ({"correction": "fdr_bh", "test": "max-t"}, "allow for the number of comparisons by themselves"),
        ({"interval": "wald"}, "interval must be one of"),
        ({"measure": "nDCG@10"}, "has no measure 'nDCG@10'"),
        ({"baseline": "z"}, "'z', which is not one of the systems"),
        (
            {"per_query": SYSTEMS.with_columns(AP=pl.when(pl.col("run") != "a").then("AP"))},
            "needs two queries or more with a value of 'AP' for all systems",
        ),
    ],
)
def test_bad_input_is_told(options, message):
    with pytest.raises(ir.IRError, match=message):
        ir.level(options.pop("per_query", SYSTEMS), **options)
