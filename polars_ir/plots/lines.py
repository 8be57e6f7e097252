"""Lines of systems over an axis, with bands, and with names at their ends."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from polars_ir.plots.style import MOST_COLOURED, axis, click, colour, dash, of_figures, seen, shape, shortened

#: The height of a label at the end of a line, in pixels.
LABEL = 13


def note_on_bands(systems: list[str], confidence: float, method: str = "t") -> str:
    """A note on the bands, if they are drawn, and on grey systems."""
    if len(systems) > MOST_COLOURED:
        return (
            f"Mean over queries; intervals of {len(systems)} systems are in the tooltips. "
            f"In colour: the {MOST_COLOURED} best at the end."
        )
    return f"Mean over queries with its {confidence:.0%} interval ({method})."


def best_at_the_end(rows: pl.DataFrame, x: str, *, cost: bool) -> list[str] | None:
    """The systems that are shown in colour, by their last values; None for all."""
    if rows["run"].n_unique() <= MOST_COLOURED:
        return None
    last = rows.drop_nulls("mean").sort(x, maintain_order=True).group_by("run", maintain_order=True).last()
    return last.sort("mean", descending=not cost, maintain_order=True)["run"].head(MOST_COLOURED).to_list()


def lines(
    rows: pl.DataFrame,
    x: alt.X,
    y: str,
    systems: list[str],
    *,
    domain: Any = alt.Undefined,
    coloured: list[str] | None = None,
    named: bool = False,
) -> list[alt.Chart]:
    """The layers of a line with points per system, over bands from `low` to `high` where these do not hide each other.

    Lines that are `named` at their ends have no legend, and a click on a point shows one system alone.
    """
    of_run, of_points = colour(systems, coloured), shape(systems, coloured)
    if named:
        of_run, of_points = of_run.legend(None), of_points.legend(None)
    figures = [column for column in ("mean", "low", "high") if column in rows.columns]
    tooltip = ["run:N", x.shorthand, *of_figures(*figures), "n_queries:Q"]
    if coloured is not None:
        # The last ones drawn lie on top.
        rows = rows.sort(pl.col("run").is_in(coloured), maintain_order=True)
    base = alt.Chart(rows).encode(x=x, color=of_run, opacity=seen())
    mean = alt.Y("mean:Q", title=y, scale=alt.Scale(zero=False, domain=domain), axis=axis())
    line = base.mark_line(strokeWidth=1.5).encode(y=mean, strokeDash=dash(systems, coloured))
    points = base.mark_point(filled=True, size=50).encode(y=mean, shape=of_points, tooltip=tooltip)
    if coloured is not None:
        small = alt.condition(alt.FieldOneOfPredicate("run", coloured), alt.value(50), alt.value(12))
        points = points.encode(size=small)
    layers = [line, points.add_params(click(on_legend=not named))]
    if "low" in rows.columns and len(systems) <= MOST_COLOURED:
        band = base.transform_filter("isValid(datum.low)").mark_area(clip=True)
        layers = [band.encode(y=alt.Y("low:Q"), y2="high:Q", opacity=seen(0.15)), *layers]
    return layers


def names_at_the_end(
    rows: pl.DataFrame,
    x: alt.X,
    systems: list[str],
    coloured: list[str] | None,
    span: tuple[float, float],
    *,
    height: int,
) -> alt.Chart:
    """The names of the coloured systems beside their last points, moved apart where they would overlap."""
    field = x.shorthand.split(":")[0]
    named = rows.drop_nulls("mean").filter(pl.col("run").is_in(systems if coloured is None else coloured))
    last = named.sort(field, maintain_order=True).group_by("run", maintain_order=True).last()
    ends = last.sort("mean", "run").select("run", field, "mean")
    places = apart(ends["mean"].to_list(), (span[1] - span[0]) * LABEL / height, span[1])
    short = pl.Series([shortened(system) for system in ends["run"]], dtype=pl.String)
    base = alt.Chart(ends.with_columns(place=pl.Series(places, dtype=pl.Float64), name=short))
    names: alt.Chart = base.mark_text(align="left", dx=8, fontWeight="bold").encode(
        x=x, y="place:Q", text="name:N", color=colour(systems, coloured).legend(None), opacity=seen()
    )
    return names


def apart(values: list[float], gap: float, highest: float) -> list[float]:
    """Rising values moved apart by a gap, as little as it takes, and below the highest if they fit.

    >>> apart([0.0, 0.1, 0.9], 0.5, 1.0)
    [0.0, 0.5, 1.0]
    """
    places: list[float] = []
    for value in values:
        places.append(max(value, places[-1] + gap) if places else value)
    for place in range(len(places) - 1, -1, -1):
        limit = places[place + 1] - gap if place + 1 < len(places) else highest
        places[place] = min(places[place], max(limit, values[place]) if place + 1 == len(places) else limit)
    return places
