"""A table in LaTeX, read back: its headings and rows as Markdown would have them without escapes."""

from __future__ import annotations

import re

ESCAPED = re.compile(r"\\([\\`*_\[\]<>|~&#$%{}])")
SPANNING = re.compile(r"\\multicolumn\{(\d+)\}\{\w\}\{(.*)\}")
CHARACTERS = {
    r"\phantom{0}": "\N{FIGURE SPACE}",
    r"\ddag{}": "\N{DOUBLE DAGGER}",
    r"\dag{}": "\N{DAGGER}",
    r"\textbackslash{}": "\\\\",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textbar{}": "|",
    "{[}": "[",
    "{]}": "]",
    "{*}": "*",
    '{"}': '"',
    "$-$": "\N{MINUS SIGN}",
    "--": "\N{EN DASH}",
}


def columns_of(text: str) -> list[str]:
    """The alignment of each column; one on the point is two of LaTeX."""
    (columns,) = re.findall(r"\\begin\{tabular\}\{(.+)\}", text)
    return re.findall(r"r@\{\.?\}l|l|r", columns)


def grid_of(text: str) -> list[list[str]]:
    """The headings, the parts of a measure behind its name, and the rows."""
    columns = columns_of(text)
    above, below = text[text.index(r"\toprule") : text.index(r"\bottomrule")].split(r"\midrule")
    top, *second = (list(map(plain, _cells(row, columns))) for row in _rows(above))
    headings = [
        name if part in ("", "mean") else f"{name} {part}"
        for name, part in zip(top, second[0] if second else [""] * len(top), strict=True)
    ]
    return [headings, *(list(map(plain, _cells(row, columns))) for row in _rows(below))]


def _rows(body: str) -> list[str]:
    return [line.removesuffix(r"\\").strip() for line in body.splitlines() if line.endswith(r"\\")]


def _cells(row: str, columns: list[str]) -> list[str]:
    """A cell per column; one over several stands in each, and one of two of LaTeX is put together."""
    single: list[str | None] = []
    for cell in re.split(r"(?<!\\)&", row):
        spanning = SPANNING.fullmatch(cell.strip(" "))
        single += [spanning[2]] * int(spanning[1]) if spanning else [cell.strip(" ")]
    cells, rest = [], iter(single)
    for column in columns:
        cell = next(rest)
        if "@" in column:
            behind = next(rest)
            point = "." if "." in column else ""
            cell = cell if behind == cell and not cell.isdigit() else _joined(cell, behind, point)
        cells.append(cell)
    assert next(rest, None) is None
    return cells


def _joined(before: str, behind: str, point: str) -> str:
    """A number, of which both sides of the point are bold or neither."""
    bold = re.fullmatch(r"\\textbf\{(.+)\}", before)
    if not bold:
        assert "textbf" not in behind
        return before + point + behind
    digits, marks = re.fullmatch(r"(?:\\textbf\{(\d+)\})?(.*)", behind).groups()
    return rf"\textbf{{{bold[1]}{point}{digits or ''}}}{marks}"


def plain(cell: str) -> str:
    """A cell of LaTeX without its commands."""
    cell = re.sub(r"\\textbf\{([-\d.]+)\}", r"**\1**", cell)
    cell = re.sub(r"\\textsuperscript\{(.*)\}$", r"<sup>\1</sup>", cell)
    for command, character in CHARACTERS.items():
        cell = cell.replace(command, character)
    return ESCAPED.sub(r"\1", cell)
