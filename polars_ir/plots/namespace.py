"""`.ir.plot` on frames: the charts, bound to a frame. There is no logic here."""

from __future__ import annotations

from typing import Any

from polars_ir.binding import bound
from polars_ir.plots.bars import differences
from polars_ir.plots.curves import cutoffs, precision_recall
from polars_ir.plots.overview import forest, heatmap
from polars_ir.plots.points import scatter
from polars_ir.plots.spread import distribution
from polars_ir.plots.times import series


class PlotNamespace:
    """Charts of a run (`cutoffs`, `precision_recall`), or of the per-query frame that `evaluate` returned."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    cutoffs = bound(cutoffs)
    differences = bound(differences)
    distribution = bound(distribution)
    forest = bound(forest)
    heatmap = bound(heatmap)
    precision_recall = bound(precision_recall)
    scatter = bound(scatter)
    series = bound(series)
