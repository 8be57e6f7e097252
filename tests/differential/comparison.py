"""The package beside the reference: what they disagree on."""

import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import product
from typing import Any, Literal

import polars as pl

import polars_ir as ir

from . import asking, tables, thresholds
from .case import Case
from .reference import evaluation
from .reference.soundness import Wrong, wrong_rows

#: Sums in another order, and closed forms in the place of sums.
RELATIVE, ABSOLUTE = 1e-9, 1e-12

ENGINES = ("in-memory", "streaming")

#: Ways to read the plan of a result: whole, and its last measure alone; by each it is to find what is wrong with rows.
READINGS: tuple[Callable[[pl.LazyFrame], pl.DataFrame], ...] = (
    lambda plan: plan.collect(engine="in-memory"),
    lambda plan: plan.select(pl.last()).collect(engine="streaming"),
)

#: The messages of plans, by the table and whether its rows repeat ids.
OF_PLANS = {
    ("run", False): "the run has ids or scores that are null, or scores that are NaN",
    ("run", True): "the run gives a document of a query more than once",
    ("qrels", False): "the qrels have ids or grades that are null, or grades that are not finite",
    ("qrels", True): "the qrels give a document of a query more than once",
}


def differences(case: Case) -> list[str]:
    """The differences of the package from the reference."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Collections without an id in common are among those made up.
        warnings.simplefilter("ignore", ir.IRWarning)
        try:
            with valid_input():
                run, qrels = tables.handed_over(case.collection, case.tables, judges=case.options.judges)
            if wrong := wrong_rows(case.collection, case.options):
                return list(of_errors(case, run, qrels, wrong))
            # Both of the same tables, which no call may change.
            return [*of_figures(case, run, qrels), *of_relation(case, run, qrels)]
        except RaisedError as error:
            return [str(error)]


class RaisedError(Exception):
    """The errors of the package for valid input."""


@contextmanager
def valid_input() -> Iterator[None]:
    """Whatever the package raises as an error of ours; a panic of Polars is no `Exception`."""
    try:
        yield
    except (Exception, pl.exceptions.PanicException) as error:
        raise RaisedError(f"raised {type(error).__name__}: {str(error)[:500]}") from error


def of_figures(case: Case, run: Any, qrels: Any) -> Iterator[str]:
    """The differences of `evaluate`."""
    named = [(asking.expression(asked).meta.output_name(), asked) for asked in case.measures]
    wanted = evaluation.evaluate(case.collection, named, case.options)
    first, *others = evaluated(case, run, qrels)
    yield from (f"{ENGINES[1]} gives other bits than {ENGINES[0]}" for other in others if bits(other) != bits(first))
    system, query = (own_name(case, role) for role in ("run", "query"))
    columns = list(next(iter(wanted.values()), {}))
    systems = [system] if case.collection.systems != (None,) else []
    if wanted and first.columns != [*systems, query, *columns]:
        yield f"columns {first.columns}; wanted {[*systems, query, *columns]}"
        return
    rows = {(row.get(system), row[query]): row for row in first.iter_rows(named=True)}
    if list(rows) != list(wanted) or first.height != len(rows):
        yield f"rows of {unlike(rows, wanted)}"
        return
    ties = evaluation.ties_of(case.collection, case.options.ties)
    for key, values in wanted.items():
        for name, value in values.items():
            if not same(rows[key][name], value, ties):
                yield f"{name} of {key} is {rows[key][name]!r}; wanted {value!r}"


def of_errors(case: Case, run: Any, qrels: Any, wrong: Wrong) -> Iterator[str]:
    """The differences for wrong rows: every way to a figure is to end in an error that tells of them."""
    judged_only = case.options.judged_only
    searched = tables.is_searched(case.collection, case.tables, case.thresholds, judged_only=judged_only)
    if not (wrong.is_read or searched):
        return
    # Of a dict of systems the first that is wrong is told, by its name.
    count = "" if case.tables.by_system and wrong.table == "run" else f"{wrong.count} row"
    at_once = [f"{wrong.table} ", f" has {count}", repr(name_of(case, wrong)) if wrong.role else "repeat the ids"]
    for made, read in (*product([result_of], READINGS), (relation_of, READINGS[0])):
        try:
            with thresholds.set_to(case.thresholds):
                table = made(case, run, qrels)
                figures = read(table) if isinstance(table, pl.LazyFrame) else table
        except ir.IRError as error:
            said, wanted = str(error), at_once
        except pl.exceptions.InvalidOperationError as error:
            said, wanted = str(error), [OF_PLANS[wrong.table, wrong.role is None]]
        else:
            # The plan of an empty result may not read what is wrong: no figure comes of it.
            if figures is not None and not (isinstance(table, pl.LazyFrame) and figures.is_empty()):
                yield f"{made.__name__} gives {figures}; wanted an error: {at_once}"
            continue
        if not all(words in said for words in wanted) and not (wrong.role is None and is_of_no_document(case, said)):
            yield f"{made.__name__} says {said!r:.500}; wanted {wanted}"


def is_of_no_document(case: Case, said: str) -> bool:
    """Whether an error tells of an id that indexes write where they found nothing, as it does if that id repeats."""
    ids = {row.document for row in case.collection.run} & {"", "-1", -1}
    return bool(ids) and "rows of the id" in said


def name_of(case: Case, wrong: Wrong) -> str:
    """The user's name of the column whose values are wrong."""
    if wrong.role in ("judge", "group"):
        return wrong.role
    kind, names = (
        (case.tables.run, case.tables.run_names)
        if wrong.table == "run"
        else (case.tables.qrels, case.tables.qrels_names)
    )
    role = "run" if wrong.role == "system" else str(wrong.role)
    usual = tables.NAMES[role][0]
    return usual if kind in tables.LISTS else names.get(role, usual)


def unlike(rows: Iterable[Any], wanted: Iterable[Any]) -> str:
    """Rows that only one of the two has; where there is none, they are in another order, or some are repeated."""
    rows, wanted = list(rows), list(wanted)
    more, less = [row for row in rows if row not in wanted], [row for row in wanted if row not in rows]
    return f"{more[:5]} too many, {less[:5]} too few" if more or less else f"{rows[:5]}, in another order or repeated"


def evaluated(case: Case, run: Any, qrels: Any) -> list[pl.DataFrame]:
    """The result as Polars frames: of a plan one by each engine."""
    with thresholds.set_to(case.thresholds), valid_input():
        result = result_of(case, run, qrels)
        kind = next(iter(run.values()), None) if case.tables.by_system else run
        if isinstance(result, pl.LazyFrame):
            assert isinstance(kind, pl.LazyFrame) or case.tables.mixed, f"a LazyFrame for a {type(kind)}"
            return [result.collect(engine=engine) for engine in ENGINES]
    if case.tables.run == "pandas":
        assert type(result) is type(kind), f"a {type(result)} for a {type(kind)}"
        return [pl.from_pandas(result)]
    assert isinstance(result, pl.DataFrame), f"a {type(result)} for a {type(kind)}"
    return [result]


def result_of(case: Case, run: Any, qrels: Any) -> Any:
    """The result of `evaluate` for a case."""
    measures = [
        asking.expression(asked).meta.output_name()
        if case.by_name and not asking.has_words(asked)
        else asking.expression(asked)
        for asked in case.measures
    ]
    options = {**case.options._asdict(), "judges": "judge" if case.options.judges else None}
    return ir.evaluate(run, qrels, measures, **options)


def relation_of(case: Case, run: Any, qrels: Any) -> Any:
    """The result of `judge` for a case; None for a case it does not take."""
    plain = case.collection.kind == "documents" and case.collection.with_ids and not case.options.judges
    if not plain or case.options.ties == "expected":
        return None
    return ir.judge(run, qrels, ties=case.options.ties, judged_only=case.options.judged_only)


def own_name(case: Case, role: Literal["run", "query"]) -> str:
    """The name of the column of systems or queries in a result: that in the run."""
    usual = tables.NAMES[role][0]
    named = case.tables.run in tables.FRAMES and not (role == "run" and case.tables.by_system)
    return case.tables.run_names.get(role, usual) if named else usual


def same(value: Any, wanted: Any, ties: str) -> bool:
    """True if two values are equal, and of one type; counts are exact, unless they are expected."""
    numbers = isinstance(value, (int, float)) and isinstance(wanted, (int, float))
    if numbers and (ties == "expected" or type(value) is type(wanted) is float):
        return math.isclose(value, wanted, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(value) is type(wanted) and value == wanted


def bits(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    """The rows of a frame, with each float spelt out to its last bit."""
    return [tuple(v.hex() if isinstance(v, float) else v for v in row) for row in frame.iter_rows()]


def digest(cases: Iterable[Case]) -> str:
    """A digest of the figures of some cases to the last bit."""
    of_all = hashlib.sha256()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IRWarning)
        for case in cases:
            handed_over = tables.handed_over(case.collection, case.tables, judges=case.options.judges)
            of_all.update(repr([bits(frame) for frame in evaluated(case, *handed_over)]).encode())
    return of_all.hexdigest()


def of_relation(case: Case, run: Any, qrels: Any) -> Iterator[str]:
    """The differences of `judge`: ranks and counts, exactly."""
    with thresholds.set_to(case.thresholds), valid_input():
        relation = relation_of(case, run, qrels)
        frame = relation.collect() if isinstance(relation, pl.LazyFrame) else relation
    if frame is None:
        return
    frame = frame if isinstance(frame, pl.DataFrame) else pl.from_pandas(frame)
    if case.tables.run == "pandas" and frame["doc_id"].dtype.is_float():
        return  # pandas has no integers beside a null: the row of a query that nothing was judged for
    own = own_name(case, "run"), own_name(case, "query")
    found = [(key_of(row, *own), row) for row in frame.iter_rows(named=True)]
    wanted = evaluation.relation(case.collection, case.options)
    # A query without judgments may be reported more than once.
    of_documents = [sum(key[-1] is not None for key in keys) for keys in (dict(found), [key for key, _ in found])]
    if dict(found).keys() != wanted.keys() or len(set(of_documents)) > 1:
        yield f"judge gives rows of {unlike([key for key, _ in found], wanted)}"
        return
    for key, row in found:
        if other := {name: row[name] for name in wanted[key] if row[name] != wanted[key][name]}:
            yield f"judge gives {other} of {key}; wanted { {name: wanted[key][name] for name in other} }"


def key_of(row: Mapping[str, Any], system: str, query: str) -> tuple[Any, Any, Any]:
    return row.get(system), row[query], row["doc_id"]
