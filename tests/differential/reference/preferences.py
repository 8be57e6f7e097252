"""Preferences fulfilled: how often documents that a judge prefers stand above those they are preferred to."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from .conventions import id_order
from .rows import Id
from .words import ratio

RunAndQrels = tuple[Id, Id]

#: The levels of documents, by group.
Groups = Mapping[Id | None, Mapping[Id, float]]


class Preferred(NamedTuple):
    """One query for measures of preferences: the rank of each retrieved document, and the judges' levels."""

    rank: Mapping[Id, int]
    judges: Mapping[Id | None, Groups]

    def counts(self, pair: RunAndQrels, counting: str) -> bool:
        """True if a preference counts: always, or where one of its documents is retrieved, or both."""
        return {"all": 0, "implied": 1, "retrieved": 2}[counting] <= sum(document in self.rank for document in pair)

    def fulfils(self, pair: RunAndQrels) -> bool:
        """True if the preferred document is retrieved, and the other one below it or nowhere."""
        preferred, other = pair
        return preferred in self.rank and (other not in self.rank or self.rank[preferred] < self.rank[other])


def preferences(groups: Groups) -> set[RunAndQrels]:
    """The pairs that a judge prefers in a group, with those that follow: a over b and b over c is a over c."""
    pairs = {(a, b) for levels in groups.values() for a, b in product(levels, repeat=2) if levels[a] > levels[b]}
    while implied := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= implied
    return pairs


def of_judges(query: Preferred) -> list[set[RunAndQrels]]:
    return [preferences(groups) for groups in query.judges.values()]


def n_preferences(query: Preferred, *, counting: str = "all") -> int:
    return sum(query.counts(pair, counting) for pairs in of_judges(query) for pair in pairs)


def n_preferences_fulfilled(query: Preferred, *, counting: str = "all") -> int:
    return sum(query.counts(pair, counting) and query.fulfils(pair) for pairs in of_judges(query) for pair in pairs)


def preferences_fulfilled(query: Preferred, *, counting: str = "all") -> float | None:
    if not any(of_judges(query)):
        return None
    return ratio(n_preferences_fulfilled(query, counting=counting), n_preferences(query, counting=counting))


def preferences_fulfilled_by_pair(query: Preferred, *, counting: str = "all") -> float | None:
    if not any(of_judges(query)):
        return None
    directed = [pair for pairs in of_judges(query) for pair in pairs if query.counts(pair, counting)]
    compared = {frozenset(pair) for pair in directed}
    agreeing = Fraction(0)
    for two in compared:
        of_two = [pair for pair in directed if set(pair) == two]
        agreeing += Fraction(sum(query.fulfils(pair) for pair in of_two), len(of_two))
    return ratio(float(agreeing), len(compared))


def share(query: Preferred, pairs: set[RunAndQrels], counting: str) -> float:
    counted = [pair for pair in pairs if query.counts(pair, counting)]
    return ratio(sum(map(query.fulfils, counted)), len(counted))


def preferences_fulfilled_by_judge(query: Preferred, *, counting: str = "all") -> float | None:
    if not any(of_judges(query)):
        return None
    return sum(share(query, pairs, counting) for pairs in of_judges(query)) / len(query.judges)


def found_relevant(groups: Groups) -> dict[Id, bool]:
    """The relevance of each document to a judge: its level is above 0."""
    return {document: level > 0 for levels in groups.values() for document, level in levels.items()}


def in_order(query: Preferred, documents: Sequence[Id]) -> list[Id]:
    """Documents as they are ranked; those that were not retrieved come last, by their ids."""
    last = len(query.rank) + 1
    return sorted(documents, key=lambda document: (query.rank.get(document, last), id_order(document)))


def share_balanced(query: Preferred, groups: Groups, counting: str) -> float:
    """A judge's share, as if there were as many documents not relevant as relevant."""
    judged = found_relevant(groups)
    relevant = [document for document in judged if judged[document]]
    nonrelevant = in_order(query, [document for document in judged if not judged[document]])
    retrieved = [document for document in relevant if document in query.rank]
    n_relevant = len(retrieved if counting == "retrieved" else relevant)
    if counting == "retrieved":
        n_nonrelevant = sum(document in query.rank for document in nonrelevant)
    else:
        n_nonrelevant = len(nonrelevant)
    left_out = {*nonrelevant[n_relevant:]}
    pairs = [pair for pair in preferences(groups) if query.counts(pair, counting) and not left_out & {*pair}]
    missing = max(n_relevant - n_nonrelevant, 0)
    met = sum(map(query.fulfils, pairs)) + missing * len(retrieved)
    return ratio(met, len(pairs) + missing * len(relevant))


def preferences_fulfilled_balanced(query: Preferred, *, counting: str = "all") -> float | None:
    some_relevant = any(any(found_relevant(groups).values()) for groups in query.judges.values())
    if not any(of_judges(query)) and not some_relevant:
        return None
    return sum(share_balanced(query, groups, counting) for groups in query.judges.values()) / len(query.judges)
