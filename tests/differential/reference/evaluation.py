"""The results of `evaluate` and `judge` for rows and options, from the definitions."""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from .catalogue import MEASURES, OWN, Measure
from .conventions import id_order
from .preferences import Preferred
from .ranking import Document, Judging, Ranking, condensed, in_order, orders
from .rows import Asked, Collection, Id, Judgment, Options

Key = tuple[str | None, Id]


def evaluate(collection: Collection, measures: Sequence[tuple[str, Asked]], options: Options) -> dict[Key, dict]:
    """The rows of the result by system and query, with the values by name."""
    options = options._replace(ties=ties_of(collection, options.ties))
    collection = labelled(collection)
    return {key: row(Query(collection, *key), measures, options) for key in keys(collection, options.missing)}


def labelled(collection: Collection) -> Collection:
    """The collection with the judgments that a labelled frame can hold: of retrieved documents."""
    if not collection.labelled:
        return collection
    retrieved = {(row.query, row.document) for row in collection.run}
    judgments = tuple(judgment for judgment in collection.judgments if (judgment.query, judgment.document) in retrieved)
    return collection._replace(judgments=judgments)


def ties_of(collection: Collection, ties: str) -> str:
    """The rule that orders equal scores: none without ids, unless another rule is named."""
    return ties if collection.with_ids or ties != "doc_id" else "expected"


def keys(collection: Collection, missing: str) -> Iterator[Key]:
    """The judged queries of every system, in order; only those that it answered where missing ones are skipped.

    In a labelled frame those are judged of which a row has a grade.
    """
    judged = {(judgment.query, judgment.document) for judgment in collection.judgments}
    answered = {
        (row.system, row.query)
        for row in collection.run
        if not collection.labelled or (row.query, row.document) in judged
    }
    for system in sorted(collection.systems, key=str):
        for query in sorted({query for query, _ in judged}):
            if (system, query) in answered or (missing == "zero" and not collection.labelled):
                yield system, query


def row(query: "Query", measures: Sequence[tuple[str, Asked]], options: Options) -> dict[str, Any]:
    """The values of a query, with their bounds if asked for."""
    values: dict[str, Any] = {}
    for name, asked in measures:
        values[name] = query.value(asked, options)
        if options.bounds and not isinstance(values[name], str):
            judged = [query.value(asked, options._replace(undefined=0.0), way) for way in judgings(query, asked)]
            both = [value for value in (values[name], *judged) if value is not None]
            values |= {f"{name} low": min(both), f"{name} high": max(both)}
    return values


def judgings(query: "Query", asked: Asked) -> list[Judging]:
    """The judgings that `bounds` tries: nothing relevant, everything, only what is above the cutoff, only below."""
    k, rel, gains = (argument(asked, name) for name in ("k", "rel", "gains"))
    grades = [judgment.grade for judgment in query.collection.judgments if judgment.grade is not None]
    highest = max([rel or 0, *grades]) or 1
    if isinstance(gains, dict):
        highest = max(gains)
    sides: list[Judging] = [lambda _, rank: highest * (rank <= k), lambda _, rank: highest * (rank > k)]
    return [lambda *_: 0, lambda *_: highest, *(sides if k is not None else [])]


def argument(asked: Asked, name: str) -> Any:
    """An argument of a measure, or its default; nobody knows those of a user's own."""
    if asked.name not in MEASURES:
        return None
    parameters = inspect.signature(MEASURES[asked.name]).parameters
    return asked.arguments.get(name, parameters[name].default if name in parameters else None)


class Query:
    """A query of one system: what was retrieved for it, and how it was judged."""

    def __init__(self, collection: Collection, system: str | None, query: Id) -> None:
        self.collection = collection
        self.judged_elsewhere = {judgment.document for judgment in collection.judgments}
        self.rows = [row for row in collection.run if (row.system, row.query) == (system, query)]
        self.judgments = [judgment for judgment in collection.judgments if judgment.query == query]
        if collection.labelled:
            retrieved = {row.document for row in self.rows}
            self.judgments = [judgment for judgment in self.judgments if judgment.document in retrieved]

    def value(self, asked: Asked, options: Options, judging: Judging | None = None) -> Any:
        """A measure, or its mean over the judges who know it."""
        measure = (MEASURES | OWN)[asked.name]
        if self.collection.kind == "preferences":
            return filled(measure(self.preferred(options), **asked.arguments), options)
        if not options.judges:
            return filled(self.expected(measure, asked, options, judging, self.judgments), options)
        judges = sorted({judgment.judge for judgment in self.judgments})
        values = [
            filled(self.expected(measure, asked, options, judging, self.by_judge(judge)), options) for judge in judges
        ]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    def by_judge(self, judge: Id | None) -> list[Judgment]:
        return [judgment for judgment in self.judgments if judgment.judge == judge]

    def expected(
        self, measure: Measure, asked: Asked, options: Options, judging: Judging | None, judgments: Sequence[Judgment]
    ) -> Any:
        """The mean of a measure over the orders that the rule for ties allows."""
        rankings = self.rankings(judgments, options.ties, judged_only=options.judged_only, judging=judging)
        values = [measure(ranking, **asked.arguments) for ranking in rankings]
        return values[0] if len(values) == 1 or values[0] is None else sum(values) / len(values)

    def rankings(
        self, judgments: Sequence[Judgment], ties: str, *, judged_only: bool, judging: Judging | None = None
    ) -> Iterator[Ranking]:
        """The retrieved documents in every order that the rule for ties allows, then the judged ones not retrieved."""
        documents = judged(judgments)
        listed = [
            documents.get(row.document, Document(row.document, None))._replace(
                score=row.score, price=row.price, judged_elsewhere=row.document in self.judged_elsewhere
            )
            for row in in_order(self.rows, by_rows=ties == "input")
        ]
        listed = condensed(listed) if judged_only else listed
        if judging:
            listed = [
                document if document.grade is not None else document._replace(grade=judging(document, rank))
                for rank, document in enumerate(listed, 1)
            ]
        retrieved = {document.id for document in listed}
        missed = [document for document in documents.values() if document.id not in retrieved]
        weights = {judgment.subtopic: judgment.importance for judgment in judgments if judgment.document is not None}
        yield from (Ranking(order, missed, weights) for order in orders(listed, ties))

    def preferred(self, options: Options) -> Preferred:
        """The ranks of the retrieved documents, and the levels of the judges by group."""
        order = in_order(self.rows, by_rows=options.ties == "input")
        judges: dict[Id | None, dict[Id | None, dict[Id, float]]] = {}
        for judgment in self.judgments:
            groups = judges.setdefault(judgment.judge, {})
            if judgment.document is not None:
                groups.setdefault(judgment.group, {})[judgment.document] = judgment.grade
        return Preferred({row.document: rank for rank, row in enumerate(order, 1)}, judges)


def judged(judgments: Sequence[Judgment]) -> dict[Id, Document]:
    """The judged documents of a query by id."""
    documents: dict[Id, Document] = {}
    for judgment in judgments:
        if judgment.document is None:
            continue
        seen = documents.get(judgment.document)
        subtopics = {**(seen.subtopics if seen else {}), judgment.subtopic: judgment.grade}
        documents[judgment.document] = Document(
            judgment.document, max(subtopics.values()), subtopics=subtopics, trust=judgment.trust
        )
    return documents


def filled(value: Any, options: Options) -> Any:
    """`undefined` in the place of what has no value."""
    if value is not None or options.undefined is None:
        return value
    return float(options.undefined)


def relation(collection: Collection, options: Options) -> dict[tuple, dict[str, int | float | None]]:
    """The judged relation: where the judged documents of every query stand in the run, and in the ideal ranking."""
    rows: dict[tuple, dict[str, int | float | None]] = {}
    collection = labelled(collection)
    for system, query in keys(collection, "zero"):
        of_query = Query(collection, system, query)
        (ranking,) = of_query.rankings(
            of_query.judgments, ties_of(collection, options.ties), judged_only=options.judged_only
        )
        ideal = sorted(ranking.judged, key=lambda document: (document.grade, id_order(document.id)), reverse=True)
        says_nothing = any(judgment.document is None for judgment in of_query.judgments)
        for document in [*ranking.judged, *([None] if says_nothing else [])]:
            rows[system, query, document and document.id] = place_of(document, ranking.retrieved, ideal)
    return rows


def place_of(
    document: Document | None, retrieved: Sequence[Document], ideal: Sequence[Document]
) -> dict[str, int | float | None]:
    """The columns of the judged relation; those of a document that was not retrieved, or of none, are null."""
    columns: dict[str, int | float | None] = dict.fromkeys(("rank", "n_higher", "n_tied"))
    if document in retrieved:
        columns = {
            "rank": 1 + retrieved.index(document),
            "n_higher": sum(other.score > document.score for other in retrieved),
            "n_tied": sum(other.score == document.score for other in retrieved),
        }
    return {
        **columns,
        "relevance": document and document.grade,
        "ideal_rank": 1 + ideal.index(document) if document else None,
        "n_retrieved": len(retrieved),
    }
