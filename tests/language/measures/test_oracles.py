"""Other implementations, on collections made up by hypothesis and on two larger ones.

Where an oracle is known to differ, a test shows the difference and its docstring says why.
"""

import shutil

import polars as pl
import pytest
from generated import as_dicts, collection, collections, run_frame
from hypothesis import given
from referred import TOLERANCE, assert_agree, by_ir_measures, by_reference
from suite import examples

import polars_ir as ir

pytest.importorskip("ir_measures")
pytrec_eval = pytest.importorskip("pytrec_eval")

# Collections without a query or a document in common are among those made up.
pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


# trec_eval 9, by way of pytrec_eval-terrier.

#: trec_eval's name, and ours with the level from which grades are relevant; nDCG knows no level.
TREC_EVAL = {
    **{f"P_{k}": f"P(rel={{rel}})@{k}" for k in (1, 3, 20)},
    **{f"recall_{k}": f"R(rel={{rel}})@{k}" for k in (1, 3, 20)},
    **{f"relative_P_{k}": f"R_cap(rel={{rel}})@{k}" for k in (1, 3, 20)},
    **{f"map_cut_{k}": f"AP(rel={{rel}})@{k}" for k in (1, 3, 20)},
    **{f"success_{k}": f"Success(rel={{rel}})@{k}" for k in (1, 3, 20)},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (1, 3, 20)},
    "ndcg": "nDCG",
    "map": "AP(rel={rel})",
    "recip_rank": "RR(rel={rel})",
    "Rprec": "Rprec(rel={rel})",
    "bpref": "bpref(rel={rel})",
    "infAP": "infAP(rel={rel})",
    "set_P": "SetP(rel={rel})",
    "set_recall": "SetR(rel={rel})",
    "set_relative_P": "R_cap(rel={rel})",
    "set_F": "SetF(rel={rel})",
    "num_ret": "NumRet",
    "num_rel": "NumRel(rel={rel})",
    "num_rel_ret": "NumRelRet(rel={rel})",
}
FAMILIES = {"P.1,3,20", "recall.1,3,20", "relative_P.1,3,20", "map_cut.1,3,20", "success.1,3,20", "ndcg_cut.1,3,20"}
TREC_EVAL_REQUEST = FAMILIES | {name for name in TREC_EVAL if not name[-1].isdigit()}


def trec_eval_measures(rel: int) -> list[pl.Expr]:
    """The measures that pytrec_eval and the catalogue share, under trec_eval's names."""
    return [ir.parse(ours.format(rel=rel)).alias(name) for name, ours in TREC_EVAL.items()]


@pytest.mark.parametrize("rel", [1, 2])
@examples(250)
@given(collections())
def test_trec_eval_has_the_same_figures(rel, run_and_qrels):
    run, qrels = run_and_qrels
    oracle = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL_REQUEST, relevance_level=rel)
    assert_agree(run, qrels, trec_eval_measures(rel), oracle.evaluate(run), missing="skip")


@examples(150)
@given(collections())
def test_trec_eval_condenses_lists_alike(run_and_qrels):
    run, qrels = run_and_qrels
    oracle = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL_REQUEST, judged_docs_only_flag=True)
    answered = {query: judged for query, judged in qrels.items() if query in run}
    assert_agree(run, answered, trec_eval_measures(1), oracle.evaluate(run), judged_only=True)


def test_a_query_answered_with_unjudged_documents_only_is_not_missing_from_condensed_lists():
    run, qrels = {"1": {"d0": 1.0}, "2": {"d1": 1.0}}, {"1": {"d1": 1}, "2": {"d1": 1}}
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {"map"}, judged_docs_only_flag=True)
    wanted = oracle.evaluate(run)
    assert wanted == {"1": {"map": 0.0}, "2": {"map": 1.0}}
    assert_agree(run, qrels, [ir.average_precision().alias("map")], wanted, missing="skip", judged_only=True)


def test_scores_that_float32_confuses_are_ordered_as_given():
    """pytrec_eval reads scores as trec_eval 9 did, into 32 bits; 1.00000001 and 1 tie there, and b precedes a."""
    run, qrels = {"q": {"a": 1.00000001, "b": 1.0, "c": 0.5}}, {"q": {"a": 1}}
    oracle = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert oracle["q"]["recip_rank"] == 0.5
    scores = run_frame(run)
    assert ir.evaluate(scores, qrels, "RR")["RR"].item() == 1.0
    assert ir.evaluate(scores.cast({"score": pl.Float32}), qrels, "RR")["RR"].item() == 0.5


# ir_measures and its providers.

#: The names that both spell alike. Not with `gains=`: pytrec_eval, which ir_measures passes them to, now and then gives
#: 0 for a perfect ranking, depending on what the process did before; the formulas below check them.
# fmt: off
ALIKE = [
    "P@1", "P@5", "P(rel=2)@5", "P@20", "R@1", "R@5", "R(rel=2)@5", "SetP",
    "SetP(rel=2)", "SetR", "SetR(rel=2)", "SetF", "SetF(rel=2)", "Rprec", "Rprec(rel=2)", "RR",
    "RR(rel=2)", "RR@1", "RR@5", "RR(rel=2)@5", "AP", "AP@5", "AP(rel=2)", "AP(rel=2)@5",
    "infAP", "infAP(rel=2)", "Bpref", "Bpref(rel=2)", "nDCG", "nDCG@1", "nDCG@5",
    "Success@1", "Success(rel=2)@5", "Judged", "Judged@1", "Judged@5", "NumRet", "NumRet(rel=2)",
]
# fmt: on

#: Their names, and ours.
IR_MEASURES = {
    **{name: name for name in ALIKE},
    # Their beta is trec_eval's parameter, which stands for beta squared.
    "SetF(beta=4.0)": "SetF(beta=2)",
    "SetF(beta=0.25,rel=2)": "SetF(beta=0.5,rel=2)",
    "SetP(relative=True)": "R_cap",
}


@examples(250)
@given(collections(ties=False))
def test_ir_measures_has_the_same_figures(run_and_qrels):
    """Without ties: its providers break them differently, RR@k and Judged by document id rising."""
    run, qrels = run_and_qrels
    measures = [ir.parse(ours).alias(theirs) for theirs, ours in IR_MEASURES.items()]
    assert_agree(run, qrels, measures, by_ir_measures(run, qrels, list(IR_MEASURES)))


@examples(50)
@given(collections(ties=False))
def test_ir_measures_counts_the_relevant_documents_of_answered_queries(run_and_qrels):
    """Its default for a query that the run missed is 0; here the query keeps its relevant documents."""
    run, qrels = run_and_qrels
    wanted = {q: figures for q, figures in by_ir_measures(run, qrels, ["NumRel"]).items() if q in run}
    assert_agree(run, qrels, [ir.n_relevant_documents()], wanted, missing="skip")


def test_ir_measures_breaks_ties_differently_in_one_call():
    """Its RR goes by trec_eval's rule, ids falling; its RR@10, of another provider, by ids rising."""
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}
    assert by_ir_measures(run, qrels, ["RR", "RR@10"]) == {"q": {"RR": 0.5, "RR@10": 1.0}}
    assert ir.evaluate(run, qrels, ["RR", "RR@10"]).row(0) == ("q", 0.5, 0.5)


@pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval.pl")
def test_gdeval_has_the_same_figures():
    """gdeval prints 5 decimals, and takes query ids that are numbers."""
    frames = collection(5, grades=(-1, 0, 1, 2, 3, 4))
    run, qrels = (frame.with_columns(pl.col("query_id").str.strip_prefix("q")) for frame in frames)
    names = ["ERR@1", "ERR@5", "ERR@20", "nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@20"]
    wanted = by_ir_measures(as_dicts(run, "score"), as_dicts(qrels, "relevance"), names)
    for row in ir.evaluate(run, qrels, names).iter_rows(named=True):
        assert wanted[row.pop("query_id")] == pytest.approx(row, abs=0.6e-5, rel=0)


def test_cwl_has_the_same_rank_biased_precision():
    """Without ties: cwl keeps the order of the input. Its weights add up to 1 over 1000 places, ours without end."""
    pytest.importorskip("cwl")
    run, qrels = collection(6)
    run = run.with_columns(score=pl.int_range(pl.len()).cast(pl.Float64))
    names = ["RBP(rel=1)", "RBP(rel=2)", "RBP(p=0.5,rel=1)"]
    wanted = by_ir_measures(as_dicts(run, "score"), as_dicts(qrels, "relevance"), names)
    measures = [ir.parse(name).alias(name) for name in names]
    for row in ir.evaluate(run, qrels, measures).iter_rows(named=True):
        assert wanted[row.pop("query_id")] == pytest.approx(row, abs=TOLERANCE, rel=0)


# The slow reference, for measures, parameters and grades that no tool has.

#: A map of gains that puts lower grades above higher ones.
GAINS = "{0.5:0.5,1:5,1.5:1.5,2:1,3:3,4.25:4}"
OF_GRADES = (
    *("DCG", "DCG(dcg='exp-log2')", "nDCG", "nDCG(dcg='exp-log2')", f"nDCG(gains={GAINS})", "ERR(max_rel=3)", "RBP"),
    *("RBP(p=0.5)", "F", "F(beta=2)", "R_cap", "unj"),
)


@pytest.mark.parametrize("k", [1, 4, 20])
@examples(100)
@given(collections(grades=(-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.25)))
def test_fractional_grades_give_what_the_reference_gives(k, run_and_qrels):
    names = [f"{name}@{k}" for name in OF_GRADES]
    assert_agree(*run_and_qrels, list(map(ir.parse, names)), by_reference(*run_and_qrels, names))
