"""Shared by all charts: colours, shapes, titles, panels side by side, the mark limit, and safe names.

Conventions: colours have a contrast of 3 to 1 and more both to white and to the background of Altair's dark theme,
#333333; what is black on white is `FOREGROUND`, which a chart finds out from its background when it is drawn.
Names that are markup are shown as they are, and cannot end the script of a page; characters that end a line, hide
others or turn their order round are seen, as in JSON.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import altair as alt
import polars as pl

from polars_ir.errors import DataError, OptionError, quoted
from polars_ir.frames.roles import find
from polars_ir.language.columns import is_cost
from polars_ir.language.options import keys_named
from polars_ir.per_query.shared.attributes import QUERY, texts_of
from polars_ir.per_query.shared.measures import PERCENTS, Measures, Range, in_percent, is_beyond, range_of
from polars_ir.per_query.shared.queries import queries_of

#: Blue, orange, green, pink and ochre, distinguishable for the colour-blind (CIELAB distances of 14 and more, also for
#: them), and for each a dash and a shape.
PALETTE = ("#2E86DE", "#DD5A00", "#009E73", "#E040A0", "#A09050")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")

#: Better, neither and worse than another system.
OUTCOMES = {"win": "#2E86DE", "tie": "#858585", "loss": "#DD5A00"}

OUTCOME_SCALE = alt.Scale(domain=list(OUTCOMES), range=list(OUTCOMES.values()))

#: Lines of reference, and differences that are not significant.
GREY = "#858585"

#: Black on a light background, white on a dark one.
FOREGROUND = alt.ExprRef("luminance(background || '#fff') > 0.18 ? '#000' : '#fff'")

#: Altair's limit of rows in a data set.
MOST_ROWS = 5_000

#: The most systems that a chart distinguishes by colour; of more, the others are grey.
MOST_COLOURED = len(PALETTE)

#: The most characters of a name, without its middle beyond that; tooltips have it whole.
LONGEST_NAME = 40

#: A label of an axis, shortened as by `shortened`.
LABEL = (
    f"length(datum.label) > {LONGEST_NAME} "
    "? slice(datum.label, 0, 19) + '\u2026' + slice(datum.label, -20) : datum.label"
)

#: A chart, or several side by side.
Chart = alt.LayerChart | alt.ConcatChart

#: The most panels of a chart of several values of keys, and how many of them stand side by side.
MOST_PANELS, BESIDE = 12, 3

#: The column of the numbers of the parts that have panels of their own, in the place of keys of any name.
PART = "polars_ir_part"


class Parts(NamedTuple):
    """Key values in words and in order, each with panels of its own; none without keys."""

    keys: list[str]
    values: list[str]

    @property
    def columns(self) -> list[str]:
        """The column of their numbers, if there are any."""
        return [PART] if self.keys else []

    def headings(self, n_panels: int = 1) -> list[str]:
        """Their headings, of so many panels each; an error if these are too many, and one of all rows without any."""
        if n_panels * len(self.values) > MOST_PANELS:
            says = f"a chart has up to {MOST_PANELS} panels; {len(self.values)} values of {quoted(self.keys)} make"
            fix = "Keep some of the values; plots.series draws a course over many"
            raise DataError(f"{says} {n_panels * len(self.values)}.", fix=fix)
        return [f"{', '.join(self.keys)}: {value}" for value in self.values] or [""]


def with_parts(frame: pl.DataFrame, keys: list[str]) -> tuple[pl.DataFrame, Parts]:
    """The frame with key values replaced by panel numbers, and the panels."""
    if not keys:
        return frame, Parts([], [])
    values = frame.select(keys).unique().sort(keys)
    numbered = frame.join(values.with_row_index(PART), on=keys, how="left", maintain_order="left")
    return numbered.drop(keys), Parts(keys, texts_of(values.rows()))


def in_parts(
    per_query: Any, measures: Measures, chart: str, by: str | Sequence[str] | None
) -> tuple[pl.DataFrame, list[str], Parts]:
    """A per-query frame as it is `in_memory`, the measures to show, and the parts for values of `by`."""
    keys = keys_named(by, "per_query")
    frame, names = in_memory(per_query, measures, chart, by=keys or None)
    frame, parts = with_parts(frame, keys)
    return frame, names, parts


def by_part(frame: pl.DataFrame, headings: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The rows of each part by its heading; all rows where there are no parts."""
    if PART not in frame.columns:
        return {"": frame}
    return {heading: frame.filter(pl.col(PART) == number).drop(PART) for number, heading in enumerate(headings)}


def of_parts(panels: Mapping[str, alt.LayerChart], **scales: Literal["independent", "shared"]) -> Chart:
    """The panels of parts by their headings, side by side with one horizontal scale; the one of all rows as it is."""
    if list(panels) == [""]:
        return panels[""]
    headed = [panel.properties(title=titled(heading)) for heading, panel in panels.items()]
    chart: alt.ConcatChart = _beside(headed, columns=BESIDE).resolve_scale(x="shared", **scales)
    return chart


def in_memory(per_query: Any, measures: Measures, chart: str, *, by: Any = None) -> tuple[pl.DataFrame, list[str]]:
    """A per-query frame of any kind as a Polars one, and the measures to show."""
    queries = queries_of(per_query, measures, by=by, what=f"ir.plots.{chart}")
    frame = queries.table.all_columns().collect()
    if QUERY in frame.columns:
        frame = frame.with_columns(query_id=QUERY).drop(QUERY)
    return frame.rename({"query_id": queries.table.names["query_id"]}), list(queries.measures)


def ends_of_axis(measure: str, values: Sequence[float], others: Sequence[float] = ()) -> list[float]:
    """Lowest and highest figure within the bounds of the measure, unless its values are in another unit."""
    figures, its = [*values, *others], range_of(measure) or Range(-math.inf, math.inf)
    lowest, highest = its.ends
    if is_beyond(min(values), its) or is_beyond(max(values), its):
        are_percents = in_percent(min(values), max(values), its)
        lowest, highest = (lowest * PERCENTS, highest * PERCENTS) if are_percents else (-math.inf, math.inf)
    return [max(lowest, min(figures)), min(highest, max(figures))]


def only(measures: Sequence[str]) -> str:
    """The measure of a chart that shows one."""
    if len(measures) > 1:
        says = f"must be one measure; got {', '.join(map(repr, measures))}. Draw a chart of each."
        raise OptionError(says, about="measure")
    return measures[0]


def with_run(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with a column of systems, even where there is a single one without a name."""
    system = find("per_query", "run", frame.columns)
    return frame.with_columns(run=pl.lit("")) if system is None else frame.rename({system: "run"})


def systems_of(frame: pl.DataFrame) -> list[str]:
    """The systems, in their order in the frame."""
    return frame["run"].unique(maintain_order=True).to_list()


def shortened(name: object) -> str:
    """A long name without its middle, since model names often begin alike."""
    text = in_title(str(name))
    return text if len(text) <= LONGEST_NAME else f"{text[:19]}\u2026{text[-20:]}"


def axis(**options: Any) -> alt.Axis:
    """An axis whose grid is fainter than any mark, on a light and on a dark background."""
    return alt.Axis(gridColor=FOREGROUND, gridOpacity=0.15, labelExpr=LABEL, labelLimit=0, titleLimit=0, **options)


def colour(systems: Sequence[str], coloured: Sequence[str] | None) -> alt.Color:
    """A colour for each system, or for some of them, the others being grey."""
    return alt.Color("run:N", scale=scale_of(systems, PALETTE, coloured, GREY), legend=None, title=None)


def scale_of(systems: Sequence[str], kinds: Sequence[Any], coloured: Sequence[str] | None, other: Any) -> alt.Scale:
    """A kind for each system, or for some of them; the others have one kind."""
    own = dict(zip(systems if coloured is None else coloured, kinds, strict=False))
    return alt.Scale(domain=list(systems), range=[own.get(system, other) for system in systems])


def click(of: str = "system") -> alt.Parameter:
    """The click parameter that selects one system, or query, in all panels."""
    return alt.selection_point(name=of, fields=["run" if of == "system" else "query_id"])


def seen(opacity: float = 1, *, of: str = "system") -> Any:
    """The opacity of the marks of a system, or query: next to none if another one was clicked."""
    return alt.condition(click(of), alt.value(opacity), alt.value(opacity / 10))


def of_figures(*columns: str) -> list[alt.Tooltip]:
    """The tooltips of columns of figures."""
    return [alt.Tooltip(f"{column}:Q", format=".4f") for column in columns]


def of_kinds(column: str, kinds: Mapping[str, tuple[str, str]]) -> tuple[alt.Color, alt.Shape]:
    """The colour and the shape of each kind of systems."""
    colours, shapes = (alt.Scale(domain=list(kinds), range=[of_kind[i] for of_kind in kinds.values()]) for i in (0, 1))
    return alt.Color(f"{column}:N", scale=colours, title=None), alt.Shape(f"{column}:N", scale=shapes, title=None)


def one_below_the_other(systems: Sequence[str], *, grid: bool = False) -> alt.Y:
    """The systems as rows."""
    return alt.Y("run:N", sort=list(systems), title="system", axis=axis(grid=grid))


def of_outcomes() -> alt.Color:
    """The colours of wins, ties and losses."""
    return alt.Color("outcome:N", scale=OUTCOME_SCALE, title=None)


def titled(text: str, *lines: str, limit: float = 0) -> alt.TitleParams:
    """A title, and what there is to say below it."""
    below = [line for line in lines if line]
    # An empty subtitle would take the place of a line.
    return alt.TitleParams(text, subtitle=below or alt.Undefined, anchor="start", limit=limit, offset=10)


def with_direction(measure: str) -> str:
    """A measure's name, marked where lower is better."""
    named = in_title(measure)
    return f"{named} (lower is better)" if is_cost(measure) else named


def in_title(name: str) -> str:
    """A name as it stands in the title of an axis, which Vega-Lite copies into an expression as it is.

    There a backslash would begin an escape; before a word joiner it begins none.
    """
    return name.translate(SEEN).replace("\\", "\\\u2060")


def side_by_side(charts: Sequence[Chart], title: alt.TitleParams, *, columns: int) -> Chart:
    """One chart under its title; several as panels under it, each with its own."""
    return charts[0].properties(title=title) if len(charts) == 1 else _beside(charts, columns=columns, title=title)


def _beside(charts: Sequence[Chart], **properties: Any) -> alt.ConcatChart:
    with warnings.catch_warnings():
        # One click is for all panels (Altair 6).
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter", UserWarning)
        return alt.concat(*charts, spacing=30, **properties)


def on_missing(n_missing: int | None, missing: str) -> str:
    """A note on queries missing from either system, if any: the larger count."""
    treated = "count 0 for it" if missing == "zero" else "are left out"
    return f"Queries that one of two systems lacks, up to {n_missing:,}, {treated}." if n_missing else ""


def drawn(rows: pl.DataFrame, remedy: str) -> pl.DataFrame:
    """The rows of a chart; an error if they are more than a chart can have."""
    if rows.height > MOST_ROWS:
        raise DataError(f"a chart has up to {MOST_ROWS:,} marks; this one would have {rows.height:,}.", fix=remedy)
    return rows


def number(value: float) -> str:
    """A figure as it stands in titles and cells."""
    # Adding 0 takes the sign from what has been rounded to it.
    return f"{round(value, 3) + 0.0:.3f}" if abs(value) < 100 else f"{value:,.0f}"


#: Text that ends a script, or that begins a comment which hides the end.
_MARKUP = "<([/!])"

#: Controls, ends of lines and marks of direction by their codes, each as a text that is seen.
SEEN = {
    code: f"\\u{code:04x}"
    for of_kind in ((0, 0x20), (0x7F, 0xA0), (0x200E, 0x2010), (0x2028, 0x202F), (0x2066, 0x206A))
    for code in range(*of_kind)
}


def without_markup(part: Any) -> Any:
    """A chart, or a part of one, without markup and unseen characters."""
    if isinstance(part, str):
        return re.sub(_MARKUP, "<\u2060\\1", part).translate(SEEN)
    if isinstance(part, pl.DataFrame):
        harmless = pl.col(pl.String).str.replace_all(_MARKUP, "<\u2060${1}")
        return part.with_columns(harmless.str.replace_many({chr(code): text for code, text in SEEN.items()}))
    if isinstance(part, list):
        return [without_markup(one) for one in part]
    if isinstance(part, dict):
        return {name: without_markup(value) for name, value in part.items()}
    if isinstance(part, alt.SchemaBase):
        for name, value in list(part._kwds.items()):  # noqa: SLF001  # Altair has no other list of a chart's parts
            part[name] = without_markup(value)
    return part
