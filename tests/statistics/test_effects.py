"""Sizes of effects with their intervals: by their definitions, and how often they hold."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
from polars_ir.statistics.effects import (  # noqa: E402  # it needs SciPy
    cohen_d,
    cohen_d_interval,
    rank_biserial,
    rank_biserial_interval,
)


@pytest.mark.parametrize("n", [3, 10, 200])
@pytest.mark.parametrize("mean", [-0.2, 0.0, 0.1])
def test_at_the_ends_the_observed_t_is_at_the_tails(n, mean):
    d = np.random.default_rng(n).normal(mean, 0.1, n)
    t = cohen_d(d) * n**0.5
    low, high = cohen_d_interval(d, 0.9)
    assert stats.nct.cdf(t, n - 1, low * n**0.5) == pytest.approx(0.95, abs=1e-5)
    assert stats.nct.cdf(t, n - 1, high * n**0.5) == pytest.approx(0.05, abs=1e-5)


def test_what_does_not_vary_has_no_size():
    assert cohen_d_interval(np.full(5, 0.2), 0.95) is None
    assert rank_biserial_interval(np.zeros(5), 0.95) is None


def test_the_interval_of_ranks_stays_in_the_range_and_does_not_close():
    low, high = rank_biserial_interval(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 0.95)
    assert -1 < low < 0.5
    assert high == pytest.approx(1.0)


@pytest.mark.parametrize("n", [15, 60])
def test_intervals_of_ranks_cover_what_all_queries_have(n):
    source = np.random.default_rng(3)

    def draw(size):
        return np.where(source.random(size) < 0.3, 0.0, source.normal(0.05, 0.1, size).round(2))

    truth, covered = rank_biserial(draw(50_000)), 0
    for _ in range(300):
        low, high = rank_biserial_interval(draw(n), 0.95)
        covered += low <= truth <= high
    assert covered >= stats.binom.ppf(0.001, 300, 0.94)
