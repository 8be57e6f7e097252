"""How much of the top of a ranking was judged at all."""

from __future__ import annotations

import polars as pl

from polars_ir.measures.precision_recall import TREC_EVAL
from polars_ir.registry import measure
from polars_ir.vocabulary import length, n_retrieved, or_zero, relevance, top


def shown(k: int | None) -> pl.Expr:
    """How many of the first `k` places the run filled."""
    return n_retrieved if k is None else pl.min_horizontal(n_retrieved, k)


@measure("Judged", source="ir_measures, https://ir-measur.es", also={"ir_measures": "Judged"})
def judged(*, k: int | None = None) -> pl.Expr:
    """Judged: the share of the first k documents that has a judgment.

    judged / min(k, retrieved); any grade counts, negative ones too. 0 when nothing is retrieved.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": {"d1": 1, "d3": 0}}, ir.judged(k=10)).row(0)
    ('q', 0.5)
    """
    return or_zero((top(k) & relevance.is_not_null()).sum() / shown(k))


@measure("Hole", best=0.0, source=f"{TREC_EVAL} (m_unj.c)", also={"trec_eval": "unj", "BEIR": "Hole", "MTEB": "Hole"})
def hole(*, k: int | None = None) -> pl.Expr:
    """Hole: the share of the first k places that holds a document without a judgment for this query.

    unjudged / k, as trec_eval's unj_k: places the run left empty do not count, documents whose grade is negative do.
    Without k, unjudged / retrieved. 0 when nothing is retrieved; 0 is the best value. BEIR's function of this name
    looks for a judgment of the document for any query of the collection.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": {"d1": 1, "d3": 0}}, ir.hole(k=10)).row(0)
    ('q', 0.2)
    """
    assessed = (top(k) & (relevance >= 0)).sum()
    return or_zero((shown(k).cast(pl.Int64) - assessed) / length(k))
