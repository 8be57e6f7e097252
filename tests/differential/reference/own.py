"""Aggregations as users write them, of the columns of the judged relation and of the run."""

from .ranking import Ranking


def first_judged(ranking: Ranking) -> float | None:
    """1 / the rank of the first judged document, whatever its grade; null where none was retrieved."""
    ranks = [rank for rank, document in enumerate(ranking.retrieved, 1) if document.grade is not None]
    return 1 / ranks[0] if ranks else None


def price(ranking: Ranking, *, k: int) -> int:
    """The cost of the first k documents, judged or not."""
    return sum(document.price for document in ranking.top(k))
