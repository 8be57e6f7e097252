"""The result of a gate for people and for programs: plain text for a log, JSON, Markdown.

Conventions: text and Markdown have four digits, JSON all there are.
"""

from __future__ import annotations

import json

import polars as pl

#: The figures of a table, by their heading in Markdown.
FIGURES = {"new": "mean", "old": "old_mean", "difference": "difference", "low": "low", "high": "high"}


def ships(result: pl.DataFrame) -> bool:
    """Whether every measure passed."""
    return bool(result["passed"].all())


def status(result: pl.DataFrame) -> int:
    """The exit status: 0 for a change that ships, 1 for one that is worse, 3 where too few queries can not tell."""
    return 0 if ships(result) else 1 if "worse" in result["verdict"] else 3


def as_text(result: pl.DataFrame) -> str:
    """A line per measure, and whether the change ships."""
    lines = []
    for row in result.iter_rows(named=True):
        compared = f"{_number(row['mean'])} against {_number(row['old_mean'])} on {row['n_queries']} queries"
        bounds = "" if row["low"] is None else f", between {row['low']:+.4f} and {row['high']:+.4f}"
        difference = f"difference {_number(row['difference'], '+')}{bounds}; {row['max_drop']:g} may be lost"
        note = f" ({row['note']})" if row["note"] else ""
        lines.append(f"{row['measure']}: {row['verdict']}: {compared}, {difference}{note}")
    return "\n".join([*lines, _conclusion(result)])


def as_json(result: pl.DataFrame) -> str:
    """One object: whether the change ships, and the rows of the result."""
    return json.dumps({"ships": ships(result), "measures": result.to_dicts()}, indent=2, allow_nan=False)


def as_markdown(result: pl.DataFrame) -> str:
    """A table as GitHub shows it, and whether the change ships."""
    headings = ["measure", "verdict", *FIGURES, "may drop", "queries", "note"]
    lines = [_cells(headings), _cells([":--", ":--", *["--:"] * (len(FIGURES) + 2), ":--"])]
    for row in result.iter_rows(named=True):
        figures = [_number(row[column], "+" if column == "difference" else "") for column in FIGURES.values()]
        texts = [row["measure"].replace("|", "\\|"), row["verdict"], *figures]
        lines.append(_cells([*texts, f"{row['max_drop']:g}", str(row["n_queries"]), row["note"] or ""]))
    return "\n".join([f"**{_conclusion(result)}**", "", *lines])


def _conclusion(result: pl.DataFrame) -> str:
    passed = f"{result['passed'].sum()} of {result.height} measures passed"
    return f"ships: {passed}" if ships(result) else f"does not ship: {passed}"


def _number(value: float | None, sign: str = "") -> str:
    return "none" if value is None else f"{value:{sign}.4f}"


def _cells(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"
