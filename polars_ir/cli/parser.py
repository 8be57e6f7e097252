"""The parser of the command line, and the record of a command.

Conventions: options are called as the functions' parameters, and read from the same records. `-` is standard input.
Where `argcomplete` is installed (the extra `cli`), the shell completes them, after
`eval "$(register-python-argcomplete polars-ir)"`. Errors and warnings call parameters and tables by these options and
files: that is the caller of a command. What runs a command is imported once its arguments are parsed, so that a help
text, a completion and a usage error need none of it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple, NoReturn

from polars_ir.errors import Caller, OptionError, nearest
from polars_ir.language.options import options_of
from polars_ir.runs.options import Evaluating

#: The epilogue of every help text.
STATUSES = (
    "Exit status: 0 is a result, 1 a finding (a problem of validate, a change that the gate finds harmful), 2 wrong "
    "use or input, 3 an inconclusive gate, 130 an interruption."
)

#: Names of tables without a file of their own, and the list of measures.
ELSEWHERE = {"per_query": "the table of figures", "`ir.catalog()`": "`polars-ir measures`"}

#: The caller of an emulated program, which lacks `convert`'s option for the format.
PROGRAM = Caller("shell", {**ELSEWHERE, "format": "polars-ir convert --format"})


class Command(NamedTuple):
    """A command, run by `run` of the file of its name in `commands`, which returns a frame to show.

    A file has a `status` where the exit status is not always 0. A lack of the extra is told before anything is read.
    """

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    extra: str | None = None

    @property
    def file(self) -> Any:
        """The module that runs the command."""
        return import_module(f"polars_ir.cli.commands.{self.name}")


class Parser(argparse.ArgumentParser):
    """A parser with one-line errors, without a usage screen."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            self.error(str(error), nearest(str(value), map(str, action.choices or ())))

    def error(self, message: str, near: str = "") -> NoReturn:
        """Raise an `OptionError`."""
        command = self.prog.removeprefix("polars-ir").strip()
        if "--measure" in message:
            near = " It is written as in -m nDCG@10 -m AP."
        raise OptionError(f"{command}{': ' if command else ''}{message}.{near} {self.prog} --help tells more.")


def parser(commands: Iterable[Command], programs: Iterable[str], argv: Sequence[str] | None = None) -> Parser:
    """The parser of the commands, with the arguments of all or of the one to run, and the names of programs."""
    shared = Parser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show where an error comes from")
    description = "Evaluate the results of information retrieval."
    whole = Parser(prog="polars-ir", description=description, epilog=STATUSES, parents=[shared])
    whole.add_argument("--version", action="version", version=f"polars-ir {version('polars_ir')}")
    parsers = whole.add_subparsers(dest="command", required=True)
    # argcomplete leaves the command line to be completed in the environment, and not in the arguments.
    is_completed = "_ARGCOMPLETE" in os.environ
    words = os.environ.get("COMP_LINE", "").split() if is_completed else argv
    for command in commands:
        sentence = f"{command.help[0].upper()}{command.help[1:]}."
        its_own = parsers.add_parser(
            command.name, help=command.help, description=sentence, epilog=STATUSES, parents=[shared]
        )
        if words is None or command.name in words:
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


def reads_none(options: argparse.Namespace) -> bool:
    """True for measures of a recommender's lists alone, so that all files are runs."""
    if "measure" not in options or not (vars(options).get("history") or vars(options).get("items")):
        return False
    from polars_ir.language.names import resolve
    from polars_ir.runs.lists import reads_no_judgments

    return reads_no_judgments(resolve(options.measure))


def judgments_first(options: argparse.Namespace) -> None:
    """Take the first of several files for the judgments where --qrels names none; one alone may be a log."""
    if "runs" not in options or ("retrieved" in options and len(options.runs) == 1):
        return
    if options.qrels is None and not reads_none(options):
        options.qrels, *options.runs = options.runs
        if not options.runs:
            raise OptionError(f"{options.command} needs judgments, too: --qrels FILE.")


#: Options of `evaluate` that other commands lack; they accept its output.
OF_EVALUATE = {name: f"evaluate --{name.replace('_', '-')}" for name in (*options_of(Evaluating), "by", "weights")}


def caller_of(options: argparse.Namespace) -> Caller:
    """The caller of a command: parameters are options, and tables are the named files."""
    from polars_ir.files.finding.copies import shown_name

    values, flags = vars(options), dict(options.flags)
    # Parameters with several values have an option that is repeated for them.
    flags |= {f"{one}s": flags[one] for one in ("measure", "range") if one in flags}
    tables = ("qrels", "queries", "new", "old")
    # `convert --qrels` is no file.
    files = {name: shown_name(value) for name in tables if isinstance(value := values.get(name), str)}
    if not files and len(of_figures := values.get("files") or []) == 1:
        files["per_query"] = shown_name(of_figures[0])
    return Caller("shell", {**OF_EVALUATE, **flags, **ELSEWHERE, **files})
