"""The strategy of a call, with its reason, is the one that `evaluate` takes."""

import polars as pl
import pytest
from tuned import tune

import polars_ir as ir
from polars_ir.engine import relation
from polars_ir.runs.portions import OF_SYSTEMS

RUN = pl.DataFrame({"query_id": ["a", "b"] * 4, "doc_id": [f"d{i}" for i in range(8)], "score": range(8)})
QRELS = pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["d0", "d1"], "relevance": [1, 1]})
TWO = pl.concat([QRELS.with_columns(subtopic=pl.lit(name)) for name in "xy"])

LARGE = {"counted": 0, "numbered": 2, "short": 0}


@pytest.mark.parametrize(
    ("run", "qrels", "options", "thresholds", "wanted"),
    [
        (RUN, QRELS, {}, {}, "by number: all is in memory, and the run has fewer than 200,000 rows"),
        (RUN, QRELS, {}, {"small": 11}, "by sorting: all is in memory, in fewer than 11 rows"),
        (RUN, QRELS, {}, {"small": 10}, "by number: all is in memory, and the run has fewer than 200,000 rows"),
        (RUN, QRELS, {}, LARGE, "by counting: judgments of relevant documents a query: 1, fewer than 24, and the rows"),
        (RUN, QRELS, {"measures": "bpref"}, LARGE, "by counting: judgments a query: 1, fewer than 24, and the rows"),
        (RUN.sort("query_id"), QRELS, {}, LARGE, "by number: all is in memory, and the rows of a query stand"),
        (
            RUN,
            QRELS,
            {},
            {**LARGE, "short": 1000, "numbered": 1},
            "by number: all is in memory, with 1000 rows or fewer for each judgment and 1 judgments or more a query",
        ),
        (RUN, QRELS, {}, {**LARGE, "deep": 1}, "by number: all is in memory, and judgments of relevant"),
        (RUN, QRELS, {"judged_only": True}, LARGE, "by number: all is in memory, and unjudged documents are taken out"),
        (
            RUN.lazy(),
            QRELS,
            {},
            {},
            "by counting: the run is not in memory, and judgments a query: 1, fewer",
        ),
        (RUN.lazy(), QRELS, {}, {"deep": 1}, "by sorting: the run is not in memory, and judgments a query: 1"),
        (RUN.lazy(), QRELS, {"bounds": True}, {}, "by sorting: not all is in memory, and the unjudged documents are"),
        (RUN.lazy(), QRELS.lazy(), {}, {}, "by depth: the judgments are a plan"),
        (RUN.lazy(), TWO.lazy(), {"measures": "StRecall@2"}, {}, "by counting: the judgments are a plan, with several"),
        (RUN, QRELS, {"measures": "prefs_simp"}, {}, "by number: all is in memory"),
        (RUN.with_columns(relevance=1), None, {}, {}, "labelled: the run holds its grades"),
    ],
)
def test_the_way_is_told_with_its_reason_and_taken(run, qrels, options, thresholds, wanted, monkeypatch):
    tune(monkeypatch, **thresholds)
    measures = options.pop("measures", "nDCG@10")
    plan = run.ir.explain_plan(qrels, measures, **options)
    assert str(plan).startswith(wanted)

    def public(strategy):
        assert strategy == plan.strategy
        raise InterruptedError

    monkeypatch.setattr(relation, "relate_by_number", lambda *_: public("by number"))
    monkeypatch.setattr(relation, "plan_relation", lambda *arguments: public(arguments[-1]))
    monkeypatch.setattr(relation, "labelled_relation", lambda *_: public("labelled"))
    with pytest.raises(InterruptedError):
        run.ir.evaluate(qrels, measures, **options)


def test_a_plan_says_that_identical_rankings_are_grouped_once_where_they_are(monkeypatch):
    tune(monkeypatch)
    says = "; identical rankings are grouped once"
    assert str(RUN.ir.explain_plan(QRELS, "nDCG@10")).endswith(says)
    assert not str(RUN.ir.explain_plan(QRELS, ir.rank.min().alias("first"))).endswith(says)
    tune(monkeypatch, alike=0)
    assert not str(RUN.ir.explain_plan(QRELS, "nDCG@10")).endswith(says)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, "; in portions of 300,000 rows, sorted by query_id"),
        ({"strict": True}, "; not in portions, though sorted: strict needs the whole run"),
        (
            {"exclude": RUN[2:3]},
            "; not in portions, though sorted: exclude needs the whole run",
        ),
        ({"duplicates": "first"}, "; not in portions, though sorted: duplicates needs the whole run"),
        (
            {"measures": ["P@2", "Novelty@2"], "history": RUN},
            "; not in portions, though sorted: history needs the whole run",
        ),
        (
            {"qrels": QRELS.lazy().set_sorted("query_id")},
            "; in portions of 300,000 rows, sorted by query_id, in step with the judgments",
        ),
        (
            {"qrels": QRELS.lazy()},
            "; not in portions, though sorted: the judgments are neither in memory nor known to be sorted",
        ),
        (
            {"qrels": QRELS.lazy().set_sorted("query_id"), "bounds": True},
            "; not in portions, though sorted: bounds need the highest grade, and the judgments are not in memory",
        ),
        (
            {"run": RUN.with_columns(run=pl.lit("a")), "qrels": QRELS.lazy().set_sorted("query_id")},
            "; not in portions, though sorted: " + OF_SYSTEMS,
        ),
        (
            {"run": RUN.cast({"query_id": pl.Enum(["b", "a"])})},
            "; not in portions, though sorted: Enum ids are sorted by category, not as text",
        ),
        (
            {"qrels": QRELS.with_columns(judge=pl.lit("x")), "judges": "judge"},
            "; not in portions, though sorted: judges needs the whole run",
        ),
        ({"measures": "Hole@2"}, "; not in portions, though sorted: a measure reads the judgments of all queries"),
    ],
)
def test_a_sorted_plan_says_whether_it_is_read_in_portions(options, wanted):
    given = {"qrels": QRELS, **options}
    run = given.pop("run", RUN)
    assert ir.explain_plan(run.lazy().set_sorted("query_id"), **given).reason.endswith(wanted)
    assert "portions" not in ir.explain_plan(run.lazy(), **given).reason
    assert "portions" not in ir.explain_plan(run, **given).reason


def test_options_that_evaluate_refuses_are_errors():
    with pytest.raises(ir.IRError, match="bounds=True goes with measures of documents"):
        ir.explain_plan(RUN, TWO, "StRecall@2", bounds=True)


def test_measures_of_lists_alone_need_no_judgments():
    plan = RUN.ir.explain_plan(None, "Novelty@2", history=RUN)
    assert str(plan).startswith("by sorting: measures of lists read no judgments")
    with pytest.raises(ir.IRError, match="no qrels were given"):
        RUN.ir.explain_plan(None, ["Novelty@2", "P@2"], history=RUN)
