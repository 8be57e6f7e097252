"""Pairs: how often a relevant document is ranked above one that is not, among those retrieved."""

from __future__ import annotations

import polars as pl

from polars_ir.language.measure import PARAMETERS, measure
from polars_ir.language.options import MOST_DOCUMENTS, Option, Value
from polars_ir.language.words import (
    hits,
    if_relevant,
    n_relevant,
    n_retrieved,
    rank,
    ranked,
    ratio,
    relevance,
    relevant,
    shown,
    top,
    total,
)


@measure(
    "Accuracy",
    source="Hanley and McNeil 1982, https://doi.org/10.1148/radiology.143.1.7063747; ir_measures, https://ir-measur.es",
    reads_nonrelevant=False,
    also={"ir_measures": "Accuracy", "torchmetrics": "RetrievalAUROC retrieval_auroc", "RePlay": "RocAuc"},
)
def accuracy(*, k: int | None = None, rel: float = 1) -> pl.Expr:
    """Pairwise accuracy: the share of pairs of a relevant and another document that are in the right order.

    ::

        Accuracy@k = (pairs with the relevant document above) / (relevant * others), among the first k
                   = 1 - sum(rank_i - i, i = 1 .. n) / (n (m - n))

    The m documents are the first k, of which n are relevant, the i-th at rank_i; unjudged documents are not relevant.
    It is the area under the ROC curve of a query. 1 where all of the first k are relevant, 0 where none is; undefined
    when no document is relevant. RePlay has the same values. ir_measures leaves queries without a relevant document
    among the first k out of its mean, and divides by 0 where all are relevant; torchmetrics gives 0 there, and half a
    pair for tied scores. What BEIR calls Accuracy is `success`.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d1", "d3"]}, ir.accuracy()).row(0)
    ('q', 0.75)
    """
    n_hits = hits(k, rel).cast(pl.Int64)
    others = shown(k).cast(pl.Int64) - n_hits
    # Above the i-th relevant document are as many others as its rank exceeds i.
    ranks = rank.filter(relevant(rel) & top(k)).cast(pl.Int64).sum()
    wrong, pairs = ranks - n_hits * (n_hits + 1) // 2, n_hits * others
    right = pl.when(others > 0).then((pairs - wrong) / pairs).otherwise(1.0)
    return if_relevant(pl.when(n_hits > 0).then(right).otherwise(0.0), rel)


#: Not a cutoff of the ranking: only documents that are not relevant are counted.
NEGATIVES = Option(
    None,
    Value(PARAMETERS["k"].value.wanted, PARAMETERS["k"].value.holds),
    "The number of documents that are not relevant and count, the first of the ranking; None: all that it has.",
)
RECTOOLS = "RecTools, https://github.com/MobileTeleSystems/RecTools"
PAP = "Budhiraja et al. 2020, https://arxiv.org/abs/2001.10495"


def area(negatives: int | None, rel: float, most: int | None) -> pl.Expr:
    """Share of correctly ordered pairs of one of the `most` first relevant documents and one of some others.

    Where a list has fewer others, the missing ones count as below it.
    """
    ranks = rank.filter(relevant(rel) & top()).sort().cast(pl.Int64).head(most or MOST_DOCUMENTS)
    # As many others are above the i-th relevant document as its rank exceeds i.
    above = ranks - pl.int_range(1, ranks.len().cast(pl.Int64) + 1)
    n_hits, n_all = hits(None, rel).cast(pl.Int64), n_relevant(rel).cast(pl.Int64)
    # At least one other, so that a list of relevant documents alone is not divided by 0 pairs.
    others = (n_retrieved.cast(pl.Int64) - n_hits).clip(1) if negatives is None else n_all.clip(negatives, negatives)
    return ratio((others - above).clip(0).sum(), others * (n_all if most is None else n_all.clip(upper_bound=most)))


@measure(
    "pAUC",
    source=f"Dodd and Pepe 2003, https://doi.org/10.1111/1541-0420.00071; {RECTOOLS}",
    reads_nonrelevant=False,
    also={"RecTools": "PartialAUC"},
    parameters={"negatives": NEGATIVES},
    at="negatives",
)
def partial_auc(*, negatives: int | None = None, rel: float = 1) -> pl.Expr:
    """Partial AUC: the share of pairs of a relevant document and one of the first k others that are in the right order.

    ::

        pAUC@k = sum(max(0, k - others above), over the retrieved relevant documents) / (k R)

    k is `negatives`, and R the number of relevant documents: the area under the ROC curve down to k documents
    retrieved in vain. Unjudged documents are not relevant; a relevant document that is not retrieved is in no pair in
    the right order, and others that a list of fewer than k lacks stand below it, RecTools'
    `insufficient_handling="ignore"`. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3", "d4"]}, {"q": ["d1", "d3"]}, ir.partial_auc(negatives=2)).row(0)
    ('q', 0.75)
    """
    return area(negatives, rel, None)


@measure(
    "pAp",
    source=f"{PAP}; {RECTOOLS}",
    reads_nonrelevant=False,
    also={"RecTools": "PAP"},
    parameters={"negatives": NEGATIVES},
    at="negatives",
)
def partial_auc_and_precision(*, negatives: int | None = None, rel: float = 1) -> pl.Expr:
    """Partial AUC and precision: the pairs in the right order of the first k relevant documents and the first k others.

    ::

        pAp@k = sum(max(0, k - others above), over the first min(k, R) relevant documents) / (k min(k, R))

    k is `negatives`, and R the number of relevant documents. Like precision where R is above k, else `partial_auc`,
    whose conventions it has. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": ["d1", "d3"]}, ir.partial_auc_and_precision(negatives=1)).row(0)
    ('q', 1.0)
    """
    return area(negatives, rel, negatives)


@measure(
    "bpref",
    source="Buckley and Voorhees 2004, https://doi.org/10.1145/1008992.1009000; trec_eval 10 (m_bpref.c)",
    also={"trec_eval": "bpref", "ir_measures": "Bpref BPref", "ranx": "bpref", "trectools": "get_bpref"},
)
def bpref(*, rel: float = 1) -> pl.Expr:
    """Binary preference: the share of judged pairs that are in the right order.

    ::

        bpref = sum(1 - min(n, R) / min(N, R), over the retrieved relevant documents) / R

    n counts the documents judged not relevant above one, N all of them, and R the relevant documents.
    Documents that are unjudged, or whose grade is negative, are skipped. Undefined when no document is relevant.

    Examples
    --------
    >>> ir.evaluate({"q": ["d1", "d2", "d3"]}, {"q": {"d1": 1, "d2": 0, "d3": 1}}, ir.bpref()).row(0)
    ('q', 0.5)
    """
    not_relevant = (relevance >= 0) & (relevance < rel)
    assessed = top() & (relevance >= 0)
    in_rank_order = ranked(relevant(rel), assessed)
    above = (~in_rank_order).cum_sum().filter(in_rank_order)
    capped = pl.min_horizontal(above, n_relevant(rel))
    # With nothing above there is no penalty, also where nothing is judged not relevant and the denominator is 0.
    most = pl.min_horizontal(not_relevant.sum(), n_relevant(rel)).clip(lower_bound=1)
    return ratio(total(1 - capped / most), n_relevant(rel))
