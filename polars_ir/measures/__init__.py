"""Every measure, one file a family: the listing of this folder is the catalogue.

Conventions: a measure is a function of keyword parameters that returns an aggregation of the judged relation.
`@measure` names it, checks its parameters and completes its docstring; `vocabulary` has the words to write it with.
"""

from polars_ir.measures.average_precision import average_precision, inferred_average_precision, yaap
from polars_ir.measures.cascade import expected_reciprocal_rank, rank_biased_precision, rank_biased_precision_residual
from polars_ir.measures.counts import (
    n_nonrelevant_judged_retrieved,
    n_queries,
    n_relevant_documents,
    n_relevant_retrieved,
    n_retrieved_documents,
)
from polars_ir.measures.cumulated_gain import dcg, ideal_dcg, ndcg, q_measure
from polars_ir.measures.gain_ratio import binary_normalized_gain, ndcg_rel, normalized_gain, r_ndcg
from polars_ir.measures.geometric_mean import gm_bpref, gmap
from polars_ir.measures.interpolated_precision import eleven_point_average, interpolated_precision
from polars_ir.measures.judged import hole, judged, unjudged
from polars_ir.measures.precision_recall import f_measure, precision, r_precision, recall, recall_capped, success
from polars_ir.measures.preference import bpref
from polars_ir.measures.preferences import (
    n_preferences,
    n_preferences_fulfilled,
    preferences_fulfilled,
    preferences_fulfilled_balanced,
    preferences_fulfilled_by_judge,
    preferences_fulfilled_by_pair,
)
from polars_ir.measures.reciprocal_rank import reciprocal_rank
from polars_ir.measures.whole_set import set_average_precision, set_f_measure, set_precision, set_recall, utility

__all__ = [
    "average_precision",
    "binary_normalized_gain",
    "bpref",
    "dcg",
    "eleven_point_average",
    "expected_reciprocal_rank",
    "f_measure",
    "gm_bpref",
    "gmap",
    "hole",
    "ideal_dcg",
    "inferred_average_precision",
    "interpolated_precision",
    "judged",
    "n_nonrelevant_judged_retrieved",
    "n_preferences",
    "n_preferences_fulfilled",
    "n_queries",
    "n_relevant_documents",
    "n_relevant_retrieved",
    "n_retrieved_documents",
    "ndcg",
    "ndcg_rel",
    "normalized_gain",
    "precision",
    "preferences_fulfilled",
    "preferences_fulfilled_balanced",
    "preferences_fulfilled_by_judge",
    "preferences_fulfilled_by_pair",
    "q_measure",
    "r_ndcg",
    "r_precision",
    "rank_biased_precision",
    "rank_biased_precision_residual",
    "recall",
    "recall_capped",
    "reciprocal_rank",
    "set_average_precision",
    "set_f_measure",
    "set_precision",
    "set_recall",
    "success",
    "unjudged",
    "utility",
    "yaap",
]
