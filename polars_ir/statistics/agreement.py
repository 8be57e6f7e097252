"""Agreement of judges, from counts of the pairs of grades that they give to the same documents.

Conventions: counts have a row per query and a column per pair of grades that occurs. A coefficient is a function of
sums of such rows: of all queries, of one, or of a sample; so it takes an array of sums, and gives a value for each, NaN
where it is undefined. The coincidences of several judges, by which Krippendorff counts, are pairs whose counts are
divided by the number of judges of the document less one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polars_ir.statistics.randomisation import CELLS, Draws, Floats, counted

#: Level at which the ends of an interval leave out draws.
ALPHA = 0.05


class Pairs(NamedTuple):
    """Counts of pairs of grades: a row of `counts` per query, a column per pair, which has its places in `grades`."""

    counts: Floats
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    grades: Floats

    @classmethod
    def of(cls, query: Floats, first: Floats, second: Floats, counts: Floats) -> Pairs:
        """The pairs of long columns: numbers of queries, the grades of both judges, and counts."""
        grades = np.unique(np.concatenate([first, second]))
        at = [np.searchsorted(grades, each) for each in (first, second)]
        cells, cell = np.unique(at[0] * len(grades) + at[1], return_inverse=True)
        queries, row = np.unique(query, return_inverse=True)
        table = np.zeros((len(queries), len(cells)))
        np.add.at(table, (row, cell), counts)
        return cls(table, cells // len(grades), cells % len(grades), grades)

    def cut(self, rel: float) -> Pairs:
        """The pairs of grades cut in two at `rel`."""
        levels = (self.grades >= rel).astype(np.intp)
        return self._replace(first=levels[self.first], second=levels[self.second], grades=np.array([0.0, 1.0]))

    def turned(self) -> Pairs:
        """The pairs with the judges exchanged."""
        return self._replace(first=self.second, second=self.first)

    def margins(self, sums: Floats) -> tuple[Floats, Floats]:
        """Number of documents with each grade, by the one and by the other judge."""
        of_grades = np.eye(len(self.grades))
        return sums @ of_grades[self.first], sums @ of_grades[self.second]


class Given(NamedTuple):
    """Grades of documents, a column per judge and NaN where there is none, with the queries and counts of the rows.

    `below` has the number of each judge's grades below 0, which count as none, and `sets` the others, in order.
    """

    query: Floats
    counts: Floats
    grades: Floats
    is_judged: NDArray[np.bool_]
    below: list[int]
    sets: list[list[float]]

    @classmethod
    def of(cls, query: Floats, counts: Floats, *grades: Floats) -> Given:
        """Those of columns."""
        table = np.column_stack(grades)
        is_judged = table >= 0
        below = (counts @ (table < 0)).astype(int).tolist()
        sets = [np.unique(column[there]).tolist() for column, there in zip(table.T, is_judged.T, strict=True)]
        return cls(query, counts, table, is_judged, below, sets)

    def pairs(self, one: int, other: int) -> Pairs | None:
        """The pairs of grades of two judges; None without a document in common."""
        both = self.is_judged[:, one] & self.is_judged[:, other]
        if not both.any():
            return None
        return Pairs.of(self.query[both], self.grades[both, one], self.grades[both, other], self.counts[both])

    def coincidences(self) -> Pairs | None:
        """The pairs of grades of all judges, each counted by 1 / (judges of the document - 1)."""
        at, one, other = [], [], []
        for first, second in combinations(range(self.grades.shape[1]), 2):
            rows = np.flatnonzero(self.is_judged[:, first] & self.is_judged[:, second])
            at.append(rows)
            one.append(self.grades[rows, first])
            other.append(self.grades[rows, second])
        rows = np.concatenate(at)
        if not len(rows):
            return None
        counts = self.counts[rows] / (self.is_judged.sum(axis=1)[rows] - 1)
        columns = self.query[rows], np.concatenate(one), np.concatenate(other), counts
        # In a fixed order, so that fractions are added up to the same bits.
        order = np.lexsort(columns[::-1])
        return Pairs.of(*(column[order] for column in columns))

    def n_shared(self, places: Sequence[int]) -> int:
        """Number of documents that two or more of some judges judged."""
        return int(self.counts[self.is_judged[:, places].sum(axis=1) > 1].sum())

    def alone(self, places: Sequence[int]) -> list[int]:
        """Number of documents that each of some judges judged, and none of the others."""
        there = self.is_judged[:, places]
        alone: list[int] = (self.counts @ (there & (there.sum(axis=1) == 1)[:, np.newaxis])).astype(int).tolist()
        return alone


Coefficient = Callable[[Pairs, Floats], Floats]


def nominal(grades: Floats) -> Floats:
    """Distance 1 between unlike grades."""
    return 1.0 - np.eye(len(grades))


def linear(grades: Floats) -> Floats:
    """Distance of grades, in a power of 2 that the largest is near: a coefficient is the same in any unit."""
    distances: Floats = np.abs(grades[:, np.newaxis] - grades)
    # A power of 2 costs no bits, and the squares stay finite.
    return np.asarray(np.ldexp(distances, -np.frexp(distances.max())[1]))


def quadratic(grades: Floats) -> Floats:
    """Squared distance of grades."""
    return linear(grades) ** 2


def raw(pairs: Pairs, sums: Floats) -> Floats:
    """Share of documents with the same grade."""
    return _ratio(sums[:, pairs.first == pairs.second].sum(axis=1), sums.sum(axis=1))


def kappa(distance: Callable[[Floats], Floats]) -> Coefficient:
    """Cohen's kappa: 1 - sum(d p_ij) / sum(d a_i b_j), d the distance of two grades."""

    def coefficient(pairs: Pairs, sums: Floats) -> Floats:
        between = distance(pairs.grades)
        a, b = pairs.margins(sums)
        by_chance = ((a @ between) * b).sum(axis=1)
        found: Floats = sums @ between[pairs.first, pairs.second] * sums.sum(axis=1)
        return 1 - _ratio(found, by_chance)

    return coefficient


def alpha(distance: Callable[[Floats], Floats] | None) -> Coefficient:
    """Krippendorff's alpha: 1 - (N - 1) sum(o_ij d) / sum(n_i n_j d); None is the ordinal distance of sums' own."""

    def coefficient(pairs: Pairs, sums: Floats) -> Floats:
        n = np.add(*pairs.margins(sums))
        total = n.sum(axis=1)
        if distance is None:
            # The ordinal distance of two grades is that of their mean ranks, squared.
            place = n.cumsum(axis=1) - n / 2 - total[:, np.newaxis] / 2
            found = (sums * (place[:, pairs.first] - place[:, pairs.second]) ** 2).sum(axis=1)
            by_chance = total * (n * place**2).sum(axis=1)
        else:
            between = distance(pairs.grades)
            found = sums @ between[pairs.first, pairs.second]
            by_chance = ((n @ between) * n).sum(axis=1) / 2
        return 1 - _ratio((total - 1) * found, by_chance)

    return coefficient


def ac1(pairs: Pairs, sums: Floats) -> Floats:
    """Gwet's AC1: (p_a - p_e) / (1 - p_e), p_e = sum(s_i (1 - s_i)) / (q - 1), s_i the share of one of q grades."""
    n = np.add(*pairs.margins(sums))
    share = _ratio(n, n.sum(axis=1, keepdims=True))
    by_chance = _ratio((share * (1 - share)).sum(axis=1), (n > 0).sum(axis=1) - 1.0)
    return _ratio(raw(pairs, sums) - by_chance, 1 - by_chance)


def agreed(level: int) -> Coefficient:
    """Share of the first judge's documents at a level that the second judge also puts there; grades are cut."""

    def coefficient(pairs: Pairs, sums: Floats) -> Floats:
        of = pairs.first == level
        return _ratio(sums[:, of & (pairs.second == level)].sum(axis=1), sums[:, of].sum(axis=1))

    return coefficient


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """A quotient; NaN where the denominator is 0."""
    undefined = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=undefined, where=denominator != 0))


#: Coefficients of relevant and of other documents.
sensitivity, specificity = agreed(1), agreed(0)

#: Coefficients of any number of judges.
OF_ALL: Mapping[str, Coefficient] = {
    "alpha nominal": alpha(nominal),
    "alpha ordinal": alpha(None),
    "alpha interval": alpha(quadratic),
}

#: Coefficients of two judges.
OF_TWO: Mapping[str, Coefficient] = {
    "raw": raw,
    "kappa": kappa(nominal),
    "kappa linear": kappa(linear),
    "kappa quadratic": kappa(quadratic),
    **OF_ALL,
    "ac1": ac1,
}


class Estimate(NamedTuple):
    """A coefficient with the ends of its interval, the mean of the queries' own, and how many have one of their own.

    `left_out` counts the draws without a value. A figure that is undefined is NaN.
    """

    value: float
    low: float
    high: float
    mean_by_query: float
    n_with_own: int
    left_out: int


def estimates(asked: Sequence[tuple[Pairs, Coefficient]], draws: Draws) -> list[Estimate]:
    """The coefficients, with percentile intervals over queries that are drawn with replacement.

    The draws depend on the number of queries and the seed alone, so that pairs of as many queries share them.
    """
    drawn: list[list[Floats]] = [[] for _ in asked]
    for n_queries in {len(pairs.counts) for pairs, _ in asked}:
        of_number = [place for place, (pairs, _) in enumerate(asked) if len(pairs.counts) == n_queries]
        tables = list({id(asked[place][0].counts): asked[place][0].counts for place in of_number}.values())
        ends = np.cumsum([table.shape[1] for table in tables])[:-1]
        together = np.hstack(tables)
        for generator, n in draws.parts(CELLS // n_queries):
            sums = counted(generator.integers(n_queries, size=(n, n_queries))) @ together
            of_table = dict(zip(map(id, tables), np.split(sums, ends, axis=1), strict=True))
            for place in of_number:
                pairs, coefficient = asked[place]
                drawn[place].append(coefficient(pairs, of_table[id(pairs.counts)]))
    return [_estimate(*each, np.concatenate(values)) for each, values in zip(asked, drawn, strict=True)]


def _estimate(pairs: Pairs, coefficient: Coefficient, drawn: Floats) -> Estimate:
    own, is_defined = coefficient(pairs, pairs.counts), ~np.isnan(drawn)
    own, drawn = own[~np.isnan(own)], drawn[is_defined]
    (value,) = coefficient(pairs, pairs.counts.sum(axis=0, keepdims=True))
    low, high = np.quantile(drawn, [ALPHA / 2, 1 - ALPHA / 2]) if len(pairs.counts) > 1 and len(drawn) else [np.nan] * 2
    mean = own.mean() if len(own) else np.nan
    return Estimate(float(value), float(low), float(high), float(mean), len(own), int((~is_defined).sum()))
