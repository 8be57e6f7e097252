"""The bootstrap-t interval: by a loop over its definition, with the test that it goes with, and with weights."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
from polars_ir.statistics.intervals import interval, standard_error  # noqa: E402  # it needs SciPy
from polars_ir.statistics.randomisation import bootstrap_p  # noqa: E402

VALUES = np.random.default_rng(5).random(25) ** 3
WEIGHTS = np.random.default_rng(6).integers(1, 9, 25).astype(float)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_interval_by_its_definition(weights):
    mean, generator, t = np.average(VALUES, weights=weights), np.random.default_rng(3), []
    for drawn in generator.integers(25, size=(199, 25)):
        sample, of_sample = VALUES[drawn], None if weights is None else weights[drawn]
        t.append(abs(np.average(sample, weights=of_sample) - mean) / standard_error(sample, of_sample))
    # Of 199 samples and the queries themselves, ten may be beyond the ends.
    half = np.sort(t)[-10] * standard_error(VALUES, weights)
    found = interval(VALUES, kind="bootstrap-t", weights=weights, resamples=199, seed=3)
    assert found == pytest.approx((mean - half, mean + half), rel=1e-9)


@pytest.mark.parametrize("mean", np.linspace(0.02, 0.12, 6))
def test_it_excludes_0_where_the_test_is_significant(mean):
    d = VALUES - VALUES.mean() + mean
    p = bootstrap_p(d[:, None], resamples=499, seed=0)[0]
    low, high = interval(d, kind="bootstrap-t", resamples=499)
    assert (low > 0 or high < 0) == (p <= 0.05)


def test_where_many_samples_have_no_spread_there_is_no_interval():
    assert interval(np.r_[np.zeros(9), 1.0], kind="bootstrap-t", resamples=199) is None
    assert interval(np.full(9, 0.5), kind="bootstrap-t") is None
    assert interval(VALUES, kind="bootstrap-t", resamples=10) is None
