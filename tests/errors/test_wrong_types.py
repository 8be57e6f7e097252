"""Every public function with a value of a wrong type for each of its parameters: an error of ours, or a result."""

import datetime as dt
import inspect
import re

import numpy as np
import polars as pl
import pytest

import polars_ir as ir
from polars_ir import IRError

RUN = pl.DataFrame(
    {
        "run": ["a"] * 4 + ["b"] * 4,
        "query_id": ["q1", "q1", "q2", "q2"] * 2,
        "doc_id": ["d1", "d2"] * 4,
        "score": [4.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 4.0],
    }
)
ONE, OTHER = (RUN.filter(run=system).drop("run") for system in "ab")
QRELS = pl.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d1", "d2"], "relevance": [1, 1]})
JUDGED = pl.concat(QRELS.with_columns(judge=pl.lit(judge)) for judge in "ab")
PER_QUERY = RUN.ir.evaluate(QRELS, ["nDCG@10", "RR"])
FIGURES, LESS = (PER_QUERY.filter(run=system).drop("run") for system in "ab")
LISTS = pl.DataFrame({"query_id": ["q1"], "retrieved": [["d1", "d2"]], "relevant": [["d2"]]})
CLICKS = ir.interleave(ONE, OTHER, impression="i1").with_columns(clicks=1)
NUGGETS = pl.DataFrame({"query_id": ["q1"], "nugget": [1], "importance": ["vital"], "assignment": ["support"]})
SUPPORT = pl.DataFrame({"query_id": ["q1"], "sentence": [1], "citation": [1], "support": [2]})
CHUNKS = pl.DataFrame({"doc_id": ["d1"], "source": ["s"], "start": [0], "end": [9]})
GOLD = pl.DataFrame({"query_id": ["q1"], "source": ["s"], "start": [2], "end": [5]})
ORIGINAL = pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]})

#: Arguments that are right, by the parameter; those of a function itself come first.
RIGHT = {
    "run": ONE, "runs": RUN, "run_a": ONE, "run_b": OTHER, "qrels": QRELS, "per_query": PER_QUERY, "new": FIGURES,
    "old": LESS, "measures": ["nDCG@10"], "measure": "nDCG@10", "query_id": "q1", "frame": LISTS, "stored": FIGURES,
    "log": CLICKS, "reranked": ONE, "scores": ONE, "depth": 2, "by": "run", "baseline": "a", "train": QRELS,
    "test": QRELS, "k": 2, "original": ORIGINAL, "changed": ORIGINAL, "documents": {"q1": ["d1"]},
    "confidence": "RR", "format": "markdown", "name": "nDCG@10", "value": pl.col("score"), "numerator": pl.col("score"),
    "denominator": pl.col("score"), "source": "a book", "strategy": "last", "how": "mean",
}  # fmt: skip
OWN = {
    "collapse": {"by": pl.col("doc_id")},
    "fuse": {"format": None},
    "agreement": {"qrels": JUDGED},
    "qrels_from_spans": {"chunks": CHUNKS, "gold": GOLD},
    "relabel": {"qrels": {"q1": {"d1": 1}}, "old_chunks": CHUNKS, "new_chunks": CHUNKS},
    "merge_judgments": {"qrels": JUDGED},
    "twins": {"documents": {"d1": "a text"}},
    "stages": {"run": {"a": ONE, "b": OTHER}},
    "nugget_recall": {"frame": NUGGETS},
    "citation_precision": {"frame": SUPPORT},
    "citation_recall": {"frame": SUPPORT},
}

#: Options that must be set for the others to be read, or that make a call quick.
SET = {"resamples": 20, "simulations": 5}

WRONG = {
    "a number": 1.5,
    "a negative number": -3,
    "a text": "no such thing",
    "a list": ["x", 3],
    "an empty list": [],
    "a dict": {"x": "y"},
    "an expression": pl.col("nowhere"),
    "a series": pl.Series("s", [1, 2]),
    "an array": np.array([1, 2]),
    "a frame": pl.DataFrame({"x": [1]}),
    "a plan": pl.LazyFrame({"x": [1]}),
    "an object": object(),
    "bytes": b"x",
    "truth": True,
    "nothing": None,
    "a tuple": (1, None),
    "a day": dt.date(2026, 1, 1),
    "a function": len,
    "a class": int,
    "ellipsis": ...,
    "a set": {1, "a"},
    "not a number": float("nan"),
}

#: Words of measures with a value per document.
OF_DOCUMENTS = ("relevant", "top", "gain")

FUNCTIONS = {
    name: function for name in dir(ir) if inspect.isfunction(function := getattr(ir, name)) and not name.startswith("_")
}
CASES = [(name, parameter) for name, of in FUNCTIONS.items() for parameter in inspect.signature(of).parameters]


def own() -> pl.Expr:
    """A measure of the user's own."""
    return ir.hits(5)


def called(name, parameter, value, folder):
    signature = inspect.signature(FUNCTIONS[name])
    right = (
        RIGHT
        | ({"source": folder / "a.run"} if name != "measure" else {"name": "Mine"})
        | {"folder": folder, "path": folder / "b.run"}
        | OWN.get(name, {})
    )
    given = {
        each.name: right[each.name]
        for each in signature.parameters.values()
        if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    }
    given |= {each: number for each, number in SET.items() if each in signature.parameters}
    if signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
        before = list(signature.parameters)[: list(signature.parameters).index(parameter)]
        result = FUNCTIONS[name](*map(given.pop, before), value, value, **given)
    else:
        result = FUNCTIONS[name](**given | {parameter: value})
    if name == "measure":
        result = result(own)()
        del ir.CATALOG[(parameter == "name" and value) or "Mine"]
    if name == "of":
        result = result.evaluate(QRELS, "RR")
    if isinstance(result, pl.Expr):
        result = ir.evaluate(ONE, QRELS, [result.sum() if name in OF_DOCUMENTS else result])
    return result.collect() if isinstance(result, pl.LazyFrame) else result


@pytest.mark.filterwarnings("ignore::polars_ir.IRWarning")
@pytest.mark.parametrize(("name", "parameter"), CASES)
@pytest.mark.whole("every parameter of every function", quick=6)
def test_a_wrong_type_is_an_error_of_ours_or_has_a_result(name, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a text may be the path that a function writes to
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.0 t\n", encoding="utf-8")
    raw = {}
    for kind, value in WRONG.items():
        try:
            called(name, parameter, value, tmp_path)
        except (IRError, AssertionError):  # assert_no_worse raises a verdict
            pass
        except Exception as error:  # noqa: BLE001  # any other is the fault looked for
            raw[kind] = f"{type(error).__name__}: {re.sub(chr(10), ' ', str(error))[:150]}"
    assert not raw
