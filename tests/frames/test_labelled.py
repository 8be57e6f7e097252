"""Scores and grades side by side: no qrels, and without document ids no order among equal scores."""

import math
import random

import polars as pl
import pytest

import polars_ir as ir

LABELLED = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q1", "q2"],
        "doc_id": ["d1", "d2", "d3", "d1"],
        "score": [0.9, 0.5, 0.2, 0.7],
        "label": [0, 1, 1, 2],
    }
)


def test_a_labelled_frame_needs_no_qrels():
    assert LABELLED.ir.evaluate(None, ["RR", "R@2"]).rows() == [("q1", 0.5, 0.5), ("q2", 1.0, 1.0)]


@pytest.mark.parametrize("measure", ["nDCG@2", "AP", "Judged@2", "bpref"])
def test_a_labelled_frame_has_the_figures_of_the_run_and_the_qrels_in_it(measure):
    alone = ir.evaluate(LABELLED, None, measure)
    assert alone.equals(ir.evaluate(LABELLED.drop("label"), LABELLED.drop("score"), measure))


def test_a_null_grade_in_a_labelled_frame_is_a_document_nobody_judged():
    frame = LABELLED.with_columns(label=pl.Series([None, 1, 1, 2]))
    assert frame.ir.judged(k=2)["Judged@2"].to_list() == [0.5, 1.0]


def test_a_lazy_labelled_frame_stays_lazy():
    found = LABELLED.lazy().ir.reciprocal_rank()
    assert isinstance(found, pl.LazyFrame)
    assert found.collect().rows() == [("q1", 0.5), ("q2", 1.0)]


# Without document ids.

#: The measures whose mean over all orders of ties is known.
EXPECTED = [info.function() for info in ir.CATALOG.values() if info.expected and info.kind != "none"]

#: A recommender that scores the positive and 99 others alike, the positive first.
COLLAPSED = pl.DataFrame({"user_id": ["u"] * 100, "score": [1.0] * 100, "label": [1] + [0] * 99})

NO_ORDER = "tied documents differ in grade, and there are no document ids to break the tie"


def orders(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """The frame, and its rows in three other orders."""
    shuffled = [frame.sample(fraction=1, shuffle=True, seed=seed) for seed in range(2)]
    return [frame, frame[::-1], *shuffled]


@pytest.mark.parametrize("lazy", [False, True])
def test_tied_documents_without_ids_are_averaged_over_all_orders(lazy):
    for frame in orders(COLLAPSED):
        run = frame.lazy() if lazy else frame
        found = ir.evaluate(run, None, ["HitRate@10", "nDCG@10", "P@10"]).lazy().collect()
        # 10 of 100 places are among the first ten, each with its discount.
        ndcg = sum(1 / math.log2(rank + 1) for rank in range(1, 11)) / 100
        assert found.row(0)[1:] == pytest.approx((0.1, ndcg, 0.01), rel=1e-12)


def test_what_is_averaged_does_not_hang_on_the_order_of_the_rows():
    chance = random.Random(5)
    rows = [(f"q{i % 7}", float(chance.randint(0, 3)), chance.choice([None, 0, 0, 1, 2])) for i in range(300)]
    frame = pl.DataFrame(rows, schema=["query_id", "score", "label"], orient="row")
    first, *others = (ir.evaluate(each, None, EXPECTED) for each in orders(frame))
    for other in others:
        assert other.equals(first)


def test_without_ids_the_figures_are_those_of_ties_expected_with_ids():
    frame = pl.DataFrame(
        {"query_id": "q", "doc_id": list("abcd"), "score": [2.0, 1.0, 1.0, 1.0], "label": [0, 1, 0, 2]}
    )
    wanted = ir.evaluate(frame, None, ["nDCG@2", "AP", "RR"], ties="expected")
    assert ir.evaluate(frame.drop("doc_id"), None, ["nDCG@2", "AP", "RR"]).equals(wanted)


@pytest.mark.parametrize("measures", ["ERR@10", ["nDCG@10", "ERR@10"], ir.rank.min().alias("mine")])
def test_a_measure_without_a_mean_over_all_orders_needs_ties_to_be_named(measures):
    with pytest.raises(ir.IRError, match=f"^{NO_ORDER}.*ties='input' for the order of the rows.*need none\\)$"):
        ir.evaluate(COLLAPSED, None, measures)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=f"{NO_ORDER}.*ties='input'"):
        ir.evaluate(COLLAPSED.lazy(), None, measures).collect()


@pytest.mark.parametrize("ties", ["input", "best", "worst"])
@pytest.mark.parametrize("lazy", [False, True])
def test_ties_that_are_named_give_every_measure(ties, lazy):
    frame = COLLAPSED.lazy() if lazy else COLLAPSED
    found = ir.evaluate(frame, None, ["RR", "ERR"], ties=ties).lazy().collect()
    assert found["RR"].to_list() == [{"input": 1.0, "best": 1.0, "worst": 0.01}[ties]]
    assert found["ERR"].item() > 0


@pytest.mark.parametrize("lazy", [False, True])
def test_ties_of_one_grade_need_no_order(lazy):
    frame = pl.DataFrame({"query_id": ["q"] * 4, "score": [3.0, 2.0, 2.0, 1.0], "label": [0, 1, 1, 0]})
    frame = frame.lazy() if lazy else frame
    with_ids = frame.with_columns(doc_id=pl.Series(["a", "b", "c", "d"]))
    wanted, found = (ir.evaluate(each, None, ["ERR", "bpref"]).lazy().collect() for each in (with_ids, frame))
    assert found.equals(wanted)


def test_an_unjudged_document_in_a_tie_needs_an_order():
    frame = pl.DataFrame({"query_id": ["q"] * 2, "score": [1.0, 1.0], "label": [1, None]})
    with pytest.raises(ir.IRError, match=NO_ORDER):
        ir.evaluate(frame, None, "ERR")
    assert ir.evaluate(frame, None, "RR").item(0, 1) == 0.75


def test_a_column_that_a_measure_reads_needs_an_order_and_one_that_it_does_not_read_needs_none():
    frame = pl.DataFrame({"query_id": ["q"] * 2, "score": [1.0, 1.0], "label": [1, 1], "price": [5.0, 7.0]})
    first_price = pl.col("price").sort_by("rank").first().alias("first price")
    with pytest.raises(ir.IRError, match=NO_ORDER):
        ir.evaluate(frame, None, first_price)
    assert ir.evaluate(frame, None, ir.rank.min().alias("mine")).item(0, 1) == 1
    assert ir.evaluate(frame, None, first_price, ties="input").item(0, 1) == 5.0


@pytest.mark.parametrize("lazy", [False, True])
def test_the_judged_relation_has_no_ranks_for_ties_without_ids_and_no_ids(lazy):
    frame = COLLAPSED.lazy() if lazy else COLLAPSED
    with pytest.raises((ir.IRError, pl.exceptions.InvalidOperationError), match=NO_ORDER):
        ir.judge(frame).lazy().collect()
    found = ir.judge(frame, ties="worst").lazy().collect()
    assert "doc_id" not in found.columns
    assert found.filter(relevance=1)["rank"].to_list() == [100]


@pytest.mark.parametrize(("column", "value"), [("score", float("nan")), ("score", None), ("user_id", None)])
def test_a_plan_of_condensed_lists_finds_bad_rows_of_documents_nobody_judged(column, value):
    frame = COLLAPSED.with_columns(label=pl.Series([1, None] + [0] * 98), item_id=pl.int_range(100))
    bad = frame.with_columns(
        pl.when(pl.col("label").is_null()).then(pl.lit(value, frame[column].dtype)).otherwise(column).alias(column)
    )
    with pytest.raises(pl.exceptions.InvalidOperationError, match="leave those rows out"):
        ir.evaluate(bad.lazy(), None, "RR", judged_only=True).collect()


@pytest.mark.parametrize("library", [pl.DataFrame, pl.LazyFrame])
def test_a_labelled_frame_without_rows_has_no_figures_of_exponential_gains(library):
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64, "relevance": pl.Int64}
    measure = "nDCG(dcg='exp-log2')"
    figures = ir.evaluate(library(schema=schema), None, [measure, "nDCG"]).lazy().collect()
    assert figures.schema == {"query_id": pl.String, measure: pl.Float64, "nDCG": pl.Float64}
    assert figures.is_empty()
