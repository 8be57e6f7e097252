from polars_ir.fusion.complementarity import (
    Complementarity as Complementarity,
    complementarity as complementarity,
    contribution as contribution,
)
from polars_ir.fusion.dialects import DIALECTS as DIALECTS, PRODUCTS as PRODUCTS, Dialect as Dialect
from polars_ir.fusion.fuse import fuse as fuse
from polars_ir.fusion.learned.train import fuse_out_of_fold as fuse_out_of_fold, train as train
from polars_ir.fusion.methods import (
    METHODS as METHODS,
    Method as Method,
    borda as borda,
    comb_anz as comb_anz,
    comb_gmnz as comb_gmnz,
    comb_max as comb_max,
    comb_med as comb_med,
    comb_min as comb_min,
    comb_mnz as comb_mnz,
    comb_sum as comb_sum,
    condorcet as condorcet,
    dbsf as dbsf,
    geometric_mean as geometric_mean,
    harmonic_mean as harmonic_mean,
    isr as isr,
    log_isr as log_isr,
    logn_isr as logn_isr,
    mean as mean,
    mixed as mixed,
    rbc as rbc,
    rrf as rrf,
    weighted_mnz as weighted_mnz,
    weighted_sum as weighted_sum,
)
from polars_ir.fusion.tuning.tune_fusion import TunedFusion as TunedFusion, tune_fusion as tune_fusion
from polars_ir.runs.norms import (
    NORMS as NORMS,
    Norm as Norm,
    l2 as l2,
    largest as largest,
    min_max as min_max,
    min_max_inverted as min_max_inverted,
    ranks as ranks,
    shares as shares,
    z as z,
)
