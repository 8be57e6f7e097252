"""Orders of the same systems side by side: each coefficient by itself, and of per-query frames."""

from itertools import permutations, product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of

from polars_ir.per_query.rank_correlation import rank_correlation

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")
rank_order = pytest.importorskip("polars_ir.statistics.rank_order")


def per_query(**measures: list[float | None]) -> pl.DataFrame:
    """One query, a system per value: the values are the means."""
    n = len(next(iter(measures.values())))
    return pl.DataFrame({"run": [f"s{i}" for i in range(n)], "query_id": ["q"] * n, **measures})


def coefficient(reference: list[float], other: list[float], method: str, **options: object) -> float | None:
    return rank_correlation(per_query(a=reference, b=other), method=method, **options)["coefficient"].item()


# The examples of R's ircor, by the authors of tau_AP,a and tau_AP,b (tests/testthat: helper_data.R, test_tauAP.R).
IRCOR = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        {"tau_ap": 0.8519, "tau_ap_a": 0.7454, "tau_ap_b": 0.8333, "tau_ap_b_tied": 0.7321},
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        {"tau_ap": 0.2504, "tau_ap_a": 0.2692, "tau_ap_b": 0.2880, "tau_ap_b_tied": 0.297},
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        {"tau_ap": -0.6971, "tau_ap_a": -0.5558, "tau_ap_b": -0.668, "tau_ap_b_tied": -0.7047},
    ),
]


@pytest.mark.parametrize(("x", "y", "published"), IRCOR)
def test_tau_ap_is_that_of_ircor_with_ties_and_without(x, y, published):
    x_tied, y_tied = [round(value, 1) for value in x], [round(value, 1) for value in y]
    assert coefficient(x, y, "tau_ap") == pytest.approx(published["tau_ap"], abs=5e-5)
    assert coefficient(x, y_tied, "tau_ap") == pytest.approx(published["tau_ap_a"], abs=5e-5)
    assert coefficient(x, y, "tau_ap_b") == pytest.approx(published["tau_ap_b"], abs=5e-5)
    assert coefficient(x_tied, y_tied, "tau_ap_b") == pytest.approx(published["tau_ap_b_tied"], abs=5e-5)
    assert coefficient(y_tied, x_tied, "tau_ap_b") == coefficient(x_tied, y_tied, "tau_ap_b")


def test_tau_ap_goes_down_the_second_order_by_hand():
    # The second puts them a, c, b, d. Above c is a, rightly; above b one of a, c; above d all three: (1 + 1/2 + 1) / 3.
    assert coefficient([4, 3, 2, 1], [4, 2, 3, 1], "tau_ap") == pytest.approx(2 * (2.5 / 3) - 1, abs=1e-15)
    # A mistake at the top costs more: b, a, c, d gives (0 + 1 + 1) / 3, and c, b, a, d (0 + 0 + 1) / 3.
    assert coefficient([4, 3, 2, 1], [3, 4, 2, 1], "tau_ap") == pytest.approx(2 * (2 / 3) - 1, abs=1e-15)
    assert coefficient([4, 3, 2, 1], [2, 3, 4, 1], "tau_ap") == pytest.approx(2 * (1 / 3) - 1, abs=1e-15)


def test_tau_ap_depends_on_which_order_is_the_reference():
    # Down b, c, d, a: above c is b, above d are b, c, rightly; above a none of the three is.
    # Down a, b, c, d: a is above all wrongly, so that 0 of 1, 1 of 2 and 2 of 3 are right.
    one, two = [4, 3, 2, 1], [1, 4, 3, 2]
    assert coefficient(one, two, "tau_ap") == pytest.approx(2 * (1 + 1 + 0) / 3 - 1, abs=1e-15)
    assert coefficient(two, one, "tau_ap") == pytest.approx(2 * (0 + 1 / 2 + 2 / 3) / 3 - 1, abs=1e-15)


def test_rbo_by_hand():
    # a, b, c, d, e against d, a, b, c, e: overlaps 0, 1, 2, 4, 5 of 1, 2, 3, 4, 5, and all agree from there on.
    by_hand = 1 / 9 * (0.81 / 2 + 0.729 * 2 / 3 + 0.6561 + 0.59049) + 0.59049
    assert by_hand == pytest.approx(0.828, abs=1e-15)
    assert coefficient([5, 4, 3, 2, 1], [4, 3, 2, 5, 1], "rbo") == pytest.approx(by_hand, abs=1e-15)
    # With p = 1/2, (1-p)/p is 1, and the last 1/32 stands for all that would follow.
    by_hand = 1 / 8 + 1 / 12 + 1 / 16 + 1 / 32 + 1 / 32
    assert coefficient([5, 4, 3, 2, 1], [4, 3, 2, 5, 1], "rbo", persistence=0.5) == pytest.approx(by_hand, abs=1e-15)


def trectools_tau_ap(reference: list[float], other: list[float]) -> float:
    """tau_ap of trectools (trectools/misc.py, get_correlation), on two lists of systems."""
    truth = sorted(range(len(reference)), key=lambda system: -reference[system])
    ranking = sorted(range(len(other)), key=lambda system: -other[system])
    share = [
        sum(truth.index(above) < truth.index(ranking[i]) for above in ranking[:i]) / i for i in range(1, len(ranking))
    ]
    return 2 / (len(ranking) - 1) * sum(share) - 1


def webbers_rbo(reference: list[float], other: list[float], p: float) -> float:
    """The extrapolated RBO of two full rankings (Webber, Moffat, Zobel 2010, equation 30)."""
    one, two = (sorted(range(len(scores)), key=lambda system: -scores[system]) for scores in (reference, other))
    n = len(one)
    agreement = [len({*one[:d]} & {*two[:d]}) / d for d in range(1, n + 1)]
    return (1 - p) / p * sum(share * p**d for d, share in enumerate(agreement, 1)) + agreement[-1] * p**n


def orders(scores: list[float]) -> list[list[float]]:
    """The scores in every order of those that are tied."""
    n = len(scores)
    every = (dict(zip(order, range(n), strict=True)) for order in permutations(range(n)))
    rises = [[place[i] for i in range(n)] for place in every]
    return [r for r in rises if all(r[i] < r[j] for i in range(n) for j in range(n) if scores[i] < scores[j])]


SCORES = st.lists(st.integers(0, 4), min_size=2, max_size=4).filter(lambda scores: len({*scores}) > 1)


@given(both=SCORES.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_ties_are_taken_in_all_orders(both):
    every = list(product(*map(orders, both)))
    one, two = (np.array(scores, dtype=float) for scores in both)
    tau_ap = sum(trectools_tau_ap(*pair) for pair in every) / len(every)
    assert rank_order.tau_ap(one, two)[0] == pytest.approx(tau_ap, abs=1e-12)
    rbo = sum(webbers_rbo(*pair, 0.8) for pair in every) / len(every)
    assert rank_order.rbo(one, two, 0.8) == pytest.approx(rbo, abs=1e-12)


@pytest.mark.parametrize(("n", "decimals"), [(3, 6), (8, 6), (8, 1), (50, 6), (50, 1)])
def test_kendall_spearman_and_pearson_are_those_of_scipy(n, decimals):
    source = np.random.default_rng(n)
    x, y = source.random(n).round(decimals), source.random(n).round(decimals)
    found = {m: rank_correlation(per_query(a=x, b=y), method=m) for m in ("kendall", "spearman", "pearson")}
    for method, oracle in [("kendall", stats.kendalltau), ("spearman", stats.spearmanr), ("pearson", stats.pearsonr)]:
        assert found[method].select("coefficient", "p").row(0) == pytest.approx(tuple(oracle(x, y)), abs=1e-12)


@pytest.mark.parametrize("method", rank_order.METHODS)
def test_the_same_order_gives_1_and_the_opposite_one_the_lowest_value(method):
    rising, falling = [0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]
    assert coefficient(rising, rising, method) == pytest.approx(1, abs=1e-15)
    # Of opposite orders 0, 0, 2, 4 systems overlap in the first 1, 2, 3, 4.
    lowest = 1 / 9 * (0.729 * 2 / 3 + 0.6561) + 0.6561 if method == "rbo" else -1
    assert coefficient(rising, falling, method) == pytest.approx(lowest, abs=1e-15)


def test_corrected_for_ties_an_order_agrees_with_itself():
    tied = [0.1, 0.2, 0.2, 0.4]
    assert [coefficient(tied, tied, m) for m in ("kendall", "tau_ap_b")] == pytest.approx([1, 1], abs=1e-15)
    # Averaged over the orders of the tied, it does not: its second and third agree half the time.
    assert coefficient(tied, tied, "tau_ap") == pytest.approx(2 * (1 + 3 / 4 + 1) / 3 - 1, abs=1e-15)


def test_a_cost_is_turned_round():
    frame = per_query(**{"RR": [0.1, 0.2, 0.3], "Hole@5": [0.3, 0.2, 0.1]})
    assert rank_correlation(frame).row(0)[:4] == ("RR", "Hole@5", "kendall", 1.0)
    assert rank_correlation(frame.rename({"Hole@5": "mine"}))["coefficient"].item() == -1.0


def test_means_that_differ_by_rounding_are_a_tie():
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last bit.
    frame = pl.DataFrame(
        {
            "run": ["a"] * 3 + ["b"] * 3 + ["c"] * 3,
            "query_id": ["1", "2", "3"] * 3,
            "x": [0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.9, 0.9, 0.9],
            "y": [0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.5, 0.5, 0.5],
        }
    )
    tied = stats.kendalltau([1, 1, 2], [2, 1, 3]).statistic
    assert rank_correlation(frame)["coefficient"].item() == pytest.approx(tied, abs=1e-15)


def test_a_geometric_mean_is_one():
    # (0.9 + 0.0001) / 2 is more than 0.3, sqrt(0.9 * 0.0001) is less.
    frame = pl.DataFrame(
        {
            "run": ["a", "a", "b", "b"],
            "query_id": ["1", "2", "1", "2"],
            "AP": [0.9, 0.0001, 0.3, 0.3],
            "GMAP": [0.9, 0.0001, 0.3, 0.3],
        }
    )
    assert rank_correlation(frame)["coefficient"].item() == -1.0


def test_a_query_that_a_system_lacks_counts_as_0_or_not_at_all():
    frame = pl.DataFrame(
        {"run": ["a", "b", "b"], "query_id": ["1", "1", "2"], "x": [0.6, 0.4, 0.4], "y": [0.9, 0.2, 0.2]}
    )
    # By x, a has 0.6 / 2 = 0.3 or 0.6, and b 0.4; by y, a is the better one both times.
    assert rank_correlation(frame)["coefficient"].item() == -1.0
    assert rank_correlation(frame, missing="skip")["coefficient"].item() == 1.0


def test_other_judgments_are_compared_measure_by_measure():
    here = per_query(AP=[0.1, 0.2, 0.3], RR=[0.1, 0.2, 0.3], mine=[0.1, 0.2, 0.3])
    there = per_query(RR=[0.2, 0.1, 0.3], AP=[0.5, 0.6, 0.7]).reverse().with_columns(query_id=pl.lit("another"))
    found = rank_correlation(here, there)
    assert found.select("measure", "other_measure").rows() == [("AP", "AP"), ("RR", "RR")]
    assert found["coefficient"].to_list() == pytest.approx([1, 1 / 3], abs=1e-15)
    assert rank_correlation(here, there, measures="recip_rank")["measure"].to_list() == ["RR"]


def test_a_system_of_one_frame_only_is_left_out_and_counted():
    here = per_query(AP=[0.1, 0.2, 0.3, 0.4])
    there = per_query(AP=[0.1, 0.2, 0.3]).with_columns(run=pl.Series(["s0", "s1", "new"]))
    row = rank_correlation(here, there).row(0, named=True)
    assert (row["coefficient"], row["n_systems"], row["n_left_out"]) == (1.0, 2, 3)
    assert row["note"] == "left out, without a mean on one side: s2, s3, new"


def test_a_measure_that_is_undefined_for_a_system_leaves_it_out_of_its_rows():
    found = rank_correlation(per_query(AP=[0.1, 0.2, None], RR=[0.1, 0.2, 0.0], mine=[0.1, 0.2, 0.3]))
    assert found["n_systems"].to_list() == [2, 2, 3]
    assert found["note"].to_list() == ["left out, without a mean on one side: s2"] * 2 + [None]


def test_one_system_with_a_mean_has_no_order():
    row = rank_correlation(per_query(AP=[0.1, None, None], RR=[0.1, 0.2, 0.0])).row(0, named=True)
    assert (row["coefficient"], row["p"], row["n_systems"], row["n_left_out"]) == (None, None, 1, 2)
    assert row["note"].startswith("fewer than two systems have a mean on both sides; left out")


@pytest.mark.parametrize("method", rank_order.METHODS)
def test_where_all_are_tied_there_is_no_order(method):
    row = rank_correlation(per_query(AP=[0.1, 0.2], RR=[0.0, 0.0]), method=method).row(0, named=True)
    assert (row["coefficient"], row["p"], row["note"]) == (None, None, "all systems are tied by RR")


@pytest.mark.parametrize("method", rank_order.METHODS)
def test_the_columns_are_always_the_same(method):
    found = rank_correlation(per_query(AP=[0.1, 0.2], RR=[0.0, 0.3]), method=method)
    assert list(found.schema.items()) == [
        ("measure", pl.String),
        ("other_measure", pl.String),
        ("method", pl.String),
        ("coefficient", pl.Float64),
        ("low", pl.Float64),
        ("high", pl.Float64),
        ("p", pl.Float64),
        ("n_systems", pl.UInt32),
        ("n_left_out", pl.UInt32),
        ("note", pl.String),
    ]
    # Two systems in the same order: Spearman's test has no degree of freedom, three methods have no test.
    assert found["p"].item() == (1.0 if method in ("kendall", "pearson") else None)


FRAME = per_query(AP=[0.1, 0.2], RR=[0.0, 0.3])


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ([FRAME], {"method": "kendal"}, ["method must be one of", "Did you mean 'kendall'"]),
        ([FRAME], {"missing": "drop"}, ["missing must be one of"]),
        ([FRAME], {"measures": "AP"}, ["compares two measures", "'AP' alone"]),
        ([FRAME], {"measures": ["AP", "RRR"]}, ["no measure 'RRR'", "Did you mean 'RR'"]),
        ([FRAME], {"persistence": 1}, ["persistence must be at least 1e-09 and below 1", "got 1"]),
        ([FRAME, FRAME.with_columns(run=pl.col("run") + "x")], {}, ["two systems in common", "'s0', 's1'", "'s0x'"]),
        ([FRAME, FRAME.rename({"AP": "A", "RR": "R"})], {}, ["it lacks 'AP', 'RR', and has 'A', 'R'"]),
        ([FRAME, FRAME.drop("AP")], {"measures": ["AP", "RR"]}, ["it lacks 'AP', and has 'RR'"]),
    ],
)
def test_what_can_not_be_compared_is_an_error_that_says_so(arguments, options, words):
    message = message_of(lambda: rank_correlation(*arguments, **options))
    assert [word for word in words if word not in message] == []


def test_the_interval_of_pearson_is_that_of_scipy():
    source = np.random.default_rng(5)
    here, there = source.normal(size=(2, 12))
    there += here
    sides = [
        pl.DataFrame({"run": [f"s{i:02}" for i in range(12)], "query_id": "q", "AP": values})
        for values in (here, there)
    ]
    row = rank_correlation(*sides, method="pearson", alpha=0.1).row(0, named=True)
    wanted = stats.pearsonr(here, there).confidence_interval(0.9)
    assert (row["low"], row["high"]) == pytest.approx(tuple(wanted), rel=1e-10)


@pytest.mark.parametrize("method", ["kendall", "spearman"])
def test_intervals_of_an_order_cover_the_coefficient_of_all_systems(method):
    # Of two normal scores whose correlation is .8, tau is 2 / pi * arcsin(.8), and Spearman's r 6 / pi * arcsin(.4).
    truth = {"kendall": 2 / np.pi * np.arcsin(0.8), "spearman": 6 / np.pi * np.arcsin(0.4)}[method]
    source, covered = np.random.default_rng(6), 0
    for _ in range(400):
        here, noise = source.normal(size=(2, 20))
        coefficient = rank_order.COEFFICIENTS[method](here, 0.8 * here + 0.6 * noise)[0]
        low, high = rank_order.interval(method, coefficient, 20, 0.95)
        covered += low <= truth <= high
    assert covered >= stats.binom.ppf(0.001, 400, 0.94)
