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
    "\N{DAGGER}": r"\dag{}",
    "\N{DOUBLE DAGGER}": r"\ddag{}",
}

#: The characters that Markdown may take for a command.
MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#$])")


def latex(cells: pl.DataFrame, title: str | None, note: str) -> str:
    """The table as a float, which needs booktabs."""
    headings, *rows = _grid(cells, _latex, bold=r"\textbf{{{}}}", raised=r"\textsuperscript{{{}}}")
    lines = [
        r"\begin{table}",
        r"\centering",
        *([] if title is None else [f"\\caption{{{_latex(title)}}}"]),
        f"\\begin{{tabular}}{{{'l' * len(headings)}}}",
        r"\toprule",
        " & ".join(headings) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        f"\\parbox{{\\linewidth}}{{\\footnotesize {_latex(note)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def markdown(cells: pl.DataFrame, title: str | None, note: str) -> str:
    """The table with pipes, as GitHub reads it."""
    headings, *rows = _grid(cells, _markdown, bold="**{}**", raised="<sup>{}</sup>")
    lines = ["| " + " | ".join(row) + " |" for row in (headings, ["---"] * len(headings), *rows)]
    return "\n".join([*([] if title is None else [_markdown(title), ""]), *lines, "", _markdown(note)]) + "\n"


def _grid(cells: pl.DataFrame, escaped: Callable[[str], str], *, bold: str, raised: str) -> list[list[str]]:
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
    return [["", *map(escaped, by_system[0]["heading"])], *rows]


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in _on_one_line(text))


def _markdown(text: str) -> str:
    return MARKDOWN.sub(r"\\\1", _on_one_line(text))


def _on_one_line(text: str) -> str:
    """A line break in a name would end the row."""
    return re.sub(r"\s*[\r\n]+\s*", " ", text)
