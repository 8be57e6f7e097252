"""Rates of wrong verdicts, and of intervals that miss: the simulations behind notebooks/evidence.md.

    PYTHONPATH=. python tests/bench/evidence.py                       # every table, as Markdown
    PYTHONPATH=. python tests/bench/evidence.py gate --simulations 2000
    PYTHONPATH=. python tests/bench/evidence.py intervals --data ../shared/data/robust03

Parts are named at the end of the file; those of `PROMISES` give figures by the public interface. Seeds are fixed,
so that the same call prints the same tables. Values are those of the runs of a folder with `qrels.txt.gz` and
`*.run.gz` (`--data`, TREC 2003 Robust by default), from which queries are drawn; without the folder, beta and binomial
values that look like them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats

import polars_ir as ir
from polars_ir.statistics.bounds import chance_below, lower_bound, p_above
from polars_ir.statistics.intervals import Values, estimates
from polars_ir.statistics.randomisation import Draws

MEASURES = ["P@10", "R@100", "RR", "AP", "nDCG@10", "Success@10"]
LEVEL = 0.05
SIZES = (5, 10, 25, 50, 100, 400)


def table(heading: list[str], rows: list[list[object]]) -> None:
    """Print a table in Markdown; shares with three digits."""
    print(f"\n| {' | '.join(heading)} |\n|{' --- |' * len(heading)}")  # noqa: T201
    for row in rows:
        print(f"| {' | '.join(f'{cell:.3f}' if isinstance(cell, float) else str(cell) for cell in row)} |")  # noqa: T201


def populations(data: Path) -> dict[str, list[np.ndarray]]:
    """The values of queries by measure, an array per run."""
    if not data.exists():
        source = np.random.default_rng(0)
        return {
            **{name: [source.beta(0.8, 1.2, 100)] for name in MEASURES[:-1]},
            "Success@10": [(source.random(100) < 0.88) * 1.0],
        }
    qrels = ir.read_qrels(data / "qrels.txt.gz")
    runs = [ir.read_run(path).ir.evaluate(qrels, MEASURES) for path in sorted(data.glob("*.run.gz"))]
    return {name: [run.sort("query_id")[name].to_numpy() for run in runs] for name in MEASURES}


# gate


def losses(measure: str, rate: float, drop: float, n: int, source: np.random.Generator) -> np.ndarray:
    """Differences of n queries, of which a share loses as this measure can: `drop` on average over all of them."""
    lose, mean = source.random(n) < rate, drop / rate
    sizes = source.beta(0.8, 0.8 * (1 - mean) / mean, n) if mean < 1 else np.ones(n)
    if measure == "P@10":
        sizes = np.floor(sizes * 10 + source.random(n)) / 10
    elif measure == "RR":
        # From the first place to the second, fourth or tenth, or between the lower ones.
        steps = np.array([0.5, 0.75, 0.9]) if mean > 0.15 else np.array([1 / 6, 1 / 12, 0.5])
        sizes = np.where(source.random(n) < mean / steps.mean(), source.choice(steps, n), 0) if mean < 0.7 else sizes
    elif measure == "R@100":
        size = 0.5 if mean <= 0.5 else 1.0
        sizes = np.where(source.random(n) < mean / size, size, 0)
    elif measure == "Success@10":
        sizes = np.where(source.random(n) < mean, 1.0, 0.0)
    return -np.where(lose, sizes, 0.0)


def gate(_: Path, simulations: int) -> None:
    """P(pass) where a share of queries loses so that the true drop is just max_drop, 0.01, by each bound."""
    kinds, drop = ["t", "auto", "bounded"], 0.01
    rows: list[list[object]] = []
    for measure in MEASURES:
        for rate in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
            rows += [
                [measure, rate, n, *_passed(measure, rate, drop, n, kinds, simulations)]
                for n in (5, 20, 50, 100, 200, 400)
            ]
    table(["measure", "share that loses", "n", *kinds], rows)
    for kind, name in enumerate(kinds):
        worst = max(rows, key=lambda row: row[3 + kind])
        print(f"\n{name}: at most {worst[3 + kind]:.3f} ({worst[0]}, {worst[1]}, n = {worst[2]})")  # noqa: T201


def _passed(measure: str, rate: float, drop: float, n: int, kinds: list[str], simulations: int) -> list[float]:
    source, passed = np.random.default_rng(int(1000 * rate) + n), np.zeros(len(kinds))
    for _ in range(simulations):
        gains = losses(measure, rate, drop, n, source)
        passed += [_passes(gains, drop, kind) for kind in kinds]
    return (passed / simulations).tolist()


def _passes(gains: np.ndarray, drop: float, kind: str) -> bool:
    """True if a gate passes; as it was, the bound of differences that are all the same was their value."""
    if kind == "auto":
        p = p_above(gains, -drop, lowest=-1.0)
    elif kind == "bounded":
        p = chance_below(gains, -drop, -1.0)
    elif kind == "anytime":
        return bool((lower_bound(gains, "anytime", lowest=-1.0, alpha=LEVEL) or -1.0) >= -drop)
    elif np.ptp(gains) == 0:
        p = float(gains[0] < -drop)
    else:
        p = stats.ttest_1samp(gains, -drop, alternative="greater").pvalue
    return bool(p is not None and p <= LEVEL)


def power(_: Path, simulations: int) -> None:
    """P(pass) without any drop where differences are dense, sd .1, by each bound."""
    source, rows = np.random.default_rng(2), []
    kinds = ["t", "auto", "bounded", "anytime"]
    for n in (50, 100, 200, 400):
        samples = source.normal(0, 0.1, (simulations, n))
        for drop in (0.01, 0.02, 0.03):
            shares = [float(np.mean([_passes(gains, drop, kind) for gains in samples])) for kind in kinds]
            rows.append([n, drop, *shares, shares[1] / shares[0]])
    table(["n", "max_drop", *kinds, "auto / t"], rows)


# intervals


def intervals(data: Path, simulations: int) -> None:
    """The share of samples whose interval of 95 % holds the mean of all queries; that of the worst run."""
    kinds, rows = ["auto", "normal", "t", "percentile", "BCa", "bootstrap-t", "bounded"], []
    for measure, runs in populations(data).items():
        for n in (10, 20, 50, 100):
            shares = [_coverage(measure, values, n, kinds, simulations) for values in runs]
            rows.append([measure, n, *np.min(shares, axis=0).tolist()])
    table(["measure", "n", *kinds], rows)


def _coverage(measure: str, values: np.ndarray, n: int, kinds: list[str], simulations: int) -> list[float]:
    source, truth = np.random.default_rng(n), values.mean()
    samples = source.choice(values, (simulations, n))
    held = {"auto": _wilson(measure, samples, truth)}
    slow = samples[: max(100, simulations // 10)]
    for kind in kinds[1:]:
        some = samples if kind in ("normal", "t") else slow
        held[kind] = np.mean([_holds(sample, kind, truth) for sample in some])
    return [float(held[kind]) for kind in kinds]


def _holds(sample: np.ndarray, kind: str, truth: float) -> bool:
    if kind == "bounded":
        return min(chance_below(sample, truth, 0.0), chance_below(-sample, -truth, -1.0)) >= LEVEL / 2
    ends = estimates([Values(sample)], kind, draws=Draws(199))[0].ends
    return ends is not None and ends[0] - 1e-9 <= truth <= ends[1] + 1e-9


def _wilson(measure: str, samples: np.ndarray, truth: float) -> float:
    numbers = np.repeat(np.arange(len(samples)), samples.shape[1])
    frame = pl.DataFrame({"query_id": np.arange(samples.size), "sample": numbers, measure: samples.ravel()})
    ends = ir.summarize(frame, by="sample")
    return float(ends.select(pl.lit(truth).is_between(pl.col("low") - 1e-9, pl.col("high") + 1e-9).mean()).item())


# Many simulations at once: each is a measure with a range from 0 to 1, and so a family of its own.


def measures_of(values: np.ndarray) -> pl.DataFrame:
    """A column for each simulation, of values by queries and simulations."""
    names = [f"P@{number + 1}" for number in range(values.shape[1])]
    return pl.DataFrame(values, schema=names).with_columns(query_id=pl.int_range(len(values)))


def any_significant(found: pl.DataFrame) -> float:
    """The share of simulations in which any comparison is significant."""
    return float((found.group_by("measure").agg(pl.col("p_corrected").min())["p_corrected"] <= LEVEL).mean() or 0)


def exchanged(data: Path, measure: str, n: int, simulations: int) -> tuple[np.ndarray, np.ndarray]:
    """The values of two runs that exchange them at random in each query."""
    runs, source = populations(data)[measure], np.random.default_rng(n)
    places = source.integers(len(runs[0]), size=(n, simulations))
    both = np.stack([runs[0][places], runs[-1][places]])
    one, other = source.permuted(both, axis=0)
    return one, other


def risk(data: Path, simulations: int) -> None:
    """The share of pairs of equal systems in which one is a significant risk."""
    rows: list[list[object]] = []
    for measure in ("AP", "RR", "Success@10"):
        for alpha in (1, 5):
            shares = []
            for n in SIZES:
                both = dict(zip("ab", map(measures_of, exchanged(data, measure, n, simulations)), strict=True))
                shares.append(float((ir.risk(both, "a", alpha=alpha, resamples=999)["p"] <= LEVEL).mean() or 0))
            rows.append([measure, alpha, *shares])
    table(["measure", "alpha", *map(str, SIZES)], rows)


# slices, drift

#: Values of queries, by the share of them to draw.
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "Beta(.5, 1.5)": lambda source, size: source.beta(0.5, 1.5, size),
    "Success .88": lambda source, size: (source.random(size) < 0.88) * 1.0,
    "60 % zeros": lambda source, size: np.where(source.random(size) < 0.6, 0.0, source.random(size)),
    "10 % of .5": lambda source, size: (source.random(size) < 0.1) * 0.5,
}


def slices(_: Path, simulations: int) -> None:
    """Slices that are all alike, one of all or nothing among calm ones of its mean, and one that loses, or is 0.

    The share of simulations with a significant slice, of intervals that hold 0 where all are alike, and the worst
    difference as it is seen and as it is shrunk.
    """
    rows: list[list[object]] = []
    for n_slices, size in ((20, 5), (10, 10), (20, 25)):
        by = pl.DataFrame({"query_id": range(n_slices * size), "kind": np.repeat(range(n_slices), size)})
        for name, draw in SHAPES.items():
            values = draw(np.random.default_rng(size), (n_slices * size, simulations))
            found = ir.worst_slices(measures_of(values), by)
            held = float(((found["low"] <= 1e-12) & (found["high"] >= -1e-12)).mean() or 0)
            worst = found.group_by("measure").first().select(pl.col("difference", "shrunk_difference").mean()).row(0)
            rows.append([f"{n_slices} x {size}", name, "none", any_significant(found), held, *worst])
            for loss in (0.25, 1.0):
                lower = values.copy()
                lower[:size] = (lower[:size] - loss).clip(0)
                lost = ir.worst_slices(measures_of(lower), by).filter(value="0")
                share = float((lost["p_corrected"] <= LEVEL).mean() or 0)
                rows.append([f"{n_slices} x {size}", name, f"{loss:g}", share, "", "", ""])
        source = np.random.default_rng(size)
        calm = source.normal(0.5, 0.05, (n_slices * size, simulations)).clip(0, 1)
        calm[:size] = source.integers(0, 2, (size, simulations))
        found = ir.worst_slices(measures_of(calm), by)
        rows.append([f"{n_slices} x {size}", "one all or nothing", "none", any_significant(found), "", "", ""])
    table(["slices", "values", "loss of one", "significant", "holds 0", "worst, seen", "shrunk"], rows)


def drift(_: Path, simulations: int) -> None:
    """Courses of 12 days whose means have a standard deviation of their own: the share with a mark, by the reference.

    And the share of days that are marked where the last is lower by .2.
    """
    rows: list[list[object]] = []
    for name in ("normal", "Success .9"):
        for n in (5, 20, 100, 400):
            for spread in (0.0, 0.02, 0.05):
                source = np.random.default_rng(n)
                days = np.repeat(source.normal(0, spread, (12, simulations)), n, axis=0)
                drawn = source.normal(0.5, 0.25, days.shape) if name == "normal" else source.random(days.shape)
                values = drawn + days if name == "normal" else (drawn < (0.9 + days).clip(0, 1)) * 1.0
                by = pl.DataFrame({"query_id": range(12 * n), "day": np.repeat(range(12), n)})
                courses = (ir.drift(measures_of(values), by, reference=reference) for reference in (2, 4, 8))
                marked = list(map(any_significant, courses))
                lower = values.copy()
                lower[-n:] = (
                    lower[-n:] - 0.2 if name == "normal" else lower[-n:] * (source.random((n, simulations)) < 0.78)
                )
                last = ir.drift(measures_of(lower), by, reference=8).filter(bucket=11)["drifted"]
                rows.append([name, n, spread, *marked, float(last.mean() or 0)])
    table(["values", "queries a day", "days' sd", "reference 2", "4", "8", "last -.2, reference 8"], rows)


# queries that are no sample of their own


def interleaving(_: Path, simulations: int) -> None:
    """The share of logs of equal systems with p up to .05: a fixed list and a place that is clicked more, or tastes."""
    rows: list[list[object]] = []
    for queries, shown in ((200, 5), (100, 20), (50, 100), (20, 500)):
        shares = []
        for kind in ("place", "taste"):
            source, n_low = np.random.default_rng(queries), 0
            for _simulation in range(simulations):
                # The first team of a query's list is clicked in .6, or what its users like has a mean of 0.
                chance = (
                    np.where(source.random(queries) < 0.5, 0.6, 0.4) if kind == "place" else source.beta(8, 8, queries)
                )
                won = source.random((queries, shown)) < chance[:, None]
                log = pl.DataFrame(
                    {
                        "query_id": np.repeat(range(queries), shown),
                        "shown": range(queries * shown),
                        "team": np.where(won.ravel(), "b", "a"),
                        "clicks": 1,
                    }
                )
                n_low += ir.interleaving(log, impression="shown")["p"].item() <= LEVEL
            shares.append(n_low / simulations)
        rows.append([f"{queries} x {shown}", *shares])
    table(["queries x impressions", "place", "taste"], rows)


def clusters(_: Path, simulations: int) -> None:
    """The share of equal systems told apart by t and by randomisation, over queries and over their topics."""
    rows: list[list[object]] = []
    for topics, size in ((10, 5), (20, 5), (20, 20), (50, 3)):
        by = pl.DataFrame({"query_id": range(topics * size), "topic": np.repeat(range(topics), size)})
        for icc in (0.2, 0.5, 0.8):
            source = np.random.default_rng(topics)
            of_topics = np.repeat(source.normal(0, icc**0.5, (topics, simulations)), size, axis=0)
            differences = of_topics + source.normal(0, (1 - icc) ** 0.5, of_topics.shape)
            both = {"a": measures_of(0 * differences), "b": measures_of(differences)}
            kinds = ({}, {"cluster": by}, {"cluster": by, "test": "randomisation", "resamples": 999})
            shares = [float((ir.compare(both, **options)["p"] <= LEVEL).mean() or 0) for options in kinds]
            rows.append([f"{topics} x {size}", icc, *shares])
    table(["topics x queries", "icc", "t of queries", "t of topics", "randomised topics"], rows)


def strata(_: Path, simulations: int) -> None:
    """The share of intervals that hold the mean of four strata, and their mean width, without strata and with them."""
    rows: list[list[object]] = []
    for size in (5, 10, 25, 100):
        source, centres = np.random.default_rng(size), np.array([0.2, 0.4, 0.6, 0.8])[:, None, None]
        values = source.beta(3 * centres, 3 - 3 * centres, (4, size, simulations)).reshape(4 * size, simulations)
        by = pl.DataFrame({"query_id": range(4 * size), "stratum": np.repeat(range(4), size)})
        cells: list[object] = []
        for options in ({}, {"strata": by}):
            means = ir.summarize(measures_of(values), **options)
            held = (means["low"] <= 0.5) & (means["high"] >= 0.5)
            cells += [float(held.mean() or 0), float((means["high"] - means["low"]).mean())]
        rows.append([f"4 x {size}", *cells])
    table(["strata x queries", "holds", "width", "holds, stratified", "width, stratified"], rows)


def level(data: Path, simulations: int) -> None:
    """The level, power and coverage of tests on the runs of the folder, made equal and drawn anew: `ir.level`."""
    qrels = ir.read_qrels(data / "qrels.txt.gz")
    runs = {path.name: ir.read_run(path) for path in sorted(data.glob("*.run.gz"))}
    per_query = ir.evaluate(runs, qrels, ["AP", "nDCG@10", "P@10", "RR"])
    found = ir.level(per_query, test=["t", "max-t"], n=list(SIZES), simulations=simulations)
    columns = ["measure", "test", "n_queries", "level", "level_error", "power", "coverage", "simultaneous_coverage"]
    table(columns, [list(row) for row in found.select(columns).rows()])


# families of tests


def families(_: Path, simulations: int) -> None:
    """The share of simulations in which a test of all pairs rejects, of systems whose true means are all the same."""
    rows = []
    for name, draw in {"ten alike": _alike, "eight near-copies and two others": _copies}.items():
        source = np.random.default_rng(4)
        samples = frame([draw(source) for _ in range(simulations)])
        rejected = [rejecting(samples, test=test, resamples=499) for test in ("tukey", "max-t", "t")]
        rows.append([name, *rejected])
    table(["systems", "tukey", "max-t", "t, Holm"], rows)


def _alike(source: np.random.Generator) -> np.ndarray:
    return source.normal(0.5, 0.1, (50, 1)) + source.normal(0, 0.1, (50, 10))


def _copies(source: np.random.Generator) -> np.ndarray:
    one = source.normal(0.5, 0.05, (50, 1))
    return np.hstack([one + source.normal(0, 0.002, (50, 8)), source.normal(0.5, 0.3, (50, 2))])


def means(_: Path, simulations: int) -> None:
    """The share of simulations in which a test rejects differences whose mean is 0, but which are skewed."""
    tests, rows = ["t", "auto", "wilcoxon", "sign", "randomisation", "bootstrap"], []
    for n in (25, 50, 100, 200):
        samples = frame(pairs(np.random.default_rng(5).exponential(0.1, (simulations, n)) - 0.1))
        rows.append([n, *(rejecting(samples, test=test, resamples=999) for test in tests)])
    table(["n", *tests], rows)


# promises


class Figure(NamedTuple):
    """A simulated share, and the range in which it is promised to be."""

    promise: str
    shape: str
    n: int
    least: float
    most: float
    share: float
    simulations: int

    @property
    def error(self) -> float:
        """The standard error of the share, at the nearest end of the range where it is beyond."""
        at = min(max(self.share, self.least), self.most)
        return float(np.sqrt(max(at * (1 - at), 0.001) / self.simulations))

    @property
    def holds(self) -> bool:
        """True where the share is in the range, but for chance."""
        return self.least - 3 * self.error <= self.share <= self.most + 3 * self.error


def frame(samples: Sequence[np.ndarray]) -> pl.DataFrame:
    """A per-query frame with a measure for each sample, which has a row per query and a column per system."""
    n, systems = samples[0].shape
    runs = np.repeat([f"s{system:02}" for system in range(systems)], n)
    measures = {f"P@{number}": sample.T.ravel() for number, sample in enumerate(samples, 1)}
    return pl.DataFrame({"run": runs, "query_id": np.tile(np.arange(n), systems), **measures})


def pairs(differences: np.ndarray) -> list[np.ndarray]:
    """Two systems with these differences: a sample per row."""
    return [np.column_stack([np.full(len(row), 0.5), 0.5 + row]) for row in differences]


def rejecting(samples: pl.DataFrame, **options: Any) -> float:
    """The share of samples in which any comparison is significant."""
    of_samples = ir.compare(samples, **options).group_by("measure").agg(pl.col("significant").any())
    return float(of_samples["significant"].fill_null(value=False).mean())


def made_equal(data: Path, measure: str) -> np.ndarray:
    """The values of queries, a column per run, each moved to the mean of all; without data, made-up runs."""
    runs = populations(data)[measure]
    if len(runs) == 1:
        runs = [np.random.default_rng(system).permutation(runs[0]) for system in range(4)]
    values = np.column_stack(runs)
    return values - values.mean(axis=0) + values.mean()


def drawn(values: np.ndarray, n: int, simulations: int) -> list[np.ndarray]:
    """Samples of n queries."""
    source = np.random.default_rng(n)
    return [values[source.integers(len(values), size=n)] for _ in range(simulations)]


def comparisons(data: Path, simulations: int) -> Iterator[Figure]:
    """Any significant difference of equal systems, and simultaneous intervals that hold together."""
    for measure in ("AP", "nDCG@10", "P@10"):
        equal = made_equal(data, measure)
        apart = equal + np.arange(equal.shape[1]) * 0.05
        for n in (10, 25, 50, 100, 400):
            samples = frame(drawn(equal, n, simulations))
            for test in ("t", "max-t"):
                share = rejecting(samples, test=test, family="measure", resamples=999)
                yield Figure(f'compare(test="{test}")', f"{measure} made equal", n, 0, 0.1, share, simulations)
            found = ir.compare(frame(drawn(apart, n, simulations)), correction=None)
            true = (found["run"].str.slice(1).cast(float) - found["baseline"].str.slice(1).cast(float)) * 0.05
            held = true.is_between(found["simultaneous_low"], found["simultaneous_high"])
            share = float(
                found.select("measure", held=held).group_by("measure").agg(pl.col("held").all())["held"].mean()
            )
            yield Figure("simultaneous_low, simultaneous_high", f"{measure} apart", n, 0.9, 1, share, simulations)
    few = max(20, simulations // 10)
    for n in (10, 25, 50, 100):
        source = np.random.default_rng(n)
        samples = frame(
            [np.column_stack([np.full(n, 0.5), 0.4 + source.exponential(0.1, (n, 19))]) for _ in range(few)]
        )
        share = rejecting(samples, baseline="s00", test="auto")
        yield Figure('compare(test="auto")', "19 exponential", n, 0, 0.05, share, few)
        draws = [np.where(source.random(n) < 0.02, -0.98, 0.02) + source.normal(0, 0.02, n) for _ in range(few)]
        share = rejecting(frame(pairs(np.array(draws))), test="t")
        yield Figure("the blind spot of t, told", "2 % fail wholly", n, 0, 1, share, few)
    all_measures = [drawn(made_equal(data, measure), 50, few) for measure in MEASURES[:-1]]
    joint = [
        ir.compare(frame([samples[number] for samples in all_measures]), test="max-t", family="all", resamples=999)
        for number in range(few)
    ]
    share = float(np.mean([found["significant"].any() for found in joint]))
    yield Figure('compare(test="max-t", family="all")', "five measures made equal", 50, 0, 0.1, share, few)


def ranks(data: Path, simulations: int) -> Iterator[Figure]:
    """Ranges of ranks that miss, of equal systems: some is told apart from another."""
    for measure in ("AP", "P@10", "R@100", "nDCG@10"):
        for n in (5, 10, 25, 50, 100, 400):
            found = ir.ranks(frame(drawn(made_equal(data, measure), n, simulations)))
            missed = found.group_by("measure").agg((pl.col("best_rank") > 1).any())["best_rank"]
            yield Figure("ranks", f"{measure} made equal", n, 0, 0.09, float(missed.mean()), simulations)


def summaries(_: Path, simulations: int) -> Iterator[Figure]:
    """Intervals that hold, without bounds; and those by weights that are there and miss."""
    source = np.random.default_rng(6)
    for shape, draw, true, least in (
        ("normal", source.normal, 0.0, 0.93),
        ("lognormal", lambda size: source.lognormal(0, 1, size), float(np.exp(0.5)), 0.8),
    ):
        for n in (5, 10, 25, 100):
            values = draw(size=(simulations, n))
            columns = {f"mine{number}": row for number, row in enumerate(values)}
            found = ir.summarize(pl.DataFrame({"query_id": range(n), **columns}))
            share = float(pl.Series([true] * simulations).is_between(found["low"], found["high"]).mean())
            yield Figure("summarize without bounds", shape, n, least, 1, share, simulations)
    asked = np.arange(1, 5001) ** -0.8
    success = np.clip(1 - np.log(np.arange(1, 5001)) / np.log(5000) + source.normal(0, 0.15, 5000), 0, 1)
    even = source.lognormal(0, 0.4, 5000)
    for shape, weights, values in (("Zipf, with the values", asked, success), ("lognormal(.4)", even, success)):
        true = float(np.average(values, weights=weights))
        for n in (25, 50, 100, 400):
            missed = []
            for _ in range(max(50, simulations // 5)):
                chosen_ones = source.choice(5000, n, replace=False)
                sample = {"query_id": range(n), "AP": values[chosen_ones], "w": weights[chosen_ones]}
                low, high = ir.summarize(pl.DataFrame(sample), weights="w").select("low", "high").row(0)
                missed.append(low is not None and not low <= true <= high)
            yield Figure("summarize by weights misses", shape, n, 0, 0.07, float(np.mean(missed)), len(missed))


def plans(data: Path, simulations: int) -> Iterator[Figure]:
    """The power that plans of .8 by pilots have."""
    for measure in ("AP", "nDCG@10", "P@10"):
        values = np.column_stack(populations(data)[measure])
        both = values[:, [0, -1]] if values.shape[1] > 1 else made_equal(data, measure)[:, :2]
        spread = float((both[:, 0] - both[:, 1]).std())
        for n in (10, 25, 50, 100):
            needed = ir.power(frame(drawn(both, n, simulations)), difference=0.05)["n_queries"]
            had = [ir.power(std=spread, difference=0.05, n_queries=each)["power"].item() for each in needed.unique()]
            times = needed.unique(maintain_order=False).to_frame().join(needed.value_counts(), on="n_queries")["count"]
            share = float(np.average(had, weights=times))
            yield Figure("power by a pilot", measure, n, 0.8, 1, share, simulations)


def looks(data: Path, simulations: int) -> Iterator[Figure]:
    """Changes that cost max_drop, .02, and pass at any of several planned looks."""
    source = np.random.default_rng(7)
    equal = made_equal(data, "AP")
    for shape, draw in (
        ("normal", lambda size: source.normal(-0.02, 0.1, size)),
        ("skewed", lambda size: 0.08 - source.exponential(0.1, size)),
        ("AP", lambda size: source.choice(equal[:, 0] - equal[:, 1] - 0.02, size)),
    ):
        for number, n in ((2, 100), (5, 250)):
            new = pairs(draw((simulations, n)).clip(-0.5, 0.5))
            passed = np.zeros(simulations, bool)
            for look in range(1, number + 1):
                both = frame([sample[: n * look // number] for sample in new])
                old, changed = both.partition_by("run")
                found = ir.gate(changed, old, both.columns[2:], max_drop=0.02, looks=(look, number))
                passed |= found["passed"].to_numpy()
            yield Figure(f"gate(looks=(i, {number}))", shape, n, 0, 0.07, float(passed.mean()), simulations)


def gates(_: Path, simulations: int) -> Iterator[Figure]:
    """Any measure of ten without a change that is called worse."""
    for n in (50, 100):
        source, worse = np.random.default_rng(n), []
        for _ in range(simulations):
            both = frame(pairs(source.normal(0, 0.1, (10, n))))
            old, new = both.partition_by("run")
            worse.append("worse" in ir.gate(new, old, both.columns[2:], max_drop=0)["verdict"])
        yield Figure("gate, any worse of ten", "normal", n, 0, 0.05, float(np.mean(worse)), simulations)


def choices(data: Path, _: int) -> Iterator[Figure]:
    """The mean AP of the ten hardest queries by a run, and by the others; of the worst of so many variants alike."""
    values = np.column_stack(populations(data)["AP"])
    chosen_by = [np.argsort(values[:, system])[:10] for system in range(values.shape[1])]
    own = np.mean([values[of_run, system].mean() for system, of_run in enumerate(chosen_by)])
    others = [np.delete(values[of_run], system, axis=1).mean() for system, of_run in enumerate(chosen_by)]
    yield Figure("hardest, by the run that chose", "AP", 10, 0, 1, float(own), len(values))
    if values.shape[1] > 1:
        yield Figure("hardest, by the others", "AP", 10, float(own), 1, float(np.mean(others)), len(values))
    source = np.random.default_rng(8)
    for n in (2, 5, 10):
        worst = source.choice(values.ravel(), (10_000, n)).min(axis=1).mean()
        yield Figure("robustness, the worst of n alike", "AP", n, 0, 1, float(worst), 10_000)


#: The parts that simulate promises.
PROMISES = (comparisons, ranks, summaries, plans, looks, gates, choices)

PARTS: dict[str, Callable[[Path, int], Iterator[Figure] | None]] = {
    part.__name__: part
    for part in (
        *(gate, power, intervals, families, means),
        *(risk, slices, drift, interleaving, clusters, strata, level),
        *PROMISES,
    )
}


def show(figures: Iterator[Figure]) -> None:
    """Print the figures with their errors, those that are not as promised marked."""
    columns = ["promise", "shape", "n", "promised", "simulated", "error", ""]
    rows: list[list[object]] = []
    for each in figures:
        promised = f"{each.least:g} to {each.most:g}"
        rows.append([*each[:3], promised, each.share, each.error, "" if each.holds else "does not hold"])
    table(columns, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared/data/robust03")
    given = parser.parse_args()
    for name in given.parts or PARTS:
        print(f"\n## {name}\n\n{PARTS[name].__doc__}")  # noqa: T201
        if (figures := PARTS[name](given.data, given.simulations)) is not None:
            show(figures)
