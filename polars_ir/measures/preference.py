"""Preference: how often relevant documents stand above those judged not relevant; unjudged ones do not count."""

from __future__ import annotations

import polars as pl

from polars_ir.registry import measure
from polars_ir.vocabulary import n_relevant, ranked, ratio, relevance, relevant, top, total


@measure(
    "bpref",
    source="Buckley and Voorhees 2004, https://doi.org/10.1145/1008992.1009000; trec_eval 10 (m_bpref.c)",
    also={"trec_eval": "bpref", "ir_measures": "Bpref BPref", "ranx": "bpref", "trectools": "get_bpref"},
)
def bpref(*, rel: float = 1) -> pl.Expr:
    """Binary preference: the share of judged pairs that are in the right order.

    A retrieved relevant document adds 1 - min(n, R) / min(N, R), n being the documents judged not relevant above it
    and N how many there are; the sum is divided by R. Documents that are unjudged, or whose grade is negative, are
    skipped. Undefined when no document is relevant.

    Examples
    --------
    >>> import polars_ir as ir
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
