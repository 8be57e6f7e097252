"""Nuggets and citations: the worked numbers, files as tools write them, and what is refused."""

import json

import polars as pl
import pytest
from messages import message_of
from polars.testing import assert_frame_equal

import polars_ir as ir

#: Three vital nuggets and two others.
NUGGETS = pl.DataFrame(
    {
        "query_id": ["q"] * 5,
        "nugget": [1, 2, 3, 4, 5],
        "importance": ["vital"] * 3 + ["okay"] * 2,
        "assignment": ["support", "partial_support", "not_support", "support", "not_support"],
    }
)

#: `2 | 1 | 0,2 | -1 | (none)`.
SUPPORT = pl.DataFrame(
    {
        "query_id": ["q"] * 6,
        "sentence": [1, 2, 3, 3, 4, 5],
        "citation": [1, 1, 1, 2, 1, None],
        "support": [2, 1, 0, 2, -1, None],
    }
)


def value(frame):
    return frame.lazy().collect()[:, -1].item()


@pytest.fixture
def write(tmp_path):
    """Writes records as JSON lines."""

    def write(records, name="mine.jsonl"):
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)), "utf-8")
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    ("importance", "strict", "name", "wanted"),
    [
        ("vital", True, "strict_vital_score", 1 / 3),
        ("vital", False, "vital_score", 0.5),
        ("all", True, "strict_all_score", 0.4),
        ("all", False, "all_score", 0.5),
        ("weighted", False, "weighted_score", 0.5),
        ("weighted", True, "strict_weighted_score", 0.375),
    ],
)
def test_nuggets_have_the_values_of_nuggetizer(importance, strict, name, wanted):
    found = ir.nugget_recall(NUGGETS, importance=importance, strict=strict)
    assert found.columns == ["query_id", name]
    assert found[name].item() == pytest.approx(wanted, abs=1e-15)
    shouted = NUGGETS.with_columns(pl.col("importance", "assignment").str.to_uppercase())
    assert ir.nugget_recall(shouted, importance=importance, strict=strict).equals(found)


@pytest.mark.parametrize(
    ("of", "strict", "precision", "recall"),
    [("first", False, 0.5, 0.375), ("first", True, 1 / 3, 0.25), ("mean", False, 2 / 3, 0.5)],
)
def test_citations_have_the_worked_values(of, strict, precision, recall):
    assert value(ir.citation_precision(SUPPORT, of=of, strict=strict)) == pytest.approx(precision, abs=1e-15)
    assert value(ir.citation_recall(SUPPORT, of=of, strict=strict)) == pytest.approx(recall, abs=1e-15)
    # Partial, full, no citation.
    three = SUPPORT.filter(pl.col("sentence").is_in([1, 2, 5]))
    assert (value(ir.citation_precision(three)), value(ir.citation_recall(three))) == (0.75, 0.5)


MEASURES = [
    (ir.nugget_recall, NUGGETS),
    (ir.citation_precision, SUPPORT),
    (ir.citation_recall, SUPPORT),
]


@pytest.mark.parametrize(("measure", "rows"), MEASURES)
def test_frames_of_any_kind_and_order_have_the_same_figures(measure, rows):
    frame = pl.concat([rows.with_columns(run=pl.lit(run), query_id=pl.lit(q)) for run in "ba" for q in ("q2", "q1")])
    frame = frame.rename({"query_id": "topic_id", "run": "run_id"})
    found = measure(frame)
    assert found.columns[:2] == ["run_id", "topic_id"]
    assert found.rows() == sorted(found.rows())
    assert len(found) == 4
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    assert measure(shuffled).equals(found)
    missing = ["q1", "q3"]
    with pytest.warns(ir.IRWarning, match="missing names 1 query that no system answers"):
        with_zeros = measure(frame, missing=missing)
    for engine in ("in-memory", "streaming"):
        plan = measure(shuffled.lazy(), missing=missing)
        assert plan.collect(engine=engine).equals(with_zeros)
    assert_frame_equal(pl.from_pandas(measure(frame.to_pandas())), found)


@pytest.mark.parametrize(("measure", "rows"), MEASURES)
def test_an_answer_that_is_missing_counts_0_once_its_query_is_named(measure, rows):
    frame = pl.concat([rows.with_columns(run=pl.lit("a")), rows.with_columns(run=pl.lit("b"), query_id=pl.lit("p"))])
    full = value(measure(rows))
    wanted = [("a", "p", 0.0), ("a", "q", full), ("b", "p", full), ("b", "q", 0.0)]
    for missing in (["p", "q"], {"p": "text", "q": "text"}, pl.DataFrame({"qid": ["p", "q", "q"]}), frame.lazy()):
        assert measure(frame, missing=missing).rows() == wanted
    assert measure(frame).rows() == wanted[1:3]
    assert message_of(lambda: measure(frame, missing=[1])).startswith("ids must have one type on both sides; frame")


def test_a_query_without_a_vital_nugget_is_undefined_also_for_an_answer_that_is_missing():
    okay = NUGGETS.with_columns(run=pl.lit("a"), importance=pl.lit("okay"))
    frame = pl.concat([okay, okay.with_columns(run=pl.lit("b"), query_id=pl.lit("p"))])
    assert ir.nugget_recall(frame, missing=["p", "q"])["vital_score"].to_list() == [None] * 4
    with pytest.warns(ir.IRWarning, match="where all score 0; the first: 'r'"):
        all_of_them = ir.nugget_recall(frame, missing=["p", "r"], importance="all")
    assert all_of_them.rows() == [("a", "p", 0.0), ("a", "q", 0.5), ("a", "r", 0.0), ("b", "p", 0.5), ("b", "r", 0.0)]


def test_an_answer_without_citations_has_a_recall_of_0_and_one_that_was_not_judged_neither():
    cites_nothing = SUPPORT.filter(sentence=5)
    assert (value(ir.citation_precision(cites_nothing)), value(ir.citation_recall(cites_nothing))) == (None, 0.0)
    unjudged = SUPPORT.filter(sentence=4)
    for of in ("first", "mean"):
        assert value(ir.citation_precision(unjudged, of=of)) is None
        assert value(ir.citation_recall(unjudged, of=of)) is None


def test_the_figures_are_those_that_compare_and_gate_take():
    words = ("support", "partial_support", "not_support")
    rows = [(f"q{q}", n, "vital", words[q * n % 3]) for q in range(30) for n in range(4)]
    frame = pl.DataFrame(rows, schema=NUGGETS.columns, orient="row")
    worse = frame.with_columns(assignment=pl.lit("not_support"))
    old, new = ir.nugget_recall(frame), ir.nugget_recall(worse)
    assert ir.compare({"old": old, "new": new}, baseline="old")["measure"].to_list() == ["vital_score"]
    assert ir.gate(new, old)["passed"].to_list() == [False]


def record(qid, words, run="r", **others):
    importance = ["vital"] * 3 + ["okay"] * 2
    nuggets = [
        {"text": f"n{n}", "importance": weight} | ({} if word is None else {"assignment": word})
        for n, (weight, word) in enumerate(zip(importance, words, strict=True), 1)
    ]
    named = {} if run is None else {"run_id": run}
    return {"query": "what?", "qid": qid, **named, "answer_text": "...", "nuggets": nuggets, **others}


WORDS = NUGGETS["assignment"].to_list()


def test_files_of_assigned_nuggets_are_read(write):
    mean = {"qid": "all", "nuggets": None}
    one = ir.read_nuggets(write([record("q", WORDS), mean]))
    assert one.select(NUGGETS.columns).equals(NUGGETS)
    assert one.columns == ["query_id", "nugget", "text", "importance", "assignment"]
    files = [write([record("q", WORDS, run)], f"{name}.jsonl") for name, run in (("x", None), ("y", "bm25"))]
    assert ir.nugget_recall(ir.read_nuggets(files)).rows() == [("bm25", "q", 0.5), ("x", "q", 0.5)]
    number = ir.read_nuggets(write([record(7, WORDS, topic_id=None)]))
    assert number["query_id"].to_list() == ["7"] * 5
    records = pl.DataFrame([record("q", WORDS)])
    assert ir.read_nuggets(records).equals(one)
    assert ir.read_nuggets(records.lazy()).collect().equals(one)
    created = ir.read_nuggets(write([record("q", [None] * 5)]))
    assert created.columns == ["query_id", "nugget", "text", "importance"]
    assert message_of(lambda: ir.nugget_recall(created)).startswith("frame has no 'assignment' column; it has")


def test_nuggets_of_documents_are_judgments_whose_coverage_is_a_subtopic_recall(write):
    vital = {"text": "a", "importance": "vital"}, {"text": "b", "importance": "okay"}
    judged = [
        {"text": "what?", "qid": "q", "docid": doc, "candidate_text": "...",
         "nuggets": [{**nugget, "assignment": word} for nugget, word in zip(vital, words, strict=True)]}
        for doc, words in {"d1": ["support", "not_support"], "d2": ["partial_support", "support"]}.items()
    ]  # fmt: skip
    qrels = ir.read_nuggets(write(judged))
    assert qrels.rows()[1] == ("q", "d1", 2, 0, 0.5, "b")
    found = ir.evaluate({"q": ["d1", "d2"]}, qrels, ["StRecall(rel=2,weights='weight')@1", "StRecall(rel=2)@2"])
    assert found.row(0)[1:] == pytest.approx((2 / 3, 1.0))
    judged[0]["nuggets"][0]["assignment"] = "failed"
    assert "whose 'assignment' is none of support" in message_of(lambda: ir.read_nuggets(write(judged)))


def test_files_of_support_are_read(write):
    lists = [[2], [1], [0, 2], [-1], []]
    sentences = [{"text": "...", "citations": [{"support": each} for each in one]} for one in lists]
    for query in ("topic_id", "narrative_id", "qid"):
        assert ir.read_support(write([{query: "q", "run_id": "r", "sentences": sentences}])).equals(SUPPORT)
    words = [{"citations": [{"docid": "d1", "support": "Full_Support"}, {"docid": "d2", "support": "No support"}]}]
    found = ir.read_support(write([{"metadata": {"narrative_id": 4, "run_id": "r"}, "sentences": words}]))
    assert found.rows() == [("4", 1, 1, 2, "d1"), ("4", 1, 2, 0, "d2")]


#: Two systems.
OF_TWO = pl.concat([NUGGETS.with_columns(run=pl.lit(run)) for run in "ab"])


def test_words_are_read_in_any_case_and_support_in_words():
    assert ir.nugget_recall(ir.read_nuggets([record("q", [w.title() for w in WORDS])])).row(0) == ("q", 0.5)
    words = {2: "Full_Support", 1: "partial support", 0: "No Support", -1: "-1"}
    told = SUPPORT.with_columns(pl.col("support").replace_strict(words, default=None, return_dtype=pl.String))
    assert ir.citation_recall(told).equals(ir.citation_recall(SUPPORT))


def test_plans_of_different_lists_fail():
    with pytest.raises(pl.exceptions.PolarsError, match="nuggets that differ between"):
        ir.nugget_recall(OF_TWO.with_columns(text="run").lazy()).collect()


def test_queries_that_nobody_answers_are_told():
    with pytest.warns(ir.IRWarning, match="missing names 1 query that no system answers, where .* first: 'z'"):
        ir.nugget_recall(OF_TWO, missing=["q", "z"])
    assert ir.nugget_recall(NUGGETS, missing=["q", "z"]).rows() == [("q", 0.5), ("z", 0.0)]
    with pytest.warns(ir.IRWarning, match="missing names 1 query"):
        ir.nugget_recall(NUGGETS, missing=["z"])


REFUSED = {
    "a nugget without a grade": (
        lambda: ir.nugget_recall(NUGGETS.with_columns(assignment=pl.when(pl.col("nugget") < 5).then("assignment"))),
        "frame has 1 row whose 'assignment' is none of support, partial_support, not_support. Judge those nuggets",
    ),
    "a grade in another word": (
        lambda: ir.nugget_recall(NUGGETS.with_columns(assignment=pl.lit("failed"))),
        "frame has 5 rows whose 'assignment' is none of",
    ),
    "no importance": (
        lambda: ir.nugget_recall(NUGGETS.with_columns(importance=pl.lit(None, pl.String))),
        "frame has 5 rows whose 'importance' is none of vital, okay. Give each nugget one",
    ),
    "a nugget twice": (
        lambda: ir.nugget_recall(pl.concat([NUGGETS, NUGGETS.head(1)])),
        "frame has 2 rows",
    ),
    "a nugget without a number": (
        lambda: ir.nugget_recall(NUGGETS.with_columns(nugget=pl.lit(None, pl.Int64)).head(1)),
        "frame has 1 row whose 'nugget' is null",
    ),
    "lists of importances": (
        lambda: ir.nugget_recall(NUGGETS.with_columns(pl.col("importance").reshape((-1, 1)).arr.to_list())),
        "frame must have one value per row; 'importance' is List(String)",
    ),
    "no query": (lambda: ir.nugget_recall(NUGGETS.drop("query_id")), "frame has no 'query_id' column"),
    "a null query": (
        lambda: ir.nugget_recall(NUGGETS.with_columns(query_id=pl.lit(None, pl.String))),
        "frame has 5 rows whose 'query_id' is null",
    ),
    "a citation without a grade": (
        lambda: ir.citation_recall(SUPPORT.with_columns(support=pl.lit(None, pl.Int64))),
        "frame has 5 rows whose 'support' is none of 2, 1, 0, -1. Write -1 for what was not judged",
    ),
    "another grade": (
        lambda: ir.citation_precision(SUPPORT.with_columns(support=pl.col("support") + 1.5)),
        "frame has 5 rows whose 'support' is none of",
    ),
    "a citation twice": (lambda: ir.citation_recall(pl.concat([SUPPORT, SUPPORT])), "frame has 12 rows"),
    "a grade of no citation": (
        lambda: ir.citation_recall(SUPPORT.with_columns(citation=pl.lit(None, pl.Int64)).head(1)),
        "frame has 1 row with 'support' and no 'citation'",
    ),
    "another importance": (lambda: ir.nugget_recall(NUGGETS, importance="okay"), "importance must be one of"),
    "other citations": (lambda: ir.citation_recall(SUPPORT, of="last"), "of must be one of 'first', 'mean'"),
    "a nugget that a system lacks": (
        lambda: ir.nugget_recall(pl.concat([OF_TWO, OF_TWO.head(1).with_columns(run=pl.lit("c"))])),
        "frame has 8 rows of nuggets that differ between answers to their query. Judge all answers to a query",
    ),
    "two importances": (
        lambda: ir.nugget_recall(
            OF_TWO.with_columns(importance=pl.when((pl.col("run") == "a") & (pl.col("nugget") == 1)).then(
                pl.lit("okay")).otherwise("importance"))
        ),
        "frame has 2 rows of nuggets that differ between",
    ),
    "two texts": (
        lambda: ir.nugget_recall(OF_TWO.with_columns(text="run")),
        "frame has 10 rows of nuggets that differ between",
    ),
    "numbers that are text": (
        lambda: ir.citation_recall(SUPPORT.with_columns(pl.col("citation").cast(pl.String))),
        "frame column 'citation' must be numbers in their order; it is String. Cast it: frame.with_columns(",
    ),
    "support that is Boolean": (
        lambda: ir.citation_recall(SUPPORT.with_columns(support=pl.col("support") == 2)),
        "frame column 'support' must be the grades of citations; it is Boolean. Write 2 for full support",
    ),
    "one id": (
        lambda: ir.nugget_recall(NUGGETS, missing="q"),
        "missing must be ids in a list, or a table of queries; got 'q'. Give a list: ['q']",
    ),
    "null ids": (lambda: ir.nugget_recall(NUGGETS, missing=["q", None]), "missing has query ids that are null. Leave"),
    "one record": (lambda: ir.read_nuggets(record("q", WORDS)), "source must be records in a list or table, or files"),
    "mixed ids": (lambda: ir.nugget_recall(NUGGETS, missing=["q", 1]), "missing mixes types of ids"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told(case):
    call, says = REFUSED[case]
    assert message_of(call).startswith(says)


@pytest.mark.parametrize("case", [name for name in REFUSED if "twice" in name or "without a grade" in name])
def test_a_plan_fails_for_the_same(case):
    rows, measure = (NUGGETS, ir.nugget_recall) if "nugget" in case else (SUPPORT, ir.citation_recall)
    column = "assignment" if "nugget" in case else "support"
    wrong = pl.concat([rows, rows]) if "twice" in case else rows.with_columns(pl.lit(None).alias(column))
    with pytest.raises(pl.exceptions.PolarsError, match="polars_ir: "):
        measure(wrong.lazy().with_columns(pl.col(column).cast(rows.schema[column]))).collect()


UNREADABLE = {
    "an answer twice": ([record("q", WORDS)] * 2, "has 2 rows of answers that occur twice. Keep one of each."),
    "no nuggets": ([record("q", WORDS), record("p", WORDS, nuggets=[])], "has 1 row without nuggets. Leave them out"),
    "no query": ([record(None, WORDS), record("p", WORDS)], "has 1 row without a query."),
    "other texts": (
        [record("q", WORDS), record("q", WORDS, "s", nuggets=[{"text": "x", "importance": "vital"}])],
        "has 6 rows of nuggets that differ between answers to their query. Judge all",
    ),
    "figures": ([{"qid": "q", "vital_score": 0.5}], "read them with pl.read_ndjson"),
    "no importance": ([{"qid": "q", "nuggets": [{"text": "x"}]}], "has nuggets without 'importance'"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_files_without_what_is_needed_say_so(write, case):
    records, says = UNREADABLE[case]
    assert says in message_of(lambda: ir.read_nuggets(write(records)))


def test_support_that_is_lacking_is_told(write):
    unjudged = [{"qid": "q", "sentences": [{"citations": [{"docid": "d"}]}]}]
    assert "must have the support of citations" in message_of(lambda: ir.read_support(write(unjudged)))
    wrong = [{"qid": "q", "sentences": [{"citations": [{"support": "maybe"}]}]}]
    assert "of citations whose support is none of full support" in message_of(lambda: ir.read_support(write(wrong)))
    answer = [{"topic_id": "q", "run_id": "r", "answer": [{"text": "...", "citations": [0]}]}]
    assert "and 'sentences', a list of objects; it has" in message_of(lambda: ir.read_support(write(answer)))
