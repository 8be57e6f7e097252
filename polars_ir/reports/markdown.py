"""A report as Markdown, for a comment on a change: the verdict first, then what supports it.

Conventions: it is shorter than the comments that GitHub takes, since so many rows and characters are shown and no more.
Names, ids and texts are escaped: no character of theirs is a command, and none hides or reorders others. They are code,
in which GitHub looks for no people and issues to link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from struct import unpack_from
from typing import TYPE_CHECKING, Any

from polars_ir.reports.answer import against, answer, rows_of, verdict

if TYPE_CHECKING:
    from polars_ir.reports.report import Report

#: The systems, slices, queries and files that are listed, and the characters of a name or a text.
SYSTEMS, SLICES, QUERIES, FILES, CHARACTERS = 30, 5, 5, 10, 80

#: Characters that mean something to Markdown or HTML, or that call somebody; and those that hide or reorder others.
ACTIVE = re.compile(r"[^a-zA-Z0-9\s,;%]")
HIDDEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")

#: Columns of numbers.
RIGHT = "---:"


def markdown(report: Report) -> str:
    """The comment of a report."""
    content = report.content
    measure = content["measures"][0]["name"]
    answered = answer(content, measure, content["baseline"], escaped)
    if judged := verdict(content["verdicts"], escaped):
        answered = [judged, *answered]
    parts = [" ".join([f"**{_sentence(answered[0])}**", *map(_sentence, answered[1:])])]
    parts += [_verdicts(content), _systems(content, measure)]
    parts += [_worst_slices(content, measure), _largest_drops(report, measure), _doubts(content), _made(content)]
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(text: object) -> str:
    """A text in which every character stands for itself, on one line, and cut where it is long.

    >>> escaped("<b>|@me")
    '<code>&#60;b&#62;&#124;&#64;me</code>'
    """
    line = HIDDEN.sub(" ", str(text)).strip()
    line = line if len(line) <= CHARACTERS else f"{line[: CHARACTERS - 1]}\N{HORIZONTAL ELLIPSIS}"
    # A reference is no syntax in any flavour, where a backslash is one in some places.
    return f"<code>{ACTIVE.sub(lambda found: f'&#{ord(found[0])};', line)}</code>" if line else ""


def _sentence(text: str) -> str:
    # What is ours is plain but for signs that the names of measures have.
    return text.replace("@", "&#64;").replace("*", "&#42;")


def _figure(value: float | None, *, signed: bool = False) -> str:
    """A figure as it stands in cells; one that is not 0 does not become it."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{value:+.4f}" if signed else f"{value:.4f}"
    text = f"{value:+.1e}" if value and not float(text) else text
    return text.replace("-", "\N{MINUS SIGN}")


def _p(row: Mapping[str, Any]) -> str:
    """A corrected p, with a star where it is beyond chance."""
    p = row["p_corrected"]
    if p is None:
        return "\N{EN DASH}"
    text = "<.0001" if p < 0.0001 else f"{p:.4f}".removeprefix("0")
    star = " &#42;" if row["significant"] else ""
    return text.replace("<", "&lt; ") + star


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 1) -> str:
    """A table, whose columns are numbers but for the first ones."""
    below = ["---"] * texts + [RIGHT] * (len(headings) - texts)
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, below, *rows))


def _folded(summary: str, *parts: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n" + "\n\n".join(filter(None, parts)) + "\n\n</details>"


def _verdicts(content: Mapping[str, Any]) -> str:
    """The verdicts of the gate, where the report is of a change."""
    rows = list(rows_of(content["verdicts"]))
    if not rows:
        return ""
    cells = [
        [
            escaped(row["measure"]),
            row["verdict"],
            _figure(row["difference"], signed=True),
            f"{_figure(row['low'], signed=True)} to {_figure(row['high'], signed=True)}",
            _figure(row["max_drop"]),
        ]
        for row in rows
    ]
    return _table(["measure", "verdict", "difference", "bounds", "may drop"], cells, texts=2)


def _systems(content: Mapping[str, Any], measure: str) -> str:
    """The systems by their ranks."""
    rows = list(rows_of(content["ranks"] or content["summary"], measure=measure))
    reference = content["baseline"] or rows[0]["run"]
    compared = {row["run"]: row for row in rows_of(content["against"], measure=measure)}
    cells = []
    for row in rows[:SYSTEMS]:
        run = row["run"]
        pair = compared.get(run) or (against(content["pairs"], measure, run, reference) if run != reference else None)
        places = f"{row['best_rank']} to {row['worst_rank']}" if row.get("best_rank") else ""
        queries = f"{pair['wins']} / {pair['ties']} / {pair['losses']}" if pair else ""
        difference = _figure(pair["difference"], signed=True) if pair else ""
        name = f"{escaped(run)}{' (baseline)' if run == content['baseline'] else ''}"
        cells.append([name, places, _figure(row["mean"]), difference, _p(pair) if pair else "", queries])
    headings = ["system", "ranks", escaped(measure), f"from {escaped(reference)}", "p", "better / equal / worse"]
    more = len(rows) + len(content["left_out"]) - len(cells)
    return _table(headings, cells) + (f"\n\n{more} more systems are left out." if more else "")


def _worst_slices(content: Mapping[str, Any], measure: str) -> str:
    """The slices that lose most against the other queries."""
    found = [
        (each["attribute"], row)
        for each in content["slices"]
        for row in rows_of(each["worst"], measure=measure)
        if row["p_corrected"] is not None and (row["difference"] < 0) != content["measures"][0]["cost"]
    ]
    found.sort(key=lambda each: each[1]["p_corrected"])
    cells = [
        [
            f"{escaped(attribute)}: {escaped(row['value'])}",
            escaped(row["run"]),
            str(row["n_queries"]),
            _figure(row["mean"]),
            _figure(row["difference"], signed=True),
            _p(row),
        ]
        for attribute, row in found[:SLICES]
    ]
    if not cells:
        return ""
    value = "mean" if content["baseline"] is None else "mean difference"
    headings = ["slice", "system", "queries", value, "against the others", "p"]
    return _folded("The worst slices", _table(headings, cells, texts=2))


def _largest_drops(report: Report, measure: str) -> str:
    """The queries in which the best system loses most against the baseline, or the second."""
    content = report.content
    ranked = [row["run"] for row in rows_of(content["ranks"], measure=measure)]
    if len(ranked) < 2:
        return ""
    other = content["baseline"] or ranked[1]
    system = next(run for run in ranked if run != other)
    places = [content["systems"].index(run) for run in (system, other)]
    ids, sign = content["queries"]["ids"], -1 if content["measures"][0]["cost"] else 1
    ours, theirs = (unpack_from(f"<{len(ids)}d", report.figures, 8 * place * len(ids)) for place in places)
    drops = sorted(
        (sign * (here - there), query)
        for query, (here, there) in enumerate(zip(ours, theirs, strict=True))
        if here < there or here > there
    )
    texts = content["queries"]["texts"] or [""] * len(ids)
    cells = [
        [
            escaped(ids[query]),
            escaped(texts[query] or ""),
            _figure(ours[query]),
            _figure(theirs[query]),
            _figure(ours[query] - theirs[query], signed=True),
        ]
        for drop, query in drops[:QUERIES]
        if drop < 0
    ]
    if not cells:
        return ""
    headings = ["query", "text", escaped(system), escaped(other), "difference"]
    return _folded(f"The largest drops of {escaped(system)} against {escaped(other)}", _table(headings, cells, texts=2))


def _doubts(content: Mapping[str, Any]) -> str:
    """The findings, and how many systems have each."""
    lines = [
        f"- {each['finding']} ({len(each['systems'])} of {len(content['systems'])} systems)"
        for each in content["doubts"]["findings"]
    ]
    return _folded("What to doubt", "\n".join(map(_sentence, lines))) if lines else ""


def _made(content: Mapping[str, Any]) -> str:
    """The versions and the files."""
    return _folded("How it was made", "\n".join(f"- {line}" for line in _origin(content["made"])))


def _origin(made: Mapping[str, Any]) -> Iterator[str]:
    yield ", ".join(f"{name} {version}" for name, version in made["versions"].items()).replace("_", "&#95;")
    for file in made["files"][:FILES]:
        yield f"{escaped(file['name'])}, {file['size']:,} bytes, SHA-256 {file['sha256']}"
