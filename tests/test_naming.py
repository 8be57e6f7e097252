"""One measure, many spellings."""

import polars as pl
import pytest

import polars_ir as ir

SPELLINGS = [
    # trec_eval, by way of pytrec_eval too
    ("ndcg", "nDCG"),
    ("ndcg_cut_10", "nDCG@10"),
    ("ndcg_cut.10", "nDCG@10"),
    ("map", "AP"),
    ("map_cut_5", "AP@5"),
    ("map_cut.5", "AP@5"),
    ("recip_rank", "RR"),
    ("P_5", "P@5"),
    ("P.5", "P@5"),
    ("recall_100", "R@100"),
    ("Rprec", "Rprec"),
    ("bpref", "bpref"),
    ("infAP", "infAP"),
    ("set_P", "SetP"),
    ("set_recall", "SetR"),
    ("set_F", "SetF"),
    ("set_F.4", "SetF(beta=2)"),
    ("set_F_4", "SetF(beta=2)"),
    ("num_ret", "NumRet"),
    ("num_rel", "NumRel"),
    ("num_rel_ret", "NumRelRet"),
    ("success_1", "Success@1"),
    ("success.5", "Success@5"),
    ("relative_P_10", "R_cap@10"),
    ("unj_10", "Hole@10"),
    # ranx
    ("ndcg@10", "nDCG@10"),
    ("ndcg@10-l2", "nDCG(gains={1:0})@10"),
    ("ndcg_burges@10", "nDCG(dcg='exp-log2')@10"),
    ("map@100", "AP@100"),
    ("mrr@10", "RR@10"),
    ("hit_rate@5", "Success@5"),
    ("r-precision", "Rprec"),
    ("precision@5", "P@5"),
    ("recall@9-l2", "R(rel=2)@9"),
    ("f1@5", "F@5"),
    ("hits@5", "NumRelRet@5"),
    ("rbp.95", "RBP(p=0.95)"),
    # BEIR
    ("NDCG@10", "nDCG@10"),
    ("MAP@100", "AP@100"),
    ("Recall@100", "R@100"),
    ("R_cap@10", "R_cap@10"),
    ("MRR@10", "RR@10"),
    ("P@5", "P@5"),
    ("Hole@10", "Hole@10"),
    ("top_k_accuracy@5", "Success@5"),
    # MTEB
    ("ndcg_at_10", "nDCG@10"),
    ("map_at_1000", "AP@1000"),
    ("mrr_at_10", "RR@10"),
    ("precision_at_5", "P@5"),
    ("recall_at_100", "R@100"),
    # ir_measures
    ("nDCG@20", "nDCG@20"),
    ("nDCG(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
    ("nDCG(gains={0:0,1:1,2:3})@5", "nDCG(gains={0:0,1:1,2:3})@5"),
    ("AP@100", "AP@100"),
    ("MAP(rel=2)", "AP(rel=2)"),
    ("RR(rel=2)@10", "RR(rel=2)@10"),
    ("ERR@20", "ERR@20"),
    ("RBP(p=0.8,rel=1)", "RBP"),
    ("Judged@10", "Judged@10"),
    ("SetP", "SetP"),
    ("SetRelP", "R_cap"),
    ("NumRet(rel=1)", "NumRet(rel=1)"),
    ("NumRelRet", "NumRelRet"),
    ("Bpref", "bpref"),
    ("Rprec(rel=2)", "Rprec(rel=2)"),
    ("RPrec", "Rprec"),
    ("Success@5", "Success@5"),
    ("Precision@5", "P@5"),
]


@pytest.mark.parametrize(("spelling", "canonical"), SPELLINGS)
def test_a_name_of_any_tool_stands_for_a_measure(spelling, canonical):
    assert ir.parse(spelling).meta.output_name() == canonical


@pytest.mark.parametrize("canonical", sorted({canonical for _, canonical in SPELLINGS}))
def test_a_canonical_name_stands_for_itself(canonical):
    assert ir.parse(canonical).meta.output_name() == canonical


@pytest.mark.parametrize("name", [name for spec in ir.CATALOG.values() for name in (spec.name, *spec.also)])
def test_every_name_in_the_catalogue_is_read(name):
    assert isinstance(ir.parse(name), pl.Expr)


@pytest.mark.parametrize("spelling", ["NDCG@10", "n-DCG@10", "n_dcg@10", " nDCG@10 ", "nDCG()@10", "nDCG(k=10)"])
def test_case_hyphens_underscores_and_blanks_do_not_matter(spelling):
    assert ir.parse(spelling).meta.output_name() == "nDCG@10"


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


def test_a_measure_defined_later_is_read_by_its_name():
    with pytest.raises(ir.IRError):
        ir.parse("LaterOne")

    @ir.measure("LaterOne", source="a test")
    def later_one() -> pl.Expr:
        """A measure."""
        return ir.rank.min()

    try:
        assert ir.parse("laterone").meta.output_name() == "LaterOne"
    finally:
        del ir.CATALOG["LaterOne"]


def test_a_measure_that_was_taken_away_is_read_no_longer():
    @ir.measure("GoneOne", source="a test")
    def gone_one() -> pl.Expr:
        """A measure."""
        return ir.rank.min()

    ir.parse("GoneOne")
    del ir.CATALOG["GoneOne"]
    with pytest.raises(ir.IRError, match="no measure is called 'GoneOne'"):
        ir.parse("GoneOne")


def test_the_nearest_names_are_shown():
    with pytest.raises(ir.IRError, match=r"no measure is called 'recal@5'\. Did you mean 'Recall'"):
        ir.parse("recal@5")


def test_a_measure_that_was_defined_anew_is_read_by_its_new_formula():
    def define(value: float) -> None:
        @ir.measure("NewOne", source="a test")
        def new_one() -> pl.Expr:
            """A measure."""
            return ir.rank.min() * value

    try:
        define(1.0)
        ir.parse("NewOne")
        define(2.0)
        assert ir.evaluate({"q": ["d"]}, {"q": ["d"]}, "NewOne").item(0, 1) == 2.0
    finally:
        del ir.CATALOG["NewOne"]
