"""Rates of wrong verdicts, and of intervals that miss: the simulations behind notebooks/evidence.md.

    PYTHONPATH=. python tests/bench/evidence.py                       # every table, as Markdown
    PYTHONPATH=. python tests/bench/evidence.py gate --simulations 2000
    PYTHONPATH=. python tests/bench/evidence.py intervals --data ../shared/data/robust03

Parts are gate, power, intervals, slices, drift, families and means. Seeds are fixed, so that the same call prints the
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


# slices, drift


def slices(data: Path, simulations: int) -> None:
    """The share of simulations that mark one of 20 slices of 5 queries, all alike; where one loses; where one is 0."""
    by = pl.DataFrame({"query_id": range(100), "topic": [str(i // 5) for i in range(100)]})
    _marked(data, simulations, by, lambda frame: ir.worst_slices(frame, by), 5)


def drift(data: Path, simulations: int) -> None:
    """The share of simulations that mark one of 12 buckets of 20 queries: all alike, the last loses, the last is 0."""
    by = pl.DataFrame({"query_id": range(240), "day": np.repeat(np.arange(12), 20)})
    _marked(data, simulations, by, lambda frame: ir.drift(frame, by), 20)


def _marked(data: Path, simulations: int, by: pl.DataFrame, function: Callable[..., pl.DataFrame], size: int) -> None:
    rows = []
    for measure in ("AP", "Success@10"):
        values = populations(data)[measure][0]
        for effect in (0.0, 0.4, 1.0):
            source, marked = np.random.default_rng(3), 0
            for _ in range(simulations):
                drawn = source.choice(values, by.height)
                drawn[-size:] = (drawn[-size:] - effect).clip(0)
                frame = by.select("query_id", pl.Series(measure, drawn))
                marked += bool((function(frame)["p_corrected"] <= LEVEL).any())
            rows.append([measure, effect, marked / simulations])
    table(["measure", "loss of one", "permutation"], rows)


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


PARTS = {part.__name__: part for part in (gate, power, intervals, slices, drift, families, means)}


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
