"""Two groups of different queries: Newcombe's interval and its p, the prediction of a group, what is left of one."""

import numpy as np
import pytest

from polars_ir.per_query.shared.groups import Group, against_groups, against_rest, all_others, shrinkage
from polars_ir.per_query.shared.measures import Range
from polars_ir.statistics.samples import Moments

stats = pytest.importorskip("scipy.stats")
proportion = pytest.importorskip("statsmodels.stats.proportion")

EXACT = {"abs": 1e-12, "rel": 1e-12}
DRAWN = np.random.default_rng(11)
GROUP, REST = DRAWN.random(12) ** 2, DRAWN.random(30)


def compared(group, rest, its=None, *, alpha=0.05, least=2):
    return against_rest([Group(Moments.of(group), Moments.of(rest), its)], alpha=alpha, least=least)[0]


def clopper_pearson(values, both, alpha):
    m, n, variance = values.mean(), len(values), values.var(ddof=1)
    widest, spread, worth = m * (1 - m), both.var() / both.mean() / (1 - both.mean()), n * min(m, 1 - m) ** 2 / variance
    share = max(variance / widest, (variance / widest * worth + 5 * spread * n / (n - 1)) / (worth + 5))
    effective = 1 / (share / n + 2 / n / (n - 1))
    events = effective * m
    ends = stats.beta(events, effective - events + 1), stats.beta(events + 1, effective - events)
    return ends[0].ppf(alpha / 2), ends[1].isf(alpha / 2)


@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("group", [GROUP, GROUP / 10, 1 - GROUP])
def test_the_interval_is_made_of_those_of_effective_queries(alpha, group):
    both = np.concatenate([group, REST])
    (low, high), (rest_low, rest_high) = (clopper_pearson(each, both, alpha) for each in (group, REST))
    found, m, rest = compared(group, REST, Range(0, 1), alpha=alpha), group.mean(), REST.mean()
    below, above = np.hypot(m - low, rest_high - rest), np.hypot(high - m, rest - rest_low)
    wanted = [m, rest, m - rest, m - rest - below, m - rest + above]
    assert [found[name] for name in ("mean", "rest_mean", "difference", "low", "high")] == pytest.approx(
        wanted, **EXACT
    )


def test_few_values_off_the_end_do_not_show_the_spread():
    # One of 25 happens to be low; by its own spread the group were sure to be worse than a rest of the same kind.
    rest = np.tile([0.0] * 9 + [0.5], 50)
    found = compared([0.01] + [0.0] * 24, rest, Range(0, 1))
    assert found["p"] > 0.05
    assert found["high"] > 0


def test_moments_of_parts_are_those_of_all():
    parts = [Moments.of(each) for each in (REST[:3], [], REST[3:4], REST[4:])]
    assert all_others(parts)[0][:5] == pytest.approx(Moments.of(REST[3:])[:5], **EXACT)
    assert all_others(parts)[1][:5] == pytest.approx(Moments.of(REST)[:5], **EXACT)
    assert all_others(parts)[3][:5] == pytest.approx(Moments.of(REST[:4])[:5], **EXACT)


def test_the_further_a_group_loses_the_lower_is_its_p():
    rest = np.tile([0.0, 0.05, 0.1, 0.2, 0.9], 40)
    lost = [compared((rest[:25] - loss).clip(0), rest, Range(0, 1))["p"] for loss in (0, 0.02, 0.1, 0.2, 1)]
    assert lost == sorted(lost, reverse=True)
    assert lost[-1] < 1e-3 < lost[0]


def test_of_shares_it_is_near_to_that_of_statsmodels():
    # Clopper and Pearson's are wider than Wilson's.
    found = compared([1.0] * 40 + [0.0] * 10, [1.0] * 150 + [0.0] * 350, Range(0, 1))
    wanted = proportion.confint_proportions_2indep(40, 50, 150, 500, method="newcomb")
    assert (found["low"], found["high"]) == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.3, 0.9])
def test_the_interval_whose_confidence_p_leaves_ends_at_0(shift):
    found = compared(GROUP * (1 - shift), REST, Range(0, 1))
    ends = compared(GROUP * (1 - shift), REST, Range(0, 1), alpha=found["p"])
    assert min(abs(ends["low"]), abs(ends["high"])) < 1e-9
    assert found["p"] == pytest.approx(2 * stats.norm.sf(abs(found["statistic"])), rel=1e-12)


def test_a_range_that_is_not_known_or_not_kept_is_that_of_the_values():
    lowest, highest = float(min(GROUP.min(), REST.min())), float(max(GROUP.max(), REST.max()))
    wanted = compared(GROUP, REST, Range(lowest, highest))
    assert compared(GROUP, REST) == compared(GROUP, REST, Range(0.5, 1)) == wanted
    assert compared(GROUP, REST, Range(0, float("inf"))) == wanted


def test_a_group_that_fails_wholly_is_told_from_one_that_never_does():
    assert compared(np.zeros(5), np.ones(95), Range(0, 1))["p"] < 1e-4


@pytest.mark.parametrize(
    ("group", "rest", "note"),
    [
        ([0.5], [0.1, 0.2], "1 query here; a test needs 2"),
        ([0.5, 0.6], [], "0 queries to compare with; a test needs 2"),
        ([0.5, 0.5], [0.5, 0.5], "all values are the same"),
        ([0.1 + 0.2, 0.3], [0.3, 0.3], "all values are the same"),
    ],
)
def test_a_group_without_a_test_says_why(group, rest, note):
    found = compared(group, rest)
    assert [found[name] for name in ("low", "high", "statistic", "p", "note")] == [None] * 4 + [note]
    assert found["mean"] == pytest.approx(np.mean(group), **EXACT)


def predicted(group, others):
    """The figures of a group against others, by their values."""
    return against_groups(Moments.of(group), [*map(Moments.of, others)], Moments.of(np.concatenate([group, *others])))


def test_a_group_is_predicted_by_t_from_groups_of_its_size():
    others = [DRAWN.normal(shift, 0.01, 20) for shift in (0.3, 0.5, 0.4, 0.7)]
    group = DRAWN.normal(0.1, 0.01, 20)
    found, means = predicted(group, others), np.array([each.mean() for each in others])
    t = (group.mean() - means.mean()) / (means.std(ddof=1) * np.sqrt(1 + 1 / 4))
    assert (found["statistic"], found["p"]) == pytest.approx((t, 2 * stats.t.sf(abs(t), 3)), **EXACT)


def test_groups_whose_means_are_the_same_by_chance_predict_no_more_than_their_values():
    others = [np.ones(5)] * 4
    found = predicted(np.array([1.0, 1, 1, 1, 0]), others)
    variance = np.concatenate([*others, [1, 1, 1, 1, 0]]).var(ddof=1) / 5
    assert found["statistic"] == pytest.approx(-0.2 / np.sqrt(variance * 1.25), **EXACT)
    assert predicted(np.ones(5), others)["p"] == 1


def test_a_smaller_group_is_predicted_less_surely():
    others = [DRAWN.random(100) for _ in range(5)]
    large, small = np.tile([0.2, 0.4], 50), np.array([0.2, 0.4] * 3)
    assert predicted(small, others)["p"] > predicted(large, others)["p"]


def test_what_is_left_of_a_difference_is_what_the_spread_of_all_says():
    # Means of groups that differ by no more than chance, and of such that chance cannot explain.
    alike = [np.array([0.0, 1.0]) + shift for shift in (0.0, 0.1, -0.1)]
    assert shrinkage([*map(Moments.of, alike), Moments.of([])]) == [0.0] * 4
    apart = [np.array([0.0, 0.1]) + shift for shift in (0.0, 1.0, 2.0)]
    variance = 0.005
    of_means = np.var([0, 1, 2], ddof=1) - variance / 2
    assert shrinkage([*map(Moments.of, apart)]) == pytest.approx([of_means / (of_means + variance / 2)] * 3, **EXACT)
    assert shrinkage([Moments.of([0.0, 1.0])]) == [0.0]
    assert shrinkage([Moments.of([0.0]), Moments.of([1.0])]) == [None, None]


def test_the_worst_of_twenty_is_shrunk_to_the_truth():
    # 20 slices of 5 that are all alike: the worst looks .18 worse, and is not.
    seen, left = [], []
    for _ in range(200):
        groups = list(DRAWN.beta(0.5, 1.5, (20, 5)))
        differences = np.array([each.mean() for each in groups]) - np.mean(groups)
        seen.append(differences.min())
        left.append((differences * shrinkage([*map(Moments.of, groups)])).min())
    assert np.mean(seen) < -0.14
    assert np.mean(left) > -0.05
