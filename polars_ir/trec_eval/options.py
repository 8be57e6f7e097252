"""The options of trec_eval, as it reads them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from getopt import GetoptError, gnu_getopt
from inspect import cleandoc
from typing import Any

from polars_ir.errors import IRError, nearest
from polars_ir.files.formats import Format
from polars_ir.trec_eval.measures import MEASURES, NICKNAMES

USAGE = cleandoc(
    """
    Usage: polars-ir trec_eval [-q] [-n] [-c] [-l N] [-M N] [-J] [-N N] [-R format] {-m measure[.params]}* QRELS RUN
       -q: figures of each topic before the summary          -n: no summary
       -m: a measure, such as P.5,10, or official (the default), all_trec, set, prefs, all_prefs, qrels_jg; repeat
       -c: average over all topics of QRELS                  -l: the lowest grade that is relevant (1)
       -M: documents to look at for each topic               -J: judged documents only
       -N: documents in the collection, for utility          -R: qrels, qrels_jg, qrels_prefs or prefs
       RUN: a file, or - for what comes in                   -h, -v: this help, and the version
       --strict: as trec_eval 10 has it, also where it is wrong
    """
)

#: How `read_qrels` calls the formats of -R.
FORMATS: dict[str, Format | None] = {
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

#: The options of trec_eval that are not here: what they did, and what does it instead.
MISSING = {
    "-Z": "printed how many standard deviations a figure is from a mean in a file; write the figures (-q), and reckon "
    "it from ir.read_trec_eval(...), joined with the means",
    "-D": "printed how a figure came about, or of one topic only; ir.explain(run, qrels, measure) shows the first, and "
    "-q has the topic among the others",
}

#: The status that trec_eval ends with.
WRONG_USE, WRONG_FILE, NOT_COMPUTED, NOTHING_SHARED = 1, 2, 4, 7


class TrecEvalError(IRError):
    """What ends the program, with its status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


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
    files: tuple[str, str] = ("", "")


def options_of(arguments: Sequence[str]) -> Options:
    """The options in trec_eval's own form; `TrecEvalError` for wrong ones."""
    try:
        given, files = gnu_getopt(list(arguments), "hvqm:cl:nJN:M:R:T:oZ:D:", list(LONG))
    except GetoptError as error:
        raise TrecEvalError(f"{error}.\n{USAGE}", WRONG_USE) from None
    options = Options()
    short = {f"--{name.removesuffix('=')}": option for name, option in LONG.items()}
    for option, value in ((short.get(option, option), value) for option, value in given):
        _end_at(option)
        if option == "-m":
            _ask_for(options, value)
        elif option == "-R" and value not in FORMATS:
            raise TrecEvalError(f"-R must be one of {', '.join(FORMATS)}; got {value!r}.", WRONG_FILE)
        elif option == "-T" and value != "trec_results":
            raise TrecEvalError(f"-T must be trec_results; got {value!r}.", WRONG_FILE)
        elif option in SETTING:
            name, read = SETTING[option]
            setattr(options, name, read(option, value))
    if len(files) != 2:
        raise TrecEvalError(f"QRELS and RUN are two files; got {len(files)}.\n{USAGE}", WRONG_USE)
    options.files = (files[0], files[1])
    if not options.measures:
        _ask_for(options, "official")
    return options


def _end_at(option: str) -> None:
    """Raise a `TrecEvalError` for an option that ends the program: help and version, and what is not here."""
    if option in ("-h", "-v"):
        raise TrecEvalError(USAGE if option == "-h" else "trec_eval version 10.0, as polars_ir has it", 0)
    if option in MISSING:
        raise TrecEvalError(f"{option} is not here. In trec_eval it {MISSING[option]}.", WRONG_USE)


def _number(option: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise TrecEvalError(f"{option} must be a whole number; got {value!r}.", WRONG_USE) from None


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
}


def _ask_for(options: Options, measure: str) -> None:
    """Add a measure, or those of a nickname; the first parameters that a measure is given hold."""
    name, point, parameters = measure.partition(".")
    names = NICKNAMES.get(name, [name])
    if names[0] not in MEASURES or (point and not parameters):
        raise TrecEvalError(f"illegal measure {measure!r}.{nearest(name, [*MEASURES, *NICKNAMES])}", WRONG_USE)
    for each in names:
        if options.measures.get(each) is None:
            options.measures[each] = parameters if point and name == each else None
