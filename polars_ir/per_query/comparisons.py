"""Pairs of systems on the same queries: a row per measure and pair, without the correction for their number.

Conventions: as in `systems`. A difference is the system's value minus the baseline's on the same query; what is not
defined of them is null, and the row's note says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_ir.errors import OptionError
from polars_ir.language.names import is_cost
from polars_ir.per_query.paired_tests import Paired, PairedTest
from polars_ir.per_query.ranges import range_of
from polars_ir.per_query.scores import Scores
from polars_ir.values import check, positive

if TYPE_CHECKING:
    from polars_ir.per_query.scores import Floats
    from polars_ir.statistics.significance import Outcome

Ends = tuple[float, float] | None


class Options(NamedTuple):
    """How pairs are compared: `family` is how many comparisons of a measure there are, `margins` those of measures."""

    test: PairedTest
    interval: str
    alpha: float
    family: int
    tolerance: float
    margins: Mapping[str, float]
    chances: Mapping[str, Any]

    @property
    def of_test(self) -> bool:
        """Whether the intervals are those that the test itself makes."""
        return self.test.of_all and self.interval == self.test.interval


def margins_of(margin: float | Mapping[str, float] | None, measures: Sequence[str]) -> dict[str, float]:
    """The margin of each measure that has one."""
    if margin is None:
        return {}
    if not isinstance(margin, Mapping):
        return dict.fromkeys(measures, check("margin", margin, positive()))
    if missed := [name for name in margin if name not in measures]:
        raise OptionError(f"margin must be of measures that are compared; got {missed[0]!r}.")
    return {name: check("margin", its, positive()) for name, its in margin.items()}


def compared(scores: Scores, pairs: Sequence[tuple[int, int]], options: Options) -> Iterator[dict[str, Any]]:
    """A row for each measure and pair of systems."""
    from polars_ir.statistics import significance

    values = list(scores.values.values())
    if options.test.complete:
        values = [significance.of_all(of_measure) for of_measure in values]
    differences = significance.differences(values, pairs)
    paired = Paired(values, differences, options.alpha, options.tolerance, options.chances)
    outcomes = options.test.outcomes(paired)
    places = list(product(zip(scores.values, values, strict=True), pairs))
    samples = [column[significance.there(column)] for column in differences.T]
    ends, wider = _intervals(options, samples, [measure for (measure, _), _ in places], outcomes)
    for place, d, outcome, *both_ends in zip(places, samples, outcomes, ends, wider, strict=True):
        (measure, of_measure), pair = place
        pair_values = of_measure[significance.there(of_measure[:, pair]).all(axis=1)][:, pair]
        run, baseline = (scores.systems[system] for system in pair)
        notes = [*_notes(d, pair_values, options, both_ends[0]), *scores.undefined(measure, pair)]
        yield {
            "run": run,
            "baseline": baseline,
            "measure": measure,
            **_means(d, pair_values),
            **_named("low", "high", both_ends[0]),
            **_named("simultaneous_low", "simultaneous_high", both_ends[1]),
            "statistic": outcome.statistic,
            "p": outcome.p,
            **_effects(d, options),
            **_equivalence(measure, d, options),
            **_counts(-d if is_cost(measure) else d, options.tolerance),
            "n_queries": len(d),
            "n_missing": scores.n_missing(pair),
            "note": "; ".join(notes) or None,
        }


def _intervals(
    options: Options, samples: list[Floats], measures: list[str], outcomes: list[Outcome]
) -> tuple[list[Ends], list[Ends]]:
    """The interval of each mean difference, and the one that holds together with those of its family."""
    from polars_ir.statistics import intervals

    of_test = [outcome.interval for outcome in outcomes]
    if options.of_test:
        return of_test, of_test
    ranges = [range_of(measure) for measure in measures]
    widths = [math.inf if its is None else its.width for its in ranges]

    def ends(alpha: float) -> list[Ends]:
        estimates = intervals.intervals(
            samples,
            kind=options.interval,
            confidence=1 - alpha,
            supports=[(-width, width) for width in widths],
            **options.chances,
        )
        bounded = options.interval in ("auto", "bounded")
        # What shows no spread does not show either that there is none.
        return [its if bounded or len(set(d.tolist())) > 1 else None for its, d in zip(estimates, samples, strict=True)]

    alone = ends(options.alpha)
    if options.test.of_all:
        return alone, of_test
    return alone, alone if options.family == 1 else ends(options.alpha / options.family)


def _named(low: str, high: str, ends: Ends) -> dict[str, float | None]:
    return dict(zip((low, high), ends or (None, None), strict=True))


def _effects(d: Floats, options: Options) -> dict[str, float | None]:
    """The sizes of the effect, with their intervals."""
    from polars_ir.statistics import effects
    from polars_ir.statistics.significance import without_ties

    ranked, confidence = without_ties(d, options.tolerance), 1 - options.alpha
    return {
        "cohen_d": effects.cohen_d(d),
        **_named("cohen_d_low", "cohen_d_high", effects.cohen_d_interval(d, confidence)),
        "rank_biserial": effects.rank_biserial(ranked),
        **_named("rank_biserial_low", "rank_biserial_high", effects.rank_biserial_interval(ranked, confidence)),
    }


def _equivalence(measure: str, d: Floats, options: Options) -> dict[str, float | bool | None]:
    """Whether the mean difference is within the margin, by two one-sided tests."""
    from polars_ir.statistics.bounds import p_above

    margin = options.margins.get(measure)
    if margin is None:
        return {}
    its = range_of(measure)
    lowest = -math.inf if its is None else -its.width
    sides = [p_above(side, -margin, lowest=lowest) for side in (d, -d)]
    p = None if sides[0] is None or sides[1] is None else max(sides[0], sides[1])
    return {"p_equivalent": p, "equivalent": None if p is None else p <= options.alpha}


def _means(d: Floats, pair_values: Floats) -> dict[str, float | None]:
    """The means of both systems over the pairs, and how they differ."""
    if not len(d):
        return {}
    mean, baseline_mean = pair_values.mean(axis=0).tolist()
    difference = float(d.mean())
    return {
        "mean": mean,
        "baseline_mean": baseline_mean,
        "difference": difference,
        "relative_difference": difference / abs(baseline_mean) if baseline_mean else None,
    }


def _counts(better_by: Floats, tolerance: float) -> dict[str, int]:
    wins, losses = int((better_by > tolerance).sum()), int((better_by < -tolerance).sum())
    return {"wins": wins, "ties": len(better_by) - wins - losses, "losses": losses}


def _notes(d: Floats, pair_values: Floats, options: Options, ends: Ends) -> list[str]:
    """Why something in the row is null, if anything is."""
    from polars_ir.statistics.effects import cohen_d

    if len(d) < 2:
        of = "all" if options.test.complete else "both"
        return [f"fewer than two queries with a value of {of} systems"]
    notes = []
    if not d.any():
        notes.append("all differences are 0")
    elif cohen_d(d) is None:
        notes.append("all differences are the same")
    elif (abs(d) <= options.tolerance).all():
        notes.append("all differences are ties")
    elif ends is None:
        few = "of this confidence with so few resamples" if options.of_test else "of these differences"
        notes.append(f"there is no {options.interval} interval {few}")
    if not pair_values[:, 1].mean():
        notes.append("the baseline's mean is 0")
    return notes
