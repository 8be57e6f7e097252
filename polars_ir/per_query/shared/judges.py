"""Figures of the same rankings by several judges, one of whom is taken for the truth.

Conventions: a judge is compared with the truth on the systems and queries that both have and, measure by measure, on
the queries for which both have a value of every system. The notes of a row count the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_ir.errors import ColumnError, DataError, OptionError, nearest, option, quoted
from polars_ir.frames.table import per_query_table
from polars_ir.per_query.shared.keys import null_rule
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.paired import Scores, scores_of

if TYPE_CHECKING:
    from polars_ir.statistics.randomisation import Floats

#: The column of judges, as `evaluate(by="judge")` makes it.
JUDGE = "judge"


@dataclass(frozen=True)
class Judged:
    """A judge's values of a measure and the truth's, a row per query and a column per system, and notes on the rest.

    `system` is the name that the column of systems came with.
    """

    judge: str
    measure: str
    systems: tuple[str, ...]
    truth: Floats
    values: Floats
    notes: tuple[str, ...]
    system: str


def judged_by_each(per_query: Any, measures: Measures, truth: object, what: str) -> Iterator[Judged]:
    """The values of each other judge beside those of the truth, by judge and measure."""
    table = per_query_table(per_query)
    if JUDGE not in table.dtypes:
        says = f"has no column {JUDGE!r}, which evaluate(by={JUDGE!r}) gives; it has {quoted(table.columns)}."
        raise ColumnError(says, about="per_query", near=nearest(JUDGE, table.columns))
    rows = table.checked(*(null_rule(table, name) for name in (JUDGE, *table.keys))).collect()
    table.check_once(JUDGE, *table.keys, made=rows)
    rows = rows.with_columns(pl.col(JUDGE).cast(pl.String))
    judges = rows[JUDGE].unique().sort().to_list()
    if str(truth) not in judges:
        says = f"names {str(truth)!r}, which is not one of the judges: {quoted(judges)}."
        raise OptionError(says, about=option("truth"), near=nearest(str(truth), judges))
    if len(judges) < 2:
        raise DataError(
            f"{what} compares judges with {truth!r}; there is no other. Evaluate with their judgments, too."
        )
    frames = {judge: rows.filter(pl.col(JUDGE) == judge).drop(JUDGE) for judge in judges}
    people = frames.pop(str(truth))
    for judge, frame in frames.items():
        for of in _beside(people, frame, judge, str(truth), measures, what):
            yield replace(of, system=table.names.get("run", "run"))


def _beside(
    people: pl.DataFrame, frame: pl.DataFrame, judge: str, truth: str, measures: Measures, what: str
) -> Iterator[Judged]:
    """The values of a judge beside those of the truth, by measure."""
    both, left_out = [], []
    for key, others in (("query_id", "queries"), ("run", "systems")):
        if key not in people.columns:
            continue
        common = people.select(key).unique().join(frame.select(key).unique(), on=key)
        if common.is_empty():
            says = f"{judge!r} and {truth!r} judged no {others} in common; they have"
            first = "; ".join(f"{side[key].unique().sort().head(3).to_list()}" for side in (frame, people))
            raise DataError(f"{what}: {says} {first}. Evaluate the same ones with both, and write their names alike.")
        n_others = people[key].n_unique() + frame[key].n_unique() - 2 * common.height
        left_out += [f"left out, of one judge alone: {n_others} {others}"] if n_others else []
        both.append(common)
    for common in both:
        people, frame = (side.join(common, on=common.columns, how="semi") for side in (people, frame))
    reference, scores = (scores_of(side, measures, {"missing": "zero"}, what=what) for side in (people, frame))
    for measure in reference.measures:
        yield _of_measure(reference, scores, measure, judge, left_out)


def _of_measure(reference: Scores, scores: Scores, measure: str, judge: str, left_out: list[str]) -> Judged:
    """The values of a measure for the queries that have all."""
    import numpy as np

    truth, values = reference.values[measure], scores.values[measure]
    complete = ~np.isnan(np.hstack([truth, values])).any(axis=1)
    notes = list(left_out)
    if lacking := int((~complete).sum()):
        notes.append(f"left out, undefined for a system: {lacking} queries")
    notes += filter(None, dict.fromkeys((reference.note, scores.note)))
    return Judged(judge, measure, reference.systems, truth[complete], values[complete], tuple(notes), "run")
