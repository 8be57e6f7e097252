"""Rates of wrong verdicts, and of intervals that hold: the simulations behind notebooks/evidence.md.

    PYTHONPATH=. python tests/bench/evidence.py                              # every part, as Markdown
    PYTHONPATH=. python tests/bench/evidence.py gates ranks --simulations 100
    PYTHONPATH=. python tests/bench/evidence.py --results tests/bench/evidence.jsonl          # go on where it ended
    PYTHONPATH=. python tests/bench/evidence.py --results tests/bench/evidence.jsonl --show   # its tables only

All figures are those of the public interface, as a user gets them. Each part is simulated for several numbers of
queries, each of which is a line of `--results` when it is done. Seeds are fixed, so that the same call gives the same
figures. Real values are those of the runs of a folder with `qrels.txt.gz` and `*.run.gz` (`--data`, TREC 2003 Robust by
default), from which queries are drawn; without the folder, beta and binomial values that look like them.

There are 1,000 simulations of what takes less than 50 ms a time, and 200 of `"bounded"`, which takes up to 800. All
parts need about 5,600 seconds of one core, an hour and a half, by the seconds that `--results` has of each line:
families 810, drift 840, gates 560, systems 510, clusters 410, looks 370, differences 330, nights 310, slices 300, and
1,200 for the others.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import polars_ir as ir
from tests.bench.figures import FEW, FEW_OF_FLIPS, HOLDS, LEVEL, TOLD, WRONG, Figure, read, share, tables
from tests.bench.shapes import (
    DIFFERENCES,
    MEASURES,
    UNBOUNDED,
    VALUES,
    drawn,
    in_each,
    made_equal,
    measures_of,
    of_runs,
    pair,
    populations,
    systems_of,
)

SIZES = (5, 10, 25, 50, 100, 400)
DATA = Path(__file__).resolve().parents[3] / "shared/data/robust03"

SIGNIFICANT = pl.col("p_corrected") <= LEVEL

#: The verdicts that stop a change.
HARM = ["dropped", "worse"]

#: The shape of which a few values tell too little of the spread: it is told.
SPARSE = "90 % zeros"


# parts


def systems(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`compare` of real runs, made equal and as they are, by `level`: any significant difference, intervals."""
    per_query, all_tests = of_runs(data), ["t", "max-t", "auto", "randomisation", "wilcoxon", "sign", "tukey"]
    for equal, measures, names, number in (
        ("moved", ["AP", "nDCG@10", "P@10", "R@100"], ["t"], 4 * simulations),
        ("moved", ["AP", "nDCG@10", "P@10", "R@100"], ["max-t", "auto"], simulations),
        ("exchanged", ["AP", "RR", "Success@10"], all_tests, simulations),
    ):
        found = ir.level(per_query, measures, test=names, n=n, equal=equal, simulations=number)
        few = FEW.get(n, {}) if equal == "moved" else {}
        for row in found.iter_rows(named=True):
            call, shape = f'compare(test="{row["test"]}")', f"{row['measure']}, {equal}"
            if row["level"] is not None:
                flips = equal == "moved" and row["test"] == "max-t"
                promised = FEW_OF_FLIPS.get(n, WRONG) if flips else few.get(WRONG, WRONG)
                yield Figure(call, shape, promised, row["level"], row["level_error"], number)
            if equal == "moved" and row["test"] != "max-t":
                for name, error in (("coverage", "coverage_error"), ("simultaneous_coverage", "simultaneous_error")):
                    called = f"{call}, {'simultaneous interval' if name != 'coverage' else 'interval'}"
                    yield Figure(called, row["measure"], few.get(HOLDS, HOLDS), row[name], row[error], number)


def differences(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`compare` of two systems: a significant difference, an interval that holds, equivalence at the margin."""
    for shape, draw in DIFFERENCES.items():
        values, is_blind = draw(np.random.default_rng(n), (simulations, n)), shape == "2 % fail wholly"
        for test in ("t", "auto", "randomisation", "bootstrap", "wilcoxon", "sign"):
            is_told = is_blind or (shape == "exponential" and test != "auto")
            found = ir.compare(pair(values), test=test, resamples=999)
            yield share(f'compare(test="{test}")', shape, TOLD if is_told else WRONG, found["p"] <= LEVEL)
            if test in ("t", "auto"):
                held = found["low"].is_between(-np.inf, 0) & (found["high"] >= 0)
                yield share(f'compare(test="{test}"), interval', shape, TOLD if is_told else HOLDS, held)
        beside = ir.compare(pair(values.clip(-0.47, 0.47) + 0.02), margin=0.02)
        yield share("compare(margin=.02)", shape, TOLD if is_blind else WRONG, beside["equivalent"])


def effects(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """The intervals of the sizes of an effect."""
    source = np.random.default_rng(n)
    # Of the sum of signed ranks, n are of one difference and n (n - 1) / 2 of the sum of two.
    ranks = (2 * 0.38292 + (n - 1) * 0.52050) / (n + 1)
    for shape, values, d, r in (
        ("normal, d = .5", source.normal(0.05, 0.1, (simulations, n)), 0.5, ranks),
        ("Laplace, d = 0", source.laplace(0.0, 0.05, (simulations, n)), 0.0, 0.0),
    ):
        found = ir.compare(pair(values.clip(-0.5, 0.5)))
        for name, true in (("cohen_d", d), ("rank_biserial", r)):
            held = found[f"{name}_low"].is_between(-np.inf, true) & (found[f"{name}_high"] >= true)
            yield share(name, shape, HOLDS, held)


def families(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Any significant difference in families: of many systems, near-copies among them, and of five measures."""
    source = np.random.default_rng(n)
    alike = source.normal(0.5, 0.1, (simulations, n, 1)) + source.normal(0, 0.1, (simulations, n, 10))
    one = source.normal(0.5, 0.05, (simulations, n, 1))
    copies = [one + source.normal(0, 0.002, (simulations, n, 8)), source.normal(0.5, 0.3, (simulations, n, 2))]
    for shape, samples in (("ten alike", alike), ("eight near-copies, two others", np.concatenate(copies, axis=2))):
        for test in ("t", "max-t", "tukey"):
            found = ir.compare(systems_of(samples), test=test, resamples=499)
            is_told = test == "tukey" and shape != "ten alike"
            yield share(f'compare(test="{test}")', shape, TOLD if is_told else WRONG, in_each(found, SIGNIFICANT))
    skewed = 0.4 + source.exponential(0.1, (simulations, n, 20))
    skewed[:, :, 0] = 0.5
    for test, promised in (("t", TOLD), ("auto", WRONG)):
        found = ir.compare(systems_of(skewed.clip(0, 1)), baseline="s00", test=test)
        yield share(f'compare(test="{test}")', "19 exponential", promised, in_each(found, SIGNIFICANT))
    kinds: dict[str, dict[str, Any]] = {"Holm": {}, "max-t": {"test": "max-t", "resamples": 999}}
    names, rejected = MEASURES[:-1], {kind: [] for kind in kinds}
    equal = np.stack([made_equal(data, name) for name in names], axis=2)
    for sample in drawn(equal, n, simulations):
        both = {
            f"run {i}": pl.DataFrame({"query_id": range(n)} | dict(zip(names, of.T, strict=True)))
            for i, of in enumerate(sample.swapaxes(0, 1))
        }
        for kind, options in kinds.items():
            rejected[kind].append((ir.compare(both, family="all", **options)["p_corrected"] <= LEVEL).any())
    for kind, found in rejected.items():
        promised = FEW.get(n, {}).get(WRONG, WRONG) if kind == "Holm" else FEW_OF_FLIPS.get(n, WRONG)
        yield share(f'compare(family="all"), {kind}', "five measures, moved", promised, found)


def means(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """The intervals of `summarize` that hold the mean: of real runs that of the worst, and of shapes."""

    def held(values: np.ndarray, true: float, name: str = "P@", **options: Any) -> pl.Series:
        found = ir.summarize(measures_of(values, name), **options)
        return (found["low"] <= true + 1e-12) & (found["high"] >= true - 1e-12)

    for measure, values_of in populations(data).items():
        figures = [
            share("summarize", f"{measure}, the worst run", HOLDS, held(drawn(run, n, simulations), run.mean()))
            for run in values_of
        ]
        yield min(figures, key=lambda figure: figure.share)
    for shape, (draw, true) in VALUES.items():
        values = draw(np.random.default_rng(n), (simulations, n))
        yield share("summarize", shape, TOLD if shape == SPARSE else HOLDS, held(values, true))
        for interval in ("bounded", "t", "percentile", "BCa", "bootstrap-t"):
            promised = HOLDS if interval == "bounded" else TOLD
            # The bounded one takes longer.
            some = values[: max(10, simulations // 5)] if interval == "bounded" else values
            found = held(some, true, interval=interval, resamples=999)
            yield share(f'summarize(interval="{interval}")', shape, promised, found)
    for shape, (draw, true) in UNBOUNDED.items():
        values = draw(np.random.default_rng(n), (simulations, n))
        yield share(
            "summarize", f"{shape}, no bounds", HOLDS if shape == "normal" else TOLD, held(values, true, "mine")
        )


def designs(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`summarize` with strata, with clusters and by weights: intervals that hold, or are there and miss."""
    source = np.random.default_rng(n)
    centres, size = np.array([0.2, 0.4, 0.6, 0.8])[:, None], max(2, n // 4)
    values = source.beta(3 * centres, 3 - 3 * centres, (simulations, 4, size)).reshape(simulations, 4 * size)
    by = pl.DataFrame({"query_id": range(4 * size), "stratum": np.repeat(range(4), size)})
    for options in ({}, {"strata": by}):
        found = ir.summarize(measures_of(values), **options)
        held = (found["low"] <= 0.5) & (found["high"] >= 0.5)
        yield share(f"summarize({'strata=' if options else ''})", "4 strata", HOLDS, held)
    asked = np.arange(1, 5001) ** -0.8
    success = np.clip(1 - np.log(np.arange(1, 5001)) / np.log(5000) + source.normal(0, 0.15, 5000), 0, 1)
    for shape, weights in (("Zipf, with the values", asked), ("lognormal(.4)", source.lognormal(0, 0.4, 5000))):
        true, missed = float(np.average(success, weights=weights)), []
        for _simulation in range(simulations):
            queries = source.choice(5000, n, replace=False)
            sample = {"query_id": range(n), "AP": success[queries], "w": weights[queries]}
            low, high = ir.summarize(pl.DataFrame(sample), weights="w").select("low", "high").row(0)
            missed.append(low is not None and not low <= true <= high)
        yield share("summarize(weights=), misses", shape, WRONG, missed)


def clusters(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`cluster=`: equal systems, or a change at the limit, whose differences share a part (icc) in n topics of five."""
    by = pl.DataFrame({"query_id": range(5 * n), "topic": np.repeat(range(n), 5)})
    for icc in (0.2, 0.8):
        source, shape = np.random.default_rng(n), f"icc {icc:g}"
        of_topics = np.repeat(source.normal(0, icc**0.5, (simulations, n, 4)), 5, axis=1)
        of_four = (0.1 * (of_topics + source.normal(0, (1 - icc) ** 0.5, of_topics.shape))).clip(-0.47, 0.47)
        values = of_four[:, :, 0]
        both, lower = pair(values), pair(values - 0.02)
        yield share("compare()", shape, TOLD, ir.compare(both)["p"] <= LEVEL)
        for test in ("t", "auto", "randomisation"):
            found = ir.compare(both, cluster=by, test=test, resamples=999)
            yield share(f'compare(cluster=, test="{test}")', shape, WRONG, found["p"] <= LEVEL)
        told = in_each(ir.ranks(systems_of(0.5 + of_four), cluster=by), pl.col("best_rank") > 1)
        yield share("ranks(cluster=)", shape, WRONG, told)
        names = list(lower["s00"].columns[:-1])
        passed = ir.gate(lower["s01"], lower["s00"], names, max_drop=0.02, cluster=by)["passed"]
        yield share("gate(cluster=)", shape, WRONG, passed)
        of_one = ir.summarize(both["s01"], cluster=by)
        yield share("summarize(cluster=)", shape, HOLDS, (of_one["low"] <= 0.5) & (of_one["high"] >= 0.5))
        if n > 2:
            spread = 0.1 * (icc + (1 - icc) / 5) ** 0.5
            plan = ir.power(both, difference=0.05, cluster=by)["n_queries"]
            yield share("power(cluster=), enough", shape, (0.8, 1), had_power(plan, spread))
        if n >= 25:
            days = by.select("query_id", day=pl.col("topic") * 5 // n)
            course = ir.drift(both["s01"], days, reference=2, cluster=by)
            yield share("drift(cluster=)", shape, WRONG, in_each(course, SIGNIFICANT))
        log = pl.DataFrame({"query_id": range(5 * n), "topic": by["topic"], "clicks": 1})
        logs = [log.with_columns(team=pl.Series(np.where(row > 0, "a", "b"))) for row in values]
        for options in ({}, {"cluster": "topic"}):
            p = [ir.interleaving(each, **options)["p"].item() <= LEVEL for each in logs]
            yield share(f"interleaving({'cluster=' if options else ''})", shape, WRONG if options else TOLD, p)


def had_power(planned: pl.Series, spread: float) -> np.ndarray:
    """The power for a difference of .05 that each planned number of queries has."""
    each = planned.unique(maintain_order=True).to_list()
    had = {n: ir.power(std=spread, difference=0.05, n_queries=n)["power"].item() for n in each}
    return np.array([had[n] for n in planned])


def gates(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Changes that cost max_drop, and pass: sparse losses as measures have them, dense ones, differences of runs."""
    source = np.random.default_rng(n)
    sparse = {f"{rate:.0%} lose": (rate, 0.01) for rate in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)}
    for name, (rate, drop) in sparse.items():
        lost = source.random((simulations, n)) < rate
        mean = drop / rate
        kinds = {
            "AP": source.beta(0.8, 0.8 * (1 - mean) / mean, lost.shape) if mean < 1 else 1.0,
            "Success@10": source.random(lost.shape) < mean,
        }
        for measure, sizes in kinds.items():
            yield from gated(1.0, np.where(lost, -1.0 * sizes, 0.0), drop, ("auto", "bounded"), f"{measure}, {name}")
    rest = ("auto", "bounded", "anytime")
    yield from gated(0.5, (source.normal(-0.02, 0.1, (simulations, n))).clip(-0.5, 0.5), 0.02, rest, "normal")
    skewed = (0.03 - source.exponential(0.05, (simulations, n))).clip(-0.5, 0.5)
    yield from gated(0.5, skewed, 0.02, rest, "skewed to losses")
    wholly = (DIFFERENCES["2 % fail wholly"](source, (simulations, n)) - 0.01).clip(-0.5, 0.5)
    yield from gated(0.5, wholly, 0.01, ("auto", "bounded"), "2 % fail wholly", told=("auto",))
    for measure in ("AP", "nDCG@10", "P@10"):
        equal = drawn(made_equal(data, measure), n, simulations)
        values = (equal[:, :, 0] - equal[:, :, -1]).clip(-0.98, 0.98) / 2 - 0.01
        yield from gated(0.5, values, 0.01, ("auto", "bounded"), f"{measure}, halved, real")


def gated(
    old: Any, changes: np.ndarray, drop: float, kinds: tuple[str, ...], shape: str, told: tuple[str, ...] = ()
) -> Iterator[Figure]:
    """The share of changes, a row each, that pass by each kind of bound."""
    before, after = measures_of(old + 0 * changes), measures_of(old + changes)
    for kind in kinds:
        names = before.columns[:-1]
        # The others take longer.
        chosen = names if kind == "auto" else names[: max(10, len(names) // 5)]
        found = ir.gate(after, before, chosen, max_drop=drop, interval=kind)
        yield share(f'gate(interval="{kind}")', shape, TOLD if kind in told else WRONG, found["passed"])


def passes(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """The cost of a bound: changes without any drop that pass where differences are dense, sd .1."""
    changes = np.random.default_rng(n).normal(0, 0.1, (simulations, n)).clip(-0.5, 0.5)
    for drop in (0.01, 0.02, 0.03):
        kinds = ("auto", "bounded", "anytime")
        yield from gated(0.5, changes, drop, kinds, f"no drop, max_drop {drop:g}", told=kinds)


def looks(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Changes that cost max_drop, .02, and pass at any of several looks, planned ones, or eight by bets."""
    equal = drawn(made_equal(data, "AP"), n, simulations)
    source = np.random.default_rng(n)
    for shape, values in (
        ("normal", source.normal(-0.02, 0.1, (simulations, n))),
        ("skewed to losses", 0.03 - source.exponential(0.05, (simulations, n))),
        ("AP, halved, real", (equal[:, :, 0] - equal[:, :, -1]) / 2 - 0.02),
    ):
        changes = values.clip(-0.5, 0.5)
        plans: dict[str, list[tuple[int, dict[str, Any]]]] = {
            f"gate(looks=(i, {m}))": [(n * i // m, {"looks": (i, m)}) for i in range(1, m + 1)] for m in (2, 5)
        }
        plans['gate(interval="anytime"), looks'] = [
            (seen, {"interval": "anytime"}) for seen in range(max(5, n // 8), n + 1, max(5, n // 8))
        ]
        for plan, each in plans.items():
            passed = np.zeros(simulations, bool)
            for seen, options in each:
                before, after = measures_of(0.5 + 0 * changes[:, :seen]), measures_of(0.5 + changes[:, :seen])
                found = ir.gate(after, before, before.columns[:-1], max_drop=0.02, **options)
                passed |= found["passed"].to_numpy()
            yield share(plan, shape, WRONG, passed)


def worse(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Any measure of ten that is called worse without a change."""
    source, found = np.random.default_rng(n), []
    for _simulation in range(simulations):
        changed = source.normal(0, 0.1, (10, n)).clip(-0.5, 0.5)
        before, after = measures_of(0.5 + 0 * changed), measures_of(0.5 + changed)
        found.append("worse" in ir.gate(after, before, before.columns[:-1], max_drop=0)["verdict"])
    yield share("gate, any worse of ten", "normal", WRONG, found)


def dropped(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Changes called dropped or worse at max_drop .02: without a drop, with one, and any of eight slices without."""
    # Not the numbers that queries are drawn by.
    few, source = max(10, simulations * 2 // 5), np.random.default_rng([n, 1])
    signs, part = source.choice([-1.0, 1.0], (few, n)), source.random((few, n))
    shapes: dict[str, tuple[tuple[float, float], np.ndarray]] = {}
    for name in ("AP", "nDCG@10", "Success@10"):
        values = drawn(np.column_stack(populations(data)[name]), n, few)
        shapes[f"{name}, exchanged"] = WRONG, signs * (values[:, :, 0] - values[:, :, -1])
    equal = drawn(made_equal(data, "AP"), n, few)
    shapes |= {
        "80 % 0, 18 % -.05, 2 % +.45": (WRONG, np.where(part < 0.8, 0.0, np.where(part < 0.98, -0.05, 0.45))),
        "exponential": ((0.0, 0.1), source.exponential(0.1, (few, n)) - 0.1),
        "75 % 0, 20 % -.25, 5 % +1": (TOLD, np.where(part < 0.75, 0.0, np.where(part < 0.95, -0.25, 1.0))),
        "98 % -.02, 2 % +.98": (TOLD, np.where(part < 0.98, -0.02, 0.98)),
        "normal, -.05, sd .11": (TOLD, source.normal(-0.05, 0.11, (few, n))),
        "AP, moved by -.05": (TOLD, equal[:, :, 0] - equal[:, :, -1] - 0.05),
        "pydocs nDCG@10, tfidf for bm25": (TOLD, of_pydocs(n, few)),
    }
    for shape, (promised, changes) in shapes.items():
        found = [harm_of(each)["verdict"].item() in HARM for each in changes]
        yield share("gate, dropped or worse", shape, promised, found)
    slices = pl.Series("slice", np.arange(8 * n) // n)
    samples = source.normal(0, 0.11, (few // 2, 8 * n))
    found = [harm_of(each, slices)["verdict"].is_in(HARM).any() for each in samples]
    yield share("gate(by=), any of eight dropped or worse", "normal", (0.0, 0.1), found)


def of_pydocs(n: int, simulations: int) -> np.ndarray:
    """Differences in nDCG@10 of tfidf from bm25, whose mean is -.06, of queries drawn from the bundled collection."""
    pydocs = ir.datasets.load("pydocs")
    per_query = ir.evaluate(pydocs.runs, pydocs.qrels, "nDCG@10")
    new, old = (per_query.filter(run=run).sort("query_id")["nDCG@10"].to_numpy() for run in ("tfidf", "bm25"))
    return np.random.default_rng([n, 2]).choice(new - old, (simulations, n))


def harm_of(changes: np.ndarray, slices: pl.Series | None = None) -> pl.DataFrame:
    """The verdicts on a change of a measure by so much, in slices if there are some."""
    # Differences of two measures from 0 to 1.
    frames = [measures_of((sign * changes[None]).clip(0, 1)) for sign in (1, -1)]
    if slices is not None:
        frames = [frame.with_columns(slices) for frame in frames]
    return ir.gate(*frames, ["P@1"], max_drop=0.02, by=None if slices is None else "slice")


def ranks(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Ranges of ranks that miss, of equal systems: some is told apart from another."""
    for measure in ("AP", "P@10", "R@100", "nDCG@10"):
        samples = systems_of(drawn(made_equal(data, measure), n, simulations))
        missed = in_each(ir.ranks(samples), pl.col("best_rank") > 1)
        yield share("ranks", f"{measure}, moved", FEW.get(n, {}).get(WRONG, WRONG), missed)


def risk(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Systems that exchange values, one of which is a significant risk."""
    source = np.random.default_rng(n)
    for measure in ("AP", "RR", "Success@10"):
        values = np.column_stack(populations(data)[measure])[:, [0, -1]]
        both = systems_of(source.permuted(drawn(values, n, simulations), axis=2))
        for alpha in (1, 5):
            found = ir.risk(both, "s00", alpha=alpha, resamples=999)
            yield share(f"risk(alpha={alpha})", f"{measure}, exchanged", WRONG, found["p"] <= LEVEL)


def slices(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`worst_slices` of slices of n queries that are all alike, or one of which is all or nothing."""
    number = 20 if n <= 25 else 8
    by = pl.DataFrame({"query_id": range(number * n), "kind": np.repeat(range(number), n)})
    for name, (draw, _mean) in VALUES.items():
        found = ir.worst_slices(measures_of(draw(np.random.default_rng(n), (simulations, number * n))), by)
        shape = f"{number} slices, {name}"
        yield share("worst_slices, any", shape, WRONG, in_each(found, SIGNIFICANT))
        held = (found["low"] <= 1e-12) & (found["high"] >= -1e-12)
        yield share("worst_slices, interval", shape, HOLDS, held)
    source = np.random.default_rng(n)
    calm = source.normal(0.5, 0.05, (simulations, number * n)).clip(0, 1)
    calm[:, :n] = source.integers(0, 2, (simulations, n))
    found = ir.worst_slices(measures_of(calm), by)
    yield share("worst_slices, any", f"{number} slices, one all or nothing", WRONG, in_each(found, SIGNIFICANT))


def drift(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`drift` in courses of 12 days of n queries, whose means differ by themselves: any mark; means that are held."""
    by = pl.DataFrame({"query_id": range(12 * n), "day": np.repeat(range(12), n)})
    for name in ("normal", "Success .9"):
        for spread in (0.0, 0.02, 0.05):
            source = np.random.default_rng(n)
            days = np.repeat(source.normal(0, spread, (simulations, 12)), n, axis=1)
            values = source.normal(0.5, 0.2, days.shape) + days
            if name != "normal":
                values = (source.random(days.shape) < (0.9 + days).clip(0, 1)) * 1.0
            for reference in (2, 4, 8):
                found = ir.drift(measures_of(values.clip(0, 1)), by, reference=reference)
                is_told = spread and reference < 4
                called, shape = f"drift(reference={reference})", f"{name}, days' sd {spread:g}"
                yield share(called, shape, TOLD if is_told else WRONG, in_each(found, SIGNIFICANT))
            if not spread:
                true = 0.5 if name == "normal" else 0.9
                held = (found["low"] <= true) & (found["high"] >= true)
                # As `summarize` says: of shares, an interval of 95 % jumps about that.
                yield share("drift, interval", f"{name}", (0.93, 1.0), held)


def tails(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Days whose means have a long tail: any mark of `drift`; means by strata, of which n queries count half."""
    source, days = np.random.default_rng(n), 16
    by = pl.DataFrame({"query_id": range(days * n), "day": np.repeat(range(days), n)})
    for shape, sign in (("good", 1), ("bad", -1)):
        means = sign * 0.08 * (source.exponential(1, (simulations // 5, days)) - 1)
        values = source.normal(0.5, 0.2, (len(means), days * n)) + np.repeat(means, n, axis=1)
        for reference in (4, 8):
            found = ir.drift(measures_of(values.clip(0, 1)), by, reference=reference)
            shown = f"16 days, exponential, some {shape}"
            yield share(f"drift(reference={reference})", shown, TOLD, in_each(found, SIGNIFICANT))
    for others in (98, 390):
        strata = pl.DataFrame({"query_id": range(n + others), "of": np.repeat([0, 1], [n, others])})
        weights = strata.select("query_id", w=pl.when(pl.col("of") == 0).then(0.5 / n).otherwise(0.5 / others))
        for first in (0.5, 0.9):
            chances = np.repeat([first, 0.4], [n, others])
            values = (source.random((simulations, n + others)) < chances) * 1.0
            found = ir.summarize(measures_of(values), strata=strata, weights=weights)
            mean = (first + 0.4) / 2
            held = (found["low"] <= mean) & (found["high"] >= mean)
            yield share("summarize(strata=, weights=)", f"{others} others, Success {first} and .4", HOLDS, held)


def interleaving(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`interleaving` of equal systems, n queries shown 20 times: a place that is clicked more, or tastes."""
    for kind in ("place", "taste"):
        source, low = np.random.default_rng(n), []
        for _simulation in range(simulations):
            # The first team of a query's list is clicked in .6, or what its users like has a mean of 0.
            first = np.where(source.random(n) < 0.5, 0.6, 0.4)
            chance = first if kind == "place" else source.beta(8, 8, n)
            won = source.random((n, 20)) < chance[:, None]
            teams = {"team": np.where(won.ravel(), "b", "a"), "clicks": 1}
            log = pl.DataFrame({"query_id": np.repeat(range(n), 20), "shown": range(20 * n), **teams})
            low.append(ir.interleaving(log, impression="shown")["p"].item() <= LEVEL)
        yield share("interleaving", f"20 impressions each, {kind}", WRONG, low)
    ends = []
    for _simulation in range(simulations):
        team = np.where(source.random(n) < 0.7, "b", "a")
        log = pl.DataFrame({"query_id": range(n), "team": team, "clicks": 1})
        ends.append(ir.interleaving(log).select("low", "high").row(0))
    yield share("interleaving, interval", "b in .7", HOLDS, [low <= 0.7 <= high for low, high in ends])


def plans(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """The mean power that plans of .8 by pilots of n queries have."""
    for measure in ("AP", "nDCG@10", "P@10"):
        values = np.column_stack(populations(data)[measure])[:, [0, -1]]
        needed = ir.power(systems_of(drawn(values, n, simulations)), difference=0.05)["n_queries"]
        had = had_power(needed, float((values[:, 0] - values[:, 1]).std()))
        yield share("power, by a pilot", measure, (0.8, 1), had)


def tuning(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`tune_fusion` of four runs, of which each and each fusion is as good: a verdict, and the mean difference."""
    source, found = np.random.default_rng(n), []
    runs = {
        f"r{i}": pl.DataFrame(
            {"query_id": np.repeat(range(n), 2), "doc_id": [f"d{i}", "x"] * n, "score": [1.0, 0.6] * n}
        )
        for i in range(4)
    }
    grid = [[1, 1, 1, 1], *(np.where(np.arange(4) == i, 9, 1).tolist() for i in range(4))]
    for _simulation in range(simulations):
        grades = {"relevance": source.integers(0, 2, 5 * n)}
        documents = {"query_id": np.repeat(range(n), 5), "doc_id": ["d0", "d1", "d2", "d3", "x"] * n}
        qrels = pl.DataFrame({**documents, **grades})
        found.append(ir.tune_fusion(runs, qrels, "sum", "P@1", norm=None, grid=grid).comparison)
    rows = pl.concat(found).filter(pl.col("baseline").str.starts_with("best"))
    for system in rows["run"].unique(maintain_order=True):
        of_one = rows.filter(run=system)
        yield share("tune_fusion, significant", system, WRONG, of_one["significant"].fill_null(value=False))
        yield share("tune_fusion, gain", system, (0, 0), of_one["difference"])


def correlations(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`rank_correlation` of n systems whose means in two measures are normal and correlate: intervals that hold."""
    source = np.random.default_rng(n)
    for rho in (0.5, 0.9):
        true = {"kendall": 2 / np.pi * np.arcsin(rho), "pearson": rho}
        one = source.normal(0, 1, (simulations, n))
        other = rho * one + (1 - rho**2) ** 0.5 * source.normal(0, 1, one.shape)
        names = [f"s{system:03}" for system in range(n)]
        for method, coefficient in true.items():
            held = []
            for a, b in zip(one, other, strict=True):
                per_query = pl.DataFrame({"run": names, "query_id": "q", "A": a, "B": b})
                low, high = ir.rank_correlation(per_query, method=method).select("low", "high").row(0)
                held.append(None if low is None else low <= coefficient <= high)
            is_told = method == "kendall" and rho > 0.5 and n < 40
            yield share(f'rank_correlation(method="{method}")', f"rho {rho:g}", TOLD if is_told else HOLDS, held)


def choices(data: Path, n: int, _: int) -> Iterator[Figure]:
    """The mean AP of the n hardest queries by a run, and by the others; of the worst of variants that are alike."""
    values = np.column_stack(populations(data)["AP"])
    own, others = [], []
    for system in range(values.shape[1]):
        per_query = pl.DataFrame({"query_id": range(len(values)), "AP": values[:, system]})
        chosen = ir.hardest(per_query, "AP", n=n)["query_id"].to_list()
        own.append(values[chosen, system].mean())
        others.append(np.delete(values[chosen], system, axis=1).mean())
    for by, found in (("the run that chose", own), ("the others", others)):
        yield share("hardest, mean AP", f"by {by}", TOLD, found)
    for variants in (2, 5, 10):
        alike = np.random.default_rng(variants).choice(values.ravel(), 1000 * variants)
        asked = np.repeat(range(1000), variants)
        frame = pl.DataFrame({"query_id": range(len(alike)), "AP": alike, "asked": asked})
        yield share("robustness, worst AP", f"{variants} variants alike", TOLD, ir.robustness(frame, "asked")["worst"])


def nights(_: Path, n: int, simulations: int) -> Iterator[Figure]:
    """`drift` of the same n queries on 12 nights, whose means differ by themselves: any mark."""
    by = pl.DataFrame({"query_id": np.tile(range(n), 12), "night": np.repeat(range(12), n)})
    for spread in (0.0, 0.02):
        source = np.random.default_rng(n)
        queries, each = source.normal(0.5, 0.1, (simulations, 1, n)), source.normal(0, spread, (simulations, 12, 1))
        values = (queries + each + source.normal(0, 0.05, (simulations, 12, n))).clip(0, 1)
        frame = measures_of(values.reshape(simulations, -1)).with_columns(by)
        for reference in (2, 4, 8):
            found = ir.drift(frame, "night", reference=reference)
            promised = TOLD if spread and reference < 4 else WRONG
            called = f"drift(reference={reference}), same queries"
            yield share(called, f"nights' sd {spread:g}", promised, in_each(found, SIGNIFICANT))


def others(data: Path, n: int, simulations: int) -> Iterator[Figure]:
    """Intervals of medians; one family of five slices; pairs and coins by chance; fresh queries that pass as told."""
    source, few = np.random.default_rng(n), max(10, simulations // 5)
    moved = source.normal(0.02, 0.1, (simulations, n)).clip(-0.5, 0.5)
    for test in ("sign", "wilcoxon"):
        found = ir.compare(pair(moved), test=test).drop_nulls("low")
        held = (found["low"] <= 0.02) & (found["high"] >= 0.02)
        yield share(f'compare(test="{test}"), interval', "normal, median .02", HOLDS, held)
    alike = systems_of(source.normal(0.5, 0.1, (few, 5 * n, 4)).clip(0, 1))
    by = pl.DataFrame({"query_id": range(5 * n), "kind": np.repeat(range(5), n)})
    for test in ("t", "max-t"):
        found = ir.compare(alike, by=by, test=test, resamples=999)
        told = in_each(found, SIGNIFICANT)
        yield share(f'compare(by=, test="{test}"), any of all slices', "four alike, five slices", WRONG, told)
    told_apart = ir.discriminative_power(systems_of(source.normal(0.5, 0.1, (simulations, n, 4)).clip(0, 1)), test="t")
    yield share("discriminative_power, pairs", "four alike", WRONG, told_apart["share"])
    lists = [{f"q{query}": [f"{team}{query}"] for query in range(n)} for team in "ab"]
    first = pl.concat(ir.interleave(*lists, k=1, impression=shown)["team"] == "b" for shown in range(few))
    yield share("interleave, first", "two systems", (0.5, 0.5), first)
    if n >= 25:
        equal = made_equal(data, "AP")
        halved = (equal[:, 0] - equal[:, -1]).clip(-0.98, 0.98) / 2
        planned = ir.power(pair(drawn(halved, n, few)), max_drop=0.02)["n_queries"].drop_nulls()
        passed = [gate_of(source.choice(halved, plan))["passed"] for plan in planned]
        yield share("power(max_drop=), so many fresh queries pass", "AP, halved, real", (0.8, 1), passed)
        passed = []
        for changes in source.normal(0, 0.1, (few, n)).clip(-0.5, 0.5):
            note = gate_of(changes)["note"] or ""
            if fresh := re.search("about ([0-9,]+) fresh queries", note):
                again = source.normal(0, 0.1, int(fresh[1].replace(",", ""))).clip(-0.5, 0.5)
                passed.append(gate_of(again)["passed"])
        yield share("gate, so many fresh queries pass", "normal, no drop, max_drop .02", (0.8, 1), passed)


def gate_of(changes: np.ndarray) -> dict[str, Any]:
    """The row of a change of a measure by so much."""
    before, after = measures_of(0.5 + 0 * changes[None]), measures_of(0.5 + changes[None])
    return ir.gate(after, before, ["P@1"], max_drop=0.02).row(0, named=True)


#: The parts, and the numbers of queries (topics, systems) that they are simulated for.
SIZES_OF: dict[Callable[[Path, int, int], Iterator[Figure]], tuple[int, ...]] = {
    **dict.fromkeys((ranks, risk, means, designs, slices, clusters, interleaving, plans, gates, worse), SIZES),
    looks: (100, 250, 500),
    passes: (50, 100, 200, 400),
    dropped: (10, 20, 30, 50, 100),
    tuning: (25, 50, 100),
    drift: (5, 20, 100, 400),
    tails: (2, 10, 20, 50, 100),
    correlations: (8, 15, 40, 80),
    **dict.fromkeys((differences, effects, families, systems), SIZES),
    nights: (10, 50, 200),
    others: (10, 25, 50, 100),
    choices: (10,),
}
PARTS = {part.__name__: part for part in SIZES_OF}


def main() -> None:
    """Simulate what is asked for and not there yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--results", type=Path, help="a file to go on with")
    parser.add_argument("--show", action="store_true", help="simulate nothing")
    given = parser.parse_args()
    done = read(given.results) if given.results else {}
    for name in given.parts or PARTS:
        for n in SIZES_OF[PARTS[name]]:
            if given.show or (name, n) in done:
                continue
            start = time.process_time()
            done[name, n] = list(PARTS[name](given.data, n, given.simulations))
            if given.results:
                seconds = round(time.process_time() - start, 1)
                line = {"part": name, "n": n, "seconds": seconds, "figures": done[name, n]}
                with given.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        print(tables(name, str(PARTS[name].__doc__), done))  # noqa: T201


if __name__ == "__main__":
    main()
