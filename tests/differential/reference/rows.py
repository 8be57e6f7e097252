"""The rows of a run and of judgments, as everything here reads them."""

from typing import NamedTuple

Id = str | int


class Retrieved(NamedTuple):
    """A row of a run; `price` is a column of the user's own."""

    system: str | None
    query: Id
    document: Id
    score: float
    price: int


class Judgment(NamedTuple):
    """A row of judgments; without a document it says that the query was judged, and nothing found.

    `subtopic`, `judge` and `group` are those of the kind of judgments, else None; `trust` and `importance`, the weight
    of the subtopic, are columns of the user's own.
    """

    query: Id
    document: Id | None
    grade: float | None
    subtopic: Id | None = None
    judge: Id | None = None
    group: Id | None = None
    trust: float = 1.0
    importance: float = 1.0


class Collection(NamedTuple):
    """A run with its judgments, of "documents", "subtopics" or "preferences".

    `systems` are all there are, also those that retrieved nothing; a run of one system without a name has None. Where
    the frame is `labelled`, grades stand beside scores, and nobody judged what was not retrieved; it may have no
    document ids (`with_ids`).
    """

    kind: str
    run: tuple[Retrieved, ...]
    judgments: tuple[Judgment, ...]
    systems: tuple[str | None, ...] = (None,)
    labelled: bool = False
    with_ids: bool = True


class Options(NamedTuple):
    """The options of `evaluate`; `judges` is whether the judges of a query are told apart."""

    missing: str = "zero"
    undefined: float | None = 0.0
    judged_only: bool = False
    ties: str = "doc_id"
    judges: bool = False
    bounds: bool = False


class Asked(NamedTuple):
    """A measure and its arguments; those of `Asked.arguments` that are words stand for expressions."""

    name: str
    arguments: dict[str, object]
