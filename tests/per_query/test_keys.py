"""Frames with a row for each night, system and query: named, a night is as it is alone; else they are refused."""

import datetime as dt

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir

PYDOCS = ir.datasets.load("pydocs")
NIGHTS = [dt.date(2026, 11, day) for day in range(1, 5)]


def _night(day: dt.date) -> pl.DataFrame:
    """The runs of a night, each with some documents missing."""
    kept = pl.struct("query_id", "doc_id").hash(seed=day.day) % 10 > 0
    return PYDOCS.runs.filter(kept).select(pl.lit(day).alias("date"), pl.all())


RUNS = pl.concat(map(_night, NIGHTS))
PER_QUERY = ir.evaluate(RUNS, PYDOCS.qrels, ["nDCG@10", "RR"], by="date")


def each_night(verb, frame=PER_QUERY):
    """The results of the nights, each alone."""
    nights = ((day, verb(frame.filter(date=day).drop("date"))) for day in NIGHTS)
    return pl.concat(result.select(pl.lit(day).alias("date"), pl.all()) for day, result in nights)


@pytest.mark.parametrize("order", [1, 2])
def test_means_and_summaries_of_nights_are_those_of_each_alone(order):
    shuffled = PER_QUERY.sample(fraction=1, shuffle=True, seed=order)
    means = each_night(ir.mean)
    assert_frame_equal(shuffled.ir.mean(by="date"), means, check_exact=True)
    assert_frame_equal(shuffled.lazy().ir.mean(by="date").collect(), means, check_exact=True)
    summaries = each_night(ir.summarize).sort("measure", "date", "run")
    assert_frame_equal(shuffled.ir.summarize(by=["date"]).sort("measure", "date", "run"), summaries, check_exact=True)


def test_comparisons_of_nights_are_those_of_each_alone_but_for_their_correction():
    of_all = ["p_corrected", "significant", "simultaneous_low", "simultaneous_high"]
    compared = PER_QUERY.ir.compare(by="date", baseline="bm25").drop(of_all)
    alone = each_night(lambda night: night.ir.compare(baseline="bm25").drop(of_all))
    assert_frame_equal(compared, alone, check_exact=True)


def test_a_collection_counts_once_by_cluster():
    collections = PER_QUERY.rename({"date": "collection"})
    means = collections.ir.mean(by="collection")
    macro = collections.ir.summarize(cluster="collection").filter(measure="RR").select("run", "mean")
    expected = means.group_by("run").agg(mean=pl.col("RR").mean()).sort("run")
    assert_frame_equal(macro, expected)
    ranks = collections.ir.ranks("RR", cluster="collection")
    assert ranks["n_queries"].unique().to_list() == [len(NIGHTS)]
    assert ranks["run"].to_list() == expected.sort("mean", descending=True)["run"].to_list()


@pytest.mark.parametrize(
    "verb", [ir.mean, ir.summarize, ir.compare, ir.ranks, lambda frame: ir.worst_slices(frame, "run_of")]
)
def test_frames_of_nights_are_refused_with_their_column(verb):
    with pytest.raises(ir.IRError, match=r"They are of several 'date': .*by=.*'date'") as raised:
        verb(PER_QUERY.with_columns(run_of=pl.lit("x")))
    assert "unique" not in str(raised.value)


def test_plans_of_nights_are_refused_with_their_column():
    with pytest.raises(pl.exceptions.PolarsError, match="name what tells them apart: by='date'"):
        PER_QUERY.lazy().ir.mean().collect()


def test_two_keys_are_both_named():
    both = pl.concat([PER_QUERY.with_columns(tenant=pl.lit(name)) for name in "xy"])
    with pytest.raises(ir.IRError, match="They are of several 'tenant', 'date'") as raised:
        both.ir.mean()
    assert "by=['tenant', 'date']" in str(raised.value)
    with pytest.raises(ir.IRError, match=r"by=\['date', 'tenant'\]") as raised:
        both.ir.mean(by="date")
    assert "q01" in str(raised.value), "queries are shown by their ids"
    assert both.ir.mean(by=["tenant", "date"]).height == 2 * PER_QUERY.ir.mean(by="date").height


def test_a_row_that_is_there_twice_is_still_an_error():
    with pytest.raises(ir.IRError, match="repeat the ids"):
        pl.concat([PER_QUERY, PER_QUERY.head(1)]).ir.mean(by="date")
