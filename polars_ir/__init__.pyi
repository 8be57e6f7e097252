from polars_ir import datasets as datasets, fusion as fusion
from polars_ir.answers import (
    citation_precision as citation_precision,
    citation_recall as citation_recall,
    nugget_recall as nugget_recall,
    read_nuggets as read_nuggets,
    read_support as read_support,
)
from polars_ir.chunks import qrels_from_spans as qrels_from_spans, relabel as relabel
from polars_ir.datasets.overlap import overlap as overlap
from polars_ir.datasets.split import split as split
from polars_ir.datasets.twins import twins as twins
from polars_ir.errors import IRError as IRError, IRWarning as IRWarning
from polars_ir.files import (
    read_beir as read_beir,
    read_qrels as read_qrels,
    read_run as read_run,
    scan_qrels as scan_qrels,
    scan_run as scan_run,
    sink_qrels as sink_qrels,
    sink_run as sink_run,
    write_qrels as write_qrels,
    write_run as write_run,
)
from polars_ir.fusion import (
    complementarity as complementarity,
    contribution as contribution,
    fuse as fuse,
    tune_fusion as tune_fusion,
)
from polars_ir.inputs import from_lists as from_lists, read_log as read_log
from polars_ir.language.catalog import CATALOG as CATALOG, catalog as catalog
from polars_ir.language.measure import measure as measure
from polars_ir.language.measures import *
from polars_ir.language.measures.positions import cumulated as cumulated, gained as gained, place as place
from polars_ir.language.names import name as name, parse as parse
from polars_ir.language.relevance_string import relevance_string as relevance_string
from polars_ir.language.words import (
    gain as gain,
    hits as hits,
    ideal_rank as ideal_rank,
    if_relevant as if_relevant,
    n_relevant as n_relevant,
    n_retrieved as n_retrieved,
    or_zero as or_zero,
    rank as rank,
    ratio as ratio,
    relevance as relevance,
    relevant as relevant,
    top as top,
)
from polars_ir.namespace import of as of
from polars_ir.per_query import *
from polars_ir.reports import report as report, side_by_side as side_by_side
from polars_ir.runs import *
from polars_ir.runs.agreement import agreement as agreement
from polars_ir.runs.judgments import judgments as judgments
from polars_ir.runs.merge_judgments import merge_judgments as merge_judgments
from polars_ir.runs.stages import stages as stages
from polars_ir.tables import table as table
from polars_ir.trec_eval.results import read_trec_eval as read_trec_eval, write_trec_eval as write_trec_eval
from polars_ir.version import __version__ as __version__

from . import plots as plots  # charts need an extra
from .language import measures as measures

# Second spellings of measures, by `python tests/support/stubs.py`.
ap = average_precision
ap_ia = intent_aware_average_precision
bing = binary_normalized_gain
bpm = bejeweled_player
compat = compatibility
cv_recall = success
cwl = user_model
cwl_cost = expected_cost
cwl_total = expected_total_gain
cwl_total_cost = expected_total_cost
err = expected_reciprocal_rank
f = f_measure
f1 = f_measure
fullrecall = full_recall
g = normalized_gain
get_bpref = bpref
get_geometric_map = gmap
get_relevant_documents = n_relevant_documents
get_relevant_retrieved_documents = n_relevant_retrieved
get_retrieved_documents = n_retrieved_documents
get_rprec = r_precision
gm_map = gmap
gmbpref = gm_bpref
group_recall = subtopic_recall
grouprr = group_reciprocal_rank
hit = success
hit_rate = success
hit_ratio = success
hr = success
idcg = ideal_dcg
ild = intra_list_diversity
infap = inferred_average_precision
infndcg = inferred_ndcg
iprec = interpolated_precision
map_avgjg = average_precision
map_ia = intent_aware_average_precision
mcc = matthews_correlation
mean_reciprocal_rank = reciprocal_rank
mrr = reciprocal_rank
nerr10 = nearly_err_10
nerr11 = nearly_err_11
nerr8 = nearly_err_8
nerr9 = nearly_err_9
num_nonrel_judged_ret = n_nonrelevant_judged_retrieved
num_q = n_queries
num_rel = n_relevant_documents
num_rel_ret = n_relevant_retrieved
num_ret = n_retrieved_documents
numnonreljudgedret = n_nonrelevant_judged_retrieved
numq = n_queries
numrel = n_relevant_documents
numrelret = n_relevant_retrieved
numret = n_retrieved_documents
p = precision
p_ia = intent_aware_precision
pap = partial_auc_and_precision
pauc = partial_auc
prefs_avgjg = preferences_fulfilled_by_judge
prefs_avgjg_rnonrel = preferences_fulfilled_balanced
prefs_num_prefs_ful = n_preferences_fulfilled
prefs_num_prefs_poss = n_preferences
prefs_pair = preferences_fulfilled_by_pair
prefs_simp = preferences_fulfilled
q = q_measure
r = recall
r_cap = recall_capped
rbp = rank_biased_precision
rbp_residual = rank_biased_precision_residual
recall_all = full_recall
recall_cap = recall_capped
recip_rank = reciprocal_rank
recip_rank_cut = reciprocal_rank
retrieval_auroc = accuracy
retrieval_fall_out = fallout
retrieval_hit_rate = success
retrieval_normalized_dcg = ndcg
retrieval_precision = precision
retrieval_r_precision = r_precision
retrieval_recall = recall
retrieval_reciprocal_rank = reciprocal_rank
rndcg = r_ndcg
rprec = r_precision
rr = reciprocal_rank
sdcg = scaled_dcg
set_map = set_average_precision
setap = set_average_precision
setf = set_f_measure
setp = set_precision
setr = set_recall
strec = subtopic_recall
strecall = subtopic_recall
top_k_accuracy = success
unj = unjudged
xinfap = extended_inferred_average_precision
