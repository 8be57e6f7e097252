"""The judged share of the top of a ranking."""

from __future__ import annotations

import polars as pl

from polars_ir.language import ties
from polars_ir.language.measure import measure
from polars_ir.language.measures.precision_recall import TREC_EVAL, places
from polars_ir.language.words import judged_elsewhere, length, or_zero, ratio, relevance, shown, top


@measure(
    "Judged",
    source="ir_measures, https://ir-measur.es",
    also={"ir_measures": "Judged"},
    out_of=lambda k: places(k, "min(k,n)"),
    expected=lambda k: or_zero(ratio(ties.count(relevance.is_not_null(), k), shown(k))),
)
def judged(*, k: int | None = None) -> pl.Expr:
    """Judged: the share of the first k documents that has a judgment.

    ::

        Judged@k = (judged documents among the first k) / min(k, retrieved)

    Any grade counts, negative ones too. 0 when nothing is retrieved.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": {"d1": 1, "d3": 0}}, ir.judged(k=10)).row(0)
    ('q', 0.5)
    """
    return or_zero(ratio((top(k) & relevance.is_not_null()).sum(), shown(k)))


@measure(
    "unj",
    best=0.0,
    source=f"{TREC_EVAL} (m_unj.c)",
    also={"trec_eval": "unj", "trectools": "UNJ get_unjudged(k=10)"},
    out_of=places,
    expected=lambda k: or_zero(ratio(shown(k).cast(pl.Int64) - ties.count(relevance >= 0, k), length(k))),
)
def unjudged(*, k: int | None = None) -> pl.Expr:
    """Unjudged: the share of the first k places that holds a document without a judgment for this query.

    ::

        unj@k = (unjudged documents among the first k) / k

    As in trec_eval's unj_k, places the run left empty do not count, documents whose grade is negative do. Without k,
    unjudged / retrieved. 0 when nothing is retrieved; 0 is the best value.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": {"d1": 1, "d3": 0}}, ir.unjudged(k=10)).row(0)
    ('q', 0.2)
    """
    assessed = (top(k) & (relevance >= 0)).sum()
    return or_zero(ratio(shown(k).cast(pl.Int64) - assessed, length(k)))


#: True for a document that was judged for any query.
pooled = relevance.is_not_null() | judged_elsewhere.is_not_null()


@measure(
    "Hole",
    best=0.0,
    source="Thakur et al. 2021 (BEIR), https://arxiv.org/abs/2104.08663",
    also={"BEIR": "Hole", "MTEB": "Hole"},
    out_of=places,
    expected=lambda k: or_zero(ratio(shown(k).cast(pl.Int64) - ties.count(pooled, k), length(k))),
)
def hole(*, k: int | None = None) -> pl.Expr:
    """Hole: the share of the first k places that holds a document without a judgment for any query.

    ::

        Hole@k = (documents among the first k that are judged for no query) / k

    A judgment of the document for whichever query of the qrels, of any grade, counts. It asks whether the document was
    in the pool at all; `unjudged` asks of this query. Places the run left empty do not count. Without k, unjudged /
    retrieved. 0 when nothing is retrieved; 0 is the best value.

    Examples
    --------
    >>> ir.evaluate({"q1": ["d1", "d2", "d3"]}, {"q1": {"d1": 1}, "q2": {"d3": 0}}, ir.hole(k=10))["Hole@10"].to_list()
    [0.1, 0.0]
    """
    return or_zero(ratio(shown(k).cast(pl.Int64) - (top(k) & pooled).sum(), length(k)))
