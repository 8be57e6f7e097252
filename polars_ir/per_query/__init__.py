"""Functions of a per-query frame: means, and systems, slices and periods compared. Each is a method of `.ir` on it."""

from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "polars_ir.per_query.abstention": "abstention",
        "polars_ir.per_query.assert_no_worse": "assert_no_worse",
        "polars_ir.per_query.compare": "compare",
        "polars_ir.per_query.difficulty": "hardest, unanswered",
        "polars_ir.per_query.discriminative_power": "discriminative_power",
        "polars_ir.per_query.drift": "drift",
        "polars_ir.per_query.gate": "gate",
        "polars_ir.per_query.level": "level",
        "polars_ir.per_query.long": "long",
        "polars_ir.per_query.mean": "mean",
        "polars_ir.per_query.power": "power",
        "polars_ir.per_query.provenance": "provenance",
        "polars_ir.per_query.rank_correlation": "rank_correlation",
        "polars_ir.per_query.ranks": "ranks",
        "polars_ir.per_query.risk": "geo_risk, risk",
        "polars_ir.per_query.robustness": "robustness",
        "polars_ir.per_query.summarize": "summarize",
        "polars_ir.per_query.to_metrics": "to_metrics",
        "polars_ir.per_query.worst_slices": "worst_slices",
    },
)
