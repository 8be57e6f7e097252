"""`side_by_side`: two rankings of a query next to each other, as a page of HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polars_ir.errors import OptionError
from polars_ir.frames.kinds import to_polars
from polars_ir.frames.table import run_table
from polars_ir.language.names import Measures
from polars_ir.language.options import public
from polars_ir.runs.alternatives import Frames, one_measure
from polars_ir.runs.diff import SIDES, of_one_system
from polars_ir.runs.explain import check_judged, explained, ids_of, lost, seen, with_text
from polars_ir.runs.options import Showing
from polars_ir.runs.pooled import perhaps_pooled, warn_of_pooled

#: The characters of a document's text that are shown; the rest opens with a click.
SHOWN = 160

#: The style of the page, without colours for text and background, so that dark pages show it as well.
STYLE = """
.ir-sides { font: 14px/1.4 system-ui, sans-serif; color-scheme: light dark; }
.ir-sides table { border-collapse: collapse; width: 100%; table-layout: fixed; }
.ir-sides td, .ir-sides th { text-align: left; vertical-align: top; padding: .4em .6em; overflow-wrap: anywhere; }
.ir-sides td { border-top: 1px solid #858585; }
.ir-sides td.place { text-align: right; } .ir-sides col.place { width: 3em; }
.ir-sides .relevant { border-left: 4px solid #2e86de; } .ir-sides .judged { border-left: 4px solid #dd5a00; }
.ir-sides .unjudged { border-left: 4px dotted #858585; }
.ir-sides .remarks { font-size: 12px; opacity: .8; }
"""


class Page(str):
    """A text of HTML, which notebooks show as such and `Path.write_text` saves."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)


@public(Showing)
def side_by_side(
    run_a: Any,
    run_b: Any,
    qrels: Any,
    measure: Measures,
    query_id: Any,
    *,
    names: Sequence[str] = SIDES,
    **options: Unpack[Showing],
) -> Page:
    """Two rankings of a query next to each other, as HTML: grades, contributions, and places in the other ranking.

    The figures are those of `explain`. A bar at the left is solid blue for a relevant document, solid orange for one
    judged not relevant, dotted for an unjudged one, and words say the same. Of a document's text the beginning is
    shown, and the rest opens with a click. Below stands what was lost: relevant documents that a ranking does not have
    down to the depth. The page needs neither scripts nor a network, and every character of ids and texts is escaped.

    Parameters
    ----------
    measure
        One measure that `explain` takes.
    query_id
        The judged query.
    names
        The names of the two systems.

    Returns
    -------
    Page
        A `str` that notebooks show as HTML.

    Raises
    ------
    IRError
        For a query that was not judged, a run of several systems, and what `explain` does not take.

    Examples
    --------
    >>> import polars_ir as ir
    >>> a, b, qrels = {"q": ["d1", "d2"]}, {"q": ["d2", "d3"]}, {"q": {"d1": 0, "d2": 1}}
    >>> page = ir.side_by_side(a, b, qrels, "RR", "q", names=("old", "new"), documents={"d1": "Cats & dogs"})
    >>> "RR: 0.5000 of old, 1.0000 of new" in page, "Cats &amp; dogs" in page
    (True, True)
    """
    measured, query_ids = one_measure(measure, "side_by_side", qrels), ids_of(query_id)
    _check(query_ids, names)
    runs: Frames = {side: of_one_system(f"run_{side}", run) for side, run in zip(SIDES, (run_a, run_b), strict=True)}
    judgments = to_polars("qrels", qrels, column="relevance")
    check_judged(query_ids, judgments, runs)
    explanation = explained(runs, judgments, measured, query_ids, options)
    table = run_table(runs, check=False)
    warn_of_pooled(table, perhaps_pooled(table))
    query = pl.DataFrame({"query": [str(query_ids[0])]})
    heading = with_text(query, options["queries"], "queries", "query_id", "query", "text").row(0)
    values = dict(explanation.group_by("run").agg(pl.col("contribution").sum()).iter_rows())
    figures = ", ".join(f"{values.get(side) or 0.0:.4f} of {name}" for side, name in zip(SIDES, names, strict=True))
    depth = options["depth"]
    visible = seen(explanation, depth, measured).with_columns(lost=lost(depth, measured))
    visible = with_text(visible, options["documents"], "documents", "doc_id", "doc_id", "text")
    places = {side: dict(explanation.filter(run=side).select("doc_id", "rank").iter_rows()) for side in SIDES}
    cells = [
        _cells(visible.filter(run=side), places[other], str(name))
        for side, other, name in zip(SIDES, reversed(SIDES), reversed(names), strict=True)
    ]
    return _page(heading, f"{measured.name}: {figures}", names, cells)


def _check(query_ids: pl.Series, names: Sequence[str]) -> None:
    """Raise an `OptionError` unless the call has one query, and two names."""
    if len(query_ids) != 1:
        raise OptionError(f"must be one query here; got {query_ids.to_list()!r:.80}.", about="query_id")
    if not isinstance(names, (list, tuple)) or len(names) != 2:
        raise OptionError(f"must be the names of both systems, as in ('old', 'new'); got {names!r:.80}.", about="names")


def _cells(rows: pl.DataFrame, elsewhere: Mapping[Any, int | None], other: str) -> tuple[dict[int, str], list[str]]:
    """The cells of a ranking by their places, and those of the lost documents."""
    ranked, missed = {}, []
    for row in rows.iter_rows(named=True):
        cell = _cell(row, elsewhere.get(row["doc_id"]), other)
        if row["lost"]:
            missed.append(cell)
        else:
            ranked[row["rank"]] = cell
    return ranked, missed


def _cell(row: Mapping[str, Any], place: int | None, other: str) -> str:
    """A document: its id, its grade and contribution, its place in the other ranking, its text."""
    grade = row["relevance"]
    kind = "unjudged" if grade is None else "relevant" if row["gain"] > 0 else "judged"
    remarks = ["not judged" if grade is None else f"grade {grade}", "relevant" if kind == "relevant" else ""]
    contribution = row["contribution"]
    remarks.append(f"contributes {contribution:.4f}" if contribution and not row["lost"] else "")
    rank = row["rank"]
    remarks.append(f"here at {rank}" if row["lost"] and rank else "not retrieved" if rank is None else "")
    remarks.append(f"at {place} in {other}" if place else f"not in {other}")
    if rank and place and rank != place:
        remarks[-1] += f" ({'higher' if rank < place else 'lower'} here by {abs(place - rank)})"
    words = html.escape(", ".join(filter(None, remarks)))
    text = _text(row.get("text"))
    return f'<td class="{kind}"><b>{html.escape(str(row["doc_id"]))}</b><div class="remarks">{words}</div>{text}</td>'


def _text(text: str | None) -> str:
    """The beginning of a text, and the rest behind it."""
    if not text:
        return ""
    if len(text) <= SHOWN:
        return f"<div>{html.escape(text)}</div>"
    start = html.escape(text[:SHOWN])
    return f"<details><summary>{start}\N{HORIZONTAL ELLIPSIS}</summary>{html.escape(text[SHOWN:])}</details>"


def _page(
    heading: Sequence[str | None], figures: str, names: Sequence[str], cells: Sequence[tuple[dict[int, str], list[str]]]
) -> Page:
    """The rankings in two columns, then the lost documents."""
    (of_a, lost_by_a), (of_b, lost_by_b) = cells
    last = max((*of_a, *of_b), default=0)
    rows = [
        f'<tr><td class="place">{place}</td>{of_a.get(place, "<td></td>")}{of_b.get(place, "<td></td>")}</tr>'
        for place in range(1, last + 1)
    ]
    if lost_by_a or lost_by_b:
        rows.append('<tr><th></th><th colspan="2">Lost: relevant, and not in the ranking down to here</th></tr>')
    for number in range(max(len(lost_by_a), len(lost_by_b))):
        pair = [missed[number] if number < len(missed) else "<td></td>" for missed in (lost_by_a, lost_by_b)]
        rows.append(f'<tr><td class="place"></td>{"".join(pair)}</tr>')
    title = ": ".join(html.escape(part) for part in heading if part)
    columns = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    return Page(
        f'<div class="ir-sides"><style>{STYLE}</style><h3>{title}</h3><p>{html.escape(figures)}</p>'
        f'<table><col class="place"><col><col><tr><th class="place"></th>{columns}</tr>{"".join(rows)}</table></div>\n'
    )
