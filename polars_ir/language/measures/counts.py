"""Counts: retrieved documents, relevant ones, and both."""

from __future__ import annotations

import polars as pl

from polars_ir.language import ties
from polars_ir.language.measure import measure
from polars_ir.language.measures.precision_recall import TREC_EVAL
from polars_ir.language.words import hits, n_relevant, n_retrieved, relevance, top

INFINITY = float("inf")


@measure(
    "NumRet",
    bounds=(0.0, INFINITY),
    source=f"{TREC_EVAL} (m_num_ret.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "num_ret", "ir_measures": "NumRet", "trectools": "get_retrieved_documents"},
    monotone=True,
    expected="itself",
)
def n_retrieved_documents(*, rel: float | None = None) -> pl.Expr:
    """The number of retrieved documents, judged or not; with `rel`, of the relevant ones among them.

    ::

        NumRet = documents retrieved

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2", "d3"]}, ir.n_retrieved_documents()).row(0)
    ('q', 2)
    """
    return (n_retrieved if rel is None else hits(None, rel)).cast(pl.Int64)


@measure(
    "NumRel",
    bounds=(0.0, INFINITY),
    source=f"{TREC_EVAL} (m_num_rel.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "num_rel", "ir_measures": "NumRel", "trectools": "get_relevant_documents"},
    monotone=True,
    expected="itself",
)
def n_relevant_documents(*, rel: float = 1) -> pl.Expr:
    """The number of relevant documents, retrieved or not.

    ::

        NumRel = R = documents with a grade of at least rel

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2", "d3"]}, ir.n_relevant_documents()).row(0)
    ('q', 2)
    """
    return n_relevant(rel).cast(pl.Int64)


@measure(
    "NumRelRet",
    bounds=(0.0, INFINITY),
    source=f"{TREC_EVAL} (m_num_rel_ret.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "num_rel_ret", "ir_measures": "NumRelRet", "trectools": "get_relevant_retrieved_documents"},
    monotone=True,
    # Without k it is certain, and whole.
    expected=lambda k, rel: ties.hits(k, rel).cast(pl.Int64 if k is None else pl.Float64),
)
def n_relevant_retrieved(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """The number of relevant documents among the first k.

    ::

        NumRelRet@k = hits(k) = documents among the first k with a grade of at least rel

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2", "d3"]}, ir.n_relevant_retrieved()).row(0)
    ('q', 1)
    """
    return hits(k, rel).cast(pl.Int64)


@measure(
    "NumNonRelJudgedRet",
    bounds=(0.0, INFINITY),
    best=0.0,
    source=f"{TREC_EVAL} (m_num_nonrel_judged_ret.c)",
    also={"trec_eval": "num_nonrel_judged_ret"},
    expected="itself",
)
def n_nonrelevant_judged_retrieved(*, rel: float = 1) -> pl.Expr:
    """The number of retrieved documents that were judged not relevant.

    ::

        NumNonRelJudgedRet = retrieved documents with a grade from 0 to below rel

    Documents that are unjudged, or whose grade is negative, do not count. 0 is the best value.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 0, "d3": 0}}, ir.n_nonrelevant_judged_retrieved()).row(0)
    ('q', 1)
    """
    return (top() & (relevance >= 0) & (relevance < rel)).sum().cast(pl.Int64)


@measure(
    "NumQ",
    source=f"{TREC_EVAL} (m_num_q.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "num_q", "ir_measures": "NumQ"},
    monotone=True,
    average="sum",
    expected="itself",
)
def n_queries() -> pl.Expr:
    """The number of queries: 1 for each.

    ::

        NumQ = 1

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d2"], "r": ["d1"]}, ir.n_queries()).rows()
    [('q', 1), ('r', 1)]
    """
    return relevance.len().clip(1, 1).cast(pl.Int64)
