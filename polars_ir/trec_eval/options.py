"""The options of trec_eval, as it reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt
from typing import Any

from polars_ir.errors import IRError, alike, did_you_mean
from polars_ir.files.formats import FormatName
from polars_ir.language.sets import NICKNAMES
from polars_ir.language.sets import TREC_EVAL as MEASURES
from polars_ir.trec_eval.help import USAGE, help_of

#: How `read_qrels` calls the formats of -R.
FORMATS: dict[str, FormatName | None] = {
    "qrels": None,
    "qrels_jg": "judges",
    "qrels_prefs": "judges",
    "prefs": "preferences",
}

#: The long options, by the short ones; `=` if a value follows.
LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
    "Debug_level=": "-D",
    "strict": "--strict",
}

#: The status that trec_eval ends with.
WRONG_USE, WRONG_FILE, NOT_COMPUTED, NOTHING_SHARED = 1, 2, 4, 7


class TrecEvalError(IRError):
    """What ends the program, with its status; `shown` is what was asked for, and goes where the output does."""

    def __init__(self, message: str, status: int, *, shown: bool = False) -> None:
        super().__init__(message)
        self.message, self.status, self.shown = message, status, shown


@dataclass
class Options:
    """What was asked for; `measures` are the names with the parameters that were given, None for the usual ones."""

    measures: dict[str, str | None] = field(default_factory=dict)
    topics: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    strict: bool = False
    level: int = 1
    most: int | None = None
    n_docs: int = 0
    format: str = "qrels"
    zscores: str | None = None
    topic: str | None = None
    files: tuple[str, str] = ("", "")


def options_of(arguments: Sequence[str]) -> Options:
    """The options in trec_eval's own form; `TrecEvalError` for wrong ones."""
    try:
        given, files = gnu_getopt(list(arguments), "hvqm:cl:nJN:M:R:T:oZ:D:", list(LONG))
    except GetoptError as error:
        raise TrecEvalError(f"{error}.\n{USAGE}", WRONG_USE) from None
    options, help_wanted = Options(), False
    short = {f"--{name.removesuffix('=')}": option for name, option in LONG.items()}
    for option, value in ((short.get(option, option), value) for option, value in given):
        if option == "-v":
            raise TrecEvalError("trec_eval version 10.0, as polars_ir has it", 0)
        help_wanted |= option == "-h"
        _set(options, option, value)
    if help_wanted:
        raise TrecEvalError(help_of(options.measures, options.format), 0, shown=True)
    if len(files) != 2:
        raise TrecEvalError(f"QRELS and RUN are two files; got {len(files)}.\n{USAGE}", WRONG_USE)
    options.files = (files[0], files[1])
    if not options.measures:
        _ask_for(options, "official")
    return options


def _set(options: Options, option: str, value: str) -> None:
    """Set what an option says."""
    if option == "-m":
        _ask_for(options, value)
    elif option == "-R" and value not in FORMATS:
        raise TrecEvalError(f"-R must be one of {', '.join(FORMATS)}; got {value!r}.", WRONG_FILE)
    elif option == "-T" and value != "trec_results":
        raise TrecEvalError(f"-T must be trec_results; got {value!r}.", WRONG_FILE)
    elif option in SETTING:
        name, read = SETTING[option]
        setattr(options, name, read(option, value))


def leading_number(text: str, kind: type[int | float]) -> float | None:
    """The number that a text begins with, as C's atol and atof read it; None if it begins with none.

    >>> leading_number("23.4", int), leading_number("5.", int), leading_number("high", int)
    (23, 5, None)
    """
    number = re.match(
        r"\s*[+-]?\d+" if kind is int else r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE
    )
    return kind(number[0]) if number else None


def _number(option: str, value: str) -> int:
    number = leading_number(value, int)
    if number is None or number < 0:
        raise TrecEvalError(f"{option} must be a whole number, 0 or more; got {value!r}.", WRONG_USE)
    return int(number)


#: What an option sets, and how its value is read.
SETTING: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "-q": ("topics", lambda *_: True),
    "-n": ("summary", lambda *_: False),
    "-c": ("complete", lambda *_: True),
    "-J": ("judged_only", lambda *_: True),
    "--strict": ("strict", lambda *_: True),
    "-l": ("level", _number),
    "-M": ("most", _number),
    "-N": ("n_docs", _number),
    "-R": ("format", lambda _, value: value),
    "-Z": ("zscores", lambda _, value: value),
    # The level of debugging stands before the point.
    "-D": ("topic", lambda _, value: value.partition(".")[2] or None),
}


def _ask_for(options: Options, measure: str) -> None:
    """Add a measure, or those of a nickname; the first parameters that a measure is given hold."""
    name, point, parameters = measure.partition(".")
    names = NICKNAMES.get(name, [name])
    if names[0] not in MEASURES or (point and not parameters):
        near = did_you_mean(f"{close}{point}{parameters}" for close in alike(name, [*MEASURES, *NICKNAMES]))
        raise TrecEvalError(f"illegal measure {measure!r}.{near}", WRONG_USE)
    for each in names:
        if options.measures.get(each) is None:
            options.measures[each] = parameters if point and name == each else None
