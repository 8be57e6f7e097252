"""Measures of diversity: by hand, against a plain reading of the definitions, and against ndeval (pyndeval)."""

import gzip
import random
from itertools import product
from math import isnan, log2
from pathlib import Path

import polars as pl
import pytest
import referred
from generated import collection as documents
from generated import of_subtopics, run_frame
from hypothesis import given
from hypothesis import strategies as st
from suite import examples

import polars_ir as ir

#: Sums of a few terms in another order.
EXACT = {"rel": 1e-12, "abs": 1e-12}

WEB2013 = Path(__file__).resolve().parents[4] / "shared/data/web2013/qrels.ndeval.txt.gz"

NOVELTY = ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP")
ALL = (*NOVELTY, "AP_IA", "P_IA", "StRecall")

Judgments = dict[tuple[str, str], float]


def qrels_of(judgments: Judgments, weights: dict[str, float] | None = None) -> pl.DataFrame:
    """Judgments of one query, `{(subtopic, document): grade}`, as qrels."""
    rows = [("q", subtopic, document, grade) for (subtopic, document), grade in judgments.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "subtopic", "doc_id", "relevance"], orient="row")
    return frame.with_columns(p=pl.col("subtopic").replace_strict(weights)) if weights else frame


def value_of(measure, ranking, judgments, weights=None):
    """A measure of one ranking."""
    run = run_frame({"q": {document: float(-i) for i, document in enumerate(ranking)}})
    return ir.evaluate(run, qrels_of(judgments, weights), measure, undefined=None).to_series(1).item()


# By hand. d1 covers a and b, d2 a, d3 c, d5 b; d4 is judged not relevant, d9 unjudged.

JUDGMENTS = {
    ("a", "d1"): 1,
    ("b", "d1"): 2,
    ("a", "d2"): 1,
    ("c", "d3"): 3,
    ("a", "d4"): 0,
    ("c", "d4"): -2,
    ("b", "d5"): 1,
}
RANKING = ["d2", "d9", "d1", "d4", "d3"]
# Novelty: d2 1, d1 1/2 for a and 1 for b, d3 1.
DCG = 1 + 1.5 / log2(4) + 1 / log2(6)
ERR = 1 + 1.5 / 3 + 1 / 5
RBP = 1 + 1.5 / 4 + 1 / 16
# Greedily d1 (2), d3 (1), d5 (1/2, as d2, whose id is smaller), d2 (1/2).
IDEAL_DCG = 2 + 1 / log2(3) + 0.5 / log2(4) + 0.5 / log2(5)
IDEAL_ERR = 2 + 1 / 2 + 0.5 / 3 + 0.5 / 4

BY_HAND = [
    ("alpha_DCG@1", 1 / 3),
    ("alpha_DCG@3", (1 + 1.5 / 2) / (3 * (1 + 0.5 / log2(3) + 0.25 / 2))),
    ("alpha_DCG", DCG / (3 * sum(0.5 ** (i - 1) / log2(i + 1) for i in range(1, 6)))),  # five were retrieved
    ("alpha_nDCG@1", 1 / 2),
    ("alpha_nDCG@3", (1 + 1.5 / 2) / (2 + 1 / log2(3) + 0.5 / 2)),
    ("alpha_nDCG", DCG / IDEAL_DCG),
    ("alpha_nDCG(alpha=0)@3", 2 / (2 + 1 / log2(3) + 1 / 2)),  # 1 + 2/2: nothing said twice is worth less
    ("alpha_nDCG(alpha=1)", (1 + 1 / 2 + 1 / log2(6)) / (2 + 1 / log2(3))),  # d1 adds b alone; after d1, d3 nothing
    ("alpha_nDCG(rel=2)", (1 / 2 + 1 / log2(6)) / (1 + 1 / log2(3))),  # only b by d1 and c by d3
    ("ERR_IA@1", 1 / 3),
    ("ERR_IA@5", ERR / (3 * (1 + 1 / 4 + 1 / 12 + 1 / 32 + 1 / 80))),
    ("nERR_IA@3", (1 + 1.5 / 3) / (2 + 1 / 2 + 0.5 / 3)),
    ("nERR_IA", ERR / IDEAL_ERR),
    ("NRBP", 0.75 / 3 * RBP),
    ("nNRBP", RBP / (2 + 1 / 2 + 0.5 / 4 + 0.5 / 8)),
    ("AP_IA", ((1 / 1 + 2 / 3) / 2 + (1 / 3) / 2 + (1 / 5) / 1) / 3),
    ("AP_IA@3", ((1 / 1 + 2 / 3) / 2 + (1 / 3) / 2) / 3),
    ("P_IA@3", (2 + 1 + 0) / (3 * 3)),
    ("P_IA@10", (2 + 1 + 1) / (10 * 3)),
    ("P_IA", (2 + 1 + 1) / (5 * 3)),
    ("StRecall@1", 1 / 3),
    ("StRecall@3", 2 / 3),
    ("StRecall", 1.0),
    ("StRecall(rel=2)@3", 1 / 2),
    # The subtopics weigh 0.5, 0.3 and 0.2.
    ("alpha_DCG(weights='p')@1", 0.5 / 1),
    ("alpha_nDCG(weights='p')@3", (0.5 + (0.25 + 0.3) / 2) / (0.8 + 0.25 / log2(3) + 0.2 / 2)),  # d1, d2, d3
    ("NRBP(weights='p')", 0.75 * (0.5 + 0.55 / 4 + 0.2 / 16)),
    ("AP_IA(weights='p')", 0.5 * (1 / 1 + 2 / 3) / 2 + 0.3 * (1 / 3) / 2 + 0.2 * (1 / 5)),
    ("P_IA(weights='p')@3", (0.5 * 2 + 0.3) / 3),
    ("StRecall(weights='p')@1", 0.5),
    # Graded: d1 has 1/2 for a and 3/4 for b, d2 1/2 for a, d3 1 for c; the need for a is met by a quarter above d1.
    ("ERR_IA(gains={1:0.5,2:0.75,3:1})@3", (0.5 + (0.5 * 0.75 + 0.75) / 3) / (3 * (1 + 1 / 4 + 1 / 12))),
    ("nERR_IA(gains={1:0.5,2:0.75,3:1})@1", 0.5 / 1.25),
]


@pytest.mark.parametrize(("measure", "wanted"), BY_HAND)
def test_measures_by_hand(measure, wanted):
    weights = {"a": 0.5, "b": 0.3, "c": 0.2}
    assert value_of(measure, RANKING, JUDGMENTS, weights) == pytest.approx(wanted, **EXACT)


def test_intent_aware_err_is_the_mean_of_the_err_by_subtopic():
    """With all of the need met at a gain of 1, and the gains of ERR: the definition of Chapelle et al. 2011."""
    weights, gains = {"a": 0.5, "b": 0.3, "c": 0.2}, {grade: (2**grade - 1) / 2**4 for grade in (1, 2, 3)}
    wanted = 0
    for subtopic, weight in weights.items():
        of_subtopic = {document: grade for (s, document), grade in JUDGMENTS.items() if s == subtopic}
        wanted += weight * ir.evaluate({"q": RANKING}, {"q": of_subtopic}, "ERR@20")["ERR@20"].item()
    measure = ir.err_ia(k=20, alpha=1, gains=gains, weights="p")
    assert value_of(measure, RANKING, JUDGMENTS, weights) == pytest.approx(wanted, **EXACT)


def test_one_subtopic_without_a_penalty_is_plain_evaluation():
    run, qrels = documents(12)
    of_one = qrels.with_columns(subtopic=pl.lit("a"))
    plain = qrels.with_columns(relevance=(pl.col("relevance") >= 1).cast(pl.Int64))
    novel = [ir.alpha_ndcg(k=10, alpha=0), ir.intent_aware_average_precision(), ir.intent_aware_precision(k=10)]
    found, wanted = ir.evaluate(run, of_one, novel), ir.evaluate(run, plain, ["nDCG@10", "AP", "P@10"])
    for ours, theirs in zip(found.drop("query_id"), wanted.drop("query_id"), strict=True):
        assert ours.to_list() == pytest.approx(theirs.to_list(), **EXACT)


def test_a_ranking_can_be_better_than_the_greedy_one():
    """Greedily g comes first, which covers 4 of 6 subtopics and leaves 1 to add; l and r cover 3 each."""
    judgments = {(s, "g"): 1 for s in "bcef"} | {(s, "l"): 1 for s in "abc"} | {(s, "r"): 1 for s in "def"}
    measure = ir.alpha_ndcg(k=2, alpha=1)
    assert value_of(measure, ["g", "r"], judgments) == 1
    wanted = (3 + 3 / log2(3)) / (4 + 1 / log2(3))
    assert 1 < wanted < ir.CATALOG["alpha_nDCG"].bounds[1]
    assert value_of(measure, ["l", "r"], judgments) == pytest.approx(wanted, **EXACT)


@pytest.mark.filterwarnings("ignore:no grade of the qrels is above 0")
@pytest.mark.parametrize("measure", ALL)
def test_edge_cases(measure):
    covers = {("a", "d1"): 1, ("b", "d2"): 1}
    assert value_of(measure, ["d1"], {("a", "d1"): 0, ("b", "d1"): -1}) is None
    assert value_of(measure, ["d9"], covers | {("c", "d9"): 0}) == 0
    # A subtopic that no document covers does not count, and a document judged not relevant is like an unjudged one.
    more = covers | {("c", "d2"): 0, ("c", "d3"): -1}
    ranking = ["d3", "d2", "d9", "d1"]
    assert value_of(measure, ranking, more) == value_of(measure, ranking, covers) > 0


@pytest.mark.parametrize("measure", ALL)
def test_equal_weights_are_no_weights(measure):
    function = ir.CATALOG[measure].function
    same = value_of(function(weights="p"), RANKING, JUDGMENTS, dict.fromkeys("abc", 0.25))
    assert same == pytest.approx(value_of(function(), RANKING, JUDGMENTS), **EXACT)


@pytest.mark.parametrize("wrong", [None, -0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("measure", ALL)
def test_a_weight_that_is_none_is_an_error(measure, wrong):
    run = run_frame({"q": {"d2": 1.0, "d1": 0.5}})
    qrels = qrels_of({("a", "d1"): 1, ("b", "d2"): 1}).with_columns(p=pl.Series([wrong, 0.5]))
    expression = ir.CATALOG[measure].function(weights="p")
    with pytest.raises(ir.IRError, match="qrels has 1 row whose 'p' is no number of 0 or more"):
        ir.evaluate(run, qrels, expression)


@pytest.mark.parametrize("measure", ["ERR_IA", "NRBP", "P_IA"])
@pytest.mark.parametrize("wrong", [None, -0.1])
def test_a_weight_that_is_none_shows_in_a_plan(measure, wrong):
    run = run_frame({"q": {"d2": 1.0, "d1": 0.5}})
    qrels = qrels_of({("a", "d1"): 1, ("b", "d2"): 1}).with_columns(p=pl.Series([wrong, 0.5]))
    expression = ir.CATALOG[measure].function(weights="p", **({} if measure == "NRBP" else {"k": 2}))
    assert isnan(ir.evaluate(run.lazy(), qrels.lazy(), expression).collect().to_series(1).item())


def test_a_subtopic_has_one_weight():
    qrels = qrels_of({("a", "d1"): 1, ("a", "d2"): 1}).with_columns(p=pl.Series([0.5, 0.25]))
    with pytest.raises(ir.IRError, match="qrels has 2 rows of subtopics with several 'p'"):
        ir.evaluate({"q": {"d1": 1.0}}, qrels, "ERR_IA(weights='p')@5")


# Against the slow reference: any cutoff, weights, grades.


SHARES = {1: 0.3, 2: 0.9, 3: 1.0}
WEIGHTS = {"a": 0.4, "b": 0.35, "c": 0.15, "d": 0.1}


@pytest.mark.parametrize("measure", NOVELTY)
@pytest.mark.parametrize(("alpha", "gains", "weights"), [*product([0.5, 0.1, 1], [None, SHARES], [None, WEIGHTS])])
@pytest.mark.whole("each with all the others", quick=9)
def test_the_reference_has_the_same_figures(measure, alpha, gains, weights):
    chance = random.Random(f"{measure} {alpha} {gains} {weights}")
    for k in [None] if "NRBP" in measure else [None, 3, 30]:
        pool = [f"d{i}" for i in range(40)]
        judgments = {(s, d): chance.choice([-1, 0, 0, 1, 2, 3]) for s in WEIGHTS for d in chance.sample(pool, 25)}
        ranking = chance.sample(pool, 35)
        cutoff = {} if k is None else {"k": k}
        expression = ir.CATALOG[measure].function(alpha=alpha, gains=gains, weights=weights and "p", **cutoff)
        wanted = referred.of_subtopics(ranking, judgments, WEIGHTS, expression.meta.output_name())
        assert value_of(expression, ranking, judgments, WEIGHTS) == pytest.approx(wanted, rel=1e-9, abs=0)


# Against ndeval.

#: ndeval's names and ours.
CUT = {
    "ERR-IA": "ERR_IA",
    "nERR-IA": "nERR_IA",
    "alpha-DCG": "alpha_DCG",
    "alpha-nDCG": "alpha_nDCG",
    "P-IA": "P_IA",
    "strec": "StRecall",
}
UNCUT = {"NRBP": "NRBP", "nNRBP": "nNRBP", "MAP-IA": "AP_IA"}


def assert_ndeval_agrees(run: pl.DataFrame, qrels: pl.DataFrame, *, alpha=0.5, beta=0.5, rel=1, ks=(1, 2, 10, 20)):
    """Assert that every query that ndeval answers has its figures."""
    ndeval = pytest.importorskip("pyndeval")
    names = {f"{theirs}@{k}": (ours, {"k": k}) for k in ks for theirs, ours in CUT.items()}
    names |= {theirs: (ours, {}) for theirs, ours in UNCUT.items()}
    # The measures that ndeval does not divide at the cutoff 1, see below.
    names = {theirs: wanted for theirs, wanted in names.items() if theirs not in ("ERR-IA@1", "alpha-DCG@1")}
    shared = {"alpha": alpha, "beta": beta, "rel": rel}
    measures = []
    for theirs, (ours, cutoff) in names.items():
        info = ir.CATALOG[ours]
        arguments = {name: value for name, value in shared.items() if name in info.parameters}
        measures.append(info.function(**arguments, **cutoff).alias(theirs))
    judgments = list(qrels.select("query_id", "subtopic", "doc_id", "relevance").iter_rows())
    oracle = ndeval.RelevanceEvaluator(judgments, names, relevance_level=rel, alpha=alpha, beta=beta)
    wanted = oracle.evaluate(run.sort("query_id").select("query_id", "doc_id", "score").iter_rows())
    found = ir.evaluate(run, qrels, measures, missing="skip", undefined=None)
    assert found["query_id"].to_list() == sorted(wanted)
    for row in found.iter_rows(named=True):
        query = row.pop("query_id")
        if row["strec@20"] is None:
            # No subtopic is covered: 0, or 0 / 0 for nNRBP.
            assert {value for value in wanted[query].values() if not isnan(value)} == {0.0}
        else:
            assert row == pytest.approx(wanted[query], abs=1e-9, rel=0)


def without_ties(run: pl.DataFrame) -> pl.DataFrame:
    """The run with scores all different: ndeval orders equal ones by id rising where pyndeval calls it."""
    return run.with_columns(score=pl.struct("score", "doc_id").rank("ordinal").cast(pl.Float64))


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.1, 0.9), (0.9, 0.3), (0, 0.5), (1, 0.5)])
@pytest.mark.whole("a tenth of a second a case", quick=3)
def test_ndeval_has_the_same_figures(alpha, beta, rel):
    run, qrels = documents(21, queries=40)
    assert_ndeval_agrees(without_ties(run), of_subtopics(qrels, 21), alpha=alpha, beta=beta, rel=rel)


@pytest.mark.filterwarnings("ignore:no grade of the qrels is above 0")
@examples(60)
@given(st.data())
def test_ndeval_has_the_same_figures_for_any_judgments(data):
    pairs = st.tuples(st.sampled_from("abc"), st.sampled_from([f"d{i}" for i in range(8)]))
    judgments = data.draw(st.dictionaries(pairs, st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=16))
    ranking = data.draw(st.lists(st.sampled_from([f"d{i}" for i in range(10)]), min_size=1, unique=True))
    run = run_frame({"q": {document: float(-i) for i, document in enumerate(ranking)}})
    # Without a judged document in the run there is a warning.
    run = run if {d for _, d in judgments} & set(ranking) else run_frame({"q": {next(iter(judgments))[1]: 1.0}})
    assert_ndeval_agrees(run, qrels_of(judgments), alpha=data.draw(st.sampled_from([0.5, 0.25, 0.3])))


def test_at_the_cutoff_1_ndeval_counts_subtopics():
    """Its loop over the cutoffs that are divided begins at the second, so that the two measures pass 1."""
    ndeval = pytest.importorskip("pyndeval")
    judgments = {("a", "d1"): 1, ("b", "d1"): 1}
    rows = list(qrels_of(judgments).iter_rows())
    wanted = ndeval.RelevanceEvaluator(rows, ["ERR-IA@1", "alpha-DCG@1", "ERR-IA@2"]).evaluate([("q", "d1", 1.0)])["q"]
    assert wanted == {"ERR-IA@1": 2.0, "alpha-DCG@1": 2.0, "ERR-IA@2": 0.8}
    assert value_of("ERR_IA@1", ["d1"], judgments) == value_of("alpha_DCG@1", ["d1"], judgments) == 1
    assert value_of("ERR_IA@2", ["d1"], judgments) == pytest.approx(0.8, **EXACT)


@pytest.mark.parametrize("measure", ["alpha_nDCG@10", "alpha_DCG@5", "ERR_IA@20", "nERR_IA@20", "nNRBP", "AP_IA"])
def test_ir_measures_has_the_same_figures(measure):
    """One measure a call: of two configurations it gives 0 for the second."""
    pytest.importorskip("pyndeval")
    ir_measures = pytest.importorskip("ir_measures")
    run, qrels = documents(22, queries=20)
    run, qrels = without_ties(run), of_subtopics(qrels, 22)
    oracle = ir_measures.iter_calc(
        [ir_measures.parse_measure(measure)],
        [ir_measures.Qrel(q, d, r, s) for q, s, d, r, *_ in qrels.iter_rows()],
        [ir_measures.ScoredDoc(*row) for row in run.select("query_id", "doc_id", "score").sort("query_id").iter_rows()],
    )
    wanted = {metric.query_id: metric.value for metric in oracle if not isnan(metric.value)}
    found = dict(ir.evaluate(run, qrels, measure).iter_rows())
    assert {query: found[query] for query in wanted} == pytest.approx(wanted, abs=1e-9, rel=0)
    assert any(wanted.values())


@pytest.fixture(scope="module")
def web2013() -> pl.DataFrame:
    """The judgments of the TREC 2013 web track."""
    if not WEB2013.exists():
        pytest.skip("the judgments of TREC 2013 are not here")
    with gzip.open(WEB2013, "rt", encoding="utf-8") as lines:
        rows = [line.split() for line in lines]
    frame = pl.DataFrame(rows, schema=["query_id", "subtopic", "doc_id", "relevance"], orient="row")
    return frame.with_columns(pl.col("relevance").cast(pl.Int64))


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.9])
@pytest.mark.whole("a second a case", quick=2)
def test_ndeval_has_the_same_figures_for_the_web_track(web2013, alpha, rel):
    chance = random.Random(f"{alpha} {rel}")
    run = {}
    for (query,), judged in web2013.sort("query_id", "doc_id").group_by("query_id", maintain_order=True):
        pool = judged["doc_id"].unique(maintain_order=True).to_list()
        ranking = [*chance.sample(pool, chance.randint(1, len(pool))), *(f"unjudged{i}" for i in range(50))]
        chance.shuffle(ranking)
        run[query] = {document: float(-i) for i, document in enumerate(ranking)}
    assert_ndeval_agrees(run_frame(run), web2013, alpha=alpha, rel=rel)


# Names and bad input.


@pytest.mark.parametrize("measure", ALL)
def test_a_column_of_weights_must_be_there(measure):
    with pytest.raises(ir.IRError, match="weights must name a column of numbers in the qrels; got 'p'"):
        value_of(ir.CATALOG[measure].function(weights="p"), RANKING, JUDGMENTS)


@pytest.mark.parametrize("measure", ALL)
def test_qrels_must_have_subtopics(measure):
    with pytest.raises(ir.IRError, match="subtopic"):
        ir.evaluate({"q": ["d1"]}, {"q": ["d1"]}, measure)


def test_a_grade_without_a_gain_meets_the_whole_need():
    partial, whole = (
        value_of(ir.alpha_ndcg(k=5, gains=gains), RANKING, JUDGMENTS) for gains in ({1: 0.5}, {1: 0.5, 2: 1, 3: 1})
    )
    assert partial == whole
