"""Every place of the functions of Spark that makes an advice: it is provoked, followed as printed, and helps."""

# ruff: noqa: S102, S307  # what a message says is run as a user pastes it

from contextlib import suppress

import polars as pl
import pytest
from callers import advice_places, noting_advice
from on_spark import REMOTE

import polars_ir as ir
from polars_ir import spark as irs
from polars_ir.errors import IRError, Setting
from polars_ir.spark import tables

pytestmark = pytest.mark.whole("a session of Spark")

RUN = pl.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d1"], "score": [0.5, 0.4, 0.3]})
QRELS = pl.DataFrame({"qid": ["q1", "q2"], "docno": ["d2", "d1"], "rel": [1, 1]})
FIGURES = pl.DataFrame({"run": ["a", "a", "b", "b"], "qid": ["q1", "q2"] * 2, "RR": [0.5, 1.0] * 2})


def rr(run, **options):
    """The values of RR on Spark."""
    return sorted(row["RR"] for row in irs.evaluate(run, QRELS, "RR", **options).collect())


MANY = pl.concat(
    pl.DataFrame({"run": name, "qid": [f"q{number}" for number in range(200)]}).with_columns(
        RR=pl.Series([number * step % 53 / 53 for number in range(200)])
    )
    for name, step in (("a", 7), ("b", 11), ("old", 17))
)
WEIGHTS = pl.DataFrame({"qid": ["q1", "q2"], "asked": [1, 3]})


def weighted(per_query, weights):
    """The weighted mean RR on Spark, once the weights are joined."""
    joined = "asked" in per_query.columns
    return irs.mean(per_query, weights="asked" if joined else weights).collect()[0]["RR"]


def figures(to_spark):
    """The figures of one system on Spark."""
    return to_spark(FIGURES.filter(run="a").drop("run"))


#: The call, its tables, and the result once what is advised is done.
CASES = {
    "columns of one name": lambda to_spark: (
        rr,
        {"run": to_spark(RUN).selectExpr("*", "1 as price", "2 as Price")},
        [0.5, 1.0],
    ),
    "a column that is not sent": lambda to_spark: (
        rr,
        {"run": to_spark(RUN).selectExpr("*", "interval 1 year as age")},
        [0.5, 1.0],
    ),
    "a frame of Polars": lambda _: (rr, {"run": RUN}, [0.5, 1.0]),
    "a frame of pandas": lambda _: (rr, {"run": RUN.to_pandas()}, [0.5, 1.0]),
    "a frame of Spark elsewhere": lambda to_spark: (
        lambda run: ir.evaluate(run, QRELS, "RR")["RR"].to_list(),
        {"run": to_spark(RUN)},
        [0.5, 1.0],
    ),
    "weights in memory": lambda to_spark: (weighted, {"per_query": figures(to_spark), "weights": WEIGHTS}, 0.875),
    "weights of pandas": lambda to_spark: (
        weighted,
        {"per_query": figures(to_spark), "weights": WEIGHTS.to_pandas()},
        0.875,
    ),
    "weights of Spark": lambda to_spark: (
        weighted,
        {"per_query": figures(to_spark), "weights": to_spark(WEIGHTS)},
        0.875,
    ),
    "figures of two systems": lambda to_spark: (
        lambda new, old: len(irs.gate(new, old, "RR").collect()),
        {"new": to_spark(MANY.filter(pl.col("run") != "old")), "old": to_spark(MANY.filter(run="old").drop("run"))},
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_advised_helps(session, to_spark, name):
    call, given, right = CASES[name](to_spark)
    with pytest.raises(IRError) as raised:
        call(**given)
    code = raised.value.caller.code(raised.value.fix)
    assert f": {code}." in str(raised.value)
    table = next(table for table in given if code.startswith(f"{table}.") or f"({table}" in code)
    better = eval(code, {"pl": pl, "session": session, **given})
    if not isinstance(better, type(given[table])) and isinstance(better, type(QRELS.to_arrow())):
        better = pl.from_arrow(better)
    assert call(**given | {table: better}) == right


def of_people(to_spark):
    """A mean with people's figures beside a Spark frame."""
    per_query = figures(to_spark)
    people = per_query.limit(1)
    with pytest.raises(IRError) as raised:
        irs.mean(per_query, reference=people)
    return raised.value, {"per_query": per_query, "people": people}


def test_figures_of_people_are_taken_to_this_machine_as_advised(to_spark):
    error, given = of_people(to_spark)
    assert len(eval(error.caller.code(error.fix), {"polars_ir": ir, **given})["RR"]) == 1


@pytest.mark.parametrize("setting", tables.LOSSY)
def test_a_setting_is_made_as_advised(session, to_spark, setting):
    run = to_spark(RUN)
    session.conf.set(setting, "true")
    with pytest.raises(IRError) as raised:
        rr(run)
    exec(raised.value.caller.code(raised.value.fix), {"session": session})
    assert rr(run) == [0.5, 1.0]


def broadcast_too_large(to_spark, monkeypatch):
    """The error of judgments that are too large to be broadcast."""
    with monkeypatch.context() as patch:
        patch.setattr(tables, "LARGEST_BROADCAST", 1)
        with pytest.raises(IRError) as raised:
            irs.evaluate(to_spark(RUN), to_spark(QRELS), "RR", broadcast=True)
    return raised


@pytest.mark.skipif(REMOTE, reason="Spark Connect does not tell the size of a table")
def test_an_option_is_given_as_advised(to_spark, monkeypatch):
    raised = broadcast_too_large(to_spark, monkeypatch)
    assert isinstance(raised.value.fix.code, Setting)
    typed = raised.value.caller.setting(raised.value.fix.code)
    assert rr(to_spark(RUN), **eval(f"dict({typed})")) == [0.5, 1.0]


@pytest.mark.skipif(REMOTE, reason="Spark Connect does not tell the size of a table")
def test_every_advice_of_spark_is_followed(session, to_spark, monkeypatch):
    """Whoever adds an advice adds a case that follows it."""
    with noting_advice(monkeypatch) as lines:
        for case in CASES.values():
            call, given, _ = case(to_spark)
            with suppress(IRError):
                call(**given)
        broadcast_too_large(to_spark, monkeypatch)
        of_people(to_spark)
        run = to_spark(RUN)
        session.conf.set(tables.LOSSY[0], "true")
        with suppress(IRError):
            rr(run)
        session.conf.set(tables.LOSSY[0], "false")
    never = [
        (name, function)
        for name, function, start, end in advice_places()
        if name.startswith("spark/") and not any(path == name and start <= line <= end for path, line in lines)
    ]
    assert not never
