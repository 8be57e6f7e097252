"""Diversity: documents cover subtopics, and covering one again is worth less."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from .conventions import id_order
from .ranking import Document, Ranking
from .rows import Id
from .words import Gains, discount, ratio

#: The divisor of the novelty of the document at a rank.
Discount = Callable[[int], float]


def gain_for(grade: float, rel: float, gains: Gains) -> float:
    """The share of the need for a subtopic that a grade meets."""
    if grade < rel:
        return 0.0
    return 1.0 if gains is None else gains[grade]


def met(document: Document, rel: float, gains: Gains) -> dict[Id, float]:
    """The subtopics that a document covers, with the share of the need that it meets."""
    shares = {subtopic: gain_for(grade, rel, gains) for subtopic, grade in document.subtopics.items()}
    return {subtopic: share for subtopic, share in shares.items() if share > 0}


def exact(number: float) -> Fraction:
    """The number that is written so, for equal sums to be equal."""
    return Fraction(str(number))


def novelty(document: Document, above: Sequence[Document], weights: Mapping[Id, float], cover: dict[str, Any]) -> Any:
    """The novelty that a document adds to those above it."""
    rel, gains, alpha = cover["rel"], cover["gains"], exact(cover["alpha"])
    added = Fraction(0)
    for subtopic, share in met(document, rel, gains).items():
        left = Fraction(1)
        for other in above:
            left *= 1 - alpha * exact(met(other, rel, gains).get(subtopic, 0.0))
        added += exact(weights[subtopic]) * exact(share) * left
    return added


def novelties(documents: Sequence[Document], weights: Mapping[Id, float], cover: dict[str, Any]) -> list[Any]:
    return [novelty(document, documents[:place], weights, cover) for place, document in enumerate(documents)]


def greedy(ranking: Ranking, cover: dict[str, Any], k: int | None = None) -> list[Document]:
    """The ranking that has at every place the document that adds most, of equal ones that with the larger id."""
    order: list[Document] = []
    left = {document.id: document for document in ranking.judged}
    while left and (k is None or len(order) < k):
        added = {each: novelty(document, order, ranking.weights, cover) for each, document in left.items()}
        best = max(left, key=lambda each: (added[each], id_order(each)))
        if not added[best]:
            break
        order.append(left.pop(best))
    return order


def weight_of_all(ranking: Ranking, rel: float, gains: Gains = None) -> float:
    """The weight of the subtopics that some judged document covers."""
    covered = {subtopic for document in ranking.judged for subtopic in met(document, rel, gains)}
    return sum(ranking.weights[subtopic] for subtopic in covered)


def weighted(ranking: Ranking, weights: str | None) -> Ranking:
    """The ranking, whose subtopics weigh the same unless there is a column of weights."""
    return ranking if weights else ranking._replace(weights=dict.fromkeys(ranking.weights, 1.0))


def discounted(added: Sequence[Any], by: Discount) -> float:
    return sum((float(value) / by(place) for place, value in enumerate(added, 1)), 0.0)


def out_of_all(ranking: Ranking, by: Discount, *, k: int | None = None, weights: str | None = None, **cover) -> Any:
    """The novelty of the first k documents, out of that of documents that cover every subtopic."""
    cover, ranking = {"rel": 1, "alpha": 0.5, "gains": None, **cover}, weighted(ranking, weights)
    most = weight_of_all(ranking, cover["rel"], cover["gains"])
    if not most > 0:
        return None
    n_places = max(1, len(ranking.retrieved)) if k is None else k
    of_all = [most * (1 - cover["alpha"]) ** place for place in range(n_places)]
    return discounted(novelties(ranking.top(k), ranking.weights, cover), by) / discounted(of_all, by)


def out_of_greedy(ranking: Ranking, by: Discount, *, k: int | None = None, weights: str | None = None, **cover) -> Any:
    """The novelty of the first k documents, out of that of the greedy ideal ranking."""
    cover, ranking = {"rel": 1, "alpha": 0.5, "gains": None, **cover}, weighted(ranking, weights)
    best = discounted(novelties(greedy(ranking, cover, k), ranking.weights, cover), by)
    return discounted(novelties(ranking.top(k), ranking.weights, cover), by) / best if best else None


def by_rank(place: int) -> float:
    return discount(place, "rank")


def alpha_dcg(ranking: Ranking, **parameters) -> float | None:
    return out_of_all(ranking, discount, **parameters)


def alpha_ndcg(ranking: Ranking, **parameters) -> float | None:
    return out_of_greedy(ranking, discount, **parameters)


def err_ia(ranking: Ranking, **parameters) -> float | None:
    return out_of_all(ranking, by_rank, **parameters)


def nerr_ia(ranking: Ranking, **parameters) -> float | None:
    return out_of_greedy(ranking, by_rank, **parameters)


def nrbp(ranking: Ranking, *, beta: float = 0.5, weights: str | None = None, **cover) -> float | None:
    cover, ranking = {"rel": 1, "alpha": 0.5, "gains": None, **cover}, weighted(ranking, weights)
    most = weight_of_all(ranking, cover["rel"], cover["gains"])
    added = discounted(novelties(ranking.retrieved, ranking.weights, cover), lambda place: beta ** (1 - place))
    return (1 - (1 - cover["alpha"]) * beta) / most * added if most > 0 else None


def nnrbp(ranking: Ranking, *, beta: float = 0.5, **parameters) -> float | None:
    return out_of_greedy(ranking, lambda place: beta ** (1 - place), **parameters)


def by_subtopic(ranking: Ranking, rel: float) -> dict[Id, list[Document]]:
    """The judged documents that are relevant for each covered subtopic."""
    covered: dict[Id, list[Document]] = {}
    for document in ranking.judged:
        for subtopic in met(document, rel, None):
            covered.setdefault(subtopic, []).append(document)
    return covered


def mean_over_subtopics(ranking: Ranking, rel: float, value: Callable[[Id, list[Document]], float]) -> float | None:
    """A value of each covered subtopic, averaged by the weights of the subtopics."""
    most = weight_of_all(ranking, rel)
    if not most > 0:
        return None
    values = {subtopic: value(subtopic, relevant) for subtopic, relevant in by_subtopic(ranking, rel).items()}
    return sum(ranking.weights[subtopic] * values[subtopic] for subtopic in values) / most


def intent_aware_average_precision(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, weights: str | None = None
) -> float | None:
    def of_subtopic(_subtopic: Id, relevant: list[Document]) -> float:
        ranks = [rank for rank, document in enumerate(ranking.top(k), 1) if document in relevant]
        return sum(found / rank for found, rank in enumerate(ranks, 1)) / len(relevant)

    return mean_over_subtopics(weighted(ranking, weights), rel, of_subtopic)


def intent_aware_precision(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, weights: str | None = None
) -> float | None:
    def of_subtopic(_subtopic: Id, relevant: list[Document]) -> float:
        hits = sum(document in relevant for document in ranking.top(k))
        return ratio(hits, len(ranking.retrieved) if k is None else k)

    return mean_over_subtopics(weighted(ranking, weights), rel, of_subtopic)


def subtopic_recall(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, weights: str | None = None
) -> float | None:
    def of_subtopic(_subtopic: Id, relevant: list[Document]) -> float:
        return float(any(document in relevant for document in ranking.top(k)))

    return mean_over_subtopics(weighted(ranking, weights), rel, of_subtopic)


def first_ranks(ranking: Ranking, k: int | None, rel: float) -> list[int | None]:
    """The rank of the first document of each group of evidence, None where the first k hold none."""
    places = {document.id: rank for rank, document in enumerate(ranking.top(k), 1)}
    groups = by_subtopic(ranking, rel).values()
    return [min((places[each.id] for each in group if each.id in places), default=None) for group in groups]


def full_recall(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    ranks = first_ranks(ranking, k, rel)
    return float(None not in ranks) if ranks else None


def group_reciprocal_rank(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    ranks = first_ranks(ranking, k, rel)
    return sum(1 / rank for rank in ranks if rank) / len(ranks) if ranks else None
