"""A publication table as a `great_tables.GT`, which makes HTML.

Conventions: `cells` is what `cells.cells_of` returns. Names are escaped: no character of theirs is a command.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from zlib import crc32

import polars as pl
from great_tables import GT, loc, style

#: Marks in HTML: they neither push their line down nor are bold with their number.
RAISED = '<sup style="line-height: 0; font-weight: normal">{}</sup>'


def great_table(cells: pl.DataFrame, title: str | None, note: str, corner: str) -> GT:
    """The table as a `GT` of numbers, each printed as its cell says."""
    columns = cells.partition_by("measure", "part", maintain_order=True)
    headings = [column["heading"][0] for column in columns]
    values = [column["mean" if column["part"][0] == "mean" else "text"] for column in columns]
    means = [value.alias(heading) for value, heading in zip(values, headings, strict=True)]
    # great_tables draws an id at random, which would make two texts of one table differ.
    own = f"table-{crc32(f'{cells.rows()} {title} {note}'.encode()):08x}"
    data = pl.DataFrame([columns[0]["run"], *means])
    shown = GT(data, rowname_col="run", id=own).cols_align("left").tab_source_note(note)
    for row, label in enumerate(columns[0]["label"]):
        shown = shown.fmt(_printing(html.escape(label)), columns="run", rows=[row])
    for column, heading in zip(columns, headings, strict=True):
        for row, (text, marks) in enumerate(column.select("text", "marks").iter_rows()):
            shown = shown.fmt(_printing(text + (RAISED.format(marks) if marks else "")), columns=heading, rows=[row])
        if best := column["best"].arg_true().to_list():
            shown = shown.tab_style(style.text(weight="bold"), loc.body(columns=heading, rows=best))
    shown = shown.tab_stubhead(corner) if corner else shown
    return shown if title is None else shown.tab_header(title)


def _printing(text: str) -> Callable[[object], str]:
    """A formatter that prints a cell as this text, whatever its value."""
    return lambda _: text
