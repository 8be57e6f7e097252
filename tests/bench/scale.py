"""polars_ir beside its peers, at every size and from every start: `python tests/bench/scale.py`.

Every tool has its turns at a case, each in a process of its own; every turn is a line of a file, so that the command
goes on where it was stopped. `--report` makes the tables and the chart of what is there.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from case import STARTS, Case, command
from measure import Figures, difference, free_memory, fresh, machine, shown_rows
from tools import TOOLS, installed

SIZES = (3_000, 30_000, 300_000, 3_000_000, 7_000_000, 30_000_000)

#: The other variables, one at a time, from frames in memory.
AXES: dict[str, tuple[Any, ...]] = {
    "judgments": ("deep", "robust"),
    "ties": ("heavy",),
    "order": ("sorted",),
    "measures": (1, 50),
    "systems": (100,),
}

#: Judgments a query, from frames in memory.
DEPTHS = (1, 3, 10, 30, 100)

#: Rows of the four runs of TREC 2003 Robust, or of one.
ROBUST_ROWS = 100_000

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = Path(__file__).with_name("case.py")

CHART = ROOT / ".github" / "speed.png"

#: A process is ended after so many times the limit of a run.
PATIENCE = 5

PACKAGES = {"pytrec_eval": "pytrec_eval-terrier", "plain Polars": "polars", "bare join": "polars"}

Turn = dict[str, Any]


@dataclass
class Results:
    """The turns that there are: by case and tool, and number; a later line of the file replaces an earlier one."""

    path: Path
    limit: float
    turns: dict[tuple[Case, str], dict[int, Turn]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file; a line that was not written to its end is taken off it."""
        if self.path.exists():
            whole, end, rest = self.path.read_text(encoding="utf-8").rpartition("\n")
            if rest:
                self.path.write_text(whole + end, encoding="utf-8")
            for line in whole.splitlines():
                self._know(json.loads(line))

    def add(self, turn: Turn) -> None:
        """Write a turn down."""
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(turn) + "\n")
        self._know(turn)

    def has(self, case: Case, tool: str, number: int) -> bool:
        """True if a turn need not be taken: it was, or the tool has given up; what failed is tried again."""
        turns = self.turns.get((case, tool), {})
        return "seconds" in turns.get(number, {}) or any("gave_up" in turn for turn in turns.values())

    def forget(self, cases: Sequence[Case], tools: Sequence[str]) -> None:
        """Leave the turns of some tools out, so that they are taken again; the file keeps them until then."""
        for which in product(cases, tools):
            self.turns.pop(which, None)

    def seconds(self, case: Case, tool: str) -> float | None:
        """The best time of all turns."""
        return min((min(turn["seconds"]) for turn in self._timed(case, tool)), default=None)

    def peak(self, case: Case, tool: str) -> int | None:
        """The most memory that any turn took, beyond what was loaded before."""
        return max((turn["peak"] for turn in self._timed(case, tool)), default=None)

    def figures(self, case: Case) -> Figures:
        """Those of the first tool that has any."""
        found = (turn["figures"] for tool in TOOLS for turn in self._timed(case, tool))
        return next((figures for figures in found if figures), {})

    def why_not(self, case: Case, tool: str) -> str | None:
        """The reason why a tool is left out of a case, if it is: its last time or memory, here or at the size below."""
        turns = self.turns.get((case, tool), {}).values()
        if told := next((turn["gave_up"] for turn in turns if "gave_up" in turn), None):
            return str(told)
        if self._timed(case, tool):
            return None
        smaller = [other for other, name in self.turns if name == tool and replace(other, rows=case.rows) == case]
        below = max((other for other in smaller if other.rows < case.rows), key=lambda other: other.rows, default=None)
        if below is None:
            return None
        if told := self.why_not(below, tool):
            return told
        if (taken := self.seconds(below, tool) or 0) > self.limit:
            return f"{taken:.0f} s at {shown_rows(below.rows)}"
        return self._too_large(case, below, tool)

    def _too_large(self, case: Case, below: Case, tool: str) -> str | None:
        """The memory that a tool would need, if there is less."""
        needs = max((turn["peak"] + turn["held"] for turn in self._timed(below, tool)), default=0)
        grown = needs * case.rows / below.rows
        # The memory of Python, its libraries and their buffers does not grow.
        return f"~{grown / 1e9:.0f} GB" if needs > 500_000_000 and grown > free_memory() else None

    def _timed(self, case: Case, tool: str) -> list[Turn]:
        return [turn for turn in self.turns.get((case, tool), {}).values() if "seconds" in turn]

    def _know(self, turn: Turn) -> None:
        case = Case(**{known.name: turn[known.name] for known in fields(Case)})
        self.turns.setdefault((case, turn["tool"]), {})[turn["turn"]] = turn


def sizes(of: Sequence[int], starts: Sequence[str]) -> Iterator[Case]:
    """Every size from every start, the small ones first."""
    return (Case(number, start=start) for number in sorted(of) for start in starts)


def axes(number: int) -> Iterator[Case]:
    """One size, and all that differs from it in one thing."""
    plain = Case(number)
    yield plain
    for axis, values in AXES.items():
        for value in values:
            case = replace(plain, **{axis: value})
            yield replace(case, rows=ROBUST_ROWS) if value == "robust" else case
    yield replace(plain, judgments="deep", ties="heavy")
    yield replace(plain, judgments="robust", rows=4 * ROBUST_ROWS, systems=4)


def depths(number: int) -> Iterator[Case]:
    """One size, judged to every depth."""
    return (Case(number, judgments=str(depth)) for depth in DEPTHS)


def take_turns(results: Results, cases: Sequence[Case], tools: Sequence[str], options: argparse.Namespace) -> bool:
    """Let each tool have its turns at each case; whether all of them gave the same figures, and none failed."""
    right = True
    for case in cases:
        for number in range(options.turns):
            for tool in tools:
                if results.has(case, tool, number):
                    continue
                if told := results.why_not(case, tool):
                    say(case, tool, f"left out: {told}")
                    continue
                turn = take_turn(results, case, tool, options)
                results.add({"tool": tool, "turn": number, **asdict(case), **turn, **circumstances(tool)})
                say(case, tool, turn.get("failed") or turn.get("gave_up") or f"{min(turn['seconds']):.4g} s")
                right &= "failed" not in turn
    return right


def take_turn(results: Results, case: Case, tool: str, options: argparse.Namespace) -> Turn:
    """One turn: what the process printed, or why there is nothing."""
    prepare(case, options.folder)
    try:
        turn = fresh(SCRIPT, *command(case, tool, options.folder, options.limit), timeout=PATIENCE * options.limit)
    except (TimeoutError, MemoryError) as error:
        return {"gave_up": str(error)}
    except RuntimeError as error:
        return {"failed": str(error)}
    if told := difference(comparable(case, tool, turn["figures"]), results.figures(case)):
        return {"failed": told}
    return turn


def prepare(case: Case, folder: Path) -> None:
    """Make the files of a case, and of its small one, that are not there."""
    for needed in (case.small(), case):
        if not needed.prepared(folder):
            # In a process of its own, which takes the memory with it.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                pool.submit(needed.prepare, folder).result()


def comparable(case: Case, tool: str, figures: Figures) -> Figures:
    """The figures without those that a tool's own order of equal scores changes."""
    if case.ties == "few" and case.judgments != "robust":
        return figures
    return {name: value for name, value in figures.items() if name.partition("@")[0] not in TOOLS[tool].own_ties}


def circumstances(tool: str) -> dict[str, str]:
    """The day, the machine and the versions."""
    versions = f"{PACKAGES.get(tool, tool)} {_version(PACKAGES.get(tool, tool))}"
    return {"date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}", "machine": machine(), "versions": versions}


def say(case: Case, tool: str, what: str) -> None:
    """A line of progress."""
    changed = (getattr(case, known.name) for known in fields(Case)[1:])
    unlike = (str(value) for value, known in zip(changed, fields(Case)[1:], strict=True) if value != known.default)
    sys.stderr.write("  ".join([shown_rows(case.rows), *unlike, tool, what]) + "\n")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def listed(kind: Callable[[str], Any], known: Sequence[Any] = ()) -> Callable[[str], list[Any]]:
    """The type of an argument such as `3000,30000`."""

    def values(text: str) -> list[Any]:
        given = [kind(value.strip()) for value in text.split(",") if value.strip()]
        if known and (unknown := [value for value in given if value not in known]):
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return given

    return values


def arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, here = parser.add_argument, Path(tempfile.gettempdir()) / "polars_ir_bench"
    add("--sizes", type=listed(int), default=list(SIZES), help="numbers of rows, such as 3000,30000")
    add("--starts", type=listed(str, list(STARTS)), default=list(STARTS), help=f"of {', '.join(STARTS)}")
    add("--tools", type=listed(str, list(TOOLS)), default=list(TOOLS), help=f"of {', '.join(TOOLS)}")
    add("--axes", type=int, default=3_000_000, help="rows for deep judgments, ties and so on; 0 leaves these out")
    add("--depths", type=int, default=300_000, help="rows for several depths of judgments; 0 leaves these out")
    add("--turns", type=int, default=2, help="processes for each tool and case")
    add("--limit", type=float, default=60, help="seconds; a tool that takes longer is left out at the next size")
    add("--again", action="store_true", help="take turns that were taken before, and replace them")
    add("--folder", type=Path, default=here, help="where the data lie, or are made (3 GB)")
    add("--results", type=Path, default=Path(__file__).with_suffix(".jsonl"), help="the file of all turns")
    add("--report", action="store_true", help="measure nothing; make the tables and the chart")
    add("--table", type=Path, help="a file for the tables, in place of the screen")
    add("--chart", type=Path, default=CHART, help="a file for the chart")
    return parser.parse_args()


def main() -> None:
    """Measure, or report."""
    options = arguments()
    results = Results(options.results, options.limit)
    if options.report:
        if not any(results.seconds(*which) for which in results.turns):
            sys.exit(f"{options.results} holds no times yet")
        from report import chart, tables

        text = tables(results)
        options.table.write_text(text, encoding="utf-8") if options.table else sys.stdout.write(text)
        chart(results).save(options.chart, ppi=200)
        return
    for absent in (tools := set(options.tools)) - {name for name in tools if installed(name)}:
        sys.stderr.write(f"{absent} is not installed, and left out\n")
    present = [name for name in TOOLS if name in tools and installed(name)]
    cases = [*sizes(options.sizes, options.starts)]
    cases += [*axes(options.axes)] if options.axes else []
    cases += [*depths(options.depths)] if options.depths else []
    cases = list(dict.fromkeys(cases))
    if options.again:
        results.forget(cases, present)
    try:
        if not take_turns(results, cases, present, options):
            sys.exit("some failed, or gave other figures; run it again for another try")
    except KeyboardInterrupt:
        sys.exit("stopped; run it again to go on")


if __name__ == "__main__":
    main()
