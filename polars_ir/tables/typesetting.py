"""A publication table as LaTeX and Markdown.

Conventions: `cells` is what `cells.cells_of` returns. The LaTeX of great_tables has no bold, and it writes no Markdown.
Names are escaped: in neither format is a character of theirs a command.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

import polars as pl

from polars_ir.errors import Fix, warn
from polars_ir.tables.cells import MINUS, UNDEFINED

#: LaTeX's text for characters that are its commands. A bracket or an asterisk that opens a row would be taken
#: for an option of the line break before it.
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{character: f"{{{character}}}" for character in '[]*"'},
    "\N{FIGURE SPACE}": r"\phantom{0}",
    "\N{EN DASH}": "--",
    "\N{MINUS SIGN}": "$-$",
    "\N{DAGGER}": r"\dag{}",
    "\N{DOUBLE DAGGER}": r"\ddag{}",
}

#: The characters that Markdown may take for a command.
MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#$])")

#: The widths of a column and of the whole of a page of LaTeX's article, in points.
COLUMN, PAGE = 229, 469

#: LaTeX's font sizes relative to normalsize, and the column separation.
SIZES = {"": (1.0, 12), "small": (0.92, 6), "footnotesize": (0.85, 6), "scriptsize": (0.76, 6)}

#: The widths of characters in LaTeX's font of 10 points, of other capitals and of all others; bold and raised ones.
WIDTHS = {
    **dict.fromkeys("ijlt.,:;'|![]() \N{DAGGER}\N{DOUBLE DAGGER}", 4.0),
    **dict.fromkeys("0123456789-\N{FIGURE SPACE}\N{EN DASH}", 5.0),
    **dict.fromkeys("mwMW@%+<>=\N{MINUS SIGN}", 8.5),
}
CAPITAL, OTHER, BOLD, RAISED = 7.5, 5.6, 1.15, 0.75

#: The columns of a measure: its means, and the figures beside them.
Measure: TypeAlias = Sequence[pl.DataFrame]

#: Characters that a label may not have.
NO_LABEL = re.compile(r"[\\{}%#&~^$_\s]|^$")


def latex(
    cells: pl.DataFrame,
    title: str | None,
    note: str,
    corner: str,
    *,
    label: str | None = None,
    wide: bool | None = None,
) -> str:
    """The table as a float, which needs booktabs; over both columns of a page, in smaller letters, where it must be.

    What fits at no size has its measures in several tables, one below the other.
    """
    columns = cells.partition_by("measure", "part", maintain_order=True)
    measures = [list(columns) for _, columns in groupby(columns, lambda column: column["measure"][0])]
    spread = _width_of(measures, "") > COLUMN if wide is None else wide
    room, float_name = (PAGE, "table*") if spread else (COLUMN, "table")
    broken = {size: _broken(measures, size, room) for size in SIZES}
    # The largest letters in which it takes the fewest tables, all of which fit.
    size = min(SIZES, key=lambda size: (_excess(broken[size], size, room), len(broken[size])))
    if excess := _excess(broken[size], size, room):
        says = f"the table is about {excess} pt wider than the {room} pt that LaTeX has for it."
        warn(says, fix=Fix("Show fewer figures beside the means, or give the systems shorter names"))
    lines = [
        f"\\begin{{{float_name}}}",
        r"\centering",
        # In many classes a caption stands on the rule below it.
        *([] if title is None else [f"\\caption{{{_latex(title)}}}"]),
        *([] if label is None else [f"\\label{{{label}}}"]),
        *([] if title is None else [r"\par\smallskip"]),
        *([f"\\{size}\\setlength{{\\tabcolsep}}{{{SIZES[size][1] // 2}pt}}"] if size else []),
        *(line for part in broken[size] for line in (*_tabular(part, corner), r"\par\smallskip")),
        f"\\parbox{{\\linewidth}}{{\\footnotesize {_latex(note)}}}",
        f"\\end{{{float_name}}}",
    ]
    return "\n".join(lines) + "\n"


def _broken(measures: Sequence[Measure], size: str, room: float) -> list[list[Measure]]:
    """The measures split into tables that fit the page in a font size."""
    parts: list[list[Measure]] = [[]]
    for columns in measures:
        if parts[-1] and _width_of([*parts[-1], columns], size) > room:
            parts.append([])
        parts[-1].append(columns)
    return parts


def _excess(parts: Sequence[Sequence[Measure]], size: str, room: float) -> int:
    """Points by which a single-measure table overflows."""
    return max(0, math.ceil(max(_width_of(part, size) for part in parts) - room))


def _tabular(measures: Sequence[Measure], corner: str) -> Iterator[str]:
    columns = [column for columns in measures for column in columns]
    yield f"\\begin{{tabular}}{{l{''.join(map(_alignment, columns))}}}"
    yield r"\toprule"
    yield from _headings(measures, corner)
    yield r"\midrule"
    yield from map(_row, zip(map(_latex, columns[0]["label"]), *map(_printed, columns), strict=True))
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _is_mean(column: pl.DataFrame) -> bool:
    """True for a column of means, which takes two of LaTeX: digits before the point, and those behind it."""
    return bool(column["part"][0] == "mean")


def _alignment(column: pl.DataFrame) -> str:
    """Means stand on their points, since bold digits are wider, and marks stand behind; others are flush right."""
    if not _is_mean(column):
        return "r"
    return "r@{.}l" if column["text"].str.contains(".", literal=True).any() else "r@{}l"


def _headings(measures: Sequence[Measure], corner: str) -> Iterator[str]:
    """The heading row of measures, and a second one where side columns need it."""
    top, rules, below, first = [_latex(corner)], [], [""], 2
    for columns in measures:
        last = first + len(columns)
        heading = _latex(columns[0]["heading"][0])
        top.append(f"\\multicolumn{{{len(columns) + 1}}}{{{'l' if len(columns) == 1 else 'c'}}}{{{heading}}}")
        rules.append(f"\\cmidrule(lr){{{first}-{last}}}")
        below += [r"\multicolumn{2}{l}{mean}", *(_latex(part_of(column)) for column in columns[1:])]
        first = last + 1
    yield _row(top)
    if len(measures[0]) > 1:
        yield " ".join(rules)
        yield _row(below)


def part_of(column: pl.DataFrame) -> str:
    """The heading of a column beside the means, below its measure."""
    return str(column["heading"][0]).removeprefix(f"{column['measure'][0]} ")


def _printed(column: pl.DataFrame) -> Iterator[str]:
    cells = column.select(pl.col("text").str.strip_chars(), "marks", "best").iter_rows()
    return (_mean(*cell) for cell in cells) if _is_mean(column) else (_latex(text) for text, _, _ in cells)


def _mean(text: str, marks: str, best: bool) -> str:  # noqa: FBT001  # a row of cells
    if text == UNDEFINED:
        return rf"\multicolumn{{2}}{{l}}{{{_latex(text)}}}"
    parts = [_latex(part) for part in text.replace("-", MINUS).partition(".")[::2]]
    before, behind = (rf"\textbf{{{part}}}" if best and part else part for part in parts)
    return f"{before} & {behind}" + (rf"\textsuperscript{{{_latex(marks)}}}" if marks else "")


def _width_of(measures: Sequence[Measure], size: str) -> float:
    """Approximate width of a table of these measures, in points, in a font size."""
    times, between = SIZES[size]
    label = max(map(_width, measures[0][0]["label"]))
    wholes = [
        max(
            times * _width(columns[0]["heading"][0]) + between,
            sum(times * _column_width(column, alone=len(columns) == 1) + between for column in columns),
        )
        for columns in measures
    ]
    return times * label + between + sum(wholes)


def _column_width(column: pl.DataFrame, *, alone: bool) -> float:
    """Width of the widest cell, or of the heading below the measure unless `alone`."""
    cells = column.select(pl.col("text").str.strip_chars(), "marks", "best").iter_rows()
    widest = max(_width(text) * (BOLD if best else 1) + RAISED * _width(marks) for text, marks, best in cells)
    return widest if alone else max(widest, _width("mean" if _is_mean(column) else part_of(column)))


def _width(text: str) -> float:
    return sum(WIDTHS.get(character, CAPITAL if character.isupper() else OTHER) for character in text)


def markdown(cells: pl.DataFrame, title: str | None, note: str, corner: str) -> str:
    """The table in GitHub's Markdown, aligned so that it also reads as plain text."""

    def printed(text: str, marks: str, best: bool) -> str:  # noqa: FBT001  # a row of cells
        # Markdown takes no asterisks before a space for bold.
        number = text.lstrip()
        indent, number, marks = map(_markdown, (text.removesuffix(number), number, marks))
        return indent + (f"**{number}**" if best else number) + (f"<sup>{marks}</sup>" if marks else "")

    by_system = cells.partition_by("run", maintain_order=True)
    grid = [[_markdown(corner), *map(_markdown, by_system[0]["heading"])]]
    for system in by_system:
        texts = (printed(*cell) for cell in system.select("text", "marks", "best").iter_rows())
        grid.append([_markdown(system["label"][0]), *texts])
    widths = [max(3, *map(len, column)) for column in zip(*grid, strict=True)]
    headings, *rows = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in grid)
    lines = ["| " + " | ".join(row) + " |" for row in (headings, ["-" * width for width in widths], *rows)]
    return "\n".join([*([] if title is None else [_markdown(title), ""]), *lines, "", _markdown(note)]) + "\n"


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in _on_one_line(text))


def _markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", _on_one_line(text))


def _on_one_line(text: str) -> str:
    """A line break in a name would end the row."""
    return re.sub(r"\s*[\r\n]+\s*", " ", text)
