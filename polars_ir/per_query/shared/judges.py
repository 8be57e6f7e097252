"""Figures of the same rankings by several judges, one of whom is taken for the truth.

Conventions: a judge is compared with the truth on the systems and queries that both have and, measure by measure, on
the queries for which both have a value of every system. The notes of a row count the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import ColumnError, DataError, DtypeError, OptionError, nearest, option, quoted
from polars_ir.extras import np
from polars_ir.frames.table import per_query_table
from polars_ir.language.columns import column_of
from polars_ir.per_query.shared.keys import null_rule
from polars_ir.per_query.shared.measures import Measures
from polars_ir.per_query.shared.paired import Scores, scores_of

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
    truth: stats.Floats
    values: stats.Floats
    notes: tuple[str, ...]
    system: str


def judged_by_each(per_query: Any, measures: Measures, truth: object, what: str) -> Iterator[Judged]:
    """The values of each other judge beside those of the truth, by judge and measure."""
    table = per_query_table(per_query)
    if JUDGE not in table.dtypes:
        says = f"has no column {JUDGE!r}, which evaluate(by={JUDGE!r}) gives; it has {quoted(table.columns)}."
        raise ColumnError(says, about="per_query", near=nearest(JUDGE, table.columns))
    if texts := [name for name, dtype in table.dtypes.items() if dtype == pl.String and column_of(name) is not None]:
        raise DtypeError.of_column("per_query", texts[0], "numbers", pl.String(), "Cast it, or leave it out.")
    rows = table.checked(*(null_rule(table, name) for name in (JUDGE, *table.keys))).collect()
    table.check_once(JUDGE, *table.keys, made=rows)
    rows = rows.with_columns(pl.col(JUDGE).cast(pl.String))
    if rows.is_empty():
        raise DataError("has no row, and so no judges to compare; it must have some.", about="per_query")
    judges = rows[JUDGE].unique().sort().to_list()
    if str(truth) not in judges:
        says = f"names {str(truth)!r}, which is not one of the judges: {quoted(judges)}."
        raise OptionError(says, about=option("truth"), near=nearest(str(truth), judges))
    if len(judges) < 2:
        raise DataError(
            f"{what} compares judges with {truth!r}; there is no other. Evaluate with their judgments, too."
        )
    frames = {judge: rows.filter(pl.col(JUDGE) == judge).drop(JUDGE) for judge in judges}
    people, system = frames.pop(str(truth)), table.names.get("run", "run")
    for judge, frame in frames.items():
        yield from _beside(people, frame, judge, str(truth), measures, system, what)


def _beside(
    people: pl.DataFrame, frame: pl.DataFrame, judge: str, truth: str, measures: Measures, system: str, what: str
) -> Iterator[Judged]:
    """The values of a judge beside those of the truth, by measure."""
    keys = [key for key in ("query_id", "run") if key in people.columns]
    both, left_out = people.select(keys).join(frame.select(keys), on=keys), []
    for key, one, others in (("query_id", "query", "queries"), ("run", "system", "systems")):
        if key not in keys:
            continue
        if people.select(key).join(frame, on=key, how="semi").is_empty() or (both.is_empty() and key == keys[-1]):
            says = f"{judge!r} and {truth!r} judged no {others} in common; they have"
            first = "; ".join(f"{side[key].unique().sort().head(3).to_list()}" for side in (frame, people))
            raise DataError(f"{what}: {says} {first}. Evaluate the same ones with both, and write their names alike.")
        n_others = pl.concat([people[key], frame[key]]).n_unique() - both[key].n_unique()
        left_out += [f"left out, of one judge alone: {n_others} {one if n_others == 1 else others}"] if n_others else []
    if "run" in keys and both["run"].n_unique() == 1 < people["run"].n_unique():
        says = f"{judge!r} and {truth!r} have only one system in common: {str(both['run'][0])!r}."
        raise DataError(f"{what}: {says} Evaluate the same ones with both, and write their names alike.")
    people, frame = (side.join(both, on=keys, how="semi") for side in (people, frame))
    reference, scores = (
        scores_of(side, measures, {"missing": "skip"}, clustered=False, what=what) for side in (people, frame)
    )
    for measure in reference.measures:
        yield _of_measure(reference, scores, measure, judge, system, left_out)


def _of_measure(
    reference: Scores, scores: Scores, measure: str, judge: str, system: str, left_out: list[str]
) -> Judged:
    """The values of a measure for the queries that have all."""
    truth, values = reference.values[measure], scores.values[measure]
    complete = ~np.isnan(np.hstack([truth, values])).any(axis=1)
    answered = reference.answered.all(axis=1)
    notes = list(left_out)
    for why, lacking in (("without a row by both of every system", ~answered), ("undefined for a system", answered)):
        if n := int((lacking & ~complete).sum()):
            notes.append(f"left out, {why}: {n} {'query' if n == 1 else 'queries'}")
    notes += filter(None, dict.fromkeys((reference.note, scores.note)))
    return Judged(judge, measure, reference.systems, truth[complete], values[complete], tuple(notes), system)
