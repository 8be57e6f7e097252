"""Means and summaries of slices, by weight, pooled, and with other intervals."""

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of
from polars.testing import assert_frame_equal
from suite import examples

import polars_ir as ir
from polars_ir.language.names import parsed_name
from polars_ir.statistics.student import quantiles

EXACT = {"abs": 1e-12, "rel": 1e-12}
#: The frequency of a query is no measure, as a warning says where it is not named as a weight.
pytestmark = pytest.mark.filterwarnings("ignore:per_query has numbers beyond 0 to 1 .* 'asked'")

PER_QUERY = pl.DataFrame(
    {
        "query_id": ["q1", "q2", "q3", "q4"],
        "language": ["de", "en", "de", "en"],
        "asked": [1, 2, 3, 0],
        "AP": [0.1, 0.4, None, 0.9],
        "RR": [1.0, 0.5, 0.25, 0.0],
    }
)


def pydocs(*measures: str) -> pl.DataFrame:
    collection = ir.datasets.load("pydocs")
    return ir.evaluate(collection.runs, collection.qrels, measures)


def traffic(per_query: pl.DataFrame) -> pl.DataFrame:
    """A number for each query."""
    return per_query.select("query_id").unique().sort("query_id").with_row_index("asked", offset=1)


# Slices.


def test_means_of_slices_by_hand():
    found = ir.mean(PER_QUERY, by="language")
    assert found.rows() == [("de", 2.0, 0.1, 0.625), ("en", 1.0, 0.65, 0.25)]
    assert found.columns == ["language", "asked", "AP", "RR"]


def test_slices_come_from_another_frame_and_keep_their_type():
    years = PER_QUERY.select(qid="query_id", year=pl.Series([2024, 2025, 2024, 2025], dtype=pl.Int16))
    found = ir.mean(PER_QUERY.select("query_id", "RR"), by=years)
    assert found.rows() == [(2024, 0.625), (2025, 0.25)]
    assert found.schema["year"] == pl.Int16


def test_several_columns_slice_together():
    found = ir.mean(PER_QUERY.with_columns(old=pl.Series([True, True, False, False])), by=["language", "old"])
    assert found.select("language", "old", "RR").rows() == [
        ("de", False, 0.25),
        ("de", True, 1.0),
        ("en", False, 0.0),
        ("en", True, 0.5),
    ]


def test_a_summary_of_a_slice_is_that_of_its_queries_alone():
    per_query = pydocs("nDCG@10", "GMAP", "NumQ")
    category = ir.datasets.load("pydocs").queries.select("query_id", "category")
    found = ir.summarize(per_query, by=category)
    for name in category["category"].unique():
        alone = per_query.join(category.filter(category=name), on="query_id", how="semi")
        assert found.filter(category=name).drop("category").equals(ir.summarize(alone))


def test_summaries_are_in_the_order_of_slices_then_measures_then_systems():
    category = ir.datasets.load("pydocs").queries.select("query_id", "category")
    keys = ir.summarize(pydocs("RR", "AP"), by=category).select("category", "measure", "run").rows()
    assert keys == sorted(keys, key=lambda key: (key[0], ["RR", "AP"].index(key[1]), key[2]))


@pytest.mark.parametrize("function", [ir.mean, ir.summarize])
def test_a_query_without_a_slice_is_an_error(function):
    with pytest.raises(ir.IRError, match=r"(?s)2 rows without a value of by.*q2"):
        function(PER_QUERY, by=PER_QUERY.filter(language="de").select("query_id", "language"))


def test_a_slice_that_is_called_like_a_column_of_the_result_is_an_error():
    with pytest.raises(ir.IRError, match=r"may not be called 'mean', .*: \.rename\(\{'mean': 'my_mean'\}\)"):
        ir.summarize(PER_QUERY, by=PER_QUERY.select("query_id", mean="language"))


# Weights.


def test_a_weighted_mean_by_hand():
    found = ir.mean(PER_QUERY, weights="asked").row(0, named=True)
    # Query q4 has no weight, and q3 no AP.
    assert found == pytest.approx({"AP": (0.1 + 2 * 0.4) / 3, "RR": (1 + 2 * 0.5 + 3 * 0.25) / 6}, **EXACT)


def test_a_weighted_summary_by_hand():
    asked = dict(zip(PER_QUERY["query_id"], [4, 5, 6, 0], strict=True))
    row = ir.summarize(PER_QUERY, weights=asked, interval="normal").filter(measure="RR").row(0, named=True)
    mean = 8 / 15
    apart = [4 * (1 - mean), 5 * (0.5 - mean), 6 * (0.25 - mean)]
    spread = sum(w * (x - mean) ** 2 for w, x in [(4, 1.0), (5, 0.5), (6, 0.25)])
    half = 1.959963984540054 * math.sqrt(3 / 2 * sum(a * a for a in apart)) / 15
    assert row["n_queries"] == 3
    assert row["std"] == pytest.approx(math.sqrt(3 / 2 * spread / 15), **EXACT)
    assert (row["low"], row["high"]) == pytest.approx((mean - half, mean + half), **EXACT)


@pytest.mark.parametrize("interval", ["auto", "normal", "t", "percentile", "BCa", "bootstrap-t"])
def test_equal_weights_are_no_weights(interval):
    if interval not in ("auto", "normal"):
        pytest.importorskip("scipy")
    per_query = pydocs("nDCG@10", "GMAP")
    plain = ir.summarize(per_query, interval=interval, resamples=200)
    weighted = ir.summarize(
        per_query, weights=traffic(per_query).with_columns(asked=7), interval=interval, resamples=200
    )
    for column in ("mean", "std", "low", "high", "n_queries"):
        assert weighted[column].to_list() == pytest.approx(plain[column].to_list(), **EXACT)


def test_whole_weights_repeat_queries():
    per_query = PER_QUERY.select("query_id", "RR", "asked")
    repeated = per_query.select(pl.all().repeat_by("asked")).explode(pl.all(), empty_as_null=False).drop("asked")
    repeated = repeated.with_columns(query_id=pl.int_range(pl.len()))
    assert ir.mean(per_query, weights="asked").item() == pytest.approx(ir.mean(repeated).item(), **EXACT)


def test_a_weighted_geometric_mean_and_sum():
    per_query = pl.DataFrame({"query_id": ["a", "b"], "GMAP": [0.5, 0.125], "NumQ": [1, 1], "w": [3.0, 1.0]})
    # (0.5^3 * 0.125)^(1/4), and so much weight as the queries have.
    assert ir.mean(per_query, weights="w").row(0) == pytest.approx((2**-1.5, 4.0), **EXACT)


def test_slices_whose_weights_are_all_0_have_no_mean():
    found = ir.summarize(PER_QUERY, by="language", weights=PER_QUERY.select("query_id", w=pl.Series([1, 0, 1, 0])))
    assert found.filter(language="en", measure="RR").row(0)[2:] == (None, None, None, None, 0, None, "no query")


@examples(30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 1000)), min_size=1, max_size=20), st.floats(0.01, 100))
def test_the_unit_of_weights_does_not_matter(rows, unit):
    values, weights = zip(*rows, strict=True)
    per_query = pl.DataFrame({"query_id": range(len(rows)), "RR": values, "w": weights})
    one, other = (ir.summarize(per_query.with_columns(pl.col("w") * u), weights="w").row(0) for u in (1.0, unit))
    assert one[1] == pytest.approx(other[1], rel=1e-9, abs=1e-12)
    assert min(values) - 1e-12 <= one[1] <= max(values) + 1e-12


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 1, 1], "(?s)1 row whose weight is below 0 or beyond 1e.100.*q2.*-2"),
        ([1, math.inf, 1, 1], "(?s)1 row whose weight is below 0 or beyond 1e.100.*q2.*inf"),
        ([1, None, 1, 1], "(?s)1 row without a value of weights.*q2"),
        ([0, 0, 0, 0], "weights must not all be 0; 'w' is 0 for all 4 rows"),
        (["a", "b", "c", "d"], "weights column 'w' must be numbers; it is String"),
    ],
)
def test_weights_must_be_numbers_from_0_on(weights, message):
    with pytest.raises(ir.IRError, match=message):
        ir.mean(PER_QUERY, weights=PER_QUERY.select("query_id", w=pl.Series(weights, strict=False)))


def test_weights_of_a_lazy_frame_are_checked_by_its_plan():
    plan = ir.mean(PER_QUERY.with_columns(asked=-1).lazy(), weights="asked")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"whose weight is below 0 or beyond 1e.100"):
        plan.collect()


def test_weights_are_one_column():
    with pytest.raises(ir.IRError, match="weights must be one column; got 'asked', 'RR'"):
        ir.mean(PER_QUERY, weights=["asked", "RR"])


@pytest.mark.parametrize("lazy", [False, True])
def test_the_standard_error_of_a_mean_is_that_of_independent_values(lazy):
    frame = pl.DataFrame({"query_id": ["a", "b", "c"], "w": [1, 3, 2], "m": [0.5, 0.25, 1.0], "m se": [0.3, 0.4, None]})
    frame = frame.lazy() if lazy else frame
    means = [ir.mean(frame.select(pl.exclude("w"))), ir.mean(frame, weights="w")]
    assert [found.lazy().collect()["m se"].item() for found in means] == pytest.approx([0.25, math.hypot(0.3, 1.2) / 4])
    summary = ir.summarize(frame.select(pl.exclude("w"))).lazy().collect().row(1, named=True)
    assert summary["mean"] == pytest.approx(0.25)
    assert (summary["low"], summary["note"]) == (None, "a standard error has no interval")


def test_a_column_that_ends_like_a_standard_error_of_no_other_column_is_a_measure():
    frame = pl.DataFrame({"query_id": ["a", "b"], "refuse se": [0.2, 0.6], "nDCG@10 se": [0.3, 0.4]})
    assert ir.mean(frame).row(0) == pytest.approx((0.4, 0.25))
    assert ir.summarize(frame)["mean"].to_list() == pytest.approx([0.4, 0.25])


def test_a_standard_error_is_one_in_either_spelling_and_form():
    frame = pl.DataFrame({"query_id": ["a", "b"], "mine": [0.5, 1.0], "mine_se": [0.3, 0.4]})
    assert ir.mean(frame).row(0) == pytest.approx((0.75, 0.25))
    assert ir.mean(ir.long(frame)).row(0) == pytest.approx((0.75, 0.25))


# Lazy frames, and other kinds.


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("function", [ir.mean, ir.summarize])
def test_a_lazy_frame_stays_lazy_and_has_the_same_bits(function, engine):
    shuffled = PER_QUERY.sample(fraction=1, shuffle=True, seed=3)
    plan = function(shuffled.lazy(), by="language", weights="asked")
    assert isinstance(plan, pl.LazyFrame)
    assert plan.collect(engine=engine).equals(function(PER_QUERY, by="language", weights="asked"))


@pytest.mark.parametrize("interval", ["t", "percentile", "BCa"])
def test_intervals_that_need_the_values_do_not_come_of_a_lazy_frame(interval):
    with pytest.raises(
        ir.IRError, match=f"interval='{interval}' reads the values.*take interval='auto': per_query.collect()"
    ):
        ir.summarize(PER_QUERY.lazy(), interval=interval)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("function", [ir.mean, ir.summarize])
def test_a_value_that_is_no_number_is_an_error(function, wrong):
    with pytest.raises(ir.IRError, match=r"(?s)1 row whose 'RR' is NaN or infinite.*q1"):
        function(PER_QUERY.with_columns(RR=pl.Series([wrong, 0.5, 0.5, 0.5])))


# Intervals.


@pytest.mark.parametrize("kind", ["t", "percentile", "BCa"])
def test_the_intervals_of_a_summary_are_those_of_each_system_and_measure(kind):
    pytest.importorskip("scipy")
    from polars_ir.statistics.intervals import estimates
    from polars_ir.statistics.randomisation import Draws
    from polars_ir.statistics.samples import Values

    per_query = pydocs("nDCG@10", "GMAP")
    found = ir.summarize(per_query, interval=kind, alpha=0.1, resamples=300, seed=4)
    for row in found.iter_rows(named=True):
        values = per_query.filter(run=row["run"])[row["measure"]]
        geometric = row["measure"] == "GMAP"
        averaged = values.clip(1e-5).log() if geometric else values
        low, high = estimates([Values(averaged.to_numpy())], kind, 0.9, Draws(300, 4))[0].ends
        wanted = (math.exp(low), math.exp(high)) if geometric else (low, high)
        assert (row["low"], row["high"]) == pytest.approx(wanted, **EXACT)


@pytest.mark.parametrize("kind", ["t", "percentile", "BCa"])
def test_the_intervals_of_slices_are_those_of_each_slice_alone(kind):
    pytest.importorskip("scipy")
    per_query = pydocs("nDCG@10", "AP", "RR")
    category = ir.datasets.load("pydocs").queries.select("query_id", "category")
    options = {"interval": kind, "resamples": 300, "seed": 4}
    found = ir.summarize(per_query, by=category, **options)
    for (name,), queries in category.partition_by("category", as_dict=True).items():
        alone = ir.summarize(per_query.join(queries, on="query_id", how="semi"), **options)
        columns = ["run", "measure", "low", "high"]
        assert found.filter(category=name).select(columns).rows() == alone.select(columns).rows()


def test_every_interval_comes_with_the_same_means_columns_and_types():
    pytest.importorskip("scipy")
    normal = ir.summarize(PER_QUERY, by="language", weights="asked")
    for kind in ("t", "percentile", "BCa"):
        found = ir.summarize(PER_QUERY, by="language", weights="asked", interval=kind, resamples=20)
        assert found.schema == normal.schema
        assert found.drop("low", "high").equals(normal.drop("low", "high"))


@pytest.mark.parametrize("weights", [None, "asked"])
def test_a_measure_without_any_value_has_no_spread(weights):
    per_query = PER_QUERY.with_columns(AP=pl.lit(None, pl.Float64))
    found = ir.summarize(per_query.select("query_id", "AP", "asked"), weights=weights).row(0, named=True)
    assert {found[name] for name in ("mean", "std", "low", "high")} == {None}


def test_what_has_no_interval_has_null():
    pytest.importorskip("scipy")
    per_query = pl.DataFrame({"query_id": ["a", "b"], "RR": [0.5, 0.5], "AP": [0.5, None], "NumQ": [1, 1]})
    found = ir.summarize(per_query, interval="BCa")
    assert found.select("measure", "mean", "low", "high", "note").rows() == [
        ("RR", 0.5, None, None, "all values are the same: no BCa interval"),
        ("AP", 0.5, None, None, "one query"),
        ("NumQ", 2.0, None, None, "a sum has no interval"),
    ]


@pytest.mark.parametrize("lazy", [False, True])
def test_why_there_is_no_normal_interval_is_told(lazy):
    per_query = pl.DataFrame(
        {"query_id": ["a", "b"], "RR": [0.5, 0.5], "AP": [0.5, None], "NumQ": [1, 1], "P": [None] * 2}
    )
    per_query = per_query.with_columns(pl.col("P").cast(pl.Float64))
    found = ir.summarize(per_query.lazy() if lazy else per_query).lazy().collect()
    assert found["note"].to_list() == [None, "one query", "a sum has no interval", "no query"]


@pytest.mark.parametrize("interval", ["normal", "t"])
@pytest.mark.parametrize("unit", [1e-200, 1e-300, 1e99])
def test_neither_tiny_nor_huge_weights_lose_the_interval(interval, unit):
    if interval not in ("auto", "normal"):
        pytest.importorskip("scipy")
    weights = [PER_QUERY.select("query_id", w=pl.Series([2.0, 3.0, 3.0, 4.0]) * u) for u in (1.0, unit)]
    found = [ir.summarize(PER_QUERY, weights=w, interval=interval).select("low", "high").to_numpy() for w in weights]
    assert found[1] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.parametrize("interval", ["normal", "t", "percentile", "bootstrap-t"])
def test_no_kind_of_interval_stands_beside_a_note_that_none_holds(interval):
    pytest.importorskip("scipy")
    frame = pl.DataFrame({"query_id": range(4), "RR": [0.0, 0.5, 1.0, 0.5], "w": [9, 1, 1, 1], "AP": [0.5] * 4})
    found = ir.summarize(frame.drop("AP"), weights="w", interval=interval)
    assert found.select("low", "high").row(0) == (None, None)
    assert found["note"].item().startswith(("weights so unequal", "no bootstrap-t interval"))
    same = ir.summarize(frame.select("query_id", "AP"), interval=interval)
    assert same.select("low", "high").row(0) == (None, None)
    assert same["note"].item().startswith("all values are the same")


@pytest.mark.parametrize("function", [ir.mean, ir.summarize, ir.worst_slices, ir.drift])
@pytest.mark.parametrize(
    "values", [pl.Series([["a"]] * 4), pl.Series([{"a": 1}] * 4), pl.Series([object()] * 4, dtype=pl.Object)]
)
def test_slices_are_plain_values(function, values):
    with pytest.raises(ir.IRError, match="by column 's' must be texts, numbers, Booleans or times; it is"):
        function(PER_QUERY, by=PER_QUERY.select("query_id").with_columns(s=values))


def test_a_measure_that_is_text_is_told_with_its_cast():
    texts = PER_QUERY.select("query_id", pl.col("AP").cast(pl.String))
    with pytest.raises(ir.IRError, match=r"it has 'AP' \(String\)\. Cast what is one: .*'AP'\)\.cast\(pl\.Float64\)"):
        ir.mean(texts)
    with pytest.raises(ir.IRError, match="no measure beside 'AP', taken for slices or weights"):
        ir.mean(texts, by="AP")


# Micro averages.

SHARES = [
    info.function(**{name: value for name, value in given.items() if name in info.parameters})
    for info in ir.CATALOG.values()
    if info.out_of
    for given in ({}, {"k": 5}, {"rel": 2}, {"k": 5, "rel": 2})
    if given.keys() <= info.parameters.keys()
]
COUNTS = ["NumRet", "NumRel", "NumRel(rel=2)"]


def test_micro_averages_by_hand():
    run = {"q1": ["d1", "d2"], "q2": ["d1", "d3", "d4", "d5"]}
    qrels = {"q1": ["d1"], "q2": ["d1", "d2", "d3"]}
    per_query = ir.evaluate(run, qrels, [ir.precision(), "R", "F", "P@4", "Success@1", "NumRet", "NumRel"])
    # 1 of 2 and 2 of 4 retrieved documents are relevant; 1 of 1 and 2 of 3 relevant ones are retrieved.
    wanted = {"P": 3 / 6, "R": 3 / 4, "F": 6 / 10, "P@4": 3 / 8, "Success@1": 1.0}
    assert ir.mean(per_query, average="micro").row(0, named=True) == pytest.approx(wanted, **EXACT)


@pytest.mark.parametrize("beta", [1, 2])
def test_micro_averages_are_those_of_scikit_learn(beta):
    metrics = pytest.importorskip("sklearn.metrics")
    collection = ir.datasets.load("pydocs")
    run = collection.runs["bm25"] if isinstance(collection.runs, dict) else collection.runs.filter(run="bm25")
    run = run.drop("run", strict=False)
    qrels = collection.qrels.filter(pl.col("relevance") > 0)
    per_query = ir.evaluate(run, qrels, ["SetP", "SetR", ir.set_f_measure(beta=beta), "NumRet", "NumRel"])
    pairs = run.select("query_id", "doc_id", found=1).join(
        qrels.select("query_id", "doc_id", right=1), on=["query_id", "doc_id"], how="full", coalesce=True
    )
    pairs = pairs.join(qrels, on="query_id", how="semi").fill_null(0)
    precision, recall, f, _ = metrics.precision_recall_fscore_support(
        pairs["right"].to_numpy(), pairs["found"].to_numpy(), average="binary", beta=beta
    )
    assert ir.mean(per_query, average="micro").row(0) == pytest.approx((precision, recall, f), **EXACT)


def test_what_a_query_gives_to_a_micro_average_is_a_whole_number():
    per_query = pydocs(*SHARES, *COUNTS)
    for share in SHARES:
        name = share.meta.output_name()
        info, given, *_ = parsed_name(name)
        hits = per_query.select(pl.col(name) * info.out_of(**{**info.parameters, **given})).to_series()
        assert hits.to_list() == pytest.approx(hits.round().to_list(), abs=1e-9)
        assert hits.max() > 0 or info.best == 0


def test_every_share_has_a_micro_average():
    found = ir.mean(pydocs(*SHARES, *COUNTS), average="micro")
    assert found.columns == ["run", *(share.meta.output_name() for share in SHARES)]
    assert found.null_count().sum_horizontal().item() == 0


def test_micro_averages_of_slices_are_lazy_and_can_be_weighted():
    frame = pl.DataFrame(
        {"query_id": ["a", "b", "c"], "R": [0.5, 1.0, 0.25], "NumRel": [2, 1, 4], "w": [1, 1, 3], "s": ["x", "x", "y"]}
    )
    plan = ir.mean(frame.lazy(), by="s", weights="w", average="micro")
    assert plan.collect().rows() == [("x", 2 / 3), ("y", 0.25)]
    assert ir.mean(frame, weights="w", average="micro").drop("s", strict=False).item() == pytest.approx(5 / 15, **EXACT)


def test_a_count_that_is_missing_is_named_with_the_call_that_makes_it():
    with pytest.raises(
        ir.IRError, match=r"'R\(rel=2\)@5' needs the column 'NumRel\(rel=2\)'.*\['R\(rel=2\)@5', 'NumRel"
    ):
        ir.mean(pydocs("R(rel=2)@5", "NumRel"), average="micro")


def test_what_is_no_ratio_of_counts_has_no_micro_average():
    with pytest.raises(ir.IRError, match=r"got 'nDCG@10', 'AP'\. .*per_query\.drop\('nDCG@10', 'AP'\)"):
        ir.mean(pydocs("P@5", "nDCG@10", "AP"), average="micro")


def test_an_average_is_macro_or_micro():
    with pytest.raises(ir.IRError, match="average must be one of 'macro', 'micro'; got 'mikro'"):
        ir.mean(PER_QUERY, average="mikro")


def test_the_interval_by_default_is_that_of_wilson_of_so_many_queries_as_the_spread_makes_them():
    values = [0.0, 0.5, 0.5, 1.0, 1.0]
    row = ir.summarize(pl.DataFrame({"query_id": range(5), "RR": values})).row(0, named=True)
    m, variance = 0.6, 0.175  # the sum of squares is 0.36 + 0.01 * 2 + 0.16 * 2 = 0.7
    r = variance / 5 / (m * (1 - m)) + 2 / 20
    z = 1.959963984540054
    half = z * math.sqrt(m * (1 - m) * r + (z * r / 2) ** 2)
    ends = ((m + z * z * r / 2 - half) / (1 + z * z * r), (m + z * z * r / 2 + half) / (1 + z * z * r))
    assert (row["low"], row["high"]) == pytest.approx(ends, **EXACT)


def test_the_interval_of_a_geometric_mean_is_that_of_wilson_of_the_logarithms():
    # From the floor, 1e-5, to 1 the decimal logarithms are 5, 4, 2 and 4 fifths of the way: 0.75 on average.
    row = ir.summarize(pl.DataFrame({"query_id": range(4), "GMAP": [1.0, 0.1, 0.001, 0.1]})).row(0, named=True)
    m, variance = 0.75, (0.25**2 + 0.05**2 + 0.35**2 + 0.05**2) / 3
    z, r = 1.959963984540054, variance / 4 / (m * (1 - m)) + 2 / 12
    half = z * math.sqrt(m * (1 - m) * r + (z * r / 2) ** 2)
    ends = [(m + z * z * r / 2 + side) / (1 + z * z * r) for side in (-half, half)]
    assert row["mean"] == pytest.approx(10**-1.25, **EXACT)
    assert [row["low"], row["high"]] == pytest.approx([10 ** (5 * end - 5) for end in ends], **EXACT)


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_the_interval_by_default_does_not_close_nor_leave_the_range(value):
    row = ir.summarize(pl.DataFrame({"query_id": range(5), "Success@10": [value] * 5})).row(0, named=True)
    assert 0 <= row["low"] <= value <= row["high"] <= 1
    assert row["high"] - row["low"] > 0.3


def test_the_interval_by_default_covers_the_mean_of_success():
    # Exactly: over all numbers of queries that succeed.
    np, stats = pytest.importorskip("numpy"), pytest.importorskip("scipy.stats")
    for n in (10, 15, 50, 100):
        counts = np.arange(n + 1)
        frame = pl.DataFrame({"query_id": np.tile(counts[:-1], n + 1), "won": np.repeat(counts, n)}).with_columns(
            pl.col("won").cast(pl.String), (pl.col("query_id") < pl.col("won")).cast(float).alias("Success")
        )
        ends = ir.summarize(frame.with_columns(run="won").drop("won")).sort(pl.col("run").cast(int))
        rare = {0.97: 0.91, 0.98: 0.88, 0.99: 0.86}
        for p, least in {**dict.fromkeys(np.linspace(0.05, 0.95, 91), 0.93), **rare}.items():
            held = (ends["low"] <= p) & (ends["high"] >= p)
            assert stats.binom.pmf(counts, n, p) @ held.to_numpy() >= least


def test_a_measure_without_ends_and_values_beyond_them_have_the_interval_of_t():
    values = [4.0, 2.0, 1.0, 3.0]
    frame = pl.DataFrame({"query_id": range(4), "DCG": values, "mine": values, "AP": values})
    with pytest.warns(ir.IRWarning, match="'mine'"):
        summary = ir.summarize(frame)
    with pytest.warns(ir.IRWarning, match="'mine'"):
        assert_frame_equal(summary, ir.summarize(frame, interval="t"), rel_tol=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.05, 0.001])
def test_the_quantiles_of_t_are_those_of_scipy(alpha):
    stats = pytest.importorskip("scipy.stats")
    degrees = [*range(1, 130), 200, 1000, 10**6]
    found = pl.select(quantiles(alpha, pl.lit(pl.Series([0, *degrees])))).to_series().to_list()
    assert found[0] is None
    assert found[1:] == pytest.approx(stats.t.isf(alpha / 2, degrees).tolist(), rel=1e-8)


@pytest.mark.parametrize("lazy", [False, True])
def test_weights_as_unequal_as_traffic_have_no_interval(lazy):
    frame = pl.DataFrame(
        {"query_id": range(5), "RR": [1.0, 0.5, 0.5, 0.0, 0.25], "w": [9, 3, 2, 1, 1], "v": [2, 3, 2, 3, 2]}
    )
    frame = frame.lazy() if lazy else frame
    by_traffic, nearly_equal = (
        ir.summarize(frame.select("query_id", "RR", w), weights=w).lazy().collect() for w in "wv"
    )
    assert by_traffic.select("low", "high").row(0) == (None, None)
    assert by_traffic["n_effective"].item() == pytest.approx(16**2 / 96)
    assert "draw queries by their weight" in by_traffic["note"].item()
    assert nearly_equal.select("low", "note").null_count().row(0) == (0, 1)
    assert ir.summarize(frame.select("query_id", "RR")).lazy().collect()["n_effective"].item() == 5


@pytest.mark.parametrize(("n", "there"), [(18, False), (21, True)])
def test_weights_of_few_queries_are_alike_by_chance(n, there):
    frame = pl.DataFrame({"query_id": range(n), "RR": [1.0, 0.5, 0.25] * (n // 3), "w": [1, 2, 3] * (n // 3)})
    assert ir.summarize(frame, weights="w")["low"].null_count() == (not there)


def test_bounded_intervals_know_no_weights():
    percent = pl.DataFrame({"query_id": range(4), "RR": [2.0, 0.5, -7.0, 5.0]})
    with pytest.raises(ir.IRError, match="'RR' must be from 0 to 1; there is -7"):
        ir.summarize(percent, interval="bounded")
    with pytest.raises(ir.IRError, match="interval='bounded' takes no weights"):
        ir.summarize(PER_QUERY, weights="asked", interval="bounded")
    pytest.importorskip("scipy")
    found = ir.summarize(PER_QUERY.select("query_id", "RR"), interval="bounded")
    assert found["note"].to_list() == [None]


def test_values_without_bounds_that_are_all_the_same_have_no_interval():
    frame = pl.DataFrame({"query_id": range(6), "DCG": [1.0] * 6, "x": [0.1] * 6, "AP": [1.0] * 6})
    found = ir.summarize(frame).select("low", "high", "note").rows()
    assert found[:2] == [(None, None, "all values are the same")] * 2
    assert (found[2][0] < found[2][1] == 1.0, found[2][2]) == (True, None)


def test_the_advice_on_queries_without_a_value_is_true():
    frame = pl.DataFrame({"query_id": range(4), "AP": [0.1, 0.2, 0.3, 0.4], "x": ["a", "a", None, "b"]})
    assert "leave those rows out: per_query.filter(pl.col('x').is_not_null())" in message_of(
        lambda: ir.summarize(frame, by="x")
    )
    assert ir.summarize(frame.filter(pl.col("x").is_not_null()), by="x")["n_queries"].to_list() == [2, 1]


def test_equal_values_have_no_normal_interval_in_memory_as_of_a_plan():
    frame = pl.DataFrame({"query_id": range(150), "AP": 0.3})
    for rows in (ir.summarize(frame, interval="normal"), ir.summarize(frame.lazy(), interval="normal").collect()):
        assert rows.select("std", "low", "high", "note").rows() == [(0.0, None, None, "all values are the same")]
