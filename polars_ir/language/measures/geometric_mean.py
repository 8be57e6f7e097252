"""Measures whose mean over queries is geometric, so that the hardest queries weigh most."""

from __future__ import annotations

import polars as pl

from polars_ir.language.measure import measure
from polars_ir.language.measures.average_precision import average_precision
from polars_ir.language.measures.pairs import bpref
from polars_ir.language.measures.precision_recall import TREC_EVAL


@measure(
    "GMAP",
    source=f"{TREC_EVAL} (m_gm_map.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "gm_map", "trectools": "get_geometric_map"},
    average="geometric",
)
def gmap(*, rel: float = 1) -> pl.Expr:
    """Average precision of a query, for a geometric mean over queries.

    ::

        GMAP = AP of a query;  mean = exp(sum(ln(max(AP, 1e-5))) / queries)

    The value of a query is its AP; `mean` takes the geometric mean of these instead of the arithmetic one.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.gmap()).row(0)
    ('q', 0.5)
    """
    return average_precision(rel=rel)


@measure("GMbpref", source=f"{TREC_EVAL} (m_gm_bpref.c)", also={"trec_eval": "gm_bpref"}, average="geometric")
def gm_bpref(*, rel: float = 1) -> pl.Expr:
    """Binary preference of a query, for a geometric mean over queries.

    ::

        GMbpref = bpref of a query;  mean = exp(sum(ln(max(bpref, 1e-5))) / queries)

    The value of a query is its bpref; `mean` takes the geometric mean of these instead of the arithmetic one.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 0, "d9": 1}}, ir.gm_bpref()).row(0)
    ('q', 0.5)
    """
    return bpref(rel=rel)
