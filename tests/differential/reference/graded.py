"""Measures of grades: cumulated gain by its discount or against the ideal ranking, and cascades."""

import math

from .ranking import Ranking
from .words import Gains, discounted, gain, ideal, is_relevant, length, mean, n_relevant, ratio


def dcg(
    ranking: Ranking,
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: str = "log2",
    discount: str = "log2",
    gains: Gains = None,
) -> float | None:
    if not any(gain(document, gains, dcg, rel) > 0 for document in ranking.judged):
        return None
    return discounted([gain(document, gains, dcg, rel) for document in ranking.top(k)], discount)


def ideal_dcg(
    ranking: Ranking,
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: str = "log2",
    discount: str = "log2",
    gains: Gains = None,
) -> float | None:
    best = ideal(gain(document, gains, dcg, rel) for document in ranking.judged)
    return discounted(best[:k], discount) if best else None


def ndcg(
    ranking: Ranking,
    *,
    k: int | None = None,
    rel: float | None = None,
    dcg: str = "log2",
    discount: str = "log2",
    gains: Gains = None,
    denominator: str = "min(k,R)",
) -> float | None:
    best = ideal(gain(document, gains, dcg, rel) for document in ranking.judged)
    if not best:
        return None
    found = [gain(document, gains, dcg, rel) for document in ranking.top(k)]
    of_ideal = {"min(k,R)": best[:k], "R": best, "k": best[:1] * length(ranking, k)}[denominator]
    return ratio(discounted(found, discount), discounted(of_ideal, discount))


def q_measure(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, beta: float = 1, dcg: str = "log2", gains: Gains = None
) -> float | None:
    relevant = n_relevant(ranking, rel)
    if not relevant:
        return None
    best = sorted((gain(d, gains, dcg) for d in ranking.judged if is_relevant(d, rel)), reverse=True)
    added = found = cumulated = 0.0
    for rank, document in enumerate(ranking.top(k), 1):
        if is_relevant(document, rel):
            found, cumulated = found + 1, cumulated + gain(document, gains, dcg)
            added += (found + beta * cumulated) / (rank + beta * sum(best[:rank]))
    return added / relevant


def normalized_gain(ranking: Ranking, *, gains: Gains = None) -> float | None:
    best = ideal(gain(document, gains) for document in ranking.judged)
    if not best:
        return None
    added = found = of_ideal = 0.0
    for place, document in enumerate(ranking.retrieved):
        found += gain(document, gains)
        of_ideal += max(1.0, best[place]) if place < len(best) else 1.0
        added += gain(document, gains) / math.log2(2 + of_ideal - found)
    return added / sum(best)


def binary_normalized_gain(ranking: Ranking, *, rel: float = 1) -> float | None:
    added, above = 0.0, 0
    for document in ranking.retrieved:
        if is_relevant(document, rel):
            added += 1 / math.log2(2 + above)
        else:
            above += 1
    return added / n_relevant(ranking, rel) if n_relevant(ranking, rel) else None


def ndcg_at(ranking: Ranking, best: list[float], k: int | None, gains: Gains) -> float:
    """nDCG at a cutoff, which may be beyond both rankings."""
    return discounted(gain(document, gains) for document in ranking.top(k)) / discounted(best[:k])


def ndcg_rel(ranking: Ranking, *, gains: Gains = None) -> float | None:
    best = ideal(gain(document, gains) for document in ranking.judged)
    if not best:
        return None
    ranks = [rank for rank, document in enumerate(ranking.retrieved, 1) if gain(document, gains) > 0]
    missed = len(best) - len(ranks)
    return mean([ndcg_at(ranking, best, k, gains) for k in [*ranks, *[None] * missed]])


def r_ndcg(ranking: Ranking, *, gains: Gains = None) -> float | None:
    best = ideal(gain(document, gains) for document in ranking.judged)
    if not best:
        return None
    falls = [place for place in range(1, len(best) + 1) if place == len(best) or best[place - 1] > best[place]]
    end = [None] if len(ranking.retrieved) > len(best) else []
    return mean([ndcg_at(ranking, best, k, gains) for k in [*falls, *end]])


def expected_reciprocal_rank(
    ranking: Ranking, *, k: int | None = None, max_rel: int = 4, gains: Gains = None
) -> float | None:
    if not any(gain(document, gains) > 0 for document in ranking.judged):
        return None
    added, reading = 0.0, 1.0
    for rank, document in enumerate(ranking.top(k), 1):
        satisfied = (2.0 ** min(gain(document, gains), max_rel) - 1) / 2.0**max_rel
        added += reading * satisfied / rank
        reading *= 1 - satisfied
    return added


def rank_biased_precision(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, p: float = 0.8, gains: Gains = None
) -> float | None:
    if not n_relevant(ranking, rel):
        return None
    worth = [
        (1.0 if gains is None else gain(document, gains)) if is_relevant(document, rel) else 0.0
        for document in ranking.top(k)
    ]
    return (1 - p) * sum(value * p**place for place, value in enumerate(worth))


def rank_biased_precision_residual(ranking: Ranking, *, k: int | None = None, p: float = 0.8) -> float:
    assessed = [document.grade is not None and document.grade >= 0 for document in ranking.top(k)]
    return 1 - (1 - p) * sum(p**place for place, is_assessed in enumerate(assessed) if is_assessed)


def compatibility(ranking: Ranking, *, p: float = 0.95, normalize: bool = True) -> float | None:
    ranks = {document.id: rank for rank, document in enumerate(ranking.retrieved)}
    graded = [document for document in ranking.judged if document.grade > 0]
    if not graded:
        return None
    best = sorted(graded, key=lambda document: (-document.grade, ranks.get(document.id, len(ranks))))
    order, ideal_order = [d.id for d in ranking.retrieved], [d.id for d in best]
    depths = range(1, max(len(order), len(ideal_order)) + 1)

    def overlap(one: list, other: list) -> float:
        return sum(p ** (d - 1) * len({*one[:d]} & {*other[:d]}) / d for d in depths)

    most = overlap(ideal_order, ideal_order) if normalize else sum(p ** (d - 1) for d in depths)
    return overlap(order, ideal_order) / most


def relevance_string(ranking: Ranking, *, k: int = 10) -> str:
    def sign(grade: float | None) -> str:
        if grade is None:
            return "-"
        return "." if grade < 0 else ">" if int(grade) > 9 else str(int(grade))

    return "".join(sign(document.grade) for document in ranking.top(k))
