"""`merge_calls`: the order of reading, against a list per query that is filled by hand."""

import random
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir

#: Call 1 has A x B, call 2 y A C; relevant are A, B and C.
CALLS = pl.DataFrame(
    {"query_id": "q", "step": [1, 1, 1, 2, 2, 2], "doc_id": [*"AxByAC"], "score": [3.0, 2.0, 1.0, 9.0, 8.0, 7.0]}
)
QRELS = {"q": ["A", "B", "C"]}


def test_the_worked_figures_of_two_calls():
    merged = CALLS.ir.merge_calls()
    assert merged["doc_id"].to_list() == [*"AxByC"]
    assert merged.ir.evaluate(QRELS, "NumRelRet", by="step").rows() == [(1, "q", 2), (2, "q", 1)]
    cumulative = CALLS.ir.merge_calls(cumulative=True)
    assert cumulative.ir.recall(QRELS, by="step")["R"].to_list() == pytest.approx([2 / 3, 1])
    assert CALLS.ir.merge_calls(k=2).ir.recall(QRELS)["R"].item() == pytest.approx(1 / 3)
    assert merged.ir.recall(QRELS, k=4)["R@4"].item() == pytest.approx(2 / 3)


def test_useless_documents_of_a_call_do_not_hide_the_next():
    run = pl.DataFrame(
        {"query_id": "q", "step": [1] * 10 + [2], "doc_id": [*"abcdefghijR"], "rank": [*range(1, 11), 1]}
    )
    assert run.ir.merge_calls(k=5).ir.rr({"q": ["R"]}, k=10)["RR@10"].item() == pytest.approx(1 / 6)


def drawn(seed: int) -> pl.DataFrame:
    """Calls of some questions and two systems, with gaps between steps, scores that tie, and rows in no order."""
    chance = random.Random(seed)
    rows = [
        (system, query, step, document, chance.randint(1, 3), chance.random())
        for system in "xy"
        for query in "pqr"
        for step in chance.sample(range(-3, 6), chance.randint(1, 3))
        for document in chance.sample("abcdef", chance.randint(1, 5))
    ]
    frame = pl.DataFrame(rows, ["run", "query_id", "step", "doc_id", "score", "cost"], orient="row")
    return frame.sample(fraction=1, shuffle=True, seed=seed)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("seed", range(4))
def test_calls_are_merged_as_by_hand(seed, k):
    run, once, upto = drawn(seed), [], []
    steps = sorted(set(run["step"]))
    for (system, query), calls in sorted(run.group_by("run", "query_id")):
        found: dict[str, tuple] = {}
        for step in steps:
            call = sorted(calls.filter(step=step).rows(named=True), key=lambda row: (row["score"], row["doc_id"]))
            for row in call[::-1][:k]:
                found.setdefault(row["doc_id"], (step, row["cost"]))
            upto += [(system, query, d, len(found) - n, step, cost) for n, (d, (_, cost)) in enumerate(found.items())]
        once += [(system, query, d, len(found) - n, *kept) for n, (d, kept) in enumerate(found.items())]
    for wanted, cumulative in ((once, False), (upto, True)):
        for asked in (run, run.lazy()):
            merged = ir.merge_calls(asked, k=k, cumulative=cumulative).lazy()
            for engine in ("in-memory", "streaming"):
                assert merged.collect(engine=engine).rows() == wanted


def test_steps_may_be_times_and_the_kind_stays():
    start = datetime(2026, 1, 1, tzinfo=UTC)
    times = CALLS.with_columns(step=pl.Series([start + timedelta(minutes=step) for step in CALLS["step"]]))
    assert times.ir.merge_calls().drop("step").equals(CALLS.ir.merge_calls().drop("step"))
    assert_frame_equal(pl.from_pandas(ir.merge_calls(CALLS.to_pandas())), CALLS.ir.merge_calls())


@pytest.mark.parametrize("to", [lambda run: run, lambda run: run.to_pandas()])
@pytest.mark.parametrize("steps", [[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.0, 1.5, 1.5, 1.5], [*"111222"]])
def test_steps_of_another_type_are_numbered_in_their_order(steps, to):
    run = to(CALLS.with_columns(step=pl.Series(steps)))
    with pytest.raises(ir.IRError) as error:
        ir.merge_calls(run)
    code = error.value.fix.code
    advised = code.polars if isinstance(run, pl.DataFrame) else code.pandas
    numbered = eval(advised, {"run": run, "pl": pl})  # noqa: S307  # as a user pastes it
    assert pl.DataFrame(ir.merge_calls(numbered))["doc_id"].to_list() == CALLS.ir.merge_calls()["doc_id"].to_list()


@pytest.mark.parametrize("steps", [[*"aaabbb"], [True] * 3 + [False] * 3, [1.0] * 3 + [float("nan")] * 3])
def test_steps_without_an_order_get_no_code(steps):
    with pytest.raises(ir.IRError, match=r"Number the calls of a query in their order\.$"):
        CALLS.with_columns(step=pl.Series(steps)).ir.merge_calls()
    with pytest.raises(ir.IRError, match=r"Number the calls of a query in their order\.$"):
        CALLS.with_columns(doc_id=pl.Series([*"123123"])).ir.merge_calls("doc_id")


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (CALLS.cast({"step": pl.String}), "'step' must be integers or times"),
        (CALLS.with_columns(step=pl.Series([1, None, 1, 2, 2, 2])), "whose 'step' is null"),
        (CALLS.with_columns(step=1), "repeat the ids of another"),
        (CALLS.with_columns(step=pl.lit("x")), "'step' must be integers or times"),
        (CALLS.drop("step"), "no column 'step' with the number or the time of each call"),
    ],
)
def test_steps_that_are_none_are_errors(run, says):
    with pytest.raises(ir.IRError, match=says):
        run.ir.merge_calls()
