"""Averages of precisions over the relevant documents, and the share of judged pairs in the right order."""

import math

from .ranking import Ranking
from .words import hits, is_relevant, length, mean, n_relevant, ratio, relevant_ranks

#: trec_eval's smoothing of inferred average precision.
EPSILON = 1e-5


def precisions(ranking: Ranking, rel: float, k: int | None = None) -> list[float]:
    """The precision at the rank of each relevant document among the first k."""
    return [found / rank for found, rank in enumerate(relevant_ranks(ranking, rel, k), 1)]


def average_precision(
    ranking: Ranking, *, k: int | None = None, rel: float = 1, denominator: str = "R"
) -> float | None:
    relevant = n_relevant(ranking, rel)
    out_of = {
        "R": relevant,
        "min(k,R)": min(length(ranking, k), relevant),
        "k": length(ranking, k),
        "hits": hits(ranking, k, rel),
    }[denominator]
    return ratio(sum(precisions(ranking, rel, k)), out_of) if relevant else None


def gmap(ranking: Ranking, *, rel: float = 1) -> float | None:
    return average_precision(ranking, rel=rel)


def inferred_average_precision(ranking: Ranking, *, rel: float = 1) -> float | None:
    if not n_relevant(ranking, rel):
        return None
    added = 0.0
    for rank in relevant_ranks(ranking, rel):
        above = [document.grade for document in ranking.retrieved[: rank - 1] if document.grade is not None]
        relevant, assessed = sum(grade >= rel for grade in above), sum(grade >= 0 for grade in above)
        precision_above = (relevant + EPSILON) / (assessed + 2 * EPSILON)
        added += 1 / rank + (rank - 1) / rank * ratio(len(above), rank - 1) * precision_above
    return added / n_relevant(ranking, rel)


def yaap(ranking: Ranking, *, rel: float = 1) -> float | None:
    found, relevant = sum(precisions(ranking, rel)), n_relevant(ranking, rel)
    return math.log((1 + found) / (1 + relevant - found)) if relevant else None


def interpolated_precision(
    ranking: Ranking, *, recall: float | None = None, rel: float = 1, rounding: str = "nearest"
) -> float | None:
    relevant = n_relevant(ranking, rel)
    if not relevant:
        return None
    wanted = (recall or 0.0) * relevant
    count = math.floor(wanted + 0.5) if rounding == "nearest" else math.floor(wanted + 0.9)
    from_there_on = precisions(ranking, rel)[max(count, 1) - 1 :]
    return max(from_there_on, default=0.0)


def eleven_point_average(ranking: Ranking, *, rel: float = 1, rounding: str = "nearest") -> float | None:
    if not n_relevant(ranking, rel):
        return None
    points = [point / 10 for point in range(11)]
    return mean([interpolated_precision(ranking, recall=r, rel=rel, rounding=rounding) for r in points])


def bpref(ranking: Ranking, *, rel: float = 1) -> float | None:
    relevant = n_relevant(ranking, rel)
    if not relevant:
        return None
    nonrelevant = sum(0 <= document.grade < rel for document in ranking.judged)
    added, above = 0.0, 0
    for document in ranking.retrieved:
        if is_relevant(document, rel):
            added += 1 - (min(above, relevant) / min(nonrelevant, relevant) if above else 0)
        elif document.grade is not None and document.grade >= 0:
            above += 1
    return added / relevant


def gm_bpref(ranking: Ranking, *, rel: float = 1) -> float | None:
    return bpref(ranking, rel=rel)
