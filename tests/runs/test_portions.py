"""Plans of sorted runs are evaluated in portions, with the figures, warnings and errors of the run as a whole."""

import random
import warnings

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.errors import DataError
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

    def recorded(self, rows, *others):
        sizes.append(rows.height)
        return evaluate(self, rows, *others)

    monkeypatch.setattr(portions.Portions, "evaluated", recorded)
    return sizes


def told(run, **options):
    """The result of a plan, and its warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = ir.evaluate(run, QRELS, MEASURES, **options).collect()
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


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_plan_of_portions_is_a_plan(engine):
    plan = ir.evaluate(RUN.lazy().set_sorted("run", "query_id"), QRELS, MEASURES)
    wanted = ir.evaluate(RUN, QRELS, MEASURES)
    found = plan.filter(pl.col("AP") > 0).select("run", "AP").head(5).collect(engine=engine)
    assert_frame_equal(found, wanted.filter(pl.col("AP") > 0).select("run", "AP").head(5), check_exact=True)
    assert_frame_equal(ir.mean(plan).collect(engine=engine).sort("run"), ir.mean(wanted))


def test_days_that_may_be_pooled_are_looked_at_whole(evaluated):
    run = RUN.with_columns(date=pl.date(2026, 1, 1 + pl.int_range(pl.len()) % 2)).lazy().set_sorted("run", "query_id")
    with pytest.warns(ir.IRWarning, match="several 'date' in a ranking"):
        ir.evaluate(run, QRELS, MEASURES).collect()
    assert not evaluated


@pytest.mark.parametrize("order", [["run", "query_id"], ["query_id"]])
def test_a_claim_that_is_false_is_an_error(order):
    with pytest.raises(DataError, match=r"out of order, where its plan says that it is sorted by"):
        ir.evaluate(RUN.reverse().lazy().set_sorted(*order), QRELS, MEASURES).collect()


#: What puts rows into another order after their claim.
LATER = {
    "sort": lambda plan, by: plan.sort(by),
    "descending": lambda plan, by: plan.sort(by, descending=True),
    "reverse": lambda plan, by: plan.reverse(),
    "sort_by": lambda plan, by: plan.select(pl.all().sort_by(by)),
    "top_k": lambda plan, by: plan.top_k(len(RUN), by=by),
}


@pytest.mark.whole("each change of the order", quick=1)
@pytest.mark.parametrize("later", LATER)
def test_a_plan_sorted_otherwise_later_claims_nothing(later, evaluated):
    rows = RUN.filter(run="a").drop("run")
    plan = LATER[later](rows.lazy().set_sorted("query_id"), "score")
    changed = LATER[later](rows.lazy(), "score").collect()
    wanted = ir.evaluate(changed.lazy(), QRELS, MEASURES).collect()
    found = ir.evaluate(plan, QRELS, MEASURES).collect()
    assert_frame_equal(found, wanted, check_exact=True)
    assert not evaluated


@pytest.mark.whole("each function with each change of the order", quick=1)
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("function", [ir.mean, ir.summarize, ir.compare], ids=lambda function: function.__name__)
def test_values_sorted_otherwise_later_claim_nothing(function, later):
    values = ir.evaluate(RUN, QRELS, MEASURES).sort("query_id", "run")
    plan = LATER[later](values.lazy().set_sorted("query_id", "run"), "AP")
    changed = LATER[later](values.lazy(), "AP").collect()
    wanted = function(changed.lazy()).lazy().collect()
    assert_frame_equal(function(plan).lazy().collect(), wanted, rel_tol=1e-12, check_row_order=False)


@pytest.mark.whole("each change that keeps the order", quick=1)
@pytest.mark.parametrize("later", ["filter", "select", "with_columns", "head"])
def test_a_plan_in_the_same_order_later_is_sorted_as_it_says(later, evaluated):
    keeps = {
        "filter": lambda plan: plan.filter(pl.col("score") > 0.2),
        "select": lambda plan: plan.select("score", "doc_id", "query_id", "run"),
        "with_columns": lambda plan: plan.with_columns(rank=pl.col("score").rank().over("run", "query_id")),
        "head": lambda plan: plan.head(300),
    }
    ir.evaluate(keeps[later](RUN.lazy().set_sorted("run", "query_id")), QRELS, MEASURES).collect()
    assert len(evaluated) > 2


def test_a_document_twice_is_an_error_that_shows_it():
    twice = pl.concat([RUN, RUN[-1:]]).lazy().set_sorted("run", "query_id")
    with pytest.raises(DataError, match="repeat the ids"):
        ir.evaluate(twice, QRELS, MEASURES).collect()
