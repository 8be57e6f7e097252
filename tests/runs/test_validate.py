"""`validate`: one test a finding."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_ir as ir
from polars_ir.errors import OptionError
from polars_ir.runs.findings import FINDINGS
from polars_ir.runs.leaks import LEAKS

RUN = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "score": [0.9, 0.5, 0.7]})
QRELS = pl.DataFrame({"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "relevance": [0, 1, 2]})
NAN = float("nan")


def findings(run: object, qrels: object = QRELS) -> dict[str, tuple[int, float, list[str]]]:
    """Count, share and examples of each finding; the same for frames in memory and for plans."""
    found = ir.validate(run, qrels)
    if isinstance(run, pl.DataFrame):
        lazily = ir.validate(run.lazy(), qrels.lazy() if isinstance(qrels, pl.DataFrame) else qrels)
        assert isinstance(lazily, pl.LazyFrame)
        assert lazily.collect().equals(found)
    return {name: tuple(values) for name, _, *values, _ in found.rows()}


def test_only_some_findings_are_looked_for_each_with_its_severity():
    doubled = pl.concat([RUN, RUN[:1]])
    whole, severities = ir.validate(doubled, QRELS[:2]), ("error", "warning", "note")
    for name, severity in FINDINGS.items():
        found = ir.validate(doubled, QRELS[:2], only=name)
        assert found.equals(whole.filter(finding=name))
        assert severity in severities
    assert whole["severity"].to_list() == ["error", "note"]
    assert ir.validate(doubled, QRELS[:2], only=["duplicates in the run", "tied scores"]).height == 1
    with pytest.raises(OptionError, match="Did you mean 'tied scores'"):
        ir.validate(RUN, QRELS, only="tied score")


def test_a_clean_pair_gives_an_empty_frame():
    found = ir.validate(RUN, QRELS)
    assert found.is_empty()
    assert found.schema == {
        "finding": pl.String,
        "severity": pl.String,
        "count": pl.UInt32,
        "share": pl.Float64,
        "examples": pl.List(pl.String),
        "meaning": pl.String,
    }


def test_ids_of_different_types():
    found = findings(RUN.with_columns(doc_id=pl.Series([1, 2, 1])))
    count, share, examples = found["ids of different types"]
    assert (count, share) == (1, 1.0)
    assert examples[0].startswith("ids must have one type on both sides; run column 'doc_id' is Int64")


def test_ids_of_different_types_are_compared_as_text():
    qrels = QRELS.with_columns(doc_id=pl.Series(["1", "2", "1"]))
    assert findings(RUN.with_columns(doc_id=pl.Series([1, 2, 1])), qrels).keys() == {"ids of different types"}


@pytest.mark.parametrize(
    ("run", "example"),
    [
        (RUN.with_columns(score=pl.Series([0.9, NAN, 0.7])), "q1 d2"),
        (RUN.with_columns(score=pl.Series([0.9, None, 0.7])), "q1 d2"),
        (RUN.with_columns(doc_id=pl.Series(["d1", None, "d1"])), "q1 null"),
        (RUN.with_columns(query_id=pl.Series(["q1", None, "q2"])), "null d2"),
    ],
)
def test_null_ids_or_scores_in_the_run(run, example):
    assert findings(run)["null ids or scores in the run"] == (1, pytest.approx(1 / 3), [example])


@pytest.mark.parametrize(
    ("qrels", "example"),
    [
        (QRELS.with_columns(relevance=pl.Series([0.0, NAN, 2.0])), "q1 d2"),
        (QRELS.with_columns(relevance=pl.Series([0, None, 2])), "q1 d2"),
        (QRELS.with_columns(doc_id=pl.Series(["d1", None, "d1"])), "q1 null"),
    ],
)
def test_null_ids_or_grades_in_the_qrels(qrels, example):
    assert findings(RUN, qrels)["null ids or grades in the qrels"] == (1, pytest.approx(1 / 3), [example])


def test_a_query_judged_without_a_document_is_no_null_id():
    assert "null ids or grades in the qrels" not in findings(RUN, {"q1": ["d1", "d2"], "q2": []})


def test_duplicates_in_the_run():
    assert findings(pl.concat([RUN, RUN[:1]]))["duplicates in the run"] == (2, 0.5, ["q1 d1"])


def test_duplicates_in_the_qrels():
    assert findings(RUN, pl.concat([QRELS, QRELS[:1]]))["duplicates in the qrels"] == (2, 0.5, ["q1 d1"])


def test_queries_without_judgments():
    assert findings(RUN, QRELS[:2]) == {"queries without judgments": (1, 0.5, ["q2"])}


def test_judged_queries_missing_from_the_run():
    assert findings(RUN[:2]) == {"judged queries missing from the run": (1, 0.5, ["q2"])}


def test_judged_queries_missing_from_one_system():
    found = findings({"a": RUN, "b": RUN[:2]})
    assert found["judged queries missing from the run"] == (1, 0.25, ["b q2"])


def test_queries_without_a_relevant_document():
    qrels = QRELS.with_columns(relevance=pl.Series([0, 1, 0]))
    assert findings(RUN, qrels) == {"queries without a relevant document": (1, 0.5, ["q2"])}


@pytest.mark.parametrize(
    ("of_run", "of_qrels"), [("q1", " q1"), ("q1", "Q1"), ("q1", "q1.0"), ("1", "01"), ("1.0", "1"), ("7", "007 ")]
)
def test_query_ids_that_only_look_different(of_run, of_qrels):
    run, qrels = {of_run: ["d1"]}, {of_qrels: ["d1"]}
    found = findings(run, qrels)["query_id that only looks different"]
    assert found == (1, 1.0, [f"'{of_run}' ~ '{of_qrels}'"])


def test_document_ids_that_only_look_different():
    found = findings({"q": ["d1", "d2"]}, {"q": ["d1", "D2"]})
    assert found["doc_id that only looks different"] == (1, 1.0, ["'d2' ~ 'D2'"])


def test_ids_that_are_different_do_not_only_look_so():
    found = findings({"q": ["d1", "d2"]}, {"q": ["d1", "d3"]})
    assert not [name for name in found if "looks different" in name]


def test_tied_scores_and_how_far_they_could_move_the_measures():
    found = findings(RUN.with_columns(score=pl.Series([0.5, 0.5, 0.7])))
    assert found["tied scores"] == (2, pytest.approx(2 / 3), ["q1"])
    # d2 alone is relevant to q1: nDCG@10 is 1 or 1/log2(3) there, and the mean is over two queries.
    assert found["nDCG@10 moved by ties"] == (1, pytest.approx((1 - 0.6309297535714574) / 2, abs=1e-12), ["q1"])
    assert "P@10 moved by ties" not in found


def test_ties_across_the_cutoff_move_precision():
    # The query is shown as its id is written.
    run = {7: {f"d{number:02}": 1.0 for number in range(11)}}
    qrels = {7: {f"d{number:02}": int(number == 10) for number in range(11)}}
    assert findings(run, qrels)["P@10 moved by ties"] == (1, pytest.approx(0.1, abs=1e-12), ["7"])


def test_unjudged_documents_in_the_top_10():
    found = findings(RUN, QRELS.filter(pl.col("relevance") > 0))
    assert found == {"unjudged documents in the top 10": (1, pytest.approx(1 / 3), ["q1 d1"])}


def test_unjudged_documents_below_the_top_10_are_no_finding():
    run = {"q": [f"d{number}" for number in range(12)]}
    assert findings(run, {"q": [f"d{number}" for number in range(10)]}) == {}


def test_a_rank_column_against_the_scores():
    found = findings(RUN.with_columns(rank=pl.Series([2, 1, 1])))
    assert found == {"rank column against the scores": (1, pytest.approx(1 / 3), ["q1"])}


@pytest.mark.parametrize("ranks", [["first", "second"], [True, False], [None, 1]])
def test_a_rank_that_is_no_number_is_none(ranks):
    run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.5], "rank": ranks})
    assert ir.validate(run, {"q": {"a": 1, "b": 0}}).is_empty()


@pytest.mark.parametrize(
    ("ids", "wrong"),
    [([5, -1, -1], ["q -1"]), (["a", "", "-1"], ["q ", "q -1"]), (["a", "b", "c"], None), ([1, 2, 3], None)],
)
def test_ids_that_stand_for_no_document_are_a_finding(ids, wrong):
    run = pl.DataFrame({"query_id": "q", "doc_id": ids, "score": [3.0, 2.0, 1.0]})
    found = findings(run, run.select("query_id", "doc_id", relevance=1))
    for name in ("empty ids in the run", "empty ids in the qrels"):
        assert found.get(name) == (None if wrong is None else (2, 2 / 3, wrong))


@pytest.mark.parametrize("grades", [[0.9, 0.8, 0.7], [90, 50, 20]])
def test_a_run_in_the_place_of_judgments_is_a_finding(grades):
    judged = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "score": [2, 0]})
    scored = pl.DataFrame({"query_id": "q", "doc_id": ["a", "x", "b"], "relevance": grades})
    assert findings(judged, scored)["run and qrels exchanged"] == (1, 1.0, ["scores as of grades, grades as of scores"])
    assert "run and qrels exchanged" not in findings(
        scored.rename({"relevance": "score"}), judged.rename({"score": "relevance"})
    )


def test_scores_in_the_place_of_ranks_are_a_finding():
    run = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b"], "rank": ["14.5x", None], "score": [1.0, 2.0]})
    found = findings(run, {"q": ["a", "b"]})
    assert found == {"score and rank exchanged": (1, 1.0, ["q"])}
    assert findings(run.with_columns(score=pl.Series([3.0, 1.0])), {"q": ["a", "b"]}) == {}


def test_a_rank_column_with_the_scores_is_no_finding():
    assert findings(RUN.with_columns(rank=pl.Series([1, 2, 1]))) == {}


def test_at_most_five_examples_are_shown():
    run = {f"q{number}": ["d"] for number in range(9)}
    count, _, examples = findings(run, {"q0": ["d"]})["queries without judgments"]
    assert (count, examples) == (8, ["q1", "q2", "q3", "q4", "q5"])


def test_an_empty_run_is_a_finding():
    assert findings(RUN.clear())["judged queries missing from the run"] == (2, 1.0, ["q1", "q2"])


def test_a_run_without_documents_can_not_be_validated():
    with pytest.raises(ir.IRError, match="run has no 'doc_id' column"):
        ir.validate(RUN.drop("doc_id"), QRELS)


def test_grades_that_are_shares_of_the_best():
    qrels = QRELS.with_columns(relevance=pl.Series([0.0, 0.4, 1.0]))
    assert findings(RUN, qrels) == {"grades between 0 and 1": (1, pytest.approx(1 / 3), ["q1 d2"])}
    assert findings(RUN, QRELS.with_columns(relevance=pl.Series([0.5, 1.0, 3.0]))) == {}


def test_no_run_can_do_better_than_0_where_no_grade_is_above_0_and_only_there():
    qrels = QRELS.with_columns(relevance=pl.Series([0.0, 0.4, 0.0]))
    assert findings(RUN, qrels)["queries without a relevant document"] == (1, 0.5, ["q2"])
    with pytest.warns(ir.IRWarning, match="no grade is relevant"):
        perfect = ir.evaluate({"q1": ["d2"], "q2": ["d1"]}, qrels, ["nDCG", "RR"])
    assert perfect["nDCG"].to_list() == [1.0, 0.0]


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("ranks", "queries"),
    [([1, 2, 9], ["q2"]), ([1, 3, 1], ["q1"]), ([0, 1, 0], []), ([1, 2, 1], []), ([4, 5, 1], ["q1"])],
)
@pytest.mark.whole("many cases", quick=5)
def test_gaps_in_a_rank_column(beside, ranks, queries):
    run = RUN.with_columns(rank=pl.Series(ranks))
    found = findings(run if beside else run.drop("score"))
    assert found.get("rank column with gaps", (0, 0, []))[2] == queries


def test_a_lone_document_at_rank_9_is_the_first_of_its_ranking():
    run = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d1"], "rank": [9, 1]})
    assert ir.evaluate(run, QRELS, "RR").rows() == [("q1", 1.0), ("q2", 1.0)]


def test_ids_with_accents_in_two_forms_only_look_different():
    composed, decomposed = "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"
    count, _, (example,) = findings({"q": [composed]}, {"q": [decomposed]})["doc_id that only looks different"]
    assert (count, example) == (1, f"'{composed}' ~ '{decomposed}'")


@given(st.randoms(use_true_random=False))
@pytest.mark.whole("a second")
def test_the_order_of_rows_does_not_matter(chance):
    run = pl.DataFrame(
        [(f"q{q}", doc, chance.randrange(2)) for q in range(9) for doc in chance.sample("abcdefgh", 5)],
        schema=["query_id", "doc_id", "score"],
        orient="row",
    )
    qrels = {f"q{q}": {doc: chance.randrange(3) for doc in chance.sample("abcdefgh", 3)} for q in range(9)}
    assert ir.validate(run.sample(fraction=1, shuffle=True, seed=1), qrels).equals(ir.validate(run, qrels))


@pytest.mark.parametrize("levels", [1, 3, 97])
def test_what_is_below_the_top_changes_no_finding_on_it(levels):
    # Of a plan the whole run is ranked, of a frame its top.
    rows = [(system, f"q{q}", f"d{d}", d * (q + 3) % levels) for system in "ab" for q in range(9) for d in range(25)]
    run = pl.DataFrame(rows, schema=["run", "query_id", "doc_id", "score"], orient="row")
    qrels = {f"q{q}": {f"d{d}": d % 4 - 1 for d in range(q, 40, 3)} for q in range(2, 11)}
    found = findings(run, qrels)
    assert "unjudged documents in the top 10" in found
    assert ("nDCG@10 moved by ties" in found) == (levels < 97)


@pytest.mark.parametrize("ids", [pl.String, pl.Int64])
def test_rows_of_a_system_without_a_name_are_refused_as_evaluate_refuses_them(ids):
    run = pl.DataFrame(
        {"run": ["a", "a", None], "query_id": ["q", "q", "q"], "doc_id": [1, 2, 3], "score": [0.5, 0.5, 0.7]}
    )
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["1"], "relevance": [1]})
    run = run.with_columns(pl.col("doc_id").cast(ids))
    for found in (ir.validate(run, qrels), ir.validate(run.lazy(), qrels).collect()):
        counts = dict(found.select("finding", "count").rows())
        assert counts["null ids or scores in the run"] == 1
        assert counts["tied scores"] == 2
        assert ("ids of different types" in counts) == (ids == pl.Int64)


RUN_OF_KINDS = {"q": ["a", "b", "x"], "p": ["a"]}

#: Judgments that are no grades of documents, each with the documents a and b of a query.
OF_KINDS = {
    "pairs": pl.DataFrame({"query_id": ["q"], "preferred": ["a"], "other": ["b"]}),
    "levels": pl.DataFrame(
        {
            "query_id": "q",
            "judge": ["j", "j", "k", "k"],
            "group": 1,
            "doc_id": ["a", "b"] * 2,
            "relevance": [2, 1, 0, 1],
        }
    ),
    "subtopics": pl.DataFrame(
        {"query_id": "q", "doc_id": ["a", "a", "b"], "aspect": ["s", "t", "s"], "relevance": [1, 1, 1]}
    ),
}


@pytest.mark.parametrize("qrels", OF_KINDS.values(), ids=OF_KINDS)
def test_judgments_of_every_kind_are_read_as_the_kind_says(qrels):
    for judgments in (qrels, qrels.to_pandas(), ir.judgments(qrels)):
        found = ir.validate(RUN_OF_KINDS, judgments).select("finding", "examples").rows()
        assert found == [("queries without judgments", ["p"]), ("unjudged documents in the top 10", ["q x"])]
        covered = ir.coverage(RUN_OF_KINDS, judgments).row(0, named=True)
        assert (covered["n_met"], covered["n_documents_met"], covered["judged"]) == (1, 2, pytest.approx(2 / 3))


def test_a_part_of_a_document_that_is_judged_twice_is_found():
    twice = pl.concat([OF_KINDS["subtopics"], OF_KINDS["subtopics"].head(1)])
    found = ir.validate(RUN_OF_KINDS, twice, only="duplicates in the qrels")
    assert found.select("count", "examples").rows() == [(2, ["q a"])]
    plan = pl.LazyFrame({"query_id": ["q", "p"], "doc_id": ["a", "a"], "score": [1.0, 1.0]})
    assert ir.validate(plan, twice.lazy(), only="duplicates in the qrels").collect().equals(found)


def test_measures_of_documents_say_that_they_do_not_read_preferences():
    with pytest.raises(ir.IRError, match="qrels are preferences"):
        ir.evaluate(RUN_OF_KINDS, OF_KINDS["pairs"], "nDCG")


# What users had before.

HISTORY = {"u1": ["a", "b", "c"], "u2": ["a", "b"], "u3": ["a", "d"], "u4": ["a"]}
TEST = {"u1": ["d"], "u2": ["c", "e"], "u3": ["f"], "u4": ["b"]}
SAMPLED = {"u1": ["d", "e", "b"], "u2": ["c", "e", "d"], "u3": ["f", "b", "d"], "u4": ["b", "d", "c"]}


def of_history(lists: object, test: object = TEST, history: object = HISTORY) -> dict[str, tuple]:
    """Count, share and examples of the findings of a history; the same of plans."""
    tables = [lists if isinstance(lists, pl.DataFrame) else pl.DataFrame(listed(lists)), listed(test), listed(history)]
    run, qrels, past = tables[0], *(pl.DataFrame(table) for table in tables[1:])
    found = run.ir.validate(qrels, history=past, only=list(LEAKS))
    assert run.lazy().ir.validate(qrels.lazy(), history=past.lazy(), only=list(LEAKS)).collect().equals(found)
    assert pl.DataFrame(run.to_pandas().ir.validate(qrels, history=past, only=list(LEAKS))).equals(found)
    return {name: (*values[:2], list(values[2])) for name, _, *values, _ in found.rows()}


def listed(lists: dict) -> list[dict]:
    return [
        {"user_id": user, "item_id": item, "score": -place, "relevance": 1}
        for user, of in lists.items()
        for place, item in enumerate(of)
    ]


def test_a_test_that_leaks_nothing_has_no_finding():
    assert of_history({"u1": "dc", "u2": "c"}, {"u1": "d", "u2": "c"}, {"u1": "ab", "u2": "d", "u3": "c"}) == {}


def test_pairs_that_the_history_has_are_counted_in_the_judgments_and_in_the_run():
    found = of_history({"u1": ["a", "d"], "u2": ["c", "d"]}, {**TEST, "u4": ["a", "a", "b"]})
    assert found["judged pairs in the history"] == (1, 1 / 6, ["u4 a"])
    assert found["recommended pairs in the history"] == (1, 0.25, ["u1 a"])


def test_judged_users_and_items_that_the_history_lacks_are_counted_once():
    found = of_history(SAMPLED, {**TEST, "u9": ["e", "a"]})
    assert found["judged users without a history"] == (1, 0.2, ["u9"])
    assert found["judged items that nobody had"] == (2, pytest.approx(1 / 3), ["e", "f"])


def test_lists_of_equal_length_with_every_judged_item_look_sampled():
    name = "lists that look sampled"
    assert of_history(SAMPLED)[name] == (4, 1.0, ["u1", "u2", "u3", "u4"])
    for other in (
        {**SAMPLED, "u1": ["d", "e"]},  # of another length
        {**SAMPLED, "u1": ["a", "e", "b"]},  # without a judged item
        {"u1": SAMPLED["u1"]},  # one alone
    ):
        assert name not in of_history(other)
    # Lists of all items.
    assert name not in of_history(dict.fromkeys(SAMPLED, "abcd"), {"u1": ["d"], "u2": ["c"]})
    systems = pl.concat(
        pl.DataFrame(listed(lists)).with_columns(run=pl.lit(run))
        for run, lists in {"x": SAMPLED, "y": {**SAMPLED, "u1": ["d"]}}.items()
    )
    assert of_history(systems)[name] == (4, 0.5, ["x u1", "x u2", "x u3", "x u4"])


def test_findings_of_a_history_are_looked_for_where_there_is_one():
    with pytest.raises(OptionError, match="only must be one of"):
        ir.validate(RUN, QRELS, only="lists that look sampled")
    with pytest.raises(ir.IRError, match="ids must have one type on both sides; run column 'doc_id' is String"):
        ir.validate(RUN, QRELS, history={"q1": [1, 2]})
    assert set(LEAKS.values()) <= {"warning", "note"}


@pytest.mark.parametrize(("query", "document", "n"), [("user_id", "item_id", 0), ("qid", "docno", 1)])
@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, lambda _: {1: {1: 2.0, 2: 1.0}}])
def test_users_retrieve_items_and_not_themselves(query, document, n, kind):
    run = kind({query: [1, 1, 1], document: [1, 1, 2], "score": [2.0, 2.0, 1.0]})
    qrels = pl.DataFrame({query: [1], document: [2], "relevance": [1]})
    found = ir.validate(run, qrels, only="queries that retrieve themselves").lazy().collect()
    assert found.select("count", "share").rows() == [(1, 0.5)] * n
