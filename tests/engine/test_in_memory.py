"""Rows by number: where tables come in pieces, in no order, or with queries that only one side has."""

import math

import polars as pl
import pytest
from generated import collection, every_measure
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir
from polars_ir.engine import in_memory
from polars_ir.engine.grouping import ALIKE
from polars_ir.engine.in_memory import Rankings, RowRuns, places
from polars_ir.engine.needs import needs_of, reads_only_relevant
from polars_ir.engine.relation import judged_relation
from polars_ir.language.catalog import info_of
from polars_ir.language.names import resolve


def test_a_piece_starts_wherever_an_id_changes():
    rows = pl.DataFrame({"run": ["a", "a", "b", "b", "b"], "query_id": ["q", "p", "p", "p", "q"]})
    row_runs = RowRuns.of(rows["run"], rows["query_id"])
    assert row_runs.starts.to_list() == [0, 1, 2, 4]
    assert row_runs.spread(pl.Series([7, None, 5, 3], dtype=pl.UInt32)).to_list() == [7, None, 5, 5, 3]
    assert RowRuns.of(pl.Series([], dtype=pl.UInt32)).starts.to_list() == []


def test_rankings_of_queries_without_a_number_have_none():
    rows = pl.DataFrame({"run": ["a", "a", "b"], "query_id": ["q", "p", "p"], "score": [1.0, 2.0, 3.0]})
    rankings = Rankings.of(rows, ["run", "query_id"], ["run"], pl.Series(["o", "p"]))
    assert rankings.systems.to_list() == ["a", "b"]
    assert rankings.ranking.to_list() == [None, 1, 3]
    assert rankings.known().rows["score"].to_list() == [2.0, 3.0]


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [3, 4, 5, 0, 1, 2], [5, 2, 0, 4, 1, 3], [2, 3, 0, 1, 4, 5]])
@pytest.mark.parametrize("by_id", [True, False])
def test_places_in_any_order_of_the_rows(order, by_id):
    ranking = pl.Series([0, 0, 0, 2, 2, 2], dtype=pl.UInt32)
    rows = pl.DataFrame({"doc_id": ["a", "b", "c", "x", "y", "z"], "score": [2.0, 2.0, 1.0, -0.0, 0.0, 5.0]})
    ranking, rows = ranking[order], rows[order]
    starts = ranking[RowRuns.of(ranking).starts]
    rankings = Rankings(rows, RowRuns.of(ranking), starts, pl.Series(["p", "q", "r"]), None)
    placed = rows.hstack(places(rankings, pl.Series(range(6), dtype=pl.UInt32), by_id=by_id)).sort("doc_id")
    assert placed["n_higher"].to_list() == [0, 0, 2, 1, 1, 0]
    assert placed["n_tied"].to_list() == [2, 2, 1, 2, 2, 1]
    a_first, x_first = (not by_id and order.index(one) < order.index(one + 1) for one in (0, 3))
    assert placed["rank"].to_list() == [*((1, 2) if a_first else (2, 1)), 3, *((2, 3) if x_first else (3, 2)), 1]


@pytest.mark.parametrize("streaming_join", [0, 10**9])
def test_documents_that_share_a_hash_are_not_matched(streaming_join, monkeypatch):
    run = pl.DataFrame(
        {"query_id": ["q", "q", "p", "p"], "doc_id": ["a", "b", "a", "c"], "score": [4.0, 3.0, 2.0, 1.0]}
    )
    qrels = pl.DataFrame({"query_id": ["q", "p", "p"], "doc_id": ["b", "a", "x"], "relevance": [1, 1, 1]})
    tune(monkeypatch, small=0, streaming_join=streaming_join)
    expected = ir.judge(run, qrels)
    monkeypatch.setattr(in_memory, "hash_of", lambda columns: pl.col(columns[0]).hash() & 0)
    assert_frame_equal(ir.judge(run, qrels), expected)
    assert expected.filter(pl.all_horizontal(pl.col("rank", "relevance").is_not_null())).height == 2


def only_relevant(qrels: pl.DataFrame) -> pl.DataFrame:
    return qrels.filter((pl.col("relevance") > 0) | pl.col("query_id").is_first_distinct())


@pytest.mark.parametrize("ties", ["doc_id", "best", "worst", "expected"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.whole("seconds a case", quick=1)
def test_what_reads_only_relevant_documents_is_told_right(seed, ties, monkeypatch):
    """With all other judgments left out, and a measure beside it that makes `evaluate` read all that are left."""
    tune(monkeypatch)
    measures = [m for m in resolve(every_measure()) if reads_only_relevant(m)]
    if ties == "expected":
        measures = [m for m in measures if info_of(m.call).expected]
    assert len(measures) > 20
    run, qrels = collection(seed, queries=40, depth=20)
    reads_all = pl.col("doc_id").count().alias("all") if ties != "expected" else "Judged"
    expressions = [m.expression for m in measures]
    everything = ir.evaluate(run, qrels, [*expressions, reads_all], ties=ties)
    less = ir.evaluate(run, only_relevant(qrels), expressions, ties=ties)
    assert_frame_equal(everything.drop(everything.columns[-1]), less, check_exact=True)
    assert_frame_equal(ir.evaluate(run, qrels, expressions, ties=ties), less, check_exact=True)


@pytest.mark.parametrize("measure", ["Judged@3", "bpref", "infAP", "RBP(gains={0:0.5,1:1})"])
def test_what_reads_other_judgments_is_told(measure):
    assert not reads_only_relevant(resolve([measure])[0])


OF_GRADE_0 = ["P(rel=0)@10", "AP(rel=0)", "NumRel(rel=0)", "R(rel=0)@10", "RR(rel=0)"]


@pytest.mark.parametrize("measures", [OF_GRADE_0, OF_GRADE_0[:1], OF_GRADE_0[1:2]])
def test_documents_of_grade_0_are_read_where_they_are_relevant(measures, monkeypatch):
    run, qrels = collection(0, queries=20, depth=20)
    assert (qrels["relevance"] == 0).any()
    wanted = ir.evaluate(run.lazy(), qrels.lazy(), measures).collect()
    tune(monkeypatch)
    assert_frame_equal(ir.evaluate(run, qrels, measures), wanted, check_row_order=False)


def test_a_measure_of_ones_own_reads_all_judgments():
    assert not reads_only_relevant(resolve([pl.col("relevance").count().alias("mine")])[0])


def test_a_run_that_retrieves_only_what_is_not_relevant_shares_documents_with_the_qrels(monkeypatch):
    """No warning of ids that differ, which would be an error here."""
    tune(monkeypatch)
    assert ir.evaluate({"q": ["d1"]}, {"q": {"d1": 0, "d2": 1}}, "P@1").row(0) == ("q", 0.0)


def test_more_systems_by_queries_than_numbers_are_labelled_or_refused():
    number = pl.int_range(70_000, eager=True).cast(pl.String)
    labelled = pl.DataFrame({"run": number, "query_id": number, "doc_id": "d", "score": 1.0, "relevance": 1})
    found = ir.evaluate(labelled, None, "NumRet")
    assert found["NumRet"].to_list() == [1] * 70_000
    assert found["run"].equals(found["query_id"], check_names=False)
    with pytest.raises(ir.IRError, match="have 70,000 rows for each of 70,000 systems, more than a table holds"):
        ir.evaluate(labelled.drop("relevance"), labelled.select("query_id", "doc_id", "relevance"), "AP")


OF_JUDGED = ["nDCG@10", "AP", "RR", "R@10", "P@10", "ERR", "bpref"]


@pytest.mark.filterwarnings("ignore:no grade")
def test_grades_of_0_with_both_signs_are_not_taken_for_one(monkeypatch):
    tune(monkeypatch)
    qrels = pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["d", "d"], "relevance": [0.0, -0.0]})
    result = ir.evaluate({"a": ["d"], "b": ["d"]}, qrels, ["DCG", (1 / ir.relevance).first().alias("inverse")])
    assert result["inverse"].to_list() == [math.inf, -math.inf]
    sums = ir.evaluate({"a": ["d"], "b": ["d"]}, qrels, "DCG")["DCG"]
    assert (1 / sums).to_list() == (1 / result["DCG"]).to_list()


#: Two queries whose rankings have the same rows but for the values in the qrels.
TWINS = pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["d", "d"], "relevance": [1, 1]})


@pytest.mark.parametrize("nested", [pl.concat_list("x"), pl.struct("x")], ids=["lists", "structs"])
def test_zeros_of_both_signs_in_nested_columns_are_not_taken_for_one(nested, monkeypatch):
    tune(monkeypatch)
    qrels = TWINS.with_columns(x=pl.Series([0.0, -0.0])).with_columns(x=nested)
    zero = pl.col("x").explode().first() if qrels["x"].dtype == pl.List else pl.col("x").struct[0].first()
    assert ir.evaluate({"a": ["d"], "b": ["d"]}, qrels, (1 / zero).alias("m"))["m"].to_list() == [math.inf, -math.inf]


def test_a_random_expression_is_drawn_for_each_of_the_rankings_with_the_same_rows(monkeypatch):
    tune(monkeypatch)
    qrels = pl.DataFrame(
        {"query_id": [*range(40)] * 2, "doc_id": ["d"] * 40 + ["e"] * 40, "relevance": [1] * 40 + [0] * 40}
    )
    drawn = ir.evaluate(
        qrels.head(40).with_columns(score=1.0).drop("relevance"),
        qrels,
        pl.col("relevance").shuffle().first().alias("m"),
    )
    assert drawn["m"].n_unique() == 2


def test_a_measure_may_read_objects(monkeypatch):
    tune(monkeypatch)
    qrels = TWINS.with_columns(x=pl.Series([object(), object()], dtype=pl.Object))
    assert ir.evaluate({"a": ["d"], "b": ["d"]}, qrels, pl.col("x").len().alias("n"))["n"].to_list() == [1, 1]


@pytest.mark.parametrize(
    ("measures", "shared"),
    [
        (OF_JUDGED, True),
        ([*OF_JUDGED, pl.col("doc_id").sort().first().alias("first")], False),
        ([*OF_JUDGED, pl.col("run").first().alias("system")], False),
        ([*OF_JUDGED, "NumRet"], True),
    ],
    ids=["named", "of documents", "of the system", "of the length"],
)
@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.filterwarnings("ignore:the run")
@pytest.mark.whole("a second a case", quick=2)
def test_rankings_with_the_same_rows_have_the_same_values(measures, shared, missing, monkeypatch):
    run, qrels = collection(3, queries=60, depth=30)
    runs = {f"s{i}": run.sample(fraction=0.08, seed=i) for i in range(4)}
    several = pl.concat([rows.with_columns(run=pl.lit(name)) for name, rows in runs.items()])
    tune(monkeypatch, alike=10**9)
    relation = judged_relation(several, qrels, resolve(measures), needs_of(resolve(measures)))[1].collect()
    assert (ALIKE in relation.columns) is shared
    result = ir.evaluate(several, qrels, measures, missing=missing)
    tune(monkeypatch, alike=0)
    assert_frame_equal(result, ir.evaluate(several, qrels, measures, missing=missing), check_exact=True)
    for name, rows in runs.items():
        alone = ir.evaluate(rows, qrels, OF_JUDGED, missing=missing)
        of_system = result.filter(pl.col("run") == name).select(alone.columns)
        assert_frame_equal(of_system, alone, check_exact=True)
