"""Worked figures of retrieval for answers: of tools, groups of evidence, calls and budgets, a line for each.

Case A retrieves a x b y z, of which a, b and c are relevant; case B retrieves a twice, the one relevant document, which
is an error until `deduplicate` leaves one.
"""

import polars as pl
import pytest

import polars_ir as ir

A, B = {"q": [*"axbyz"]}, {"q": ["a"]}
OF_A = pl.DataFrame({"query_id": "q", "doc_id": [*"abc"], "subtopic": [1, 2, 3], "relevance": 1})
OF_B = OF_A.head(1)
OF_FIVE = {"q": [*"abcde"]}
LABELS = {"q": [*"abc"]}
LABELLED = {"q": [*"axbyc"]}

#: (A or B) and C and D.
GROUPS = ir.from_lists(
    pl.DataFrame({"query_id": ["q"], "retrieved": [[*"BxCAD"]], "relevant": [[["A", "B"], ["C"], ["D"]]]})
)
FACTS = pl.DataFrame({"query_id": "q", "doc_id": [*"bbe"], "subtopic": [1, 2, 3], "relevance": 1})

#: Call 1 finds A x B, call 2 y A C; relevant are A, B and C.
CALLS = pl.DataFrame(
    {"query_id": "q", "step": [1, 1, 1, 2, 2, 2], "doc_id": [*"AxByAC"], "score": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0]}
)
OF_CALLS = {"q": [*"ABC"]}
USELESS = pl.DataFrame(
    {"query_id": "q", "step": [1] * 10 + [2], "doc_id": [*"abcdefghijR"], "rank": [*range(1, 11), 1]}
)

#: Relevant are the first, the third and the fifth.
TOKENS = pl.DataFrame(
    {"query_id": "q", "doc_id": [*"abcde"], "score": [5, 4, 3, 2, 1], "tokens": [300, 500, 400, 200, 100]}
)
WITHIN = {"stop": [1 / 3, 1 / 3, 2 / 3, 1], "include": [2 / 3, 2 / 3, 2 / 3, 1]}

#: The figures of measures and of tools by their names.
NAMED = [
    *((A, OF_A, name, 0.4) for name in ("SetP", "ragas IDBasedContextPrecision", "LlamaIndex precision")),
    *((A, OF_A, name, 0.4) for name in ("TruLens precision", "MLflow precision_at_5", "AutoRAG precision")),
    *((A, OF_A, name, 2 / 3) for name in ("R@5", "ragas IDBasedContextRecall", "ragas NonLLMContextRecall")),
    *((A, OF_A, name, 2 / 3) for name in ("LlamaIndex recall", "TruLens recall", "MLflow recall_at_5")),
    *((A, OF_A, name, 2 / 3) for name in ("AutoRAG recall", "StRecall", "SetR")),
    *((A, OF_A, name, 0.5556) for name in ("AP", "LlamaIndex ap", "Haystack DocumentMAPEvaluator")),
    *((A, OF_A, name, 0.8333) for name in ("AP(denominator='hits')@5", "DeepEval ContextualPrecision")),
    *((A, OF_A, f"ragas {name}", 0.8333) for name in ("ContextPrecision", "ContextUtilization")),
    (A, OF_A, "ragas NonLLMContextPrecisionWithReference", 0.83333333329),
    # By the names of classes and configurations.
    *((A, OF_A, f"ragas {name}", 0.8333) for name in ("llm_context_precision_with_reference", "context_precision")),
    (A, OF_A, "DeepEval ContextualPrecisionMetric", 0.8333),
    (A, OF_A, "AutoRAG retrieval_recall", 2 / 3),
    (A, OF_A, "MLflow precision_at_k", 0.4),
    *((A, OF_A, name, 1) for name in ("RR", "LlamaIndex hit_rate", "LlamaIndex mrr", "Haystack DocumentMRREvaluator")),
    *((A, OF_A, name, 1) for name in ("Haystack DocumentRecallEvaluator", "TruLens mrr", "TruLens ir_hit_rate")),
    *((A, OF_A, name, 1) for name in ("Phoenix hit", "Phoenix reciprocal_rank", "MultiHop-RAG Hits@4")),
    *((A, OF_A, name, 0.7039) for name in ("nDCG@5", "LlamaIndex ndcg", "Haystack DocumentNDCGEvaluator")),
    *((A, OF_A, name, 0.7039) for name in ("TruLens ndcg", "AutoRAG ndcg", "nDCG(dcg='exp-log2')@3")),
    (A, OF_A, "alpha_nDCG(alpha=1)", 0.7039),
    (A, OF_A, "TruLens ndcg@2", 0.6131),
    (A, OF_A, "AutoRAG mrr", 0.4444),
    (A, OF_A, "MultiHop-RAG MRR@10", 1),
    (A, OF_A, "MultiHop-RAG MAP@10", 0.4444),
    (A, OF_A, "nDCG(discount='jarvelin')", 0.6199),
    *((A, OF_A, name, 0) for name in ("FullRecall", "AutoRAG-Research full_recall", "LongMemEval recall_all@5")),
    # LlamaIndex before 0.12.6: the ideal list is as long as the retrieved one.
    (A, OF_A, "nDCG(dcg='binary',denominator='k')", 0.5087),
    (B, OF_A, "LlamaIndex ndcg@1", 0.4693),
    # The ideal list of Phoenix holds the retrieved documents alone.
    (A, OF_A.filter(pl.col("doc_id") != "c"), "nDCG", 0.9197),
    (LABELLED, LABELS, "nDCG@2", 0.6131),
    (LABELLED, LABELS, "Phoenix precision@10", 0.3),
    *((B, OF_FIVE, name, value) for name, value in (("P@5", 0.2), ("R@5", 0.2), ("nDCG@5", 0.3392))),
    *((B, OF_FIVE, f"MLflow {name}_at_5", value) for name, value in (("precision", 1), ("recall", 0.2))),
    *((B, OF_B, name, 1) for name in ("SetP", "SetR", "RR", "AP", "nDCG", "AP(denominator='hits')", "StRecall")),
    *((*GROUPS, f"group_recall@{k}", found / 3) for k, found in enumerate((1, 1, 2, 2, 3), 1)),
    *((*GROUPS, f"FullRecall@{k}", float(k == 5)) for k in (4, 5)),
    *((*GROUPS, name, 0.5111) for name in ("GroupRR", "AutoRAG mrr")),
    # A document counts for a new group alone, as in AutoRAG-Research.
    (*GROUPS, "alpha_nDCG(alpha=1)", 0.8855),
    (*GROUPS, "R@4", 0.75),
    ({"q": [*"abcde"]}, FACTS, "MultiHop-RAG MAP@10", 0.4),
    *(
        (TOKENS, {"q": [*"ace"]}, f"R(budget={budget},over='{over}')", value)
        for over, values in WITHIN.items()
        for budget, value in zip((900, 1000, 1300, 1500), values, strict=True)
    ),
]


@pytest.mark.parametrize(("run", "qrels", "name", "figure"), NAMED, ids=[f"{each[2]} {each[3]:.4g}" for each in NAMED])
def test_a_name_has_the_worked_figure(run, qrels, name, figure):
    digits = 5e-5 if figure != 0.83333333329 else 5e-11
    assert ir.evaluate(run, qrels, name).to_series(1).item() == pytest.approx(figure, abs=digits)


def test_a_document_twice_is_an_error_until_one_is_left():
    twice = pl.DataFrame({"query_id": "q", "doc_id": ["a", "a"], "score": [2.0, 1.0]})
    with pytest.raises(ir.IRError, match="repeat the ids of another"):
        twice.ir.evaluate(OF_B, "SetP")
    assert twice.ir.deduplicate().ir.evaluate(OF_B, ["SetP", "SetR", "nDCG"]).row(0) == ("q", 1, 1, 1)


@pytest.mark.parametrize("name", ["MLflow ndcg_at_5", "Phoenix ndcg@5", "AutoRAG map", "ragas ContextRecall"])
def test_a_name_that_no_measure_here_computes_says_why(name):
    with pytest.raises(ir.IRError, match=r"ideal list|mean over groups|no documents"):
        ir.parse(name)


MERGED, UP_TO = CALLS.ir.merge_calls(), CALLS.ir.merge_calls(cumulative=True)

#: What is told of the calls, each as it is asked for.
OF_THE_CALLS = {
    "order": (lambda: list(MERGED["doc_id"]), [*"AxByC"]),
    "new found": (lambda: list(MERGED.ir.evaluate(OF_CALLS, "NumRelRet", by="step")["NumRelRet"]), [2, 1]),
    "recall so far": (lambda: list(UP_TO.ir.recall(OF_CALLS, by="step")["R"]), [2 / 3, 1]),
    "calls to first": (lambda: min(UP_TO.ir.success(OF_CALLS, by="step").filter(Success=1)["step"]), 1),
    "calls to all": (lambda: min(UP_TO.ir.full_recall(OF_CALLS, by="step").filter(FullRecall=1)["step"]), 2),
    "all shown, and distinct": (lambda: (CALLS.height, MERGED.height), (6, 5)),
    "two of each call": (lambda: CALLS.ir.merge_calls(k=2).ir.recall(OF_CALLS)["R"][0], 1 / 3),
    "four in all": (lambda: MERGED.ir.recall(OF_CALLS, k=4)["R@4"][0], 2 / 3),
    "hidden": (lambda: USELESS.ir.merge_calls().ir.rr({"q": ["R"]}, k=10)["RR@10"][0], 0),
    "not hidden": (lambda: USELESS.ir.merge_calls(k=5).ir.rr({"q": ["R"]}, k=10)["RR@10"][0], 1 / 6),
}


@pytest.mark.parametrize(("call", "figure"), OF_THE_CALLS.values(), ids=OF_THE_CALLS)
def test_calls_have_the_worked_figures(call, figure):
    assert call() == figure
