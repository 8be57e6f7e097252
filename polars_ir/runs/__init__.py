"""Functions of a run, most of them with its judgments. Each is a method of `.ir` on a run."""

from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "polars_ir.runs.interleaving": "interleave, interleaving",
        "polars_ir.runs.norms": "normalize",
        "polars_ir.runs.verbs": "collapse, condense, deduplicate, pool, rerank, skip_first, top_k",
    },
    unlisted={"polars_ir.runs.update": "update"},
    files=(
        "confidence, coverage, diff, evaluate, explain, explain_plan, judge, judge_next, p_mrr, rerank_gain, "
        "reusability, similarity, validate"
    ),
)
