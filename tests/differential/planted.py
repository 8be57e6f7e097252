"""Bugs planted by hand, one at a time, in the package as it runs: the differential cases are to find each of them.

A bug is a piece of a function's source with what stands in its place, so that it reads as the change it is. The piece
must be there exactly once: where the code is written anew, planting fails until the bug is, too.
"""

import __future__

import ast
import functools
import importlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import polars_ir

from . import thresholds
from .case import Case
from .reference.soundness import wrong_rows
from .tables import is_planned


def any_case(_: Case) -> bool:
    return True


def poisoned(case: Case) -> bool:
    return wrong_rows(case.collection, case.options) is not None


def repeated(table: str) -> Callable[[Case], bool]:
    """Cases whose plan is to find rows of a table that repeat ids."""

    def concerns(case: Case) -> bool:
        wrong = wrong_rows(case.collection, case.options)
        return is_planned(case.tables) and wrong is not None and (wrong.table, wrong.role) == (table, None)

    return concerns


def asks_for(*measures: str) -> Callable[[Case], bool]:
    """Cases with one of some measures."""
    return lambda case: any(asked.name in measures for asked in case.measures)


def by_hashes(case: Case) -> bool:
    """True if rows may be left out by hashes that all entries share."""
    return case.thresholds == {**thresholds.OF_LARGE_RUNS, "slots": 0}


def condensed(case: Case) -> bool:
    return case.options.judged_only


def under_ties(case: Case) -> bool:
    return case.options.ties == "expected"


def of_kind(kind: str) -> Callable[[Case], bool]:
    """Cases with judgments of a kind."""
    return lambda case: case.collection.kind == kind


class Bug(NamedTuple):
    """A replacement of a piece of a function, and the cases that can find it."""

    about: str
    function: str
    right: str
    wrong: str
    concerns: Callable[[Case], bool] = any_case


BUGS = (
    Bug("the lowest score comes first, sorted", "engine.as_plan.by_sorting", "descending=True", "descending=False"),
    Bug(
        "the lowest score comes first, numbered",
        "engine.in_memory._order",
        'rows.sort("score", descending=True',
        'rows.sort("score", descending=False',
    ),
    Bug(
        "the lowest score comes first, numbered by ranking",
        "engine.in_memory._order",
        'sort_by("score", descending=True',
        'sort_by("score", descending=False',
    ),
    Bug("rows out of order are taken for ordered", "engine.in_memory._stand_in_order", "not rising.any()", "True"),
    Bug("the lowest id comes first, numbered", "engine.in_memory._tie_groups", "descending=True", "descending=False"),
    Bug(
        "the lowest id comes first, counted",
        "engine.as_plan.by_counting",
        '> text("hit_doc_id")',
        '< text("hit_doc_id")',
        lambda case: case.options.ties == "doc_id",
    ),
    Bug(
        "integer ids break ties as numbers",
        "language.words.text",
        ".cast(pl.String)",
        "",
        lambda case: case.options.ties == "doc_id",
    ),
    Bug("equal scores stand above, counted", "engine.as_plan._above", "(score > hit_score)", "(score >= hit_score)"),
    Bug("equal scores stand above, sorted", "engine.ranking.tie_counts", '"min"', '"max"'),
    Bug(
        "the order of the input is not kept",
        "engine.ranking.positioned",
        "(-pl.int_range",
        "(pl.int_range",
        lambda case: case.options.ties == "input",
    ),
    Bug("not relevant before unjudged at best", "engine.ranking.reordered", "grade - 1", "grade + 1"),
    Bug("a cutoff one too high", "language.words.top", "of <= k", "of < k"),
    Bug("a precision out of what is retrieved", "language.words.length", "pl.len().clip(k, k)", "n_retrieved"),
    Bug("the lowest relevant grade is not", "language.words.relevant", "relevance >= check", "relevance > check"),
    Bug(
        "without a relevant document 0, not undefined",
        "language.words.if_relevant",
        "n_relevant(rel) > 0",
        "n_relevant(rel) >= 0",
    ),
    Bug("null ids and scores are let in", "frames.rules.wrong_value", "value.is_null()", "pl.lit(False)", poisoned),
    Bug("scores that are NaN are let in", "frames.rules.wrong_value", ".is_nan()", ".is_infinite()", poisoned),
    Bug(
        "infinite grades are let in",
        "frames.rules.wrong_grade",
        "grade.is_null() | ~grade.is_finite()",
        "grade.is_null()",
        poisoned,
    ),
    Bug(
        "a plan guards no rows of the run",
        "frames.canonical_frame.CanonicalFrame.guarded",
        "self.guarded_by(*wrong_row(self.about, self.by, *self.keys))",
        "self",
        poisoned,
    ),
    Bug(
        "condensed plans drop wrong rows",
        "engine.as_plan._condensed",
        ".fill_null(False) | wrong_run_row(run.keys)",
        ".fill_null(False)",
        lambda case: poisoned(case) and condensed(case),
    ),
    Bug(
        "duplicates are let in, in memory",
        "frames.canonical_frame.CanonicalFrame.check_once",
        "and may_repeat",
        "and False and may_repeat",
        poisoned,
    ),
    Bug(
        "duplicates are let in, in plans",
        "engine.run_and_qrels.with_twice",
        '< pl.col("hash").count()',
        '> pl.col("hash").count()',
        repeated("run"),
    ),
    Bug(
        "duplicate judgments are let in, in plans",
        "engine.as_plan._judgments",
        "*repeated",
        "*wrong",
        repeated("qrels"),
    ),
    Bug(
        "condensed lists leave out grade 0, numbered",
        "engine.in_memory.relate_by_number",
        "grades >= 0",
        "grades > 0",
        condensed,
    ),
    Bug(
        "condensed lists leave out grade 0, planned",
        "engine.as_plan._condensed",
        'pl.col("relevance") >= 0',
        'pl.col("relevance") > 0',
        condensed,
    ),
    Bug(
        "judgments go to the wrong system",
        "engine.in_memory._rows",
        "// n_queries * n_judgments + of_matches",
        "// n_queries * 0 + of_matches",
    ),
    Bug("documents retrieved count those judged", "engine.in_memory.Rankings.counts", ".fill_null(0)", ".fill_null(1)"),
    Bug(
        "floors that share a slot keep the highest",
        "engine.prefilter.reaches",
        "pl.col(floor).min()",
        "pl.col(floor).max()",
        by_hashes,
    ),
    Bug("a slot of the prefilter is lost", "engine.prefilter.among", "entries.select", "entries.head(3).select"),
    Bug(
        "bounds forget a document below the cutoff",
        "engine.bounds.judgings",
        "(k + 1, None)",
        "(k + 2, None)",
        lambda case: case.options.bounds,
    ),
    Bug(
        "bounds take the lowest grade for the highest",
        "engine.bounds.Judging._grade",
        'pl.col("relevance").max()',
        'pl.col("relevance").min()',
        lambda case: case.options.bounds,
    ),
    Bug(
        "expected: the places of a tie are one too few",
        "language.ties.places",
        "tied, k - higher)",
        "tied, k - higher - 1)",
        under_ties,
    ),
    Bug(
        "expected: the first relevant document",
        "language.measures.reciprocal_rank.reciprocal_rank_under_ties",
        "(left - r + 1) / left",
        "(left - r) / left",
        under_ties,
    ),
    Bug("queries that were missed are left out", "runs.evaluate._of_queries", '== "skip"', '== "zero"'),
    Bug(
        "the mean over judges counts those who know nothing",
        "engine.grouping.grouped",
        ".cast(pl.Float64)",
        ".cast(pl.Float64).fill_null(0.0)",
        lambda case: case.options.judges,
    ),
    Bug(
        "covering a subtopic again is as new",
        "language.measures.diversity.above",
        ".shift(1, fill_value=0)",
        ".shift(2, fill_value=0)",
        of_kind("subtopics"),
    ),
    Bug(
        "the greedy ideal takes the lowest id",
        "engine.greedy._with_place",
        '.filter("tied").max()',
        '.filter("tied").min()',
        asks_for("alpha_nDCG", "nERR_IA", "nNRBP"),
    ),
    Bug(
        "equal levels are preferences",
        "engine.preferences.preferences_of",
        '.over(*judge, "group"), "level", dtype',
        '.over(*judge, "group"), pl.col("level") + 1, dtype',
        of_kind("preferences"),
    ),
    Bug(
        "preferences that follow are left out",
        "engine.preferences.preferences_of",
        "_with_implied(partial.unique(), documents, table)",
        "partial.unique()",
        of_kind("preferences"),
    ),
    Bug(
        "a preferred document below the other",
        "language.measures.preferences.fulfilled",
        "preferred_rank < other_rank",
        "preferred_rank > other_rank",
        of_kind("preferences"),
    ),
)

#: Bugs that show where the same rows come in another form.
OF_FORMS = (
    Bug("a column of the user's is taken for ours", "engine.as_plan._condensed", '"polars_ir: kept"', '"kept"'),
    Bug(
        "a plan condenses otherwise", "engine.as_plan._condensed", 'pl.col("relevance") >= 0', 'pl.col("relevance") > 0'
    ),
    Bug("rows out of order are taken for ordered", "engine.in_memory._stand_in_order", "not rising.any()", "True"),
    Bug(
        "a distance in integers is no distance",
        "runs.rankings.oriented",
        "turned = 0 - score if",
        "turned = score if",
    ),
    Bug("a dict of systems is lost", "frames.table.run_table", "holds_systems(run)", "not holds_systems(run)"),
    Bug("a row of pandas is taken for a header", "frames.kinds.from_pandas", "(_plain(value))", "(_plain(value[1:]))"),
)

#: Bugs that show where a column, or a measure, has some name.
OF_NAMES = (
    Bug(
        "a column is taken for an old id",
        "runs.verbs.collapse",
        'f"polars_ir: {role}"',
        '"kept" if role in "doc_id" else "new"',
    ),
    Bug("a measure called as a part is one", "language.columns.measure_of", "if measure and", "if"),
    Bug(
        "the name of a relation's column is a judge's",
        "frames.table.qrels_table",
        "(names.values(), without)",
        "(names.values(),)",
    ),
)


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """The package with a bug, in whatever refers to the function that has it."""
    function = found(bug.function)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(function, "__code__", code_with(bug, function))
        forget()
        try:
            yield
        finally:
            forget()


def forget() -> None:
    """Clear the caches of the package: what a bug made must not stay, nor what was made before hide the bug."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "polars_ir":
            for kept in vars(module).values():
                if isinstance(kept, functools._lru_cache_wrapper):  # noqa: SLF001
                    kept.cache_clear()


def found(path: str) -> Any:
    """A function of the package by its path, without what decorates it."""
    parts = path.split(".")
    folder = Path(polars_ir.__file__).parent
    n = next(n for n in range(1, len(parts)) if folder.joinpath(*parts[:n]).with_suffix(".py").exists())
    here: Any = importlib.import_module(".".join(["polars_ir", *parts[:n]]))
    for attribute in parts[n:]:
        assert hasattr(here, attribute), f"{path} is gone: plant its bugs in what there is now"
        here = getattr(here, attribute)
    here = inspect.unwrap(here)
    return getattr(here, "__func__", here)


def code_with(bug: Bug, function: Callable[..., Any]) -> Any:
    """The code of a function with a bug in it."""
    source = textwrap.dedent(inspect.getsource(function))
    times = source.count(bug.right)
    assert times == 1, (
        f"{bug.right!r} is {times} times in {bug.function}: plant the bug {bug.about!r} in what is there now"
    )
    tree = ast.parse(source.replace(bug.right, bug.wrong))
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    made: dict[str, Any] = {}
    exec(  # noqa: S102  # the package's own source
        compile(tree, inspect.getfile(function), "exec", __future__.annotations.compiler_flag),
        dict(function.__globals__),
        made,
    )
    return made[function.__name__].__code__
