"""The arguments of the command line.

Conventions: options are called as the functions' parameters. `-` is standard input. Where `argcomplete` is installed
(the extra `cli`), the shell completes them, after `eval "$(register-python-argcomplete polars-ir)"`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn, get_args

from polars_ir.comparison.systems import INTERVAL_OF
from polars_ir.errors import OptionError
from polars_ir.files.formats import FORMATS, OF_QRELS, choices
from polars_ir.files.writers import QRELS_FORMATS, RUN_FORMATS, TABLES
from polars_ir.ranking import Ties
from polars_ir.registry import CATALOG

RUNS = "runs: TREC, Parquet, CSV, TSV, JSON, ...; - is standard input"
QRELS = "judgments, in these formats or BEIR's"

#: How a result is printed.
RENDERS = {
    "table": "a table (in a terminal)",
    "tsv": "tab-separated values (in a pipe)",
    "json": "JSON",
    "markdown": "a Markdown table",
}


#: What `convert` writes, runs or judgments.
WRITTEN = list(dict.fromkeys([*RUN_FORMATS, *QRELS_FORMATS]))


class Parser(argparse.ArgumentParser):
    """A parser that tells what is wrong in a line, instead of after a screen of options."""

    def error(self, message: str) -> NoReturn:
        """Raise an `OptionError`."""
        command = self.prog.removeprefix("polars-ir").strip()
        raise OptionError(f"{command}{': ' if command else ''}{message}. {self.prog} --help tells more.")


def parser(programs: Iterable[str]) -> Parser:
    """The parser of all commands; of the programs it only knows the names."""
    shared = Parser(add_help=False)
    shared.add_argument("--debug", action="store_true", help="show where an error comes from")
    description = "Evaluate the results of information retrieval."
    whole = Parser(prog="polars-ir", description=description, parents=[shared])
    whole.add_argument("--version", action="version", version=f"polars-ir {version('polars_ir')}")
    commands = whole.add_subparsers(dest="command", required=True)

    def command(name: str, help: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.", parents=[shared])

    _evaluate(command("evaluate", "evaluate runs against judgments"))
    _compare(command("compare", "tell whether systems differ by more than chance"))
    _gate(command("gate", "tell whether a change may ship: no measure drops more than it may"))
    _validate(command("validate", "tell what is odd about runs and their judgments; status 1 if anything is"))
    _convert(command("convert", "read a run or judgments in one format and write them in another"))
    _measures(command("measures", "list the measures there are"))
    _output(_of_queries(command("demo", "evaluate the three runs of the bundled test collection")))
    for program in programs:
        commands.add_parser(program, add_help=False, help=f"what {program} does, with its options and its output")
    if find_spec("argcomplete"):
        import argcomplete

        argcomplete.autocomplete(whole)
    return whole


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument("qrels", help=QRELS)
    command.add_argument("runs", nargs="+", metavar="run", help=RUNS)
    _measured(command, required=True)
    _of_queries(command)
    command.add_argument(
        "--by", action="append", metavar="COLUMN", help="means per value of a column of --queries; repeat"
    )
    command.add_argument("--queries", metavar="FILE", help="a table with a query column, for --by and --weights")
    command.add_argument("--weights", nargs=1, metavar="COLUMN", help="means weighted by a column of --queries")
    command.add_argument(
        "--ties", choices=get_args(Ties), default="doc_id", help="the order of equal scores (%(default)s)"
    )
    command.add_argument("--judged-only", action="store_true", help="leave out documents that nobody judged")
    command.add_argument("--bounds", action="store_true", help="add what unjudged documents could make of a measure")
    _formats(command)
    _output(command)


def _compare(command: argparse.ArgumentParser) -> None:
    files = "files of evaluate --per-query, or of trec_eval -q, a system each or several; with --qrels, runs"
    command.add_argument("files", nargs="+", metavar="file", help=files)
    _measured(command, required=False)
    _runs_instead(command)
    command.add_argument(
        "--baseline", metavar="SYSTEM", help="the system that the others are compared with; without it, all pairs"
    )
    command.add_argument("--test", choices=INTERVAL_OF, default="t", help="the test (%(default)s)")
    correction = "for the number of comparisons, such as bonferroni; or none (%(default)s)"
    command.add_argument("--correction", default="holm", help=correction)
    command.add_argument("--alpha", type=float, default=0.05, help="the level of significance (%(default)s)")
    _output(command)


def _gate(command: argparse.ArgumentParser) -> None:
    command.add_argument("new", help="a file of evaluate --per-query for one system; with --qrels, its run")
    command.add_argument("old", help="the same for the system as it was")
    _measured(command, required=True)
    _runs_instead(command)
    command.add_argument(
        "--max-drop", type=float, metavar="DROP", default=0.01, help="how much a mean may drop (%(default)s)"
    )
    alpha = "how often a change that costs so much may pass (%(default)s)"
    command.add_argument("--alpha", type=float, default=0.05, help=alpha)
    _output(command)


def _validate(command: argparse.ArgumentParser) -> None:
    command.add_argument("qrels", help=QRELS)
    command.add_argument("runs", nargs="+", metavar="run", help=RUNS)
    _formats(command)
    _output(command)


def _convert(command: argparse.ArgumentParser) -> None:
    command.add_argument("source", help="the file to read; - is standard input")
    target = "the file to write; - is standard output, {run} in it stands for each system"
    command.add_argument("target", help=target)
    command.add_argument("--qrels", action="store_true", help="the file holds judgments, not a run")
    command.add_argument(
        "--format", choices=FORMATS, metavar="FORMAT", help="the format to read, if the file does not tell"
    )
    command.add_argument(
        "--to",
        choices=sorted({*RUN_FORMATS, *QRELS_FORMATS}),
        metavar="FORMAT",
        help="the format to write, if the ending does not tell",
    )
    command.add_argument("--tag", help="the last field of a TREC run's lines; without it, that of the source")
    command.set_defaults(output=None, render=None)


def _measures(command: argparse.ArgumentParser) -> None:
    command.add_argument("pattern", nargs="?", default="", help="only those with this in a name or the meaning")
    _output(command)


def _measured(command: argparse.ArgumentParser, *, required: bool) -> None:
    measure = "a measure, such as nDCG@10; repeat"
    option = command.add_argument("-m", "--measure", action="append", required=required, help=measure)
    option.completer = lambda **_: list(CATALOG)  # type: ignore[attr-defined]  # argcomplete's own
    missing = "queries that a run lacks score 0 and count, or are left out (%(default)s)"
    command.add_argument("--missing", choices=["zero", "skip"], default="zero", help=missing)


def _runs_instead(command: argparse.ArgumentParser) -> None:
    command.add_argument("--qrels", metavar="FILE", help="judgments to evaluate the runs against")
    _formats(command)


def _of_queries(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    command.add_argument("-q", "--per-query", action="store_true", help="a row per query instead of the means")
    return command


def _formats(command: argparse.ArgumentParser) -> None:
    of_runs = f"the format of the runs, if the files do not tell: {', '.join(choices('run'))}"
    command.add_argument("--format", choices=choices("run"), metavar="FORMAT", help=of_runs)
    of_qrels = f"that of the judgments, also {', '.join(OF_QRELS)}"
    command.add_argument("--qrels-format", choices=choices("qrels"), metavar="FORMAT", help=of_qrels)


def _output(command: argparse.ArgumentParser) -> None:
    """How the result is shown: as a table in a terminal, tab-separated where it is piped, or as asked for."""
    shown = command.add_mutually_exclusive_group()
    to_a_file = f"write to a file ({', '.join(TABLES)})"
    shown.add_argument("-o", "--output", type=_table, metavar="FILE", help=to_a_file)
    for render, what in RENDERS.items():
        shown.add_argument(f"--{render}", dest="render", action="store_const", const=render, help=f"print {what}")


def _table(name: str) -> Path:
    """The path of a table; its ending is looked at now, not after the evaluation."""
    path = Path(name)
    if path.suffix not in TABLES:
        raise argparse.ArgumentTypeError(f"{name}: unknown ending; a result can be written as {', '.join(TABLES)}")
    return path
