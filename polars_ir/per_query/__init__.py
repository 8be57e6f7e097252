"""Functions of a per-query frame: means, and systems, slices and periods compared. Each is a method of `.ir` on it."""

from polars_ir.per_query.abstaining import abstention
from polars_ir.per_query.correlation import rank_correlation
from polars_ir.per_query.difficulty import hardest, unanswered
from polars_ir.per_query.discriminating import discriminative_power
from polars_ir.per_query.drifting import drift
from polars_ir.per_query.gating import gate
from polars_ir.per_query.ranking import ranks
from polars_ir.per_query.risks import geo_risk, risk
from polars_ir.per_query.sample_size import power
from polars_ir.per_query.slices import worst_slices
from polars_ir.per_query.summary import mean, summarize
from polars_ir.per_query.systems import compare
from polars_ir.per_query.variants import robustness

__all__ = [
    "abstention",
    "compare",
    "discriminative_power",
    "drift",
    "gate",
    "geo_risk",
    "hardest",
    "mean",
    "power",
    "rank_correlation",
    "ranks",
    "risk",
    "robustness",
    "summarize",
    "unanswered",
    "worst_slices",
]
