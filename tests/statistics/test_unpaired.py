"""Two groups of different queries: SciPy's tests, and what is not defined."""

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")
pytest.importorskip("statsmodels")
from polars_ir.statistics.randomisation import Draws  # noqa: E402  # it needs SciPy
from polars_ir.statistics.unpaired import group_against_rest  # noqa: E402  # it needs SciPy

EXACT = {"abs": 1e-12, "rel": 1e-12}
DRAWN = np.random.default_rng(11)
GROUP, REST = DRAWN.random(12) ** 2, DRAWN.random(30)
OPTIONS = {"test": "mann-whitney", "confidence": 0.95, "least": 2, "draws": Draws(500)}


def compared(group, rest, **options):
    return group_against_rest(np.array(group), np.array(rest), **{**OPTIONS, **options})


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_the_interval_is_that_of_welch_and_the_ranks_those_of_mann_and_whitney(confidence):
    found = compared(GROUP, REST, confidence=confidence)
    low, high = stats.ttest_ind(GROUP, REST, equal_var=False).confidence_interval(confidence)
    ranked = stats.mannwhitneyu(GROUP, REST)
    assert found.pop("note") is None
    assert found == pytest.approx(
        {
            "mean": GROUP.mean(),
            "rest_mean": REST.mean(),
            "difference": GROUP.mean() - REST.mean(),
            "low": low,
            "high": high,
            "statistic": ranked.statistic,
            "p": ranked.pvalue,
        },
        **EXACT,
    )


def absolute(a, b, axis):
    return np.abs(a.mean(axis=axis) - b.mean(axis=axis))


def test_a_permutation_test_comes_near_to_that_of_scipy():
    wanted = stats.permutation_test(
        (GROUP, REST),
        absolute,
        n_resamples=50_000,
        alternative="greater",
        rng=np.random.default_rng(0),
        vectorized=True,
    )
    found = compared(GROUP, REST, test="permutation", draws=Draws(50_000))
    # Five standard errors of the difference of two shares.
    error = (2 * wanted.pvalue * (1 - wanted.pvalue) / 50_000) ** 0.5
    assert found["p"] == pytest.approx(wanted.pvalue, abs=5 * error)
    assert found["statistic"] == pytest.approx(GROUP.mean() - REST.mean(), **EXACT)


def test_an_exact_permutation_test_is_that_of_scipy():
    wanted = stats.permutation_test((GROUP[:4], REST[:5]), absolute, alternative="greater", vectorized=True)
    assert compared(GROUP[:4], REST[:5], test="permutation")["p"] == pytest.approx(wanted.pvalue, **EXACT)


def test_few_queries_are_permuted_in_every_way():
    # Of the 6 ways to choose 2 of 4, one is as low as this, and two-sided as much again.
    assert compared([0.0, 0.1], [0.8, 0.9], test="permutation")["p"] == pytest.approx(2 / 6, **EXACT)


@pytest.mark.parametrize(
    ("group", "rest", "note"),
    [
        ([0.5], [0.1, 0.2], "1 query here; a test needs 2"),
        ([0.5, 0.6], [], "0 queries to compare with; a test needs 2"),
        ([0.5, 0.5], [0.2, 0.2], "values vary in neither group"),
        ([0.1 + 0.2, 0.3], [0.2, 0.2], "values vary in neither group"),
    ],
)
@pytest.mark.parametrize("test", ["mann-whitney", "permutation"])
def test_what_is_not_defined_has_a_note_and_no_figure(group, rest, note, test):
    found = compared(group, rest, test=test)
    assert found["note"] == note
    assert [found[name] for name in ("low", "high", "statistic", "p")] == [None] * 4
    assert found["mean"] == pytest.approx(np.mean(group), **EXACT)


def test_one_group_may_be_constant():
    assert compared([0.0, 0.0, 0.0], [0.5, 0.6, 0.7])["note"] is None
