"""A failing case made small: what it fails without is left out, and what is left is printed as Python."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import polars as pl

import polars_ir as ir

from . import asking, generator, poisoning, tables
from .case import Case
from .comparison import differences
from .reference.rows import Collection, Options

#: So many smaller cases are tried: some seconds.
TRIES = 600


def report(seed: int, number: int) -> str | None:
    """The failure of the case of a number, as it is or poisoned, and the code that repeats it; None if it passes."""
    case = next((case for case in both(seed, number) if differences(case)), None)
    if case is None:
        return None
    small = smallest(case)
    again = f"python -m tests.differential --seed {seed} --first {number} --cases 1"
    return "\n".join(
        [
            f"case {number} of seed {seed}: {again}",
            *differences(case)[:5],
            "as small as it gets:",
            *differences(small)[:5],
            as_python(small),
        ]
    )


def both(seed: int, number: int) -> Iterator[Case]:
    """The case of a number as it is and, every other one, poisoned."""
    yield generator.case(seed, number)
    if poisoned := poisoning.poisoned(seed, number):
        yield poisoned


def smallest(case: Case) -> Case:
    """A case that fails as this one does, and of which nothing can be left out."""
    way = way_of_failing(case)
    tried = 0
    smaller = iter(simpler(case))
    while tried < TRIES and (candidate := next(smaller, None)):
        tried += 1
        if way_of_failing(candidate) == way:
            case, smaller = candidate, iter(simpler(candidate))
    return case


def way_of_failing(case: Case) -> str | None:
    """The error that is raised, that another one or none is told, or that figures differ."""
    found = differences(case)
    if not found:
        return None
    if "raised" in found[0]:
        return found[0].partition(":")[0]
    return next((way for way in (" gives ", " says ") if way in found[0]), "differs")


def simpler(case: Case) -> Iterator[Case]:
    """Cases that are the same but for one thing less."""
    yield from (replace(case, measures=(asked,)) for asked in case.measures if len(case.measures) > 1)
    yield from fewer_rows(case)
    yield from fewer_words(case)
    (asked, *others) = case.measures
    for name in () if others or asked.name in asking.OWN else asked.arguments:
        left = asked._replace(arguments={key: value for key, value in asked.arguments.items() if key != name})
        with suppress(ir.IRError):  # its parameters may go together only
            asking.expression(left)
            yield replace(case, measures=(left,))


def fewer_rows(case: Case) -> Iterator[Case]:
    """Cases with a part of the rows; systems that a column names stay as long as they have some."""
    for collection in fewer_rows_of(case.collection):
        left = {row.system for row in collection.run}
        systems = tuple(name for name in collection.systems if name is None or name in left or case.tables.by_system)
        yield replace(case, collection=collection._replace(systems=systems))


def fewer_rows_of(collection: Collection) -> Iterator[Collection]:
    """The collection with one query, or without some rows."""
    for query in {row.query for row in (*collection.run, *collection.judgments)}:
        run = tuple(row for row in collection.run if row.query == query)
        judgments = tuple(row for row in collection.judgments if row.query == query)
        if len(run) + len(judgments) < len(collection.run) + len(collection.judgments):
            yield collection._replace(run=run, judgments=judgments)
    for size in (16, 4, 1):
        for at in range(0, len(collection.run), size):
            yield collection._replace(run=collection.run[:at] + collection.run[at + size :])
        for at in range(0, len(collection.judgments), size):
            yield collection._replace(judgments=collection.judgments[:at] + collection.judgments[at + size :])


def fewer_words(case: Case) -> Iterator[Case]:
    """Cases with the default of an option, of a threshold, or of how tables are handed over."""
    for option, default in Options._field_defaults.items():
        if getattr(case.options, option) != default:
            yield replace(case, options=case.options._replace(**{option: default}))
    if case.by_name:
        yield replace(case, by_name=False)
    for threshold in case.thresholds:
        left = {name: value for name, value in case.thresholds.items() if name != threshold}
        yield replace(case, thresholds=left)
    plain = tables.Tables(by_system=case.tables.by_system)
    for name in (
        "run",
        "qrels",
        "run_types",
        "qrels_types",
        "run_names",
        "qrels_names",
        "pieces",
        "mixed",
        "by_rank",
        "extra",
    ):
        if getattr(case.tables, name) != getattr(plain, name):
            yield replace(case, tables=replace(case.tables, **{name: getattr(plain, name)}))


def as_python(case: Case) -> str:
    """The case as a script."""
    run, qrels = tables.handed_over(case.collection, case.tables, judges=case.options.judges)
    options = {name: value for name, value in case.options._asdict().items() if value != Options._field_defaults[name]}
    if case.options.judges:
        options["judges"] = "judge"
    lines = [f"# with {name} = {value}" for name, value in case.thresholds.items()]
    lines += [f"run = {written(run)}", f"qrels = {written(qrels)}"]
    measures = ", ".join(repr(asking.expression(asked).meta.output_name()) for asked in case.measures)
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    return "\n".join([*lines, f"ir.evaluate(run, qrels, [{measures}]{words})"])


def written(table: object) -> str:
    """A table as Python, whatever kind it is of."""
    if isinstance(table, dict) and any(
        isinstance(run, pl.LazyFrame) or hasattr(run, "columns") for run in table.values()
    ):
        return "{" + ", ".join(f"{system!r}: {written(run)}" for system, run in table.items()) + "}"
    if isinstance(table, pl.LazyFrame):
        return written(table.collect()) + ".lazy()"
    if isinstance(table, pl.DataFrame):
        schema = ", ".join(f"{name!r}: pl.{dtype!r}" for name, dtype in table.schema.items())
        return f"pl.DataFrame({table.to_dict(as_series=False)!r}, schema={{{schema}}})"
    if hasattr(table, "to_pydict"):
        return written(pl.DataFrame(table)) + ".to_arrow()"
    if hasattr(table, "iloc"):
        return written(pl.from_pandas(table)) + ".to_pandas()"
    return f"ir.judgments({written(table.frame)})" if hasattr(table, "frame") else repr(table)
