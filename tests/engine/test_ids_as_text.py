"""Equal scores stand in the order of their ids as text, whatever type the ids have: trec_eval's order."""

import polars as pl
import pytest
from generated import collection, collection_of, every_measure
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir

INTEGERS = [pl.Int64, pl.UInt64, pl.Int128, pl.Int32]

#: Integers in falling order of their text, a minus sign before all digits: "9" > "10" > "1" > "-9" > "-10" > "-1".
FALLING = [9, 10, 1, -9, -10, -1]


def tied(ids: list[int], dtype: pl.DataType) -> pl.DataFrame:
    """A ranking of documents with one score, in the order of their numbers."""
    documents = pl.Series(sorted(ids), dtype=dtype)
    return pl.DataFrame({"query_id": ["q"] * len(ids), "doc_id": documents, "score": [1.0] * len(ids)})


def judged(run: pl.DataFrame) -> pl.DataFrame:
    return run.select("query_id", "doc_id", relevance=1)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("deep", [0, 10**9], ids=["sorting", "counting"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_stand_as_their_text_does(dtype, deep, lazy, monkeypatch):
    tune(monkeypatch, deep=deep)
    ids = [number for number in FALLING if number > 0 or dtype.is_signed_integer()]
    run = tied(ids, dtype)
    ranks = ir.judge(run.lazy() if lazy else run, judged(run)).lazy().sort("rank").collect()
    assert ranks["doc_id"].to_list() == ids
    assert ranks["ideal_rank"].to_list() == ranks["rank"].to_list()


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 10**19])
def test_numbers_beyond_int64_stand_as_their_text_does(number):
    run = tied([number, 2, 17], pl.UInt64)
    first = max(map(str, (number, 2, 17)))
    assert str(ir.judge(run, judged(run)).filter(rank=1)["doc_id"].item()) == first


def test_a_relevant_9_stands_before_a_10():
    assert ir.evaluate({"q": {9: 1.0, 10: 1.0}}, {"q": {9: 1}}, "RR").row(0) == ("q", 1.0)
    assert ir.evaluate({"q": {"9": 1.0, "10": 1.0}}, {"q": {"9": 1}}, "RR").row(0) == ("q", 1.0)


def numbered(ids: pl.Expr) -> pl.Expr:
    """Other ids, as numbers of up to six digits."""
    return ids.hash(seed=1) % 100_003


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("ties", ["doc_id", "input", "best", "worst", "expected"])
@pytest.mark.whole("a second a case", quick=2)
def test_all_figures_are_those_of_ids_as_text(ties, large, monkeypatch):
    if large:
        tune(monkeypatch, deep=10**9, counted=0, streaming_rows=0, sparse=0, together=10**9)
    run, qrels = (frame.with_columns(doc_id=numbered(pl.col("doc_id"))) for frame in collection(3, queries=30))
    of_text = [frame.with_columns(pl.col("doc_id").cast(pl.String)) for frame in (run, qrels)]
    measures = ["AP", "nDCG", "RR", "P@3"] if ties == "expected" else every_measure()
    assert_frame_equal(
        ir.evaluate(run, qrels, measures, ties=ties), ir.evaluate(*of_text, measures, ties=ties), check_exact=True
    )


@pytest.mark.parametrize("kind", ["subtopics", "preferences"])
@pytest.mark.whole("seconds a case")
def test_figures_of_subtopics_and_preferences_are_those_of_ids_as_text(kind):
    run, qrels = collection_of(kind, 2)
    columns = [column for column in ("doc_id", "preferred", "other") if column in qrels.columns]
    run, qrels = run.with_columns(numbered(pl.col("doc_id"))), qrels.with_columns(numbered(pl.col(columns)))
    of_text = run.with_columns(pl.col("doc_id").cast(pl.String)), qrels.with_columns(pl.col(columns).cast(pl.String))
    measures = every_measure(kind)
    assert_frame_equal(ir.evaluate(run, qrels, measures), ir.evaluate(*of_text, measures), check_exact=True)


def test_a_labelled_frame_orders_integers_as_text():
    frame = pl.DataFrame({"user_id": 1, "item_id": [9, 10, 11], "score": 1.0, "relevance": [1, 0, 0]})
    for some in (frame, frame.lazy()):
        assert ir.evaluate(some.rename({"user_id": "query_id"}), None, "RR").lazy().collect()["RR"].item() == 1.0


@pytest.mark.parametrize("rows", [2, 12])
def test_a_labelled_frame_without_ids_keeps_the_order_of_its_rows_where_that_is_asked_for(rows):
    frame = pl.DataFrame({"query_id": [1] * rows, "score": 1.0, "relevance": [0] * (rows - 1) + [1]})
    for some in (frame, frame.lazy()):
        assert ir.evaluate(some, None, "RR", ties="input").lazy().collect()["RR"].item() == 1 / rows
        first = ir.judge(some.with_columns(row=pl.int_range(pl.len())), ties="best", unjudged=True).lazy().sort("rank")
        assert first.collect()["row"].to_list() == [rows - 1, *range(rows - 1)]
