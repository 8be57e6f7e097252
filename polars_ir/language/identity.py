"""The identity of a measure: the call that made an expression, which the expression itself holds.

Conventions: a measure's expression has two aliases, one on the other: the name of its column, which anyone may change,
and below it a mark, which holds the measure's name and arguments as JSON. Polars reads the outer one alone. Nothing is
remembered outside of the expression, so that it is the same measure in another process, on another machine, or years
later. Expressions that are made of it are Polars' own again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any, Self

import polars as pl

from polars_ir.errors import MeasureError
from polars_ir.language.catalog import CATALOG, MeasureCall

#: The beginning of a mark.
MARK = "polars_ir measure "

#: The mark of several measures in one expression.
SEVERAL = "polars_ir measures"

#: Values of which there is one spelling.
SIMPLE = frozenset({int, str, bool, type(None)})


class MeasureExpression(pl.Expr):
    """An expression that is printed as its columns are named, and pickled by the calls of its measures.

    A pickle then serves another version of Polars, and a cache that hashes it (Streamlit's). Measures of a user's own,
    which another process may not know, are pickled as expressions; so are those with an expression for a parameter.
    """

    def __new__(cls, *pickled: Any) -> Self:
        """The expression that was pickled."""
        return _unpickled(*pickled) if pickled else super().__new__(cls)

    def __repr__(self) -> str:
        return ", ".join(str(each.meta.output_name(raise_if_undetermined=False)) for each in members(self))

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return f"<code>{repr(self).replace('&', '&amp;').replace('<', '&lt;')}</code>"

    def alias(self, name: str) -> pl.Expr:
        """The same measure in a column of another name."""
        renamed = super().alias(name)
        renamed.__class__ = type(self)
        return renamed

    def __reduce__(self) -> tuple[type[MeasureExpression], tuple[Any, ...]]:
        # Caches that hash this know how to hash a class, and not a function.
        calls = []
        for member in members(self):
            call = call_of(member)
            info = CATALOG.get(call.measure) if call else None
            if call is None or info is None or not info.ours:
                return MeasureExpression, (bytes(self.meta.serialize()),)
            if any(isinstance(value, pl.Expr) for value in call.arguments.values()):
                return MeasureExpression, (bytes(self.meta.serialize()),)
            given = {name: value for name, value in call.arguments.items() if value != info.parameters[name]}
            calls.append((info.name, given, member.meta.output_name()))
        return MeasureExpression, tuple(calls)

    def __reduce_ex__(self, _protocol: object) -> tuple[type[MeasureExpression], tuple[Any, ...]]:
        return self.__reduce__()


def _unpickled(*pickled: Any) -> Any:
    """The expression of measures by their calls and the names of their columns, or as it was written whole."""
    if isinstance(pickled[0], bytes):
        whole = pl.Expr.deserialize(pickled[0])
        whole.__class__ = MeasureExpression
        return whole
    by_call = ((CATALOG[measure].function(**given), column) for measure, given, column in pickled)
    expressions = [made if made.meta.output_name() == column else made.alias(column) for made, column in by_call]
    return expressions[0] if len(expressions) == 1 else together(expressions)


def marked(expression: pl.Expr, call: MeasureCall) -> pl.Expr:
    """The expression with a mark of its call; a `MeasureError` for arguments that can not be written.

    >>> marked(pl.col("rank").min(), MeasureCall("First", {"rel": 2}, False)).meta.output_name()
    'polars_ir measure {"measure": "First", "arguments": {"rel": 2}, "monotone": false}'
    """
    arguments = dict(call.arguments)
    for name, value in arguments.items():
        if type(value) not in SIMPLE:
            arguments[name] = _written(call.measure, name, value)
    return expression.alias(MARK + json.dumps(call._replace(arguments=arguments)._asdict()))


def call_of(expression: pl.Expr) -> MeasureCall | None:
    """The call that made an expression, whatever its name; None for a user's own aggregation.

    >>> import polars_ir as ir
    >>> call_of(ir.precision(k=5).alias("mine")).arguments
    {'k': 5, 'rel': 1, 'denominator': 'k'}
    >>> call_of(ir.precision(k=5).round(2)) is None
    True
    """
    while len(inner := expression.meta.pop()) == 1:
        name = inner[0].meta.output_name(raise_if_undetermined=False) or ""
        if name.startswith(MARK):
            mark = json.loads(name.removeprefix(MARK))
            for parameter, value in mark["arguments"].items():
                if isinstance(value, dict):
                    mark["arguments"][parameter] = _read(value)
            return MeasureCall(**mark)
        # Any other step than a change of the name makes another aggregation.
        if expression.meta.undo_aliases().meta != inner[0].meta.undo_aliases().meta:
            return None
        expression = inner[0]
    return None


def together(measures: Iterable[pl.Expr]) -> pl.Expr:
    """One expression of several measures, a column each; a `MeasureError` for two of one name."""
    expressions = list(measures)
    # Those of one measure with several outputs have no name together.
    names = [expression.meta.output_name(raise_if_undetermined=False) for expression in expressions]
    if repeated := [name for place, name in enumerate(names) if name and name in names[:place]]:
        raise MeasureError.twice(repeated[0])
    expression = pl.struct(expressions).alias(SEVERAL).struct.field("*")
    expression.__class__ = MeasureExpression
    return expression


def members(measure: pl.Expr) -> list[pl.Expr]:
    """The expressions in one that `together` made, else the expression alone.

    >>> import polars_ir as ir
    >>> [member.meta.output_name() for member in members(ir.precision(k=[1, 5]))]
    ['P@1', 'P@5']
    """
    if measure.meta.has_multiple_outputs():
        (fields,) = measure.meta.pop()[:1] or [measure]
        if fields.meta.output_name(raise_if_undetermined=False) == SEVERAL:
            (struct,) = fields.meta.pop()
            return [member for each in struct.meta.pop()[::-1] for member in members(each)]
    return [measure]


def _written(measure: str, name: str, value: Any) -> Any:
    """A value as JSON has it; other kinds of values as an object of one key."""
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
    """A value as it was before it was written as JSON."""
    if not isinstance(written, dict):
        return written
    ((kind, value),) = written.items()
    if kind == "expression":
        return pl.Expr.deserialize(base64.b64decode(value))
    values = [_read(part) if kind != "map" else tuple(map(_read, part)) for part in value]
    return {"map": dict, "tuple": tuple, "list": list}[kind](values)
