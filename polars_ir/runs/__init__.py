"""Functions of a run, most of them with its judgments. Each is a method of `.ir` on a run."""

from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "polars_ir.runs.confidence": "confidence",
        "polars_ir.runs.coverage": "coverage",
        "polars_ir.runs.diff": "diff",
        "polars_ir.runs.evaluate": "evaluate",
        "polars_ir.runs.explain": "explain",
        "polars_ir.runs.explain_plan": "explain_plan",
        "polars_ir.runs.interleaving": "interleave, interleaving",
        "polars_ir.runs.judge": "judge",
        "polars_ir.runs.judge_next": "judge_next",
        "polars_ir.runs.norms": "normalize",
        "polars_ir.runs.p_mrr": "p_mrr",
        "polars_ir.runs.rerank_gain": "rerank_gain",
        "polars_ir.runs.reusability": "reusability",
        "polars_ir.runs.similarity": "similarity",
        "polars_ir.runs.validate": "validate",
        "polars_ir.runs.verbs": "collapse, condense, deduplicate, pool, rerank, skip_first, top_k",
    },
    unlisted={"polars_ir.runs.update": "update", "polars_ir.runs.verbs": "top"},
)
