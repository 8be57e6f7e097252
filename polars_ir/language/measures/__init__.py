"""Every measure, one file a family: the listing of this folder is the catalogue.

Conventions: a measure is a function of keyword parameters that returns an aggregation of the judged relation.
`@measure` names it, checks its parameters and completes its docstring; `words` has the expressions to write it with.
"""

from polars_ir.language.measures.average_precision import average_precision, inferred_average_precision, yaap
from polars_ir.language.measures.cascade import (
    expected_reciprocal_rank,
    rank_biased_precision,
    rank_biased_precision_residual,
)
from polars_ir.language.measures.compatibility import compatibility
from polars_ir.language.measures.confusion import fallout, matthews_correlation
from polars_ir.language.measures.counts import (
    n_nonrelevant_judged_retrieved,
    n_queries,
    n_relevant_documents,
    n_relevant_retrieved,
    n_retrieved_documents,
)
from polars_ir.language.measures.cumulated_gain import dcg, ideal_dcg, ndcg, q_measure
from polars_ir.language.measures.diversity import (
    alpha_dcg,
    alpha_ndcg,
    err_ia,
    nerr_ia,
    nnrbp,
    nrbp,
)
from polars_ir.language.measures.gain_ratio import binary_normalized_gain, ndcg_rel, normalized_gain, r_ndcg
from polars_ir.language.measures.geometric_mean import gm_bpref, gmap
from polars_ir.language.measures.intent_aware import (
    intent_aware_average_precision,
    intent_aware_precision,
    subtopic_recall,
)
from polars_ir.language.measures.interpolated_precision import eleven_point_average, interpolated_precision
from polars_ir.language.measures.judged import hole, judged, unjudged
from polars_ir.language.measures.nearly_err import nearly_err_8, nearly_err_9, nearly_err_10, nearly_err_11
from polars_ir.language.measures.pairs import accuracy, bpref, partial_auc, partial_auc_and_precision
from polars_ir.language.measures.precision_recall import (
    f_measure,
    precision,
    r_precision,
    recall,
    recall_capped,
    success,
)
from polars_ir.language.measures.preferences import (
    n_preferences,
    n_preferences_fulfilled,
    preferences_fulfilled,
    preferences_fulfilled_balanced,
    preferences_fulfilled_by_judge,
    preferences_fulfilled_by_pair,
)
from polars_ir.language.measures.reciprocal_rank import reciprocal_rank
from polars_ir.language.measures.spending import expected_cost, expected_total_cost, expected_total_gain
from polars_ir.language.measures.user_models import (
    bejeweled_player,
    insq,
    inst,
    scaled_dcg,
    user_model,
)
from polars_ir.language.measures.whole_set import (
    set_average_precision,
    set_f_measure,
    set_precision,
    set_recall,
    utility,
)

__all__ = [
    "accuracy",
    "alpha_dcg",
    "alpha_ndcg",
    "average_precision",
    "bejeweled_player",
    "binary_normalized_gain",
    "bpref",
    "compatibility",
    "dcg",
    "eleven_point_average",
    "err_ia",
    "expected_cost",
    "expected_reciprocal_rank",
    "expected_total_cost",
    "expected_total_gain",
    "f_measure",
    "fallout",
    "gm_bpref",
    "gmap",
    "hole",
    "ideal_dcg",
    "inferred_average_precision",
    "insq",
    "inst",
    "intent_aware_average_precision",
    "intent_aware_precision",
    "interpolated_precision",
    "judged",
    "matthews_correlation",
    "n_nonrelevant_judged_retrieved",
    "n_preferences",
    "n_preferences_fulfilled",
    "n_queries",
    "n_relevant_documents",
    "n_relevant_retrieved",
    "n_retrieved_documents",
    "ndcg",
    "ndcg_rel",
    "nearly_err_8",
    "nearly_err_9",
    "nearly_err_10",
    "nearly_err_11",
    "nerr_ia",
    "nnrbp",
    "normalized_gain",
    "nrbp",
    "partial_auc",
    "partial_auc_and_precision",
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
    "scaled_dcg",
    "set_average_precision",
    "set_f_measure",
    "set_precision",
    "set_recall",
    "subtopic_recall",
    "success",
    "unjudged",
    "user_model",
    "utility",
    "yaap",
]
