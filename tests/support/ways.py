"""The way of a call through the package: the files, rooms and functions that it enters. `python tests/support/ways.py`.

Each call is counted the second time it is made, with new data of the same shape and measures of another cutoff, so that
what is imported or made once does not count, and nothing is gained by keeping a result. A file is entered when one of
its functions is; a change of file is a call whose function stands in another file than that of the call before. A room
is a folder or a module at the top of the package. A comprehension counts as a function, as it does to Python 3.11.
Names are those of the parameters by which functions take the judgments, as the user gave them or as a table of them.

Limits are a ratchet: a tenth above what was reached when they were last set, so that a call may grow by a file or two
before it is looked at again. Beside the calls stand lines that ask whether rows are in memory, and public names that
are no measures, without a limit.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

import polars_ir as ir
from polars_ir.cli import main
from polars_ir.frames.kinds import PreparedJudgments
from polars_ir.language import measures

SOURCE = Path(ir.__file__).parent

#: A line that asks whether rows are in memory.
ASKS = re.compile(r"^.*\bif\b.*\beager\b", re.MULTILINE)


class Way(NamedTuple):
    """The counts of a call; `None` where there is no limit."""

    files: int | None = None
    functions: int | None = None
    changes_of_file: int | None = None
    rooms: int | None = None
    names: int | None = None


class Entry(NamedTuple):
    """A function of the package that a call entered."""

    file: str
    name: str
    line: int
    names: frozenset[str]

    @property
    def room(self) -> str:
        """The folder, or module, at the top of the package."""
        return self.file.partition("/")[0]


class Data(NamedTuple):
    """The input of the calls, drawn by a seed."""

    run: pl.DataFrame
    runs: pl.DataFrame
    qrels: pl.DataFrame
    per_query: pl.DataFrame
    stored: pl.DataFrame
    folder: Path
    k: int


def data(seed: int, folder: Path) -> Data:
    """Three systems of thirty queries, in memory and as files."""
    draw = random.Random(seed)
    rows = [(s, f"q{q}", f"d{d}", draw.random()) for s in "abc" for q in range(30) for d in draw.sample(range(300), 60)]
    runs = pl.DataFrame(rows, schema=["run", "query_id", "doc_id", "score"], orient="row")
    judged = [(f"q{q}", f"d{d}", draw.randrange(3)) for q in range(30) for d in draw.sample(range(300), 40)]
    qrels = pl.DataFrame(judged, schema=["query_id", "doc_id", "relevance"], orient="row")
    folder = folder / str(seed)
    folder.mkdir()
    run = runs.filter(run="a").drop("run")
    ir.write_run(run, folder / "a.run")
    ir.write_qrels(qrels, folder / "qrels.txt")
    k = 10 * seed
    per_query = ir.evaluate(runs, qrels, [f"nDCG@{k}", f"P@{k}"])
    stored = ir.evaluate(runs.filter(pl.col("query_id") != "q1"), qrels, f"nDCG@{k}", provenance=True)
    return Data(run, runs, qrels, per_query, stored, folder, k)


def shell(*arguments: object) -> None:
    """A command, in this process, whose output is not shown."""
    with contextlib.redirect_stdout(io.StringIO()):
        assert not main(list(map(str, arguments)))


#: The calls, and how far each may go.
CALLS: dict[str, tuple[Callable[[Data], object], Way]] = {
    "df.ir.ndcg(qrels, k=10)": (lambda d: d.run.ir.ndcg(d.qrels, k=d.k), Way(19, 117, 89, 5)),
    "the same, LazyFrames": (lambda d: d.run.lazy().ir.ndcg(d.qrels.lazy(), k=d.k).collect(), Way(23, 152, 115, 6)),
    "the same, a labelled frame": (
        lambda d: d.run.join(d.qrels, on=["query_id", "doc_id"]).ir.ndcg(k=d.k),
        Way(19, 123, 78, 5),
    ),
    "evaluate, 4 measures, bounds": (
        lambda d: d.runs.ir.evaluate(d.qrels, [f"nDCG@{d.k}", "AP", "RR", f"P@{d.k}"], bounds=True),
        Way(23, 134, 125, 5),
    ),
    "fuse": (lambda d: d.runs.ir.fuse("rrf"), Way(16, 89, 60, 6)),
    "explain": (lambda d: d.run.ir.explain(d.qrels, f"nDCG@{d.k}", "q1"), Way(27, 137, 121, 5)),
    "validate": (lambda d: d.run.ir.validate(d.qrels), Way(23, 140, 118, 6)),
    "read_run": (lambda d: ir.read_run(d.folder / "a.run"), Way(7, 33, 15, 2)),
    "polars-ir evaluate": (
        lambda d: shell("evaluate", d.folder / "qrels.txt", d.folder / "a.run", "-m", f"nDCG@{d.k}"),
        Way(42, 292, 221, 8),
    ),
    "polars-ir trec_eval -q": (
        lambda d: shell("trec_eval", "-q", d.folder / "qrels.txt", d.folder / "a.run"),
        Way(47, 309, 1650, 8),
    ),
    # These load statsmodels, and with it pandas, of which errors then have to speak.
    "compare": (lambda d: d.per_query.ir.compare(baseline="a"), Way(24, 141, 244, 6)),
    "gate": (
        lambda d: ir.gate(*(d.per_query.filter(run=run).drop("run") for run in "ba"), [f"P@{d.k}"], max_drop=0.05),
        Way(26, 193, 227, 5),
    ),
    "compare of a LazyFrame": (lambda d: d.per_query.lazy().ir.compare(baseline="a").collect(), Way(25, 173, 195, 6)),
    "summarize": (lambda d: d.per_query.ir.summarize(), Way(17, 84, 89, 6)),
    "update": (lambda d: ir.update(d.stored, d.runs, d.qrels, f"nDCG@{d.k}"), Way(24, 222, 227, 4)),
    "report": (lambda d: ir.report(d.runs, d.qrels, [f"nDCG@{d.k}", "AP"]), Way(72, 606, 1739, 11)),
}


def entered(call: Callable[[Data], object], given: Data) -> list[Entry]:
    """The functions of the package that a call enters, in order."""
    entries: list[Entry] = []
    source = f"{SOURCE}/"

    def note(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "call" and code.co_filename.startswith(source):
            taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            values = frame.f_locals  # type: ignore[attr-defined]
            names = frozenset(name for name in taken if name in values and _is_of(given.qrels, values[name]))
            entries.append(Entry(code.co_filename.removeprefix(source), code.co_qualname, code.co_firstlineno, names))

    sys.setprofile(note)
    try:
        call(given)
    finally:
        sys.setprofile(None)
    return entries


def _is_of(qrels: pl.DataFrame, value: object) -> bool:
    """True for judgments as they were given, prepared, or as a table."""
    return value is qrels or isinstance(value, PreparedJudgments) or getattr(value, "about", None) == "qrels"


def changes(places: list[str]) -> int:
    """The number of changes from one place to the next."""
    return sum(before != after for before, after in itertools.pairwise(places))


def way_of(entries: list[Entry]) -> Way:
    """The counts of a call's entries."""
    files = [entry.file for entry in entries]
    functions = {(entry.file, entry.name, entry.line) for entry in entries}
    names = frozenset[str]().union(*(entry.names for entry in entries)) - {"self"}
    return Way(len(set(files)), len(functions), changes(files), len({entry.room for entry in entries}), len(names))


def ways() -> Iterator[tuple[str, list[Entry], Way]]:
    """Each call with what it enters, and its limits."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = (data(seed, Path(folder)) for seed in (1, 2))
        for name, (call, limit) in CALLS.items():
            call(first)
            yield name, entered(call, second), limit


def main_of_ways(shown: list[str]) -> int:
    """Print the ways, file by file those whose names hold a given text; 1 where one is longer than its limit."""
    longer = 0
    print(f"{'':32}" + "".join(f"{field.replace('_', ' '):>18}" for field in Way._fields))
    for name, entries, limit in ways():
        way = way_of(entries)
        cells = [f"{n}" if most is None else f"{n} of {most}" for n, most in zip(way, limit, strict=True)]
        over = [n > most for n, most in zip(way, limit, strict=True) if most is not None]
        longer |= any(over)
        print(f"{name:32}" + "".join(f"{cell:>18}" for cell in cells) + ("  too long" if any(over) else ""))
        if any(text in name for text in shown):
            calls, functions = (
                Counter(e.file for e in some) for some in (entries, {e[:3]: e for e in entries}.values())
            )
            print(f"    names: {', '.join(sorted(frozenset[str]().union(*(e.names for e in entries))))}")
            for file, n in calls.most_common():
                print(f"    {file:44} {functions[file]:4} functions {n:5} calls")
    asking = sum(len(ASKS.findall(path.read_text("utf-8"))) for path in SOURCE.rglob("*.py"))
    print(f"lines that ask whether rows are in memory: {asking}")
    print(f"public names beside measures: {len(set(ir.__all__) - set(measures.__all__))}")
    return longer


if __name__ == "__main__":
    sys.exit(main_of_ways(sys.argv[1:]))
