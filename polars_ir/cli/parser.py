"""The parser of the command line, and the arguments that several commands share.

Conventions: options are called as the functions' parameters, and read from the same records. `-` is standard input.
Where `argcomplete` is installed (the extra `cli`), the shell completes them, after
`eval "$(register-python-argcomplete polars-ir)"`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from polars_ir.cli.command import Command
from polars_ir.errors import OptionError, nearest
from polars_ir.files.formats import TABLES, readable
from polars_ir.files.unpacking import MAX_RATIO
from polars_ir.language.catalog import CATALOG
from polars_ir.options import options_of

RUNS = "runs: TREC, Parquet, CSV, TSV, JSON, ...; - is standard input"
QRELS = "judgments: TREC, Parquet, CSV, TSV, JSON, BEIR, ..."

#: How a result is printed.
RENDERS = {
    "table": "a table, with all columns (in a terminal, with those that fit)",
    "tsv": "tab-separated values (in a pipe)",
    "json": "JSON",
    "markdown": "a Markdown table",
}


class Parser(argparse.ArgumentParser):
    """A parser that tells what is wrong in a line, instead of after a screen of options."""

    def error(self, message: str) -> NoReturn:
        """Raise an `OptionError`."""
        command = self.prog.removeprefix("polars-ir").strip()
        choice = re.search(r"invalid choice: '(.+?)' \(choose from (.+)\)", message)
        near = nearest(choice[1], re.findall(r"[\w-]+", choice[2])) if choice else ""
        raise OptionError(f"{command}{': ' if command else ''}{message}.{near} {self.prog} --help tells more.")


def parser(commands: Iterable[Command], programs: Iterable[str]) -> Parser:
    """The parser of all commands; of the programs it only knows the names."""
    shared = Parser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show where an error comes from")
    description = "Evaluate the results of information retrieval."
    whole = Parser(prog="polars-ir", description=description, parents=[shared])
    whole.add_argument("--version", action="version", version=f"polars-ir {version('polars_ir')}")
    parsers = whole.add_subparsers(dest="command", required=True)
    for command in commands:
        sentence = f"{command.help[0].upper()}{command.help[1:]}."
        its_own = parsers.add_parser(command.name, help=command.help, description=sentence, parents=[shared])
        command.arguments(its_own)
        its_own.set_defaults(flags=_flags(its_own))
    for program in programs:
        parsers.add_parser(program, add_help=False, help=f"what {program} does, with its options and its output")
    if find_spec("argcomplete"):
        import argcomplete

        argcomplete.autocomplete(whole)
    return whole


def _flags(command: argparse.ArgumentParser) -> dict[str, str]:
    """The option that sets each parameter."""
    actions = command._actions  # noqa: SLF001  # argparse has no other list of them
    return {action.dest: action.option_strings[-1] for action in actions if action.option_strings}


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
        elif value.choices:
            default_text = "" if default is None else " (%(default)s)"
            command.add_argument(flag, choices=value.choices, default=default, help=f"{help}{default_text}")
        else:
            default_text = "" if default is None else " (%(default)s)"
            metavar = name.rpartition("_")[2].upper()
            command.add_argument(flag, type=value.read, default=default, metavar=metavar, help=f"{help}{default_text}")


def flag_of(parameter: str) -> str:
    """The option that sets a parameter."""
    return f"--{parameter.replace('_', '-')}"


def add_measures(command: argparse.ArgumentParser, *, required: bool) -> None:
    """The measures of an evaluation."""
    measure = "a measure, such as nDCG@10; repeat"
    option = command.add_argument("-m", "--measure", action="append", required=required, help=measure)
    option.completer = lambda **_: list(CATALOG)  # type: ignore[attr-defined]  # argcomplete's own


def add_runs_instead(command: argparse.ArgumentParser) -> None:
    """Judgments, for commands that take runs in place of their figures."""
    command.add_argument("--qrels", metavar="FILE", help="judgments to evaluate the runs against")
    add_formats(command)


def add_per_query(command: argparse.ArgumentParser) -> None:
    """Whether the figures of queries are shown, or their means."""
    command.add_argument("-q", "--per-query", action="store_true", help="a row per query instead of the means")


def add_formats(command: argparse.ArgumentParser) -> None:
    """The formats of runs and judgments."""
    of_runs = f"the format of the runs, if the files do not tell: {', '.join(readable('run'))}"
    command.add_argument("--format", choices=readable("run"), metavar="FORMAT", help=of_runs)
    also = [name for name in readable("qrels") if name not in readable("run")]
    of_qrels = f"that of the judgments, also {', '.join(also)}"
    command.add_argument("--qrels-format", choices=readable("qrels"), metavar="FORMAT", help=of_qrels)


def add_limits(command: argparse.ArgumentParser) -> None:
    """What files from somebody else may not do."""
    local = "read local files only: a URL is an error"
    command.add_argument("--local-only", dest="remote", action="store_false", help=local)
    ratio = "how many times its size a compressed file may unpack to (%(default)g)"
    command.add_argument("--max-ratio", type=float, default=MAX_RATIO, metavar="RATIO", help=ratio)


def add_slices(command: argparse.ArgumentParser, by: str) -> None:
    """Columns of a table of queries, to make slices of."""
    command.add_argument("--by", action="append", metavar="COLUMN", help=by)
    command.add_argument("--queries", metavar="FILE", help="a table with a query column, for --by")


def number_of_measure(text: str) -> float | tuple[str, float]:
    """A number, or `NAME=NUMBER`, that of a measure."""
    name, _, number = text.rpartition("=")
    return (name, float(number)) if name else float(number)


def by_measure(option: str, values: Sequence[Any]) -> Any:
    """One number for all measures, or pairs of a name and a number as a dict."""
    if all(isinstance(value, tuple) for value in values):
        return dict(values)
    if len(values) == 1:
        return values[0]
    raise OptionError("must be one number, or NAME=NUMBER for every measure.", about=option)


def add_output(command: argparse.ArgumentParser) -> None:
    """How the result is shown: as a table in a terminal, tab-separated where it is piped, or as asked for."""
    rendering = command.add_mutually_exclusive_group()
    to_a_file = f"write to a file ({', '.join(TABLES)})"
    rendering.add_argument("-o", "--output", type=_table, metavar="FILE", help=to_a_file)
    formulas = "put ' before texts of FILE that a spreadsheet would compute (=, +, - or @ first)"
    command.add_argument("--no-formulas", action="store_true", help=formulas)
    for render, meaning in RENDERS.items():
        rendering.add_argument(
            f"--{render}", dest="render", action="store_const", const=render, help=f"print {meaning}"
        )


def _table(name: str) -> Path:
    """The path of a table; its ending is looked at now, not after the evaluation."""
    path = Path(name)
    if path.suffix not in TABLES:
        raise argparse.ArgumentTypeError(f"{name}: unknown ending; a result can be written as {', '.join(TABLES)}")
    return path
