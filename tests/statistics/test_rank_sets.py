"""Sets of ranks of many systems, against enumeration and by simulation."""

from itertools import product

import numpy as np
import pytest

from polars_ir.statistics.randomisation import Draws
from polars_ir.statistics.rank_sets import better_than, first_shares

OPTIONS = {"draws": Draws(999)}


def t_of(differences: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        t = differences.mean(axis=0) / differences.std(axis=0, ddof=1) * np.sqrt(len(differences))
    return np.abs(np.nan_to_num(t))


def by_enumeration(values: np.ndarray, confidence: float) -> np.ndarray:
    """Every way to change the signs of queries, and Student's |t| written out."""
    n, systems = values.shape
    pairs = [(j, k) for j in range(systems) for k in range(systems) if j != k]
    differences = np.column_stack([values[:, j] - values[:, k] for j, k in pairs])
    largest = [t_of(differences * np.array(signs)[:, None]).max() for signs in product([1, -1], repeat=n)]
    p = [np.mean(np.array(largest) >= t - 1e-9) for t in t_of(differences)]
    found = np.zeros((systems, systems), dtype=bool)
    for (j, k), chance, mean in zip(pairs, p, differences.mean(axis=0), strict=True):
        found[j, k] = chance <= 1 - confidence and mean > 0
    return found


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_told_apart_as_by_every_change_of_signs(seed):
    source = np.random.default_rng(seed)
    values = source.normal(0, 1, (10, 4)) + np.array([0, 0.5, 1.5, 3])
    found = better_than(values, confidence=0.9, draws=Draws(20_000, 1))
    assert found.any()
    assert found.tolist() == by_enumeration(values, 0.9).tolist()


def test_no_system_is_better_than_itself_its_equal_or_its_better():
    values = np.random.default_rng(0).random((50, 3)) + np.array([0.0, 0.5, 0.0])
    values[:, 2] = values[:, 0]
    assert better_than(values, confidence=0.95, **OPTIONS).tolist() == [
        [False, False, False],
        [True, False, True],
        [False, False, False],
    ]


def test_differences_that_are_all_the_same_count_once_there_are_enough_of_them():
    # Of 5 queries 2 of 32 changes of signs leave all of one sign, of 10 queries 2 of 1,024.
    for n, told in ((5, False), (10, True)):
        values = np.repeat([[0.3, 0.1]], n, axis=0)
        assert better_than(values, confidence=0.95, **OPTIONS)[0, 1] == told


def test_what_floats_alone_tell_apart_is_equal():
    values = np.repeat([[0.1 + 0.2, 0.3]], 50, axis=0)
    assert not better_than(values, confidence=0.95, **OPTIONS).any()


def test_more_pairs_ask_for_more():
    source = np.random.default_rng(3)
    two = source.normal(0, 1, (40, 2)) + np.array([0.55, 0.0])
    many = np.hstack([two, source.normal(0, 1, (40, 30))])
    alone, among = (better_than(values, confidence=0.95, **OPTIONS)[0, 1] for values in (two, many))
    assert (alone, among) == (True, False)


@pytest.mark.whole("a simulation")
def test_ranges_hold_together_for_systems_that_are_all_equal():
    """Nominal .05; 400 cases of .05 are above .085 with a chance of .002."""
    source = np.random.default_rng(7)
    for n in (25, 100):
        cases = (source.normal(0, 1, (n, 1)) + source.exponential(1, (n, 8)) for _ in range(400))
        missed = sum(better_than(values, confidence=0.95, draws=Draws(199)).any() for values in cases)
        assert 4 <= missed <= 34


def test_first_shares_by_every_sample():
    values = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.75]])
    wins = np.zeros(3)
    for sample in product(range(3), repeat=3):
        means = values[list(sample)].mean(axis=0)
        highest = np.isclose(means, means.max())
        wins += highest / highest.sum()
    assert first_shares(values, draws=Draws(50_000)) == pytest.approx(wins / 27, abs=0.01)


def test_systems_that_tie_share_the_first_place():
    values = np.repeat(np.random.default_rng(0).random((20, 1)), 4, axis=1)
    assert first_shares(values, **OPTIONS) == pytest.approx([0.25] * 4)
