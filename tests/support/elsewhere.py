"""Facts about measures, to be compared with those of another process."""

from __future__ import annotations

import io
import warnings
from typing import Any

import polars as pl
from generated import collection_of

import polars_ir as ir
from polars_ir.language.catalog import info_of
from polars_ir.language.measure import call_of
from polars_ir.language.names import resolve

#: A frame of each kind of answer, by what was asked.
Known = dict[str, pl.DataFrame]


def known_of(measures: list[pl.Expr], kind: str, explained: list[str]) -> Known:
    """Everything that the package tells of measures of a kind of judgments; of some, by name, the explanation too."""
    with warnings.catch_warnings(action="ignore", category=ir.IRWarning):
        run, qrels = collection_of(kind, 1)
        run, qrels = (frame.filter(pl.col("query_id").is_in(["q0", "q1", "q3", "q7", "q9"])) for frame in (run, qrels))
        known = {"figures": ir.evaluate(run, qrels, measures, undefined=None)}
        if kind == "documents":
            tied = run.with_columns(pl.col("score") // 6)
            expected = [m for m in measures if (call := call_of(m)) and info_of(call).expected]
            known["bounds"] = ir.evaluate(run, qrels, [m for m in measures if n_given(m) < 2], bounds=True)
            known["expectations"] = ir.evaluate(tied, qrels, expected, ties="expected", undefined=None)
        for measure in measures:
            if (name := measure.meta.output_name()) in explained:
                known[f"explanation of {name}"] = ir.explain(run, qrels, measure, query_id="q0")
        calls = [(measure.name, str(measure.call)) for measure in resolve(measures)]
        known["calls"] = pl.DataFrame(calls, schema=["column", "call"], orient="row")
    return known


def n_given(measure: pl.Expr) -> int:
    """The number of arguments of a measure that are not the defaults."""
    call = call_of(measure)
    assert call is not None
    return sum(value != info_of(call).parameters[name] for name, value in call.arguments.items())


def known_elsewhere(asked: dict[str, tuple[list[pl.Expr], list[bytes], list[str]]]) -> dict[str, Known]:
    """The facts in this process about measures pickled to it and, every other one, serialised by Polars."""
    known = {}
    for kind, (pickled, written, explained) in asked.items():
        read = [pl.Expr.deserialize(io.BytesIO(measure)) for measure in written]
        assert all(one.meta.eq(other) for one, other in zip(pickled, read, strict=True))
        known[kind] = known_of(
            [pair[at % 2] for at, pair in enumerate(zip(pickled, read, strict=True))], kind, explained
        )
    return known


def bounds_of(measures: list[pl.Expr], run: Any, qrels: Any) -> pl.DataFrame:
    """The figures of some measures with their bounds."""
    return ir.evaluate(run, qrels, measures, bounds=True)
