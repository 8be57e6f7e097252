"""trec_eval's names of measures, and ours.

Conventions: a name of trec_eval's is what it prints, `P_5` or `ndcg_1=1,2=4`. A measure has it if it is read back as
that very measure; every other one keeps its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polars_ir.errors import MeasureError
from polars_ir.language.dialects import taken_apart
from polars_ir.language.names import parse
from polars_ir.language.sets import TREC_EVAL as MEASURES


def our_name(name: str) -> str:
    """Our name for a measure of any tool; its own if we do not know it."""
    try:
        return parse(name).meta.output_name()
    except MeasureError:
        return name


def trec_eval_name(column: str) -> tuple[str, str]:
    """The measure of trec_eval that a column holds, and the name that is printed: its own for what it does not have.

    >>> trec_eval_name("P@5"), trec_eval_name("P(rel=2)@5"), trec_eval_name("mine")
    (('P', 'P_5'), ('P', 'P(rel=2)@5'), ('mine', 'mine'))
    """
    try:
        spec, given = taken_apart(column)
    except MeasureError:
        return column, column
    measures = [name for name in MEASURES if name in spec.spellings]
    names = {name: measure for measure in measures for name in _names(measure, {**spec.parameters, **given})}
    # Rprec_mult_1.00 is Rprec, and yet a name of its own.
    same = [column] if column in names else [name for name in names if our_name(name) == our_name(column)]
    printed = same[0] if same else our_name(column)
    return names.get(printed, measures[0] if measures else column), printed


def place(measure: str, printed: str) -> tuple[int, float]:
    """Where a measure stands among others: in trec_eval's order, by rising cutoffs, and after all if it has it not."""
    order = list(MEASURES)
    number = printed.rpartition("_")[2]
    cutoff = float(number) if number.replace(".", "", 1).isdecimal() else 0.0
    return order.index(measure) if measure in order else len(order), cutoff


def _names(measure: str, arguments: Mapping[str, object]) -> Iterator[str]:
    """The names that trec_eval may print a measure under, given its parameters."""
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
