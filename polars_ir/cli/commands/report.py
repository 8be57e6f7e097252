"""`polars-ir report`: an experiment as a page."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import Any

import polars as pl

from polars_ir.cli.arguments import PAGE
from polars_ir.cli.inputs import all_alike, excluded_of, judgments_of, limits_of, queries_of, run_of, systems_of
from polars_ir.cli.output import say, told_on_the_way
from polars_ir.errors import OptionError
from polars_ir.files.finding.copies import STDIN
from polars_ir.files.finding.sources import resolve
from polars_ir.files.tables import read_one_table
from polars_ir.frames.roles import find
from polars_ir.language.options import options_of
from polars_ir.reports.report import Report, report
from polars_ir.runs.options import Reporting

#: Calls that read tables of texts, by file extension; ids stay as written.
READERS = {
    ".parquet": "pl.read_parquet({})",
    ".arrow": "pl.read_ipc({})",
    ".csv": "pl.read_csv({}, infer_schema=False)",
    ".tsv": "pl.read_csv({}, separator='\\t', infer_schema=False)",
}


def run(options: argparse.Namespace) -> pl.DataFrame:
    """Nothing to show: the report is written."""
    target = options.target or (None if options.markdown else PAGE)
    if options.by and not options.queries:
        raise OptionError("--by names columns of a table of queries, --queries FILE; give both.")
    limits = limits_of(options)
    queries = None
    if options.queries:
        queries = queries_of(options, options.by) if options.by else read_one_table(options.queries, **limits)
    documents = read_one_table(options.documents, **limits) if options.documents else None
    qrels = judgments_of(options)
    runs = systems_of(options.runs, partial(run_of, format=options.format, **limits))
    how: Any = {
        name: getattr(options, name)
        for name in ("baseline", "by", "n_queries", "title", "date", *options_of(Reporting))
    }
    runs, given = all_alike(runs, {"qrels": qrels, "exclude": excluded_of(options)})
    how |= {"exclude": given["exclude"], "documents": documents, "queries": queries}
    with told_on_the_way():
        made = report(runs, given["qrels"], options.measure, **how)
    excluded = None if options.exclude == "self" else options.exclude
    with_origin(made, options, [options.qrels, *options.runs, options.queries, options.documents, excluded], target)
    made.content["made"]["python"] = "\n".join(_python(made, options, runs))
    if target is not None:
        made.write(target)
    if options.markdown:
        say(made.markdown(), end="")
    else:
        say("\n".join([*made.content["answers"][0], f"The page is {target}."]))
    return pl.DataFrame()


def _python(made: Report, options: argparse.Namespace, runs: pl.DataFrame) -> Iterator[str]:
    """Python code that reads the files and remakes the report."""
    yield from ("import polars as pl", "import polars_ir as ir", "")
    read = {file: f"ir.read_run({Path(file).name!r})" for file in options.runs}
    systems = runs[find("run", "run", runs.columns) or "run"].unique(maintain_order=True)
    if len(systems) == len(read):
        each = ", ".join(f"{system!r}: {reading}" for system, reading in zip(systems, read.values(), strict=True))
        yield f"runs = {{{each}}}"
    else:
        yield f"runs = pl.concat([{', '.join(read.values())}])"
    yield f"qrels = ir.read_qrels({Path(options.qrels).name!r})"
    for name in ("queries", "documents", "exclude"):
        if (file := getattr(options, name)) and file != "self":
            yield f"{name} = {READERS.get(Path(file).suffix, 'pl.read_ndjson({})').format(repr(Path(file).name))}"
    yield f"report = {made.content['made']['python']}"


def with_origin(made: Report, options: argparse.Namespace, names: Sequence[str | None], target: str | None) -> Report:
    """The report with its origin: file names and hashes, and the command, without folders."""
    read = [file for name in names if name not in (None, STDIN) for file in resolve(str(name), **limits_of(options))]
    given = {name: Path(name).name for name in (*names, target) if name is not None}
    origin = made.content["made"]
    origin["files"] = [_file(Path(file)) for file in read if Path(file).is_file()]
    origin["command"] = shlex.join(["polars-ir", *(_without_folder(word, given) for word in options.argv)])
    return made


def _file(path: Path) -> dict[str, Any]:
    """A file's name, size and hash."""
    with path.open("rb") as file:
        return {"name": path.name, "size": path.stat().st_size, "sha256": file_digest(file, "sha256").hexdigest()}


def _without_folder(word: str, given: Mapping[str, str]) -> str:
    """A command-line argument, with paths reduced to file names."""
    name = next((name for name in given if word.endswith(name)), None)
    return word if name is None else word.removesuffix(name) + given[name]
