"""The terms that formulas of measures are written in. A measure is None where it is undefined."""

import math
from collections.abc import Iterable, Mapping, Sequence

from .ranking import Document, Ranking

#: In the place of a map of gains: the expression `relevance * trust`.
TRUSTED = "trusted"

Gains = Mapping[float, float] | str | None


def is_relevant(document: Document, rel: float) -> bool:
    return document.grade is not None and document.grade >= rel


def n_relevant(ranking: Ranking, rel: float) -> int:
    """R: the relevant documents, retrieved or not."""
    return sum(is_relevant(document, rel) for document in ranking.judged)


def hits(ranking: Ranking, k: int | None, rel: float) -> int:
    return sum(is_relevant(document, rel) for document in ranking.top(k))


def relevant_ranks(ranking: Ranking, rel: float, k: int | None = None) -> list[int]:
    """The ranks of the relevant documents among the first k."""
    return [rank for rank, document in enumerate(ranking.top(k), 1) if is_relevant(document, rel)]


def length(ranking: Ranking, k: int | None) -> int:
    """The cutoff, however short the list is; without one, the documents retrieved."""
    return len(ranking.retrieved) if k is None else k


def ratio(numerator: float, denominator: float) -> float:
    """0 where there is nothing to divide by."""
    return numerator / denominator if denominator else 0.0


def gain(document: Document, gains: Gains = None, dcg: str = "log2", rel: float | None = None) -> float:
    """The gain of a document: its grade, or the value of `gains` for it; never below 0."""
    if document.grade is None or (rel is not None and document.grade < rel):
        return 0.0
    if gains is None:
        value = document.grade
    elif gains == TRUSTED:
        value = document.grade * document.trust if document.trust is not None else 0.0
    else:
        value = gains.get(document.grade, 0.0)
    value = max(float(value), 0.0)
    return of_grade(value, dcg)


def of_grade(value: float, dcg: str) -> float:
    return {"log2": value, "exp-log2": 2.0**value - 1.0, "binary": float(value > 0)}[dcg]


def discount(place: int, name: str = "log2") -> float:
    return {
        "log2": math.log2(1 + place),
        "ln": math.log(1 + place),
        "jarvelin": max(1.0, math.log2(place)),
        "rank": float(place),
        "none": 1.0,
    }[name]


def discounted(gains: Iterable[float], name: str = "log2") -> float:
    """Gains in the order of their places, each divided by the discount there, added up."""
    return sum((value / discount(place, name) for place, value in enumerate(gains, 1)), 0.0)


def ideal(values: Iterable[float]) -> list[float]:
    """The gains of the ideal ranking: those there are, falling."""
    return sorted((value for value in values if value > 0), reverse=True)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
