"""p by rearranging and redrawing: against complete enumeration, SciPy, and what the definitions come to in a loop."""

from fractions import Fraction
from itertools import combinations, product
from operator import mul

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

import polars_ir as ir
from polars_ir.statistics import randomisation
from polars_ir.statistics.randomisation import (
    Draws,
    bootstrap_p,
    exchange_p,
    largest_flipped,
    permuted_ranges,
    randomisation_p,
)
from polars_ir.statistics.significance import resamples_for, rounded

#: Differences as measures have them: many of one size, and many of none.
DIFFERENCES = st.lists(st.sampled_from([-0.3, -0.1, 0.0, 0.1, 0.2, 0.3, 1.0]), min_size=2, max_size=10)


def column(values) -> np.ndarray:
    return np.array(values, dtype=float)[:, None]


def test_randomisation_by_hand():
    # Of +-1 +-2 +-3, two of eight sums are 6 or -6; of +-1 +-2 -+3, six are 2 or more from 0, 1 + 2 - 3 being 0.
    assert randomisation_p(np.array([[1.0, 1.0], [2.0, -2.0], [3.0, 3.0]]), draws=Draws(8)).tolist() == [
        2 / 8,
        6 / 8,
    ]


@given(DIFFERENCES)
def test_few_differences_are_enumerated(values):
    d = np.array(values)
    sums = np.array([np.dot(signs, d) for signs in product((-1, 1), repeat=len(d))])
    expected = np.mean(np.abs(sums) >= abs(d.sum()) - 1e-9)
    assert randomisation_p(column(d), draws=Draws(2 ** len(d))) == pytest.approx([expected], rel=1e-12)


#: Differences of reciprocal ranks, and integers of very different size.
OF_RANKS = st.sampled_from([Fraction(1, a) - Fraction(1, b) for a in range(1, 7) for b in (1, 3, 4)])
INTEGERS = st.integers(-3, 3) | st.integers(-(2**31), 2**31)


@given(
    st.tuples(st.lists(OF_RANKS, min_size=2), st.just(1)) | st.tuples(st.lists(INTEGERS, min_size=2), st.just(2**31))
)
@example(([-521843924, 1095601225, 2, -1859040477, -1, -232413029, 1888840869], 2**31))
def test_rounded_differences_are_tied_as_fractions_are(given):
    fractions, largest = given[0][:7], np.array([float(given[1])])
    sums = [sum(map(mul, signs, fractions)) for signs in product((-1, 1), repeat=len(fractions))]
    d, total = rounded(column(fractions), largest[0]), sum(fractions)
    p = np.mean([abs(each) >= abs(total) for each in sums]), np.mean([each <= total for each in sums])
    of_d = {"differences": d, "draws": Draws(2**7), "largest": largest}
    assert [*randomisation_p(**of_d), *randomisation_p(**of_d, lower=True)] == pytest.approx(p)
    assert largest_flipped([d], Draws(2**7), lower=True, largest=[largest]) == pytest.approx([p[1]])


@pytest.mark.parametrize("n", [2, 5, 9])
def test_exact_randomisation_is_that_of_scipy(n):
    d = np.random.default_rng(n).normal(0.3, 1, n)
    found = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=2**n, vectorized=True)
    assert randomisation_p(column(d), draws=Draws(2**n)) == pytest.approx([found.pvalue], rel=1e-12)


def test_one_way_too_many_is_drawn_at_random():
    d = column([0.5, 0.2, -0.1, 0.4])
    exact = randomisation_p(d, draws=Draws(16))
    # Multiples of 1/16 by enumeration, and of 1/(15 + 1) with at least the observed one.
    assert exact == pytest.approx([4 / 16])
    seeds = {float(randomisation_p(d, draws=Draws(15, seed))[0]) for seed in range(20)}
    assert len(seeds) > 1
    assert min(seeds) >= 1 / 16


def test_random_signs_come_near_to_all_signs():
    d = np.random.default_rng(3).normal(0.2, 1, (14, 5))
    exact = randomisation_p(d, draws=Draws(2**14))
    drawn = randomisation_p(d, draws=Draws(2**14 - 1))
    # Four standard errors of a share.
    assert np.all(np.abs(exact - drawn) < 4 * np.sqrt(exact * (1 - exact) / 2**14))


def test_no_difference_is_as_extreme_as_any():
    assert randomisation_p(np.zeros((40, 2)), draws=Draws(10)).tolist() == [1.0, 1.0]


def test_what_is_not_there_does_not_count():
    d = np.random.default_rng(0).normal(1, 1, 8)
    gaps = np.insert(d, [0, 3, 8], np.nan)
    both = np.column_stack([gaps, np.where(np.isnan(gaps), 0, gaps)])
    assert randomisation_p(both, draws=Draws(1000)).tolist() == [*randomisation_p(column(d), draws=Draws(256))] * 2


def test_p_is_never_0_and_the_least_is_that_of_the_observed_alone():
    d = column(np.full(100, 0.1) + np.arange(100) / 1000)
    assert randomisation_p(d, draws=Draws(99)).tolist() == [0.01]
    assert bootstrap_p(d, draws=Draws(99)).tolist() == [0.01]


@pytest.mark.parametrize("p_of", [randomisation_p, bootstrap_p])
def test_neither_other_columns_nor_the_size_of_chunks_change_a_p(p_of, monkeypatch):
    d = np.random.default_rng(1).normal(0.1, 1, (50, 7))
    together = p_of(d, draws=Draws(1000, 5))
    monkeypatch.setattr(randomisation, "CELLS", 5000)
    alone = [p_of(d[:, [i]], draws=Draws(1000, 5))[0] for i in range(7)]
    assert together.tolist() == alone
    assert p_of(d, draws=Draws(1000, 6)).tolist() != alone


def test_the_bootstrap_is_sakais_in_a_loop():
    d = np.random.default_rng(2).normal(0.3, 1, (12, 2))
    d[3, 1] = np.nan

    def t(values: np.ndarray) -> float:
        return float(abs(values.mean()) / (values.std(ddof=1) / len(values) ** 0.5))

    for number in range(2):
        values = d[~np.isnan(d[:, number]), number]
        shifted = values - values.mean()
        source = np.random.default_rng(9)
        more = [t(shifted[source.integers(len(values), size=len(values))]) >= t(values) for _ in range(500)]
        expected = (sum(more) + 1) / 501
        assert bootstrap_p(d, draws=Draws(500, 9))[number] == pytest.approx(expected, rel=1e-12)


def test_samples_without_spread_count_as_extreme():
    # Half of the samples of two queries draw one of them twice; the others have the mean 0 of what was shifted.
    p = bootstrap_p(column([1.0, 3.0]), draws=Draws(9999))
    assert p == pytest.approx([0.5], abs=0.02)


def test_the_bootstrap_of_what_does_not_differ_is_not_defined():
    d = np.array([[0.5, 0.0, np.nan, 1.0], [0.5, 0.0, np.nan, np.nan]])
    assert np.isnan(bootstrap_p(d, draws=Draws(10))).all()


def test_ranges_of_two_systems_are_those_of_signs():
    values = np.random.default_rng(4).random((6, 2))
    found = set(permuted_ranges(values, draws=Draws(2000)).round(12))
    d = values[:, 0] - values[:, 1]
    assert found == {round(abs(float(np.dot(signs, d))) / 6, 12) for signs in product((-1, 1), repeat=6)}


def test_ranges_of_three_systems_are_those_of_all_orders():
    # One query: any order has the range 0.7. Two queries alike: those of the sums of two orders, halved.
    assert permuted_ranges(np.array([[0.2, 0.9, 0.4]]), draws=Draws(50)) == pytest.approx(np.full(50, 0.7))
    found = set(permuted_ranges(np.array([[0.0, 1.0, 3.0]] * 2), draws=Draws(500)))
    # 0 1 3 with 0 1 3, 0 3 1, 1 0 3, 1 3 0, 3 0 1, 3 1 0: the sums are 0 2 6, 0 4 4, 1 1 6, 1 4 3, 3 1 4, 3 2 3.
    assert found == {3.0, 2.0, 2.5, 1.5, 0.5}


def test_the_size_of_chunks_does_not_change_ranges(monkeypatch):
    values = np.random.default_rng(5).random((10, 4))
    together = permuted_ranges(values, draws=Draws(100, 1))
    monkeypatch.setattr(randomisation, "CELLS", 1)
    assert permuted_ranges(values, draws=Draws(100, 1)).tolist() == together.tolist()


def test_near_copies_of_one_system_do_not_make_the_largest_t_reject():
    # Eight systems that nearly are one, and two others, all with the same true mean: each against each.
    source = np.random.default_rng(1)
    pairs, rejected = list(combinations(range(10), 2)), 0
    for _ in range(300):
        one = source.normal(0.5, 0.05, (30, 1))
        values = np.hstack([one + source.normal(0, 0.002, (30, 8)), source.normal(0.5, 0.3, (30, 2))])
        differences = np.column_stack([values[:, i] - values[:, j] for i, j in pairs])
        rejected += bool((largest_flipped([differences], Draws(199)) <= 0.05).any())
    assert rejected <= stats.binom.ppf(0.999, 300, 0.05)


def test_resamples_rise_with_the_family_up_to_the_budget():
    assert [resamples_for(n, 0.05) for n in (1, 50, 780, 10_000)] == [10_000, 10_000, 156_000, 200_000]


def test_values_that_differ_by_their_last_bits_are_one():
    assert len(set(rounded(np.array([0.4 - 0.3, 0.2 - 0.1, 0.3 - 0.2])))) == 1
    assert rounded(np.array([1e-9, 2e-9])).tolist() == [1e-9, 2e-9]
    assert np.isnan(rounded(np.array([np.nan, 1.0]))[0])


def test_of_many_queries_exchange_has_its_normal_limit():
    source = np.random.default_rng(1)
    n, draws = 10_000, Draws(2_000)
    spread = source.normal(-0.01, 1, n)
    rare = np.where(np.arange(n) < 3, -1.0, 1e-6 * spread)
    p = exchange_p(np.column_stack([spread, rare]), draws)
    by_draws = randomisation_p(np.column_stack([spread, rare]), draws, lower=True)
    assert p[0] == pytest.approx(stats.norm.cdf(spread.sum() / np.sqrt((spread**2).sum())), rel=1e-12)
    assert p[0] == pytest.approx(by_draws[0], abs=4 * np.sqrt(by_draws[0] / draws.resamples))
    # Three losses make all of a sum: its limit is none of theirs.
    assert p[1] == by_draws[1]


def test_few_queries_exchange_as_they_are_drawn():
    d = np.random.default_rng(2).normal(0, 1, (200, 2))
    assert exchange_p(d, Draws(500)).tolist() == randomisation_p(d, Draws(500), lower=True).tolist()


def test_draws_that_take_more_than_a_minute_are_told_of(monkeypatch):
    expected = [rows for _, rows in Draws(10).parts(3)]
    monkeypatch.setattr(randomisation, "SHOWING", 0.0)
    monkeypatch.setattr(randomisation, "LONG", -1.0)
    with pytest.warns(ir.IRWarning, match=r"these draws take about \d+ minutes. Take fewer resamples, or a test"):
        assert [rows for _, rows in Draws(10).parts(3)] == expected == [3, 3, 3, 1]
