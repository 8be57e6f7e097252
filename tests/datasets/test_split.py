"""Splits of a log into training and test rows: nothing of the test is in train, and rows stay as they are."""

import itertools
import random
import re
import warnings
from datetime import UTC, date, datetime

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir

LOG = pl.DataFrame(
    {
        "user_id": ["u1", "u2", "u1", "u2", "u3", "u1", "u3"],
        "item_id": ["a", "b", "b", "c", "a", "c", "d"],
        "time": [1, 2, 3, 4, 4, 5, 5],
        "stars": [5, None, 3, 1, 2, 4, 4],
    }
)
#: The options of splits of `LOG`, with the numbers of the rows of test, and of those of neither table.
SPLITS = {
    "a cut is of the test": (("time", {"at": 4}), [3, 4, 5, 6], []),
    "a cut between whole times": (("time", {"at": 3.5}), [3, 4, 5, 6], []),
    "a share": (("time", {"share": 2 / 7}), [5, 6], []),
    "a share is rounded up, and equal times stay together": (("time", {"share": 0.3}), [3, 4, 5, 6], []),
    "the first of each user after the cut": (("time", {"at": 4, "target": "first"}), [3, 4, 5], [6]),
    "the last of each user after the cut": (("time", {"at": 4, "target": "last"}), [3, 5, 6], [4]),
    "without cold users": (("time", {"at": 4, "drop": "cold_users"}), [3, 5], [4, 6]),
    "without cold items": (("time", {"at": 4, "drop": ["cold_items"]}), [4], [3, 5, 6]),
    "without any cold": (("time", {"at": 5, "drop": ["cold_users", "cold_items"]}), [5], [6]),
    "the last of each": (("last", {}), [3, 5, 6], []),
    "the last two, all of whom has no more": (("last", {"n": 2}), [1, 2, 3, 4, 5, 6], []),
}


def quiet(log, *strategy, **options):
    """Both parts of a log, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        return ir.split(log, *strategy, **options)


@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_rows_of_both_parts_stay_as_they_are(split):
    (strategy, options), of_test, of_neither = split
    of_train = [row for row in range(LOG.height) if row not in (*of_test, *of_neither)]
    train, test = quiet(LOG, strategy, **options)
    assert train.equals(LOG[of_train])
    assert test.equals(LOG[of_test])
    for engine in ("in-memory", "streaming"):
        plans = quiet(LOG.lazy(), strategy, **options)
        assert [plan.collect(engine=engine).equals(part) for plan, part in zip(plans, (train, test), strict=True)]
    frame = LOG.to_pandas().set_index(pd.Index(range(10, 10 + LOG.height)))
    for part, rows in zip(quiet(frame, strategy, **options), (of_train, of_test), strict=True):
        pd.testing.assert_frame_equal(part, frame.iloc[rows])


def test_seen_pairs_can_be_left_out():
    log = pl.concat([LOG, LOG[:1].with_columns(time=pl.lit(9, pl.Int64))])
    assert quiet(log, "time", at=9)[1].height == 1
    assert quiet(log, "time", at=4, drop="seen")[1].equals(LOG[[3, 4, 5, 6]])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_of_equal_times_the_later_row_is_held_out(n):
    drawn = random.Random(n)
    log = pl.DataFrame(
        [(drawn.randrange(40), row, drawn.randrange(4)) for row in range(300)],
        schema=["user_id", "item_id", "time"],
        orient="row",
    )
    of_user = itertools.groupby(sorted(log.rows(), key=lambda row: (row[0], row[2], row[1])), key=lambda row: row[0])
    held_out = {row for _, rows in of_user for row in list(rows)[-n:]}
    train, test = quiet(log, "last", n=n)
    assert test.rows() == [row for row in log.rows() if row in held_out]
    assert train.rows() == [row for row in log.rows() if row not in held_out]
    for plan, part in zip(quiet(log.lazy(), "last", n=n), (train, test), strict=True):
        assert plan.collect(engine="streaming").equals(part)


@pytest.mark.parametrize("share", [0.01, 0.07, 0.1, 0.5, 0.93])
def test_a_share_holds_out_no_more_than_it_must(share):
    log = pl.DataFrame({"user_id": 1, "item_id": range(100), "time": [37 * row % 100 for row in range(100)]})
    assert quiet(log, "time", share=share)[1].height == round(share * 100)


DAYS = LOG.with_columns(time=pl.date(2024, 1, "time"))
ZONED = DAYS.with_columns(pl.col("time").cast(pl.Datetime("ns")).dt.replace_time_zone("Europe/Berlin"))
MOMENTS = {
    "a date": (DAYS, date(2024, 1, 4), 4),
    "ISO text": (DAYS, "2024-01-04", 4),
    "a time of a day": (DAYS, datetime.fromisoformat("2024-01-04T12:00"), 2),
    "a Timestamp": (DAYS, pd.Timestamp("2024-01-04"), 4),
    "the zone of the column": (ZONED, "2024-01-04", 4),
    "another zone": (ZONED, datetime(2024, 1, 3, 23, tzinfo=UTC), 4),
    "another zone, as text": (ZONED, "2024-01-04T00:00:00Z", 2),
    "less than milliseconds": (
        DAYS.with_columns(pl.col("time").cast(pl.Datetime("ms"))),
        "2024-01-04T00:00:00.000001",
        2,
    ),
    "nanoseconds as a number": (LOG.with_columns(time=pl.col("time") + 2**60), 2**60 + 4, 4),
    "floats": (LOG.with_columns(pl.col("time") / 2), 2, 4),
    "unsigned numbers": (LOG.with_columns(pl.col("time").cast(pl.UInt64)), 4, 4),
}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_a_moment_is_meant_as_the_times_are(moment):
    log, at, n_test = moment
    assert quiet(log, "time", at=at)[1].height == n_test


def test_a_warning_counts_what_distorts_figures():
    told = (
        "Of 3 test rows are 3 of items that train lacks; drop=['cold_items'] drops them; 'last' trains on the future "
        "of others: 1 of 4 rows are later than the first of the test. A cut in time does not: ir.split(log, 'time', "
        "share=0.2)."
    )
    with pytest.warns(ir.IRWarning, match=f"^{re.escape(told)}$"):
        ir.split(LOG.with_columns(time=pl.Series([1, 2, 3, 4, 6, 5, 7])), "last")
    with pytest.warns(
        ir.IRWarning, match="Of 4 test rows are 2 of users that train lacks, 3 of items that train lacks"
    ):
        ir.split(LOG, "time", at=4)
    with pytest.warns(ir.IRWarning, match="2 of pairs that train has; drop=\\['seen'\\] drops them.$"):
        ir.split(LOG.with_columns(item_id=pl.lit("a")), "time", at=5, drop="cold_users")
    with pytest.warns(ir.IRWarning, match="^'last' trains on the future of others"):
        ir.split(LOG.lazy(), "last")


def test_a_split_that_leaks_nothing_is_silent():
    log = pl.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [7, 8, 8, 7], "time": [10, 20, 30, 40]})
    ir.split(log, "time", at=40)
    assert ir.split(LOG, "time", at=5, drop=["cold_users", "cold_items"])[1].height == 1


def test_columns_are_recognised_or_named():
    log = LOG.rename({"user_id": "userID", "item_id": "itemID", "time": "Timestamp"})
    assert quiet(log, "time", at=4)[1].height == 4
    log = LOG.rename({"user_id": "query_id", "item_id": "doc_id", "time": "when"})
    assert quiet(log, "time", at=4, time="when")[1].height == 4


WRONG = {
    "no moment": ({}, "'time' takes one of at"),
    "two moments": ({"at": 3, "share": 0.2}, "got both"),
    "n of a moment": ({"at": 3, "n": 2}, "n goes with the strategy 'last'"),
    "a moment of the last": ({"strategy": "last", "at": 3}, "at goes with the strategy 'time'"),
    "a target of the last": ({"strategy": "last", "target": "first"}, "target goes with the strategy 'time'"),
    "none of each": ({"strategy": "last", "n": 0}, "n must be a whole number, 1 or more"),
    "all": ({"share": 1}, "share must be a number above 0 and below 1"),
    "a date of numbers": ({"at": "2024-01-01"}, "at must be a number"),
    "no date": ({"log": DAYS, "at": "January"}, "at must be a date or datetime"),
    "no time": ({"log": DAYS, "at": pd.NaT}, "at must be a date or datetime"),
    "a zone of none": ({"log": DAYS, "at": "2024-01-04T00:00Z"}, "has a time zone, which column 'time' lacks"),
    "after all": ({"at": 6}, "is left without a row to test: times are from 1 to 5"),
    "before all": ({"at": 1}, "is left without a row to train on"),
    "too many of each": ({"strategy": "last", "n": 3}, "no user has more rows than are held out"),
    "all dropped": ({"at": 5, "drop": ["cold_items", "seen"], "log": LOG.filter(item_id="d")}, "left without a row"),
    "no row": ({"log": LOG.clear(), "at": 3}, "log has no rows"),
    "no column": ({"log": LOG.drop("time"), "at": 3}, "has no columns of times by name"),
    "two columns": ({"log": LOG.with_columns(date="time"), "at": 3}, "has 2 columns of times by name"),
    "an unknown column": ({"time": "day", "at": 3}, "log has no 'day' column"),
    "times that are users": ({"time": "user_id", "at": 3}, "'user_id' is that of the users"),
    "times that are items": ({"time": "item_id", "at": 3}, "'item_id' is that of the items"),
    "no users": ({"log": LOG.drop("user_id", "stars"), "at": 3}, "it has 'item_id', 'time'. Give it one"),
    "no users, and times that are named": (
        {"log": LOG.drop("user_id", "stars").rename({"time": "when"}), "time": "when", "at": 3},
        "it has 'item_id', 'when'. Give it one",
    ),
    "times that are texts": ({"log": LOG.cast({"time": pl.String}), "at": 3}, "str.to_datetime"),
    "a null time": ({"log": LOG.with_columns(time="stars"), "at": 3}, "log has 1 row whose 'time' is null"),
    "a time that is no number": (
        {"log": LOG.with_columns(time=pl.col("time") / 0), "at": 3},
        "log has 7 rows whose 'time' is no number",
    ),
    "a null item": ({"log": LOG.with_columns(item_id="stars"), "at": 3}, "whose 'user_id' or 'item_id' is null"),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_told(wrong):
    options, says = wrong
    options = {"log": LOG, "strategy": "time"} | options
    with pytest.raises(ir.IRError, match=says):
        ir.split(**options)


def test_a_plan_fails_for_null_times():
    train, test = ir.split(LOG.with_columns(time="stars").lazy(), "time", at=3)
    for plan in (train, test):
        with pytest.raises(pl.exceptions.InvalidOperationError, match="whose 'time' is null"):
            plan.collect()
