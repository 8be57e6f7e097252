"""Short lists: millions of people with twenty documents each: `python tests/bench/lists.py [--people N ...]`.

Each call has processes of its own, with one thread and with two, and is set beside a Polars script as one would write
it by hand, or, where it is a form of another call, beside that. The ratios are of CPU seconds, which other work on the
machine changes less than times. Every turn is a line of `lists.jsonl`; the table ends with the powers of people that
time and memory grow with.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from by_hand import BareJoin, PlainPolars
from generate import Collection, Shape, parquet_parts
from measure import fresh, machine, say_ready, seconds, shown_memory, shown_rows, shown_time
from tools import MEASURES, TOOLS, installed

import polars_ir as ir

SCRIPT = Path(__file__)

#: The documents of a list, those judged, and those of them that it holds.
DEPTH, JUDGED, FOUND = 20, 5, 2

#: Runs of a process, after one to warm up; larger ones are run once.
RUNS, LARGE = 3, 10_000_000

FIVE, TWO = MEASURES[5], ["nDCG@10", "P@10"]

Call = Callable[[pl.LazyFrame, pl.LazyFrame], object]


@dataclass(frozen=True)
class Work:
    """A call on a run and judgments of a kind, and the work that its time is divided by."""

    data: str
    call: str
    beside: str | None = None
    largest: int = 1_000_000  # people

    @property
    def systems(self) -> int:
        """The systems of its data."""
        return 5 if self.data == "systems" else 1


def ours(**options: Any) -> Call:
    """The means of five measures, or of others, by `evaluate`."""
    measures = options.pop("measures", FIVE)

    def means(run: Any, qrels: Any) -> object:
        per_query = ir.evaluate(run, qrels, measures, **options)
        return ir.mean(per_query)

    return means


CALLS: dict[str, Call] = {
    "polars_ir": ours(),
    "two measures": ours(measures=TWO),
    "bounds": ours(bounds=True),
    "expected": ours(ties="expected"),
    "validate": ir.validate,
    "streamed": lambda run, qrels: ours()(run, qrels).collect(engine="streaming"),  # type: ignore[attr-defined]  # a plan's mean
    "plain Polars": lambda run, qrels: PlainPolars().evaluate((run.lazy(), qrels.lazy()), FIVE),
    "bare join": lambda run, qrels: BareJoin().evaluate((run.lazy(), qrels.lazy()), FIVE),
    "plain Polars of pandas": lambda run, qrels: CALLS["plain Polars"](pl.from_pandas(run), pl.from_pandas(qrels)),
}

WORKS = [
    Work("text", "plain Polars"),
    Work("text", "polars_ir", "plain Polars"),
    Work("numbers", "plain Polars"),
    Work("numbers", "polars_ir", "plain Polars"),
    Work("systems", "plain Polars"),
    Work("systems", "polars_ir", "plain Polars"),
    Work("pandas", "plain Polars of pandas"),
    Work("pandas", "polars_ir", "plain Polars of pandas"),
    Work("parquet", "bare join", largest=LARGE),
    Work("parquet", "plain Polars", largest=LARGE),
    Work("parquet", "streamed", "plain Polars", largest=LARGE),
    Work("text", "two measures"),
    Work("text", "bounds", "polars_ir"),
    Work("text", "expected", "polars_ir"),
    Work("text", "validate", "two measures"),
    *(Work("text", tool, "polars_ir") for tool in ("pytrec_eval", "ranx")),
]


def shape(people: int, systems: int) -> Shape:
    """Twenty documents of each person, or four of each of five systems, in rank order."""
    depth = DEPTH if systems == 1 else DEPTH // systems
    return Shape(people, depth, judged=JUDGED, found=FOUND, systems=systems, shuffled=False)


def tables(work: Work, folder: Path) -> tuple[Any, Any]:
    """The run and the judgments of a kind, from their parts."""
    run, qrels = (pl.scan_parquet(folder / f"{name}-*.parquet") for name in ("run", "qrels"))
    if work.data == "parquet":
        return run, qrels
    if work.data == "numbers":
        number = pl.col("doc_id").str.slice(1)
        run, qrels = (t.with_columns(number).cast({"query_id": pl.Int64, "doc_id": pl.Int64}) for t in (run, qrels))
    frames = run.collect(), qrels.collect()
    return (frames[0].to_pandas(), frames[1].to_pandas()) if work.data == "pandas" else frames


def measure(work: Work, folder: Path, people: int) -> None:
    """Print the CPU seconds and the seconds of a call, the best of several."""
    run, qrels = tables(work, folder)

    def call() -> object:
        if work.call in CALLS:
            return CALLS[work.call](run, qrels)
        tool = TOOLS[work.call]
        return tool.evaluate(tool.frames(Collection(run, qrels)), FIVE)

    say_ready()
    turns = []
    for _ in range(1 if people >= LARGE else 1 + RUNS):
        before = os.times()
        taken = seconds(call)
        after = os.times()
        turns.append((after.user + after.system - before.user - before.system, taken))
    turns = turns[1:] or turns
    sys.stdout.write(json.dumps({"cpu": min(cpu for cpu, _ in turns), "seconds": min(taken for _, taken in turns)}))


def take_turn(work: Work, folder: Path, people: int, threads: int) -> dict[str, Any]:
    """The turn of a process with some threads."""
    parts = folder / f"people-{work.systems}-{people}"
    parquet_parts(parts, shape(people, work.systems))
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    which = ["--measure", work.data, work.call, "--folder", str(parts), "--people", str(people)]
    turn = fresh(SCRIPT, *which)
    of_what = {"data": work.data, "call": work.call, "beside": work.beside, "people": people, "threads": threads}
    told = {"date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}", "machine": machine(), "polars": version("polars")}
    return {**of_what, **turn, **told, "load": round(os.getloadavg()[0], 1)}


def table(turns: list[dict[str, Any]]) -> str:
    """The last turn of each call in Markdown, with the ratios, and the exponents over people."""
    known = {(turn["data"], turn["call"], turn["people"], turn["threads"]): turn for turn in turns}
    head = ["ids or start", "people", "threads", "call", "CPU", "time", "peak memory", "beside", "ratio of CPU"]
    lines = [head, ["---"] * len(head)]
    for (data, call, people, threads), turn in known.items():
        other = known.get((data, turn["beside"], people, threads))
        ratio = f"{turn['cpu'] / other['cpu']:.2f}" if other else ""
        numbers = shown_time(turn["cpu"]), shown_time(turn["seconds"]), shown_memory(turn["peak"])
        lines.append([data, shown_rows(people), str(threads), call, *numbers, turn["beside"] or "", ratio])
    grown = [f"{data}, {call}: {told}" for data, call in dict.fromkeys(key[:2] for key in known)
             if (told := exponents([turn for key, turn in known.items() if key[:2] == (data, call)]))]  # fmt: skip
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n\n" + "\n".join(grown) + "\n"


def exponents(turns: list[dict[str, Any]]) -> str:
    """The powers of people that CPU seconds and memory grow with, from the smallest size to the largest."""
    ends = min(turns, key=lambda turn: turn["people"]), max(turns, key=lambda turn: turn["people"])
    if ends[0]["people"] == ends[1]["people"]:
        return ""
    times = math.log(ends[1]["people"] / ends[0]["people"])
    powers = (math.log(max(ends[1][what], 1e-9) / max(ends[0][what], 1e-9)) / times for what in ("cpu", "peak"))
    return "CPU people^{:.2f}, memory people^{:.2f}".format(*powers)


def main() -> None:
    """Make the parts, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, here = parser.add_argument, Path(tempfile.gettempdir()) / "polars_ir_bench"
    add("--people", nargs="+", type=int, default=[100_000, 1_000_000], help="each has twenty documents")
    add("--threads", nargs="+", type=int, default=[1, 2], help="threads of Polars")
    add("--data", nargs="+", choices=sorted({work.data for work in WORKS}), help="some kinds of data only")
    add("--calls", nargs="+", choices=sorted({work.call for work in WORKS}), help="some calls only")
    add("--folder", type=Path, default=here, help="where the parts lie, or are made")
    add("--results", type=Path, default=SCRIPT.with_suffix(".jsonl"), help="the file of all turns")
    add("--report", action="store_true", help="measure nothing; print the table")
    add("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(Work(*options.measure), options.folder, options.people[0])
        return
    works = [] if options.report else WORKS
    for people in options.people:
        for work in works:
            chosen = work.data in (options.data or [work.data]) and work.call in (options.calls or [work.call])
            if not chosen or people > work.largest or (work.call in TOOLS and not installed(work.call)):
                continue
            for threads in options.threads:
                turn = take_turn(work, options.folder, people, threads)
                with options.results.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(turn) + "\n")
                sys.stderr.write(f"{shown_rows(people)} {work.data} {work.call}: {turn['cpu']:.2f} CPU s\n")
    if options.results.exists():
        told = options.results.read_text(encoding="utf-8").splitlines()
        sys.stdout.write(table([json.loads(each) for each in told]))


if __name__ == "__main__":
    main()
