"""What a judge does to the outcome: favour of systems, and the order and significance of their differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import polars_ir as ir

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "judges"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the judgments are not beside this checkout")

#: Four systems on 12 queries, by people and by a judge who favours `d`.
VALUES = np.random.default_rng(3).uniform(size=(12, 4)).round(2)
JUDGED = (VALUES * [0.9, 0.8, 0.9, 0.5] + [0.1, 0.1, 0.0, 0.5]).round(2)


def frame_of(**judges: np.ndarray) -> pl.DataFrame:
    """Figures by judge, a row per query and a column per system of each array."""
    rows = [
        {"judge": judge, "query_id": f"q{query:02}", "run": "abcd"[system], "AP": float(value)}
        for judge, values in judges.items()
        for (query, system), value in np.ndenumerate(values)
    ]
    return pl.DataFrame(rows)


PER_QUERY = frame_of(people=VALUES, model=JUDGED)


def test_favour_is_a_paired_difference_of_differences_with_students_t() -> None:
    found = ir.favour(PER_QUERY).to_dicts()
    for place, row in enumerate(found):
        above = JUDGED - VALUES
        favours = above[:, place] - np.delete(above, place, axis=1).mean(axis=1)
        result = stats.ttest_1samp(favours, 0)
        low, high = result.confidence_interval()
        wanted = [VALUES[:, place].mean(), JUDGED[:, place].mean(), favours.mean(), low, high, result.pvalue]
        assert [row[name] for name in ("mean", "judged", "favour", "low", "high", "p")] == pytest.approx(wanted)
    assert max(found, key=lambda row: row["favour"])["run"] == "d"
    assert min(row["p_corrected"] for row in found) == pytest.approx(4 * min(row["p"] for row in found))


def test_tau_by_query_is_the_mean_of_each_querys_tau() -> None:
    (row,) = ir.judge_effect(PER_QUERY).to_dicts()
    each = [stats.kendalltau(ours, theirs).statistic for ours, theirs in zip(VALUES, JUDGED, strict=True)]
    assert row["tau_by_query"] == pytest.approx(np.mean(each))
    assert row["tau"] == pytest.approx(stats.kendalltau(VALUES.mean(axis=0), JUDGED.mean(axis=0)).statistic)


def test_pairs_are_those_that_compare_finds_significant() -> None:
    (row,) = ir.judge_effect(PER_QUERY).to_dicts()
    sides = [
        ir.compare(PER_QUERY.filter(judge=judge).drop("judge"), test="t", correction="holm").sort("run", "baseline")
        for judge in ("people", "model")
    ]
    ours, theirs = (side["significant"].to_list() for side in sides)
    same = [a * b > 0 for a, b in zip(*(side["difference"] for side in sides), strict=True)]
    cells = list(zip(ours, theirs, same, strict=True))
    assert row["n_pairs"] == len(cells) == 6
    assert row["n_flipped"] == same.count(False)
    assert row["active_agreements"] == cells.count((True, True, True))
    assert row["active_disagreements"] == cells.count((True, True, False))
    assert row["missed"] == sum(a and not b for a, b, _ in cells)
    assert row["invented"] == sum(b and not a for a, b, _ in cells)
    assert row["passive"] == sum(not (a or b) for a, b, _ in cells)


def test_a_judge_like_people_favours_none_and_changes_nothing() -> None:
    same = frame_of(people=VALUES, copy=VALUES)
    found = ir.favour(same)
    assert found["favour"].to_list() == [0.0] * 4
    assert found["p"].null_count() == 4
    assert found["note"].unique().to_list() == ["the favour is the same on all queries: no test"]
    (row,) = ir.judge_effect(same).to_dicts()
    assert (row["tau"], row["tau_ap"], row["tau_by_query"], row["n_flipped"], row["missed"], row["invented"]) == (
        (1, 1, 1, 0, 0, 0)
    )


def test_only_what_both_judged_counts_and_the_rest_is_told() -> None:
    fewer = PER_QUERY.filter((pl.col("judge") == "people") | ~pl.col("query_id").is_in(["q00", "q01"]))
    fewer = fewer.filter((pl.col("judge") == "model") | (pl.col("run") != "a"))
    found = ir.favour(fewer)
    assert found["run"].to_list() == ["b", "c", "d"]
    assert found["n_queries"].unique().to_list() == [10]
    note = "left out, of one judge alone: 2 queries; left out, of one judge alone: 1 system"
    assert found["note"].unique().to_list() == [note]
    undefined = PER_QUERY.with_columns(AP=pl.when(pl.col("query_id") != "q03").then("AP"))
    assert ir.judge_effect(undefined)["note"].item() == "left out, undefined for a system: 1 query"


@pytest.mark.parametrize("function", [ir.favour, ir.judge_effect])
def test_every_kind_of_frame_gives_the_same_in_its_own_kind(function) -> None:
    wanted = function(PER_QUERY)
    shuffled = PER_QUERY.sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(function(shuffled), wanted)
    lazy = function(PER_QUERY.lazy())
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), wanted)
    of_pandas = function(PER_QUERY.to_pandas())
    assert isinstance(of_pandas, pd.DataFrame)
    assert of_pandas["judge"].to_list() == wanted["judge"].to_list()


def test_a_measure_that_is_a_cost_is_turned() -> None:
    costs = PER_QUERY.rename({"AP": "Hole@10"})
    of_values, of_costs = (ir.judge_effect(frame).drop("measure", "tau_ap") for frame in (PER_QUERY, costs))
    assert_frame_equal(of_values, of_costs)


@pytest.mark.parametrize("function", [ir.favour, ir.judge_effect])
@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (PER_QUERY, {"truth": "peple"}, "truth names 'peple', which is not one of the judges: 'model', 'people'"),
        (PER_QUERY.drop("judge"), {}, "has no column 'judge', which evaluate.by='judge'. gives"),
        (PER_QUERY.filter(judge="people"), {}, "there is no other"),
        (PER_QUERY.with_columns(judge=pl.lit(None, pl.String)), {}, "has 96 rows whose 'judge' is null"),
        (
            pl.concat([PER_QUERY, PER_QUERY.head(1)]),
            {},
            r"has 2 rows that repeat the ids of another \(judge,",
        ),
        (
            PER_QUERY.with_columns(pl.format("{}{}", "judge", "query_id").alias("query_id")),
            {},
            "'model' and 'people' judged no queries in common; they have",
        ),
        (PER_QUERY.filter(run="a"), {}, "needs several systems"),
        (PER_QUERY.head(0), {}, "per_query has no rows, and so no judges"),
        (
            PER_QUERY.filter((pl.col("judge") == "people") | (pl.col("run") == "a")),
            {},
            "'model' and 'people' have only one system in common: 'a'",
        ),
    ],
)
def test_what_can_not_be_compared_is_an_error(function, frame, options, message) -> None:
    with pytest.raises(ir.IRError, match=message):
        function(frame, **options)


@needs_data
@pytest.mark.whole("reads 37,000 judgments")
def test_real_judges_each_favour_their_own_run() -> None:
    names = ("people", "llama70b", "llama8b", "flant5")
    judges = {name: ir.read_qrels(DATA / f"dl19.{name}.txt.gz", format="trec") for name in names}
    qrels = pl.concat(frame.with_columns(judge=pl.lit(name)) for name, frame in judges.items())
    columns = ("query_id", "doc_id", pl.col("relevance").cast(pl.Float64).alias("score"))
    runs = {name: judges[name].select(columns) for name in names[1:]}
    per_query = ir.evaluate(runs, qrels, "nDCG@10", by="judge")
    figures = ir.favour(per_query).select(
        "judge", "run", pl.col("mean", "judged").round(6), pl.col("favour", "low", "high").round(4)
    )
    assert figures.filter(judge="llama70b").rows() == [
        ("llama70b", "flant5", 0.633852, 0.82643, -0.0950, -0.1320, -0.0580),
        ("llama70b", "llama70b", 0.688997, 1.0, 0.0826, 0.0507, 0.1146),
        ("llama70b", "llama8b", 0.560909, 0.825094, 0.0124, -0.0190, 0.0438),
    ]
    own = figures.filter(pl.col("judge") == pl.col("run")).select("run", "favour", "low", "high").rows()
    assert own == [
        ("flant5", 0.3566, 0.2956, 0.4175),
        ("llama70b", 0.0826, 0.0507, 0.1146),
        ("llama8b", 0.2432, 0.1936, 0.2927),
    ]
    effect = ir.judge_effect(per_query).with_columns(pl.col("tau", "tau_by_query").round(3)).drop("tau_ap", "note")
    assert effect.drop("measure", "n_pairs", "n_queries").rows() == [
        ("flant5", 0.333, 0.190, 1, 2, 0, 0, 1, 0),
        ("llama70b", 1.0, 0.511, 0, 1, 0, 1, 1, 0),
        ("llama8b", -0.333, -0.194, 2, 0, 2, 0, 1, 0),
    ]


def test_a_query_that_a_judge_lacks_for_one_system_counts_for_none() -> None:
    values = np.array([[0.9, 0.5], [0.8, 0.5], [0.7, 0.6]])
    hole = frame_of(people=values, model=values).filter(
        (pl.col("judge") == "people") | (pl.col("run") != "a") | (pl.col("query_id") != "q00")
    )
    found = ir.favour(hole)
    assert found.select("mean", "favour", "n_queries").rows() == [(0.75, 0.0, 2), (0.55, 0.0, 2)]
    note = "left out, without a row by both of every system: 1 query"
    assert note in found["note"][0]
    assert ir.judge_effect(hole)["note"].item().startswith(note)


def test_queries_of_other_systems_by_each_judge_are_not_in_common() -> None:
    extra = frame_of(people=VALUES[:1, :1], model=VALUES[:1, 1:2]).with_columns(
        query_id=pl.lit("r"), run=pl.when(judge="people").then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    wanted, found = ir.favour(PER_QUERY), ir.favour(pl.concat([PER_QUERY, extra]))
    assert_frame_equal(found.drop("note"), wanted.drop("note"))
    assert found["note"].unique().to_list() == ["left out, of one judge alone: 1 query"]


def test_standard_errors_are_no_measures_to_compare() -> None:
    with_errors = PER_QUERY.with_columns(pl.col("AP").alias("AP se"))
    assert_frame_equal(ir.favour(with_errors), ir.favour(PER_QUERY))
    people = with_errors.filter(judge="people").drop("judge")
    for frame in (people, people.lazy()):
        assert ir.compare(frame).lazy().collect()["measure"].unique().to_list() == ["AP"]


def test_pairs_without_a_test_are_counted_and_texts_are_no_measure() -> None:
    steady = frame_of(people=np.array([[0.5, 0.25], [0.75, 0.5]]), model=np.array([[0.5, 0.25], [0.75, 0.25]]))
    (row,) = ir.judge_effect(steady).to_dicts()
    assert row["passive"] == 1
    assert row["note"] == "the same difference on all queries by a judge, so no test by that one: 1 pair"
    with pytest.raises(ir.IRError, match="'AP' must be numbers"):
        ir.judge_effect(PER_QUERY.with_columns(pl.col("AP").cast(pl.String), RR=1.0))


def test_what_takes_no_clusters_advises_none() -> None:
    note = ir.judge_effect(PER_QUERY.with_columns(topic=pl.lit("t")))["note"].item()
    assert note == "queries of one 'topic' are treated as independent"
