"""The reference of every measure by its name in the catalogue, and which of them are known in expectation."""

from collections.abc import Callable
from typing import Any

from . import counting, diversity, graded, own, precisions, preferences, user_models

#: A measure of a `Ranking`, or of what is `Preferred`, and its parameters.
Measure = Callable[..., Any]

MEASURES: dict[str, Measure] = {
    "11pt_avg": precisions.eleven_point_average,
    "AP": precisions.average_precision,
    "AP_IA": diversity.intent_aware_average_precision,
    "Accuracy": counting.accuracy,
    "BPM": user_models.bejeweled_player,
    "CWL": user_models.user_model,
    "CWL_cost": user_models.expected_cost,
    "CWL_total": user_models.expected_total_gain,
    "CWL_total_cost": user_models.expected_total_cost,
    "Compat": graded.compatibility,
    "DCG": graded.dcg,
    "ERR": graded.expected_reciprocal_rank,
    "ERR_IA": diversity.err_ia,
    "F": counting.f_measure,
    "Fallout": counting.fallout,
    "FullRecall": diversity.full_recall,
    "G": graded.normalized_gain,
    "GroupRR": diversity.group_reciprocal_rank,
    "GMAP": precisions.gmap,
    "GMbpref": precisions.gm_bpref,
    "Hole": counting.hole,
    "IDCG": graded.ideal_dcg,
    "INSQ": user_models.insq,
    "INST": user_models.inst,
    "IPrec": precisions.interpolated_precision,
    "Judged": counting.judged,
    "MCC": counting.matthews_correlation,
    "NERR10": user_models.nearly_err_10,
    "NERR11": user_models.nearly_err_11,
    "NERR8": user_models.nearly_err_8,
    "NERR9": user_models.nearly_err_9,
    "NRBP": diversity.nrbp,
    "NumNonRelJudgedRet": counting.n_nonrelevant_judged_retrieved,
    "NumQ": counting.n_queries,
    "NumRel": counting.n_relevant_documents,
    "NumRelRet": counting.n_relevant_retrieved,
    "NumRet": counting.n_retrieved,
    "P": counting.precision,
    "P_IA": diversity.intent_aware_precision,
    "Q": graded.q_measure,
    "R": counting.recall,
    "RBP": graded.rank_biased_precision,
    "RBP_residual": graded.rank_biased_precision_residual,
    "RR": counting.reciprocal_rank,
    "R_cap": counting.recall_capped,
    "Rndcg": graded.r_ndcg,
    "Rprec": counting.r_precision,
    "SDCG": user_models.scaled_dcg,
    "SetAP": counting.set_average_precision,
    "SetF": counting.set_f_measure,
    "SetP": counting.set_precision,
    "SetR": counting.set_recall,
    "StRecall": diversity.subtopic_recall,
    "Success": counting.success,
    "alpha_DCG": diversity.alpha_dcg,
    "alpha_nDCG": diversity.alpha_ndcg,
    "binG": graded.binary_normalized_gain,
    "bpref": precisions.bpref,
    "infAP": precisions.inferred_average_precision,
    "nDCG": graded.ndcg,
    "pAUC": counting.partial_auc,
    "pAp": counting.partial_auc_and_precision,
    "nERR_IA": diversity.nerr_ia,
    "nNRBP": diversity.nnrbp,
    "ndcg_rel": graded.ndcg_rel,
    "prefs_avgjg": preferences.preferences_fulfilled_by_judge,
    "prefs_avgjg_Rnonrel": preferences.preferences_fulfilled_balanced,
    "prefs_num_prefs_ful": preferences.n_preferences_fulfilled,
    "prefs_num_prefs_poss": preferences.n_preferences,
    "prefs_pair": preferences.preferences_fulfilled_by_pair,
    "prefs_simp": preferences.preferences_fulfilled,
    "unj": counting.unjudged,
    "utility": counting.utility,
    "yaap": precisions.yaap,
}

#: Aggregations that are no measures of the catalogue: a text, and a user's own, of columns of the relation and the run.
OWN: dict[str, Measure] = {
    "relstring": graded.relevance_string,
    "first_judged": own.first_judged,
    "price": own.price,
}

#: Measures that `ties="expected"` has: those that the documentation of `evaluate` names, and those no order changes.
EXPECTED = {
    *("P", "R", "R_cap", "F", "Rprec", "Success", "RR", "AP", "DCG", "nDCG", "RBP", "RBP_residual"),
    *("Judged", "unj", "Hole", "NumRelRet"),
    *("IDCG", "NumNonRelJudgedRet", "NumQ", "NumRel", "NumRet", "SetAP", "SetF", "SetP", "SetR", "utility"),
}
