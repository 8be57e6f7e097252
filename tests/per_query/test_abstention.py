"""Confidence of a run in its queries, and the gain of leaving out the unsure ones."""

import math
import random
import statistics
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import message_of

import polars_ir as ir


def frame(values: dict[str, list]) -> pl.DataFrame:
    """A per-query frame; its queries are in the order of their ids."""
    n = len(next(iter(values.values())))
    return pl.DataFrame({"query_id": [f"q{i:03}" for i in range(n)], **values})


def mtebs_curve(confidences: list[float], values: list[float]) -> list[float]:
    """The abstention curve of MTEB (mteb/_evaluators/retrieval_metrics.py, nauc), over queries in the order given."""
    rates = [i * 0.1 for i in range(10)]
    order = sorted(range(len(values)), key=lambda i: confidences[i])  # stable, as numpy's since 2.0
    left_out = [min(round(rate * len(values)), len(values) - 1) for rate in rates]
    return [statistics.fmean(values[i] for i in order[n:]) for n in left_out]


def mtebs_nauc(confidences: list[float], values: list[float]) -> float | None:
    """The normalised area of MTEB; None for its NaN."""

    def area(curve: list[float]) -> float:
        return sum((a + b) / 2 * 0.1 for a, b in pairwise(curve))

    curve, oracle = mtebs_curve(confidences, values), mtebs_curve(values, values)
    flat = oracle[0] * 0.9
    # MTEB compares the areas; where all values are equal, whether they are is a matter of rounding.
    if len(set(values)) == 1:
        return None
    return (area(curve) - flat) / (area(oracle) - flat)


def nauc(per_query: pl.DataFrame, confidence: object) -> float | None:
    return ir.abstention(per_query, confidence)["nAUC"].item()


def test_an_area_by_hand():
    # Two queries, 1.0 and 0.0. round(2 * rate) leaves out 0, 0, 0, 1, 1, 1, 1, 1 (at most all but one), 1, 1 of them.
    # Oracle: 0.5 three times, then 1.0: area (0.5 * 3 + 1 * 7) - (0.5 + 1) / 2 = 7.75; flat 0.5 * 9 = 4.5.
    # The other way round: 0.5 three times, then 0: area 1.5 - 0.25 = 1.25, and (1.25 - 4.5) / (7.75 - 4.5) = -1.
    values = frame({"RR": [1.0, 0.0], "right": [0.9, 0.1], "wrong": [0.1, 0.9]})
    found = ir.abstention(values, ["right", "wrong"])
    assert found.rows() == [("RR", "right", 1.0), ("RR", "wrong", -1.0)]


def test_an_area_in_between_by_hand():
    # Values 0, 1, 1 in the order of confidence 2, 1, 3: the curve leaves out q1 first (rate 0.2 of 3 is 0.6: one), then
    # q0 (0.5 * 3 is 1.5, to the even 2): 2/3, 2/3, then 1/2 three times (0.2, 0.3, 0.4), then 1 five times.
    # Area: sum 2 * 2/3 + 3/2 + 5 less (2/3 + 1) / 2 = 7; oracle: 2/3 twice, 1 eight times, less 5/6: 8.5; flat 6.
    assert nauc(frame({"RR": [0.0, 1.0, 1.0], "c": [2, 1, 3]}), "c") == pytest.approx((7 - 6) / (8.5 - 6), rel=1e-14)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.5]), st.floats(0, 1, allow_subnormal=False)),
        min_size=1,
        max_size=37,
    )
)
def test_areas_are_mtebs_also_with_tied_confidences(rows):
    confidences, values = [row[0] for row in rows], [round(row[1], 3) for row in rows]
    wanted = mtebs_nauc(confidences, values)
    found = nauc(frame({"RR": values, "c": confidences}), "c")
    assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-9, abs=1e-9))


@pytest.mark.parametrize("n", [1, 2, 5, 10, 15, 25, 35, 45, 50, 1000])
def test_areas_are_mtebs_whatever_the_rounding_of_the_rates(n):
    source = random.Random(n)
    values, confidences = [source.random() for _ in range(n)], [source.random() for _ in range(n)]
    wanted = mtebs_nauc(confidences, values)
    found = nauc(frame({"RR": values, "c": confidences}), "c")
    assert found == (None if wanted is None else pytest.approx(wanted, rel=1e-11, abs=1e-11))


def test_an_evaluated_run_has_the_areas_of_mteb():
    source = random.Random(7)
    run = {f"q{i:02}": {f"d{j}": round(source.random(), 2) for j in range(source.randint(1, 9))} for i in range(60)}
    qrels = {query: {"d0": 1, "d3": 2, "d5": 0} for query in run}
    per_query = ir.evaluate(run, qrels, ["nDCG@5", "R@3"])
    scores = [list(documents.values()) for documents in run.values()]
    # confidence_scores of MTEB: numpy's std is that of a population.
    signals = {
        "max": [max(of_query) for of_query in scores],
        "std": [statistics.pstdev(of_query) for of_query in scores],
        "diff1": [(s := sorted(q, reverse=True))[0] - s[1] if len(q) > 1 else 0.0 for q in scores],
    }
    sure = ir.confidence(run)
    for name, values in signals.items():
        assert sure[name].to_list() == pytest.approx(values, rel=1e-13, abs=1e-16)
    found = ir.abstention(per_query, sure)
    # Signals that differ by rounding alone would be ordered differently: the areas are of the same ones.
    wanted = [mtebs_nauc(sure[name].to_list(), per_query[m].to_list()) for m in ("nDCG@5", "R@3") for name in signals]
    assert found["nAUC"].to_list() == pytest.approx(wanted, rel=1e-10)
    assert found.select("measure", "confidence").rows() == [(m, c) for m in ("nDCG@5", "R@3") for c in signals]


def test_of_equal_confidences_the_lower_id_goes_first_whatever_the_order_of_the_rows():
    per_query = frame({"RR": [0.0, 1.0, 1.0, 1.0], "c": [1, 1, 1, 1]})
    assert nauc(per_query, "c") == 1.0
    assert nauc(per_query.reverse(), "c") == 1.0
    assert nauc(frame({"RR": [1.0, 1.0, 1.0, 0.0], "c": [1, 1, 1, 1]}), "c") < 0


@pytest.mark.parametrize("values", [[0.3] * 5, [0.1], [0.7] * 33])
def test_equal_values_leave_nothing_to_gain(values):
    assert nauc(frame({"RR": values, "c": list(range(len(values)))}), "c") is None


def test_undefined_values_are_not_part_of_a_curve():
    whole = frame({"RR": [1.0, None, 0.0, None, 0.5], "c": [3.0, 9.0, 1.0, 0.0, 2.0]})
    assert nauc(whole, "c") == nauc(whole.filter(pl.col("RR").is_not_null()), "c") == 1.0
    assert nauc(frame({"RR": [None, None], "c": [1, 2]}).with_columns(pl.col("RR").cast(pl.Float64)), "c") is None


def test_a_cost_is_worst_where_it_is_highest():
    per_query = frame({"Hole@10": [0.0, 1.0, 0.5], "c": [3, 1, 2]})
    assert nauc(per_query, "c") == 1.0
    assert nauc(per_query.rename({"Hole@10": "mine"}), "c") < 0


def test_counts_and_booleans_are_measures_too():
    per_query = frame({"NumRet": [3, 0, 1], "ok": [True, False, False], "c": [3, 1, 2]})
    assert ir.abstention(per_query, "c")["nAUC"].to_list() == [1.0, 1.0]


def test_systems_are_apart():
    one, two = frame({"RR": [1.0, 0.0], "c": [2, 1]}), frame({"RR": [0.0, 1.0], "c": [2, 1]})
    both = pl.concat([one.with_columns(run=pl.lit("b")), two.with_columns(run=pl.lit("a"))])
    assert ir.abstention(both, "c").rows() == [("a", "RR", "c", -1.0), ("b", "RR", "c", 1.0)]


def test_confidences_are_of_a_system_or_of_all():
    per_query = pl.concat([frame({"RR": [1.0, 0.0]}).with_columns(run=pl.lit(name)) for name in "ab"])
    shared = frame({"c": [2, 1]})
    assert ir.abstention(per_query, shared)["nAUC"].to_list() == [1.0, 1.0]
    of_each = pl.concat([shared.with_columns(run=pl.lit("a")), frame({"c": [1, 2]}).with_columns(run=pl.lit("b"))])
    assert ir.abstention(per_query, of_each)["nAUC"].to_list() == [1.0, -1.0]


def test_a_confidence_can_have_the_name_of_a_measure_and_more_queries():
    sure = frame({"RR": [2, 1, 7]})
    assert ir.abstention(frame({"RR": [1.0, 0.0]}), sure).rows() == [("RR", "RR", 1.0)]


def test_the_query_column_can_be_called_otherwise_on_each_side():
    sure = frame({"c": [2, 1]}).rename({"query_id": "qid"})
    assert nauc(frame({"RR": [1.0, 0.0]}).rename({"query_id": "topic"}), sure) == 1.0


def test_nothing_evaluated_has_no_area():
    assert ir.abstention(frame({"RR": [1.0], "c": [1]}).clear(), "c").rows() == []


def test_confidences_of_systems_by_hand():
    runs = {"b": {"q": {"d1": 3, "d2": 1}}, "a": {"q": {"d1": -1.5}}}
    found = ir.confidence(runs)
    assert found.columns == ["run", "query_id", "max", "std", "diff1"]
    # Of 3 and 1: mean 2, deviations 1 and 1.
    assert found.rows() == [("a", "q", -1.5, 0.0, 0.0), ("b", "q", 3.0, 1.0, 2.0)]


def test_equal_scores_at_the_top_leave_no_difference():
    assert ir.confidence({"q": {"d1": 2.0, "d2": 2.0, "d3": 0.5}})["diff1"].item() == 0.0


def test_the_query_column_keeps_its_name():
    run = pl.DataFrame({"qid": [7], "docno": ["d"], "score": [1]})
    assert ir.confidence(run).rows(named=True) == [{"qid": 7, "max": 1.0, "std": 0.0, "diff1": 0.0}]


GOOD = frame({"RR": [1.0, 0.0], "c": [2.0, 1.0], "text": ["x", "y"]})
SURE = GOOD.select("query_id", "c")


@pytest.mark.parametrize(
    ("per_query", "confidence", "words"),
    [
        (GOOD, "d", ["'d'", "There are 'RR', 'c', 'text'"]),
        (GOOD, "query_id", ["must name a column"]),
        (GOOD, [], ["at least one"]),
        (GOOD, "text", ["'text'", "numbers"]),
        (GOOD.select("query_id", "c"), "c", ["no measure"]),
        (GOOD, SURE.head(1), ["1 row without a value of confidence", "q001", "leave those rows out"]),
        (GOOD, SURE.with_columns(c=pl.lit(float("nan"))), ["2 rows without a value", "NaN"]),
        (GOOD, SURE.with_columns(c=pl.lit(None, pl.Float64)), ["2 rows without a value", "null"]),
        (GOOD, pl.concat([SURE, SURE.head(1)]), ["confidence has 2 rows that repeat", "q000"]),
        (GOOD, SURE.rename({"query_id": "name"}), ["confidence has no 'query_id' column"]),
        (GOOD, SURE.select("query_id"), ["no column beside 'query_id'"]),
        (GOOD, SURE.with_columns(run=pl.lit("a")), ["for each system"]),
        (GOOD, SURE.with_columns(query_id=pl.Series([1, 2])), ["'query_id'", "String", "Cast one of them"]),
        (GOOD, 3, ["confidence must be a table"]),
    ],
)
def test_what_can_not_be_is_an_error_that_says_so(per_query, confidence, words):
    message = message_of(lambda: ir.abstention(per_query, confidence))
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize(
    "sure", [SURE.head(1), SURE.with_columns(c=pl.lit(float("nan"))), pl.concat([SURE, SURE])], ids=str
)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_plan_over_bad_confidences_fails_and_says_why(sure, engine):
    plan = ir.abstention(GOOD.lazy(), sure.lazy())
    with pytest.raises(pl.exceptions.InvalidOperationError, match="give each query one"):
        plan.select("confidence").collect(engine=engine)


@pytest.mark.parametrize("column", ["max", "std", "diff1"])
def test_a_plan_over_a_score_that_is_no_number_fails(column):
    run = pl.LazyFrame({"query_id": ["q", "q"], "doc_id": ["d", "e"], "score": [1.0, float("nan")]})
    with pytest.raises(pl.exceptions.InvalidOperationError, match="scores that are NaN"):
        ir.confidence(run).select(column).collect()


def test_confidences_that_differ_in_their_last_bits_are_equal():
    values = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "AP": [0.1, 0.9, 0.4, 0.6]})
    equal = pl.DataFrame({"query_id": ["a", "b", "c", "d"], "max": [0.3, 0.3, 0.3, 0.9]})
    nearly = equal.with_columns(max=pl.Series([0.1 + 0.2, 0.3, 0.3, 0.9]))
    assert ir.abstention(values, nearly).equals(ir.abstention(values, equal))


@pytest.mark.parametrize("sure", [0.3, 0.1234567890125, 1234567.890125, -0.3000000000005, 1e300])
def test_neighbours_of_a_confidence_are_equal_to_it(sure):
    # Rounded to twelve digits, some of these would be apart.
    values = frame({"AP": [0.1, 0.9, 0.4, 0.6, 0.2, 0.3]})
    equal = frame({"max": [sure] * 5 + [sure + abs(sure)]})
    near = [sure, math.nextafter(sure, math.inf), math.nextafter(sure, -math.inf), sure, math.nextafter(sure, math.inf)]
    nearly = frame({"max": [*near, sure + abs(sure)]})
    assert ir.abstention(values, nearly).equals(ir.abstention(values, equal))
    assert ir.abstention(values.lazy(), nearly.lazy()).collect().equals(ir.abstention(values, equal))


def test_infinite_confidences_are_the_highest_and_the_lowest():
    values = frame({"AP": [0.1, 0.9, 0.4, 0.6]})
    ranks = ir.abstention(values, frame({"max": [1.0, 4.0, 2.0, 4.0]}))
    infinite = ir.abstention(values, frame({"max": [-math.inf, math.inf, 0.0, math.inf]}))
    assert infinite.equals(ranks)


@pytest.mark.parametrize("n", [2, 3, 6, 10])
def test_equal_scores_have_no_deviation(n):
    runs = {str(score): {f"d{i}": score for i in range(n)} for score in (0.1, 0.3, 0.7, 1e17)}
    assert ir.confidence(runs)["std"].to_list() == [0.0] * 4
