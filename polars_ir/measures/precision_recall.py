"""Precision, recall and their relatives: how many of the first k are relevant, out of how many.

Without a cutoff each takes the whole list, as the `Set...` measures do.
"""

from __future__ import annotations

import polars as pl

from polars_ir.parameters import Parameter, positive
from polars_ir.registry import CATALOG, canonical_name, measure
from polars_ir.vocabulary import hits, if_relevant, length, n_relevant, or_zero, ratio

TREC_EVAL = "trec_eval 10, https://github.com/usnistgov/trec_eval"


def places(k: int | None) -> pl.Expr:
    """What a precision is out of, in the result of `evaluate`: the cutoff or, without one, the documents retrieved."""
    return pl.col("NumRet") if k is None else pl.lit(k)


def relevant_documents(rel: float) -> pl.Expr:
    """What a recall is out of, in the result of `evaluate`."""
    return pl.col(canonical_name(CATALOG["NumRel"], {"rel": rel}))


@measure(
    "P",
    source=f"{TREC_EVAL} (m_P.c)",
    also={
        "trec_eval": "P P_avgjg",
        "ir_measures": "P Precision",
        "ranx": "precision",
        "BEIR": "P",
        "MTEB": "precision",
        "RecTools": "Precision",
        "torchmetrics": "RetrievalPrecision retrieval_precision",
        "recommenders": "precision_at_k(k=10)",
        "trectools": "get_precision(k=1000)",
    },
    monotone=True,
    out_of=lambda k, **_: places(k),
)
def precision(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Precision: the share of the first k documents that is relevant.

    hits(k) / k, as trec_eval's P_k: a list shorter than k is still divided by k. Without k, hits / retrieved.
    0 when nothing is retrieved; undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ir.precision(k=5)).row(0)
    ('q', 0.2)
    """
    return if_relevant(or_zero(ratio(hits(k, rel), length(k))), rel)


@measure(
    "R",
    source=f"{TREC_EVAL} (m_recall.c)",
    also={
        "trec_eval": "recall",
        "ir_measures": "R Recall",
        "ranx": "recall",
        "BEIR": "Recall",
        "MTEB": "recall",
        "RecTools": "Recall",
        "torchmetrics": "RetrievalRecall retrieval_recall",
        "recommenders": "recall_at_k(k=10)",
    },
    out_of=lambda rel, **_: relevant_documents(rel),
)
def recall(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Recall: the share of the relevant documents that is among the first k.

    hits(k) / R, with R the relevant documents there are. Undefined when there are none.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ir.recall(k=5)).row(0)
    ('q', 0.5)
    """
    return ratio(hits(k, rel), n_relevant(rel))


@measure(
    "R_cap",
    source=f"{TREC_EVAL} (m_relative_P.c); Thakur et al. 2021 (BEIR), https://arxiv.org/abs/2104.08663",
    also={
        "trec_eval": "relative_P set_relative_P",
        "ir_measures": "SetRelP",
        "BEIR": "R_cap recall_cap",
        "MTEB": "R_cap",
    },
    out_of=lambda k, rel: pl.min_horizontal(places(k), relevant_documents(rel)),
)
def recall_capped(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Capped recall: the hits among the first k, out of the most there can be.

    hits(k) / min(k, R), so that a perfect ranking reaches 1 however many documents are relevant: BEIR's recall_cap,
    trec_eval's relative_P. Without k, hits / min(retrieved, R). Undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ir.recall_capped(k=1)).row(0)
    ('q', 1.0)
    """
    return if_relevant(or_zero(ratio(hits(k, rel), pl.min_horizontal(length(k), n_relevant(rel)))), rel)


@measure(
    "F",
    source="van Rijsbergen 1979, Information Retrieval, chapter 7",
    also={"ranx": "f1", "RecTools": "F1Beta"},
    out_of=lambda k, rel, beta: beta**2 * relevant_documents(rel) + places(k),
)
def f_measure(*, k: int | None = None, rel: float = 1, beta: float = 1) -> pl.Expr:
    """F measure: the weighted harmonic mean of precision and recall among the first k.

    (1 + beta^2) P R / (beta^2 P + R), which is (1 + beta^2) hits / (beta^2 R + k). trec_eval's `set_F.x` and
    ir_measures' `SetF(beta=x)` put their parameter in the place of beta^2. Undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d1", "d4"]}, ir.f_measure(k=2)).row(0)
    ('q', 0.5)
    """
    weight = beta**2
    return if_relevant((1 + weight) * hits(k, rel) / (weight * n_relevant(rel) + length(k)), rel)


@measure(
    "Success",
    source=f"{TREC_EVAL} (m_success.c)",
    also={
        "trec_eval": "success",
        "ir_measures": "Success",
        "ranx": "hit_rate",
        "BEIR": "top_k_accuracy",
        "MTEB": "hit_rate cv_recall",
        "RecTools": "HitRate",
        "torchmetrics": "RetrievalHitRate retrieval_hit_rate",
    },
    monotone=True,
    out_of=lambda **_: pl.lit(1),
)
def success(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Success: whether any of the first k documents is relevant, also called hit rate and top-k accuracy.

    1 if hits(k) > 0, else 0. Undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d3"]}, [ir.success(k=1), ir.success(k=3)]).row(0)
    ('q', 0.0, 1.0)
    """
    return if_relevant((hits(k, rel) > 0).cast(pl.Float64), rel)


def multiple_of_relevant(multiple: float, rel: float) -> pl.Expr:
    """The cutoff at a multiple of R, which trec_eval rounds up unless the fraction is below a tenth."""
    return (multiple * n_relevant(rel) + 0.9).floor().cast(pl.Int64)


@measure(
    "Rprec",
    source=f"{TREC_EVAL} (m_Rprec.c)",
    also={
        "trec_eval": "Rprec Rprec_mult(multiple=#) Rprec_mult_avgjg(multiple=#)",
        "ir_measures": "Rprec RPrec",
        "ranx": "r-precision",
        "torchmetrics": "RetrievalRPrecision retrieval_r_precision",
        "recommenders": "r_precision_at_k",
        "trectools": "get_rprec",
    },
    parameters={"multiple": Parameter("How many times R the cutoff is.", "a number above 0", positive)},
    out_of=lambda rel, multiple: relevant_documents(rel) if multiple == 1 else None,
)
def r_precision(*, rel: float = 1, multiple: float = 1) -> pl.Expr:
    """R-precision: precision among the first R documents, R being how many are relevant.

    hits(R) / R; at this cutoff precision and recall are the same. With a multiple m, hits(c) / c at the cutoff c that
    is the whole part of m * R + 0.9, trec_eval's Rprec_mult; 0 where c is 0. Undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d3"]}, ir.r_precision()).row(0)
    ('q', 0.5)
    """
    cutoff = multiple_of_relevant(multiple, rel)
    return if_relevant(or_zero(ratio(hits(cutoff, rel), cutoff)), rel)
