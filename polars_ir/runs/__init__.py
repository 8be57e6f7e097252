"""Functions of a run, most of them with its judgments. Each is a method of `.ir` on a run."""

from polars_ir.runs.confidences import confidence
from polars_ir.runs.difference import diff
from polars_ir.runs.evaluation import evaluate
from polars_ir.runs.explanation import explain
from polars_ir.runs.instructions import p_mrr
from polars_ir.runs.interleaving import interleave, interleaving
from polars_ir.runs.judging import judge
from polars_ir.runs.judging_next import judge_next
from polars_ir.runs.norms import normalize
from polars_ir.runs.rerank_gains import rerank_gain
from polars_ir.runs.shaping import collapse, condense, deduplicate, pool, rerank, top_k
from polars_ir.runs.similarity import similarity
from polars_ir.runs.skipping import skip_first
from polars_ir.runs.validation import validate

__all__ = [
    "collapse",
    "condense",
    "confidence",
    "deduplicate",
    "diff",
    "evaluate",
    "explain",
    "interleave",
    "interleaving",
    "judge",
    "judge_next",
    "normalize",
    "p_mrr",
    "pool",
    "rerank",
    "rerank_gain",
    "similarity",
    "skip_first",
    "top_k",
    "validate",
]
