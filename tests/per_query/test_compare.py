"""compare: the framing of the tests, what is aligned with what, and what it says where nothing can be tested."""

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of
from polars.testing import assert_frame_equal
from scipy import stats
from statsmodels.stats.multitest import multipletests

import polars_ir as ir
from polars_ir.per_query.compare import BY_ALPHABET, SCHEMA
from polars_ir.per_query.compare import compare as compare_as_told
from polars_ir.per_query.shared import verdicts
from polars_ir.per_query.shared.options import TESTS as RECORDS
from polars_ir.statistics.intervals import estimates
from polars_ir.statistics.randomisation import Draws
from polars_ir.statistics.samples import Values

ROBUST03 = Path(__file__).resolve().parents[3] / "shared" / "data" / "robust03"
TESTS = list(RECORDS)
EVERY_TEST = pytest.mark.parametrize("test", TESTS)


def compare(*given, **options):
    """The comparison; that the alphabet chose the baseline is told of frames alone, and has a test of its own."""
    found = compare_as_told(*given, **options)
    if not isinstance(found, pl.DataFrame):
        return found
    return found.with_columns(pl.col("note").str.strip_suffix(BY_ALPHABET).str.strip_suffix("; ").replace("", None))


def frame(**systems: list) -> pl.DataFrame:
    """A per-query frame of one measure of no catalogue, `value`; a query is left out where it is `...`."""
    rows = [
        (name, f"q{i}", value) for name, values in systems.items() for i, value in enumerate(values) if value is not ...
    ]
    return pl.DataFrame(rows, schema={"run": pl.String, "query_id": pl.String, "value": pl.Float64}, orient="row")


@pytest.fixture(scope="module")
def pydocs() -> pl.DataFrame:
    collection = ir.datasets.load("pydocs")
    return ir.evaluate(collection.runs, collection.qrels, ["nDCG@10", "RR", "P@5"])


def scores(per_query: pl.DataFrame, system: str, measure: str) -> np.ndarray:
    return per_query.filter(run=system).sort("query_id")[measure].to_numpy()


#: The true d for which a t of sqrt(6) on 4 queries is at .975 and at .025: `stats.nct.cdf(6**0.5, 3, 2 * d)`.
NONCENTRAL = (-0.1702495, 2.5335029)


def test_a_row_by_hand():
    # Differences 1/2, 0, 1/4, 1/4: mean 1/4, variance 1/24, t = 1/4 / (sqrt(1/24) / 2) = sqrt(6).
    row = compare(frame(old=[0.25, 0.5, 0.5, 0.0], new=[0.75, 0.5, 0.75, 0.25]), baseline="old").row(0, named=True)
    half = stats.t.ppf(0.975, 3) * (1 / 24) ** 0.5 / 2
    assert row == {
        "run": "new",
        "baseline": "old",
        "measure": "value",
        "mean": 0.5625,
        "baseline_mean": 0.3125,
        "difference": 0.25,
        "relative_difference": 0.8,
        "low": pytest.approx(0.25 - half, rel=1e-12),
        "high": pytest.approx(0.25 + half, rel=1e-12),
        "simultaneous_low": row["low"],
        "simultaneous_high": row["high"],
        "statistic": pytest.approx(6**0.5, rel=1e-12),
        "p": pytest.approx(2 * stats.t.sf(6**0.5, 3), rel=1e-12),
        "p_corrected": row["p"],
        "significant": False,
        "cohen_d": pytest.approx(1.5**0.5, rel=1e-12),
        "cohen_d_low": pytest.approx(NONCENTRAL[0], abs=1e-5),
        "cohen_d_high": pytest.approx(NONCENTRAL[1], abs=1e-5),
        "rank_biserial": 1.0,
        # Wilson's of a share of 1 of 18 / 7 queries, whose ranks 1, 2 and 3 have the variance of Wilcoxon's sum.
        "rank_biserial_low": pytest.approx(2 / (1 + 1.959963984540054**2 * 7 / 18) - 1, rel=1e-12),
        "rank_biserial_high": pytest.approx(1.0, rel=1e-12),
        "p_equivalent": None,
        "equivalent": None,
        "interval": "t",
        "wins": 3,
        "ties": 1,
        "losses": 0,
        "n_queries": 4,
        "n_missing": 0,
        "note": "only 3 of 4 queries differ: no outcome of so few could have been beyond chance",
    }


@EVERY_TEST
@pytest.mark.parametrize("by", [None, "slice"])
@pytest.mark.whole("a fifth of a second a case", quick=3)
def test_columns_and_dtypes_are_the_same_whatever_is_asked(test, by):
    some = frame(a=[0.5, 0.5, 0.5], b=[0.5, 1.0, 0.0], c=[0.0, 0.0, 0.0]).with_columns(slice=pl.lit(7, pl.Int16))
    found = compare(some, measures="value", test=test, by=by, resamples=20)
    assert found.schema == {**({"slice": pl.Int16} if by else {}), **SCHEMA}
    assert found.select("run", "baseline").rows() == [("b", "a"), ("c", "a"), ("c", "b")]


def test_pydocs_has_the_figures_of_scipy_and_statsmodels(pydocs):
    found = compare(pydocs, correction="fdr_bh", alpha=0.1)
    assert found["measure"].to_list() == ["nDCG@10"] * 3 + ["RR"] * 3 + ["P@5"] * 3
    for measure in ("nDCG@10", "RR", "P@5"):
        rows = found.filter(measure=measure)
        pairs = [[scores(pydocs, name, measure) for name in pair] for pair in rows.select("run", "baseline").rows()]
        t = [stats.ttest_rel(*pair) for pair in pairs]
        ends = [result.confidence_interval(0.9) for result in t]
        assert rows["statistic"].to_list() == pytest.approx([result.statistic for result in t], rel=1e-12)
        assert rows["p"].to_list() == pytest.approx([result.pvalue for result in t], rel=1e-12)
        assert rows["low"].to_list() == pytest.approx([end.low for end in ends], rel=1e-12)
        assert rows["high"].to_list() == pytest.approx([end.high for end in ends], rel=1e-12)
        rejected, expected, *_ = multipletests([result.pvalue for result in t], alpha=0.1, method="fdr_bh")
        assert rows["p_corrected"].to_list() == pytest.approx(expected.tolist(), rel=1e-12)
        assert rows["significant"].to_list() == rejected.tolist()


@pytest.mark.skipif(not ROBUST03.exists(), reason="the real data are not here")
def test_robust03_has_the_figures_of_scipy():
    names = ["pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc"]
    runs = {name: ir.read_run(ROBUST03 / f"{name}.run.gz").drop("run", strict=False) for name in names}
    per_query = ir.evaluate(runs, ir.read_qrels(ROBUST03 / "qrels.txt.gz"), ["AP", "nDCG@10"])
    for test, oracle in (("t", stats.ttest_rel), ("wilcoxon", stats.wilcoxon)):
        found = compare(per_query, test=test)
        assert len(found) == 12
        for run, baseline, measure, statistic, p in found.select(
            "run", "baseline", "measure", "statistic", "p"
        ).iter_rows():
            # Rounded, as floats alone set differences apart that are ties to Wilcoxon's test.
            differences = np.round(scores(per_query, run, measure) - scores(per_query, baseline, measure), 12)
            expected = oracle(differences, np.zeros_like(differences))
            assert (statistic, p) == pytest.approx(tuple(expected), rel=1e-9)


@EVERY_TEST
@pytest.mark.whole("a quarter of a second a case", quick=3)
def test_the_interval_is_the_one_that_goes_with_the_test(test, pydocs):
    found = compare(pydocs, baseline="bm25", measures="RR", test=test, resamples=500).filter(run="tfidf")
    d = scores(pydocs, "tfidf", "RR") - scores(pydocs, "bm25", "RR")
    low, high = found.select("low", "high").row(0)
    if test == "tukey":
        assert low + high == pytest.approx(2 * found["difference"].item())
    else:
        sample = Values(d, support=(-1.0, 1.0))
        expected = estimates([sample], RECORDS[test].interval, draws=Draws(500))[0].ends
        assert (low, high) == pytest.approx(expected, rel=1e-12)


@EVERY_TEST
@pytest.mark.whole("some seconds a case", quick=1)
def test_the_interval_excludes_0_exactly_where_p_is_significant(test):
    source = np.random.default_rng(5)
    sizes = [4, 6, 9, 12, 16, 25, 60, 150]
    size, n = np.repeat(sizes, sizes), sum(sizes)
    frames = []
    for system in range(13):
        drawn = {
            "AP": source.normal(0.51, 0.02, n),
            "P@10": 0.5 + source.integers(-5, 8, n) / 100,
            "RR": 0.5 + source.choice([0, 0, 0, -0.5, 0.25, 0.5], n),
        }
        values = {name: [0.5] * n if system == 0 else drawn[name] for name in drawn}
        frames.append(pl.DataFrame({"run": f"s{system:02}", "query_id": range(n), "size": size, **values}))
    rows = compare(
        pl.concat(frames), list(drawn), baseline="s00", by="size", test=test, alpha=0.2, resamples=399
    ).filter(pl.col("p").is_not_null())
    known = rows.filter(pl.col("low").is_not_null())
    excludes = (pl.col("low") > 0) | (pl.col("high") < 0)
    assert known.select((excludes == (pl.col("p") <= 0.2)).all()).item()
    assert known.select((pl.col("low") < pl.col("high")).all()).item()
    wider = (pl.col("simultaneous_low") <= pl.col("low")) & (pl.col("simultaneous_high") >= pl.col("high"))
    assert known.select(wider.all()).item()
    assert known.height > 0.8 * rows.height > 200


@pytest.mark.parametrize("kind", ["t", "normal", "percentile", "BCa"])
@pytest.mark.parametrize("test", ["t", "tukey"])
@pytest.mark.whole("a quarter of a second a case", quick=3)
def test_another_interval_can_be_asked_for(kind, test, pydocs):
    found = compare(pydocs, baseline="bm25", measures="RR", test=test, interval=kind, alpha=0.2, resamples=300, seed=4)
    d = scores(pydocs, "tfidf", "RR") - scores(pydocs, "bm25", "RR")
    expected = estimates([Values(d)], kind, 0.8, Draws(300, 4))[0].ends
    assert found.filter(run="tfidf").select("low", "high").row(0) == pytest.approx(expected, rel=1e-12)


VALUES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=2, max_size=12)


@given(VALUES, st.sampled_from(TESTS), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(values, test, source):
    some = frame(a=[a for a, _ in values], b=[b for _, b in values])
    shuffled = some[source.sample(range(some.height), some.height)]
    options = {"baseline": "a", "test": test, "interval": "t", "correction": None, "resamples": 50}
    assert_frame_equal(compare(shuffled, **options), compare(some, **options), check_exact=True)


@given(VALUES, st.sampled_from(TESTS))
def test_the_other_baseline_negates_the_difference(values, test):
    some = frame(a=[a for a, _ in values], b=[b for _, b in values])
    options = {"test": test, "interval": "t", "correction": None, "resamples": 50}
    row = compare(some, baseline="a", **options).row(0, named=True)
    other = compare(some, baseline="b", **options).row(0, named=True)
    negated = {"difference", "cohen_d", "rank_biserial"}
    assert {name: other[name] for name in negated} == {
        name: None if row[name] is None else -row[name] for name in negated
    }
    assert (other["wins"], other["losses"]) == (row["losses"], row["wins"])
    assert (other["mean"], other["baseline_mean"]) == (row["baseline_mean"], row["mean"])
    if row["low"] is None:
        assert other["low"] is None
    else:
        assert (other["low"], other["high"]) == pytest.approx((-row["high"], -row["low"]), abs=1e-15)
    assert (other["p"] or 0) == pytest.approx(row["p"] or 0, rel=1e-12)


def test_systems_are_aligned_by_query():
    some = frame(a=[0.1, 0.2, 0.9, 0.4], b=[0.2, 0.3, 1.0, 0.5])
    backwards = pl.concat([some.filter(run="a"), some.filter(run="b").reverse()])
    row = compare(backwards, tolerance=1e-9).row(0, named=True)
    # Each is 0.1 better; by position they would be 0.4, 0.8, ...
    assert (row["difference"], row["wins"], row["note"]) == (pytest.approx(0.1), 4, "all differences are the same")


def test_a_missing_query_is_0_or_left_out_and_counted():
    some = frame(a=[0.5, 0.5, 0.5, 1.0], b=[0.75, ..., 0.5, 0.75])
    zero, skip = (compare(some, missing=missing).row(0, named=True) for missing in ("zero", "skip"))
    assert (zero["mean"], zero["baseline_mean"], zero["n_queries"], zero["n_missing"]) == (0.5, 0.625, 4, 1)
    assert (skip["mean"], skip["baseline_mean"], skip["n_queries"], skip["n_missing"]) == (2 / 3, 2 / 3, 3, 1)
    assert (zero["wins"], zero["ties"], zero["losses"]) == (1, 1, 2)
    assert (skip["wins"], skip["ties"], skip["losses"]) == (1, 1, 1)


def test_undefined_values_leave_the_pair_out():
    row = compare(frame(a=[0.5, None, 0.5, 1.0], b=[0.75, 0.5, None, 0.5])).row(0, named=True)
    assert (row["n_queries"], row["n_missing"], row["difference"]) == (2, 0, -0.125)
    assert row["note"] == "undefined for 'b' only: 1, left out; undefined for 'a' only: 1, left out"


def test_an_undefined_value_of_both_is_nothing_to_say_of():
    some = frame(a=[0.5, None, 0.25, 1.0, 0.5], b=[0.75, None, 0.5, 0.5, 0.25])
    assert compare(some)["note"].item() is None


@pytest.mark.parametrize(
    ("test", "n", "rise", "told"),
    [
        ("t", 10, 0.1, True),
        ("max-t", 10, 0.1, True),
        ("t", 11, 0.1, False),
        ("t", 10, 0.0, False),
        ("sign", 10, 0.1, False),
    ],
)
def test_few_queries_that_are_told_apart_may_be_skewed(test, n, rise, told):
    some = frame(a=[0.5] * n, b=[0.5 + rise + (-1) ** i / 100 for i in range(n)])
    row = compare(some, test=test).row(0, named=True)
    assert row["significant"] == (rise > 0)
    said = "of 10 queries or fewer, skewed differences are significant too often: compare(test='auto') holds"
    assert row["note"] == (said if told else None)


def test_up_to_fifty_queries_that_max_t_tells_apart_may_be_skewed():
    for n, told in ((11, True), (50, True), (51, False)):
        some = frame(a=[0.5] * n, b=[0.6 + (-1) ** i / 100 for i in range(n)])
        note = compare(some, test="max-t", resamples=99)["note"].item()
        assert (note == verdicts.OF_FEW_FLIPS) == told == (note is not None)
        assert compare(some)["note"].item() is None


def test_frames_without_a_common_measure_are_told():
    ids = pl.Series("query_id", ["q1", "q2", "q3"])
    both = {name: pl.DataFrame([ids, pl.Series(m, [0.1, 0.2, 0.3])]) for name, m in (("a", "AP"), ("b", "RR"))}
    assert [note.split("; ")[1] for note in compare(both)["note"]] == [
        "'b' has no value of 'AP'",
        "'a' has no value of 'RR'",
    ]


def test_no_systems_at_all_are_told():
    with pytest.raises(ir.IRError, match=r"a dict of such by system; got \{\}"):
        compare({})


def test_tukey_counts_only_queries_that_all_systems_have():
    some = frame(a=[0.5, 0.25, 0.5, 1.0], b=[0.75, 0.5, 0.5, 0.5], c=[0.25, ..., 0.5, 0.0])
    assert compare(some, test="tukey", missing="skip", resamples=50)["n_queries"].to_list() == [3, 3, 3]
    assert compare(some, test="t", missing="skip")["n_queries"].to_list() == [4, 3, 3]


def test_the_lower_value_of_a_cost_wins():
    some = frame(a=[0.0, 0.5, 0.5], b=[0.2, 0.7, 0.5]).rename({"value": "Hole@10"})
    row = compare(some, baseline="a").row(0, named=True)
    assert (row["wins"], row["ties"], row["losses"]) == (0, 1, 2)
    assert row["difference"] > 0
    assert row["rank_biserial"] == 1.0


def test_a_difference_as_large_as_the_tolerance_is_a_tie_whatever_floats_make_of_it():
    # As floats, 0.4 - 0.3 and 0.3 - 0.2 are on the two sides of 0.1.
    row = compare(frame(a=[0.2, 0.3, 0.4, 0.1], b=[0.3, 0.4, 0.3, 0.9]), tolerance=0.1).row(0, named=True)
    assert (row["wins"], row["ties"], row["losses"]) == (1, 3, 0)


def test_differences_within_the_tolerance_are_ties():
    some = frame(a=[0.5, 0.5, 0.5, 0.5], b=[0.51, 0.49, 0.75, 0.25])
    found = compare(some, tolerance=0.02, test="sign").row(0, named=True)
    assert (found["wins"], found["ties"], found["losses"], found["p"]) == (1, 2, 1, 1.0)


def test_the_family_of_a_correction_are_all_slices_of_a_measure():
    source = np.random.default_rng(1)
    some = frame(**{name: source.random(12).tolist() for name in "abc"})
    some = some.with_columns(
        slice=pl.col("query_id").str.slice(1).cast(pl.Int64) % 3, other=pl.Series(source.random(36))
    )
    found = compare(some, baseline="a", measures=["other", "value"], by="slice", correction="bonferroni")
    assert found.select("slice", "measure", "run").rows() == [
        (part, measure, run) for part in range(3) for measure in ("other", "value") for run in "bc"
    ]
    assert found["p_corrected"].to_list() == pytest.approx([min(1, 6 * p) for p in found["p"]])


@EVERY_TEST
def test_a_slice_is_compared_as_if_it_were_alone(test):
    source = np.random.default_rng(2)
    some = frame(a=source.random(20).tolist(), b=source.random(20).tolist())
    odd = pl.col("query_id").str.slice(1).cast(pl.Int64) % 2
    slices = some.select("query_id", odd=odd).unique()
    options = {"test": test, "correction": None, "resamples": 100, "seed": 3}
    found = compare(some, by=slices, **options)
    assert found["odd"].to_list() == [0, 1]
    for number in range(2):
        alone = compare(some.filter(odd == number), **options)
        # What allows for a family allows for both slices.
        of_family = cs.starts_with("simultaneous", "p_corrected", "significant")
        of_slice = found.filter(odd=number).drop("odd")
        assert_frame_equal(of_slice.drop(of_family), alone.drop(of_family), check_exact=True)


def test_slices_keep_their_dtype():
    some = frame(a=[0.1, 0.2, 0.3, 0.4], b=[0.5, 0.1, 0.2, 0.9])
    days = pl.datetime_range(pl.datetime(2026, 1, 1), pl.datetime(2026, 1, 2), "1d", time_zone="UTC", eager=True)
    for values in (pl.Series(["x", "y"], dtype=pl.Enum(["y", "x"])), days, pl.Series([True, False])):
        slices = pl.DataFrame({"query_id": ["q0", "q1", "q2", "q3"], "part": pl.concat([values, values])})
        assert compare(some, by=slices).schema["part"] == values.dtype


def test_an_undefined_p_leaves_the_correction_of_the_others_alone(pydocs):
    same = pydocs.filter(run="bm25").with_columns(run=pl.lit("copy"))
    found = compare(pl.concat([pydocs, same]), baseline="bm25", measures="RR", test="t")
    assert found.filter(run="copy").select("p", "p_corrected", "significant", "note").row(0) == (
        None,
        None,
        None,
        "all differences are 0",
    )
    alone = compare(pydocs, baseline="bm25", measures="RR")
    # The family of simultaneous intervals are all pairs that were asked for.
    wider = cs.starts_with("simultaneous")
    assert_frame_equal(found.filter(pl.col("run") != "copy").drop(wider), alone.drop(wider))


@EVERY_TEST
@pytest.mark.parametrize(
    ("b", "tolerance", "note"),
    [
        ([0.25, 0.5, 0.75, 0.5], 0.0, "all differences are 0"),
        ([0.5, 0.75, 1.0, 0.75], 0.0, "all differences are the same"),
        ([0.26, 0.49, 0.75, 0.5], 0.1, "all differences are ties"),
        ([0.35, 0.6, 0.85, 0.6], 0.0, "all differences are the same"),
        (
            [0.5, None, None, None],
            0.0,
            "fewer than two queries with a value of both systems; undefined for 'b' only: 3, left out",
        ),
        (
            [None, None, None, None],
            0.0,
            "fewer than two queries with a value of both systems; 'b' has no value of 'value'",
        ),
    ],
)
@pytest.mark.whole("a fifth of a second a case", quick=11)
def test_what_is_not_defined_is_null_and_said(test, b, tolerance, note):
    row = compare(
        frame(a=[0.25, 0.5, 0.75, 0.5], b=b), test=test, tolerance=tolerance, interval="BCa", resamples=99
    ).row(0, named=True)
    assert row["note"] == (note.replace("both", "all") if test == "tukey" else note)
    assert not any(isinstance(value, float) and np.isnan(value) for value in row.values())
    assert (row["significant"] is None) == (row["p"] is None) == (row["p_corrected"] is None)


def test_a_mean_of_0_has_no_relative_difference():
    row = compare(frame(a=[0.0, 0.0, 0.0], b=[0.25, 0.5, 0.75]), baseline="a").row(0, named=True)
    assert (row["relative_difference"], row["note"]) == (None, "the baseline's mean is 0")
    assert row["p"] is not None


def test_few_resamples_have_no_simultaneous_interval():
    row = compare(frame(a=[0.0, 0.1, 0.2], b=[0.25, 0.5, 0.75]), test="tukey", resamples=10).row(0, named=True)
    assert (row["low"], row["note"]) == (None, "there is no tukey interval of this confidence with so few resamples")


def test_a_slice_of_one_query_has_a_note():
    some = frame(a=[0.1, 0.2, 0.3], b=[0.3, 0.1, 0.5]).with_columns(slice=pl.Series(["x", "x", "y"] * 2))
    found = compare(some, measures="value", by="slice")
    assert found.select("slice", "n_queries", "note").rows() == [
        ("x", 2, None),
        ("y", 1, "fewer than two queries with a value of both systems"),
    ]


@pytest.mark.whole("two seconds")
def test_the_same_call_gives_the_same_figures_and_another_seed_others(pydocs):
    for test in ("randomisation", "bootstrap", "tukey"):
        found = [compare(pydocs, measures="P@5", test=test, resamples=200, seed=seed) for seed in (1, 1, 2)]
        assert found[0].equals(found[1])
        assert not found[0].equals(found[2])


GOOD = frame(a=[0.1, 0.2, 0.3], b=[0.3, 0.1, 0.5])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "c"}, ["baseline names 'c', which is not one of the systems: 'a', 'b'"]),
        ({"measures": "valeu"}, ["'valeu'", "Did you mean 'value'?"]),
        ({"test": "randomisaton"}, ["test must be one of 't', 'auto', 'wilcoxon'", "Did you mean 'randomisation'?"]),
        ({"correction": "bonferoni"}, ["correction must be one of 'bonferroni', ", "Did you mean 'bonferroni'"]),
        ({"correction": "bh"}, ["'fdr_tsbky', or None; got 'bh'. Did you mean 'fdr_bh'?"]),
        ({"family": "al"}, ["family must be one of 'measure', 'all'", "Did you mean 'all'?"]),
        ({"interval": "bca"}, ["interval must be one of ", "Did you mean 'BCa'?"]),
        ({"test": "tukey", "correction": "fdr_bh"}, ["by itself", "correction='fdr_bh'"]),
        ({"resamples": 0}, ["resamples must be a whole number from 1 to 10,000,000, or None", "got 0"]),
        ({"resamples": 10**9}, ["resamples must be a whole number"]),
        ({"measures": 3}, ["a measure is a name"]),
        ({"by": "valeu"}, ["by must name a column", "Did you mean 'value'?"]),
        ({"by": GOOD.select("query_id", p="value").unique("query_id")}, ["slices may not be called 'p'", "rename"]),
    ],
)
def test_options_that_can_not_be_are_errors_that_say_so(options, words):
    message = message_of(lambda: compare(GOOD, **options))
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize(
    ("per_query", "words"),
    [
        (GOOD.drop("run"), ["ir.compare needs several systems", "no 'run'"]),
        (frame(a=[0.1], b=[0.2]), ["needs two queries or more", "'b' has 'q0'", "'a' has 'q0'"]),
        (frame(a=[0.1, 0.2, ..., ...], b=[..., ..., 0.2, 0.3]), ["'b' has 'q2', 'q3'", "'a' has 'q0', 'q1'"]),
        (GOOD.with_columns(pl.col("value") * 1e200), ["NaN or infinite, or beyond 1e+100"]),
    ],
)
def test_frames_that_can_not_be_compared_are_errors_that_say_so(per_query, words):
    message = message_of(lambda: compare(per_query))
    assert [word for word in words if word not in message] == []


def test_simultaneous_intervals_are_those_of_bonferroni(pydocs):
    alone = compare(pydocs, measures="RR", correction=None, alpha=0.05 / 3)
    found = compare(pydocs, measures="RR")
    for end in ("low", "high"):
        assert found[f"simultaneous_{end}"].to_list() == pytest.approx(alone[end].to_list(), rel=1e-12)
    columns = cs.starts_with("simultaneous")
    assert_frame_equal(compare(pydocs, measures="RR", correction=None).select(columns), found.select(columns))
    assert_frame_equal(compare(pydocs, measures="RR", test="max-t").select(columns), found.select(columns))


@pytest.mark.parametrize(("test", "family"), [("t", 18), ("max-t", 18), ("tukey", 6)])
def test_the_family_of_all_are_the_slices_and_measures_too(test, family, pydocs):
    slices = pydocs.select("query_id").unique().with_columns(half=pl.col("query_id").str.slice(1).cast(int) % 2)
    options = {"by": slices, "test": test, "resamples": 999}
    found = compare(pydocs, family="all", **options)
    alone = compare(pydocs, alpha=0.05 / family, correction=None, **options)
    interval = ["low", "high"]
    wider = found.select(low="simultaneous_low", high="simultaneous_high")
    assert_frame_equal(wider, alone.select(interval))
    if test == "t":
        expected = multipletests(found["p"], method="holm")[1]
        assert found["p_corrected"].to_list() == pytest.approx(expected.tolist(), rel=1e-12)
    if test == "tukey":
        assert found["p_corrected"].to_list() == pytest.approx([min(1, 6 * p) for p in found["p"]])
    by_measure = compare(pydocs, **options)
    assert (by_measure["p_corrected"] <= found["p_corrected"]).all()
    assert by_measure["p_corrected"].to_list() != found["p_corrected"].to_list()


def test_the_family_of_max_t_is_that_of_all_slices():
    source = np.random.default_rng(8)
    some = frame(a=[0.0] * 14, b=source.normal(0.3, 0.5, 14).tolist(), c=source.normal(0, 0.5, 14).tolist())
    some = some.with_columns(slice=pl.col("query_id").str.slice(1).cast(int) % 2)
    found = compare(some, "value", baseline="a", by="slice", test="max-t", resamples=200_000)
    d = [
        np.column_stack([some.filter(run=run, slice=part).sort("query_id")["value"].to_numpy() for run in "bc"])
        for part in range(2)
    ]
    signs = np.array(list(product([1, -1], repeat=7)))
    # The largest of the two slices' statistics, whose signs change independently of each other.
    sums = [np.abs(signs @ (part / np.sqrt((part**2).sum(axis=0)))) for part in d]
    largest = np.maximum(sums[0].max(axis=1)[:, None], sums[1].max(axis=1)).ravel()
    wanted = (largest >= max(part[0].max() for part in sums) - 1e-12).mean()
    assert found["p_corrected"].min() == pytest.approx(wanted, abs=0.005)


def test_the_p_of_max_t_is_that_of_every_sign():
    some = frame(a=[0.0] * 6, b=[0.1, 0.2, 0.3, 0.4, 0.5, -0.1], c=[0.3, -0.2, 0.1, 0.1, 0.0, -0.1])
    found = compare(some, baseline="a", test="max-t", resamples=20_000)
    d = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, -0.1], [0.3, -0.2, 0.1, 0.1, 0.0, -0.1]]).T
    signs = np.array(list(product([1, -1], repeat=6)))
    sums = np.abs(signs @ (d / np.sqrt((d**2).sum(axis=0))))
    observed = sums[0]
    wanted = [(sums.max(axis=1) >= observed[0] - 1e-12).mean(), (sums[:, 1] >= observed[1] - 1e-12).mean()]
    assert found["p_corrected"].to_list() == pytest.approx(wanted, abs=0.015)
    assert found["p"].to_list() == pytest.approx(compare(some, baseline="a")["p"].to_list())


def test_systems_within_the_margin_are_equivalent():
    source = np.random.default_rng(2)
    values = source.uniform(0.3, 0.7, 200)
    near, far = values + source.normal(0.001, 0.02, 200), values + 0.03 + source.normal(0, 0.02, 200)
    some = frame(a=values.tolist(), near=near.tolist(), far=far.tolist())
    found = compare(some, baseline="a", margin=0.01)
    assert found.sort("run").select("run", "equivalent").rows() == [("far", False), ("near", True)]
    # Two tests by t, but for the degrees of freedom, which are those of the values below mean and median.
    d = near - values
    t = min((d.mean() + 0.01) / stats.sem(d), (0.01 - d.mean()) / stats.sem(d))
    p = found.filter(run="near")["p_equivalent"].item()
    assert stats.t.sf(t, 199) <= p <= stats.t.sf(0.9 * t, 60)


def test_systems_that_no_query_tells_apart_are_not_equivalent_by_so_few():
    same = pl.concat(pl.DataFrame({"run": name, "query_id": range(50), "Success@10": 1.0}) for name in ("a", "b"))
    row = compare(same, margin=0.01).row(0, named=True)
    assert (row["equivalent"], row["p_equivalent"]) == (False, pytest.approx(0.99**50, rel=1e-6))


def test_a_large_family_gets_the_resamples_that_it_needs():
    source = np.random.default_rng(3)
    some = frame(**{f"s{i}": source.normal(0.1 * (i % 2), 0.05, 40).tolist() for i in range(6)})
    options = {"test": "randomisation", "correction": "bonferroni", "alpha": 0.001}
    found = compare(some, **options)
    assert found["significant"].sum() == 9
    few = compare(some, resamples=10_000, **options)
    assert not few["significant"].any()
    notes = few.filter(p=few["p"].min())["note"].unique().to_list()
    assert notes == ["p cannot be lower with 10,000 resamples, too few for so many comparisons: raise them"]


def test_ties_are_not_broken_by_the_last_bits_of_floats():
    # .4 - .3, .2 - .1 and .3 - .2 are three numbers for floats, but one difference.
    some = frame(a=[0.3, 0.1, 0.2, 0.5, 0.9], b=[0.4, 0.2, 0.3, 0.4, 0.7])
    row = compare(some, test="wilcoxon").row(0, named=True)
    exact = stats.permutation_test(
        ([1, 1, 1, -1, -2],), lambda d: np.sign(d) @ stats.rankdata(np.abs(d)), permutation_type="samples"
    )
    assert row["rank_biserial"] == pytest.approx((7.5 - 2.5 - 5) / 15)
    assert row["p"] == pytest.approx(exact.pvalue)


def test_what_decides_comes_first():
    found = compare(frame(a=[0.1, 0.2], b=[0.3, 0.5]).with_columns(lang=pl.lit("en")), "value", by="lang")
    deciding = ["baseline_mean", "mean", "difference", "low", "high", "p_corrected", "significant"]
    assert found.columns[:11] == ["lang", "run", "baseline", "measure", *deciding]
    # The interval that is printed is that of the family, as is p.
    assert found.columns[-4:] == ["note", "relative_difference", "simultaneous_low", "simultaneous_high"]


def test_a_baseline_that_the_alphabet_chose_is_told():
    both = frame(new=[0.1, 0.2, 0.4], prod=[0.3, 0.1, 0.7])
    assert compare_as_told(both)["baseline", "note"].row(0) == ("new", BY_ALPHABET)
    assert compare_as_told(both, baseline="prod")["note"].item() is None
    assert compare_as_told(pl.concat([both, frame(old=[0.2, 0.15, 0.5])]))["note"].to_list() == [None] * 3
    systems = {name: both.filter(run=name).drop("run") for name in ("prod", "new")}
    assert compare_as_told(systems)["baseline", "note"].row(0) == ("prod", None)


@pytest.mark.parametrize(
    ("test", "differing", "n", "told"),
    [
        *((test, 3, 10, True) for test in ("t", "sign", "wilcoxon", "randomisation", "max-t")),
        *((test, 5, 10, False) for test in ("t", "max-t")),
        *((test, 5, 10, True) for test in ("sign", "wilcoxon", "randomisation")),
        *((test, 6, 10, False) for test in ("sign", "wilcoxon", "randomisation")),
    ],
)
def test_too_few_queries_that_differ_are_told(test, differing, n, told):
    some = frame(a=[0.2] * n, b=[0.2 + (0.1 + query / 1e9) * (query < differing) for query in range(n)])
    row = compare(some, test=test).row(0, named=True)
    note = f"only {differing} of {n} queries differ: no outcome of so few could have been beyond chance"
    assert (note in (row["note"] or "")) == told == (row["p"] > 0.05)


def test_no_end_of_tukey_excludes_0_by_rounding():
    b = [0.137, 0.283, 0.311, 0.677, 0.913]
    better = [*b[:2], b[2] + 0.271672613208553, *b[3:]]
    row = compare(frame(a=b, b=better, c=b), baseline="a", test="tukey").row(0, named=True)
    assert (row["p"], row["low"]) == (1.0, 0.0)


def test_no_p_of_max_t_is_corrected_to_a_lower_one():
    some = frame(**dict(zip("ab", np.random.default_rng(6).random((6, 2)).T.tolist(), strict=True)))
    row = compare(some, test="max-t", resamples=99).row(0, named=True)
    assert row["p_corrected"] == row["p"] == pytest.approx(0.607, abs=1e-3)


def test_a_p_without_a_range_has_a_reason_for_being_null():
    some = frame(a=[0.1, 0.2, 0.4], b=[0.3, 0.1, 0.9]).rename({"value": "latency"})
    why = "of these differences: fewer than 20 queries lose, or gain, and the measure has no known range"
    for options, missing in (({}, "p and no auto interval"), ({"interval": "t"}, "p")):
        row = compare(some, test="auto", **options).row(0, named=True)
        assert (row["p"], row["note"]) == (None, f"there is no {missing} {why}")


IN_PERCENT = frame(a=[0.0] * 5, b=[1.5, 2.5, 0.5, 3.0, 1.0]).rename({"value": "AP"})


@pytest.mark.parametrize(
    ("call", "otherwise"),
    [
        (lambda: ir.compare(IN_PERCENT, ["AP"], test="auto"), "take test='t'"),
        (lambda: ir.compare(IN_PERCENT.lazy(), ["AP"], test="auto"), "take test='t'"),
        (lambda: ir.compare(IN_PERCENT, ["AP"], interval="bounded"), "take interval='t'"),
        (lambda: ir.compare(IN_PERCENT, ["AP"], margin=0.1), "leave margin out"),
        (lambda: ir.level(IN_PERCENT, "AP", test=["t", "auto"]), "take another test and interval"),
        (lambda: ir.summarize(IN_PERCENT, interval="bounded"), "take interval='t'"),
        (lambda: ir.power(IN_PERCENT, max_drop=0.1), r"say .*: ranges=\{'AP': \(0, 100\)\}"),
    ],
)
def test_figures_by_the_range_of_a_measure_are_of_values_within_it(call, otherwise):
    with pytest.raises(ir.IRError, match=rf"from 0 to 1; there is .*\. Divide what is in percent .*, or {otherwise}"):
        call()


def test_values_in_percent_have_the_t_test_of_shares():
    divided = IN_PERCENT.with_columns(pl.col("AP") / 100)
    wanted, found = (ir.compare(each, baseline="a").row(0, named=True) for each in (divided, IN_PERCENT))
    assert (found["p"], found["low"]) == pytest.approx((wanted["p"], wanted["low"] * 100), rel=1e-9)


def test_a_table_in_the_place_of_measures_and_means_in_that_of_queries_say_what_is_wanted():
    per_query = pl.DataFrame({"query_id": ["a", "b"], "AP": [0.1, 0.4]})
    with pytest.raises(ir.IRError, match=r"got a table\. .* in a dict: ir\.compare\(\{'a': per_query, 'b': other\}\)"):
        per_query.ir.compare(per_query)
    with pytest.raises(ir.IRError, match="a row for each query, and not its means"):
        per_query.ir.mean().ir.summarize()
