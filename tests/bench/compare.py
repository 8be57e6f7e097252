"""Compare `polars_ir` with its peers, and with itself on harder data: `python tests/bench/compare.py [case ...]`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from generate import PART_ROWS, Collection, Shape, collection, parquet_parts, robust, shallow
from measure import agree, best, fresh, peak_memory, race
from peers import MEASURES, PEERS, Tool, installed, ours, pytrec_eval
from scipy import stats

import polars_ir as ir

#: What a ratio, or a figure of our own, should reach; by case and peer.
GOALS = {
    ("large", "bare join"): ">= 0.4",
    ("large, ids of 20 bytes", "bare join"): ">= 0.4",
    ("large", "pytrec_eval"): ">= 25",
    ("large", "ir_measures"): ">= 100",
    ("large", "ranx"): ">= 30",
    ("robust, 1 run", "pytrec_eval"): ">= 3",
    ("robust, 4 runs", "pytrec_eval"): ">= 5",
    ("small", "pytrec_eval"): ">= 1",
    ("scan", "peak memory"): "<= 0.6 GB",
    ("scan", "rows a second"): ">= 10 M",
    ("50 measures, shallow", "1 measure"): ">= 0.5",
    ("50 measures, robust", "1 measure"): ">= 0.5",
    ("51 measures", "5 measures"): ">= 0.25",
    ("all judged", "shallow"): ">= 0.33",
    ("tied", "shallow"): ">= 0.33",
    ("all judged and tied", "shallow"): ">= 0.33",
}

SCAN = Path(__file__).with_name("scan.py")


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    rows: int | None
    folder: Path


@dataclass(frozen=True)
class Row:
    """A line of the table; the ratio is the other's time by ours."""

    case: str
    ours: str
    peer: str
    theirs: str = ""
    ratio: float | None = None

    def cells(self) -> list[str]:
        """The line as it is printed."""
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return [self.case, self.ours, self.peer, self.theirs, ratio, GOALS.get((self.case, self.peer), "")]


def large(options: Options) -> Iterator[Row]:
    """Seven million rows in memory, ten thousand judgments."""
    data = collection(shallow(options.rows or 7_000_000))
    yield from contest("large", data, ["bare join", "pytrec_eval", "ir_measures", "ranx"])
    long = collection(shallow(options.rows or 7_000_000, prefix="msmarco_passage_"))
    yield from contest("large, ids of 20 bytes", long, ["bare join"])


def deep(_: Options) -> Iterator[Row]:
    """A TREC collection, with more than a thousand judgments a query: one run, and four in one pass."""
    yield from contest("robust, 1 run", robust(1), ["pytrec_eval"])
    yield from contest("robust, 4 runs", robust(4), ["pytrec_eval", "pytrec_eval, an evaluator per run"])


def small(options: Options) -> Iterator[Row]:
    """Three hundred queries of a hundred documents, and where the time goes."""
    data = collection(shallow(0, queries=(options.rows or 30_000) // 100, depth=100))
    yield from contest("small", data, ["pytrec_eval"])
    expressions = [ir.parse(name) for name in MEASURES]
    plan = ir.evaluate(data.run.lazy(), data.qrels, expressions)
    whole = best(lambda: ir.evaluate(data.run, data.qrels, MEASURES))
    steps: dict[str, Callable[[], object]] = {
        "parsing the names": lambda: [ir.parse(name) for name in MEASURES],
        "building the expressions": build,
        "checking the qrels, building the lazy plan": lambda: ir.evaluate(data.run.lazy(), data.qrels, expressions),
        "collecting the lazy plan": lambda: plan.collect(engine="in-memory"),
    }
    yield Row("small", time(whole), "whole call")
    for name, step in steps.items():
        part = best(step)
        yield Row("small", time(whole), name, time(part), part / whole)


def scan(options: Options) -> Iterator[Row]:
    """Seventy million rows scanned from Parquet, in a process of its own."""
    rows = options.rows or 10 * PART_ROWS
    folder = options.folder / f"run-{rows}"
    parquet_parts(folder, rows)
    first = pl.scan_parquet(folder / "run-*.parquet").head(100_000).collect()
    qrels = pl.read_parquet(folder / "qrels.parquet").join(first, on="query_id", how="semi")
    if installed("pytrec_eval"):
        sample = Collection(first, qrels)
        lazily = ir.mean(ir.evaluate(first.lazy(), qrels, MEASURES)).collect()["nDCG@10"].item()
        agree({"lazy": {"": lazily}, "pytrec_eval": pytrec_eval(sample)})
    mine, join = (min((fresh(SCAN, what, str(folder)) for _ in range(2)), key=taken) for what in ("evaluate", "join"))
    yield Row("scan", time(mine["seconds"]), "bare join", time(join["seconds"]), join["seconds"] / mine["seconds"])
    yield Row("scan", f"{rows / mine['seconds'] / 1e6:.1f} M", "rows a second")
    yield Row("scan", memory(mine["peak"]), "peak memory", memory(join["peak"]) + " (bare join)")


def many(options: Options) -> Iterator[Row]:
    """Fifty measures against one, on a shallow and a deep collection."""
    names = [f"{name}@{k}" for name in ("nDCG", "AP", "RR", "R", "P") for k in (1, 3, 5, 10, 15, 20, 30, 50, 100, 1000)]
    collections = {"shallow": collection(shallow(options.rows or 1_000_000)), "robust": robust(1)}
    for name, data in collections.items():
        times = race({"50": partial(ours, data, names), "1": partial(ours, data, ["nDCG@10"])})
        yield Row(f"50 measures, {name}", time(times["50"]), "1 measure", time(times["1"]), times["1"] / times["50"])


def whole(options: Options) -> Iterator[Row]:
    """Every measure of the catalogue that reads plain judgments, and the options that rank otherwise, against five."""
    data = collection(shallow(options.rows or 7_000_000))
    catalogue = [spec.function() for spec in ir.CATALOG.values() if spec.kind == "documents"]

    def evaluating(measures: list[Any], **options: Any) -> Callable[[], None]:
        def run() -> None:
            ir.evaluate(data.run, data.qrels, measures, **options)

        return run

    times = race(
        {
            "5": evaluating(MEASURES),
            f"{len(catalogue)} measures": evaluating(catalogue),
            "5, ties='expected'": evaluating(MEASURES, ties="expected"),
            "5, ties='best'": evaluating(MEASURES, ties="best"),
            "5, bounds=True": evaluating(MEASURES, bounds=True),
        }
    )
    for name, seconds in times.items():
        if name != "5":
            yield Row(name, time(seconds), "5 measures", time(times["5"]), times["5"] / seconds)


def hard(options: Options) -> Iterator[Row]:
    """Every retrieved document judged, and scores shared by twenty documents, against the shallow case, per row."""
    rows = options.rows or 1_000_000
    all_judged = {"judged": 1000.0, "found": 1000.0, "grades": 2}
    shapes = {
        "shallow": shallow(rows),
        "tied": shallow(rows, tied=20),
        "all judged": shallow(rows, **all_judged),
        "all judged and tied": shallow(rows, tied=20, **all_judged),
    }
    per_row = {name: cost(shape) for name, shape in shapes.items()}
    easy = per_row["shallow"]
    for name, own in per_row.items():
        yield Row(name, f"{own * 1e9:.0f} ns/row", "shallow", f"{easy * 1e9:.0f} ns/row", easy / own)


def paired(_: Options) -> Iterator[Row]:
    """Randomisation tests of twenty systems on a thousand queries, against SciPy's, one pair after the other."""
    rng = np.random.default_rng(0)
    systems = {f"s{i:02d}": rng.beta(2, 3 + i / 50, 1000) for i in range(20)}
    ids = [f"q{i}" for i in range(1000)]
    per_query = pl.concat(
        pl.DataFrame({"run": [name] * 1000, "query_id": ids, "AP": values}) for name, values in systems.items()
    )

    def compare(**options: Any) -> Callable[[], None]:
        def run() -> None:
            ir.compare(per_query, correction=None, **{"test": "randomisation", **options})

        return run

    def scipy() -> None:
        for name, values in systems.items():
            if name != "s00":
                stats.permutation_test(
                    (values - systems["s00"],),
                    np.mean,
                    permutation_type="samples",
                    n_resamples=10_000,
                    batch=1000,
                    axis=0,
                )

    times = race({"ours": compare(baseline="s00"), "SciPy": scipy})
    case = "19 pairs of 1000 queries, 10,000 resamples"
    yield Row(case, time(times["ours"]), "SciPy", time(times["SciPy"]), times["SciPy"] / times["ours"])
    for case, run in {
        "the same, 100,000 resamples": compare(baseline="s00", resamples=100_000),
        "190 pairs, 100,000 resamples": compare(resamples=100_000),
        "Tukey, 190 pairs, 10,000 resamples": compare(test="tukey"),
    }.items():
        with peak_memory() as peak:
            taken_alone = best(run)
        yield Row(case, time(taken_alone), "peak memory", memory(peak[0]))


CASES = {
    "large": large,
    "deep": deep,
    "small": small,
    "scan": scan,
    "many": many,
    "whole": whole,
    "hard": hard,
    "paired": paired,
}


def contest(case: str, data: Collection, names: list[str]) -> Iterator[Row]:
    """Our time beside that of each peer that is installed."""
    present = [name for name in names if installed(name)]
    for name in set(names) - set(present):
        sys.stderr.write(f"{case}: {name} is not installed, and left out\n")
    tools: dict[str, Tool] = {"ours": ours, **{name: PEERS[name][1] for name in present}}
    times = race({name: partial(tool, data) for name, tool in tools.items()})
    mine = times.pop("ours")
    for name, theirs in times.items():
        yield Row(case, time(mine), name, time(theirs), theirs / mine)


def cost(shape: Shape) -> float:
    """Seconds for each row read, once pytrec_eval has agreed."""
    data = collection(shape)
    if installed("pytrec_eval"):
        agree({"ours": ours(data), "pytrec_eval": pytrec_eval(data)})
    return best(lambda: ours(data)) / data.rows


def build() -> list[pl.Expr]:
    """The expressions of the measures, which `parse` remembers."""
    return [ir.ndcg(k=10), ir.average_precision(), ir.reciprocal_rank(k=10), ir.recall(k=100), ir.precision(k=10)]


def taken(result: dict[str, float]) -> float:
    """The time that a process reported."""
    return result["seconds"]


def time(seconds: float) -> str:
    """A time in the unit that suits it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def memory(size: float) -> str:
    """A size in GB."""
    return f"{size / 1e9:.2f} GB"


def machine() -> str:
    """What the figures were taken on."""
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    return f"{cores} cores (load {load:.1f}), Python {platform.python_version()}, Polars {pl.__version__}"


def markdown(rows: list[Row]) -> str:
    """The table, and the machine."""
    head = ["case", "ours", "against", "theirs", "ratio", "goal"]
    lines = [head, ["---"] * len(head), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n{machine()}\n"


def main() -> None:
    """Run the cases of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(CASES)}; by default all")
    parser.add_argument("--rows", type=int, help="rows of the run, in place of each case's own number")
    parser.add_argument("--output", type=Path, help="a file for the table")
    parser.add_argument("--folder", type=Path, help="where the Parquet files of `scan` lie, or are made (0.3 GB)")
    given = parser.parse_args()
    if unknown := set(given.cases) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    options = Options(given.rows, given.folder or Path(tempfile.gettempdir()) / "polars_ir_bench")
    rows: list[Row] = []
    for case in given.cases or CASES:
        for row in CASES[case](options):
            sys.stderr.write("  ".join(row.cells()) + "\n")
            rows.append(row)
    table = markdown(rows)
    sys.stdout.write(table)
    if given.output:
        given.output.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
