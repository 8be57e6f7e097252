"""Four runs of TREC 2003 Robust: every figure of trec_eval 10, but for its defects.

The files are not part of the project; without them these tests are skipped.
"""

from pathlib import Path

import polars as pl
import pytest
from generated import as_dicts
from polars.testing import assert_frame_equal
from tuned import tune

import polars_ir as ir

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "robust03"
RUNS = ["pircRBa1", "MU03rob01", "UIUC03Rd1", "humR03dc"]
#: trec_eval wrote 12 significant digits; counts go to 1000.
TOLERANCE = 1e-9
#: Counts, which trec_eval adds up over the queries.
COUNTS = {"num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}

#: The measures of trec_eval's ambiguous names.
BY_ARGUMENTS = {
    # Grades as gains, out of the highest of the query: what scaling them by values that are never set came to here.
    "rbp": ir.rank_biased_precision(p=0.9, gains=(ir.relevance / pl.col("highest")).alias("share")),
}

#: Lines of trec_eval for each topic that are no figure of it, or are wrong, with the reason.
NOT_COMPARED = {
    "runid": "the name of the run",
    "relstring": "a string; it has a test of its own",
    "rbp_resid": "0 where all retrieved documents are judged, without the weight beyond the list; a test of its own",
}

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")


@pytest.fixture(scope="module")
def qrels() -> pl.DataFrame:
    return ir.read_qrels(DATA / "qrels.txt.gz").with_columns(highest=pl.col("relevance").max().over("query_id"))


@pytest.fixture(scope="module")
def runs() -> dict[str, pl.DataFrame]:
    return {name: ir.read_run(DATA / f"{name}.run.gz").drop("run", strict=False) for name in RUNS}


def expected(name: str) -> pl.DataFrame:
    """trec_eval's output for a run: measure, topic (or `all`), value."""
    path = DATA / "expected" / f"{name}.trec_eval-10.tsv.gz"
    columns = ["measure", "topic", "value"]
    return pl.read_csv(path, separator="\t", has_header=False, new_columns=columns, infer_schema=False, quote_char=None)


def compared() -> dict[str, pl.Expr]:
    """trec_eval's names of the measures it printed, and these measures."""
    names = expected(RUNS[0])["measure"].unique(maintain_order=True)
    kept = [name for name in names if name not in NOT_COMPARED]
    return {name: BY_ARGUMENTS[name] if name in BY_ARGUMENTS else ir.parse(name) for name in kept}


def measures() -> list[pl.Expr]:
    """The measures trec_eval printed, under trec_eval's names."""
    return [measure.alias(name) for name, measure in compared().items()]


@pytest.fixture(scope="module")
def per_query(runs, qrels) -> dict[str, pl.DataFrame]:
    return {name: ir.evaluate(run, qrels, measures()) for name, run in runs.items()}


@pytest.mark.parametrize("name", RUNS)
def test_every_topic_has_the_figures_of_trec_eval(name, per_query):
    rows = expected(name).filter((pl.col("topic") != "all") & ~pl.col("measure").is_in(list(NOT_COMPARED)))
    wanted = rows.with_columns(pl.col("value").cast(pl.Float64)).pivot("measure", index="topic", values="value")
    found = per_query[name].select(pl.col("query_id").alias("topic"), pl.col(wanted.columns[1:]).cast(pl.Float64))
    assert wanted.shape == (100, 95)
    # For these trec_eval prints nothing but the summary.
    assert set(compared()) - set(wanted.columns) == {"num_q", "gm_map", "gm_bpref"}
    assert_frame_equal(found, wanted, check_row_order=False, abs_tol=TOLERANCE, rel_tol=0)


@pytest.mark.parametrize("name", RUNS)
def test_the_summary_has_the_figures_of_trec_eval(name, per_query):
    rows = expected(name).filter((pl.col("topic") == "all") & ~pl.col("measure").is_in(list(NOT_COMPARED)))
    wanted = {measure: float(value) for measure, _, value in rows.rows()}
    sums = per_query[name].select(pl.col(list(COUNTS)).sum()).row(0, named=True)
    # `mean` knows by a measure's own name how to average it.
    columns = {name: measure.meta.output_name() for name, measure in compared().items()}
    means = {
        trec_eval: ir.mean(per_query[name].select("query_id", pl.col(trec_eval).alias(ours))).item()
        for trec_eval, ours in columns.items()
    }
    assert {**means, **sums} == pytest.approx(wanted, abs=TOLERANCE, rel=0)
    assert len(wanted) == 97


@pytest.mark.parametrize("name", RUNS)
def test_every_topic_has_the_relevance_string_of_trec_eval(name, runs, qrels):
    rows = expected(name).filter(pl.col("measure") == "relstring")
    found = ir.evaluate(runs[name], qrels, ir.relevance_string()).rows()
    assert {topic: f"'{string}'" for topic, string in found} == {topic: string for _, topic, string in rows.rows()}


@pytest.mark.parametrize(
    ("name", "all_judged"), [("pircRBa1", 0), ("MU03rob01", 0), ("UIUC03Rd1", 0), ("humR03dc", 56)]
)
def test_the_residual_of_rbp_is_that_of_trec_eval_but_where_all_is_judged(name, all_judged, runs, qrels):
    rows = expected(name).filter(pl.col("measure") == "rbp_resid").with_columns(pl.col("value").cast(pl.Float64))
    found = ir.evaluate(runs[name], qrels, ["rbp_resid", "unj", "NumRet"]).rename({"query_id": "topic"})
    found = found.join(rows, on="topic")
    # There, trec_eval leaves out the weight of all places beyond the list, p^n.
    beyond = pl.when(pl.col("unj") == 0).then(0.9 ** pl.col("NumRet")).otherwise(0.0)
    ours = pl.col("RBP_residual(p=0.9)")
    assert found.select((ours - beyond - pl.col("value")).abs().max()).item() < TOLERANCE
    assert found.filter(pl.col("unj") == 0)["value"].to_list() == [0.0] * all_judged
    summary = rows.filter(pl.col("topic") == "all")["value"].item()
    assert found.select((ours - beyond).mean()).item() == pytest.approx(summary, abs=TOLERANCE, rel=0)


def test_what_is_not_compared_was_printed():
    assert set(NOT_COMPARED) | set(BY_ARGUMENTS) <= set(expected(RUNS[0])["measure"])


def test_four_runs_in_one_call_are_the_four_single_calls(runs, qrels, per_query):
    together = ir.evaluate(runs, qrels, measures())
    for name, alone in per_query.items():
        assert_frame_equal(together.filter(pl.col("run") == name).drop("run"), alone, check_exact=True)


@pytest.mark.parametrize("name", RUNS)
def test_sorting_and_counting_give_the_same_figures(name, runs, qrels, monkeypatch):
    figures = []
    for deep in (0, 10**9):
        tune(monkeypatch, deep=deep)
        figures.append(ir.evaluate(runs[name], qrels, measures()))
    assert_frame_equal(*figures, check_exact=True)


#: The names that pytrec_eval, which is trec_eval 9, lacks: these came with trec_eval 10.
PYTREC_EVAL_LACKS = {"unj_5", "unj_10", "unj_20", "rbp"}
#: The names that it computes otherwise: recall * R documents are rounded up, geometric means left as logarithms.
AS_IN_9 = {
    "11pt_avg": ir.eleven_point_average(rounding="up"),
    **{f"iprec_at_recall_{i / 10:.2f}": ir.interpolated_precision(recall=i / 10, rounding="up") for i in range(11)},
    "gm_map": ir.gmap().clip(lower_bound=1e-5).log(),
    "gm_bpref": ir.gm_bpref().clip(lower_bound=1e-5).log(),
}


@pytest.mark.parametrize("name", RUNS)
def test_scores_in_float32_reproduce_pytrec_eval(name, runs, qrels):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    oracle = pytrec_eval.RelevanceEvaluator(as_dicts(qrels, "relevance"), pytrec_eval.supported_measures)
    wanted = oracle.evaluate(as_dicts(runs[name], "score"))
    single = runs[name].with_columns(pl.col("score").cast(pl.Float32))
    shared = {name: measure for name, measure in compared().items() if name not in PYTREC_EVAL_LACKS}
    found = ir.evaluate(single, qrels, [measure.alias(name) for name, measure in (shared | AS_IN_9).items()])
    for row in found.iter_rows(named=True):
        figures = wanted[row.pop("query_id")]
        assert row == pytest.approx({name: figures[name] for name in row}, abs=1e-12, rel=0)
