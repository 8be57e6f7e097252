"""Measures of the retrieved set as a whole, whatever its order: trec_eval's `set_` family."""

from __future__ import annotations

import polars as pl

from polars_ir.measures.precision_recall import TREC_EVAL, f_measure, precision, recall
from polars_ir.registry import measure


@measure("SetP", source=f"{TREC_EVAL} (m_set_P.c)", also={"trec_eval": "set_P", "ir_measures": "SetP"}, monotone=True)
def set_precision(*, rel: float = 1) -> pl.Expr:
    """Set precision: the share of the retrieved documents that is relevant.

    hits / retrieved; 0 when nothing is retrieved, undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_precision()).row(0)
    ('q', 0.5)
    """
    return precision(rel=rel)


@measure("SetR", source=f"{TREC_EVAL} (m_set_recall.c)", also={"trec_eval": "set_recall", "ir_measures": "SetR"})
def set_recall(*, rel: float = 1) -> pl.Expr:
    """Set recall: the share of the relevant documents that is retrieved.

    hits / R; undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_recall()).row(0)
    ('q', 0.5)
    """
    return recall(rel=rel)


@measure("SetF", source=f"{TREC_EVAL} (m_set_F.c)", also={"trec_eval": "set_F", "ir_measures": "SetF"})
def set_f_measure(*, rel: float = 1, beta: float = 1) -> pl.Expr:
    """Set F measure: the weighted harmonic mean of set precision and set recall.

    (1 + beta^2) P R / (beta^2 P + R). trec_eval's `set_F.x` and ir_measures' `SetF(beta=x)` put their parameter in the
    place of beta^2: for `set_F.4` take beta=2. Undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_f_measure()).row(0)
    ('q', 0.5)
    """
    return f_measure(rel=rel, beta=beta)
