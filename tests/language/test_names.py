"""One measure, many spellings."""

import warnings

import polars as pl
import pytest
from messages import message_of

import polars_ir as ir
from polars_ir.language.columns import average_of, is_cost
from polars_ir.language.sets import FAMILIES

#: Names that trec_eval and the catalogue share.
SAME_AS_IN_TREC_EVAL = """
Rprec bpref infAP yaap 11pt_avg P ndcg_rel Rndcg G binG utility prefs_num_prefs_poss prefs_num_prefs_ful
prefs_simp prefs_pair prefs_avgjg prefs_avgjg_Rnonrel
"""

TREC_EVAL = {
    **{name: name for name in SAME_AS_IN_TREC_EVAL.split()},
    # The measures of `-m official`, `set` and `all_trec`, as they are asked for and as they are printed.
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonRelJudgedRet",
    "map": "AP",
    "gm_map": "GMAP",
    "gm_bpref": "GMbpref",
    "recip_rank": "RR",
    "iprec_at_recall_0.00": "IPrec@0",
    "iprec_at_recall_0.10": "IPrec@0.1",
    "iprec_at_recall_1.00": "IPrec@1",
    "iprec_at_recall.0.25": "IPrec@0.25",
    "iprec_at_recall..10": "IPrec@0.1",
    "iprec_at_recall.0": "IPrec@0",
    "P_5": "P@5",
    "P.5": "P@5",
    "P.5.": "P@5",
    "P_1000": "P@1000",
    "recall_100": "R@100",
    "recall.100": "R@100",
    "relative_P_10": "R_cap@10",
    "relative_P.10": "R_cap@10",
    "success_1": "Success@1",
    "success.5": "Success@5",
    "map_cut_5": "AP@5",
    "map_cut.5": "AP@5",
    "recip_rank_cut_10": "RR@10",
    "unj_5": "unj@5",
    "unj.5": "unj@5",
    "Rprec_mult_0.20": "Rprec(multiple=0.2)",
    "Rprec_mult.0.20": "Rprec(multiple=0.2)",
    "Rprec_mult_1.00": "Rprec",
    "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10",
    "ndcg_cut.10": "nDCG@10",
    # A cutoff is the whole part of a number there.
    "ndcg_cut.23.4": "nDCG@23",
    "ndcg_p": "nDCG(discount='jarvelin')",
    "ndcg_1=3,2=9": "nDCG(gains={1:3,2:9})",
    "ndcg.1=3,2=9": "nDCG(gains={1:3,2:9})",
    "ndcg.1=3,2=9,4=4.5": "nDCG(gains={1:3,2:9,4:4.5})",
    "ndcg_rel_1=3,2=9": "ndcg_rel(gains={1:3,2:9})",
    "Rndcg.1=3,2=9": "Rndcg(gains={1:3,2:9})",
    "G.1=3,2=9": "G(gains={1:3,2:9})",
    "G_1=3": "G(gains={1:3})",
    "dcg": "DCG",
    "ideal_dcg": "IDCG",
    "trec_eval rbp": "RBP(p=0.9)",
    "rbp.p=0.8": "RBP",
    "rbp_p=0.5": "RBP(p=0.5)",
    "rbp.p=0.7,2=1": "RBP(p=0.7,gains={2:1})",
    "rbp.p=0.8,2=1": "RBP(gains={2:1})",
    "rbp_resid": "RBP_residual(p=0.9)",
    "rbp_resid_p=0.5": "RBP_residual(p=0.5)",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_relative_P": "R_cap",
    "set_map": "SetAP",
    "set_F": "SetF",
    "set_F_4": "SetF(beta=2)",
    "set_F.4": "SetF(beta=2)",
    "set_F.0.25": "SetF(beta=0.5)",
    "set_F.0.5": "SetF(beta=0.7071067811865476)",
    "utility.2,-1,0,0": "utility(coefficients=(2,-1,0,0))",
    "utility_1,-.5,0.5,0": "utility(coefficients=(1,-0.5,0.5,0))",
    # Judgments of groups, and preferences.
    "map_avgjg": "AP",
    "P_avgjg_5": "P@5",
    "Rprec_mult_avgjg_0.40": "Rprec(multiple=0.4)",
    "prefs_num_prefs_ful_ret": "prefs_num_prefs_ful(counting='retrieved')",
    "prefs_simp_imp": "prefs_simp(counting='implied')",
    "prefs_simp_ret": "prefs_simp(counting='retrieved')",
    "prefs_pair_imp": "prefs_pair(counting='implied')",
    "prefs_pair_ret": "prefs_pair(counting='retrieved')",
    "prefs_avgjg_imp": "prefs_avgjg(counting='implied')",
    "prefs_avgjg_ret": "prefs_avgjg(counting='retrieved')",
    "prefs_avgjg_Rnonrel_ret": "prefs_avgjg_Rnonrel(counting='retrieved')",
}

#: Names that ir_measures and the catalogue share.
SAME_AS_IN_IR_MEASURES = """
AP AP@100 P@5 P(rel=2)@5 R@1000 RR RR(rel=2)@10 Rprec(rel=2) nDCG@20 nDCG(dcg='exp-log2')@10
nDCG(dcg='exp-log2',gains={0:0,1:1})@10 infAP IPrec@0.1 Success@5 ERR@20 RBP(rel=2,p=0.5)@10 Judged@10
Accuracy Accuracy(rel=2)@10 Compat Compat(p=0.8,normalize=False) NumQ NumRet NumRet(rel=1) NumRelRet
NumRel(rel=2) SetP SetP(rel=2) SetR SetF SetAP alpha_nDCG@10 alpha_nDCG(alpha=0.9)@5 alpha_DCG@10
ERR_IA@10 nERR_IA@10 NRBP NRBP(beta=0.8) nNRBP AP_IA P_IA@10 StRecall@10 SDCG(max_rel=3)@10
SDCG(dcg='exp-log2',max_rel=3)@10 INSQ(max_rel=2) NERR8(max_rel=2)@10 NERR9(max_rel=2)@10
NERR10(p=0.8,max_rel=2)
"""

IR_MEASURES = {
    **{name: name for name in SAME_AS_IN_IR_MEASURES.split()},
    "MAP(rel=2)": "AP(rel=2)",
    "AP(cutoff=10)": "AP@10",
    "Precision@5": "P@5",
    "P(judged_only=False)@5": "P@5",
    "Recall@10": "R@10",
    "MRR@10": "RR@10",
    "RPrec": "Rprec",
    "NDCG@20": "nDCG@20",
    "nDCG(gains={0: 0, 1: 1, 2: 3})@5": "nDCG(gains={0:0,1:1,2:3})@5",
    "nDCG(cutoff=10)": "nDCG@10",
    "Bpref": "bpref",
    "BPref": "bpref",
    "Bpref(rel=2)": "bpref(rel=2)",
    "IPrec@0.10": "IPrec@0.1",
    "IPrec(recall=0.1)": "IPrec@0.1",
    "IPrec(rel=2)@1.0": "IPrec(rel=2)@1",
    "RBP(p=0.8,rel=1)": "RBP",
    "SetP(relative=False)": "SetP",
    "SetP(relative=True)": "R_cap",
    "SetP(rel=2,relative=True)": "R_cap(rel=2)",
    "SetRelP": "R_cap",
    "SetF(beta=2.0)": "SetF(beta=2)",
    "\N{GREEK SMALL LETTER ALPHA}_nDCG@10": "alpha_nDCG@10",
    "\N{GREEK SMALL LETTER ALPHA}-nDCG@10": "alpha_nDCG@10",
    "\N{GREEK SMALL LETTER ALPHA}_DCG@10": "alpha_DCG@10",
    "MAP_IA": "AP_IA",
    "BPM(T=1.0,min_rel=0,max_rel=2)@10": "BPM(max_rel=2)@10",
    "INST(T=2.0,max_rel=1)": "INST(T=2)",
    "NERR11(T=2.0,max_rel=2)": "NERR11(T=2,max_rel=2)",
}

RANX = {
    "hit_rate@5": "Success@5",
    "precision@5": "P@5",
    "recall@9": "R@9",
    "recall@9-l2": "R(rel=2)@9",
    "f1": "F",
    "f1@5": "F@5",
    "r-precision": "Rprec",
    "r-precision-l2": "Rprec(rel=2)",
    "mrr": "RR",
    "mrr@10": "RR@10",
    "mrr@10-l2": "RR(rel=2)@10",
    "map@100": "AP@100",
    "map-l2": "AP(rel=2)",
    "dcg@10": "DCG@10",
    "dcg_burges@10": "DCG(dcg='exp-log2')@10",
    "ndcg@10": "nDCG@10",
    "ndcg@10-l2": "nDCG(rel=2)@10",
    "ndcg_burges@10": "nDCG(dcg='exp-log2')@10",
    "ndcg_burges@10-l3": "nDCG(rel=3,dcg='exp-log2')@10",
    "bpref-l2": "bpref(rel=2)",
    "rbp.95": "RBP(p=0.95)",
    "rbp.5": "RBP(p=0.5)",
    "rbp.95-l2": "RBP(rel=2,p=0.95)",
}

OTHERS = {
    "BEIR": {
        "NDCG@10": "nDCG@10",
        "MAP@100": "AP@100",
        "Recall@100": "R@100",
        "R_cap@10": "R_cap@10",
        "recall_cap@10": "R_cap@10",
        "Hole@10": "Hole@10",
        "top_k_accuracy@5": "Success@5",
        # BEIR has a success there.
        "Accuracy@5": "Accuracy@5",
    },
    "MTEB": {
        "ndcg_at_10": "nDCG@10",
        "map_at_1000": "AP@1000",
        "mrr_at_10": "RR@10",
        "precision_at_5": "P@5",
        "recall_at_100": "R@100",
        "hit_rate_at_5": "Success@5",
        "cv_recall_at_5": "Success@5",
        "R_cap_at_10": "R_cap@10",
        "Hole_at_10": "Hole@10",
    },
    "RePlay, RecTools and Elliot": {
        "HitRate": "Success",
        "HitRate@10": "Success@10",
        "HR@10": "Success@10",
        "Precision@10": "P@10",
        "MAP@10": "AP@10",
        "RocAuc": "Accuracy",
        "F1Beta": "F",
        "F1Beta(beta=2)@10": "F(beta=2)@10",
    },
    "search engines, Spark, NCF and notebooks": {
        "mean_average_precision": "AP",
        "mean_average_precision@10": "AP@10",
        "prec@5": "P@5",
        "normalized_discounted_cumulative_gain@10": "nDCG@10",
        "NormalisedDiscountedCumulatedGain": "nDCG",
        "discounted cumulative gain": "DCG",
        "meanAveragePrecision": "AP",
        "mean_reciprocal_rank": "RR",
        "hit_ratio@10": "Success@10",
        "P10": "P@10",
        "P10-l2": "P(rel=2)@10",
        "ndcg10": "nDCG@10",
        "MRR10": "RR@10",
        "map100": "AP@100",
        "recall5(rel=2)": "R(rel=2)@5",
    },
    "torchmetrics": {
        "RetrievalMAP": "AP(denominator='hits')",
        "RetrievalMAP(top_k=10)": "AP(denominator='hits')@10",
        "RetrievalMRR": "RR",
        "RetrievalPrecision(top_k=5)": "P@5",
        "RetrievalRecall": "R",
        "RetrievalRPrecision": "Rprec",
        "RetrievalHitRate": "Success",
        "RetrievalFallOut": "Fallout",
        "RetrievalNormalizedDCG": "nDCG",
        "RetrievalAUROC": "Accuracy",
        "retrieval_average_precision": "AP(denominator='hits')",
        "retrieval_fall_out": "Fallout",
        "retrieval_hit_rate": "Success",
        "retrieval_normalized_dcg": "nDCG",
        "retrieval_precision": "P",
        "retrieval_r_precision": "Rprec",
        "retrieval_recall": "R",
        "retrieval_reciprocal_rank": "RR",
        "retrieval_auroc": "Accuracy",
    },
    "recommenders": {
        # A function's own default is k=10.
        "precision_at_k": "P@10",
        "precision_at_k(k=5)": "P@5",
        "recall_at_k": "R@10",
        "ndcg_at_k": "nDCG(dcg='binary')@10",
        "map_at_k": "AP(denominator='min(k,R)')@10",
        "map_at_k(k=3)": "AP(denominator='min(k,R)')@3",
        "r_precision_at_k": "Rprec@10",
        "r_precision_at_k(k=3)": "Rprec@3",
    },
    "trectools": {
        "get_precision": "P@1000",
        "get_precision(depth=5)": "P@5",
        "get_map": "AP@1000",
        "get_geometric_map": "GMAP",
        "get_ndcg(depth=10)": "nDCG(denominator='R')@10",
        "get_reciprocal_rank": "RR@1000",
        "get_rprec": "Rprec",
        "get_bpref": "bpref",
        "get_rbp": "RBP@1000",
        "get_unjudged": "unj@10",
        "get_retrieved_documents": "NumRet",
        "get_relevant_documents": "NumRel",
        "get_relevant_retrieved_documents": "NumRelRet",
        "RBP(0.95)@1000": "RBP(p=0.95)@1000",
        "UNJ@10": "unj@10",
        "NDCG_10": "nDCG@10",
        "recip_rank@1000": "RR@1000",
    },
    "ndeval and gdeval": {
        "alpha-nDCG@10": "alpha_nDCG@10",
        "alpha-DCG@10": "alpha_DCG@10",
        "ERR-IA@10": "ERR_IA@10",
        "nERR-IA@10": "nERR_IA@10",
        "P-IA@10": "P_IA@10",
        "MAP-IA": "AP_IA",
        "strec@10": "StRecall@10",
        "err@20": "ERR@20",
    },
}

SPELLINGS = {"trec_eval": TREC_EVAL, "ir_measures": IR_MEASURES, "ranx": RANX, **OTHERS}


@pytest.mark.parametrize("tool", SPELLINGS)
def test_a_name_of_any_tool_stands_for_a_measure(tool):
    for spelling, canonical in SPELLINGS[tool].items():
        expression = ir.parse(spelling)
        assert expression.meta.output_name() == canonical, spelling
        assert ir.parse(canonical).meta.eq(expression), spelling


@pytest.mark.parametrize("name", ["F2", "rbp95", "bpref10", "P10@5", "alpha_nDCG5"])
def test_a_number_without_a_sign_is_a_cutoff_where_it_can_be_nothing_else(name):
    with pytest.raises(ir.IRError, match=f"no measure is called '{name}'"):
        ir.parse(name)


def test_the_table_of_trec_eval_is_complete():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    # These are no numbers.
    asked = {name for name in pytrec_eval.supported_measures if name not in ("runid", "relstring")}
    assert {name for name in asked if not any(spelling.startswith(name) for spelling in TREC_EVAL)} == set()


def test_the_table_of_ir_measures_is_complete():
    ir_measures = pytest.importorskip("ir_measures")
    names = {spelling.partition("(")[0].partition("@")[0] for spelling in IR_MEASURES}
    assert set(ir_measures.measures.registry) - names == set()


#: `-` is ndeval's; and a grade that is its own gain is left out of the name there, so that the maps differ.
READ_BY_ITSELF = [spelling for spelling in IR_MEASURES if "-nDCG" not in spelling and "gains" not in spelling]


@pytest.mark.filterwarnings("ignore:ast:DeprecationWarning")
def test_the_names_of_ir_measures_are_ones_it_reads_itself():
    """And what it makes of them means the same."""
    ir_measures = pytest.importorskip("ir_measures")
    for spelling in READ_BY_ITSELF:
        wanted = ir.parse(spelling).meta.output_name().replace("NumRelRet", "NumRet(rel=1)")
        assert ir.parse(repr(ir_measures.parse_measure(spelling))).meta.output_name() == wanted, spelling


def test_the_table_of_ranx_is_complete():
    metrics = pytest.importorskip("ranx.metrics")
    functions = {
        "average_precision": "map",
        "reciprocal_rank": "mrr",
        "rank_biased_precision": "rbp",
        "r_precision": "r-precision",
    }
    others = {"get_hit_lists", "interpolated_precision_at_recall"}
    names = {functions.get(name, name) for name in set(metrics.__all__) - others}
    assert {name for name in names if not any(spelling.startswith(name) for spelling in RANX)} == set()


def test_every_name_in_the_catalogue_is_read():
    for info in ir.CATALOG.values():
        for name, given in {info.name: "", **info.spellings}.items():
            if name in FAMILIES or name == "rbp":
                continue  # several measures, and a name that tools mean different ones by
            number = "@0.5" if name == "IPrec" else "_0.5" if given.isidentifier() else ""
            expression = ir.parse(name + number)
            assert ir.parse(expression.meta.output_name()).meta.eq(expression), name


def test_no_two_measures_share_a_name():
    folded = {}
    for info in ir.CATALOG.values():
        for name in (info.name, *info.spellings):
            folded.setdefault(name.casefold().replace("-", "").replace("_", ""), set()).add(info.name)
    assert [names for names in folded.values() if len(names) > 1] == []


@pytest.mark.parametrize("spelling", ["NDCG@10", "n-DCG@10", "n_dcg@10", " nDCG@10 ", "nDCG()@10", "nDCG(k=10)"])
def test_case_hyphens_underscores_and_blanks_do_not_matter(spelling):
    assert ir.parse(spelling).meta.output_name() == "nDCG@10"


@pytest.mark.parametrize(("spelling", "p"), [("RBP", 0.8), ("trec_eval rbp", 0.9), ("rbp(p=0.9)", 0.9), ("rbp.7", 0.7)])
def test_the_persistence_of_rbp_is_told_by_the_tool_or_the_number(spelling, p):
    assert ir.parse(spelling).meta.eq(ir.rank_biased_precision(p=p))


def test_the_order_of_parameters_does_not_matter():
    first, second = ir.parse("RBP(p=0.5,rel=2)@10"), ir.parse("RBP(rel=2, p=0.5)@10")
    assert first.meta.output_name() == second.meta.output_name() == "RBP(rel=2,p=0.5)@10"


def test_a_parameter_at_its_default_is_left_out_of_the_name():
    assert ir.precision(k=5, rel=1).meta.output_name() == "P@5"


def test_a_whole_float_is_written_without_a_point():
    assert ir.f_measure(beta=2.0).meta.output_name() == "F(beta=2)"


def test_a_name_is_the_expression_of_its_function():
    assert ir.parse("ndcg_cut_10").meta.eq(ir.ndcg(k=10))


def test_trec_evals_number_of_set_f_is_beta_squared():
    run, qrels = {"q": ["d1", "d2"]}, {"q": ["d1", "d3", "d4"]}
    # (4 + 1) P R / (4 P + R) with P = 1/2 and R = 1/3.
    wanted = 5 * (1 / 2) * (1 / 3) / (4 / 2 + 1 / 3)
    assert ir.evaluate(run, qrels, "set_F.4").item(0, 1) == pytest.approx(wanted, rel=1e-14, abs=0)


def test_a_level_of_ranx_drops_the_gains_below_it():
    run, qrels = {"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 2}}
    assert ir.evaluate(run, qrels, "dcg@10-l2").item(0, 1) == ir.evaluate(run, {"q": {"d2": 2}}, "DCG").item(0, 1)


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_defined_later_is_read_by_its_name():
    with pytest.raises(ir.IRError):
        ir.parse("LaterOne")

    @ir.measure("LaterOne", source="a test")
    def later_one() -> pl.Expr:
        """A measure."""
        return ir.rank.min()

    assert ir.parse("laterone").meta.output_name() == "LaterOne"


def test_a_measure_that_was_taken_away_is_read_no_longer():
    @ir.measure("GoneOne", source="a test")
    def gone_one() -> pl.Expr:
        """A measure."""
        return ir.rank.min()

    ir.parse("GoneOne")
    del ir.CATALOG["GoneOne"]
    with pytest.raises(ir.IRError, match="no measure is called 'GoneOne'"):
        ir.parse("GoneOne")


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_that_was_defined_anew_is_read_by_its_new_formula():
    def define(value: float) -> None:
        @ir.measure("NewOne", source="a test")
        def new_one() -> pl.Expr:
            """A measure."""
            return ir.rank.min() * value

    define(1.0)
    ir.parse("NewOne")
    define(2.0)
    assert ir.evaluate({"q": ["d"]}, {"q": ["d"]}, "NewOne").item(0, 1) == 2.0


@pytest.mark.usefixtures("scratch_catalog")
def test_a_measure_of_a_user_may_have_parameters_that_elsewhere_are_words_of_other_tools():
    @ir.measure("OwnWords", source="a test")
    def own_words(*, depth: int = 1, relative: bool = False) -> pl.Expr:
        """A measure."""
        return ir.rank.min() * depth * relative

    assert ir.parse("OwnWords(depth=3,relative=True)").meta.eq(own_words(depth=3, relative=True))


#: Names that are none, and words of what is said of them.
NO_NAMES = {
    "iprec_0_1@10": ["it has several numbers"],
    "recal@5": ["no measure is called 'recal@5'", "Did you mean 'Recall@5'"],
    "TKA@10": ["no measure is called 'TKA@10'. Did you mean 'top_k_accuracy@10'"],
    "ndgc_cut_10": ["Did you mean 'ndcg_cut_10'?"],
    "nDGC(dcg='exp-log2')@10": ["Did you mean \"nDCG(dcg='exp-log2')@10\"?"],
    "NDGC@10,20": ["Did you mean 'nDCG@10' or"],
    "nDGC@ten": ["Did you mean 'nDCG' or"],
    "nDCG@5,5": ["two measures are named 'nDCG@5'"],
    "P@5,five": ["no measure is called 'five'"],
    "nDCG@10 AQ": ["no measure is called 'AQ'. Did you mean"],
    "acc@1": ["'Accuracy@1' to ir_measures", "'Success@1' to BEIR", "the tool before it: 'BEIR acc@1'"],
    "accuracy@10": ["'Accuracy@10' to ir_measures", "'Success@10' to BEIR", "the tool before it: 'BEIR accuracy@10'"],
    "accuracy_at_10": ["'Accuracy@10' to ir_measures", "'Success@10' to BEIR"],
    "rbp": ["'RBP' to ir_measures", "'RBP(p=0.9)' to trec_eval"],
    "Coverage": ["is of all users together", "'ItemCoverage'", ".ir.exposure(history=train)"],
    "surprisal@10": ["is 'Novelty(base='users')' here", "history="],
    "MAP@R": ["AP@R cuts each list at its own number R", "'Rprec'"],
    "AUC@10": ["of each query, or of all rows as one list", "'Accuracy@10'"],
    "ndcg_cut_10@10": ["it has several numbers"],
    "recbole GAUC": [".ir.mean(weights='NumRel')"],
    "implicit precision_at_k": ["'R_cap@10'", ".ir.mean(average='micro')"],
    "XGBoost recall@5": ["XGBoost has no measure 'recall' that is known here", "'map'"],
    "utility.1,2": ["utility: coefficients must be a tuple of four numbers", "got (1, 2)"],
    "RBP(foo=1)": ["RBP has no parameter 'foo'; got 'RBP(foo=1)'. It takes k, rel, p, gains."],
    "rbp@95": ["can mean 2 measures", "'RBP(p=0.95)', 'RBP@95'"],
    "P(judged_only=True)@5": ["give it to the call: judged_only=True"],
    "SetP(relative=True,judged_only=True)": ["judged_only=True)"],
    "P(k=5)@10": ["gives k twice"],
    "P(cutoff=5)@10": ["gives k twice"],
    "P(k=5,cutoff=5)": ["gives k twice"],
    "P(rel=2)@5-l3": ["gives rel twice"],
    "P@five": ["P: k must be", "'five'"],
    "P@": ["P: k must be"],
    "P@1_0": ["P: k must be"],
    "P@\N{FULLWIDTH DIGIT FIVE}": ["P: k must be"],
    "P@5.5": ["P: k must be"],
    "P@0": ["P: k must be"],
    "P@-3": ["P: k must be"],
    "IPrec@nan": ["IPrec: recall must be"],
    "IPrec@inf": ["IPrec: recall must be"],
    "bpref@5": ["bpref has no parameter 'k'"],
    "Judged@5-l2": ["Judged has no parameter 'rel'"],
    "P(rel=2": ["its brackets or its @"],
    "P@5@6": ["its brackets or its @"],
    "@5": ["its brackets or its @"],
    "": ["its brackets or its @"],
    "P(5)": ["parameter=value"],
    "P(k)": ["parameter=value"],
    "P(k=)": ["parameter=value"],
    "P(**{'k': 5})": ["parameter=value"],
    "P(k=1,k=2)": ["parameter=value"],
    "P(k=1)(k=2)": ["parameter=value"],
    "P(k=1).x(k=2)": ["parameter=value"],
    "P(k=1)+_(k=2)": ["parameter=value"],
    "P(k=__import__('os').getcwd())": ["plain values"],
    "P(k=[x for x in (1,)])": ["plain values"],
    "P(k=9**9**9**9)": ["plain values"],
    "P(k=1if 1else 2)": ["plain values"],
    "P(k=lambda: 5)": ["plain values"],
    "P(k='\\d')": ["P: k must be"],
    "P(k=five)": ["P: k must be"],
    "P(k=1e999)": ["P: k must be"],
    "nDCG(gains={1:1e999})": ["gains must be"],
    "nDCG(gains={{}:1})": ["plain values"],
    "P(k=" + "(" * 240 + ")" * 240 + ")": ["plain values"],
    "nDCG(gains=" + "{1:" * 150 + "1" + "}" * 150 + ")": ["nDCG"],
    "P(k=" + "-" * 400 + "1)": ["P"],
    "P" * 501: ["longer than 500"],
    "(" * 100_000: ["longer than 500"],
    "P_" * 240: ["no measure is called"],
    "0." * 240: ["no measure is called"],
    "ndcg_" + "1" * 490: ["k must be a whole number"],
    "F(beta=1e300)": ["beta must be a number from 0 to 1e+09"],
    "rbp." + "9" * 400: ["RBP: p must be"],
    "set_F." + "9" * 450: ["SetF"],
    "P\0@5": ["no measure is called"],
    "\U0001f600@5": ["no measure is called"],
    "P(k=\ud800)": ["plain values"],
    "P(\N{GREEK SMALL LETTER ALPHA}=1)": ["\N{GREEK SMALL LETTER ALPHA}"],
}


def test_what_is_no_name_is_an_error():
    for name, words in NO_NAMES.items():
        with warnings.catch_warnings(action="error"), pytest.raises(ir.IRError) as error:
            ir.parse(name)
        assert [word for word in words if word not in str(error.value)] == [], name


@pytest.mark.parametrize("name", ["P@{}", "P(k={})", "P(rel={})@5", "P@5-l{}", "precision_at_{}"])
def test_a_huge_number_is_refused(name):
    for digits in (40, 400):
        with pytest.raises(ir.IRError):
            ir.parse(name.format("9" * digits))


@pytest.mark.parametrize("value", [5, None, b"P@5", ["P@5"]])
def test_a_name_is_a_string(value):
    with pytest.raises(ir.IRError, match="not a string"):
        ir.parse(value)


def names_of(measures):
    """The columns of a call with these measures."""
    return ir.evaluate({"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 2}}, measures).columns[1:]


SEVERAL = {
    "nDCG@5,10": ["nDCG@5", "nDCG@10"],
    "P(rel=2)@1,2": ["P(rel=2)@1", "P(rel=2)@2"],
    "P_5,10": ["P@5", "P@10"],
    "P.5,10": ["P@5", "P@10"],
    "ndcg_cut.10,23.4": ["nDCG@10", "nDCG@23"],
    "precision_at_1,3": ["P@1", "P@3"],
    "recall@5,10-l2": ["R(rel=2)@5", "R(rel=2)@10"],
    "iprec_at_recall..10,.20": ["IPrec@0.1", "IPrec@0.2"],
    "Rprec_mult.0.5,2": ["Rprec(multiple=0.5)", "Rprec(multiple=2)"],
    "nDCG@10,AP": ["nDCG@10", "AP"],
    "nDCG@10 AP": ["nDCG@10", "AP"],
    "nDCG@5,10, RBP(rel=2, p=0.5)  RR": ["nDCG@5", "nDCG@10", "RBP(rel=2,p=0.5)", "RR"],
    "xgboost map@3,5": ["XGBoost map@3", "XGBoost map@5"],
    # trec_eval's families of cutoffs; Recall of RecTools is of the whole list.
    "success": ["Success@1", "Success@5", "Success@10"],
    "iprec_at_recall": [f"IPrec@{recall / 10:g}" for recall in range(11)],
    "ndcg_cut": [f"nDCG@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)],
    "map_cut": [f"AP@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)],
    "recall": [f"R@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)],
    "trec_eval P": [f"P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)],
    "Recall": ["R"],
}


def test_a_name_with_several_numbers_stands_for_a_measure_each():
    for name, names in SEVERAL.items():
        assert names_of(name) == names_of([name]) == names


@pytest.mark.parametrize(
    "cutoffs", [[1, 2], (1, 2), range(1, 3), pl.Series([1, 2])], ids=["list", "tuple", "range", "series"]
)
def test_a_function_takes_several_cutoffs(cutoffs):
    run, qrels = {"q": ["d1", "d2"]}, {"q": {"d1": 1, "d2": 2}}
    wanted = ir.evaluate(run, qrels, ["nDCG@1", "nDCG@2", "AP"])
    assert ir.evaluate(run, qrels, [ir.ndcg(k=cutoffs), "AP"]).equals(wanted)
    # It is an expression like any other.
    by_hand = ir.judge(run, qrels).group_by("query_id").agg(ir.ndcg(k=cutoffs), ir.average_precision())
    assert by_hand.equals(wanted)


def test_a_method_takes_several_cutoffs():
    frame = pl.DataFrame({"query_id": ["q"], "doc_id": ["d1"], "score": [1.0]})
    assert frame.ir.ndcg({"q": ["d1"]}, k=[1, 2]).columns == ["query_id", "nDCG@1", "nDCG@2"]


@pytest.mark.parametrize(
    ("cutoffs", "words"), [([5, 0], "got 0"), ([], "got []"), ([5, 5], "two measures are named 'nDCG@5'")]
)
def test_cutoffs_that_are_none_are_an_error(cutoffs, words):
    assert words in message_of(lambda: ir.ndcg(k=cutoffs))


def test_numbers_of_numpy_are_numbers():
    np = pytest.importorskip("numpy")
    assert names_of([ir.precision(k=np.int64(5)), ir.f_measure(beta=np.float32(2), k=np.array([1, 3]))]) == [
        "P@5",
        "F(beta=2)@1",
        "F(beta=2)@3",
    ]


def test_sets_of_trec_eval_have_its_measures_but_those_that_are_no_numbers():
    of_official = names_of("official")
    assert of_official[:9] == ["NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "bpref", "RR"]
    assert of_official[9:] == [f"IPrec@{i / 10:g}" for i in range(11)] + [
        f"P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    ]
    assert names_of("set") == [
        "NumQ",
        "NumRet",
        "NumRel",
        "NumRelRet",
        "utility",
        "SetP",
        "R_cap",
        "SetR",
        "SetAP",
        "SetF",
    ]
    # It prints 99 lines of a summary: one is the run's name, and Rprec is Rprec_mult_1.00, too.
    assert len(names_of("all_trec")) == 97


def test_sets_of_beir_and_mteb_are_what_they_report():
    assert names_of("beir") == [f"{m}@{k}" for m in ("nDCG", "AP", "R", "P") for k in (1, 3, 5, 10, 100, 1000)]
    assert names_of("MTEB") == [
        f"{m}@{k}" for m in ("nDCG", "AP", "R", "P", "RR") for k in (1, 3, 5, 10, 20, 100, 1000)
    ]


def test_a_measure_of_a_set_can_be_asked_for_beside_it():
    assert names_of(["nDCG@10", "BEIR"])[:2] == ["nDCG@10", "nDCG@1"]
    assert names_of(["BEIR", "nDCG@10"]) == names_of("BEIR")
    with pytest.raises(ir.IRError, match="two measures are named"):
        names_of(["nDCG@10", "ndcg_cut_10"])


def test_a_set_and_several_cutoffs_name_columns_of_a_per_query_frame():
    per_query = ir.evaluate({"q1": ["d1"], "q2": ["d9"]}, {"q1": ["d1"], "q2": ["d1"]}, ["P@1", "P@2", "RR"])
    assert [row["measure"] for row in ir.compare({"a": per_query, "b": per_query}, measures="P@1,2").to_dicts()] == [
        "P@1",
        "P@2",
    ]


@pytest.mark.filterwarnings("ignore:ast:DeprecationWarning")
def test_measures_of_ir_measures_mean_what_they_mean_there():
    measures = pytest.importorskip("ir_measures")
    asked = [measures.nDCG @ 10, measures.AP, measures.P(rel=2) @ 5, measures.SetF(beta=4), measures.IPrec @ 0.5]
    wanted = ["nDCG@10", "AP", "P(rel=2)@5", "SetF(beta=2)", "IPrec(rounding='up')@0.5"]
    assert names_of(asked) == wanted
    assert names_of(measures.nDCG @ 10) == ["nDCG@10"]
    per_query = ir.evaluate({"q1": ["d1"]}, {"q1": {"d1": 2}}, asked)
    assert ir.summarize(per_query)["measure"].to_list() == wanted
    assert ir.hardest(per_query, measures.nDCG @ 10).height == 1
    with pytest.raises(ir.IRError, match="judged_only=True"):
        names_of(measures.P(judged_only=True) @ 5)


def test_a_measure_of_ir_measures_needs_no_ir_measures(monkeypatch):
    class Measure:
        NAME = "nDCG"

        def __str__(self):
            return "nDCG@10"

    monkeypatch.setattr(Measure, "__module__", "ir_measures.measures.ndcg")
    assert names_of([Measure()]) == ["nDCG@10"]


def test_the_name_of_a_function_is_a_name_of_its_measure():
    for info in (info for name, info in ir.CATALOG.items() if name != "Accuracy"):
        number = "@0.5" if info.at == "recall" else "@7" if "k" in info.parameters else ""
        given = {info.at: 0.5 if info.at == "recall" else 7} if number else {}
        found = ir.parse(info.function.__name__ + number)
        assert found.meta.output_name() == info.function(**given).meta.output_name(), info.name


def test_a_map_of_gains_has_one_name_in_whatever_order_it_is_given():
    assert ir.ndcg(gains={1: 2, 0: 1}).meta.output_name() == ir.ndcg(gains={0: 1, 1: 2}).meta.output_name()


COLUMNS = {
    "AP": ("arithmetic", False),
    "GMAP": ("geometric", False),
    "gm_map": ("geometric", False),
    "GMAP(rel=2) low": ("geometric", False),
    "num_q": ("sum", False),
    "Hole@10 high": ("arithmetic", True),
    "unj_10": ("arithmetic", True),
    "mine": ("arithmetic", False),
    "GMAPs": ("arithmetic", False),
}


def test_the_name_of_a_column_tells_its_average_and_whether_it_is_a_cost():
    assert {name: (average_of(name), is_cost(name)) for name in COLUMNS} == COLUMNS


def test_what_a_column_is_called_elsewhere_is_averaged_as_what_it_is():
    per_query = pl.DataFrame({"query_id": ["q1", "q2"], "gm_map": [0.25, 1.0], "R_5": [0.5, 1.0], "NumRel": [2, 6]})
    assert ir.mean(per_query.select("query_id", "gm_map")).item() == pytest.approx(0.5)
    # (1 + 6) of 8 relevant documents.
    assert ir.mean(per_query.drop("gm_map"), average="micro").item() == pytest.approx(7 / 8)


def test_a_precision_without_a_cutoff_is_warned_of_where_it_is_typed():
    with pytest.warns(
        ir.IRWarning, match="'P' alone is the precision of the whole list, and to trec_eval that at nine"
    ):
        assert names_of(["P"]) == ["P"]
    with warnings.catch_warnings(action="error"):
        assert names_of([ir.precision(), "R", "Success"]) == ["P", "R", "Success"]
        assert pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1]}).ir.p({"q": ["d"]}).columns[1:] == ["P"]


@pytest.mark.parametrize(
    ("name", "problem"),
    {
        "p_5_rel_2_rel_3": "it gives a parameter twice",
        "rbp_p_0_5_p_0_9": "it gives a parameter twice",
        "nDCG(gains={1:1,1:2})": "it gives a value of gains twice",
        "nDCG(gains={1:1,1.0:2})": "it gives a value of gains twice",
        "P(rel=1, rel=2)": "parameter=value",
    }.items(),
)
def test_a_name_that_says_one_thing_twice_is_an_error(name, problem):
    with pytest.raises(ir.IRError, match=problem):
        ir.parse(name)


TWO_NUMBERS = {
    "recall_5_10": ["R@5", "R@10"],
    "P_5_10": ["P@5", "P@10"],
    "ndcg_cut_5_10": ["nDCG@5", "nDCG@10"],
    "mrr_5_10_20": ["RR@5", "RR@10", "RR@20"],
    "recall_at_5_10": ["R@5", "R@10"],
    "ndcg_at_1_3_5_10": ["nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10"],
    "ndcg_1_0": ["nDCG@1"],
}


@pytest.mark.parametrize("name", TWO_NUMBERS)
def test_a_name_with_two_cutoffs_is_refused_with_the_names_of_both(name):
    with pytest.raises(ir.IRError) as error:
        ir.parse(name)
    assert str(error.value).endswith(f"Name each measure: {TWO_NUMBERS[name]}.")
    assert [ir.parse(each).meta.output_name() for each in TWO_NUMBERS[name]] == TWO_NUMBERS[name]


@pytest.mark.parametrize("name", ["iprec_at_recall_0_10", "nope_5_10", "map_5_x_10", "set_F_0_5"])
def test_a_name_of_numbers_that_is_no_measure_is_unknown(name):
    with pytest.raises(ir.IRError, match=r"no measure is called|it has several numbers"):
        ir.parse(name)


@pytest.mark.parametrize("name", ["hits@10", "Hits@10", "hits_at_10", "hits"])
def test_hits_are_counted_by_some_and_found_by_others(name):
    with pytest.raises(ir.IRError, match=r"means 'NumRelRet.*' to ranx, 'Success.*' to TF-Ranking"):
        ir.parse(name)
    assert ir.parse("ranx hits@10").meta.output_name() == "NumRelRet@10"
    assert ir.parse("TF-Ranking hits@10").meta.output_name() == "Success@10"
