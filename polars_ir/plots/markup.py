"""Names in a chart that are markup: they are shown as they are, and can not end the script of a page.

Conventions: a page holds a chart as JSON inside a script, which Altair writes as it is, so that `</script>` in the name
of a system would end it and let the rest of the name be one. A word joiner, which is not seen, stands in every `</` and
`<!` of a chart.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import altair as alt
import polars as pl

P = ParamSpec("P")
C = TypeVar("C", bound=alt.SchemaBase)

#: What ends a script, or begins what hides its end.
_MARKUP, _HARMLESS = "<([/!])", "<\u2060${1}"


def without_markup(function: Callable[P, C]) -> Callable[P, C]:
    """Let a function give a chart without markup in it."""

    @functools.wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> C:
        chart: C = _harmless(function(*args, **kwargs))
        return chart

    return drawn


def _harmless(part: Any) -> Any:
    """A part of a chart without markup."""
    if isinstance(part, str):
        return re.sub(_MARKUP, "<\u2060\\1", part)
    if isinstance(part, pl.DataFrame):
        return part.with_columns(pl.col(pl.String).str.replace_all(_MARKUP, _HARMLESS))
    if isinstance(part, list):
        return [_harmless(one) for one in part]
    if isinstance(part, dict):
        return {name: _harmless(value) for name, value in part.items()}
    if isinstance(part, alt.SchemaBase):
        for name, value in list(part._kwds.items()):  # noqa: SLF001  # Altair has no other list of a chart's parts
            part[name] = _harmless(value)
    return part
