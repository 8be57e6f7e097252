"""C/W/L: a reader goes on from one position to the next by chance."""

import math
from collections.abc import Callable

from .ranking import Document, Ranking
from .words import gain, of_grade

#: Positions of a list without a cutoff.
DEPTH = 1000

#: The chance to go on, by the position, the gain there, and what was gained down to there.
Continuation = Callable[[int, float, float], float]

#: Continuations of a user's own, by the name of the expression; None is that of a reader who always goes on.
CONTINUATIONS: dict[str | None, Continuation] = {
    None: lambda _i, _gained, _cumulated: 1.0,
    "constant": lambda _i, _gained, _cumulated: 0.7,
    "of_the_place": lambda i, _gained, _cumulated: i / (i + 1),
    "of_the_gain": lambda _i, gained, _cumulated: 0.9 - 0.9 * gained,
    "of_all_gains": lambda _i, _gained, cumulated: 1 / (1 + cumulated),
    "of_everything": lambda i, gained, cumulated: (1 - gained / 2) * i / (i + 1 + cumulated),
}


def shares(ranking: Ranking, min_rel: float, max_rel: float, dcg: str, depth: int) -> list[float] | None:
    """The gain at every position, as a share of the highest; None where no document has a gain."""

    def share(document: Document) -> float:
        grade, highest = min(max(gain(document), min_rel), max_rel) - min_rel, max_rel - min_rel
        return of_grade(grade, dcg) / of_grade(highest, dcg)

    if not any(share(document) > 0 for document in ranking.judged):
        return None
    of_retrieved = [share(document) for document in ranking.top(depth)]
    return of_retrieved + [0.0] * (depth - len(of_retrieved))


def expected_gain(
    ranking: Ranking,
    goes_on: Continuation,
    *,
    k: int | None = None,
    min_rel: float = 0,
    max_rel: float = 1,
    dcg: str = "log2",
) -> float | None:
    """The expected gain of readers, weighted by those who reach a position, per position read."""
    gains = shares(ranking, min_rel, max_rel, dcg, DEPTH if k is None else k)
    if gains is None:
        return None
    gained, read = gained_and_read(gains, goes_on)
    return gained / read


def gained_and_read(gains: list[float], goes_on: Continuation) -> tuple[float, float]:
    """The total gain of readers, and the number of positions they read."""
    arrives, cumulated, read, gained_by_all = 1.0, 0.0, 0.0, 0.0
    for place, gained in enumerate(gains, 1):
        cumulated += gained
        read += arrives
        gained_by_all += arrives * gained
        arrives *= goes_on(place, gained, cumulated)
    return gained_by_all, read


def user_model(ranking: Ranking, *, continuation: str | None = None, **parameters: float) -> float | None:
    return expected_gain(ranking, CONTINUATIONS[continuation], **parameters)


def of_all(
    ranking: Ranking, continuation: str | None = None, k: int | None = None, min_rel: float = 0, max_rel: float = 1
) -> tuple[float | None, float | None]:
    """The total gain and reading of readers; None where no document has a gain."""
    gains = shares(ranking, min_rel, max_rel, "log2", DEPTH if k is None else k)
    return (None, None) if gains is None else gained_and_read(gains, CONTINUATIONS[continuation])


def expected_total_gain(ranking: Ranking, **parameters: object) -> float | None:
    return of_all(ranking, **parameters)[0]


def expected_total_cost(ranking: Ranking, **parameters: object) -> float | None:
    return of_all(ranking, **parameters)[1]


def expected_cost(ranking: Ranking, **parameters: object) -> float | None:
    return None if of_all(ranking, **parameters)[0] is None else 1.0


def scaled_dcg(ranking: Ranking, **parameters: float) -> float | None:
    return expected_gain(ranking, lambda i, _gained, _cumulated: math.log(i + 1) / math.log(i + 2), **parameters)


def bejeweled_player(ranking: Ranking, *, T: float = 1, **parameters: float) -> float | None:  # noqa: N803
    return expected_gain(ranking, lambda _i, _gained, cumulated: float(cumulated < T), **parameters)


def inverse_square(i: int, head_start: float) -> float:
    return ((i + head_start - 1) / (i + head_start)) ** 2


def insq(ranking: Ranking, *, T: float = 1, **parameters: float) -> float | None:  # noqa: N803
    return expected_gain(ranking, lambda i, _gained, _cumulated: inverse_square(i, 2 * T), **parameters)


def inst(ranking: Ranking, *, T: float = 1, **parameters: float) -> float | None:  # noqa: N803
    return expected_gain(ranking, lambda i, _gained, cumulated: inverse_square(i, 2 * T - cumulated), **parameters)


def nearly_err_8(ranking: Ranking, **parameters: float) -> float | None:
    return expected_gain(ranking, lambda _i, gained, _cumulated: 1 - gained, **parameters)


def nearly_err_9(ranking: Ranking, **parameters: float) -> float | None:
    return expected_gain(ranking, lambda i, gained, _cumulated: i / (i + 1) * (1 - gained), **parameters)


def nearly_err_10(ranking: Ranking, *, p: float = 0.9, **parameters: float) -> float | None:
    return expected_gain(ranking, lambda _i, gained, _cumulated: p * (1 - gained), **parameters)


def nearly_err_11(ranking: Ranking, *, T: float = 1, **parameters: float) -> float | None:  # noqa: N803
    def goes_on(i: int, gained: float, _cumulated: float) -> float:
        return inverse_square(i, 2 * T) * (1 - gained)

    return expected_gain(ranking, goes_on, **parameters)
