"""Bounds of a mean: exact ones, what a plain simulation of their definition has, and how often they hold."""

import math
from itertools import product

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
from polars_ir.statistics.bounds import (  # noqa: E402  # it needs SciPy
    LEAST_BELOW,
    Tail,
    automatic,
    bounded,
    chance_below,
    lower_bound,
    n_below,
    p_above,
)

DRAWN = np.random.default_rng(9)


@pytest.mark.parametrize(("n", "losses"), [(2, 0), (5, 0), (20, 3), (100, 40), (400, 1)])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_bound_of_values_0_and_1_is_that_of_clopper_and_pearson(n, losses, alpha):
    values = np.r_[np.ones(n - losses), np.zeros(losses)]
    wanted = stats.binomtest(n - losses, n).proportion_ci(1 - 2 * alpha, method="exact").low
    assert bounded(values, 0.0, alpha) == pytest.approx(wanted, abs=1e-6)
    assert bounded(values - 1, -1.0, alpha) == pytest.approx(wanted - 1, abs=1e-6)


def test_the_chance_is_that_of_dirichlet_weights():
    values = DRAWN.beta(1, 3, 30)
    weights = np.random.default_rng(0).dirichlet(np.ones(31), 200_000)
    means = weights @ np.append(values, 0.0)
    for mean in (0.15, 0.2, 0.25, 0.3):
        assert chance_below(values, mean, 0.0) == pytest.approx((means <= mean).mean(), abs=4e-3)


def test_counts_are_so_many_values():
    values = np.array([0.1, 0.1, 0.4, 0.9, 0.9, 0.9])
    counted = chance_below(np.array([0.1, 0.4, 0.9]), 0.5, 0.0, np.array([2.0, 1.0, 3.0]))
    assert counted == pytest.approx(chance_below(values, 0.5, 0.0), abs=1e-12)


@pytest.mark.parametrize("kind", ["bounded", "anytime"])
@pytest.mark.parametrize("n", [5, 200])
def test_the_bounds_of_tiny_values_are_as_tiny(kind, n):
    values = DRAWN.beta(1, 3, n)
    wanted = lower_bound(values, kind, lowest=-0.5, alpha=0.05)
    assert lower_bound(values * 1e-170, kind, lowest=-0.5e-170, alpha=0.05) == pytest.approx(
        wanted * 1e-170, rel=1e-10, abs=0
    )


def test_the_chance_of_many_values_is_that_of_each_of_their_logarithms():
    # The same integral, without blocks and the series of small values.
    values, mean = np.sort(DRAWN.normal(0.4, 0.1, 300)), 0.39
    centred = np.append(0.0, values) - mean
    at = np.exp(np.arange(-20, 8, 0.01))[:, None] * centred
    wave = np.sin(np.arctan(at).sum(axis=1)) * np.exp(-np.log1p(at**2).sum(axis=1) / 2)
    assert chance_below(values, mean, 0.0) == pytest.approx(0.5 - 0.01 / math.pi * wave.sum(), abs=1e-8)


def test_the_bound_of_many_values_is_the_normal_one():
    n = 2_000
    values = DRAWN.normal(0.5, 0.1, n).clip(0, 1)
    half = stats.norm.ppf(0.95) * values.std() / math.sqrt(n)
    assert bounded(values, 0.0, 0.05) == pytest.approx(values.mean() - half, abs=1.5 / n)


def test_no_bound_leaves_the_range_or_closes_at_its_end():
    assert bounded(np.zeros(5), 0.0, 0.05) == 0.0
    assert bounded(np.ones(5), 0.0, 0.05) == pytest.approx(0.05 ** (1 / 5), abs=1e-8)
    for values in DRAWN.beta(0.3, 0.3, (20, 6)):
        for kind in ("auto", "bounded", "anytime"):
            assert 0 <= lower_bound(values, kind, lowest=0.0, alpha=0.05) < values.mean()


@pytest.mark.parametrize("kind", ["auto", "bounded", "anytime"])
def test_a_bound_of_what_has_no_range_is_none_but_by_t(kind):
    few, many = np.array([0.1, 0.2, 0.4]), DRAWN.normal(0, 1, 60)
    assert lower_bound(few, kind, lowest=-math.inf, alpha=0.05) is None
    assert (lower_bound(many, kind, lowest=-math.inf, alpha=0.05) is None) == (kind != "auto")
    assert lower_bound(np.array([0.1]), kind, lowest=0.0, alpha=0.05) is None


def test_values_below_mean_and_median_tell_of_the_tail():
    assert n_below(np.zeros(50)) == 0
    assert n_below(np.r_[np.zeros(40), -np.ones(10)]) == 10
    # Gains without a loss: nothing is known of what can be lost.
    assert n_below(np.r_[np.zeros(40), np.ones(10)]) == 0
    assert [Tail.of(np.r_[np.zeros(50), -np.ones(n)]) is not None for n in (LEAST_BELOW - 1, LEAST_BELOW)] == [
        False,
        True,
    ]


def test_without_skewness_the_bound_is_that_of_t_and_with_it_lower():
    half = DRAWN.normal(0, 0.1, 50)
    values = np.concatenate([half, -half])
    t = stats.t.ppf(0.95, n_below(values) - 1)
    assert Tail.of(values).bound(0.05) == pytest.approx(-t * stats.sem(values), rel=1e-9)
    losses = np.r_[np.zeros(80), -DRAWN.exponential(0.2, 40)]
    plain = losses.mean() - stats.t.ppf(0.95, n_below(losses) - 1) * stats.sem(losses)
    assert Tail.of(losses).bound(0.05) < plain


@pytest.mark.parametrize("values", [DRAWN.normal(0, 0.1, 100), np.r_[np.zeros(80), -DRAWN.exponential(0.2, 30)]])
def test_p_is_alpha_at_the_bound(values):
    for alpha in (0.2, 0.05, 0.001):
        bound = automatic(values, -3.0, alpha)
        assert p_above(values, bound, lowest=-3.0) == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("n", [10, 40, 90])
@pytest.mark.parametrize(("loss", "gain"), [(0.02, 0.01), (0.1, 0.05), (0.3, 0.25), (0.5, 0.4)])
@pytest.mark.whole("a simulation", quick=1)
def test_the_gate_of_success_passes_a_true_drop_with_a_chance_of_alpha_at_most(n, loss, gain):
    # All numbers of queries that lose and that gain, with their chances: no simulation, and no error of one.
    drop, passes = loss - gain, 0.0
    for lost, won in product(range(n + 1), repeat=2):
        chance = stats.multinomial.pmf([lost, won, n - lost - won], n, [loss, gain, 1 - loss - gain])
        if chance > 1e-7 and won - lost > -drop * n:
            values = np.repeat([-1.0, 1.0, 0.0], [lost, won, n - lost - won])
            bound = automatic(values, -1.0, 0.05)
            passes += chance * (bound is not None and bound >= -drop - 1e-9)
    assert passes <= 0.053


@pytest.mark.parametrize("loss", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("n", [20, 100, 400])
@pytest.mark.whole("a simulation")
def test_the_gate_of_sparse_losses_passes_a_true_drop_no_more_often_than_alpha(loss, n):
    source, passed, simulations = np.random.default_rng(12), 0, 400
    for _ in range(simulations):
        sizes = source.beta(0.5, 0.5 * (loss / 0.01 - 1), n) if loss > 0.01 else np.ones(n)
        values = np.where(source.random(n) < loss, -sizes, 0.0)
        passed += automatic(values, -1.0, 0.05) >= -0.01
    assert passed <= stats.binom.ppf(0.999, simulations, 0.05)


def test_dense_differences_pass_at_least_nine_tenths_as_often_as_by_t():
    source = np.random.default_rng(13)
    samples = source.normal(0, 0.1, (600, 100))
    by_t = samples.mean(axis=1) - stats.t.ppf(0.95, 99) * stats.sem(samples, axis=1)
    passed = [automatic(values, -1.0, 0.05) >= -0.02 for values in samples]
    assert sum(passed) >= 0.9 * (by_t >= -0.02).sum()


@pytest.mark.whole("a simulation")
def test_the_anytime_bound_holds_however_often_it_is_looked_at():
    source, passed = np.random.default_rng(14), 0
    for _ in range(150):
        values = source.choice([-0.3, 0.0, 0.2], 200, p=[0.2, 0.55, 0.25])
        drop = -(0.2 * -0.3 + 0.25 * 0.2)
        passed += any(lower_bound(values[:n], "anytime", lowest=-1.0, alpha=0.1) > -drop for n in range(10, 201, 10))
    assert passed <= stats.binom.ppf(0.999, 150, 0.1)
