"""Ranks of systems, and the ranges that they may have."""

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.per_query.ranks import ranks

PYDOCS = ir.datasets.load("pydocs")
MEASURES = ["nDCG@10", "AP", "R@100"]


@pytest.fixture(scope="module")
def per_query() -> pl.DataFrame:
    return ir.evaluate(PYDOCS.runs, PYDOCS.qrels, MEASURES)


def frame(measure: str = "AP", **systems: list[float | None]) -> pl.DataFrame:
    rows = [
        {"run": system, "query_id": f"q{i:02}", measure: value}
        for system, values in systems.items()
        for i, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema={"run": pl.String, "query_id": pl.String, measure: pl.Float64})


def noisy(mean: float, seed: int, n: int = 30) -> list[float]:
    return np.random.default_rng(seed).normal(mean, 0.05, n).tolist()


FOUR = {"low": noisy(0.2, 1), "top": noisy(0.801, 2), "middle": noisy(0.5, 3), "other": noisy(0.8, 4)}


def test_systems_that_can_not_be_told_apart_share_their_ranges():
    found = ranks(frame(**FOUR))
    assert found["run"].to_list()[2:] == ["middle", "low"]
    assert found.select("rank", "best_rank", "worst_rank", "tied_with_first").rows() == [
        (1, 1, 2, True),
        (2, 1, 2, True),
        (3, 3, 3, False),
        (4, 4, 4, False),
    ]


def test_ranges_are_those_of_the_pairs_that_compare_tells_apart(per_query):
    found, compared = ranks(per_query), ir.compare(per_query).filter("significant")
    better = pl.when(pl.col("difference") > 0)
    pairs = compared.select(
        "measure", better.then("run").otherwise("baseline"), loser=better.then("baseline").otherwise("run")
    )
    for row in found.iter_rows(named=True):
        of_measure = pairs.filter(measure=row["measure"])
        assert row["best_rank"] == 1 + of_measure.filter(loser=row["run"]).height
        assert row["worst_rank"] == 3 - of_measure.filter(run=row["run"]).height
        assert row["mean"] == pytest.approx(per_query.filter(run=row["run"])[row["measure"]].mean())
    assert found["rank"].to_list() == [1, 2, 3] * 3


@pytest.mark.parametrize(("n", "mean", "told"), [(10, 0.8, True), (11, 0.8, False), (10, 0.2, False)])
def test_few_queries_that_tell_systems_apart_may_be_skewed(n, mean, told):
    found = ranks(frame(a=noisy(0.2, 1, n), b=noisy(mean, 2, n)))
    assert found["worst_rank"].to_list() == ([1, 2] if mean > 0.5 else [2, 2])
    said = "of 10 queries or fewer, skewed differences are significant too often: compare(test='auto') holds"
    assert found["note"].to_list() == [said if told else None] * 2


def test_a_difference_without_spread_tells_nothing_apart():
    assert ranks(frame(a=[0.1, 0.2, 0.3, 0.4], b=[0.2, 0.3, 0.4, 0.5]))["worst_rank"].to_list() == [2, 2]


def test_of_a_cost_the_lowest_mean_is_first():
    found = ranks(frame("Hole@10", **FOUR))
    assert found.select("run", "rank").rows()[:2] == [("low", 1), ("middle", 2)]
    assert found["mean"].is_sorted()


def test_equal_means_share_the_better_rank():
    found = ranks(frame(a=[0.1, 0.3, 0.2], b=[0.2, 0.1, 0.3], c=[0.0, 0.1, 0.1]))
    assert found.select("run", "rank").rows() == [("a", 1), ("b", 1), ("c", 3)]


def test_queries_without_a_value_of_some_system_are_left_out_and_counted():
    some = frame(a=[0.5, 0.6, 0.7, None], b=[0.1, 0.2, None, 0.4])
    assert ranks(some).select("n_queries", "note").unique().rows() == [
        (2, "left out, without a value of some system: 2")
    ]
    none = frame(a=[0.5, None, 0.7, None], b=[None, 0.2, 0.3, 0.4])
    row = ranks(none).row(0, named=True)
    assert (row["rank"], row["mean"], row["n_queries"]) == (None, None, 1)
    assert row["note"].startswith("fewer than two queries with a value of all systems")


def test_a_query_that_a_system_lacks_is_0_or_left_out_for_all():
    lacking = frame(a=[0.5, 0.6, 0.7], b=[0.4, 0.5, 0.6]).filter((pl.col("run") != "a") | (pl.col("query_id") != "q02"))
    assert dict(ranks(lacking).select("run", "mean").rows()) == pytest.approx({"a": 1.1 / 3, "b": 0.5})
    assert dict(ranks(lacking, missing="skip").select("run", "mean").rows()) == pytest.approx({"a": 0.55, "b": 0.45})


def test_tasks_are_ranked_as_queries_are():
    models = {f"m{i}": noisy(60 + i, i, n=56) for i in range(5)}
    tasks = frame("score", **models).rename({"run": "model", "query_id": "task"})
    found = ranks(tasks.rename({"model": "run", "task": "query_id"}), "score", missing="skip")
    assert found["run"].to_list() == ["m4", "m3", "m2", "m1", "m0"]
    assert found["best_rank"].to_list() == found["worst_rank"].to_list() == [1, 2, 3, 4, 5]


def test_the_same_call_gives_the_same_figures_and_another_confidence_other_ranges(per_query):
    assert ranks(per_query).equals(ranks(per_query))
    widths = [
        (found["worst_rank"] - found["best_rank"]).sum()
        for found in (ranks(per_query, alpha=alpha) for alpha in (0.5, 0.001))
    ]
    assert widths[0] < widths[1]
