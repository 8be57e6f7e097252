"""Warnings of a result that is right, and probably not the one that was meant.

Conventions: what a result in memory tells is said at once, and what that of a LazyFrame tells when it is collected. A
warning says what to look at and what to do.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_ir.engine.pairing import Pair, retrieves_judged
from polars_ir.engine.relation import HITS
from polars_ir.errors import Code, Fix, Setting, door, option, quoted, the, warn
from polars_ir.frames.table import Table
from polars_ir.language.identity import Call, Measured

#: A column that tells whether the run answered a query; it is made and dropped on the way.
ANSWERED = "polars_ir: answered"

#: How many systems or measures a warning names.
NAMED = 3


def warn_of_plan(plan: pl.LazyFrame, pair: Pair, measures: Sequence[Measured], *, missing: str) -> pl.LazyFrame:
    """The plan without what is made on the way, which warns of its result when it is collected.

    Only its own `collect` does, no plan that is made of it: a Python function in the plan itself would keep it from
    being sent to other processes.
    """
    made = [name for name in (HITS, ANSWERED) if name in plan.collect_schema()]
    result = plan.drop(made)

    @functools.wraps(pl.LazyFrame.collect)
    def collect(*args: Any, **options: Any) -> Any:
        if options.get("background"):
            return pl.LazyFrame.collect(result, *args, **options)
        collected = pl.LazyFrame.collect(plan, *args, **options)
        warn_of_result(collected, pair, measures, missing=missing)
        return collected.drop(made)

    result.collect = collect  # type: ignore[method-assign]  # of this one plan
    return result


def warn_of_result(result: pl.DataFrame, pair: Pair, measures: Sequence[Measured], *, missing: str) -> None:
    """Warn of systems that share nothing with the judgments, of many queries without an answer, and of NaN.

    And of grades that no measure finds relevant, where they were not in memory before.
    """
    judgments = pair.qrels or pair.run
    if not judgments.eager:
        warn_of_grades(judgments, measures)
    if pair.qrels is not None:
        systems = _without_hits(result, pair)
        if systems != []:
            _warn_of_nothing_shared(pair, pair.qrels, systems)
        else:
            _warn_of_nothing_relevant(result, pair.qrels, measures)
            if missing == "zero":
                _warn_of_few_answers(result, pair)
    _warn_of_nan(result)


def _warn_of_nothing_relevant(result: pl.DataFrame, qrels: Table, measures: Sequence[Measured]) -> None:
    """Warn of judgments none of which says that a document is relevant, where a measure has nothing for any query.

    Only measures of relevant documents tell, and none with `rel=0`: to it every judged document is relevant.
    """
    figures = [result[m.name] for m in measures if m.call and m.call.arguments.get("rel", 0) != 0]
    if not any(values.dtype.is_numeric() and not values.max() for values in figures):
        return
    highest = qrels.select("relevance").select(pl.col("relevance").max()).collect(engine=qrels.engine).item()
    if highest is not None and highest <= 0:
        warn(f"no grade of {the('qrels')} is above 0, so that no document is relevant.")


def warn_of_grades(judgments: Table, measures: Sequence[Measured]) -> None:
    """Warn of measures for which no grade is relevant, or, of grades between 0 and 1, only the highest."""
    calls = [(m.name, m.call, rel) for m in measures if m.call and (rel := m.call.arguments.get("rel")) is not None]
    if not judgments.dtypes["relevance"].is_float():
        calls = [each for each in calls if each[2] > 1]  # a whole grade above 0 is 1 or more
    if not calls:
        return
    grade = pl.col("relevance")
    positive = judgments.select("relevance").filter(grade > 0)
    lowest, highest = positive.select(lowest=grade.min(), highest=grade.max()).collect(engine=judgments.engine).row(0)
    if highest is None:
        return
    for problem, wrong in {
        f"no grade is relevant: the highest is {highest:g}": [each for each in calls if highest < each[2]],
        "only grades of 1 are relevant, and others between 0 and 1 are not": [
            each for each in calls if each[2] == 1 and lowest < 1 == highest
        ],
    }.items():
        if wrong:
            names = [name for name, _, _ in wrong]
            name = _from_grade(wrong[0][1], 0.5 if lowest < 1 and highest <= 1 else highest)
            words = "Name the lowest relevant grade, as in"
            warn(f"to {_some(names)} {problem}.", fix=Fix(words, Code(repr(name)), without_code=f"{words} {name}"))


def _from_grade(call: Call, rel: float) -> str:
    """The name of a measure for which grades from `rel` on are relevant."""
    k = call.arguments.get("k")
    return f"{call.measure}(rel={rel:g})" + (f"@{k}" if k is not None else "")


def _without_hits(result: pl.DataFrame, pair: Pair) -> list[Any] | None:
    """The systems that retrieved no judged document; None if there is no other, or none at all."""
    if not result[HITS].any():
        return [] if retrieves_judged(pair) else None
    if "run" not in pair.run.keys:
        return []
    silent = result.group_by("run").agg(pl.col(HITS).any()).filter(~pl.col(HITS))["run"].sort().to_list()
    return [system for system in silent if not retrieves_judged(_of_systems(pair, [system]))]


def _of_systems(pair: Pair, systems: list[Any]) -> Pair:
    """The pair with the rows of some systems."""
    rows = pair.run.all_columns().filter(pl.col("run").is_in(systems))
    return Pair(pair.run.made_of(rows), pair.qrels)


def _warn_of_nothing_shared(pair: Pair, qrels: Table, systems: list[Any] | None) -> None:
    """Warn of ids that probably differ in form: every figure would be 0, and look like a bad run."""
    judged = qrels.select("query_id", "doc_id").head(1).collect(engine=qrels.engine)
    if judged.height and qrels.select("doc_id").drop_nulls().head(1).collect(engine=qrels.engine).is_empty():
        return  # the qrels say on purpose that nothing is relevant
    run, of_systems = pair.run, ""
    if systems is not None:
        run = _of_systems(pair, systems).run
        of_systems = f" of {_some(systems)}"
    queries = run.select("query_id").join(qrels.select("query_id"), on="query_id", how="semi")
    role = "doc_id" if queries.head(1).collect(engine=run.engine).height else "query_id"
    problem = {
        "doc_id": f"no retrieved document{of_systems or of_file()} is judged for its query",
        "query_id": f"{the('run')}{of_systems} and {the('qrels')} share no query",
    }[role]
    of_run, of_qrels = (_examples(table, role) for table in (run, qrels))
    warn(f"{problem}; ids of {the('run')} are {of_run}, of {the('qrels')} {of_qrels}.")


def _warn_of_few_answers(result: pl.DataFrame, pair: Pair) -> None:
    """Warn of runs that answer fewer than half of the judged queries: most of a mean is then made of zeros.

    The message holds no numbers, so that Python shows it once where a loop evaluates many slices.
    """
    systems = [key for key in pair.run.keys if key == "run"]
    if not _few(result, HITS, systems):
        return  # who finds judged documents for half of them answers these
    if ANSWERED not in result.columns:
        query = pair.run.names["query_id"]
        answered = pair.run.select(*pair.run.keys).unique().rename({"query_id": query})
        answers = answered.with_columns(pl.lit(True).alias(ANSWERED)).collect(engine=pair.run.engine)
        result = result.join(answers, on=[*systems, query], how="left")
    if few := _few(result, ANSWERED, systems):
        fix = Fix(
            "If they are a slice of the queries, leave the others out",
            Setting("missing", "skip"),
            f", or evaluate all of them at once and take the means by slice ({option('by')})",
        )
        run = f"{the('run')} of {_some(few)}" if systems else the("run")
        warn(
            f"{run} answers fewer than half of the judged queries, and each that it does not answer counts 0.", fix=fix
        )


def _few(result: pl.DataFrame, column: str, systems: list[str]) -> list[Any]:
    """The systems, or True for the only one, for which a column is true of fewer than half of the queries."""
    if not systems:
        return [True] if 2 * int(result[column].sum()) < result.height else []
    share = pl.col(column).cast(pl.Float64).fill_null(0).mean()
    return result.group_by(systems).agg(share).filter(pl.col(column) < 0.5)["run"].sort().to_list()


def _warn_of_nan(result: pl.DataFrame) -> None:
    """Warn of values that are no numbers, which every mean would carry on."""
    for name, values in result.to_dict().items():
        if not values.dtype.is_float():
            continue
        # A sum is NaN if a value is, or where values are infinite both ways.
        if math.isnan(values.sum()) and (count := int(values.is_nan().sum())):
            bad = result.filter(pl.col(name).is_nan())
            warn(
                f"{name!r} is NaN for {count} of {result.height} queries{of_file()}, the first being "
                f"{bad.item(0, bad.columns.index('query_id') if 'query_id' in bad.columns else 0)!r}: "
                "a column that it reads holds NaN or infinite values. Fill them, or leave those rows out."
            )


def of_file() -> str:
    """Which run a warning is about, where runs are files."""
    return f" of {the('run')}" if "run" in door().names else ""


def _examples(table: Table, role: str) -> str:
    rows = table.select(role).drop_nulls().unique(maintain_order=table.eager).head(3)
    first = rows.collect(engine=table.engine)[role]
    return ", ".join(map(repr, first)) or "none at all"


def _some(names: Sequence[Any]) -> str:
    """The first of some names, and how many others there are."""
    others = f" and {len(names) - NAMED} others" if len(names) > NAMED else ""
    return quoted(names[:NAMED]) + others
