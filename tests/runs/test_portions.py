"""Plans of sorted runs are evaluated in portions, with the figures, warnings and errors of the run as a whole."""

import random
import warnings
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.errors import DataError
from polars_ir.frames.known_order import known_order
from polars_ir.runs import portions
from tests.support.tuned import tune

DRAW = random.Random(1)
ROWS = [
    (system, f"q{query:02}", f"d{document}", DRAW.randint(0, 9) / 10)
    for system in "abc"
    for query in range(30)
    if DRAW.random() < 0.8
    for document in DRAW.sample(range(40), DRAW.randint(1, 12))
]
RUN = pl.DataFrame(ROWS, ["run", "query_id", "doc_id", "score"], orient="row")
JUDGED = [(f"q{n:02}", f"d{document}", DRAW.randint(0, 2)) for n in range(35) for document in DRAW.sample(range(40), 6)]
QRELS = pl.DataFrame(JUDGED, ["query_id", "doc_id", "relevance"], orient="row")
MEASURES = ["nDCG@5", "AP", "P@5"]

SORTED = {
    "systems": (RUN, ["run", "query_id"]),
    "queries": (RUN.sort("query_id", maintain_order=True), ["query_id"]),
    "names": (RUN.rename({"run": "system", "query_id": "qid", "doc_id": "docno"}), ["system", "qid"]),
    "other columns": (RUN.with_columns(title=pl.lit("t"), tokens=pl.int_range(pl.len())), ["run", "query_id"]),
    "one system": (RUN.filter(run="a").drop("run"), ["query_id"]),
}


@pytest.fixture(autouse=True)
def evaluated(monkeypatch):
    """Row counts of the portions that were evaluated, which are small."""
    tune(monkeypatch, portion=50)
    monkeypatch.setattr(portions, "BATCH", 20)
    sizes, evaluate = [], portions.Portions.evaluated

    def recorded(self, rows, judgments):
        sizes.append(rows.height)
        return evaluate(self, rows, judgments)

    monkeypatch.setattr(portions.Portions, "evaluated", recorded)
    return sizes


def told(run, qrels=QRELS, **options):
    """The result of a plan, and its warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = ir.evaluate(run, qrels, MEASURES, **options).collect()
    return found, [str(warning.message) for warning in warned]


@pytest.mark.whole("each option with each order", quick=8)
@pytest.mark.parametrize("name", SORTED)
@pytest.mark.parametrize(
    "options", [{}, {"missing": "skip"}, {"undefined": None}, {"ties": "expected"}, {"bounds": True}, {"names": "sql"}]
)
def test_portions_have_the_figures_and_warnings_of_the_whole(name, options, evaluated):
    run, order = SORTED[name]
    wanted = told(run.lazy(), **options)
    assert not evaluated
    found = told(run.lazy().set_sorted(*order), **options)
    assert_frame_equal(found[0], wanted[0], check_exact=True)
    assert found[1] == wanted[1]
    assert len(evaluated) > 2


@pytest.mark.whole("each kind of judgments", quick=3)
@pytest.mark.parametrize("options", [{}, {"missing": "skip"}])
@pytest.mark.parametrize(
    "kept", [QRELS, QRELS.head(0), QRELS.filter(query_id="q34")], ids=["all", "none", "unanswered"]
)
@pytest.mark.parametrize("rows", [1000, 0])
def test_sorted_judgments_are_read_with_the_run(kept, rows, options, evaluated):
    run = SORTED["one system"][0].filter(pl.col("query_id") != "q00").head(rows).lazy()
    judged = kept.rename({"query_id": "topic"}).lazy()
    wanted = told(run, judged, **options)
    assert not evaluated
    found = told(run.set_sorted("query_id"), judged.set_sorted("topic"), **options)
    assert_frame_equal(found[0], wanted[0], check_exact=True)
    assert found[1] == wanted[1]
    assert evaluated


@pytest.mark.parametrize("moved", [40, 41, 150])
def test_judgments_that_are_not_sorted_as_they_claim_are_an_error(moved):
    run = SORTED["one system"][0].lazy().set_sorted("query_id")
    judged = pl.concat([QRELS[moved:], QRELS[:moved]]).lazy().set_sorted("query_id")
    with pytest.raises(DataError, match="qrels has 1 row out of order, where its plan says that it is sorted by"):
        ir.evaluate(run, judged, MEASURES).collect()


@pytest.mark.parametrize("qrels", [QRELS.reverse(), QRELS], ids=["falling", "in order"])
@pytest.mark.parametrize(
    ("measures", "options"), [("nDCG@5", {"bounds": True}), ("nDCG@5", {}), (["Hole@5", "nDCG@5"], {})]
)
def test_what_is_of_all_queries_is_so_in_portions(qrels, measures, options, evaluated):
    run, highest = SORTED["one system"][0].lazy(), pl.when(query_id="q34", doc_id=QRELS["doc_id"][-1]).then(9)
    graded = qrels.with_columns(relevance=highest.otherwise("relevance"))
    wanted = ir.evaluate(run, graded, measures, **options).collect()
    found = ir.evaluate(run.set_sorted("query_id"), graded, measures, **options).collect()
    assert_frame_equal(found, wanted, check_exact=True)
    assert bool(evaluated) == (measures == "nDCG@5")


def test_a_query_of_more_rows_than_a_portion_is_one(evaluated):
    run = pl.DataFrame({"query_id": ["q00"] * 300 + ["q01"], "doc_id": range(301), "score": 1.0})
    run = run.with_columns(pl.format("d{}", "doc_id").alias("doc_id"))
    judged = QRELS.filter(pl.col("query_id") < "q02")
    assert ir.evaluate(run.lazy().set_sorted("query_id"), judged, "NumRet").collect()["NumRet"].sum() == 301
    assert evaluated[:2] == [300, 1]


@pytest.mark.parametrize("options", [{"strict": True}, {"provenance": True}, {"ties": "input"}])
def test_what_concerns_all_rows_is_not_evaluated_in_portions(options, evaluated):
    run = RUN.filter(pl.col("query_id") < "q03").filter(run="a")
    ir.evaluate(run.lazy().set_sorted("run", "query_id"), QRELS.filter(pl.col("query_id") < "q01"), "RR", **options)
    assert not evaluated


@pytest.mark.whole("each engine with one and several systems", quick=2)
@pytest.mark.parametrize("name", ["systems", "one system"])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_plan_of_portions_is_a_plan(name, engine):
    run, order = SORTED[name]
    plan, wanted = ir.evaluate(run.lazy().set_sorted(*order), QRELS, MEASURES), ir.evaluate(run, QRELS, MEASURES)
    found = plan.filter(pl.col("AP") > 0).select(order[0], "AP").head(5).collect(engine=engine)
    assert_frame_equal(found, wanted.filter(pl.col("AP") > 0).select(order[0], "AP").head(5), check_exact=True)
    found = ir.mean(plan).collect(engine=engine)
    assert_frame_equal(found, ir.mean(wanted), check_row_order=False)


def test_plans_that_run_at_once_warn_each_and_leave_the_filters_alone():
    run = SORTED["one system"][0]
    unjudged = run.with_columns(doc_id="x" + pl.col("doc_id")), run.with_columns(query_id="x" + pl.col("query_id"))
    plans = [ir.evaluate(each.lazy().set_sorted("query_id"), QRELS, MEASURES) for each in unjudged]
    filters = [*warnings.filters]
    with pytest.warns(ir.IRWarning) as caught:
        pl.collect_all(plans)
    assert warnings.filters == filters
    assert {str(warning.message).partition(";")[0] for warning in caught} == {
        "no retrieved document is judged for its query",
        "the run and the qrels share no query",
    }
    # No line of the user's is in the stacks of the engine's threads.
    assert {Path(warning.filename).stem for warning in caught} == {"portions"}


def test_days_that_may_be_pooled_are_looked_at_whole(evaluated):
    run = RUN.with_columns(date=pl.date(2026, 1, 1 + pl.int_range(pl.len()) % 2)).lazy().set_sorted("run", "query_id")
    with pytest.warns(ir.IRWarning, match="several 'date' in a ranking"):
        ir.evaluate(run, QRELS, MEASURES).collect()
    assert not evaluated


@pytest.mark.parametrize("order", [["run", "query_id"], ["query_id"]])
def test_a_claim_that_is_false_is_an_error(order):
    with pytest.raises(DataError, match=r"out of order, where its plan says that it is sorted by"):
        ir.evaluate(RUN.reverse().lazy().set_sorted(*order), QRELS, MEASURES).collect()


#: What puts rows into another order after their claim, by the column "by", and what keeps them in it.
MOVES = {
    "sort": lambda plan: plan.sort("by"),
    "descending": lambda plan: plan.sort("by", descending=True),
    "reverse": pl.LazyFrame.reverse,
    "sort_by": lambda plan: plan.select(pl.all().sort_by("by")),
    "top_k": lambda plan: plan.top_k(200, by="by"),
    "shuffled": lambda plan: plan.select(pl.all().shuffle(seed=1)),
}
KEEPS = {
    "filter": lambda plan: plan.filter(pl.col("by") > 0.2),
    "select": lambda plan: plan.select("by", pl.exclude("by", "query_id"), "query_id"),
    "with_columns": lambda plan: plan.with_columns(rank=pl.col("by").rank().over("query_id")),
    "head": lambda plan: plan.head(300),
}


def test_a_plan_says_that_it_is_sorted_until_its_order_may_change():
    rows = RUN.sort("query_id").with_columns(by="score").lazy()
    for keep in KEEPS.values():
        assert known_order(keep(rows.set_sorted("query_id")), ["query_id", "run"]) == ["query_id"]
    computed = {"key": lambda plan: plan.with_columns(query_id=pl.col("query_id").reverse())}
    renamed = {"renamed": lambda plan: plan.rename({"query_id": "doc_id", "doc_id": "query_id"})}
    for move in (MOVES | computed | renamed).values():
        assert known_order(move(rows.set_sorted("query_id")), ["query_id", "run"]) == []
        assert known_order(move(rows).set_sorted("query_id"), ["query_id", "run"]) == ["query_id"]
    assert known_order(rows.set_sorted("query_id", descending=True), ["query_id"]) == []


@pytest.mark.whole("each change of the order", quick=1)
@pytest.mark.parametrize("move", MOVES)
def test_a_run_sorted_otherwise_later_claims_nothing(move, evaluated):
    rows = RUN.filter(run="a").drop("run").with_columns(by="score").lazy()
    found = ir.evaluate(MOVES[move](rows.set_sorted("query_id")), QRELS, MEASURES).collect()
    assert_frame_equal(found, ir.evaluate(rows, QRELS, MEASURES).collect(), check_exact=True)
    assert not evaluated


@pytest.mark.whole("each function with each change of the order")
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("function", [ir.mean, ir.summarize, ir.compare], ids=lambda function: function.__name__)
def test_values_sorted_otherwise_later_claim_nothing(function, move):
    values = ir.evaluate(RUN, QRELS, MEASURES).sort("query_id", "run").with_columns(by="AP").lazy()
    found, wanted = (function(plan).lazy().collect() for plan in (MOVES[move](values.set_sorted("query_id")), values))
    assert_frame_equal(found, wanted, rel_tol=1e-12, check_row_order=False)


def test_a_document_twice_is_an_error_that_shows_it():
    twice = pl.concat([RUN, RUN[-1:]]).lazy().set_sorted("run", "query_id")
    with pytest.raises(DataError, match="repeat the ids") as error:
        ir.evaluate(twice, QRELS, MEASURES).collect()
    # Numbers of rows would be those in a portion.
    assert error.value.examples.rows() == [ROWS[-1]] * 2
