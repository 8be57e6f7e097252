"""Text files against pytrec_eval: `python tests/bench/text.py [--rows N]`, which makes them and removes them again.

Each line is a time for the same TREC files: to a table or to pytrec_eval's dicts, and on to five measures. The files of
the second case have tabs, which the short way of `polars_ir.files.clean` is not for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
from compare import machine, time
from generate import collection, shallow
from measure import Figures, race
from peers import MEASURES, TREC_EVAL

import polars_ir as ir

#: What the ratios should reach, pytrec_eval's time by ours.
GOALS = {"a clean file to a table": ">= 5", "clean files to figures": ">= 10"}


def written(folder: Path, rows: int) -> tuple[Path, Path, Path]:
    """A run in rank order, the same with tabs, and its judgments."""
    data = collection(shallow(rows))
    run, tabbed, qrels = (folder / name for name in ("a.run", "tabbed.run", "qrels.txt"))
    ir.write_run(data.run, run, tag="system")
    ir.write_qrels(data.qrels, qrels)
    lines = pl.scan_lines(run, name="line").select(pl.col("line").str.replace_all(" ", "\t", literal=True))
    lines.sink_csv(tabbed, include_header=False, quote_style="never")
    return run, tabbed, qrels


def read(run: Path) -> None:
    """The run as a table."""
    ir.read_run(run)


def parse(run: Path) -> None:
    """The run as pytrec_eval's dicts."""
    import pytrec_eval

    with run.open() as lines:
        pytrec_eval.parse_run(lines)


def ours(run: Path, qrels: Path) -> Figures:
    """The five measures from files."""
    return {"": ir.evaluate(ir.read_run(run), ir.read_qrels(qrels), MEASURES)["nDCG@10"].mean()}  # type: ignore[dict-item]  # a mean of floats is one


def pytrec_eval(run: Path, qrels: Path) -> Figures:
    """The same by pytrec_eval's own parsers and evaluator."""
    import pytrec_eval as tool

    with run.open() as lines, qrels.open() as judgments:
        parsed, wanted = tool.parse_run(lines), tool.parse_qrel(judgments)
    values = tool.RelevanceEvaluator(wanted, TREC_EVAL).evaluate(parsed)
    return {"": sum(value["ndcg_cut_10"] for value in values.values()) / len(wanted)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=7_000_000, help="lines of the run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, tabbed, qrels = written(Path(folder), given.rows)
        cases: dict[str, tuple[Callable[[], Figures | None], Callable[[], Figures | None]]] = {
            "a clean file to a table": (partial(read, run), partial(parse, run)),
            "a file with tabs to a table": (partial(read, tabbed), partial(parse, tabbed)),
            "clean files to figures": (partial(ours, run, qrels), partial(pytrec_eval, run, qrels)),
        }
        sys.stdout.write("| case | ours | pytrec_eval | ratio | goal |\n| --- | --- | --- | --- | --- |\n")
        for case, (mine, theirs) in cases.items():
            times = race({"ours": mine, "pytrec_eval": theirs})
            ratio = times["pytrec_eval"] / times["ours"]
            cells = [case, time(times["ours"]), time(times["pytrec_eval"]), f"{ratio:.1f}", GOALS.get(case, "")]
            sys.stdout.write("| " + " | ".join(cells) + " |\n")
    sys.stdout.write(f"\n{given.rows} rows; {machine()}\n")


if __name__ == "__main__":
    main()
