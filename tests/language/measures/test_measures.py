"""Measures by hand: small rankings, and the arithmetic or the source of every number."""

import re
from math import log, log2
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import polars_ir as ir

#: Quotients and sums of a few terms, in another order than ours.
EXACT = {"rel": 1e-14, "abs": 0}

#: Figures published with so many decimals.
FOUR, FIVE = {"rel": 0, "abs": 5e-5}, {"rel": 0, "abs": 5e-6}

#: trec_eval's smoothing in infAP.
E = 1e-5

# Grades down the list: 2, 0, 1, unjudged, 3; d9 is relevant and was not retrieved.
# Relevant ranks 1, 3 and 5 of R = 4; from grade 2 on, ranks 1 and 5 of R = 2.
RANKING = ["d1", "d2", "d3", "d4", "d5"]
GRADES = {"d1": 2, "d2": 0, "d3": 1, "d5": 3, "d9": 1}

BY_HAND = [
    ("P@2", 1 / 2),
    ("P@10", 3 / 10),  # a short list is still divided by k
    ("P(rel=2)@5", 2 / 5),
    ("R@3", 2 / 4),
    ("R", 3 / 4),
    ("R(rel=2)@3", 1 / 2),
    ("R_cap@3", 2 / 3),  # out of min(3, 4)
    ("R_cap@10", 3 / 4),
    ("R_cap", 3 / 4),  # out of min(5, 4)
    ("R_cap(rel=2)@3", 1 / 2),
    ("F@3", 4 / 7),  # 2 * 2 hits / (4 + 3)
    ("F", 6 / 9),  # 2 * 3 / (4 + 5)
    ("F(beta=2)@3", 10 / 19),  # 5 * 2 / (4 * 4 + 3)
    ("F(rel=2)@5", 4 / 7),  # 2 * 2 / (2 + 5)
    ("Success@1", 1.0),
    ("Success(rel=3)@4", 0.0),
    ("Success(rel=3)", 1.0),
    ("RR", 1.0),
    ("RR(rel=3)", 1 / 5),
    ("RR(rel=3)@4", 0.0),
    ("AP", (1 / 1 + 2 / 3 + 3 / 5) / 4),
    ("AP@3", (1 / 1 + 2 / 3) / 4),  # out of R, not of min(k, R)
    ("AP(denominator='min(k,R)')@3", (1 / 1 + 2 / 3) / 3),
    ("AP(denominator='k')@3", (1 / 1 + 2 / 3) / 3),
    ("AP(denominator='k')@10", (1 / 1 + 2 / 3 + 3 / 5) / 10),
    ("AP(denominator='hits')@3", (1 / 1 + 2 / 3) / 2),
    ("AP(rel=2)", (1 / 1 + 2 / 5) / 2),
    ("AP(rel=2)@4", (1 / 1) / 2),
    ("Rprec", 2 / 4),
    ("Rprec(rel=2)", 1 / 2),
    ("bpref", (1 + 0 + 0) / 4),  # d2 stands above two of them, and N = 1
    ("bpref(rel=2)", (1 + (1 - 2 / 2)) / 2),  # d2 and d3 above d5, min(N, R) = min(3, 2)
    (
        "infAP",  # at 1; at 3: 2 of 2 above are judged, 1 relevant; at 5: 3 of 4 above are judged, 2 relevant
        (1 + (1 / 3 + 2 / 3 * (1 + E) / (2 + 2 * E)) + (1 / 5 + 4 / 5 * 3 / 4 * (2 + E) / (3 + 2 * E))) / 4,
    ),
    ("DCG", 2 + 1 / log2(4) + 3 / log2(6)),
    ("DCG@3", 2 + 1 / log2(4)),
    ("DCG(dcg='exp-log2')", 3 + 1 / log2(4) + 7 / log2(6)),
    ("DCG(rel=2)", 2 + 3 / log2(6)),  # grade 1 gains nothing
    ("DCG(gains={1:1,2:4,3:3})", 4 + 1 / log2(4) + 3 / log2(6)),
    ("DCG(discount='ln')@3", 2 / log(2) + 1 / log(4)),
    ("DCG(discount='jarvelin')", 2 + 1 / log2(3) + 3 / log2(5)),  # log2(1) and log2(2) count as 1
    ("DCG(discount='rank')", 2 + 1 / 3 + 3 / 5),
    ("DCG(discount='none')", 2 + 1 + 3),
    ("IDCG", 3 + 2 / log2(3) + 1 / 2 + 1 / log2(5)),
    ("IDCG@2", 3 + 2 / log2(3)),
    ("nDCG@3", (2 + 1 / 2) / (3 + 2 / log2(3) + 1 / 2)),
    ("nDCG", (2 + 1 / 2 + 3 / log2(6)) / (3 + 2 / log2(3) + 1 / 2 + 1 / log2(5))),
    ("nDCG(dcg='exp-log2')@3", (3 + 1 / 2) / (7 + 3 / log2(3) + 1 / 2)),
    ("nDCG(rel=2)@3", 2 / (3 + 2 / log2(3))),
    ("nDCG(gains={1:1,2:4,3:3})@3", (4 + 1 / 2) / (4 + 3 / log2(3) + 1 / 2)),
    ("nDCG(gains={1:5,2:2,3:0})", (2 + 5 / 2) / (5 + 5 / log2(3) + 2 / 2)),  # the ideal begins with grade 1
    ("nDCG(denominator='R')@3", (2 + 1 / 2) / (3 + 2 / log2(3) + 1 / 2 + 1 / log2(5))),  # all of the ideal
    ("nDCG(denominator='k')@3", (2 + 1 / 2) / (3 + 3 / log2(3) + 3 / 2)),  # three documents of grade 3
    ("Q", ((1 + 2) / (1 + 3) + (2 + 3) / (3 + 6) + (3 + 6) / (5 + 7)) / 4),  # ideal gains 3, 5, 6, 7, 7
    ("Q(beta=0)", (1 / 1 + 2 / 3 + 3 / 5) / 4),
    ("Q@3", ((1 + 2) / (1 + 3) + (2 + 3) / (3 + 6)) / 4),
    # Chances to satisfy 3/16, 1/16, 7/16 at ranks 1, 3, 5.
    ("ERR", 3 / 16 + 13 / 16 * 1 / 16 / 3 + 13 / 16 * 15 / 16 * 7 / 16 / 5),
    ("ERR@3", 3 / 16 + 13 / 16 * 1 / 16 / 3),
    ("ERR(max_rel=2)", 3 / 4 + 1 / 4 * 1 / 4 / 3 + 1 / 4 * 3 / 4 * 3 / 4 / 5),  # grade 3 counts as 2
    ("RBP", 0.2 * (1 + 0.64 + 0.4096)),
    ("RBP(p=0.5)@3", 0.5 * (1 + 0.25)),
    ("RBP(rel=2)", 0.2 * (1 + 0.4096)),
    ("SetP", 3 / 5),
    ("SetP(rel=2)", 2 / 5),
    ("SetR", 3 / 4),
    ("SetR(rel=2)", 2 / 2),
    ("SetF", 6 / 9),
    ("SetF(beta=2)", 15 / 21),  # 5 * 3 / (4 * 4 + 5)
    ("NumRet", 5),
    ("NumRet(rel=2)", 2),
    ("NumRel", 4),
    ("NumRel(rel=2)", 2),
    ("NumRelRet", 3),
    ("NumRelRet@3", 2),
    ("NumRelRet(rel=2)", 2),
    ("Judged@3", 1.0),
    ("Judged@10", 4 / 5),  # out of the five there are
    ("Judged", 4 / 5),
    ("unj@3", 0.0),
    ("Hole@10", 1 / 10),
    ("unj@10", 1 / 10),  # empty places do not count
    ("unj", 1 / 5),
]


def value_of(measure: str | pl.Expr, ranking: list, judgments: object) -> float:
    """The value of a measure for one query."""
    return ir.evaluate({"q": ranking}, {"q": judgments}, measure).drop("query_id").item()


@pytest.mark.parametrize(("name", "wanted"), BY_HAND, ids=[name for name, _ in BY_HAND])
def test_a_measure_has_the_value_found_by_hand(name, wanted):
    assert value_of(name, RANKING, GRADES) == pytest.approx(wanted, **EXACT)


def test_every_measure_is_worked_by_hand():
    here = Path(__file__).parent
    texts = [
        file.read_text("utf-8")
        for file in (
            *here.glob("*.py"),
            *(here.parents[1] / "runs" / name for name in ("test_lists.py", "test_samples.py")),
        )
    ]
    named = {name for text in texts for name in re.findall(r"[\"']([\w]+)[\"'(@]|\bir\.(\w+)\(", text) for name in name}
    lacking = [info.name for info in ir.CATALOG.values() if named.isdisjoint({info.name, info.function.__name__})]
    assert lacking == []


def test_names_of_the_table_are_canonical():
    assert [ir.parse(name).meta.output_name() for name, _ in BY_HAND] == [name for name, _ in BY_HAND]


def test_counts_are_whole_numbers():
    found = ir.evaluate({"q": RANKING}, {"q": GRADES}, ["NumRet", "NumRel", "NumRelRet"])
    assert found.dtypes == [pl.String, pl.Int64, pl.Int64, pl.Int64]


def test_bpref_compares_with_as_many_non_relevant_documents_as_there_are_relevant_ones():
    # R = 3 and N = 3: r1 has one of them above, r2 two, r3 is not retrieved: (2/3 + 1/3 + 0) / 3.
    grades = {"r1": 1, "r2": 1, "r3": 1, "n1": 0, "n2": 0, "n3": 0}
    assert value_of("bpref", ["n1", "r1", "n2", "r2"], grades) == pytest.approx(1 / 3, **EXACT)


def test_bpref_skips_unjudged_and_negative_documents():
    assert value_of("bpref", ["unjudged", "negative", "r"], {"r": 1, "negative": -1, "n": 0}) == 1.0


def test_bpref_does_not_count_negative_documents_among_those_judged_not_relevant():
    # N = 1, R = 2: r1 has n1 above, 1 - 1/1; with N = 2 it would add 1/2.
    assert value_of("bpref", ["n1", "r1"], {"r1": 1, "r2": 1, "n1": 0, "negative": -1}) == 0.0


def test_bpref_without_a_document_judged_not_relevant_is_the_share_retrieved():
    assert value_of("bpref", ["unjudged", "r1"], {"r1": 1, "r2": 1}) == 0.5


def test_a_document_of_negative_grade_is_judged_and_yet_a_hole():
    found = ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": -1, "d2": 1}}, ["Judged@2", "unj@2"])
    assert found.row(0) == ("q", 1.0, 0.5)


def test_inferred_ap_takes_an_unjudged_document_out_of_the_pool():
    # r2 at 3: 1/3 + 2/3 * (1 of 2 above is in the pool) * (1 + e) / (1 + 2e).
    wanted = (1 + 1 / 3 + 2 / 3 * 1 / 2 * (1 + E) / (1 + 2 * E)) / 2
    assert value_of("infAP", ["r1", "unjudged", "r2"], {"r1": 1, "r2": 1}) == pytest.approx(wanted, **EXACT)


def test_inferred_ap_counts_a_negative_grade_as_one_of_the_pool():
    wanted = (1 + 1 / 3 + 2 / 3 * 2 / 2 * (1 + E) / (1 + 2 * E)) / 2
    grades = {"r1": 1, "pooled": -1, "r2": 1}
    assert value_of("infAP", ["r1", "pooled", "r2"], grades) == pytest.approx(wanted, **EXACT)


def test_negative_grades_gain_nothing():
    assert value_of("nDCG", ["d1", "d2"], {"d1": -2, "d2": 1}) == pytest.approx(1 / log2(3), **EXACT)


def test_fractional_grades_are_gains():
    assert value_of("DCG", ["d1", "d2", "d3"], {"d1": 0.5, "d3": 0.25}) == pytest.approx(0.625, **EXACT)


# 1. The example of an article on DCG and nDCG. Its figures follow from its formula, but for the last.

ARTICLE_RANKING = list("PFQAREDSBC")
ARTICLE_GRADES = {"A": 5, "B": 5, "C": 4, "D": 3, "E": 3, "F": 4}  # relevant at ranks 2, 4, 6, 7, 9 and 10
MORE_GRADES = {**ARTICLE_GRADES, "P": 1, "Q": 2, "R": 1, "S": 1}


@pytest.mark.parametrize(
    ("grades", "dcg", "ideal", "ndcg"),
    [
        (ARTICLE_GRADES, 9.4071, 14.1065, 0.66686),
        # The article divides the DCG of these grades by another ideal DCG and prints 0.858; the formula wins.
        (MORE_GRADES, 12.1095, 15.6788, 0.77235),
    ],
)
def test_dcg_of_an_article(grades, dcg, ideal, ndcg):
    ideal_ranking = sorted(grades, key=grades.get, reverse=True)
    assert value_of("DCG@10", ARTICLE_RANKING, grades) == pytest.approx(dcg, **FOUR)
    assert value_of("DCG@10", ideal_ranking, grades) == pytest.approx(ideal, **FOUR)
    assert value_of("nDCG@10", ARTICLE_RANKING, grades) == pytest.approx(ndcg, **FIVE)


def test_ndcg_is_dcg_out_of_the_dcg_of_the_ideal_ranking():
    ideal_ranking = sorted(MORE_GRADES, key=MORE_GRADES.get, reverse=True)
    parts = [value_of("DCG@10", ranking, MORE_GRADES) for ranking in (ARTICLE_RANKING, ideal_ranking)]
    assert value_of("nDCG@10", ARTICLE_RANKING, MORE_GRADES) == pytest.approx(parts[0] / parts[1], **EXACT)


# 2. Worked numbers of recall and capped recall.


@pytest.mark.parametrize("ties", ["doc_id", "expected"])
@pytest.mark.parametrize("denominator", ["min(k,R)", "R", "k"])
def test_ndcg_of_an_empty_ranking_is_0_and_not_undefined(denominator, ties):
    measures = [ir.ndcg(denominator=denominator), ir.ndcg(denominator=denominator, k=2).alias("cut")]
    run = {"q": [], "r": ["b"]}
    assert ir.evaluate(run, {"q": ["a"], "r": ["b"]}, measures, undefined=None, ties=ties).row(0) == ("q", 0.0, 0.0)


def test_two_four_five_of_three_relevant():
    ranking = [f"d{rank}" for rank in range(1, 11)]
    found = ir.evaluate({"q": ranking}, {"q": ["d2", "d4", "d5"]}, ["RR@10", "R@10", "R_cap@10"])
    assert found.row(0) == ("q", 0.5, 1.0, 1.0)


@pytest.mark.parametrize(("hits", "recall", "capped"), [(10, 0.5, 1.0), (5, 0.25, 0.5)])
def test_recall_of_twenty_relevant_documents_is_capped_at_ten(hits, recall, capped):
    ranking = [f"r{rank}" if rank < hits else f"n{rank}" for rank in range(10)]
    relevant = [f"r{number}" for number in range(20)]
    assert ir.evaluate({"q": ranking}, {"q": relevant}, ["R@10", "R_cap@10"]).row(0) == ("q", recall, capped)


def test_the_only_relevant_document_at_rank_15_is_below_every_cutoff_of_10():
    ranking = [f"d{rank}" for rank in range(1, 21)]
    found = ir.evaluate({"q": ranking}, {"q": ["d15"]}, ["RR@10", "R@10", "R_cap@10"])
    assert found.row(0) == ("q", 0.0, 0.0, 0.0)


# 3. Retrieved 1 to 5, relevant 1, 3, 6 and 7.


def test_integer_ids_in_lists():
    assert ir.evaluate({0: [1, 2, 3, 4, 5]}, {0: [1, 3, 6, 7]}, ["R@5", "P@5"]).row(0) == (0, 0.5, 0.4)


# 4. Reciprocal ranks.


def test_mean_rr_of_one_list_against_three_truths():
    ranking = [101, 103, 102, 201, 301]
    truths = {1: [101, 102], 2: [201], 3: [301, 302, 303]}
    # Thirds of 1, 1/4 and 1/5.
    found = ir.mean(ir.evaluate(dict.fromkeys(truths, ranking), truths, "RR"))
    assert found.item() == pytest.approx(0.48333, **FIVE)


def test_rr_of_a_list_whose_second_document_is_relevant():
    assert value_of("RR", [999, 102, 101, 103], [101, 102, 103]) == 0.5


def test_rr_of_an_empty_truth_is_zero():
    assert value_of("RR", [101, 102], []) == 0.0


# 5. Which queries a mean is over.

SOME_RUN = {"found": ["d1"], "nothing relevant": ["d1"]}
SOME_QRELS = {"found": {"d1": 1}, "nothing relevant": {"d1": 0}, "not asked": {"d1": 1}}


@pytest.mark.parametrize(
    ("options", "mean"),
    [
        ({}, 1 / 3),
        ({"missing": "skip"}, 1 / 2),  # only the queries that the run has
        ({"undefined": None}, 1 / 2),  # only queries with a relevant document
        ({"missing": "skip", "undefined": None}, 1.0),  # both, as contriever's BEIR script computes them
    ],
)
def test_a_mean_over_all_or_over_some_queries(options, mean):
    found = ir.mean(ir.evaluate(SOME_RUN, SOME_QRELS, "nDCG@10", **options))
    assert found.item() == pytest.approx(mean, **EXACT)


@pytest.mark.filterwarnings("ignore:scores of the run look like grades")
@given(st.dictionaries(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.0, 1.1, 3.0]), st.integers(0, 9), min_size=1))
def test_gains_meet_grades_of_either_float(gains):
    run = {"q": {f"d{i}": float(i) for i in range(len(gains))}}
    grades = pl.DataFrame({"query_id": "q", "doc_id": list(run["q"]), "relevance": list(gains)})
    double, single = (
        ir.evaluate(run, grades.with_columns(pl.col("relevance").cast(dtype)), ir.dcg(gains=gains).alias("DCG"))
        for dtype in (pl.Float64, pl.Float32)
    )
    assert double["DCG"].to_list() == single["DCG"].to_list()


@pytest.mark.parametrize("ties", ["doc_id", "best", "worst", "expected"])
@pytest.mark.parametrize("name", ["nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2',denominator='R')"])
def test_gains_of_two_to_a_huge_grade_are_exact_in_a_quotient(name, ties):
    run = {"q": ["a", "b", "c"]}
    found = [
        ir.evaluate(run, {"q": {"b": highest, "a": 1, "c": highest - 1}}, name, ties=ties).item(0, 1)
        for highest in (72, 1000, 1001, 1023, 1024, 50_000)
    ]
    assert len(set(found)) == 1
    assert found[0] == pytest.approx(0.66967181649423)


def test_a_sum_of_gains_that_no_number_holds_says_so():
    with pytest.warns(ir.IRWarning, match=r"2 to the grade 1024 is beyond what a Float64 holds") as warned:
        found = ir.evaluate({"q": ["a", "b"]}, {"q": {"b": 1024, "a": 1}}, "DCG(dcg='exp-log2')@3")
    assert found.item(0, 1) == float("inf")
    assert len(warned) == 1
