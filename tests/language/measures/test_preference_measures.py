"""The measures of preferences: by hand, by trec_eval's published figures, and against plain Python."""

from collections.abc import Mapping, Sequence

import polars as pl
import pytest
from generated import as_dicts, preference_collection
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from preferences_by_hand import ContradictionError, Levels, judgments_frame, levels_of, preferred, relevant
from referred import of_preferences
from suite import examples

import polars_ir as ir
from polars_ir.engine.preferences import PREFERENCE, preferences_of, relate_pairs
from polars_ir.frames.judgments import preference_table

NAMES = [
    "prefs_num_prefs_poss",
    "prefs_num_prefs_ful",
    "prefs_num_prefs_ful_ret",
    "prefs_simp",
    "prefs_pair",
    "prefs_avgjg",
    "prefs_avgjg_Rnonrel",
    "prefs_simp_ret",
    "prefs_pair_ret",
    "prefs_avgjg_ret",
    "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp",
    "prefs_pair_imp",
    "prefs_avgjg_imp",
]

EVERY = {name: ir.parse(name).alias(name) for name in NAMES}


def relation_of(run: object, judgments: object) -> pl.LazyFrame:
    """The relation of preferences of a run of one or several systems."""
    preferences = preferences_of(preference_table(judgments))
    documents = preferences.documents.select("query_id", "doc_id", relevance=1).unique().collect()
    ranks = ir.judge(run, documents)
    return relate_pairs(preferences, ranks.lazy(), [key for key in ("run", "query_id") if key in ranks.columns])


def evaluated(run: object, judgments: object) -> pl.DataFrame:
    """Every measure of every query."""
    relation = relation_of(run, judgments)
    keys = [key for key in ("run", "query_id") if key in relation.collect_schema().names()]
    return relation.group_by(keys).agg(**EVERY).sort(keys).collect()


def of_one(ranking: Sequence[str], judges: Levels) -> dict[str, float | None]:
    """Every measure of one query."""
    # A document nobody judged keeps a run without judged documents a run.
    run = pl.DataFrame({"query_id": "q", "doc_id": [*ranking, "unjudged"]}).with_columns(score=-pl.int_range(pl.len()))
    return evaluated(run, judgments_frame({"q": judges})).drop("query_id").row(0, named=True)


def of_judge(levels: Mapping[str, float]) -> Levels:
    """The judgments of one judge in one group."""
    return {"u": {"s": levels}}


def test_a_column_tells_that_a_measure_is_of_preferences():
    for expression in EVERY.values():
        assert set(PREFERENCE).intersection(expression.meta.root_names())


# By hand.


def test_each_preference_is_fulfilled_or_not():
    # a > b, a > c, b > c; the run has b above a, and not c: a > c and b > c are fulfilled by what is missing.
    found = of_one(["b", "a"], of_judge({"a": 3, "b": 2, "c": 1}))
    assert found["prefs_num_prefs_poss"] == 3
    assert found["prefs_num_prefs_ful"] == 2
    assert found["prefs_num_prefs_ful_ret"] == 0
    assert found["prefs_simp"] == found["prefs_pair"] == found["prefs_avgjg"] == 2 / 3
    assert found["prefs_simp_ret"] == 0


def test_a_preference_of_two_missing_documents_is_not_fulfilled():
    found = of_one(["a"], of_judge({"a": 3, "b": 2, "c": 1}))
    assert found["prefs_simp"] == 2 / 3
    assert found["prefs_simp_imp"] == 1
    assert found["prefs_simp_ret"] == 0


def test_documents_between_two_change_nothing():
    judges = of_judge({"a": 2, "b": 1})
    assert of_one(["a", "x", "y", "b"], judges) == of_one(["a", "b"], judges)


def test_pairs_judges_and_preferences_can_count_alike():
    # Of the pair a, b one judge of three says b; of the pair c, d the one judge who says anything says c.
    judges = {
        "u": {"s": {"a": 2, "b": 1}, "t": {"c": 2, "d": 1}},
        "v": {"s": {"a": 2, "b": 1}},
        "w": {"s": {"a": 1, "b": 2}},
    }
    found = of_one(["a", "b", "d", "c"], judges)
    assert found["prefs_simp"] == 2 / 4
    assert found["prefs_pair"] == pytest.approx((2 / 3 + 0) / 2, abs=1e-15)
    assert found["prefs_avgjg"] == (1 / 2 + 1 + 0) / 3


def test_agreement_with_every_judge_is_exactly_1():
    # Seven sevenths, added up, are not 1.
    found = of_one(["a", "b"], {judge: {"s": {"a": 2, "b": 1}} for judge in "abcdefg"})
    assert found["prefs_pair"] == 1


def test_a_judge_for_whom_nothing_counts_adds_nothing():
    judges = {"u": {"s": {"a": 2, "b": 1}}, "v": {"s": {"a": 1, "b": 1}}}
    assert of_one(["a", "b"], judges)["prefs_avgjg"] == 1 / 2


def test_without_a_preference_the_ratios_are_undefined_and_the_counts_0():
    found = of_one(["a", "b"], of_judge({"a": 0, "b": 0}))
    assert {name for name, value in found.items() if value is not None} == {
        "prefs_num_prefs_poss",
        "prefs_num_prefs_ful",
        "prefs_num_prefs_ful_ret",
    }
    assert found["prefs_num_prefs_poss"] == 0


def test_with_nothing_retrieved_every_ratio_is_0():
    found = of_one([], of_judge({"a": 2, "b": 1, "c": 0}))
    assert {value for name, value in found.items() if name != "prefs_num_prefs_poss"} == {0}


def test_documents_not_relevant_that_are_missing_stand_below_the_relevant_ones():
    # R = 2, N = 1. b > c is fulfilled, a > c is not; each retrieved relevant document adds one of R - N = 1.
    found = of_one(["b", "c", "a"], of_judge({"a": 1, "b": 1, "c": 0}))
    assert found["prefs_avgjg_Rnonrel"] == (1 + 2) / (2 + 2)
    # Without any other document the relevant ones still stand above those that are missing.
    assert of_one(["a", "b"], of_judge({"a": 1, "b": 1}))["prefs_avgjg_Rnonrel"] == 1


def test_only_the_first_documents_not_relevant_count():
    # R = 1, N = 3: of a > x, a > y and a > z only that over x, the first, counts.
    found = of_one(["x", "a", "y", "z"], of_judge({"a": 1, "x": 0, "y": 0, "z": 0}))
    assert found["prefs_simp"] == 2 / 3
    assert found["prefs_avgjg_Rnonrel"] == 0


def test_documents_not_relevant_are_not_compared_with_each_other():
    """trec_eval counts the pairs x, x and y, x as possible too, and so gives 1 / 3."""
    assert of_one(["a", "x", "y"], of_judge({"a": 1, "x": 0, "y": 0}))["prefs_avgjg_Rnonrel"] == 1


def test_a_judge_without_a_relevant_document_leaves_the_others_their_value():
    """trec_eval divides 0 by 0 for the second judge, and so gives 0."""
    judges = {"u": {"s": {"a": 1, "b": 0}}, "v": {"s": {"a": 0, "b": 0}}}
    assert of_one(["a", "b"], judges)["prefs_avgjg_Rnonrel"] == 1 / 2


def test_a_grade_below_0_is_not_relevant():
    found = of_one(["a", "b", "c"], of_judge({"a": 1, "b": 0, "c": -1}))
    assert found["prefs_num_prefs_ful"] == 3
    # R = 1: only a > b counts, c being the second that is not relevant.
    assert found["prefs_avgjg_Rnonrel"] == 1


# The judgments and figures that trec_eval publishes as its test (test/prefs.test, test/out.test.prefs); its run is
# that of query 301 for every query.

RANKING = [
    "FR940303-1-00022",
    "FBIS4-45333",
    "FBIS4-41839",
    "FBIS3-25940",
    "FBIS4-55845",
    "FBIS4-40452",
    "FBIS4-2356",
    "FBIS4-42757",
    "FBIS4-39881",
]
ELEVEN = [
    "FBIS4-45333",
    "FBIS4-41839",
    "FBIS3-25940",
    "FBIS4-55845",
    "FBIS4-40452",
    "FBIS4-2356",
    "FBIS4-42757",
    "CR93E-1952",
    "CR93E-2191",
    "CR93E-2473",
    "CR93E-3103",
]
FOUR = ["FBIS4-45333", "FBIS4-41839", "FBIS3-25940", "CR93E-2473"]
TWO = {"FR940303-1-00022": 1, "FBIS4-39881": 0}


def eleven(*levels: float) -> dict[str, float]:
    """Levels of the eleven documents."""
    return dict(zip(ELEVEN, levels, strict=True))


def first_two(levels: Mapping[str, float]) -> dict[str, float]:
    """The levels of the first two documents alone."""
    return {document: levels[document] for document in ELEVEN[:2]}


BINARY = eleven(1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0)
GRADED = eleven(4, 0, 0, 2, 0, 1, 1, 4, 0, 1, 0)
FINE = eleven(9, 8, 7, 6, 5, 5.5, 6.5, 8, 7, 6, 3)
JUDGES = [dict(zip(FOUR, levels, strict=True)) for levels in ((0, 1, 0, 5), (4, 6, 6, 5), (9, 8, 7, 5))]
MISSING = ["CR93E-10505", "CR93E-1282"]

PUBLISHED: dict[str, tuple[Levels, str]] = {
    "1.EC.AB": (of_judge(TWO), "1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
    "2.EC.A": (of_judge({RANKING[0]: 1, MISSING[0]: 0}), "1 1 0 1 1 1 1 0 0 0 1 1 1 1"),
    "3.EC.B": (of_judge({MISSING[0]: 1, RANKING[0]: 0}), "1 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    "4.EC.noRet": (of_judge({MISSING[0]: 0, MISSING[1]: 1}), "1 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    "5.EC.noPrf": (of_judge(dict.fromkeys(TWO, 1)), "0 0 0 0 0 0 1 0 0 0 1 0 0 0"),
    "6.EC.noRel": (of_judge(dict.fromkeys(TWO, 0)), "0 0 0 0 0 0 0 0 0 0 0 0 0 0"),
    "7.EC.no": (of_judge({"FBIS4-39881": 1}), "0 0 0 0 0 0 1 0 0 0 1 0 0 0"),
    "11.PA=1": ({"0": {"0": TWO, "1": TWO}}, "1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
    "21.EC.cb": (of_judge(BINARY), "30 12 4 .4 .4 .4 .4444 .3333 .3333 .3333 .4444 .4615 .4615 .4615"),
    "22.EC.c3l": (of_judge(GRADED), "41 19 9 .4634 .4634 .4634 .4894 .5294 .5294 .5294 .5652 .5278 .5278 .5278"),
    "23.EC.cml": (of_judge(FINE), "52 31 17 .5962 .5962 .5962 .6243 .8095 .8095 .8095 .6735 .6739 .6739 .6739"),
    "24.EC.mg": (
        {str(judge): {"0": levels} for judge, levels in enumerate(JUDGES)},
        "16 9 4 .5625 .5833 .5333 .5616 .5714 .6111 .5 .4810 .5625 .5833 .5333",
    ),
    "31.PA.cb": (
        {"0": {"0": BINARY, "1": first_two(BINARY)}},
        "30 12 4 .4 .4 .4 .4444 .3333 .3333 .3333 .4444 .4615 .4615 .4615",
    ),
    "33.PA.cml": (
        {"0": {"0": FINE, "1": first_two(FINE)}},
        "52 31 17 .5962 .5962 .5962 .6243 .8095 .8095 .8095 .6735 .6739 .6739 .6739",
    ),
    # trec_eval gives .6476 for prefs_avgjg_Rnonrel_ret, though the preferences are those of 24.EC.mg.
    "34.PA.mg": (
        {str(judge): {"0": levels, "1": first_two(levels)} for judge, levels in enumerate(JUDGES)},
        "16 9 4 .5625 .5833 .5333 .5616 .5714 .6111 .5 .4810 .5625 .5833 .5333",
    ),
    "40.PA.tran": (
        {
            "0": {
                "0": {
                    "FBIS4-45333": 5,
                    "FBIS4-41839": 9,
                    "FBIS3-25940": 4,
                    "FBIS4-55845": 3,
                    "CR93E-10279": 6,
                    "CR93E-10505": 0,
                },
                "1": {"FBIS3-25940": 7, "FBIS4-40452": 6, "CR93E-1282": 1},
            }
        },
        "24 17 8 .7083 .7083 .7083 .7121 .8889 .8889 .8889 .75 .7727 .7727 .7727",
    ),
}


@pytest.mark.parametrize("query", PUBLISHED)
def test_values_are_those_trec_eval_publishes(query):
    judges, figures = PUBLISHED[query]
    found = of_one(RANKING, judges)
    assert [round(found[name] or 0, 4) for name in NAMES] == [float(figure) for figure in figures.split()]


# Against plain Python.


def assert_by_hand(values: pl.DataFrame, run: pl.DataFrame, judgments: pl.DataFrame) -> None:
    """Assert that values are those of plain Python, in queries that are judged."""
    scores, levels = as_dicts(run, "score"), levels_of(judgments)
    assert values["query_id"].to_list() == sorted(levels)
    for row in values.iter_rows(named=True):
        ranked = scores.get(row["query_id"], {})
        ranking = sorted(ranked, key=lambda document: (ranked[document], document), reverse=True)
        for name, wanted in of_preferences(ranking, levels[row["query_id"]], NAMES).items():
            expected = None if wanted is None else pytest.approx(float(wanted), abs=1e-14)
            assert row[name] == expected, (row["query_id"], name)


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_plain_python(seed):
    run, judgments = preference_collection(seed)
    assert_by_hand(evaluated(run, judgments), run, judgments)


def test_each_system_has_its_own_values():
    run, judgments = preference_collection(6)
    other, _ = preference_collection(7)
    found = evaluated({"a": run, "b": other, "none": run.clear()}, judgments)
    for system, ranking in {"a": run, "b": other, "none": run.clear()}.items():
        assert_by_hand(found.filter(pl.col("run") == system), ranking, judgments)


@pytest.mark.parametrize("lazy", [False, True])
def test_evaluate_finds_the_same_values(lazy):
    run, judgments = preference_collection(6)
    found = ir.evaluate(run.lazy() if lazy else run, judgments, list(EVERY.values()), undefined=None)
    assert_frame_equal(found.lazy().collect(), evaluated(run, judgments), check_exact=True)


def test_a_query_for_which_nothing_was_judged_is_undefined():
    preferences = preferences_of(preference_table({"p": {"a": 2, "b": 1}, "q": {}}))
    ranks = pl.LazyFrame({"query_id": [*"ppq"], "doc_id": ["a", "b", None], "rank": [1, 2, None]})
    found = relate_pairs(preferences, ranks, ["query_id"]).group_by("query_id").agg(**EVERY).sort("query_id").collect()
    assert found["prefs_avgjg_Rnonrel"].to_list() == [1, None]
    assert found["prefs_simp"].to_list() == [1, None]
    assert found["prefs_num_prefs_poss"].to_list() == [1, 0]


LEVELS = st.dictionaries(
    st.sampled_from("uvw"),
    st.dictionaries(
        st.sampled_from("xy"),
        st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0, 0, 0.5, 1, 2]), min_size=1),
        min_size=1,
    ),
    min_size=1,
)


@examples(300)
@given(LEVELS, st.lists(st.sampled_from("abcdefg"), unique=True))
@pytest.mark.whole("a second")
def test_values_of_small_judgments_are_those_of_plain_python(levels, ranking):
    try:
        _ = [(preferred(groups), relevant(groups)) for groups in levels.values()]
    except ContradictionError:
        assume(False)
    assert of_one(ranking, levels) == pytest.approx(of_preferences(ranking, levels, NAMES), abs=1e-14)


# Invariants of every measure.


def test_values_are_within_the_bounds():
    run, judgments = preference_collection(8)
    values = evaluated(run, judgments).select(name for name in NAMES if "num_prefs" not in name)
    assert all(0 <= value <= 1 for row in values.iter_rows() for value in row if value is not None)
    assert all((values[name] > 0).any() for name in values.columns)


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_order_of_rows_and_engine_change_no_bit(engine):
    run, judgments = preference_collection(9, queries=40)
    relation = relation_of(run, judgments)
    shuffled = relation_of(run.sample(fraction=1, shuffle=True, seed=1), judgments[::-1])
    wanted = relation.group_by("query_id").agg(**EVERY).sort("query_id").collect(engine="in-memory")
    again = shuffled.group_by("query_id").agg(**EVERY).sort("query_id").collect(engine=engine)
    assert_frame_equal(again, wanted, check_exact=True)


def test_names_of_judges_change_no_bit():
    run, judgments = preference_collection(10, queries=40)
    renamed = judgments.with_columns(pl.col("judge").replace_strict({"j0": "z", "j1": "b", "j2": "a"}))
    assert_frame_equal(evaluated(run, renamed), evaluated(run, judgments), check_exact=True)


def test_a_ranking_as_the_judge_wants_it_has_the_best_values():
    levels = {f"d{i}": i // 3 for i in range(20)}
    found = of_one(sorted(levels, key=levels.__getitem__, reverse=True), of_judge(levels))
    assert {value for name, value in found.items() if "num_prefs" not in name} == {1.0}
