"""Names that stand for several measures: those of trec_eval's `-m`, and what BEIR and MTEB report by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

CUTOFFS = "5,10,15,20,30,100,200,500,1000"
MULTIPLES = "0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0"
RECALLS = "0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"

#: Every measure of trec_eval, in the order of its output, with what follows its name: nothing; a number each for
#: several figures; or None for one text, which is in the name only if the call has it.
TREC_EVAL: dict[str, str | None] = {
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

#: trec_eval's names for several of its measures.
NICKNAMES = {
    "official": list(TREC_EVAL)[:12],
    "set": [*list(TREC_EVAL)[:5], "utility", *(name for name in TREC_EVAL if name.startswith("set_"))],
    "all_trec": [
        name
        for name in TREC_EVAL
        if "prefs" not in name and "avgjg" not in name and name not in ("yaap", "dcg", "ideal_dcg")
    ],
    "all_prefs": ["runid", "num_q", *(name for name in TREC_EVAL if name.startswith("prefs_"))],
    "prefs": ["runid", "num_q", *[name for name in TREC_EVAL if name.startswith("prefs_")][:6]],
    "qrels_jg": ["runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"],
}

#: trec_eval's measures that are no numbers.
NO_NUMBERS = ("runid", "relstring")


def _with_cutoffs(measures: Iterable[str], cutoffs: str) -> tuple[str, ...]:
    return tuple(f"{measure}@{k}" for measure in measures for k in cutoffs.split(","))


def _of_trec_eval(names: Iterable[str]) -> tuple[str, ...]:
    """The measures of a nickname, each by its name in trec_eval, without those that are no number."""
    return tuple(
        f"trec_eval {name}_{number}" if number else f"trec_eval {name}"
        for name in names
        if name not in NO_NUMBERS
        for number in (TREC_EVAL[name] or "").split(",")
    )


#: The measures of a set. `qrels_jg` is not among them: the judges are named by `judges=`.
SETS: Mapping[str, tuple[str, ...]] = {
    **{nickname: _of_trec_eval(names) for nickname, names in NICKNAMES.items() if nickname != "qrels_jg"},
    "BEIR": _with_cutoffs(["nDCG", "AP", "R", "P"], "1,3,5,10,100,1000"),
    "MTEB": _with_cutoffs(["nDCG", "AP", "R", "P", "RR"], "1,3,5,10,20,100,1000"),
}

#: The measures of a name that trec_eval computes at several cutoffs where the name has none.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    name: _of_trec_eval([name]) for name, numbers in TREC_EVAL.items() if "," in (numbers or "")
}
