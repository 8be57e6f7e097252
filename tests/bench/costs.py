"""What parts of polars_ir cost: `python tests/bench/costs.py [part ...]`; `scale.py` compares the whole with its peers.

`call`: the steps of a call on a small run. `catalogue`: all measures, ties and bounds against five measures. `reading`:
TREC files to tables, against pytrec_eval's parser. `paired`: randomisation tests, against SciPy's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from generate import collection, shallow, write_text
from measure import best, machine, peak_memory, race, shown_memory, shown_ratio, shown_time
from scipy import stats
from tools import MEASURES

import polars_ir as ir

FIVE = MEASURES[5]

#: A line of the table: the part, ours, what it is held against, that, and its time divided by ours.
Line = list[str]


def call(_: int) -> Iterator[Line]:
    """Three hundred queries of a hundred documents, and where the time goes."""
    data = collection(shallow(0, queries=300, depth=100))
    expressions = [ir.parse(name) for name in FIVE]
    plan = ir.evaluate(data.run.lazy(), data.qrels, expressions)
    whole = best(lambda: ir.evaluate(data.run, data.qrels, FIVE))
    steps: dict[str, Callable[[], object]] = {
        "parsing the names": lambda: [ir.parse(name) for name in FIVE],
        "building the expressions": build,
        "checking the qrels, building the lazy plan": lambda: ir.evaluate(data.run.lazy(), data.qrels, expressions),
        "collecting the lazy plan": lambda: plan.collect(engine="in-memory"),
    }
    for name, step in steps.items():
        yield line("a call, 30,000 rows", whole, name, best(step))


def catalogue(rows: int) -> Iterator[Line]:
    """Every measure of the catalogue that reads plain judgments, and the options that rank otherwise, against five."""
    data = collection(shallow(rows))
    every = [spec.function() for spec in ir.CATALOG.values() if spec.kind == "documents"]

    def evaluating(measures: list[Any], **options: Any) -> Callable[[], None]:
        def run() -> None:
            ir.evaluate(data.run, data.qrels, measures, **options)

        return run

    times = race(
        {
            "5 measures": evaluating(FIVE),
            f"{len(every)} measures": evaluating(every),
            "5, ties='expected'": evaluating(FIVE, ties="expected"),
            "5, ties='best'": evaluating(FIVE, ties="best"),
            "5, bounds=True": evaluating(FIVE, bounds=True),
        }
    )
    five = times.pop("5 measures")
    for name, seconds in times.items():
        yield line(name, seconds, "5 measures", five)


def reading(rows: int) -> Iterator[Line]:
    """A run in rank order to a table, and the same with tabs, which the short way of `files.clean` is not for."""
    import pytrec_eval

    def parse(path: Path) -> None:
        with path.open() as lines:
            pytrec_eval.parse_run(lines)

    def read(path: Path) -> None:
        ir.read_run(path)

    with tempfile.TemporaryDirectory() as folder:
        clean, tabbed = Path(folder) / "run.txt", Path(folder) / "tabbed.txt"
        write_text(Path(folder), collection(shallow(rows)))
        texts = pl.scan_lines(clean, name="line").select(pl.col("line").str.replace_all(" ", "\t", literal=True))
        texts.sink_csv(tabbed, include_header=False, quote_style="never")
        for name, path in {"a clean file": clean, "a file with tabs": tabbed}.items():
            times = race({"ours": partial(read, path), "theirs": partial(parse, path)})
            yield line(f"reading {name}", times["ours"], "pytrec_eval", times["theirs"])


def paired(_: int) -> Iterator[Line]:
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
    yield line("19 pairs of 1000 queries, 10,000 resamples", times["ours"], "SciPy", times["SciPy"])
    for name, run in {
        "the same, 100,000 resamples": compare(baseline="s00", resamples=100_000),
        "190 pairs, 100,000 resamples": compare(resamples=100_000),
        "Tukey, 190 pairs, 10,000 resamples": compare(test="tukey"),
    }.items():
        with peak_memory() as peak:
            alone = best(run)
        yield [name, shown_time(alone), "peak memory", shown_memory(peak[0]), ""]


PARTS = {"call": call, "catalogue": catalogue, "reading": reading, "paired": paired}


def build() -> list[pl.Expr]:
    """The expressions of the measures, which `parse` remembers."""
    return [ir.ndcg(k=10), ir.average_precision(), ir.reciprocal_rank(k=10), ir.recall(k=100), ir.precision(k=10)]


def line(name: str, ours: float, against: str, theirs: float) -> Line:
    """A line of the table."""
    return [name, shown_time(ours), against, shown_time(theirs), shown_ratio(theirs / ours)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--rows", type=int, default=7_000_000, help="rows of the run of `catalogue` and `reading`")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    head = ["part", "ours", "against", "theirs", "theirs / ours"]
    for cells in (head, ["---"] * len(head)):
        sys.stdout.write("| " + " | ".join(cells) + " |\n")
    for part in given.parts or PARTS:
        for cells in PARTS[part](given.rows):
            sys.stdout.write("| " + " | ".join(cells) + " |\n")
            sys.stdout.flush()
    sys.stdout.write(f"\n{given.rows} rows; Polars {pl.__version__}, {machine()}\n")


if __name__ == "__main__":
    main()
