"""Plans: by statsmodels' formula, by a pilot, and what gates do."""

import numpy as np
import pytest

pytest.importorskip("statsmodels")
from polars_ir.statistics.planning import (  # it needs statsmodels
    gate_power,
    gate_queries,
    pilot_difference,
    pilot_power,
    pilot_queries,
    power_of,
    queries_needed,
)

DENSE = np.random.default_rng(1).normal(0, 0.1, 80)
SPARSE = np.r_[np.zeros(90), np.full(5, 0.3), np.full(5, -0.3)]


@pytest.mark.whole("a simulation")
def test_a_pilot_that_is_normal_plans_as_the_formula():
    effect = 0.02 / DENSE.std(ddof=1)
    assert pilot_power(DENSE, 0.02, 150, alpha=0.05) == pytest.approx(power_of(effect, 150, alpha=0.05), abs=0.05)
    needed = queries_needed(effect, alpha=0.05, power=0.8)
    assert pilot_queries(DENSE, 0.02, alpha=0.05, power=0.8) == pytest.approx(needed, rel=0.15)
    difference = pilot_difference(DENSE, needed, alpha=0.05, power=0.8)
    assert difference == pytest.approx(0.02, rel=0.1)


def test_a_pilot_that_is_skewed_plans_otherwise_than_the_formula():
    # One query in ten gains .5, the others lose .02: of five, most samples have none that gains, and hardly a spread.
    skewed = np.r_[np.full(90, -0.02), np.full(10, 0.5)]
    by_formula = power_of(0.05 / skewed.std(ddof=1), 5, alpha=0.05)
    assert pilot_power(skewed, 0.05, 5, alpha=0.05) > by_formula + 0.2


@pytest.mark.parametrize("kind", ["auto", "bounded", "anytime"])
@pytest.mark.parametrize(("gains", "max_drop"), [(DENSE, 0.05), (SPARSE, 0.1)])
@pytest.mark.whole("a simulation")
def test_so_many_queries_pass_about_4_times_out_of_5(gains, max_drop, kind):
    options = {"max_drop": max_drop, "lowest": -1.0, "alpha": 0.05, "kind": kind}
    needed = gate_queries(gains, **options)
    assert 0.65 <= gate_power(gains, needed, **options) <= 0.97


def test_nothing_changed_needs_as_many_as_would_show_a_rare_loss():
    assert gate_queries(np.zeros(4), max_drop=0.01, lowest=-1.0, alpha=0.05) == 299
    assert gate_queries(np.zeros(4), max_drop=0.01, lowest=-np.inf, alpha=0.05) is None
