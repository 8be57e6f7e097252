"""Measures of the retrieved set as a whole, whatever its order: trec_eval's `set_` family."""

from __future__ import annotations

import functools
import math
import operator

import polars as pl

from polars_ir.language.measure import LARGEST_COLLECTION, measure
from polars_ir.language.measures.precision_recall import TREC_EVAL, places, precision, recall, relevant_documents
from polars_ir.language.options import Option, Value, is_number, whole
from polars_ir.language.words import hits, if_relevant, n_relevant, n_retrieved, or_zero, ratio

COEFFICIENTS = Option(
    (1, -1, 0, 0),
    Value(
        "a tuple of four numbers, as in (1, -1, 0, 0)",
        lambda v: isinstance(v, tuple) and len(v) == 4 and all(map(is_number, v)),
    ),
    "The worth of a document that is relevant and retrieved, retrieved only, relevant only, and neither.",
)

N_DOCS = Option(
    None,
    whole(1, LARGEST_COLLECTION),
    "The size of the collection, for the last of the coefficients; None: 0, as trec_eval has it without -N.",
)


@measure(
    "SetP",
    source=f"{TREC_EVAL} (m_set_P.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "set_P", "ir_measures": "SetP"},
    monotone=True,
    out_of=lambda **_: places(None),
    expected="itself",
)
def set_precision(*, rel: float = 1) -> pl.Expr:
    """Set precision: the share of the retrieved documents that is relevant.

    ::

        SetP = hits / retrieved

    0 when nothing is retrieved, undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_precision()).row(0)
    ('q', 0.5)
    """
    return precision(rel=rel)


@measure(
    "SetR",
    source=f"{TREC_EVAL} (m_set_recall.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "set_recall", "ir_measures": "SetR"},
    out_of=relevant_documents,
    expected="itself",
)
def set_recall(*, rel: float = 1) -> pl.Expr:
    """Set recall: the share of the relevant documents that is retrieved.

    ::

        SetR = hits / R

    R is the number of relevant documents; undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_recall()).row(0)
    ('q', 0.5)
    """
    return recall(rel=rel)


def harmonic_mean(weight: float, rel: float) -> pl.Expr:
    """F measure of set precision and set recall, of this weight; computed as in trec_eval, to the last bit."""
    n_hits = hits(None, rel)
    of_retrieved, of_relevant = n_hits / n_retrieved, n_hits / n_relevant(rel)
    mean = (weight + 1) * of_retrieved * of_relevant / (weight * of_retrieved + of_relevant)
    return if_relevant(pl.when(n_hits > 0).then(mean).otherwise(0.0), rel)


@measure(
    "SetF",
    source=f"{TREC_EVAL} (m_set_F.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "set_F", "ir_measures": "SetF"},
    out_of=lambda rel, beta: beta**2 * relevant_documents(rel) + places(None),
    expected="itself",
)
def set_f_measure(*, rel: float = 1, beta: float = 1) -> pl.Expr:
    """Set F measure: the weighted harmonic mean of set precision and set recall.

    ::

        SetF = (1 + beta^2) P R / (beta^2 P + R)  with P = SetP, R = SetR

    0 when nothing relevant is retrieved. trec_eval's `set_F.x` and ir_measures' `SetF(beta=x)` put their parameter in
    the place of beta^2: for `set_F.4` take beta=2. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_f_measure()).row(0)
    ('q', 0.5)
    """
    # The square of the root of a number is that number except for its last digit.
    return harmonic_mean(float(f"{beta**2:.15g}"), rel)


@measure(
    "SetAP",
    source=f"{TREC_EVAL} (m_set_map.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "set_map", "ir_measures": "SetAP"},
    expected="itself",
)
def set_average_precision(*, rel: float = 1) -> pl.Expr:
    """Set average precision: set precision times set recall.

    ::

        SetAP = hits^2 / (retrieved * R)

    R is the number of relevant documents: it is average precision with the precision of the whole set at every
    relevant document. 0 when nothing is retrieved, undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2"]}, {"q": ["d1", "d9"]}, ir.set_average_precision()).row(0)
    ('q', 0.25)
    """
    n_hits = hits(None, rel).cast(pl.Float64)
    return if_relevant(or_zero(ratio(n_hits * n_hits, n_retrieved * n_relevant(rel).cast(pl.Float64))), rel)


@measure(
    "utility",
    bounds=(-math.inf, math.inf),
    source=f"{TREC_EVAL} (m_utility.c)",
    reads_nonrelevant=False,
    also={"trec_eval": "utility"},
    parameters={"coefficients": COEFFICIENTS, "n_docs": N_DOCS},
    expected="itself",
)
def utility(
    *, rel: float = 1, coefficients: tuple[float, float, float, float] = (1, -1, 0, 0), n_docs: int | None = None
) -> pl.Expr:
    """Set utility: the worth of every document, by whether it is relevant and whether it is retrieved.

    ::

        utility = c1 (relevant and retrieved) + c2 (retrieved only) + c3 (relevant only) + c4 (neither)

    The c are the coefficients; `neither` is n_docs less the other three. Defined also when no document is relevant; 0
    when nothing is retrieved and c3 and c4 are 0.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ["utility", "utility.3,-1,-2,0"]).row(0)
    ('q', -1.0, -1.0)
    """
    both = hits(None, rel).cast(pl.Float64)
    retrieved_only, relevant_only = n_retrieved - both, n_relevant(rel) - both
    neither = (n_docs or 0) - both - retrieved_only - relevant_only
    worth = (float(c) * n for c, n in zip(coefficients, (both, retrieved_only, relevant_only, neither), strict=True))
    return functools.reduce(operator.add, worth)
