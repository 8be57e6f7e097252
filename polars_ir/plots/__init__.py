"""Charts of per-query frames and of runs: each an Altair chart that can be extended, `chart.properties(width=900)`.

Conventions: a chart holds the figures of the function that computes them (`compare`, `summarize`, `drift`), and no
other. It says in its title what it shows, and in its subtitle what it had to leave out or put together. Fields have
plain names; the names of systems and measures, which may hold any character, are values. Colours are distinguishable by
the colour-blind and are never the only code. Polars frames come in, or what can be made one; a LazyFrame of a run is
collected once it is evaluated.
"""

from __future__ import annotations

from polars_ir.extras import require

require("plot", "polars_ir.plots")

from polars_ir.plots.lines import cutoffs, precision_recall, series
from polars_ir.plots.overview import forest, heatmap, ranks, stages
from polars_ir.plots.pairwise import differences, scatter
from polars_ir.plots.spread import distribution

__all__ = [
    "cutoffs",
    "differences",
    "distribution",
    "forest",
    "heatmap",
    "precision_recall",
    "ranks",
    "scatter",
    "series",
    "stages",
]

#: The charts of a frame, which `.ir.plot` has; stages are a dict of runs.
OF_FRAMES = [name for name in __all__ if name != "stages"]
