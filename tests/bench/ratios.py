"""polars_ir beside what one would use in its place, a table of ratios: `python tests/bench/ratios.py`.

    python tests/bench/ratios.py --scale 0.01                   # of data a hundredth as large, to see that all runs
    python tests/bench/ratios.py --cases deep lazily            # some cases only
    python tests/bench/ratios.py --report                       # measure nothing; the tables, and .github/speed.png

Each case has a process of its own with one thread and one with two, in which all contestants take turns and must find
the same figures; tools that have one thread only are in the first. `ratios.jsonl` keeps the last record of each. Tools
that are not installed are left out, as is a case whose data is not there.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import report
from generate import ROBUST, Collection, collection, deep, lists, parquet_parts, robust_systems, shallow, write_text
from measure import Figures, Taken, fresh, machine, say_ready, taken, turns
from report import ONE_THREAD
from tools import FIVE, TOOLS, TOP, PytrecEval, installed

import polars_ir as ir

SCRIPT = Path(__file__)

#: Cases of whole processes, and of several sizes of a run.
ROWS = (300, 3_000, 30_000, 100_000, 1_000_000)

#: Above so many people or judgments the tools without Polars are left out.
MOST_PEOPLE = 30_000

MOST_JUDGMENTS = 1_000_000

#: Documents of a short list, and systems.
DEPTH, SYSTEMS = 20, 5

#: Tools that are plans.
PLANS = ("bare join", "plain Polars")

Contestants = dict[str, Callable[[], object]]


def peers(names: list[str], data: Collection, measures: list[str]) -> Contestants:
    """The tools that are installed, each from the frames of a collection, whatever it has to make of these."""

    def evaluate(name: str) -> Figures:
        return TOOLS[name].evaluate(TOOLS[name].frames(data), measures)

    return {name: partial(evaluate, name) for name in names if installed(name)}


def reused(data: Collection) -> Contestants:
    """pytrec_eval without what a loop would do once."""
    if not installed("pytrec_eval"):
        return {}
    tool = PytrecEval()
    return {"pytrec_eval, dicts reused": tool.prepared(tool.frames(data), FIVE)}


def short_lists(people: int) -> Collection:
    """A list for each person, of which a tenth is relevant, and two relevant documents that it lacks."""
    source, rows = np.random.default_rng(1), people * DEPTH
    ids = {"query_id": np.arange(people).repeat(DEPTH), "doc_id": source.integers(0, 50_000, rows)}
    scores = source.random(rows, dtype=np.float32).astype(float)
    run = pl.DataFrame({**ids, "score": scores}).unique(["query_id", "doc_id"], maintain_order=True)
    missed = {"query_id": np.arange(people).repeat(2), "doc_id": source.integers(0, 50_000, 2 * people)}
    qrels = pl.concat([run.sample(fraction=0.1, seed=1).drop("score"), pl.DataFrame(missed)]).unique()
    texts = {"query_id": pl.format("u{}", "query_id"), "doc_id": pl.format("i{}", "doc_id")}
    return Collection(run.with_columns(**texts), qrels.with_columns(**texts, relevance=1))


def plain(data: Collection) -> Figures:
    """The measures at 10 by a rank over each list, a join with the judgments and a grouping; grades are 1."""
    run, qrels = data.run, data.qrels
    keys = [key for key in ("run", "query_id") if key in run.columns]
    rank, gain = pl.col("score").rank("ordinal", descending=True).over(keys), 1 / (pl.col("rank") + 1).log(2)
    hits = run.with_columns(rank=rank).filter(pl.col("rank") <= 10).join(qrels, on=["query_id", "doc_id"])
    found = hits.group_by(keys).agg(dcg=gain.sum(), n=pl.len(), first=pl.col("rank").min())
    best = (1 / (pl.int_range(1, 11) + 1).log(2)).cum_sum().gather(pl.col("relevant").clip(1, 10) - 1)
    every = qrels.group_by("query_id").agg(relevant=pl.len()).with_columns(best=best)
    if "run" in keys:
        every = run.select("run").unique().join(every, how="cross")
    dcg, n, relevant, first = map(pl.col, ("dcg", "n", "relevant", "first"))
    values = [dcg / pl.col("best"), n / relevant, n / 10, 1 / first, n.is_not_null().cast(pl.Float64)]
    per_query = every.join(found, on=keys, how="left").select(
        *keys, *(value.fill_null(0.0).alias(name) for value, name in zip(values, TOP, strict=True))
    )
    return per_query.select(pl.col(TOP).mean()).row(0, named=True)


def of_systems(people: int, _: Path, *, kept: pl.Expr, shuffled: bool = False) -> Contestants:
    """Five systems, each with a fifth of the rows."""
    data = short_lists(people)
    systems = [data.run.filter(kept % SYSTEMS == number) for number in range(SYSTEMS)]
    if shuffled:
        systems = [rows.sample(fraction=1, shuffle=True, seed=number) for number, rows in enumerate(systems)]
    data.run = pl.concat(rows.with_columns(run=pl.lit(f"s{number}")) for number, rows in enumerate(systems))
    return {**peers(["polars_ir"], data, TOP), "plain Polars": partial(plain, data)}


def one_system(people: int, _: Path) -> Contestants:
    """Lists of twenty, and with few people the tools that have no Polars; RecTools has pandas frames beforehand."""
    data = short_lists(people)
    contestants = {**peers(["polars_ir"], data, TOP), "plain Polars": partial(plain, data)}
    if people <= MOST_PEOPLE:
        contestants |= peers(["pytrec_eval", "toolkit-rag-quality"], data, TOP)
        if installed("RecTools"):
            tool = TOOLS["RecTools"]
            contestants["RecTools"] = partial(tool.evaluate, tool.frames(data), TOP)
    return contestants


def statistic(people: int, _: Path, *, name: str, against: str) -> Contestants:
    """A statistic of two systems whose rows are in no order."""
    from people import JOBS, frames

    data = frames(people, shuffled=True)
    return {tool: partial(job, data) for tool, job in zip(("polars_ir", against), JOBS[name], strict=True)}


def sorted_plan(people: int, folder: Path) -> Contestants:
    """Parquet in the order of people, with their judgments in memory."""
    parquet_parts(folder, lists(people))
    run, qrels = scans(folder)
    judged = qrels.collect()
    told = run.set_sorted("query_id")
    return {"polars_ir": lambda: streamed(told, judged), "polars_ir, not told": lambda: streamed(run, judged),
            **lazily_by_hand(run, judged.lazy())}  # fmt: skip


def lazily(rows: int, folder: Path) -> Contestants:
    """Deep judgments, run and judgments from Parquet."""
    parquet_parts(folder, deep(rows))
    run, qrels = scans(folder)
    return {"polars_ir": lambda: streamed(run, qrels), **lazily_by_hand(run, qrels)}


def scans(folder: Path) -> list[pl.LazyFrame]:
    """The run and the judgments of a folder; plans are to stream from here on."""
    pl.Config.set_engine_affinity("streaming")
    return [pl.scan_parquet(folder / f"{name}-*.parquet") for name in ("run", "qrels")]


def streamed(run: pl.LazyFrame, qrels: Any) -> Figures:
    """The means of a plan."""
    return ir.evaluate(run, qrels, FIVE).select(pl.col(FIVE).mean()).collect().row(0, named=True)


def lazily_by_hand(run: pl.LazyFrame, qrels: pl.LazyFrame) -> Contestants:
    """The contestants that are plans."""
    return {name: partial(TOOLS[name].evaluate, (run, qrels), FIVE) for name in PLANS}


def in_memory(rows: int, _: Path, *, shape: Callable[[int], Any]) -> Contestants:
    """A thousand documents of each query; seven million judgments are too many for the tools without Polars."""
    data = collection(shape(rows))
    small = len(data.qrels) <= MOST_JUDGMENTS
    return peers(["polars_ir", *PLANS, *(["pytrec_eval"] if small else [])], data, FIVE)


def compiled(rows: int, _: Path) -> Contestants:
    """As `few judgments`, beside ranx, which compiles for most of a minute before its first figure, in each process."""
    for run in peers(["ranx"], collection(shallow(1_000)), FIVE).values():
        run()
    return peers(["polars_ir", "ranx"], collection(shallow(rows)), FIVE)


def robust(runs: int, _: Path) -> Contestants:
    """Runs with the judgments of TREC 2003 Robust."""
    data = robust_systems(runs)
    return {**peers(["polars_ir", "plain Polars", "pytrec_eval"], data, FIVE), **reused(data)}


def hundreds(rows: int) -> Any:
    """A hundred documents of each query, one or two of them judged."""
    return shallow(0, queries=max(rows // 100, 1), depth=100)


def by_size(rows: int, _: Path) -> Contestants:
    """From frames, and with what a loop would do once done before."""
    data = collection(hundreds(rows))
    prepared = ir.judgments(data.qrels)
    contestants = peers(["polars_ir", *PLANS, "DuckDB", "pytrec_eval", "ir_measures"], data, FIVE)
    contestants["polars_ir, judgments reused"] = partial(TOOLS["polars_ir"].evaluate, (data.run, prepared), FIVE)
    return {**contestants, **reused(data)}


#: Programs of a process, after the names of two files; each prints means.
PROGRAMS = {
    "polars_ir": f"""
import sys, polars_ir as ir
print(ir.mean(ir.evaluate(ir.read_run(sys.argv[1]), ir.read_qrels(sys.argv[2]), {FIVE})))""",
    "pytrec_eval": f"""
import sys, pytrec_eval
with open(sys.argv[1]) as run, open(sys.argv[2]) as qrels:
    run, qrels = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)
values = pytrec_eval.RelevanceEvaluator(qrels, {[PytrecEval().name(name) for name in FIVE]}).evaluate(run).values()
print({{name: sum(value[name] for value in values) / len(qrels) for name in next(iter(values))}})""",
}


def whole(rows: int, folder: Path) -> Contestants:
    """Processes from their start to means of TREC text."""
    files = text_files(folder, hundreds(rows))
    commands = {name: [sys.executable, "-c", text, *files] for name, text in PROGRAMS.items() if installed(name)}
    return {name: partial(subprocess.run, line, check=True, capture_output=True) for name, line in commands.items()}


def text(rows: int, folder: Path) -> Contestants:
    """A run in rank order, as text."""
    file, _ = text_files(folder, shallow(rows, shuffled=False))

    def parsed() -> object:
        import pytrec_eval

        with Path(file).open(encoding="utf-8") as lines:
            return len(pytrec_eval.parse_run(lines))

    def columns() -> object:
        return pl.read_csv(file, separator=" ", has_header=False, quote_char=None).height

    readers: Contestants = {"polars_ir": lambda: ir.read_run(file).height, "Polars' CSV": columns}
    return readers | ({"pytrec_eval": parsed} if installed("pytrec_eval") else {})


def text_files(folder: Path, shape: Any) -> list[str]:
    """The files of a run and of its judgments."""
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder, collection(shape))
        (folder / "done").touch()
    return [str(folder / "run.txt"), str(folder / "qrels.txt")]


@dataclass(frozen=True)
class Case:
    """Contestants, of each of some sizes."""

    contestants: Callable[[int, Path], Contestants]
    sizes: tuple[int, ...]
    unit: str = "rows"
    alone: tuple[str, ...] = ()  # contestants that run once, in a process of their own, whose memory is recorded


_FEW, _PERSON = pl.int_range(pl.len()).hash(), pl.col("query_id").hash()

CASES = {
    "5 systems of short lists in no order": Case(partial(of_systems, kept=_FEW, shuffled=True), (30_000,), "people"),
    "5 systems of short lists in order": Case(partial(of_systems, kept=_FEW), (30_000,), "people"),
    "5 systems, each a fifth of the people": Case(partial(of_systems, kept=_PERSON), (30_000,), "people"),
    "1 system of lists of 20": Case(one_system, (30_000, 300_000), "people"),
    "mean": Case(partial(statistic, name="mean", against="group_by with counts"), (1_000_000,), "people"),
    "compare": Case(partial(statistic, name="compare", against="join and SciPy"), (1_000_000,), "people"),
    "sorted Parquet": Case(sorted_plan, (1_000_000,), "people", alone=("polars_ir", "polars_ir, not told", *PLANS)),
    "few judgments": Case(partial(in_memory, shape=shallow), (7_000_000,)),
    "all judged": Case(partial(in_memory, shape=deep), (1_000_000, 7_000_000)),
    "all judged, lazily from Parquet": Case(lazily, (7_000_000,)),
    "few judgments, ranx": Case(compiled, (1_000_000,)),
    "TREC 2003 Robust": Case(robust, (1, 17), "runs"),
    "reading TREC text": Case(text, (1_000_000,)),
    "frames in memory": Case(by_size, ROWS),
    "whole processes": Case(whole, ROWS),
}


def measure(name: str, sizes: list[int], tool: str, folder: Path) -> None:
    """Print the times of all contestants, or of one, for each size."""
    found: dict[int, dict[str, Taken]] = {}
    for size in sizes:
        contestants = CASES[name].contestants(size, folder / f"{name.replace(' ', '-')}-{size}")
        if pl.thread_pool_size() > 1:
            contestants = {name: run for name, run in contestants.items() if name.partition(",")[0] not in ONE_THREAD}
        say_ready()
        found[size] = {tool: taken(contestants[tool])[0]} if tool else turns(contestants)
    sys.stdout.write(
        json.dumps({size: {who: own._asdict() for who, own in each.items()} for size, each in found.items()})
    )


def take_turns(name: str, sizes: list[int], threads: int, folder: Path) -> Iterator[dict[str, Any]]:
    """The records of a case, with some threads."""
    case = CASES[name]
    os.environ.update(dict.fromkeys(("POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), str(threads)))
    for tool in case.alone or ("",):
        found = fresh(SCRIPT, "--measure", name, json.dumps(sizes), tool, "--folder", str(folder))
        peak = found.pop("peak") if tool else None
        told = {"date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}", "machine": machine(), "load": os.getloadavg()[0]}
        for size in sizes:
            for contestant, times in found[str(size)].items():
                what = {"case": name, "size": size, "unit": case.unit, "tool": contestant, "threads": threads}
                yield {**what, **times, "peak": peak, **told, "version": version_of(contestant)}


def version_of(contestant: str) -> str:
    """What a contestant is, and its version."""
    tool = contestant.partition(",")[0]
    by_hand = tool not in TOOLS or TOOLS[tool].needs == "polars"
    package = {"pytrec_eval": "pytrec_eval-terrier", "join and SciPy": "scipy"}.get(tool, "polars" if by_hand else tool)
    return f"{package} {version(package)}"


def positive(text: str) -> float:
    """A finite number above zero."""
    if not 0 < (number := float(text)) < math.inf:
        raise argparse.ArgumentTypeError(f"must be above 0; got {text}")
    return number


def count(text: str) -> int:
    """A whole number above zero."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be above 0; got {text}")
    return number


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, here = parser.add_argument, Path(tempfile.gettempdir()) / "polars_ir_bench"
    add("--cases", nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE", help=f"of {', '.join(CASES)}")
    add("--scale", type=positive, default=1, help="the size of the data, as a multiple of the usual")
    add("--threads", nargs="+", type=count, default=[1, 2], help="threads of Polars")
    add("--folder", type=Path, default=here, help="where files lie, or are made")
    add("--results", type=Path, default=SCRIPT.with_suffix(".jsonl"), help="the file of all records")
    add("--report", action="store_true", help="measure nothing; print the tables and draw the chart")
    add("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report and not options.results.exists():
        parser.error(f"{options.results} is not there")
    if options.measure:
        name, sizes, tool = options.measure
        measure(name, json.loads(sizes), tool, options.folder)
        return
    for name in [] if options.report else options.cases:
        if CASES[name].contestants is robust and not ROBUST.exists():
            sys.stderr.write(f"{name}: left out, {ROBUST.name} is not there\n")
            continue
        sizes = list(dict.fromkeys(max(round(size * options.scale), 1) for size in CASES[name].sizes))
        for threads in options.threads:
            records = list(take_turns(name, sizes, threads, options.folder))
            report.keep(options.results, records)
            sys.stderr.write(f"{name}, {threads}: {[(each['tool'], round(each['cpu'], 3)) for each in records]}\n")
    sys.stdout.write(report.text(report.read(options.results)))
    if options.report:
        report.chart(report.read(options.results)).save(report.CHART, ppi=120)


if __name__ == "__main__":
    main()
