"""A publication table as a `great_tables.GT`, which makes HTML.

Conventions: `cells` is what `cells.cells_of` returns. Names are escaped: no character of theirs is a command.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from itertools import groupby
from zlib import crc32

import polars as pl
from great_tables import GT, loc, style

from polars_ir.tables import typesetting


class PublicationTable(GT):
    """A `GT` whose text, in a terminal, is the table in Markdown."""

    text: str

    def __repr__(self) -> str:
        return self.text


def great_table(cells: pl.DataFrame, title: str | None, note: str, corner: str) -> PublicationTable:
    """The table as a `GT` of numbers, each printed as its cell says."""
    columns = cells.partition_by("measure", "part", maintain_order=True)
    names = [column["heading"][0] for column in columns]
    values = [column["mean" if column["part"][0] == "mean" else "text"] for column in columns]
    means = [value.alias(name) for value, name in zip(values, names, strict=True)]
    text = typesetting.markdown(cells, title, note, corner)
    # great_tables draws an id at random, which would make two texts of one table differ.
    own = f"table-{crc32(text.encode()):08x}"
    shown = PublicationTable(pl.DataFrame([columns[0]["run"], *means]), rowname_col="run", id=own)
    object.__setattr__(shown, "text", text)  # it is frozen
    shown = shown.cols_align("left").tab_source_note(note)
    for row, label in enumerate(columns[0]["label"]):
        shown = shown.fmt(_printing(html.escape(label)), columns="run", rows=[row])
    for column, name in zip(columns, names, strict=True):
        for row, (printed, marks) in enumerate(column.select("text", "marks").iter_rows()):
            # Marks neither push their line down nor are bold with their number.
            raised = f'<sup style="line-height: 0; font-weight: normal">{marks}</sup>' if marks else ""
            shown = shown.fmt(_printing(printed + raised), columns=name, rows=[row])
        if best := column["best"].arg_true().to_list():
            shown = shown.tab_style(style.text(weight="bold"), loc.body(columns=name, rows=best))
    shown = _with_spanners(shown, columns)
    shown = shown.tab_stubhead(corner) if corner else shown
    return shown if title is None else shown.tab_header(title)


def _with_spanners(shown: PublicationTable, columns: list[pl.DataFrame]) -> PublicationTable:
    """The table with each measure above its mean and the figures beside it, if there are any."""
    for place, (_, parts) in enumerate(groupby(columns, lambda column: column["measure"][0])):
        mean, *others = parts
        if not others:
            continue
        heading = mean["heading"][0]
        names = [heading, *(column["heading"][0] for column in others)]
        shown = shown.tab_spanner(heading, columns=names, id=f"measure-{place}")
        labels = ["mean", *map(typesetting.part_of, others)]
        shown = shown.cols_label(dict(zip(names, labels, strict=True)))
    return shown


def _printing(text: str) -> Callable[[object], str]:
    """A formatter that prints a cell as this text, whatever its value."""
    return lambda _: text
