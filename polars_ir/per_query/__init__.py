"""Functions of a per-query frame: means, and systems, slices and periods compared. Each is a method of `.ir` on it."""

from polars_ir.lazy import lazy

lazy(
    __name__,
    {
        "polars_ir.per_query.difficulty": "hardest, unanswered",
        "polars_ir.per_query.risk": "geo_risk, risk",
    },
    files=(
        "abstention, assert_no_worse, compare, discriminative_power, drift, gate, level, long, mean, power, "
        "provenance, rank_correlation, ranks, robustness, summarize, to_metrics, worst_slices"
    ),
)
