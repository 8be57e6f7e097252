"""polars_ir beside tools for recommenders, on deep runs and on short lists: `python tests/bench/recommenders.py`.

RecTools and RePlay need packages in versions that polars_ir cannot be beside, and so have environments of their own
(`venv` and pip, once). Every tool has a process of its own, starts from frames in memory (pandas for RecTools, which
has the rank of each row beforehand; Polars for the others), and is to find the same means.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import Figures, difference, fresh, machine, say_ready, seconds, shown_memory, shown_rows, shown_time

#: The measures, and the classes of RecTools and RePlay for them, which take a cutoff: of AP that is the depth.
FAMILIES = {"nDCG": "NDCG", "AP": "MAP", "RR": "MRR", "R": "Recall", "P": "Precision"}
FIVE = ["nDCG@10", "AP", "RR@10", "R@100", "P@10"]

#: What an environment of a tool's own has.
APART = {"RecTools": ["rectools==0.19.*", "pyarrow<22"], "RePlay": ["replay-rec==0.22.*"]}
TOOLS = ["polars_ir", "pytrec_eval", "ranx", *APART]

#: The documents of a query, and the rows of a run, by the name of its shape.
SHAPES = {"lists of 20": (20, 2_000_000), "deep runs": (1000, 7_000_000)}

#: Runs of a process, after one to warm up.
RUNS = 3


def rectools(folder: Path, depth: int) -> Callable[[], Figures]:
    """The evaluation of RecTools."""
    import pandas as pd  # not of this environment, as all that is imported here and below
    from rectools import metrics

    run, qrels = (table(pd.read_parquet, folder, name) for name in ("run", "qrels"))
    names = {"query_id": "user_id", "doc_id": "item_id", "relevance": "weight"}
    run["rank"] = run.groupby("query_id")["score"].rank(ascending=False).astype(int)
    run, qrels = run.rename(columns=names), qrels.rename(columns=names).assign(datetime=pd.Timestamp(0))
    asked = {}
    for name in FIVE:
        family, k = of_depth(name, depth)
        options = {"divide_by_achievable": True} if family == "NDCG" else {}
        asked[name] = getattr(metrics, family)(k=k, **options)
    return lambda: metrics.calc_metrics(asked, run, qrels)  # type: ignore[no-any-return]


def replay(folder: Path, depth: int) -> Callable[[], Figures]:
    """The evaluation of RePlay."""
    import polars as pl
    from replay import metrics

    run, qrels = (table(pl.read_parquet, folder, name) for name in ("run", "qrels"))
    asked = {name: of_depth(name, depth) for name in FIVE}
    columns = {"query_column": "query_id", "item_column": "doc_id", "rating_column": "score"}
    evaluation = metrics.OfflineMetrics([getattr(metrics, family)(k) for family, k in asked.values()], **columns)

    def means() -> Figures:
        found = evaluation(run, qrels)
        return {name: found[f"{family}@{k}"] for name, (family, k) in asked.items()}

    return means


def other(name: str, folder: Path) -> Callable[[], Figures]:
    """The evaluation of a tool that can be beside polars_ir."""
    import polars as pl
    from generate import Collection
    from tools import TOOLS as BESIDE

    data, tool = Collection(*(table(pl.read_parquet, folder, name) for name in ("run", "qrels"))), BESIDE[name]
    return lambda: tool.evaluate(tool.frames(data), FIVE)


def of_depth(name: str, depth: int) -> tuple[str, int]:
    """The class of a measure in other tools, and its cutoff."""
    family, _, k = name.partition("@")
    return FAMILIES[family], int(k or depth)


def table(read: Callable[[Path], Any], folder: Path, name: str) -> Any:
    """The run or the judgments, which are one file each."""
    (file,) = folder.glob(f"{name}-*.parquet")
    return read(file)


def measure(name: str, folder: Path, depth: int) -> None:
    """Print the CPU seconds, the seconds and the figures of a tool, the best of several."""
    own = {"RecTools": rectools, "RePlay": replay}
    evaluate = own[name](folder, depth) if name in own else other(name, folder)
    say_ready()
    figures, cpu, taken = evaluate(), [], []
    for _ in range(RUNS):
        before = os.times()
        taken.append(seconds(evaluate))
        after = os.times()
        cpu.append(after.user + after.system - before.user - before.system)
    told = {"cpu": min(cpu), "seconds": min(taken), "figures": {each: float(figures[each]) for each in figures}}
    sys.stdout.write(json.dumps(told))


def python_of(tool: str, folder: Path) -> Path:
    """The Python of a tool, whose environment is made where there is none."""
    if tool not in APART:
        return Path(sys.executable)
    place = folder / f"environment-{tool}"
    if not (place / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)  # noqa: S603  # our own command
        subprocess.run([str(place / "bin" / "pip"), "install", "--quiet", *APART[tool]], check=True)  # noqa: S603
        (place / "done").touch()
    return place / "bin" / "python"


def main() -> None:
    """Take the turns of all tools at each shape, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--rows", type=int, help="of a run, in place of 2 and 7 million")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "polars_ir_bench")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, folder, depth = options.measure
        measure(name, Path(folder), int(depth))
        return
    from generate import parquet_parts, shallow  # they import polars_ir
    from lists import shape as people

    say(machine())
    say("| shape | rows | tool | CPU | times | time | peak memory |\n| --- | --- | --- | --- | --- | --- | --- |")
    for shape in options.shapes:
        depth, rows = SHAPES[shape]
        rows = options.rows or rows
        folder = options.folder / f"recommenders-{depth}-{rows}"
        parquet_parts(folder, people(rows // depth, 1) if depth == 20 else shallow(rows))
        expected: dict[str, Any] = {}
        for tool in options.tools:
            python = python_of(tool, options.folder)
            turn = fresh(Path(__file__), "--measure", tool, str(folder), str(depth), python=python)
            expected = expected or turn
            if told := difference(turn["figures"], expected["figures"]):
                raise ValueError(f"{tool}: {told}")
            numbers = shown_time(turn["cpu"]), f"{turn['cpu'] / expected['cpu']:.1f}", shown_time(turn["seconds"])
            say("| " + " | ".join([shape, shown_rows(rows), tool, *numbers, shown_memory(turn["peak"])]) + " |")


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # it is the report


if __name__ == "__main__":
    main()
