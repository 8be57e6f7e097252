"""Tests, corrections and effect sizes: SciPy's and statsmodels' figures, error rates, and what is not defined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests, multitest_alias
from suite import examples

from polars_ir.statistics import significance
from polars_ir.statistics.randomisation import Draws
from polars_ir.statistics.significance import (
    PAIRED,
    Outcome,
    Paired,
    cohen_d,
    cohen_d_interval,
    corrected,
    differences,
    effects,
    rank_biserial,
    rank_biserial_interval,
    t_test,
    tukey,
    without_ties,
)

CORRECTIONS = list(filter(significance.is_correction, multitest_alias))


def outcomes(test, differences, *, tolerance, resamples, seed):
    """The result of a test for each column of differences."""
    draws = Draws(resamples, seed)
    return PAIRED[test](Paired([], differences, 0.05, tolerance, draws))


OPTIONS = {"tolerance": 0.0, "resamples": 199, "seed": 0}

#: Scores of two systems as measures have them, many of them equal.
SCORES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), st.sampled_from([0.0, 0.3, 0.5, 2 / 3, 1.0])),
    min_size=2,
    max_size=30,
).map(np.array)


def of_one(test: str, d, **options) -> Outcome:
    return outcomes(test, np.array(d, dtype=float)[:, None], **{**OPTIONS, **options})[0]


@given(SCORES)
def test_the_paired_t_is_that_of_scipy(scores):
    d = differences([scores], [(0, 1)])
    if np.ptp(d) > 0:
        expected = stats.ttest_rel(*scores.T)
        assert of_one("t", d[:, 0])[:2] == pytest.approx(tuple(expected), rel=1e-12, abs=1e-12)


@given(st.lists(st.lists(st.integers(-3, 3), max_size=6), min_size=2, max_size=6))
def test_a_sample_has_the_same_figures_alone_as_beside_others(drawn):
    samples = [np.array(values) / 7 for values in drawn]
    options = {"tolerance": 0.0, "confidence": 0.9}
    together = zip(t_test(samples), effects(samples, **options), strict=True)
    assert list(together) == [(t_test([one])[0], effects([one], **options)[0]) for one in samples]


@given(SCORES)
def test_the_sign_test_is_that_of_scipy(scores):
    above, below = int((scores[:, 0] > scores[:, 1]).sum()), int((scores[:, 0] < scores[:, 1]).sum())
    if above + below:
        expected = stats.binomtest(above, above + below)
        assert of_one("sign", scores[:, 0] - scores[:, 1])[:2] == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize("n", [5, 13, 40, 60])
@pytest.mark.parametrize("digits", [1, 15])
def test_wilcoxon_is_that_of_scipy(n, digits):
    # Few and many, with ties and zeros and without: SciPy has a method for each.
    d = np.random.default_rng(n).normal(0.2, 0.4, n).round(digits)
    assert of_one("wilcoxon", d)[:2] == pytest.approx(tuple(stats.wilcoxon(d)), rel=1e-12)


@pytest.mark.parametrize(
    "d", [[0.0, 0.0, 0.5], [0.1, -0.1, 0.1, 0.2], [0.3, 0.0, -0.3, 0.5, 0.5, 0.1], [0.1, 0.2, 0.3]]
)
def test_wilcoxon_of_a_few_differences_with_ties_is_that_of_scipy(d):
    assert of_one("wilcoxon", d)[:2] == pytest.approx(tuple(stats.wilcoxon(d)), rel=1e-12)


def test_ties_are_zeros_for_tests_of_signs():
    d = [0.4, -0.02, 0.3, 0.2, 0.01, 0.5, -0.1]
    zeros = [0.4, 0, 0.3, 0.2, 0, 0.5, -0.1]
    for test in ("sign", "wilcoxon"):
        assert of_one(test, d, tolerance=0.02) == of_one(test, zeros) != of_one(test, d)
    for test in ("t", "randomisation", "bootstrap"):
        assert of_one(test, d, tolerance=0.02) == of_one(test, d)


def test_the_p_of_a_mean_is_the_same_for_t_of_all_kinds():
    d = np.random.default_rng(8).normal(0.15, 1, 200)
    expected = stats.ttest_1samp(d, 0)
    bootstrap, randomisation = of_one("bootstrap", d, resamples=9999), of_one("randomisation", d, resamples=9999)
    assert bootstrap.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert randomisation.statistic == pytest.approx(d.mean(), rel=1e-12)
    assert bootstrap.p == pytest.approx(expected.pvalue, abs=0.02)
    assert randomisation.p == pytest.approx(expected.pvalue, abs=0.02)


@pytest.mark.parametrize(
    ("test", "of_zeros", "of_ones"),
    [
        ("t", (None, None), (None, None)),
        ("bootstrap", (None, None), (None, None)),
        # Both ways of 5: 2/32.
        ("randomisation", (0.0, 1.0), (1.0, 1 / 16)),
        ("sign", (None, 1.0), (1.0, 1 / 16)),
        ("wilcoxon", (0.0, 1.0), (0.0, 1 / 16)),
    ],
)
def test_differences_that_are_all_the_same(test, of_zeros, of_ones):
    assert of_one(test, [0] * 5)[:2] == of_one(test, [0] * 60)[:2] == of_zeros
    assert of_one(test, [1] * 5)[:2] == of_ones


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "randomisation", "bootstrap"])
def test_fewer_than_two_pairs_are_no_test(test):
    d = np.array([[0.5, np.nan, 0.5], [np.nan, np.nan, 0.25]])
    first, second, third = outcomes(test, d, **OPTIONS)
    assert first == second == Outcome()
    assert third.p is not None


def test_differences_are_the_same_up_to_rounding():
    values = np.array([[0.1 + 0.2, 0.2, 0.3], [0.4 + 0.1, 0.4, 0.5], [0.9, 0.8, 0.9]])
    assert np.ptp(values[:, 0] - values[:, 1]) > 0
    assert (values[:, 0] - values[:, 2]).any()
    same, none, different = differences([values], [(0, 1), (0, 2), (1, 0)]).T
    assert np.ptp(same) == 0
    assert same == pytest.approx([0.1] * 3)
    assert none.tolist() == [0.0, 0.0, 0.0]
    assert different.tolist() == (-same).tolist()


def test_differences_stand_by_measure_and_pair():
    values = np.arange(6.0).reshape(2, 3) ** 2
    found = differences([values, 10 * values], [(0, 1), (2, 0)])
    assert found.tolist() == [[-1.0, 4.0, -10.0, 40.0], [-7.0, 16.0, -70.0, 160.0]]


def within_its_binomial_interval(rejected: int, of: int) -> bool:
    return stats.binomtest(rejected, of, 0.05).pvalue > 0.001


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomisation", "bootstrap"])
@pytest.mark.whole("a simulation", quick=1)
def test_one_in_twenty_of_no_differences_is_found(test):
    # Skewed, as nDCG is, but alike for both systems: the difference of two draws from one distribution.
    source = np.random.default_rng(2026)
    d = source.beta(0.4, 0.8, (60, 1000)) - source.beta(0.4, 0.8, (60, 1000))
    rejected = sum(outcome.p <= 0.05 for outcome in outcomes(test, d, **OPTIONS))
    assert within_its_binomial_interval(rejected, 1000)


@pytest.mark.whole("a second")
def test_the_sign_test_errs_no_more_than_it_may():
    # 60 signs do not have a p of 0.05: the greatest below it is that of 21 or fewer, or 39 or more.
    size = 2 * stats.binom.cdf(21, 60, 0.5)
    assert size < 0.05 < 2 * stats.binom.cdf(22, 60, 0.5)
    d = np.random.default_rng(7).normal(size=(60, 1000))
    rejected = sum(outcome.p <= 0.05 for outcome in outcomes("sign", d, **OPTIONS))
    assert stats.binomtest(rejected, 1000, size).pvalue > 0.001


def test_tukey_errs_in_one_of_twenty_whole_experiments():
    source = np.random.default_rng(11)
    pairs = [(i, j) for i in range(5) for j in range(i)]
    experiments = [source.random((20, 1)) + source.random((20, 5)) for _ in range(500)]
    found = tukey(experiments, differences(experiments, pairs), alpha=0.05, draws=Draws(199))
    rejected = np.array([outcome.p <= 0.05 for outcome in found]).reshape(500, -1).any(axis=1).sum()
    assert within_its_binomial_interval(int(rejected), 500)


def test_tukey_of_two_systems_is_randomisation():
    values = np.random.default_rng(1).random((12, 2))
    d = differences([values], [(1, 0)])
    found = tukey([values], d, alpha=0.05, draws=Draws(20_000))[0]
    exact = outcomes("randomisation", d, **{**OPTIONS, "resamples": 2**12})[0]
    assert found.statistic == exact.statistic
    assert found.p == pytest.approx(exact.p, abs=4 * (exact.p * (1 - exact.p) / 20_000) ** 0.5)


def test_tukey_comes_near_to_the_studentised_range():
    # Many queries: the range of means is that of normal ones, with the error of the analysis by query and system.
    values = np.random.default_rng(6).normal(np.array([0, 0, 0.1, 0.2]), size=(300, 4))
    pairs = [(i, j) for i in range(4) for j in range(i)]
    d = differences([values], pairs)
    found = tukey([values], d, alpha=0.05, draws=Draws(20_000))
    within = values - values.mean(axis=1, keepdims=True)
    error = within.std(axis=0, ddof=0) ** 2
    scale = np.sqrt(error.mean() * 4 / 3 / 300)
    expected = [stats.studentized_range.sf(abs(outcome.statistic) / scale, 4, np.inf) for outcome in found]
    assert [outcome.p for outcome in found] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.29, 0.5])
def test_an_interval_of_tukey_excludes_0_where_p_is_at_most_alpha(alpha):
    values = np.random.default_rng(3).random((15, 8)) + np.arange(8) / 20
    pairs = [(i, j) for i in range(8) for j in range(i)]
    found = tukey([values], differences([values], pairs), alpha=alpha, draws=Draws(99))
    excludes = [low > 0 or high < 0 for low, high in (outcome.interval for outcome in found)]
    assert excludes == [outcome.p <= alpha for outcome in found]
    assert len(set(excludes)) == 2


def test_too_few_resamples_have_no_interval_of_tukey():
    values = np.random.default_rng(3).random((15, 3))
    d = differences([values], [(1, 0)])
    assert tukey([values], d, alpha=0.05, draws=Draws(18))[0].interval is None
    assert tukey([values], d, alpha=0.05, draws=Draws(19))[0].interval is not None


def test_tukey_needs_two_queries_that_all_systems_have():
    values = significance.of_all(np.array([[0.1, 0.2, 0.3], [0.2, np.nan, 0.5], [np.nan, 0.4, 0.5]]))
    found = tukey([values], differences([values], [(1, 0), (2, 0)]), alpha=0.05, draws=Draws(99))
    assert found == [Outcome(), Outcome()]


@pytest.mark.parametrize("method", CORRECTIONS)
@pytest.mark.whole("many cases", quick=15)
def test_corrections_are_those_of_statsmodels_for_what_is_defined(method):
    p = [0.001, 0.04, 0.03, 0.5, 0.0, 0.02, 0.9]
    expected = iter(multipletests(p, alpha=0.1, method=method)[1])
    with_gaps = [None, *p[:3], None, *p[3:]]
    assert corrected(with_gaps, method, alpha=0.1) == [
        value if value is None else next(expected) for value in with_gaps
    ]
    assert corrected([None, None], method, alpha=0.1) == [None, None]


@examples(50)
@given(st.lists(st.sampled_from([0.0, 1e-300, 0.01, 0.2, 1.0]) | st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(p):
    assert corrected(p, "holm", alpha=0.05) == multipletests(p, method="holm")[1].tolist()


@pytest.mark.parametrize("method", CORRECTIONS)
def test_a_p_of_1_stays_1(method):
    assert corrected([1.0, 1.0], method, alpha=0.05) == [1.0, 1.0]
    assert corrected([1.0], method, alpha=0.05) == [1.0]


def test_no_correction_leaves_p_as_it_is():
    assert corrected([0.5, None, 0.01], None, alpha=0.05) == [0.5, None, 0.01]


def test_effect_sizes_by_hand():
    d = np.array([3.0, -1.0, 1.0, 1.0])
    # Mean 1, squares 4 + 4 + 0 + 0 of three; ranks 4, 2, 2, 2 of 10, one 2 of them negative.
    assert cohen_d(d) == pytest.approx(1 / (8 / 3) ** 0.5, rel=1e-15)
    assert rank_biserial(d) == (8 - 2) / 10
    assert rank_biserial(np.array([0.0, 0.0, -0.5])) == -1.0


def test_effect_sizes_of_what_does_not_differ_are_not_defined():
    assert np.isnan(cohen_d(np.full(3, 0.1)))
    assert np.isnan(cohen_d(np.array([0.5])))
    assert np.isnan(rank_biserial(np.zeros(3)))


@given(SCORES)
def test_rank_biserial_is_that_of_pingouin(scores):
    # pingouin/nonparametric.py, wilcoxon: r_plus / rsum - r_minus / rsum over differences that are not 0.
    d = scores[:, 0] - scores[:, 1]
    d = d[d != 0]
    ranks = stats.rankdata(abs(d))
    if len(d):
        expected = np.sum((d > 0) * ranks) / ranks.sum() - np.sum((d < 0) * ranks) / ranks.sum()
        assert rank_biserial(scores[:, 0] - scores[:, 1]) == pytest.approx(expected, abs=1e-12)


def test_ties_are_within_the_tolerance():
    assert without_ties(np.array([0.1, -0.1, 0.11, -0.2]), 0.1).tolist() == [0, 0, 0.11, -0.2]


@pytest.mark.parametrize("n", [3, 10, 200])
@pytest.mark.parametrize("mean", [-0.2, 0.0, 0.1])
def test_at_the_ends_the_observed_t_is_at_the_tails(n, mean):
    d = np.random.default_rng(n).normal(mean, 0.1, n)
    t = cohen_d(d) * n**0.5
    low, high = cohen_d_interval(cohen_d(d), n, 0.9)
    assert stats.nct.cdf(t, n - 1, low * n**0.5) == pytest.approx(0.95, abs=1e-5)
    assert stats.nct.cdf(t, n - 1, high * n**0.5) == pytest.approx(0.05, abs=1e-5)


def test_what_does_not_vary_has_no_size():
    assert np.isnan(cohen_d_interval(cohen_d(np.full(5, 0.2)), 5, 0.95)).all()
    assert np.isnan(rank_biserial_interval(rank_biserial(np.zeros(5)), 0, 0.95)).all()


def test_the_interval_of_ranks_stays_in_the_range_and_does_not_close():
    low, high = rank_biserial_interval(np.array(1.0), 5, 0.95)
    assert -1 < low < 0.5
    assert high == pytest.approx(1.0)


@pytest.mark.parametrize("n", [15, 60])
def test_intervals_of_ranks_cover_what_all_queries_have(n):
    source = np.random.default_rng(3)

    def draw(size):
        return np.where(source.random(size) < 0.3, 0.0, source.normal(0.05, 0.1, size).round(2))

    truth, covered = rank_biserial(draw(50_000)), 0
    for _ in range(300):
        drawn = draw(n)
        low, high = rank_biserial_interval(rank_biserial(drawn), np.count_nonzero(drawn), 0.95)
        covered += low <= truth <= high
    assert covered >= stats.binom.ppf(0.001, 300, 0.94)
