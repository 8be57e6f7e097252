"""The rest of trec_eval's measures: by hand, against trec_eval 9 by way of pytrec_eval, and against their formulas."""

import math
from math import log, log2

import polars as pl
import pytest
from generated import Qrels, Run, as_dicts, collection, collections, qrels_frame, run_frame
from hypothesis import given
from referred import TOLERANCE, assert_agree, by_reference
from suite import examples

import polars_ir as ir

#: Quotients and sums of a few terms, in another order than ours.
EXACT = {"rel": 1e-14, "abs": 0}

# Collections without a query or a document in common are among those made up.
pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")

# Grades down the list: 2, 0, 1, unjudged, 3; d9 is relevant and was not retrieved.
# Relevant ranks 1, 3 and 5 of R = 4, with precisions 1, 2/3 and 3/5; from grade 2 on, ranks 1 and 5 of R = 2.
RANKING = ["d1", "d2", "d3", "d4", "d5"]
GRADES = {"d1": 2, "d2": 0, "d3": 1, "d5": 3, "d9": 1}

# DCG down the list; the gains of the ideal ranking are 3, 2, 1, 1.
DCG = {1: 2, 2: 2, 3: 2 + 1 / 2, 4: 2 + 1 / 2, 5: 2 + 1 / 2 + 3 / log2(6)}
IDEAL = {1: 3, 2: 3 + 2 / log2(3), 3: 3 + 2 / log2(3) + 1 / 2, 4: 3 + 2 / log2(3) + 1 / 2 + 1 / log2(5)}

BY_HAND = [
    ("IPrec", 1.0),
    ("IPrec@0.1", 1.0),  # 0.4 documents are none, and the whole ranking counts
    ("IPrec@0.5", 2 / 3),  # from the second one on
    ("IPrec@0.6", 2 / 3),  # 2.4 documents are 2
    ("IPrec(rounding='up')@0.6", 3 / 5),  # or 3
    ("IPrec@0.625", 3 / 5),  # 2.5 documents are 3
    ("IPrec(rounding='up')@0.5", 2 / 3),
    ("IPrec(rounding='up')@0.25", 1.0),
    ("IPrec@1", 0.0),  # the fourth is not retrieved
    ("IPrec(rel=2)@1", 2 / 5),
    ("11pt_avg", (1 + 1 + 1 + 1 + 2 / 3 + 2 / 3 + 2 / 3 + 3 / 5 + 3 / 5 + 0 + 0) / 11),
    ("11pt_avg(rounding='up')", (1 + 1 + 1 + 2 / 3 + 2 / 3 + 2 / 3 + 3 / 5 + 3 / 5 + 0 + 0 + 0) / 11),
    ("11pt_avg(rel=2)", (1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 2 / 5 + 2 / 5 + 2 / 5) / 11),
    ("Rprec(multiple=0.4)", 1 / 2),  # 1.6 + 0.9: at 2
    ("Rprec(multiple=2)", 3 / 8),  # places that the list leaves empty count
    ("Rprec(multiple=0.02)", 0.0),  # at 0
    ("Rprec(rel=2,multiple=2)", 1 / 4),
    ("SetAP", 3 * 3 / (5 * 4)),
    ("SetAP(rel=2)", 2 * 2 / (5 * 2)),
    ("utility", 3 - 2),
    ("utility(rel=2)", 2 - 3),
    ("utility(coefficients=(2,-1,-0.5,0))", 6 - 2 - 0.5),
    ("utility(coefficients=(0,0,0,1),n_docs=10)", 10 - 6),
    ("utility(coefficients=(0,0,0,1))", 0 - 6),
    ("NumNonRelJudgedRet", 1),
    ("NumNonRelJudgedRet(rel=2)", 2),
    ("NumQ", 1),
    # Missed so far: 3 - 2 at 1, 6 - 3 at 3, 8 - 6 at 5, where the ideal ranking is over and counts 1.
    ("G", (2 / log2(2 + 1) + 1 / log2(2 + 3) + 3 / log2(2 + 2)) / 7),
    # Ideal gains 4, 3, 1, 1: missed 4 - 4, 8 - 5, 10 - 8.
    ("G(gains={1:1,2:4,3:3})", (4 / log2(2 + 0) + 1 / log2(2 + 3) + 3 / log2(2 + 2)) / 9),
    ("binG", (1 / log2(2) + 1 / log2(3) + 1 / log2(4)) / 4),
    ("binG(rel=2)", (1 / log2(2) + 1 / log2(5)) / 2),
    ("ndcg_rel", (DCG[1] / IDEAL[1] + DCG[3] / IDEAL[3] + DCG[5] / IDEAL[4] + DCG[5] / IDEAL[4]) / 4),
    ("ndcg_rel(gains={1:0,2:1,3:1})", (1 / 1 + (1 + 1 / log2(6)) / (1 + 1 / log2(3))) / 2),
    ("Rndcg", (DCG[1] / IDEAL[1] + DCG[2] / IDEAL[2] + DCG[4] / IDEAL[4] + DCG[5] / IDEAL[4]) / 4),
    ("Rndcg(gains={1:0,2:1,3:1})", (1 / (1 + 1 / log2(3)) + (1 + 1 / log2(6)) / (1 + 1 / log2(3))) / 2),
    ("yaap", log((1 + 34 / 15) / (1 + 4 - 34 / 15))),
    ("yaap(rel=2)", log((1 + 7 / 5) / (1 + 2 - 7 / 5))),
    ("GMAP", (1 / 1 + 2 / 3 + 3 / 5) / 4),
    ("GMAP(rel=2)", (1 / 1 + 2 / 5) / 2),
    ("GMbpref", 1 / 4),
    ("RBP(gains={1:0.25,2:0.5,3:1})", 0.2 * (0.5 + 0.25 * 0.64 + 0.4096)),
    ("RBP(rel=2,gains={1:0.25,2:0.5,3:1})", 0.2 * (0.5 + 0.4096)),
    ("RBP_residual", 1 - 0.2 * (1 + 0.8 + 0.64 + 0.4096)),
    ("RBP_residual(p=0.5)@3", 1 - 0.5 * (1 + 0.5 + 0.25)),
    ("ERR(gains={1:0,2:1,3:3})", 1 / 16 + 15 / 16 * 7 / 16 / 5),
]


def value_of(measure: str | pl.Expr, ranking: list[str], judgments: dict[str, float], **options: object) -> object:
    """The value of a measure for one query."""
    return ir.evaluate({"q": ranking}, {"q": judgments}, measure, **options).drop("query_id").item()


@pytest.mark.parametrize(("name", "wanted"), BY_HAND, ids=[name for name, _ in BY_HAND])
def test_a_measure_has_the_value_found_by_hand(name, wanted):
    assert ir.parse(name).meta.output_name() == name
    assert value_of(name, RANKING, GRADES) == pytest.approx(wanted, **EXACT)


# Not in the table.


def test_interpolated_precision_is_the_highest_from_there_on():
    # Precisions 1/2, 1/3, 1/2, 3/5 at the ranks 2 to 5 of d2, d4 and d5: 3/5 is the highest everywhere.
    grades = {"d2": 1, "d4": 1, "d5": 1}
    found = ir.evaluate({"q": RANKING}, {"q": grades}, ["IPrec", "IPrec@0.3", "IPrec@1", "11pt_avg"])
    assert found.drop("query_id").row(0) == pytest.approx([3 / 5] * 4, **EXACT)


@pytest.mark.parametrize("n_relevant", [3, 23, 57])
def test_recalls_of_the_average_are_tenths_to_the_last_bit(n_relevant):
    # 7 / 10 of 3, and 0.9, is just below 3 documents; 7 * 0.1 of 3, and 0.9, is 3.
    relevant = {f"d{i}": 1 for i in range(n_relevant)}
    ranking = [name for i in range(n_relevant) for name in (f"d{i}", *(f"x{i}-{j}" for j in range(i)))]
    measures = [*(f"IPrec(rounding='up')@{i / 10:g}" for i in range(11)), "11pt_avg(rounding='up')"]
    *points, average = ir.evaluate({"q": ranking}, {"q": relevant}, measures).drop("query_id").row(0)
    assert average == pytest.approx(math.fsum(points) / 11, **EXACT)


def test_geometric_means_are_of_values_no_lower_than_a_hundred_thousandth():
    run = {"found": ["d1"], "half": ["d0", "d1"], "not found": ["d0"]}
    qrels = {query: {"d1": 1, "d0": 0} for query in run}
    found = ir.mean(ir.evaluate(run, qrels, ["GMAP", "AP", "GMbpref", "bpref"])).row(0, named=True)
    assert found["AP"] == pytest.approx(1.5 / 3, **EXACT)
    assert found["GMAP"] == pytest.approx((1 * 0.5 * 1e-5) ** (1 / 3), rel=1e-12)
    assert found["GMbpref"] == pytest.approx((1 * 1e-5 * 1e-5) ** (1 / 3), rel=1e-12)


def test_the_number_of_queries_is_a_sum():
    per_query = ir.evaluate({"1": ["d1"]}, {"1": {"d1": 1}, "2": {"d1": 1}, "3": {"d1": 0}}, ir.n_queries())
    assert ir.mean(per_query).item() == 3


def test_rbp_lies_between_its_value_and_that_plus_the_residual():
    # d4 is the only retrieved document without a judgment; beyond the list everything is open.
    residual, low = (value_of(name, RANKING, GRADES) for name in ("RBP_residual", "RBP"))
    beyond = [f"b{i}" for i in range(200)]
    high = value_of("RBP", [*RANKING, *beyond], {**GRADES, "d4": 1, **dict.fromkeys(beyond, 1)})
    assert low + residual == pytest.approx(high, abs=TOLERANCE, rel=0)


def test_a_query_without_an_answer_is_not_0_by_every_measure():
    run, qrels = {"q": ["d1"]}, {"q": {"d1": 1}, "r": {"d1": 1, "d2": 1}}
    assert ir.evaluate(run, qrels, ["RBP_residual", "yaap", "utility", "NumQ"]).row(1) == ("r", 1.0, -log(3), 0.0, 1)


def test_documents_of_negative_grade_are_not_judged_for_counts_and_residuals():
    found = ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": -1, "d2": 0}}, ["NumNonRelJudgedRet", "RBP_residual(p=0.5)"])
    assert found.row(0) == ("q", 1, 0.75)


def test_gains_can_be_an_expression():
    half = (ir.relevance / 4).alias("quarter")
    by_map = {1: 0.25, 2: 0.5, 3: 0.75}
    for measure in (ir.normalized_gain, ir.r_ndcg, ir.ndcg_rel, ir.rank_biased_precision, ir.expected_reciprocal_rank):
        found = [value_of(measure(gains=gains), RANKING, GRADES) for gains in (half, by_map)]
        assert found[0] == pytest.approx(found[1], **EXACT)


def test_gains_can_be_shares_of_the_highest_grade_of_the_query():
    run, qrels = collection(1)
    highest = pl.col("relevance").max().over("query_id")
    with_highest = qrels.with_columns(highest=highest).filter(pl.col("highest") > 0)
    for measure in (ir.normalized_gain, ir.r_ndcg, ir.ndcg_rel, ir.rank_biased_precision, ir.expected_reciprocal_rank):
        in_query, as_column = (
            ir.evaluate(run, with_highest, measure(gains=(ir.relevance / of_query).alias("share")).alias("value"))[
                "value"
            ]
            for of_query in (ir.relevance.max(), pl.col("highest"))
        )
        assert in_query.to_list() == pytest.approx(as_column.to_list(), abs=TOLERANCE, rel=0)


@pytest.mark.parametrize("name", ["G", "Rndcg", "ndcg_rel"])
def test_a_measure_of_gains_is_undefined_without_one(name):
    assert value_of(name, ["d1", "d2"], {"d1": 0, "d2": -1}, undefined=None) is None
    assert value_of(f"{name}(gains={{1:0}})", ["d1", "d2"], {"d1": 1}, undefined=None) is None
    assert value_of(name, ["d1", "d2"], {"d3": 1}, undefined=None) == 0.0


def test_gains_closer_than_1_are_told_apart():
    """trec_eval sorts them as if they were equal, so that its ideal ranking may not be the best one."""
    gains = {1: 0.1, 2: 0.5, 3: 0.9}
    perfect = {"d1": 3, "d2": 2, "d3": 1}
    assert value_of(ir.ndcg_rel(gains=gains), list(perfect), perfect) == pytest.approx(1.0, **EXACT)
    assert value_of(ir.r_ndcg(gains=gains), list(perfect), perfect) == pytest.approx(1.0, **EXACT)


# The string of grades.


@pytest.mark.parametrize(
    ("k", "wanted"), [(10, "2-0.>-9--"), (7, "2-0.>-9"), (5, "2-0.>"), (4, "2-0."), (3, "2-0"), (2, "2-"), (1, "2")]
)
def test_a_relevance_string_shows_the_grades_of_the_top(k, wanted):
    ranking = ["d2", "x1", "d0", "negative", "d10", "x2", "d9", "x3", "x4"]
    grades = {"d2": 2, "d0": 0, "negative": -1, "d10": 10, "d9": 9, "not retrieved": 1}
    expression = ir.relevance_string(k=k)
    assert value_of(expression, ranking, grades) == wanted
    assert expression.meta.output_name() == f"relstring@{k}"
    assert ir.parse(f"relstring_{k}").meta.eq(expression)


def test_a_relevance_string_without_a_document_is_empty():
    found = ir.evaluate({"q": ["x1", "x2"]}, {"q": {"d1": 1}, "r": {"d1": 1}}, ir.relevance_string())
    assert found.rows() == [("q", "--"), ("r", "")]


@examples(100)
@given(collections(grades=(-1, 0, 1, 9, 10)))
def test_relevance_strings_are_those_of_plain_python(run_and_qrels):
    run, qrels = run_and_qrels
    signs = {None: "-", -1: ".", 10: ">"}
    wanted = {}
    for query, judged in qrels.items():
        ranking = sorted(run.get(query, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        grades = [judged.get(document) for document, _ in ranking[:4]]
        wanted[query] = "".join(signs.get(grade, str(grade)) for grade in grades)
    assert dict(ir.evaluate(run_frame(run), qrels_frame(qrels), ir.relevance_string(k=4)).rows()) == wanted


# trec_eval 9, by way of pytrec_eval-terrier.

RECALLS, MULTIPLES = (0.0, 0.25, 0.5, 0.7, 1.0), (0.1, 0.4, 1.0, 2.5)

#: trec_eval's name, and what is the same here with the level from which grades are relevant.
TREC_EVAL = {
    **{f"iprec_at_recall_{r:.2f}": f"IPrec(rel={{rel}},rounding='up')@{r}" for r in RECALLS},
    **{f"Rprec_mult_{m:.2f}": f"Rprec(rel={{rel}},multiple={m})" for m in MULTIPLES},
    "11pt_avg": "11pt_avg(rel={rel},rounding='up')",
    "binG": "binG(rel={rel})",
    "set_map": "SetAP(rel={rel})",
    "utility": "utility(rel={rel})",
    "num_nonrel_judged_ret": "NumNonRelJudgedRet(rel={rel})",
    "num_q": "NumQ",
    "G": "G",
    "ndcg_rel": "ndcg_rel",
}
REQUEST = {
    "iprec_at_recall." + ",".join(map(str, RECALLS)),
    "Rprec_mult." + ",".join(map(str, MULTIPLES)),
    *(name for name in TREC_EVAL if not name[-1].isdigit()),
    "Rndcg",
    "gm_map",
    "gm_bpref",
}


def trec_eval_9(run: Run, qrels: Qrels, rel: int = 1) -> dict[str, dict[str, float]]:
    """Its figures, by query and measure."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    return pytrec_eval.RelevanceEvaluator(qrels, REQUEST, relevance_level=rel).evaluate(run)


def as_in_9(rel: int) -> list[pl.Expr]:
    """The measures that have trec_eval 9's figures, under its names."""
    # For a query it has the logarithm that goes into the mean.
    means = {"gm_map": ir.gmap(rel=rel), "gm_bpref": ir.gm_bpref(rel=rel)}
    return [
        *(ir.parse(ours.format(rel=rel)).alias(name) for name, ours in TREC_EVAL.items()),
        *(mean.fill_null(0.0).clip(lower_bound=1e-5).log().alias(name) for name, mean in means.items()),
    ]


@pytest.mark.parametrize("rel", [1, 2])
@examples(100)
@given(collections())
def test_trec_eval_9_has_the_same_figures(rel, run_and_qrels):
    run, qrels = run_and_qrels
    assert_agree(run, qrels, as_in_9(rel), trec_eval_9(run, qrels, rel), missing="skip")


@pytest.mark.parametrize("seed", range(3))
def test_trec_eval_9_has_the_same_figures_of_larger_collections(seed):
    frames = collection(seed, queries=80, depth=60)
    run, qrels = as_dicts(frames[0], "score"), as_dicts(frames[1], "relevance")
    # trec_eval ends the process at a query with negative grades only.
    qrels = {query: judged for query, judged in qrels.items() if max(judged.values()) >= 0}
    assert_agree(run, qrels, as_in_9(1), trec_eval_9(run, qrels), missing="skip")


@examples(100)
@given(collections())
def test_trec_eval_9_has_the_same_rndcg_but_where_one_document_is_left(run_and_qrels):
    run, qrels = run_and_qrels
    # It leaves the end of the ranking out where that is one document longer than the ideal one.
    n_gains = {query: sum(grade > 0 for grade in judged.values()) for query, judged in qrels.items()}
    qrels = {query: judged for query, judged in qrels.items() if len(run.get(query, {})) != n_gains[query] + 1}
    if qrels.keys() & run.keys():
        assert_agree(run, qrels, [ir.r_ndcg()], trec_eval_9(run, qrels), missing="skip")


def test_the_end_of_a_ranking_one_document_longer_than_the_ideal_one_counts_in_rndcg():
    run, qrels = {"q": {"d0": 2.0, "d1": 1.0}}, {"q": {"d1": 1}}
    assert trec_eval_9(run, qrels)["q"]["Rndcg"] == 0.0
    assert value_of("Rndcg", ["d0", "d1"], {"d1": 1}) == pytest.approx((0 + 1 / log2(3)) / 2, **EXACT)


def test_trec_eval_9_rounds_recall_up():
    """Of three relevant documents, 0.4 is 1.2, which trec_eval 10 takes for one document and trec_eval 9 for two."""
    run, qrels = {"q": ["d1", "d0", "d2", "d3"]}, {"q": {"d1": 1, "d2": 1, "d3": 1}}
    found = ir.evaluate(run, qrels, ["IPrec@0.4", "IPrec(rounding='up')@0.4"]).row(0)
    assert found == ("q", 1.0, 0.75)


# The slow reference, with gains that no oracle takes.

GAINS = "gains={1:0.5,2:0.1,3:1}"
OF_GAINS = (
    f"G({GAINS})",
    f"ndcg_rel({GAINS})",
    f"Rndcg({GAINS})",
    f"RBP(p=0.7,{GAINS})",
    "RBP_residual(p=0.7)",
    "yaap",
)


@examples(100)
@given(collections())
def test_measures_have_the_figures_of_the_reference(run_and_qrels):
    run, qrels = run_and_qrels
    if any(query in run for query in qrels):
        wanted = by_reference(run, qrels, OF_GAINS, missing="skip")
        assert_agree(run, qrels, list(map(ir.parse, OF_GAINS)), wanted, missing="skip")
