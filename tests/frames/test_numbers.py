"""Scores, ranks and ids of wide and exact types: none is rounded, none overflows."""

from decimal import Decimal

import polars as pl
import pytest

import polars_ir as ir

#: Two numbers that one Float64 stands for.
LOW, HIGH = 2**53, 2**53 + 1

each_kind = pytest.mark.parametrize("kind", [lambda frame: frame, lambda frame: frame.lazy()], ids=["eager", "lazy"])

#: Scores whose higher one belongs to the document that would come last among ties.
SCORES = {
    "Int64": pl.Series([HIGH, LOW], dtype=pl.Int64),
    "UInt64": pl.Series([HIGH, LOW], dtype=pl.UInt64),
    "Int128": pl.Series([HIGH, LOW], dtype=pl.Int128),
    "Decimal": pl.Series([Decimal(HIGH), Decimal(LOW)]),
    "Decimal with a scale": pl.Series([Decimal("9007199254740992.2"), Decimal("9007199254740992.1")]),
}


def run_of(scores: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": scores})


def rr(run: object, relevant: str = "a") -> list[float]:
    return ir.evaluate(run, {"q": [relevant]}, "RR").lazy().collect()["RR"].to_list()


@each_kind
@pytest.mark.parametrize("scores", [*SCORES.values(), pl.Series([HIGH, LOW], dtype=pl.UInt128)])
@pytest.mark.whole("many cases", quick=5)
def test_neighbours_beyond_2_to_the_53_are_no_ties(kind, scores):
    assert rr(kind(run_of(scores))) == [1.0]
    assert rr(kind(run_of(scores.reverse()))) == [0.5]
    assert ir.validate(kind(run_of(scores)), {"q": ["a", "b"]}).lazy().collect().is_empty()


@each_kind
@pytest.mark.parametrize("first", SCORES)
@pytest.mark.parametrize("second", SCORES)
@pytest.mark.whole("every pair of types", quick=10)
def test_systems_whose_exact_scores_differ_in_type_keep_their_order(kind, first, second):
    assert rr({"x": kind(run_of(SCORES[first])), "y": kind(run_of(SCORES[second]))}) == [1.0, 1.0]


@each_kind
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128], ids=str)
def test_integers_beside_fractions_of_another_system_are_an_error_where_they_would_be_rounded(kind, dtype):
    floats = run_of(pl.Series([0.5, 0.2]))
    assert rr({"x": kind(run_of(pl.Series([3, 2]).cast(dtype))), "y": floats}) == [1.0, 1.0]
    wide = run_of(pl.Series([HIGH, LOW]).cast(dtype))
    with pytest.raises(
        (ir.IRError, pl.exceptions.InvalidOperationError),
        match=r"run 'x' has scores of .* that Float64, the type of others, rounds",
    ):
        rr({"x": kind(wide), "y": kind(floats)})


@each_kind
@pytest.mark.parametrize("dtype", [pl.UInt8, pl.UInt64, pl.Int128, pl.UInt128, pl.Float64, pl.Decimal(10, 1)])
def test_ranks_of_any_type_rise(kind, dtype):
    run = run_of(pl.Series([1, 2])).rename({"score": "rank"}).cast({"rank": dtype})
    assert rr(kind(run)) == [1.0]
    assert rr(kind(run), "b") == [0.5]


@each_kind
def test_decimal_grades_are_grades(kind):
    qrels = pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["a", "b"], "relevance": [Decimal("0.5"), Decimal("2.5")]})
    found = ir.evaluate(kind(run_of(pl.Series([2.0, 1.0]))), qrels, "DCG@1").lazy().collect()
    assert found.item(0, 1) == 0.5


def test_ids_of_128_bits_without_a_sign_match_each_other():
    ids = pl.Series([2**127, 2**127 + 1], dtype=pl.UInt128)
    run = pl.DataFrame({"query_id": [1, 1], "doc_id": ids, "score": [1.0, 2.0]})
    qrels = pl.DataFrame({"query_id": [1], "doc_id": ids[:1], "relevance": [1]})
    assert ir.evaluate(run, qrels, "RR").rows() == [(1, 0.5)]
    with pytest.raises(ir.IRError, match=r"run column 'doc_id' is UInt128 and qrels column 'doc_id' is Int64"):
        ir.evaluate(run, qrels.with_columns(doc_id=pl.lit(1)), "RR")


@pytest.mark.parametrize(
    "row", [("q", None, 1.0), ("q", "x", float("nan")), ("q", "x", None), (None, "x", 1.0), (None, "a", 1.0)]
)
def test_a_plan_of_condensed_lists_finds_bad_rows_of_documents_nobody_judged(row):
    rows = pl.DataFrame([("q", "a", 2.0), row], schema=["query_id", "doc_id", "score"], orient="row")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="the run has ids or scores that are null"):
        ir.evaluate(rows.lazy(), {"q": ["a"]}, "RR", judged_only=True).collect()


def test_a_plan_of_condensed_lists_finds_an_unjudged_row_of_a_system_without_a_name():
    rows = {"run": ["s", None], "query_id": ["q", "q"], "doc_id": ["a", "x"], "score": [2.0, 1.0]}
    with pytest.raises(pl.exceptions.InvalidOperationError, match="the run has ids or scores that are null"):
        ir.evaluate(pl.LazyFrame(rows), {"q": ["a"]}, "RR", judged_only=True).collect()


@each_kind
def test_condensed_lists_of_a_plan_are_those_of_a_frame(kind):
    run = {"query_id": ["q"] * 4, "doc_id": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]}
    found = ir.evaluate(kind(pl.DataFrame(run)), {"q": {"b": -1, "d": 1, "c": 0}}, "RR", judged_only=True)
    assert found.lazy().collect().item(0, 1) == 0.5
