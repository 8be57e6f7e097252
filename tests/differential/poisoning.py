"""Poisoned cases: valid ones with something in a few rows that no figure may come of.

Which error is wanted the reference tells of the rows as they then are (`reference.soundness`).
"""

import math
import random
from dataclasses import replace
from typing import Any, NamedTuple

from . import generator
from .case import Case
from .reference.rows import Collection
from .reference.soundness import wrong_rows
from .tables import LISTS, Tables


class Poison(NamedTuple):
    """A value that a role must not have, in rows of the run or of the judgments; without a role they are repeated."""

    rows: str
    role: str | None
    value: float | None = None


POISONS = (
    *(Poison("run", role) for role in ("query", "document", "system", "score", None)),
    *(Poison("judgments", role) for role in ("query", "document", "grade", "subtopic", "judge", "group", None)),
    *(Poison("judgments", "grade", value) for value in (math.nan, math.inf, -math.inf)),
    Poison("run", "score", math.nan),
)


def poisoned(seed: int, number: int) -> Case | None:
    """The case of every other number, with the first of some poisons that is one there, in up to three rows."""
    if number % 2:
        return None
    case, chance = generator.case(seed, number), random.Random(f"{seed}/{number}/poisoned")
    for poison in chance.sample(POISONS, len(POISONS)):
        collection = with_poison(chance, case.collection, poison)
        if is_possible(case, poison) and wrong_rows(collection, case.options):
            return replace(case, collection=collection, tables=able_to_hold(case.tables, poison, collection))
    return None


def is_possible(case: Case, poison: Poison) -> bool:
    """True if tables have a place for the poison: names of a dict are never null, nor are ids that nobody sees."""
    if poison.role == "grade" and case.collection.labelled and case.tables.run == "pandas":
        # NaN is null in pandas, and a document without a grade is unjudged.
        return poison.value is not None and not math.isnan(poison.value)
    return not (poison.role == "system" and case.tables.by_system) and (
        poison.role not in ("document", None) or case.collection.with_ids
    )


def with_poison(chance: random.Random, collection: Collection, poison: Poison) -> Collection:
    """The collection with a poison in some rows."""
    rows = list(getattr(collection, poison.rows))
    for at in chance.sample(range(len(rows)), min(len(rows), chance.randint(1, 3))):
        if poison.role is None:
            rows.insert(chance.randint(0, len(rows)), rows[at])
        else:
            rows[at] = rows[at]._replace(**{poison.role: poison.value})
    return collection._replace(**{poison.rows: tuple(rows)})


def able_to_hold(tables: Tables, poison: Poison, collection: Collection) -> Tables:
    """The tables, of kinds and dtypes that have such values: dicts have no null ids, and no row twice."""
    numbers = poison.role in ("score", "grade")
    every_id = all(judgment.document is not None for judgment in collection.judgments)
    unable = LISTS[1:] if numbers and every_id else LISTS
    changes: dict[str, Any] = {side: "polars" for side in ("run", "qrels") if getattr(tables, side) in unable}
    if poison.value is not None:
        types = "run_types" if poison.rows == "run" else "qrels_types"
        changes[types] = {**getattr(tables, types), poison.role: "Float64"}
    return replace(tables, **changes, by_rank=tables.by_rank and not numbers)
