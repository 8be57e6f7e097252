"""Types that checkers infer from the package: `assert_type` says what is right, `type: ignore` what is wrong."""

from typing import assert_type

import altair as alt
import pandas as pd
import polars as pl

import polars_ir as ir

run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]})
in_pandas = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})

# A measure is an expression, of one cutoff or of several.
assert_type(ir.ndcg(k=10), pl.Expr)
assert_type(ir.ndcg(k=[5, 10]), pl.Expr)
assert_type(ir.precision(k=range(1, 4), rel=2), pl.Expr)
assert_type(ir.interpolated_precision(recall=[0.1, 0.5]), pl.Expr)
ir.ndcg(k="10")  # type: ignore[arg-type]
ir.ndcg(dcg="log3")  # type: ignore[arg-type]

# Functions give back the kind of frame that came.
assert_type(ir.evaluate(run, qrels, [ir.ndcg(k=10), "AP"]), pl.DataFrame)
assert_type(ir.evaluate(run.lazy(), qrels, "AP", ties="expected"), pl.LazyFrame)
assert_type(ir.compare(run, baseline="bm25", test="sign"), pl.DataFrame)
# Options may all be left out.
ir.ranks(run)
ir.drift(run, by="day")
ir.discriminative_power(run)
assert_type(ir.summarize(run), pl.DataFrame)
assert_type(ir.summarize(per_query=run), pl.DataFrame)
# Dicts of frames and nested dicts are taken, and so are rows.
ir.evaluate({"a": run.lazy(), "b": run.lazy()}, qrels, "AP")
ir.evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, "AP")
ir.evaluate([{"query_id": "q", "doc_id": "d", "score": 1.0}], {"q": {"d": 1}}, "AP")
ir.evaluate(run, qrels, "AP", ties="never")  # type: ignore[arg-type]
ir.evaluate(run, qrels, "AP", missed="zero")  # type: ignore[call-arg]

# So do the methods, of Polars,
assert_type(ir.of(run).evaluate(qrels, ["nDCG@10"]), pl.DataFrame)
assert_type(ir.of(run).ndcg(qrels, k=[5, 10], missing="skip"), pl.DataFrame)
assert_type(ir.of(run).compare(baseline="bm25", test="t"), pl.DataFrame)
assert_type(ir.of(run).gate(run, ["nDCG"], max_drop=0.02), pl.DataFrame)
assert_type(ir.of(run).top_k(10), pl.DataFrame)
assert_type(ir.of(run).rerank_gain(run, qrels).curve, pl.DataFrame)
assert_type(ir.of(run).tune_fusion(qrels).report, str)
assert_type(ir.of(run).plot.precision_recall(qrels), alt.LayerChart | alt.ConcatChart)

# of a plan,
assert_type(ir.of(run.lazy()).judge(qrels), pl.LazyFrame)
assert_type(ir.of(run.lazy()).average_precision(qrels), pl.LazyFrame)
assert_type(ir.of(run.lazy()).compare(), pl.LazyFrame)
assert_type(ir.of(run.lazy()).complementarity(qrels).pairs, pl.LazyFrame)
ir.of(run.lazy()).ranks()  # type: ignore[attr-defined]

# of pandas,
assert_type(ir.of(in_pandas).summarize(), pd.DataFrame)
assert_type(ir.of(in_pandas).compare(), pd.DataFrame)

# and of what has no `.ir` at all.
assert_type(ir.of({"a": run, "b": run}).fuse("rrf"), pl.DataFrame)
assert_type(ir.of({"a": run.lazy(), "b": run.lazy()}).fuse("rrf"), pl.LazyFrame)
assert_type(ir.of({"q": {"d": 1.0}}).evaluate({"q": {"d": 1}}, "AP"), pl.DataFrame)

# Misspelled names are found.
ir.of(run).ndgc(qrels)  # type: ignore[attr-defined]
ir.of(run).ndcg(qrels, tise="doc_id")  # type: ignore[call-arg]
ir.of(run).plot.forrest()  # type: ignore[attr-defined]


# A measure of one's own keeps its parameters.
@ir.measure("FirstRank", bounds=(0, float("inf")), source="an example")
def first_rank(*, rel: float = 1) -> pl.Expr:
    """Rank of the first relevant document."""
    return ir.rank.filter(ir.relevant(rel)).min()


assert_type(first_rank(rel=2), pl.Expr)
