"""Every measure, one file a family: the listing of this folder is the catalogue.

Conventions: a measure is a function of keyword parameters that returns an aggregation of the judged relation.
`@measure` names it, checks its parameters and completes its docstring; `vocabulary` has the words to write it with.
"""

from polars_ir.measures.average_precision import average_precision, inferred_average_precision
from polars_ir.measures.cascade import expected_reciprocal_rank, rank_biased_precision
from polars_ir.measures.counts import n_relevant_documents, n_relevant_retrieved, n_retrieved_documents
from polars_ir.measures.cumulated_gain import dcg, ideal_dcg, ndcg, q_measure
from polars_ir.measures.judged import hole, judged
from polars_ir.measures.precision_recall import f_measure, precision, r_precision, recall, recall_capped, success
from polars_ir.measures.preference import bpref
from polars_ir.measures.reciprocal_rank import reciprocal_rank
from polars_ir.measures.whole_set import set_f_measure, set_precision, set_recall

__all__ = [
    "average_precision",
    "bpref",
    "dcg",
    "expected_reciprocal_rank",
    "f_measure",
    "hole",
    "ideal_dcg",
    "inferred_average_precision",
    "judged",
    "n_relevant_documents",
    "n_relevant_retrieved",
    "n_retrieved_documents",
    "ndcg",
    "precision",
    "q_measure",
    "r_precision",
    "rank_biased_precision",
    "recall",
    "recall_capped",
    "reciprocal_rank",
    "set_f_measure",
    "set_precision",
    "set_recall",
    "success",
]
