"""The pictures of the home page: a chart of the bundled collection for each door."""

from pathlib import Path

import polars as pl

import polars_ir as ir
from polars_ir import plots


def draw(folder: Path) -> None:
    """Write the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    pydocs = ir.datasets.load("pydocs")
    runs, qrels = pydocs.runs, pydocs.qrels
    per_query = ir.evaluate(runs, qrels, ["nDCG@10", "RR", "R@100"])
    days = per_query.select("query_id").unique(maintain_order=True).with_row_index("n")
    log = per_query.filter(run="bm25").drop("run").join(days, on="query_id").with_columns(week=pl.col("n") // 12)
    pictures = {
        "search": plots.cutoffs(runs, qrels, "nDCG"),
        "rag": plots.series(log, "week", "nDCG@10"),
        "recommenders": plots.distribution(per_query, "RR"),
        "benchmarks": plots.ranks(per_query, "nDCG@10"),
        "gates": plots.forest(per_query, "bm25", "nDCG@10"),
        "measures": plots.heatmap(per_query),
    }
    for name, chart in pictures.items():
        chart.properties(title="", background="white").save(folder / f"{name}.svg")
