"""Every error of charts and tables through every caller it can pass: Polars, pandas, a LazyFrame.

The shell has neither charts nor tables.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import pandas as pd
import polars as pl
import pytest
from callers import never_made, noted

import polars_ir as ir
from polars_ir import plots

PER_QUERY = {
    "run": ["a"] * 3 + ["b"] * 3,
    "query_id": ["q1", "q2", "q3"] * 2,
    "AP": [0.1, 0.5, 0.9, 0.2, 0.4, 0.8],
    "RR": [1.0, 0.5, 0.25, 0.2, 0.4, 0.8],
}
ONE = {name: values[:3] for name, values in PER_QUERY.items()}
RUN = {"query_id": ["q1", "q2"], "doc_id": ["d1", "d1"], "score": [0.9, 0.7]}

#: More of systems, and of queries, than a chart has marks for.
MANY = {
    "run": [f"s{number}" for number in range(1300) for _ in range(4)],
    "query_id": ["q1", "q2", "q3", "q4"] * 1300,
    "AP": [number % 7 / 7 for number in range(5200)],
}
DAYS = {
    "query_id": [f"q{number}" for number in range(26)],
    "day": [number // 2 for number in range(26)],
    "week": [number // 14 for number in range(26)],
    "AP": [number / 26 for number in range(26)],
}


class Wrong(NamedTuple):
    """A call that fails, the table it fails with, and the one or the option that it works with; None for any other."""

    call: Callable[..., object]
    table: Mapping[str, list] = PER_QUERY
    right: Mapping[str, Any] | None = None


def table(per_query: Any, **options: Any) -> object:
    """A table as a text."""
    return ir.table(per_query, **{"format": "markdown", **options})


def scatter(per_query: Any, **options: Any) -> object:
    """A chart of two systems."""
    return plots.scatter(per_query, "AP", **{"x": "a", "y": "b", **options})


def differences(per_query: Any, **options: Any) -> object:
    """A chart of the differences from a system."""
    return plots.differences(per_query, **{"measure": "AP", "baseline": "a", **options})


def cutoffs(run: Any, **options: Any) -> object:
    """A chart of cutoffs."""
    return plots.cutoffs(run, {"q1": {"d1": 1}, "q2": {"d2": 1}}, **options)


def of(call: Callable[..., object], right: Mapping[str, Any] | None = None, **options: Any) -> Wrong:
    """A call that fails by its options."""
    return Wrong(lambda frame, **others: call(frame, **{**options, **others}), right=right)


WRONG = {
    "a title that is none": of(table, {"title": "3"}, title=3),
    "percent in words": of(table, {"percent": True}, percent="yes"),
    "too many digits": of(table, {"digits": 15}, digits=16),
    "no such baseline": of(table, {"baseline": "a"}, baseline="c"),
    "no other baseline": Wrong(
        lambda frame, **others: table(frame, **{"baseline": "b", **others}), ONE, {"baseline": "a"}
    ),
    "nothing": Wrong(table, ONE),
    "a label with a blank": of(table, {"label": "tab:a"}, label="a b", title="A", format="latex"),
    "a label without title": of(table, {"title": "A"}, label="tab:a", format="latex"),
    "no such order": of(table, {"order": "AP"}, order="nDCG"),
    "p of no baseline": of(table, {"baseline": "a"}, show="p"),
    "p of no test": of(table, {"test": "t"}, show="p", baseline="a", test=None),
    "two measures": of(differences, {"measure": "AP"}, measure=["AP", "RR"]),
    "no such key": of(table, {"by": None}, by="day"),
    "the baseline itself": of(differences, {"run": "b"}, run="a"),
    "one system twice": of(scatter, {"y": "b"}, y="a"),
    "no such measure": of(plots.heatmap, {"measures": ["AP"]}, measures="P"),
    "more systems than marks": Wrong(plots.distribution, MANY),
    "more values than panels": Wrong(
        lambda frame, **others: plots.distribution(frame, "AP", **{"by": "day", **others}), DAYS, {"by": "week"}
    ),
    "more cells than marks": Wrong(plots.heatmap, MANY | {f"P@{k}": MANY["AP"] for k in range(1, 5)}),
}
CUTOFFS = {
    "a cutoff beside a name": of(cutoffs, {"measure": "nDCG"}, measure="nDCG@10"),
    "no measure": of(cutoffs, {"measure": "nDCG"}, measure=3),
    "a function of no measure": of(cutoffs, {"measure": ir.ndcg}, measure=lambda k: k),
    "no cutoff": of(cutoffs, {"k": [1]}, k=[0]),
}
CUTOFFS = {name: wrong._replace(table=RUN) for name, wrong in CUTOFFS.items()}

LIBRARIES = {"polars": pl.DataFrame, "pandas": pd.DataFrame}


def frame_of(wrong: Wrong, library: Callable[..., Any]) -> Any:
    """The table of a case; one of nothing where nothing is wrong but that."""
    return library(wrong.table).head(0) if wrong is WRONG["nothing"] else library(wrong.table)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", [*WRONG, *CUTOFFS])
@pytest.mark.whole("as many charts", quick=5)
def test_a_chart_and_a_table_say_what_is_wrong_in_the_words_of_the_door(name, library):
    wrong = {**WRONG, **CUTOFFS}[name]
    frame = frame_of(wrong, LIBRARIES[library])
    with pytest.raises(ir.IRError) as error:
        wrong.call(frame)
    assert error.value.caller.kind == library
    assert not re.search(r"(?<![\w-])--[a-z]", str(error.value))
    if library == "pandas":
        assert not re.search(r"with_columns|pl\.|\.collect\(", str(error.value))
    if wrong.right is not None:
        wrong.call(frame, **wrong.right)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.whole("as many charts", quick=3)
def test_figures_of_a_plan_are_collected_as_advised(name):
    wrong = WRONG[name]
    per_query = frame_of(wrong, pl.LazyFrame)
    with pytest.raises(ir.IRError) as error:
        wrong.call(per_query, **(wrong.right or {}))
    code = error.value.caller.code(error.value.fix)
    assert str(error.value).endswith(f"Collect it first: {code}.")
    if wrong.right is not None:
        wrong.call(eval(code, {"per_query": per_query}), **wrong.right)  # noqa: S307  # our own advice, as a user types it


@pytest.mark.parametrize("name", CUTOFFS)
def test_cutoffs_of_a_plan_are_drawn_once_they_are_right(name):
    wrong = CUTOFFS[name]
    with pytest.raises(ir.IRError):
        wrong.call(pl.LazyFrame(RUN))
    wrong.call(pl.LazyFrame(RUN), **wrong.right)


@pytest.mark.parametrize("folder", ["plots", "tables"])
@pytest.mark.whole("scans what the other tests do")
def test_every_error_of_charts_and_tables_is_provoked(folder, monkeypatch):
    """Whoever adds an error to these folders adds what provokes it above, so that each of its callers is tried."""
    run, qrels = pl.DataFrame(RUN), {"q1": {"d1": 1}, "q2": {"d1": 1}}
    with noted(monkeypatch) as lines:
        for wrong in ({"query_id": ["q1", "q2"]}, {"names": "ab"}, {"qrels": None}):
            with suppress(ir.IRError):
                ir.side_by_side(run, run, **{"qrels": qrels, "measure": "AP", "query_id": "q1", **wrong})
        with suppress(ir.IRWarning):
            table(pl.DataFrame(PER_QUERY).with_columns(pl.col("run") + "m" * 90), format="latex")
        for library in (pl.DataFrame, pl.LazyFrame):
            for wrong in (*WRONG.values(), *CUTOFFS.values()):
                with suppress(ir.IRError):
                    wrong.call(frame_of(wrong, library))
    assert not (never := never_made(folder, lines)), ", ".join(never)
