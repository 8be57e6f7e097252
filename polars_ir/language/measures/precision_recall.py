"""Precision, recall and their relatives: relevant documents among the first k, over different denominators.

Without a cutoff each takes the whole list, as the `Set...` measures do.
"""

from __future__ import annotations

import polars as pl

from polars_ir.language import ties
from polars_ir.language.budget import BUDGET, cutoff
from polars_ir.language.catalog import CATALOG
from polars_ir.language.measure import HIGHEST, measure
from polars_ir.language.options import Option, one_of, positive
from polars_ir.language.words import hits, if_relevant, length, n_relevant, or_zero, per_count, ratio, relevant, shown

TREC_EVAL = "trec_eval 10, https://github.com/usnistgov/trec_eval"


#: Denominators of precision.
PLACES = Option(
    "k",
    one_of("k", "min(k,n)"),
    "The denominator: 'k', however short the list, or 'min(k,n)', where the n documents of a shorter list are all.",
)


def places(k: int | None, denominator: str = "k") -> pl.Expr:
    """Denominator of a precision over the result of `evaluate`: the cutoff, or the documents retrieved."""
    retrieved = pl.col("NumRet")
    if k is None:
        return retrieved
    return pl.lit(k) if denominator == "k" else retrieved.clip(upper_bound=k)


def among_places(k: int | None, denominator: str) -> pl.Expr:
    """Denominator of a precision over the judged relation."""
    return length(k) if denominator == "k" else shown(k)


def relevant_documents(rel: float) -> pl.Expr:
    """Denominator of a recall over the result of `evaluate`."""
    return pl.col(CATALOG["NumRel"].column({"rel": rel}))


@measure(
    "P",
    source=f"{TREC_EVAL} (m_P.c)",
    reads_nonrelevant=False,
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
    parameters={"denominator": PLACES, **BUDGET},
    monotone=True,
    out_of=lambda k, denominator, budget, **_: places(k, denominator) if budget is None else None,
    expected=lambda k, rel, denominator, **_: if_relevant(
        or_zero(ratio(ties.hits(k, rel), among_places(k, denominator))), rel
    ),
)
def precision(
    *,
    k: int | None = None,
    rel: float = 1,
    denominator: str = "k",
    budget: float | None = None,
    cost: str = "tokens",
    over: str = "stop",
) -> pl.Expr:
    """Precision: the share of the first k documents that is relevant.

    ::

        P@k = hits(k) / k

    hits(k) is the number of relevant documents among the first k. A list shorter than k is still divided by k,
    as in trec_eval's P_k; LensKit, XGBoost and CatBoost divide by what there is (`denominator="min(k,n)"`). Without k,
    hits / retrieved, and with a budget hits / the documents that count. 0 when nothing is retrieved; undefined when no
    document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ir.precision(k=5)).row(0)
    ('q', 0.2)
    """
    counted = cutoff(k, budget, cost, over)
    length = among_places(k, denominator) if budget is None else shown(counted)
    return if_relevant(or_zero(per_count(hits(counted, rel), length)), rel)


@measure(
    "R",
    source=f"{TREC_EVAL} (m_recall.c)",
    falls_beyond=True,
    reads_nonrelevant=False,
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
    parameters=BUDGET,
    out_of=lambda rel, **_: relevant_documents(rel),
    expected=lambda k, rel, **_: ratio(ties.hits(k, rel), n_relevant(rel)),
)
def recall(
    *, k: int | None = None, rel: float = 1, budget: float | None = None, cost: str = "tokens", over: str = "stop"
) -> pl.Expr:
    """Recall: the share of the relevant documents that is among the first k.

    ::

        R@k = hits(k) / R

    hits(k) is the number of relevant documents among the first k, R of all relevant ones. Undefined when R is 0.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ir.recall(k=5)).row(0)
    ('q', 0.5)
    """
    return per_count(hits(cutoff(k, budget, cost, over), rel), n_relevant(rel))


def capped(n_hits: pl.Expr, k: int | None, rel: float) -> pl.Expr:
    """Hits divided by their maximum."""
    return if_relevant(or_zero(per_count(n_hits, pl.min_horizontal(length(k), n_relevant(rel)))), rel)


@measure(
    "R_cap",
    source=f"{TREC_EVAL} (m_relative_P.c); Thakur et al. 2021 (BEIR), https://arxiv.org/abs/2104.08663",
    falls_beyond=True,
    reads_nonrelevant=False,
    also={
        "trec_eval": "relative_P set_relative_P",
        "ir_measures": "SetRelP",
        "BEIR": "R_cap recall_cap",
        "MTEB": "R_cap",
    },
    out_of=lambda k, rel: pl.min_horizontal(places(k), relevant_documents(rel)),
    expected=lambda k, rel: capped(ties.hits(k, rel), k, rel),
)
def recall_capped(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Capped recall: the hits among the first k, divided by the most that are possible.

    ::

        R_cap@k = hits(k) / min(k, R)

    R is the number of relevant documents, so that a perfect ranking reaches 1 however many documents are relevant:
    BEIR's recall_cap, trec_eval's relative_P, RecTools' `Precision(r_precision=True)`. Without k, hits / min(retrieved,
    R). Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d9"]}, ir.recall_capped(k=1)).row(0)
    ('q', 1.0)
    """
    return capped(hits(k, rel), k, rel)


@measure(
    "F",
    source="van Rijsbergen 1979, Information Retrieval, https://www.dcs.gla.ac.uk/Keith/Chapter.7/Ch.7.html",
    falls_beyond=True,
    reads_nonrelevant=False,
    also={"ranx": "f1", "RecTools": "F1Beta"},
    out_of=lambda k, rel, beta: beta**2 * relevant_documents(rel) + places(k),
    # Linear in the hits, since neither R nor k depends on the order.
    expected=lambda k, rel, beta: if_relevant(
        (1 + beta**2) * ties.hits(k, rel) / (beta**2 * n_relevant(rel) + length(k)), rel
    ),
)
def f_measure(*, k: int | None = None, rel: float = 1, beta: float = 1) -> pl.Expr:
    """F measure: the weighted harmonic mean of precision and recall among the first k.

    ::

        F@k = (1 + beta^2) P R / (beta^2 P + R)  with P = P@k, R = R@k
            = (1 + beta^2) hits(k) / (beta^2 R + k)  with R the number of relevant documents

    trec_eval's `set_F.x` and ir_measures' `SetF(beta=x)` put their parameter in the place of beta^2. Undefined when no
    document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d1", "d4"]}, ir.f_measure(k=2)).row(0)
    ('q', 0.5)
    """
    weight = beta**2
    # With a beta of 0 the denominator is 0 where nothing was retrieved.
    return if_relevant(or_zero(per_count((1 + weight) * hits(k, rel), weight * n_relevant(rel) + length(k))), rel)


def success_under_ties(*, k: int | None = None, rel: float = 1, **_: object) -> pl.Expr:
    """Expected success: the probability that any relevant document is among the first k.

    1 where one is certain to be; else 1 - the product of (n - m - i) / (n - i), i = 0 .. r - 1: each of the r relevant
    documents in turn takes one of the remaining places below k, among all remaining ones.
    """
    some = relevant(rel) & ties.parted(k)
    n, m = ties.tied.filter(some).first(), ties.places(k).filter(some).first()
    taken = pl.int_range(0, some.sum())
    missed = ((n - m - taken).clip(0) / (n - taken)).cum_prod().last().fill_null(1.0)
    success = pl.when((relevant(rel) & ties.certain(k)).any()).then(1.0).otherwise(1 - missed)
    return if_relevant(success, rel)


@measure(
    "Success",
    source=f"{TREC_EVAL} (m_success.c)",
    reads_nonrelevant=False,
    also={
        "trec_eval": "success",
        "ir_measures": "Success",
        "ranx": "hit_rate",
        "BEIR": "top_k_accuracy",
        "MTEB": "hit_rate cv_recall",
        "RecTools": "HitRate",
        "Elliot": "HR",
        "NCF": "hit_ratio",
        "RecBole": "Hit",
        "torchmetrics": "RetrievalHitRate retrieval_hit_rate",
    },
    parameters=BUDGET,
    monotone=True,
    out_of=lambda **_: pl.lit(1),
    expected=success_under_ties,
)
def success(
    *, k: int | None = None, rel: float = 1, budget: float | None = None, cost: str = "tokens", over: str = "stop"
) -> pl.Expr:
    """Success: whether any of the first k documents is relevant, also called hit rate and top-k accuracy.

    ::

        Success@k = 1 if hits(k) > 0, else 0

    hits(k) is the number of relevant documents among the first k. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d3"]}, [ir.success(k=1), ir.success(k=3)]).row(0)
    ('q', 0.0, 1.0)
    """
    return if_relevant((hits(cutoff(k, budget, cost, over), rel) > 0).cast(pl.Float64), rel)


def ranks_that_count(k: int | None, multiple: float, rel: float) -> tuple[pl.Expr, pl.Expr]:
    """Depth and divisor of R-precision: a multiple of R, with the depth no further than the cutoff.

    trec_eval rounds the multiple up unless its fraction is below a tenth.
    """
    cutoff = (multiple * n_relevant(rel) + 0.9).floor().cast(pl.Int64)
    return (cutoff if k is None else pl.min_horizontal(cutoff, k)), cutoff


def r_precision_under_ties(*, k: int | None = None, rel: float = 1, multiple: float = 1) -> pl.Expr:
    """Expected R-precision: relevant documents expected among the first R, or a multiple, over the same number."""
    down_to, cutoff = ranks_that_count(k, multiple, rel)
    return if_relevant(or_zero(ratio(ties.hits(down_to, rel), cutoff)), rel)


@measure(
    "Rprec",
    source=f"{TREC_EVAL} (m_Rprec.c)",
    reads_nonrelevant=False,
    also={
        "trec_eval": "Rprec Rprec_mult(multiple) Rprec_mult_avgjg(multiple)",
        "ir_measures": "Rprec RPrec",
        "ranx": "r-precision",
        "torchmetrics": "RetrievalRPrecision retrieval_r_precision",
        "recommenders": "r_precision_at_k(k=10)",
        "trectools": "get_rprec",
    },
    parameters={"multiple": Option(1, positive(HIGHEST), "The cutoff as a multiple of R.")},
    out_of=lambda rel, multiple, **_: relevant_documents(rel) if multiple == 1 else None,
    expected=r_precision_under_ties,
)
def r_precision(*, k: int | None = None, rel: float = 1, multiple: float = 1) -> pl.Expr:
    """R-precision: precision among the first R documents, R being how many are relevant.

    ::

        Rprec = hits(R) / R

    R is the number of relevant documents; at this cutoff precision and recall are the same. With a multiple m, hits(c)
    / c at the cutoff c that is the whole part of m * R + 0.9, trec_eval's Rprec_mult; 0 where c is 0. With k no
    document below rank k counts, hits(min(k, R)) / R, recommenders' r_precision_at_k; RecTools' R-precision, hits(k) /
    min(k, R), is `recall_capped`. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d3"]}, ir.r_precision()).row(0)
    ('q', 0.5)
    """
    down_to, cutoff = ranks_that_count(k, multiple, rel)
    return if_relevant(or_zero(ratio(hits(down_to, rel), cutoff)), rel)
