"""The plans of the judged relation; what it promises is in test_invariants.py."""

import io
import re

import polars as pl
import pytest

import polars_ir as ir
from polars_ir import judging

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


@pytest.mark.parametrize("deep", [0, 10**9])
def test_a_plan_holds_no_python_function_and_can_be_sent_elsewhere(scanned, deep, monkeypatch):
    monkeypatch.setattr(judging, "DEEP", deep)
    plan = scanned.ir.evaluate(QRELS, [spec.function() for spec in ir.CATALOG.values() if spec.kind == "documents"])
    # A Python function would be pickled into the serialized plan.
    sent = plan.serialize()
    assert b"pickle" not in sent
    assert pl.LazyFrame.deserialize(io.BytesIO(sent)).collect().equals(plan.collect())


def test_equal_scores_go_by_document_id_falling():
    found = ir.judge({"q": {"a": 1.0, "c": 1.0, "b": 1.0}}, {"q": ["a", "b", "c"]}).sort("rank")
    assert found["doc_id"].to_list() == ["c", "b", "a"]
    assert found["n_tied"].to_list() == [3, 3, 3]
