"""A mean that drops beyond chance is told, however few the queries are."""

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.per_query.assert_no_worse import status
from polars_ir.reports.answer import verdict
from polars_ir.statistics.bounds import SIGN_STAKES, Tail
from polars_ir.statistics.randomisation import Draws, largest_flipped, randomisation_p
from polars_ir.statistics.significance import holm

PYDOCS = ir.datasets.load("pydocs")
SYSTEMS = ir.evaluate(PYDOCS.runs, PYDOCS.qrels, ["nDCG@10", "RR", "AP", "Hole@10"])
NEW, OLD = (SYSTEMS.filter(pl.col("query_id") <= "q60", run=run).drop("run") for run in ("tfidf", "bm25"))


def changed(gains, measure="AP"):
    old = pl.DataFrame({"query_id": range(len(gains)), measure: [0.5] * len(gains)})
    return old.with_columns(pl.col(measure) + pl.Series(gains)), old


def test_a_drop_beyond_chance_of_more_than_is_allowed_stops_a_change():
    found = ir.gate(NEW, OLD, "nDCG@10")
    row = found.row(0, named=True)
    assert (row["verdict"], row["passed"], status(found)) == ("dropped", False, 1)
    assert row["p"] < 0.002
    assert row["note"].startswith("the mean dropped by 0.0512, beyond chance (p = .000")
    assert "more than may be lost, but not surely so; high is above 0" in row["note"]
    assert "fresh" not in row["note"]
    for inconclusive in ("fail", "warn", "pass"):
        with pytest.raises(AssertionError, match=r"nDCG@10: dropped: 0\.2378"):
            ir.assert_no_worse(NEW, OLD, "nDCG@10", inconclusive=inconclusive)
    assert verdict({"measure": ["nDCG@10"], "verdict": ["dropped"]}) == (
        "The change may not ship: nDCG@10 dropped beyond chance, by more than may be lost."
    )


@pytest.mark.parametrize(("n", "p"), [(4, 1 / 16), (5, 1 / 32), (13, 2.0**-13), (20, 1 / 10_001)])
def test_the_p_of_queries_that_all_lose_is_that_of_one_way_in_all(n, p):
    assert ir.gate(*changed([-0.1] * n), "AP")["p"].item() == pytest.approx(p, rel=1e-12)


def test_the_p_is_the_same_in_any_order_of_rows_and_of_a_cost_for_a_rise():
    gains = np.random.default_rng(1).normal(-0.02, 0.1, 30)
    new, old = changed(gains)
    p = ir.gate(new, old, "AP")["p"]
    shuffled = (frame.sample(fraction=1, shuffle=True, seed=2) for frame in (new, old))
    assert ir.gate(*shuffled, "AP")["p"].equals(p)
    assert ir.gate(*changed(-gains, "Hole@5"), "Hole@5")["p"].item() == pytest.approx(p.item(), rel=1e-12)
    by_flips = randomisation_p(gains[:, None], Draws(), lower=True).item()
    assert p.item() == pytest.approx(max(by_flips, Tail.of(-gains, whole=True).p_above(0.0)), rel=1e-12)


def test_the_p_of_many_small_losses_beside_a_few_large_gains_is_that_of_t_corrected_for_skewness():
    gains = 0.1 * (-np.log(np.arange(0.5, 20) / 20) - 1.4)
    by_flips = randomisation_p(gains[:, None], Draws(), lower=True).item()
    by_t = Tail.of(-gains, whole=True).p_above(0.0)
    assert by_flips < by_t
    assert ir.gate(*changed(gains), "AP")["p"].item() == pytest.approx(by_t, rel=1e-9)


def test_rows_are_corrected_by_what_they_have_in_common():
    measures = ["nDCG@10", "RR", "AP"]
    together = ir.gate(NEW, OLD, measures)["p"].to_numpy()
    alone = np.array([ir.gate(NEW, OLD, measure)["p"].item() for measure in measures])
    assert (together >= alone).all()
    assert (together <= holm(alone)).all()
    assert (together < holm(alone)).any()


def test_step_down_over_all_ways_by_hand():
    gains = np.array([[-3.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]])
    signs = np.array([[1 - 2 * (way >> query & 1) for query in range(3)] for way in range(8)])
    sums = signs @ (gains / np.sqrt((gains**2).sum(axis=0)))
    highest = np.minimum(sums[:, 0], sums[:, 1])
    wanted = [(highest <= sums[0, 0] + 1e-9).mean(), (sums[:, 1] <= sums[0, 1] + 1e-9).mean()]
    assert largest_flipped([gains], Draws(), lower=True) == pytest.approx(wanted)


def test_a_bet_on_signs_by_hand():
    gains = np.array([-0.1, -0.2, 0.05])
    wealth = np.mean([np.prod(np.exp(-stake * gains) / np.cosh(stake * gains)) for stake in SIGN_STAKES])
    found = ir.gate(*changed(gains), "AP", interval="anytime")["p"].item()
    assert found == pytest.approx(min(1, 1 / wealth), rel=1e-12)


def test_moments_have_the_limit_of_many_values():
    source = np.random.default_rng(3)
    new, old = changed(source.normal(-0.01, 0.1, 500))
    found = ir.gate(new.lazy(), old.lazy(), "AP").collect().row(0, named=True)
    assert found["p"] == pytest.approx(ir.gate(new, old, "AP")["p"].item(), abs=0.01)
    assert 0.001 < found["p"] < 0.5


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ([-0.1] * 3 + [0.0] * 7, "only 3 of 10 queries differ: no outcome of so few could have been beyond chance"),
        ([-0.1] + [0.0] * 7, "only 1 of 8 queries differs: no outcome"),
        ([0.1, -0.1] * 15, "no drop beyond chance (p = .58); one of 0.0"),
    ],
)
def test_an_inconclusive_gate_says_what_it_would_have_found(gains, words):
    row = ir.gate(*changed(gains), "AP").row(0, named=True)
    assert row["verdict"] == "inconclusive"
    assert row["note"].startswith(words)


def test_a_drop_beyond_chance_that_is_allowed_is_told():
    note = ir.gate(NEW, OLD, "nDCG@10", max_drop=0.2)["note"].item()
    assert note.startswith("the mean dropped by 0.0512, beyond chance (p = .000")
    assert note.endswith("which is allowed")
    note = ir.gate(NEW, OLD, "nDCG@10", max_drop=0.06)["note"].item()
    assert "but by no more than may be lost; these queries rule out a drop of more than 0.0783" in note


@pytest.mark.parametrize("options", [{}, {"interval": "anytime"}, {"interval": "bounded"}, {"looks": (1, 3)}])
def test_without_a_difference_or_a_value_nothing_dropped(options):
    same = ir.gate(OLD, OLD, "AP", **options).row(0, named=True)
    assert (same["verdict"], same["p"]) == ("inconclusive", pytest.approx(1.0, abs=1e-12))
    nothing = OLD.with_columns(AP=pl.lit(None, pl.Float64))
    for new, old in ((OLD.head(1), OLD.head(1)), (OLD.head(1), OLD), (nothing, OLD), (nothing, nothing)):
        row = ir.gate(new, old, "AP", missing="skip", **options).row(0, named=True)
        assert (row["verdict"], row["p"], row["low"]) == ("inconclusive", None, None)
        assert row["note"].startswith("fewer than two queries with a value of both systems")
