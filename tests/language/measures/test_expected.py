"""Expectations over the orders of tied documents: by hand, over all orders, over many orders, and by other tools."""

import inspect
from fractions import Fraction
from functools import partial
from itertools import chain, permutations, product
from math import comb, log2
from pathlib import Path

import polars as pl
import pytest
from generated import collection, qrels_frame, run_frame, samples
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from suite import examples

import polars_ir as ir
from polars_ir.language.ties import COUNTS, WEIGHTS, with_counts, with_weights

ROBUST03 = Path(__file__).resolve().parents[4] / "shared" / "data" / "robust03"

#: The expectation of every measure that has one, with the measure's defaults.
EXPECTED = {
    name: partial(info.expected, **info.parameters)
    for name, info in ir.CATALOG.items()
    if info.expected and info.kind != "none"  # measures of lists have tests of their own
}

#: Sums of a few terms in another order.
TOLERANCE = 1e-12

#: Measures without cutoff, whose value no order changes.
ORDERLESS = {"IDCG", "NumNonRelJudgedRet", "NumQ", "NumRel", "NumRet", "SetAP", "SetF", "SetP", "SetR", "utility"}

# Collections without a query or a document in common are among those made up.
pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")


def both(name: str, **arguments: object) -> tuple[pl.Expr, pl.Expr]:
    """A measure and its expectation, under one name."""
    measure = ir.CATALOG[name].function(**arguments)
    return measure, EXPECTED[name](**arguments).alias(measure.meta.output_name())


def value_of(measure: pl.Expr, run: object, judgments: object) -> float:
    """The value of a measure for one query."""
    return ir.evaluate({"q": run}, {"q": judgments}, measure.alias("value"), undefined=None)["value"].item()


#: Every measure and its expectation with every sample of its parameters.
PAIRS = {
    pair[0].meta.output_name(): pair
    for name in EXPECTED
    for arguments in [
        *samples(ir.CATALOG[name]),
        *({"k": 7, "denominator": "hits"} for _ in "1" if name == "AP"),
    ]
    for pair in [both(name, **arguments)]
}
PLAIN, EXPECTATIONS = ([pair[side] for pair in PAIRS.values()] for side in (0, 1))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_expectation_has_the_parameters_of_its_measure(name):
    """But for those of a budget, with which there is no expectation."""

    def parameters(function):
        own = inspect.signature(function).parameters.values()
        return [(p.name, p.kind, p.default) for p in own if p.name not in ("budget", "cost", "over", "_")]

    assert parameters(EXPECTED[name]) == parameters(ir.CATALOG[name].function)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.whole("a case a measure", quick=9)
def test_an_expectation_takes_the_name_and_the_place_of_its_measure(name):
    measure, expectation = both(name)
    run, qrels = collection(3)
    tied = run.with_columns(pl.col("score") // 6)
    wanted = ir.evaluate(tied, qrels, expectation)
    assert wanted.columns == ["query_id", measure.meta.output_name()]
    assert_frame_equal(ir.evaluate(tied, qrels, measure, ties="expected"), wanted, check_exact=True)


def of_one_place(*, rel: float = 1) -> pl.Expr:
    """The mean of `first_is_relevant` over all orders: the share of relevant documents among those tied for the top."""
    first = ir.rank.is_not_null() & (pl.col("n_higher") == 0)
    return (first & ir.relevant(rel)).sum() / pl.col("n_tied").filter(first).first()


def first_is_relevant(*, rel: float = 1) -> pl.Expr:
    """True if the first document is relevant."""
    return ((ir.rank == 1) & ir.relevant(rel)).sum().cast(pl.Float64)


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_of_your_own_can_have_an_expectation():
    mine = ir.measure("First", source="here", expected=of_one_place)(first_is_relevant)
    found = ir.evaluate({"q": THREE}, {"q": {"a": 2, "b": 1}}, [mine(), mine(rel=2).alias("2")], ties="expected")
    assert found.row(0) == ("q", 2 / 3, 1 / 3)
    certain = ir.measure("Counted", source="here", expected="itself")(lambda: ir.relevant().sum())
    assert ir.evaluate({"q": THREE}, {"q": TWO_OF_THREE}, certain(), ties="expected").row(0) == ("q", 2)
    without = ir.measure("Unknown", source="here")(first_is_relevant)
    with pytest.raises(
        ir.IRError, match=r"mean of 'Unknown' over all orders .* ties='expected' goes with AP, Counted, DCG, F, First,"
    ):
        ir.evaluate({"q": THREE}, {"q": TWO_OF_THREE}, without(), ties="expected")


def test_an_expectation_that_lacks_a_parameter_of_its_measure_is_an_error():
    with pytest.raises(ir.IRError, match="First: expected must take the parameters of the measure by name, rel;"):
        ir.measure("First", source="here", expected=pl.len)(first_is_relevant)
    assert "First" not in ir.CATALOG


# By hand.

#: Three documents of one score, two of them relevant: they are at 1 and 2, at 1 and 3, or at 2 and 3, each in a third
#: of the orders.
THREE, TWO_OF_THREE = {"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1, "b": 1}

#: A relevant document, then the three; places 2 to 4.
ONE_AND_THREE, THREE_OF_FOUR = {"first": 2.0, **THREE}, {"first": 1, **TWO_OF_THREE}

BY_HAND = [
    ("P", {"k": 1}, THREE, TWO_OF_THREE, 2 / 3),
    ("P", {"k": 2}, THREE, TWO_OF_THREE, 4 / 3 / 2),
    ("P", {}, THREE, TWO_OF_THREE, 2 / 3),
    ("R", {"k": 1}, THREE, {**TWO_OF_THREE, "not retrieved": 1}, 2 / 3 / 3),
    ("NumRelRet", {"k": 2}, THREE, TWO_OF_THREE, 4 / 3),
    ("Success", {"k": 1}, THREE, TWO_OF_THREE, 2 / 3),
    ("Success", {"k": 2}, THREE, TWO_OF_THREE, 1.0),
    ("Success", {"k": 1}, ONE_AND_THREE, THREE_OF_FOUR, 1.0),
    ("RR", {}, THREE, TWO_OF_THREE, (1 + 1 + 1 / 2) / 3),
    ("RR", {"k": 1}, THREE, TWO_OF_THREE, 2 / 3),
    ("RR", {}, {"first": 2.0, **THREE}, TWO_OF_THREE, (1 / 2 + 1 / 2 + 1 / 3) / 3),
    ("AP", {}, THREE, TWO_OF_THREE, ((1 + 1) / 2 + (1 + 2 / 3) / 2 + (1 / 2 + 2 / 3) / 2) / 3),
    ("AP", {"k": 2}, THREE, TWO_OF_THREE, ((1 + 1) / 2 + 1 / 2 + 1 / 2 / 2) / 3),
    ("AP", {"k": 2, "denominator": "hits"}, THREE, TWO_OF_THREE, (1 + 1 + 1 / 2) / 3),
    ("AP", {"k": 2}, ONE_AND_THREE, THREE_OF_FOUR, (1 + 2 / 3 * 1) / 3),
    ("AP", {"k": 2, "denominator": "hits"}, ONE_AND_THREE, THREE_OF_FOUR, 1.0),
    ("DCG", {}, THREE, {"a": 3}, 3 * (1 + 1 / log2(3) + 1 / 2) / 3),
    ("DCG", {"k": 2}, THREE, {"a": 3, "b": 0.5}, (3 + 0.5) * (1 + 1 / log2(3)) / 3),
    ("nDCG", {"k": 2}, THREE, {"a": 3}, (1 + 1 / log2(3)) / 3),
    ("RBP", {"p": 0.5, "k": 2}, THREE, {"a": 1}, (0.5 + 0.25) / 3),
    ("Judged", {"k": 2}, THREE, TWO_OF_THREE, 2 / 3),
    ("unj", {"k": 2}, THREE, TWO_OF_THREE, 1 / 3),
]


@pytest.mark.parametrize(("name", "arguments", "run", "judgments", "wanted"), BY_HAND)
def test_an_expectation_has_the_value_found_by_hand(name, arguments, run, judgments, wanted):
    assert value_of(EXPECTED[name](**arguments), run, judgments) == pytest.approx(wanted, rel=1e-14, abs=0)


def test_an_expected_count_is_a_whole_number_only_where_it_is_certain():
    counts = [EXPECTED["NumRelRet"]().alias("all"), EXPECTED["NumRelRet"](k=1).alias("one")]
    assert ir.evaluate({"q": THREE}, {"q": TWO_OF_THREE}, counts).dtypes[1:] == [pl.Int64, pl.Float64]


@pytest.mark.parametrize("judged_only", [False, True])
def test_a_run_that_shares_no_document_has_expectations_of_0(judged_only):
    # Nothing is known then of any judgment but that it was not retrieved; many are ranked by sorting.
    run, qrels = {"q": {"a": 1.0, "b": 1.0}}, {"q": {f"d{i}": i for i in range(30)}}
    names = [f"{name}@2" for name, info in ir.CATALOG.items() if name in EXPECTED and "k" in info.parameters]
    with pytest.warns(ir.IRWarning, match="no retrieved document is judged"):
        found = ir.evaluate(run_frame(run), qrels_frame(qrels), names, ties="expected", judged_only=judged_only)
    zero = [name for name in names if not name.startswith(("IDCG", "RBP_residual", "Hole", "unj"))]
    assert len(zero) > 8
    assert set(found.select(zero).row(0)) == {0.0}


def test_chances_of_documents_that_fill_a_score_add_up_to_one():
    # Added up one by one, 49 times 1 / 49 is less than 1.
    run = {f"d{i}": 1.0 for i in range(49)}
    assert value_of(EXPECTED["P"](k=1), run, list(run)) == 1.0
    assert value_of(EXPECTED["unj"](k=1), run, list(run)) == 0.0


# Over all orders.


@st.composite
def rankings(draw: st.DrawFn) -> tuple[dict[str, float], dict[str, float]]:
    """A run of up to six documents, at most five of a score, and judgments that it shares most documents with."""
    documents = [f"d{i}" for i in range(8)]
    retrieved = draw(st.lists(st.sampled_from(documents), max_size=6, unique=True))
    scores = draw(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=len(retrieved), max_size=len(retrieved)).filter(
            lambda of: all(of.count(score) <= 5 for score in of)
        )
    )
    grades = st.sampled_from([-1, 0, 0.5, 1, 1, 2, 2.25])
    judgments = draw(st.dictionaries(st.sampled_from(documents), grades, min_size=1))
    return dict(zip(retrieved, scores, strict=True)), judgments


def orders(run: dict[str, float]) -> list[list[str]]:
    """All orders that tied documents of a run can stand in."""
    tied = [[d for d in run if run[d] == score] for score in sorted(set(run.values()), reverse=True)]
    return [list(chain(*order)) for order in product(*(permutations(documents) for documents in tied))]


#: The measures averaged over all orders: each expectation at its cutoffs, from another grade on, by each of its words.
AVERAGED = [
    both(name, **arguments)
    for name in sorted(EXPECTED.keys() - ORDERLESS)
    for arguments in [
        {},
        *({"k": k} for k in (1, 3, 5) if "k" in ir.CATALOG[name].parameters),
        *({"rel": 2} for _ in "1" if "rel" in ir.CATALOG[name].parameters),
        *({"k": k, "denominator": "hits"} for k in (1, 3, 4) if name == "AP"),
        *({"k": 3, "denominator": words} for words in ("k", "min(k,R)") if name == "AP"),
        *({"k": 3, "discount": words} for words in ("ln", "jarvelin", "rank", "none") if name == "DCG"),
        *({"k": 3, "denominator": words} for words in ("k", "R") if name == "nDCG"),
        *({"k": 3, "gains": {0.5: 0.25, 1: 1, 2: 0.5, 2.25: 0}} for _ in "1" if name in {"nDCG", "RBP"}),
        *({"multiple": multiple} for multiple in (0.4, 2) if name == "Rprec"),
    ]
]


@examples(25)
@given(st.lists(rankings(), min_size=4, max_size=8))
def test_an_expectation_is_the_mean_over_all_orders(lists):
    run, qrels, every_run, every_qrels = {}, {}, {}, {}
    for number, (ranking, judgments) in enumerate(lists):
        run[f"{number}"], qrels[f"{number}"] = ranking, judgments
        for at, order in enumerate(orders(ranking)):
            every_run[f"{number} {at}"] = {document: float(-place) for place, document in enumerate(order)}
            every_qrels[f"{number} {at}"] = judgments
    found = ir.evaluate(
        run_frame(run), qrels_frame(qrels), [expectation for _, expectation in AVERAGED], undefined=None
    )
    every = ir.evaluate(
        run_frame(every_run), qrels_frame(every_qrels), [measure for measure, _ in AVERAGED], undefined=None
    )
    mean = every.group_by(pl.col("query_id").str.split(" ").list.first()).mean().sort("query_id")
    assert_frame_equal(found, mean, check_dtypes=False, abs_tol=TOLERANCE, rel_tol=0)


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.whole("a case a measure", quick=9)
def test_without_ties_an_expectation_is_the_measure(name):
    run, qrels = collection(3)
    distinct = run.with_columns(pl.struct("score", "doc_id").rank("ordinal").over("query_id").alias("score"))
    measure, expectation = (
        [pair[side] for key, pair in PAIRS.items() if key.partition("(")[0].partition("@")[0] == name]
        for side in (0, 1)
    )
    wanted = ir.evaluate(distinct, qrels, measure, undefined=None)
    found = ir.evaluate(distinct, qrels, expectation, undefined=None)
    assert_frame_equal(found, wanted, check_dtypes=False, abs_tol=TOLERANCE, rel_tol=0)


@pytest.mark.parametrize("name", sorted(ORDERLESS))
def test_what_no_order_changes_is_the_measure_itself(name):
    for measure, expectation in (both(name, **arguments) for arguments in samples(ir.CATALOG[name])):
        assert measure.meta.undo_aliases().meta.eq(expectation.meta.undo_aliases())


# Many documents of one score: exact chances, as fractions.

N, HIGHER, R, K = 3000, 40, 7, 2000
MANY = {**{f"u{i}": 2.0 for i in range(HIGHER)}, **{f"d{i}": 1.0 for i in range(N)}}
SOME = {**{f"d{i}": 1 for i in range(R)}, "u0": 0}
M = K - HIGHER


def many(name: str, **arguments: object) -> float:
    return value_of(EXPECTED[name](**arguments), MANY, SOME)


def test_reciprocal_rank_among_many():
    # The first is at j where the other R - 1 are among the n - j below it.
    wanted = sum(Fraction(comb(N - j, R - 1), comb(N, R) * (HIGHER + j)) for j in range(1, M + 1))
    assert many("RR", k=K) == pytest.approx(float(wanted), rel=1e-12, abs=0)


def test_success_among_many():
    assert many("Success", k=K) == pytest.approx(1 - comb(N - M, R) / comb(N, R), rel=1e-13, abs=0)


def test_average_precision_out_of_hits_among_many():
    def mean_precision(hits: int) -> Fraction:
        """The chances of a document being the i-th of the hits at j, times the precision there."""
        chances = ((i, j, comb(j - 1, i - 1) * comb(M - j, hits - i)) for i in range(1, hits + 1) for j in range(i, M))
        at_last = Fraction(hits * comb(M - 1, hits - 1), HIGHER + M)
        return (sum(Fraction(i * ways, HIGHER + j) for i, j, ways in chances) + at_last) / comb(M, hits) / hits

    with_hits = {hits: Fraction(comb(M, hits) * comb(N - M, R - hits), comb(N, R)) for hits in range(1, R + 1)}
    wanted = sum(float(chance) * float(mean_precision(hits)) for hits, chance in with_hits.items())
    assert many("AP", k=K, denominator="hits") == pytest.approx(wanted, rel=1e-12, abs=0)


# Many random orders.


@pytest.mark.whole("random orders")
def test_an_expectation_is_what_many_random_orders_have_on_average():
    run, qrels = collection(15, queries=6, depth=100)
    run = run.with_columns(pl.col("score") // 25)
    names = ["P", "R", "Success", "RR", "AP", "DCG", "nDCG", "F", "R_cap", "RBP", "Judged", "NumRelRet"]
    pairs = [
        *(both(name, k=k) for name in names for k in (5, 12)),
        *(both(name) for name in ("RR", "AP", "nDCG", "Rprec")),
        both("AP", k=12, denominator="hits"),
    ]
    plain, expectations = zip(*pairs, strict=True)
    orders_at_once = 500
    every = pl.DataFrame({"run": range(orders_at_once)}, schema={"run": pl.Int64}).join(run, how="cross")
    values = []
    for seed in range(20):
        shuffled = pl.int_range(pl.len()).shuffle(seed) / pl.len()
        values.append(ir.evaluate(every.with_columns(pl.col("score") + shuffled), qrels, list(plain)))
    drawn = pl.concat(values).drop("run")
    assert drawn.height == 10_000 * qrels["query_id"].n_unique()
    mean = drawn.group_by("query_id").mean().sort("query_id")
    error = drawn.group_by("query_id").agg(pl.exclude("query_id").std() / 100).sort("query_id")
    expected = ir.evaluate(run, qrels, list(expectations))
    away = {name: (expected[name] - mean[name]).abs() - 5 * error[name] for name in expected.columns[1:]}
    assert {name: worst for name, of in away.items() if (worst := of.max()) > TOLERANCE} == {}
    assert [name for name in away if error[name].max() == 0] == []


# The same bits.


@pytest.mark.whole("a second")
def test_an_expectation_has_the_same_bits_in_any_order_of_the_rows():
    run, qrels = collection(20, queries=50, depth=100)
    run = run.with_columns(pl.col("score") // 30)
    named = {column for expectation in EXPECTATIONS for column in expectation.meta.root_names()}

    def judged(**options):
        relation = with_weights(ir.judge(run, qrels, **options).lazy(), *filter(WEIGHTS.is_named, named))
        return with_counts(relation, *filter(COUNTS.is_named, named), keys=["query_id"]).collect()

    relation = judged()
    judgments = [e for e in EXPECTATIONS if set(e.meta.root_names()) <= set(relation.columns)]
    assert len(judgments) > 0.9 * len(EXPECTATIONS)
    wanted = relation.group_by("query_id").agg(judgments).sort("query_id")
    for seed, engine in enumerate(["in-memory", "streaming"]):
        rows = relation.sample(fraction=1, shuffle=True, seed=seed)
        chunks = pl.concat([rows[:700], rows[700:1500], rows[1500:]], rechunk=False)
        found = chunks.lazy().group_by("query_id").agg(judgments).sort("query_id").collect(engine=engine)
        assert_frame_equal(found, wanted, check_exact=True)
    unjudged = judged(unjudged=True).group_by("query_id").agg(judgments).sort("query_id")
    assert_frame_equal(unjudged, wanted, check_exact=True)
    alone = relation.filter(pl.col("query_id") == "q35").group_by("query_id").agg(judgments)
    assert_frame_equal(alone, wanted.filter(pl.col("query_id") == "q35"), check_exact=True)


# Real runs.


@pytest.mark.skipif(not ROBUST03.exists(), reason="the real data are not here")
@pytest.mark.whole("a second")
def test_an_expectation_lies_between_the_best_and_the_worst_order():
    # Nearly all documents of this run share their scores.
    run = ir.read_run(ROBUST03 / "MU03rob01.run.gz").drop("run", strict=False)
    qrels = ir.read_qrels(ROBUST03 / "qrels.txt.gz")
    names = ["P", "R", "Success", "RR", "AP", "DCG", "nDCG", "RBP"]
    pairs = [both(measure, **cut) for measure in names for cut in ({}, {"k": 10}, {"k": 100})]
    graded = run.join(qrels, on=["query_id", "doc_id"], how="left").with_columns(pl.col("relevance").fill_null(-1))

    def in_order_of(grade: pl.Expr) -> pl.DataFrame:
        place = pl.struct("score", grade.alias("grade"), "doc_id").rank("ordinal").over("query_id")
        return ir.evaluate(graded.select("query_id", "doc_id", score=place), qrels, [plain for plain, _ in pairs])

    best, worst = (in_order_of(sign * pl.col("relevance")).drop("query_id") for sign in (1, -1))
    expected = ir.evaluate(run, qrels, [expectation for _, expectation in pairs]).drop("query_id")
    for column in expected.columns:
        assert (expected[column] <= best[column] + TOLERANCE).all()
        assert (expected[column] >= worst[column] - TOLERANCE).all()
    assert (best["AP"] > worst["AP"] + 0.01).any()


# Other tools.


@pytest.mark.parametrize("k", [None, 1, 5, 20])
def test_scikit_learn_averages_gains_over_ties_alike(k):
    metrics = pytest.importorskip("sklearn.metrics")
    run, qrels = collection(30, grades=(0, 0, 0.5, 1, 2.25, 3))
    run = run.with_columns(pl.col("score") // 8)
    # It takes a score for every document: those judged only are no part of its lists.
    judged = run.join(qrels, on=["query_id", "doc_id"], how="left").with_columns(pl.col("relevance").fill_null(0))
    judged = judged.filter((pl.len() > 1).over("query_id") & (pl.col("relevance") > 0).any().over("query_id"))
    expectations = [EXPECTED["DCG"](k=k).alias("DCG"), EXPECTED["nDCG"](k=k).alias("nDCG")]
    found = ir.evaluate(judged.drop("relevance"), judged.drop("score"), expectations)
    assert found.height > 20
    for query, dcg, ndcg in found.rows():
        rows = judged.filter(pl.col("query_id") == query)
        grades, scores = ([rows[column].to_list()] for column in ("relevance", "score"))
        assert dcg == pytest.approx(metrics.dcg_score(grades, scores, k=k), abs=TOLERANCE, rel=0)
        assert ndcg == pytest.approx(metrics.ndcg_score(grades, scores, k=k), abs=TOLERANCE, rel=0)
