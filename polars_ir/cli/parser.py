"""The parser of the command line, and the arguments that several commands share.

Conventions: options are called as the functions' parameters, and read from the same records. `-` is standard input.
Where `argcomplete` is installed (the extra `cli`), the shell completes them, after
`eval "$(register-python-argcomplete polars-ir)"`. Errors and warnings call parameters and tables by these options and
files: that is the caller of a command.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import polars as pl

from polars_ir.errors import Caller, OptionError, nearest
from polars_ir.files.finding.copies import shown_name
from polars_ir.files.finding.file import MAX_RATIO, STORES, File, located, pure, scheme
from polars_ir.files.formats import READABLE, TABLES
from polars_ir.language.catalog import CATALOG
from polars_ir.language.options import options_of
from polars_ir.runs.options import Evaluating

RUNS = "runs: TREC, Parquet, CSV, TSV, JSON, ...; - is standard input"
QRELS = "judgments: TREC, Parquet, CSV, TSV, JSON, BEIR, ..."
KEY = "a column of the runs that tells rankings apart, such as date; repeat"
FILES = "files of evaluate --per-query, or of trec_eval -q, a system each or several; with --qrels, runs"

#: The end of each help.
STATUSES = (
    "Exit status: 0 is a result, 1 a finding (a problem of validate, a change that the gate finds worse), 2 wrong use "
    "or input, 3 an inconclusive gate, 130 an interruption."
)

#: The forms in which a result is printed.
RENDERS = {
    "table": "a table, with all columns (in a terminal, with those that fit)",
    "tsv": "tab-separated values (in a pipe)",
    "json": "JSON",
    "markdown": "a Markdown table",
}

#: The endings of files that a result is written to; one of JSON has the printed text.
ENDINGS = (*TABLES, ".json")

#: The names of tables that come from no file of their own, and the list of measures.
ELSEWHERE = {"per_query": "the table of figures", "`ir.catalog()`": "`polars-ir measures`"}

#: Parameters of several values, each with the option that is repeated for them.
SEVERAL = {"measures": "measure", "ranges": "range"}

#: The caller of a stand-in for another program, which has no option for the format as `convert` has.
PROGRAM = Caller("shell", {**ELSEWHERE, "format": "polars-ir convert --format"})


class Command(NamedTuple):
    """A command of the shell: `run` makes the frame to show, and `status` the exit status."""

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], pl.DataFrame]
    status: Callable[[pl.DataFrame, argparse.Namespace], int] | None = None


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, without a screen of options before it."""

    def error(self, message: str) -> NoReturn:
        """Raise an `OptionError`."""
        command = self.prog.removeprefix("polars-ir").strip()
        choice = re.search(r"invalid choice: '(.+?)' \(choose from (.+)\)", message)
        near = nearest(choice[1], re.findall(r"[\w-]+", choice[2])) if choice else ""
        if "--measure" in message:
            near = " It is written as in -m nDCG@10 -m AP."
        raise OptionError(f"{command}{': ' if command else ''}{message}.{near} {self.prog} --help tells more.")


def parser(commands: Iterable[Command], programs: Iterable[str], argv: Sequence[str] | None = None) -> Parser:
    """The parser of the commands, with the arguments of all or of the one that is run; of programs it has the names."""
    shared = Parser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show where an error comes from")
    description = "Evaluate the results of information retrieval."
    whole = Parser(prog="polars-ir", description=description, epilog=STATUSES, parents=[shared])
    whole.add_argument("--version", action="version", version=f"polars-ir {version('polars_ir')}")
    parsers = whole.add_subparsers(dest="command", required=True)
    # argcomplete leaves the command line to be completed in the environment, and not in the arguments.
    is_completed = "_ARGCOMPLETE" in os.environ
    for command in commands:
        sentence = f"{command.help[0].upper()}{command.help[1:]}."
        its_own = parsers.add_parser(
            command.name, help=command.help, description=sentence, epilog=STATUSES, parents=[shared]
        )
        if argv is None or is_completed or command.name in argv:
            command.arguments(its_own)
            actions = its_own._actions  # noqa: SLF001  # argparse has no other list of them
            flags = {action.dest: action.option_strings[-1] for action in actions if action.option_strings}
            its_own.set_defaults(record=command, flags=flags, output=None, render=None)
    for program in programs:
        parsers.add_parser(program, add_help=False, help=f"what {program} does, with its options and its output")
    if is_completed and find_spec("argcomplete"):
        import argcomplete

        argcomplete.autocomplete(whole)
    return whole


def add_options(command: argparse.ArgumentParser, kind: type, *, without: Collection[str] = ()) -> None:
    """The options of a kind of call, each as its record says."""
    for name, (default, value, meaning) in options_of(kind).items():
        if name in without:
            continue
        first = meaning.partition(". ")[0].removesuffix(".").replace("%", "%%")
        help = f"{first[0].lower()}{first[1:]}"
        flag = flag_of(name)
        if value.choices == (True, False):
            command.add_argument(flag, action="store_true", help=help)
            continue
        if default is not None:
            help += " (%(default)s)"
        if value.choices:
            command.add_argument(flag, type=value.by_our_name, choices=value.choices, default=default, help=help)
        else:
            metavar = name.rpartition("_")[2].upper()
            command.add_argument(flag, type=value.read, default=default, metavar=metavar, help=help)


def flag_of(parameter: str) -> str:
    """The option that sets a parameter."""
    return f"--{parameter.replace('_', '-')}"


def add_measures(command: argparse.ArgumentParser, *, required: bool) -> None:
    """The measures of an evaluation."""
    measure = "a measure, such as nDCG@10; repeat"
    option = command.add_argument("-m", "--measure", action="append", required=required, help=measure)
    option.completer = lambda **_: list(CATALOG)  # type: ignore[attr-defined]  # argcomplete's own


def add_judged_runs(command: argparse.ArgumentParser) -> None:
    """Runs and their judgments."""
    command.add_argument("runs", nargs="+", metavar="run", help=f"{RUNS}; without --qrels, the first is the judgments")
    command.add_argument("--qrels", metavar="FILE", help=QRELS)
    add_formats(command)


def judgments_first(options: argparse.Namespace) -> None:
    """Take the first file of runs for the judgments where --qrels names none, as trec_eval does."""
    if "runs" in options and options.qrels is None:
        options.qrels, *options.runs = options.runs
        if not options.runs:
            raise OptionError(f"{options.command} needs judgments, too: --qrels FILE.")


def add_runs_instead(command: argparse.ArgumentParser) -> None:
    """Judgments, for commands that take runs in place of their figures."""
    command.add_argument("--qrels", metavar="FILE", help="judgments to evaluate the runs against")
    add_formats(command)


def add_per_query(command: argparse.ArgumentParser) -> None:
    """The choice between the figures of queries and their means."""
    command.add_argument("-q", "--per-query", action="store_true", help="a row per query instead of the means")


def add_formats(command: argparse.ArgumentParser) -> None:
    """The formats of runs and judgments."""
    of_runs = f"the format of the runs, if the files do not tell: {', '.join(READABLE['run'])}"
    command.add_argument("--format", choices=READABLE["run"], metavar="FORMAT", help=of_runs)
    also = [name for name in READABLE["qrels"] if name not in READABLE["run"]]
    of_qrels = f"that of the judgments, also {', '.join(also)}"
    command.add_argument("--qrels-format", choices=READABLE["qrels"], metavar="FORMAT", help=of_qrels)


def add_limits(command: argparse.ArgumentParser) -> None:
    """The limits of files from untrusted sources."""
    local = "read local files only: a URL is an error"
    command.add_argument("--local-only", dest="remote", action="store_false", help=local)
    ratio = "how many times its size a compressed file may unpack to (%(default)g)"
    command.add_argument("--max-ratio", type=float, default=MAX_RATIO, metavar="RATIO", help=ratio)


def add_queries(command: argparse.ArgumentParser) -> None:
    """A table with facts about queries."""
    queries = (
        "a table with a query column, whose other columns --cluster (or --by) names; without it, those of the files"
    )
    command.add_argument("--queries", metavar="FILE", help=queries)


def number_of_measure(text: str) -> float | str | tuple[str, float | str]:
    """A number, or `NAME=NUMBER`, that of a measure; a percentage as it is, for an error that says what it can be."""
    name, _, number = text.rpartition("=")
    value = number if number.endswith("%") else float(number)
    return (name, value) if name else value


def by_measure(option: str, values: Sequence[Any]) -> Any:
    """One number for all measures, or pairs of a name and a number as a dict."""
    if all(isinstance(value, tuple) for value in values):
        return dict(values)
    if len(values) == 1:
        return values[0]
    raise OptionError("must be one number, or NAME=NUMBER for every measure.", about=option)


def add_output(command: argparse.ArgumentParser) -> None:
    """The form of the result: a table in a terminal, tab-separated values in a pipe, or another by option."""
    rendering = command.add_mutually_exclusive_group()
    to_a_file = f"write to a file, or to s3:// and the like ({', '.join(ENDINGS)})"
    rendering.add_argument("-o", "--output", type=_table, metavar="FILE", help=to_a_file)
    formulas = "put ' before texts of FILE that a spreadsheet would compute (=, +, - or @ first)"
    command.add_argument("--no-formulas", action="store_true", help=formulas)
    for render, meaning in RENDERS.items():
        rendering.add_argument(
            f"--{render}", dest="render", action="store_const", const=render, help=f"print {meaning}"
        )


def _table(name: str) -> File:
    """The file of a table; its ending is looked at now, not after the evaluation."""
    path = located(name) if scheme(name) in STORES else Path(on_disk(name))
    if pure(path).suffix not in ENDINGS:
        raise argparse.ArgumentTypeError(f"{name}: unknown ending; a result can be written as {', '.join(ENDINGS)}")
    return path


def on_disk(name: str) -> str:
    """The name of a file that is no URL."""
    if scheme(name) is not None:
        raise argparse.ArgumentTypeError(f"{name}: this is written to a file, and not to a URL; copy it there")
    return name


#: Options of `evaluate` that other commands lack: their figures can be made by it.
OF_EVALUATE = {name: f"evaluate {flag_of(name)}" for name in (*options_of(Evaluating), "by", "weights")}


def door_of(options: argparse.Namespace) -> Caller:
    """The caller of a command: a parameter is its option there, and a table the file that was named."""
    values, flags = vars(options), dict(options.flags)
    flags.update({several: flags[one] for several, one in SEVERAL.items() if one in flags})
    tables = ("qrels", "queries", "new", "old")
    # `convert --qrels` is no file.
    files = {name: shown_name(value) for name in tables if isinstance(value := values.get(name), str)}
    if not files and len(of_figures := values.get("files") or []) == 1:
        files["per_query"] = shown_name(of_figures[0])
    return Caller("shell", {**OF_EVALUATE, **flags, **ELSEWHERE, **files})
