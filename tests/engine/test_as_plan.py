"""The plans of the judged relation; what it promises is in test_invariants.py."""

import io
import re

import polars as pl
import pytest
from generated import collections, qrels_frame, run_frame
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from suite import examples
from tuned import tune

import polars_ir as ir
from polars_ir.frames import rules

QRELS = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d2"], "relevance": [1, 2]})


@pytest.fixture
def scanned(tmp_path):
    file = tmp_path / "run.parquet"
    pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0]}).write_parquet(file)
    return pl.scan_parquet(file)


@pytest.mark.parametrize("names", [{}, {"query_id": "qid", "doc_id": "docno", "score": "sim"}])
def test_what_the_passes_over_a_scanned_run_share_is_the_scan_and_the_hits(scanned, names, tmp_path):
    # Anything else the optimizer finds twice it keeps in memory: the whole run, were the passes alike.
    scanned.rename(names).sink_parquet(tmp_path / "named.parquet")
    plan = pl.scan_parquet(tmp_path / "named.parquet").ir.evaluate(QRELS, ["nDCG@10", "AP", "NumRet"]).explain()
    kept = re.findall(r"CACHE\[id: [^\]]*\]\n\s*((?:SELECT|WITH_COLUMNS|FILTER|simple).*)", plan)
    assert all("hit_" in node for node in kept)


@pytest.mark.parametrize("shared", [True, False])
def test_a_scanned_run_is_read_once_for_hits_for_duplicates_for_what_is_above_hits_and_for_ties(scanned, shared):
    plan = scanned.ir.evaluate(QRELS, ["nDCG@10", "AP", "P@10"])
    assert plan.explain(optimizations=pl.QueryOptFlags(comm_subplan_elim=shared)).count("Parquet SCAN") == 4


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("deep", [0, 10**9])
@pytest.mark.parametrize("columns", [["rank"], ["n_retrieved"], ["relevance", "n_higher"]], ids=str)
@pytest.mark.parametrize("wrong", [{"score": float("nan")}, {"doc_id": None}])
@pytest.mark.whole("many cases", quick=7)
def test_a_wrong_row_of_a_query_that_is_not_judged_fails_unless_it_is_left_out_before(
    scanned, engine, deep, columns, wrong, tmp_path, monkeypatch
):
    tune(monkeypatch, deep=deep)
    other = pl.DataFrame({"query_id": "other", "doc_id": "d1", "score": 1.0}).with_columns(**wrong)
    pl.concat([scanned.collect(), other.cast(dict(scanned.collect_schema()))]).write_parquet(tmp_path / "more.parquet")
    more = pl.scan_parquet(tmp_path / "more.parquet")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=re.escape(f"polars_ir: {rules.BAD_RUN}")):
        ir.judge(more, QRELS).select(columns).collect(engine=engine)
    sound = more.filter(pl.col("score").is_not_nan() & pl.col("doc_id").is_not_null())
    found, wanted = (ir.judge(run, QRELS).sort("doc_id").collect(engine=engine) for run in (sound, scanned))
    assert_frame_equal(found, wanted)


@pytest.mark.parametrize("deep", [0, 10**9])
def test_a_plan_holds_no_code_of_python_and_can_be_sent_elsewhere(scanned, deep, monkeypatch):
    tune(monkeypatch, deep=deep)
    plan = scanned.ir.evaluate(QRELS, [info.function() for info in ir.CATALOG.values() if info.kind == "documents"])
    # The code of a function would be pickled by cloudpickle; that which warns is imported.
    sent = plan.serialize()
    assert b"cloudpickle" not in sent
    assert pl.LazyFrame.deserialize(io.BytesIO(sent)).collect().equals(plan.collect())


@examples(100)
@given(collections(), collections(), st.sampled_from([0, 10**9]))
def test_a_large_run_is_judged_as_a_small_one(one, other, sparse):
    (run, qrels), (second, _) = one, other
    runs = pl.concat([run_frame(run).with_columns(run=pl.lit("a")), run_frame(second).with_columns(run=pl.lit("b"))])
    with pytest.MonkeyPatch.context() as patch:
        tune(patch, deep=10**9)
        small = ir.judge(runs, qrels_frame(qrels))
        tune(patch, deep=10**9, counted=0, streaming_rows=0, sparse=sparse, together=10**9, numbered=10**9, short=0)
        assert ir.explain_plan(runs, qrels_frame(qrels), "AP").strategy == "by counting"
        large = ir.judge(runs, qrels_frame(qrels))
    assert_frame_equal(large, small, check_row_order=False)


@pytest.mark.parametrize("sparse", [0, 10**9])
@pytest.mark.parametrize("scores", [[3.0, 2.0, 2.0], [3.0, 3.0, 2.0], [2.0, 3.0, 2.0]])
def test_a_judged_document_twice_in_a_large_run_is_an_error(scores, sparse, monkeypatch):
    tune(monkeypatch, searched_rows=0, deep=10**9, counted=0, streaming_rows=0, sparse=sparse, together=10**9)
    run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["d1", "d9", "d1"], "score": scores})
    with pytest.raises(ir.IRError, match="repeat the ids of another"):
        run.ir.evaluate(QRELS, "AP")


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy])
@pytest.mark.parametrize("query", ["q", "p"], ids=["judged", "not judged"])
@pytest.mark.parametrize("several", [False, True], ids=["one system", "several"])
@pytest.mark.parametrize(
    "limits", [{}, {"counted": 0}, {"counted": 0, "together": 10**9, "numbered": 10**9, "short": 0}],
    ids=["numbered", "numbered after a filter", "counted"],
)  # fmt: skip
@pytest.mark.whole("a tenth of a second a case", quick=3)
def test_unjudged_documents_that_repeat_in_a_large_run_are_found_by_a_sample(kind, query, several, limits, monkeypatch):
    # Of so many one in 64 is among them, and no row is searched beside these.
    tune(monkeypatch, searched_rows=0, **limits)
    ids = [f"d{number}" for number in range(2000)]
    once = pl.DataFrame({"query_id": ["q"] * 2000, "doc_id": ids, "score": [float(n) for n in range(2000)]})
    once = pl.concat([once, once.with_columns(query_id=pl.lit("p"))])
    if several:
        once = pl.concat([once.with_columns(run=pl.lit(system)) for system in "ab"])
    qrels = {"q": ["d0"]}
    assert kind(once).ir.evaluate(qrels, "RR").lazy().collect()["RR"].to_list() == [1 / 2000] * (2 if several else 1)
    repeated = once.filter(pl.col("doc_id") != "d0", query_id=query).with_columns(pl.col("score") + 0.5)
    with pytest.raises((ir.IRError, pl.exceptions.InvalidOperationError), match=r"repeat the ids|more than once"):
        kind(pl.concat([once, repeated])).ir.evaluate(qrels, "RR").lazy().collect()


@pytest.mark.parametrize(
    "limits", [{}, {"counted": 0}, {"counted": 0, "together": 10**9, "numbered": 10**9, "short": 0}]
)
def test_few_documents_that_repeat_in_many_systems_are_found_by_a_sample_of_each(limits, monkeypatch):
    # Ten documents for all: of one sample for all systems there are mostly none of them.
    tune(monkeypatch, searched_rows=0, **limits)
    ids = pl.DataFrame({"query_id": [f"q{n}" for n in range(10)] * 2, "doc_id": [f"x{n}" for n in range(10)] * 2})
    run = ids.join(pl.DataFrame({"run": [f"s{n}" for n in range(100)]}), how="cross").with_columns(score=1.0)
    qrels = {f"q{n}": ["a"] for n in range(10)}
    with pytest.raises(ir.IRError, match="repeat the ids of another"):
        run.ir.evaluate(qrels, "RR")


@pytest.mark.parametrize("sparse", [0, 10**9])
def test_a_large_run_may_hold_no_judged_document(sparse, monkeypatch):
    tune(monkeypatch, counted=0, streaming_rows=0, sparse=sparse, together=10**9)
    run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["x1", "x2"], "score": [2.0, 1.0]})
    for some in (run, run.clear()):
        assert ir.judge(some, QRELS)["rank"].to_list() == [None, None]


@pytest.mark.filterwarnings("ignore:no retrieved document is judged")
@pytest.mark.parametrize("deep", [1, 2, 10])  # all queries are deep, one is, none is
def test_a_document_judged_for_a_query_of_another_depth_is_no_hole(deep, monkeypatch):
    tune(monkeypatch, deep=deep)
    run = pl.LazyFrame({"query_id": ["a", "a", "b"], "doc_id": ["d1", "d9", "d0"], "score": [2.0, 1.0, 1.0]})
    qrels = pl.LazyFrame({"query_id": ["a", "b", "b"], "doc_id": ["d0", "d1", "d2"], "relevance": [1, 1, 0]})
    holes = ir.evaluate(run, qrels, "Hole").collect().sort("query_id")
    assert holes.rows() == [("a", 0.5), ("b", 0.0)]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("labelled", [False, True])
def test_a_scanned_run_of_a_system_without_a_name_is_refused(engine, labelled):
    run = pl.LazyFrame({"run": ["s", None], "query_id": ["q", "q"], "doc_id": ["d1", "d2"], "score": [1.0, 2.0]})
    plan = ir.judge(run.with_columns(relevance=1)) if labelled else ir.judge(run, {"q": {"d1": 1}})
    with pytest.raises(pl.exceptions.InvalidOperationError, match=re.escape(f"polars_ir: {rules.BAD_RUN}")):
        plan.collect(engine=engine)


def test_equal_scores_go_by_document_id_falling():
    found = ir.judge({"q": {"a": 1.0, "c": 1.0, "b": 1.0}}, {"q": ["a", "b", "c"]}).sort("rank")
    assert found["doc_id"].to_list() == ["c", "b", "a"]
    assert found["n_tied"].to_list() == [3, 3, 3]
