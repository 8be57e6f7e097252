"""Level and power of a test on given systems: the systems made equal, and their queries resampled.

Conventions: only queries for which all systems have a value count. A share p of R simulations has the standard error
sqrt(p (1 - p) / R); a mean of shares, over pairs or intervals, has that of its simulations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import polars as pl

from polars_ir import statistics as stats
from polars_ir.errors import DataError, OptionError, option
from polars_ir.extras import np
from polars_ir.frames.kinds import give_back
from polars_ir.frames.table_types import EagerFrameT, Table
from polars_ir.language.options import chance, check, one_of, or_none, public, whole
from polars_ir.language.words import ROUNDED_TO
from polars_ir.per_query.shared.estimators import Procedure, intervals
from polars_ir.per_query.shared.measures import Measures, check_bounds, range_of
from polars_ir.per_query.shared.options import BOUNDED, INTERVALS, MISSING, MOST_RESAMPLES, OF_MEDIANS, TEST, TESTS
from polars_ir.per_query.shared.paired import scores_of
from polars_ir.per_query.shared.verdicts import check_correction

#: Simulations in memory at once, which share the rearrangements.
AT_ONCE = 20

#: Minimum number of resamples by default: each simulation draws as many again.
LEAST = 999

#: Note on a share of zero differences that changes a test of moved systems.
TIES, OF_TIES = 0.1, "of the differences are 0, and all alike once they are moved"

#: Columns of the result.
SCHEMA = {
    **dict.fromkeys(["measure", "test", "correction"], pl.String),
    "n_queries": pl.UInt32,
    **dict.fromkeys(["level", "level_error", "power", "power_error", "coverage", "coverage_error"], pl.Float64),
    **dict.fromkeys(["simultaneous_coverage", "simultaneous_error"], pl.Float64),
    "interval": pl.String,
    **dict.fromkeys(["n_comparisons", "simulations"], pl.UInt32),
    "note": pl.String,
}


@public()
def level(
    per_query: Table[EagerFrameT],
    measure: Measures = None,
    *,
    test: str | Sequence[str] = "t",
    n: int | Sequence[int] | None = None,
    baseline: str | None = None,
    correction: str | None = "holm",
    interval: str | None = None,
    alpha: float = 0.05,
    equal: str = "moved",
    missing: str = "zero",
    cluster: Any = None,
    simulations: int = 1000,
    resamples: int | None = None,
    seed: int = 0,
) -> EagerFrameT:
    """Level and power that a test of `compare` has on these systems, by simulation: a row per setting.

    The given queries are the population: n of them are drawn with replacement, again and again. For the level, all
    systems have the same mean; for the power they are unchanged. Each time, all comparisons of a measure are made as by
    `compare`, by default with fewer resamples. A comparison without a p counts in no share, and the note says so;
    identical systems count as not significant.

    To make systems equal, `"moved"` shifts each system's values to the mean of all, so that differences keep their
    spread and skewness; but former ties (RR, Success) become equal non-zero differences, in which tests by signs and
    ranks find an effect that is not there: the note counts ties. `"exchanged"` exchanges the systems' values at random
    in each query, so that they are equal in all respects, and symmetric as few real ones are.

    Parameters
    ----------
    measure
        The measures, one or several, in any spelling; all by default.
    test
        A test of `compare`, or several.
    n
        The number of queries to draw, 2 or more, or several; by default the number of queries given.
    baseline, correction, interval, alpha, missing, cluster
        As in `compare`. With `cluster`, `n` is a number of clusters.
    equal
        `"moved"` or `"exchanged"`.
    simulations
        How often queries are drawn; 1,000 show a level of .05 with an error of .007.
    resamples
        Rearrangements per test; by default 999 or, where too few for the correction, 10 / alpha a comparison, to
        200,000.
    seed
        The seed of the draws, which settings with the same number of queries share.

    Returns
    -------
    The kind of per_query
        `measure`, `test`, `correction` (String), `n_queries` (UInt32); `level`, the share of simulations in which any
        comparison of systems made equal is significant (after the correction); `power`, the share of the differences of
        the unchanged systems found significant, with the right sign; `coverage` and `simultaneous_coverage`, the shares
        of intervals that hold the true difference, and of simulations in which all simultaneous ones do, among those
        that are defined, for the unchanged systems; each with its standard error, `level_error` and so on (Float64;
        null where undefined); `interval` (String), `n_comparisons`, `simulations` (UInt32), `note` (String).

    References
    ----------
    Urbano & Nagler 2018, https://doi.org/10.1145/3209978.3210043; Urbano et al. 2019,
    https://doi.org/10.1145/3331184.3331259

    Examples
    --------
    >>> import polars as pl, polars_ir as ir
    >>> pydocs = ir.datasets.load("pydocs")
    >>> per_query = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    >>> found = ir.level(per_query, test=["t", "max-t"], n=25, simulations=200, resamples=99)
    >>> found.select("test", "n_queries", pl.col("level", "coverage", "power").round(2)).rows()
    [('t', 25, 0.04, 0.96, 0.25), ('max-t', 25, 0.05, 0.96, 0.29)]
    """
    check_correction(correction)
    tests = [TESTS[check("test", name, TEST)] for name in _listed("test", test)]
    alpha, equal = check("alpha", alpha, chance()), check("equal", equal, one_of("moved", "exchanged"))
    missing = check("missing", missing, MISSING)
    check("interval", interval, or_none(one_of(*BOUNDED, *INTERVALS)))
    simulations, seed = check("simulations", simulations, whole(2, MOST_RESAMPLES)), check("seed", seed, whole(0))
    resamples = check("resamples", resamples, or_none(whole(1, MOST_RESAMPLES)))
    if correction not in (None, "holm") and any(each.of_all for each in tests):
        raise OptionError("allow for the number of comparisons by themselves: leave it out.", about="tukey and max-t")
    scores = scores_of(per_query, measure, {"missing": missing}, cluster=cluster, what="ir.level")
    pairs = scores.pairs(baseline, "ir.level")
    if "auto" in [each.name for each in tests] or interval in BOUNDED:
        for name in scores.measures:
            check_bounds(name, scores.seen(name), "take another test and interval")
    scores = scores.of_clusters()
    numbers = [check("n", each, or_none(whole(2, 10**6))) for each in _listed("n", n)]
    rows = []
    for name, number, each in product(scores.values, numbers, tests):
        values, notes = scores.of_all(name)
        if len(values) < 2:
            raise DataError(f"ir.level needs two queries or more with a value of {name!r} for all systems.")
        its = range_of(name)
        family = 1 if each.complete else len(pairs)
        draws = stats.Draws(
            resamples or stats.resamples_for(1 if each.of_all else len(pairs), alpha, least=LEAST), seed
        )
        how = Procedure(each, interval or each.interval, alpha, family, 0.0, {}, draws)
        setting = Setting(how, None if each.of_all else correction, pairs, math.inf if its is None else its.width)
        found = _simulated(setting, values, number or len(values), equal, simulations)
        if untested := found.pop("untested"):
            notes.append(f"left out, without a p: {untested:.2%} of comparisons, in which {stats.NO_RANGE}")
        if setting.has_too_few_resamples:
            notes.append(f"no p by itself can be significant with {draws.resamples:,} resamples: raise them")
        if how.interval in OF_MEDIANS:
            notes.append("no coverage: the interval is of a median")
        if equal == "moved" and (ties := float((stats.differences([values], pairs) == 0).mean())) > TIES:
            notes.append(f"{ties:.0%} {OF_TIES}: {option('equal', 'exchanged')} keeps them")
        named = {"measure": name, "test": each.name, "correction": setting.correction, "interval": how.interval}
        rows.append({**named, **found, "n_comparisons": len(pairs), "note": "; ".join(notes) or None})
    return give_back(pl.DataFrame(rows, schema=SCHEMA), per_query)


def _listed(name: str, given: Any) -> list[Any]:
    values = list(given) if isinstance(given, (list, tuple, range)) else [given]
    if not values:
        raise OptionError("must have at least one value; got none.", about=name)
    return values


class Setting(NamedTuple):
    """A test with its correction, the comparisons that it makes, and the width of the measure's range."""

    how: Procedure
    correction: str | None
    pairs: Sequence[tuple[int, int]]
    width: float

    def tested(self, samples: stats.Floats, seed: int) -> Outcomes:
        """Outcomes of the test for samples: arrays of simulations by queries by systems."""
        how, shape = self.how._replace(draws=self.how.draws._replace(seed=seed)), (len(samples), len(self.pairs))
        differences = stats.differences(list(samples), self.pairs)
        widths, largest = [self.width] * differences.shape[1], stats.largest_values(list(samples), self.pairs)
        paired = stats.Paired(list(samples), differences, how.alpha, 0.0, how.draws, widths, how.family, largest)
        outcomes = stats.PAIRED[how.test.name](paired)
        p = np.array([math.nan if outcome.p is None else outcome.p for outcome in outcomes]).reshape(shape)
        if how.test is TESTS["max-t"]:
            parts = zip(np.hsplit(differences, len(samples)), np.split(largest, len(samples)), strict=True)
            draws = [how.draws._replace(seed=seed + i) for i in range(len(samples))]
            flipped = [
                stats.largest_flipped([part], its, largest=[of_part])
                for (part, of_part), its in zip(parts, draws, strict=True)
            ]
            p = np.maximum(p, flipped)
        elif self.correction is not None:
            p = np.array([self._corrected(of_simulation) for of_simulation in p.tolist()])
        means = np.array([sample.mean() for sample in stats.samples_of(differences)]).reshape(shape)
        untested = np.isnan(p) & (np.ptp(differences, axis=0).reshape(shape) > 0)
        significant = np.where(untested, math.nan, p <= how.alpha)
        return Outcomes(how, differences, widths, outcomes, significant, means)

    @property
    def has_too_few_resamples(self) -> bool:
        """True where the lowest of this many p, the only low one, is not significant after the correction."""
        if not (self.how.test.resampled or self.how.test.of_all):
            return False
        lowest = 1 / (self.how.draws.resamples + 1)
        return self._corrected([lowest, *[1.0] * (len(self.pairs) - 1)])[0] > self.how.alpha

    def _corrected(self, p: Sequence[float]) -> list[float]:
        defined = [None if math.isnan(value) else value for value in p]
        found = stats.corrected(defined, self.correction, alpha=self.how.alpha)
        return [math.nan if value is None else value for value in found]


class Outcomes(NamedTuple):
    """Outcomes of simulations: 1 for each significant comparison, NaN without a p; the mean difference."""

    how: Procedure
    differences: stats.Floats
    widths: list[float]
    outcomes: list[stats.Outcome]
    significant: stats.Floats
    means: stats.Floats

    def held(self, truth: stats.Floats) -> Iterator[stats.Floats]:
        """For intervals alone and together, 1 for those that hold the true difference, NaN for undefined ones."""
        if self.how.interval in OF_MEDIANS:
            yield from [np.full_like(self.means, math.nan)] * 2
            return
        samples, truths = stats.samples_of(self.differences), np.tile(truth, len(self.means)).tolist()
        if self.how.interval == "auto":
            # Finding the ends takes thirty integrals; checking that they hold a mean takes two.
            outcomes = map(stats.automatic, samples, self.widths, truths)
            p = np.array([outcome.p for outcome in outcomes], np.float64).reshape(self.means.shape)
            for alpha in (self.how.alpha, self.how.alpha / self.how.family):
                yield np.where(np.isnan(p), math.nan, p >= alpha * (1 - ROUNDED_TO))
            return
        of_values = [stats.Values(d, support=(-width, width)) for d, width in zip(samples, self.widths, strict=True)]
        rounding = ROUNDED_TO * float(stats.unit(truth)[0])
        for found in intervals(of_values, self.how, self.outcomes):
            holds = [
                math.nan if ends is None else float(ends[0] <= true + rounding and true <= ends[1] + rounding)
                for ends, true in zip(found, truths, strict=True)
            ]
            yield np.array(holds).reshape(self.means.shape)


def _simulated(setting: Setting, values: stats.Floats, n: int, equal: str, simulations: int) -> dict[str, Any]:
    generator, mean = np.random.default_rng(setting.how.draws.seed), values.mean(axis=0)
    truth = np.array([mean[system] - mean[against] for system, against in setting.pairs])
    step = max(1, min(AT_ONCE, stats.CELLS // (n * len(setting.pairs))))
    shares: dict[str, list[stats.Floats]] = {"level": [], "power": [], "coverage": [], "simultaneous_coverage": []}
    untested: list[float] = []
    for start in range(0, simulations, step):
        drawn = generator.integers(len(values), size=(min(step, simulations - start), n))
        samples = values[drawn]
        alike = generator.permuted(samples, axis=2) if equal == "exchanged" else samples - mean + mean.mean()
        of_equal = setting.tested(alike, start).significant
        shares["level"].append(np.where(np.isnan(of_equal).all(axis=1), math.nan, (of_equal == 1).any(axis=1)))
        found = setting.tested(samples, start)
        right = found.significant * (np.sign(found.means) == np.sign(truth))
        shares["power"].append(right[:, np.abs(truth) > ROUNDED_TO * stats.unit(truth)])
        untested.append(np.isnan([of_equal, found.significant]).mean() * len(samples))
        alone, together = found.held(truth)
        none = np.isnan(together).all(axis=1)
        shares["coverage"].append(alone)
        shares["simultaneous_coverage"].append(np.where(none, math.nan, (together != 0).all(axis=1)))
    result: dict[str, Any] = {"n_queries": n, "simulations": simulations, "untested": sum(untested) / simulations}
    for name, parts in shares.items():
        result |= _share(name, np.concatenate(parts))
    return result


def _share(name: str, simulations: stats.Floats) -> dict[str, float | None]:
    """Mean over simulations, each a mean of its defined values, with its standard error."""
    columns = simulations.reshape(len(simulations), -1)
    defined = ~np.isnan(columns)
    n = defined.sum(axis=1)
    means = np.nan_to_num(columns).sum(axis=1)[n > 0] / n[n > 0]
    error = f"{name.removesuffix('_coverage')}_error"
    if not len(means):
        return {name: None, error: None}
    return {name: float(means.mean()), error: float(means.std()) / math.sqrt(len(means))}
