"""What all charts share: colours, shapes, titles, panels side by side, and how many marks there may be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

import altair as alt
import polars as pl

from polars_ir.errors import DataError, OptionError
from polars_ir.language.names import is_cost
from polars_ir.per_query.columns import Measures
from polars_ir.per_query.groups import measures_in_memory

#: The colours of Okabe and Ito (2008), which the colour-blind can tell apart, without the yellow that white swallows.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

# Their numbers share no divisor with that of the colours, so that 35 lines and 42 points differ before any repeats.
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

#: Better, neither and worse than another system.
OUTCOMES = {"win": "#0072B2", "tie": "#8C8C8C", "loss": "#D55E00"}

OUTCOME_SCALE = alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values()))

#: Lines of reference, and what is not significant.
GREY = "#767676"

#: Altair's limit of rows in a data set.
MOST_ROWS = 5_000

#: The length of a label in pixels from which on it is cut; tooltips have it whole.
LONGEST_LABEL = 400

#: A chart, or several side by side.
Chart = alt.LayerChart | alt.ConcatChart


def in_memory(per_query: Any, measures: Measures, what: str, *, by: Any = None) -> tuple[pl.DataFrame, list[str]]:
    """A per-query frame of any kind as a Polars one, and the measures to show."""
    table, names = measures_in_memory(per_query, measures, by, f"ir.plots.{what}")
    frame = table.all_columns().collect()
    return frame.rename({key: table.names[key] for key in table.keys if key == "query_id"}), names


def only(measures: Sequence[str]) -> str:
    """The measure of a chart that shows one."""
    if len(measures) > 1:
        raise OptionError(
            f"must be one measure; got {', '.join(map(repr, measures))}. Draw a chart of each.", about="measure"
        )
    return measures[0]


def with_run(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with a column of systems, even where there is a single one without a name."""
    return frame if "run" in frame.columns else frame.with_columns(run=pl.lit(""))


def systems_of(frame: pl.DataFrame) -> list[str]:
    """The systems, in their order in the frame."""
    return frame["run"].unique(maintain_order=True).to_list()


def colour(systems: Sequence[str]) -> alt.Color:
    """A colour for each system."""
    return alt.Color("run:N", scale=_scale(systems, PALETTE), legend=legend(systems), title=None)


def shape(systems: Sequence[str]) -> alt.Shape:
    """A shape for the points of each system."""
    return alt.Shape("run:N", scale=_scale(systems, SHAPES), legend=legend(systems), title=None)


def dash(systems: Sequence[str]) -> alt.StrokeDash:
    """Dashes for the line of each system."""
    return alt.StrokeDash("run:N", scale=_scale(systems, DASHES), legend=None)


def _scale(systems: Sequence[str], kinds: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=list(systems), range=list(islice(cycle(kinds), len(systems))))


def legend(systems: Sequence[str]) -> alt.Legend | None:
    """All systems with their whole names; none for a single one."""
    # Vega leaves out what follows 30 entries unless it is told otherwise.
    return (
        alt.Legend(symbolLimit=0, labelLimit=LONGEST_LABEL, symbolOpacity=1, symbolStrokeWidth=0)
        if len(systems) > 1
        else None
    )


def of_outcomes() -> alt.Color:
    """The colours of wins, ties and losses."""
    return alt.Color("outcome:N", scale=OUTCOME_SCALE, title=None)


def titled(text: str, *lines: str, limit: float = 0) -> alt.TitleParams:
    """A title, and what there is to say below it."""
    below = [line for line in lines if line]
    # An empty subtitle would take the place of a line.
    return alt.TitleParams(
        text, subtitle=below or alt.Undefined, anchor="start", subtitleColor=GREY, limit=limit, offset=10
    )


def with_direction(measure: str) -> str:
    """A measure's name, and a word where lower is better."""
    return f"{measure} (lower is better)" if is_cost(measure) else measure


def side_by_side(charts: Sequence[alt.LayerChart], title: alt.TitleParams, *, columns: int) -> Chart:
    """One chart under its title; several as panels under it, each with its own."""
    if len(charts) == 1:
        return charts[0].properties(title=title)
    return alt.concat(*charts, columns=columns, title=title, spacing=30)


def drawn(rows: pl.DataFrame, remedy: str) -> pl.DataFrame:
    """The rows of a chart; an error if they are more than a chart can have."""
    if rows.height > MOST_ROWS:
        raise DataError(f"a chart has up to {MOST_ROWS:,} marks; this one would have {rows.height:,}. {remedy}")
    return rows


def number(value: float) -> str:
    """A figure as it stands in titles and cells."""
    # Adding 0 takes the sign from what has been rounded to it.
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 100 else f"{value:,.0f}"
