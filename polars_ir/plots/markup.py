"""Names in a chart that are markup: they are shown as they are, and can not end the script of a page.

Conventions: a page holds a chart as JSON inside a script, which Altair writes as it is, so that `</script>` in the name
of a system would end it and let the rest of the name be one. A word joiner, which is not seen, stands in every `</` and
`<!` of a chart.
"""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import polars as pl

#: Text that ends a script, or that begins a comment which hides the end.
_MARKUP, _HARMLESS = "<([/!])", "<\u2060${1}"


def without_markup(part: Any) -> Any:
    """A chart, or a part of one, without markup."""
    if isinstance(part, str):
        return re.sub(_MARKUP, "<\u2060\\1", part)
    if isinstance(part, pl.DataFrame):
        return part.with_columns(pl.col(pl.String).str.replace_all(_MARKUP, _HARMLESS))
    if isinstance(part, list):
        return [without_markup(one) for one in part]
    if isinstance(part, dict):
        return {name: without_markup(value) for name, value in part.items()}
    if isinstance(part, alt.SchemaBase):
        for name, value in list(part._kwds.items()):  # noqa: SLF001  # Altair has no other list of a chart's parts
            part[name] = without_markup(value)
    return part
