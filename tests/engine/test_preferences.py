"""Preferences of judges, from levels and from pairs, and the ranks of both documents in a run."""

import polars as pl
import pytest
from generated import preference_collection
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from preferences_by_hand import ContradictionError, judgments_frame, levels_of, preferred, relevant
from suite import examples

import polars_ir as ir
from polars_ir.engine.preferences import RELATION, preferences_of, relate_pairs
from polars_ir.frames.judgments import preference_table


def relation_of(judgments: object) -> pl.DataFrame:
    """The pairs that judges prefer, of a run that returned nothing."""
    preferences = preferences_of(preference_table(judgments))
    ranks = preferences.documents.select("query_id", "doc_id", rank=pl.lit(None, pl.UInt32)).unique()
    return relate_pairs(preferences, ranks, ["query_id"]).filter(pl.col("preferred").is_not_null()).collect()


def pairs_of(judgments: object) -> list[tuple[str, str, str]]:
    """The preferences of one query."""
    return sorted(relation_of(judgments).select("judge", "preferred", "other").iter_rows())


def judged(*rows: tuple[str, str, str, float]) -> pl.DataFrame:
    """Levels of one query: judge, group, document, level."""
    return pl.DataFrame(
        [("q", *row) for row in rows], schema=["query_id", "judge", "group", "doc_id", "relevance"], orient="row"
    )


def error_of(judgments: object) -> str:
    """The message of the error that judgments cause."""
    with pytest.raises(ir.IRError) as error:
        preferences_of(preference_table(judgments))
    return str(error.value)


# The examples of trec_eval's description of the format, with their counts.


def test_a_group_prefers_every_higher_level_to_every_lower_one():
    levels = {"1": 3.0, "2": 2.0, "3": 0.0, "4": 6.0, "5": 0.0, "6": 2.0}
    pairs = pairs_of(judged(*(("u", "s", document, level) for document, level in levels.items())))
    # 5 of document 4, 4 of document 1, 2 each of documents 2 and 6.
    assert [sum(better == document for _, better, _ in pairs) for document in "123456"] == [4, 2, 0, 5, 0, 2]


def test_a_preference_in_two_groups_is_one():
    of_two = [("s1", {"1": 3, "2": 2, "3": 1}), ("s2", {"1": 2, "2": 1, "4": 3})]
    pairs = pairs_of(judged(*(("u", group, doc, level) for group, levels in of_two for doc, level in levels.items())))
    assert [better + worse for _, better, worse in pairs] == ["12", "13", "23", "41", "42", "43"]


def test_what_follows_from_two_groups_is_preferred_too():
    of_two = [("s1", {"1": 3, "2": 2, "3": 1}), ("s2", {"2": 5, "4": 4})]
    pairs = pairs_of(judged(*(("u", group, doc, level) for group, levels in of_two for doc, level in levels.items())))
    # Nothing is said of documents 3 and 4.
    assert [better + worse for _, better, worse in pairs] == ["12", "13", "14", "23", "24"]


def test_a_chain_over_many_groups_is_followed_to_its_end():
    chain = [row for i in range(20) for row in (("u", f"g{i}", f"{i:02}", 2), ("u", f"g{i}", f"{i + 1:02}", 1))]
    assert len(pairs_of(judged(*chain))) == 21 * 20 // 2


def test_judges_may_contradict_each_other():
    assert pairs_of(judged(("u", "s", "a", 2), ("u", "s", "b", 1), ("v", "s", "a", 1), ("v", "s", "b", 2))) == [
        ("u", "a", "b"),
        ("v", "b", "a"),
    ]


def test_how_many_judges_compare_two_documents_is_counted():
    judgments = judged(
        *(("u", "s", document, level) for document, level in {"a": 2, "b": 1, "c": 1}.items()),
        *(("v", "s", document, level) for document, level in {"a": 1, "b": 2, "c": 1}.items()),
    )
    pairs = relation_of(judgments)
    assert sorted(pairs.select("judge", "preferred", "other", "n_judges").iter_rows()) == [
        ("u", "a", "b", 2),
        ("u", "a", "c", 1),
        ("v", "b", "a", 2),
        ("v", "b", "c", 1),
    ]


# The forms of judgments.


def test_plain_qrels_are_the_preferences_of_one_judge():
    assert pairs_of({"q": {"a": 2, "b": 1, "c": 1}}) == [("0", "a", "b"), ("0", "a", "c")]


def test_without_groups_a_judge_has_one():
    assert pairs_of(judged(("u", "s", "a", 2), ("u", "s", "b", 1)).drop("group")) == [("u", "a", "b")]


def test_pairs_are_preferences_and_what_follows_from_them():
    pairs = pl.DataFrame({"qid": "q", "judge": ["u", "u", "v"], "preferred": ["a", "b", "c"], "other": ["b", "c", "a"]})
    assert pairs_of(pairs) == [("u", "a", "b"), ("u", "a", "c"), ("u", "b", "c"), ("v", "c", "a")]
    assert pairs_of(pairs.filter(pl.col("judge") == "u").drop("judge"))[0] == ("0", "a", "b")


def test_ids_may_be_integers():
    judgments = pl.DataFrame({"query_id": 1, "judge": 7, "doc_id": [10, 9], "relevance": [1, 2]})
    assert pairs_of(judgments) == [(7, 9, 10)]


def test_a_frame_of_pandas_is_read():
    frame = judged(("u", "s", "a", 2), ("u", "s", "b", 1))
    assert pairs_of(frame.to_pandas()) == pairs_of(frame)


def test_judgments_are_not_changed():
    judgments = judged(("u", "s", "a", 2), ("u", "s", "b", 1))
    kept = judgments.clone()
    pairs_of(judgments)
    assert_frame_equal(judgments, kept)


# Wrong judgments.


def test_preferences_of_a_judge_that_go_round_in_a_circle_are_an_error():
    rows = [("s1", {"a": 2, "b": 1}), ("s2", {"b": 2, "c": 1}), ("s3", {"c": 2, "a": 1}), ("s4", {"z": 2, "a": 1})]
    judgments = judged(*(("u", group, doc, level) for group, levels in rows for doc, level in levels.items()))
    assert error_of(judgments.rename({"query_id": "qid"})) == (
        "what a judge prefers must be an order; in qrels 3 documents are in a cycle of preferences. "
        "Leave out a preference of each cycle, or give it to another judge. The first:\n"
        "+-----+-------+--------+\n"
        "| qid | judge | doc_id |\n"
        "+======================+\n"
        "| q   | u     | a      |\n"
        "| q   | u     | b      |\n"
        "| q   | u     | c      |\n"
        "+-----+-------+--------+"
    )


def test_a_document_that_is_relevant_and_not_to_one_judge_is_an_error():
    judgments = judged(("u", "s1", "a", 2), ("u", "s2", "a", 0), ("u", "s2", "b", 1), ("v", "s", "a", 0))
    message = error_of(judgments)
    assert message.startswith(
        "qrels has 2 rows in which a judge finds a document relevant (above 0) in one group and not relevant in "
        "another. Give it levels that agree, or the groups to two judges. The first:\n"
    )
    assert [line.split("|")[3].strip() for line in message.splitlines()[4:6]] == ["s1", "s2"]


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        (
            judged(("u", "s", "a", 2)).lazy(),
            "qrels must be in memory where they are preferences; got a LazyFrame. Collect it first: qrels.collect().",
        ),
        (
            pl.DataFrame({"query_id": "q", "doc_id": ["a"]}),
            (
                "qrels has no 'relevance' column (recognised names: relevance, rel, label, rating, grade, gain, "
                "score); it has 'query_id', 'doc_id'. Rename the column of grades to 'relevance', or, if every "
                "row is relevant, as clicks and purchases are, say so: qrels.with_columns(relevance=1)."
            ),
        ),
        (
            pl.DataFrame({"query_id": "q", "preferred": ["a"]}),
            ("qrels has no 'other' column (recognised names: other); it has 'query_id', 'preferred'. Give it one."),
        ),
        (
            pl.DataFrame({"query_id": "q", "preferred": ["a"], "other": ["b"], "relevance": [1]}),
            (
                "qrels are pairs of documents ('preferred', 'other') or levels ('doc_id', 'relevance'); they have "
                "both: 'query_id', "
                "'preferred', 'other', 'relevance'. Keep one kind: qrels.drop('relevance')."
            ),
        ),
        (
            pl.DataFrame({"query_id": "q", "preferred": ["a"], "other": [1]}),
            "qrels column 'other' must be String, as 'preferred' is; it is Int64. Cast one of them.",
        ),
    ],
)
def test_a_frame_that_is_no_judgment_is_an_error(judgments, message):
    assert error_of(judgments) == message


@pytest.mark.parametrize(
    ("judgments", "start"),
    [
        (
            pl.DataFrame({"query_id": "q", "preferred": ["a", "b", None], "other": ["b", "b", "c"]}),
            (
                "qrels has 2 rows without two different documents. Leave them out: qrels.filter(pl.col('preferred') != "
                "pl.col('other')). The first:"
            ),
        ),
        (
            judged(("u", "s", "a", 2), ("u", "s", "a", 1)),
            "qrels has 2 rows that repeat the ids of another (query_id, judge, group, doc_id).",
        ),
        (
            judged(("u", "s", "a", 2)).with_columns(judge=pl.lit(None, pl.String)),
            "qrels has 1 row whose 'judge' is null. Leave them out: qrels.filter(pl.col('judge').is_not_null()).",
        ),
        (
            judged(("u", "s", "a", float("nan"))),
            "qrels has 1 row whose 'relevance' is null, NaN or infinite.",
        ),
    ],
)
def test_rows_that_are_no_judgments_are_an_error(judgments, start):
    assert error_of(judgments).startswith(start)


# Against plain Python.

LEVELS = st.dictionaries(
    st.sampled_from("uv"),
    st.dictionaries(
        st.sampled_from("xyz"),
        st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0, 0.5, 1, 2]), min_size=1),
        min_size=1,
    ),
    min_size=1,
)


@examples(300)
@given(LEVELS)
@pytest.mark.whole("a second")
def test_preferences_are_those_of_plain_python(levels):
    judgments = judgments_frame({"q": levels})
    try:
        of_hand = {(judge, *pair) for judge, groups in levels.items() for pair in preferred(groups)}
        finds = {(judge, *item) for judge, groups in levels.items() for item in relevant(groups).items()}
    except ContradictionError:
        with pytest.raises(ir.IRError):
            preferences_of(preference_table(judgments))
        return
    found = preferences_of(preference_table(judgments))
    assert pairs_of(judgments) == sorted(of_hand)
    assert set(found.documents.select("judge", "doc_id", "relevant").collect().iter_rows()) == finds


def test_larger_preferences_are_those_of_plain_python():
    _, judgments = preference_collection(1, queries=70)
    pairs = relation_of(judgments)
    assert set(pairs.select("query_id", "judge", "preferred", "other").iter_rows()) == {
        (query, judge, *pair)
        for query, judges in levels_of(judgments).items()
        for judge, groups in judges.items()
        for pair in preferred(groups)
    }
    assert pairs.height > 1000


# The relation.


def test_the_relation_has_the_places_of_both_documents():
    preferences = preferences_of(preference_table(judged(("u", "s", "a", 2), ("u", "s", "b", 1), ("u", "s", "c", 0))))
    ranks = pl.LazyFrame({"query_id": "q", "doc_id": ["a", "b", "c"], "rank": [7, 3, None]})
    relation = relate_pairs(preferences, ranks, ["query_id"]).collect()
    assert relation.columns == ["query_id", *RELATION]
    assert sorted(relation.select("preferred", "other", "preferred_rank", "other_rank").iter_rows(), key=repr) == [
        ("a", "b", 7, 3),
        ("a", "c", 7, None),
        ("b", "c", 3, None),
    ]
    counts = relation.select(pl.col("^n_(non)?relevant.*$")).unique()
    assert counts.row(0, named=True) == {
        "n_relevant": 2,
        "n_relevant_retrieved": 2,
        "n_nonrelevant": 1,
        "n_nonrelevant_retrieved": 0,
    }


def test_documents_not_relevant_have_places_among_themselves():
    levels = {"a": 1, "n1": 0, "n2": 0, "n3": 0, "n4": 0}
    preferences = preferences_of(preference_table({"q": levels}))
    ranks = pl.LazyFrame({"query_id": "q", "doc_id": list(levels), "rank": [None, None, 5, None, 2]})
    relation = relate_pairs(preferences, ranks, ["query_id"]).collect().sort("other")
    assert relation["other"].to_list() == ["n1", "n2", "n3", "n4"]
    assert relation["nonrelevant_place"].to_list() == [3, 2, 4, 1]


def test_a_judge_without_preferences_keeps_a_row_for_every_system():
    preferences = preferences_of(preference_table({"q": {"a": 1, "b": 1}}))
    ranks = pl.LazyFrame({"run": ["x", "x", "y", "y"], "query_id": "q", "doc_id": [*"abab"], "rank": [1, 2, None, 1]})
    relation = relate_pairs(preferences, ranks, ["run", "query_id"]).collect().sort("run")
    assert relation.select("run", "preferred", "n_relevant", "n_relevant_retrieved").rows() == [
        ("x", None, 2, 2),
        ("y", None, 2, 1),
    ]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int64, pl.UInt64])
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_ids_of_the_run_may_be_of_another_type_or_those_of_no_judgment(dtype, missing):
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": [2, 3], "score": [2.0, 1.0]})
    run = run.cast({"query_id": dtype, "doc_id": dtype})
    qrels = pl.DataFrame({"query_id": [1, 1], "doc_id": [2, 3], "relevance": [1, 0]})
    assert ir.evaluate(run, qrels, "prefs_simp", missing=missing).rows() == [(1, 1.0)]
    none = qrels.clear().cast({"query_id": pl.String, "doc_id": pl.String})
    with pytest.warns(ir.IRWarning, match="hold no judgments"):
        assert ir.evaluate(run, none, "prefs_simp", missing=missing).rows() == []


@pytest.mark.parametrize(("ties", "wanted"), [("doc_id", 0.0), ("best", 0.0), ("worst", 1.0)])
def test_tied_documents_that_were_compared_go_by_id_which_worst_turns_round(ties, wanted):
    run = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [1.0, 1.0]})
    qrels = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "relevance": [2, 1]})
    for each in (run, run.lazy()):
        assert ir.evaluate(each, qrels, "prefs_simp", ties=ties).lazy().collect().rows() == [("q", wanted)]


# Size.


def test_a_long_order_costs_no_more_than_its_pairs():
    n = 1_000
    chain = pl.DataFrame({"query_id": "q", "preferred": range(n), "other": range(1, n + 1)})
    (pairs,) = pl.collect_all([preferences_of(preference_table(chain)).pairs.unique()])
    assert pairs.height == n * (n + 1) // 2  # a join of all with all would make 300 times as many


def test_a_total_order_of_pairs_implies_nothing_else():
    pairs = [(a, b) for a in range(60) for b in range(a + 1, 60)]
    frame = pl.DataFrame(pairs, schema=["preferred", "other"], orient="row").with_columns(query_id=pl.lit("q"))
    assert len(pairs_of(frame)) == len(pairs)


@pytest.mark.parametrize(
    "columns",
    [pytest.param(["doc_id", "relevance"], marks=pytest.mark.whole("seconds")), ["preferred", "other"]],
)
def test_more_pairs_than_a_machine_holds_are_an_error_before_they_are_made(columns):
    n = 20_000
    frame = pl.DataFrame({"query_id": "q", columns[0]: range(n), columns[1]: range(1, n + 1)})
    says = r"qrels imply [\d,]+ preferences of one document over another; at most 100,000,000 are made at once\."
    with pytest.raises(ir.IRError, match=says):
        preferences_of(preference_table(frame))
