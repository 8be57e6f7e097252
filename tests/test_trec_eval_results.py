"""What trec_eval printed comes back as a per-query frame."""

import gzip
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_ir as ir
from polars_ir.trec_eval import main

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "robust03"
PRINTED = "runid \tall\tmine\nmap                   \tq1\t0.2500\nP_5  q1  0.4\n\nmap\tq2\t1\nmap\tall\t0.6250\n"


def test_figures_of_topics_are_a_row_per_topic_under_our_names(tmp_path):
    (tmp_path / "a.eval").write_text(PRINTED)
    found = ir.read_trec_eval(tmp_path / "a.eval")
    assert found.to_dict(as_series=False) == {"query_id": ["q1", "q2"], "AP": [0.25, 1.0], "P@5": [0.4, None]}


def test_several_files_are_several_systems(tmp_path):
    (tmp_path / "a.eval").write_text(PRINTED)
    (tmp_path / "b.eval").write_text(PRINTED.replace("mine", "other"))
    assert ir.read_trec_eval(tmp_path / "*.eval").select("run", "AP").rows() == [
        ("mine", 0.25),
        ("mine", 1.0),
        ("other", 0.25),
        ("other", 1.0),
    ]
    (tmp_path / "b.eval").write_text(PRINTED)
    assert ir.read_trec_eval(tmp_path / "*.eval")["run"].unique(maintain_order=True).to_list() == ["a.eval", "b.eval"]


def test_what_we_print_is_what_we_evaluate(tmp_path, capsys):
    pydocs = ir.datasets.load("pydocs")
    run = pydocs.runs.filter(run="bm25").drop("run")
    ir.write_run(run, tmp_path / "bm25.run")
    ir.write_qrels(pydocs.qrels, tmp_path / "qrels.txt")
    assert (
        main(["-c", "-q", "-m", "map", "-m", "ndcg_cut.10", str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run")])
        == 0
    )
    (tmp_path / "bm25.eval").write_text(capsys.readouterr().out)
    wanted = run.ir.evaluate(pydocs.qrels, ["AP", "nDCG@10"])
    assert_frame_equal(ir.read_trec_eval(tmp_path / "bm25.eval"), wanted, abs_tol=5.1e-5)


@pytest.mark.skipif(not DATA.exists(), reason="the real data are not here")
def test_the_output_of_trec_eval_on_a_real_run_is_read_whole():
    source = DATA / "expected" / "humR03dc.trec_eval-10.tsv.gz"
    found = ir.read_trec_eval(source)
    assert found.shape == (100, 96)
    assert found["Rprec"].equals(found["Rprec_mult_1.00"])
    with gzip.open(source, "rt") as lines:
        values = {tuple(line.split("\t")[:2]): line.split("\t")[2].strip() for line in lines}
    assert found.filter(query_id="601").select("AP", "nDCG@10", "IPrec@0.1").row(0) == tuple(
        float(values[name, "601"]) for name in ("map", "ndcg_cut_10", "iprec_at_recall_0.10")
    )


WRONG = {
    "two fields": ("map q1\n", "line 1: a line of trec_eval has three fields"),
    "no number": ("map q1 0.5\nmap q2 high\n", "line 2: the value of a measure must be a number"),
    "a figure twice": ("map q1 0.5\nmap q1 0.5\n", "line 2: this figure is here for the second time"),
    "a summary alone": ("map all 0.5\n", "trec_eval prints them with -q"),
    "nothing": ("\n", "the file is empty"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_output_of_trec_eval_is_told(text, message, tmp_path):
    (tmp_path / "a.eval").write_text(text)
    with pytest.raises(ir.IRError) as error:
        ir.read_trec_eval(tmp_path / "a.eval")
    assert message in str(error.value)


def test_a_measure_that_is_not_known_keeps_its_name(tmp_path):
    (tmp_path / "a.eval").write_text("mine q1 0.5\n")
    assert ir.read_trec_eval(tmp_path / "a.eval").equals(pl.DataFrame({"query_id": ["q1"], "mine": [0.5]}))
