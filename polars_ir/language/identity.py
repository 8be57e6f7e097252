"""What an expression says of the call that made it: a measure knows what it is wherever it is sent or renamed.

A measure's expression has two aliases, one on the other: the name of its column, which anyone may change, and below it
a mark, which holds the measure's name and arguments as JSON. Polars reads the outer one alone. Nothing is remembered
outside of the expression, so that it is the same measure in another process, on another machine, or years later.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import polars as pl

from polars_ir.errors import MeasureError

#: What a mark begins with.
MARK = "polars_ir measure "

#: The mark of several measures in one expression.
SEVERAL = "polars_ir measures"

#: Whole floats from here on are not written as integers: neighbours would share one.
EXACT = 2**53


class Call(NamedTuple):
    """A measure by its name in the catalogue, and the arguments it was called with.

    `monotone` stands here as it does in the catalogue, since a process that did not define the measure lacks its entry.
    """

    measure: str
    arguments: Mapping[str, Any]
    monotone: bool


class Measured(NamedTuple):
    """A measure of an evaluation: its column, its aggregation, and the call that made it, if one did."""

    name: str
    expression: pl.Expr
    call: Call | None


def marked(expression: pl.Expr, call: Call) -> pl.Expr:
    """The expression with a mark of its call; a `MeasureError` for arguments that can not be written.

    >>> call_of(marked(pl.col("rank").min(), Call("First", {"rel": 2}, False)).alias("mine"))
    Call(measure='First', arguments={'rel': 2}, monotone=False)
    """
    written = {name: _written(call.measure, name, value) for name, value in call.arguments.items()}
    mark = {"measure": call.measure, "arguments": written, "monotone": call.monotone}
    return expression.alias(MARK + json.dumps(mark))


def call_of(expression: pl.Expr) -> Call | None:
    """The call that made an expression, whatever its name; None for a user's own aggregation.

    >>> import polars_ir as ir
    >>> call_of(ir.precision(k=5).alias("mine")).arguments
    {'k': 5, 'rel': 1}
    >>> call_of(ir.precision(k=5).round(2)) is None
    True
    """
    while len(inner := expression.meta.pop()) == 1:
        name = _output_name(inner[0])
        if name.startswith(MARK):
            mark = json.loads(name.removeprefix(MARK))
            return Call(mark["measure"], {n: _read(v) for n, v in mark["arguments"].items()}, mark["monotone"])
        # Any other step than a change of the name makes another aggregation.
        if expression.meta.undo_aliases().meta != inner[0].meta.undo_aliases().meta:
            return None
        expression = inner[0]
    return None


def together(measures: Iterable[pl.Expr]) -> pl.Expr:
    """One expression of several measures, a column each; a `MeasureError` for two of one name."""
    expressions = list(measures)
    names = [expression.meta.output_name() for expression in expressions]
    if repeated := [name for place, name in enumerate(names) if name in names[:place]]:
        raise MeasureError.twice(repeated[0])
    return pl.struct(expressions).alias(SEVERAL).struct.field("*")


def members(expression: pl.Expr) -> list[pl.Expr]:
    """The measures in an expression made by `together`; any other expression is one.

    >>> import polars_ir as ir
    >>> [measure.meta.output_name() for measure in members(ir.precision(k=[1, 5]))]
    ['P@1', 'P@5']
    """
    if expression.meta.has_multiple_outputs():
        (fields,) = expression.meta.pop()[:1] or [expression]
        if _output_name(fields) == SEVERAL:
            (struct,) = fields.meta.pop()
            return struct.meta.pop()[::-1]
    return [expression]


def plain(value: Any) -> Any:
    """A number of any library as Python's, a whole one as an integer; a map by rising numbers; others as they are.

    >>> plain(2.0), plain({2.0: 3.0, 1: 0.5}), plain("log2")
    (2, {1: 0.5, 2: 3}, 'log2')
    """
    if isinstance(value, Mapping):
        items = [(plain(key), plain(item)) for key, item in value.items()]
        # The same map in another order is the same measure, with the same name.
        of_numbers = all(isinstance(key, Real) for key, _ in items)
        return dict(sorted(items, key=lambda item: item[0]) if of_numbers else items)
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < EXACT else number


def canonical_name(measure: str, arguments: Mapping[str, object], defaults: Mapping[str, object], at: str) -> str:
    """The name of a measure with these arguments, in the notation of `ir_measures`; `at` is what follows the `@`.

    >>> canonical_name("P", {"k": 5, "rel": 2}, {"k": None, "rel": 1}, "k")
    'P(rel=2)@5'
    """
    parameters = [f"{n}={_literal(v)}" for n, v in arguments.items() if n != at and _differs(v, defaults[n])]
    cutoff = arguments.get(at)
    return (
        measure
        + (f"({','.join(parameters)})" if parameters else "")
        + (f"@{_literal(cutoff)}" if cutoff is not None else "")
    )


def _written(measure: str, name: str, value: Any) -> Any:
    """A value as JSON has it; what JSON lacks as an object of one key."""
    if isinstance(value, pl.Expr):
        try:
            return {"expression": base64.b64encode(value.meta.serialize()).decode()}
        except pl.exceptions.ComputeError:
            raise MeasureError(
                f"{measure}: {name} holds a Python function, which no other process can read. Put its values into a "
                "column first, and name that."
            ) from None
    if isinstance(value, Mapping):
        return {"map": [[_written(measure, name, part) for part in pair] for pair in value.items()]}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [_written(measure, name, part) for part in value]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    wanted = "a number, a string, True, False, None, a tuple, list or map of these, or a Polars expression"
    raise MeasureError.parameter(measure, name, wanted, value)


def _read(written: Any) -> Any:
    """A value from what `_written` made of it."""
    if not isinstance(written, dict):
        return written
    ((kind, value),) = written.items()
    if kind == "expression":
        return pl.Expr.deserialize(base64.b64decode(value))
    values = [_read(part) if kind != "map" else tuple(map(_read, part)) for part in value]
    return {"map": dict, "tuple": tuple, "list": list}[kind](values)


def _output_name(expression: pl.Expr) -> str:
    try:
        return expression.meta.output_name()
    except pl.exceptions.PolarsError:  # of several columns, or of one that only the data names
        return ""


def _literal(value: object) -> str:
    """A parameter's value as `ir_measures` writes it: a map of gains without blanks, a whole float without a point."""
    if isinstance(value, pl.Expr):
        return value.meta.output_name()
    if isinstance(value, tuple):
        return "(" + ",".join(map(_literal, value)) + ")"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_literal(v)}" for key, v in value.items()) + "}"
    return repr(plain(value))


def _differs(value: object, default: object) -> bool:
    """Whether a value is not the default; expressions have no truth value to tell."""
    return isinstance(value, pl.Expr) or value != default
