"""Four runs of TREC 2003 Robust: every figure of trec_eval 10 that a measure of the catalogue stands for.

The files are not part of the project; without them these tests are skipped.
"""

from pathlib import Path

import polars as pl
import pytest
from generated import as_dicts
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir import judging

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "robust03"
RUNS = ["pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc"]
#: trec_eval wrote 12 significant digits; counts go to 1000.
TOLERANCE = 1e-9
COUNTS = {"num_ret", "num_rel", "num_rel_ret"}
#: How `set_relative_P`, which is R_cap of the whole list, is called here.
OTHER_NAMES = {"set_relative_P": "R_cap"}

#: What trec_eval prints and the catalogue does not have, with the reason.
NOT_COVERED = {
    "runid": "not a measure",
    "num_q": "not a measure: the number of rows",
    "relstring": "not a number",
    "rbp": "trec_eval scales graded judgments by values it never sets; test_oracles has RBP",
    "rbp_resid": "as rbp",
    "gm_map": "a geometric mean, of AP: another summary, not another measure",
    "gm_bpref": "as gm_map",
    **dict.fromkeys(["11pt_avg", *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11))], "not in the catalogue yet"),
    **dict.fromkeys([f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)], "not in the catalogue yet"),
    **dict.fromkeys(["G", "Rndcg", "binG", "ndcg_rel"], "not in the catalogue yet"),
    **dict.fromkeys(["set_map", "utility", "num_nonrel_judged_ret"], "not in the catalogue yet"),
}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")


@pytest.fixture(scope="module")
def qrels() -> pl.DataFrame:
    return ir.read_qrels(DATA / "qrels.txt.gz")


@pytest.fixture(scope="module")
def runs() -> dict[str, pl.DataFrame]:
    return {name: ir.read_run(DATA / f"{name}.run.gz").drop("run", strict=False) for name in RUNS}


def expected(name: str) -> pl.DataFrame:
    """trec_eval's output for a run: measure, topic (or `all`), value."""
    path = DATA / "expected" / f"{name}.trec_eval-10.tsv.gz"
    columns = ["measure", "topic", "value"]
    return pl.read_csv(path, separator="\t", has_header=False, new_columns=columns, infer_schema=False, quote_char=None)


def measures() -> list[pl.Expr]:
    """The measures trec_eval printed, under trec_eval's names."""
    names = expected(RUNS[0])["measure"].unique(maintain_order=True)
    return [ir.parse(OTHER_NAMES.get(name, name)).alias(name) for name in names if name not in NOT_COVERED]


@pytest.fixture(scope="module")
def per_query(runs, qrels) -> dict[str, pl.DataFrame]:
    return {name: ir.evaluate(run, qrels, measures()) for name, run in runs.items()}


@pytest.mark.parametrize("name", RUNS)
def test_every_topic_has_the_figures_of_trec_eval(name, per_query):
    rows = expected(name).filter((pl.col("topic") != "all") & ~pl.col("measure").is_in(list(NOT_COVERED)))
    wanted = rows.with_columns(pl.col("value").cast(pl.Float64)).pivot("measure", index="topic", values="value")
    found = per_query[name].select(pl.col("query_id").alias("topic"), pl.col(wanted.columns[1:]).cast(pl.Float64))
    assert wanted.shape == (100, 65)
    assert_frame_equal(found, wanted, check_row_order=False, abs_tol=TOLERANCE, rel_tol=0)


@pytest.mark.parametrize("name", RUNS)
def test_the_summary_has_the_figures_of_trec_eval(name, per_query):
    rows = expected(name).filter((pl.col("topic") == "all") & ~pl.col("measure").is_in(list(NOT_COVERED)))
    wanted = {measure: float(value) for measure, _, value in rows.rows()}
    sums = per_query[name].select(pl.col(list(COUNTS)).sum()).row(0, named=True)
    found = {**ir.mean(per_query[name]).row(0, named=True), **sums}
    assert found == pytest.approx(wanted, abs=TOLERANCE, rel=0)
    assert per_query[name].height == int(expected(name).filter(pl.col("measure") == "num_q")["value"].item())


def test_what_is_not_covered_is_not_in_the_catalogue_by_another_name():
    printed = set(expected(RUNS[0])["measure"])
    assert set(NOT_COVERED) <= printed
    unknown = [name for name, reason in NOT_COVERED.items() if reason == "not in the catalogue yet"]
    for name in unknown:
        with pytest.raises(ir.IRError):
            ir.parse(name)


def test_four_runs_in_one_call_are_the_four_single_calls(runs, qrels, per_query):
    together = ir.evaluate(runs, qrels, measures())
    for name, alone in per_query.items():
        assert_frame_equal(together.filter(pl.col("run") == name).drop("run"), alone, check_exact=True)


@pytest.mark.parametrize("name", RUNS)
def test_sorting_and_counting_give_the_same_figures(name, runs, qrels, monkeypatch):
    figures = []
    for deep in (0, 10**9):
        monkeypatch.setattr(judging, "DEEP", deep)
        figures.append(ir.evaluate(runs[name], qrels, measures()))
    assert_frame_equal(*figures, check_exact=True)


#: What pytrec_eval, which is trec_eval 9, has of them: unj came with trec_eval 10.
PYTREC_EVAL_LACKS = {"unj_5", "unj_10", "unj_20"}


@pytest.mark.parametrize("name", RUNS)
def test_scores_in_float32_reproduce_pytrec_eval(name, runs, qrels):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    oracle = pytrec_eval.RelevanceEvaluator(as_dicts(qrels, "relevance"), pytrec_eval.supported_measures)
    wanted = oracle.evaluate(as_dicts(runs[name], "score"))
    single = runs[name].with_columns(pl.col("score").cast(pl.Float32))
    found = ir.evaluate(single, qrels, measures()).drop(PYTREC_EVAL_LACKS)
    for row in found.iter_rows(named=True):
        figures = wanted[row.pop("query_id")]
        assert row == pytest.approx({name: figures[name] for name in row}, abs=1e-12, rel=0)
