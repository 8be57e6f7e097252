"""A report as Markdown, for a comment on a change: the verdict first, then what supports it.

Conventions: it is shorter than the comments that GitHub takes, since so many rows and characters are shown and no more.
Names, ids and texts are escaped: no character of theirs is a command, and none hides or reorders others. They are code,
in which GitHub looks for no people and issues to link.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from struct import unpack_from
from typing import Any

from polars_ir.reports.answer import against, answer, figures, plain, rows_of, verdict
from polars_ir.reports.content import Content, Missing

#: Maximum number of systems, slices, queries and files listed.
SYSTEMS, SLICES, QUERIES, FILES = 30, 5, 5, 10

#: Number of documents listed per query.
EVIDENCE = 3

#: The comment of HTML by which a tool finds its comment on a change, to update it.
MARK = "<!-- polars-ir -->"

#: Characters that mean something to Markdown or HTML, or that call somebody.
ACTIVE = re.compile(r"[^a-zA-Z0-9\s,;%]")

#: Lowest p shown, and the level of the tests.
SMALL_P, LEVEL = 0.0001, 0.05


def markdown(content: Content, query_figures: bytes) -> str:
    """The comment of a report."""
    measure = content["measures"][0]["name"]
    answered = answer(content, measure, content["baseline"], escaped)
    answered += map(_inactive, content["answers"][0][len(answered) :])
    if judged := verdict(content["verdicts"], escaped):
        answered = [judged, *answered]
    parts = [MARK, " ".join([f"**{_sentence(answered[0])}**", *map(_sentence, answered[1:])])]
    parts += [_verdicts(content), _systems(content, measure)]
    parts += [_worst_slices(content, measure), _largest_drops(content, query_figures), _doubts(content), _made(content)]
    return "\n\n".join(filter(None, parts)) + "\n"


def escaped(text: object) -> str:
    """An escaped text on one line; the middle of a long one is left out.

    >>> escaped("<b>|@me")
    '<code>&#60;b&#62;&#124;&#64;me</code>'
    """
    line = plain(text)
    # A reference is no syntax in any flavour, where a backslash is one in some places.
    return f"<code>{_inactive(line)}</code>"


def _inactive(text: str) -> str:
    return ACTIVE.sub(lambda found: f"&#{ord(found[0])};", text)


def _sentence(text: str) -> str:
    # What is ours is plain but for signs that the names of measures have.
    return text.replace("@", "&#64;").replace("*", "&#42;")


def _p(rows: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """The corrected p of rows, with stars where they are beyond chance; none is rounded to the level of the tests."""
    corrected = [None if row is None else row["p_corrected"] for row in rows]
    texts = figures([*(None if p is None or p < SMALL_P else p for p in corrected), LEVEL])
    cells = []
    for row, p, text in zip(rows, corrected, texts, strict=False):
        shown = f"&lt; {SMALL_P:.4f}" if p is not None and p < SMALL_P else text
        cells.append("" if row is None else shown.replace("0.", ".") + (" &#42;" if row["significant"] else ""))
    return cells


def _table(columns: Sequence[tuple[str, Sequence[str]]], *, texts: int = 1) -> str:
    """A Markdown table, whose cells are numbers but for the first columns."""
    headings, cells = zip(*columns, strict=True)
    below = ["---"] * texts + ["---:"] * (len(columns) - texts)
    return "\n".join(f"| {' | '.join(row)} |" for row in (headings, below, *zip(*cells, strict=True)))


def _folded(summary: str, *parts: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n" + "\n\n".join(filter(None, parts)) + "\n\n</details>"


def _verdicts(content: Content) -> str:
    rows = list(rows_of(content["verdicts"]))
    if not rows:
        return ""
    measures, verdicts = [escaped(row["measure"]) for row in rows], [row["verdict"] for row in rows]
    ends = [figures([row["low"], row["high"]], signed=True) for row in rows]
    columns = [
        ("measure", measures),
        ("verdict", verdicts),
        ("difference", figures((row["difference"] for row in rows), signed=True)),
        ("bounds", [f"{low} to {high}" for low, high in ends]),
        ("may drop", figures(row["max_drop"] for row in rows)),
        ("p of a drop", _p([{"p_corrected": row["p"], "significant": False} for row in rows])),
    ]
    return _table(columns, texts=2)


def _systems(content: Content, measure: str) -> str:
    rows = list(rows_of(content["ranks"] or content["summary"], measure=measure))
    reference = rows[0]["run"] if content["baseline"] is None else content["baseline"]
    more = len(rows) + len(content["left_out"]) - SYSTEMS
    rows = rows[:SYSTEMS]
    compared = {row["run"]: row for row in rows_of(content["against"], measure=measure)}
    pairs = [compared.get(row["run"]) or against(content["pairs"], measure, row["run"], reference) for row in rows]
    differences = figures((pair["difference"] if pair else None for pair in pairs), signed=True)
    columns = [
        ("system", [f"{escaped(row['run'])}{' (baseline)' * (row['run'] == content['baseline'])}" for row in rows]),
        ("ranks", [f"{row['best_rank']} to {row['worst_rank']}" if row.get("best_rank") else "" for row in rows]),
        (escaped(measure), figures(row["mean"] for row in rows)),
        (f"from {escaped(reference)}", [text if pair else "" for pair, text in zip(pairs, differences, strict=True)]),
        ("p", _p(pairs)),
        (
            "better / equal / worse",
            [f"{pair['wins']:,} / {pair['ties']:,} / {pair['losses']:,}" if pair else "" for pair in pairs],
        ),
    ]
    return _table(columns) + (f"\n\n{more} more systems are left out." if more > 0 else "")


def _worst_slices(content: Content, measure: str) -> str:
    """Slices significantly worse than the other queries."""
    found = [
        (each["attribute"], row)
        for each in content["slices"]
        for row in rows_of(each["worst"], measure=measure)
        if row["significant"] and (row["difference"] < 0) != content["measures"][0]["cost"]
    ]
    worst = sorted(found, key=lambda each: each[1]["p_corrected"])[:SLICES]
    rows = [row for _, row in worst]
    columns = [
        ("slice", [f"{escaped(attribute)}: {escaped(row['value'])}" for attribute, row in worst]),
        ("system", [escaped(row["run"]) for row in rows]),
        ("queries", [f"{row['n_queries']:,}" for row in rows]),
        ("mean" if content["baseline"] is None else "mean difference", figures(row["mean"] for row in rows)),
        ("against the others", figures((row["difference"] for row in rows), signed=True)),
        ("p", _p(rows)),
    ]
    return _folded("The worst slices", _table(columns, texts=2)) if rows else ""


def _largest_drops(content: Content, query_figures: bytes) -> str:
    """The queries with the largest losses of the first system of the pair."""
    if len(content["pair"]) < 2:
        return ""
    system, other = (escaped(content["systems"][place]) for place in content["pair"])
    ids, sign = content["queries"]["ids"], -1 if content["measures"][0]["cost"] else 1
    ours, theirs = (unpack_from(f"<{len(ids)}d", query_figures, 8 * place * len(ids)) for place in content["pair"])
    drops = [
        (round(sign * (here - there), 9), query) for query, (here, there) in enumerate(zip(ours, theirs, strict=True))
    ]
    # As in `hardest`; NaN, which has no place in an order, is no drop.
    lost = [query for _, query in sorted(each for each in drops if each[0] < 0)][:QUERIES]
    values = figures([of[query] for of in (ours, theirs) for query in lost])
    texts = content["queries"]["texts"]
    columns = [
        ("query", [escaped(ids[query]) for query in lost]),
        *([("text", [escaped(texts[query]) if texts[query] else "" for query in lost])] if texts else []),
        (system, values[: len(lost)]),
        (other, values[len(lost) :]),
        ("difference", figures((ours[query] - theirs[query] for query in lost), signed=True)),
    ]
    if missing := content["missing"]:
        cells = _missing(missing, [ids[query] for query in lost])
        from_grade = "" if missing["rel"] == 1 else f", rel {missing['rel']:g}"
        columns.insert(2 if texts else 1, (f"lost from the first {missing['k']:,}{from_grade}", cells))
    summary = f"The largest drops of {system} against {other}"
    n_texts = 1 + (texts is not None) + (content["missing"] is not None)
    return _folded(summary, _table(columns, texts=n_texts)) if lost else ""


def _missing(missing: Missing, queries: Sequence[str]) -> list[str]:
    """The evidence that each query lost, and where it went; of what the other system lacks, too, the number."""
    rows = list(rows_of(missing["rows"]))
    cells = []
    for query in queries:
        lacking = [row for row in rows if row["query_id"] == query]
        lost = [row for row in lacking if not row["in_neither"]]
        places = ["not retrieved" if row["rank"] is None else f"rank {row['rank']:,}" for row in lost]
        shown = [f"{escaped(row['doc_id'])}: {place}" for row, place in zip(lost, places, strict=True)][:EVIDENCE]
        more = [(len(lost) - EVIDENCE, "more"), (len(lacking) - len(lost), "in neither")]
        cells.append("; ".join([*shown, *(f"{count:,} {what}" for count, what in more if count > 0)]))
    return cells


def _doubts(content: Content) -> str:
    lines = [
        f"- {each['finding']} ({len(each['systems'])} of {len(content['systems'])} systems)"
        for each in content["doubts"]["findings"]
    ]
    return _folded("What to doubt", "\n".join(map(_sentence, lines))) if lines else ""


def _made(content: Content) -> str:
    made, lines = content["made"], [] if content["date"] is None else [content["date"]]
    lines.append(", ".join(f"{name} {version}" for name, version in made["versions"].items()).replace("_", "&#95;"))
    files = made["files"][:FILES]
    lines += [f"{escaped(file['name'])}, {file['size']:,} bytes, SHA-256 {file['sha256']}" for file in files]
    return _folded("How it was made", "\n".join(f"- {line}" for line in lines))
