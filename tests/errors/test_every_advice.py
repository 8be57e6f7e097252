"""Every place of the package that makes an advice: it is provoked and followed as printed, and the result is right."""

# ruff: noqa: ARG005, S102, S307  # what a message says is run as a user pastes it

import ast
import datetime as dt
import io
import json
import os
import runpy
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pandas as pd
import polars as pl
import pytest
from callers import advice_places, noting_advice

import polars_ir as ir
from polars_ir.errors import IRError, IRWarning, Setting
from polars_ir.namespace import warn_of_another
from polars_ir.statistics import randomisation

POLARS, PANDAS, PLAN = pl.DataFrame, pd.DataFrame, pl.LazyFrame
QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}


class Case(NamedTuple):
    """A call that goes wrong, its tables, and the result once its advice is taken; None where no code is proposed.

    `take` is what is done with code that is a value, in place of that of a table.
    """

    call: Callable[..., Any]
    tables: dict[str, Any]
    right: Any
    take: Callable[..., Any] | None = None


def rr(run: Any, qrels: Any = None, **options: Any) -> float:
    """The mean RR."""
    found = ir.evaluate(run, qrels, "RR", **options)
    return round((pl.from_pandas(found) if isinstance(found, pd.DataFrame) else found.lazy().collect())["RR"].mean(), 9)


def gold_with_twins(run: Any, qrels: Any, documents: Any) -> int:
    """The number of findings of relevant documents with twins that are not judged, with the extra or without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ir.validate(run, qrels, documents=documents, only="relevant documents with unjudged twins")
    return len(found)


def first(result: Any, column: str) -> Any:
    """The first value of a column."""
    frame = pl.from_pandas(result) if isinstance(result, pd.DataFrame) else result.lazy().collect()
    value = frame[column][0]
    return round(value, 9) if isinstance(value, float) else value


def ranked(**others: Any) -> dict[str, Any]:
    """A run whose second document is relevant in q1, and whose first is in q2: RR .75."""
    return {"query_id": ["q1", "q1", "q2"], "doc_id": ["x", "a", "b"], "score": [2.0, 1.0, 1.0], **others}


def figures(**others: Any) -> dict[str, Any]:
    """Figures of two systems."""
    return {"run": ["a"] * 2 + ["b"] * 2, "query_id": ["q1", "q2"] * 2, "RR": [0.5, 1.0, 1.0, 1.0], **others}


def of_run(frame: Any, right: Any = 0.75, qrels: Any = QRELS, **options: Any) -> Case:
    """An evaluation of a run."""
    return Case(lambda run, qrels, **taken: rr(run, qrels, **options, **taken), {"run": frame, "qrels": qrels}, right)


def of_value(call: Callable[..., Any], right: Any, take: Callable[..., Any], **tables: Any) -> Case:
    """A call whose advice is a value or another call."""
    return Case(call, tables, right, take)


def of_figures(call: Callable[..., Any], right: Any, frame: Any, **others: Any) -> Case:
    """A call with figures of queries."""
    return Case(call, {"per_query": frame, **others}, right)


def long_form(frame: Any, **others: Any) -> dict[str, Any]:
    """Figures in long form."""
    return frame({"query_id": ["q1", "q2"], "measure": ["RR", "RR"], "value": [0.5, 1.0], **others})


#: Keys of one day or hour in several types.
KEYS = {
    "texts": pl.Series(["2026-01-01"] * 3),
    "hours": pl.Series(["01:00:00"] * 3),
    "categories": pl.Series(["2026-01-01"] * 3, dtype=pl.Categorical),
    "dates": pl.Series([dt.date(2026, 1, 1)] * 3),
    "times": pl.Series([dt.time(1)] * 3),
    "datetimes": pl.Series([dt.date(2026, 1, 1)] * 3).cast(pl.Datetime("us")),
    "nanoseconds": pl.Series([dt.date(2026, 1, 1)] * 3).cast(pl.Datetime("ns")),
    "zoned": pl.Series([dt.date(2026, 1, 1)] * 3).cast(pl.Datetime("us", "UTC")),
    "durations": pl.Series([dt.timedelta(hours=1)] * 3),
    "Booleans": pl.Series([True] * 3),
    "numbers": pl.Series([1] * 3),
}

CONVERTED = [
    *(pair for day in ("dates", "datetimes", "nanoseconds") for pair in (("texts", day), (day, "texts"))),
    *(("hours", "times"), ("times", "hours"), ("categories", "dates"), ("datetimes", "categories")),
    *(("datetimes", "dates"), ("dates", "datetimes"), ("datetimes", "nanoseconds"), ("nanoseconds", "datetimes")),
]
NOT_CONVERTED = [
    *(("texts", "durations"), ("texts", "zoned"), ("datetimes", "zoned"), ("texts", "Booleans"), ("numbers", "times")),
    *(("times", "dates"), ("durations", "dates"), ("Booleans", "dates"), ("numbers", "dates"), ("numbers", "Booleans")),
]
KEYS_OF_TWO_TYPES = [(kind, *pair) for kind in (POLARS, PANDAS) for pair in [*CONVERTED, *NOT_CONVERTED]]


def of_key(kind: Any, of_run: str, of_qrels: str) -> Case:
    """An evaluation by a key of two types."""
    run = POLARS(ranked()).with_columns(day=KEYS[of_run])
    qrels = POLARS({"query_id": ["q1", "q2"], "doc_id": ["a", "b"], "relevance": 1}).with_columns(
        day=KEYS[of_qrels][:2]
    )
    tables = {"run": run, "qrels": qrels}
    if kind is PANDAS:
        tables = {name: as_pandas(table) for name, table in tables.items()}
    right = 0.75 if (of_run, of_qrels) in CONVERTED else None
    return Case(lambda run, qrels: rr(run, qrels, by="day"), tables, right)


def as_pandas(table: pl.DataFrame) -> pd.DataFrame:
    """The table in pandas, with dates and times as objects."""
    frame = table.to_pandas()
    return frame.assign(day=table["day"].to_list()) if table["day"].dtype in (pl.Date, pl.Time) else frame


STORED = ir.evaluate(POLARS(ranked()), QRELS, "RR", provenance=True)
TWO = {"a": POLARS(ranked()), "b": POLARS(ranked(score=[1.0, 2.0, 1.0]))}
DAYS = POLARS(ranked(day=[1, 2, 1]))


NUGGET = POLARS({"query_id": ["q"], "nugget": [1], "importance": ["vital"], "assignment": ["support"]})


def slow_draws(per_query: Any) -> Any:
    """A comparison whose draws are shown, and said to take long."""
    with mock.patch.multiple(randomisation, SHOWING=0.0, LONG=-1.0):
        return ir.compare(per_query, resamples=20_000, test="randomisation")


CASES = {
    "a sum beside people's": of_figures(
        lambda per_query: first(ir.summarize(per_query, reference=POLARS(figures(NumQ=1)).drop("run").head(2)), "mean"),
        0.75,
        POLARS({"query_id": ["q1", "q2"], "RR": [0.5, 1.0], "NumQ": [1, 1]}),
    ),
    "a text in the place of a run": of_value(
        lambda run: rr(run, QRELS), "ir.read_run('bm25.run')", lambda code, **_: code, run="bm25.run"
    ),
    "ids without a query": of_value(
        lambda run: rr(run, {"q1": ["a"]}), 0.5, lambda code, run: rr(eval(code), {"q1": ["a"]}), run=["x", "a"]
    ),
    "lists without queries": of_value(
        lambda run: rr(run, {0: ["a"], 1: ["b"]}),
        0.75,
        lambda code, run: rr(eval(code), {0: ["a"], 1: ["b"]}),
        run=[["x", "a"], ["b"]],
    ),
    "tables of several systems": of_value(
        lambda qrels: rr({"q1": ["a"]}, qrels), "pl.concat([...])", lambda code, **_: code, qrels=TWO
    ),
    "several systems in one of a dict": of_value(
        lambda run: rr(run, QRELS),
        0.75,
        lambda code, run: rr({"a": eval(f"run['a']{code}")}, QRELS),
        run={"a": POLARS(ranked(run=["s", "t", "s"])), "b": POLARS(ranked())},
    ),
    "a set of documents": of_value(
        lambda run: rr(run, QRELS), "{query: {doc: score}}", lambda code, **_: code, run={"q1": {"a", "b"}}
    ),
    "pairs in a dict": of_value(
        lambda run: rr(run, QRELS),
        0.75,
        lambda code, run: rr(eval(code), QRELS),
        run={"q1": [("x", 2.0), ("a", 1.0)], "q2": [("b", 1.0)]},
    ),
    "rows in a dict": of_value(
        lambda run: rr(run, QRELS),
        0.75,
        lambda code, run: rr(eval(code), QRELS),
        run={
            "q1": [{"doc_id": "x", "score": 2.0}, {"doc_id": "a", "score": 1.0}],
            "q2": [{"doc_id": "b", "score": 1.0}],
        },
    ),
    "a column with a meaning in plans": of_run(POLARS(ranked()).with_columns(pl.lit(1).alias("*"))),
    "a path in the place of a frame": of_value(
        ir.mean,
        "pl.read_parquet",
        lambda code, **_: code.partition("(")[0],
        per_query=Path("a.parquet"),
    ),
    "columns of one name": of_run(
        pd.DataFrame([["q1", "a", 1.0, 2.0]], columns=["qid", "docno", "score", "score"]), 1.0, {"q1": ["a"]}
    ),
    "a Series without a name of its index": Case(
        lambda qrels: rr(POLARS({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}), qrels),
        {"qrels": pd.Series([1], index=pd.MultiIndex.from_tuples([("q1", "a")]))},
        1.0,
    ),
    "ids of several types": of_run(
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": pd.Series(["a", 2], dtype=object), "score": [2.0, 1.0]}),
        1.0,
        {"q1": ["a"]},
    ),
    "a run without scores, which is a per-query frame": of_value(
        lambda run: rr(run, QRELS),
        0.75,
        lambda code, run: round(eval(code)[0, "RR"], 9),
        run=POLARS({"query_id": ["q1", "q2"], "RR": [0.5, 1.0]}),
    ),
    "a run in the place of figures": Case(
        lambda per_query, run, qrels: first(ir.mean(per_query), "AP"),
        {"per_query": POLARS(ranked()), "run": POLARS(ranked()), "qrels": QRELS},
        0.75,
    ),
    "means in the place of figures": of_figures(ir.mean, None, POLARS({"RR": [0.5]})),
    "grades in words": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "RR").item(0, 1),
        {"run": {"q": ["x", "a"]}, "qrels": POLARS({"query_id": ["q", "q"], "doc_id": ["a", "x"], "rel": ["1", "no"]})},
        0.5,
    ),
    "grades in many words": Case(
        rr,
        {
            "run": {"q": ["a"]},
            "qrels": POLARS(
                {"query_id": ["q"] * 30, "doc_id": list(map(str, range(30))), "rel": [f"w{i}" for i in range(30)]}
            ),
        },
        None,
    ),
    "scores in lists": of_run(POLARS(ranked(score=[[2.0], [1.0], [1.0]])), None),
    "ids that are structs": of_run(
        POLARS(ranked(doc_id=[{"n": "x", "v": 1}, {"n": "a", "v": 1}, {"n": "b", "v": 1}])),
        qrels={"q1": ["a/1"], "q2": ["b/1"]},
    ),
    "ids that are bytes": of_run(POLARS(ranked(doc_id=[b"x", b"a", b"b"])), qrels={"q1": ["61"], "q2": ["62"]}),
    "ids that are times": of_run(
        POLARS(ranked(doc_id=[dt.time(1), dt.time(2), dt.time(3)])), qrels={"q1": ["02:00:00"], "q2": ["03:00:00"]}
    ),
    "ids of a plan that are floats": of_run(PLAN(ranked(doc_id=[1.0, 2.0, 3.0])), None),
    "a key called like a measure": Case(
        lambda run, qrels: rr(run, qrels, by="P@5_key" if "P@5_key" in run.columns else "P@5"),
        {"run": POLARS(ranked(**{"P@5": ["x"] * 3})), "qrels": QRELS},
        0.75,
    ),
    **{
        f"a key of two types: {kind.__name__} of {of_run}, {of_qrels}": of_key(kind, of_run, of_qrels)
        for kind, of_run, of_qrels in KEYS_OF_TWO_TYPES
    },
    "ids that are infinite": of_run(POLARS(ranked(doc_id=[1.0, 2.0, float("inf")])), None),
    "judgments of another kind": of_value(
        rr,
        True,
        lambda code, **_: eval(code).height > 0,
        run=POLARS(ranked()),
        qrels=POLARS({"query_id": ["q1"], "preferred": ["a"], "other": ["x"]}),
    ),
    "preferences of a plan": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "prefs_simp").height,
        {"run": POLARS(ranked()), "qrels": PLAN({"query_id": ["q1"], "preferred": ["a"], "other": ["x"]})},
        1,
    ),
    "preferences by judge": Case(
        lambda run, qrels, by="judge": first(ir.evaluate(run, qrels, "prefs_simp", by=by), "prefs_simp"),
        {
            "run": POLARS({"query_id": ["q1", "q1"], "doc_id": ["x", "a"], "score": [2.0, 1.0]}),
            "qrels": POLARS({"query_id": ["q1"], "judge": ["j"], "preferred": ["x"], "other": ["a"]}),
        },
        1.0,
        lambda code, run, qrels: first(
            ir.evaluate(run, eval(code, {"qrels": qrels, "pl": pl}), "prefs_simp", by="assessor"), "prefs_simp"
        ),
    ),
    "a sample that is explained": Case(
        lambda run, qrels: ir.explain(run, qrels, "RR", "q2").height,
        {
            "run": POLARS(ranked()),
            "qrels": POLARS(
                {
                    "query_id": ["q1", "q2"],
                    "doc_id": ["a", "b"],
                    "relevance": [1, 1],
                    "inclusion_probability": [0.5, 1],
                },
                strict=False,
            ),
        },
        1,
    ),
    "strata of which a part was judged": Case(
        lambda run, qrels: first(ir.evaluate(run, qrels, "P@2"), "P@2"),
        {
            "run": POLARS(ranked(doc_id=["a", "x", "b"])),
            "qrels": POLARS(
                {
                    "query_id": ["q1"] * 3 + ["q2"],
                    "doc_id": ["a", "x", "y", "b"],
                    "stratum": [1, 2, 2, 1],
                    "relevance": [0, 1, -1, 1],
                }
            ),
        },
        1.0,
    ),
    "judges of unlike queries": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "RR", by="judge").height,
        {
            "run": POLARS(ranked()),
            "qrels": POLARS(
                {"query_id": ["q1", "q2", "q1"], "doc_id": [*"aba"], "judge": [*"mmp"], "relevance": [1, 1, 1]}
            ),
        },
        2,
    ),
    "judges that are fractions": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "RR", by="judge").height,
        {
            "run": POLARS(ranked()),
            "qrels": POLARS({"query_id": ["q1", "q2"], "doc_id": [*"ab"], "judge": [1.0, 1.0], "relevance": [1, 1]}),
        },
        2,
    ),
    "scores for costs": Case(
        lambda run, qrels: ir.evaluate(run, qrels, ir.recall(budget=3, cost="score")),
        {"run": POLARS(ranked()), "qrels": QRELS},
        None,
    ),
    "grades of judges that are scores": Case(
        lambda qrels: first(ir.agreement(qrels), "value"),
        {
            "qrels": POLARS(
                {
                    "query_id": ["q1"] * 400,
                    "doc_id": [str(n) for n in range(200)] * 2,
                    "judge": ["a"] * 200 + ["b"] * 200,
                    "relevance": [n / 200 for n in range(200)] * 2,
                }
            )
        },
        1.0,
    ),
    "preferences of a null judge": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "prefs_simp").height,
        {
            "run": POLARS(ranked()),
            "qrels": POLARS(
                {
                    "query_id": ["q1"] * 3,
                    "judge": ["j", "j", None],
                    "group": [1, 1, 1],
                    "doc_id": ["a", "x", "y"],
                    "relevance": [2, 1, 1],
                }
            ),
        },
        1,
    ),
    "names beside measures, and not measures": of_figures(
        lambda per_query: first(ir.mean(per_query), "x"), 0.5, long_form(POLARS, measure=["x", "y"], n=[1, 2])
    ),
    "a plan in long form": of_figures(lambda per_query: first(ir.mean(per_query), "RR"), 0.75, long_form(PLAN)),
    "a plan in two ways": of_figures(
        lambda per_query: first(ir.mean(per_query), "RR"), 0.75, long_form(PLAN).with_columns(n=pl.lit(1))
    ),
    "values in long form that are texts": of_figures(
        lambda per_query: first(ir.mean(per_query), "RR"), 0.75, long_form(POLARS, value=["0.5", "1.0"])
    ),
    "a measure in long form called like a key": of_figures(
        lambda per_query: first(ir.mean(per_query), "mine"), 0.75, long_form(POLARS, measure=["query_id"] * 2)
    ),
    "a greedy ideal of a plan": Case(
        lambda run, qrels: first(ir.evaluate(run, qrels, "alpha_nDCG"), "alpha_nDCG"),
        {
            "run": PLAN(ranked()),
            "qrels": PLAN(
                {"query_id": ["q1", "q2"], "subtopic": ["1", "1"], "doc_id": ["x", "b"], "relevance": [1, 1]}
            ),
        },
        1.0,
    ),
    "a budget among orders of ties": Case(
        lambda run, qrels, **taken: first(
            ir.evaluate(run, qrels, "P(budget=10)", **({"ties": "best"} | taken)), "P(budget=10)"
        ),
        {"run": POLARS(ranked(tokens=[5, 5, 5])), "qrels": QRELS},
        0.5,
    ),
    "a budget without costs": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "P(budget=10)"), {"run": POLARS(ranked()), "qrels": QRELS}, None
    ),
    "a budget whose costs have another name": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "P(budget=10)")[0, -1],
        {"run": POLARS(ranked(n_tokens=[5, 5, 5], page=[1, 2, 3])), "qrels": QRELS},
        0.5,
        lambda code, run, qrels: eval(code, {"run": run, "qrels": qrels})[0, -1],
    ),
    "a column of both tables": Case(
        lambda run, qrels: ir.evaluate(run, qrels, pl.col("n").sum().alias("mine")).height,
        {
            "run": POLARS(ranked(n=[1, 2, 3])),
            "qrels": POLARS({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1], "n": [4]}),
        },
        1,
    ),
    "scores that Float64 cannot hold": Case(
        lambda runs: ir.evaluate(runs, QRELS, "RR").height,
        {"runs": {"a": POLARS(ranked(score=[2**60 + 1, 2**60, 1])), "b": POLARS(ranked())}},
        None,
    ),
    "objects of which no field is an id": Case(
        lambda frame: rr(*ir.from_lists(frame)),
        {"frame": POLARS({"query_id": ["q"], "retrieved": [[{"n": "x"}, {"n": "a"}]], "relevant": [["a"]]})},
        0.5,
    ),
    "objects of LangChain": Case(
        lambda frame: ir.from_lists(frame)[0]["doc_id"].to_list(),
        {
            "frame": POLARS(
                {
                    "query_id": ["q"],
                    "retrieved": [[{"id": ["l", "D"], "kwargs": {"id": "a", "m": 1}}]],
                    "relevant": [["a"]],
                }
            )
        },
        ["a"],
    ),
    "objects whose ids are lists": Case(
        ir.from_lists,
        {"frame": POLARS({"query_id": ["q"], "retrieved": [[{"id": ["l", "D"]}]], "relevant": [["a"]]})},
        None,
    ),
    "lists against the order of their scores": of_value(
        lambda frame: ir.from_lists(frame, scores="s"),
        0.5,
        lambda code, frame: rr(eval(code), {"q": ["a"]}),
        frame=POLARS({"query_id": ["q"], "retrieved": [["a", "x"]], "relevant": [["a"]], "s": [[1.0, 2.0]]}),
    ),
    "two columns of ids apart by blanks": Case(
        lambda frame: rr(*ir.from_lists(frame)),
        {"frame": POLARS({"user_id": ["q", "r"], "retrieved": ["x a", "b c"], "relevant": ["a", "b"]})},
        0.75,
    ),
    "lists of a plan in texts": Case(
        lambda frame: rr(*ir.from_lists(frame)),
        {"frame": PLAN({"query_id": ["q"], "retrieved": ['["x", "a"]'], "relevant": ['["a"]']})},
        0.5,
    ),
    "an aggregation without a name": of_value(
        lambda: ir.name(ir.rank.max()), "@ir.measure('Mine', source='...')", lambda code: code
    ),
    "gains that no name can hold": of_value(
        lambda: ir.name(ir.ndcg(gains=(pl.col("relevance") * 2).alias("h"))),
        "nDCG(gains=column)",
        lambda code: ir.name(eval(f"ir.ndcg({code})")),
    ),
    "a measure without a name of one column": of_value(
        lambda run: ir.evaluate(run, QRELS, pl.col("n").struct[0].max()),
        True,
        lambda code, run: "mine" in ir.evaluate(run, QRELS, eval(f"pl.col('n').struct[0].max(){code}", {"pl": pl})),
        run=POLARS(ranked(n=[{"m": 1}, {"m": 2}, {"m": 3}])),
    ),
    "a measure with a name of plans": of_value(
        lambda run: ir.evaluate(run, QRELS, ir.rank.max().alias("*")),
        True,
        lambda code, run: "mine" in ir.evaluate(run, QRELS, eval(f"ir.rank.max(){code}", {"ir": ir})).columns,
        run=POLARS(ranked()),
    ),
    "a measure without a name in SQL": of_value(
        lambda run: ir.evaluate(run, QRELS, ir.ndcg(gains=pl.col("score")), names="sql"),
        True,
        lambda code, run: (
            "mine"
            in ir.evaluate(
                run, QRELS, eval(f"ir.ndcg(gains=pl.col('score')){code}", {"ir": ir, "pl": pl}), names="sql"
            ).columns
        ),
        run=POLARS(ranked()),
    ),
    "a stretch for each query": Case(
        lambda per_query, **taken: ir.drift(per_query, "day", **taken).height > 0,
        {
            "per_query": POLARS(
                {"query_id": [f"q{i}" for i in range(60)], "RR": [i % 2 * 1.0 for i in range(60)]}
            ).with_columns(day=pl.date_range(pl.date(2026, 1, 1), pl.date(2026, 3, 1), eager=True))
        },
        True,
    ),
    "texts in another order than their numbers": Case(
        lambda per_query: ir.drift(per_query, "v", min_queries=2),
        {
            "per_query": POLARS(
                {"query_id": list("abcdef"), "RR": [0.0, 1, 0, 1, 0, 1], "v": ["v9", "v9", "v10", "v10", "v11", "v11"]}
            )
        },
        None,
    ),
    "new figures of several systems": Case(
        lambda new, old: ir.gate(new, old, "RR").height,
        {"new": POLARS(figures()), "old": POLARS(figures()).filter(run="a")},
        1,
    ),
    "new figures of several systems, and an old one of another name": of_value(
        lambda new, old: ir.gate(new, old, "RR").height,
        ["a", "b"],
        lambda code, new, old: sorted(ir.gate(eval(code), measures="RR", baseline="old", by="run")["run"]),
        new=POLARS(figures()),
        old=POLARS(figures()).filter(run="a").drop("run").rename({"query_id": "qid"}),
    ),
    "a plan of new figures of several systems": Case(
        lambda new, old: ir.gate(new, old, "RR").collect().height,
        {
            "new": PLAN({"run": ["a"] * 80 + ["b"] * 80, "query_id": [*range(80)] * 2, "RR": [0.4, 0.6] * 80}),
            "old": PLAN({"query_id": range(80), "RR": [0.5] * 80}),
        },
        1,
    ),
    "a dict of new figures, and an old one": of_value(
        lambda new, old: ir.gate(new, old, "RR").height,
        ["x", "y"],
        lambda code, new, old: sorted(ir.gate(eval(code), measures="RR", baseline="old", by="run")["run"]),
        new={name: POLARS({"query_id": ["q1", "q2"], "RR": [0.5, 1.0]}) for name in "xy"},
        old=POLARS({"query_id": ["q1", "q2"], "RR": [0.5, 1.0]}),
    ),
    "a plan of three systems": Case(
        lambda new: sorted(
            ir.gate(new, measures="RR", baseline="a", by="run" if isinstance(new, POLARS) else None)["run"]
        ),
        {"new": PLAN({"run": ["a", "a", "b", "b", "c", "c"], "query_id": ["q1", "q2"] * 3, "RR": [0.5, 1.0] * 3})},
        ["b", "c"],
    ),
    "a system of new in the place of old": Case(
        lambda new, **taken: ir.gate(new, *(() if taken else ("a",)), measures="RR", **taken).height,
        {"new": POLARS(figures())},
        1,
    ),
    "a gate of three systems": Case(
        lambda new, **taken: sorted(ir.gate(new, measures="RR", baseline="a", **taken)["run"]),
        {"new": pl.concat([POLARS(figures()), POLARS(figures()).filter(run="b").with_columns(run=pl.lit("c"))])},
        ["b", "c"],
    ),
    "figures without provenance": Case(
        lambda per_query, run, qrels, **taken: ir.provenance(
            ir.evaluate(run, qrels, "RR", **taken) if taken else per_query
        )["measures"],
        {"per_query": POLARS(figures()), "run": POLARS(ranked()), "qrels": QRELS},
        {"RR": "RR"},
    ),
    "a provenance that evaluate did not write": of_value(
        ir.provenance,
        ["run", "query_id", "RR", "source"],
        lambda code, per_query: eval(f"per_query{code}").columns,
        per_query=POLARS(figures(provenance=["mine"] * 4)),
    ),
    "figures made in two ways": Case(
        lambda per_query: ir.compare(per_query).height,
        {
            "per_query": pl.concat(
                [
                    STORED.with_columns(run=pl.lit("a")),
                    ir.evaluate(TWO["b"], QRELS, "RR", provenance=True, ties="best").with_columns(run=pl.lit("b")),
                ]
            )
        },
        1,
    ),
    "a rank correlation of one measure": of_value(
        lambda per_query, other: ir.rank_correlation(per_query).height,
        1,
        lambda code, per_query, other: eval(code).height,
        per_query=POLARS(figures()),
        other=POLARS(figures()),
    ),
    "slices of systems, for figures of one": Case(
        lambda per_query, by: ir.mean(per_query, by=by).height,
        {
            "per_query": POLARS({"query_id": ["q1", "q2"], "RR": [0.5, 1.0]}),
            "by": POLARS({"run": ["a", "a", "b", "b"], "query_id": ["q1", "q2"] * 2, "slice": ["x", "y", "x", "x"]}),
        },
        2,
    ),
    "slices by ids of another type": Case(
        lambda per_query, by: ir.mean(per_query, by=by).height,
        {
            "per_query": POLARS({"query_id": ["1", "2"], "RR": [0.5, 1.0]}),
            "by": POLARS({"query_id": [1, 2], "slice": ["x", "y"]}),
        },
        2,
    ),
    "a micro average without its counts": of_value(
        lambda per_query, run, qrels: ir.mean(per_query, average="micro"),
        0.5,
        lambda code, per_query, run, qrels: first(ir.mean(eval(code), average="micro"), "R@1"),
        per_query=POLARS({"query_id": ["q1", "q2"], "R@1": [0.0, 1.0]}),
        run=POLARS(ranked()),
        qrels=QRELS,
    ),
    "a name that loses its mean": Case(
        lambda per_query: first(
            ir.mean(per_query),
            "gmap" if "gmap" in per_query.columns else "GMAP" if "GMAP" in per_query.columns else per_query.columns[1],
        ),
        {"per_query": POLARS({"query_id": ["q1", "q2"], "gmap_x": [0.25, 1.0]})},
        0.5,
    ),
    "systems by a column beside systems": Case(
        lambda per_query: ir.compare(per_query, systems="night").height,
        {"per_query": pl.concat([POLARS(figures(night=[1] * 4)), POLARS(figures(night=[2] * 4))])},
        1,
    ),
    "figures of a null system": Case(
        lambda per_query: ir.compare(per_query, systems="night").height,
        {
            "per_query": POLARS(
                {
                    "query_id": ["q1", "q2"] * 3,
                    "night": ["1", "1", "2", "2", None, None],
                    "RR": [0.0, 0.5, 1.0, 0.5, 0.0, 1.0],
                }
            )
        },
        1,
    ),
    "a table for names of measures": of_value(
        lambda per_query, other: ir.compare(per_query, measures=other),
        1,
        lambda code, per_query, other: eval(code).height,
        per_query=POLARS(figures()).filter(run="a").drop("run"),
        other=POLARS(figures()).filter(run="b").drop("run"),
    ),
    "numbers that are no measures": of_figures(
        lambda per_query: ir.mean(per_query).columns,
        ["RR"],
        POLARS({"query_id": ["q1", "q2"], "RR": [0.5, 1.0], "year": [1999, 2001]}),
    ),
    "an unknown range": Case(
        lambda per_query, **taken: (
            ir.gate(per_query, per_query, "mine", interval="bounded", max_drop=0.9, **taken).height
        ),
        {"per_query": POLARS({"query_id": ["q1", "q2"], "mine": [0.5, 1.0]})},
        1,
        lambda code, per_query: (
            ir.gate(per_query, per_query, "mine", interval="bounded", max_drop=0.9, **eval(f"dict({code})")).height
        ),
    ),
    "slices that share no query": of_value(
        lambda per_query: ir.worst_slices(per_query, "night"),
        1,
        lambda code, per_query: eval(code).height,
        per_query=POLARS({"query_id": ["q1", "q2"] * 2, "RR": [0.5, 1.0] * 2, "night": ["x", "x", "y", "y"]}),
    ),
    "texts of queries beside a column query": Case(
        lambda run, qrels: ir.diff(run, TWO["b"], qrels, "RR", queries={"q1": "one", "q2": "two"}).height,
        {"run": POLARS(ranked()).rename({"query_id": "query"}), "qrels": QRELS},
        1,
    ),
    "a cluster that is a table": of_value(
        lambda log, cluster: ir.interleaving(log, cluster=cluster),
        ["query_id", "cluster"],
        lambda code, log, cluster: [name for name in eval(code).columns if name in ("query_id", "cluster")],
        log=POLARS({"query_id": ["q1"], "team": ["a"], "clicks": [1]}),
        cluster=POLARS({"query_id": ["q1"], "cluster": ["x"]}),
    ),
    "calls that are texts": Case(
        lambda run: ir.merge_calls(run, "call").height, {"run": POLARS(ranked(call=["1", "2", "1"]))}, 3
    ),
    "days in one ranking": Case(
        lambda run, qrels, **taken: ir.evaluate(run, qrels, "RR", **taken).height,
        {
            "run": POLARS(ranked()).with_columns(
                date=pl.Series(["2026-01-01", "2026-01-02", "2026-01-01"]).str.to_date()
            ),
            "qrels": QRELS,
        },
        4,
    ),
    "excluded documents of days": Case(
        lambda run, exclude: rr(run, QRELS, by="day", exclude=exclude) > 0,
        {"run": DAYS, "exclude": POLARS({"day": [1], "query_id": ["q1"], "doc_id": ["x"]})},
        True,
    ),
    "an update of figures without provenance": Case(
        lambda stored, run, qrels, **taken: (
            ir.update(ir.evaluate(run, qrels, "RR", **taken) if taken else stored, run, qrels, "RR").height
        ),
        {"stored": STORED.select("query_id", "RR"), "run": POLARS(ranked()), "qrels": QRELS},
        2,
    ),
    "an update with other options": of_value(
        lambda stored, run: ir.update(stored, run, QRELS, "RR", ties="best"),
        2,
        lambda code, stored, run: eval(code)(run, QRELS, "RR", ties="best").height,
        stored=STORED,
        run=POLARS(ranked()),
    ),
    "grades below the relevant one": of_value(
        lambda run: ir.evaluate(run, {"q1": {"x": 0.5, "a": 0.25}}, "RR"),
        1.0,
        lambda code, run: ir.evaluate(run, {"q1": {"x": 0.5, "a": 0.25}}, eval(code)).item(0, 1),
        run=POLARS(ranked()),
    ),
    "days that no judgment has": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "RR", by="day").height,
        {
            "run": DAYS,
            "qrels": POLARS({"day": [1, 1], "query_id": ["q1", "q2"], "doc_id": ["a", "b"], "relevance": [1, 1]}),
        },
        4,
    ),
    "few queries answered": Case(
        lambda run, qrels, **taken: ir.evaluate(run, qrels, "RR", **taken)["RR"].mean(),
        {"run": {"q1": ["a"]}, "qrels": {f"q{i}": ["a"] for i in range(1, 6)}},
        1.0,
    ),
    "tables in each other's place": Case(
        rr, {"run": {"q": {"a": 5, "b": 3}}, "qrels": {"q": {"a": 14, "b": 12}}}, None
    ),
    "ranks against scores": Case(rr, {"run": POLARS(ranked(rank=[2, 1, 1])), "qrels": QRELS}, None),
    "gains beyond any number": Case(
        lambda run, qrels: ir.evaluate(run, qrels, "DCG(dcg='exp-log2')"),
        {"run": {"q": ["a"]}, "qrels": {"q": {"a": 2000}}},
        None,
    ),
    "an id of no document in a dict": Case(rr, {"run": {"q": [7, -1]}, "qrels": {"q": [7]}}, None),
    "a null in a run that is a dict": Case(rr, {"run": {"q": {"a": None, "b": 1.0}}, "qrels": {"q": ["b"]}}, None),
    "an id that is a text and one that is a number": Case(
        lambda train, test: ir.overlap(train, test).height,
        {"train": POLARS({"query_id": [1, 2]}), "test": POLARS({"query_id": ["1", "3"]})},
        1,
    ),
    "texts that are numbers": Case(
        lambda train, test: ir.overlap(train, test).height,
        {"train": POLARS({"query_id": ["a", "b"], "text": [1, 2]}), "test": POLARS({"query_id": ["c"], "text": ["1"]})},
        1,
    ),
    "two systems in one output": Case(
        lambda per_query, path="one.eval": ir.write_trec_eval(per_query, path), {"per_query": POLARS(figures())}, None
    ),
    "a split without a share": Case(
        lambda log, **taken: [part.height for part in ir.split(log, "time", **taken)],
        {"log": POLARS({"user_id": list("uvvwu"), "item_id": list("abbab"), "time": [1, 2, 3, 4, 5]})},
        [4, 1],
    ),
    "a split by one of two times": Case(
        lambda log, **taken: [part.height for part in ir.split(log, "time", share=0.2, **taken)],
        {"log": POLARS({"user_id": list("uvvwu"), "item_id": list("abbab"), "created_at": [1, 2, 3, 4, 5]})},
        [4, 1],
    ),
    "a split by texts": Case(
        lambda log: [part.height for part in ir.split(log, "time", share=0.2)],
        {
            "log": POLARS(
                {"user_id": list("uvvwu"), "item_id": list("abbab"), "time": [f"2026-01-0{day}" for day in range(1, 6)]}
            )
        },
        [4, 1],
    ),
    "an id in the place of documents": of_value(
        lambda run: rr(run, QRELS), 0.5, lambda code, run: rr({"q1": eval(code)}, QRELS), run={"q1": "a"}
    ),
    "systems by a column of a plan": of_figures(
        lambda per_query: ir.compare(per_query, systems="night").height,
        1,
        PLAN({"query_id": ["q1", "q2"] * 2, "night": ["x", "x", "y", "y"], "RR": [0.5, 1.0, 1.0, 1.0]}),
    ),
    "subtopics that a table lacks": of_value(
        lambda run, qrels: ir.evaluate(run, qrels, "alpha_nDCG@10"),
        "ir.read_qrels('qrels.txt', format='subtopics')",
        lambda code, **_: code,
        run=POLARS(ranked()),
        qrels=POLARS({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1]}),
    ),
    "an open file that is scanned": of_value(
        lambda file: ir.scan_run(source=file),
        3,
        lambda code, file: eval(code, {"ir": ir, "file": file}).height,
        file=io.BytesIO(b"q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 b 1 1 t\n"),
    ),
    "a URL where none is allowed": of_value(
        lambda url: ir.read_run(url, remote=False), "remote=True", lambda code, **_: code, url="https://a.org/a.run"
    ),
    "hits of a sorted search": of_run(
        POLARS({"_score": [1.0, 5.0, 1.0], "sort": [[1], [2], [1]], **ranked()}).drop("score"), qrels=QRELS
    ),
    "one list in a row": of_run(POLARS({"query_id": ["q1", "q2"], "retrieved": [["x", "a"], ["b"]]})),
    "ids that are objects": of_run(
        POLARS(ranked()).with_columns(doc_id=pl.Series([ast.Name("x"), Path("a"), Path("b")], dtype=pl.Object)),
    ),
    "judgments without a run's scores": of_value(
        lambda run: rr(run, QRELS),
        0.75,
        lambda code, run: eval(code.replace("'nDCG@10', 'AP'", "'RR'"), {"run": POLARS(ranked()), "qrels": QRELS})[
            "RR"
        ].mean(),
        run=POLARS({"query_id": ["q1"], "doc_id": ["a"], "grade": [1]}),
    ),
    "a run with neither documents nor scores": of_value(
        lambda run: rr(run, QRELS),
        ["query_id"],
        lambda code, run: eval(code).columns,
        run=POLARS({"question": ["q1", "q2"]}),
    ),
    "a table of Dask": of_run(
        type("DataFrame", (), {"__module__": "dask.dataframe", "compute": lambda _: POLARS(ranked())})()
    ),
    "splits of Hugging Face": of_run(
        type("DatasetDict", (dict,), {"__module__": "datasets.dataset_dict"})(
            test=type(
                "Dataset", (), {"__module__": "datasets.arrow_dataset", "to_polars": lambda _: POLARS(ranked())}
            )()
        )
    ),
    "documents of two models": of_run(
        POLARS({name: values * 2 for name, values in ranked().items()} | {"model": ["m"] * 3 + ["n"] * 3})
    ),
    "figures that occur twice": of_figures(
        lambda per_query: first(ir.compare(per_query), "difference"),
        0.25,
        pl.concat([POLARS(figures()), POLARS(figures())]),
    ),
    "objects in the place of a list": Case(
        lambda frame: rr(*ir.from_lists(frame)),
        {
            "frame": POLARS({"query_id": ["q"], "relevant": [["a"]]}).with_columns(
                retrieved=pl.Series([("x", "a")], dtype=pl.Object)
            )
        },
        0.5,
    ),
    "lists that were cut short": Case(
        ir.from_lists,
        {"frame": POLARS({"query_id": ["q"], "retrieved": ["['a' 'b' ... 'z']"], "relevant": [["a"]]})},
        None,
    ),
    "lists that nothing reads": Case(
        ir.from_lists,
        {"frame": POLARS({"query_id": ["q"], "retrieved": ["[a; b"], "relevant": [["a"]]})},
        None,
    ),
    "lists of calls": of_value(
        ir.from_lists,
        ["x", "a"],
        lambda code, frame: [exec(code, known := {"frame": frame, "pl": pl, "ir": ir}), ir.merge_calls(known["run"])][
            1
        ]["doc_id"].to_list(),
        frame=POLARS({"query_id": ["q"], "retrieved": [[["x"], ["a"]]], "relevant": [["a"]]}),
    ),
    "a log of an unknown format": of_value(
        lambda frame: ir.read_log(source=frame),
        0.5,
        lambda code, frame: rr(*eval(code)[:2]),
        frame=POLARS({"qid": ["q"], "things": [["x", "a"]], "bb_gold": [["a"]]}),
    ),
    "documents whose texts are numbers": Case(
        lambda documents: ir.twins(documents, similarity=1).height,
        {"documents": POLARS({"doc_id": ["a", "b"], "text": [1, 1]})},
        2,
    ),
    "documents with ids of another type": Case(
        gold_with_twins,
        {
            "run": POLARS(ranked()),
            "qrels": QRELS,
            "documents": POLARS({"doc_id": [1, 2], "text": ["the same text"] * 2}),
        },
        0,
    ),
    "documents without ids": of_value(
        lambda documents: ir.twins(documents, similarity=1).height,
        2,
        lambda code, documents: ir.twins(eval(code), similarity=1).height,
        documents=["a", "a"],
    ),
    "citations numbered in text": Case(
        lambda frame: ir.citation_recall(frame)["citation_recall"].item(),
        {"frame": POLARS({"query_id": ["q"] * 2, "sentence": [1, 1], "citation": ["10", "9"], "support": [2, 0]})},
        0.0,
    ),
    "a query in the place of a list": of_value(
        lambda missing: ir.nugget_recall(NUGGET, missing=missing).height,
        1,
        lambda code, missing: ir.nugget_recall(NUGGET, missing=eval(code)).height,
        missing="q",
    ),
    "a record in the place of a list": of_value(
        lambda source: ir.read_support(source).height,
        1,
        lambda code, source: ir.read_support(eval(code)).height,
        source={"qid": "q", "sentences": [{"citations": [{"support": 2}]}]},
    ),
    "queries to be answered of another type": Case(
        lambda frame, missing: ir.nugget_recall(frame, missing=missing).height,
        {
            "frame": POLARS({"query_id": [1], "nugget": [1], "importance": ["vital"], "assignment": ["support"]}),
            "missing": POLARS({"query_id": ["1", "2"]}),
        },
        2,
    ),
    "another package's namespace": of_value(
        lambda run, qrels: warn_of_another("pandas"),
        0.75,
        lambda code, run, qrels: eval(code.replace("...", "'RR'"))["RR"].mean(),
        run=POLARS(ranked()),
        qrels=QRELS,
    ),
    "confidence in words": Case(
        lambda per_query, confidence: ir.abstention(per_query, confidence).height,
        {
            "per_query": POLARS({"query_id": [f"q{i}" for i in range(20)], "RR": [i % 2 * 1.0 for i in range(20)]}),
            "confidence": POLARS(
                {"query_id": [f"q{i}" for i in range(20)], "sure": list(range(20)), "word": ["x"] * 20}
            ),
        },
        1,
    ),
    "queries judged in two ways": of_value(
        lambda per_query: ir.drift(per_query, "night", min_queries=2),
        "ir.update",
        lambda code, **_: code,
        per_query=pl.concat(
            [
                STORED.with_columns(night=pl.lit("x")),
                ir.evaluate(POLARS(ranked()), {**QRELS, "q1": {"x": 1}}, "RR", provenance=True).with_columns(
                    night=pl.lit("y")
                ),
            ]
        ),
    ),
    "a slice without a value": Case(
        lambda per_query, by: ir.mean(per_query, by=by),
        {"per_query": POLARS(figures()), "by": POLARS({"query_id": ["q1", "q2"], "slice": ["x", None]})},
        None,
    ),
    "a measure in percent": of_value(
        lambda per_query: ir.gate(per_query, per_query, "nDCG@10", interval="bounded", max_drop=0.9),
        1,
        lambda code, per_query: (
            ir.gate(per_query, per_query, "nDCG@10", interval="bounded", max_drop=50, **eval(f"dict({code})")).height
        ),
        per_query=POLARS({"query_id": ["q1", "q2"], "nDCG@10": [50.0, 70.0]}),
    ),
    "items by a number": Case(
        lambda run, items: ir.evaluate(run, "ILD(of='year')@5", items=items),
        {"run": POLARS(ranked()), "items": POLARS({"doc_id": ["x", "a"], "year": [1.5, 2.5]})},
        None,
    ),
    "ids of categories": Case(
        lambda run, items: first(ir.evaluate(run, "ILD(of='genres')@5", items=items), "ILD(of='genres')@5"),
        {
            "run": POLARS(ranked()),
            "items": POLARS({"doc_id": ["x", "a", "b"], "genres": [[28, 12], [35, 18], [28]]}),
        },
        1.0,
    ),
    "ids of categories in pandas": Case(
        lambda run, items: first(ir.evaluate(run, "ILD(of='genres')@5", items=items), "ILD(of='genres')@5"),
        {
            "run": PANDAS(ranked()),
            "items": PANDAS({"doc_id": ["x", "a", "b", "c"], "genres": [[28, 12], [35, 18], [28], None]}),
        },
        1.0,
    ),
    "vectors of a plan": Case(
        lambda run, items: first(ir.evaluate(run, "ILD(of='vector')@5", items=items), "ILD(of='vector')@5"),
        {
            "run": PLAN(ranked()),
            "items": PLAN(
                {"doc_id": ["x", "a", "b"], "vector": [[0.0] * 63 + [1.0], [1.0] + [0.0] * 63] * 1 + [[1.0] * 64]}
            ),
        },
        1.0,
    ),
    "a measure of items without items": of_value(
        lambda run, items: ir.evaluate(run, "ILD(of='genre')@5"),
        1.0,
        lambda code, run, items: first(eval(code), "ILD(of='genre')@5"),
        run=POLARS(ranked()),
        items=POLARS({"doc_id": ["x", "a", "b"], "genre": ["u", "v", "u"]}),
    ),
    "a history of nobody": Case(
        lambda run, history: ir.evaluate(run, "Novelty@5", history=history),
        {"run": POLARS(ranked()), "history": POLARS(ranked()).clear()},
        None,
    ),
    "weights in an order of a plan": of_value(
        lambda runs: ir.fuse(runs, weights=[2, 1]),
        3,
        lambda code, runs: ir.fuse(runs, **eval(f"dict({code})")).collect().height,
        runs=PLAN({name: values * 2 for name, values in ranked().items()} | {"run": ["bm25"] * 3 + ["dense"] * 3}),
    ),
    "objects of a log without ids": Case(
        lambda frame, **taken: rr(*ir.read_log(frame, **taken)[:2]),
        {
            "frame": POLARS(
                {
                    "query_id": ["q"],
                    "retrieved": [[{"n": 1.5, "url": "x"}, {"n": 1.0, "url": "a"}]],
                    "relevant": [["a"]],
                }
            )
        },
        0.5,
    ),
    "relevant ids beside texts of documents": Case(
        lambda frame, **taken: rr(*ir.read_log(frame, **taken)[:2]),
        {
            "frame": POLARS(
                {
                    "query": ["q"],
                    "source_documents": [[{"page_content": f"Of {of}", "metadata": {"source": of}} for of in "xa"]],
                    "relevant": [["a"]],
                }
            )
        },
        0.5,
    ),
    "calls in a log": Case(
        lambda frame, **taken: ir.read_log(frame, **taken)[0]["step"].unique().sort().to_list(),
        {
            "frame": POLARS(
                {"query_id": ["q", "q"], "call": [1, 2], "retrieved": [["x"], ["a"]], "relevant": [["a"]] * 2}
            )
        },
        [1, 2],
    ),
    "lists as JSON writes them": Case(
        lambda frame: rr(*ir.from_lists(frame)),
        {"frame": POLARS({"query_id": ["q"], "retrieved": ['["x", "a\\"b"]'], "relevant": [['a"b']]})},
        0.5,
    ),
    "draws of minutes": Case(
        slow_draws,
        {
            "per_query": POLARS(
                {
                    "run": ["a"] * 50 + ["b"] * 50,
                    "query_id": [f"q{number}" for number in range(50)] * 2,
                    "RR": [1 / (1 + number * 7 % 50) for number in range(100)],
                }
            )
        },
        None,
    ),
    "a table wider than a page": Case(
        partial(ir.table, format="latex"), {"per_query": POLARS(figures(run=["a" * 200] * 2 + ["b"] * 2))}, None
    ),
    "the answer of a search": of_value(
        lambda run: rr(run, {"q1": ["b"]}),
        0.5,
        lambda code, run: rr(eval(code), {"q1": ["b"]}),
        run={"took": 1, "hits": {"hits": [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]}},
    ),
    **{
        f"scores that no row has, {kind}": of_run(make(ranked(score=values)), 0.75)
        for kind, make, values in (
            ("null", POLARS, [None] * 3),
            ("pandas", PANDAS, [None] * 3),
            ("NaN", PANDAS, [float("nan")] * 3),
        )
    },
    "hits of a sorted search, made flat": of_run(
        POLARS(
            {"query_id": ["q1", "q1", "q2"], "_id": ["x", "a", "b"], "sort": [[1], [2], [1]], "score": [2.0, 1.0, 1.0]}
        )
    ),
    "a measure of all users among those of each": of_value(
        lambda run, train: ir.evaluate(run, "gini"),
        0.5,
        lambda code, run, train: eval(code).item(),
        run=POLARS(ranked(doc_id=["x", "x", "x"], query_id=["q1", "q2", "q3"])),
        train=POLARS({"user_id": ["q1", "q2"], "item_id": ["x", "c"]}),
    ),
    "a catalogue of a kit that is another": of_value(
        lambda run, items: ir.exposure(run, "lenskit ListGini", history=run),
        0.5,
        lambda code, run, items: eval(code).item(),
        run=POLARS(ranked(doc_id=["x", "x", "x"], query_id=["q1", "q2", "q3"])),
        items=POLARS({"item_id": ["x", "c"]}),
    ),
    "items that are no table": of_value(
        lambda run, items: ir.exposure(run, "ItemCoverage", items=items),
        0.5,
        lambda code, run, items: ir.exposure(run, "ItemCoverage", items=eval(code)).item(),
        run=POLARS(ranked(doc_id=["x", "x", "x"], query_id=["q1", "q2", "q3"])),
        items=["x", "c"],
    ),
    "a catalogue that is not given": of_value(
        lambda run, train: ir.exposure(run, "ItemCoverage"),
        0.5,
        lambda code, run, train: eval(code).item(),
        run=POLARS(ranked(doc_id=["x", "x", "x"], query_id=["q1", "q2", "q3"])),
        train=POLARS({"user_id": ["q1", "q2"], "item_id": ["x", "c"]}),
    ),
    "a measure of each user among those of all": of_value(
        lambda run, qrels: ir.exposure(run, "RR"),
        0.75,
        lambda code, run, qrels: eval(code)["RR"].mean(),
        run=POLARS(ranked()),
        qrels=QRELS,
    ),
    "a runid of two words": Case(
        lambda per_query, tag="my run": ir.write_trec_eval(per_query, os.devnull, tag=tag),
        {"per_query": POLARS(figures()).filter(run="a")},
        None,
    ),
    "a measure that is no field": Case(
        lambda per_query: ir.write_trec_eval(per_query, os.devnull),
        {"per_query": POLARS({"query_id": ["q1"], "my own": [0.5]})},
        None,
    ),
}

TWO_TAGS = b"q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq1 Q0 a 1 2 u\n"

#: What is written and read: the files there are, the call, and what comes of the advice.
FILES: dict[str, tuple[dict[str, bytes], Callable[[], Any], Callable[[str], Any], Any]] = {
    "several tags": (
        {"a.run": TWO_TAGS},
        lambda: ir.read_run("a.run"),
        lambda code: ir.evaluate(eval(code), {"q1": ["a"]}, "RR")["RR"].to_list(),
        [0.5, 1.0],
    ),
    "several systems in a file": (
        {},
        lambda: ir.write_run(TWO, "a.run"),
        lambda code: [eval(f"ir.write_run(TWO, {code})"), sorted(map(str, Path().glob("*.run")))][1],
        ["a.run", "b.run"],
    ),
    "a system that is no name of a file": (
        {},
        lambda: ir.write_run(POLARS(ranked(run=["a/b"] * 3)), "{run}.run"),
        lambda code: [
            ir.write_run(eval(code, {"run": POLARS(ranked(run=["a/b"] * 3)), "pl": pl}), "{run}.run"),
            sorted(map(str, Path().glob("*.run"))),
        ][1],
        ["a-b.run"],
    ),
    "an open file that is written": (
        {},
        lambda: ir.write_run(POLARS(ranked()), io.BytesIO()),
        lambda code: [
            eval(code, {"frame": POLARS(ranked()), "file": (file := io.BytesIO())}),
            file.seek(0),
            rr(pl.read_parquet(file), QRELS),
        ][2],
        0.75,
    ),
    "a URL that is written": ({}, lambda: ir.write_run(POLARS(ranked()), "https://a.org/a.run"), None, None),
    "files of several columns": (
        {"a.csv": b"query_id,doc_id,score\nq,d,1\n", "b.csv": b"query_id,doc_id,score,n\nq,e,1,2\n"},
        lambda: ir.read_run(["a.csv", "b.csv"]),
        lambda code: eval(code.replace("...", "ir.read_run('a.csv'), ir.read_run('b.csv')")).height,
        2,
    ),
    "lists in a table": (
        {"a.csv": b'query_id,retrieved,relevant\nq,"[""x"", ""a""]","[""a""]"\n'},
        lambda: ir.read_run("a.csv"),
        lambda code: [exec(code, known := {"pl": pl, "ir": ir}), rr(known["run"], known["qrels"])][1],
        0.5,
    ),
    "scans of several types": (
        {},
        lambda: ir.compare(pl.scan_parquet(["a.parquet", "b.parquet"])).collect(),
        lambda code: ir.compare(eval(code, {"pl": pl, "files": ["a.parquet", "b.parquet"]})).collect().height,
        1,
    ),
    "a table without metadata": ({"a.csv": b"query_id,RR\nq,1\n"}, lambda: ir.provenance("a.csv"), None, None),
}


def written(files: dict[str, bytes]) -> None:
    """The files of a case, and two of tables."""
    for name, content in files.items():
        Path(name).write_bytes(content)
    rows = POLARS(figures(RR=[0, 1, 1, 1]))
    rows.filter(run="a").cast({"RR": pl.Float64}).write_parquet("a.parquet")
    rows.filter(run="b").write_parquet("b.parquet")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.whole("one advice of many", quick=3)
def test_what_is_advised_of_files_gives_the_right_result(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files, call, take, right = FILES[name]
    written(files)
    message = message_of(call)
    assert message is not None
    assert message.fix is not None
    code = (
        message.caller.setting(message.fix.code)
        if isinstance(message.fix.code, Setting)
        else message.caller.code(message.fix)
    )
    assert (code is None) == (take is None)
    assert take is None or take(code) == right


def message_of(call: Callable[[], Any]) -> IRError | IRWarning | None:
    """The error of a call, or its first warning with an advice; None of a call without either."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except IRError as error:
            return error
    told = [each.message for each in caught if isinstance(each.message, IRWarning)]
    return next((each for each in told if each.fix), None)


def followed(case: Case) -> Any:
    """The result after what the message of a call advises; None where it proposes no code."""
    message = message_of(lambda: case.call(**case.tables))
    assert message is not None
    assert message.fix is not None
    if isinstance(message.fix.code, Setting):
        typed = message.caller.setting(message.fix.code)
        assert f": {typed}." in str(message)
        return case.call(**case.tables, **eval(f"dict({typed})"))  # as it is typed
    code = message.caller.code(message.fix)
    if code is None:
        return None
    assert f": {code}." in str(message)
    if case.take is not None:
        return case.take(code, **case.tables)
    known = {"pl": pl, "pd": pd, "ir": ir, "json": json, **case.tables}
    table = message.about if message.about in case.tables else next(iter(case.tables))
    table = next((name for name in case.tables if code.startswith((f"{name}.", f"{name}["))), table)
    exec(code if " = " in code.partition("(")[0] else f"{table} = {code}", known)  # as it is pasted
    assert message_of(lambda: case.call(**{name: known[name] for name in case.tables})) is None
    return case.call(**{name: known[name] for name in case.tables})


CHUNKS = {"doc_id": ["a", "b"], "source": ["s", "s"], "start": [0, 10], "end": [10, 20]}
GOLD = {"query_id": ["q", "r"], "source": ["s", "s"], "start": [0, 5], "end": [5, 9]}


def quietly(function: Callable[..., Any], **arguments: Any) -> Any:
    """The result of a function, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IRWarning)
        return function(**arguments)


def of_spans(right: Any, kind: Any = POLARS, gold: Any = None, **chunks: Any) -> Case:
    """A case of chunks, or of gold, that differ from valid ones, and the ids of relevant chunks in the end."""
    return Case(
        lambda chunks, gold, **options: ir.qrels_from_spans(chunks, gold, **options)["doc_id"].to_list(),
        {"chunks": kind({**CHUNKS, **chunks}), "gold": kind({**GOLD, **(gold or {})})},
        right,
    )


NEW_CHUNKS = POLARS({"doc_id": ["c"], "source": ["s"], "start": [0], "end": [19]})


def moved_of(qrels: Any) -> Any:
    """Labels that were moved."""
    return quietly(ir.relabel, qrels=qrels, old_chunks=POLARS(CHUNKS), new_chunks=NEW_CHUNKS)


def of_labels(right: Any, qrels: dict[str, Any], chunks: Any = {}) -> Case:  # noqa: B006  # not changed
    """A case of labels that are moved, and the ids of the new chunks that have them in the end."""
    ids = qrels["q"]
    return Case(
        lambda qrels, old_chunks: (
            quietly(ir.relabel, qrels=qrels, old_chunks=old_chunks, new_chunks=NEW_CHUNKS).qrels["doc_id"].to_list()
        ),
        {
            "qrels": POLARS({"query_id": ["q"] * len(ids), "doc_id": ids, "relevance": [0] * len(ids)}),
            "old_chunks": POLARS({**CHUNKS, **chunks}),
        },
        right,
    )


CASES |= {
    "chunks without a start": of_spans(["a", "a"], start=[0, None]),
    "chunks that are empty": of_spans(["a", "a"], end=[10, 10]),
    "chunks of pandas that are empty": of_spans(["a", "a"], PANDAS, end=[10, 10]),
    "chunks before the text": of_spans(None, start=[-1, 10]),
    "offsets of chunks that are floats": of_spans(["a", "a"], start=[0.0, 10.0]),
    "offsets of bytes": of_spans(None, text=["é" * 5, "x" * 10]),
    "texts of chunks that are stripped": of_spans(["a", "a"], text=["x" * 10, "x" * 7]),
    "texts of chunks that are numbers": of_spans(["a", "a"], text=[1, 2]),
    "sources that are floats": of_spans(["a", "a"], source=[1.0, 1.0], gold={"source": ["1.0", "1.0"]}),
    "sources of two types": of_spans(["a", "a"], source=[1, 1], gold={"source": ["1", "1"]}),
    "one id of two chunks": of_spans(None, doc_id=["a", "a"]),
    "ids of chunks within their sources": of_spans(["s#0", "s#0"], doc_id=[0, 0], source=["s", "t"]),
    "ids of chunks within their sources, of pandas": of_spans(["s#0"] * 2, PANDAS, doc_id=[0, 0], source=["s", "t"]),
    "chunks that are twice": of_spans(["a", "a"], **{key: [CHUNKS[key][0]] * 2 for key in CHUNKS}),
    "ids of chunks that are too low": Case(
        lambda chunks, gold: quietly(ir.qrels_from_spans, chunks=chunks, gold=gold)["doc_id"].to_list(),
        {"chunks": POLARS({**CHUNKS, "doc_id": [-(2**63), 1]}), "gold": POLARS({**GOLD, "end": [5, 90]})},
        [str(-(2**63)), "no chunk of s from 5 to 90"],
    ),
    "offsets of chunks with fractions": of_spans(None, start=[0.5, 10.0]),
    "gold whose text stands elsewhere": of_spans(None, text=["x" * 10, "y" * 10], gold={"text": ["x" * 5, "y" * 4]}),
    "gold that is not relevant": of_spans(["a"], gold={"relevance": [1, 0]}),
    "gold that is twice": of_spans(["a"], gold={key: [GOLD[key][0]] * 2 for key in GOLD}),
    "segments of alternatives": Case(
        lambda chunks, gold: ir.qrels_from_spans(chunks, gold, segments=True)["length"].to_list(),
        {"chunks": POLARS(CHUNKS), "gold": POLARS({**GOLD, "subtopic": [1, 2]})},
        [5, 4],
    ),
    "gold that overlaps": Case(
        lambda chunks, gold, **options: ir.qrels_from_spans(chunks, gold, **options).height,
        {"chunks": POLARS(CHUNKS), "gold": POLARS({**GOLD, "query_id": ["q", "q"], "end": [7, 9]})},
        3,
    ),
    "gold that no chunk covers": Case(
        ir.qrels_from_spans,
        {"chunks": POLARS(CHUNKS), "gold": POLARS({**GOLD, "end": [5, 50]})},
        "b",
        lambda code, **tables: eval(code, {"pl": pl, "qrels": quietly(ir.qrels_from_spans, **tables)})["chunk"][0],
    ),
    "labels of chunks that are gone": of_labels(["c"], {"q": ["a", "z"]}),
    "labels of new chunks": of_labels(None, {"q": ["c"]}),
    "labels of numbers": of_labels(["c"], {"q": [7, 8]}, {"doc_id": ["7", "8"]}),
    "labels of several judges": Case(
        lambda qrels: quietly(ir.relabel, qrels=qrels, old_chunks=POLARS(CHUNKS), new_chunks=NEW_CHUNKS).qrels.rows(),
        {"qrels": POLARS({"query_id": ["q"] * 4, "judge": [*"xyzy"], "doc_id": [*"aaab"], "relevance": [1, 0, 1, 1]})},
        [("q", "c", 1)],
    ),
    "labels that need a person": Case(
        lambda qrels: ir.relabel(qrels, POLARS(CHUNKS), NEW_CHUNKS),
        {"qrels": POLARS({"query_id": ["q"], "doc_id": ["b"], "relevance": [1]})},
        "b",
        lambda code, qrels: eval(code, {"pl": pl, "moved": moved_of(qrels)})["doc_id"].item(),
    ),
    "no grade that is relevant": Case(
        lambda run, qrels, rel=3: ir.missing_evidence(run, qrels, k=1, rel=rel)["doc_id"].to_list(),
        {"run": {"q": ["x", "a"]}, "qrels": {"q": {"a": 2, "b": 1}}},
        ["a"],
    ),
    "documents of which the run has chunks": Case(
        rr, {"run": POLARS({**ranked(), "doc_id": ["x::1", "a::2", "b::1"]}), "qrels": QRELS}, 0.75
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::polars.exceptions.PolarsInefficientMapWarning")
@pytest.mark.whole("one advice of many", quick=10)
def test_what_is_advised_gives_the_right_result(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    assert followed(case) == case.right


#: Places that no case reaches: what is of Spark is followed there, what is made at import is no call.
OF_SPARK = "spark/"

#: A frame of Spark in another function than Spark's, which its own tests make.
NOT_FOLLOWED = {("frames/kinds.py", "_on_a_cluster")}


def cases_elsewhere(folder: Path) -> Iterator[Callable[[], Any]]:
    """The calls of other tables of cases that are followed, by Polars."""
    own = Path(__file__).parent
    others = {
        name: runpy.run_path(str(own / f"test_{name}.py")) for name in ("followed", "callers", "callers_of_files")
    }
    others |= {name: runpy.run_path(str(own / f"test_{name}.py")) for name in ("callers_of_fusion", "callers_of_plots")}
    for case in others["followed"]["FOLLOWED"].values():
        for kind in case.kinds:
            make = others["followed"]["KINDS"][kind]
            tables = {name: table if len(table) == 1 else make(table) for name, table in case.tables.items()}
            yield partial(case.call, **tables)
    for case in others["callers"]["PROVOCATIONS"].values():
        yield partial(case.call, {name: POLARS(columns) for name, columns in case.tables.items()})
    tables = {name: POLARS(others["callers"][name.upper()]) for name in ("run", "qrels")}
    for wrong, _ in others["callers"]["OTHERS"].values():
        yield partial(wrong, tables)
    for number, wrong in enumerate(others["callers_of_files"]["FILES"].values()):
        (path := folder / f"{number}{wrong.name}").write_bytes(wrong.content)
        yield lambda wrong=wrong, path=path: getattr(ir, f"read_{wrong.role}")(path, format=wrong.format)
    of_fusion = others["callers_of_fusion"]
    for wrong in of_fusion["FUSIONS"].values():
        yield partial(wrong.call, of_fusion["of_library"](wrong.tables, "polars"))


def _with_files(files: dict[str, bytes], call: Callable[[], Any]) -> None:
    written(files)
    call()


@pytest.mark.whole("all cases of advice again")
def test_every_advice_is_followed(monkeypatch, tmp_path):
    """Whoever adds an advice adds a case that follows it."""
    with noting_advice(monkeypatch) as lines, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monkeypatch.chdir(tmp_path)
        of_files = []
        for files, call, *_ in FILES.values():
            of_files.append(partial(_with_files, files, call))
        of_tables = (partial(case.call, **case.tables) for case in CASES.values())
        for call in (*of_tables, *of_files, *cases_elsewhere(tmp_path)):
            with suppress(IRError, pl.exceptions.PolarsError):
                call()
    never = {
        (name, function)
        for name, function, start, end in advice_places()
        if not name.startswith(OF_SPARK) and not any(path == name and start <= line <= end for path, line in lines)
    }
    assert sorted(never) == sorted(NOT_FOLLOWED)
