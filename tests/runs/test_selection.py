"""`exclude` and `duplicates`: figures are those of tables without the rows that do not count."""

import warnings

import pandas as pd
import polars as pl
import pytest

import polars_ir as ir
from polars_ir.errors import ColumnError, DataError, DtypeError, IRWarning, OptionError

MEASURES = ["RR", "nDCG", "R@1", "NumRet", "NumRel"]

#: In ArguAna's way, queries are documents; here `d1` finds itself first, and `b` stands twice in the ranking of `q`.
RUN = pl.DataFrame(
    {
        "query_id": ["d1", "d1", "d1", "q", "q", "q", "q"],
        "doc_id": ["d1", "d2", "d3", "a", "b", "b", "c"],
        "score": [9.0, 3.0, 2.0, 5.0, 4.0, 3.0, 2.0],
    }
)
QRELS = pl.DataFrame({"query_id": ["d1", "d1", "q"], "doc_id": ["d2", "d1", "c"], "relevance": [1, 2, 1]})
ONCE = RUN.filter((pl.col("doc_id") != "b") | (pl.col("score") != 3))
OTHERS = {"q": ["a", "zz"]}

FORMS = {
    "eager": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "categories": lambda frame: frame.cast({"query_id": pl.Categorical, "doc_id": pl.Categorical}),
}
in_every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)

#: What is asked for, and the tables whose figures it gives.
SELECTIONS = {
    "self": (ONCE, {"exclude": "self"}, ONCE.filter(pl.col("query_id") != pl.col("doc_id")), QRELS[::2]),
    "a dict": (ONCE, {"exclude": OTHERS}, ONCE.filter(pl.col("doc_id") != "a"), QRELS),
    "a frame": (
        ONCE,
        {"exclude": pl.DataFrame({"docno": ["d2", "c"], "qid": ["d1", "q"]})},
        ONCE.filter(~pl.col("doc_id").is_in(["d2", "c"])),
        QRELS[1:2],
    ),
    "a frame of pandas": (
        ONCE,
        {"exclude": pd.DataFrame({"qid": ["d1"], "docno": ["d1"]})},
        ONCE[1:],
        QRELS[::2],
    ),
    "a plan": (ONCE, {"exclude": pl.LazyFrame({"qid": ["q"], "docno": ["a"]})}, ONCE.filter(doc_id="a").clear(), None),
    "repeats": (RUN, {"duplicates": "first"}, ONCE, QRELS),
    "repeats and self": (
        RUN,
        {"duplicates": "first", "exclude": "self"},
        ONCE.filter(pl.col("query_id") != pl.col("doc_id")),
        QRELS[::2],
    ),
}
SELECTIONS["a plan"] = (*SELECTIONS["a plan"][:2], ONCE.filter(pl.col("doc_id") != "a"), QRELS)


def rows(result):
    """The rows of a result in any form."""
    result = result.collect() if isinstance(result, pl.LazyFrame) else result
    return list(result.itertuples(index=False, name=None)) if isinstance(result, pd.DataFrame) else result.rows()


@in_every_form
@pytest.mark.filterwarnings("ignore:exclude leaves 1 query without judgments")
@pytest.mark.parametrize(("run", "options", "of_run", "of_qrels"), SELECTIONS.values(), ids=SELECTIONS)
def test_figures_are_those_of_the_tables_without_the_rows_that_do_not_count(form, run, options, of_run, of_qrels):
    result = ir.evaluate(form(run), form(QRELS), MEASURES, **options)
    assert type(result) is type(form(run))
    assert rows(result) == rows(ir.evaluate(of_run, of_qrels, MEASURES))
    systems = {"a": form(run), "b": form(ONCE)}
    of_both = rows(ir.evaluate(systems, form(QRELS), "RR", **options))
    assert of_both[: len(of_both) // 2] == [("a", *row) for row in rows(ir.evaluate(of_run, of_qrels, "RR"))]


def test_what_looks_into_a_ranking_takes_the_same_rows():
    options = {"duplicates": "first", "exclude": "self"}
    run, qrels = ONCE.filter(pl.col("query_id") != pl.col("doc_id")), QRELS[::2]
    for function, args in {
        ir.judge: (),
        ir.coverage: (),
        ir.explain: ("AP", ["q", "d1"]),
        ir.evaluate: ("AP",),
    }.items():
        given, kept = function(RUN, QRELS, *args, **options), function(run, qrels, *args)
        assert sorted(map(repr, given.rows())) == sorted(map(repr, kept.rows()))
    other = RUN.with_columns(-pl.col("score"))
    given = ir.diff(RUN, other, QRELS, "AP", **options)
    assert given.equals(
        ir.diff(
            run,
            other.join(run, on=["query_id", "doc_id"], how="semi")
            .sort("score")
            .unique(["query_id", "doc_id"], keep="last", maintain_order=True),
            qrels,
            "AP",
        )
    )
    assert ir.explain_plan(RUN, QRELS, "AP", **options) == ir.explain_plan(run, qrels, "AP")
    assert RUN.ir.ndcg(QRELS, k=3, **options).equals(run.ir.ndcg(qrels, k=3))


def test_an_update_evaluates_what_changed_of_the_rows_that_count():
    options = {"duplicates": "first", "exclude": "self", "provenance": True}
    stored = ir.evaluate(RUN, QRELS, "RR", **options)
    better = RUN.with_columns(score=pl.when(doc_id="c").then(10.0).otherwise("score"))
    updated = ir.update(stored, better, QRELS, "RR", duplicates="first", exclude="self")
    assert updated.equals(ir.evaluate(better, QRELS, "RR", **options))
    changed = ir.update(stored, better, QRELS, "RR", duplicates="first", exclude="self", changed_only=True)
    assert changed["query_id"].to_list() == ["q"]
    with pytest.raises(DataError, match="made with other options"):
        ir.update(stored, better, QRELS, "RR", duplicates="first")


def test_figures_tell_which_documents_were_excluded():
    made = [
        ir.provenance(ir.evaluate(ONCE, QRELS, "RR", exclude=exclude, provenance=True)).get("exclude")
        for exclude in (None, "self", {"q": ["a", "b"]}, pl.DataFrame({"qid": ["q", "q"], "pid": ["b", "a"]}))
    ]
    assert made[:2] == [None, "self"]
    assert made[2] == made[3] != None  # noqa: E711  # of one table in two orders
    plain, without = (ir.evaluate(ONCE, QRELS, "RR", exclude=each, provenance=True) for each in (None, OTHERS))
    with pytest.raises(DataError, match="exclude"):
        ir.compare({"a": plain, "b": without})


def test_a_report_is_of_the_rows_that_count_and_says_so():
    runs = {"a": RUN, "b": ONCE}
    made = ir.report(runs, QRELS, ["RR"], exclude=OTHERS, duplicates="first").content
    assert made["made"]["python"] == "ir.report(runs, qrels, ['RR'], exclude=exclude, duplicates='first')"
    assert (
        ir.report(runs, QRELS, ["RR"], exclude="self", duplicates="first")
        .content["made"]["python"]
        .endswith("exclude='self', duplicates='first')")
    )
    figures = ir.evaluate(runs, QRELS, "RR", exclude=OTHERS, duplicates="first")
    assert made["summary"]["mean"] == [figures.filter(run=name)["RR"].mean() for name in made["summary"]["run"]]


@pytest.mark.parametrize("ties", ["doc_id", "input", "best", "worst", "expected"])
@pytest.mark.parametrize("seed", range(3))
def test_a_repeated_document_counts_at_its_best_score_whatever_the_order_of_the_rows(ties, seed):
    run = RUN if ties == "input" else RUN.sample(fraction=1, shuffle=True, seed=seed)
    for of in (run, run.lazy()):
        assert rows(ir.evaluate(of, QRELS, "RR", duplicates="first", ties=ties)) == rows(
            ir.evaluate(ONCE, QRELS, "RR", ties=ties)
        )
    priced = run.with_columns(price=pl.int_range(pl.len()), score=1.0)
    lowest = priced.group_by("query_id", "doc_id").agg(pl.col("score").first(), pl.col("price").min())
    if ties == "doc_id":
        mine = pl.col("price").sum().alias("prices")
        assert priced.ir.evaluate(QRELS, mine, duplicates="first").equals(lowest.ir.evaluate(QRELS, mine))


def test_ranks_in_the_place_of_scores_and_days_beside_them_are_known():
    ranks = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "a"], "rank": [1, 2, 3]})
    assert ranks.ir.evaluate({"q": ["b"]}, MEASURES[:4:3], duplicates="first").row(0) == ("q", 0.5, 2)
    days = pl.DataFrame({"day": [1, 1, 2], "query_id": "q", "doc_id": ["a", "a", "a"], "score": [2, 1, 3]})
    assert days.ir.evaluate({"q": ["a"]}, "NumRet", by="day", duplicates="first").rows() == [(1, "q", 1), (2, "q", 1)]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_labelled_frame_gives_each_document_one_grade(lazy):
    labelled = RUN.join(QRELS, on=["query_id", "doc_id"], how="left")
    frame = labelled.lazy() if lazy else labelled
    once = labelled.filter((pl.col("doc_id") != "b") | (pl.col("score") != 3))
    without = once.filter(pl.col("query_id") != pl.col("doc_id"))
    options = {"duplicates": "first", "exclude": "self"}
    assert rows(ir.evaluate(frame, ["RR", "NumRet"], **options)) == rows(ir.evaluate(without, ["RR", "NumRet"]))
    graded = frame.with_columns(relevance=pl.when(score=3.0).then(1).otherwise("relevance"))
    with pytest.raises((DataError, pl.exceptions.PolarsError), match="two 'relevance'"):
        rows(ir.evaluate(graded, "RR", duplicates="first"))
    with pytest.raises(OptionError, match="needs document ids"):
        ir.evaluate(frame.drop("doc_id"), "RR", exclude="self")


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_score_that_is_none_stays_an_error(value):
    run = RUN.with_columns(score=pl.when(score=3.0).then(pl.lit(value, pl.Float64)).otherwise("score"))
    for frame in (run, run.lazy()):
        with pytest.raises((DataError, pl.exceptions.PolarsError), match="null"):
            rows(ir.evaluate(frame, QRELS, "RR", duplicates="first"))


def test_preferences_of_excluded_documents_do_not_count():
    pairs = pl.DataFrame({"query_id": "q", "judge": 1, "preferred": ["a", "q"], "other": ["b", "b"]})
    run, measure = {"q": ["q", "b", "a"]}, ir.preferences_fulfilled()
    assert ir.evaluate(run, pairs, measure).row(0) == ("q", 0.5)
    assert ir.evaluate(run, pairs, measure, exclude="self").row(0) == ("q", 0.0)


def test_the_judgments_are_to_have_a_document_once():
    with pytest.raises(DataError, match="repeat the ids"):
        ir.evaluate(ONCE, pl.concat([QRELS, QRELS]), "RR", duplicates="first")


@pytest.mark.parametrize(
    ("exclude", "error", "says"),
    [
        ("Self", OptionError, "must be 'self', or a table"),
        (True, OptionError, "must be 'self', or a table"),
        ({"q": [1]}, DtypeError, "exclude column 'doc_id' must be String"),
        (pl.DataFrame({"x": ["q"]}), ColumnError, "exclude has no 'query_id' column"),
        (pl.DataFrame({"day": [1], "query_id": "q", "doc_id": "a"}), OptionError, "has 'day', a key of them"),
    ],
)
def test_what_can_not_be_excluded_is_refused(exclude, error, says):
    with pytest.raises(error, match=says):
        ir.evaluate(ONCE.with_columns(day=1), QRELS, "RR", exclude=exclude, by="day")


def test_ids_of_two_types_are_never_one():
    numbers = ONCE.with_columns(query_id=pl.int_range(pl.len()))
    with pytest.raises(OptionError, match="of two types, 'query_id' of Int64 and 'doc_id' of String"):
        ir.evaluate(numbers, {1: ["a"]}, "RR", exclude="self")
    wide = pl.DataFrame({"query_id": [1, 1], "doc_id": pl.Series([1, 2], dtype=pl.UInt64), "score": [2, 1]})
    assert ir.evaluate(wide, {1: [2]}, "RR", exclude="self").row(0) == (1, 1.0)


def test_excluded_documents_that_are_nowhere_are_told():
    with pytest.warns(IRWarning, match="exclude names no document of the run or the judgments; its first row"):
        ir.evaluate(ONCE, QRELS, "RR", exclude={"Q": ["a"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ir.evaluate(ONCE, QRELS, "RR", exclude="self")


def test_validate_finds_queries_that_retrieve_themselves():
    found = ir.validate(ONCE, QRELS, only="queries that retrieve themselves")
    assert found.select("severity", "count", "examples").rows() == [("note", 1, ["d1"])]
    assert ir.validate(ONCE[1:], QRELS, only="queries that retrieve themselves").is_empty()


@pytest.mark.parametrize("lazy", [False, True])
def test_lists_count_a_repeated_document_at_its_first_place(lazy):
    log = pl.DataFrame(
        {"query_id": ["q"], "retrieved": [["a", "b", "a", "c"]], "scores": [[4, 3, 2, 1]], "relevant": [["c"]]}
    )
    for scores in (None, "scores"):
        run, qrels = ir.from_lists(log.lazy() if lazy else log, scores=scores, duplicates="first")
        assert rows(run.ir.evaluate(qrels, ["RR", "NumRet"])) == [("q", 1 / 3, 3)]
    with pytest.raises(OptionError, match="duplicates must be one of"):
        ir.from_lists(log, duplicates="last")


@in_every_form
@pytest.mark.filterwarnings("ignore:.*hold no judgments")
def test_queries_that_lose_their_judgments_are_told(form):
    judged = pl.DataFrame({"query_id": ["d1", "d4", "q"], "doc_id": ["d1", "d4", "c"], "relevance": [1, 1, 1]})
    queries = judged[:2] if form is FORMS["lazy"] else form(judged[:2])
    for qrels, n in ((queries, "2 queries"), (judged[:1], "1 query")):
        with pytest.warns(IRWarning, match=f"exclude leaves {n} without judgments, such as 'd1'"):
            rows(ir.evaluate(form(ONCE), qrels, "RR", exclude="self"))


def test_a_run_whose_judgments_are_all_excluded_is_not_said_to_share_no_query():
    with pytest.warns(IRWarning) as warned:
        assert ir.evaluate({"a": ["a", "b"]}, {"a": ["a"]}, "RR", exclude="self").is_empty()
    says = [str(each.message) for each in warned]
    assert len(says) == 2
    assert "the qrels hold no judgments" in says[1]
