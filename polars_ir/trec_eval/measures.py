"""The measures of trec_eval as it prints them; which there are, `language.sets` says."""

from __future__ import annotations

from polars_ir.language.sets import TREC_EVAL as MEASURES

#: Measures whose parameters are pairs such as 1=3, the gain of a grade.
WITH_PAIRS = ("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg", "rbp", "rbp_resid")

#: What is no figure of a topic, and stands at the head of the summary.
OF_RUN = ("runid", "num_q")

#: What is printed of topics only, and what of the summary only.
OF_TOPICS = ("relstring",)
OF_SUMMARY = ("gm_map", "gm_bpref")

#: Counts, which the summary adds up.
COUNTS = tuple(name for name in MEASURES if name.startswith(("num_", "prefs_num_")) and name not in OF_RUN)


def formats_of(name: str) -> tuple[str, ...]:
    """The formats of judgments (-R) that a measure can be computed from.

    >>> formats_of("map"), formats_of("map_avgjg"), formats_of("prefs_simp")
    (('qrels',), ('qrels_jg',), ('prefs', 'qrels_prefs'))
    """
    if name in OF_RUN:
        return ("qrels", "qrels_jg", "prefs", "qrels_prefs")
    if name.startswith("prefs_"):
        return ("prefs", "qrels_prefs")
    return ("qrels_jg",) if name.endswith("_avgjg") else ("qrels",)
