"""Kinds of judgments, each a record: its distinguishing columns, and the options that conflict with it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from polars_ir.language.lists import PLACE
from polars_ir.language.words import PREFERENCE


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of judgments.

    `tells` are columns that only its relation has; judgments with all columns of a set in `shown_by` are of the kind.
    `part` is the column of what a document has several judgments of, such as its subtopics: they belong to one ranking,
    where the judgments of several judges make one each. `refuses` are options of `evaluate` that it does not go with,
    `ties` only as `"expected"`. `by_document` says that its relation has the rank and the grade of a document in each
    row; `frames.judgments` has the table of each kind. `hits` is true of a row with a retrieved document
    among the judgments that are read.
    """

    name: str
    tells: frozenset[str] = frozenset()
    shown_by: tuple[frozenset[str], ...] = ()
    part: str | None = None
    refuses: frozenset[str] = frozenset()
    by_document: bool = True
    hits: pl.Expr = pl.col("rank").is_not_null() & pl.col("relevance").is_not_null()


DOCUMENTS = Kind("documents")

#: What measures of a recommender's lists read: no judgments.
LISTS = Kind("none", frozenset({PLACE}))

#: The column of a document's group of evidence: its subtopic or, where judgments have none, the document itself.
GROUP = "evidence_group"

#: The column of judgments that are a sample: the probability with which a document was drawn; and its stratum.
PROBABILITY, STRATUM = "inclusion_probability", "stratum"

#: The beginning of columns that are counted by stratum.
OF_POOL = "polars_ir: pool "

#: The first kind with a column that a measure reads is the measure's; without one it is of documents.
KINDS = (
    Kind(
        "subtopics",
        frozenset({"subtopic", GROUP}),
        (frozenset({"subtopic"}),),
        "subtopic",
        frozenset({"judges", "bounds", "ties"}),
    ),
    Kind(
        "preferences",
        frozenset(PREFERENCE),
        (frozenset({"preferred"}), frozenset({"judge", "group"})),
        refuses=frozenset({"judges", "bounds", "ties", "judged_only"}),
        by_document=False,
        hits=pl.col("preferred_rank").is_not_null() | pl.col("other_rank").is_not_null(),
    ),
    LISTS,
)

#: Columns of subtopics and the like.
PARTS_OF_DOCUMENTS = frozenset(kind.part for kind in KINDS if kind.part)

#: Columns that mark judgments of other kinds than documents.
TELLING = frozenset[str]().union(*(kind.tells for kind in KINDS))


def kind_of(*measures: pl.Expr) -> Kind:
    """The kind of judgments that measures read, by the columns that only one kind has.

    >>> kind_of(pl.col("subtopic").n_unique()).name
    'subtopics'
    """
    read = {column for measure in measures for column in measure.meta.root_names()}
    if TELLING.isdisjoint(read):
        return DOCUMENTS
    return next(kind for kind in KINDS if not kind.tells.isdisjoint(read))


def kind_shown(columns: Collection[str]) -> Kind:
    """The kind of judgments with these columns.

    >>> kind_shown(["query_id", "preferred", "other"]).name
    'preferences'
    """
    return next((kind for kind in KINDS if any(shown.issubset(columns) for shown in kind.shown_by)), DOCUMENTS)
