"""The expression of a measure: Polars' own, but for how it is printed and pickled.

Conventions: expressions that are made of it are Polars' own again; so are measures that a name does not tell.
"""

from __future__ import annotations

from typing import Any, Self

import polars as pl


class MeasureExpression(pl.Expr):
    """An expression that is printed as its columns are named, and pickled by the names of its measures.

    A pickle then serves another version of Polars, and a cache that hashes it (Streamlit's). Measures of a user's own,
    which another process may not know, are pickled as expressions.
    """

    def __new__(cls, *pickled: Any) -> Self:
        """The expression that was pickled."""
        return _read(*pickled) if pickled else super().__new__(cls)

    def __repr__(self) -> str:
        from polars_ir.language.names import members

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
        from polars_ir.errors import MeasureError

        try:
            return MeasureExpression, tuple(_named(self))
        except MeasureError:
            return MeasureExpression, (bytes(self.meta.serialize()),)

    def __reduce_ex__(self, _protocol: object) -> tuple[type[MeasureExpression], tuple[Any, ...]]:
        return self.__reduce__()


def _read(*pickled: Any) -> Any:
    """The expression of measures by their names and those of their columns, or as it was written whole."""
    from polars_ir.language.measure import together
    from polars_ir.language.names import parse

    if isinstance(pickled[0], bytes):
        whole = pl.Expr.deserialize(pickled[0])
        whole.__class__ = MeasureExpression
        return whole
    by_name = ((parse(name), column) for name, column in pickled)
    expressions = [found if found.meta.output_name() == column else found.alias(column) for found, column in by_name]
    return expressions[0] if len(expressions) == 1 else together(expressions)


def _named(expression: pl.Expr) -> list[tuple[str, str]]:
    """The names of the measures in an expression, each with that of its column."""
    from polars_ir.errors import MeasureError
    from polars_ir.language.measure import info_of
    from polars_ir.language.names import call_of, members, name

    named = []
    for member in members(expression):
        call = call_of(member)
        if call is None or not info_of(call).ours:
            raise MeasureError(f"{member.meta.output_name(raise_if_undetermined=False)!r} is told by no name.")
        named.append((name(member), member.meta.output_name()))
    return named
