"""Measures of recommender libraries: by hand, with the numbers of their own documentation, and against RecTools."""

import math
import random

import polars as pl
import pytest
from generated import collection

import polars_ir as ir

#: RecTools' own example: what users were shown, and what they took.
SHOWN = {"1": ["1", "2"], "2": ["3", "1", "2"], "3": ["3", "2"]}
TAKEN = {"1": ["1", "2"], "2": ["1", "3"], "3": ["1", "2"]}

#: RecTools' own test: the fifth user's four items, three of them taken, are at 1, 3, 7 and 9, a fourth is not shown.
FIFTH = {"5": ["5", "x", "1", "x1", "x2", "x3", "2", "x4", "3"]}
FIFTH_TAKEN = {"5": ["1", "2", "3", "4"]}


def values(run: object, qrels: object, measure: str | pl.Expr, **options: object) -> list[float]:
    return ir.evaluate(run, qrels, measure, **options).to_series(1).to_list()


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        ("pAUC@1", [1, 1, 0]),
        ("pAUC@3", [1, 1, 1 / 3]),
        ("pAp@1", [1, 1, 0]),
        ("pAp@3", [1, 1, 1 / 3]),
        ("PartialAUC@3", [1, 1, 1 / 3]),
        ("PAP@3", [1, 1, 1 / 3]),
    ],
)
def test_the_example_of_rectools(measure, wanted):
    assert values(SHOWN, TAKEN, measure) == wanted


@pytest.mark.parametrize(("measure", "wanted"), [("pAUC@1", 0), ("pAUC@3", 1 / 12), ("pAp@1", 0), ("pAp@3", 1 / 9)])
def test_the_test_of_rectools(measure, wanted):
    assert values(FIFTH, FIFTH_TAKEN, measure) == [wanted]


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        # Ranking r n r r n, and a fourth relevant document that is not retrieved. Others above the three: 0, 1, 1.
        ("pAUC@1", (1 + 0 + 0) / 4),
        ("pAUC@2", (2 + 1 + 1) / 8),
        ("pAUC@10", (10 + 9 + 9) / 40),
        ("pAUC", (2 + 1 + 1) / 8),
        # min(k, R) relevant documents count.
        ("pAp@1", 1 / 1),
        ("pAp@2", (2 + 1) / 4),
        ("pAp@10", (10 + 9 + 9) / 40),
        # Down to min(k, R), out of R.
        ("Rprec@2", 1 / 4),
        ("Rprec@4", 3 / 4),
        ("Rprec@5", 3 / 4),
        ("Rprec", 3 / 4),
        ("Rprec(multiple=0.5)@1", 1 / 2),
        # Down to k, out of min(k, R).
        ("R_cap@2", 1 / 2),
        ("R_cap@5", 3 / 4),
    ],
)
def test_worked_by_hand(measure, wanted):
    assert values({"q": list("abcde")}, {"q": list("acdz")}, measure) == [wanted]


def test_mcc_worked_by_hand():
    # Of ten documents three are relevant; of the first four, two are.
    found = values({"q": list("abcde")}, {"q": list("acz")}, "MCC(n_docs=10)@4")
    assert found == [pytest.approx((2 * 5 - 2 * 1) / math.sqrt(4 * 3 * 7 * 6), rel=1e-15)]
    # Of the five judged documents two are relevant and one of them is found, with one of the three others.
    judgments = {"q": {"a": 1, "b": 0, "c": 0, "d": -1, "z": 1}}
    found = values({"q": list("axbcd")}, judgments, "MCC@3")
    assert found == [pytest.approx((1 * 2 - 1 * 1) / math.sqrt(2 * 2 * 3 * 3), rel=1e-15)]


def test_mcc_of_what_has_no_other_side_is_0():
    assert values({"q": ["a"]}, {"q": {"a": 1}}, "MCC") == [0.0]
    assert values({"q": ["b"], "r": []}, {"q": {"b": 0}, "r": {"a": 1, "b": 0}}, "MCC") == [0.0, 0.0]


def test_a_collection_smaller_than_its_documents_is_an_error():
    with pytest.raises(ir.IRError, match="MCC: n_docs must be the size of the collection"):
        values({"q": ["a", "b"]}, {"q": {"z": 1}}, "MCC(n_docs=2)")


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
def test_partial_auc_of_all_others_of_a_complete_list_is_the_accuracy():
    run, qrels = collection(5)
    complete = pl.concat(
        [run, qrels.join(run, on=["query_id", "doc_id"], how="anti").select("query_id", "doc_id", score=-1.0)]
    )
    found = ir.evaluate(complete, qrels, ["pAUC", "Accuracy"], undefined=None)
    assert found["pAUC"].drop_nulls().to_list() == pytest.approx(found["Accuracy"].drop_nulls().to_list(), rel=1e-14)
    assert found["pAUC"].null_count() < found.height


def test_pap_is_partial_auc_where_no_more_are_relevant_than_count():
    run, qrels = collection(6)
    found = ir.evaluate(run, qrels, ["pAUC@40", "pAp@40", "pAp@2", "pAUC@2"])
    assert found["pAUC@40"].equals(found["pAp@40"].alias("pAUC@40"))
    assert not found["pAUC@2"].equals(found["pAp@2"].alias("pAUC@2"))


def test_binary_gains_are_1_for_every_grade_above_0():
    run, qrels = {"q": ["a", "b", "c"]}, {"q": {"a": 3, "b": -1, "c": 0.5, "z": 2}}
    wanted = (1 + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2)
    assert values(run, qrels, "ndcg_at_k") == [pytest.approx(wanted, rel=1e-15)]
    assert values(run, qrels, "nDCG(dcg='binary',rel=2)@10") == [pytest.approx(1 / (1 + 1 / math.log2(3)), rel=1e-15)]
    not_a_number = ir.dcg(dcg="binary", gains=(ir.relevance / 0 * 0).alias("none"))
    with pytest.warns(ir.IRWarning, match="NaN"):
        found = values(run, qrels, not_a_number)
    assert math.isnan(found[0])


def test_a_map_of_gains_is_one_measure_in_any_order():
    one, other = ir.ndcg(gains={1: 2, 0: 1}), ir.ndcg(gains={0: 1, 1.0: 2.0})
    assert one.meta.output_name() == other.meta.output_name() == "nDCG(gains={0:1,1:2})"
    assert one.meta.eq(other)
    assert one.meta.serialize() == other.meta.serialize()
    with pytest.raises(ir.IRError, match="two measures are named"):
        ir.evaluate({"q": ["a"]}, {"q": ["a"]}, [one, other])


# RecTools itself.


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of pandas, which RecTools uses in ways of old
@pytest.mark.parametrize("seed", range(5))
def test_rectools_has_the_same_figures(seed):
    metrics, pandas = pytest.importorskip("rectools.metrics"), pytest.importorskip("pandas")
    chance = random.Random(seed)
    catalog = [f"d{i}" for i in range(60)]
    run = {f"q{u}": chance.sample(catalog, chance.randint(12, 40)) for u in range(20)}
    qrels = {f"q{u}": chance.sample(catalog, chance.randint(1, 25)) for u in range(20)}
    shown = [(q, d, i) for q, documents in run.items() for i, d in enumerate(documents, 1)]
    reco = pandas.DataFrame(shown, columns=["user_id", "item_id", "rank"])
    rows = [(q, d) for q, documents in qrels.items() for d in documents]
    taken = pandas.DataFrame(rows, columns=["user_id", "item_id"])
    for k in (1, 3, 12, 100):
        wanted = {
            f"pAUC@{k}": metrics.PartialAUC(k=k).calc_per_user(reco, taken),
            f"pAp@{k}": metrics.PAP(k=k).calc_per_user(reco, taken),
            f"R_cap@{k}": metrics.Precision(k=k, r_precision=True).calc_per_user(reco, taken),
        }
        if k <= 12:  # it counts the places that a shorter list leaves empty
            wanted[f"MCC(n_docs=60)@{k}"] = metrics.MCC(k=k).calc_per_user(reco, taken, catalog)
        found = ir.evaluate(run, qrels, list(wanted))
        for name, of_users in wanted.items():
            ours = dict(zip(found["query_id"], found[name], strict=True))
            assert ours == pytest.approx(of_users.to_dict(), abs=1e-12)
