"""A figure of evidence.py: a simulated share beside what is promised; the tables of such figures, and their file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from inspect import getdoc, isfunction
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import polars_ir as ir

LEVEL = 0.05

#: Where a share may be: of wrong verdicts, of intervals that hold, and of what the docstrings or the page say misses.
WRONG, HOLDS, TOLD = (0.0, LEVEL), (1 - LEVEL, 1.0), (0.0, 1.0)

#: The same of t, all pairs of several real runs, of 5 and 10 queries, which are few for skewed differences: it is told.
FEW = {5: {WRONG: (0.0, 0.1), HOLDS: (0.9, 1.0)}, 10: {WRONG: (0.0, 0.08), HOLDS: (0.92, 1.0)}}

#: Shares of wrong verdicts of max-t there, whose flips of signs go by skewed differences for longer: it is told.
FEW_OF_FLIPS = {10: (0.0, 0.09), 25: (0.0, 0.08), 50: (0.0, 0.07)}

#: Words of a docstring that promise something of chance.
PROMISING = re.compile(r"\b(?:significant|by chance|alpha of|confidence of 1 - alpha|(?:probability|level) of alpha)\b")

#: The functions that show what others promise, or simulate these.
SHOWING = dict.fromkeys(("judge_effect", "favour"), "compare") | {
    "table": "compare, summarize",
    "report": "compare, gate, summarize",
    "level": "compare",
}


class Figure(NamedTuple):
    """A simulated share, the range in which it is promised to be, its standard error and the number of simulations."""

    promise: str
    shape: str
    promised: tuple[float, float]
    share: float
    error: float
    simulations: int

    @property
    def visible_error(self) -> float:
        """The standard error; where all simulations agree, and it would be 0, that of one more which does not."""
        one = 1 / (self.simulations + 2)
        return max(self.error, (one * (1 - one) / self.simulations) ** 0.5 if self.share in (0, 1) else 0)

    @property
    def holds(self) -> bool:
        """True where the share is in the range, but for chance."""
        least, most = self.promised
        # The error at the nearest end of the range where it is beyond.
        at = min(max(self.share, least), most)
        error = max(self.error, (max(at * (1 - at), 0.001) / self.simulations) ** 0.5)
        return least - 3 * error <= self.share <= most + 3 * error


def share(promise: str, shape: str, promised: tuple[float, float], events: Any) -> Figure:
    """The mean of simulations, in each of which something is so or not; None does not count."""
    so = pl.Series(events).drop_nulls().cast(pl.Float64)
    n = max(1, len(so))
    return Figure(promise, shape, promised, float(so.mean() or 0), float(so.std(ddof=0) or 0) / n**0.5, n)


def tables(part: str, what: str, done: dict[tuple[str, int], list[Figure]]) -> str:
    """The figures of a part in Markdown: a row per promise and shape, with the errors of the last digit."""
    sizes = [n for name, n in done if name == part]
    rows: dict[tuple[str, str], dict[int, str]] = {}
    for n in sizes:
        for figure in done[part, n]:
            digits = f"{figure.share:.3f}".replace("0.", ".", 1)
            mark = "" if figure.promised == TOLD or figure.holds else " **!**"
            cell = f"{digits} ({max(1, round(1000 * figure.visible_error))}){mark}"
            promised = "told" if figure.promised == TOLD else "{:g} to {:g}".format(*figure.promised)
            rows.setdefault((figure.promise, figure.shape), {"promised": promised})[n] = cell
    heading = f"| promise | of | promised | {' | '.join(f'n = {n}' for n in sizes)} |"
    lines = [heading, f"|{' --- |' * (len(sizes) + 3)}"]
    for (promise, shape), cells in rows.items():
        lines.append(f"| {' | '.join([promise, shape, *(cells.get(key, '') for key in ('promised', *sizes))])} |")
    return f"\n### {part}\n\n{what}\n\n" + "\n".join(lines)


def unsimulated(figures: Iterable[Figure]) -> list[str]:
    """The public functions whose docstrings promise something of chance, and of which there is no figure."""
    named = {word for figure in figures for word in re.findall(r"\w+", figure.promise)}.union(SHOWING)
    functions = {name: getattr(ir, name) for name in ir.__all__ if isfunction(getattr(ir, name))}
    return [name for name, each in functions.items() if PROMISING.search(str(getdoc(each))) and name not in named]


def read(results: Path) -> dict[tuple[str, int], list[Figure]]:
    """The figures of a file by part and number of queries."""
    lines = map(json.loads, results.read_text(encoding="utf-8").splitlines()) if results.exists() else ()
    return {
        (line["part"], line["n"]): [Figure(*each[:2], tuple(each[2]), *each[3:]) for each in line["figures"]]
        for line in lines
    }
