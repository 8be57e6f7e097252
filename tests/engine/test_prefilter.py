"""The prefilter of a join never drops a row that the join would keep."""

import polars as pl
import pytest
from tuned import tune

from polars_ir.engine.prefilter import among, reaches

NUMBERS = pl.int_range(100_000, eager=True)

IDS = {
    "strings": NUMBERS.cast(pl.String),
    "integers": NUMBERS,
    "wide integers": NUMBERS.cast(pl.Int128),
    "scores": NUMBERS / 7,
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_all_entries_pass_and_few_others(ids):
    rows = pl.DataFrame({"query_id": (NUMBERS % 100).cast(ids.dtype), "doc_id": ids})
    entries = rows.gather_every(1000).rename({"query_id": "hit_query_id", "doc_id": "hit_doc_id"})
    passed = rows.filter(among(["query_id", "doc_id"], entries))
    assert passed.join(entries, left_on=rows.columns, right_on=entries.columns, how="semi").height == entries.height
    assert passed.height < rows.height / 10


def test_equal_values_in_two_columns_do_not_cancel_out():
    rows = pl.DataFrame({"query_id": NUMBERS, "doc_id": NUMBERS})
    assert rows.filter(among(["query_id", "doc_id"], rows.gather_every(1000))).height < rows.height / 10


def test_without_entries_nothing_passes():
    rows = pl.DataFrame({"doc_id": ["d1", "d2"]})
    assert rows.filter(among(["doc_id"], rows.clear())).is_empty()


@pytest.mark.parametrize("slots", [0, 1, 16])
def test_rows_reach_the_lowest_entry_they_can_meet(slots, monkeypatch):
    tune(monkeypatch, slots=slots)
    rows = pl.DataFrame({"query_id": [str(number % 50) for number in NUMBERS], "score": NUMBERS - 50_000})
    entries = rows.sample(200, seed=1).filter(pl.col("query_id") != "7")
    passed = rows.filter(reaches(["query_id"], "score", entries))
    needed = rows.join(entries, on="query_id").filter(pl.col("score") >= pl.col("score_right"))
    assert needed.join(passed, on=rows.columns, how="anti").is_empty()
    assert rows.filter(query_id="7").join(passed, on=rows.columns, how="semi").is_empty() == (slots > 0)


@pytest.mark.parametrize(
    "scores",
    [
        pl.Series([2**53 + 1, 2**53, 2**53 - 1]),
        pl.Series([float("inf"), 0.0, float("-inf")]),
        pl.Series([-0.0, 0.0, -1.0]),
        pl.Series([0.1, 0.2, 0.3], dtype=pl.Float32),
    ],
)
def test_a_score_reaches_itself(scores):
    for score in scores:
        entry = pl.DataFrame({"query_id": ["q"], "score": [score]}, schema_overrides={"score": scores.dtype})
        rows = pl.DataFrame({"query_id": "q", "score": scores})
        at_least = rows.filter(pl.col("score") >= score)["score"].to_list()
        passed = rows.filter(reaches(["query_id"], "score", entry))["score"].to_list()
        assert set(at_least) <= set(passed)
