"""Fall-out and MCC, which also count the documents that are not relevant, retrieved and not."""

from __future__ import annotations

import polars as pl

from polars_ir.language.measure import LARGEST_COLLECTION, measure
from polars_ir.language.options import Option, whole
from polars_ir.language.words import hits, if_relevant, n_relevant, or_zero, ratio, relevance, shown, top

N_DOCS = Option(
    None,
    whole(1, LARGEST_COLLECTION),
    "The size of the collection, so that unjudged documents count as not relevant; None: they do not count.",
)

#: Message of a plan with more documents than n_docs.
TOO_SMALL = "polars_ir: {}: n_docs must be the size of the collection; there are more documents than that"


def not_relevant(name: str, k: int | None, rel: float, n_docs: int | None) -> tuple[pl.Expr, pl.Expr]:
    """Numbers of non-relevant documents among the first `k` and elsewhere.

    Those judged not relevant or, for a collection of `n_docs`, all that are not judged relevant.
    """
    if n_docs is None:
        judged = relevance < rel
        return (judged & top(k)).sum(), (judged & ~top(k).fill_null(False)).sum()
    in_vain = shown(k).cast(pl.Int64) - hits(k, rel)
    rest = int(n_docs) - n_relevant(rel).cast(pl.Int64) - in_vain
    # Only the engine knows the documents of a query; there, a text that is no number is an error.
    quoted = pl.lit(TOO_SMALL.format(name))
    return in_vain, pl.when(rest < 0).then(quoted).otherwise(rest.cast(pl.String)).cast(pl.Int64)


@measure(
    "Fallout",
    best=0.0,
    source="van Rijsbergen 1979, Information Retrieval, https://www.dcs.gla.ac.uk/Keith/Chapter.7/Ch.7.html",
    also={"torchmetrics": "RetrievalFallOut retrieval_fall_out"},
    parameters={"n_docs": N_DOCS},
)
def fallout(*, k: int | None = None, rel: float = 1, n_docs: int | None = None) -> pl.Expr:
    """Fall-out: the share of the documents judged not relevant that is among the first k; lower is better.

    ::

        Fallout@k = (judged not relevant, among the first k) / (judged not relevant)
        Fallout(n_docs)@k = (min(k, retrieved) - hits(k)) / (n_docs - R)

    With n_docs, the size of the collection, all documents that are not relevant count, judged or not. torchmetrics
    knows no documents but those it ranks. 0 where every document is relevant or nothing is retrieved; defined for every
    query.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 0, "d3": 0}}, ir.fallout()).row(0)
    ('q', 0.5)
    """
    in_vain, not_shown = not_relevant("Fallout", k, rel, n_docs)
    return or_zero(ratio(in_vain, in_vain + not_shown))


@measure(
    "MCC",
    bounds=(-1.0, 1.0),
    source="Matthews 1975, https://doi.org/10.1016/0005-2795(75)90109-9; RecTools, "
    "https://github.com/MobileTeleSystems/RecTools",
    also={"RecTools": "MCC"},
    parameters={"n_docs": N_DOCS},
)
def matthews_correlation(*, k: int | None = None, rel: float = 1, n_docs: int | None = None) -> pl.Expr:
    """Matthews correlation coefficient: how well being among the first k goes with being relevant, from -1 to 1.

    ::

        MCC@k = (TP TN - FP FN) / sqrt((TP + FP) (TP + FN) (TN + FP) (TN + FN))

    TP and FP are the documents among the first k that are relevant and that are not, FN and TN those elsewhere. FP and
    TN are of the documents judged not relevant or, with n_docs, the size of the collection, of all that are not
    relevant. 0 where a factor is 0, as where nothing is retrieved; undefined when no document is relevant. RecTools
    counts the places that a list shorter than k leaves empty as documents retrieved in vain.

    Examples
    --------
    >>> run, qrels = {"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}
    >>> ir.evaluate(run, qrels, ir.matthews_correlation(k=2, n_docs=6)).row(0)
    ('q', 0.25)
    """
    tp = hits(k, rel).cast(pl.Float64)
    fp, tn = (documents.cast(pl.Float64) for documents in not_relevant("MCC", k, rel, n_docs))
    fn = n_relevant(rel) - tp
    factors = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return if_relevant(or_zero(ratio(tp * tn - fp * fn, factors.sqrt())), rel)
