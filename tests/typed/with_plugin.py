"""The types of `.ir` in mypy with the plugin."""

from typing import assert_type

import polars as pl

import polars_ir as ir

run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]})

assert_type(run.ir.ndcg(qrels, k=[5, 10]), pl.DataFrame)
assert_type(run.lazy().ir.evaluate(qrels, ir.ndcg(k=10)), pl.LazyFrame)
assert_type(run.ir.ndcg(qrels).ir.mean(), pl.DataFrame)
assert_type(run.ir.ndcg(qrels).ir.compare(baseline="bm25"), pl.DataFrame)
run.lazy().ir.ranks()  # type: ignore[attr-defined]
run.ir.ndgc(qrels)  # type: ignore[attr-defined]
run.ir.ndcg(qrels, k="10")  # type: ignore[arg-type]
