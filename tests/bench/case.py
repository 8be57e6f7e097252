"""A case of the comparison: which data, from which start, how many measures. Run by itself, a tool's turn at one.

`scale.py` runs it in a process of its own, which loads what lies in memory, warms up on a small case of the same kind,
says that it is ready, and prints the times and the figures.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from generate import Collection, Shape, collection, deep, robust, shallow, write_parquet, write_text
from measure import Figures, anonymous_memory, say_ready, several
from tools import MEASURES, TOOLS, Tool, parquet_frames

#: The start of a tool, and the parts of its time.
STARTS = {
    "memory": "from Polars frames in memory",
    "parquet": "from Parquet",
    "text": "from TREC text",
}

SMALL = 3_000

#: A tied score is shared by so many documents.
TIED = 20


@dataclass(frozen=True)
class Case:
    """A measurement; `rows` are those of the run, of all systems together."""

    rows: int
    start: str = "memory"
    judgments: str = "shallow"  # or "deep", every retrieved document judged; "robust", a TREC track; or so many a query
    ties: str = "few"  # or "heavy"
    order: str = "shuffled"  # of the run's rows, or "sorted" by query and score
    measures: int = 5
    systems: int = 1

    def collection(self) -> Collection:
        """The run and its judgments."""
        if self.judgments == "robust":
            return robust(self.systems)
        kind = {"shallow": shallow, "deep": deep}.get(self.judgments, self._pooled)
        tied, shuffled = TIED if self.ties == "heavy" else 1, self.order == "shuffled"
        return collection(kind(self.rows // self.systems, systems=self.systems, tied=tied, shuffled=shuffled))

    @property
    def depth(self) -> int:
        """The judgments of a query, where the case says how many; 0 where it does not."""
        return int(self.judgments) if self.judgments.isdigit() else 0

    def _pooled(self, rows: int, **changes: Any) -> Shape:
        """A pool of so many documents of each query: most are not relevant, and three of five are retrieved."""
        return shallow(rows, judged=self.depth, found=0.6 * self.depth, grades=2, **changes)

    def small(self) -> Case:
        """A small case of the same kind, but for a real track, which has a single size."""
        judgments = "deep" if self.judgments == "robust" else self.judgments
        return replace(self, judgments=judgments, rows=max(SMALL, 1000 * self.systems))

    def files(self, folder: Path) -> Path:
        """The folder of the case's files."""
        return folder / f"{self.judgments}-{self.ties}-{self.order}-{self.systems}-{self.rows}"

    def prepared(self, folder: Path) -> bool:
        """True if the files that it needs are there and whole."""
        return (self.files(folder) / self._done).exists()

    def prepare(self, folder: Path) -> None:
        """Make its files."""
        own, data = self.files(folder), self.collection()
        own.mkdir(parents=True, exist_ok=True)
        write = write_text if self.start == "text" else write_parquet
        write(own, data)
        (own / self._done).touch()

    @property
    def _done(self) -> str:
        return "text.done" if self.start == "text" else "parquet.done"


def ready(case: Case, tool: Tool, folder: Path) -> Callable[[], Figures]:
    """The timed function: from a tool's start to its figures."""
    files, measures = case.files(folder), MEASURES[case.measures]
    if case.start != "memory":
        read = {"parquet": tool.parquet, "text": tool.text}[case.start]
        return lambda: tool.evaluate(read(files), measures)
    data = parquet_frames(files)
    return lambda: tool.evaluate(tool.frames(data), measures)


def main(case: Case, name: str, folder: Path, limit: float) -> None:
    """Print `seconds`, a list; `figures`; and `held`, the bytes of what was loaded before."""
    tool = TOOLS[name]
    ready(case.small(), tool, folder)()
    imported = anonymous_memory()
    run = ready(case, tool, folder)
    held = anonymous_memory() - imported
    say_ready()
    figures: dict[str, float] = {}
    seconds = several(lambda: figures.update(run()), limit)
    sys.stdout.write(json.dumps({"seconds": seconds, "figures": figures, "held": held}))


def command(case: Case, name: str, folder: Path, limit: float) -> list[str]:
    """The arguments that make this script run `main` so."""
    return [json.dumps(asdict(case)), name, str(folder), str(limit)]


if __name__ == "__main__":
    case, name, folder, limit = sys.argv[1:]
    main(Case(**json.loads(case)), name, Path(folder), float(limit))
