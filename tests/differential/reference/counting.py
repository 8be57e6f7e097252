"""Measures that count: how many of the first k are relevant, or judged, out of how many."""

import math

from .ranking import Ranking
from .words import hits, is_relevant, length, n_relevant, ratio, relevant_ranks


def precision(ranking: Ranking, *, k: int | None = None, rel: float = 1, denominator: str = "k") -> float | None:
    places = {"k": length(ranking, k), "min(k,n)": len(ranking.top(k))}[denominator]
    return ratio(hits(ranking, k, rel), places) if n_relevant(ranking, rel) else None


def recall(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    return hits(ranking, k, rel) / n_relevant(ranking, rel) if n_relevant(ranking, rel) else None


def recall_capped(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    most = min(length(ranking, k), n_relevant(ranking, rel))
    return ratio(hits(ranking, k, rel), most) if n_relevant(ranking, rel) else None


def f_measure(ranking: Ranking, *, k: int | None = None, rel: float = 1, beta: float = 1) -> float | None:
    p, r = precision(ranking, k=k, rel=rel), recall(ranking, k=k, rel=rel)
    return None if p is None or r is None else ratio((1 + beta**2) * p * r, beta**2 * p + r)


def success(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    return float(hits(ranking, k, rel) > 0) if n_relevant(ranking, rel) else None


def r_precision(ranking: Ranking, *, k: int | None = None, rel: float = 1, multiple: float = 1) -> float | None:
    cutoff = int(multiple * n_relevant(ranking, rel) + 0.9)
    down_to = cutoff if k is None else min(cutoff, k)
    return ratio(hits(ranking, down_to, rel), cutoff) if n_relevant(ranking, rel) else None


def reciprocal_rank(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    ranks = relevant_ranks(ranking, rel, k)
    return (1 / ranks[0] if ranks else 0.0) if n_relevant(ranking, rel) else None


def set_precision(ranking: Ranking, *, rel: float = 1) -> float | None:
    return precision(ranking, rel=rel)


def set_recall(ranking: Ranking, *, rel: float = 1) -> float | None:
    return recall(ranking, rel=rel)


def set_f_measure(ranking: Ranking, *, rel: float = 1, beta: float = 1) -> float | None:
    return f_measure(ranking, rel=rel, beta=beta)


def set_average_precision(ranking: Ranking, *, rel: float = 1) -> float | None:
    p, r = precision(ranking, rel=rel), recall(ranking, rel=rel)
    return None if p is None or r is None else p * r


def utility(
    ranking: Ranking,
    *,
    rel: float = 1,
    coefficients: tuple[float, float, float, float] = (1, -1, 0, 0),
    n_docs: int | None = None,
) -> float:
    both = hits(ranking, None, rel)
    retrieved_only, relevant_only = len(ranking.retrieved) - both, n_relevant(ranking, rel) - both
    neither = (n_docs or 0) - both - retrieved_only - relevant_only
    return sum(float(c) * n for c, n in zip(coefficients, (both, retrieved_only, relevant_only, neither), strict=True))


def fallout(ranking: Ranking, *, k: int | None = None, rel: float = 1, n_docs: int | None = None) -> float:
    if n_docs is None:
        in_vain = sum(d.grade is not None and d.grade < rel for d in ranking.top(k))
        return ratio(in_vain, sum(d.grade < rel for d in ranking.judged))
    return ratio(len(ranking.top(k)) - hits(ranking, k, rel), n_docs - n_relevant(ranking, rel))


def matthews_correlation(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, n_docs: int | None = None
) -> float | None:
    if not n_relevant(ranking, rel):
        return None
    tp, fn = hits(ranking, k, rel), n_relevant(ranking, rel) - hits(ranking, k, rel)
    if n_docs is None:
        fp = sum(d.grade is not None and d.grade < rel for d in ranking.top(k))
        tn = sum(d.grade < rel for d in ranking.judged) - fp
    else:
        fp = len(ranking.top(k)) - tp
        tn = n_docs - tp - fp - fn
    return ratio(tp * tn - fp * fn, math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def partial_auc(ranking: Ranking, *, negatives: int | None = None, rel: float = 1) -> float | None:
    return pairs_in_order(ranking, negatives, rel, n_relevant(ranking, rel))


def partial_auc_and_precision(ranking: Ranking, *, negatives: int | None = None, rel: float = 1) -> float | None:
    r = n_relevant(ranking, rel)
    return pairs_in_order(ranking, negatives, rel, r if negatives is None else min(negatives, r))


def pairs_in_order(ranking: Ranking, negatives: int | None, rel: float, most: int) -> float | None:
    """Of the first so many relevant documents and others: the pairs with the relevant one above, out of all pairs."""
    if not most:
        return None
    relevant = [is_relevant(document, rel) for document in ranking.retrieved]
    others = max(relevant.count(False), 1) if negatives is None else negatives
    above = [relevant[:at].count(False) for at, one in enumerate(relevant) if one]
    return sum(max(others - n, 0) for n in above[:most]) / (others * most)


def accuracy(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> float | None:
    if not n_relevant(ranking, rel):
        return None
    relevant = [is_relevant(document, rel) for document in ranking.top(k)]
    pairs = sum(relevant) * (len(relevant) - sum(relevant))
    right = sum(one and not other for i, one in enumerate(relevant) for other in relevant[i + 1 :])
    return right / pairs if pairs else float(any(relevant))


def judged(ranking: Ranking, *, k: int | None = None) -> float:
    return ratio(sum(document.grade is not None for document in ranking.top(k)), len(ranking.top(k)))


def unjudged(ranking: Ranking, *, k: int | None = None) -> float:
    unassessed = sum(document.grade is None or document.grade < 0 for document in ranking.top(k))
    return ratio(unassessed, length(ranking, k))


def hole(ranking: Ranking, *, k: int | None = None) -> float:
    never_judged = sum(d.grade is None and not d.judged_elsewhere for d in ranking.top(k))
    return ratio(never_judged, length(ranking, k))


def n_retrieved(ranking: Ranking, *, rel: float | None = None) -> int:
    return len(ranking.retrieved) if rel is None else hits(ranking, None, rel)


def n_relevant_documents(ranking: Ranking, *, rel: float = 1) -> int:
    return n_relevant(ranking, rel)


def n_relevant_retrieved(ranking: Ranking, *, k: int | None = None, rel: float = 1) -> int:
    return hits(ranking, k, rel)


def n_nonrelevant_judged_retrieved(ranking: Ranking, *, rel: float = 1) -> int:
    return sum(document.grade is not None and 0 <= document.grade < rel for document in ranking.retrieved)


def n_queries(ranking: Ranking) -> int:  # noqa: ARG001  # 1 for each
    return 1
