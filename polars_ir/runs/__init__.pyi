from polars_ir.runs.confidence import confidence as confidence
from polars_ir.runs.coverage import coverage as coverage
from polars_ir.runs.diff import diff as diff
from polars_ir.runs.evaluate import evaluate as evaluate
from polars_ir.runs.explain import explain as explain
from polars_ir.runs.explain_plan import explain_plan as explain_plan
from polars_ir.runs.exposure import exposure as exposure
from polars_ir.runs.interleaving import interleave as interleave, interleaving as interleaving
from polars_ir.runs.judge import judge as judge
from polars_ir.runs.judge_next import judge_next as judge_next
from polars_ir.runs.merge_calls import merge_calls as merge_calls
from polars_ir.runs.missing_evidence import missing_evidence as missing_evidence
from polars_ir.runs.norms import normalize as normalize
from polars_ir.runs.p_mrr import p_mrr as p_mrr
from polars_ir.runs.rerank_gain import rerank_gain as rerank_gain
from polars_ir.runs.reusability import reusability as reusability
from polars_ir.runs.similarity import similarity as similarity
from polars_ir.runs.update import update as update
from polars_ir.runs.validate import validate as validate
from polars_ir.runs.verbs import (
    collapse as collapse,
    condense as condense,
    deduplicate as deduplicate,
    pool as pool,
    rerank as rerank,
    skip_first as skip_first,
    top_k as top_k,
)
