"""Rows of comparisons and of gates: a test with its interval, equivalence, a verdict, and the notes on them.

Conventions: a row knows nothing of where its figures come from, values or their sums. What is undefined is null, and
the row's note says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_ir.per_query.shared.measures import Range, range_of
from polars_ir.per_query.shared.options import BOUNDED, ROUNDED, Gating
from polars_ir.per_query.shared.tests import OF_MEDIANS, PairedTest

if TYPE_CHECKING:
    from polars_ir.statistics.bounds import Tail
    from polars_ir.statistics.intervals import Ends
    from polars_ir.statistics.randomisation import Draws, Floats
    from polars_ir.statistics.significance import Outcome


class Procedure(NamedTuple):
    """The options of comparisons: `family` is the number of those in one, `margins` are those of the measures."""

    test: PairedTest
    interval: str
    alpha: float
    family: int
    tolerance: float
    margins: Mapping[str, float]
    draws: Draws


def with_test(
    row: dict[str, Any],
    outcome: Outcome,
    intervals: Sequence[Ends | None],
    options: Procedure,
    spread: tuple[bool, Callable[[], str]],
    notes: Sequence[str],
) -> dict[str, Any]:
    """A row with its test, its interval and the one of its family, and its notes.

    `spread` are whether a difference is not 0, and the reason where there is no p of those that there are.
    """
    ends, wider = intervals
    row |= {
        **dict(zip(("low", "high"), ends or (None, None), strict=True)),
        **dict(zip(("simultaneous_low", "simultaneous_high"), wider or (None, None), strict=True)),
        "statistic": outcome.statistic,
        "p": outcome.p,
        "interval": options.interval if ends else None,
    }
    if options.test.complete and outcome.p is not None:
        # Corrected for the number of families; no other test has it here.
        row["p_corrected"] = min(1.0, outcome.p * options.family)
    if row["n_queries"]:
        row["relative_difference"] = row["difference"] / abs(row["baseline_mean"]) if row["baseline_mean"] else None
    return {**row, "note": "; ".join([*_notes(row, options, spread), *notes]) or None}


def intervals_of(
    options: Procedure, samples: list[Floats], widths: list[float], outcomes: list[Outcome]
) -> tuple[list[Ends | None], list[Ends | None]]:
    """The interval of each difference, and the one that holds together with those of its family."""
    from polars_ir.statistics.intervals import ANY, Values, estimates
    from polars_ir.statistics.significance import without_ties

    bounded, of_medians = options.interval in BOUNDED, options.interval in OF_MEDIANS
    values = [
        Values(without_ties(d, options.tolerance) if of_medians else d, support=(-width, width) if bounded else ANY)
        for d, width in zip(samples, widths, strict=True)
    ]

    def ends(alpha: float) -> list[Ends | None]:
        found: list[Ends | None] = []
        for its, d in zip(estimates(values, options.interval, 1 - alpha, options.draws), samples, strict=True):
            # What shows no spread does not show either that there is none.
            is_there = its.ends is not None and (bounded or (d != d[:1]).any())
            low, high = (_without_rounding(end, d) for end in its.ends or ()) if is_there else (0.0, 0.0)
            found.append((low, high) if low < high else None)
        return found

    of_test = options.interval == options.test.interval
    if options.test.complete:
        alone = [outcome.interval for outcome in outcomes] if of_test else ends(options.alpha)
        return alone, [outcome.simultaneous for outcome in outcomes]
    alone = ends(options.alpha)
    if of_test:
        alone = [
            its if its is None or agree(outcome.p, its, options.alpha) else None
            for its, outcome in zip(alone, outcomes, strict=True)
        ]
    return alone, ends(options.alpha / options.family)


def _without_rounding(end: float, d: Floats) -> float:
    """The end of an interval, and 0 where it is 0 but for rounding, so that none excludes 0 by that."""
    from polars_ir.statistics.randomisation import ROUNDING

    return end if abs(end) > ROUNDING * float(abs(d).max()) else 0.0


def agree(p: float | None, ends: Ends, alpha: float) -> bool:
    """True where an interval excludes 0 as p says."""
    return p is None or (p <= alpha) == (ends[0] > 0 or ends[1] < 0)


def equivalence(measure: str, sides: Sequence[Floats | Tail], options: Procedure) -> dict[str, float | bool | None]:
    """The test that the mean difference is within the margin, by two one-sided ones."""
    from polars_ir.statistics.bounds import p_above

    margin = options.margins.get(measure)
    if margin is None:
        return {}
    its = range_of(measure)
    lowest = -math.inf if its is None else -its.width
    above, below = (p_above(side, -margin, lowest=lowest) for side in sides)
    p = None if above is None or below is None else max(above, below)
    return {"p_equivalent": p, "equivalent": None if p is None else p <= options.alpha}


def _notes(row: Mapping[str, Any], options: Procedure, spread: tuple[bool, Callable[[], str]]) -> list[str]:
    """The reasons for nulls in the row."""
    if row["n_queries"] < 2:
        of = "all" if options.test.complete else "both"
        return [f"fewer than two queries with a value of {of} systems"]
    notes = []
    differ, why_none = spread
    figures = {"p": row["p"], f"{options.interval} interval": row["low"]}
    if not differ:
        notes.append("all differences are 0")
    elif row["cohen_d"] is None:
        notes.append("all differences are the same")
    elif not row["wins"] and not row["losses"]:
        notes.append("all differences are ties")
    elif missing := [name for name, figure in figures.items() if figure is None]:
        few = "of this confidence with so few resamples" if options.interval == "tukey" else "of these differences"
        is_by_range = row["p"] is None or options.interval in BOUNDED
        notes.append(f"there is no {' and no '.join(missing)} {few}{why_none() if is_by_range else ''}")
    if not row["baseline_mean"]:
        notes.append("the baseline's mean is 0")
    return notes


def one_sided(counts: Sequence[int], *, as_0: bool) -> list[str]:
    """The notes on queries that only old has, only new has, and are undefined for new only and for old only."""
    treated = "counted as 0" if as_0 else "left out"
    kinds = {
        "queries that only old has": treated,
        "queries that only new has": "left out",
        "queries undefined for new only": treated,
        "queries undefined for old only": "left out",
    }
    notes = []
    for (kind, treatment), n in zip(kinds.items(), counts, strict=True):
        if n:
            notes.append(f"{kind}: {n}, {treatment}")
    return notes


class BoundsOf(NamedTuple):
    """The bounds of the mean gain at a level, the reason where there are none, and how many fresh queries decide."""

    bounds: Callable[[float], tuple[float, float] | None]
    why_none: Callable[[], str]
    fresh: Callable[[], int | None]


def judged(
    figures: dict[str, Any],
    value_range: Range,
    max_drop: float,
    options: Gating,
    bounds_of: BoundsOf,
    n_rows: int,
    notes: Sequence[str],
    last_note: str | None = None,
) -> dict[str, Any]:
    """The row of a measure, one of so many, with its verdict."""
    verdict, note, n = "inconclusive", None, figures["n_queries"]
    bounds = bounds_of.bounds(options["alpha"]) if n > 1 else None
    if n < 2:
        note = "fewer than two queries with a value of both systems"
    elif bounds is None:
        note = f"there is no {options['interval']} interval of these differences{bounds_of.why_none()}"
    elif bounds[0] >= -max_drop * ROUNDED:
        verdict = "no worse"
    elif bounds[1] < -max_drop * ROUNDED:
        # One measure that is worse is enough for a change not to ship, so that this is corrected for their number.
        among_all = bounds_of.bounds(options["alpha"] / n_rows)
        if among_all is not None and among_all[1] < -max_drop * ROUNDED:
            verdict = "worse"
        else:
            note = f"worse by itself, but of {n_rows} verdicts one is by chance"
    else:
        note = _plan(n, max_drop, bounds[0], bounds_of)
    ends = bounds if bounds is None or not value_range.is_cost else (-bounds[1], -bounds[0])
    looks = None
    if options["looks"] is not None:
        look, planned = options["looks"]
        looks = f"look {look} of {planned}: each bound is at a level of {options['alpha']:.2g}"
    return {
        **figures,
        **dict(zip(("low", "high"), ends or (None, None), strict=True)),
        "max_drop": max_drop,
        "passed": verdict == "no worse",
        "verdict": verdict,
        "note": "; ".join(filter(None, [note, *notes, looks, last_note])) or None,
    }


def _plan(n: int, max_drop: float, low: float, bounds_of: BoundsOf) -> str:
    """The smallest drop that the queries rule out, and about how many fresh ones would decide."""
    from polars_ir.statistics.planning import MOST_QUERIES

    ruled_out = f"these queries rule out a drop of more than {-low:.3g}"
    if not max_drop:
        return f"{ruled_out}; no number of queries shows that nothing at all is lost: allow a max_drop above 0"
    needed = bounds_of.fresh()
    if needed is not None and needed <= n:
        return f"{ruled_out}; they would mostly pass a change without any drop: the difference is close to max_drop"
    fresh = f"more than {MOST_QUERIES:,}" if needed is None else f"about {needed:,}"
    return f"{ruled_out}; {fresh} fresh queries would pass a change without any drop 4 times out of 5"
