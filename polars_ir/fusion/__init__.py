"""Rank fusion: several runs to one.

`ir.fuse` does it. Here is what it is made of: `Method`, the methods and norms with their parameters
(`ir.fusion.rrf(k=10)`, `ir.fusion.min_max(minimum=0)`), `train` for the methods that learn from judged queries,
`fuse_out_of_fold` to measure these, and `DIALECTS`, what products mean by their names.
"""

from polars_ir.fusion.complementing import Complementarity, complementarity
from polars_ir.fusion.contributing import contribution
from polars_ir.fusion.crossing import fuse_out_of_fold
from polars_ir.fusion.dialects import DIALECTS, PRODUCTS, Dialect
from polars_ir.fusion.fusing import fuse
from polars_ir.fusion.methods import (
    METHODS,
    Method,
    borda,
    comb_anz,
    comb_gmnz,
    comb_max,
    comb_med,
    comb_min,
    comb_mnz,
    comb_sum,
    condorcet,
    dbsf,
    geometric_mean,
    harmonic_mean,
    isr,
    log_isr,
    logn_isr,
    mean,
    mixed,
    rbc,
    rrf,
    weighted_mnz,
    weighted_sum,
)
from polars_ir.fusion.training import train
from polars_ir.fusion.tuning import TunedFusion, tune_fusion
from polars_ir.runs.norms import NORMS, Norm, l2, largest, min_max, ranks, shares, z
from polars_ir.runs.norms import borda as borda_norm
from polars_ir.runs.norms import dbsf as dbsf_norm

#: The functions that are public in the package itself, and methods of `.ir` on runs.
FUNCTIONS = (fuse, tune_fusion, complementarity, contribution)

__all__ = [
    "DIALECTS",
    "METHODS",
    "NORMS",
    "PRODUCTS",
    "Complementarity",
    "Dialect",
    "Method",
    "Norm",
    "TunedFusion",
    "borda",
    "borda_norm",
    "comb_anz",
    "comb_gmnz",
    "comb_max",
    "comb_med",
    "comb_min",
    "comb_mnz",
    "comb_sum",
    "complementarity",
    "condorcet",
    "contribution",
    "dbsf",
    "dbsf_norm",
    "fuse",
    "fuse_out_of_fold",
    "geometric_mean",
    "harmonic_mean",
    "isr",
    "l2",
    "largest",
    "log_isr",
    "logn_isr",
    "mean",
    "min_max",
    "mixed",
    "ranks",
    "rbc",
    "rrf",
    "shares",
    "train",
    "tune_fusion",
    "weighted_mnz",
    "weighted_sum",
    "z",
]
