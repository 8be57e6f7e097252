"""Rows unfit to be evaluated, from the definitions: the error wanted in the place of figures."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from .rows import Collection, Judgment, Options, Retrieved


class Wrong(NamedTuple):
    """The number of wrong rows of a table, in the value of a role or, without one, since they repeat ids.

    `is_read` is whether every evaluation meets them: a run too large to be searched whole may not meet
    rows that repeat a document which nobody judged relevant.
    """

    table: str
    role: str | None
    count: int
    is_read: bool = True


def wrong_rows(collection: Collection, options: Options) -> Wrong | None:
    """The fault of a collection; None for one that can be evaluated."""
    return next((wrong for wrong in all_wrong(collection, options) if wrong.count), None)


def all_wrong(collection: Collection, options: Options) -> Iterator[Wrong]:
    """All that could be wrong, with how many rows are."""
    run, kind = collection.run, collection.kind
    systems = collection.systems != (None,)
    for role in ("query", *(["system"] if systems else []), "document", "score"):
        yield Wrong("run", role, sum(is_missing(getattr(row, role)) for row in run))
    judged = [judgment for judgment in collection.judgments if not says_nothing(judgment)]
    if collection.labelled:
        graded = {(judgment.query, judgment.document): judgment.grade for judgment in judged}
        unfit = [row for row in run if is_unfit(graded.get((row.query, row.document)) or 0)]
        yield Wrong("run", "grade", len(unfit))
    else:
        yield from of_judgments(collection, judged, options)
    repeated = repeating(run, [(row.system, row.query, row.document) for row in run])
    read = {(j.query, j.document) for j in judged if kind == "preferences" or (j.grade or 0) > 0}
    yield Wrong("run", None, len(repeated), any((row.query, row.document) in read for row in repeated))


def of_judgments(collection: Collection, judged: Sequence[Judgment], options: Options) -> Iterator[Wrong]:
    """The possible faults of judgments; those of no document need a query and, of preferences, a judge only."""
    kind = collection.kind
    of_kind = {"documents": ["judge"] if options.judges else [], "subtopics": ["subtopic"]}
    apart = of_kind.get(kind, ["judge", "group"])
    yield Wrong("qrels", "query", sum(judgment.query is None for judgment in collection.judgments))
    yield Wrong("qrels", "document", sum(judgment.document is None for judgment in judged))
    yield Wrong("qrels", "grade", sum(is_unfit(judgment.grade) for judgment in judged))
    for role in apart:
        rows = collection.judgments if kind == "preferences" else judged
        yield Wrong("qrels", role, sum(getattr(judgment, role) is None for judgment in rows))
    keys = [(j.query, j.document, *(getattr(j, role) for role in apart)) for j in judged]
    yield Wrong("qrels", None, len(repeating(judged, keys)))


def says_nothing(judgment: Judgment) -> bool:
    """True if a row says that a query was judged, and nothing found."""
    return judgment.document is None and judgment.grade is None


def is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_unfit(grade: float | None) -> bool:
    return grade is None or not math.isfinite(grade)


def repeating(rows: Sequence[Retrieved | Judgment], keys: Sequence[Hashable]) -> list[Retrieved | Judgment]:
    """The rows whose keys another row has, too."""
    times = Counter(keys)
    return [row for row, key in zip(rows, keys, strict=True) if times[key] > 1]
