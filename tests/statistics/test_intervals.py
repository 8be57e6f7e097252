"""Intervals of a mean: by hand, and as SciPy and statsmodels have them."""

import math

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
from polars_ir.statistics.intervals import estimates, standard_error  # noqa: E402  # it needs SciPy
from polars_ir.statistics.randomisation import Draws, bootstrap_p  # noqa: E402
from polars_ir.statistics.samples import Values  # noqa: E402

EXACT = {"abs": 1e-12, "rel": 1e-12}
DRAWN = np.random.default_rng(5)
VALUES = DRAWN.random(40) ** 2
WEIGHTS = DRAWN.integers(1, 20, 40).astype(float)
SKEWED = np.random.default_rng(5).random(25) ** 3
OF_SKEWED = np.random.default_rng(6).integers(1, 9, 25).astype(float)
KINDS = ["normal", "t", "percentile", "BCa"]


def interval(values, kind, *, confidence=0.95, weights=None, **draws):
    return estimates([Values(values, weights)], kind, confidence, Draws(**draws))[0].ends


def test_a_normal_interval_by_hand():
    # The mean of 0, 0.5 and 1 is 0.5; their variance is (0.25 + 0 + 0.25) / 2.
    half = 1.959963984540054 * 0.5 / math.sqrt(3)
    assert interval(np.array([0.0, 0.5, 1.0]), kind="normal") == pytest.approx((0.5 - half, 0.5 + half), **EXACT)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_interval_of_t_is_the_one_of_scipy_and_statsmodels(confidence):
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    found = interval(VALUES, kind="t", confidence=confidence)
    wanted = stats.t.interval(confidence, len(VALUES) - 1, VALUES.mean(), stats.sem(VALUES))
    assert found == pytest.approx(wanted, **EXACT)
    assert found == pytest.approx(weightstats.DescrStatsW(VALUES).tconfint_mean(1 - confidence), **EXACT)


@pytest.mark.parametrize("kind", ["percentile", "BCa"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_bootstrap_is_the_one_of_scipy(kind, seed):
    wanted = stats.bootstrap((VALUES,), np.mean, method=kind, n_resamples=999, rng=np.random.default_rng(seed))
    found = interval(VALUES, kind=kind, resamples=999, seed=seed)
    assert found == pytest.approx(tuple(wanted.confidence_interval), **EXACT)


def test_the_memory_a_bootstrap_has_changes_nothing(monkeypatch):
    at_once = interval(VALUES, kind="BCa", resamples=500)
    monkeypatch.setattr("polars_ir.statistics.intervals.DRAWN", 100)
    assert interval(VALUES, kind="BCa", resamples=500) == pytest.approx(at_once, **EXACT)


@pytest.mark.parametrize("kind", ["percentile", "BCa"])
def test_bootstraps_of_many_samples_are_those_of_scipy_with_and_without_ties(kind):
    samples = [VALUES, DRAWN.integers(0, 4, 40) / 5, 1 / DRAWN.integers(1, 8, 40), DRAWN.random(25), np.zeros(1)]
    found = [each.ends for each in estimates([Values(values) for values in samples], kind, draws=Draws(999))]
    for values, ends in zip(samples[:-1], found, strict=False):
        source = np.random.default_rng(0)
        wanted = stats.bootstrap((values,), np.mean, method=kind, n_resamples=999, rng=source).confidence_interval
        assert ends == pytest.approx(tuple(wanted), **EXACT)
    assert found[-1] is None


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_are_no_weights(kind):
    equal = interval(VALUES, kind=kind, weights=np.full(40, 3.0), resamples=500)
    assert equal == pytest.approx(interval(VALUES, kind=kind, resamples=500), **EXACT)


def test_the_error_of_a_weighted_mean_is_that_of_a_ratio():
    # Cochran, Sampling Techniques, 6.3: of the ratio sum(w x) / sum(w), by the residuals w x - ratio * w.
    n, ratio = len(VALUES), (WEIGHTS @ VALUES) / WEIGHTS.sum()
    residuals = WEIGHTS * VALUES - ratio * WEIGHTS
    wanted = math.sqrt(residuals @ residuals / (n - 1) / n) / WEIGHTS.mean()
    assert standard_error(VALUES, WEIGHTS) == pytest.approx(wanted, **EXACT)


@pytest.mark.whole("a simulation")
def test_the_error_of_a_weighted_mean_is_that_of_a_robust_regression():
    linear = pytest.importorskip("statsmodels.api")
    fitted = linear.WLS(VALUES, np.ones(40), weights=WEIGHTS).fit(cov_type="HC1")
    assert standard_error(VALUES, WEIGHTS) == pytest.approx(fitted.bse[0], **EXACT)


@pytest.mark.parametrize("kind", ["percentile", "BCa"])
def test_a_weighted_bootstrap_draws_queries_with_their_weights(kind):
    def weighted(values, weights, axis):
        return (values * weights).sum(axis=axis) / weights.sum(axis=axis)

    wanted = stats.bootstrap(
        (VALUES, WEIGHTS), weighted, paired=True, method=kind, n_resamples=500, rng=np.random.default_rng(0)
    )
    found = interval(VALUES, kind=kind, weights=WEIGHTS, resamples=500)
    assert found == pytest.approx(tuple(wanted.confidence_interval), **EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_one_value_has_no_interval(kind):
    assert interval(np.array([0.5]), kind=kind) is None
    assert interval(np.array([]), kind=kind) is None


@pytest.mark.parametrize("weights", [None, WEIGHTS[:7]])
def test_equal_values_have_an_interval_without_width_but_none_by_bca(weights):
    values = np.full(7, 0.25)
    for kind in ("normal", "t", "percentile"):
        assert interval(values, kind=kind, weights=weights) == pytest.approx((0.25, 0.25), **EXACT)
    assert interval(values, kind="BCa", weights=weights) is None


def test_weights_that_leave_one_query_give_no_silent_nan():
    found = interval(np.array([0.0, 1.0, 0.5]), kind="BCa", weights=np.array([1e-300, 1.0, 1e-300]), resamples=50)
    assert found is None or all(map(math.isfinite, found))


@pytest.mark.parametrize("weights", [None, OF_SKEWED])
def test_bootstrap_t_by_its_definition(weights):
    mean, generator, t = np.average(SKEWED, weights=weights), np.random.default_rng(3), []
    for drawn in generator.integers(25, size=(199, 25)):
        sample, of_sample = SKEWED[drawn], None if weights is None else weights[drawn]
        t.append(abs(np.average(sample, weights=of_sample) - mean) / standard_error(sample, of_sample))
    # Of 199 samples and the queries themselves, ten may be beyond the ends.
    half = np.sort(t)[-10] * standard_error(SKEWED, weights)
    found = interval(SKEWED, kind="bootstrap-t", weights=weights, resamples=199, seed=3)
    assert found == pytest.approx((mean - half, mean + half), rel=1e-9)


@pytest.mark.parametrize("mean", np.linspace(0.02, 0.12, 6))
def test_bootstrap_t_excludes_0_where_the_test_is_significant(mean):
    d = SKEWED - SKEWED.mean() + mean
    p = bootstrap_p(d[:, None], Draws(499))[0]
    low, high = interval(d, kind="bootstrap-t", resamples=499)
    assert (low > 0 or high < 0) == (p <= 0.05)


def test_where_many_samples_have_no_spread_there_is_no_bootstrap_t():
    assert interval(np.r_[np.zeros(9), 1.0], kind="bootstrap-t", resamples=199) is None
    assert interval(np.full(9, 0.5), kind="bootstrap-t") is None
    assert interval(SKEWED, kind="bootstrap-t", resamples=10) is None
