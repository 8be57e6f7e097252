"""Readers who go on by chance: C/W/L."""

import math

import polars as pl
import pytest
from generated import as_dicts, collection, collections, qrels_frame, run_frame
from hypothesis import given
from messages import message_of
from referred import TOLERANCE, assert_agree, by_ir_measures, expected_gain
from suite import examples

import polars_ir as ir
from polars_ir.language.measures.positions import cumulated, gained, place

pytestmark = pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")

# fmt: off
CWL_EVAL = [
    "SDCG@1", "SDCG@3", "SDCG@1000", "BPM@1", "BPM@3", "BPM@1000", "NERR8@1", "NERR8@3", "NERR8@1000", "NERR9@1",
    "NERR9@3", "NERR9@1000", "INST", "INSQ", "NERR10", "NERR11", "BPM(T=2.5)@10", "INST(T=0.3)", "INST(T=2.5)",
    "INSQ(T=0.1)", "INSQ(T=2.5)", "NERR10(p=0.01)", "NERR10(p=0.5)", "NERR10(p=0.99)", "NERR11(T=0.1)", "NERR11(T=2.5)",
]
# fmt: on

GRADES = ["max_rel=1", "max_rel=3", "min_rel=1,max_rel=3"]

# ruff: noqa: ARG005
#: Continuations as users write them, and the same of plain numbers: position, gain, gains so far.
CONTINUATIONS = {
    "sure": (None, lambda i, g, c: 1.0),
    "constant": (pl.lit(0.7), lambda i, g, c: 0.7),
    "of the place": (place / (place + 1), lambda i, g, c: i / (i + 1)),
    "a cutoff": (place < 4, lambda i, g, c: float(i < 4)),
    "of the gain": (0.9 - 0.9 * gained, lambda i, g, c: 0.9 - 0.9 * g),
    "only after a gain": (gained, lambda i, g, c: g),
    "until a miss": ((gained > 0) & (place < 20), lambda i, g, c: float(g > 0 and i < 20)),
    "never": (place * 0, lambda i, g, c: 0.0),
    "of all gains": (1 / (1 + cumulated), lambda i, g, c: 1 / (1 + c)),
    "of everything": (
        pl.when(gained >= 0.5).then(0.3).otherwise(place / (place + 1 + cumulated)),
        lambda i, g, c: 0.3 if g >= 0.5 else i / (i + 1 + c),
    ),
}


def value(run: object, qrels: object, measure: str | pl.Expr, **options: object) -> float | None:
    """The figure of a single query."""
    return ir.evaluate(run, qrels, measure, **options).item(0, 1)


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        # The gains are 0, 1, 0, 1 and nothing from there on.
        ("SDCG@2", (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        # Stops after 1 gained: two documents read. Wants 2: four.
        ("BPM@10", 1 / 2),
        ("BPM(T=2)@10", 2 / 4),
        ("BPM(T=2)@3", 1 / 3),
        # Weights 1, 1, 0: the second document satisfies.
        ("NERR8@10", 1 / 2),
        # Weights 1, 1/2, 0.
        ("NERR9@10", (1 / 2) / (3 / 2)),
        # Weights 1, 1/2, 0.
        ("NERR10(p=0.5)", (1 / 2) / (3 / 2)),
        # Weights 1, (2/3)^2, 0.
        ("NERR11", (4 / 9) / (13 / 9)),
        # Every reader reads them all.
        ("CWL@4", 2 / 4),
        ("CWL", 2 / 1000),
    ],
)
def test_worked_by_hand(measure, wanted):
    assert value({"q": list("abcd")}, {"q": ["b", "d"]}, measure) == pytest.approx(wanted, abs=1e-15, rel=0)


def test_inst_worked_by_hand():
    # Of a list with one gain at the top, the weights from there on are 1/i^2: i + 2T - G is i + 1.
    weights = [1 / i**2 for i in range(1, 1001)]
    assert value({"q": ["a"]}, {"q": ["a"]}, "INST") == pytest.approx(1 / math.fsum(weights), abs=1e-15, rel=0)


def test_gains_lie_between_the_lowest_and_the_highest_grade():
    run = {"q": ["a"]}
    for grade, gain in ((-1, 0), (0, 0), (1, 0), (2, 0.5), (2.5, 0.75), (3, 1), (9, 1)):
        qrels = {"q": {"a": grade, "z": 3}}
        assert value(run, qrels, "CWL(min_rel=1,max_rel=3)@1") == gain
        assert value(run, qrels, "SDCG(dcg='exp-log2',min_rel=1,max_rel=3)@1") == (2 ** (2 * gain) - 1) / 3


@pytest.mark.parametrize("depth", [5, 1000])
@pytest.mark.parametrize("name", CONTINUATIONS)
@examples(5)
@given(collections(grades=(-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0)))
@pytest.mark.whole("a model a case", quick=5)
def test_a_model_of_ones_own_is_its_formula(name, depth, run_and_qrels):
    run, qrels = run_and_qrels
    continuation, chance = CONTINUATIONS[name]
    measure = ir.user_model(continuation=continuation, k=depth, max_rel=3)
    for query, figure in ir.evaluate(run_frame(run), qrels_frame(qrels), measure).iter_rows():
        ranking = sorted(run.get(query, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        gains = [min(max(qrels[query].get(document, 0), 0), 3) / 3 for document, _ in ranking]
        assert figure == pytest.approx(expected_gain(gains, chance, depth), abs=TOLERANCE, rel=0)


def with_grades(name: str, grades: str) -> str:
    """A name with the parameters that tell the lowest and the highest grade."""
    head, at, k = name.partition("@")
    return (f"{head[:-1]},{grades})" if head.endswith(")") else f"{head}({grades})") + at + k


def assert_cwl_eval_agrees(run, qrels, grades: str) -> None:
    pytest.importorskip("cwl")
    names = [with_grades(name, grades) for name in CWL_EVAL]
    assert_agree(run, qrels, [ir.parse(name).alias(name) for name in names], by_ir_measures(run, qrels, names))


@pytest.mark.parametrize("grades", GRADES)
@examples(10)
@given(collections(grades=(-1, 0, 1, 2, 3, 4), ties=False))
@pytest.mark.whole("a second a case", quick=1)
def test_cwl_eval_has_the_same_figures(grades, run_and_qrels):
    """Without ties, which it leaves in the order of the input."""
    assert_cwl_eval_agrees(*run_and_qrels, grades)


@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("depth", [30, 1500])
@pytest.mark.whole("half a second a case", quick=1)
def test_cwl_eval_has_the_same_figures_of_long_lists(depth, grades):
    run, qrels = collection(31, depth=depth, queries=14)
    run = run.with_columns(score=run["score"].rank("ordinal").cast(pl.Float64))
    assert_cwl_eval_agrees(as_dicts(run, "score"), as_dicts(qrels, "relevance"), grades)


@pytest.mark.whole("a second")
def test_a_model_that_stops_is_expected_to_have_read_to_there():
    run, qrels = collection(32, depth=1500)
    stops = ir.user_model(continuation=(cumulated < 2).alias("stops"), k=100, max_rel=3).alias("BPM")
    assert ir.evaluate(run, qrels, stops).equals(
        ir.evaluate(run, qrels, ir.bejeweled_player(k=100, T=2, max_rel=3).alias("BPM"))
    )


def test_the_name_of_a_continuation_stands_in_the_name_of_the_measure():
    measure = ir.user_model(continuation=(1 / place).alias("hasty"), k=20)
    assert measure.meta.output_name() == "CWL(continuation=hasty)@20"


def test_models_are_undefined_only_where_no_document_has_a_gain():
    qrels = {"1": {"a": 0, "b": -1}, "2": {"z": 1}, "3": {"z": 1}}
    measures = [ir.parse(name) for name in CWL_EVAL]
    found = ir.evaluate({"1": ["a"], "2": ["a"]}, qrels, [*measures, ir.user_model()], undefined=None)
    assert {value for column in found.drop("query_id") for value in [tuple(column)]} == {(None, 0.0, 0.0)}


ALONE = "CWL: continuation must be an expression of ir.place, ir.gained and ir.cumulated alone; got "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.user_model(continuation=1 / ir.rank), f"{ALONE}['rank']."),
        (lambda: ir.user_model(continuation=pl.field("cost")), ALONE),
        (lambda: ir.user_model(continuation=pl.lit("0.5")), ALONE),
        (lambda: ir.user_model(continuation=1 - place / place.max()), "whatever stands at others; got "),
        (lambda: ir.user_model(continuation=1 - gained.cum_sum()), "whatever stands at others; got "),
        (lambda: ir.user_model(continuation=gained.shift(1, fill_value=0)), "whatever stands at others; got "),
        (lambda: ir.user_model(continuation=1 - place / 10), "between 0 and 1 at every position; got "),
        (lambda: ir.user_model(continuation=pl.lit(None)), "between 0 and 1 at every position; got "),
        (lambda: ir.user_model(continuation=(place - 5).sqrt() * 0), "between 0 and 1 at every position; got "),
        (lambda: ir.insq(min_rel=2, max_rel=2), "INSQ: max_rel must be above min_rel, 2; got 2."),
    ],
)
def test_what_is_no_model_is_an_error(call, message):
    assert message in message_of(call)


@pytest.mark.parametrize("continuation", [2 * gained, 0.5 - gained, cumulated * 0.6, 1 / (1 - cumulated)])
def test_a_continuation_that_gains_drive_out_of_bounds_is_an_error(continuation):
    measure = ir.user_model(continuation=continuation.alias("wrong"))
    with pytest.raises((ir.IRError, pl.exceptions.InvalidOperationError), match="continuation must be between 0 and 1"):
        ir.evaluate({"q": ["a", "b"]}, {"q": ["a", "b"]}, measure)


def test_readers_of_a_lazy_run_are_the_same():
    run, qrels = collection(33)
    measures = [ir.parse(name) for name in CWL_EVAL]
    eager = ir.evaluate(run, qrels, measures)
    for engine in ("in-memory", "streaming"):
        assert ir.evaluate(run.lazy(), qrels.lazy(), measures).collect(engine=engine).equals(eager)
