"""The slices in which a system loses: its test, the order, what is planted, and what is not defined."""

import numpy as np
import polars as pl
import pytest

import polars_ir as ir

stats = pytest.importorskip("scipy.stats")
multitest = pytest.importorskip("statsmodels.stats.multitest")
from polars_ir.per_query.shared.groups import Group, against_rest, shrinkage  # noqa: E402  # its tests need SciPy
from polars_ir.per_query.shared.measures import Range  # noqa: E402  # its tests need SciPy
from polars_ir.per_query.worst_slices import worst_slices  # noqa: E402  # its tests need SciPy
from polars_ir.statistics.samples import Moments  # noqa: E402  # its tests need SciPy

EXACT = {"abs": 1e-12, "rel": 1e-12}
IDS = [f"q{i:03}" for i in range(120)]
DRAWN = np.random.default_rng(3)
QUERIES = pl.DataFrame(
    {
        "query_id": IDS,
        "language": DRAWN.choice(["de", "en", "fr"], 120),
        "long": DRAWN.random(120) < 0.5,
        "year": DRAWN.integers(2020, 2024, 120),
    }
)
PER_QUERY = pl.DataFrame({"query_id": IDS, "RR": DRAWN.random(120), "Hole@5": DRAWN.random(120)})
SYSTEMS = pl.concat(
    PER_QUERY.with_columns(pl.col("RR") * factor, run=pl.lit(name)) for name, factor in [("old", 0.9), ("new", 1.0)]
)


def test_a_slice_is_compared_with_all_other_queries():
    found = worst_slices(PER_QUERY, QUERIES, measures="RR", correction=None)
    values = PER_QUERY["RR"].to_numpy()
    for row in found.iter_rows(named=True):
        inside = (QUERIES[row["attribute"]].cast(pl.String) == row["value"]).to_numpy()
        group = Group(Moments.of(values[inside]), Moments.of(values[~inside]), Range(0, 1))
        wanted = against_rest([group], alpha=0.05, least=5)[0]
        assert {name: row[name] for name in wanted} == wanted
        assert (
            row["p_corrected"]
            == row["p"]
            == pytest.approx(stats.ttest_ind(values[inside], values[~inside], equal_var=False).pvalue, abs=0.2)
        )
        assert (row["n_queries"], row["n_rest"]) == (inside.sum(), (~inside).sum())


def test_what_is_left_of_a_difference_stands_beside_it():
    found = worst_slices(PER_QUERY, QUERIES, measures="RR").filter(attribute="language")
    values = PER_QUERY["RR"].to_numpy()
    shares = shrinkage([Moments.of(values[(QUERIES["language"] == value).to_numpy()]) for value in found["value"]])
    assert found["shrunk_difference"].to_list() == (found["difference"] * pl.Series(shares)).to_list()


def test_slices_of_one_query_each_leave_unknown_how_much_is_chance():
    found = worst_slices(PER_QUERY.head(6), QUERIES.select("query_id", id="query_id"), measures="RR", min_queries=2)
    assert found["shrunk_difference"].null_count() == 6 == 6 - found["difference"].null_count()
    assert (
        found["note"].str.ends_with("; slices of one query each do not show how much of a difference is chance").all()
    )


def test_what_is_left_of_nothing_has_no_sign():
    alike = pl.DataFrame({"query_id": IDS[:20], "RR": [0.1, 0.9, 0.2, 0.9] * 5, "half": [1, 1, 2, 2] * 5})
    found = worst_slices(alike, "half", measures="RR")["shrunk_difference"]
    assert [str(value) for value in found] == ["0.0", "0.0"]


def test_every_value_of_every_column_is_a_slice():
    found = worst_slices(PER_QUERY, QUERIES, measures="RR").select("attribute", "value").rows()
    wanted = [(name, str(value).lower()) for name in QUERIES.columns[1:] for value in QUERIES[name].unique()]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "fdr_bh"])
@pytest.mark.whole("a second a case", quick=2)
def test_the_family_of_the_correction_is_all_rows_of_a_measure(correction):
    found = worst_slices(SYSTEMS, QUERIES, correction=correction)
    for (_,), rows in found.group_by("measure"):
        wanted = multitest.multipletests(rows["p"].to_numpy(), method=correction)[1]
        assert rows["p_corrected"].to_list() == pytest.approx(wanted.tolist(), **EXACT)
        assert rows["significant"].to_list() == (wanted <= 0.05).tolist()


def test_the_worst_slice_is_first_and_that_of_a_cost_is_the_highest():
    found = worst_slices(SYSTEMS, QUERIES)
    assert found.select("measure", "run").unique(maintain_order=True).rows() == [
        ("RR", "new"),
        ("RR", "old"),
        ("Hole@5", "new"),
        ("Hole@5", "old"),
    ]
    for (measure, _), rows in found.group_by("measure", "run"):
        assert rows["difference"].is_sorted(descending=measure == "Hole@5")


def test_a_planted_loss_is_found():
    planted = PER_QUERY.with_columns(
        RR=pl.when(QUERIES["language"] == "fr").then(pl.col("RR") * 0.3).otherwise(pl.col("RR"))
    )
    first = worst_slices(planted, QUERIES, measures="RR").row(0, named=True)
    assert (first["attribute"], first["value"], first["significant"]) == ("language", "fr", True)


def test_a_baseline_without_letters_is_one():
    unnamed = SYSTEMS.with_columns(run=pl.col("run").replace("old", ""))
    found = worst_slices(unnamed, QUERIES, "RR", baseline="").drop("baseline")
    assert found.equals(worst_slices(SYSTEMS, QUERIES, "RR", baseline="old").drop("baseline"))


def test_a_loss_against_the_baseline_is_found_where_the_values_hide_it():
    # The queries of 2023 are easy, but the new system gains nothing there.
    easy = (QUERIES["year"] == 2023).to_numpy()
    old = np.where(easy, 0.8, 0.3) + 0.1 * DRAWN.random(120)
    new = old + np.where(easy, 0.0, 0.1) + 0.01 * DRAWN.random(120)
    both = {name: pl.DataFrame({"query_id": IDS, "RR": values}) for name, values in [("old", old), ("new", new)]}
    found = worst_slices(both, QUERIES, baseline="old")
    assert found.select("run", "baseline", "attribute", "value", "significant").row(0) == (
        "new",
        "old",
        "year",
        "2023",
        True,
    )
    group = Group(Moments.of((new - old)[easy]), Moments.of((new - old)[~easy]))
    wanted = against_rest([group], alpha=0.05, least=5)[0]
    assert found["p"][0] == pytest.approx(wanted["p"], **EXACT)


@pytest.mark.whole("a simulation")
def test_chance_alone_is_significant_as_often_as_alpha_says():
    # 300 measures without any difference: so many may be significant by their binomial interval.
    names = [f"m{i}" for i in range(300)]
    null = pl.DataFrame(DRAWN.random((60, 300)), schema=names).with_columns(query_id=pl.Series(IDS[:60]))
    half = pl.DataFrame({"query_id": IDS[:60], "half": ["a", "b"] * 30})
    found = worst_slices(null, half, correction=None).filter(value="a")
    low, high = stats.binom.interval(0.999, 300, 0.05)
    assert low <= found["significant"].sum() <= high


@pytest.mark.parametrize("measure", ["Success@10", "AP"])
@pytest.mark.whole("a simulation")
def test_twenty_small_slices_that_are_all_alike_are_marked_no_more_often_than_alpha(measure):
    source = np.random.default_rng(7)
    slices = pl.DataFrame({"query_id": range(100), "topic": [str(i // 5) for i in range(100)]})
    marked = 0
    for _ in range(25):
        values = source.beta(0.5, 1.5, 100) if measure == "AP" else (source.random(100) < 0.9) * 1.0
        found = worst_slices(slices.select("query_id", pl.Series(measure, values)), slices)
        marked += bool(found["significant"].any())
    assert marked <= stats.binom.ppf(0.999, 25, 0.05)


def test_a_slice_that_can_not_be_tested_is_last_and_says_why():
    attributes = QUERIES.select("query_id", one=pl.Series(["a", *["b"] * 119]), all=pl.lit("x"), language="language")
    found = worst_slices(PER_QUERY, attributes, measures="RR")
    untested = (
        found.tail(3).sort("attribute", "value").select("attribute", "value", "p", "p_corrected", "significant", "note")
    )
    assert untested.rows() == [
        ("all", "x", None, None, None, "0 queries to compare with; a test needs 5"),
        ("one", "a", None, None, None, "1 query here; a test needs 5"),
        ("one", "b", None, None, None, "1 query to compare with; a test needs 5"),
    ]
    assert found["p"][:3].null_count() == 0


@pytest.mark.whole("a second")
def test_one_slice_of_all_or_nothing_among_calm_ones_is_not_marked():
    # Equal means: by the order of queries, such a slice of five is marked in a third of the cases.
    source, marked = np.random.default_rng(8), 0
    slices = pl.DataFrame({"query_id": range(100), "topic": [str(i // 5) for i in range(100)]})
    for _ in range(25):
        values = np.append(source.normal(0.5, 0.05, 95), source.choice([0.0, 1.0], 5))
        found = worst_slices(slices.select("query_id", AP=values), slices)
        marked += bool(found["significant"].any())
    assert marked <= stats.binom.ppf(0.999, 25, 0.05)


def test_what_is_undefined_for_one_of_both_is_told():
    some = SYSTEMS.with_columns(RR=pl.when((pl.col("run") == "old") | pl.col("query_id").is_in(IDS[7:])).then("RR"))
    notes = worst_slices(some, QUERIES, measures="RR", baseline="old")["note"].unique().to_list()
    assert notes == ["undefined for 'new' only: 7, left out"]


def test_constant_values_have_no_test():
    found = worst_slices(PER_QUERY.with_columns(RR=0.5), QUERIES, measures="RR")
    assert found["note"].unique().to_list() == ["all values are the same"]


def test_undefined_values_do_not_count():
    some = PER_QUERY.with_columns(RR=pl.when(QUERIES["year"] > 2020).then("RR"))
    found = worst_slices(some, QUERIES.select("query_id", "language"), measures="RR")
    assert (found["n_queries"] + found["n_rest"]).unique().to_list() == [(QUERIES["year"] > 2020).sum()]


@pytest.mark.whole("a second")
def test_columns_and_types_are_always_the_same():
    plain = worst_slices(SYSTEMS, QUERIES).schema
    assert worst_slices(SYSTEMS, QUERIES, baseline="old", correction=None).schema == plain
    assert worst_slices(SYSTEMS.with_columns(RR=0.5), QUERIES, measures="RR").schema == plain
    assert worst_slices(PER_QUERY, QUERIES).columns == plain.names()[1:]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_queries": 1}, "min_queries must be a whole number, 2 or more; got 1"),
        (
            {"baseline": "odl"},
            "baseline names 'odl', which is not one of the systems: 'new', 'old'. Did",
        ),
        ({"measures": "nDCG@10"}, "per_query has no measure 'nDCG@10'"),
        ({"by": "langage"}, "by must name a column of per_query.*got 'langage'"),
        ({"by": QUERIES.head(100)}, "40 rows without a value of by"),
        ({"by": QUERIES.select("query_id", l=pl.concat_list("language"))}, r"'l' must be .*; it is List\(String\)"),
        ({"per_query": SYSTEMS.lazy(), "baseline": "old"}, "reads the values of all queries; got a LazyFrame"),
        ({"per_query": PER_QUERY, "baseline": "old"}, "needs several systems"),
    ],
)
def test_bad_input_is_told(given, message):
    per_query, by = given.pop("per_query", SYSTEMS), given.pop("by", QUERIES)
    with pytest.raises(ir.IRError, match=message):
        worst_slices(per_query, by, **given)


def test_queries_of_a_topic_are_told_unless_topics_are_the_slices():
    topics = PER_QUERY.with_columns(topic=pl.int_range(pl.len()) // 4, half=pl.int_range(pl.len()) // 60)
    told = worst_slices(topics, "half", measures="RR")["note"]
    assert told.to_list() == ["queries of one 'topic' are treated as independent"] * 2
    assert not worst_slices(topics, "topic", measures="RR", min_queries=2)["note"].drop_nulls().len()


@pytest.mark.parametrize("lazy", [False, True])
def test_slices_of_the_same_mean_stand_by_name_and_differ_by_0(lazy):
    values = pl.Series([n * 0.7 % 1 for n in range(3_000)])
    parts = [
        pl.DataFrame(
            {"query_id": pl.int_range(3_000, eager=True) + 3_000 * place, "lang": lang, "AP": values.shuffle(place)}
        )
        for place, lang in enumerate(["fr", "de", "en"])
    ]
    frame = pl.concat(parts)
    rows = ir.worst_slices(frame.lazy() if lazy else frame, "lang", "AP").lazy().collect()
    assert rows.select("value", "difference").rows() == [("de", 0.0), ("en", 0.0), ("fr", 0.0)]


@pytest.mark.parametrize("lazy", [False, True])
def test_values_whose_squares_are_zero_are_not_tested(lazy):
    frame = pl.DataFrame({"query_id": range(12), "lang": ["de", "en"] * 6, "latency": [1e-170, 2e-170, 4e-170] * 4})
    rows = ir.worst_slices(frame.lazy() if lazy else frame, "lang").lazy().collect()
    assert rows["note"].unique().to_list() == ["the values are too small to be squared"]
