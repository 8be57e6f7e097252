"""Judgments that are a sample: inferred measures, and estimates that are right over all samples."""

from __future__ import annotations

from itertools import combinations, product
from math import log2, prod
from random import Random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.errors import ColumnError, DataError, MeasureError, OptionError

PROBABILITY = "inclusion_probability"

#: A run d1 .. d5; d6 is in the pool only. Stratum A is judged whole, of B two of four documents are drawn.
RUN = ["d1", "d2", "d3", "d4", "d5"]
GRADES = {"d1": 1, "d2": 0, "d3": 2, "d4": 0, "d5": 1, "d6": 1}
SAMPLES = list(combinations(["d3", "d4", "d5", "d6"], 2))

MEASURES = ["P@4", "DCG@5", "NumRel", "AP", "R@4", "nDCG@5"]
WORKED = {
    ("d3", "d4"): (0.75, 3, 3, 0.777778, 1, 0.797478, 0.777777, 0.664565),
    ("d3", "d5"): (0.75, 3.773706, 5, 0.866667, 0.6, 0.824063, 0.786662, 0.672640),
    ("d3", "d6"): (0.75, 3, 5, 0.466667, 0.6, 0.655109, 0.466666, 0.873479),
    ("d4", "d5"): (0.25, 1.773706, 3, 0.6, 0.333333, 0.832362, 0.600002, 0.741591),
    ("d4", "d6"): (0.25, 1, 3, 0.333333, 0.333333, 0.469279, 0.333333, 0.469279),
    ("d5", "d6"): (0.25, 1.773706, 5, 0.36, 0.2, 0.601570, 0.413333, 0.732775),
}

#: Every sample as the judgments of a query, with the documents that were not drawn.
POOL = pl.DataFrame(
    {
        "query_id": "+".join(drawn),
        "doc_id": doc,
        "stratum": "A" if doc in ("d1", "d2") else "B",
        "relevance": grade if doc in ("d1", "d2", *drawn) else -1,
        "inclusion_probability": 1.0 if doc in ("d1", "d2") else 0.5,
    }
    for drawn in SAMPLES
    for doc, grade in GRADES.items()
)
RUNS = {"+".join(drawn): RUN for drawn in SAMPLES}


def test_every_sample_has_the_worked_figures() -> None:
    found = ir.evaluate(RUNS, POOL, [*MEASURES, "xinfAP", "infNDCG"])
    of_measures = found.select(pl.col(*MEASURES, "xinfAP", "infNDCG").round(6))
    # The program of the inferred figures has .777777 for what is .7777767.
    for row, wanted in zip(of_measures.rows(), WORKED.values(), strict=True):
        assert row == pytest.approx(wanted, abs=1.1e-6)


def test_sums_and_their_variances_are_right_on_average() -> None:
    found = ir.evaluate(RUNS, POOL, [*MEASURES, "RBP"])
    truth = ir.evaluate({"q": RUN}, {"q": GRADES}, ["P@4", "DCG@5", "NumRel", "RBP"]).row(0, named=True)
    for measure in ("P@4", "DCG@5", "NumRel", "RBP"):
        assert found[measure].mean() == pytest.approx(truth[measure], abs=1e-12)
        assert (found[f"{measure} se"] ** 2).mean() == pytest.approx(found[measure].var(ddof=0), abs=1e-12)
    means = found.select(pl.col("AP", "R@4", "nDCG@5").mean().round(6)).row(0)
    assert means == (0.567407, 0.511111, 0.696644)
    assert found.select(pl.col(*MEASURES).var(ddof=0).round(6)).row(0) == (
        0.0625, 0.891753, 1, 0.040472, 0.069136, 0.017880
    )  # fmt: skip


def test_the_documents_that_were_not_drawn_change_no_estimate() -> None:
    whole, drawn = (ir.evaluate(RUNS, qrels, MEASURES) for qrels in (POOL, POOL.filter(pl.col("relevance") >= 0)))
    assert_frame_equal(whole, drawn)


def test_documents_drawn_each_by_itself_are_estimated_without_bias() -> None:
    chances = dict(zip(GRADES, (0.9, 0.8, 0.5, 0.6, 0.3, 0.4), strict=True))
    rows, weights = [], {}
    for number, drawn in enumerate(product([True, False], repeat=6)):
        weights[f"q{number:02}"] = prod(p if there else 1 - p for there, p in zip(drawn, chances.values(), strict=True))
        rows += [
            {
                "query_id": f"q{number:02}",
                "doc_id": doc,
                "relevance": GRADES[doc],
                PROBABILITY: chances[doc],
            }
            for there, doc in zip(drawn, GRADES, strict=True)
            if there
        ]
    measures = ["P@4", "DCG@5", "NumRel", "RBP"]
    found = ir.evaluate(dict.fromkeys(weights, RUN), pl.DataFrame(rows), measures)
    weight = found["query_id"].replace_strict(weights)
    truth = ir.evaluate({"q": RUN}, {"q": GRADES}, measures).row(0, named=True)
    for measure in measures:
        assert (found[measure] * weight).sum() == pytest.approx(truth[measure], abs=1e-12)
        spread = ((found[measure] - truth[measure]) ** 2 * weight).sum()
        # The sample without a document has no row; nothing is known of its query.
        nothing = weights[f"q{len(weights) - 1:02}"] * truth[measure] ** 2
        assert ((found[f"{measure} se"].fill_null(0) ** 2) * weight).sum() == pytest.approx(spread + nothing, abs=1e-9)


def test_average_precision_without_strata_takes_products_of_probabilities() -> None:
    found = ir.evaluate(RUNS, POOL.drop("stratum"), "AP").filter(query_id="d3+d5")
    assert found["AP"].round(6).item() == 0.786667


def test_a_sample_of_all_has_the_plain_figures() -> None:
    qrels = pl.DataFrame({"query_id": "q", "doc_id": list(GRADES), "relevance": list(GRADES.values())})
    measures = ["P@3", "P", "R@2", "AP", "AP@2", "nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@3", "DCG", "RBP(p=0.5)"]
    plain = ir.evaluate({"q": RUN}, qrels, measures)
    for stratum in ({}, {"stratum": pl.lit(1)}):
        found = ir.evaluate({"q": RUN}, qrels.with_columns(inclusion_probability=1, **stratum), measures)
        for name in plain.columns[1:]:
            assert found[name].item() == pytest.approx(plain[name].item(), abs=1e-12)
            assert found[f"{name} se"].item() == 0


def test_a_stratum_of_which_one_document_was_drawn_has_no_standard_error() -> None:
    qrels = POOL.filter(pl.col("query_id") == "d3+d4", pl.col("doc_id").is_in(["d1", "d2", "d3"]))
    qrels = qrels.with_columns(inclusion_probability=pl.when(stratum="A").then(1.0).otherwise(0.25))
    assert ir.evaluate(RUNS, qrels, "P@4", missing="skip").row(0) == ("d3+d4", 1.25, None)


def test_inferred_ndcg_has_one_document_of_each_lower_grade_beyond_its_depth() -> None:
    docs = [f"d{number:04}" for number in range(1010)]
    grades = [3] * 600 + [2] * 405 + [1] * 5
    qrels = pl.DataFrame({"query_id": "q", "doc_id": docs, "stratum": "s", "relevance": grades})
    (found,) = ir.evaluate({"q": docs}, qrels, "infNDCG")["infNDCG"]
    rank = pl.int_range(1, 1002, eager=True)
    discounts = 1 / (rank + 1).log(2)
    gains = pl.Series([3] * 600 + [2] * 400 + [1])
    assert found == pytest.approx((gains * discounts).head(1000).sum() / (gains * discounts).sum(), abs=1e-12)


@pytest.mark.parametrize("measures", [[*MEASURES, "RBP"], ["xinfAP", "infNDCG"]])
def test_figures_are_the_same_in_plans_in_any_order_and_for_several_systems(measures) -> None:
    run = pl.DataFrame(
        {"run": system, "query_id": query, "doc_id": doc, "score": -float(at)}
        for system, ranking in (("a", RUN), ("b", RUN[::-1]))
        for query in RUNS
        for at, doc in enumerate(ranking)
    )
    wanted = ir.evaluate(run, POOL, measures)
    assert_frame_equal(wanted.filter(run="a").drop("run"), ir.evaluate(RUNS, POOL, measures))
    shuffled = POOL.sample(fraction=1, shuffle=True, seed=1)
    for given, qrels in (
        (run.sample(fraction=1, shuffle=True, seed=2), shuffled),
        (run.lazy(), POOL.lazy()),
        (run.lazy(), POOL),
    ):
        found = ir.evaluate(given, qrels, measures).lazy().collect()
        assert_frame_equal(found, wanted, check_exact=True)
    of_pandas = ir.evaluate(run.to_pandas(), POOL.to_pandas(), measures)
    assert of_pandas[measures[0]].to_list() == wanted[measures[0]].to_list()


def test_what_a_sample_has_no_estimate_of_is_an_error() -> None:
    for measure in ("RR", "infAP", "bpref", (1 / ir.rank).max().alias("mine")):
        with pytest.raises(MeasureError, match="has no estimate from one: P, NumRel, DCG, RBP, R, AP, nDCG have"):
            ir.evaluate(RUNS, POOL, measure)
    own = (1 / pl.col("inclusion_probability")).filter(ir.relevant()).sum().alias("mine")
    assert ir.evaluate(RUNS, POOL, own)["mine"].to_list() == [3, 5, 5, 3, 3, 5]
    for measure in ("AP(denominator='k')@3", "nDCG(denominator='k')@3"):
        with pytest.raises(MeasureError, match="takes no denominator='k'"):
            ir.evaluate(RUNS, POOL, measure)
    for options in ({"ties": "expected"}, {"bounds": True}, {"judged_only": True}, {"ties": "best"}):
        with pytest.raises(OptionError, match="does not go with judgments that are a sample"):
            ir.evaluate(RUNS, POOL, "P@4", **options)


@pytest.mark.parametrize("probability", [0.0, -0.5, 1.5, float("nan"), None])
def test_what_is_no_probability_is_an_error(probability) -> None:
    chance = pl.when(pl.col("doc_id") == "d1").then(pl.lit(probability, pl.Float64)).otherwise(PROBABILITY)
    qrels = POOL.with_columns(chance.alias(PROBABILITY)).drop("stratum")
    with pytest.raises(DataError, match="has 6 rows whose 'inclusion_probability' is not above 0 and at most 1"):
        ir.evaluate(RUNS, qrels, "P@4")
    plan = ir.evaluate(pl.LazyFrame({"query_id": "d3+d4", "doc_id": RUN, "score": 1.0}), qrels.lazy(), "P@4")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="'inclusion_probability' is not above 0 and at most"):
        plan.collect()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"inclusion_probability": pl.lit("half")}, "'inclusion_probability' must be numbers"),
        ({"stratum": pl.lit(None, pl.String)}, "has 36 rows whose 'stratum' is null"),
        ({"stratum": pl.lit("A")}, "of strata with several 'inclusion_probability'"),
    ],
)
def test_what_is_no_sample_is_an_error(columns, message) -> None:
    with pytest.raises(ir.IRError, match=message):
        ir.evaluate(RUNS, POOL.with_columns(**columns), "P@4")


def test_inferred_figures_need_the_pool() -> None:
    with pytest.raises(DataError, match="of strata without the documents that were not drawn"):
        ir.evaluate(RUNS, POOL.filter(pl.col("relevance") >= 0), "xinfAP")
    with pytest.raises(ColumnError, match="'stratum'"):
        ir.evaluate(RUNS, POOL.drop("stratum", "inclusion_probability"), "xinfAP")
    with pytest.raises(MeasureError, match="'xinfAP' counts the strata of the pool; the judgments have no column"):
        ir.evaluate(RUNS, POOL.drop("stratum"), "xinfAP")
    with pytest.raises(DataError, match="give each document one stratum"):
        ir.evaluate(RUNS, pl.concat([POOL, POOL.with_columns(stratum=pl.lit("C"))]), "xinfAP")


def test_a_run_with_grades_of_its_own_can_be_a_sample() -> None:
    labelled = pl.DataFrame({"query_id": "d3+d5", "doc_id": RUN, "score": [5.0, 4, 3, 2, 1]}).join(
        POOL.filter(pl.col("relevance") >= 0), on=["query_id", "doc_id"], how="left"
    )
    found = ir.evaluate(labelled, ["P@4", "DCG@5"])
    wanted = ir.evaluate(RUNS, POOL, ["P@4", "DCG@5"]).filter(query_id="d3+d5")
    assert_frame_equal(found, wanted)


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_a_stratum_without_a_judged_document_has_no_gain(kind) -> None:
    columns = {"query_id": ["q", "r"], "doc_id": ["d1", "d2"], "stratum": ["1", "1"], "relevance": [1, -1]}
    run = kind({"query_id": ["q", "r"], "doc_id": ["d1", "d2"], "score": [1.0, 1.0]})
    found = ir.evaluate(run, kind(columns), ["infNDCG", "xinfAP"]).lazy().collect()
    assert found.sort("query_id").rows() == [("q", 1.0, 1.0), ("r", 0.0, 0.0)]


def _inferred(ranking: list[str], pool: dict[str, tuple[str, int]]) -> tuple[float, float]:
    """The inferred AP and nDCG of a small pool, document by document."""
    by_stratum = {name: [doc for doc in pool if pool[doc][0] == name] for name, _ in pool.values()}
    judged = {name: [doc for doc in docs if pool[doc][1] >= 0] for name, docs in by_stratum.items()}
    gains = {doc: grade for doc, (_, grade) in pool.items() if grade > 0}
    weight = {doc: len(by_stratum[pool[doc][0]]) / len(judged[pool[doc][0]]) for doc in gains}
    ap = dcg = 0.0
    for at, doc in enumerate(ranking, 1):
        if doc not in gains:
            continue
        expected = 1.0
        for docs in by_stratum.values():
            seen = [other for other in ranking[: at - 1] if other in docs]
            hits, n = sum(other in gains for other in seen), sum(pool[other][1] >= 0 for other in seen)
            expected += len(seen) * (hits + 1e-5) / (n + 3e-5)
        ap += weight[doc] * expected / at
        found = [other for other in ranking if other in by_stratum[pool[doc][0]]]
        dcg += len(found) / sum(pool[other][1] >= 0 for other in found) * gains[doc] / log2(at + 1)
    best: list[int] = []
    for grade in sorted(set(gains.values()), reverse=True):
        best += [grade] * int(sum(weight[doc] for doc in gains if gains[doc] == grade) + 0.5 + 1e-9)
    ideal = sum(gain / log2(at + 1) for at, gain in enumerate(best, 1))
    return (ap / sum(weight.values()), dcg / ideal) if gains else (0.0, 0.0)


def test_random_pools_have_the_figures_of_the_definition() -> None:
    source = Random(7)
    pools = {
        f"q{number:02}": {f"d{doc}": (source.choice("abc"), source.choice([-1, -1, 0, 1, 2])) for doc in range(9)}
        for number in range(40)
    }
    rankings = {query: source.sample([f"d{doc}" for doc in range(11)], 7) for query in pools}
    rows = [(query, doc, *its) for query, pool in pools.items() for doc, its in pool.items()]
    qrels = pl.DataFrame(rows, schema=["query_id", "doc_id", "stratum", "relevance"], orient="row")
    lacking = pl.col("relevance").max().over("query_id", "stratum") < 0
    assert qrels.filter(lacking).height
    found = ir.evaluate(rankings, qrels, ["xinfAP", "infNDCG"])
    for query, *values in found.rows():
        assert values == pytest.approx(_inferred(rankings[query], pools[query]), abs=1e-12)


#: Judgments of strata whose probabilities are not said.
STRATA = POOL.drop("inclusion_probability")


@pytest.mark.parametrize("run_kind", [pl.DataFrame, pl.LazyFrame])
@pytest.mark.parametrize("qrels_kind", [pl.DataFrame, pl.LazyFrame])
def test_a_measure_of_the_whole_pool_is_told_of_strata_that_are_a_sample(run_kind, qrels_kind) -> None:
    run = run_kind({"query_id": "d3+d5", "doc_id": RUN, "score": [5.0, 4, 3, 2, 1]})
    qrels = qrels_kind(STRATA.filter(query_id="d3+d5").to_dict(as_series=False))
    with pytest.warns(ir.IRWarning, match="'AP', 'RR'.*Take xinfAP or infNDCG, which read the strata.$"):
        ir.evaluate(run, qrels, ["AP", "RR", "xinfAP"]).lazy().collect()
    # Neither are measures that know of documents that were not judged, nor pools that were judged whole.
    ir.evaluate(run, qrels, ["xinfAP", "infNDCG", "infAP", "bpref", "NumRet"]).lazy().collect()
    ir.evaluate(run, qrels.filter(pl.col("relevance") >= 0), "AP").lazy().collect()


def test_what_has_no_estimate_refuses_a_sample() -> None:
    runs = {"a": RUNS, "b": {query: documents[::-1] for query, documents in RUNS.items()}}
    calls = [
        lambda qrels, measure: ir.explain(RUNS, qrels, measure, query_id="d3+d5"),
        lambda qrels, measure: ir.judge_next(runs, qrels, measure),
        lambda qrels, measure: ir.tune_fusion(runs, qrels, measure=measure, folds=2),
        lambda qrels, measure: ir.rerank_gain(RUNS, runs["b"], qrels, measure),
    ]
    for call in calls:
        with pytest.raises(ColumnError, match="are a sample, as 'inclusion_probability' says"):
            call(POOL, "AP")
    for call in calls[1:]:
        with pytest.raises(MeasureError, match="'stratum' of the pool"):
            call(STRATA, "xinfAP")
    explained = calls[0](STRATA, "xinfAP")
    assert explained["contribution"].sum() == pytest.approx(WORKED["d3", "d5"][6], abs=1e-6)


def test_a_probability_that_the_pool_contradicts_is_an_error() -> None:
    wrong = POOL.with_columns(inclusion_probability=pl.when(stratum="A").then(1.0).otherwise(0.25))
    with pytest.raises(
        DataError, match="has 12 rows of strata whose 'inclusion_probability' is not their judged share"
    ):
        ir.evaluate(RUNS, wrong, "P@4")
    with pytest.raises(DataError, match="whose 'inclusion_probability' stand for more than 10,000,000 documents"):
        ir.evaluate(RUNS, POOL.drop("stratum").with_columns(inclusion_probability=1e-9), "nDCG")
    run = pl.LazyFrame({"query_id": "d3+d4", "doc_id": RUN, "score": 1.0})
    with pytest.raises(pl.exceptions.InvalidOperationError, match="is not their judged share"):
        ir.evaluate(run, wrong.lazy(), "P@4").collect()


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, "pandas"])
def test_a_probability_in_another_spelling_is_an_error(kind) -> None:
    qrels = POOL.rename({PROBABILITY: "Inclusion_Probability"})
    run = pl.DataFrame({"query_id": "d3+d4", "doc_id": RUN, "score": 1.0})
    run, qrels = (frame.to_pandas() if kind == "pandas" else kind(frame) for frame in (run, qrels))
    with pytest.raises(ColumnError, match="a column 'Inclusion_Probability' is read as 'inclusion_probability' alone"):
        ir.evaluate(run, qrels, "P@4")


def test_inferred_figures_have_no_bounds_and_no_condensed_lists() -> None:
    for options in ({"bounds": True}, {"judged_only": True}):
        with pytest.raises(OptionError, match="does not go with judgments that are a sample, as their 'stratum' says"):
            ir.evaluate(RUNS, POOL.drop(PROBABILITY), "xinfAP", **options)


def test_sums_of_a_sample_with_nothing_relevant_are_0_and_ratios_are_undefined() -> None:
    grade = pl.when(query_id="d3+d5").then(pl.min_horizontal("relevance", 0)).otherwise("relevance")
    found = ir.evaluate(RUNS, POOL.with_columns(relevance=grade), [*MEASURES, "RBP"], undefined=None)
    found = found.filter(query_id="d3+d5")
    for name in ("P@4", "DCG@5", "NumRel", "RBP"):
        assert found.select(name, f"{name} se").unique().rows() == [(0.0, 0.0)]
    for name in ("AP", "R@4", "nDCG@5"):
        assert found.select(name, f"{name} se").unique().rows() == [(None, None)]
