"""A run larger than memory, scanned from Parquet: `python tests/bench/billion.py [--rows N] [--systems N]`.

The parts (about 8 GB for a billion rows) are made first and kept. Then `evaluate`, and a bare join with a count, run on
the streaming engine, each in fresh processes. `--judgments shallow deep` measures both, and how many times longer deep
ones take: of deep ones every retrieved document is judged.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import polars as pl
from generate import deep, parquet_parts, shallow
from measure import fresh, machine, say_ready, shown_memory, shown_rows, shown_time
from tools import FIVE

import polars_ir as ir

SHAPES = {"shallow": shallow, "deep": deep}

SCRIPT = Path(__file__)


def made(options: argparse.Namespace, judgments: str) -> Path:
    """The folder of a run's parts."""
    folder: Path = options.folder / f"{judgments}-{options.systems}-{options.rows}"
    start = time.perf_counter()
    parquet_parts(folder, SHAPES[judgments](options.rows // options.systems, systems=options.systems))
    size = sum(part.stat().st_size for part in folder.glob("*.parquet"))
    taken = shown_time(time.perf_counter() - start)
    sys.stderr.write(f"{folder}: {shown_memory(size)} of Parquet, {taken} to make or to find\n")
    return folder


def measure(folder: Path, what: str, *, lazy_qrels: bool) -> None:
    """Print the seconds that an evaluation or a join takes, and what it finds: queries and the mean nDCG@10."""
    say_ready()
    start = time.perf_counter()
    run = pl.scan_parquet(folder / "run-*.parquet")
    qrels = pl.scan_parquet(folder / "qrels-*.parquet")
    if what == "evaluate":
        plan = ir.evaluate(run, qrels if lazy_qrels else qrels.collect(), FIVE)
    else:
        plan = run.join(qrels, on=["query_id", "doc_id"]).group_by("query_id").len()
    table = plan.collect(engine="streaming")
    found: dict[str, object] = {"seconds": time.perf_counter() - start, "height": table.height}
    if what == "evaluate":
        found |= {"nDCG@10": table["nDCG@10"].mean()}
    sys.stdout.write(json.dumps(found))


def line(options: argparse.Namespace, folder: Path, what: str) -> tuple[float, list[str]]:
    """The best time of several processes, and the cells of the table."""
    lazily = ["--lazy-qrels"] * options.lazy_qrels
    turns = [fresh(SCRIPT, "--measure", what, "--folder", str(folder), *lazily) for _ in range(options.turns)]
    seconds, peak = min(turn["seconds"] for turn in turns), max(turn["peak"] for turn in turns)
    mean = f"{turns[0]['nDCG@10']:.4f}" if what == "evaluate" else ""
    return seconds, [
        shown_time(seconds),
        f"{options.rows / seconds / 1e6:.2g} M",
        shown_memory(peak),
        f"{turns[0]['height']:,}",
        mean,
    ]


def main() -> None:
    """Make the parts, measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, here = parser.add_argument, Path(tempfile.gettempdir()) / "polars_ir_bench"
    add("--rows", type=int, default=1_000_000_000, help="rows of all systems together")
    add("--systems", type=int, default=1, help="systems, in a column `run`")
    add("--judgments", nargs="+", choices=list(SHAPES), default=["shallow"], help="how many documents are judged")
    add("--lazy-qrels", action="store_true", help="give the judgments as a LazyFrame, too")
    add("--turns", type=int, default=2, help="processes for each")
    add("--folder", type=Path, default=here, help="where the parts lie, or are made")
    add("--measure", choices=["evaluate", "join"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.folder, options.measure, lazy_qrels=options.lazy_qrels)
        return
    head = ["judgments", "what", "time", "rows a second", "peak memory", "result rows", "mean nDCG@10", "ratio"]
    lines = [head, ["---"] * len(head)]
    first: dict[str, float] = {}
    for judgments in options.judgments:
        folder = made(options, judgments)
        for what in ("evaluate", "join"):
            seconds, cells = line(options, folder, what)
            ratio = seconds / first.setdefault(what, seconds)
            lines.append([judgments, what, *cells, f"{ratio:.2f}"])
    sys.stdout.write("\n".join("| " + " | ".join(cells) + " |" for cells in lines))
    sys.stdout.write(f"\n\n{shown_rows(options.rows)} rows, {options.systems} system(s); {machine()}\n")


if __name__ == "__main__":
    main()
