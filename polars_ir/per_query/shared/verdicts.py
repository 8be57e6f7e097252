"""Rows of comparisons and of gates: a test with its interval, equivalence, a verdict, corrected p, and notes.

Conventions: a row knows nothing of where its figures come from, values or their sums. What is undefined is null, and
the row's note says why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import OptionError
from polars_ir.extras import np
from polars_ir.language.options import check, one_of, or_none
from polars_ir.per_query.shared.estimators import (
    NO_RANKS,
    Procedure,
    estimates,
    interval_of_mean,
    largest,
    p_within,
    why_none,
)
from polars_ir.per_query.shared.measures import Range
from polars_ir.per_query.shared.options import BOUNDED, OF_MEDIANS, ROUNDED, Gating
from polars_ir.per_query.shared.queries import Pair, Pairs

#: The most queries whose signs are changed for a p; of more it is that of the normal limit.
MOST_FLIPPED = 100_000

#: Number of queries up to which tests of the mean but `"auto"` reject too often for skewed differences, and the note.
FEW = 10
SKEWED = f"of {FEW} queries or fewer, skewed differences are significant too often"
OF_FEW = f"{SKEWED}: compare(test='auto') holds"

#: Number of queries up to which max-t does, and the note.
FEW_OF_FLIPS = 50
OF_FEW_FLIPS = f"of {FEW_OF_FLIPS} queries or fewer, max-t finds skewed differences significant too often: t holds"

#: The verdict of a mean beyond its floor.
BEYOND = "below its floor"


def with_test(
    pair: Pair,
    outcome: stats.Outcome,
    intervals: Sequence[stats.Ends | None],
    options: Procedure,
    effect: Mapping[str, float | None],
) -> dict[str, Any]:
    """The row of a pair: its means, its test, its interval and the one of its family, and its notes."""
    d, (ends, wider) = pair.sample, intervals
    row: dict[str, Any] = {
        "run": pair.run,
        "baseline": pair.baseline,
        "measure": pair.measure,
        **effect,
        "wins": pair.wins,
        "ties": d.n - pair.wins - pair.losses,
        "losses": pair.losses,
        "n_queries": d.n,
        "n_missing": pair.n_missing,
        **dict(zip(("low", "high"), ends or (None, None), strict=True)),
        **dict(zip(("simultaneous_low", "simultaneous_high"), wider or (None, None), strict=True)),
        "statistic": outcome.statistic,
        "p": outcome.p,
        "interval": options.interval if ends else None,
    }
    if (margin := options.margins.get(pair.measure)) is not None:
        p = p_within(d, margin)
        row |= {"p_equivalent": p, "equivalent": None if p is None else p <= options.alpha}
    if options.test.complete and outcome.p is not None:
        # Corrected for the number of families; no other test has it here.
        row["p_corrected"] = min(1.0, outcome.p * options.family)
    if d.n:
        relative = d.mean / abs(pair.baseline_mean) if pair.baseline_mean else None
        row |= {"mean": pair.mean, "baseline_mean": pair.baseline_mean, "difference": d.mean}
        row["relative_difference"] = relative
    beside = dict(pair.beside or {})
    why = beside.pop("why", None)
    row |= beside
    notes = [*_notes(row, d, options), *filter(None, [why]), *pair.notes]
    if (pair.people or d).values is None and d.n > 1 and largest(d):
        notes.append(NO_RANKS)
    return {**row, "note": "; ".join(notes) or None}


def _notes(row: Mapping[str, Any], d: stats.Sample, options: Procedure) -> list[str]:
    if row["n_queries"] < 2:
        of = "all" if options.test.complete else "both"
        return [f"fewer than two queries with a value of {of} systems"]
    notes = []
    figures = {"p": row["p"], f"{options.interval} interval": row["low"]}
    if not largest(d):
        notes.append("all differences are 0")
    elif row["cohen_d"] is None:
        notes.append("all differences are the same")
    elif not row["wins"] and not row["losses"]:
        notes.append("all differences are ties")
    elif missing := [name for name, figure in figures.items() if figure is None]:
        few = "of this confidence with so few resamples" if options.interval == "tukey" else "of these differences"
        is_by_range = row["p"] is None or options.interval in BOUNDED
        notes.append(f"there is no {' and no '.join(missing)} {few}{why_none(d) if is_by_range else ''}")
    # By a tolerance, differences count in means that are none here.
    is_counted = not options.tolerance or options.test.interval in OF_MEDIANS
    differing = row["wins"] + row["losses"]
    if (
        is_counted
        and differing
        and not row.get("lambda")
        and row["cohen_d"] is not None
        and _lowest_p(options.test.name, differing, d.n) > options.alpha
    ):
        notes.append(too_few(differing, d.n))
    if not row["baseline_mean"]:
        notes.append("the baseline's mean is 0")
    return notes


def _lowest_p(test: str, differing: int, n: int) -> float:
    """The lowest p of any outcome in which so many of n queries differ, as far as the test has a simple one."""
    if test in ("wilcoxon", "sign", "randomisation"):
        return 2.0 ** (1 - differing)
    if test in ("t", "max-t") and differing < n:
        # All that differ do so by the same.
        return stats.student.two_sided(math.sqrt(differing * (n - 1) / (n - differing)), n - 1)
    return 0.0


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


def judged(
    pair: Pair,
    value_range: Range,
    max_drop: float,
    options: Gating,
    n_rows: int,
    p: float | None,
    lowest_p: float,
    last_note: str | None,
) -> dict[str, Any]:
    """The row of a measure, one of so many, with its verdict on the differences of a pair and the p of a drop.

    `lowest_p` is a limit that p could not be below, whatever the signs of the differences.
    """
    d = pair.sample
    gains = d.scaled(-1) if value_range.is_cost else d
    bounds = _bounds(gains, pair.measure, options, 1)
    told = _beyond_chance(d.mean, p, options["alpha"]) if p is not None and p <= options["alpha"] else None
    notes: list[str] = []
    verdict = _decided(gains, pair.measure, bounds, max_drop, options, n_rows)
    if verdict == "no worse" and told:
        notes = [f"{told}, which is allowed"]
    elif verdict is None and told and gains.mean < -max_drop * ROUNDED:
        verdict, notes = "dropped", [f"{told}: more than may be lost, but not surely so"]
        if bounds is not None and bounds[1] > 0:
            end = "low is below" if value_range.is_cost else "high is above"
            notes.append(f"{end} 0, as it allows for queries that gain more than any of these")
        notes += _without(gains, bounds, options)
    elif verdict is None:
        verdict, notes = "inconclusive", _undecided(pair, gains, bounds, max_drop, options, n_rows, p, lowest_p)
    ends = bounds if bounds is None or not value_range.is_cost else (-bounds[1], -bounds[0])
    looks = None
    if options["looks"] is not None:
        look, planned = options["looks"]
        looks = f"look {look} of {planned}: each bound is at a level of {options['alpha']:.2g}"
    as_0 = options["missing"] == "zero" and not value_range.is_cost
    notes += filter(None, [*one_sided(pair.one_sided, as_0=as_0), looks, last_note])
    return {
        "measure": pair.measure,
        "mean": pair.mean,
        "old_mean": pair.baseline_mean,
        "difference": d.mean if d.n else None,
        "n_queries": d.n,
        "n_missing": pair.n_missing,
        **dict(zip(("low", "high"), ends or (None, None), strict=True)),
        "p": p,
        "max_drop": max_drop,
        "passed": verdict == "no worse",
        "verdict": verdict,
        "note": "; ".join(notes) or None,
    }


def with_floor(
    row: dict[str, Any], pair: Pair, value_range: Range, rounded_floor: tuple[float, float] | None, alpha: float
) -> dict[str, Any]:
    """The row, with its verdict if the mean of the run is beyond a floor, given with its rounding, and a note on it."""
    mean, is_cost = pair.mean, value_range.is_cost
    if rounded_floor is None:
        return row
    floor, rounding = rounded_floor
    # The mean of .6, .7 and .8 is .7, and that of .3, -.1 and -.2 is 0, despite floats.
    rounding = max(rounding, (ROUNDED - 1) * abs(floor))
    if mean is not None and (mean <= floor + rounding if is_cost else mean >= floor - rounding):
        return row
    bound, told, verdict = None, "", row["verdict"]
    if mean is not None and pair.error is not None:
        low, high = interval_of_mean(mean, pair.error, pair.sample.n, value_range.ends, 2 * alpha)
        bound = low if is_cost else high
    if mean is None or (bound is not None and (bound > floor if is_cost else bound < floor)):
        verdict = BEYOND
    elif verdict == "no worse":
        verdict = "inconclusive"
    if bound is not None:
        told = f", and that of all queries is surely {'above' if is_cost else 'below'} it"
        if verdict != BEYOND:
            told = f", and is {mean:.4g}; that of all queries may be as {'low' if is_cost else 'high'} as {bound:.4g}"
    note = f"its mean must be {floor:g} or {'less' if is_cost else 'more'}{told}"
    return {**row, "verdict": verdict, "passed": False, "note": "; ".join(filter(None, [note, row["note"]]))}


def _decided(
    gains: stats.Sample, measure: str, bounds: stats.Ends | None, max_drop: float, options: Gating, n_rows: int
) -> str | None:
    """The verdict by the bounds, if they tell."""
    limit = -max_drop * ROUNDED
    if bounds is None or bounds[0] < limit <= bounds[1]:
        return None
    if bounds[0] >= limit:
        return "no worse"
    # One measure that is worse is enough for a change not to ship, so that this is corrected for their number.
    among_all = _bounds(gains, measure, options, n_rows)
    return "worse" if among_all is not None and among_all[1] < limit else None


def _undecided(
    pair: Pair,
    gains: stats.Sample,
    bounds: stats.Ends | None,
    max_drop: float,
    options: Gating,
    n_rows: int,
    p: float | None,
    lowest_p: float,
) -> list[str]:
    """The notes on queries that cannot tell: whether the mean dropped, and what more of them would show."""
    if gains.n < 2:
        return ["fewer than two queries with a value of both systems"]
    notes = _without(gains, bounds, options)
    if p is not None and p <= options["alpha"]:
        notes.append(f"{_beyond_chance(pair.sample.mean, p, options['alpha'])}, but by no more than may be lost")
    elif p is not None:
        notes.append(_seen(pair, gains, max_drop, options, n_rows, p, lowest_p))
    if bounds is None:
        return notes
    if bounds[1] < -max_drop * ROUNDED:
        notes.append(f"worse by itself, but of {n_rows} verdicts one is by chance")
    else:
        notes.append(_plan(gains, pair.differing / gains.n, max_drop, bounds[0], options))
    return notes


def _without(gains: stats.Sample, bounds: stats.Ends | None, options: Gating) -> list[str]:
    reason = f"there is no {options['interval']} interval of these differences{why_none(gains)}"
    return [reason] if bounds is None else []


def _beyond_chance(difference: float, p: float, alpha: float) -> str:
    """The words for a drop, which of a cost is a rise."""
    return (
        f"the mean {'rose' if difference > 0 else 'dropped'} by {abs(difference):.3g}, beyond chance ({_p(p, alpha)})"
    )


def _p(p: float, alpha: float) -> str:
    """A p in a sentence, with the digits that tell it from the level of its test.

    >>> _p(0.04996, 0.05), _p(0.05, 0.05), _p(0.00123, 0.05), _p(0.00625, 0.00625)
    ('p = .04996', 'p = .05', 'p = .0012', 'p = .00625')
    """
    return "p < .0001" if p < 0.0001 else f"p = {_beside_level(p, alpha, 2, 'g')}".replace("0.", ".", 1)


def _beside_level(p: float, alpha: float, fewest: int, form: str) -> str:
    """A p with the fewest digits that leave it on its side of alpha, and print alpha for that alone."""
    text = ""
    for digits in range(fewest, 21):
        text = f"{p:.{digits}{form}}"
        if (float(text) <= alpha) == (p <= alpha) and (float(text) != alpha or p == alpha):
            break
    return text


def p_text(p: float, alpha: float = 0.05) -> str:
    """A p as papers print it, with the digits that tell it from the level of its test.

    >>> p_text(0.02349), p_text(0.0004), p_text(1.0), p_text(0.04996), p_text(0.033300333, 0.0333)
    ('.023', '<.001', '1.000', '.04996', '.0333003')
    """
    if p < 0.001:
        return "<.001"
    return _beside_level(p, alpha, 3, "f").removeprefix("0")


def p_beside(p: float, alpha: float = 0.05) -> str:
    """A p in a sentence, with its sign.

    >>> p_beside(0.02349), p_beside(0.0004), p_beside(0.99999)
    ('= 0.023', '< 0.001', '= 1.000')
    """
    text = p_text(p, alpha).removeprefix("<")
    return f"{'<' if p < 0.001 else '='} {'0' * text.startswith('.')}{text}"


def too_few(differing: int, n: int, so_many: str = "") -> str:
    """The note on a test by signs or their changes, of which so few differences can have no p that is low enough."""
    some = f"only {differing}" if differing else "none"
    told = f"there are only {n} queries" if differing == n else f"{some} of {n} queries differ{'s' * (differing < 2)}"
    return f"{told}: no outcome of so few{so_many} could have been beyond chance"


def _seen(
    pair: Pair, gains: stats.Sample, max_drop: float, options: Gating, n_rows: int, p: float, lowest_p: float
) -> str:
    """The drop that would have been found 4 times out of 5, where none was found."""
    from statistics import NormalDist

    n, alpha = gains.n, options["alpha"]
    told = f"no drop beyond chance ({_p(p, alpha)})"
    if options["interval"] == "anytime":
        return told
    if lowest_p > alpha:
        return too_few(pair.differing, n, ", in so many rows," if 2.0**-pair.differing <= alpha else "")
    # Rows share alpha, and the spread may be larger than it seems.
    error = gains.std * stats.planning.widened(n) / math.sqrt(n)
    t = stats.student.quantile(1 - alpha / n_rows, n - 1) + stats.student.quantile(stats.planning.POWER, n - 1)
    found = max(t * error, max_drop + NormalDist().inv_cdf(stats.planning.POWER) * error)
    if found <= -gains.mean:
        return told  # As large a drop was not found: what is normal of larger samples does not hold here.
    if found >= gains.support[1]:
        return f"{told}; no drop that the measure can have would be found 4 times out of 5"
    size = f"{found:.3g}" if found > max_drop else f"more than {max_drop:.3g}"
    return f"{told}; one of {size} would be found 4 times out of 5"


def _bounds(gains: stats.Sample, measure: str, options: Gating, n_rows: int) -> stats.Ends | None:
    """The bounds of the mean gain, each beyond the true one with a probability of alpha by the number of rows."""
    advice, alpha = (f"ir.gate of {measure!r}", "more queries"), 2 * options["alpha"] / n_rows
    return estimates([gains], options["interval"], alpha, advice=advice)[0].ends if gains.n > 1 else None


def _fresh(gains: stats.Sample, differing: float, max_drop: float, options: Gating) -> int | None:
    """About how many fresh queries decide, by the upper limit of the spread; by moments the number of Student's t."""
    # Rounded as in the bounds.
    alpha, (lowest, highest) = (1 - (1 - 2 * options["alpha"])) / 2, gains.support
    wider = stats.planning.widened(gains.n)
    if gains.values is not None:
        kind, values = options["interval"], (gains.values * wider).clip(lowest, highest)
        return stats.planning.gate_queries(values, max_drop=max_drop, lowest=lowest, alpha=alpha, kind=kind)
    spread = wider * math.sqrt(gains.std**2 * (gains.n - 1) / gains.n + gains.mean**2)
    return stats.planning.gate_queries_by_t(spread, differing, max_drop=max_drop, alpha=alpha)


def _plan(gains: stats.Sample, differing: float, max_drop: float, low: float, options: Gating) -> str:
    ruled_out = f"these queries rule out a drop of more than {-low:.3g}"
    if not max_drop:
        return f"{ruled_out}; no number of queries shows that nothing at all is lost: allow a max_drop above 0"
    needed = _fresh(gains, differing, max_drop, options)
    if needed is not None and needed <= gains.n:
        return f"{ruled_out}; they would mostly pass a change without any drop: the difference is close to max_drop"
    fresh = f"more than {stats.planning.MOST_QUERIES:,}" if needed is None else f"about {needed:,}"
    return f"{ruled_out}; {fresh} fresh queries would pass a change without any drop 4 times out of 5"


def p_of_drops(slices: Sequence[Pairs], ranges: Mapping[str, Range], interval: str) -> list[float | None]:
    """The one-sided p that the mean gain of each pair would be as low if systems changed places, corrected for all.

    It is by changes of signs that all measures of a slice have in common, by their normal limit of moments and of many
    queries, and by a bet for an interval `"anytime"`, both by Holm. But for a bet, none is below that of Student's t,
    corrected for skewness, which sees that few queries make the mean. None of fewer than two queries.
    """
    gains, parts, largest = [], [], []
    for of in slices:
        signs = np.array([-1.0 if ranges[pair.measure].is_cost else 1.0 for pair in of.pairs])
        own = [pair.sample.scaled(sign) for pair, sign in zip(of.pairs, signs.tolist(), strict=True)]
        if of.differences is not None and of.largest is not None:
            several = [each.n > 1 for each in own]
            parts.append((of.differences * signs)[:, several])
            largest.append(of.largest[several])
        gains += own
    if interval == "anytime":
        bets = [None if d.values is None or d.n < 2 else stats.p_of_signs(d.values, d.support[1]) for d in gains]
        return stats.corrected(bets, "holm", alpha=0.0)
    is_many = sum(map(len, parts)) > MOST_FLIPPED or all(
        stats.is_near_limit(np.nan_to_num(part)).all() for part in parts
    )
    if len(parts) == len(slices) and not is_many:
        flipped = iter(stats.largest_flipped(parts, stats.Draws(), lower=True, largest=largest).tolist())
        p = [next(flipped) if d.n > 1 else None for d in gains]
    else:
        p = stats.corrected([_p_by_limit(d) for d in gains], "holm", alpha=0.0)
    by_t = [tail and tail.p_above(0.0) for tail in (d.scaled(-1).tail(whole=True) for d in gains)]
    return [None if a is None or b is None else max(a, b) for a, b in zip(p, by_t, strict=True)]


def _p_by_limit(gains: stats.Sample) -> float | None:
    """The p of as low a sum after changes of signs, by its normal limit."""
    if gains.n < 2:
        return None
    figures = np.array([gains.std, gains.mean])
    std, mean = (figures / stats.unit(figures)).tolist()
    squares = std**2 * (gains.n - 1) + gains.n * mean**2
    return float(stats.p_by_limit(gains.n * mean, squares)) if squares else 1.0


def check_correction(correction: object) -> None:
    """Raise an `OptionError` unless this is a known name of a correction, or None."""
    if stats.is_correction(correction):
        return
    try:
        check("correction", correction, or_none(one_of(*stats.MAIN_CORRECTIONS)))
    except OptionError as error:
        if (meant := f"fdr_{correction}").lower() in stats.MAIN_CORRECTIONS:
            error.near = f"Did you mean {meant!r}?"
        raise


def with_corrected_p(
    rows: Sequence[dict[str, Any]],
    schema: Mapping[str, Any],
    significant: str,
    correction: str | None,
    alpha: float,
    *,
    resamples: int | None = None,
    family: str = "measure",
) -> pl.DataFrame:
    """The comparisons with their p corrected, in families of a measure or of all; `significant` names the verdict.

    Where a p of resamples could not be lower, the note gives this as the reason why it is not significant.
    """
    families: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault("" if family == "all" else row["measure"], []).append(row)
    for of_family in families.values():
        for row, p in zip(
            of_family, stats.corrected([r["p"] for r in of_family], correction, alpha=alpha), strict=True
        ):
            row.setdefault("p_corrected", p)
    for row in rows:
        p = row["p_corrected"]
        row[significant] = None if p is None else p <= alpha
        if row[significant] is False and resamples and row["p"] <= 1.5 / (resamples + 1):
            floor = f"p cannot be lower with {resamples:,} resamples, too few for so many comparisons: raise them"
            row["note"] = f"{row['note']}; {floor}" if row["note"] else floor
    return pl.DataFrame(rows, schema=schema)
