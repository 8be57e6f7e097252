"""Fall-out: what was retrieved in vain, out of all that could be."""

from __future__ import annotations

import polars as pl

from polars_ir.parameters import Parameter, whole
from polars_ir.registry import measure
from polars_ir.vocabulary import hits, n_relevant, or_zero, ratio, relevance, shown, top

N_DOCS = Parameter(
    "How many documents the collection has, so that unjudged documents count as not relevant; None: they do not count.",
    "a whole number of documents, 1 or more",
    whole,
)

#: What the engine quotes when there are more documents than n_docs.
TOO_SMALL = "polars_ir: Fallout: n_docs must be the size of the collection; there are more documents than that"


@measure(
    "Fallout",
    best=0.0,
    source="van Rijsbergen 1979, Information Retrieval, chapter 7",
    also={"torchmetrics": "RetrievalFallOut retrieval_fall_out"},
    parameters={"n_docs": N_DOCS},
)
def fallout(*, k: int | None = None, rel: float = 1, n_docs: int | None = None) -> pl.Expr:
    """Fall-out: the share of the documents judged not relevant that is among the first k; lower is better.

    With n_docs, the size of the collection, all documents that are not relevant count, judged or not:
    (shown - hits) / (n_docs - R), where min(k, retrieved) are shown. torchmetrics knows no documents but
    those it ranks. 0 where every document is relevant or nothing is retrieved; defined for every query.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 0, "d3": 0}}, ir.fallout()).row(0)
    ('q', 0.5)
    """
    if n_docs is None:
        not_relevant = relevance < rel
        in_vain, not_shown = (not_relevant & top(k)).sum(), (not_relevant & ~top(k).fill_null(False)).sum()
    else:
        in_vain = shown(k).cast(pl.Int64) - hits(k, rel)
        rest = int(n_docs) - n_relevant(rel).cast(pl.Int64) - in_vain
        # What a query retrieves is known to the engine alone, where a text that is no number is an error.
        not_shown = pl.when(rest < 0).then(pl.lit(TOO_SMALL)).otherwise(rest.cast(pl.String)).cast(pl.Int64)
    return or_zero(ratio(in_vain, in_vain + not_shown))
