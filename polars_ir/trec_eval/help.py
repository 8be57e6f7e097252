"""What `-h` prints: the options, and with `-m` what the measures are that were named."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from polars_ir.errors import MeasureError
from polars_ir.language.dialects import taken_apart
from polars_ir.language.sets import TREC_EVAL

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

#: What is no measure, or no number.
OTHERS = {
    "runid": "The name of the run: the last field of its lines.",
    "relstring": "The grades of the first documents (10) as a string, a character for each.",
}


def help_of(measures: Iterable[str], form: str) -> str:
    """The help text."""
    lines = [
        USAGE.rstrip(),
        "",
        f"QRELS with -R {form}: {LINES.get(form, '')}",
        "RUN: topic Q0 document rank score tag",
    ]
    # With parameters it is `P.5`.
    named = {name for measure in measures for name in (measure, measure.partition(".")[0])}
    asked = [name for name in TREC_EVAL if name in named]
    return "\n".join([*lines, *(line for name in asked for line in ("", name, _described(name)))])


def _described(name: str) -> str:
    """What a measure is: its docstring up to where that tells of Python."""
    if name in OTHERS:
        return f"    {OTHERS[name]}"
    try:
        spec, _ = taken_apart(name)
    except MeasureError:  # a name that needs a number
        spec, _ = taken_apart(f"{name}_1")
    text = (inspect.getdoc(spec.function) or "").partition("\nParameters\n")[0].partition("\nReturns\n")[0]
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())
