"""Pairs: how often a relevant document stands above one that is not, among those retrieved."""

from __future__ import annotations

import polars as pl

from polars_ir.registry import measure
from polars_ir.vocabulary import hits, if_relevant, rank, relevant, shown, top


@measure(
    "Accuracy",
    source="Hanley and McNeil 1982, https://doi.org/10.1148/radiology.143.1.7063747; ir_measures, https://ir-measur.es",
    also={"ir_measures": "Accuracy", "torchmetrics": "RetrievalAUROC retrieval_auroc", "RePlay": "RocAuc"},
)
def accuracy(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Pairwise accuracy: the share of pairs of a relevant and another document that are in the right order.

    Over the pairs among the first k, of which unjudged documents are not relevant: the area under the ROC curve of a
    query. 1 where all of the first k are relevant, 0 where none is; undefined when no document is relevant. RePlay has
    the same values. ir_measures leaves queries without a relevant document among the first k out of its mean, and
    divides by 0 where all are relevant; torchmetrics gives 0 there, and half a pair for tied scores. What BEIR calls
    Accuracy is `success`.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d1", "d3"]}, ir.accuracy()).row(0)
    ('q', 0.75)
    """
    n_hits = hits(k, rel).cast(pl.Int64)
    others = shown(k).cast(pl.Int64) - n_hits
    # Above the i-th relevant document stand as many others as its rank exceeds i.
    ranks = rank.filter(relevant(rel) & top(k)).cast(pl.Int64).sum()
    wrong, pairs = ranks - n_hits * (n_hits + 1) // 2, n_hits * others
    right = pl.when(others > 0).then((pairs - wrong) / pairs).otherwise(1.0)
    return if_relevant(pl.when(n_hits > 0).then(right).otherwise(0.0), rel)
