"""The total gain and cost of readers: by hand, by the definition of C/W/L, and by cwl_eval."""

import polars as pl
import pytest
from generated import collection

import polars_ir as ir

HALF = pl.lit(0.5).alias("half")
SATISFIED = (1 - ir.gained).alias("satisfied")

#: Continuations that are evaluated in each of the ways there are, and the same of plain numbers.
MODELS = {
    "one chance": (pl.lit(0.7), lambda i, g, c: 0.7),
    "place": (ir.place / (ir.place + 1), lambda i, g, c: i / (i + 1)),
    "gain": (0.9 - 0.9 * ir.gained, lambda i, g, c: 0.9 - 0.9 * g),
    "all gains": (1 / (1 + ir.cumulated), lambda i, g, c: 1 / (1 + c)),
    "everything": (ir.place / (ir.place + 1 + ir.cumulated), lambda i, g, c: i / (i + 1 + c)),
}

# ruff: noqa: ARG005


def values(run: object, qrels: object, *measures: pl.Expr) -> tuple[float | None, ...]:
    return ir.evaluate(run, qrels, list(measures), undefined=None).row(0)[1:]


def test_worked_by_hand():
    # Seconds 9, 3 and none; the second document satisfies. Weights 1, 1/2, 1/4, ... of the impatient.
    run = pl.DataFrame({"query_id": "q", "doc_id": ["a", "b", "c"], "score": [3, 2, 1], "seconds": [9, 3, None]})
    seconds = pl.col("seconds")
    found = values(
        run,
        {"q": ["b"]},
        ir.expected_total_gain(continuation=HALF),
        ir.expected_total_cost(continuation=HALF, k=4),
        ir.expected_total_cost(continuation=HALF, cost=seconds, k=4),
        ir.expected_cost(continuation=HALF, cost=seconds, k=4),
        ir.expected_total_cost(continuation=SATISFIED, cost=seconds),
        ir.expected_cost(continuation=SATISFIED),
        ir.expected_total_gain(),
        ir.expected_total_cost(),
    )
    read, spent = 1 + 1 / 2 + 1 / 4 + 1 / 8, 9 + 3 / 2 + 1 / 4 + 1 / 8
    assert found == pytest.approx((0.5, read, spent, spent / read, 12, 1, 1, 1000), rel=1e-15)


@pytest.mark.parametrize("k", [3, 40])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.whole("many cases", quick=4)
def test_it_is_the_sum_over_positions(name, k):
    continuation, chance = MODELS[name]
    run, qrels = collection(8, queries=14)
    run = run.with_columns(
        score=pl.struct("score", "doc_id").rank("ordinal").over("query_id"), seconds=pl.col("score") / 4 + 0.5
    )
    model = {"continuation": continuation.alias("mine"), "k": k, "max_rel": 3}
    measures = [
        ir.expected_total_gain(**model),
        ir.expected_total_cost(**model),
        ir.expected_total_cost(cost=pl.col("seconds"), **model),
        ir.expected_cost(cost=pl.col("seconds"), **model),
        ir.user_model(**model),
    ]
    for query, *found in ir.evaluate(run, qrels, measures, undefined=None).iter_rows():
        grades = dict(qrels.filter(pl.col("query_id") == query).select("doc_id", "relevance").rows())
        ranking = run.filter(pl.col("query_id") == query).sort("score", descending=True).head(k)
        rows = [(min(max(grades.get(d, 0), 0), 3) / 3, s) for d, s in ranking.select("doc_id", "seconds").rows()]
        rows += [(0.0, 1.0)] * (k - len(rows))
        if max(grades.values()) <= 0:
            assert set(found) == {None}
            continue
        arrives, so_far, gained, read, spent = 1.0, 0.0, 0.0, 0.0, 0.0
        for place, (gain, cost) in enumerate(rows, 1):
            so_far += gain
            gained, read, spent = gained + arrives * gain, read + arrives, spent + arrives * cost
            arrives *= chance(place, gain, so_far)
        assert found == pytest.approx([gained, read, spent, spent / read, gained / read], rel=1e-12, abs=1e-15)


def test_cwl_eval_has_the_same_figures():
    cwl, numpy = pytest.importorskip("cwl.ruler.cwl_ruler"), pytest.importorskip("numpy")
    gains, costs = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [2.0, 3.0, 0.5, 4.0, 1.5, 2.5]
    documents = [f"d{i}" for i in range(6)]
    run = pl.DataFrame({"query_id": "q", "doc_id": documents, "score": [-i for i in range(6)], "cost": costs})
    qrels = {"q": ["d1", "d4"]}
    of_models = {
        # P@5 as a model: all go on to the fifth document, and nobody from there.
        "P": (cwl.PrecisionCWLMetric(5), (ir.place < 5).alias("five")),
        "RBP": (cwl.RBPCWLMetric(0.8), pl.lit(0.8).alias("patient")),
        "BPM": (cwl.BPMCWLMetric(T=2, K=100), ((ir.cumulated < 2) & (ir.place < 100)).alias("two")),
        "NERR8": (cwl.NERReq8CWLMetric(6), ((1 - ir.gained) * (ir.place < 6)).alias("satisfied")),
    }
    for model, (metric, continuation) in of_models.items():
        metric.measure(cwl.Ranking("q", numpy.array(gains), numpy.array(costs)))
        found = values(
            run,
            qrels,
            ir.user_model(continuation=continuation),
            ir.expected_total_gain(continuation=continuation),
            ir.expected_cost(continuation=continuation, cost=pl.col("cost")),
            ir.expected_total_cost(continuation=continuation, cost=pl.col("cost")),
            ir.expected_total_cost(continuation=continuation),
        )
        assert found == pytest.approx(metric.get_scores(), rel=1e-12), model


def test_a_cost_is_a_column_that_the_name_tells():
    measure = ir.parse("CWL_total_cost(cost=seconds)@10")
    assert measure.meta.eq(ir.expected_total_cost(cost=pl.col("seconds"), k=10))
    with pytest.raises(ir.IRError, match="CWL_cost: cost must be a column"):
        ir.expected_cost(cost=2)
    with pytest.raises(ir.IRError, match=r"CWL_total: continuation must be an expression of ir\.place"):
        ir.expected_total_gain(continuation=1 / ir.rank)


@pytest.mark.parametrize("continuation", [2 * ir.gained, 0.5 - ir.gained])
def test_a_continuation_that_gains_drive_out_of_bounds_is_an_error(continuation):
    measure = ir.expected_total_gain(continuation=continuation.alias("wrong"))
    with pytest.raises(ir.IRError, match="CWL_total: continuation must be between 0 and 1 at every position"):
        ir.evaluate({"q": ["a", "b"]}, {"q": ["a", "b"]}, measure)


def test_a_long_list_costs_no_more():
    found = values({"q": ["a"]}, {"q": ["a"]}, ir.expected_total_cost(k=10**9), ir.expected_total_gain(k=10**9))
    assert found == (10**9, 1.0)
    found = values({"q": ["x"]}, {"q": {"x": 0, "a": 1}}, ir.expected_total_cost(continuation=HALF))
    assert found == (pytest.approx(2.0, rel=1e-15),)
