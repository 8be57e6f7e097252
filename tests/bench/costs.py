"""Costs of parts of polars_ir: `python tests/bench/costs.py [part ...]`; `ratios.py` compares the whole with peers.

`start`: whole processes, from `import polars_ir` to a command of the shell, against `import polars`, and the attribute
`run.ir.ndcg` against its call. `call`: the steps of a call on a small run. `catalogue`: all measures, ties and
bounds against five measures. `paired`: randomisation tests, against SciPy's, and t of all pairs of many systems.
`prepared`: calls in a loop, against the same without `ir.judgments`. `nightly`: how figures were made, and `update`,
against evaluating all. `keys`: nights told apart by a column, against queries that are named by night. `growth`: the
memory of a call against its input, and the exponent of its time between two sizes: 1 is linear.
"""

from __future__ import annotations

import argparse
import datetime as dt
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from generate import Collection, Shape, collection, robust, robust_systems, shallow, write_text
from measure import Figures, anonymous_memory, best, machine, peak_memory, race, shown_memory, shown_ratio, shown_time
from scipy import stats
from tools import FIVE

import polars_ir as ir

#: A line of the table: the part, ours, what it is held against, that, and its time divided by ours.
Line = list[str]


#: What the shell is asked for, from a misspelt command to one that finds no file.
CALLS = (
    "--version",
    "--help",
    "evalute",
    "evaluate --nope",
    *(f"{name} no.qrels no.run -m AP" for name in ("evaluate", "gate")),
)


def start(_: int) -> Iterator[Line]:
    """The start of Python programs and of the shell: CPU seconds of whole processes, in turns, the best of seven."""
    data = collection(shallow(0, queries=100, depth=1000))
    with tempfile.TemporaryDirectory() as folder:
        write_text(Path(folder), data)
        files = [str(Path(folder, name)) for name in ("qrels.txt", "run.txt")]
        calls = {f"polars-ir {words}": (words.split(), {}) for words in (*CALLS, "trec_eval no.qrels no.run")}
        completed = "polars-ir evaluate --mis"
        environment = {"COMP_LINE": completed, "COMP_POINT": str(len(completed)), "_ARGCOMPLETE": "1"}
        environment["_ARGCOMPLETE_STDOUT_FILENAME"] = os.devnull
        calls[f"{completed}<TAB>"] = ([], environment)
        five = [word for measure in FIVE for word in ("-m", measure)]
        calls["100,000 rows of text to five means"] = (["evaluate", *files, *five], {})
        shell = "import sys; from polars_ir.cli import main; sys.exit(main(sys.argv[1:]))"
        programs = {f"import {name}": partial(cpu, f"import {name}") for name in ("polars", "polars_ir")}
        programs |= {name: partial(cpu, shell, *words, **added) for name, (words, added) in calls.items()}
        taken = [{name: run() for name, run in programs.items()} for _ in range(7)]
    polars, *ours = (min(turn[name] for turn in taken) for name in programs)
    for name, seconds in zip([*programs][1:], ours, strict=True):
        yield line(name, seconds, "import polars", polars)
    namespace = data.run.ir
    attribute = best(lambda: [namespace.ndcg for _ in range(1000)]) / 1000
    yield line("run.ir.ndcg", attribute, "its call, 100,000 rows", best(lambda: data.run.ir.ndcg(data.qrels, k=10)))


def cpu(program: str, *arguments: str, **added: str) -> float:
    """The seconds of CPU that a fresh interpreter takes for a program, whatever its status is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", program, *arguments]
    subprocess.run(command, check=False, capture_output=True, env=os.environ | added)  # noqa: S603  # our own program
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    yield from variants("", collection(shallow(rows)))
    yield from variants(", a TREC run", robust_systems(1))


def variants(name: str, data: Collection) -> Iterator[Line]:
    """A collection with more measures, and with options."""
    every = [info.function() for info in ir.CATALOG.values() if info.kind == "documents"]

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
    for variant, seconds in times.items():
        yield line(variant + name, seconds, "5 measures", five)


def paired(_: int) -> Iterator[Line]:
    """Randomisation tests of twenty systems, against SciPy's, one pair after the other; t of each pair of 200."""
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
    many = {f"s{i:03d}": rng.beta(2, 3, 50).round(3) for i in range(200)}
    frames = {name: pl.DataFrame({"query_id": ids[:50], "AP": values}) for name, values in many.items()}
    half, whole = (best(partial(ir.compare, dict(list(frames.items())[:number]))) for number in (142, 200))
    yield grows("19,900 pairs of 50 queries, t", whole, "of 10,011", half)


def prepared(_: int) -> Iterator[Line]:
    """A hundred calls with other scores, as a loop that tunes makes them, with the judgments of the Robust track."""
    data = robust(1)
    queries = data.run["query_id"].unique(maintain_order=True)[:30]
    run = data.run.filter(pl.col("query_id").is_in(queries.implode())).group_by("query_id").head(100)
    runs = [run.with_columns(score=pl.col("score") * (1 + number / 100)) for number in range(100)]

    def loop(qrels: Any) -> Figures:
        judgments = qrels()
        frames = [ir.evaluate(some, judgments, FIVE) for some in runs]
        return {"nDCG@10": float(sum(frame["nDCG@10"].sum() for frame in frames))}

    times = race({"ours": lambda: loop(lambda: ir.judgments(data.qrels)), "anew": lambda: loop(lambda: data.qrels)})
    yield line("100 calls of 3,000 rows, prepared", times["ours"], "qrels as a frame", times["anew"])


def nightly(_: int) -> Iterator[Line]:
    """Provenance, and a day on which one query of a hundred changed, against an evaluation of all."""
    data = collection(Shape(3000, 100, judged=50, found=25, systems=3))
    day = data.run["query_id"].unique().sort().gather_every(100).implode()
    falling = pl.when(pl.col("query_id").is_in(day)).then(-1).otherwise(1)
    run = data.run.with_columns(pl.col("score") * falling)
    stored = ir.evaluate(data.run, data.qrels, FIVE, provenance=True)

    def figures(per_query: pl.DataFrame) -> Figures:
        return {"nDCG@10": float(per_query["nDCG@10"].sum())}

    times = race(
        {
            "all": lambda: figures(ir.evaluate(run, data.qrels, FIVE)),
            "made": lambda: figures(ir.evaluate(run, data.qrels, FIVE, provenance=True)),
            "update": lambda: figures(ir.update(stored, run, data.qrels, FIVE)),
        }
    )
    name = f"{run.height:,} rows, {data.qrels.height:,} judgments"
    yield line(f"provenance=True, {name}", times["made"], "without", times["all"])
    yield line(f"update of one query in 100, {name}", times["update"], "evaluate", times["all"])


def keys(_: int) -> Iterator[Line]:
    """Ten nights told apart by a column, against the same rows whose queries have names of their own each night."""
    data = collection(shallow(0, queries=200, depth=100, systems=3))
    nights = pl.select(night=pl.date_range(dt.date(2026, 11, 10), dt.date(2026, 11, 19)))
    run, qrels = (rows.join(nights, how="cross") for rows in (data.run, data.qrels))
    own = pl.format("{}|{}", "night", "query_id").alias("query_id")
    apart, judged = (rows.with_columns(own).drop("night") for rows in (run, qrels))
    by: Any = {"by": "night"}
    cases = {"shared judgments": (run, data.qrels), "judgments of nights": (run, qrels)}
    cases["judgments of nights, LazyFrames"] = (run.lazy(), qrels.lazy())
    for name, (ours, of_ours) in cases.items():
        theirs = (apart.lazy(), judged.lazy()) if isinstance(ours, pl.LazyFrame) else (apart, judged)
        calls = {
            "keys": lambda ours=ours, of_ours=of_ours: means(ir.evaluate(ours, of_ours, FIVE, **by)),
            "names": lambda theirs=theirs: means(ir.evaluate(*theirs, FIVE)),
        }
        times = race(calls)
        yield line(f"10 nights, {name}", times["keys"], "queries named by night", times["names"])


def means(result: pl.DataFrame | pl.LazyFrame) -> Figures:
    """The means of all rows."""
    return result.lazy().select(pl.col(pl.Float64).mean()).collect().row(0, named=True)


def growth(_: int) -> Iterator[Line]:
    """The memory of a fusion in which every list gives a score to what it lacks, and the time of a table's marks."""
    run = collection(Shape(200, 1000, judged=1, found=1, systems=4)).run
    with peak_memory() as peak:
        before = anonymous_memory()
        taken = best(lambda: ir.fuse(run, "sum", norm="borda"))
    # Polars keeps 16 bytes of each text in place.
    ratio = (peak[0] - before) / (run.height * 56)
    yield ["fuse, norm='borda', 800,000 rows", shown_time(taken), "peak memory, by input", "", shown_ratio(ratio)]
    half = collection(Shape(100, 1000, judged=1, found=1, systems=4)).run
    yield grows(
        "fuse, norm='borda', 800,000 rows", taken, "of 400,000", best(lambda: ir.fuse(half, "sum", norm="borda"))
    )
    values = np.random.default_rng(0).random((100, 50, 3))
    keys = {"run": np.repeat([f"s{i:02d}" for i in range(100)], 50), "query_id": np.tile(range(50), 100)}
    per_query = pl.DataFrame({**keys, **dict(zip(["AP", "P@10", "RR"], values.reshape(-1, 3).T, strict=True))})
    half, whole = (best(lambda n=n: ir.table(per_query.head(n * 50), format="latex")) for n in (50, 100))
    yield grows("table of 100 systems by 3 measures, LaTeX", whole, "of 50", half)
    for name, (sizes, made) in GROWING.items():
        times = {size: grown(*made(size)) for size in sizes}
        (small, (half, _)), (size, (whole, ratio)) = times.items()
        yield [f"{name}, {size}", shown_time(whole), "peak memory, by input", "", shown_ratio(ratio)]
        yield grows(f"{name}, {size}", whole, f"of {small}", half)


def grows(name: str, whole: float, against: str, half: float) -> Line:
    """The time of a call, and the exponent by which it grows from half the size."""
    return [name, shown_time(whole), f"{against}; exponent", shown_time(half), f"{math.log2(whole / half):.1f}"]


def grown(rows: pl.DataFrame, run: Callable[[], object]) -> tuple[float, float]:
    """The time of a call, and the memory that its first run takes, as a multiple of its rows."""
    before = anonymous_memory()
    with peak_memory() as peak:
        run()
    return best(run), max(0, peak[0] - before) / rows.estimated_size()


def lists_of_systems(number: int) -> tuple[pl.DataFrame, Callable[[], object]]:
    """The similarity of systems of 20 queries x 50 documents."""
    run = collection(shallow(0, queries=20, depth=50, systems=number)).run
    return run, lambda: ir.similarity(run)


def judged_documents(number: int) -> tuple[pl.DataFrame, Callable[[], object]]:
    """The explanation of a query, all of whose documents are judged."""
    data = collection(Shape(1, number, judged=number, found=number))
    query = data.qrels["query_id"][0]
    return data.run, lambda: ir.explain(data.run, data.qrels, "AP", query)


def preferred_documents(number: int) -> tuple[pl.DataFrame, Callable[[], object]]:
    """All measures of preferences of ten systems, for a query with five levels."""
    data = collection(Shape(1, number, judged=number, found=number, systems=10))
    levels = data.qrels.with_columns(relevance=pl.int_range(pl.len()) % 5)
    measures = [info.name for info in ir.CATALOG.values() if info.kind == "preferences"]
    return data.run, lambda: ir.evaluate(data.run, levels, measures)


def checked_queries(number: int) -> tuple[pl.DataFrame, Callable[[], object]]:
    """The findings of a run of 100 documents a query."""
    data = collection(shallow(0, queries=number, depth=100))
    return data.run, lambda: ir.validate(data.run, data.qrels)


#: Calls by name, with the two sizes that they are made of.
GROWING = {
    "similarity, systems": ((40, 80), lists_of_systems),
    "explain, judged documents": ((2000, 4000), judged_documents),
    "preferences of 10 systems, judged documents": ((500, 1000), preferred_documents),
    "validate, queries": ((1500, 3000), checked_queries),
}


PARTS = {part.__name__: part for part in (start, call, catalogue, paired, prepared, nightly, keys, growth)}


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
    parser.add_argument("--rows", type=int, default=7_000_000, help="rows of the run of `catalogue`")
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
