"""Systems side by side: aligned by the ids of queries, whatever the order and the kind of the frames."""

import contextlib
import math
from datetime import timedelta
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from suite import examples

import polars_ir as ir
from polars_ir.errors import DataError, InputTypeError
from polars_ir.per_query.shared.paired import scores_of
from polars_ir.per_query.shared.queries import queries_of

PER_QUERY = pl.DataFrame(
    {
        "run": ["a", "a", "a", "b", "b", "b"],
        "query_id": ["q1", "q2", "q3", "q3", "q1", "q4"],
        "AP": [0.1, 0.2, None, 0.5, 0.6, 0.7],
        "RR": [1, 0, 1, 1, 0, 1],
    }
)
LANGUAGES = pl.DataFrame({"query_id": ["q1", "q2", "q3", "q4"], "language": ["de", "en", "de", "en"]})


def scores(per_query=PER_QUERY, measures=None, **options):
    return scores_of(per_query, measures, {"missing": "zero", **options}, by=options.get("by"), what="compare")


def test_systems_are_aligned_by_query_and_not_by_position():
    found = scores(missing="skip")
    assert found.systems == ("a", "b")
    assert found.queries.collect()["query_id"].to_list() == ["q1", "q2", "q3", "q4"]
    nan = math.nan
    np.testing.assert_array_equal(found.values["AP"], [[0.1, 0.6], [0.2, nan], [nan, 0.5], [nan, 0.7]])
    np.testing.assert_array_equal(found.values["RR"], [[1, 0], [0, nan], [1, 1], [nan, 1]])


def test_a_query_that_a_system_lacks_counts_zero_and_an_undefined_one_does_not():
    found = scores()
    nan = math.nan
    np.testing.assert_array_equal(found.values["AP"], [[0.1, 0.6], [0.2, 0.0], [nan, 0.5], [0.0, 0.7]])
    np.testing.assert_array_equal(found.answered, [[True, True], [True, False], [True, True], [False, True]])


def test_slices_hold_their_own_queries():
    found = {part["language"]: one for part, one in scores(measures="RR", by=LANGUAGES).each_slice()}
    assert {name: one.queries.collect()["query_id"].to_list() for name, one in found.items()} == {
        "de": ["q1", "q3"],
        "en": ["q2", "q4"],
    }
    np.testing.assert_array_equal(found["en"].values["RR"], [[0, 0], [0, 1]])


def test_a_dict_of_per_query_frames_is_one_frame_of_systems():
    frames = {name: PER_QUERY.filter(run=name).drop("run") for name in ("a", "b")}
    together = scores(frames)
    np.testing.assert_array_equal(together.values["RR"], scores().values["RR"])
    assert together.systems == ("a", "b")


def test_a_dict_of_frames_of_several_libraries_is_one_frame_of_systems():
    pytest.importorskip("pandas")
    frames = {"a": PER_QUERY.filter(run="a").drop("run").to_pandas(), "b": PER_QUERY.filter(run="b").drop("run")}
    np.testing.assert_array_equal(scores(frames, "RR").values["RR"], scores(measures="RR").values["RR"])


def test_pairs_are_all_others_with_the_baseline_or_each_with_each():
    three = scores(pl.concat([PER_QUERY, PER_QUERY.filter(run="a").with_columns(run=pl.lit("c"))]))
    assert three.pairs("b", "ir.compare") == [(0, 1), (2, 1)]
    assert three.pairs(None, "ir.compare") == [(1, 0), (2, 0), (2, 1)]


def test_a_measure_can_be_asked_for_by_any_of_its_names():
    per_query = PER_QUERY.rename({"AP": "nDCG@10"})
    names = ["nDCG@10", "ndcg_cut_10", ir.ndcg(k=10)]
    assert [list(scores(per_query, name).values) for name in names] == [["nDCG@10"]] * 3


WRONG = {
    "a lazy frame": (lambda: scores(PER_QUERY.lazy()), ["compare", "LazyFrame", "per_query.collect()"]),
    "one system": (lambda: scores(PER_QUERY.filter(run="a")), ["several systems", "has only 'a'"]),
    "no system": (lambda: scores(PER_QUERY.head(3).drop("run")), ["several systems", "no 'run'"]),
    "a query twice": (lambda: scores(pl.concat([PER_QUERY, PER_QUERY[:1]])), ["2 rows that repeat", "q1"]),
    "a value that is no number": (
        lambda: scores(PER_QUERY.with_columns(AP=pl.col("AP").fill_null(math.nan))),
        ["1 row whose 'AP' is NaN or infinite", "q3"],
    ),
    "a null id": (
        lambda: scores(PER_QUERY.with_columns(pl.col("query_id").replace("q3", None))),
        ["2 rows whose 'query_id' is null", "is_not_null()"],
    ),
    "a measure that is not there": (lambda: scores(measures="APP"), ["no measure 'APP'", "Did you mean 'AP'"]),
    "no measure": (lambda: scores(measures=[]), ["at least one measure"]),
    "a baseline that is not there": (
        lambda: scores().pairs("A", "ir.compare"),
        ["baseline", "'a', 'b'", "Did you mean 'a'"],
    ),
    "a query in two slices": (
        lambda: scores(PER_QUERY.with_columns(slice=pl.col("run") + "1"), "RR", by="slice"),
        ["4 rows of queries in several slices"],
    ),
    "a query without a slice": (lambda: scores(by=LANGUAGES[:3]), ["1 row without a value of by", "q4"]),
    "a dict of several systems": (lambda: scores({"a": PER_QUERY, "b": PER_QUERY}), ["'a'", "holds several systems"]),
    "ids of two types": (
        lambda: scores(
            {"a": pl.DataFrame({"query_id": ["1"], "AP": [0.1]}), "b": pl.DataFrame({"query_id": [1], "AP": [0.1]})}
        ),
        ["'query_id' must be String", "it is Int64"],
    ),
}


@pytest.mark.parametrize(("call", "parts"), WRONG.values(), ids=WRONG)
def test_what_can_not_be_paired_is_told(call, parts):
    with pytest.raises(ir.IRError) as error:
        call()
    assert all(part in str(error.value) for part in parts), str(error.value)


FUNCTIONS = {
    "mean": ir.mean,
    "summarize": ir.summarize,
    "hardest": lambda frame: ir.hardest(frame, "AP"),
    "unanswered": ir.unanswered,
    "robustness": lambda frame: ir.robustness(frame, "base"),
    "abstention": lambda frame: ir.abstention(frame, "sure"),
    "compare": ir.compare,
    "ranks": ir.ranks,
    "geo_risk": ir.geo_risk,
    "worst_slices": lambda frame: ir.worst_slices(frame, "base", min_queries=2),
    "drift": lambda frame: ir.drift(frame, "base", min_queries=2),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@given(st.data())
def test_every_function_refuses_rows_that_mean_nothing(function, data):
    n = data.draw(st.integers(4, 9))
    values = st.lists(st.sampled_from([None, 0.0, 0.25, 1.0]), min_size=2 * n, max_size=2 * n)
    columns = {"run": ["a"] * n + ["b"] * n, "query_id": [f"q{i}" for i in range(n)] * 2, "AP": data.draw(values)}
    frame = pl.DataFrame(columns, schema_overrides={"AP": pl.Float64})
    frame = frame.with_columns(base=pl.col("query_id").str.slice(1).cast(pl.Int8) % 2, sure=pl.int_range(pl.len()))
    place, wrong = data.draw(st.integers(0, 2 * n - 1)), data.draw(st.sampled_from(["null", "twice", "value"]))
    is_wrong = pl.int_range(pl.len()) == place
    if wrong == "null":
        key = data.draw(st.sampled_from(["run", "query_id"]))
        frame = frame.with_columns(pl.when(~is_wrong).then(key).alias(key))
    elif wrong == "twice":
        frame = pl.concat([frame, frame[place]])
    else:
        value = data.draw(st.sampled_from([float("nan"), float("inf"), -float("inf"), 1e101]))
        frame = frame.with_columns(AP=pl.when(is_wrong).then(value).otherwise("AP"))
    with pytest.raises(ir.IRError, match=r"null|repeat|NaN or infinite"):
        FUNCTIONS[function](frame)
    # Comparisons read a plan at once, and have errors of ours.
    with contextlib.suppress(InputTypeError), pytest.raises((pl.exceptions.InvalidOperationError, ir.IRError)):
        FUNCTIONS[function](frame.lazy()).collect()


@given(st.permutations(range(6)), st.data())
def test_a_series_of_pandas_is_aligned_by_its_index_as_pandas_aligns_a_column(order, data):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"query_id": list("abcdef"), "AP": [0.1, 0.2, 0.4, 0.7, 1.1, 1.6]})
    values = data.draw(st.lists(st.integers(1, 2), min_size=6, max_size=6))
    series = pd.Series(values, name="w").iloc[order]
    kept = frame.iloc[data.draw(st.permutations(range(6)))[:4]]
    for option in ("by", "weights"):
        found = ir.mean(kept, **{option: series})
        assert found.equals(ir.mean(kept.assign(w=series), **{option: "w"}))
    # The rows of a Polars frame have numbers.
    assert ir.mean(pl.from_pandas(frame), weights=series).equals(
        ir.mean(pl.from_pandas(frame.assign(w=values)), weights="w")
    )


@pytest.mark.parametrize(("index", "says"), [([1, 2, 3], "lacks 0"), ([0, 1, 1, 2], "has labels twice")])
def test_a_series_of_pandas_with_another_index_is_an_error(index, says):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"query_id": list("abc"), "AP": [0.1, 0.2, 0.4]})
    with pytest.raises(DataError, match=f"weights is a Series whose index {says}"):
        ir.mean(frame, weights=pd.Series(1.0, index=index))


@examples(15)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0]), min_size=8, max_size=8), st.sampled_from([pl.Float32, pl.Float64]))
def test_zeros_of_both_signs_are_one_slice(values, dtype):
    by = pl.DataFrame({"query_id": range(8), "x": pl.Series(values, dtype=dtype)})
    frame = pl.DataFrame({"query_id": range(8), "AP": np.arange(8.0)})
    plain = by.with_columns(pl.col("x").abs())
    for function in (ir.mean, ir.summarize, ir.robustness, partial(ir.worst_slices, min_queries=2)):
        assert repr(function(frame, by=by).rows()) == repr(function(frame, by=plain).rows())


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([timedelta(hours=1), timedelta(days=2)], {"PT1H", "P2D"}),
        ([b"\xff", b"\x00a"], {"ff", "0061"}),
    ],
)
def test_slices_of_a_type_without_a_text_are_named(values, texts):
    frame = pl.DataFrame({"query_id": range(8), "AP": np.arange(8.0), "x": values * 4})
    assert set(ir.worst_slices(frame, "x", min_queries=2)["value"]) == texts


def test_rows_that_are_in_order_need_no_sort_and_have_the_same_figures():
    n = 4_000
    numbers = pl.int_range(n, dtype=pl.Int64, eager=True)
    values = [((numbers * prime) % 997 / 997).alias("RR") for prime in (31, 47, 89)]
    systems = [pl.DataFrame([numbers.alias("query_id"), column]) for column in values]
    # Systems in the order of their names or not, rows of a system or of a query together, or in no order.
    named = [frame.select(pl.lit(run).alias("run"), "*") for run, frame in zip("cab", systems, strict=True)]
    given_so = pl.concat(named)
    frames = [given_so, given_so.sort("run", "query_id"), given_so.sort("query_id", "run")]
    mixed = given_so.sample(fraction=1, shuffle=True, seed=1)
    assert [queries_of(frame).rows.explain().count("SORT") for frame in (*frames, mixed)] == [0, 0, 0, 1]
    for frame in frames:
        assert ir.mean(frame).rows() == ir.mean(mixed).rows()
        repeated = pl.concat([frame, frame.tail(1)]), pl.concat([frame, frame.head(1)])
        for rows in (*repeated, pl.concat([frame.head(5), frame])):
            with pytest.raises(DataError, match="repeat the ids"):
                ir.mean(rows)
