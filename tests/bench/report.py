"""The tables and the chart of what `scale.py` has measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import groupby
from math import log10
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl
from case import STARTS, Case
from measure import shown_memory, shown_ratio, shown_rows, shown_time
from tools import TOOLS

from polars_ir.plots.style import GREY, PALETTE, titled

if TYPE_CHECKING:
    from scale import Results

NOTE = """Every tool has its turns in processes of its own, after a small case to warm up; a time is the best of all
runs, from the start named to the mean of each measure, in brackets divided by ours. pytrec_eval, ir_measures and ranx
take nested dicts, and making these of frames or Parquet is timed. Memory is the peak of what a process takes beyond
what it had when it began: Python, its imports, what the small case left and, in memory, the frames.
All tools order equal scores by id but ranx and, for the reciprocal rank, ir_measures; all figures agree to 1e-6 but for
these on tied scores. pytrec_eval's reciprocal rank has no cutoff. A bare join counts the judged documents of the
queries and measures nothing. A cell in italics tells why a tool was left out: what it took at the size below, or more
than it was given."""

#: A panel of the chart, the room for the names at its right, and their height.
WIDTH, HEIGHT, ROOM, LABEL = 270, 330, 95, 14

#: The places where a line of the chart may be ruled, in seconds.
DECADES = [10.0**power for power in range(-5, 5)]

COLOURS = dict(zip([name for name in TOOLS if name != "bare join"], [*PALETTE, "#8E6BD8"], strict=True)) | {
    "bare join": GREY
}


def tables(results: Results) -> str:
    """Times and memory from each start, and of what differs, in Markdown."""
    plain = [case for case in cases(results) if not unlike(case)]
    others = [case for case in cases(results) if unlike(case) and not case.depth]
    parts = []
    for start, name in STARTS.items():
        of_start = [case for case in plain if case.start == start]
        parts += _both(results, of_start, f"Five measures, {name}", "rows", lambda case: shown_rows(case.rows))
    for size, group in groupby(others, key=lambda case: 0 if case.judgments == "robust" else case.rows):
        shown = [*([Case(size)] if size else []), *group]
        what = f"{shown_rows(size)} rows" if size else "TREC 2003 Robust"
        parts += _both(results, shown, f"{what}, {STARTS['memory']}", "case", described)
    for size, group in groupby((case for case in cases(results) if case.depth), key=lambda case: case.rows):
        title = f"{shown_rows(size)} rows, five measures, {STARTS['memory']}"
        parts += _both(results, list(group), title, "judgments a query", lambda case: case.judgments)
    return "\n\n".join([*parts, NOTE, circumstances(results)]) + "\n"


def chart(results: Results) -> alt.ConcatChart:
    """Time against rows, a line for each tool and a panel for each start; and against judgments of a query."""
    plain = [case for case in cases(results) if not unlike(case)]
    judged = [case for case in cases(results) if case.depth]
    of_starts = {STARTS[start]: [case for case in plain if case.start == start] for start in STARTS}
    shown = {title: (_points(results, of_start), "rows") for title, of_start in of_starts.items() if of_start}
    if judged:
        title = f"{shown_rows(judged[0].rows)} rows, {STARTS['memory']}"
        shown[title] = (_points(results, judged), "judgments a query")
    seconds = pl.concat(points["seconds"] for points, _ in shown.values())
    limits = float(seconds.min()) / 1.5, float(seconds.max()) * 1.5  # type: ignore[arg-type]  # there are some
    panels = [_panel(points, title, along, limits) for title, (points, along) in shown.items()]
    told = "; ".join(", ".join(said(results, key)) for key in ("machine", "date"))
    head = titled("Time to evaluate a run with five measures", told)
    room: dict[str, Any] = {"left": 5, "top": 5, "bottom": 5, "right": ROOM}
    joined = alt.concat(*panels, columns=2, title=head, spacing={"row": 25, "column": ROOM}, padding=room)
    axes: dict[str, Any] = {"domain": False, "tickColor": "#DDD", "gridColor": "#EEE", "labelFontSize": 11}
    whole: alt.ConcatChart = joined.configure_view(stroke=None).configure_axis(**axes)
    return whole


def _points(results: Results, shown: list[Case]) -> pl.DataFrame:
    """The best time of each tool at each case, and how large that is: its judgments of a query, or its rows."""
    return pl.DataFrame(
        [
            {"tool": tool, "size": case.depth or case.rows, "seconds": seconds}
            for case in shown
            for tool in TOOLS
            if (seconds := results.seconds(case, tool))
        ]
    )


def cases(results: Results) -> list[Case]:
    """All cases, in the order in which they were measured, by size."""
    known = dict.fromkeys(case for case, _ in results.turns)
    return sorted(known, key=lambda case: (case.judgments == "robust", bool(unlike(case)), case.rows, case.depth))


def unlike(case: Case) -> list[str]:
    """The properties of a case that most do not have."""
    return [
        known.name
        for known in fields(Case)
        if known.name not in ("rows", "start") and getattr(case, known.name) != known.default
    ]


def described(case: Case) -> str:
    """The particulars of a case."""
    words: dict[str, Callable[[Any], str]] = {
        "judgments": lambda kind: f"{kind} judgments" if kind != "robust" else "",
        "ties": lambda kind: f"{kind} ties",
        "order": lambda kind: f"{kind} rows",
        "measures": lambda number: f"{number} measure{'s' * (number > 1)}",
        "systems": lambda number: f"{number} systems",
    }
    told = [words[name](getattr(case, name)) for name in unlike(case)]
    return ", ".join(filter(None, told)) or ("one system" if case.judgments == "robust" else "five measures")


def circumstances(results: Results) -> str:
    """The date, the machine and the versions."""
    return "; ".join(", ".join(said(results, key)) for key in ("machine", "date", "versions")) + "."


def said(results: Results, key: str) -> list[str]:
    """The days, machines or versions of the turns."""
    return sorted({turn[key] for turns in results.turns.values() for turn in turns.values()})


def _both(results: Results, shown: list[Case], title: str, head: str, name: Callable[[Case], str]) -> list[str]:
    """A table of times and one of memory, under titles."""
    if not shown:
        return []
    return [
        f"{title}: time",
        _table(results, shown, head, name, _time),
        f"{title}: memory",
        _table(results, shown, head, name, _memory),
    ]


def _table(
    results: Results,
    shown: list[Case],
    head: str,
    name: Callable[[Case], str],
    cell: Callable[[Results, Case, str], str],
) -> str:
    """A row for each case, a column for each tool that any of them has."""
    known = [tool for tool in TOOLS if any((case, tool) in results.turns for case in shown)]
    lines = [[name(case), *(cell(results, case, tool) for tool in known)] for case in shown]
    ruled = [[head, *known], ["---:"] * (len(known) + 1), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in ruled)


def _time(results: Results, case: Case, tool: str) -> str:
    own, taken = results.seconds(case, "polars_ir"), results.seconds(case, tool)
    if taken is None:
        return _absent(results, case, tool)
    return shown_time(taken) if tool == "polars_ir" or not own else f"{shown_time(taken)} ({shown_ratio(taken / own)})"


def _memory(results: Results, case: Case, tool: str) -> str:
    peak = results.peak(case, tool)
    return _absent(results, case, tool) if peak is None else shown_memory(peak)


def _absent(results: Results, case: Case, tool: str) -> str:
    told = results.why_not(case, tool)
    return f"*{told}*" if told else ""


def _panel(points: pl.DataFrame, title: str, along: str, limits: tuple[float, float]) -> alt.LayerChart:
    """The lines of a start, each with its name beside its end, ours above the others'."""
    sizes = points["size"].unique().sort().to_list()
    scale = alt.Scale(type="log", domain=limits, nice=False)
    unit = "datum.value < 1 ? format(datum.value * 1000, '~r') + ' ms' : datum.value + ' s'"
    axis = alt.Axis(values=sizes, format="~s", grid=False, labelFlush=False)
    x = alt.X("size:Q", title=along, scale=alt.Scale(type="log", domain=[sizes[0], sizes[-1]], nice=False), axis=axis)
    y = alt.Y("seconds:Q", title=None, scale=scale, axis=alt.Axis(values=DECADES, labelExpr=unit))
    label = alt.Y("label:Q", title=None, scale=scale)
    ends, lines, names = _ends(points, limits), [], []
    for tool in (tool for tool in reversed(TOOLS) if tool in points["tool"]):
        own, name = tool == "polars_ir", alt.Chart(ends.filter(tool=tool)).encode(x=x, y=label, text="tool:N")
        mark: dict[str, Any] = {"color": COLOURS[tool], "strokeWidth": 3 if own else 1.5}
        mark["point"] = {"size": 40 if own else 25, "color": COLOURS[tool]}
        if tool == "bare join":
            mark["strokeDash"] = [5, 3]
        lines.append(alt.Chart(points.filter(tool=tool)).mark_line(**mark).encode(x=x, y=y))
        # A line that ends early has its name before its end, where the lines of others do not go on.
        early = points.filter(tool=tool)["size"].max() != sizes[-1]
        beside: dict[str, Any] = {"align": "right", "dx": -8, "dy": -8} if early else {"align": "left", "dx": 9}
        text = {**beside, "fontSize": 12, "fontWeight": "bold" if own else "normal"}
        # The white text below keeps a name readable where it crosses a line.
        names += [name.mark_text(**text, stroke="white", strokeWidth=4), name.mark_text(**text, color=COLOURS[tool])]
    panel = alt.LayerChart(layer=[*lines, *names])
    return panel.properties(width=WIDTH, height=HEIGHT, title=alt.Title(title, anchor="start"))


def _ends(points: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """The last point of each line, and where its name stands without covering another's."""
    gap = log10(limits[1] / limits[0]) * LABEL / HEIGHT
    ends = points.sort("size").group_by("tool", maintain_order=True).last()
    parts = [part.sort("seconds") for part in ends.partition_by("size")]
    return pl.concat(
        part.with_columns(label=pl.Series([10**place for place in spread(part["seconds"].log10().to_list(), gap)]))
        for part in parts
    )


def spread(places: Sequence[float], gap: float) -> list[float]:
    """Rising places moved apart until none is nearer to the next than a gap, crowds about their own middle."""
    crowds: list[list[float]] = []
    for place in places:
        crowds.append([place])
        while len(crowds) > 1 and _bottom(crowds[-1], gap) - _bottom(crowds[-2], gap) < gap * len(crowds[-2]):
            crowds[-2:] = [crowds[-2] + crowds[-1]]
    return [_bottom(crowd, gap) + gap * i for crowd in crowds for i in range(len(crowd))]


def _bottom(crowd: list[float], gap: float) -> float:
    return sum(crowd) / len(crowd) - gap * (len(crowd) - 1) / 2
