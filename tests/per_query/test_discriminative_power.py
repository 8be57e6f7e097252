"""The share of pairs of systems that a measure tells apart."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy import stats

import polars_ir as ir
from polars_ir.per_query.compare import discriminative_power


@pytest.fixture(scope="module")
def many() -> pl.DataFrame:
    """Ten systems on 40 queries; one measure is the other with noise."""
    source = np.random.default_rng(5)
    sharp = source.normal(0.5, 0.1, (40, 1)) + np.linspace(0, 0.1, 10) + source.normal(0, 0.05, (40, 10))
    blunt = sharp + source.normal(0, 0.3, sharp.shape)
    return pl.DataFrame(
        {
            "run": [f"s{i}" for i in range(10)] * 40,
            "query_id": np.repeat(np.arange(40), 10),
            "AP": sharp.ravel(),
            "RR": blunt.ravel(),
        }
    )


def test_the_share_is_that_of_scipys_significant_pairs(many):
    found = discriminative_power(many, test="t")
    for measure, share, told_apart in found.select("measure", "share", "n_told_apart").rows():
        wide = many.pivot("run", index="query_id", values=measure).drop("query_id")
        p = [stats.ttest_rel(wide[a], wide[b]).pvalue for a, b in itertools.combinations(wide.columns, 2)]
        assert told_apart == sum(value <= 0.05 for value in p)
        assert share == told_apart / 45
    assert found["n_pairs"].to_list() == [45, 45]


def test_noise_takes_power_away_and_asks_for_larger_differences(many):
    found = discriminative_power(many, resamples=999)
    assert found["share"].is_sorted(descending=True)
    assert found["share"][0] > 2 * found["share"][1]
    assert found["difference_needed"][1] > 4 * found["difference_needed"][0]


@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap", "tukey", "max-t"])
def test_every_pair_with_more_than_the_difference_needed_is_told_apart(test, many):
    options = {"test": test, "resamples": 499}
    needed = dict(discriminative_power(many, **options).select("measure", "difference_needed").rows())
    pairs = ir.compare(many, correction=None, **options).with_columns(needed=pl.col("measure").replace_strict(needed))
    above = pairs.filter(pl.col("difference").abs() > pl.col("needed"))
    assert above.height > 5
    assert above["significant"].all()


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
@pytest.mark.whole("a second a case", quick=1)
def test_a_test_of_another_figure_than_the_mean_needs_no_difference_of_means(test, many):
    assert discriminative_power(many, test=test)["difference_needed"].to_list() == [None, None]


@pytest.mark.whole("a simulation")
def test_of_equal_systems_about_alpha_of_the_pairs_are_told_apart():
    source = np.random.default_rng(1)
    values = source.normal(0, 1, (50, 30))
    frame = pl.DataFrame(
        {"run": [f"s{i}" for i in range(30)] * 50, "query_id": np.repeat(np.arange(50), 30), "AP": values.ravel()}
    )
    assert 0.01 < discriminative_power(frame, test="t")["share"].item() < 0.12
    assert discriminative_power(frame, test="max-t", resamples=999)["share"].item() == 0


def test_systems_that_do_not_differ_are_counted_and_noted():
    one = pl.DataFrame({"query_id": ["q", "r", "s"], "AP": [0.1, 0.5, 0.2]})
    row = discriminative_power({"a": one, "b": one, "c": one.with_columns(pl.col("AP") * 1.5 + 0.1)}).row(0, named=True)
    assert row["n_pairs"] == 3
    assert row["note"] == "not tested, and not distinguished: 1 pairs, as compare notes"
