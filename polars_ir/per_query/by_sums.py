"""`compare`, `gate` and `power` by moments and counts, of rows that are a plan or are spread over a cluster.

Conventions: rows of results are made as by those functions. What needs the values of queries is an error that says what
does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from scipy import special, stats

from polars_ir.errors import DataError, InputTypeError, option
from polars_ir.frames.canonical_frame import CanonicalFrame
from polars_ir.language.names import is_cost
from polars_ir.per_query.shared.aligned import Aligned, notes_of_lacking, pairs_of
from polars_ir.per_query.shared.measures import Measures, Range, check_range, range_of
from polars_ir.per_query.shared.options import ROUNDED, Comparing, Gating
from polars_ir.per_query.shared.sums import MEANS_OF_CLUSTERS, Differences, Layout, Source, Sums, sums_of
from polars_ir.per_query.shared.verdicts import BoundsOf, Procedure, agree, equivalence, judged, one_sided, with_test
from polars_ir.statistics.bounds import LEAST_BELOW, NO_RANGE, Tail
from polars_ir.statistics.intervals import Ends
from polars_ir.statistics.planning import gate_queries_by_t, widened
from polars_ir.statistics.randomisation import ROUNDING
from polars_ir.statistics.significance import Outcome, cohen_d_interval

#: The tests and the intervals that moments make.
TESTS, INTERVALS = ("t", "auto"), (None, "t", "normal", "auto")

#: The reason why a size of effect is null.
NO_RANKS = "rank_biserial needs the values of queries: collect them"


def to_compare(
    per_query: Any,
    measures: Measures,
    options: Comparing,
    baseline: str | None,
    systems: str | None,
    source: Callable[[Aligned], Source] | None,
) -> tuple[Sums, list[tuple[int, int]]]:
    """The sums of the pairs of systems of a plan, and their numbers; an error for options that need the values."""
    if options["test"] not in TESTS:
        raise InputTypeError.lazy(f"ir.compare with {option('test', options['test'])}", option("test", "t"))
    if options["interval"] not in INTERVALS:
        raise InputTypeError.lazy(f"ir.compare with {option('interval', options['interval'])}", option("interval", "t"))
    if options["cluster"] is not None:
        raise InputTypeError.lazy("ir.compare with cluster", MEANS_OF_CLUSTERS)
    if systems is not None:
        raise InputTypeError.lazy("ir.compare with systems", "that column in place of 'run'")
    sums = sums_of(per_query, measures, by=options["by"], what="ir.compare", source=source)
    pairs, names = pairs_of(sums.systems, baseline), tuple(sums.values)
    layout = Layout(
        systems=sums.systems,
        measures=names,
        pairs=tuple(pairs),
        missing=(options["missing"],) * len(names),
        costs=tuple(map(is_cost, names)),
        slices=sums.columns,
        tolerance=options["tolerance"] * ROUNDED,
    )
    needs_tails = options["margin"] is not None or "auto" in (options["test"], options["interval"])
    sums = sums.of_pairs(layout, tails=needs_tails)
    check_common(sums, 2, "ir.compare needs two queries or more that both systems of a pair answered.")
    return sums, pairs


def check_common(sums: Sums, least: int, says: str) -> None:
    """Raise a `DataError` unless both systems of some pair answered so many queries."""
    pairs: dict[int, int] = {}
    for _, part in sums.parts:
        for place, its in enumerate(next(iter(part.values.values()))):
            pairs[place] = pairs.get(place, 0) + its.both
    if max(pairs.values(), default=0) < least:
        fix = "Evaluate the systems on the same queries, and write their ids alike"
        raise DataError(says, about="per_query", fix=fix)


def compared(sums: Sums, pairs: Sequence[tuple[int, int]], options: Procedure) -> Iterator[dict[str, Any]]:
    """A row for each measure and pair of systems, as `compare.compared` makes them of values."""
    for measure, of_pairs in sums.values.items():
        width = getattr(range_of(measure), "width", math.inf)
        for pair, d in zip(pairs, of_pairs, strict=True):
            run, baseline = (sums.systems[system] for system in pair)
            outcome = _tested(d, options, width)
            ends = [_interval(d, options, alpha, width) for alpha in (options.alpha, options.alpha / options.family)]
            if ends[0] and options.interval == options.test.interval and not agree(outcome.p, ends[0], options.alpha):
                ends[0] = None
            tails = () if measure not in options.margins else tails_of(d, width, "margin", "no margin")
            row = {
                "run": run,
                "baseline": baseline,
                "measure": measure,
                **_effect(d, 1 - options.alpha),
                **(equivalence(measure, tails, options) if tails else {}),
                "wins": d.wins,
                "ties": d.n - d.wins - d.losses,
                "losses": d.losses,
                "n_queries": d.n,
                "n_missing": d.n_missing,
            }
            if d.n:
                row |= {"mean": d.first, "baseline_mean": d.second, "difference": d.mean}
            notes = _undefined(sums, d, measure, pair)
            if d.n > 1 and d.largest:
                notes.append(NO_RANKS)
            yield with_test(row, outcome, ends, options, (d.largest > 0, lambda: f": {NO_RANGE}"), notes)


def _undefined(sums: Sums, d: Differences, measure: str, pair: tuple[int, int]) -> list[str]:
    """The notes on a pair: on queries that both answered, and only one has a value for, and that on all."""
    lacking, alone = (d.lacking_first, d.lacking_second), (d.undefined_first, d.undefined_second)
    notes = notes_of_lacking(measure, [sums.systems[system] for system in pair], lacking, alone, d.both)
    return notes if sums.note is None else [*notes, sums.note]


def tails_of(d: Differences, width: float, what: str, instead: str) -> tuple[Tail, Tail] | tuple[()]:
    """Both tails, where bounds by Student's t hold; none where the range of the measure is not known either."""
    if d.tails is not None and min(tail.below for tail in d.tails) >= LEAST_BELOW:
        return d.tails
    if d.n < 2 or not math.isfinite(width):
        return ()
    says = f"{what}, where fewer than {LEAST_BELOW} queries lie below mean and median, or above both,"
    raise InputTypeError.lazy(says, instead)


def _tested(d: Differences, options: Procedure, width: float) -> Outcome:
    """Student's t, or the smaller p of both bounds."""
    t = d.mean / d.std * math.sqrt(d.n) if d.n > 1 and d.std else None
    if options.test.name == "t":
        return Outcome() if t is None else Outcome(t, 2 * float(special.stdtr(d.n - 1, -abs(t))))
    tails = tails_of(d, width, "ir.compare with test='auto'", option("test", "t"))
    return Outcome(t, min(1.0, 2 * min(tail.p_above(0.0) for tail in tails)) if tails else None)


def _interval(d: Differences, options: Procedure, alpha: float, width: float) -> Ends | None:
    """The interval of the mean difference."""
    if d.n < 2:
        return None
    if options.interval == "auto":
        tails = tails_of(d, width, "ir.compare with interval='auto'", option("interval", "t"))
        if not tails:
            return None
        low, high = tails[0].bound(alpha / 2), -tails[1].bound(alpha / 2)
    else:
        share = 1 - alpha / 2
        quantile = float(stats.t.ppf(share, d.n - 1) if options.interval == "t" else stats.norm.ppf(share))
        half = quantile * d.std / math.sqrt(d.n)
        low, high = d.mean - half, d.mean + half
    rounding = ROUNDING * d.largest
    low, high = (end if abs(end) > rounding else 0.0 for end in (low, high))
    return (low, high) if low < high else None


def _effect(d: Differences, confidence: float) -> dict[str, float | None]:
    """Cohen's d with its interval."""
    if d.n < 2 or not d.std:
        return {"cohen_d": None}
    effect = d.mean / d.std
    ends = (float(end) for end in cohen_d_interval(np.array(effect), d.n, confidence))
    low, high = (None if math.isnan(end) else end for end in ends)
    return {"cohen_d": effect, "cohen_d_low": low, "cohen_d_high": high}


def gated(
    sides: Mapping[str, CanonicalFrame],
    measures: Sequence[str],
    ranges: Mapping[str, Range],
    allowed: Mapping[str, float],
    options: Gating,
    by: Sequence[str],
    source: Callable[[Aligned], Source] | None,
) -> Iterator[dict[str, Any]]:
    """The rows of `gate` of two plans: one for each slice and measure."""
    if options["interval"] != "auto":
        raise InputTypeError.lazy(f"ir.gate with {option('interval', options['interval'])}", option("interval", "auto"))
    if options["cluster"] is not None:
        raise InputTypeError.lazy("ir.gate with cluster", MEANS_OF_CLUSTERS)
    sums = sums_of(sides, measures, by=by or None, what="ir.gate", source=source)
    measures = tuple(sums.values)
    as_0 = [options["missing"] == "zero" and not ranges[name].is_cost for name in measures]
    for place, name in enumerate(measures):
        seen = pl.concat(sums.extremes[f"{place} {end}"] for end in ("lowest", "highest"))
        check_range(name, seen.drop_nulls().to_numpy(), ranges[name])
    layout = Layout(
        systems=sums.systems,
        measures=measures,
        pairs=((0, 1),),
        missing=tuple("new" if zero else "skip" for zero in as_0),
        costs=(False,) * len(measures),
        slices=sums.columns,
        apart=True,
    )
    sums = sums.of_pairs(layout, tails=True)
    check_common(sums, 1, "new and old must be of the same queries; they share none.")
    # A part of one side only has no row.
    parts = [(names, part) for names, part in sums.parts if part.values[measures[0]][0].both]
    for names, part in parts:
        for name, zero in zip(measures, as_0, strict=True):
            d = part.values[name][0]
            n_rows = len(measures) * len(parts)
            row = _verdict(d, name, ranges[name], allowed[name], options, n_rows, sums.note, zero=zero)
            yield {**names, **row}


def _verdict(
    d: Differences, name: str, its: Range, drop: float, options: Gating, n_rows: int, note: str | None, *, zero: bool
) -> dict[str, Any]:
    """The row of a measure."""

    def bounds(alpha: float) -> Ends | None:
        tails = tails_of(d, its.width, f"ir.gate of {name!r}", "more queries")
        if not tails or d.n < 2:
            return None
        tails = tails[::-1] if its.is_cost else tails
        return tails[0].bound(alpha), -tails[1].bound(alpha)

    def needed() -> int | None:
        spread = math.sqrt(d.variance * (d.n - 1) / d.n + d.mean**2)
        return gate_queries_by_t(spread, (d.below_0 + d.above_0) / d.n, max_drop=drop, alpha=options["alpha"])

    figures = {
        "measure": name,
        "mean": d.first if d.n else None,
        "old_mean": d.second if d.n else None,
        "difference": d.mean if d.n else None,
        "n_queries": d.n,
        "n_missing": d.n_missing,
    }
    notes = one_sided((d.only_second, d.only_first, d.undefined_first, d.undefined_second), as_0=zero)
    return judged(figures, its, drop, options, BoundsOf(bounds, lambda: f": {NO_RANGE}", needed), n_rows, notes, note)


def spreads(
    per_query: Any, baseline: str | None, measures: Any, missing: str, cluster: Any
) -> Iterator[tuple[dict[str, Any], None, list[str]]]:
    """For each measure and pair of a plan their names and spreads, and notes, as in `power`; it has no differences."""
    if cluster is not None:
        raise InputTypeError.lazy("ir.power with cluster", MEANS_OF_CLUSTERS)
    sums = sums_of(per_query, measures, what="ir.power")
    # There is no by= to advise.
    sums = replace(
        sums, of_each=sums.of_each._replace(fix="Keep one of each; or, as a query counts once, collect it first")
    )
    names = tuple(sums.values)
    pairs = pairs_of(sums.systems, baseline)
    none = (False,) * len(names)
    sums = sums.of_pairs(Layout(sums.systems, names, tuple(pairs), (missing,) * len(names), none), tails=False)
    check_common(sums, 2, "ir.power needs two queries or more that both systems of a pair answered.")
    for measure, of_pairs in sums.parts[0][1].values.items():
        for pair, d in zip(pairs, of_pairs, strict=True):
            run, against = (sums.systems[system] for system in pair)
            names_of = {"system": sums.system, "run": run, "baseline": against, "measure": measure}
            spread = {
                "std": d.std if d.n > 1 else None,
                "std_planned": d.std * widened(d.n) if d.n > 1 else None,
                "n_missing": d.n_missing,
                "n_pairs": d.n,
            }
            yield {**names_of, **spread}, None, _undefined(sums, d, measure, pair)
