"""`evaluate`, `mean` and `summarize`: queries, systems, options, and measures of one's own."""

import re
from math import exp, log, sqrt
from statistics import NormalDist, fmean, stdev

import polars as pl
import pytest

import polars_ir as ir

RUN = {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.2}, "q2": {"d1": 0.7}, "q9": {"d1": 0.1}}
QRELS = {"q1": {"d2": 1, "d3": 1}, "q2": {"d1": 0}, "q3": {"d1": 1}}

FRAME = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2"],
        "doc_id": ["d1", "d2", "d3", "d1"],
        "score": [0.9, 0.5, 0.2, 0.7],
        "price": [10.0, 3.0, 5.0, 8.0],
    }
)

EXACT = {"rel": 0, "abs": 1e-12}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, [("q1", 0.5), ("q2", 0.0), ("q3", 0.0)]),
        ({"missing": "skip"}, [("q1", 0.5), ("q2", 0.0)]),
        ({"undefined": None}, [("q1", 0.5), ("q2", None), ("q3", 0.0)]),
        ({"undefined": 1.0}, [("q1", 0.5), ("q2", 1.0), ("q3", 0.0)]),
        ({"undefined": None, "missing": "skip"}, [("q1", 0.5), ("q2", None)]),
        ({"judged_only": True}, [("q1", 1.0), ("q2", 0.0), ("q3", 0.0)]),
    ],
)
def test_options_say_what_becomes_of_odd_queries(options, rows, lazy):
    run = pl.DataFrame(
        [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()],
        schema=["query_id", "doc_id", "score"],
        orient="row",
    )
    found = ir.evaluate(run.lazy() if lazy else run, QRELS, "RR", **options)
    assert found.lazy().collect().rows() == rows


def test_undefined_can_be_a_whole_number():
    assert ir.evaluate(RUN, QRELS, "RR", undefined=1).rows() == [("q1", 0.5), ("q2", 1.0), ("q3", 0.0)]


def test_undefined_does_not_touch_counts():
    assert ir.evaluate(RUN, QRELS, "NumRel", undefined=7)["NumRel"].to_list() == [2, 0, 1]


def test_queries_nobody_judged_are_ignored():
    assert "q9" not in ir.evaluate(RUN, QRELS, "RR")["query_id"]


def test_judged_only_takes_negative_grades_out_too():
    qrels = {"q": {"d1": -1, "d2": 1}}
    assert ir.evaluate({"q": ["d1", "d2"]}, qrels, "RR", judged_only=True).item(0, 1) == 1.0


def test_a_query_whose_condensed_list_is_empty_was_answered():
    run, qrels = {"q1": ["d1"], "q2": ["d9"]}, {"q1": ["d1"], "q2": ["d1"]}
    found = ir.evaluate(run, qrels, "RR", judged_only=True, missing="skip")
    assert found.rows() == [("q1", 1.0), ("q2", 0.0)]


def test_equal_scores_are_ordered_by_document_falling():
    assert ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["b"]}, "RR").item(0, 1) == 1.0


def test_one_measure_needs_no_list():
    names = ir.evaluate(RUN, QRELS, "RR"), ir.evaluate(RUN, QRELS, ir.reciprocal_rank())
    assert [found.columns for found in names] == [["query_id", "RR"]] * 2


def test_measures_may_come_from_a_generator():
    found = ir.evaluate(RUN, QRELS, (ir.precision(k=k) for k in (1, 2)))
    assert found.columns == ["query_id", "P@1", "P@2"]


def test_measures_keep_the_order_they_were_given_in():
    assert ir.evaluate(RUN, QRELS, ["RR", "AP", "nDCG@5"]).columns[1:] == ["RR", "AP", "nDCG@5"]


def test_rows_are_sorted_by_system_and_query():
    runs = {system: {query: ["d1"] for query in ("q2", "q1")} for system in ("b", "a")}
    found = ir.evaluate(runs, {"q2": ["d1"], "q1": ["d1"]}, "RR")
    assert found.select("run", "query_id").rows() == [("a", "q1"), ("a", "q2"), ("b", "q1"), ("b", "q2")]


# Several systems.


def test_a_query_that_one_system_missed_counts_for_that_system():
    runs = {"a": {"q1": ["d2"], "q2": ["d1"]}, "b": {"q1": ["d1", "d2"]}}
    qrels = {"q1": ["d2"], "q2": ["d1"]}
    found = ir.evaluate(runs, qrels, "RR")
    assert found.rows() == [("a", "q1", 1.0), ("a", "q2", 1.0), ("b", "q1", 0.5), ("b", "q2", 0.0)]
    assert ir.mean(found).rows() == [("a", 1.0), ("b", 0.25)]


def test_a_query_that_one_system_missed_can_be_skipped_for_that_system_alone():
    runs = {"a": {"q1": ["d2"], "q2": ["d1"]}, "b": {"q1": ["d1", "d2"]}}
    found = ir.evaluate(runs, {"q1": ["d2"], "q2": ["d1"]}, "RR", missing="skip")
    assert found.rows() == [("a", "q1", 1.0), ("a", "q2", 1.0), ("b", "q1", 0.5)]


def test_a_run_column_separates_systems():
    runs = pl.concat([FRAME.with_columns(tag=pl.lit("a")), FRAME[1:].with_columns(tag=pl.lit("b"))])
    assert ir.evaluate(runs, QRELS, "RR", missing="skip").rows() == [
        ("a", "q1", 0.5),
        ("a", "q2", 0.0),
        ("b", "q1", 1.0),
        ("b", "q2", 0.0),
    ]


def test_several_systems_have_the_figures_each_has_alone():
    runs = {"a": FRAME, "b": FRAME.with_columns(score=-pl.col("score"))}
    measures = ["nDCG", "AP", "RR"]
    together = ir.evaluate(runs, QRELS, measures)
    for system, run in runs.items():
        assert together.filter(run=system).drop("run").equals(ir.evaluate(run, QRELS, measures))


# Measures of one's own.


def test_any_aggregation_of_the_judged_relation_is_a_measure():
    mine = (1 / ir.rank.filter(ir.relevant())).max().alias("mine")
    found = ir.evaluate(RUN, QRELS, [mine, "RR"])
    assert found["mine"].to_list() == found["RR"].to_list()


def test_an_aggregation_that_reads_a_column_of_the_run_sees_unjudged_documents():
    found = ir.evaluate(FRAME, QRELS, pl.col("price").filter(ir.top(2)).sum().alias("paid"))
    assert found.filter(query_id="q1").item(0, "paid") == 13.0


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("beside", [[pl.col("price").max()], ["Hole@2"], []], ids=["a column", "Hole", "bounds"])
def test_an_aggregation_of_judged_documents_is_the_same_whatever_else_is_measured(beside, lazy):
    mine = [pl.len().alias("n"), ir.rank.max().alias("last"), ir.relevance.null_count().alias("unjudged")]
    qrels, run = {**QRELS, "q4": {}}, FRAME.lazy() if lazy else FRAME
    found = ir.evaluate(run, qrels, [*mine, "RR", *beside], bounds=not beside).lazy().collect()
    names = ["query_id", "n", "last", "unjudged", "RR"]
    assert found.select(names).equals(ir.evaluate(FRAME, qrels, [*mine, "RR"]))


@pytest.mark.parametrize("name", [name for name, info in ir.CATALOG.items() if info.kind == "documents"])
@pytest.mark.whole("test_invariants asks it of all at once", quick=14)
def test_a_measure_has_the_same_figures_beside_one_that_reads_the_run(name):
    price = pl.col("price").max()
    beside = ir.evaluate(FRAME, QRELS, [name, price]).drop("price")
    assert beside.equals(ir.evaluate(FRAME, QRELS, name))


def test_columns_of_the_qrels_can_be_read():
    qrels = pl.DataFrame({"query_id": ["q1"], "doc_id": ["d2"], "relevance": [1], "weight": [0.25]})
    found = ir.evaluate(FRAME, qrels, pl.col("weight").filter(ir.top(2)).sum())
    assert found.rows() == [("q1", 0.25)]


@pytest.mark.usefixtures("scratch_catalog")
def test_a_registered_measure_is_one_like_the_others():
    @ir.measure("LastRank", bounds=(0, float("inf")), source="a test")
    def last_rank(*, k: int | None = None, rel: float = 1) -> pl.Expr:
        """The rank of the last relevant document."""
        return ir.rank.filter(ir.relevant(rel) & ir.top(k)).max().cast(pl.Float64)

    assert ir.evaluate(RUN, QRELS, "LastRank@2").rows() == [("q1", 2.0), ("q2", 0.0), ("q3", 0.0)]
    assert FRAME.ir.last_rank(QRELS)["LastRank"].to_list() == [3.0, 0.0, 0.0]
    assert "LastRank" in ir.catalog()["name"]
    with pytest.raises(ir.IRError, match="LastRank: k must be a whole number"):
        last_rank(k=0)


# Means.

PER_QUERY = pl.DataFrame(
    {"query_id": ["q1", "q2", "q3", "q4"], "AP": [0.1, 0.4, None, 0.9], "NumRel": [1, 2, 3, 5], "text": ["a"] * 4}
)
VALUES = [0.1, 0.4, 0.9]


def test_a_mean_leaves_out_null_values_and_averages_counts():
    found = ir.mean(PER_QUERY)
    assert found.columns == ["AP", "NumRel"]
    assert found.row(0) == pytest.approx((fmean(VALUES), 2.75), **EXACT)


def test_a_mean_of_nothing_is_null():
    assert ir.mean(PER_QUERY.with_columns(AP=pl.lit(None, pl.Float64))).item(0, "AP") is None


def test_a_mean_is_taken_for_each_system():
    runs = pl.concat([PER_QUERY.with_columns(run=pl.lit("b")), PER_QUERY[:1].with_columns(run=pl.lit("a"))])
    found = ir.mean(runs)
    assert found["run"].to_list() == ["a", "b"]
    assert found["AP"].to_list() == pytest.approx([0.1, fmean(VALUES)], **EXACT)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_summary_has_the_normal_interval(confidence):
    found = ir.summarize(PER_QUERY, alpha=1 - confidence, interval="normal").row(0, named=True)
    mean, std = fmean(VALUES), stdev(VALUES)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * std / sqrt(3)
    wanted = {"mean": mean, "std": std, "low": mean - half, "high": mean + half, "n_queries": 3, "n_effective": 3.0}
    assert (found.pop("measure"), found.pop("note")) == ("AP", None)
    assert found == pytest.approx(wanted, **EXACT)


def test_measures_that_are_averaged_otherwise_have_their_own_mean():
    run = {"q1": ["d1", "d2"], "q2": ["d9", "d1"], "q3": ["d9"]}
    qrels = {"q1": ["d1"], "q2": ["d1"], "q3": ["d1", "d2"]}
    per_query = ir.evaluate(run, qrels, ["GMAP", "NumQ", "AP"], ties="input")
    assert per_query["GMAP"].to_list() == [1.0, 0.5, 0.0]
    # A 0 counts as 0.00001, which one query alone would otherwise make of the mean.
    geometric = (1.0 * 0.5 * 1e-5) ** (1 / 3)
    assert ir.mean(per_query).row(0) == pytest.approx((geometric, 3.0, 0.5), **EXACT)
    rows = {row["measure"]: row for row in ir.summarize(per_query, interval="normal").iter_rows(named=True)}
    assert rows["GMAP"]["mean"] == pytest.approx(geometric, **EXACT)
    logs = [log(1.0), log(0.5), log(1e-5)]
    half = NormalDist().inv_cdf(0.975) * stdev(logs) / sqrt(3)
    limits = [exp(fmean(logs) - half), exp(fmean(logs) + half)]
    assert [rows["GMAP"]["low"], rows["GMAP"]["high"]] == pytest.approx(limits, **EXACT)
    assert (rows["NumQ"]["mean"], rows["NumQ"]["low"], rows["NumQ"]["high"]) == (3.0, None, None)


def test_a_summary_has_a_row_per_system_and_measure():
    runs = pl.concat(PER_QUERY.with_columns(run=pl.lit(system)) for system in "ab")
    found = ir.summarize(runs)
    assert found.schema == {
        "run": pl.String,
        "measure": pl.String,
        **dict.fromkeys(["mean", "std", "low", "high"], pl.Float64),
        "n_queries": pl.UInt32,
        "n_effective": pl.Float64,
        "note": pl.String,
    }
    assert sorted(found.select("run", "measure").rows()) == [(r, m) for r in "ab" for m in ("AP", "NumRel")]


def test_a_single_query_has_no_spread_and_no_interval():
    found = ir.summarize(PER_QUERY[:1].select("query_id", "AP"))
    assert found.row(0) == ("AP", 0.1, None, None, None, 1, 1.0, "one query")


@pytest.mark.parametrize("alpha", [0, 1, -0.5, 5, "5%", None])
def test_alpha_is_between_0_and_1(alpha):
    with pytest.raises(ir.IRError, match="alpha must be at least 1e-09 and below 1"):
        ir.summarize(PER_QUERY, alpha=alpha)


@pytest.mark.parametrize("function", [ir.mean, ir.summarize])
def test_a_frame_without_measures_has_no_mean(function):
    with pytest.raises(ir.IRError, match="per_query has no measure"):
        function(PER_QUERY.select("query_id", "text"))


# Faults found in a review.


def test_a_system_without_a_judged_document_stays_in_condensed_lists():
    both = pl.DataFrame({"run": ["a", "b"], "query_id": ["q", "q"], "doc_id": ["d", "x"], "score": [1.0, 1.0]})
    with pytest.warns(ir.IRWarning, match="no retrieved document of 'b' is judged"):
        found = ir.evaluate(both, {"q": {"d": 1}}, "RR", judged_only=True)
    assert found.rows() == [("a", "q", 1.0), ("b", "q", 0.0)]


def test_a_system_that_holds_several_systems_is_an_error():
    both = pl.DataFrame({"run": ["a", "b"], "query_id": ["q", "q"], "doc_id": ["d", "x"], "score": [1.0, 1.0]})
    with pytest.raises(ir.IRError, match="run 'm' has a column 'run': it holds several systems itself"):
        ir.evaluate({"m": both}, {"q": {"d": 1}}, "RR")


def test_a_system_may_have_a_column_with_its_name():
    both = pl.DataFrame({"run": ["a", "b"], "query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, 1.0]})
    runs = {name: both.filter(run=name) for name in "ab"}
    qrels = {"q": {"d": 1, "e": 0}}
    assert ir.evaluate(runs, qrels, "RR").equals(ir.evaluate(both, qrels, "RR"))


MEASURES_BY_CUTOFF = {
    "one": ({"nDCG": 1}, ["nDCG@1"]),
    "several": ({"ndcg": [1, 2], "recall": 1}, ["nDCG@1", "nDCG@2", "R@1"]),
    "none": ({"AP": None, "P": 2}, ["AP", "P@2"]),
}


@pytest.mark.parametrize(("measures", "names"), MEASURES_BY_CUTOFF.values(), ids=MEASURES_BY_CUTOFF)
def test_a_map_gives_each_measure_its_cutoffs(measures, names):
    run, qrels = {"q": ["d1", "d2"]}, {"q": ["d2"]}
    assert ir.evaluate(run, qrels, measures).equals(ir.evaluate(run, qrels, names))


@pytest.mark.parametrize("k", ["10", 0, 10.5, True, [], [1.5], ["10"]])
def test_a_map_of_other_cutoffs_says_which(k):
    with pytest.raises(ir.IRError, match=rf"nDCG: k must be a whole number, 1 or more, .* got {re.escape(repr(k))}"):
        ir.evaluate({"q": ["d1"]}, {"q": ["d1"]}, {"nDCG": k})


@pytest.mark.parametrize("measures", [{1: 1}, {"q": "d1"}, {"q": ["d1"]}, {"q": {"d1": 1}}])
def test_another_map_is_no_measure(measures):
    with pytest.raises(ir.IRError, match=r"names with cutoffs, \{'nDCG': 10\}"):
        ir.evaluate({"q": ["d1"]}, {"q": ["d1"]}, measures)


def test_a_cutoff_stands_once():
    with pytest.raises(ir.IRError, match="'nDCG@5@10' is not a measure name: it has two cutoffs"):
        ir.evaluate({"q": ["d1"]}, {"q": ["d1"]}, {"nDCG@5": 10})


def test_metrics_are_measures_and_a_cutoff_stands_in_a_name():
    run, qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), {"q": ["d"]}
    assert ir.evaluate(run, qrels, metrics="AP").equals(ir.evaluate(run, qrels, "AP"))
    assert run.ir.evaluate(qrels, metrics=["AP"]).columns == ["query_id", "AP"]
    with pytest.raises(ir.IRError, match="k is the cutoff of a measure, and part of its name: 'nDCG@10', 'AP@10'"):
        run.ir.evaluate(qrels, ["nDCG", "AP"], k=10)
    with pytest.raises(ir.IRError, match="got an unexpected keyword argument 'metricz'"):
        run.ir.evaluate(qrels, metricz="AP")


def test_measures_alone_are_of_a_labelled_run():
    run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0], "label": [1]})
    assert run.ir.evaluate(["nDCG@5"]).equals(run.ir.evaluate(None, ["nDCG@5"]))
    with pytest.raises(ir.IRError, match="no qrels were given, and run has no column of grades"):
        run.drop("label").ir.evaluate(["nDCG@5"])
    with pytest.raises(ir.IRError, match="Give the qrels first, then the measures"):
        run.ir.evaluate(pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]}))


def test_a_system_without_figures_is_told():
    figures = pl.DataFrame({"query_id": ["a", "b"], "RR": [1.0, 0.5]})
    with pytest.warns(ir.IRWarning, match="has no row of system 'c', which no result has"):
        assert ir.mean({"a": figures, "c": figures.clear()}).rows() == [("a", 0.75)]


def test_systems_of_one_name_as_text_are_an_error():
    with pytest.raises(ir.IRError, match="two systems have one name as text; got 1, '1'"):
        ir.evaluate({1: {"q": {"d": 1.0}}, "1": {"q": {"d": 1.0}}}, {"q": {"d": 1}}, "RR")
    figures = [pl.DataFrame({"query_id": [query], "RR": [1.0]}) for query in "ab"]
    with pytest.raises(ir.IRError, match="two systems have one name as text; got 1, '1'"):
        ir.mean({1: figures[0], "1": figures[1]})


def test_systems_have_their_names_in_the_dict_of_a_partition():
    runs = pl.DataFrame({"run": ["a", "b"], "query_id": "q", "doc_id": "d", "score": 1.0})
    found = ir.evaluate(runs.partition_by("run", as_dict=True), {"q": ["d"]}, "RR")
    assert found.rows() == [("a", "q", 1.0), ("b", "q", 1.0)]


def test_whole_scores_of_several_systems_keep_every_digit():
    run = {"q": {"a": 2**53 + 1, "b": 2**53}}
    assert ir.evaluate({"x": run, "y": run}, {"q": {"a": 1}}, "RR")["RR"].to_list() == [1.0, 1.0]


def test_a_score_column_of_the_qrels_is_not_that_of_the_run():
    run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [2.0]})
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1], "score": [9.0]})
    assert ir.evaluate(run, qrels, pl.col("score").max()).item(0, "score") == 2.0


def test_a_column_that_both_sides_have_is_an_error_to_read():
    run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [2.0], "price": [1.0]})
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1], "price": [9.0]})
    with pytest.raises(ir.IRError, match="reads 'price', which run and qrels both have"):
        ir.evaluate(run, qrels, pl.col("price").max())


def test_a_measure_that_is_no_aggregation_is_an_error():
    with pytest.raises(ir.IRError, match="the measure 'rank' gives a list per query"):
        ir.evaluate({"q": ["d"]}, {"q": ["d"]}, ir.rank)


def test_means_take_every_number_and_truth_value():
    measures = [ir.rank.max(), ir.relevant().any().alias("any"), "AP"]
    assert ir.evaluate({"q": ["d"]}, {"q": ["d"]}, measures).ir.mean().rows() == [(1.0, 1.0, 1.0)]


def test_parameters_of_a_method_are_given_by_name():
    run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [2.0]})
    with pytest.raises(ir.IRError, match="Parameters are given by name"):
        run.ir.ndcg({"q": ["d"]}, 10)


def test_ids_that_int64_can_not_hold_are_joined():
    run = pl.DataFrame({"query_id": [1], "doc_id": pl.Series([2**63 + 5], dtype=pl.UInt64), "score": [1.0]})
    qrels = pl.DataFrame({"query_id": [1], "doc_id": pl.Series([2**63 + 5], dtype=pl.UInt64), "relevance": [1]})
    assert ir.evaluate(run, qrels, "RR").row(0) == (1, 1.0)
    with pytest.warns(ir.IRWarning, match="no retrieved document is judged"):
        ir.evaluate(run, qrels.with_columns(doc_id=pl.Series([5])), "RR")


def test_an_empty_first_system_is_one_all_the_same():
    with pytest.warns(ir.IRWarning, match="the run of 'none' and the qrels share no query"):
        found = ir.evaluate({"none": {}, "one": {"q": {"d": 1.0}}}, {"q": {"d": 1}}, "RR")
    assert found.rows() == [("none", "q", 0.0), ("one", "q", 1.0)]


def test_expectations_obey_the_other_options_of_the_call():
    qrels = pl.DataFrame({"query_id": "q", "doc_id": ["a", "a", "b"], "judge": ["x", "y", "y"], "relevance": [1, 0, 1]})
    # By x, a is relevant; by y, b is; c is judged by nobody. Of two tied documents each is the first half of the time.
    found = ir.evaluate({"q": {"a": 1, "b": 1, "c": 0}}, qrels, "P@1", ties="expected", judges="judge", bounds=True)
    assert found.rows() == [("q", 0.5, 0.5, 0.75)]


def test_a_measure_of_the_package_can_not_be_replaced():
    with pytest.raises(ir.IRError, match=r"'nDCG' .* is part of this package"):

        @ir.measure("nDCG", source="nowhere")
        def better_ndcg() -> pl.Expr:
            """Better."""
            return ir.rank.max()


def test_stars_that_are_all_relevant_are_warned_of():
    run, qrels = {"q": ["d1", "d2"]}, pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d2"], "rating": [1, 5]})
    with pytest.warns(ir.IRWarning, match=r"to 'P@1' every rating is relevant, the lowest too.*'P\(rel=4\)@1'"):
        ir.evaluate(run, qrels, ["P@1", "nDCG@1"])
    ir.evaluate(run, qrels, ["P(rel=4)@1", "nDCG@1"])
    ir.evaluate(run, qrels.with_columns(rating=pl.col("rating") - 1), "P@1")
    ir.evaluate(run, qrels.rename({"rating": "relevance"}), "P@1")


def test_a_run_that_holds_its_grades_needs_no_judgments():
    graded = pl.DataFrame({"query_id": ["a", "a"], "doc_id": ["x", "y"], "score": [1.0, 2.0], "relevance": [0, 1]})
    assert ir.evaluate(graded, measures="AP").equals(ir.evaluate(graded, None, "AP"))
    with pytest.raises(ir.IRError, match="no qrels were given"):
        ir.evaluate(graded.drop("relevance"), measures="AP")
