"""The measures of trec_eval as it prints them, and their names and ours; the list of them is in `language.sets`.

Conventions: a name of trec_eval's is what it prints, `P_5` or `ndcg_1=1,2=4`. A measure has it if it is read back as
that very measure; every other one keeps its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from polars_ir.errors import MeasureError
from polars_ir.language.dialects import parsed_name
from polars_ir.language.names import parse
from polars_ir.language.sets import TREC_EVAL as MEASURES

#: Measures whose parameters are pairs such as 1=3, the gain of a grade.
WITH_PAIRS = ("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg", "rbp", "rbp_resid")

#: Lines at the head of the summary, which hold no figures.
OF_RUN = ("runid", "num_q")

#: Measures printed per topic only, and in the summary only.
OF_TOPICS = ("relstring",)
OF_SUMMARY = ("gm_map", "gm_bpref")

#: Counts, which the summary adds up.
COUNTS = tuple(name for name in MEASURES if name.startswith(("num_", "prefs_num_")) and name not in OF_RUN)


def formats_of(name: str) -> tuple[str, ...]:
    """The formats of judgments (-R) that a measure can be computed from.

    >>> formats_of("map"), formats_of("map_avgjg"), formats_of("prefs_simp")
    (('qrels',), ('qrels_jg',), ('prefs', 'qrels_prefs'))
    """
    if name in OF_RUN:
        return ("qrels", "qrels_jg", "prefs", "qrels_prefs")
    if name.startswith("prefs_"):
        return ("prefs", "qrels_prefs")
    return ("qrels_jg",) if name.endswith("_avgjg") else ("qrels",)


def our_name(name: str) -> str:
    """Our name for a measure of trec_eval or any other tool; its own if it is unknown."""
    for words in (name, f"trec_eval {name}"):
        with suppress(MeasureError):
            return parse(words).meta.output_name(raise_if_undetermined=False) or name
    return name


def trec_eval_name(column: str) -> tuple[str, str]:
    """The measure of trec_eval that a column holds, and the name that is printed: its own for what it does not have.

    >>> trec_eval_name("P@5"), trec_eval_name("P(rel=2)@5"), trec_eval_name("mine")
    (('P', 'P_5'), ('P', 'P(rel=2)@5'), ('mine', 'mine'))
    """
    try:
        info, given = parsed_name(column)[:2]
    except MeasureError:
        return column, column
    measures = [name for name in MEASURES if name in info.spellings]
    names = {name: measure for measure in measures for name in _names(measure, {**info.parameters, **given})}
    # Rprec_mult_1.00 is Rprec, and yet a name of its own.
    same = [column] if column in names else [name for name in names if our_name(name) == our_name(column)]
    printed = same[0] if same else our_name(column)
    return names.get(printed, measures[0] if measures else column), printed


def place(measure: str, printed: str) -> tuple[int, float]:
    """Sort key of a measure: trec_eval's order, then rising cutoffs, unknown measures last."""
    order = list(MEASURES)
    number = printed.rpartition("_")[2]
    cutoff = float(number) if number.replace(".", "", 1).isdecimal() else 0.0
    return order.index(measure) if measure in order else len(order), cutoff


def _names(measure: str, arguments: Mapping[str, object]) -> Iterator[str]:
    """The names that trec_eval may print for a measure with these parameters."""
    usual = MEASURES[measure]
    if usual:
        numbers = [value for value in arguments.values() if isinstance(value, (int, float))]
        yield from (f"{measure}_{number:.2f}" if "." in usual else f"{measure}_{number}" for number in numbers)
        return
    yield measure
    if usual is None:
        yield f"{measure}_{','.join(_given(arguments))}"


def _given(arguments: Mapping[str, object]) -> Iterator[str]:
    """Parameters as trec_eval writes them: `p=0.5`, gains as `1=3`, and the square of beta."""
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            yield from (f"{grade}={gain}" for grade, gain in value.items())
        elif isinstance(value, tuple):
            yield from map(str, value)
        elif name == "beta" and isinstance(value, (int, float)):
            yield f"{value**2:.12g}"
        elif name == "p":
            yield f"p={value}"
