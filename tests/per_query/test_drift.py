"""A measure over time: its buckets, what they are compared with, and what is marked."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import polars_ir as ir

stats = pytest.importorskip("scipy.stats")
multitest = pytest.importorskip("statsmodels.stats.multitest")
from polars_ir.per_query.drift import BY_QUERIES, drift  # noqa: E402  # its tests need SciPy
from polars_ir.per_query.shared.groups import Group, against_groups, against_rest  # noqa: E402  # its tests need SciPy
from polars_ir.per_query.shared.measures import Range  # noqa: E402  # its tests need SciPy
from polars_ir.statistics.samples import Moments  # noqa: E402  # its tests need SciPy

EXACT = {"abs": 1e-12, "rel": 1e-12}
DRAWN = np.random.default_rng(8)
DAYS = [date(2026, 1, 5) + timedelta(days=i // 5) for i in range(140)]  # four weeks from a Monday
LOG = pl.DataFrame({"query_id": range(140), "day": DAYS, "RR": DRAWN.random(140)})
WEEKS = [date(2026, 1, 5) + timedelta(weeks=i) for i in range(4)]


def weeks(values=LOG["RR"]):
    """The values of each week."""
    return [values.to_numpy()[i : i + 35] for i in range(0, 140, 35)]


def test_a_bucket_is_compared_with_all_earlier_ones():
    found = drift(LOG, "day", every="1w", reference="earlier")
    assert found["bucket"].to_list() == WEEKS
    for i, (row, values) in enumerate(zip(found.iter_rows(named=True), weeks(), strict=True)):
        assert row["mean"] == pytest.approx(values.mean(), **EXACT)
        if i:
            earlier = np.concatenate(weeks()[:i])
            wanted = of_queries(values, earlier)
            assert [row[name] for name in ("difference", "statistic", "p")] == wanted
            assert (row["n_reference"], row["reference_mean"]) == (35 * i, pytest.approx(earlier.mean(), **EXACT))
    assert found["p_corrected"][1:].to_list() == pytest.approx(
        multitest.multipletests(found["p"][1:].to_numpy(), method="holm")[1].tolist(), **EXACT
    )


def of_queries(values, reference):
    found = against_rest([Group(Moments.of(values), Moments.of(reference), Range(0, 1))], alpha=0.05, least=5)[0]
    return [found[name] for name in ("difference", "statistic", "p")]


def test_the_intervals_are_those_of_summarize():
    week = LOG.select("query_id", week=pl.col("day").dt.truncate("1w"))
    wanted = ir.summarize(LOG.select("query_id", "RR"), by=week, alpha=0.1).select("low", "high")
    assert drift(LOG, "day", every="1w", alpha=0.1).select("low", "high").equals(wanted)


def test_from_four_buckets_on_these_are_the_sample():
    found = drift(LOG, "day", every="1d", reference=10, min_queries=2)
    days = [LOG["RR"].to_numpy()[i : i + 5] for i in range(0, 140, 5)]
    for i in range(10, 28):
        together = Moments.of(np.concatenate([days[i], *days[:10]]))
        wanted = against_groups(Moments.of(days[i]), [*map(Moments.of, days[:10])], together)
        row = found.row(i, named=True)
        names = {"rest_mean": "reference_mean"}
        assert {name: row[names.get(name, name)] for name in wanted} == wanted
        assert (row["n_reference"], row["note"]) == (50, None)


def test_days_that_differ_by_themselves_are_no_drift():
    source, marked = np.random.default_rng(5), 0
    days = np.repeat(np.arange(12), 100)
    for _ in range(20):
        values = source.normal(0.5, 0.25, 1200) + np.repeat(source.normal(0, 0.05, 12), 100)
        marked += bool(
            drift(pl.DataFrame({"query_id": range(1200), "day": days, "x": values}), "day", ["x"])["drifted"].any()
        )
    assert marked <= stats.binom.ppf(0.999, 20, 0.05)


def test_a_reference_of_few_buckets_is_taken_for_one_of_queries_and_says_so():
    notes = drift(LOG, "day", every="1w")["note"].to_list()
    assert notes[2:] == [BY_QUERIES] * 2


def test_the_first_bucket_has_none_before_it():
    first = drift(LOG, "day", every="1w", reference="earlier").row(0, named=True)
    assert (first["p"], first["drifted"], first["note"]) == (None, None, "no earlier bucket")


@pytest.mark.parametrize("reference", [date(2026, 1, 12), "2026-01-12"])
def test_the_reference_can_be_one_bucket(reference):
    found = drift(LOG, "day", every="1w", reference=reference)
    assert found["note"].to_list() == [BY_QUERIES, "part of the reference", BY_QUERIES, BY_QUERIES]
    assert found["p"][0] == of_queries(weeks()[0], weeks()[1])[-1]


def test_the_reference_can_be_the_first_buckets():
    found = drift(LOG, "day", every="1w", reference=2)
    assert found["n_reference"].to_list() == [0, 0, 70, 70]
    assert found["p"][3] == of_queries(weeks()[3], np.concatenate(weeks()[:2]))[-1]


def test_a_planted_change_is_marked_and_no_other():
    planted = LOG.with_columns(RR=pl.when(pl.col("day") >= WEEKS[3]).then(pl.col("RR") * 0.4).otherwise("RR"))
    found = drift(planted, "day", every="1w")
    assert found["drifted"].to_list() == [None, None, False, True]
    assert found["difference"][3] < 0


@pytest.mark.whole("a simulation")
def test_chance_alone_is_marked_as_often_as_alpha_says():
    # 300 measures without any change: so many last weeks may be marked by their binomial interval.
    names = [f"m{i}" for i in range(300)]
    null = LOG.select("query_id", "day").hstack(pl.DataFrame(DRAWN.random((140, 300)), schema=names))
    marked = drift(null, "day", every="1w", correction=None).filter(bucket=WEEKS[3])["drifted"].sum()
    low, high = stats.binom.interval(0.999, 300, 0.05)
    assert low <= marked <= high


@pytest.mark.whole("a second")
def test_a_lasting_change_stays_marked():
    # Ten buckets of 40, the last seven lower by .25: a reference that grows takes the change in.
    source = np.random.default_rng(1)
    days = np.repeat(np.arange(10), 40)
    values = source.normal(0.6, 0.2, 400) - 0.25 * (days >= 3)
    log = pl.DataFrame({"query_id": range(400), "day": days, "AP": values})
    assert drift(log, "day", reference=3)["drifted"].to_list() == [None] * 3 + [True] * 7
    assert drift(log, "day", reference="earlier")["drifted"].to_list()[-1] is False


def test_the_default_reference_are_the_first_buckets_with_a_third_of_the_queries():
    found = drift(LOG, "day", every="1w")
    assert found["note"].to_list() == ["part of the reference"] * 2 + [BY_QUERIES] * 2
    one = LOG.with_columns(day=pl.lit(1))
    assert drift(one, "day")["note"].to_list() == ["part of the reference"]


@pytest.mark.whole("a second")
def test_success_of_small_buckets_is_marked_no_more_often_than_alpha():
    # Twelve buckets of 20 queries, nine in ten of which succeed, always.
    source = np.random.default_rng(2)
    days = np.repeat(np.arange(12), 20)
    marked = 0
    for _ in range(25):
        log = pl.DataFrame({"query_id": range(240), "day": days, "Success@10": (source.random(240) < 0.9) * 1.0})
        marked += bool(drift(log, "day", correction="bonferroni")["drifted"].any())
    assert marked <= stats.binom.ppf(0.999, 25, 0.05)


def test_each_system_has_a_course_of_its_own():
    both = pl.concat([LOG.with_columns(run=pl.lit("b")), LOG.with_columns(pl.col("RR") / 2, run=pl.lit("a"))])
    found = drift(both, "day", every="1w", correction=None)
    assert found["run"].to_list() == ["a"] * 4 + ["b"] * 4
    assert found.filter(run="b").drop("run").equals(drift(LOG, "day", every="1w", correction=None))


def test_systems_of_a_dict_keep_its_order():
    found = drift({"b": LOG, "a": LOG}, "day", every="1w")
    assert found["run"].unique(maintain_order=True).to_list() == ["b", "a"]


def test_a_number_of_first_buckets_may_be_numpys():
    numbered = LOG.with_columns(day=pl.int_range(pl.len()) % 4)
    assert drift(numbered, "day", reference=np.int64(2)).equals(drift(numbered, "day", reference=2))


@pytest.mark.whole("a second")
def test_a_number_that_is_too_high_to_count_buckets_names_one():
    years = LOG.with_columns(day=2020 + pl.int_range(pl.len()) % 4)
    assert drift(years, "day", reference=2022).equals(drift(years, "day", reference="2022"))
    assert drift(years, "day", reference=2022)["note"].to_list() == [
        BY_QUERIES,
        BY_QUERIES,
        "part of the reference",
        BY_QUERIES,
    ]


def test_times_come_from_another_frame_and_keep_their_zone():
    times = LOG.select("query_id", at=pl.col("day").cast(pl.Datetime("us", "UTC")))
    found = drift(LOG.drop("day"), times, every="1mo")
    assert found["bucket"].to_list() == [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]


def test_buckets_can_be_anything_that_has_an_order():
    versions = LOG.select("query_id", version=pl.Series(["v1", "v2"] * 70))
    assert drift(LOG.drop("day"), versions)["bucket"].to_list() == ["v1", "v2"]


def test_a_small_or_undefined_bucket_has_no_test():
    some = LOG.with_columns(RR=pl.when((pl.col("day") < WEEKS[3]) | (pl.col("query_id") == 139)).then("RR"))
    last = drift(some, "day", every="1w").row(3, named=True)
    assert (last["n_queries"], last["low"], last["p"]) == (1, None, None)
    assert last["note"] == "1 query here; a test needs 5"


def test_columns_and_types_are_always_the_same():
    plain = drift(LOG, "day").schema
    assert drift(LOG.with_columns(RR=0.5), "day", every="1w", reference=1, correction=None).schema == plain


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"every": "week"}, "every must be a length of time, such as '1d', '1w' or '1mo'; got 'week'"),
        ({"every": 7}, "every must be a length of time, .*; got 7"),
        (
            {"by": LOG.select("query_id", when="query_id"), "every": "1w"},
            "'when' must be dates or times for every=; it is Int64. Convert .* by.with_columns.*from_epoch.'when'",
        ),
        (
            {"per_query": LOG.with_columns(day=pl.time(1)), "every": "1w"},
            "'day' must be dates or times for every=; it is Time. Leave every out, or take a column of dates",
        ),
        (
            {"per_query": LOG.cast({"day": pl.String}), "by": ["day"], "every": "1w"},
            "'day' must be dates or times for every=; it is String. Convert it: per_query.with_columns",
        ),
        ({"by": LOG["day"].cast(pl.String), "every": "1w"}, r"for every=; it is String. Convert it\.$"),
        ({"by": LOG.select("query_id", "day", at="day")}, "by must give one column of times; got 'day', 'at'"),
        (
            {"every": "1w", "reference": 4},
            "reference must be from 1 to one less than the 4 buckets, or a bucket; got 4",
        ),
        ({"every": "1w", "reference": "2026-01-13"}, "reference must be one of 'earlier', .*; got '2026-01-13'"),
        (
            {"per_query": LOG.with_columns(day=pl.datetime(2026, 1, 5) + pl.duration(minutes="query_id"))},
            "column 'day' has 140 values for 140 queries: most buckets would hold one. .* every='1w'",
        ),
        (
            {"per_query": LOG.with_columns(day=pl.col("query_id").cast(pl.String))},
            "column 'day' has 140 values .* Take dates or times, and stretches of them .every='1w'.",
        ),
    ],
)
def test_bad_input_is_told(given, message):
    per_query, by = given.pop("per_query", LOG), given.pop("by", "day")
    with pytest.raises(ir.IRError, match=message):
        drift(per_query, by, **given)


def test_texts_whose_order_is_not_that_of_their_numbers_are_warned_of():
    days = [f"day {8 + i // 5}" for i in range(15)]
    frame = pl.DataFrame({"query_id": range(15), "RR": DRAWN.random(15), "day": days})
    with pytest.warns(ir.IRWarning, match="column 'day' is text, which sorts 'day 10' before 'day 8'"):
        drift(frame, "day")
    drift(frame.with_columns(pl.col("day").str.replace(" (8|9)$", " 0$1")), "day")
