"""Rates of wrong verdicts, and of intervals that miss: the simulations behind notebooks/evidence.md.

    PYTHONPATH=. python tests/bench/evidence.py                       # every table, as Markdown
    PYTHONPATH=. python tests/bench/evidence.py gate --simulations 2000
    PYTHONPATH=. python tests/bench/evidence.py intervals --data ../shared/data/robust03

Parts are named at the end of the file. Seeds are fixed, so that the same call prints the
same tables. Values are those of the runs of a folder with `qrels.txt.gz` and `*.run.gz` (`--data`, TREC 2003 Robust by
default), from which queries are drawn; without the folder, beta and binomial values that look like them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

import polars_ir as ir
from polars_ir.per_query.shared.tests import TESTS, Paired
from polars_ir.statistics.bounds import chance_below, lower_bound, p_above
from polars_ir.statistics.intervals import Values, estimates
from polars_ir.statistics.randomisation import Draws, largest_flipped, permuted_ranges

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
        source, rejected = np.random.default_rng(4), np.zeros(2)
        for _ in range(simulations):
            values = draw(source)
            pairs = [(i, j) for i in range(10) for j in range(i)]
            differences = np.column_stack([values[:, i] - values[:, j] for i, j in pairs])
            widest = np.quantile(permuted_ranges(values, draws=Draws(499)), 1 - LEVEL)
            rejected += [np.ptp(values.mean(axis=0)) > widest, _rejects(differences)]
        rows.append([name, *(rejected / simulations).tolist()])
    table(["systems", "tukey", "max-t"], rows)


def _rejects(differences: np.ndarray) -> bool:
    return bool((largest_flipped([differences], Draws(499)) <= LEVEL).any())


def _alike(source: np.random.Generator) -> np.ndarray:
    return source.normal(0.5, 0.1, (50, 1)) + source.normal(0, 0.1, (50, 10))


def _copies(source: np.random.Generator) -> np.ndarray:
    one = source.normal(0.5, 0.05, (50, 1))
    return np.hstack([one + source.normal(0, 0.002, (50, 8)), source.normal(0.5, 0.3, (50, 2))])


def means(_: Path, simulations: int) -> None:
    """The share of simulations in which a test rejects differences whose mean is 0, but which are skewed."""
    tests, rows = ["t", "wilcoxon", "sign", "randomisation", "bootstrap"], []
    for n in (25, 50, 100, 200):
        drawn = np.random.default_rng(5).exponential(0.1, (n, simulations)) - 0.1
        paired = Paired([], drawn, LEVEL, 0.0, Draws(999))
        found = {test: [outcome.p for outcome in TESTS[test].outcomes(paired)] for test in tests}
        rows.append([n, *(float(np.mean(np.array(found[test]) <= LEVEL)) for test in tests)])
    table(["n", *tests], rows)


PARTS = {
    part.__name__: part
    for part in (
        *(gate, power, intervals, families, means),
        *(risk, slices, drift, interleaving, clusters, strata, level),
    )
}


def chosen(names: list[str]) -> Iterator[Callable[[Path, int], None]]:
    yield from (PARTS[name] for name in names or PARTS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared/data/robust03")
    given = parser.parse_args()
    for part in chosen(given.parts):
        print(f"\n## {part.__name__}\n\n{part.__doc__}")  # noqa: T201
        part(given.data, given.simulations)
