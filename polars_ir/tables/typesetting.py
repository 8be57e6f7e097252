"""A publication table as LaTeX and Markdown.

Conventions: `cells` is what `cells.cells_of` returns. The LaTeX of great_tables has no bold, and it writes no Markdown.
Names are escaped: in neither format is a character of theirs a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

#: What stands for the characters that are commands of LaTeX. A bracket or an asterisk that opens a row would be taken
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


#: The width of a column of a page, of one character and of what is between two columns, in points.
PAGE, CHARACTER, BETWEEN = 240, 5, 12

#: What may not stand in a label.
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
    """The table as a float, which needs booktabs; over both columns of a page where it does not fit into one."""
    float_name = "table*" if (_is_wide(cells) if wide is None else wide) else "table"
    headings, *rows = _grid(cells, corner, _latex, bold=r"\textbf{{{}}}", raised=r"\textsuperscript{{{}}}")
    lines = [
        f"\\begin{{{float_name}}}",
        r"\centering",
        *([] if title is None else [f"\\caption{{{_latex(title)}}}"]),
        *([] if label is None else [f"\\label{{{label}}}"]),
        f"\\begin{{tabular}}{{{'l' * len(headings)}}}",
        r"\toprule",
        " & ".join(headings) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        f"\\parbox{{\\linewidth}}{{\\footnotesize {_latex(note)}}}",
        f"\\end{{{float_name}}}",
    ]
    return "\n".join(lines) + "\n"


def _is_wide(cells: pl.DataFrame) -> bool:
    """Whether the table is wider than a column of two on a page, by its characters."""
    columns = cells.partition_by("measure", "part", maintain_order=True)
    label = cells["label"].str.len_chars().max()
    widths = [label if isinstance(label, int) else 0]
    for column in columns:
        printed = (column["text"] + column["marks"]).str.len_chars().max()
        widths.append(max(len(column["heading"][0]), printed if isinstance(printed, int) else 0))
    return sum(widths) * CHARACTER + (len(widths) - 1) * BETWEEN > PAGE


def markdown(cells: pl.DataFrame, title: str | None, note: str, corner: str) -> str:
    """The table with pipes, as GitHub reads it."""
    headings, *rows = _grid(cells, corner, _markdown, bold="**{}**", raised="<sup>{}</sup>")
    lines = ["| " + " | ".join(row) + " |" for row in (headings, ["---"] * len(headings), *rows)]
    return "\n".join([*([] if title is None else [_markdown(title), ""]), *lines, "", _markdown(note)]) + "\n"


def _grid(
    cells: pl.DataFrame, corner: str, escaped: Callable[[str], str], *, bold: str, raised: str
) -> list[list[str]]:
    """The headings, then the row of each system, with its label before it."""

    def printed(text: str, marks: str, best: bool) -> str:  # noqa: FBT001  # a row of cells
        # Markdown takes no asterisks before a space for bold.
        number = text.lstrip()
        indent, number, marks = escaped(text.removesuffix(number)), escaped(number), escaped(marks)
        return indent + (bold.format(number) if best else number) + (raised.format(marks) if marks else "")

    by_system = cells.partition_by("run", maintain_order=True)
    rows = [
        [escaped(system["label"][0]), *(printed(*cell) for cell in system.select("text", "marks", "best").iter_rows())]
        for system in by_system
    ]
    return [[escaped(corner), *map(escaped, by_system[0]["heading"])], *rows]


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in _on_one_line(text))


def _markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", _on_one_line(text))


def _on_one_line(text: str) -> str:
    """A line break in a name would end the row."""
    return re.sub(r"\s*[\r\n]+\s*", " ", text)
