"""Names of measures in letters, digits and underscores."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polars_ir as ir
from polars_ir.language.catalog import CATALOG, MeasureInfo
from polars_ir.language.columns import canonical_name, column_of
from polars_ir.language.dialects import measure_names
from polars_ir.language.sql import PLAIN, read

RUN = {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.1}, "q2": {"d7": 0.2}}
QRELS = {"q1": {"d2": 1, "d3": 2}, "q2": {"d7": 2}}

SPELT = {
    "nDCG@10": "ndcg_10",
    "P(rel=2)@5": "p_5_rel_2",
    "RBP(p=0.9)": "rbp_p_0_9",
    "RBP(p=0.9)@10": "rbp_10_p_0_9",
    "RBP": "rbp_p_0_8",
    "Accuracy@5": "accuracy_5_rel_1",
    "Success": "success_rel_1",
    "IPrec@0.1": "iprec_0_1",
    "IPrec@1": "iprec_1",
    "nDCG(dcg='exp-log2')@10": "ndcg_10_dcg_exp_log2",
    "AP(denominator='min(k,R)')@100": "ap_100_denominator_min_k_r",
    "Compat(p=1e-05,normalize=False)": "compat_p_0_00001_normalize_false",
    "P(rel=0.5)": "p_rel_0_5",
    "11pt_avg": "_11pt_avg",
}


@pytest.mark.parametrize(("canonical", "in_sql"), SPELT.items())
def test_a_name_has_the_cutoff_and_each_parameter_that_is_not_at_its_default(canonical, in_sql):
    assert ir.name(canonical, names="sql") == in_sql
    assert ir.name(in_sql) == ir.name(in_sql.upper()) == canonical


def same(name: str, measure: pl.Expr) -> bool:
    return bool(ir.parse(name).meta == measure.meta)


NUMBERS = [0, 1, 2, 3, 10, 1000, 0.1, 0.5, 0.95, 1 / 3, 1e-05, 1234.5678, 10.0, True, False]


def drawn(info: MeasureInfo) -> st.SearchStrategy[dict[str, object]]:
    """Parameters that a measure takes and a name tells."""
    values = {}
    for name, option in info.options.items():
        wanted = filter(option.value.holds, [*NUMBERS, *option.value.choices])
        values[name] = st.sampled_from([option.default, *wanted])
    return st.fixed_dictionaries({}, optional=values)


@pytest.mark.whole("each measure", quick=12)
@pytest.mark.parametrize("info", CATALOG.values(), ids=lambda info: info.name)
def test_every_measure_is_read_back_from_either_name_of_it(info):
    @settings(max_examples=5, deadline=None)
    @given(drawn(info))
    def check(parameters):
        try:
            measure = info.function(**parameters)
        except ir.IRError:  # of parameters that do not go together
            return
        assert same(ir.name(measure), measure)
        in_sql = ir.name(measure, names="sql")
        assert PLAIN.fullmatch(in_sql)
        assert same(in_sql, measure)
        assert same(in_sql.upper(), measure)

    check()


def test_no_name_of_another_tool_is_taken_for_one_in_sql():
    catalog = tuple(info.function for info in CATALOG.values())
    assert [name for name in measure_names() if name not in CATALOG and read(name, catalog)] == []


@pytest.mark.parametrize(
    ("measure", "problem"),
    [
        (ir.ndcg(gains={1: 3}, k=5), "gains={1: 3} of nDCG has no name"),
        ("utility(coefficients=(1,2,3,4))", "coefficients=(1, 2, 3, 4) of utility has no name"),
        (ir.ndcg(gains=ir.relevance), 'gains=col("relevance") of nDCG has no name'),
        (ir.rank.min().alias("my rank"), "'my rank' has no name"),
        (ir.ndcg(k=5).alias("my ndcg"), "'my ndcg' has no name"),
    ],
)
def test_what_can_not_be_spelt_is_to_be_named_by_its_user(measure, problem):
    with pytest.raises(ir.IRError) as raised:
        ir.evaluate(RUN, QRELS, [measure], names="sql")
    assert str(raised.value).startswith(problem)
    assert ".alias('mine')" in str(raised.value)


def test_columns_that_only_case_tells_apart_are_one_to_sql():
    with pytest.raises(ir.IRError, match="two measures are named"):
        ir.evaluate(RUN, QRELS, [ir.ndcg(k=5).alias("Mine"), ir.ndcg(k=3).alias("mine")], names="sql")


def test_a_name_tells_no_expression_and_no_aggregation_of_ones_own():
    assert ir.name(ir.ndcg(gains=pl.col("trust"))) == "nDCG(gains=trust)"
    with pytest.raises(ir.IRError, match="cannot be named: a parameter is an expression"):
        ir.name(ir.ndcg(gains=(pl.col("relevance") * 2).alias("twice")))
    with pytest.raises(ir.IRError, match=r"'mine' is an aggregation of your own.*@ir\.measure"):
        ir.name(ir.rank.min().alias("mine"))
    with pytest.raises(ir.IRError, match="names must be one of 'canonical', 'sql'"):
        ir.name("AP", names="snake")
    with pytest.raises(ir.IRError, match="takes one measure"):
        ir.name("P@5,10")
    assert ir.name(ir.ndcg(k=5).alias("mine"), names="sql") == "ndcg_5"


def test_parts_keep_their_measure_in_either_name():
    assert canonical_name("ndcg_10_low") == "nDCG@10 low"
    assert canonical_name("RBP_P_0_9_HIGH") == "RBP(p=0.9) high"
    assert column_of("mine_low") is None


MEASURES = ["nDCG@10", "P(rel=2)@5", "RBP", "R@100", "NumRel", "GMAP"]


@pytest.fixture(scope="module")
def spelt():
    """The same evaluation under names of either kind."""
    pydocs = ir.datasets.load("pydocs")
    return [ir.evaluate(pydocs.runs, pydocs.qrels, MEASURES, bounds=True, names=n) for n in ("canonical", "sql")]


def test_figures_are_the_same_under_names_in_sql(spelt):
    canonical, in_sql = spelt
    assert in_sql.columns[:6] == ["run", "query_id", "ndcg_10", "ndcg_10_low", "ndcg_10_high", "p_5_rel_2"]
    assert in_sql.rows() == canonical.rows()
    assert in_sql.ir.mean().rows() == canonical.ir.mean().rows()
    assert [canonical_name(column) for column in in_sql.columns] == canonical.columns


def test_a_plan_has_the_names_before_it_runs():
    pydocs = ir.datasets.load("pydocs")
    plan = ir.evaluate(pydocs.runs.lazy(), pydocs.qrels.lazy(), ["nDCG@10"], names="sql")
    assert plan.collect_schema().names() == ["run", "query_id", "ndcg_10"]
    assert pydocs.runs.ir.ndcg(pydocs.qrels, k=10, names="sql").columns == ["run", "query_id", "ndcg_10"]


def test_every_verb_finds_a_column_by_either_name(spelt):
    for frame in spelt:
        for measures in (["nDCG@10", "RBP"], ["ndcg_10", "rbp_p_0_8"], [ir.ndcg(k=10), ir.rbp()]):
            found = frame.ir.unanswered(measures)["measure"].unique(maintain_order=True)
            assert [canonical_name(name) for name in found] == MEASURES[:3:2]
    with pytest.raises(ir.IRError, match="has no measure 'AP'"):
        spelt[1].ir.unanswered(["AP"])


def test_a_micro_average_finds_its_counts_by_either_name(spelt):
    for frame, ratio, count in zip(spelt, ("R@100", "r_100"), ("NumRel", "numrel"), strict=True):
        means = frame.select("run", "query_id", ratio, count).ir.mean(average="micro")
        assert means.columns == ["run", ratio]
        assert means[ratio].round(6).to_list() == [0.573222, 0.615063, 0.566248]


def test_a_gate_and_systems_of_a_dict_meet_under_either_name(spelt):
    canonical, in_sql = (frame.partition_by("run", as_dict=True) for frame in spelt)
    wanted = ir.gate(canonical["tfidf",], canonical["bm25",], ["RBP"], max_drop=0.05)
    for new, old, name in ((canonical, in_sql, "RBP"), (in_sql, canonical, "rbp_p_0_8")):
        ranges = {"RBP": (0, 1)}
        verdict = ir.gate(new["tfidf",], old["bm25",], ["RBP"], max_drop={"RBP": 0.05}, ranges=ranges)
        assert verdict["measure"].to_list() == [name]
        assert verdict.drop("measure").rows() == wanted.drop("measure").rows()
    both = {"a": canonical["bm25",], "b": in_sql["tfidf",]}
    assert ir.mean(both).columns == ["run", *ir.mean({"a": canonical["bm25",]}).columns[1:]]


def test_a_measure_that_lost_its_name_is_told_where_its_mean_is_another(spelt):
    with pytest.warns(ir.IRWarning, match=r"'gmap_x' is averaged as a column of your own.*GMAP is a geometric one"):
        spelt[1].select("run", "query_id", gmap_x="gmap").ir.mean()
    spelt[1].select("run", "query_id", ndcg_x="ndcg_10").ir.mean()
