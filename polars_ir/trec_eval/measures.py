"""The measures of trec_eval: in which order, with which parameters and under which names it prints them."""

from __future__ import annotations

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
MULTIPLES = "0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0"
RECALLS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"

#: Every measure, in the order they are printed in, with what follows its name: nothing; a number each for several
#: figures; or None for one text, which only stands in the name if it was given.
MEASURES: dict[str, str | None] = {
    **dict.fromkeys(["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"], ""),
    **dict.fromkeys(["Rprec", "bpref", "recip_rank"], ""),
    "iprec_at_recall": RECALLS,
    "P": CUTOFFS,
    "relstring": None,
    "recall": CUTOFFS,
    **dict.fromkeys(["infAP", "gm_bpref"], ""),
    "Rprec_mult": MULTIPLES,
    "utility": None,
    "11pt_avg": None,
    "binG": "",
    **dict.fromkeys(["G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg"]),
    **dict.fromkeys(["ndcg_cut", "map_cut", "relative_P"], CUTOFFS),
    "success": "1,5,10",
    **dict.fromkeys(["set_P", "set_relative_P", "set_recall", "set_map"], ""),
    "set_F": None,
    "num_nonrel_judged_ret": "",
    **dict.fromkeys(["prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp"], ""),
    **dict.fromkeys(["prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret"], ""),
    **dict.fromkeys(["prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret", "prefs_simp_imp", "prefs_pair_imp"], ""),
    **dict.fromkeys(["prefs_avgjg_imp", "map_avgjg"], ""),
    "P_avgjg": CUTOFFS,
    "Rprec_mult_avgjg": MULTIPLES,
    "yaap": "",
    **dict.fromkeys(["rbp", "rbp_resid"]),
    "unj": "5,10,20",
}

#: Measures whose parameters are pairs such as 1=3, the gain of a grade.
WITH_PAIRS = ("G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg", "rbp", "rbp_resid")

#: Names that stand for several measures.
NICKNAMES = {
    "official": list(MEASURES)[:12],
    "set": [*list(MEASURES)[:5], "utility", *(name for name in MEASURES if name.startswith("set_"))],
    "all_trec": [
        name
        for name in MEASURES
        if "prefs" not in name and "avgjg" not in name and name not in ("yaap", "dcg", "ideal_dcg")
    ],
    "all_prefs": ["runid", "num_q", *(name for name in MEASURES if name.startswith("prefs_"))],
    "prefs": ["runid", "num_q", *[name for name in MEASURES if name.startswith("prefs_")][:6]],
    "qrels_jg": ["runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"],
}

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
