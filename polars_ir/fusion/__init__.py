"""Rank fusion: several runs to one.

`ir.fuse` does it. Here are its parts: `Method`, the methods and norms with their parameters
(`ir.fusion.rrf(k=10)`, `ir.fusion.min_max(minimum=0)`), `train` for the methods that learn from judged queries,
`fuse_out_of_fold` to measure these, and `DIALECTS`, what products mean by their names.
"""

from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "polars_ir.fusion.complementarity": "Complementarity, complementarity",
        "polars_ir.fusion.contribution": "contribution",
        "polars_ir.fusion.dialects": "DIALECTS, PRODUCTS, Dialect",
        "polars_ir.fusion.fuse": "fuse",
        "polars_ir.fusion.learned.fuse_out_of_fold": "fuse_out_of_fold",
        "polars_ir.fusion.learned.train": "train",
        "polars_ir.fusion.methods": (
            "METHODS, Method, borda, comb_anz, comb_gmnz, comb_max, comb_med, comb_min, comb_mnz, comb_sum, "
            "condorcet, dbsf, geometric_mean, harmonic_mean, isr, log_isr, logn_isr, mean, mixed, rbc, rrf, "
            "weighted_mnz, weighted_sum"
        ),
        "polars_ir.fusion.tuning.tune_fusion": "TunedFusion, tune_fusion",
        "polars_ir.runs.norms": (
            "NORMS, Norm, l2, largest, min_max, min_max_inverted, ranks, shares, z, borda as borda_norm, "
            "dbsf as dbsf_norm"
        ),
    },
)
