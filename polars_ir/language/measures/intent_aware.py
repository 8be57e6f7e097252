"""Intents: how well a ranking does for each subtopic of a query, and how many of them it covers.

Conventions: as in `diversity`, a subtopic that no document covers does not count, and a measure is undefined where no
subtopic is covered.
"""

from __future__ import annotations

import polars as pl

from polars_ir.language.budget import BUDGET, cutoff
from polars_ir.language.cover import Cover
from polars_ir.language.measure import measure
from polars_ir.language.measures.diversity import NDEVAL, WEIGHTS, above, covering, defined, subtopic, weight_of
from polars_ir.language.words import n_retrieved, rank, ratio, top, total

AGRAWAL = "Agrawal et al. 2009, https://doi.org/10.1145/1498759.1498766"


@measure(
    "AP_IA", source=f"{AGRAWAL}; {NDEVAL}", also={"ndeval": "MAP-IA", "ir_measures": "AP_IA MAP_IA"}, parameters=WEIGHTS
)
def intent_aware_average_precision(*, k: int | None = None, rel: float = 1, weights: str | None = None) -> pl.Expr:
    """Intent-aware average precision: the mean of the average precision for each subtopic.

    ::

        AP_IA@k = sum(weight(s) AP@k(s)) / sum(weight(s)), over the subtopics s that a document covers

    AP(s) takes the documents as relevant that cover s. Undefined when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    >>> ir.evaluate({"q": ["d1", "d2"]}, qrels, ir.intent_aware_average_precision()).row(0)
    ('q', 0.75)
    """
    cover = Cover(0.0, rel, None, weights)
    of_relevant = pl.when(cover.gain > 0).then(subtopic)
    n_relevant = of_relevant.rank("max").cast(pl.Int64) - of_relevant.rank("min") + 1
    rows = covering(cover, rank, k, n_relevant.alias("n_relevant"))
    place, worth = rows.struct.field("place"), rows.struct.field("worth")
    precision = (above(rows, place > 0) + 1) / place
    return defined(total(worth * precision / rows.struct.field("n_relevant")) / weight_of(cover), cover)


@measure("P_IA", source=f"{AGRAWAL}; {NDEVAL}", also={"ndeval": "P-IA", "ir_measures": "P_IA"}, parameters=WEIGHTS)
def intent_aware_precision(*, k: int | None = None, rel: float = 1, weights: str | None = None) -> pl.Expr:
    """Intent-aware precision: the mean of the precision for each subtopic.

    ::

        P_IA@k = sum(weight(s) P@k(s)) / sum(weight(s)), over the subtopics s that a document covers

    P(s) takes the documents as relevant that cover s. Without k, P is divided by the number of retrieved
    documents. Undefined when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b", "b"], "doc_id": ["d1", "d1", "d2"]})
    >>> ir.evaluate({"q": ["d1", "d2"]}, qrels.with_columns(relevance=1), ir.intent_aware_precision(k=2)).row(0)
    ('q', 0.75)
    """
    cover = Cover(0.0, rel, None, weights)
    length = n_retrieved.clip(lower_bound=1) if k is None else pl.len().clip(k, k)
    return defined(total(covering(cover, rank, k).struct.field("worth")) / (length * weight_of(cover)), cover)


@measure(
    "StRecall",
    source=f"Zhai et al. 2003, https://doi.org/10.1145/860435.860440; {NDEVAL}",
    also={"ndeval": "strec", "ir_measures": "StRecall", "AutoRAG": "group_recall"},
    parameters={**WEIGHTS, **BUDGET},
)
def subtopic_recall(
    *,
    k: int | None = None,
    rel: float = 1,
    weights: str | None = None,
    budget: float | None = None,
    cost: str = "tokens",
    over: str = "stop",
) -> pl.Expr:
    """Subtopic recall: the share of the subtopics that the first k documents cover.

    ::

        StRecall@k = weights of the subtopics that the first k documents cover / weights of those any covers

    Without `weights` all subtopics weigh the same. Undefined when no subtopic is covered.

    Examples
    --------
    >>> qrels = pl.DataFrame({"query_id": "q", "subtopic": ["a", "b"], "doc_id": ["d1", "d2"], "relevance": 1})
    >>> ir.evaluate({"q": ["d1", "d2"]}, qrels, ir.subtopic_recall(k=1)).row(0)
    ('q', 0.5)
    """
    cover = Cover(0.0, rel, None, weights)
    return ratio(weight_of(cover, top(cutoff(k, budget, cost, over))), weight_of(cover))
