"""The options of trec_eval, as it reads them: their help, and each measure with its parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt
from typing import Any, NamedTuple

from polars_ir.errors import IRError, MeasureError, alike, did_you_mean
from polars_ir.files.formats import FormatName
from polars_ir.language.dialects import parsed_name
from polars_ir.language.sets import NICKNAMES
from polars_ir.language.sets import TREC_EVAL as MEASURES

USAGE = """\
Usage: polars-ir trec_eval [-q] [-n] [-c] [-l N] [-M N] [-J] [-N N] [-R format] {-m measure[.params]}* QRELS RUN
   -q: figures of each topic before the summary          -n: no summary
   -m: a measure, such as P.5,10, or official (the default), all_trec, set, prefs, all_prefs, qrels_jg; repeat
   -c: average over all topics of QRELS                  -l: the lowest grade that is relevant (1)
   -M: documents to look at for each topic               -J: judged documents only
   -N: documents in the collection, for utility          -R: qrels, qrels_jg, qrels_prefs or prefs
   -Z: a file of `topic measure mean deviation`; prints figures as deviations from their means
   -D: 1.TOPIC for this topic only (what trec_eval prints of its computations is not printed)
   RUN: a file, or - for what comes in                   -h, -v: this help, and the version
   -h -m measure: what it is                             --strict: as trec_eval 10 has it, also where it is wrong"""


#: Formats of judgments: the fields of a line.
LINES = {
    "qrels": "topic iteration document relevance",
    "qrels_jg": "topic judge document relevance, with several judges of a topic",
    "qrels_prefs": "topic judge document relevance, a higher relevance being preferred to a lower one",
    "prefs": "topic judge group document relevance, a higher relevance being preferred to a lower one of its group",
}

#: Names that are not measures, or not numbers.
OTHERS = {
    "runid": "The name of the run: the last field of its lines.",
    "relstring": "The grades of the first documents (10) as a string, a character for each.",
}


def help_of(measures: Iterable[str], form: str) -> str:
    """The help text."""
    lines = [USAGE, "", f"QRELS with -R {form}: {LINES.get(form, '')}", "RUN: topic Q0 document rank score tag"]
    # With parameters it is `P.5`.
    named = {name for measure in measures for name in (measure, measure.partition(".")[0])}
    asked = [name for name in MEASURES if name in named]
    return "\n".join([*lines, *(line for name in asked for line in ("", name, _described(name)))])


def _described(name: str) -> str:
    """The meaning of a measure: its docstring up to the parameters."""
    if name in OTHERS:
        return f"    {OTHERS[name]}"
    try:
        info = parsed_name(f"trec_eval {name}").info
    except MeasureError:  # a name that needs a number
        info = parsed_name(f"trec_eval {name}_1").info
    text = (inspect.getdoc(info.function) or "").partition("\nParameters\n")[0].partition("\nReturns\n")[0]
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())


#: The formats of -R by their names in `read_qrels`.
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
    """Exit of the program with a status; `shown` text, such as help, goes to standard output."""

    def __init__(self, message: str, status: int, *, shown: bool = False) -> None:
        super().__init__(message)
        self.message, self.status, self.shown = message, status, shown


@dataclass
class Options:
    """The options of a call; `measures` are names with their parameters, None for the usual ones."""

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
    """The leading number of a text, as C's atol and atof read it; None without one.

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


#: The field that an option sets, and the reader of its value.
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
    """Add a measure, or those of a nickname; a measure keeps its first parameters."""
    name, point, parameters = measure.partition(".")
    names = NICKNAMES.get(name, [name])
    if names[0] not in MEASURES or (point and not parameters):
        near = did_you_mean(
            f"{close}{point if parameters else ''}{parameters}" for close in alike(name, [*MEASURES, *NICKNAMES])
        )
        raise TrecEvalError(f"illegal measure {measure!r}.{near}", WRONG_USE)
    for each in names:
        if options.measures.get(each) is None:
            options.measures[each] = parameters if point and name == each else None


class Asked(NamedTuple):
    """A measure with its parameters: as text, or as the cutoff of one of its figures."""

    name: str
    given: str | None
    options: Options
    cutoff: float | None = None

    @property
    def numbers(self) -> list[float]:
        """The parameters as numbers, in their order."""
        numbers = [leading_number(text, float) for text in (self.given or "").split(",")]
        if None in numbers:
            raise TrecEvalError(f"{self.name}: parameters must be numbers; got {self.given!r}.", WRONG_FILE)
        return [number for number in numbers if number is not None]

    @property
    def pairs(self) -> dict[str, float]:
        """The parameters `name=number`; the first value of a name is kept."""
        pairs = [pair.partition("=") for pair in (self.given or "").split(",")] if self.given else []
        values = {name: leading_number(value, float) for name, _, value in reversed(pairs)}
        if not all(sign for _, sign, _ in pairs) or None in values.values():
            says = f"{self.name}: parameters must be pairs, as in {self.name}.1=2; got {self.given!r}."
            raise TrecEvalError(says, WRONG_FILE)
        return {name: value for name, value in values.items() if value is not None}

    @property
    def gains(self) -> dict[float, float]:
        """Gains by relevance level; names that are no whole number are skipped."""
        return {int(name): value for name, value in self.pairs.items() if name.lstrip("+-").isdecimal()}
